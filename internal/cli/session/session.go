// Package session has the commands about conversations: importing, inspecting, compressing them
// and handing them over.
//
// A command reads its arguments, calls one method of the engine with one request, and prints the
// result; it decides nothing.
package session

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Commands returns the commands about conversations.
func Commands(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newImport(j), newSessions(j), newMessages(j), newContext(j), newCompress(j), newDiscard(j), newPage(j), newExport(j), newRecall(j), newSearch(j), newWhy(j), newBrief(j), newUndo(j), newPin(j), newUnpin(j), newSummary(j), newProbe(j), newState(j), newCost(j), newCalls(j), newReport(j), newHandoff(j), newAccept(j)}
}
