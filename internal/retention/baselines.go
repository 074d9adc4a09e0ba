package retention

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

// Baselines returns the simple methods, and at the end the oracles.
func Baselines() []Method {
	return []Method{
		{Name: "recency", Pack: func(p []Message, b int) []Message { return end(p, b, false) }},
		{Name: "recency-cut", Pack: func(p []Message, b int) []Message { return end(p, b, true) }},
		{Name: "recency-best-fit", Pack: bestFit},
		{Name: "first-last", Pack: firstLast},
		{Name: "clear3-tail", Pack: func(p []Message, b int) []Message { return end(Masked(p, 3), b, true) }},
		{Name: "mask10-tail", Pack: func(p []Message, b int) []Message { return end(Masked(p, 10), b, true) }},
		{Name: "mask-fit", Pack: maskFit},
		{Name: "drop-largest", Pack: func(p []Message, b int) []Message { return dropLargest(p, singles(p), b) }},
		{Name: "drop-largest-pairs", Pack: func(p []Message, b int) []Message { return dropLargest(p, units(p), b) }},
		{Name: "random", Pack: random},
		{Name: "pager", Pack: func(p []Message, b int) []Message { return pagerFormula(p, singles(p), b) }},
		{Name: "pager-pairs", Pack: func(p []Message, b int) []Message { return pagerFormula(p, units(p), b) }},
		{Name: "bm25", Pack: func(p []Message, b int) []Message { return bm25(p, singles(p), b, 0) }},
		{Name: "bm25-recent", Pack: func(p []Message, b int) []Message { return bm25(p, singles(p), b, 4) }},
		{Name: "bm25-recent-pairs", Pack: func(p []Message, b int) []Message { return bm25(p, units(p), b, 4) }},
		{Name: "clip", Pack: clip},
		{Name: "names", Pack: bagOfNames},
		oracle("oracle-messages", oracleMessages),
		oracle("oracle-lines", oracleLines),
	}
}

// oracle returns a method that knows the needs of a case.
func oracle(name string, pack func(c *Case, budget int) []Message) Method {
	return Method{Name: name, oracle: true, packCase: func(c *Case, budget int, _ func() time.Time) ([]Message, time.Duration) {
		return pack(c, budget), 0
	}}
}

// Simple returns the simple methods that do not know the needs. Their names begin with
// "simple-", so that no strategy has the same name.
func Simple() []Method {
	var methods []Method
	for _, m := range Baselines() {
		if !m.Oracle() {
			methods = append(methods, Method{Name: simplePrefix + m.Name, Pack: m.Pack})
		}
	}
	return methods
}

const simplePrefix = "simple-"

// IsSimple reports whether a method of that name is one of [Simple].
func IsSimple(name string) bool { return strings.HasPrefix(name, simplePrefix) }

// bestFit goes from the newest reply to the oldest. It keeps each reply that still fits the budget
// together with the results of its calls.
func bestFit(prefix []Message, budget int) []Message {
	u := units(prefix)
	return fill(prefix, u, NewestFirst(len(u)), budget)
}

// firstLast keeps the first message, in at most half of the budget, and the newest messages.
func firstLast(prefix []Message, budget int) []Message {
	if len(prefix) == 0 {
		return nil
	}
	first, ok := prefix[0], true
	if first.Cost() > budget/2 {
		first, ok = shorten(first, budget/2, text.Head)
	}
	if !ok {
		return end(prefix, budget, true)
	}
	return append([]Message{first}, end(prefix[1:], budget-first.Cost(), true)...)
}

// cleared is the text in place of a result that a method clears. It has no id by which the result
// could be recalled.
const cleared = "[Old tool result content cleared]"

// Masked returns the prefix with results cleared, where that makes them smaller. It does not clear
// the newest results, as many as the argument keep says.
func Masked(prefix []Message, keep int) []Message {
	out := slices.Clone(prefix)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Role != transcript.RoleTool {
			continue
		}
		if keep--; keep < 0 && len(out[i].Text) > len(cleared) {
			out[i].Text = cleared
		}
	}
	return out
}

// maskFit clears all results, then restores each that fits, newest first. If the prefix does not
// fit even with all results cleared, maskFit keeps the newest messages of that prefix.
func maskFit(prefix []Message, budget int) []Message {
	out := Masked(prefix, 0)
	room := budget - Cost(out)
	if room < 0 {
		return end(out, budget, true)
	}
	for i := len(out) - 1; i >= 0; i-- {
		if more := prefix[i].Cost() - out[i].Cost(); more <= room {
			room -= more
			out[i] = prefix[i]
		}
	}
	return out
}

