package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/carrel-dev/carrel/internal/retention"
)

// evidenceOptions are the options of [measureEvidence].
type evidenceOptions struct {
	budgets []retention.Budget
	methods []evidenceMethod

	// now returns the time. If it is set, the methods are timed, and dialogs are processed one
	// after the other.
	now func() time.Time
}

// An evidenceReport has the share of the evidence that is kept when a method chooses turns for
// a question. The budget is a share of the tokens of the whole dialog.
//
// The share is a mean over the questions of a dialog, and then over dialogs. Intervals contain
// 95 percent of the draws of dialogs; all methods use the same draws.
type evidenceReport struct {
	Dialogs    int             `json:"dialogs"`
	Sessions   int             `json:"sessions"`
	Turns      int             `json:"turns"`
	Tokens     int             `json:"tokens"`
	Questions  int             `json:"questions"`            // questions with evidence
	Silent     int             `json:"without_evidence"`     // questions without evidence, which are left out
	Evidence   float64         `json:"evidence"`             // mean number of turns of evidence for a question
	Unresolved []string        `json:"unresolved,omitempty"` // ids of evidence that no turn has
	Categories []categoryCount `json:"categories"`
	Rows       []evidenceRow   `json:"rows"`
	Ranks      []rankRow       `json:"ranks"` // by method, whatever the budget
}

// A rankRow says at which place a method ranks the first turn that is evidence.
type rankRow struct {
	Method string             `json:"method"`
	First  retention.Estimate `json:"hit_at_1"` // share of the questions whose first turn is evidence
	MRR    retention.Estimate `json:"mrr"`      // mean of 1/place of the first turn that is evidence
}

// A categoryCount is the number of questions of a category.
type categoryCount struct {
	Category  string `json:"category"`
	Questions int    `json:"questions"`
}

// An evidenceRow has the results of a method with a budget.
type evidenceRow struct {
	Budget     string                        `json:"budget"`
	Method     string                        `json:"method"`
	Kept       retention.Estimate            `json:"kept"`
	Categories map[string]retention.Estimate `json:"categories"`
	Micros     float64                       `json:"us,omitempty"` // microseconds for a question, if timed
}

// A posed is a question that has evidence, with the results of all methods for it.
type posed struct {
	*question
	dialog int
	kept   []float64 // share of the evidence, by budget and method
	places []int     // place of the first turn that is evidence, from 1, by method; 0 if there is none
}

// draws is the number of draws for an interval.
const draws = 1000

