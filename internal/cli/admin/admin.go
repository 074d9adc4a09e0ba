// Package admin has the commands that look after Carrel itself, its settings, its store and
// what uses it, and those that measure and check.
//
// A command reads its arguments, calls one method of the engine with one request, and
// prints the result; it decides nothing.
package admin

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Demo returns the command that shows what Carrel does.
func Demo(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newDemo(j)}
}

// Checks returns the commands that check and measure.
func Checks(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newValidate(j), newSchema(j), newTokens(j), newBench(j)}
}

// Setup returns the commands that let an agent use Carrel.
func Setup(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newSetup(j), newDoctor(j)}
}

// Commands returns the commands about the store, the settings and the program.
func Commands(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newStore(j), newConfig(j), NewVersion(j)}
}
