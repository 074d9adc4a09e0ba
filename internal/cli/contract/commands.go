// Package contract has the commands about the contracts of conversations, and those of the
// original context pager, which continue a contract in a file.
//
// A command reads its arguments, calls one method of the engine with one request, and prints the
// result; it decides nothing.
package contract

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Commands returns the commands about contracts.
func Commands(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newContract(j), newPager(j)}
}

// Calculators returns the command that prints the pager's recency, a factor of the score, for ages
// in turns.
func Calculators(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newRecency(j)}
}
