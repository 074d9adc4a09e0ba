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
		Use:   "config show|path",
		Short: "Show the settings and their files",
		Long:  topic.Text("config"),
		RunE:  job.Group("config", "show, path"),
	}
	cmd.AddCommand(newConfigShow(j), newConfigPath(j))
	return cmd
}

func newConfigShow(j *job.Job) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show [--origin]",
		Short: "List the settings that are in force",
		Long: `Show lists every setting with the value that is in force, and with --origin where
that comes from: a flag, a variable, a line of a file, the folder of a project,
or what is built in.`,
		Args: cobra.NoArgs,
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
	cmd.Flags().BoolVar(&origin, "origin", false, "say where each value comes from")
	return cmd
}

func newConfigPath(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "path",
		Short: "List the files in which settings are looked for",
		Long: `Path lists the files in which settings are looked for, the one that wins first,
and whether there is one. It reads none of them.`,
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
