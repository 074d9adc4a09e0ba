package outcome

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
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

// minor are programs that do what is of no account beside another one, and print nothing
// when all is well.
const minor = "mkdir rm rmdir cp mv touch chmod chown ln sleep kill pkill killall unset tee trap wait disown clear echo printf cat"

// answers are programs whose status 1 is an answer and no failure.
const answers = "grep egrep fgrep rg ripgrep ag ack zgrep diff cmp test [ [[ which command type pgrep pkill expr let find jq colordiff false fd locate"

// command judges the output of a command line.
func (j *judge) command() {
	acts, last := j.acts()
	rules := j.rules(acts)
	runs := j.scan(rules, acts)
	j.state()

	status, counted := j.out.status, j.out.known
	if n, ok, of := j.echoed(); ok {
		if n != 0 && of != nil && (n != 1 || !of.Looks()) {
			j.out.failed = true
		}
		if n == 0 && of != nil {
			of.Counts, counted = true, true
		}
		if n == 1 && of != nil && of.Looks() {
			return
		}
	}
	zero := counted && status == 0 && !j.out.running
	for _, r := range runs {
		switch {
		case !r.failed() || j.out.running:
		case r.named || j.out.failed || !j.vouched(-1, acts, zero) || slices.ContainsFunc(acts, j.runs):
			j.fail(runs, acts)
			return
		default: // a program that is not known, and its status, say the opposite
			return
		}
	}
	if j.out.failed {
		if last != nil && status == 1 && isAnswer(last) && !slices.ContainsFunc(runs, func(r *run) bool { return r.weak() }) {
			j.pass(runs) // the text of what passed, without a verdict
			return
		}
		j.fail(runs, acts)
		return
	}
	for _, r := range runs {
		if r.weak() && !j.vouched(r.rule, acts, zero) {
			j.fail(runs, acts)
			return
		}
	}
	if len(acts) == 0 && j.refusedLook() || len(acts) > 0 && !j.vouched(-1, acts, zero) && crashed(j.out.lines) && !slices.ContainsFunc(runs, (*run).passed) {
		j.fail(runs, acts)
		return
	}
	if len(acts) == 0 || j.out.running {
		return
	}
	if j.proven(acts, runs, zero) {
		j.verdict = Passed
	}
	j.pass(runs)
}

// refusedLook reports whether git or gh, which were to show something into a pipe, say
// that they cannot.
func (j *judge) refusedLook() bool {
	lines := j.out.lines
	if len(lines) == 0 {
		return false
	}
	return slices.ContainsFunc(j.line.Commands, func(c shell.Command) bool {
		return c.Name == "git" && strings.HasPrefix(lines[0].text, "fatal: ") ||
			c.Name == "gh" && strings.HasPrefix(lines[len(lines)-1].text, "gh: ") && strings.Contains(lines[len(lines)-1].text, "(HTTP ")
	})
}

// An act is a command that does something.
type act struct {
	*shell.Command
	rule  int // or -1
	minor bool
}

// runs reports whether a command runs other programs.
func (j *judge) runs(a act) bool { return a.rule >= 0 && j.table.rules[a.rule].Runs }

// acts returns the commands of the line that do something, and the last of all.
func (j *judge) acts() (acts []act, last *shell.Command) {
	for i := range j.line.Commands {
		c := &j.line.Commands[i]
		if c.Inner {
			continue
		}
		if c.Name != "" {
			last = c
		}
		rule := j.table.find(c)
		if c.Silent() || c.Looks() || asks(c) || rule >= 0 && j.table.rules[rule].Shows {
			continue
		}
		acts = append(acts, act{Command: c, rule: rule, minor: c.Name == "" || word(minor, c.Name)})
	}
	return acts, last
}

