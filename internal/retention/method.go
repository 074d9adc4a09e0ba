package retention

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/text"
)

// A Method is a way to make a prefix fit.
type Method struct {
	Name string

	// Pack returns what is left of a prefix in a budget of tokens. It must not
	// change the prefix, and may be called by several goroutines at once.
	Pack func(prefix []Message, budget int) []Message

	// Timed does what Pack does and says how long it took. It is for a method that
	// must translate a prefix first, which is not its work. The time of any other is
	// that of Pack.
	Timed func(prefix []Message, budget int) ([]Message, time.Duration)

	// foresee is an oracle's: it may look at the needs.
	foresee func(c *Case, budget int) []Message

	// judged is a method's that depends on which family it is judged by. With a clock
	// it says how long the work took.
	judged func(c *Case, budget int, now func() time.Time) ([]Message, time.Duration)
}

// Oracle reports whether the method knows what will be needed.
func (m *Method) Oracle() bool { return m.foresee != nil }

func (m *Method) run(c *Case, budget int) []Message {
	if m.foresee != nil {
		return m.foresee(c, budget)
	}
	if m.judged != nil {
		out, _ := m.judged(c, budget, nil)
		return out
	}
	return m.Pack(c.Prefix, budget)
}

// clocked does what run does and says how long it took, by a clock.
func (m *Method) clocked(c *Case, budget int, now func() time.Time) ([]Message, time.Duration) {
	switch {
	case m.Timed != nil:
		return m.Timed(c.Prefix, budget)
	case m.judged != nil:
		return m.judged(c, budget, now)
	}
	start := now()
	out := m.run(c, budget)
	return out, now().Sub(start)
}

// units groups the messages of a prefix: a reply with the results of its calls, or
// any other message alone. Each is a list of indexes; they are in the order of
// their first.
func units(prefix []Message) [][]int {
	var list [][]int
	of := make(map[string]int) // unit by call id
	for i := range prefix {
		m := &prefix[i]
		if u, known := of[m.CallID]; known && m.Role == RoleTool {
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

// singles has each message of a prefix alone.
func singles(prefix []Message) [][]int {
	list := make([][]int, len(prefix))
	for i := range list {
		list[i] = []int{i}
	}
	return list
}

// fill takes units in an order, each if it still fits, and returns their messages
// in the order of the prefix.
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

// newestFirst returns the numbers below n from the last to the first.
func newestFirst(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = n - 1 - i
	}
	return order
}

// byScore returns the indexes of scores, the highest first, and of equals the later.
func byScore(scores []float64) []int {
	order := newestFirst(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// end returns the newest messages that fit. With cut, the first that does not is
// cut down to the room that is left; the end of its text stays.
func end(msgs []Message, budget int, cut bool) []Message {
	i := len(msgs)
	for i > 0 && msgs[i-1].Cost() <= budget {
		i--
		budget -= msgs[i].Cost()
	}
	out := slices.Clone(msgs[i:])
	if cut && i > 0 {
		if m, ok := shorten(msgs[i-1], budget, true); ok {
			out = slices.Insert(out, 0, m)
		}
	}
	return out
}

// shorten cuts the text of a message, at its beginning or its end, so that it costs
// no more than a budget. It reports whether that is possible and leaves something.
func shorten(m Message, budget int, keepEnd bool) (Message, bool) {
	bare := m
	bare.Text = ""
	// A text of so many bytes cannot make the cost round up above the budget.
	room := (budget - bare.Cost()) * 4
	if room <= 0 {
		return m, false
	}
	m.Text = part(m.Text, room, keepEnd)
	m.Stubs = nil
	return m, true
}

// part returns at most n bytes of a text, without breaking a character.
func part(s string, n int, keepEnd bool) string {
	switch {
	case len(s) <= n:
		return s
	case keepEnd:
		return text.Tail(s, n)
	}
	return text.Head(s, n)
}

// lastUser returns the newest message of a user, or an empty text.
func lastUser(prefix []Message) string {
	for _, m := range slices.Backward(prefix) {
		if m.Role == RoleUser {
			return m.Text
		}
	}
	return ""
}

// plain returns what the messages of a unit say.
func plain(prefix []Message, unit []int) string {
	var b strings.Builder
	for _, i := range unit {
		b.WriteString(prefix[i].reading().plain + "\n")
	}
	return b.String()
}
