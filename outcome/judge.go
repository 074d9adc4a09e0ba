package outcome

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
)

// minor are programs that print nothing on success, and whose outcome does not matter if the
// command line has other programs.
const minor = "mkdir rm rmdir cp mv touch chmod chown ln sleep kill pkill killall unset tee trap wait disown clear echo printf cat"

// answers are programs for which status 1 is an answer, not a failure.
const answers = "grep egrep fgrep rg ripgrep ag ack zgrep diff cmp test [ [[ which command type pgrep pkill expr let find jq colordiff false fd locate"

// command computes the outcome of a call that runs a command line.
func (j *judge) command() {
	acts, last := j.acts()
	rules := j.rules(acts)
	runs := j.scan(rules, acts)
	j.state()

	counted, asked := j.echo()
	zero := counted && j.out.status == 0 && !j.out.running
	if asked || j.foundFailed(runs, acts, zero) {
		return
	}
	if j.out.failed {
		if last != nil && j.out.status == 1 && isAnswer(last) && !slices.ContainsFunc(runs, func(r *run) bool { return r.weak() }) {
			j.pass(runs) // the text without a verdict
			return
		}
		j.fail(runs, acts)
		return
	}
	for _, r := range runs {
		if r.weak() && !j.statusProves(r.rule, acts, zero) {
			j.fail(runs, acts)
			return
		}
	}
	if len(acts) == 0 && j.refusedLook() || len(acts) > 0 && !j.statusProves(-1, acts, zero) && crashed(j.out.lines) && !slices.ContainsFunc(runs, (*run).passed) {
		j.fail(runs, acts)
		return
	}
	if j.out.running {
		return
	}
	if j.proven(acts, runs, zero) {
		j.verdict = Passed
	}
	j.pass(runs)
}

// echo handles a command line that prints the status of a command itself, as with echo $?.
// counted reports whether the outcome can be computed from a status: that of the call is known,
// or the printed one is 0. asked reports whether the printed status is 1 and comes from a
// command that only looks at something, such as grep: then 1 is an answer, not a failure.
func (j *judge) echo() (counted, asked bool) {
	n, ok, of := j.echoed()
	if !ok {
		return j.out.known, false
	}
	if n != 0 && (n != 1 || !of.Looks()) {
		j.out.failed = true
	}
	if n == 0 {
		of.Counts = of.Own
	}
	return j.out.known || n == 0, n == 1 && of.Looks()
}

// foundFailed reports whether the output has a line in which a program reports a failure,
// while no program is still running. If this failure decides about the command line,
// foundFailed also sets the verdict. zero reports whether the status of the command line is 0.
func (j *judge) foundFailed(runs []*run, acts []act, zero bool) bool {
	at := slices.IndexFunc(runs, (*run).failed)
	if at < 0 || j.out.running {
		return false
	}
	if r := runs[at]; r.named || j.out.failed || !j.statusProves(-1, acts, zero) || slices.ContainsFunc(acts, j.runs) {
		j.fail(runs, acts)
	}
	return true // the program is not in the line, and the line's status may contradict it
}

// refusedLook reports whether git or gh failed to show something: the output is one of their
// error messages. If they are in a pipe, the status does not show the failure.
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

// An act is a command that does more than show something, with the index of its
// rule, or -1.
type act struct {
	*shell.Command
	rule  int // or -1
	minor bool
}

// runs reports whether a command runs other programs.
func (j *judge) runs(a act) bool { return a.rule >= 0 && j.table.rules[a.rule].Runs }

// acts returns the commands on the command line that do more than show something, and the last
// command of the line.
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
		acts = append(acts, act{Command: c, rule: rule, minor: c.Name == "" && !c.Unknown || text.HasWord(minor, c.Name)})
	}
	return acts, last
}

// asks reports whether a command is called only to print its version or its
// help.
func asks(c *shell.Command) bool {
	return len(c.Args) == 1 && text.HasWord("--version -V version --help help", c.Args[0])
}

