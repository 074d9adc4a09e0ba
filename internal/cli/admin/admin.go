// Package admin has the commands that set up and maintain Carrel, and those that measure and
// check.
//
// A command reads its arguments, calls one method of the engine with one request, and prints the
// result; it decides nothing.
package admin

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Commands returns the commands about the program, its settings, its store and its clients, and
// those that check and measure.
func Commands(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newDemo(j), newSetup(j), newDoctor(j), newStore(j), newConfig(j), newValidate(j), newRepair(j), newBench(j), NewVersion(j)}
}

// Descriptions returns the commands that print schemas and count tokens.
func Descriptions(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newSchema(j), newTokens(j)}
}
