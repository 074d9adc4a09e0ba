package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/token"
)

// The goals, as shares of another way's cost.
const (
	mostFitting = 1.01 // of the cost of none, on every session that fits its window
	mostOthers  = 0.80 // of the cost of the cheapest alternative, in the median
)

// A row has the results of one conversation, one for each of the ways and in their order.
type row struct {
	*conversation
	results []result
	bare    result
}

func (r *row) fits(window token.Count) bool { return r.results[0].largest <= window }

// cheapest returns the alternative with the lowest cost.
func (r *row) cheapest() *result {
	best := &r.results[1]
	for i := range r.results[1 : len(r.results)-1] {
		if x := &r.results[1+i]; x.cost < best.cost {
			best = x
		}
	}
	return best
}

func (r *row) none() *result    { return &r.results[0] }
func (r *row) managed() *result { return &r.results[len(r.results)-1] }

// ratio returns the cost of a as a multiple of b's.
func ratio(a, b *result) float64 { return float64(a.cost) / float64(max(b.cost, 1)) }

// report replays all conversations, prints the results, and reports whether the goals are met.
func (b *bench) report(out io.Writer, all []*conversation, windows []token.Count) (met bool) {
	met = true
	kinds := make(map[string]int)
	for _, c := range all {
		kinds[c.chain]++
	}
	fmt.Fprintf(out, "%d conversations", kinds[""])
	for _, size := range []string{"300k", "1M"} {
		if kinds[size] > 0 {
			fmt.Fprintf(out, ", and %d chains of conversations of one project with %s tokens", kinds[size], size)
		}
	}
	fmt.Fprintf(out, "\nmanaged: full at %d%%, made to %d%%, results above %d bytes shortened, payback within %d%% of the expected calls\n", b.law.full, b.law.target, b.law.large, b.law.payback)
	for _, window := range windows {
		for _, long := range []bool{false, true} {
			rows := make([]row, len(all))
			retention.Each(len(all), func(i int) {
				rows[i].conversation = all[i]
				rows[i].bare = play(all[i], &bare, &b.law, window, long)
				for w := range ways {
					rows[i].results = append(rows[i].results, play(all[i], &ways[w], &b.law, window, long))
				}
			})
			met = b.table(out, rows, window, long) && met
		}
	}
	return met
}

// table prints the results for a window, and reports whether the goals are met.
func (b *bench) table(out io.Writer, rows []row, window token.Count, long bool) bool {
	kept := "5 minutes"
	if long {
		kept = "1 hour"
	}
	fmt.Fprintf(out, "\nwindow %d, cache of %s\n", window, kept)
	if b.each {
		each(out, rows, window)
	}
	var fitting, others, single, fixed []row
	for _, r := range rows {
		switch {
		case r.alone: // for its exam
		case r.fits(window):
			fitting = append(fitting, r)
		case r.frame > window/2:
			fixed = append(fixed, r)
		default:
			others = append(others, r)
			if r.chain == "" {
				single = append(single, r)
			}
		}
	}
	met := fit(out, fitting)
	met = overflow(out, "they do not fit", others) && met
	if len(single) > 0 && len(single) < len(others) {
		overflow(out, "of these, no chains", single)
	}
	if len(fixed) > 0 {
		overflow(out, "system text and tools alone are more than half of the window", fixed)
	}
	return examined(out, rows) && met
}

// fit prints, for sessions that fit into the window, the cost of the way "managed", which is
// Carrel's, as a multiple of the cost of the way "none". It reports whether they meet the goal.
func fit(out io.Writer, rows []row) bool {
	if len(rows) == 0 {
		fmt.Fprintln(out, "  they fit: n=0")
		return true
	}
	var ratios []float64
	above := 0
	for i := range rows {
		x := ratio(rows[i].managed(), rows[i].none())
		ratios = append(ratios, x)
		if x > mostFitting {
			above++
		}
	}
	slices.Sort(ratios)
	worst := ratios[len(ratios)-1]
	fmt.Fprintf(out, "  they fit: n=%d, managed of none: median %.3f, most %.3f, %d above %.2f: %s\n",
		len(rows), median(ratios), worst, above, mostFitting, verdict(worst <= mostFitting))
	return worst <= mostFitting
}

// overflow prints the results of all ways for sessions that do not fit into the window, and reports
// whether the way "managed" meets the goal.
func overflow(out io.Writer, title string, rows []row) bool {
	if len(rows) == 0 {
		fmt.Fprintf(out, "  %s: n=0\n", title)
		return true
	}
	fmt.Fprintf(out, "  %s: n=%d\n    %-10s %9s %9s %7s %7s %6s\n", title, len(rows), "way", "of none", "cost", "ground", "edits", "over")
	for w := range ways {
		var ratios, grounds, edits []float64
		var cost economy.Money
		over := 0
		for i := range rows {
			x := &rows[i].results[w]
			ratios = append(ratios, ratio(x, rows[i].none()))
			edits = append(edits, float64(x.edits))
			cost += x.cost
			over += x.over
			if x.ground >= 0 {
				grounds = append(grounds, x.ground)
			}
		}
		fmt.Fprintf(out, "    %-10s %9.3f %9s %7s %7.1f %6d\n", ways[w].name, median(ratios), cost, mean(grounds), median(edits), over)
	}
	bills(out, rows)
	return judge(out, rows)
}

