package admin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

func newSetup(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup CLIENT",
		Short: "Let an agent use Carrel",
		Long:  "Setup writes into the settings of an agent that it is to use Carrel.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return out.Usagef("setup: %q is no client that is known: there are claude, codex and opencode", args[0])
			}
			return out.Usagef("setup: name a client: claude, codex or opencode")
		},
	}
	cmd.AddCommand(newSetupClaude(j), newSetupCodex(j), newSetupOpenCode(j))
	return cmd
}

func newSetupClaude(j *job.Job) *cobra.Command {
	s := &setup{client: "claude"}
	cmd := &cobra.Command{
		Use:   "claude [--undo] [--print] [--scope user|project] [--mode hooks|mcp|all|proxy]",
		Short: "Let Claude Code use Carrel",
		Long: `Setup writes the hooks and the MCP server of Carrel into the settings of Claude Code:
for you, or with --scope project for everybody who works in this folder. Carrel needs
Claude Code ` + LowestClaude + ` or newer: if the claude on the PATH is older, setup refuses
with exit code 9 and changes nothing.

With --mode proxy it writes instead where Claude Code sends its calls: to the address
that "carrel proxy" listens at, which must run from then on whenever Claude Code does.
"carrel doctor" says if it does not; "carrel run -- claude" needs no setup at all.

` + setupLaw,
		Example: `  carrel setup claude --print
  carrel setup claude --scope project --mode mcp --yes
  carrel setup claude --mode proxy
  carrel setup claude --undo`,
		Annotations: job.WithoutFiles(),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(out.OneOf("--scope", s.scope, "user", "project"), out.OneOf("--mode", s.mode, "all", "hooks", "mcp", "proxy")); err != nil {
				return err
			}
			if !s.undo {
				if err := newEnough(cmd.Context(), j); err != nil {
					return err
				}
			}
			files, err := claudeFiles(j, s)
			if err != nil {
				return err
			}
			return changeSettings(j, s, files)
		},
	}
	s.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&s.scope, "scope", "user", "whose settings: a `word`, user or project")
	f.StringVar(&s.mode, "mode", "all", "what is written: a `word`, hooks, mcp, all for these two, or proxy")
	job.Offer(cmd, "scope", "user", "project")
	job.Offer(cmd, "mode", "hooks", "mcp", "all", "proxy")
	return cmd
}

// setupLaw is what holds for the setup of every client.
const setupLaw = `Setup prints what it would change and asks; without a terminal it wants --yes, or the
exit code is 10. Nothing else in the files is touched, comments included. A file that
is changed for the first time is copied to one of the same name with .carrel-backup
behind it. With --undo the files are as they were, byte for byte; what was changed in
them since stays. Doing either twice changes nothing.`

// flags gives a command the flags that the setup of every client has.
func (s *setup) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.undo, "undo", false, "take Carrel out again")
	f.BoolVar(&s.print, "print", false, "print what would change, and change nothing")
	f.BoolVarP(&s.yes, "yes", "y", false, "answer yes to every question")
}

// A setup is what is to be done to the settings of a client.
type setup struct {
	client, scope, mode string
	undo, print, yes    bool
}

// A fileChange is what becomes of a file. There was none if before is nil, and there will
// be none if after is.
type fileChange struct {
	path          string
	before, after []byte
	backup        string // that is written, if it is not empty
	restores      bool   // the backup comes back, and goes
}

// A setupResult says what was, or would be, done.
type setupResult struct {
	Client  string      `json:"client"`
	Scope   string      `json:"scope"`
	Undo    bool        `json:"undo"`
	Changed bool        `json:"changed"` // not if it was only printed
	Files   []setupDone `json:"files"`
}

type setupDone struct {
	Path   string `json:"path"`
	Action string `json:"action"` // none, create, change or remove
	Backup string `json:"backup,omitempty"`
}

