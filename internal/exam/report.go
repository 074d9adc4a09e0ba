package exam

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/carrel-dev/carrel/ratio"
)

// A Report is how much of an exam windows can answer, by strings.
type Report struct {
	Share     int   `json:"share"` // of the bytes of a history that its window may have, in percent
	Sessions  int   `json:"sessions"`
	Questions int   `json:"questions"`
	Strings   int   `json:"strings"`
	Bytes     int   `json:"bytes"` // of the histories
	Rows      []Row `json:"rows"`
}

// JSON writes the report as JSON.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// A Row is what the windows of a method have.
type Row struct {
	Method    string       `json:"method"`
	Kind      string       `json:"kind"`
	Strings   Estimate     `json:"strings"`   // share of them that is there
	Questions Estimate     `json:"questions"` // share of them that has all of its strings
	Used      ratio.Ratio  `json:"used"`      // share of the bytes
	Over      int          `json:"over"`      // windows with more bytes than they may have
	Sessions  []SessionRow `json:"sessions"`
}

// A SessionRow is what one window has.
type SessionRow struct {
	Session string `json:"session"`
	Score
}

// An Estimate is a share of what all questions have, with the interval that holds 95
// percent of the draws of questions.
type Estimate struct {
	Mean ratio.Ratio `json:"mean"`
	Low  ratio.Ratio `json:"low"`
	High ratio.Ratio `json:"high"`
}

// draws is how often questions are drawn for an interval.
const draws = 1000

// estimate returns the share of what questions have of what they may have, one number of
// each for each question. The draws are the same for all shares of so many questions.
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

// Measure looks the strings of sessions up in the windows that methods make of them, with a
// share in percent. Each window is handed over first, if there is a function for it.
func Measure(ctx context.Context, sittings []*Sitting, methods []Method, share int, use func(w *Window) error) (*Report, error) {
	r := &Report{Share: share, Sessions: len(sittings)}
	for _, s := range sittings {
		r.Bytes += len(s.Whole)
		for i := range s.Questions {
			r.Questions++
			r.Strings += len(s.Questions[i].MustHave)
		}
	}
	scores := make(map[string][]SessionRow) // by method
	err := Windows(ctx, sittings, methods, share, func(w *Window) error {
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
