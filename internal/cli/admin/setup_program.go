package admin

import (
	"os"
	"os/exec"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// homeOf returns the user's home folder. If it is unknown, the error tells the user to set HOME or
// another variable, whose name is the second argument.
func homeOf(j *job.Job, instead string) (string, error) {
	home, err := agents.Home(j.Getenv)
	if err != nil {
		return "", out.Usagef("setup: neither %s nor HOME is set", instead)
	}
	return home, nil
}

// programName returns the name or path by which a client calls this program. It returns the name
// for the settings of a project, because other people use them too, if the name on the PATH is this
// program, and if the path is not known. Otherwise it returns the path.
func programName(scope string) string {
	self, err := os.Executable()
	if err != nil || scope == "project" {
		return "carrel"
	}
	if found, err := exec.LookPath("carrel"); err == nil && sameFile(found, self) {
		return "carrel"
	}
	return self
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
