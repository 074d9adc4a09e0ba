package retention

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"
)

// EvidenceOptions adjust [MeasureEvidence]. The zero value has sensible defaults.
type EvidenceOptions struct {
	Budgets []Budget         // default 1, 2, 5 and 10 %
	Methods []EvidenceMethod // default [EvidenceMethods]
	Draws   int              // for an interval; default 1,000

	// Now reads a clock. With it the methods are timed, and one dialog is done after
	// the other.
	Now func() time.Time
}

func (o *EvidenceOptions) complete() EvidenceOptions {
	var c EvidenceOptions
	if o != nil {
		c = *o
	}
	if len(c.Budgets) == 0 {
		c.Budgets = []Budget{{Percent: 1}, {Percent: 2}, {Percent: 5}, {Percent: 10}}
	}
	if len(c.Methods) == 0 {
		c.Methods = EvidenceMethods()
	}
	c.Draws = cmp.Or(c.Draws, 1000)
	return c
}

// An EvidenceReport says how much of the evidence for the answers to questions about
// dialogs is there when a method has chosen turns for the question in a budget,
// which is a share of the tokens of the whole dialog.
//
// The share of the evidence that is kept is a mean over the questions of a dialog,
// and then over dialogs. Intervals hold 95 percent of the draws of dialogs, the
// same draws for all methods.
type EvidenceReport struct {
	Dialogs    int             `json:"dialogs"`
	Sessions   int             `json:"sessions"`
	Turns      int             `json:"turns"`
	Tokens     int             `json:"tokens"`
	Questions  int             `json:"questions"`            // with evidence that there is
	Silent     int             `json:"without_evidence"`     // questions without; they are left out
	Evidence   float64         `json:"evidence"`             // turns for a question
	Unresolved []string        `json:"unresolved,omitempty"` // ids of evidence that no turn has
	Categories []CategoryCount `json:"categories"`
	Rows       []EvidenceRow   `json:"rows"`
}

// A CategoryCount is the number of questions of a category.
type CategoryCount struct {
	Category  string `json:"category"`
	Questions int    `json:"questions"`
}

// An EvidenceRow is what a method kept in a budget.
type EvidenceRow struct {
	Budget     string              `json:"budget"`
	Method     string              `json:"method"`
	Kept       Estimate            `json:"kept"`
	Categories map[string]Estimate `json:"categories"`
	Micros     float64             `json:"us,omitempty"` // for a question, if timed
}

// A posed question has evidence.
type posed struct {
	*Question
	dialog int
	kept   []float64 // share of the evidence, by budget and method
}

