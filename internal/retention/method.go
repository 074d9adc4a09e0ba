package retention

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// A Method is a way to reduce a prefix to a budget.
type Method struct {
	Name string

	// Pack reduces a prefix to a budget of tokens. It must not change the prefix and must be
	// safe for concurrent use.
	Pack func(prefix []Message, budget int) []Message

	// packCase replaces Pack for a method that needs more of a case than its prefix, or that
	// measures its time itself. It returns the duration of its work, or 0 if now is nil.
	packCase func(c *Case, budget int, now func() time.Time) ([]Message, time.Duration)

	oracle bool
}

// Oracle reports whether the method knows the needs.
func (m *Method) Oracle() bool { return m.oracle }

// run returns the output of the method, and the time that it took if now is not nil.
func (m *Method) run(c *Case, budget int, now func() time.Time) ([]Message, time.Duration) {
	switch {
	case m.packCase != nil:
		return m.packCase(c, budget, now)
	case now == nil:
		return m.Pack(c.Prefix, budget), 0
	}
	start := now()
	out := m.Pack(c.Prefix, budget)
	return out, now().Sub(start)
}

// units groups the messages of a prefix: a reply with the results of its calls, or any other
// message alone. Each unit is a list of indexes. Units are in the order of their first
// messages.
func units(prefix []Message) [][]int {
	var list [][]int
	of := make(map[string]int) // index of the unit, by call id
	for i := range prefix {
		m := &prefix[i]
		if u, known := of[m.CallID]; known && m.Role == transcript.RoleTool {
			list[u] = append(list[u], i)
			continue
		}
		for k := range m.Calls {
			of[m.Calls[k].ID] = len(list)
		}
		list = append(list, []int{i})
	}
	return list
}

// singles returns each message of a prefix as a unit.
func singles(prefix []Message) [][]int {
	list := make([][]int, len(prefix))
	for i := range list {
		list[i] = []int{i}
	}
	return list
}

// fill tries units in the given order, takes each that still fits the budget, and
// returns the messages of the taken units in the order of the prefix.
func fill(prefix []Message, units [][]int, order []int, budget int) []Message {
	kept := make([]bool, len(prefix))
	for _, u := range order {
		cost := 0
		for _, i := range units[u] {
			cost += prefix[i].Cost()
		}
		if cost > budget {
			continue
		}
		budget -= cost
		for _, i := range units[u] {
			kept[i] = true
		}
	}
	return only(prefix, kept)
}

func only(prefix []Message, kept []bool) []Message {
	var out []Message
	for i := range prefix {
		if kept[i] {
			out = append(out, prefix[i])
		}
	}
	return out
}

// NewestFirst returns the numbers below n from the last to the first.
func NewestFirst(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	return order
}

// ByScore returns the indexes of scores, highest score first, and later index first for equal
// scores.
func ByScore(scores []float64) []int {
	order := NewestFirst(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// end returns the newest messages that fit the budget. If cut is true, it also keeps the end of
// the next older message, as far as it fits.
func end(msgs []Message, budget int, cut bool) []Message {
	i := len(msgs)
	for i > 0 && msgs[i-1].Cost() <= budget {
		i--
		budget -= msgs[i].Cost()
	}
	out := slices.Clone(msgs[i:])
	if cut && i > 0 {
		if m, ok := shorten(msgs[i-1], budget, text.Tail); ok {
			out = slices.Insert(out, 0, m)
		}
	}
	return out
}

// shorten cuts the text of a message so that it costs at most the budget. It reports false if
// nothing of the text would remain.
func shorten(m Message, budget int, cut func(s string, n int) string) (Message, bool) {
	bare := m
	bare.Text = ""
	// With that many bytes, rounding up cannot exceed the budget.
	room := (budget - bare.Cost()) * 4
	if room <= 0 {
		return m, false
	}
	m.Text = cut(m.Text, room)
	m.Stubs = nil
	return m, true
}

// lastUser returns the text of the newest user message, or "".
func lastUser(prefix []Message) string {
	for _, m := range slices.Backward(prefix) {
		if m.Role == transcript.RoleUser {
			return m.Text
		}
	}
	return ""
}

// said returns the text of each unit.
func said(prefix []Message, units [][]int) []string {
	list := make([]string, len(units))
	for u := range units {
		var b strings.Builder
		for _, i := range units[u] {
			b.WriteString(prefix[i].reading().plain + "\n")
		}
		list[u] = b.String()
	}
	return list
}
