package outcome

import (
	"slices"
	"strings"
)

// A run is what the output says of a program: the first lines of each kind and the last.
type run struct {
	rule   int
	named  bool // a command of the line names it
	many   int  // how many lines of passes there were
	passes []line
	fails  []line
	notes  []line
	items  [][]line // as the items of the rule
}

// failed reports whether the program says that it failed, and passed the opposite.
func (r *run) failed() bool { return len(r.fails) > 0 }

func (r *run) passed() bool { return len(r.fails) == 0 && len(r.passes) > 0 }

// weak reports whether a program that the line names reports what failed, and does not
// say how it ended.
func (r *run) weak() bool {
	return r.named && !r.passed() && slices.ContainsFunc(r.items, func(i []line) bool { return len(i) > 0 })
}

// itemized returns 1 for a program that reports one thing that failed, and else 0.
func (r *run) itemized() int {
	if slices.ContainsFunc(r.items, func(i []line) bool { return len(i) > 0 }) {
		return 1
	}
	return 0
}

// rules returns the rules whose lines decide: those of the programs that run, or all of
// them if one may run others.
func (j *judge) rules(acts []act) []int {
	var rules []int
	all := j.out.failed && len(acts) > 0
	for _, a := range acts {
		if a.rule >= 0 {
			rules = append(rules, a.rule)
		}
		if a.rule < 0 && !a.minor || j.runs(a) {
			all = true
		}
	}
	if all {
		rules = append(rules, j.every()...)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// every returns the rules of the programs that may decide without being named.
func (j *judge) every() []int {
	var rules []int
	for i := range j.table.rules {
		if r := &j.table.rules[i]; r.like == i && !r.Alone && !hasGit(r.words[0]) {
			rules = append(rules, i)
		}
	}
	return rules
}

// scan looks for the lines that say how programs ended.
func (j *judge) scan(rules []int, acts []act) []*run {
	runs := make([]*run, len(rules))
	for i, r := range rules {
		named := slices.ContainsFunc(acts, func(a act) bool { return a.rule == r })
		runs[i] = &run{rule: r, named: named, items: make([][]line, len(j.table.rules[r].items))}
	}
	j.each(runs, (*run).take)
	for _, r := range runs { // what a program that ended with 0 and passed prints besides is of others
		if r.named && len(r.passes) > 0 && j.out.known && j.out.status == 0 && counts(acts, r.rule) {
			r.fails = nil
		}
	}
	j.each(runs, func(r *run, rule *rule, l line) bool { return (r.named || r.failed()) && r.itemize(rule, l) })
	return runs
}

// counts reports whether the status of the line counts all commands of a rule.
func counts(acts []act, rule int) bool {
	return !slices.ContainsFunc(acts, func(a act) bool { return a.rule == rule && !a.Counts })
}

// each calls a function with runs and lines. A line that it does not take is tried again
// without the name of a task before it.
func (j *judge) each(runs []*run, take func(*run, *rule, line) bool) {
	for _, l := range j.out.lines {
		inner := unprefixed(l.text)
		for _, r := range runs {
			if !take(r, &j.table.rules[r.rule], l) && inner != "" {
				take(r, &j.table.rules[r.rule], line{l.number, inner})
			}
		}
	}
}

// unprefixed returns a line without the name of the task that a runner puts before it, as
// in "[lint:go] 0 issues.", or an empty string.
func unprefixed(s string) string {
	if s[0] != '[' {
		return ""
	}
	name, rest, ok := strings.Cut(s[1:], "] ")
	if !ok || strings.ContainsAny(name, " \t") {
		return ""
	}
	return rest
}

// take notes a line that says how a program ended or counts, and reports whether it does.
func (r *run) take(rule *rule, l line) bool {
	switch {
	case rule.fail.match(l.text):
		r.fails = keep(r.fails, l)
	case rule.pass.match(l.text):
		r.passes = keep(r.passes, l)
		if l.text != "PASS" {
			r.many++
		}
	case rule.note.match(l.text):
		r.notes = keep(r.notes, l)
	default:
		return false
	}
	return true
}

// itemize notes a line that reports one thing that failed, and reports whether it does.
func (r *run) itemize(rule *rule, l line) bool {
	for i, p := range rule.items {
		if p.match(l.text) {
			r.items[i] = keep(r.items[i], l)
			return true
		}
	}
	return false
}

// maxKept is how many lines of a kind are kept of a program.
const maxKept = 64

// keep adds a line, in the place of the last one if there are too many.
func keep(list []line, l line) []line {
	if len(list) == maxKept {
		list[maxKept-1] = l
		return list
	}
	return append(list, l)
}
