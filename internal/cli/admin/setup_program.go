package admin

import (
	"os"
	"os/exec"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// homeOf returns the user's home folder. instead is the variable that names the client's folder,
// for the error.
func homeOf(j *job.Job, instead string) (string, error) {
	home, err := agents.Home(j.Getenv)
	if err != nil {
		return "", out.Usagef("setup: neither %s nor HOME is set", instead)
	}
	return home, nil
}

// programName returns how a client calls this program: by name in a project, whose files others
// share, or if the name is on the PATH; otherwise by path.
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
