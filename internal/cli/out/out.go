// Package out prints the output of commands: text for a person or a pipe, JSON, progress, and
// errors of the command line. It knows nothing about the commands.
//
// Only results go to standard output. A terminal gets aligned columns; a pipe gets fields
// separated by tabs, without headings and colors. With --json the output is one document whose
// "schema" names its form; new versions add keys to a schema and remove none. In text of
// conversations, control sequences and invisible characters are escaped. If the result is bytes,
// a pipe or file gets them unchanged, and so does a terminal with --raw.
//
// Only [Progress] is safe for concurrent use.
package out

import (
	"fmt"
	"io"
	"math"
	"time"
)

// A Terminal is the environment that a command writes to.
type Terminal struct {
	Stdout io.Writer // results
	Stderr io.Writer // everything else

	// StdoutTerminal and StderrTerminal report whether the streams are terminals.
	StdoutTerminal, StderrTerminal bool

	// Width returns the width of the terminal in columns, or 0 if unknown. It
	// may be nil.
	Width func() int

	// Getenv returns the value of a variable, or "".
	Getenv func(name string) string

	// Now is the clock.
	Now func() time.Time
}

// An Out writes results to standard output and everything else to standard error. Its fields are
// the values of output flags.
type Out struct {
	JSON         string // "" for text, [AllFields], or names of fields
	NDJSON       bool
	JQ, Template string
	Quiet        bool
	Raw          bool   // write content to a terminal without escapes
	Color        string // auto, always or never
	Progress     string // auto, plain, json or none

	// Wrote means that the command has changed something before it prints its result. If the
	// result has no such field as --json names, or --jq or --template fails, it is printed whole.
	Wrote bool

	terminal *Terminal
	progress *Progress // the last one, or nil
}

// AllFields is the value of --json without fields.
const AllFields = "all"

// New returns an Out for a terminal. From then on all writers to the terminal escape control
// sequences, unless Raw is set.
func New(t *Terminal) *Out {
	o := &Out{terminal: t}
	if t.StdoutTerminal {
		t.Stdout = &screen{t.Stdout, &o.Raw, o.endProgress}
	}
	if t.StderrTerminal {
		t.Stderr = &screen{t.Stderr, &o.Raw, o.endProgress}
	}
	return o
}

// Note writes a line to standard error, unless quiet.
func (o *Out) Note(format string, args ...any) {
	if !o.Quiet {
		fmt.Fprintln(o.terminal.Stderr, Visible(fmt.Sprintf(format, args...)))
	}
}

// Report returns a page for standard error. It is aligned even in a pipe, but has no color.
func (o *Out) Report() *Page {
	p := o.newPage()
	p.TTY, p.color = true, false
	if !o.terminal.StderrTerminal {
		p.Width = math.MaxInt32
	}
	return p
}

// NotePage writes a page to standard error, unless quiet.
func (o *Out) NotePage(p *Page) {
	if !o.Quiet {
		o.Warn(p)
	}
}

// Warn writes a page to standard error.
func (o *Out) Warn(p *Page) {
	o.endProgress()
	_, _ = Unguarded(o.terminal.Stderr).Write(p.buf.Bytes()) // if standard error fails, nothing can report that
}

// NoteFunc writes a page for people to standard error, unless quiet. It is for reports while
// standard output has other content.
func (o *Out) NoteFunc(text func(p *Page)) {
	p := NewPage(true, 100)
	text(p)
	o.NotePage(p)
}

// colored reports whether standard output gets colors.
func (o *Out) colored() bool {
	switch {
	case o.Color == "always":
		return true
	case o.Color == "never", o.terminal.Getenv("NO_COLOR") != "":
		return false
	case IsTrue(o.terminal.Getenv("CLICOLOR_FORCE")):
		return true
	}
	return o.terminal.StdoutTerminal && o.terminal.Getenv("TERM") != "dumb"
}

// IsTrue reports whether the value of an environment variable means on.
func IsTrue(s string) bool { return s != "" && s != "0" && s != "false" }
