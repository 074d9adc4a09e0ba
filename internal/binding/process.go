package binding

import (
	"slices"
	"strings"
)

// A Process is a process from its start to its end. Its id may later be that of
// another one.
type Process struct {
	PID     int    `json:"pid"`
	Started string `json:"started"` // in the unit of the system, to be compared only
}

// An Entry is what a table of processes has of one.
type Entry struct {
	Parent  int
	Started string
	Name    string // of the program, without its folder
}

// A Table returns the entry of a process that runs. [System] is that of the system.
type Table func(pid int) (Entry, bool)

// mostShells is how many shells may stand between a client and what it starts.
const mostShells = 8

// Client returns the process that started another one: its nearest ancestor that is
// no shell. It reports false if there is none, or if that cannot be known.
func Client(t Table, pid int) (Process, bool) {
	e, ok := t(pid)
	for range mostShells {
		// What has lost its parent belongs to process 1, which is nobody's client.
		if !ok || e.Parent <= 1 {
			return Process{}, false
		}
		pid = e.Parent
		if e, ok = t(pid); ok && !shell(e.Name) {
			return Process{pid, e.Started}, e.Started != ""
		}
	}
	return Process{}, false
}

// shell reports whether a program is a shell, which a client starts its hooks by. The
// name of one that was logged in by begins with a dash.
func shell(name string) bool {
	return slices.Contains([]string{"sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "zsh"}, strings.TrimPrefix(name, "-"))
}

// runs reports whether a process has not ended.
func (t Table) runs(p Process) bool {
	e, ok := t(p.PID)
	return ok && e.Started == p.Started
}
