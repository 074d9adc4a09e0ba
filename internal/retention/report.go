package retention

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// A Budget is the size of windows: a share of the prefix, or a number of tokens.
type Budget struct {
	Percent int
	Tokens  int // used if there is no share
}

// ParseBudget parses a share such as "10" or "10%", or tokens such as "4k".
func ParseBudget(s string) (Budget, error) {
	if k, ok := strings.CutSuffix(s, "k"); ok {
		if n, err := strconv.Atoi(k); err == nil && n > 0 && n < 1_000_000 {
			return Budget{Tokens: n * 1000}, nil
		}
	} else if n, err := strconv.Atoi(strings.TrimSuffix(s, "%")); err == nil && n > 0 && n <= 100 {
		return Budget{Percent: n}, nil
	}
	return Budget{}, fmt.Errorf("%q is not a budget: give a share up to 100%%, such as 10%%, or a number of tokens, such as 4k", s)
}

// String returns the budget as [ParseBudget] reads it.
func (b Budget) String() string {
	if b.Percent > 0 {
		return strconv.Itoa(b.Percent) + "%"
	}
	return strconv.Itoa(b.Tokens/1000) + "k"
}

// Of returns the tokens of the budget for a prefix of cost tokens.
func (b Budget) Of(cost int) int {
	if b.Percent > 0 {
		return cost * b.Percent / 100
	}
	return b.Tokens
}

// Options adjust a measurement. The zero value has sensible defaults.
type Options struct {
	Budgets []Budget // default 5, 10, 25 and 50 %
	Methods []Method // default [Baselines]

	// Max is the most trajectories of a family that are examined. The default is 40.
	Max int

	// MinPrefix is the fewest tokens of a prefix, by family; "" is for all other families. The
	// default is 4,000.
	MinPrefix map[string]int

	// Draws is the number of draws for an interval. The default is 1,000.
	Draws int

	// NoStable omits the score stable, which takes as long as all others.
	NoStable bool

	// Now returns the time. If it is set, the durations of methods are measured, and cases run
	// one after the other so that they do not slow each other down. Reports with durations
	// differ from run to run.
	Now func() time.Time
}

func (o *Options) complete() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if len(c.Budgets) == 0 {
		c.Budgets = []Budget{{Percent: 5}, {Percent: 10}, {Percent: 25}, {Percent: 50}}
	}
	if len(c.Methods) == 0 {
		c.Methods = Baselines()
	}
	c.Max = cmp.Or(c.Max, 40)
	c.Draws = cmp.Or(c.Draws, 1000)
	return c
}

func (o *Options) minPrefix(family string) int {
	if n, known := o.MinPrefix[family]; known {
		return n
	}
	return cmp.Or(o.MinPrefix[""], defaultMin)
}

// A Report is the result of a measurement.
type Report struct {
	Peers    []string `json:"peers,omitempty"` // packages of peers with their versions, set by the caller
	Common   int      `json:"common"`          // identifiers and lines of two or more families
	Families []Family `json:"families"`
	Rows     []Row    `json:"rows"`
}

// A Family describes the cases of a project.
type Family struct {
	Name         string  `json:"name"`
	Trajectories int     `json:"trajectories"`
	Groups       int     `json:"groups"`
	Cases        int     `json:"cases"`
	LineCases    int     `json:"line_cases"`
	Needs        float64 `json:"needs"`  // per case
	Tokens       float64 `json:"tokens"` // of the prefix, per case
}

// A Row has the scores of a method with a budget in a family. The row with an empty family is
// for all families.
type Row struct {
	Family string             `json:"family,omitempty"`
	Budget string             `json:"budget"`
	Method string             `json:"method"`
	Oracle bool               `json:"oracle,omitempty"`
	Scores map[Score]Estimate `json:"scores"`
	Speed  *Speed             `json:"speed,omitempty"` // if methods are timed, except for oracles
}

// A Speed is the speed of a method.
type Speed struct {
	Micros float64 `json:"us"`     // microseconds for each prefix
	Tokens float64 `json:"mtok_s"` // millions of tokens of prefixes per second
}

