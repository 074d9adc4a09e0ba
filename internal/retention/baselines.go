package retention

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/pager/seed"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

// Baselines returns the simple methods, those that look into the future last.
func Baselines() []Method {
	return []Method{
		{Name: "recency", Pack: recency},
		{Name: "recency-cut", Pack: recencyCut},
		{Name: "recency-best-fit", Pack: bestFit},
		{Name: "first-last", Pack: firstLast},
		{Name: "clear3-tail", Pack: func(p []Message, b int) []Message { return end(masked(p, 3), b, true) }},
		{Name: "mask10-tail", Pack: func(p []Message, b int) []Message { return end(masked(p, 10), b, true) }},
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
		{Name: "oracle-messages", foresee: oracleMessages},
		{Name: "oracle-lines", foresee: oracleLines},
	}
}

// Simple returns the simple methods that know nothing of what comes, each under a name
// that no strategy has: "simple-" stands before it.
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

// IsSimple reports whether a name is that of a method of [Simple].
func IsSimple(name string) bool { return strings.HasPrefix(name, simplePrefix) }

// recency keeps the newest messages that fit.
func recency(prefix []Message, budget int) []Message { return end(prefix, budget, false) }

// recencyCut keeps the newest messages and the end of the one that does not fit.
func recencyCut(prefix []Message, budget int) []Message { return end(prefix, budget, true) }

// bestFit goes from the newest reply with its results to the oldest and keeps each
// that fits.
func bestFit(prefix []Message, budget int) []Message {
	u := units(prefix)
	return fill(prefix, u, newestFirst(len(u)), budget)
}

// firstLast keeps the first message, in half of the budget at most, and the newest.
func firstLast(prefix []Message, budget int) []Message {
	if len(prefix) == 0 {
		return nil
	}
	first, ok := prefix[0], true
	if first.Cost() > budget/2 {
		first, ok = shorten(first, budget/2, false)
	}
	if !ok {
		return end(prefix, budget, true)
	}
	return append([]Message{first}, end(prefix[1:], budget-first.Cost(), true)...)
}

// cleared stands for a result that was cleared. It cannot be recalled.
const cleared = "[Old tool result content cleared]"

// masked returns the prefix with all but the newest results cleared, where that
// makes them smaller.
func masked(prefix []Message, keep int) []Message {
	out := slices.Clone(prefix)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Role != RoleTool {
			continue
		}
		if keep--; keep < 0 && len(out[i].Text) > len(cleared) {
			out[i].Text = cleared
		}
	}
	return out
}

