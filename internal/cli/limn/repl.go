package limn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/limn"
)

const replHelp = `A line is a statement of the language, such as
  remember a list called colors with red and green
  show colors
A "when" goes on with the indented lines below it, up to an empty line.

  :names    list the names that have a meaning
  :listen   run the handlers, until their sources are complete
  :help     this
  :quit     the end, as the end of the input is
`

func newLimnREPL(j *job.Job) *cobra.Command {
	r := &limnRun{j: j}
	var names []string
	cmd := &cobra.Command{
		Use:   "repl [--pack P]... [--test]",
		Short: "Run statements as they are typed",
		Long: `Repl reads statements from standard input and executes each at once. A "when" ends
at an empty line. Lines that begin with a colon are commands: :names lists the names,
:listen runs the handlers, :help and :quit.

If the input is no terminal, the exit code is 1 if there was an error.`,
		Example: "  carrel limn repl --pack session",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if j.JSON != "" {
				return out.Usagef("--json: limn repl has no JSON output; carrel limn run - --json has")
			}
			packs, err := readPacks(j, names)
			if err != nil {
				return err
			}
			return r.repl(cmd.Context(), packs)
		},
	}
	takesPacks(cmd, &names)
	cmd.Flags().BoolVar(&r.test, "test", false, `take conditions that mix "and" with "or" as they are read`)
	return cmd
}

// repl executes statements as a person types them.
func (r *limnRun) repl(ctx context.Context, packs []*limn.Pack) error {
	opts := r.start(ctx, packs, true)
	r.typed = true
	r.prompt("Statements of the contract language; :help says more.\n")
	for {
		text, err := r.statement(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		done, failed := r.enter(ctx, text, opts)
		if failed != nil {
			return failed
		}
		if done || err != nil {
			break
		}
	}
	if r.failed && !r.j.StdinTerminal {
		return out.ErrNo
	}
	return nil
}

// prompt prints a prompt if standard input is a terminal.
func (r *limnRun) prompt(text string) {
	if r.j.StdinTerminal && !r.j.Quiet {
		fmt.Fprint(r.j.Stderr, text)
	}
}

// statement reads a statement: one line, or all lines of a handler. At the end of the input it
// returns the text so far and [io.EOF].
func (r *limnRun) statement(ctx context.Context) (string, error) {
	r.prompt("> ")
	text, err := r.in.line(ctx)
	if !limn.OpensBlock(text) {
		return text, err
	}
	for err == nil {
		var line string
		r.prompt("  ")
		line, err = r.in.line(ctx)
		if strings.TrimSpace(line) == "" {
			break
		}
		text += "\n" + line
	}
	return text, err
}

// enter executes a statement or command, and reports whether the user quits.
func (r *limnRun) enter(ctx context.Context, text string, opts *limn.Options) (done bool, err error) {
	r.began = r.j.Now()
	if word := strings.TrimSpace(text); strings.HasPrefix(word, ":") {
		return r.command(ctx, word)
	}
	for _, l := range limn.Parse("", text, opts).Lines {
		res := r.machine.Exec(l)
		if err := r.take(ctx, &res); err != nil {
			return false, err
		}
	}
	return false, nil
}

// command executes a line that begins with a colon.
func (r *limnRun) command(ctx context.Context, word string) (done bool, err error) {
	w := r.j.Stdout
	switch word {
	case ":quit", ":q":
		return true, nil
	case ":help", ":h":
		_, err = io.WriteString(w, replHelp)
	case ":names":
		err = r.j.Result("", nil, func(p *out.Page) {
			t := &out.Table{Head: []string{"name", "kind", "value"}}
			for _, n := range r.machine.Names() {
				t.Add(n.Name, n.Type, n.Text)
			}
			p.Table(t)
		})
	case ":listen":
		if !r.machine.Listens() {
			_, err = fmt.Fprintln(w, `Nothing listens: there is no "when", or a statement before was refused`)
			return false, err
		}
		err = r.listen(ctx, true)
	default:
		_, err = fmt.Fprintf(w, "Error: there is no %s\nHint: :help\n", out.Visible(word))
	}
	return false, err
}

// An input is read line by line. A caller can stop waiting for a line, but the read itself goes
// on.
type input struct{ r *bufio.Reader }

func newInput(r io.Reader) *input { return &input{bufio.NewReader(r)} }

// line returns the next line without its end. It returns the last line together with [io.EOF].
func (in *input) line(ctx context.Context) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := in.r.ReadString('\n')
		done <- read{strings.TrimRight(text, "\r\n"), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-done:
		return got.text, got.err
	}
}