// An Estimate is a mean with an interval that contains the means of 95 percent of the draws.
type Estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Measure runs methods on the cases of trajectories and returns their scores.
func Measure(all []*Trajectory, opts *Options) *Report {
	o := opts.complete()
	common := NewCommon(all)
	cases := firstCases(all, common, o.Max, o.minPrefix)
	n := len(o.Budgets) * len(o.Methods)
	results := make([]outcome, len(cases)*n) // by case, budget, method
	judge := func(i int) { o.judge(cases[i], results[i*n:(i+1)*n]) }
	if o.Now == nil {
		Each(len(cases), judge)
	} else {
		for i := range cases {
			judge(i)
		}
	}

	r := &Report{Common: common.Size(), Families: families(cases)}
	samples := make([]Sample, len(r.Families))
	for f := range samples {
		samples[f] = sampleOf(cases, r.Families[f].Name, o.Draws)
	}
	for at := range n {
		result := func(i int) *outcome { return &results[i*n+at] }
		budget, method := o.Budgets[at/len(o.Methods)], &o.Methods[at%len(o.Methods)]
		row := func(family string, samples []Sample) {
			row := Row{Family: family, Budget: budget.String(), Method: method.Name, Oracle: method.oracle, Scores: estimates(samples, result)}
			if o.Now != nil && !row.Oracle {
				row.Speed = speed(cases, samples, result)
			}
			r.Rows = append(r.Rows, row)
		}
		row("", samples)
		for f := range samples {
			if len(samples) > 1 {
				row(r.Families[f].Name, samples[f:f+1])
			}
		}
	}
	return r
}

// An outcome is the result of a method for a case with a budget.
type outcome struct {
	scores Scores
	took   time.Duration // if methods are timed
}

// speed returns the speed of a method over all cases in samples, or nil if it took no time. The
// function result returns the outcome of a case.
func speed(cases []*Case, samples []Sample, result func(i int) *outcome) *Speed {
	n, tokens, micros := 0, 0, 0.0
	for _, s := range samples {
		for _, i := range slices.Concat(s.groups...) {
			n++
			tokens += cases[i].Cost()
			micros += float64(result(i).took) / float64(time.Microsecond)
		}
	}
	if micros == 0 {
		return nil
	}
	return &Speed{Micros: micros / float64(n), Tokens: float64(tokens) / micros}
}

// judge runs all methods with all budgets on one case.
func (o *Options) judge(c *Case, results []outcome) {
	j := newJudge(c)
	var later *Case
	if !o.NoStable {
		later = c.next()
	}
	for i := range results {
		budget, method := o.Budgets[i/len(o.Methods)].Of(c.Cost()), &o.Methods[i%len(o.Methods)]
		out, took := method.run(c, budget, o.Now)
		results[i] = outcome{j.score(out, budget), took}
		if later == nil || method.oracle {
			continue
		}
		next, _ := method.run(later, budget, nil)
		if v := stable(out, next); !math.IsNaN(v) {
			results[i].scores[ScoreStable] = v
		}
	}
}

func families(cases []*Case) []Family {
	var list []Family
	seen := make(map[*Trajectory]bool)
	groups := make(map[[2]string]bool)
	for _, c := range cases {
		t := c.Trajectory
		if len(list) == 0 || list[len(list)-1].Name != t.Family {
			list = append(list, Family{Name: t.Family})
		}
		f := &list[len(list)-1]
		f.Cases++
		f.Needs += float64(len(c.Needs))
		f.Tokens += float64(c.Cost())
		if len(c.Lines) >= Fewest {
			f.LineCases++
		}
		if !seen[t] {
			seen[t] = true
			f.Trajectories++
		}
		if g := [2]string{t.Family, t.Group}; !groups[g] {
			groups[g] = true
			f.Groups++
		}
	}
	for i := range list {
		list[i].Needs /= float64(list[i].Cases)
		list[i].Tokens /= float64(list[i].Cases)
	}
	return list
}

// A Sample divides a list of values into groups, given by the indexes of the values, and has random
// draws of groups. All methods and scores use the same draws, so that differences between them do
// not come from drawing.
type Sample struct {
	groups [][]int // indexes of values
	draws  [][]int // indexes of groups; the first draw has each group once
}

// NewSample returns a sample with draws that depend only on the seed.
func NewSample(groups [][]int, draws int, seed uint64) Sample {
	s := Sample{groups: groups, draws: make([][]int, draws+1)}
	rng := rand.New(rand.NewPCG(1, seed)) //nolint:gosec // must be the same each time
	for d := range s.draws {
		s.draws[d] = make([]int, len(groups))
		for k := range s.draws[d] {
			s.draws[d][k] = k
			if d > 0 {
				s.draws[d][k] = rng.IntN(len(groups))
			}
		}
	}
	return s
}

