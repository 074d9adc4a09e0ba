package artifact

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/manifest"
)

// errGate means that the gate did not commit a memory, and that the command has printed why.
var errGate = &out.Error{Text: "not let through by the gate", Kind: out.KindRefused, Said: true}

// completeManifest returns a function that offers the ids of manifests for an argument.
func completeManifest(j *job.Job) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := j.Complete(cmd, func(a *job.Access) (found []cobra.Completion, err error) {
			list, err := carrel.Items(a.Manifests(cmd.Context(), a.Scope, &carrel.ManifestsRequest{Session: "", Cursor: carrel.Cursor{Limit: 50}}))
			for i := range list {
				m := &list[i]
				desc := fmt.Sprintf("%s, %s / %s tok, %s", m.Tier, out.Thousands(m.Total), out.Thousands(m.Budget), m.Created.Format("2006-01-02 15:04"))
				found = append(found, cobra.CompletionWithDesc(m.ID, desc))
			}
			return found, err
		})
		return append([]cobra.Completion{cobra.CompletionWithDesc("@last", "the context assembled last")}, found...), directive
	}
}

// completeReference returns a function that offers manifests for the first argument. For the second
// argument it offers the artifacts and blocks that the manifest mentions.
func completeReference(j *job.Job) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return job.AtMost(1, completeManifest(j))(cmd, args, word)
		}
		return j.Complete(cmd, func(a *job.Access) (found []cobra.Completion, err error) {
			sealed, err := carrel.SealedOf(a.Manifest(cmd.Context(), a.Scope, &carrel.IDRequest{ID: args[0]}))
			if err != nil {
				return nil, err
			}
			for _, it := range sealed.Manifest().Items {
				switch it := it.(type) {
				case *manifest.Segment:
					if it.Ref != "" {
						found = append(found, cobra.CompletionWithDesc(it.Ref, "in: "+string(it.Reason)))
					}
				case *manifest.Omission:
					found = append(found, cobra.CompletionWithDesc(it.Ref, "out: "+string(it.Reason)))
				}
			}
			return found, nil
		})
	}
}
