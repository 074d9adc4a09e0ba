package admin

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// A client is an agent that setup configures to use Carrel.
type client struct {
	name, title string // such as claude and Claude Code
	does        string // what setup writes, for the help text
	examples    []string

	scopes []string // scopes of its settings: user, project, or both
	modes  []string // supported modes; the first is the default

	// cannot has the reason for each mode that is not supported.
	cannot map[string]string

	// pieces returns everything that setup may write, for all modes.
	pieces func(w *writing) ([]piece, error)

	// ready returns an error if the client cannot use Carrel as it is.
	ready func(ctx context.Context, j *job.Job) error

	// doctor describes how the doctor checks the client. It is nil for a client that has a function
	// of its own for the check.
	doctor *agentDoctor

	// after returns what the user has to do after the settings are written, or "".
	after func(mode string) string
}

// The modes of setup: what is written.
const (
	modeAll   = "all"   // hooks, server and skill
	modeHooks = "hooks" // programs that the client calls at events
	modeMCP   = "mcp"   // the server with tools, and the skill that explains when to use them
	modeProxy = "proxy" // the address to which the client sends its calls
)

// clients returns the clients that setup supports, sorted by name.
func clients() []*client {
	return []*client{claudeClient(), codexClient(), geminiClient(), openCodeClient()}
}

// clientNames returns the names of the clients.
func clientNames() []string {
	var names []string
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

// A writing has the parameters of a client's pieces.
type writing struct {
	j       *job.Job
	scope   string
	program string // path or name by which the client calls this program
	proxy   string // base URL of the proxy, without a path
}

// A piece is a part of a file that setup writes for a client in one mode.
type piece struct {
	mode  string
	path  string
	part  setupPart
	alone bool // the folder of the file contains only this file
}

// written returns the pieces of a client in a scope.
func (c *client) written(j *job.Job, scope string) ([]piece, error) {
	url, err := proxyURL(j)
	if err != nil {
		return nil, err
	}
	return c.pieces(&writing{j: j, scope: scope, program: programName(scope), proxy: url})
}

// files returns the files that a setup changes. Mode all writes every piece except the proxy; an
// undo of mode all removes the proxy, too.
func (c *client) files(j *job.Job, s *setup) ([]setupFile, error) {
	pieces, err := c.written(j, s.scope)
	if err != nil {
		return nil, err
	}
	var files []setupFile
	for _, p := range pieces {
		i := slices.IndexFunc(files, func(f setupFile) bool { return f.path == p.path })
		if i < 0 {
			i = len(files)
			files = append(files, setupFile{path: p.path, alone: p.alone})
		}
		f := &files[i]
		f.all = append(f.all, p.part)
		if p.mode == s.mode || s.mode == modeAll && (p.mode != modeProxy || s.undo) {
			f.parts = append(f.parts, p.part)
		}
	}
	return slices.DeleteFunc(files, func(f setupFile) bool { return f.parts == nil }), nil
}

func newSetup(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup CLIENT",
		Short: "Let an agent use Carrel",
		Long: `Setup changes the settings of an agent so that the agent uses Carrel: hooks, which
the agent runs by itself, and an MCP server, whose tools the model calls; or, with --mode proxy,
the address to which the agent sends its calls. It shows each change before it makes it, and
--undo takes the changes back.`,
		Example: `  carrel setup claude`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return out.Usagef("setup: %q is not a supported client: the clients are %s", args[0], out.WordList(clientNames()))
			}
			return out.Usagef("setup: name one of %s", strings.Join(clientNames(), ", "))
		},
	}
	for _, c := range clients() {
		cmd.AddCommand(newSetupOf(j, c))
	}
	return cmd
}

