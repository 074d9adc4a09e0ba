package retention

import (
	"math"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// A Score names a figure about what a method kept. It is written as its text.
type Score string

// The scores, see the package comment.
const (
	ScoreID       Score = "id"
	ScoreGround   Score = "ground"
	ScoreLine     Score = "line"
	ScoreComplete Score = "complete"
	ScoreFar      Score = "far"
	ScoreStub     Score = "stub"
	ScoreRecall   Score = "recall"
	ScoreValid    Score = "valid"
	ScoreUsed     Score = "used"
	ScoreOver     Score = "over"
	ScoreStable   Score = "stable"
)

// AllScores are the scores, the headline first.
func AllScores() []Score {
	return []Score{
		ScoreGround, ScoreLine, ScoreID, ScoreComplete, ScoreFar, ScoreStub, ScoreRecall,
		ScoreValid, ScoreUsed, ScoreOver, ScoreStable,
	}
}

// Scores are the figures of one case. A score that the case does not have is not
// among them: one without needs from far away has no [ScoreFar].
type Scores map[Score]float64

// A Judge scores what methods keep of one case. It may be shared.
type Judge struct {
	*Case
	needs  map[name]int // index by id
	lines  map[name]int
	pairs  set64 // of needs with their neighbors in the prefix
	result set64 // calls that have a result in the prefix
	about  []set64
}

// NewJudge returns the judge of a case.
func NewJudge(c *Case) *Judge {
	j := &Judge{Case: c, needs: make(map[name]int), lines: make(map[name]int), pairs: make(set64), result: make(set64)}
	for i := range c.Needs {
		j.needs[c.Needs[i].id] = i
	}
	for i := range c.Lines {
		j.lines[c.Lines[i].id] = i
	}
	for i := range c.Prefix {
		m := &c.Prefix[i]
		if m.Role == RoleTool {
			j.result.add(nameOf(m.CallID))
		}
		r := m.reading()
		for k := range r.mentions {
			if _, needed := j.needs[r.mentions[k].id]; needed {
				j.pairs.add(r.mentions[k].before())
				j.pairs.add(r.mentions[k].behind())
			}
		}
	}
	j.about = j.situations()
	return j
}

// before names an identifier together with the word before it.
func (m *mention) before() name { return mix(m.left, m.id, 1) }

// behind names an identifier together with the word behind it.
func (m *mention) behind() name { return mix(m.id, m.right, 2) }

func mix(a, b, c name) name {
	const odd = 0x9e3779b97f4a7c15
	return ((a^a>>29)*odd^b^b>>31)*odd ^ c
}

// Score judges what a method gave for a budget.
func (j *Judge) Score(out []Message, budget int) Scores {
	present := make([]bool, len(j.Needs))
	grounded := make([]bool, len(j.Needs))
	copied := make([]bool, len(j.Lines))
	for i := range out {
		r := out[i].reading()
		for k := range r.mentions {
			m := &r.mentions[k]
			if n, needed := j.needs[m.id]; needed {
				present[n] = true
				grounded[n] = grounded[n] || j.pairs.has(m.before()) || j.pairs.has(m.behind())
			}
		}
		for k := range r.lines {
			if n, needed := j.lines[r.lines[k].id]; needed {
				copied[n] = true
			}
		}
	}
	s := Scores{
		ScoreID: share(present), ScoreGround: share(grounded), ScoreComplete: j.complete(present),
		ScoreStub: share(j.reachable(out, present, true)), ScoreRecall: share(j.reachable(out, present, false)), ScoreValid: 0, ScoreUsed: float64(Cost(out)) / float64(max(budget, 1)),
		ScoreOver: 0,
	}
	if far := j.far(present); len(far) > 0 {
		s[ScoreFar] = share(far)
	}
	if len(copied) >= fewest {
		s[ScoreLine] = share(copied)
	}
	if j.valid(out) {
		s[ScoreValid] = 1
	}
	if Cost(out) > budget {
		s[ScoreOver] = 1
	}
	return s
}

// share returns how much of a list is true.
func share(list []bool) float64 {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return float64(n) / float64(max(len(list), 1))
}

func (j *Judge) far(present []bool) []bool {
	var far []bool
	for i := range j.Needs {
		if j.Needs[i].Far {
			far = append(far, present[i])
		}
	}
	return far
}

func (j *Judge) complete(present []bool) float64 {
	whole := make(map[int]bool)
	for i := range j.Needs {
		a := j.Needs[i].Action
		was, known := whole[a]
		whole[a] = present[i] && (was || !known)
	}
	n := 0
	for _, ok := range whole {
		if ok {
			n++
		}
	}
	return float64(n) / float64(len(whole))
}

// valid reports whether each result in out has its call before it, and each call
// the result that it had.
func (j *Judge) valid(out []Message) bool {
	asked, answered := make(map[string]bool), make(map[string]bool)
	for i := range out {
		for k := range out[i].Calls {
			asked[out[i].Calls[k].ID] = true
		}
		if out[i].Role == RoleTool {
			if !asked[out[i].CallID] {
				return false
			}
			answered[out[i].CallID] = true
		}
	}
	for id := range asked {
		if !answered[id] && j.result.has(nameOf(id)) {
			return false
		}
	}
	return true
}

// situations returns for each action what its agent had at hand: the identifiers of
// the action, and those of what users and tools said from the last such message
// before the cut on.
func (j *Judge) situations() []set64 {
	t := j.Trajectory
	from := j.At
	for i := j.At - 1; i >= t.Pinned; i-- {
		if r := t.Messages[i].Role; r == RoleUser || r == RoleTool {
			from = i
			break
		}
	}
	var list []set64
	said := make(set64)
	for i := from; i < len(t.Messages) && len(list) < j.Actions; i++ {
		m := &t.Messages[i]
		switch {
		case m.Role == RoleUser || m.Role == RoleTool:
			for _, n := range m.reading().mentions {
				said.add(n.id)
			}
		case i >= j.At && m.Role == RoleAssistant && len(m.Calls) > 0:
			hand := make(set64, len(said))
			for n := range said {
				hand.add(n)
			}
			for k := range m.Calls {
				for _, n := range scan(Leaves(m.Calls[k].Args)) {
					hand.add(n.id)
				}
			}
			list = append(list, hand)
		}
	}
	return list
}

// reachable returns which needs are there, or could be looked up: there is a stub for a
// message that has the need, and, if that is asked for, it names something else that
// the agent has at hand.
func (j *Judge) reachable(out []Message, present []bool, cause bool) []bool {
	at := make([]bool, len(present))
	copy(at, present)
	stubs := j.stubs(out)
	if len(stubs) == 0 {
		return at
	}
	sources := j.sources()
	for i := range j.Needs {
		for k := 0; k < len(stubs) && !at[i]; k++ {
			at[i] = stubs[k].standsFor(sources[i]) && (!cause || stubs[k].sharesWith(j.about[j.Needs[i].Action], j.Needs[i].id))
		}
	}
	return at
}

// sources returns for each need which messages of the prefix have it.
func (j *Judge) sources() []map[int]bool {
	list := make([]map[int]bool, len(j.Needs))
	for i := range list {
		list[i] = make(map[int]bool)
	}
	for i := range j.Prefix {
		for _, m := range j.Prefix[i].reading().mentions {
			if n, needed := j.needs[m.id]; needed {
				list[n][i] = true
			}
		}
	}
	return list
}

// An opened is a stub as an agent sees it.
type opened struct {
	names []name // in its text, and in the call that it answers
	stubs []int  // messages that it stands for
}

func (o *opened) standsFor(sources map[int]bool) bool {
	for _, i := range o.stubs {
		if sources[i] {
			return true
		}
	}
	return false
}

func (o *opened) sharesWith(hand set64, but name) bool {
	for _, n := range o.names {
		if n != but && hand.has(n) {
			return true
		}
	}
	return false
}

// stubs returns the stubs in out.
func (j *Judge) stubs(out []Message) []opened {
	var list []opened
	asked := make(map[string][]name)
	for i := range out {
		m := &out[i]
		for k := range m.Calls {
			asked[m.Calls[k].ID] = names(m.Calls[k].Name + "\n" + Leaves(m.Calls[k].Args))
		}
		stubs := m.Stubs
		if stubs == nil && m.read == nil {
			stubs = numbered(m.Text, len(j.Prefix))
		}
		for _, s := range stubs {
			o := opened{names: names(m.Text[s.From:s.To]), stubs: s.For}
			if m.Role == RoleTool {
				o.names = append(o.names, asked[m.CallID]...)
			}
			list = append(list, o)
		}
	}
	return list
}

func names(text string) []name {
	var list []name
	for _, m := range scan(text) {
		list = append(list, m.id)
	}
	return list
}

// numbered finds the stubs of a made message: lines that begin with "[#12 ", by the
// number of a message of the prefix from 1 on, each with what follows up to the next.
func numbered(made string, messages int) []Stub {
	var stubs []Stub
	at := 0
	for l := range strings.SplitAfterSeq(made, "\n") {
		if rest, ok := strings.CutPrefix(l, "[#"); ok {
			if n, err := strconv.Atoi(rest[:text.Digits(rest)]); err == nil && n >= 1 && n <= messages {
				stubs = append(stubs, Stub{From: at, For: []int{n - 1}})
			}
		}
		at += len(l)
		if len(stubs) > 0 {
			stubs[len(stubs)-1].To = at
		}
	}
	return stubs
}

// Stable returns how much of the later of two outputs the earlier begins with, byte
// for byte, as they would be sent.
func Stable(earlier, later []Message) float64 {
	a, b := wire(earlier), wire(later)
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if len(b) == 0 {
		return math.NaN()
	}
	return float64(n) / float64(len(b))
}

// wire writes messages with everything that they say.
func wire(msgs []Message) string {
	var b strings.Builder
	for i := range msgs {
		m := &msgs[i]
		b.WriteString(string(m.Role) + " " + m.CallID + "\n" + m.Text + "\n")
		for k := range m.Calls {
			b.WriteString(m.Calls[k].ID + " " + m.Calls[k].Name + " " + m.Calls[k].Args + "\n")
		}
	}
	return b.String()
}

// next returns the case one step later, or nil if there is none. Its needs are not
// computed: only its prefix is of use.
func (c *Case) next() *Case {
	t := c.Trajectory
	for i := c.At + 1; i < len(t.Messages); i++ {
		if t.isStep(i) {
			return &Case{Trajectory: t, At: i, Prefix: t.Messages[t.Pinned:i:i]}
		}
	}
	return nil
}