// changeSettings plans what is to be done, shows it, asks, and does it.
func changeSettings(j *job.Job, s *setup, files []setupFile) error {
	res := &setupResult{Client: s.client, Scope: s.scope, Undo: s.undo, Files: []setupDone{}}
	var changes []fileChange
	for i := range files {
		c, err := plan(&files[i], s.undo)
		if err != nil {
			return err
		}
		res.Files = append(res.Files, setupDone{c.path, c.action(), c.backup})
		if c.action() != "none" {
			changes = append(changes, *c)
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
		j.Note("carrel: to change %s, say --yes", out.Count(len(changes), "file"))
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
	}
	if j.JSON != "" {
		return j.Result("setup", res, nil)
	}
	return nil
}

// action says in a word what becomes of the file.
func (c *fileChange) action() string {
	switch {
	case c.before == nil && c.after == nil || c.before != nil && c.after != nil && bytes.Equal(c.before, c.after):
		return "none"
	case c.before == nil:
		return "create"
	case c.after == nil:
		return "remove"
	}
	return "change"
}

// A setupFile is a file of a client, and what goes in and out.
type setupFile struct {
	path  string
	parts []setupPart
	all   []setupPart // that Carrel may have in the file
}

// newSetupFile returns a file of a client of which all parts go in or out.
func newSetupFile(path string, parts ...setupPart) *setupFile { return &setupFile{path, parts, parts} }

// A setupPart is one thing that goes into a file. Both functions get the name of the file,
// which goes into errors.
type setupPart struct {
	with    func(name string, data []byte) ([]byte, error) // puts it in; changes nothing if it is there
	without func(name string, data []byte) ([]byte, error) // takes it out
}

// jsonPart returns a part of a file with JSON.
func jsonPart(add, drop func(*settingsText) error) setupPart {
	edit := func(do func(*settingsText) error) func(string, []byte) ([]byte, error) {
		return func(name string, data []byte) ([]byte, error) {
			if len(bytes.TrimSpace(data)) == 0 {
				data = []byte("{}\n")
			}
			t := &settingsText{name: name, data: data}
			err := do(t)
			return t.data, err
		}
	}
	return setupPart{edit(add), edit(drop)}
}

// backupSuffix is what the name of a backup ends with.
const backupSuffix = ".carrel-backup"

// plan returns what is to become of a file.
func plan(f *setupFile, undo bool) (*fileChange, error) {
	before, err := readIfThere(f.path)
	if err != nil {
		return nil, err
	}
	if undo {
		return planUndo(f, before)
	}
	c := &fileChange{path: f.path, before: before}
	if c.after, err = f.with(before); err != nil {
		return nil, err
	}
	if before == nil || bytes.Equal(before, c.after) {
		return c, nil
	}
	without, err := (&setupFile{path: f.path, parts: f.all}).without(before)
	if err == nil && bytes.Equal(without, before) { // otherwise there is an older one, or there was no file
		c.backup = f.path + backupSuffix
	}
	return c, err
}

func planUndo(f *setupFile, now []byte) (*fileChange, error) {
	c := &fileChange{path: f.path, before: now, after: now}
	if now == nil {
		return c, nil
	}
	backup, err := readIfThere(f.path + backupSuffix)
	if err != nil {
		return nil, err
	}
	if f.made(backup, now) {
		c.after = backup // nil if there was none
		if backup != nil {
			c.backup, c.restores = f.path+backupSuffix, true
		}
		return c, nil
	}
	c.after, err = f.without(now) // it was changed since
	return c, err
}

// made reports whether a file is what setup made of another, by any of its parts in any
// order.
func (f *setupFile) made(before, now []byte) bool {
	var step func(data []byte, left []setupPart) bool
	step = func(data []byte, left []setupPart) bool {
		for i := range left {
			rest := slices.Concat(left[:i], left[i+1:])
			next, err := left[i].with(f.path, data)
			if err == nil && (bytes.Equal(next, now) || step(next, rest)) {
				return true
			}
		}
		return false
	}
	return step(before, f.parts)
}

// with returns the content of a file with Carrel in it.
func (f *setupFile) with(data []byte) (_ []byte, err error) {
	for i := range f.parts {
		if data, err = f.parts[i].with(f.path, data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// without returns the content of a file without Carrel.
func (f *setupFile) without(data []byte) (_ []byte, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return data, nil
	}
	for i := range f.parts {
		if data, err = f.parts[i].without(f.path, data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// readIfThere returns the content of a file, not nil, or nil if there is none.
func readIfThere(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && data == nil:
		return []byte{}, nil
	}
	return data, err
}

// applyChange makes a change, unless the file is not as it was when that was planned.
func applyChange(j *job.Job, c *fileChange) error {
	now, err := readIfThere(c.path)
	if err != nil {
		return err
	}
	if (now == nil) != (c.before == nil) || !bytes.Equal(now, c.before) {
		return fmt.Errorf("%s was changed at this moment: try again", c.path)
	}
	if c.after == nil {
		return os.Remove(c.path)
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	if c.backup != "" && !c.restores {
		if err := j.Place(c.backup, c.before, true); err != nil {
			return err
		}
	}
	if err := j.Place(c.path, c.after, true); err != nil {
		return err
	}
	if c.restores {
		return os.Remove(c.backup)
	}
	return nil
}
