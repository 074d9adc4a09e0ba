// Package limn has the commands about the contract language and about the intents of prompts.
//
// A command reads its arguments, calls one method of the engine with one request, and prints the
// result; it decides nothing.
package limn

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Commands returns the commands about programs and prompts.
func Commands(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newLimn(j), newIntent(j)}
}
