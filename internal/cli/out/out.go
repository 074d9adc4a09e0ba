// Package out writes what commands have to say: text for a person or for a pipe, JSON,
// progress, and errors of the command line. It knows nothing of what commands do.
//
// Results go to standard output and nothing else does. A terminal gets aligned columns, a
// pipe gets fields parted by tabs, without headings, and never a color. With --json it is
// one document whose "schema" says what it is; keys are added to a schema, never removed.
// Text of conversations is printed with escapes for what commands a terminal and for what
// nobody sees. Where bytes are the result they are so in a pipe and in a file, and on a
// terminal with --raw.
//
// Nothing here is safe for concurrent use but a [Progress].
package out

import (
	"fmt"
	"io"
	"math"
	"time"
)

// A Terminal is where a command writes, and what decides how.
type Terminal struct {
	Stdout io.Writer // results
	Stderr io.Writer // everything else

	// StdoutTerminal and StderrTerminal say what a person sees.
	StdoutTerminal, StderrTerminal bool

	// Width returns the width of the terminal in columns, or 0 if unknown. It
	// may be nil.
	Width func() int

	// Getenv returns the value of a variable, or "".
	Getenv func(name string) string

	// Now is the clock.
	Now func() time.Time
}

// An Out writes results to standard output and everything else to standard error. Its
// fields are what flags say of that.
type Out struct {
	JSON         string // "" for text, [AllFields], or names of fields
	NDJSON       bool
	JQ, Template string
	Quiet        bool
	Raw          bool   // content is written to a terminal as it is
	Color        string // auto, always or never
	Progress     string // auto, plain, json or none

	terminal *Terminal
}

// AllFields is the value of --json without fields.
const AllFields = "all"

// New returns what writes to a terminal. From then on no content can command the
// terminal, whoever writes to it, unless that is wanted.
func New(t *Terminal) *Out {
	o := &Out{terminal: t}
	if t.StdoutTerminal {
		t.Stdout = &screen{t.Stdout, &o.Raw}
	}
	if t.StderrTerminal {
		t.Stderr = &screen{t.Stderr, &o.Raw}
	}
	return o
}

// Note writes a line to standard error, unless quiet.
func (o *Out) Note(format string, args ...any) {
	if !o.Quiet {
		fmt.Fprintln(o.terminal.Stderr, Visible(fmt.Sprintf(format, args...)))
	}
}

// Report returns a page for standard error. It is for people only, so it is
// aligned even in a pipe, but has no color.
func (o *Out) Report() *Page {
	p := o.newPage()
	p.TTY, p.color = true, false
	if !o.terminal.StderrTerminal {
		p.Width = math.MaxInt32
	}
	return p
}

// Tell writes a report to standard error, unless quiet.
func (o *Out) Tell(p *Page) {
	if !o.Quiet {
		o.Warn(p)
	}
}

// Warn writes a report to standard error.
func (o *Out) Warn(p *Page) {
	_, _ = unguarded(o.terminal.Stderr).Write(p.buf.Bytes()) // there is nobody to tell that nobody can be told
}

// Aside writes text to standard error as for a terminal, unless quiet: standard
// output has something else.
func (o *Out) Aside(text func(p *Page)) {
	p := NewPage(true, 100)
	text(p)
	o.Tell(p)
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

// IsTrue reports whether the value of a variable turns something on.
func IsTrue(s string) bool { return s != "" && s != "0" && s != "false" }
