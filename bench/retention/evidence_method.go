package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
)

// An evidenceMethod is a method to choose turns for a question.
type evidenceMethod struct {
	name string

	// prepare analyzes a dialog once for all of its questions. The returned function returns
	// the indexes of turns for a question, best first. It may leave out turns.
	prepare func(d *dialog) func(question string) []int
}

// evidenceMethods returns the simple methods and, last, Carrel's own: its search over
// sessions, and the order in which it ranks the turns of one dialog.
func evidenceMethods() []evidenceMethod {
	return []evidenceMethod{
		{"recency", newestTurns},
		{"random", randomTurns},
		{"pager", pagerTurns},
		{"bm25", plainTurns},
		{"bm25-stems", func(d *dialog) func(string) []int { return stemTurns(d, false) }},
		{"bm25-stems-near", func(d *dialog) func(string) []int { return stemTurns(d, true) }},
		{"search", searchedTurns},
		{"carrel", carrelTurns},
	}
}

// newestTurns ranks the newest turns first, for any question.
func newestTurns(d *dialog) func(string) []int {
	order := retention.NewestFirst(len(d.Turns))
	return func(string) []int { return order }
}

// randomTurns ranks turns in a random order that depends only on the question.
func randomTurns(d *dialog) func(string) []int {
	return func(question string) []int {
		h := fnv.New64a()
		_, _ = h.Write([]byte(question))                              // never fails
		return rand.New(rand.NewPCG(1, h.Sum64())).Perm(len(d.Turns)) //nolint:gosec // must be the same each time
	}
}

// pagerTurns ranks turns by the retention score of package seed, with the words of the question
// as keywords.
func pagerTurns(d *dialog) func(string) []int {
	lines := d.lines()
	return func(question string) []int { return retention.ByScore(retention.SeedScores(question, lines)) }
}

// documents returns the lines of a dialog as documents. Their ids sort in the order of the
// lines.
func documents(d *dialog, line func(string) string) []retrieval.Document {
	docs := make([]retrieval.Document, len(d.Turns))
	for i, said := range d.lines() {
		docs[i] = retrieval.Document{ID: fmt.Sprintf("%09d", i), Text: line(said)}
	}
	return docs
}

// plainTurns ranks turns by BM25 over unchanged words.
func plainTurns(d *dialog) func(string) []int {
	// A word with an underscore counts as a name, and names are not stemmed.
	unstemmed := func(s string) string {
		words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		return strings.Join(words, "_ ") + "_"
	}
	docs := documents(d, unstemmed)
	return func(question string) []int { return indexes(retrieval.Rank(unstemmed(question), docs)) }
}

// stemTurns ranks turns by BM25 over stems without function words. If near is true, a share of
// the scores of neighboring turns is added.
func stemTurns(d *dialog, near bool) func(string) []int {
	docs := documents(d, func(s string) string { return s })
	return func(question string) []int {
		keys := retrieval.Keys(question)
		words := slices.DeleteFunc(retrieval.Terms(question), func(w string) bool {
			return !slices.Contains(keys, text.Stem(w))
		})
		hits := retrieval.Rank(strings.Join(words, " "), docs)
		if !near {
			return indexes(hits)
		}
		scores := make([]float64, len(docs))
		for _, h := range hits {
			for away, share := range []ratio.Ratio{ratio.One, 45 * ratio.One / 100, 20 * ratio.One / 100} {
				for _, at := range slices.Compact([]int{h.Index - away, h.Index + away}) {
					if at >= 0 && at < len(scores) && d.Turns[at].Session == d.Turns[h.Index].Session {
						scores[at] += float64(share.Mul(h.Score))
					}
				}
			}
		}
		return retention.ByScore(scores)
	}
}

// carrelTurns ranks turns by [retrieval.Dialog].
func carrelTurns(d *dialog) func(string) []int {
	analyzed := retrieval.NewDialog(d.Turns)
	return func(question string) []int { return indexes(analyzed.Rank(question)) }
}

// quarters counts a token for every four bytes, so that counting takes no time.
type quarters struct{}

func (quarters) Count(text string) token.Count { return token.Count(len(text)+3) / 4 }
func (quarters) Encoding() string              { return "quarter" }

// searchedTurns ranks turns as [carrel.Engine.Search] finds them, with each turn stored as a
// message of its session.
func searchedTurns(d *dialog) func(string) []int {
	e, err := carrel.New(memory.New(), &carrel.Options{Counter: quarters{}})
	if err != nil {
		panic(err) // nothing is asked for that could fail
	}
	ctx := context.Background()
	turns := make(map[store.BlockRef]int)
	for from := 0; from < len(d.Turns); {
		to := from
		var list []map[string]string
		for ; to < len(d.Turns) && d.Turns[to].Session == d.Turns[from].Session; to++ {
			list = append(list, map[string]string{"role": "user", "content": d.Turns[to].String()})
		}
		data, err := json.Marshal(map[string]any{"messages": list})
		if err != nil {
			panic(err)
		}
		in, err := e.Import(ctx, governance.DefaultScope, &carrel.ImportRequest{Name: fmt.Sprintf("%d.json", d.Turns[from].Session), Format: "openai", Data: data})
		if err != nil {
			panic(err)
		}
		kept, err := e.Messages(ctx, governance.DefaultScope, &carrel.MessagesRequest{Session: in.Session})
		if err != nil {
			panic(err)
		}
		for i := range kept.Messages {
			turns[store.BlockRef{Session: in.Session, Block: kept.Messages[i].ID}] = from + i
		}
		from = to
	}
	return func(question string) []int {
		found, err := carrel.Items(e.Search(ctx, governance.DefaultScope, &carrel.SearchRequest{Query: question, Limit: 200}))
		if err != nil {
			panic(err)
		}
		var list []int
		for i := range found {
			list = append(list, turns[store.BlockRef{Session: found[i].Session, Block: found[i].Block}])
		}
		return list
	}
}

func indexes(hits []retrieval.Hit) []int {
	list := make([]int, len(hits))
	for i := range hits {
		list[i] = hits[i].Index
	}
	return list
}

// take returns for each turn whether it is kept in a budget of tokens. It goes through the list
// order and keeps each turn that still fits, and then does the same with the other turns, the
// newest first, so that a method has no disadvantage if it ranks few turns.
func (d *dialog) take(order []int, budget int) []bool {
	kept := make([]bool, len(d.Turns))
	for _, i := range slices.Concat(order, retention.NewestFirst(len(d.Turns))) {
		if !kept[i] && d.costs[i] <= budget {
			kept[i] = true
			budget -= d.costs[i]
		}
	}
	return kept
}
