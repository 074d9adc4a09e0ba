package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/carrel-dev/carrel/internal/binding"
)

// An Env is all of the world that a command sees, apart from files.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer // results
	Stderr io.Writer // everything else

	// Getenv returns the value of a variable, or "".
	Getenv func(name string) string

	// PID is the id of this process, and Processes are those that run; nil if they
	// cannot be looked at.
	PID       int
	Processes binding.Table

	// Dir is the working directory. The default is that of the process.
	Dir string

	// Now is the clock.
	Now func() time.Time

	// StdinTerminal, StdoutTerminal and StderrTerminal say what a person sees.
	StdinTerminal, StdoutTerminal, StderrTerminal bool

	// Width returns the width of the terminal in columns, or 0 if unknown. It
	// may be nil.
	Width func() int
}

// OS returns the environment of the process.
func OS() *Env {
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	return &Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv:         os.Getenv,
		PID:            os.Getpid(),
		Processes:      binding.System,
		Now:            time.Now, //nolint:forbidigo // this is where the clock comes in
		StdinTerminal:  terminal(os.Stdin),
		StdoutTerminal: terminal(os.Stdout),
		StderrTerminal: terminal(os.Stderr),
		Width: func() int {
			w, _, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0
			}
			return w
		},
	}
}