// bills prints the costs of each way by purpose, as shares of the cost of the way "none", which
// changes nothing. The shares are means over sessions.
func bills(out io.Writer, rows []row) {
	fmt.Fprintf(out, "    %-10s %9s %9s %9s %9s %9s %9s\n", "of none", "new", "cold", "edited", "read", "output", "asked")
	for w := range ways {
		var sums [6]float64
		for i := range rows {
			b := &rows[i].results[w].bill
			for k, m := range []economy.Money{b.fresh, b.cold, b.edit, b.read, b.output, b.asked} {
				sums[k] += float64(m) / float64(max(rows[i].none().cost, 1)) / float64(len(rows))
			}
		}
		fmt.Fprintf(out, "    %-10s", ways[w].name)
		for _, x := range sums {
			fmt.Fprintf(out, " %9.3f", x)
		}
		fmt.Fprintln(out)
	}
}

// examined prints, for sessions that do not fit into the window, how many of the strings that their
// exams ask for are in the windows. It reports whether the way "managed" has at least as many as
// the cheapest alternative on every session.
func examined(out io.Writer, rows []row) bool {
	below, n := 0, 0
	strings, all := make([]int, len(ways)), 0
	theirs := 0
	for i := range rows {
		r := &rows[i]
		if r.none().all == 0 || r.managed().edits == 0 && r.cheapest().edits == 0 {
			continue
		}
		n++
		all += r.none().all
		theirs += r.cheapest().strings
		for w := range ways {
			strings[w] += r.results[w].strings
		}
		if r.managed().strings < r.cheapest().strings {
			below++
		}
	}
	if n == 0 {
		return true
	}
	fmt.Fprintf(out, "  exams of conversations that were made smaller, at their cuts: n=%d, %d strings\n   ", n, all)
	for w := range ways {
		fmt.Fprintf(out, " %s %.3f", ways[w].name, float64(strings[w])/float64(all))
	}
	fmt.Fprintf(out, "; the cheapest of each %.3f, managed below it on %d: %s\n", float64(theirs)/float64(all), below, verdict(below == 0))
	return below == 0
}

// judge compares cost and quality of the way "managed" with those of the cheapest alternative on
// each session, and reports whether the goals are met.
func judge(out io.Writer, rows []row) bool {
	var ratios, bares, ours, theirs []float64
	below := 0
	for i := range rows {
		r := &rows[i]
		m, c := r.managed(), r.cheapest()
		ratios, bares = append(ratios, ratio(m, c)), append(bares, ratio(&r.bare, c))
		if m.ground >= 0 {
			ours, theirs = append(ours, m.ground), append(theirs, c.ground)
			if m.ground < c.ground {
				below++
			}
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	cheap := median(ratios) <= mostOthers
	fmt.Fprintf(out, "    managed of the cheapest alternative: n=%d, median %.3f, quarters %.3f to %.3f, goal ≤ %.2f: %s\n",
		n, median(ratios), ratios[n/4], ratios[n*3/4], mostOthers, verdict(cheap))
	fmt.Fprintf(out, "    frame, what is new and output alone, of the cheapest alternative: n=%d, median %.3f\n", n, median(bares))
	if len(ours) > 0 {
		fmt.Fprintf(out, "    ground: n=%d, managed %s, the cheapest %s, below it on %d: %s\n", len(ours), mean(ours), mean(theirs), below, verdict(below == 0))
	}
	return cheap && below == 0
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// each prints a line for each conversation.
func each(out io.Writer, rows []row, window token.Count) {
	for i := range rows {
		r := &rows[i]
		var costs []string
		for w := range ways {
			x := &r.results[w]
			costs = append(costs, fmt.Sprintf("%s %.3f/%.2f/%d", ways[w].name, ratio(x, r.none()), x.ground, x.strings))
		}
		fmt.Fprintf(out, "  %-28s calls %4d frame %6d largest %8d fits %-5t %s %s\n", r.ID, len(r.calls), r.frame, r.none().largest, r.fits(window), r.none().cost, strings.Join(costs, " "))
	}
}

// median returns the median of values, which it sorts.
func median(list []float64) float64 {
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// mean returns the mean of values, or a dash without values.
func mean(list []float64) string {
	if len(list) == 0 {
		return "–"
	}
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return fmt.Sprintf("%.3f", sum/float64(len(list)))
}
