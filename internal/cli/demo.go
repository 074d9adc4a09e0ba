package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/demo"
)

func newDemo(env *Env, g *globals) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo [--keep DIR]",
		Short: "See the whole of it work on built-in data",
		Long: `Demo takes a conversation in, compresses it, exports it, recalls what left,
searches, explains and undoes, and checks everything on the way. It needs no
network, no model and no configuration, and touches nothing of yours: its store
is in a folder for temporary files, or in --keep.`,
		Args:        cobra.NoArgs,
		Annotations: withoutFiles(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			at := g.path(dir)
			if dir == "" {
				tmp, err := os.MkdirTemp("", "carrel-demo-")
				if err != nil {
					return err
				}
				at = tmp
			}
			return demo.Run(cmd.Context(), env.Stdout, at)
		},
	}
	cmd.Flags().StringVar(&dir, "keep", "", "make the store in `folder`")
	return cmd
}