// statusProves reports whether the status of the command line proves success. It can only do
// so if it is 0, that is, if zero is true. If commands of the rule are on the line, status 0
// must imply that all of them succeeded. If none are, it must imply that all commands
// succeeded, except minor ones.
func (j *judge) statusProves(rule int, acts []act, zero bool) bool {
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

// proven reports whether it is known that every command on the command line succeeded.
func (j *judge) proven(acts []act, runs []*run, zero bool) bool {
	whole, empty := j.whole(), j.empty()
	known := 0
	for _, a := range acts {
		switch {
		case zero && a.Counts, whole && j.reported(a, acts, runs, zero):
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

// reported reports whether the lines about passes prove that act a succeeded. A line proves one
// act only, so there must be as many as acts of the rule whose status is not known. For an act
// that runs other programs the lines of programs that the command line does not name are taken.
func (j *judge) reported(a act, acts []act, runs []*run, zero bool) bool {
	lines, open := 0, 0
	for _, r := range runs {
		if r.passed() && (r.rule == a.rule || j.runs(a) && !r.named) {
			lines += max(1, r.many)
		}
	}
	for _, b := range acts {
		if (b.rule == a.rule || j.runs(a) && j.runs(b)) && (!zero || !b.Counts) {
			open++
		}
	}
	return lines > 0 && lines >= open && !a.Again
}

// empty reports whether the command line printed nothing, although nothing hid its output.
func (j *judge) empty() bool {
	if slices.ContainsFunc(j.out.lines, func(l line) bool { return !j.quiet(l.text) }) || strings.Contains(strings.ReplaceAll(j.source, "2>&1", ""), "2>") || strings.Contains(j.source, "&>") {
		return false
	}
	for _, c := range j.line.Commands {
		if c.Piped && !text.HasWord("head tail cat tee", c.Name) || !c.Shown && !c.Inner && !j.read() {
			return false
		}
	}
	return true
}

// quiet reports whether a line of output only announces a program, as in "$ tsc --noEmit", and
// that program prints nothing on success.
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

// read reports whether a command reads from a pipe and its output is shown.
func (j *judge) read() bool {
	return slices.ContainsFunc(j.line.Commands, func(d shell.Command) bool { return d.Piped && d.Shown })
}

// whole reports whether the shown output includes the end of the output: the client and head
// did not cut it off, and no filter removed lines.
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
		case "grep", "egrep", "fgrep", "zgrep", "ggrep", "rg", "ripgrep", "ag", "ack":
			if !leaves(c.Args) {
				return false
			}
		case "sed", "gsed", "awk", "gawk", "mawk", "nawk", "perl", "cut", "jq", "gojq", "wc", "sort", "gsort", "uniq", "xargs", "findstr":
			return false
		}
	}
	return true
}

// leaves reports whether grep with these arguments leaves the lines about failures: it selects them,
// or removes others.
func leaves(args []string) bool {
	inverts, fails, errs := false, false, false
	for _, a := range args {
		inverts = inverts || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "v")
		low := strings.ToLower(a)
		fails = fails || strings.Contains(low, "fail")
		errs = errs || strings.Contains(low, "error")
	}
	if inverts {
		return !fails && !errs
	}
	return fails
}

// headed returns the number of lines that head shows.
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

// isAnswer reports whether status 1 of a command is an answer, such as "no
// match", and not a failure.
func isAnswer(c *shell.Command) bool {
	if c.Name == "git" {
		verb, _ := c.Verb()
		return text.HasWord("diff grep merge-base check-ignore config show-ref rev-parse ls-files", verb)
	}
	return text.HasWord(answers, c.Name)
}

// echoed returns the status that the command line prints at its end, as with echo "exit: $?".
// It also returns the command whose status this is.
func (j *judge) echoed() (status int, ok bool, of *shell.Command) {
	cs := j.line.Commands
	for i := len(cs) - 1; i > 0; i-- {
		c := &cs[i]
		if c.Name != "echo" || !c.Shown {
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
			rest, _, _ = strings.Cut(strings.TrimSpace(rest), " ")
			if n, isNumber := number(rest, ""); is && isNumber {
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
