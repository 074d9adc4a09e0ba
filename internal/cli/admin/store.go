package admin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

func newStore(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store info|check|backup|restore|migrate|move",
		Short: "Look after the store",
		Long: `The store is one file that holds every conversation, what became of each block, and
the journal. A project has its own if there is a folder named .carrel in it or above it; else it
is the user's. See "carrel help env". With an address, such as
postgres://carrel@db.example.org/carrel, it is in a database of PostgreSQL, which several nodes
may have open; backups are then made with what the server has for them. "carrel store move" takes a
store from a file to a database, and back.`,
		Example: `  carrel store backup carrel-backup.db`,
		RunE:    job.Group("store", "info, check, backup, restore, migrate, move"),
	}
	cmd.AddCommand(newStoreInfo(j), newStoreCheck(j), newStoreBackup(j), newStoreRestore(j), newStoreMigrate(j), newStoreMove(j))
	return cmd
}

// noStore returns the error that there is no store at a path.
func noStore(path string) error {
	missing := &out.Error{Text: "store: the file " + path + " does not exist", Err: store.ErrNotFound}
	return api.About(api.SubjectStore, out.Hinted(missing, "carrel import --all and carrel import FILE make a store; --store names another"))
}

// withExisting opens the store, and fails if it does not exist.
func withExisting(j *job.Job, cmd *cobra.Command, do func(a *job.Access, path string) error) error {
	path, err := j.StorePath()
	if err != nil {
		return err
	}
	if !config.Exists(path) {
		return noStore(path)
	}
	return j.With(cmd.Context(), true, func(a *job.Access) error { return do(a, path) })
}

func newStoreInfo(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:     "info",
		Short:   "Show where the store is and how much it holds",
		Example: `  carrel store info`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withExisting(j, cmd, func(a *job.Access, _ string) error {
				info, err := a.Store.Info(cmd.Context())
				if err != nil {
					return err
				}
				return j.Result("store", info, func(p *out.Page) {
					p.Fields([]any{"path", info.Path}, []any{"driver", info.Driver + " " + info.Version},
						[]any{"schema", fmt.Sprint(info.Schema)}, []any{"sessions", p.Number(info.Sessions)},
						[]any{"blocks", p.Number(info.Blocks)}, []any{"cells", p.Number(info.Cells)}, []any{"bytes", p.Number(info.Bytes)})
				})
			})
		},
	}
}

func newStoreCheck(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Verify every byte of the store",
		Long: `Check verifies the file's structure, the commitment of every text, and that every
row and every list is as it was written. It reads every session and compares each block with the
bytes of the conversation and with what the journal says became of it, runs through every
contract, and verifies every manifest and every artifact. If it finds a fault, it lists it and the
exit code is 6. A store of an earlier version of Carrel is brought to the present schema first, as
by every command that opens it but "store backup", "store move" and "doctor".

No command returns damaged data: "recall" and all other commands fail with the exit code 6
instead. "carrel store restore" replaces the store with a backup.`,
		Example: `  carrel store check`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withExisting(j, cmd, func(a *job.Access, path string) error {
				problems, err := a.Check(cmd.Context())
				if err != nil {
					return err
				}
				value := struct {
					Path     string   `json:"path"`
					OK       bool     `json:"ok"`
					Problems []string `json:"problems"`
				}{path, len(problems) == 0, append([]string{}, problems...)}
				if len(problems) == 0 || j.JSON == "" {
					if err := j.Result("check", value, func(p *out.Page) {
						for _, line := range problems {
							p.Line("%s", out.Visible(line))
						}
						if len(problems) == 0 {
							p.Line("ok")
						}
					}); err != nil {
						return err
					}
				}
				if len(problems) > 0 {
					return &out.Error{
						Text: fmt.Sprintf("store %s does not verify: %s", path, out.Count(len(problems), "problem")),
						Kind: out.KindIntegrity, Problems: problems,
					}
				}
				return nil
			})
		},
	}
}