// maskFit clears all results and brings back the newest, each that fits. Where even
// that does not fit, the newest messages of what is left stay.
func maskFit(prefix []Message, budget int) []Message {
	out := masked(prefix, 0)
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

// dropLargest drops the largest units until the rest fits, of equals the older.
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

// random keeps messages in a random order, each if it fits. The order depends on
// nothing but how many there are.
func random(prefix []Message, budget int) []Message {
	order := rand.New(rand.NewPCG(1, uint64(len(prefix)))).Perm(len(prefix)) //nolint:gosec // must be the same each time
	return fill(prefix, singles(prefix), order, budget)
}

// pagerFormula keeps units by the retention score of the seed, package pager/seed,
// with the words of the last user message as keywords and a turn for each unit.
func pagerFormula(prefix []Message, units [][]int, budget int) []Message {
	if len(units) == 0 {
		return nil
	}
	h := &pagerjson.History{Intent: keywords(lastUser(prefix))}
	for u := range units {
		h.Blocks = append(h.Blocks, pagerjson.Block{
			ID: "block-" + pagerjson.Int(u+1).String(), Turn: pagerjson.Int(u + 1), Text: []byte(plain(prefix, units[u])),
		})
	}
	r, err := seed.Decide(h, nil)
	if err != nil {
		return nil // cannot be: turns ascend and ids differ
	}
	scores := make([]float64, len(units))
	for u := range scores {
		scores[u] = r.Records[u].Score
	}
	return fill(prefix, units, byScore(scores), budget)
}

// keywords returns the words of a text as the seed cuts them, each once, without
// those of one or two letters.
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

// bm25 keeps units by their likeness to the last user message and the last messages.
func bm25(prefix []Message, units [][]int, budget, recent int) []Message {
	asked := []string{lastUser(prefix)}
	for i := max(0, len(prefix)-recent); i < len(prefix); i++ {
		asked = append(asked, prefix[i].reading().plain)
	}
	query := strings.Join(asked, "\n")
	docs := make([]retrieval.Document, len(units))
	for u := range units {
		docs[u] = retrieval.Document{ID: pagerjson.Int(u).String(), Text: plain(prefix, units[u])}
	}
	scores := make([]float64, len(units))
	for _, h := range retrieval.Rank(query, docs) {
		scores[h.Index] = float64(h.Score)
	}
	return fill(prefix, units, byScore(scores), budget)
}

// clip cuts every text, those in arguments of calls too, to one length, the largest
// that fits. Where none does, the newest messages of what is left stay.
func clip(prefix []Message, budget int) []Message {
	longest := 0
	for i := range prefix {
		longest = max(longest, len(prefix[i].reading().plain))
	}
	clipped := func(n int) []Message {
		out := slices.Clone(prefix)
		for i := range out {
			out[i].Text = part(out[i].Text, n, false)
			out[i].Calls = clippedCalls(out[i].Calls, n)
		}
		return out
	}
	n := sort.Search(longest+1, func(n int) bool { return Cost(clipped(n)) > budget }) - 1
	if n < 0 {
		return end(clipped(0), budget, false)
	}
	return clipped(n)
}

// bagOfNames keeps no sentence but a bag of names, in one message: words that have a digit, a
// dot, a slash, an underscore, a hyphen or a capital behind a small letter, each once, the
// most frequent first, and of equals that which was seen last.
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
	bag := Message{Role: RoleUser}
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

// isName reports whether a word is one for a bag of names.
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

// clippedCalls returns calls whose arguments have no text longer than n bytes.
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
			out[i].Args = part(out[i].Args, n, false)
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
		return part(v, n, false)
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

// oracleMessages knows the needs and keeps whole messages: always the one with the
// most needs that no other has yet for its cost.
func oracleMessages(c *Case, budget int) []Message {
	has := make([][]int, len(c.Prefix))
	for i, n := range c.needsIn(func(r *reading) [][2]int { return [][2]int{{0, len(r.plain)}} }) {
		has[i] = n[0]
	}
	cost := func(i int) int { return c.Prefix[i].Cost() }
	kept := make([]bool, len(c.Prefix))
	for _, i := range cover(has, len(c.Needs), cost, budget) {
		kept[i] = true
	}
	return only(c.Prefix, kept)
}

// oracleLines knows the needs and keeps lines that have them, in one message.
func oracleLines(c *Case, budget int) []Message {
	type place struct{ message, from, to int }
	var has [][]int
	var at []place
	spans := make([][][2]int, len(c.Prefix))
	found := c.needsIn(func(r *reading) [][2]int { return linesAt(r.plain) })
	for i := range found {
		spans[i] = linesAt(c.Prefix[i].reading().plain)
		for k, needs := range found[i] {
			if len(needs) > 0 {
				has = append(has, needs)
				at = append(at, place{i, spans[i][k][0], spans[i][k][1]})
			}
		}
	}
	// A line costs its bytes and a line feed. In bytes nothing is lost to rounding.
	order := cover(has, len(c.Needs), func(k int) int { return at[k].to - at[k].from + 1 }, (budget-4)*4)
	if len(order) == 0 {
		return nil
	}
	slices.Sort(order)
	var lines []string
	for _, k := range order {
		lines = append(lines, c.Prefix[at[k].message].reading().plain[at[k].from:at[k].to])
	}
	return []Message{{Role: RoleUser, Text: strings.Join(lines, "\n")}}
}

// linesAt returns where the lines of a text are.
func linesAt(text string) [][2]int {
	var list [][2]int
	at := 0
	for l := range strings.SplitSeq(text, "\n") {
		list = append(list, [2]int{at, at + len(l)})
		at += len(l) + 1
	}
	return list
}

// needsIn returns which needs each part of each message of the prefix has. Parts
// are in order and do not overlap.
func (c *Case) needsIn(parts func(*reading) [][2]int) [][][]int {
	index := make(map[name]int)
	for i := range c.Needs {
		index[c.Needs[i].id] = i
	}
	list := make([][][]int, len(c.Prefix))
	for i := range c.Prefix {
		r := c.Prefix[i].reading()
		spans := parts(r)
		list[i] = make([][]int, len(spans))
		k := 0
		for _, m := range r.mentions {
			for m.from >= spans[k][1] && k+1 < len(spans) {
				k++
			}
			if n, needed := index[m.id]; needed && !slices.Contains(list[i][k], n) {
				list[i][k] = append(list[i][k], n)
			}
		}
	}
	return list
}

// cover takes parts, always the one with the most needs that are not covered yet
// for its cost, until all needs are covered or no part fits. It returns the indexes
// of the parts.
func cover(has [][]int, needs int, cost func(int) int, budget int) []int {
	covered := make([]bool, needs)
	taken := make([]bool, len(has))
	var order []int
	for {
		best, most := -1, 0.0
		for i := range has {
			if taken[i] || cost(i) > budget {
				continue
			}
			gain := 0
			for _, n := range has[i] {
				if !covered[n] {
					gain++
				}
			}
			if per := float64(gain) / math.Max(1, float64(cost(i))); per > most {
				best, most = i, per
			}
		}
		if best < 0 {
			return order
		}
		taken[best] = true
		budget -= cost(best)
		order = append(order, best)
		for _, n := range has[best] {
			covered[n] = true
		}
	}
}