// sampleOf returns a sample of the cases of a family, by their indexes in cases. A group has the
// cases of one session.
func sampleOf(cases []*Case, family string, draws int) Sample {
	var groups [][]int
	index := make(map[string]int)
	for i, c := range cases {
		if c.Trajectory.Family != family {
			continue
		}
		g, known := index[c.Trajectory.Group]
		if !known {
			g = len(groups)
			index[c.Trajectory.Group] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return NewSample(groups, draws, uint64(nameOf(family)))
}

// Estimate computes the mean of a value in each group, and returns the mean of these means. The
// result is zero if no group has the value.
func (s Sample) Estimate(value func(i int) (float64, bool)) Estimate {
	e, _ := estimate([]Sample{s}, value)
	return e
}

// estimates returns for each score the mean over the samples. A score that no case has is left out.
func estimates(samples []Sample, result func(i int) *outcome) map[Score]Estimate {
	list := make(map[Score]Estimate)
	for _, name := range allScores() {
		if e, ok := estimate(samples, func(i int) (float64, bool) { v, ok := result(i).scores[name]; return v, ok }); ok {
			list[name] = e
		}
	}
	return list
}

// means returns the mean of a value for each group, or NaN for a group without the value.
func (s *Sample) means(value func(i int) (float64, bool)) []float64 {
	list := make([]float64, len(s.groups))
	for g, group := range s.groups {
		sum, n := 0.0, 0
		for _, i := range group {
			if v, ok := value(i); ok {
				sum += v
				n++
			}
		}
		list[g] = sum / float64(n) // NaN if n is 0
	}
	return list
}

// mean returns the mean of the values whose indexes are in drawn, without those that are NaN.
func mean(values []float64, drawn []int) float64 {
	sum, n := 0.0, 0
	for _, i := range drawn {
		if v := values[i]; !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}

// estimate returns the mean of a value over the samples that have it, and whether any has.
func estimate(samples []Sample, value func(i int) (float64, bool)) (Estimate, bool) {
	var means [][]float64 // means by group, for each sample with the value
	var draws [][][]int
	for k := range samples {
		m := samples[k].means(value)
		if !math.IsNaN(mean(m, samples[k].draws[0])) {
			means, draws = append(means, m), append(draws, samples[k].draws)
		}
	}
	if len(means) == 0 {
		return Estimate{}, false
	}
	var sums []float64 // one for each draw
	for d := range draws[0] {
		sum := 0.0
		for k := range means {
			sum += mean(means[k], draws[k][d]) / float64(len(means))
		}
		if !math.IsNaN(sum) {
			sums = append(sums, sum)
		}
	}
	e := Estimate{sums[0], sums[0], sums[0]}
	if drawn := sums[1:]; len(drawn) > 0 {
		slices.Sort(drawn)
		cut := len(drawn) * 25 / 1000
		e.Low, e.High = drawn[cut], drawn[len(drawn)-1-cut]
	}
	return e, true
}

// Table writes the report as text: for each budget a row for each method, with intervals for
// ground and line. It has the means over all families, or those of one family. If methods were
// timed, the last columns are microseconds for each prefix and millions of tokens per second.
func (r *Report) Table(w io.Writer, family string) error {
	budget := ""
	timed := slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Speed != nil })
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Family != family {
			continue
		}
		if row.Budget != budget {
			budget = row.Budget
			fmt.Fprintf(t, "\nat %s\tground\t\tline\t\tid\tcomplete\tfar\tstub\trecall\tvalid\tused\tover\tstable", budget)
			if timed {
				fmt.Fprint(t, "\tµs\tMtok/s")
			}
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "%s", row.Method)
		for _, name := range allScores() {
			e, ok := row.Scores[name]
			if !ok {
				e = Estimate{math.NaN(), math.NaN(), math.NaN()}
			}
			if name == ScoreGround || name == ScoreLine {
				fmt.Fprint(t, e.Columns())
			} else {
				fmt.Fprint(t, "\t", figure(e.Mean))
			}
		}
		if timed {
			fmt.Fprint(t, row.Speed.columns())
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func (s *Speed) columns() string {
	if s == nil {
		return "\t–\t–"
	}
	return fmt.Sprintf("\t%.0f\t%.1f", s.Micros, s.Tokens)
}

// Head writes the number of cases of each family.
func (r *Report) Head(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "family\tsessions\tcases\twith lines\tneeds per case\ttokens per case")
	for _, f := range r.Families {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%.0f\n", f.Name, f.Groups, f.Cases, f.LineCases, f.Needs, f.Tokens)
	}
	return t.Flush()
}

// Columns returns the mean and the interval as columns of a table.
func (e Estimate) Columns() string {
	return "\t" + figure(e.Mean) + "\t[" + figure(e.Low) + "–" + figure(e.High) + "]"
}

// figure returns a share as text, or a dash for NaN.
func figure(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strings.TrimPrefix(strconv.FormatFloat(v, 'f', 3, 64), "0")
}