// measureEvidence runs methods on dialogs. The report includes ids that the reader could not
// resolve.
func measureEvidence(ds *dialogs, o *evidenceOptions) *evidenceReport {
	r := &evidenceReport{Dialogs: len(ds.all), Unresolved: ds.unresolved}
	questions := r.count(ds.all)
	took := o.run(ds.all, questions)

	whole := sampleOf(questions, func(*posed) bool { return true })
	parts := make(map[string]retention.Sample)
	for _, c := range r.Categories {
		parts[c.Category] = sampleOf(questions, func(q *posed) bool { return q.Category.String() == c.Category })
	}
	for b := range o.budgets {
		for m := range o.methods {
			kept := func(i int) (float64, bool) { return questions[i].kept[b*len(o.methods)+m], true }
			row := evidenceRow{
				Budget: o.budgets[b].String(), Method: o.methods[m].name,
				Kept: whole.Estimate(kept), Categories: make(map[string]retention.Estimate),
			}
			for name, part := range parts {
				row.Categories[name] = part.Estimate(kept)
			}
			if o.now != nil {
				row.Micros = float64(took[m]) / float64(time.Microsecond) / float64(max(1, len(questions)))
			}
			r.Rows = append(r.Rows, row)
		}
	}
	for m := range o.methods {
		r.Ranks = append(r.Ranks, rankRow{
			Method: o.methods[m].name,
			First:  whole.Estimate(func(i int) (float64, bool) { return float64(btoi(questions[i].places[m] == 1)), true }),
			MRR: whole.Estimate(func(i int) (float64, bool) {
				if place := questions[i].places[m]; place > 0 {
					return 1 / float64(place), true
				}
				return 0, true
			}),
		})
	}
	return r
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// count sets the counts of the report and returns the questions with evidence.
func (r *evidenceReport) count(all []*dialog) []posed {
	var questions []posed
	counts := make(map[category]int)
	for i, d := range all {
		sessions := make(map[int]bool)
		for k := range d.Turns {
			sessions[d.Turns[k].Session] = true
		}
		r.Sessions += len(sessions)
		r.Turns += len(d.Turns)
		r.Tokens += d.cost()
		for k := range d.Questions {
			q := &d.Questions[k]
			if len(q.Evidence) == 0 {
				r.Silent++
				continue
			}
			questions = append(questions, posed{question: q, dialog: i})
			counts[q.Category]++
			r.Evidence += float64(len(q.Evidence))
		}
	}
	r.Questions = len(questions)
	r.Evidence /= float64(max(1, r.Questions))
	for _, c := range slices.Sorted(maps.Keys(counts)) {
		r.Categories = append(r.Categories, categoryCount{c.String(), counts[c]})
	}
	return questions
}

// run sets the kept shares of each question and returns the time of each method.
func (o *evidenceOptions) run(all []*dialog, questions []posed) []time.Duration {
	took := make([]time.Duration, len(o.methods))
	answer := func(d int) {
		var of []*posed
		for i := range questions {
			if questions[i].dialog == d {
				questions[i].kept = make([]float64, len(o.budgets)*len(o.methods))
				questions[i].places = make([]int, len(o.methods))
				of = append(of, &questions[i])
			}
		}
		for m := range o.methods {
			var began time.Time
			if o.now != nil {
				began = o.now()
			}
			rank := o.methods[m].prepare(all[d])
			var orders [][]int
			for _, q := range of {
				orders = append(orders, rank(q.Text))
			}
			if o.now != nil {
				took[m] += o.now().Sub(began)
			}
			for i, q := range of {
				q.places[m] = 1 + slices.IndexFunc(orders[i], func(turn int) bool { return slices.Contains(q.Evidence, turn) })
				for b := range o.budgets {
					kept := all[d].take(orders[i], o.budgets[b].Of(all[d].cost()))
					q.kept[b*len(o.methods)+m] = q.share(kept)
				}
			}
		}
	}
	if o.now == nil {
		retention.Each(len(all), answer)
		return took
	}
	for d := range all {
		answer(d)
	}
	return took
}

// share returns the share of the evidence that is kept.
func (q *question) share(kept []bool) float64 {
	n := 0
	for _, i := range q.Evidence {
		if kept[i] {
			n++
		}
	}
	return float64(n) / float64(len(q.Evidence))
}

// sampleOf returns the sample of the questions for which the function want returns true, grouped by
// dialog.
func sampleOf(questions []posed, want func(q *posed) bool) retention.Sample {
	var groups [][]int
	last := -1
	for i := range questions {
		q := &questions[i]
		if !want(q) {
			continue
		}
		if q.dialog != last {
			groups = append(groups, nil)
			last = q.dialog
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
	}
	return retention.NewSample(groups, draws, uint64(len(groups)))
}

// head writes the number of dialogs and questions.
func (r *evidenceReport) head(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "dialogs\tsessions\tturns\ttokens\tquestions\tevidence each\twithout evidence\tids of no turn")
	fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%.2f\t%d\t%d\n",
		r.Dialogs, r.Sessions, r.Turns, r.Tokens, r.Questions, r.Evidence, r.Silent, len(r.Unresolved))
	return t.Flush()
}

// table writes the report as text: the share of the evidence that each method keeps in each
// budget and, for one budget, that of each category.
func (r *evidenceReport) table(w io.Writer) error {
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
	fmt.Fprint(t, "\thit@1\t\tMRR\t")
	if timed {
		fmt.Fprint(t, "\tus/question")
	}
	fmt.Fprintln(t)
	for i, m := range methods {
		fmt.Fprint(t, m)
		micros := 0.0
		for _, b := range budgets {
			row := r.row(b, m)
			fmt.Fprint(t, row.Kept.Columns())
			micros = row.Micros
		}
		fmt.Fprint(t, r.Ranks[i].First.Columns(), r.Ranks[i].MRR.Columns())
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

// byCategory writes the results by category for the budget of 5 percent or, if that was not
// measured, for the last budget.
func (r *evidenceReport) byCategory(w io.Writer, budgets, methods []string) error {
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
			fmt.Fprint(t, row.Categories[c.Category].Columns())
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// row returns the row of a method with a budget.
func (r *evidenceReport) row(budget, method string) *evidenceRow {
	i := slices.IndexFunc(r.Rows, func(row evidenceRow) bool { return row.Budget == budget && row.Method == method })
	return &r.Rows[i]
}