// asks reports whether a command is only asked which it is, or how it is used.
func asks(c *shell.Command) bool {
	return len(c.Args) == 1 && word("--version -V version --help help", c.Args[0])
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
	j.each(runs, func(r *run, rule *rule, l line) bool { return (r.named || r.failed()) && r.itemize(rule, l) })
	return runs
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

// vouched reports whether the status of the line says that each command of a rule
// succeeded, or where no command has it, each command.
func (j *judge) vouched(rule int, acts []act, zero bool) bool {
	if !zero {
		return false
	}
	named := false
	for _, a := range acts {
		if a.rule == rule && rule >= 0 {
			named = true
			if !a.Counts {
				return false
			}
		}
	}
	if named {
		return true
	}
	return !slices.ContainsFunc(acts, func(a act) bool { return !a.Counts && !a.minor })
}

// proven reports whether all that the line does is known to have gone well.
func (j *judge) proven(acts []act, runs []*run, zero bool) bool {
	whole := j.whole()
	passed := func(rule int) bool {
		return whole && slices.ContainsFunc(runs, func(r *run) bool { return r.rule == rule && r.passed() })
	}
	some := whole && slices.ContainsFunc(runs, func(r *run) bool { return r.passed() })
	empty := j.empty()
	known := 0
	for _, a := range acts {
		switch {
		case zero && a.Counts, passed(a.rule):
		case some && j.runs(a):
		case empty && (a.minor || a.rule >= 0 && j.table.rules[a.rule].Quiet || j.runs(a) && len(j.out.lines) > 0):
		case a.minor:
			continue
		default:
			return false
		}
		known++
	}
	return known > 0
}

// empty reports whether the line printed nothing of its own, though nothing kept it from
// that.
func (j *judge) empty() bool {
	if j.out.failed || slices.ContainsFunc(j.out.lines, func(l line) bool { return !j.quiet(l.text) }) || strings.Contains(strings.ReplaceAll(j.source, "2>&1", ""), "2>") || strings.Contains(j.source, "&>") {
		return false
	}
	for _, c := range j.line.Commands {
		if c.Piped && !word("head tail cat tee", c.Name) || !c.Shown && !c.Inner && !j.read() {
			return false
		}
	}
	return true
}

// quiet reports whether a line says which program a runner runs ("$ tsc --noEmit"), and
// that one prints nothing when all is well.
func (j *judge) quiet(s string) bool {
	if inner := unprefixed(s); inner != "" {
		s = inner
	}
	script, ok := strings.CutPrefix(s, "$ ")
	if !ok {
		return false
	}
	l, err := shell.Parse(script)
	if err != nil || len(l.Commands) != 1 {
		return false
	}
	rule := j.table.find(&l.Commands[0])
	return rule >= 0 && j.table.rules[rule].Quiet
}

// read reports whether what goes into a pipe comes out of one.
func (j *judge) read() bool {
	return slices.ContainsFunc(j.line.Commands, func(d shell.Command) bool { return d.Piped && d.Shown })
}

// whole reports whether the end of what runs is in the output: head did not cut it off,
// and no filter took lines out of it.
func (j *judge) whole() bool {
	if j.out.cut {
		return false
	}
	for _, c := range j.line.Commands {
		if !c.Piped {
			continue
		}
		switch c.Name {
		case "head", "ghead":
			if j.out.number >= headed(c.Args) {
				return false
			}
		case "grep", "egrep", "rg":
			if !slices.ContainsFunc(c.Args, func(a string) bool {
				low := strings.ToLower(a)
				return strings.Contains(low, "fail") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "v")
			}) {
				return false
			}
		case "sed", "awk", "cut", "jq", "wc", "sort", "uniq", "xargs":
			return false
		}
	}
	return true
}

// headed returns how many lines head shows.
func headed(args []string) int {
	for _, a := range args {
		a = strings.TrimPrefix(strings.TrimPrefix(a, "-"), "n")
		a = strings.TrimPrefix(a, "-lines=")
		if d := text.Digits(a); d > 0 && d < 9 {
			n := 0
			for _, c := range a[:d] {
				n = n*10 + int(c-'0')
			}
			return n
		}
	}
	return 10
}

// isAnswer reports whether the status 1 of a command is an answer.
func isAnswer(c *shell.Command) bool {
	if c.Name == "git" {
		verb, _ := c.Verb()
		return word("diff grep merge-base check-ignore config show-ref rev-parse ls-files", verb)
	}
	return word(answers, c.Name)
}

// echoed returns the status that the line itself prints at its end (echo "exit: $?"), and
// the command that had it.
func (j *judge) echoed() (status int, ok bool, of *shell.Command) {
	cs := j.line.Commands
	for i := len(cs) - 1; i > 0; i-- {
		c := &cs[i]
		if c.Name != "echo" || c.Inner || !c.Shown {
			if !c.Silent() {
				return 0, false, nil
			}
			continue
		}
		said := strings.Join(c.Args, " ")
		before, _, found := strings.Cut(said, "$?")
		first := false
		if !found {
			for _, name := range [...]string{"${PIPESTATUS[0]}", "${pipestatus[1]}", "$pipestatus[1]"} {
				if before, _, found = strings.Cut(said, name); found {
					first = true
					break
				}
			}
		}
		if !found {
			continue
		}
		before = strings.Join(strings.Fields(strings.Trim(before, `"'`)), " ")
		for _, l := range slices.Backward(j.out.lines) {
			rest, is := strings.CutPrefix(l.text, before)
			if n, isNumber := number(strings.TrimSpace(rest), ""); is && isNumber {
				at := i - 1
				for first && at > 0 && cs[at].Piped {
					at--
				}
				return n, true, &cs[at]
			}
		}
		return 0, false, nil
	}
	return 0, false, nil
}

// pass says what programs say that passed.
func (j *judge) pass(runs []*run) {
	for _, r := range runs {
		if r.passed() || len(r.notes) > 0 {
			j.brief(r, false)
		}
	}
	j.order()
}

