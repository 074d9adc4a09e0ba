package outcome

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// A run has the lines about the outcome of one program: for each kind of line the first ones
// and the last one.
type run struct {
	rule   int
	named  bool // whether the command line names the program
	many   int  // number of lines about passes
	passes []line
	fails  []line
	notes  []line
	items  [][]line // lines for each pattern of the rule's Items
}

// failed reports whether a line of the program reports a failure.
func (r *run) failed() bool { return len(r.fails) > 0 }

func (r *run) passed() bool { return len(r.fails) == 0 && len(r.passes) > 0 }

// weak reports whether a program on the command line has printed lines about single failures,
// but no report of its outcome.
func (r *run) weak() bool {
	return r.named && !r.passed() && slices.ContainsFunc(r.items, func(i []line) bool { return len(i) > 0 })
}

// itemized returns 1 for a program with lines about single failures, and 0 for any other.
func (r *run) itemized() int {
	if slices.ContainsFunc(r.items, func(i []line) bool { return len(i) > 0 }) {
		return 1
	}
	return 0
}

// rules returns the indexes of the rules that decide: those of the programs on the command line
// and, if one of the programs may run others, those of all programs.
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

// every returns the rules of programs that need not be named on the command line.
func (j *judge) every() []int {
	var rules []int
	for i := range j.table.rules {
		if r := &j.table.rules[i]; r.like == i && !r.Alone && !hasGit(r.words[0]) {
			rules = append(rules, i)
		}
	}
	return rules
}

// scan collects the lines in which programs report their outcome.
func (j *judge) scan(rules []int, acts []act) []*run {
	runs := make([]*run, len(rules))
	for i, r := range rules {
		named := slices.ContainsFunc(acts, func(a act) bool { return a.rule == r })
		runs[i] = &run{rule: r, named: named, items: make([][]line, len(j.table.rules[r].items))}
	}
	echoed, fetched := j.echoes(), j.fetched()
	j.each(runs, func(r *run, rule *rule, l line) bool {
		return !echoed[l.text] && (!fetched[l.number] || rule.Name != "git push") && r.take(rule, l)
	})
	for _, r := range runs { // if a program passed with status 0, its other lines are about something else
		if r.named && len(r.passes) > 0 && j.out.known && j.out.status == 0 && counts(acts, r.rule) {
			r.fails = nil
		}
	}
	j.each(runs, func(r *run, rule *rule, l line) bool { return (r.named || r.failed()) && r.itemize(rule, l) })
	return runs
}

// echoes returns the lines that the command line prints with echo, whatever its other commands do.
func (j *judge) echoes() map[string]bool {
	lines := make(map[string]bool)
	for _, c := range j.line.Commands {
		if c.Always && text.HasWord("echo printf", c.Name) {
			lines[plain(strings.TrimSuffix(strings.Join(c.Args, " "), `\n`))] = true
		}
	}
	return lines
}

// counts reports whether status 0 of the command line implies that all commands of a rule
// succeeded.
func counts(acts []act, rule int) bool {
	return !slices.ContainsFunc(acts, func(a act) bool { return a.rule == rule && !a.Counts })
}

// each passes each line with each run to the function take. If take returns false for a line,
// each passes the line again, without the name of a task in front.
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

// unprefixed returns a line without the task name that a runner puts in front, as in "[lint:go]
// 0 issues.", or "" if there is none.
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

// take adds a line that reports a failure or a success of the program, or that matches the
// rule's Note. It reports whether the line is one of these.
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

// itemize adds a line about a single failure, and reports whether it is one.
func (r *run) itemize(rule *rule, l line) bool {
	for i, p := range rule.items {
		if p.match(l.text) {
			r.items[i] = keep(r.items[i], l)
			return true
		}
	}
	return false
}

// maxKept is the largest number of lines of one kind that are kept for a
// program.
const maxKept = 64

// keep adds a line. If the list is full, the line replaces the last one.
func keep(list []line, l line) []line {
	if len(list) == maxKept {
		list[maxKept-1] = l
		return list
	}
	return append(list, l)
}