func newSetupOf(j *job.Job, c *client) *cobra.Command {
	s := &setup{client: c.name}
	use := c.name + " [--mode " + strings.Join(c.modes, "|") + "] [--undo] [--print]"
	if len(c.scopes) > 1 {
		use += " [--scope " + strings.Join(c.scopes, "|") + "]"
	}
	cmd := &cobra.Command{
		Use:         use,
		Short:       "Let " + c.title + " use Carrel",
		Long:        c.does + "\n\n" + setupLaw,
		Example:     "  carrel setup " + strings.Join(c.examples, "\n  carrel setup "),
		Annotations: job.WithoutFiles(),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if why := c.cannot[s.mode]; why != "" {
				return out.Usagef("setup %s --mode %s: %s", c.name, s.mode, why)
			}
			if err := errors.Join(out.OneOf("--scope", s.scope, c.scopes...), out.OneOf("--mode", s.mode, c.modes...)); err != nil {
				return err
			}
			if c.ready != nil && !s.undo {
				if err := c.ready(cmd.Context(), j); err != nil {
					return err
				}
			}
			files, err := c.files(j, s)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				return out.Usagef("--mode %s and --scope %s: %s reads no settings for this mode from a %s: leave out --scope %[2]s", s.mode, s.scope, c.title, s.scope)
			}
			return changeSettings(j, c, s, files)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&s.undo, "undo", false, "take Carrel out again")
	f.BoolVar(&s.print, "print", false, "print what would change, and change nothing")
	f.BoolVarP(&s.yes, "yes", "y", false, "answer yes to every question")
	f.StringVar(&s.scope, "scope", "user", "whose settings: a `word`, "+strings.Join(c.scopes, " or "))
	f.StringVar(&s.mode, "mode", c.modes[0], "`kind` of settings to write: "+strings.Join(c.modes, ", "))
	job.Offer(cmd, "scope", c.scopes...)
	job.Offer(cmd, "mode", c.modes...)
	return cmd
}

// setupLaw is the part of the help that is the same for the setup of every client.
const setupLaw = `Setup prints the changes and asks before it makes them. Without a terminal it
needs --yes, or the exit code is 10. The rest of each file stays as it is, with its comments.
Before the first change of a file, setup copies it to a file of the same name with .carrel-backup
at the end.

--undo takes the changes of setup out of the files, byte for byte. If others have changed a file
since then, their changes stay, and so do the backup and some of the white space of setup. A
second setup, or a second --undo, changes nothing.

The file of the skill is Carrel's as a whole, and so is that of a plug-in: setup replaces it and
--undo removes it, with lines that you have added, and without a backup. The printed changes show
these lines.`

// A setup has the arguments of the command setup.
type setup struct {
	client, scope, mode string
	undo, print, yes    bool
}

// A setupResult is the result of setup.
type setupResult struct {
	Client  string      `json:"client"`
	Scope   string      `json:"scope"`
	Undo    bool        `json:"undo"`
	Changed bool        `json:"changed"` // false if the changes were only printed
	Files   []setupDone `json:"files"`
}

type setupDone struct {
	Path   string `json:"path"`
	Action string `json:"action"` // none, create, change or remove
	Backup string `json:"backup,omitempty"`
}

// changeSettings plans the changes, prints them, asks for consent, and makes them.
func changeSettings(j *job.Job, c *client, s *setup, files []setupFile) error {
	res := &setupResult{Client: s.client, Scope: s.scope, Undo: s.undo, Files: []setupDone{}}
	var changes []fileChange
	for i := range files {
		change, err := plan(&files[i], s.undo)
		if err != nil {
			return err
		}
		res.Files = append(res.Files, setupDone{change.path, change.action(), change.backup})
		if change.action() != "none" {
			changes = append(changes, *change)
		}
	}
	if j.JSON == "" {
		for i := range changes {
			if _, err := j.Stdout.Write([]byte(changes[i].diff())); err != nil {
				return err
			}
		}
	}
	switch {
	case len(changes) == 0:
		j.Note("nothing to change")
	case s.print:
	case !s.yes && (!j.StdinTerminal || !j.StderrTerminal):
		j.Note("carrel: setup: nothing is changed yet: give --yes to change %s", out.Count(len(changes), "file"))
		return out.ErrConsent
	case !s.yes && !j.Ask("change "+out.Count(len(changes), "file")):
		return out.ErrConsent
	default:
		for i := range changes {
			if err := applyChange(j, &changes[i]); err != nil {
				return err
			}
		}
		res.Changed = true
		j.Note("done: it counts from the next session on")
		if c.after != nil && !s.undo && c.after(s.mode) != "" {
			j.Note("%s", c.after(s.mode))
		}
	}
	if j.JSON != "" {
		return j.Result("setup", res, nil)
	}
	return nil
}
