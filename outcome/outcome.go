package outcome

import (
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A Verdict says whether a call succeeded. It is stored as its text.
type Verdict string

// The verdicts.
const (
	Unknown Verdict = ""       // not known, or the call has no outcome
	Passed  Verdict = "passed" // by the report of the program or the exit status
	Failed  Verdict = "failed"
)

// An Outcome is the outcome of a call.
type Outcome struct {
	Verdict Verdict

	// Text is one line of at most 200 bytes, made of pieces of the result. It may be empty.
	Text string

	// Lines has the indexes of the lines of the result that Text has pieces of, in ascending
	// order; the first line has the index 0. It is nil if the output is inside JSON.
	Lines []int

	Refused bool // the call was not carried out

	Commit *Commit // last commit that the call made, or nil
	Pushed bool    // whether the call pushed a branch or a tag, or found it up to date
	Branch string  // branch that the call committed to, switched to or reported, or empty
}

// A Commit is a commit that git reported.
type Commit struct {
	Branch  string // or "detached HEAD"
	Hash    string // abbreviated hash, as git prints it
	Subject string
}

// Of returns the outcome of a call with its result. A nil table is [Builtin].
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

// A judge computes the outcome of one result.
type judge struct {
	table *Table
	out   output
	line  *shell.Line

	source string // text of line

	verdict Verdict
	pieces  []piece
	commit  *Commit
	pushed  bool
	branch  string
}

// refused sets the outcome of a call that was not carried out. Its text is the first line.
func (j *judge) refused() {
	j.verdict = Failed
	for _, l := range j.out.lines {
		if l.text != "" {
			j.say(l)
			return
		}
	}
}

// outcome returns the outcome that the judge has found.
func (j *judge) outcome() Outcome {
	o := Outcome{Verdict: j.verdict, Refused: j.out.refused, Commit: j.commit, Pushed: j.pushed, Branch: j.branch}
	o.Text, o.Lines = compose(j.pieces)
	if !j.out.numbered {
		o.Lines = nil
	}
	return o
}