func newStoreBackup(j *job.Job) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store to a new file",
		Long: `Backup writes a consistent copy of the store to a new file, while others go on using it. It
does not change the store: a store of an earlier version of Carrel, and its copy, stay as that
version made them.`,
		Example: `  carrel store backup carrel-backup.db`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			place, err := j.StorePath()
			if err != nil {
				return err
			}
			if err := config.InFile(place); err != nil {
				return err
			}
			if !config.Exists(place) {
				return noStore(place)
			}
			path := j.Path(args[0])
			if _, err := os.Stat(path); err == nil {
				return out.Hinted(fmt.Errorf("backup to %s: %w", args[0], fs.ErrExist), "name another file: a backup never replaces a file")
			}
			if err := j.Foreign(args[0]); err != nil || dry {
				return err
			}
			if err := sqlite.Backup(cmd.Context(), place, path); err != nil {
				return fmt.Errorf("backup to %s: %w", args[0], err)
			}
			j.Note("wrote %s", args[0])
			return nil
		},
	}
	job.Writes(cmd, &dry)
	return cmd
}

func newStoreRestore(j *job.Job) *cobra.Command {
	var force, dry bool
	cmd := &cobra.Command{
		Use:   "restore FILE [--force]",
		Short: "Put a backup in the place of the store",
		Long: `Restore checks a backup and replaces the store by it, in one step. It reports the
conversations that the backup brings back and those of the present store that are lost; --dry-run
reports and changes nothing. If a store exists, it needs --force or a confirmation. No other
process may have the store open.`,
		Example: `  carrel store restore carrel-backup.db -n
  carrel store restore carrel-backup.db --force`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := j.StorePath()
			if err != nil {
				return err
			}
			if err := config.InFile(path); err != nil {
				return err
			}
			if _, err := os.Stat(j.Path(args[0])); err != nil {
				return err
			}
			c, err := config.Compare(cmd.Context(), j.Path(args[0]), path)
			if bad, ok := errors.AsType[*sqlite.NotStoreError](err); ok && bad.Path != path {
				return out.Hinted(fmt.Errorf("restore: the backup %w", err), "nothing was changed; name another backup")
			}
			if err != nil {
				return fmt.Errorf("restore %s: %w", args[0], err)
			}
			printCompared(j, c)
			yes, err := cmd.Flags().GetBool("yes")
			if err != nil {
				return err
			}
			force = force || yes
			if _, err := os.Stat(path); err == nil && !force {
				if !j.StdinTerminal || !j.StderrTerminal || !j.Ask("replace the store at "+path) {
					return out.Hinted(&out.Error{Text: fmt.Sprintf("restore: the store %s exists", path), Err: fs.ErrExist},
						"replace it with --force, or name another place with --store")
				}
				force = true
			}
			if dry {
				return nil
			}
			if err := sqlite.Restore(cmd.Context(), j.Path(args[0]), path, force); err != nil {
				return fmt.Errorf("restore %s: %w", args[0], err)
			}
			j.Note("restored %s", path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace the store that is there")
	job.Writes(cmd, &dry)
	return cmd
}

// printCompared prints what a restore would bring back and what it would lose.
func printCompared(j *job.Job, c *sqlite.Comparison) {
	j.Note("the backup has %s", held(&c.Backup))
	if c.Present == nil {
		return
	}
	j.Note("the present store has %s", held(c.Present))
	var lost []string
	if c.LostSessions > 0 {
		lost = append(lost, out.Count(c.LostSessions, "session"))
	}
	if c.OlderSessions > 0 {
		lost = append(lost, "the latest changes of "+out.Count(c.OlderSessions, "session"))
	}
	if c.LostVersions > 0 {
		lost = append(lost, out.Count(c.LostVersions, "update")+" of artifacts")
	}
	if c.LostCalls > 0 {
		lost = append(lost, out.Count(c.LostCalls, "call")+" to models")
	}
	if len(lost) > 0 {
		j.Note("of the present store the backup does not have %s", strings.Join(lost, ", "))
	}
}

// held describes the content of a store in words, such as "3 sessions and 2 artifacts".
func held(h *sqlite.Inventory) string {
	text := out.Count(h.Sessions, "session") + " and " + out.Count(h.Artifacts, "artifact")
	if !h.Newest.IsZero() {
		text += ", the newest change of " + h.Newest.Format("2006-01-02 15:04:05 MST")
	}
	return text
}
