package retention

import (
	"cmp"
	"slices"

	"github.com/carrel-dev/carrel/transcript"
)

// The numbers of the definition.
const (
	horizon    = 20    // acting replies after the cut that are examined
	Fewest     = 3     // fewest needs of a case, and fewest copied lines of a case with a line score
	farAway    = 8_000 // fewest tokens between a need from far away and the cut
	defaultMin = 4_000 // fewest tokens of a prefix
)

// cutsAt are the shares of a trajectory at which it is cut, in percent.
var cutsAt = [...]int{35, 60, 85}

// A Case is a trajectory that is cut at one step.
type Case struct {
	Trajectory *Trajectory
	At         int       // index of the first message behind the cut
	Prefix     []Message // messages that a method reduces
	Needs      []Need    // identifiers, in the order of the actions
	Lines      []Need    // copied lines
	Actions    int       // number of examined replies with calls
}

// A Need is an identifier or a line that an action repeats from the prefix.
type Need struct {
	Text   string
	Kind   Kind // kind of an identifier
	Action int  // number of the action
	Last   int  // index in the prefix of the last message that has the text
	Far    bool // whether that message is long before the cut

	id name
}

// Cost returns the tokens of the prefix.
func (c *Case) Cost() int { return c.Trajectory.costs[c.At] }

// Cases returns the cases of a trajectory. Prefixes have at least minPrefix tokens.
func (t *Trajectory) Cases(common *Common, minPrefix int) []*Case {
	return t.CasesAt(cutsAt[:], common, minPrefix)
}

// CasesAt returns the cases of a trajectory that is cut at the given shares. The shares are in
// percent, in ascending order.
func (t *Trajectory) CasesAt(shares []int, common *Common, minPrefix int) []*Case {
	var cases []*Case
	last := 0
	for _, share := range shares {
		at := t.cut(share)
		if at == 0 || at == last || t.costs[at] < minPrefix {
			continue
		}
		last = at
		if c := t.caseAt(at, common); len(c.Needs) >= Fewest {
			cases = append(cases, c)
		}
	}
	return cases
}

// cut returns the index of the first step for which the messages before it have at least the given
// percentage of the trajectory's cost. It returns 0 if there is none.
func (t *Trajectory) cut(percent int) int {
	whole := t.costs[len(t.Messages)]
	for i := t.Pinned + 1; i < len(t.Messages); i++ {
		if t.costs[i]*100 >= whole*percent && t.isStep(i) {
			return i
		}
	}
	return 0
}

// isStep reports whether message i begins a turn of the assistant.
func (t *Trajectory) isStep(i int) bool {
	return t.Messages[i].Role == transcript.RoleAssistant && t.Messages[i-1].Role != transcript.RoleAssistant
}

func (t *Trajectory) caseAt(at int, common *Common) *Case {
	c := &Case{Trajectory: t, At: at, Prefix: t.Messages[t.Pinned:at:at]}
	ids := newFinder(c, common, func(r *reading) []mention { return r.mentions })
	lines := newFinder(c, common, func(r *reading) []mention { return r.lines })
	for i := at; i < len(t.Messages) && c.Actions < horizon; i++ {
		m := &t.Messages[i]
		switch {
		case m.Role != transcript.RoleAssistant:
			ids.void(m)
			lines.void(m)
		case len(m.Calls) > 0:
			c.Needs = ids.find(c.Needs, m)
			c.Lines = lines.find(c.Lines, m)
			c.Actions++
		}
	}
	return c
}

// A finder finds the identifiers or lines that actions repeat from the prefix and from nowhere
// else.
type finder struct {
	*Case
	common *Common
	of     func(r *reading) []mention
	last   map[name]int  // index in the prefix of the last message that has it
	voided map[name]bool // pinned, repeated after the cut, or needed by an earlier action
}

func newFinder(c *Case, common *Common, of func(*reading) []mention) *finder {
	f := &finder{Case: c, common: common, of: of, last: make(map[name]int), voided: make(map[name]bool)}
	for i := range c.Trajectory.Pinned {
		f.void(&c.Trajectory.Messages[i])
	}
	for i := range c.Prefix {
		for _, m := range of(c.Prefix[i].reading()) {
			f.last[m.id] = i
		}
	}
	return f
}

// void excludes the identifiers or lines in a message from the needs of later actions.
func (f *finder) void(m *Message) {
	for _, said := range f.of(m.reading()) {
		f.voided[said.id] = true
	}
}

// find appends the needs of an action.
func (f *finder) find(needs []Need, m *Message) []Need {
	for i := range m.Calls {
		r := read(&Message{Text: leavesOf(m.Calls[i].Args)})
		for _, said := range f.of(r) {
			last, known := f.last[said.id]
			if said.inner || !known || f.voided[said.id] || said.kind != kindNumber && f.common.has(said.id) {
				continue
			}
			f.voided[said.id] = true
			needs = append(needs, Need{
				Text: r.plain[said.from:said.to], Kind: said.kind, Action: f.Actions, Last: last,
				Far: f.after(last) >= farAway, id: said.id,
			})
		}
	}
	return needs
}

// after returns the tokens of the messages between message i of the prefix and the cut.
func (c *Case) after(i int) int {
	t := c.Trajectory
	return t.costs[c.At] - t.costs[t.Pinned+i+1]
}

// A Common is the set of names that sessions of two or more families have. Such a name does not
// count as a need. A nil Common is empty.
type Common struct{ names map[name]bool }

func (c *Common) has(n name) bool { return c != nil && c.names[n] }

// Size returns the number of identifiers and lines in the set.
func (c *Common) Size() int { return len(c.names) }

// NewCommon returns the names that trajectories of several families share. It ignores numbers,
// because they are equal by chance.
func NewCommon(all []*Trajectory) *Common {
	first := make(map[name]string) // first family that has it
	c := &Common{names: make(map[name]bool)}
	for _, t := range all {
		for i := range t.Messages {
			r := t.Messages[i].reading()
			for _, list := range [][]mention{r.mentions, r.lines} {
				for _, m := range list {
					if m.kind == kindNumber {
						continue
					}
					if was, known := first[m.id]; !known {
						first[m.id] = t.Family
					} else if was != t.Family {
						c.names[m.id] = true
					}
				}
			}
		}
	}
	return c
}

// firstCases returns the cases of at most limit trajectories of each family. Only trajectories
// with cases count, and they are chosen by the hash of their ids. Families are in the order of
// their names.
func firstCases(all []*Trajectory, common *Common, limit int, minPrefix func(family string) int) []*Case {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *Trajectory) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(nameOf(a.ID), nameOf(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	found := make([][]*Case, len(sorted))
	Each(len(sorted), func(i int) { found[i] = sorted[i].Cases(common, minPrefix(sorted[i].Family)) })
	var cases []*Case
	used := make(map[string]int)
	for i, t := range sorted {
		if len(found[i]) > 0 && used[t.Family] < limit {
			used[t.Family]++
			cases = append(cases, found[i]...)
		}
	}
	return cases
}
