package account

import (
	"strings"

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
	first, rest, _ := strings.Cut(r.inProject(whole), "\n")
	u := Unit{Kind: Run, Head: -1, Text: dollar + text.Clip(first, mostCommand), Failed: res.Error}
	kind := Output
	o := r.outcome(c)
	switch {
	case o.Verdict == outcome.Failed:
		u.Failed = true
		u.Text += "\n" + arrow + strings.TrimSuffix("failed: "+o.Text, ": ")
	case shows(whole):
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
	r.lines(kind, res.Text(), head, u.Failed, o.Lines)
}

// inProject returns a command line without what changes to the folder of the project, and
// with the paths of the project as they are from there.
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

// shows reports whether a command line only shows what is there.
func shows(line string) bool {
	l, err := shell.Parse(line)
	if err != nil {
		return false
	}
	for i := range l.Commands {
		if c := &l.Commands[i]; !c.Looks() && !c.Silent() {
			return false
		}
	}
	return len(l.Commands) > 0
}
