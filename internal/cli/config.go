package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/config"
)

const topicConfig = `Settings come from flags, the environment and files. The first that says
something of a key wins:

  1  the flag: --store, --window, --target, --keep-last, ...
  2  the environment: CARREL_STORE, ..., see "carrel help env"
  3  the file that --config or CARREL_CONFIG names
  4  the project's: config.toml in the nearest folder named .carrel, here or
     above
  5  the user's: $XDG_CONFIG_HOME/carrel/config.toml, which is in ~/.config
     otherwise, and in %APPDATA% on Windows
  6  what is built in

The files are TOML. All keys, with examples:

  store = "team.db"    # beside the file; ~/ is the user's folder. Without it
                       # a project has .carrel/carrel.db
  scope = "acme/web"   # tenant/project/agent

  [budget]
  window = 200_000     # tokens; the model's context window if not set
  target = 0.50        # of what was imported, also "50%"; a whole number is
                       # tokens; half of the window if not set

  [keep]
  last = 5             # newest blocks that never leave; 0 for none

  [retention]          # built-in values; each from 0 to 1
  alpha = 0.7          # weight of relevance
  beta = 0.3           # weight of recency
  retain = 0.55        # score from which a block is retained
  evict = 0.20         # score below which it is evicted

  [output]
  color = "auto"       # or always, never
  progress = "auto"    # or plain, json, none

  [profile.tight]      # laid over the rest of this file by --profile tight
  budget.target = "30%"
  keep.last = 2

Profile "default" is built in and changes nothing. Any other key is an error.
"carrel config show --origin" says what is in force and why.

No file is read by carrel bench, demo, man, pager and version, which do the same
everywhere.`

func newConfig(_ *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config show|path",
		Short: "Say what is set, and where",
		Long:  topicConfig,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for \"carrel config\"", args[0])
			}
			return usagef("config: name one of show, path")
		},
	}
	cmd.AddCommand(newConfigShow(g), newConfigPath(g))
	return cmd
}

func newConfigShow(g *globals) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [--origin]",
		Short: "List the settings that are in force",
		Long: `Show lists every setting with the value that is in force, and with --origin where
that comes from: a flag, a variable, a line of a file, the folder of a project,
or what is built in.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := g.loaded()
			if err != nil {
				return err
			}
			value := struct {
				Profile  string         `json:"profile"`
				Settings []config.Value `json:"settings"`
			}{s.Profile, s.Values}
			return g.result(document{"config", value, "settings"}, func(p *page) {
				t := &table{head: []string{"key", "value"}, whole: true}
				if origin {
					t.head = append(t.head, "from")
				}
				for i := range s.Values {
					row := []any{s.Values[i].Key, s.Values[i].String()}
					if origin {
						row = append(row, fmt.Sprint(s.Values[i].Origin))
					}
					t.add(row...)
				}
				p.table(t)
			})
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "say where each value comes from")
	return cmd
}

func newConfigPath(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "List the files in which settings are looked for",
		Long: `Path lists the files in which settings are looked for, the one that wins first,
and whether there is one. It reads none of them.`,
		Args:        cobra.NoArgs,
		Annotations: withoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			src, err := g.sources()
			if err != nil {
				return err
			}
			value := struct {
				Files []config.File `json:"files"`
			}{append([]config.File{}, config.Files(src)...)}
			return g.result(document{"config-path", value, "files"}, func(p *page) {
				t := &table{head: []string{"whose", "file", "there"}, whole: true}
				for _, f := range value.Files {
					there := "no"
					if f.Found {
						there = "yes"
					}
					t.add(f.Kind, f.Path, there)
				}
				p.table(t)
			})
		},
	}
}

// completeProfile offers the names of profiles.
func (g *globals) completeProfile(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	src, err := g.sources()
	if err == nil {
		delete(src.Flags, "--profile") // that is what is being written
		if s, err := config.Load(src); err == nil {
			names = s.Profiles
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
