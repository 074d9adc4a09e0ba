package retention

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// A Score names a measure of a method's output. It is written as its text.
type Score string

// The scores. The package comment explains them.
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

// allScores returns all scores, the main ones first.
func allScores() []Score {
	return []Score{
		ScoreGround, ScoreLine, ScoreID, ScoreComplete, ScoreFar, ScoreStub, ScoreRecall,
		ScoreValid, ScoreUsed, ScoreOver, ScoreStable,
	}
}

// Scores are the scores of one case. A score that does not apply to the case is missing; for
// example, [ScoreFar] in a case without needs from far away.
type Scores map[Score]float64

// A judge computes the scores of outputs for one case. It is safe for concurrent use.
type judge struct {
	*Case
	needs    map[name]int // index of each need by its name
	lines    map[name]int
	pairs    map[name]bool   // hashes of a need together with a word beside it in the prefix
	sources  []map[int]bool  // for each need, the messages of the prefix that have it
	answered map[string]bool // ids of calls with a result in the prefix
	about    []map[name]bool // for each action, the identifiers that its agent had at hand
}

func newJudge(c *Case) *judge {
	j := &judge{
		Case: c, needs: indexes(c.Needs), lines: indexes(c.Lines), pairs: make(map[name]bool),
		sources: make([]map[int]bool, len(c.Needs)), answered: make(map[string]bool),
	}
	for i := range j.sources {
		j.sources[i] = make(map[int]bool)
	}
	for i := range c.Prefix {
		m := &c.Prefix[i]
		if m.Role == transcript.RoleTool {
			j.answered[m.CallID] = true
		}
		for _, said := range m.reading().mentions {
			if n, needed := j.needs[said.id]; needed {
				j.pairs[said.before()], j.pairs[said.behind()] = true, true
				j.sources[n][i] = true
			}
		}
	}
	j.about = j.situations()
	return j
}

// indexes returns the index of each need by its name.
func indexes(needs []Need) map[name]int {
	list := make(map[name]int, len(needs))
	for i := range needs {
		list[needs[i].id] = i
	}
	return list
}

// before returns the hash of an identifier and the word before it, or the beginning of its line.
func (m *mention) before() name { return mix(m.left, m.id, 1) }

// behind returns a single hash for two words together: the identifier m and the word that follows
// it on the same line, or the end of the line.
func (m *mention) behind() name { return mix(m.id, m.right, 2) }

func mix(a, b, c name) name {
	const odd = 0x9e3779b97f4a7c15
	return ((a^a>>29)*odd^b^b>>31)*odd ^ c
}

// Score returns the scores of a window, by whatever method, for a budget of tokens.
func (c *Case) Score(window []Message, budget int) Scores { return newJudge(c).score(window, budget) }

