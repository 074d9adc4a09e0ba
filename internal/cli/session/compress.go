package session

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// compressFlags are the flags of compress that need parsing before they fill the request.
type compressFlags struct {
	target, strategy, least string
	window                  int

	in, to                 string
	out                    job.Output
	todos, todosOut, state string
	summary                bool
}

func newCompress(j *job.Job) *cobra.Command {
	req := &carrel.CompressRequest{}
	var fl compressFlags
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "compress [SESSION] [--target N|50% | --smallest] [--strategy S] [--probe-min R] [-o FILE]",
		Short: "Cut the window to a budget, and keep what the agent needs to go on",
		Long: `Compress cuts the window of a conversation to a budget. In place of the text that
leaves, it writes an account: the user's words, the agent's sentences, calls with their outcomes,
changes, important parts of files, and the state at the end. As many of the newest messages as
fit into an eighth of the budget stay unchanged.
Each cut block has an id, by which "carrel recall" returns it; blocks that rules keep never leave:
"carrel help budget". Every byte stays in the store.

--strategy selects another way: "carrel help summaries". Some strategies make a summary of older
blocks, beside an account or in place of the blocks. The summary is accepted only if the window
then answers the probes that were generated from the originals. --summary and --todos need such a
strategy: without --strategy and a setting they use anchored.

The budget is --target in tokens, or in percent of the imported conversation; system text and tool
definitions cannot leave and are added to a percentage. The default is the one in the settings
("carrel help config"), or half of the effective window: "carrel help context level". --smallest
asks for the smallest window that the strategy can make.

The result is checked by the rules of the conversation's provider before anything is written. If
it does not answer the probes, the exit code is 1; if the blocks that rules keep do not fit, it is
5; then nothing is changed. "carrel undo" takes a compression back.

--in compresses the conversation of a file without a store: the result goes to -o or standard
output, the report to standard error. --todos reads a task list in JSON and completes the tasks
that the new summary reports as done.`,
		Example: `  carrel compress --target 50%
  carrel compress @prev --target 40000 -o next.jsonl
  carrel compress --strategy anchored --probe-min 0.95
  carrel compress -n --strategy pager --intent "flaky login test"
  carrel compress --in h.json --target 50% --summary | carrel summary check -
  carrel compress --todos t.json --todos-out t.json --state state.json --force`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE:              func(cmd *cobra.Command, args []string) error { return fl.run(cmd.Context(), j, s, req, args) },
	}
	s = job.TakesSession(cmd)
	fl.register(cmd, req)
	return cmd
}

// register gives the command its flags.
func (fl *compressFlags) register(cmd *cobra.Command, req *carrel.CompressRequest) {
	f := cmd.Flags()
	f.StringVar(&fl.target, "target", "", "`budget` in tokens, or such as 50%")
	f.BoolVar(&req.Smallest, "smallest", false, "make the window as small as the strategy can")
	f.StringVar(&fl.strategy, "strategy", "", "`how`: "+strings.Join(config.StrategyWords(), ", ")+"; by default that in the settings, or else account")
	f.StringVar(&fl.least, "probe-min", "", "`share` of the probes that must be answered, 0 to accept any result; by default that in the settings, or else 0.9")
	f.IntVar(&fl.window, "window", 0, "context window in `tokens`; by default that in the settings, or else the model's")
	f.StringArrayVar(&req.Intent, "intent", nil, "`words` about the next step, for the strategy pager; by default those of the last messages")
	f.IntVar(&req.KeepLast, "keep-last", 0, "keep the last `n` blocks from leaving; by default that in the settings, or else 5, -1 for none")
	f.StringVar(&fl.in, "in", "", "compress the conversation of a `file`, and store nothing")
	f.StringVarP(&fl.out.File, "output", "o", "", "export to `file` as well; - is standard output")
	f.StringVar(&fl.to, "to", "", "`format` of the export; the conversation's own by default")
	f.BoolVar(&fl.summary, "summary", false, "print the whole summary as Markdown")
	f.StringVar(&fl.todos, "todos", "", "tick off things to do that are done; a `file` with a list in JSON")
	f.StringVar(&fl.todosOut, "todos-out", "", "write that list to `file` as it is then")
	f.StringVar(&fl.state, "state", "", "write the state of compression to `file`: carrel help state")
	job.WritesFiles(cmd, &fl.out.Force, "output", "todos-out", "state")
	job.OfferFormats(cmd, "to")
	job.Offer(cmd, "strategy", config.StrategyWords()...)
	job.Writes(cmd, &req.DryRun)
}

// run compresses the session that the arguments name, or the conversation of a file.
func (fl *compressFlags) run(ctx context.Context, j *job.Job, s *job.SessionArg, req *carrel.CompressRequest, args []string) error {
	if err := fl.fill(j, req); err != nil {
		return err
	}
	if err := readTodos(j, fl.todos, req); err != nil {
		return err
	}
	return s.On(ctx, j, fl.in, args, func(a *job.Access, id transcript.SessionID) error {
		req.Session = id
		if fl.summary || fl.todos != "" {
			a.Settings.Summarize(req)
		}
		a.Settings.Request(req)
		res, err := a.Compress(ctx, a.Scope, req)
		if err != nil {
			return err
		}
		out := &compressed{CompressResult: res, least: req.ProbeMin, dry: req.DryRun, kept: fl.in == ""}
		if !req.DryRun {
			if err := fl.finish(ctx, j, a, out); err != nil {
				if out.kept && res.Op != "" {
					j.NoteFunc(out.print) // the compression is stored, and the report names the undo
				}
				return err
			}
		}
		if fl.piped() && !req.DryRun {
			j.NoteFunc(out.print)
			return nil
		}
		out.TodoList = nil // --todos-out wrote it
		return j.Result("compress", out, out.page)
	})
}

