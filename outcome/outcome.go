package outcome

import (
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A Verdict says whether a call did what it was to do. It is stored as its text.
type Verdict string

// The verdicts.
const (
	Unknown Verdict = ""       // neither can be known, or it is no question
	Passed  Verdict = "passed" // the runner says so, or the status that the call ended with
	Failed  Verdict = "failed"
)

// An Outcome is how a call ended.
type Outcome struct {
	Verdict Verdict

	// Text is one line of 200 bytes at most, made of pieces of the result. It is empty
	// where nothing is worth saying.
	Text string

	// Lines are the numbers of the lines of the result's text that Text has pieces of,
	// ascending. The first is 0. It is nil where the output stands in JSON.
	Lines []int

	Refused bool // the call was not carried out

	Commit *Commit // the last commit that the call made, or nil
	Pushed bool    // the call brought a branch or a tag to a remote, or found it there
	Branch string  // the branch that the call committed to, switched to or found itself on, or empty
}

// A Commit is one that git reports.
type Commit struct {
	Branch  string // or "detached HEAD"
	Hash    string // as git abbreviates it
	Subject string
}

// Of returns the outcome of a call with its result. A nil table is that of [Builtin].
func (t *Table) Of(c transcript.ToolCall, r transcript.ToolResult) Outcome {
	if t == nil {
		t = Builtin()
	}
	out := open(c, r)
	class := t.tools.Of(c)
	line := ""
	if class == tool.Command {
		line = tool.Line(c)
	}
	j := judge{table: t, out: out}
	switch {
	case out.refused:
		j.refused()
	case line != "":
		l, err := shell.Parse(line)
		if err != nil {
			l = &shell.Line{Commands: []shell.Command{{Unknown: true, Shown: true, Counts: true}}}
		}
		j.line, j.source = l, line
		j.command()
	case class == tool.Command || class == tool.Check:
		j.line = &shell.Line{Commands: []shell.Command{{Unknown: true, Shown: true, Counts: true}}}
		j.command()
	default:
		j.tool(c, class)
	}
	return j.outcome()
}

// A judge decides on one result.
type judge struct {
	table *Table
	out   output
	line  *shell.Line

	source string // of line

	verdict Verdict
	pieces  []piece
	commit  *Commit
	pushed  bool
	branch  string
}

// refused says why a call was not carried out.
func (j *judge) refused() {
	j.verdict = Failed
	for _, l := range j.out.lines {
		if l.text != "" {
			j.say(l)
			return
		}
	}
}

// outcome writes down what was decided.
func (j *judge) outcome() Outcome {
	o := Outcome{Verdict: j.verdict, Refused: j.out.refused, Commit: j.commit, Pushed: j.pushed, Branch: j.branch}
	o.Text, o.Lines = compose(j.pieces)
	if !j.out.numbered {
		o.Lines = nil
	}
	return o
}
