package job

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/carrel-dev/carrel/internal/binding"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// An Env is everything outside of the process that a command uses, except files.
type Env struct {
	out.Terminal

	Stdin         io.Reader
	StdinTerminal bool // standard input is a terminal

	// PID is the id of this process. Processes is the table of running processes, or nil if it
	// cannot be read.
	PID       int
	Processes binding.Table

	// Dir is the working directory. The default is that of the process.
	Dir string
}

// OS returns the environment of the process.
func OS() *Env {
	terminal := func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
	return &Env{
		Terminal: out.Terminal{
			Stdout: os.Stdout, Stderr: os.Stderr,
			StdoutTerminal: terminal(os.Stdout),
			StderrTerminal: terminal(os.Stderr),
			Getenv:         os.Getenv,
			Now:            time.Now, //nolint:forbidigo // this is where the clock comes in
			Width: func() int {
				w, _, err := term.GetSize(int(os.Stdout.Fd()))
				if err != nil {
					return 0
				}
				return w
			},
		},
		Stdin:         os.Stdin,
		StdinTerminal: terminal(os.Stdin),
		PID:           os.Getpid(),
		Processes:     binding.System,
	}
}