// fill parses the flags into a request.
func (fl *compressFlags) fill(j *job.Job, req *carrel.CompressRequest) (err error) {
	if fl.target != "" {
		if req.Target, err = api.ParseTarget(fl.target); err != nil {
			return out.Usagef("--target: %v", err)
		}
	}
	if req.Smallest && fl.target != "" {
		return out.Usagef("--smallest and --target: use only one")
	}
	if fl.window < 0 {
		return out.Usagef("--window: %d is below 0", fl.window)
	}
	req.Window = token.Count(fl.window)
	if fl.strategy != "" {
		if err := out.OneOf("--strategy", fl.strategy, config.StrategyWords()...); err != nil {
			return err
		}
		req.Strategy = carrel.Strategy(fl.strategy)
	}
	if req.ProbeMin, err = parseLeast("--probe-min", fl.least); err != nil {
		return err
	}
	if fl.summary && req.DryRun {
		return out.Usagef("--summary: a dry run makes no summary to print: leave out -n")
	}
	if fl.in == "-" && fl.todos == "-" {
		return out.Usagef("--in - and --todos -: only one of them can be standard input")
	}
	if fl.in != "" && fl.out.File == "" && fl.state != "-" && fl.todosOut != "-" && !fl.summary && j.JSON == "" {
		fl.out.File = "-"
	}
	if err := fl.checkOutputs(j); err != nil {
		return err
	}
	flags := fl.toStdout()
	if len(flags) > 0 && j.JSON != "" && !req.DryRun {
		flags = append(flags, "--json")
	}
	if len(flags) > 1 {
		return out.Usagef("%s: only one can go to standard output", out.WordList(flags))
	}
	return nil
}

// checkOutputs checks the flags for the summary, the to-do list and the export, and that no two
// flags name the same file. It runs before the compression, so that nothing is changed if a check
// fails.
func (fl *compressFlags) checkOutputs(j *job.Job) error {
	if fl.todosOut != "" && fl.todos == "" {
		return out.Usagef("--todos-out: needs --todos with the to-do list")
	}
	if (fl.summary || fl.todos != "") && fl.strategy != "" && !config.Summarizes(carrel.Strategy(fl.strategy)) {
		return out.Usagef("--summary and --todos: the strategy %s makes no summary: give --strategy %s", fl.strategy, carrel.StrategyAnchored)
	}
	if fl.to != "" {
		if fl.out.File == "" {
			return out.Usagef("--to: needs -o with the file of the export, or - for standard output")
		}
		if _, err := carrel.FormatNamed(fl.to); err != nil {
			return out.Usagef("--to: %w", err)
		}
	}
	named := make(map[string]string)
	for _, f := range [...]struct{ flag, file string }{{"-o", fl.out.File}, {"--todos-out", fl.todosOut}, {"--state", fl.state}} {
		path := j.Path(f.file)
		switch other := named[path]; {
		case f.file == "" || f.file == "-":
		case other != "":
			return out.Usagef("%s and %s: the file is the same: name another for one of them", other, f.flag)
		default:
			named[path] = f.flag
		}
	}
	return nil
}

// toStdout returns the flags that write to standard output.
func (fl *compressFlags) toStdout() []string {
	var flags []string
	for _, f := range [...]struct {
		given bool
		flag  string
	}{{fl.out.File == "-", "-o -"}, {fl.summary, "--summary"}, {fl.state == "-", "--state -"}, {fl.todosOut == "-", "--todos-out -"}} {
		if f.given {
			flags = append(flags, f.flag)
		}
	}
	return flags
}

// piped reports whether a flag writes to standard output, so that the report must not.
func (fl *compressFlags) piped() bool { return len(fl.toStdout()) > 0 }

// finish writes the files that the flags ask for after a compression.
func (fl *compressFlags) finish(ctx context.Context, j *job.Job, a *job.Access, c *compressed) error {
	if fl.out.File != "" {
		out, err := a.Export(ctx, a.Scope, &carrel.ExportRequest{Session: c.Session, To: fl.to})
		if err != nil {
			return err
		}
		if err := saveExport(j, out, fl.out); err != nil {
			return err
		}
	}
	if fl.state != "" {
		if err := writeState(ctx, j, a, c.Session, job.Output{File: fl.state, Force: fl.out.Force}); err != nil {
			return err
		}
	}
	if fl.summary {
		sum, err := a.Summary(ctx, a.Scope, &carrel.SessionRequest{Session: c.Session})
		if err != nil {
			return err
		}
		if err := j.Write(job.Output{}, []byte(out.Printable(sum.Summary.Markdown(), false))); err != nil {
			return err
		}
	}
	if fl.todosOut != "" {
		return j.Write(job.Output{File: fl.todosOut, Force: fl.out.Force}, c.TodoList)
	}
	return nil
}

// readTodos reads a to-do list into a request, if file is not "".
func readTodos(j *job.Job, file string, req *carrel.CompressRequest) error {
	if file == "" {
		return nil
	}
	data, err := j.Read(file)
	if err != nil {
		return err
	}
	if _, err := summary.ParseTodos(data); err != nil {
		return out.InFile(file, err)
	}
	req.Todos = data
	return nil
}

// parseLeast parses the share of probes that must be answered. It returns nil if s is "".
func parseLeast(flag, s string) (*ratio.Ratio, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // documented
	}
	r, err := job.ParseShare(flag, s)
	if r > ratio.One {
		err = out.Usagef("%s: %q is above 1: give a share from 0 to 1", flag, s)
	}
	return &r, err
}
