package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/cli/session"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/pager"
)

// heaviest is how many blocks an error about a budget lists at most in its text for a person.
const heaviest = 5

// commands matches the beginnings of commands in a hint that work on a store.
var commands = lazy.Regexp(`\bcarrel (calls|compress|contract|import|log|ls|manifest|messages|purge|recall|review|rm|search|sessions|store|summary|unpin)\b`)

// fail reports an error and returns the exit code. A hint with commands names the store and the
// scope that the command line named.
func fail(ctx context.Context, j *job.Job, err error) int {
	defer j.Close()
	err = j.Cause(ctx, err)
	code := job.Status(err)
	if err == nil || out.IsSaid(err) {
		return code
	}
	p := job.NewProblem(err)
	if where := j.Where(); where != "" && out.KindOf(err) != out.KindUsage {
		p.Hint = commands.Get().ReplaceAllString(p.Hint, "carrel"+where+" $1")
	}
	if j.JSON != "" {
		doc, _ := out.JSONText(p, j.StdoutTerminal) // strings and numbers always encode
		_, _ = j.Stdout.Write(doc)                  // the exit code reports the error anyway
	}
	fmt.Fprintln(j.Stderr, "carrel: "+out.Visible(p.Detail))
	if j.JSON != "" {
		return code
	}
	if p.Floor != nil {
		printFloor(j, p.Floor)
	}
	printRefused(j, p.Refused)
	session.PrintProbes(j.Stderr, p.Attempts, p.Probes)
	printContract(j, p)
	for _, v := range p.Violations {
		if len(p.Violations) == 1 {
			break // the error has named it
		}
		fmt.Fprintln(j.Stderr, "  "+out.Visible(v.String()))
	}
	if e, ok := errors.AsType[*job.PanicError](err); ok && (j.Verbose > 0 || j.Getenv("CARREL_LOG") == "debug") {
		_, _ = j.Stderr.Write(e.Stack) // nothing can be reported if standard error fails
	}
	if p.Hint != "" {
		fmt.Fprintln(j.Stderr, "hint: "+out.Visible(p.Hint))
	}
	return code
}

// printFloor lists the blocks that do not fit the budget and may not leave the window.
func printFloor(j *job.Job, f *api.FloorFigures) {
	w := j.Stderr
	if f.Fixed > 0 {
		fmt.Fprintf(w, "  %10s  framing and tools\n", out.Thousands(f.Fixed))
	}
	for _, r := range f.Rules {
		fmt.Fprintf(w, "  %10s  %s, %d %s\n", out.Thousands(r.Tokens), r.Rule, r.Blocks, out.Plural(r.Blocks, "block", "blocks"))
	}
	fmt.Fprintln(w, "largest blocks:")
	for _, h := range f.Held[:min(heaviest, len(f.Held))] {
		fmt.Fprintf(w, "  %10s  %s  %s\n", out.Thousands(h.Tokens), h.Block.Short(), h.Rule)
	}
}

// printRefused lists the blocks that may not be discarded, if there are several.
func printRefused(j *job.Job, refused []pager.Refusal) {
	if len(refused) == 1 {
		return // the error has named it
	}
	for _, r := range refused {
		fmt.Fprintf(j.Stderr, "  %s  %s\n", out.Visible(r.Block), out.Visible(r.Reason))
	}
}

// printContract prints why a contract was refused: decisions that contradict each other and how
// to resolve that, or the rules that fail, if there are several.
func printContract(j *job.Job, problem *api.Problem) {
	p := j.Report()
	if c := problem.Conflict; c != nil {
		t := &out.Table{Whole: true}
		t.Add("  new", c.Decision, "")
		for _, o := range c.Others {
			t.Add("  stands", o.Decision, "in "+string(o.List)+": "+o.About+" is "+o.Value)
		}
		p.Table(t)
		p.Line("ways on:")
		p.Line("  --on-conflict override  the new one takes the place of the other, which is recorded")
		p.Line("  --on-conflict defer     the new one becomes an open question")
		p.Line("  --on-conflict comply    the new one is dropped")
	}
	if len(problem.Failures) > 1 { // the error has named the first
		for _, f := range problem.Failures {
			p.Line("  line %d: %s: %s", f.Line, f.Kind, out.Visible(f.Text))
		}
	}
	j.Warn(p)
}