// dropLargest drops the largest units until the rest fits. Of equally large ones it drops the
// older first.
func dropLargest(prefix []Message, units [][]int, budget int) []Message {
	cost := make([]int, len(units))
	order := make([]int, len(units))
	whole := 0
	for u := range units {
		order[u] = u
		for _, i := range units[u] {
			cost[u] += prefix[i].Cost()
		}
		whole += cost[u]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost[b], cost[a]) })
	kept := make([]bool, len(prefix))
	for _, u := range order {
		for _, i := range units[u] {
			kept[i] = whole <= budget
		}
		if whole > budget {
			whole -= cost[u]
		}
	}
	return only(prefix, kept)
}

// random keeps messages in a random order, each if it still fits. The order depends only on the
// number of messages.
func random(prefix []Message, budget int) []Message {
	order := rand.New(rand.NewPCG(1, uint64(len(prefix)))).Perm(len(prefix)) //nolint:gosec // must be the same each time
	return fill(prefix, singles(prefix), order, budget)
}

// pagerFormula keeps the units with the highest [SeedScores] for the last user message.
func pagerFormula(prefix []Message, units [][]int, budget int) []Message {
	return fill(prefix, units, ByScore(SeedScores(lastUser(prefix), said(prefix, units))), budget)
}

// SeedScores returns the retention scores that package pager/seed gives to texts. The keywords are
// the words of the text in asked, and each element of texts is one turn.
func SeedScores(asked string, texts []string) []float64 {
	h := &pagerjson.History{Intent: keywords(asked)}
	for i, said := range texts {
		h.Blocks = append(h.Blocks, pagerjson.Block{
			ID: "block-" + pagerjson.Int(i+1).String(), Turn: pagerjson.Int(i + 1), Text: []byte(said),
		})
	}
	r, err := seed.Decide(h, nil)
	if err != nil {
		return nil // unreachable: turns ascend and ids differ
	}
	scores := make([]float64, len(texts))
	for i := range scores {
		scores[i] = r.Records[i].Score
	}
	return scores
}

// keywords returns the words of a text as package seed splits it, each once, without words of
// one or two letters.
func keywords(said string) []string {
	var list []string
	known := make(map[string]bool)
	for w := range text.Terms(said) {
		if len(w) > 2 && !known[w] {
			known[w] = true
			list = append(list, w)
		}
	}
	return list
}

// bm25 keeps the units that are most similar to the last user message and the last messages.
func bm25(prefix []Message, units [][]int, budget, recent int) []Message {
	asked := []string{lastUser(prefix)}
	for i := max(0, len(prefix)-recent); i < len(prefix); i++ {
		asked = append(asked, prefix[i].reading().plain)
	}
	query := strings.Join(asked, "\n")
	docs := make([]retrieval.Document, len(units))
	for u, said := range said(prefix, units) {
		docs[u] = retrieval.Document{ID: pagerjson.Int(u).String(), Text: said}
	}
	scores := make([]float64, len(units))
	for _, h := range retrieval.Rank(query, docs) {
		scores[h.Index] = float64(h.Score)
	}
	return fill(prefix, units, ByScore(scores), budget)
}

// clip cuts all texts, also in arguments of calls, to the same length: the largest with which all
// messages fit the budget. If they fit with no length, it cuts texts to the shortest length and
// keeps the newest messages.
func clip(prefix []Message, budget int) []Message {
	longest := 0
	for i := range prefix {
		longest = max(longest, len(prefix[i].reading().plain))
	}
	clipped := func(n int) []Message {
		out := slices.Clone(prefix)
		for i := range out {
			out[i].Text = text.Head(out[i].Text, n)
			out[i].Calls = clippedCalls(out[i].Calls, n)
		}
		return out
	}
	n := sort.Search(longest+1, func(n int) bool { return Cost(clipped(n)) > budget }) - 1
	return end(clipped(max(n, 0)), budget, false)
}

// bagOfNames keeps names instead of sentences, in one message. Names are words with a digit, a dot,
// a slash, an underscore, a hyphen or a capital behind a small letter. Each name occurs once. More
// frequent names come first; if two are equally frequent, the one that occurred last comes first.
func bagOfNames(prefix []Message, budget int) []Message {
	count, last := make(map[string]int), make(map[string]int)
	seen := 0
	for i := range prefix {
		s := &scanner{text: prefix[i].reading().plain}
		s.runs(0, len(s.text), &pathByte, func(from, to int) {
			w := strings.Trim(s.text[from:to], ".-/@")
			if seen++; len(w) > 2 && isName(w) {
				count[w]++
				last[w] = seen
			}
		})
	}
	list := slices.Collect(maps.Keys(count))
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(last[b], last[a])) })
	bag := Message{Role: transcript.RoleUser}
	room := (budget - bag.Cost()) * 4
	var kept []string
	for _, w := range list {
		if len(w)+1 <= room {
			kept = append(kept, w)
			room -= len(w) + 1
		}
	}
	if len(kept) == 0 {
		return nil
	}
	bag.Text = strings.Join(kept, " ")
	return []Message{bag}
}