// score returns the scores of a method's output for a budget.
func (j *judge) score(out []Message, budget int) Scores {
	present := make([]bool, len(j.Needs))
	grounded := make([]bool, len(j.Needs))
	copied := make([]bool, len(j.Lines))
	for i := range out {
		r := out[i].reading()
		for k := range r.mentions {
			m := &r.mentions[k]
			if n, needed := j.needs[m.id]; needed {
				present[n] = true
				grounded[n] = grounded[n] || j.pairs[m.before()] || j.pairs[m.behind()]
			}
		}
		for k := range r.lines {
			if n, needed := j.lines[r.lines[k].id]; needed {
				copied[n] = true
			}
		}
	}
	stub, recall := j.reachable(out, present)
	s := Scores{
		ScoreID: share(present), ScoreGround: share(grounded), ScoreComplete: j.complete(present),
		ScoreStub: share(stub), ScoreRecall: share(recall), ScoreValid: 0,
		ScoreUsed: float64(Cost(out)) / float64(max(budget, 1)), ScoreOver: 0,
	}
	if far := j.far(present); len(far) > 0 {
		s[ScoreFar] = share(far)
	}
	if len(copied) >= Fewest {
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

// share returns the share of true values in a list.
func share(list []bool) float64 {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return float64(n) / float64(max(len(list), 1))
}

// far returns, for each need from far away, whether the output has it.
func (j *judge) far(present []bool) []bool {
	var far []bool
	for i := range j.Needs {
		if j.Needs[i].Far {
			far = append(far, present[i])
		}
	}
	return far
}

// complete returns, of the actions that have needs, the share whose needs are all present.
func (j *judge) complete(present []bool) float64 {
	whole := make(map[int]bool)
	for i := range j.Needs {
		a := j.Needs[i].Action
		was, known := whole[a]
		whole[a] = present[i] && (was || !known)
	}
	return share(slices.Collect(maps.Values(whole)))
}

// valid reports whether each result in out follows its call, and each call has the result that
// it had in the prefix.
func (j *judge) valid(out []Message) bool {
	asked, answered := make(map[string]bool), make(map[string]bool)
	for i := range out {
		for k := range out[i].Calls {
			asked[out[i].Calls[k].ID] = true
		}
		if out[i].Role == transcript.RoleTool {
			if !asked[out[i].CallID] {
				return false
			}
			answered[out[i].CallID] = true
		}
	}
	for id := range asked {
		if !answered[id] && j.answered[id] {
			return false
		}
	}
	return true
}

// situations returns, for each action, the identifiers that its agent had at hand. These are the
// identifiers in the arguments of the action, and those in messages of users and tools before the
// action, beginning with the last such message before the cut.
func (j *judge) situations() []map[name]bool {
	t := j.Trajectory
	isHeard := func(m *Message) bool { return m.Role == transcript.RoleUser || m.Role == transcript.RoleTool }
	from := j.At
	for i := j.At - 1; i >= t.Pinned && from == j.At; i-- {
		if isHeard(&t.Messages[i]) {
			from = i
		}
	}
	var list []map[name]bool
	heard := make(map[name]bool)
	for i := from; i < len(t.Messages) && len(list) < j.Actions; i++ {
		m := &t.Messages[i]
		switch {
		case isHeard(m):
			for _, said := range m.reading().mentions {
				heard[said.id] = true
			}
		case i >= j.At && m.Role == transcript.RoleAssistant && len(m.Calls) > 0:
			hand := maps.Clone(heard)
			for k := range m.Calls {
				for _, n := range names(leavesOf(m.Calls[k].Args)) {
					hand[n] = true
				}
			}
			list = append(list, hand)
		}
	}
	return list
}

// reachable returns which needs are present or can be recalled, because a stub stands for a
// message that has the need. The first result counts only stubs that name another identifier at
// hand, the second counts all stubs.
func (j *judge) reachable(out []Message, present []bool) (stub, recall []bool) {
	stub, recall = slices.Clone(present), slices.Clone(present)
	for _, s := range j.stubs(out) {
		for i := range j.Needs {
			if stub[i] || !slices.ContainsFunc(s.stands, func(m int) bool { return j.sources[i][m] }) {
				continue
			}
			need := &j.Needs[i]
			recall[i] = true
			stub[i] = slices.ContainsFunc(s.names, func(n name) bool { return n != need.id && j.about[need.Action][n] })
		}
	}
	return stub, recall
}

// A seenStub is a stub with its names.
type seenStub struct {
	names  []name // in its text and in the call that it answers
	stands []int  // messages that it stands for
}

// stubs returns the stubs in out.
func (j *judge) stubs(out []Message) []seenStub {
	var list []seenStub
	asked := make(map[string][]name) // names by call id
	for i := range out {
		m := &out[i]
		for k := range m.Calls {
			asked[m.Calls[k].ID] = names(m.Calls[k].said())
		}
		stubs := m.Stubs
		if stubs == nil && m.read == nil {
			stubs = numbered(m.Text, len(j.Prefix))
		}
		for _, s := range stubs {
			seen := seenStub{names: names(m.Text[s.From:s.To]), stands: s.For}
			if m.Role == transcript.RoleTool {
				seen.names = append(seen.names, asked[m.CallID]...)
			}
			list = append(list, seen)
		}
	}
	return list
}

// names returns the identifiers in a text.
func names(text string) []name {
	var list []name
	for _, m := range scan(text) {
		list = append(list, m.id)
	}
	return list
}

// numbered finds the stubs in a window of another method: parts that begin with a line "[#12
// …", which has the number of a message of the prefix from 1 on, and end before the next such
// line.
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

// stable returns how many bytes two outputs have in common at their beginning, as a share of the
// bytes of the later output.
func stable(earlier, later []Message) float64 {
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

// wire returns messages as text, with all their content.
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

// next returns the case one step later, or nil if there is none. It has no needs; only its
// prefix is used.
func (c *Case) next() *Case {
	t := c.Trajectory
	for i := c.At + 1; i < len(t.Messages); i++ {
		if t.isStep(i) {
			return &Case{Trajectory: t, At: i, Prefix: t.Messages[t.Pinned:i:i]}
		}
	}
	return nil
}
