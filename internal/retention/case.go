package retention

import (
	"cmp"
	"slices"
)

// The figures of the definition.
const (
	horizon    = 20    // acting replies after the cut that are looked at
	fewest     = 3     // needs in a case, and copied lines in one that has a line score
	farAway    = 8_000 // tokens between a need and the cut
	defaultMin = 4_000 // tokens of a prefix
)

// cutsAt are the shares of a trajectory, in percent, at which it is cut.
var cutsAt = [...]int{35, 60, 85}

// A Case is a trajectory cut at one step.
type Case struct {
	Trajectory *Trajectory
	At         int       // index of the message that the cut is before
	Prefix     []Message // what a method may choose from
	Needs      []Need    // identifiers, in the order of the actions
	Lines      []Need    // copied lines
	Actions    int       // replies with calls that were looked at
	Common     *Common   // what the needs were judged by

	pinned set64 // names in the pinned messages
}

// A Need is an identifier or a line that an action repeats from the prefix.
type Need struct {
	Text   string
	Kind   Kind // of an identifier
	Action int  // which one
	Last   int  // index in the prefix of the last message that has it
	Far    bool // seen last long before the cut

	id name
}

type set64 map[name]struct{}

func (s set64) has(n name) bool { _, ok := s[n]; return ok }
func (s set64) add(n name)      { s[n] = struct{}{} }

// Cost returns the tokens of the prefix.
func (c *Case) Cost() int { return c.Trajectory.costs[c.At] }

// Cases returns the cases of a trajectory. A prefix has minPrefix tokens or more.
func (t *Trajectory) Cases(common *Common, minPrefix int) []*Case {
	var cases []*Case
	last := 0
	for _, share := range cutsAt {
		at := t.cut(share)
		if at == 0 || at == last || t.costs[at] < minPrefix {
			continue
		}
		last = at
		c := t.caseAt(at, common)
		if len(c.Needs) >= fewest {
			cases = append(cases, c)
		}
	}
	return cases
}

// cut returns the first step at or behind a share of the cost, or 0.
func (t *Trajectory) cut(percent int) int {
	whole := t.costs[len(t.Messages)]
	for i := t.Pinned + 1; i < len(t.Messages); i++ {
		if t.costs[i]*100 >= whole*percent && t.isStep(i) {
			return i
		}
	}
	return 0
}

// isStep reports whether the assistant begins to speak with message i.
func (t *Trajectory) isStep(i int) bool {
	return t.Messages[i].Role == RoleAssistant && t.Messages[i-1].Role != RoleAssistant
}

func (t *Trajectory) caseAt(at int, common *Common) *Case {
	c := &Case{Trajectory: t, At: at, Prefix: t.Messages[t.Pinned:at:at], Common: common, pinned: make(set64)}
	for i := range t.Pinned {
		r := t.Messages[i].reading()
		for k := range r.mentions {
			c.pinned.add(r.mentions[k].id)
		}
		for k := range r.lines {
			c.pinned.add(r.lines[k].id)
		}
	}
	w := walk{Case: c, ids: newSeen(c, identifiersOf), lines: newSeen(c, linesIn)}
	for i := at; i < len(t.Messages) && c.Actions < horizon; i++ {
		m := &t.Messages[i]
		switch {
		case m.Role != RoleAssistant:
			w.ids.tell(m)
			w.lines.tell(m)
		case len(m.Calls) > 0:
			c.Needs = w.ids.need(c, c.Needs, m)
			c.Lines = w.lines.need(c, c.Lines, m)
			c.Actions++
		}
	}
	return c
}

// A walk goes from the cut on and finds what is needed.
type walk struct {
	*Case
	ids, lines *seen
}

// A seen knows of identifiers, or of lines, where they are in the prefix and which
// of them do not count any more: they were told, or needed before.
type seen struct {
	of   func(r *reading) []thing
	last map[name]int
	gone set64
}

// A thing is an identifier or a line of a message.
type thing struct {
	id       name
	from, to int // in the plain text
	kind     Kind
	inner    bool
}

func identifiersOf(r *reading) []thing {
	list := make([]thing, len(r.mentions))
	for i, m := range r.mentions {
		list[i] = thing{m.id, m.from, m.to, m.kind, m.inner}
	}
	return list
}

func linesIn(r *reading) []thing {
	list := make([]thing, len(r.lines))
	for i, l := range r.lines {
		list[i] = thing{id: l.id, from: l.from, to: l.to}
	}
	return list
}

func newSeen(c *Case, of func(*reading) []thing) *seen {
	s := &seen{of: of, last: make(map[name]int), gone: make(set64)}
	for i := range c.Prefix {
		for _, t := range of(c.Prefix[i].reading()) {
			s.last[t.id] = i
		}
	}
	return s
}

func (s *seen) tell(m *Message) {
	for _, t := range s.of(m.reading()) {
		s.gone.add(t.id)
	}
}

// need appends what an action has from the prefix and from nowhere else.
func (s *seen) need(c *Case, needs []Need, m *Message) []Need {
	for i := range m.Calls {
		r := read(&Message{Text: Leaves(m.Calls[i].Args)})
		for _, t := range s.of(r) {
			last, known := s.last[t.id]
			if t.inner || !known || s.gone.has(t.id) || c.pinned.has(t.id) || t.kind != KindNumber && c.Common.has(t.id) {
				continue
			}
			s.gone.add(t.id)
			needs = append(needs, Need{
				Text: r.plain[t.from:t.to], Kind: t.kind, Action: c.Actions, Last: last,
				Far: c.after(last) >= farAway, id: t.id,
			})
		}
	}
	return needs
}

// after returns the tokens between message i of the prefix and the cut.
func (c *Case) after(i int) int {
	t := c.Trajectory
	return t.costs[c.At] - t.costs[t.Pinned+i+1]
}

// A Common is what sessions of two or more families have: names that everybody
// knows. The nil Common has nothing.
type Common struct{ names set64 }

func (c *Common) has(n name) bool { return c != nil && c.names.has(n) }

// Size returns how many identifiers and lines are common.
func (c *Common) Size() int { return len(c.names) }

// NewCommon returns what trajectories of several families have in common. Numbers
// count for nothing here: they meet by chance.
func NewCommon(all []*Trajectory) *Common {
	families := make(map[string]int)
	first := make(map[name]int) // family that has it first
	c := &Common{names: make(set64)}
	for _, t := range all {
		f, known := families[t.Family]
		if !known {
			f = len(families)
			families[t.Family] = f
		}
		see := func(n name) {
			if was, known := first[n]; !known {
				first[n] = f
			} else if was != f {
				c.names.add(n)
			}
		}
		for i := range t.Messages {
			r := t.Messages[i].reading()
			for k := range r.mentions {
				if m := &r.mentions[k]; m.kind != KindNumber {
					see(m.id)
				}
			}
			for k := range r.lines {
				see(r.lines[k].id)
			}
		}
	}
	return c
}

// Select returns the cases of the first trajectories of each family that have some,
// at most limit of them, by the hash of their ids. Families are in the order of
// their names.
func Select(all []*Trajectory, common *Common, limit int, minPrefix func(family string) int) []*Case {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *Trajectory) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(nameOf(a.ID), nameOf(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	found := make([][]*Case, len(sorted))
	each(len(sorted), func(i int) { found[i] = sorted[i].Cases(common, minPrefix(sorted[i].Family)) })
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
