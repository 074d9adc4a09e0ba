package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

func newStore(env *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store info|check|backup|restore",
		Short: "Look after the store",
		Long: `The store is one file that holds every conversation, what became of each block,
and the journal. A project has its own if there is a folder named .carrel in it
or above it; else it is the user's. See "carrel help env".`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"carrel store\"", args[0])
			}
			return usagef("store: name one of info, check, backup, restore")
		},
	}
	cmd.AddCommand(newStoreInfo(g), newStoreCheck(g), newStoreBackup(g), newStoreRestore(env, g))
	return cmd
}

// existing opens a store that must be there.
func (g *globals) existing(cmd *cobra.Command, do func(a *access, path string) error) error {
	path, err := g.storePath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return api.About(api.SubjectStore, fmt.Errorf("store %s: %w: no session is stored", path, store.ErrNotFound))
	}
	return g.with(cmd.Context(), true, func(a *access) error { return do(a, path) })
}

func newStoreInfo(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Say where the store is and what it holds",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.existing(cmd, func(a *access, _ string) error {
				info, err := a.store.Info(cmd.Context())
				if err != nil {
					return err
				}
				return g.result(document{name: "store", value: info}, func(p *page) {
					p.fields([]any{"path", info.Path}, []any{"driver", info.Driver + " " + info.Version},
						[]any{"schema", fmt.Sprint(info.Schema)}, []any{"sessions", p.number(info.Sessions)},
						[]any{"blocks", p.number(info.Blocks)}, []any{"cells", p.number(info.Cells)}, []any{"bytes", p.number(info.Bytes)})
				})
			})
		},
	}
}

func newStoreCheck(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Verify every byte of the store",
		Long: `Check verifies the file's structure, the commitment of every text, and that every
row and every list is as it was written. It reads every session and compares each
block with the bytes of the conversation and with what the journal says became of
it, runs through every contract, and verifies every manifest and every artifact.
It lists what is wrong; then the exit code is 6.

Nothing that is not as it was written is ever returned: "recall" and all other
commands fail with the exit code 6 instead. "carrel store restore" brings a backup
back.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.existing(cmd, func(a *access, path string) error {
				problems, err := a.Check(cmd.Context())
				if err != nil {
					return err
				}
				value := struct {
					Path     string   `json:"path"`
					OK       bool     `json:"ok"`
					Problems []string `json:"problems"`
				}{path, len(problems) == 0, append([]string{}, problems...)}
				if len(problems) == 0 || g.json == "" {
					if err := g.result(document{name: "check", value: value}, func(p *page) {
						for _, line := range problems {
							p.line("%s", visible(line))
						}
						if len(problems) == 0 {
							p.line("ok")
						}
					}); err != nil {
						return err
					}
				}
				if len(problems) > 0 {
					return &brokenError{path, problems}
				}
				return nil
			})
		},
	}
}

func newStoreBackup(g *globals) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store to a new file",
		Long:  "Backup writes a consistent copy of the store to a new file, while others go on using it.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.existing(cmd, func(a *access, _ string) error {
				path := g.path(args[0])
				if _, err := os.Stat(path); err == nil {
					return &hintedError{fmt.Errorf("backup to %s: %w", args[0], fs.ErrExist), "name another file: a backup replaces none"}
				}
				if err := g.foreign(args[0]); err != nil {
					return err
				}
				if !dry {
					if err := a.store.Backup(cmd.Context(), path); err != nil {
						return fmt.Errorf("backup to %s: %w", args[0], err)
					}
					g.note("wrote %s", args[0])
				}
				return nil
			})
		},
	}
	writes(cmd, &dry)
	return cmd
}

func newStoreRestore(env *Env, g *globals) *cobra.Command {
	var force, dry bool
	cmd := &cobra.Command{
		Use:   "restore FILE [--force]",
		Short: "Put a backup in the place of the store",
		Long: `Restore checks a backup and puts it in the place of the store, in one step. It
says what the backup brings back and what of the present store is lost with it;
with --dry-run it says so and changes nothing. If there is a store already it wants
--force, or a yes. Nobody may have it open.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := g.storePath()
			if err != nil {
				return err
			}
			if _, err := os.Stat(g.path(args[0])); err != nil {
				return err
			}
			c, err := config.Compare(cmd.Context(), g.path(args[0]), path)
			if err != nil {
				return fmt.Errorf("restore %s: %w", args[0], err)
			}
			g.compared(c)
			yes, err := cmd.Flags().GetBool("yes")
			if err != nil {
				return err
			}
			force = force || yes
			if _, err := os.Stat(path); err == nil && !force {
				if !env.StdinTerminal || !env.StderrTerminal || !g.ask("replace the store at "+path) {
					return fmt.Errorf("restore to %s: %w", path, fs.ErrExist)
				}
				force = true
			}
			if dry {
				return nil
			}
			if err := config.Restore(cmd.Context(), g.path(args[0]), path, force); err != nil {
				return fmt.Errorf("restore %s: %w", args[0], err)
			}
			g.note("restored %s", path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace the store that is there")
	writes(cmd, &dry)
	return cmd
}

// compared says what a backup brings back and what is lost with it.
func (g *globals) compared(c *sqlite.Comparison) {
	g.note("the backup has %s", held(&c.Backup))
	if c.Present == nil {
		return
	}
	g.note("the present store has %s", held(c.Present))
	var lost []string
	if c.LostSessions > 0 {
		lost = append(lost, count(c.LostSessions, "session"))
	}
	if c.OlderSessions > 0 {
		lost = append(lost, "the latest changes of "+count(c.OlderSessions, "session"))
	}
	if c.LostVersions > 0 {
		lost = append(lost, count(c.LostVersions, "update")+" of artifacts")
	}
	if len(lost) > 0 {
		g.note("of the present store the backup does not have %s", strings.Join(lost, ", "))
	}
}

// held says what a store holds.
func held(h *sqlite.Holding) string {
	text := count(h.Sessions, "session") + " and " + count(h.Artifacts, "artifact")
	if !h.Newest.IsZero() {
		text += ", the newest change of " + h.Newest.Format("2006-01-02 15:04:05 MST")
	}
	return text
}

// ask asks the person at the terminal.
func (g *globals) ask(question string) bool {
	fmt.Fprintf(g.env.Stderr, "%s? [y/N] ", visible(question))
	line, err := bufio.NewReader(g.env.Stdin).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}
