// Package server has the commands that serve requests of services, agents and hooks.
//
// A command reads its arguments, calls one method of the engine with one request, and prints the
// result; it decides nothing.
package server

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Commands returns the commands of this package.
func Commands(j *job.Job) []*cobra.Command {
	return []*cobra.Command{newServe(j), newUI(j), newProxy(j), newRun(j), newMCP(j), NewHook(j), newCredential(j), newPS(j), newStop(j)}
}
