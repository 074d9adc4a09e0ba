package admin

import (
	"os"
	"os/exec"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// homeOf returns the home of the user. Instead of it, there is a variable that names where
// a client keeps its settings.
func homeOf(j *job.Job, instead string) (string, error) {
	home, err := agents.Home(j.Getenv)
	if err != nil {
		return "", out.Usagef("setup: neither %s nor HOME is set", instead)
	}
	return home, nil
}

// programName returns how the client calls this program: by its name if that is on the
// PATH, and in a project, whose files others read; otherwise by its path.
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
