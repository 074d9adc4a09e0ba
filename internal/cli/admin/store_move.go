package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/move"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/sqlite"
)

func newStoreMigrate(j *job.Job) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema of the store up to date",
		Long: `Migrate brings the tables of the store to the schema of this version of Carrel. Every
command that opens the store does so, too, but for "store backup", "store move" and "doctor": use
this one when nothing else is to be done, for instance as the owner of a database whose nodes have
another role. A migration is made whole or not at all.
Afterwards an older Carrel refuses the store: make a backup before.

With --dry-run it says whether the schema is up to date, and changes nothing.`,
		Example: `  carrel store backup carrel-backup.db && carrel store migrate`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, err := j.Settings()
			if err != nil {
				return err
			}
			place, err := settings.Store()
			if err != nil {
				return err
			}
			if !config.Exists(place) {
				return noStore(place)
			}
			value := struct {
				Path     string `json:"path"`
				Schema   int    `json:"schema"`
				UpToDate bool   `json:"up_to_date"` // whether it was before
			}{Path: place}
			s, err := settings.OpenReading(cmd.Context(), place)
			value.UpToDate = err == nil
			if outdated := errors.Is(err, store.ErrUnreadable) || errors.Is(err, store.ErrNotFound); outdated && !dry {
				s, err = settings.Open(cmd.Context(), place, true)
			} else if outdated {
				return j.Result("migrate", value, func(p *out.Page) { p.Line("%v", out.Visible(err.Error())) })
			}
			if err != nil {
				return fmt.Errorf("open store: %w", err)
			}
			info, err := s.Info(cmd.Context())
			if err := errors.Join(err, s.Close()); err != nil {
				return err
			}
			value.Schema = info.Schema
			return j.Result("migrate", value, func(p *out.Page) {
				if value.UpToDate {
					p.Line("schema %d is up to date", info.Schema)
				} else {
					p.Line("brought to schema %d", info.Schema)
				}
			})
		},
	}
	job.Writes(cmd, &dry)
	return cmd
}

func newStoreMove(j *job.Job) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "move FROM TO",
		Short: "Copy a store to another place, and verify the copy",
		Long: `Move copies everything in the store FROM to the store TO. Each is a path, or the
address of a database such as postgres://carrel@db.example.org/carrel. FROM is opened for reading
only and stays as it is. TO is made if it does not exist. It must be empty, or a copy of FROM that
was cut off or is older: then the move goes on from there. Any other store is refused, and
nothing is written.

The copy has all sessions with their journals, blocks, pins, contracts and rewrites, what remains
of purged text, artifacts with their versions, contexts, calls, credentials, and purges that were
cut off: the process that opens the copy finishes them. In the end move reads
all of it, checks every text against its commitment, and compares a digest of everything in TO with
that of FROM.

Stop whatever writes to FROM first. Changes during the move are noticed: then run the command again.
Use the copy only after move has verified it. Then set "store" to TO. The file with the key of
the credentials is not part of a store: copy it, and name it in "credential.key_file".`,
		Example: `  carrel store move carrel.db postgres://carrel@db.example.org/carrel
  carrel store move postgres://carrel@db.example.org/carrel carrel.db -n`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := config.Place(args[0], j.Path)
			if err != nil {
				return err
			}
			to, err := config.Place(args[1], j.Path)
			if err != nil {
				return err
			}
			if from == to || sameFile(from, to) {
				return out.Usagef("move %s: FROM and TO are the same store", args[0])
			}
			if _, err := os.Stat(from); err != nil && !config.IsAddress(from) {
				if errors.Is(err, fs.ErrNotExist) {
					return &out.Error{Text: "move: the source " + args[0] + " does not exist", Err: err}
				}
				return err
			}
			return moveStore(cmd.Context(), j, from, to, dry)
		},
	}
	job.Writes(cmd, &dry)
	return cmd
}

// moveStore copies the store at a place to another place.
func moveStore(ctx context.Context, j *job.Job, from, to string, dry bool) (err error) {
	settings, err := j.Settings()
	if err != nil {
		return err
	}
	source, err := settings.OpenReading(ctx, from)
	if err != nil {
		return notStore(fmt.Errorf("move: open the source: %w", err))
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := openTarget(ctx, settings, to, dry)
	if err != nil {
		return notStore(fmt.Errorf("move: open the target: %w", err))
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	j.Reporter = j.NewProgress()
	defer j.Reporter.End()
	res, err := move.Run(ctx, source, target, &move.Options{IndexText: stacks.IndexText, Progress: j.Reporter.Step, DryRun: dry})
	if err != nil {
		return explainMove(fmt.Errorf("move to %s: %w", to, err), from)
	}
	value := struct {
		From string `json:"from"`
		To   string `json:"to"`
		*move.Result
	}{from, to, res}
	err = j.Result("move", value, func(p *out.Page) {
		amount := func(name string, has, present int) []any {
			return []any{name, p.Number(int64(has)), fmt.Sprintf("%s before", out.Thousands(present))}
		}
		has, there := &res.Has, &res.Present
		p.Fields([]any{"from", from}, []any{"to", to}, []any{"scopes", p.Number(int64(res.Scopes))},
			amount("changes of sessions", has.Revisions, there.Revisions), amount("changes of artifacts", has.Versions, there.Versions),
			amount("texts", has.Cells, there.Cells), amount("calls", has.Calls, there.Calls), amount("credentials", has.Credentials, there.Credentials),
			[]any{"digest", res.Digest.String()})
		if res.Verified {
			p.Line("verified: both stores have this digest")
		}
	})
	if res.LeftBehind > 0 {
		j.Note("a file has no place for requests with an idempotency key: %s stayed behind", out.Count(res.LeftBehind, "request"))
	}
	if res.Verified && res.Has.Credentials > 0 {
		j.Note("the key of the credentials is in no store: copy its file, and name it in credential.key_file")
	}
	return err
}

// notStore adds a hint to the error that a file which the command line names is not a store.
func notStore(err error) error {
	if _, ok := errors.AsType[*sqlite.NotStoreError](err); ok {
		return out.Hinted(err, "nothing was changed; name another file")
	}
	return err
}

// openTarget opens or makes the target of a move. For a dry run it makes nothing: if the target
// does not exist, it returns an empty store in memory.
func openTarget(ctx context.Context, settings *config.Settings, place string, dry bool) (store.Database, error) {
	if !dry {
		return settings.Open(ctx, place, true)
	}
	if !config.Exists(place) {
		return memory.New(), nil
	}
	s, err := settings.OpenReading(ctx, place)
	if errors.Is(err, store.ErrNotFound) {
		return memory.New(), nil
	}
	return s, err
}

// explainMove adds the kind and the next step to an error of a move.
func explainMove(err error, from string) error {
	if _, ok := errors.AsType[*move.OtherError](err); ok {
		return &out.Error{Err: err, Kind: out.KindRefused, Hint: "name a file that does not exist, or an empty database"}
	}
	if differs, ok := errors.AsType[*move.DifferError](err); ok {
		hint := "do not use the copy: remove it, run the command again, and report this if it happens twice"
		if differs.Changed {
			hint = "stop whatever writes to the source, then run the command again: it goes on"
		}
		return &out.Error{Err: err, Kind: out.KindIntegrity, Hint: hint}
	}
	if errors.Is(err, store.ErrCorrupt) {
		return out.Hinted(err, fmt.Sprintf("carrel store check -s %s, and the same with the copy, list the damage", from))
	}
	return out.Hinted(err, "run the command again: it goes on")
}