// brief says what one program says of a run that passed, as extra pieces beside those of
// one that failed.
func (j *judge) brief(r *run, extra bool) {
	passes := slices.DeleteFunc(slices.Clone(r.passes), func(l line) bool { return l.text == "PASS" && len(r.passes) > 1 })
	if len(passes) > 0 {
		j.add(passes[0], extra)
		if p := &j.pieces[len(j.pieces)-1]; p.line == passes[0].number {
			p.more = max(0, r.many-1)
		}
	}
	for _, l := range r.notes[:min(len(r.notes), maxNotes)] {
		j.add(l, extra)
	}
}

// maxNotes is how many lines that count are said of a program, and maxItems how many at
// least that report one thing that failed, if there is room.
const (
	maxNotes = 3
	maxItems = 2
)

// fail says why the line failed: what the programs report that say so, or else those that
// report what failed, or else the line that says most.
func (j *judge) fail(runs []*run, acts []act) {
	j.verdict = Failed
	if slices.ContainsFunc(runs, func(r *run) bool { return r.named && j.table.rules[r.rule].words[0] == "git" && !r.passed() }) {
		rules := j.every() // the hooks of git run other programs
		for _, r := range runs {
			rules = append(rules, r.rule)
		}
		slices.Sort(rules)
		runs = j.scan(slices.Compact(rules), acts)
	}
	slices.SortStableFunc(runs, func(a, b *run) int {
		return cmp.Or(j.outer(a)-j.outer(b), b.itemized()-a.itemized())
	})
	strong := slices.ContainsFunc(runs, func(r *run) bool { return r.failed() })
	var wrapped []line // what is not the word of the program that failed
	for _, r := range runs {
		if j.outer(r) == 1 {
			wrapped = append(wrapped, r.fails...)
		}
	}
	inner := slices.ContainsFunc(runs, func(r *run) bool { return j.outer(r) == 0 && r.failed() })
	if strong && !inner {
		lines := slices.DeleteFunc(slices.Clone(j.out.lines), func(l line) bool { return wordsOf(wrapped, l) })
		if l, rank := deciding(lines); rank >= reports {
			j.say(l)
		}
	}
	for _, r := range runs {
		if r.failed() || r.weak() && !strong {
			j.blame(r, wrapped)
		}
	}
	if len(j.pieces) == 0 {
		if l, rank := deciding(j.out.lines); rank > 0 {
			j.say(l)
		} else if len(j.out.lines) > 0 {
			j.say(j.out.lines[0])
		}
	}
	for _, r := range runs {
		if r.passed() {
			j.brief(r, true)
		}
	}
}

// wordsOf reports whether a line is one of others.
func wordsOf(lines []line, l line) bool {
	return slices.ContainsFunc(lines, func(o line) bool { return o.number == l.number })
}

// outer returns 1 for a program that runs others, whose own words say less, and else 0.
func (j *judge) outer(r *run) int {
	if j.table.rules[r.rule].Runs || j.table.rules[r.rule].words[0] == "git" {
		return 1
	}
	return 0
}

// blame says what one program reports that failed: the first thing, what of each other
// kind is nearest to it, how many there are, and what else there is.
func (j *judge) blame(r *run, wrapped []line) {
	var items []line
	for _, kind := range r.items {
		if j.outer(r) == 0 {
			kind = slices.DeleteFunc(slices.Clone(kind), func(l line) bool { return wordsOf(wrapped, l) })
		}
		if len(kind) > 1 && within(kind[0].text, kind[1].text) {
			kind = kind[1:]
		}
		if len(kind) == 0 {
			continue
		}
		said := kind[0]
		if len(items) > 0 {
			said = slices.MinFunc(kind, func(a, b line) int { return items[0].from(a) - items[0].from(b) })
		}
		j.say(said)
		items = append(items, kind...)
	}
	fails := slices.DeleteFunc(slices.Clone(r.fails), func(l line) bool {
		bare := l.text == "FAIL" && (len(r.fails) > 1 || len(items) > 0)
		return bare || slices.ContainsFunc(r.items, func(kind []line) bool { return wordsOf(kind, l) })
	})
	if len(fails) > 0 {
		l := slices.MaxFunc(fails, func(a, b line) int { return numbers(a.text) - numbers(b.text) })
		j.add(l, len(items) > 0 && len(l.text) > minPiece || j.outer(r) == 1 && len(j.pieces) > 0)
	}
	for _, l := range r.notes[:min(len(r.notes), maxNotes)] {
		j.say(l)
	}
	for _, l := range items[:min(len(items), maxItems)] {
		j.add(l, true)
	}
}

// numbers returns how many numbers stand in a line: the more, the more it counts.
func numbers(s string) int {
	n := 0
	for i := range len(s) {
		if text.Digits(s[i:]) > 0 && (i == 0 || text.Digits(s[i-1:]) == 0) {
			n++
		}
	}
	return n
}

// within reports whether a line names a test, and another one a test within it.
func within(outer, inner string) bool {
	name, _, _ := strings.Cut(outer, " (")
	return strings.HasPrefix(inner, name+"/")
}

// order puts the pieces of what passed into the order of the output.
func (j *judge) order() {
	slices.SortStableFunc(j.pieces, func(a, b piece) int { return a.line - b.line })
}