// isName reports whether a word belongs into a bag of names.
func isName(w string) bool {
	for i := range len(w) {
		switch c := w[i]; {
		case '0' <= c && c <= '9', strings.IndexByte("./_-", c) >= 0:
			return true
		case 'A' <= c && c <= 'Z' && i > 0 && 'a' <= w[i-1] && w[i-1] <= 'z':
			return true
		}
	}
	return false
}

// clippedCalls returns calls with every text in their arguments cut to n bytes.
func clippedCalls(calls []Call, n int) []Call {
	if !slices.ContainsFunc(calls, func(c Call) bool { return len(c.Args) > n }) {
		return calls
	}
	out := slices.Clone(calls)
	for i := range out {
		var v any
		d := json.NewDecoder(strings.NewReader(out[i].Args))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			out[i].Args = text.Head(out[i].Args, n)
			continue
		}
		if short, err := json.Marshal(clippedValue(v, n)); err == nil {
			out[i].Args = string(short)
		}
	}
	return out
}

func clippedValue(v any, n int) any {
	switch v := v.(type) {
	case string:
		return text.Head(v, n)
	case []any:
		for i := range v {
			v[i] = clippedValue(v[i], n)
		}
	case map[string]any:
		for k := range v {
			v[k] = clippedValue(v[k], n)
		}
	}
	return v
}

// oracleMessages knows the needs and keeps whole messages. It repeatedly takes the message with
// the most uncovered needs per token.
func oracleMessages(c *Case, budget int) []Message {
	kept := make([]bool, len(c.Prefix))
	for _, p := range c.cover(c.pieces(false), budget) {
		kept[p.message] = true
	}
	return only(c.Prefix, kept)
}

// oracleLines knows the needs and keeps the lines that have them, in one message.
func oracleLines(c *Case, budget int) []Message {
	// A line costs its bytes and a line feed. Counting bytes avoids rounding.
	taken := c.cover(c.pieces(true), (budget-4)*4)
	if len(taken) == 0 {
		return nil
	}
	slices.SortFunc(taken, func(a, b piece) int { return cmp.Or(cmp.Compare(a.message, b.message), cmp.Compare(a.from, b.from)) })
	var lines []string
	for _, p := range taken {
		lines = append(lines, c.Prefix[p.message].reading().plain[p.from:p.to])
	}
	return []Message{{Role: transcript.RoleUser, Text: strings.Join(lines, "\n")}}
}

// A piece is a message of the prefix or a line of one.
type piece struct {
	message, from, to int
	cost              int
	needs             []int
}

// pieces returns the pieces of the prefix that have needs, in order: whole messages with their
// cost in tokens, or lines with their cost in bytes.
func (c *Case) pieces(lines bool) []piece {
	index := indexes(c.Needs)
	var list []piece
	for i := range c.Prefix {
		r := c.Prefix[i].reading()
		parts := []piece{{message: i, to: len(r.plain), cost: c.Prefix[i].Cost()}}
		if lines {
			parts = linesAt(i, r.plain)
		}
		k := 0
		for _, m := range r.mentions {
			for m.from >= parts[k].to && k+1 < len(parts) {
				k++
			}
			if n, needed := index[m.id]; needed && !slices.Contains(parts[k].needs, n) {
				parts[k].needs = append(parts[k].needs, n)
			}
		}
		for _, p := range parts {
			if len(p.needs) > 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

// linesAt returns the lines of a message.
func linesAt(message int, text string) []piece {
	var list []piece
	at := 0
	for l := range strings.SplitSeq(text, "\n") {
		end := at + len(l)
		list = append(list, piece{message: message, from: at, to: end, cost: len(l) + 1})
		at = end + 1
	}
	return list
}

// cover repeatedly takes the piece with the most needs per unit of cost. Needs of pieces that it has
// taken do not count. It ends when it has all needs or when no piece fits into the rest of the budget.
func (c *Case) cover(pieces []piece, budget int) []piece {
	covered := make([]bool, len(c.Needs))
	var taken []piece
	for {
		best, most := -1, 0.0
		for i := range pieces {
			p := &pieces[i]
			if p.cost > budget {
				continue
			}
			gain := 0
			for _, n := range p.needs {
				if !covered[n] {
					gain++
				}
			}
			if per := float64(gain) / float64(max(1, p.cost)); per > most {
				best, most = i, per
			}
		}
		if best < 0 {
			return taken
		}
		taken = append(taken, pieces[best])
		budget -= pieces[best].cost
		for _, n := range pieces[best].needs {
			covered[n] = true
		}
	}
}
