package binding

import (
	"slices"
	"strings"
)

// A Process identifies a process. Its id may be reused after its end, so the start time is part
// of it.
type Process struct {
	PID     int    `json:"pid"`
	Started string `json:"started"` // start time in a unit of the system, only for comparison
}

// An Entry describes a process in a table of processes.
type Entry struct {
	Parent  int
	Started string
	Name    string // name of the program, without its folder
}

// A Table returns the entry of a running process. [System] is the table of the system.
type Table func(pid int) (Entry, bool)

// mostShells is how many ancestors of a program are looked at. So at most one shell less may be
// between a client and a program that it starts.
const mostShells = 8

// Client returns the client that started a process: its nearest ancestor that is no shell. It
// returns false if there is none or it cannot be found out.
func Client(t Table, pid int) (Process, bool) {
	e, ok := t(pid)
	for range mostShells {
		// A process that lost its parent has the parent 1, which is no client.
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

// shell reports whether a program is a shell, through which clients start hooks. The name of a
// login shell begins with a dash.
func shell(name string) bool {
	return slices.Contains([]string{"sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "zsh"}, strings.TrimPrefix(name, "-"))
}

// runs reports whether a process is still running.
func (t Table) runs(p Process) bool {
	e, ok := t(p.PID)
	return ok && e.Started == p.Started
}
