package account

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/outcome"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// command adds a command with its outcome, and the lines that it printed.
func (r *reader) command(c transcript.ToolCall, res transcript.ToolResult) {
	whole := tool.Line(c)
	if whole == "" {
		r.other(c, parsed(c), res)
		return
	}
	line := r.line(whole)
	first, rest, _ := strings.Cut(r.inProject(whole), "\n")
	u := Unit{Kind: Run, Head: -1, Text: dollar + middle(first), Failed: res.Error}
	kind := Output
	o := r.outcome(c)
	switch {
	case o.Verdict == outcome.Failed:
		u.Failed = true
		u.Text += "\n" + arrow + strings.TrimSuffix("failed: "+o.Text, ": ")
	case shows(line):
		u.Kind, kind = Look, Span
	case o.Text != "":
		u.Text += "\n" + arrow + o.Text
	case o.Verdict == outcome.Passed:
		u.Text += "\n" + arrow + "passed"
	}
	head := r.add(u)
	if rest != "" {
		r.prose(Argument, rest, head)
	}
	r.limits(c, head)
	r.labels = labelsOf(line)
	defer func() { r.labels = nil }()
	printed := said(res)
	if at := strings.Index(printed, "diff --git "); at >= 0 && kind == Span {
		r.output(kind, printed[:at], head, u.Failed, o.Lines)
		for _, p := range shell.Patches(printed[at:]) {
			r.hunks(&change{path: p.Path, old: p.Old, now: p.New}, r.add(Unit{Kind: Sign, Head: head, Text: indent + r.short(p.Path) + ":"}))
		}
		return
	}
	if path := shown(line); path != "" && kind == Span {
		r.file(kind, path, printed, head)
		return
	}
	but := o.Lines
	if o.Verdict == outcome.Passed && o.Text != "" && kind == Output {
		all, gap := complaints(printed)
		r.units[head].Gap = gap
		but = append(slices.Clip(but), all...)
		slices.Sort(but)
	}
	r.output(kind, printed, head, u.Failed, but)
}

// complaints returns the numbers of the lines that report a problem, and of
// those that report one passed test or package. If a program said that it
// passed, callers ignore all of these lines: the problems are errors that a
// test logged on purpose, and the outcome of the command sums up what passed.
// problems reports whether there is a problem among them.
func complaints(output string) (all []int, problems bool) {
	n := 0
	for line := range strings.SplitSeq(output, "\n") {
		passed := onePassed(line)
		if bad := !passed && says(line)&badly != 0; bad || passed {
			all = append(all, n)
			problems = problems || bad
		}
		n++
	}
	return all, problems
}

// onePassed reports whether a line says that one test or package passed.
func onePassed(line string) bool {
	line = strings.TrimSpace(line)
	for _, sign := range [...]string{"--- PASS", "=== RUN", "ok  \t", "✓ ", "✔ ", "PASS "} {
		if strings.HasPrefix(line, sign) {
			return true
		}
	}
	return line == "PASS"
}

// limits adds a unit with the numeric arguments that a call has beside its
// command line, such as a timeout.
func (r *reader) limits(c transcript.ToolCall, head int32) {
	var all []string
	parsed(c).ForEach(func(key, v gjson.Result) bool {
		if v.Type == gjson.Number {
			all = append(all, key.Str+": "+v.Raw)
		}
		return true
	})
	if len(all) > 0 {
		r.add(Unit{Kind: Argument, Head: head, Text: text.Clip(indent+"("+strings.Join(all, ", ")+")", mostArgument), First: true, Last: true})
	}
}

// middle shortens the middle of a long command line; its end, which names the
// output, is kept.
func middle(line string) string {
	if len(line) <= mostCommand {
		return line
	}
	return text.Head(line, mostCommand*3/4) + " … " + text.Tail(line, mostCommand/4)
}

// shown returns the path of the file whose content a command line prints, or
// "". If it prints several files, all must be written for people, such as
// Markdown, and shown returns the last. A line that also lists files or
// prints other text counts only if its file is written for people.
func shown(l *shell.Line) string {
	path, lists := "", false
	for i := range l.Commands {
		c := &l.Commands[i]
		switch c.Name {
		case "cat", "sed", "head", "tail", "nl", "bat":
		case "cd":
			continue
		case "ls", "echo", "wc", "pwd", "find", "tree":
			lists = true
			continue
		default:
			return ""
		}
		for _, e := range c.Effects {
			if path != "" && e.Path != path && (!forPeople(e.Path) || !forPeople(path)) {
				return ""
			}
			path = e.Path
		}
	}
	if lists && !forPeople(path) {
		return ""
	}
	return path
}

// line returns the parsed form of a command line. A line that cannot be parsed
// gives an empty form.
func (r *reader) line(whole string) *shell.Line {
	l, known := r.lines[whole]
	if !known {
		var err error
		if l, err = shell.Parse(whole); err != nil {
			l = &shell.Line{}
		}
		r.lines[whole] = l
	}
	return l
}

// inProject returns a command line without the change to the project's
// folder, and with paths relative to it.
func (r *reader) inProject(line string) string {
	line = strings.TrimSpace(line)
	if r.root == "" {
		return line
	}
	for _, sep := range [...]string{" && ", "; "} {
		line = strings.TrimPrefix(line, "cd "+strings.TrimSuffix(r.root, "/")+sep)
	}
	return r.short(line)
}

// shows reports whether a command line only prints things and changes
// nothing.
func shows(l *shell.Line) bool {
	for i := range l.Commands {
		if c := &l.Commands[i]; !c.Looks() && !c.Silent() {
			return false
		}
	}
	return len(l.Commands) > 0
}
