package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func newImport(j *job.Job) *cobra.Command {
	in := &importer{j: j, read: make(map[string]time.Time)}
	cmd := &cobra.Command{
		Use:   "import [PATH...] [--all] [--from FORMAT] [--since D] [--rewind] [--watch]",
		Short: "Take conversations in",
		Long: `Import stores conversations: from files, from every *.json, *.jsonl and *.jsonl.zst
file of a folder, from standard input (-), or with --all from the folders in which the agents on
this machine keep theirs: ` + titles() + `. If a conversation is stored
already, import adds only new messages; text that is gone from the file can still be recalled. It
changes no file.

Work of a sub-agent, and a fork, becomes a session of its own if the agent keeps it in a file of
its own. If a file exists both compressed and uncompressed, import reads the uncompressed one.

A file that has only a part of the stored conversation, and nothing new, is an older or a
shortened copy. If you named the file, it is refused with exit code 9; in a folder it is skipped
with a note. --rewind accepts it: the missing part leaves the conversation.

If a file cannot be read, import reports it, imports the others, and ends with exit code 3. In a
folder, files in unknown formats are skipped.

--watch keeps importing files that change until it is interrupted.`,
		Example: `  carrel import --all
  carrel import session.jsonl other/
  carrel import --from openai - < request.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return in.do(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.BoolVar(&in.all, "all", false, "import all conversations of the agents on this machine")
	f.StringVar(&in.format, "from", "auto", "`format` of the files; auto finds it out")
	f.StringVar(&in.after, "since", "", "only files changed since `D`: a date, or such as 36h, 7d or 2w ago")
	f.BoolVar(&in.rewind, "rewind", false, "accept a shorter copy of a stored conversation")
	f.BoolVar(&in.anew, "anew", false, "import a purged conversation as a new one")
	f.BoolVar(&in.watches, "watch", false, "keep importing files that change")
	job.OfferFormats(cmd, "from")
	job.Writes(cmd, &in.dry)
	return cmd
}

// do imports the files that the arguments name, and keeps watching them if asked to.
func (in *importer) do(ctx context.Context, args []string) error {
	if in.format == "auto" {
		in.format = ""
	}
	if in.format != "" {
		if _, err := carrel.FormatNamed(in.format); err != nil {
			return out.Usagef("%w", err)
		}
	}
	switch {
	case len(args) == 0 && !in.all:
		return out.Usagef("import: name files or folders, or give --all")
	case in.watches && slices.Contains(args, "-"):
		return out.Usagef("--watch: standard input cannot be watched")
	case in.watches && in.dry:
		return out.Usagef("--watch and --dry-run: use only one")
	}
	var err error
	if in.since, err = parseSince(in.after, in.j.Clock()()); err != nil {
		return err
	}
	return in.j.With(ctx, !in.dry, func(a *job.Access) (err error) {
		in.Access = a
		files, err := in.files(args)
		if err != nil {
			return err
		}
		var w *fsnotify.Watcher
		if in.watches { // before the files are read, so that no change is missed
			if w, err = in.watcher(args); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.Close()) }()
		}
		rep := in.run(ctx, files)
		stopped := ctx.Err()
		if stopped != nil {
			done := len(rep.Files) + rep.Skipped
			if done == 0 {
				return stopped
			}
			in.j.Note("stopped after %d of %s", done, out.Count(len(files), "file"))
		}
		if err := in.j.Result("import", rep, rep.print); err != nil {
			return err
		}
		if stopped != nil {
			return stopped
		}
		if in.watches {
			return in.follow(ctx, w)
		}
		return rep.err()
	})
}

// files returns the files that the arguments name and, with --all, the sessions of all agents.
func (in *importer) files(args []string) ([]job.File, error) {
	files, err := in.j.Files(args)
	if err != nil || !in.all {
		return files, err
	}
	if in.stores, err = stores(in.j); err != nil {
		return nil, err
	}
	for _, s := range in.stores {
		found, err := s.agent.Sessions(s.folder)
		if err != nil {
			return nil, fmt.Errorf("find the sessions of %s: %w", s.agent.Title, err)
		}
		for _, f := range found {
			files = append(files, job.File{Source: f})
		}
	}
	return files, nil
}

// A folderOf is a folder in which an agent stores sessions.
type folderOf struct {
	folder string
	agent  *agents.Agent
}

// stores returns the folders in which agents store sessions, as far as the folders exist. It fails
// if none exists.
func stores(j *job.Job) (there []folderOf, err error) {
	var looked []string
	for _, a := range agents.All() {
		folders, err := a.Folders(j.Getenv)
		if err != nil {
			return nil, fmt.Errorf("find the sessions of %s: %w", a.Title, err)
		}
		for _, f := range folders {
			looked = append(looked, f)
			if _, err := os.Stat(f); err == nil {
				there = append(there, folderOf{f, a})
			}
		}
	}
	if there == nil {
		return nil, &out.Error{
			Text: "import: no agent keeps sessions here: none of these folders exists: " + strings.Join(looked, ", "),
			Kind: out.KindInput, Hint: "name the files or folders to import",
		}
	}
	return there, nil
}

// titles returns the names of all agents as a phrase.
func titles() string {
	var names []string
	for _, a := range agents.All() {
		names = append(names, a.Title)
	}
	return out.WordList(names)
}

// parseSince parses a date, or an age such as 36h.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	if n, err := strconv.Atoi(s[:len(s)-1]); err == nil && n >= 0 {
		switch s[len(s)-1] {
		case 'd':
			return now.AddDate(0, 0, -n), nil
		case 'w':
			return now.AddDate(0, 0, -7*n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, out.Usagef("--since: %q is not a time: give a span such as 36h, 7d or 2w, or a date such as 2026-01-31", s)
}

// An importer imports files.
type importer struct {
	*job.Access

	j       *job.Job
	all     bool // the conversations of all agents
	stores  []folderOf
	read    map[string]time.Time // for sources without a file of their own: time of the newest state that was imported
	watches bool                 // goes on after the first import
	trees   map[string]bool      // the watched folders in which every session matters
	targets map[string][]string  // for a watched file, or the database of a session: what the user typed
	after   string               // the value of --since
	format  string
	since   time.Time
	rewind  bool
	dry     bool
	anew    bool
}

// An importReport is the result of an import.
type importReport struct {
	Formats []importTotal  `json:"formats"`
	Files   []importedFile `json:"files"`
	Failed  int            `json:"failed"`
	Skipped int            `json:"skipped"` // in no known format, not changed since, or a shorter copy
	DryRun  bool           `json:"dry_run"`

	first error // error of the first file that failed
}

// An importTotal sums the files of one format.
type importTotal struct {
	Format    string      `json:"format"`
	Files     int         `json:"files"`
	Sessions  int         `json:"sessions"`
	Messages  int         `json:"messages"`
	Tokens    token.Count `json:"tokens"`
	Forks     int         `json:"forks"`
	Sidechain int         `json:"sidechains"`
	Compacted int         `json:"compacted"` // messages outside of the window's tree, which a compaction cut off
	Earlier   int         `json:"earlier"`   // blocks before a compaction by the client
	Changed   int         `json:"changed"`   // files with new content
	Warnings  int         `json:"warnings"`
}

// An importedFile is the result for one file.
type importedFile struct {
	File  string       `json:"file"`
	Error *api.Problem `json:"error,omitempty"`
	*carrel.ImportResult
}

// run imports files one after another.
func (in *importer) run(ctx context.Context, files []job.File) *importReport {
	rep := &importReport{Formats: []importTotal{}, Files: []importedFile{}, DryRun: in.dry}
	for i, f := range files {
		if ctx.Err() != nil {
			break
		}
		if len(files) > 1 {
			in.j.Reporter.Outer("import", i, len(files))
		}
		res, err := in.file(ctx, f)
		switch {
		case err == nil && res == nil, err != nil && !f.Named && errors.Is(err, carrel.ErrFormat):
			rep.Skipped++
			if in.j.Verbose > 0 {
				in.j.Note("skipped: %s", f.Name)
			}
			continue
		case !f.Named && errors.Is(err, carrel.ErrShorter):
			rep.Skipped++
			in.j.Note("skipped: %s: %v", f.Name, err)
			continue
		case err != nil && ctx.Err() == nil:
			rep.Failed++
			rep.first = cmp.Or(rep.first, err)
			rep.Files = append(rep.Files, importedFile{File: f.Name, Error: job.NewProblem(err)})
		case err == nil:
			rep.Files = append(rep.Files, importedFile{File: f.Name, ImportResult: res})
		}
	}
	rep.sum()
	for i := range rep.Files {
		f := &rep.Files[i]
		if f.Error != nil && (len(rep.Files) > 1 || in.watches || ctx.Err() != nil) {
			in.j.PrintProblem(f.Error)
		}
		if f.ImportResult != nil {
			for _, w := range f.Warnings {
				in.j.Note("warning: %s: line %d: %s", f.File, w.Line, w.Text)
			}
		}
	}
	return rep
}

// file imports one file. It returns nil if the file did not change since in.since.
func (in *importer) file(ctx context.Context, f job.File) (*carrel.ImportResult, error) {
	if !in.since.IsZero() && f.Name != "-" {
		changed := f.Changed
		if f.Read == nil {
			fi, err := os.Stat(in.j.Path(f.Name))
			if err != nil {
				return nil, err
			}
			changed = fi.ModTime()
		}
		if changed.Before(in.since) {
			return nil, nil //nolint:nilnil // documented
		}
	}
	data, err := in.j.ReadFile(f)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(f.Name, ".zst")
	if name == "-" {
		name = "stdin"
	}
	res, err := in.Import(ctx, in.Scope, &carrel.ImportRequest{Name: name, Format: in.format, Data: data, DryRun: in.dry, Rewind: in.rewind, Anew: in.anew})
	switch {
	case err == nil && f.Read != nil:
		in.read[f.Name] = f.Changed
	case errors.Is(err, carrel.ErrGone):
		err = out.Hinted(err, "--anew imports it as a new session")
	}
	return res, err
}

// sum adds up the files by format and sorts the totals by the names of the formats.
func (r *importReport) sum() {
	at := make(map[string]*importTotal)
	sessions := make(map[string]bool)
	for i := range r.Files {
		f := r.Files[i].ImportResult
		if f == nil {
			continue
		}
		t := at[f.Format]
		if t == nil {
			t = &importTotal{Format: f.Format}
			at[f.Format] = t
		}
		t.Files++
		if id := string(f.Session); !sessions[id] {
			sessions[id] = true
			t.Sessions++
		}
		t.Messages += f.Messages
		t.Tokens += f.Tokens
		t.Warnings += len(f.Warnings)
		t.Earlier += f.Earlier
		if f.Changed {
			t.Changed++
		}
		for _, b := range f.Branches {
			switch b.Kind {
			case transcript.BranchFork:
				t.Forks++
			case transcript.BranchSidechain:
				t.Sidechain++
			case transcript.BranchCompacted:
				t.Compacted++
			}
		}
	}
	for _, t := range at {
		r.Formats = append(r.Formats, *t)
	}
	slices.SortFunc(r.Formats, func(a, b importTotal) int { return cmp.Compare(a.Format, b.Format) })
}

func (r *importReport) print(p *out.Page) {
	t := &out.Table{Head: []string{"format", "files", "sessions", "messages", "tokens", "forks", "changed", "warnings"}}
	for _, f := range r.Formats {
		t.Add(f.Format, f.Files, f.Sessions, f.Messages, f.Tokens, f.Forks, f.Changed, f.Warnings)
	}
	if len(r.Formats) > 0 {
		p.Table(t)
	}
	if p.TTY {
		if r.Skipped+r.Failed > 0 || len(r.Formats) == 0 {
			p.Line("%s skipped, %s failed", out.Thousands(r.Skipped), out.Thousands(r.Failed))
		}
		if r.DryRun {
			p.Line("dry run: nothing was written")
		}
		return
	}
	p.Fields([]any{"skipped", r.Skipped}, []any{"failed", r.Failed})
}

// err returns an error if a file failed. If that file is the only one in the report, its error is
// not printed yet.
func (r *importReport) err() error {
	switch {
	case r.Failed == 0:
		return nil
	case len(r.Files) == 1:
		return r.first
	}
	return out.Hinted(out.SomeFailed(r.Failed, len(r.Files), r.first), "the others are imported, and nothing of a file that failed; mend the files or the names, and import those again")
}
