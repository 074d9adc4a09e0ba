package admin

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/doc/topic"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
)

func newConfig(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config show|path",
		Short:   "Show the settings and their files",
		Long:    topic.Text("config"),
		Example: `  carrel config show --origin`,
		RunE:    job.Group("config", "show, path"),
	}
	cmd.AddCommand(newConfigShow(j), newConfigPath(j))
	return cmd
}

func newConfigShow(j *job.Job) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [--origin]",
		Short: "List the settings that are in force",
		Long: `Show prints every setting with the value in force. With --origin it also prints
where the value comes from: a flag, an environment variable, a line of a file, the project's
folder, or the built-in default.`,
		Example: `  carrel config show --origin`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := j.Settings()
			if err != nil {
				return err
			}
			value := struct {
				Profile  string         `json:"profile"`
				Settings []config.Value `json:"settings"`
			}{s.Profile, s.Values}
			return j.List("config", value, "settings", func(p *out.Page) {
				t := &out.Table{Head: []string{"key", "value"}, Whole: true}
				if origin {
					t.Head = append(t.Head, "from")
				}
				for i := range s.Values {
					row := []any{s.Values[i].Key, s.Values[i].String()}
					if origin {
						row = append(row, fmt.Sprint(s.Values[i].Origin))
					}
					t.Add(row...)
				}
				p.Table(t)
			})
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "print where each value comes from")
	return cmd
}

func newConfigPath(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "List the files that may hold settings",
		Long: `Path lists the files that may hold settings, and whether each exists. The file that
wins comes first. It reads none of them.`,
		Example:     `  carrel config path`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			src, err := j.Sources()
			if err != nil {
				return err
			}
			value := struct {
				Files []config.File `json:"files"`
			}{append([]config.File{}, config.Files(src)...)}
			return j.List("config-path", value, "files", func(p *out.Page) {
				t := &out.Table{Head: []string{"whose", "file", "there"}, Whole: true}
				for _, f := range value.Files {
					there := "no"
					if f.Found {
						there = "yes"
					}
					t.Add(f.Kind, f.Path, there)
				}
				p.Table(t)
			})
		},
	}
}
