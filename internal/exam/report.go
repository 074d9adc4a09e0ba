package exam

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/carrel-dev/carrel/ratio"
)

// A Report has the scores of windows by strings, one row for each method.
type Report struct {
	Share     int   `json:"share"` // the limit of a window, in percent of the bytes of its history
	Sessions  int   `json:"sessions"`
	Questions int   `json:"questions"`
	Strings   int   `json:"strings"`
	Bytes     int   `json:"bytes"` // size of all histories
	Rows      []Row `json:"rows"`
}

// JSON writes the report as JSON.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// A Row has the scores of the windows of a method.
type Row struct {
	Method    string       `json:"method"`
	Kind      string       `json:"kind"`
	Strings   Estimate     `json:"strings"`   // share of the strings that the windows have
	Questions Estimate     `json:"questions"` // share of the questions of which a window has all strings
	Used      ratio.Ratio  `json:"used"`      // size of the windows as a share of their limits
	Over      int          `json:"over"`      // number of windows above their limit
	Sessions  []SessionRow `json:"sessions"`
}

// A SessionRow has the score of one window.
type SessionRow struct {
	Session string `json:"session"`
	Score
}

// An Estimate is a share over all questions, with the interval that contains 95 percent of the
// shares of random draws of questions (bootstrap).
type Estimate struct {
	Mean ratio.Ratio `json:"mean"`
	Low  ratio.Ratio `json:"low"`
	High ratio.Ratio `json:"high"`
}

// draws is the number of draws for an interval.
const draws = 1000

// estimate computes a share. has and of have a number for each question; the share is the sum of
// the numbers in has divided by the sum of those in of. The random draws depend only on the number
// of questions.
func estimate(has, of []int) Estimate {
	sum := func(list []int, at func(i int) int) (n int) {
		for i := range list {
			n += list[at(i)]
		}
		return n
	}
	share := func(at func(i int) int) ratio.Ratio { return ratio.Of(sum(has, at), max(1, sum(of, at))) }
	rng := rand.New(rand.NewPCG(1, uint64(len(has)))) //nolint:gosec // must be the same each time
	drawn := make([]ratio.Ratio, draws)
	at := make([]int, len(has))
	for d := range drawn {
		for i := range at {
			at[i] = rng.IntN(len(at))
		}
		drawn[d] = share(func(i int) int { return at[i] })
	}
	slices.Sort(drawn)
	const cut = draws * 25 / 1000
	return Estimate{Mean: share(func(i int) int { return i }), Low: drawn[cut], High: drawn[draws-1-cut]}
}

// Measure searches for the strings of sessions in the windows that methods make of them, and
// returns the scores. share is the limit of a window in percent. If the function use is not nil,
// Measure passes each window to it.
func Measure(ctx context.Context, sessions []*OpenSession, methods []Method, share int, use func(w *Window) error) (*Report, error) {
	r := &Report{Share: share, Sessions: len(sessions)}
	for _, s := range sessions {
		r.Bytes += len(s.Whole)
		for i := range s.Questions {
			r.Questions++
			r.Strings += len(s.Questions[i].MustHave)
		}
	}
	scores := make(map[string][]SessionRow) // by method
	err := Windows(ctx, sessions, methods, share, func(w *Window) error {
		scores[w.Method.Name] = append(scores[w.Method.Name], SessionRow{w.ID, *w.Score(w.Text, w.Limit)})
		if use == nil {
			return nil
		}
		return use(w)
	})
	if err != nil {
		return nil, err
	}
	for _, m := range methods {
		row := Row{Method: m.Name, Kind: m.Kind, Sessions: scores[m.Name]}
		var all Score
		for i := range row.Sessions {
			s := &row.Sessions[i].Score
			all.Add(s)
			if s.Over() {
				row.Over++
			}
		}
		whole, one := make([]int, len(all.found)), make([]int, len(all.found))
		for i := range whole {
			one[i] = 1
			if all.found[i] == all.all[i] {
				whole[i] = 1
			}
		}
		row.Strings, row.Questions = estimate(all.found, all.all), estimate(whole, one)
		row.Used = ratio.Of(all.Bytes, max(1, all.Limit))
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}