// MeasureEvidence runs methods over dialogs. What the reader could not resolve is
// reported along.
func MeasureEvidence(all []*Dialog, lost []Unresolved, opts *EvidenceOptions) *EvidenceReport {
	o := opts.complete()
	r := &EvidenceReport{Dialogs: len(all)}
	for _, u := range lost {
		r.Unresolved = append(r.Unresolved, u.String())
	}
	questions := r.count(all)
	took := o.run(all, questions)

	whole := sampleOf(questions, o.Draws, func(*posed) bool { return true })
	parts := make(map[string]sample)
	for _, c := range r.Categories {
		parts[c.Category] = sampleOf(questions, o.Draws, func(q *posed) bool { return q.Category.String() == c.Category })
	}
	for b := range o.Budgets {
		for m := range o.Methods {
			kept := func(i int) (float64, bool) { return questions[i].kept[b*len(o.Methods)+m], true }
			row := EvidenceRow{
				Budget: o.Budgets[b].String(), Method: o.Methods[m].Name,
				Kept: whole.estimate(kept), Categories: make(map[string]Estimate),
			}
			for name, part := range parts {
				row.Categories[name] = part.estimate(kept)
			}
			if o.Now != nil {
				row.Micros = float64(took[m]) / float64(time.Microsecond) / float64(max(1, len(questions)))
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return r
}

// count fills in what there is and returns the questions with evidence.
func (r *EvidenceReport) count(all []*Dialog) []posed {
	var questions []posed
	counts := make(map[Category]int)
	for i, d := range all {
		sessions := make(map[int]bool)
		for k := range d.Turns {
			sessions[d.Turns[k].Session] = true
		}
		r.Sessions += len(sessions)
		r.Turns += len(d.Turns)
		r.Tokens += d.Cost()
		for k := range d.Questions {
			q := &d.Questions[k]
			if len(q.Evidence) == 0 {
				r.Silent++
				continue
			}
			questions = append(questions, posed{Question: q, dialog: i})
			counts[q.Category]++
			r.Evidence += float64(len(q.Evidence))
		}
	}
	r.Questions = len(questions)
	r.Evidence /= float64(max(1, r.Questions))
	for _, c := range slices.Sorted(maps.Keys(counts)) {
		r.Categories = append(r.Categories, CategoryCount{c.String(), counts[c]})
	}
	return questions
}

// run fills in what is kept for each question and returns the time of each method.
func (o *EvidenceOptions) run(all []*Dialog, questions []posed) []time.Duration {
	took := make([]time.Duration, len(o.Methods))
	answer := func(d int) {
		var of []*posed
		for i := range questions {
			if questions[i].dialog == d {
				questions[i].kept = make([]float64, len(o.Budgets)*len(o.Methods))
				of = append(of, &questions[i])
			}
		}
		for m := range o.Methods {
			orders, t := o.orders(m, all[d], of)
			if o.Now != nil {
				took[m] += t
			}
			for i, q := range of {
				for b := range o.Budgets {
					kept := all[d].take(orders[i], o.Budgets[b].of(all[d].Cost()))
					q.kept[b*len(o.Methods)+m] = q.share(kept)
				}
			}
		}
	}
	if o.Now == nil {
		each(len(all), answer)
		return took
	}
	for d := range all {
		answer(d)
	}
	return took
}

// orders returns the orders that a method gives turns for questions, and the time
// that it took, if that is measured.
func (o *EvidenceOptions) orders(m int, d *Dialog, questions []*posed) (orders [][]int, took time.Duration) {
	var began time.Time
	if o.Now != nil {
		began = o.Now()
	}
	rank := o.Methods[m].Prepare(d)
	for _, q := range questions {
		orders = append(orders, rank(q.Text))
	}
	if o.Now != nil {
		took = o.Now().Sub(began)
	}
	return orders, took
}

// share returns how much of the evidence is kept.
func (q *Question) share(kept []bool) float64 {
	n := 0
	for _, i := range q.Evidence {
		if kept[i] {
			n++
		}
	}
	return float64(n) / float64(len(q.Evidence))
}

// sampleOf returns the questions that are wanted by dialog, and draws of dialogs.
func sampleOf(questions []posed, draws int, want func(q *posed) bool) sample {
	var s sample
	last := -1
	for i := range questions {
		q := &questions[i]
		if !want(q) {
			continue
		}
		if q.dialog != last {
			s.groups = append(s.groups, nil)
			last = q.dialog
		}
		s.groups[len(s.groups)-1] = append(s.groups[len(s.groups)-1], i)
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(s.groups)))) //nolint:gosec // must be the same each time
	s.draws = make([][]int, draws)
	for d := range s.draws {
		s.draws[d] = make([]int, len(s.groups))
		for k := range s.draws[d] {
			s.draws[d][k] = rng.IntN(len(s.groups))
		}
	}
	return s
}

// estimate returns the mean of a value over the groups of a sample.
func (s *sample) estimate(value func(i int) (float64, bool)) Estimate {
	if len(s.groups) == 0 {
		return Estimate{}
	}
	return estimate([][]float64{s.means(value)}, [][][]int{s.draws})
}

// JSON writes the report as JSON.
func (r *EvidenceReport) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// Head writes which dialogs there are.
func (r *EvidenceReport) Head(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "dialogs\tsessions\tturns\ttokens\tquestions\tevidence each\twithout evidence\tids of no turn")
	fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%.2f\t%d\t%d\n",
		r.Dialogs, r.Sessions, r.Turns, r.Tokens, r.Questions, r.Evidence, r.Silent, len(r.Unresolved))
	return t.Flush()
}

// Table writes the report as text: the share of the evidence that each method keeps
// in each budget, and for one budget that of each category.
func (r *EvidenceReport) Table(w io.Writer) error {
	var budgets []string
	var methods []string
	timed := false
	for i := range r.Rows {
		row := &r.Rows[i]
		if !slices.Contains(budgets, row.Budget) {
			budgets = append(budgets, row.Budget)
		}
		if !slices.Contains(methods, row.Method) {
			methods = append(methods, row.Method)
		}
		timed = timed || row.Micros > 0
	}
	if len(budgets) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, "\nevidence kept at")
	for _, b := range budgets {
		fmt.Fprintf(t, "\t%s\t", b)
	}
	if timed {
		fmt.Fprint(t, "\tus/question")
	}
	fmt.Fprintln(t)
	for _, m := range methods {
		fmt.Fprint(t, m)
		micros := 0.0
		for _, b := range budgets {
			row := r.row(b, m)
			fmt.Fprintf(t, "\t%s\t[%s–%s]", figure(row.Kept.Mean, true), figure(row.Kept.Low, true), figure(row.Kept.High, true))
			micros = row.Micros
		}
		if timed {
			fmt.Fprintf(t, "\t%.0f", math.Round(micros))
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return r.byCategory(w, budgets, methods)
}

// byCategory writes the categories at 5 percent, or, if that was not measured, at the
// last budget.
func (r *EvidenceReport) byCategory(w io.Writer, budgets, methods []string) error {
	budget := budgets[len(budgets)-1]
	if slices.Contains(budgets, "5%") {
		budget = "5%"
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "\nat %s", budget)
	for _, c := range r.Categories {
		fmt.Fprintf(t, "\t%s\t", c.Category)
	}
	fmt.Fprint(t, "\nquestions")
	for _, c := range r.Categories {
		fmt.Fprintf(t, "\t%d\t", c.Questions)
	}
	fmt.Fprintln(t)
	for _, m := range methods {
		fmt.Fprint(t, m)
		row := r.row(budget, m)
		for _, c := range r.Categories {
			e := row.Categories[c.Category]
			fmt.Fprintf(t, "\t%s\t[%s–%s]", figure(e.Mean, true), figure(e.Low, true), figure(e.High, true))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// row returns what a method did with a budget.
func (r *EvidenceReport) row(budget, method string) *EvidenceRow {
	i := slices.IndexFunc(r.Rows, func(row EvidenceRow) bool { return row.Budget == budget && row.Method == method })
	return &r.Rows[i]
}
