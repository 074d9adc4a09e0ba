package admin

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/demo"
)

func newDemo(j *job.Job) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo [--keep DIR]",
		Short: "See Carrel work on built-in data",
		Long: `Demo shows Carrel at work on a built-in conversation: it imports, compresses,
exports, recalls, searches, explains and undoes, and checks each step. It needs no network, no
model and no settings, and touches none of your data: its store is in a temporary folder, or in
--keep.`,
		Example:     `  carrel demo --keep demo-store`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := demoDir(j, dir)
			if err != nil {
				return err
			}
			return demo.Run(cmd.Context(), j.Stdout, at, calledAs())
		},
	}
	cmd.PersistentFlags().StringVar(&dir, "keep", "", "make the store in `folder`, which is new or empty")
	cmd.AddCommand(&cobra.Command{
		Use:   "assemble [--keep DIR]",
		Short: "See a context assembled from 847 artifacts",
		Long: `Assemble runs the worked example of the OS-paged context engine: a support desk
whose store has 847 artifacts, 312 of them expired, and one question about a refund. The policy
has changed since it was stored, and a note nobody checked has the old limit. It checks that the
context has the right one, that it fits, and that the manifest explains every artifact.`,
		Example:               `  carrel demo assemble`,
		Args:                  cobra.NoArgs,
		Annotations:           job.WithoutFiles(),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := demoDir(j, dir)
			if err != nil {
				return err
			}
			return demo.Assemble(cmd.Context(), j.Stdout, at, calledAs())
		},
	})
	return cmd
}

// demoDir returns the folder dir, which must be empty or new, or a temporary folder if dir is "".
func demoDir(j *job.Job, dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "carrel-demo-")
	}
	if entries, err := os.ReadDir(j.Path(dir)); err == nil && len(entries) > 0 {
		return "", out.Hinted(fmt.Errorf("--keep %s: there are files in it: %w", dir, fs.ErrExist), "name a folder that is new or empty")
	}
	return j.Path(dir), nil
}

// calledAs returns how to call this program: its name, or "go run" with its package if go runs it
// from source.
func calledAs() string {
	self, err := os.Executable()
	if err == nil && strings.Contains(filepath.ToSlash(self), "/go-build") && filepath.Base(filepath.Dir(self)) == "exe" {
		return "go run ./cmd/carrel"
	}
	return "carrel"
}
