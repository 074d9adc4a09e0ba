package admin

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// NewVersion returns the command that prints the version.
func NewVersion(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:         "version",
		Short:       "Print the version",
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			b := job.ReadBuild()
			return j.Result("version", b, func(p *out.Page) {
				p.Line("carrel %s", b.Version)
				if b.Revision != "" {
					p.Line("revision %s", b.Revision)
				}
				p.Line("%s %s", b.Go, b.Platform)
			})
		},
	}
}
