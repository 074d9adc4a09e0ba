// Package artifact has the commands about artifacts, and about the contexts assembled from them.
//
// A command reads its arguments, calls one method of the engine with one request, and prints the
// result; it decides nothing.
package artifact

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Commands returns the commands about artifacts and contexts.
func Commands(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newPut(j), newGet(j), newList(j), newRemove(j), newPurge(j), newRefute(j), newStash(j), newAssemble(j), newTriage(j), newManifest(j), newCommit(j), newReview(j), newLog(j)}
}

// Calculators returns the commands that compute with the rules of tiers and of the resident set,
// and read no store.
func Calculators(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newTier(j), newLRUSim(j)}
}
