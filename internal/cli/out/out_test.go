package out

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func TestColors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		flag     string
		vars     map[string]string
		terminal bool
		want     bool
	}{
		{"a terminal", "auto", nil, true, true},
		{"a pipe", "auto", nil, false, false},
		{"a terminal with a name", "auto", map[string]string{"TERM": "xterm"}, true, true},
		{"a dumb terminal", "auto", map[string]string{"TERM": "dumb"}, true, false},
		{"no color, please", "auto", map[string]string{"NO_COLOR": "1"}, true, false},
		{"forced in a pipe", "auto", map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{"forced by 0", "auto", map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		{"no color wins over force", "auto", map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, true, false},
		{"the flag wins over all", "always", map[string]string{"NO_COLOR": "1"}, false, true},
		{"never", "never", map[string]string{"CLICOLOR_FORCE": "1"}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := New(&Terminal{StdoutTerminal: tt.terminal, Getenv: func(n string) string { return tt.vars[n] }})
			o.Color = tt.flag
			if got := o.colored(); got != tt.want {
				t.Errorf("colored() = %v, want %v", got, tt.want)
			}
		})
	}
}

// A page escapes its arguments, whatever their types.
func TestPageLine(t *testing.T) {
	type named string
	p := &Page{color: true}
	p.Line("%s|%-3s|%v|%q|%d|%s|%s", "a\x1b", "b", named("c\u200b"), "d\u202e", 5, errors.New("e\a"), p.Paint(Green, "f\r"))
	if got, want := p.String(), `a\x1b|b  |c\u200b|"d\u202e"|5|e\x07|`+"\x1b[32m"+`f\r`+"\x1b[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Content on a terminal is escaped and ends with a line end.
func TestContentOnAPage(t *testing.T) {
	for tty, want := range map[bool]string{false: "a\x1b", true: `a\x1b` + "\n"} {
		p := NewPage(tty, 80)
		p.Verbatim("")
		if p.Verbatim("a\x1b"); p.String() != want {
			t.Errorf("on a terminal %v: %q, want %q", tty, p, want)
		}
	}
}

// A page is as wide as the terminal, or has 80 columns.
func TestPageWidth(t *testing.T) {
	for width, want := range map[int]int{0: 80, -1: 80, 1: 1, 120: 120} {
		o := New(&Terminal{Getenv: func(string) string { return "" }, Width: func() int { return width }})
		if got := o.newPage().Width; got != want {
			t.Errorf("a terminal of %d columns: %d, want %d", width, got, want)
		}
	}
}

// A report is aligned and has no color; if no terminal shows it, no line is broken.
func TestReportsForPeople(t *testing.T) {
	for terminal, width := range map[bool]int{true: 72, false: math.MaxInt32} {
		o := New(&Terminal{StdoutTerminal: true, StderrTerminal: terminal, Stderr: new(bytes.Buffer), Width: func() int { return 72 }})
		o.Color = "always"
		if p := o.Report(); !p.TTY || p.color || p.Width != width {
			t.Errorf("on a terminal %v: %+v, want a width of %d", terminal, p, width)
		}
		o.NoteFunc(func(p *Page) {
			if !p.TTY || p.Width != 100 {
				t.Errorf("a note: %+v, want a width of 100", p)
			}
		})
	}
}

// A pipe gets values in full, and a terminal in the form for people.
func TestCells(t *testing.T) {
	const uuid, hash = "7a11b0d2-3c55-4f0e-9e77-52a1c4d8e6f3", "0123456789abcdef"
	for _, tt := range []struct {
		value     any
		pipe, tty string
		number    bool
	}{
		{int64(1200), "1200", "1,200", true},
		{token.Count(1200), "1200", "1,200", true},
		{ratio.One / 2, "0.500000", "0.500000", true},
		{time.Time{}, "", "", false},
		{time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600)), "2026-01-02T03:04:05Z", "2026-01-02 03:04", false},
		{transcript.SessionID(uuid), uuid, "7a11b0d2", false},
		{store.ArtifactID(hash), hash, "01234567", false},
		{transcript.BlockID(hash), hash, "01234567", false},
		{store.StateLive, "live", "live", false},
	} {
		for tty, want := range map[bool]string{false: tt.pipe, true: tt.tty} {
			if got, number := NewPage(tty, 80).cell(tt.value); got != want || number != tt.number {
				t.Errorf("%v on a terminal %v: %q, %v, want %q, %v", tt.value, tty, got, number, want, tt.number)
			}
		}
	}
}

// The head of a table is dim, and each state of a block has its color, with a head or without.
func TestTablesAreColored(t *testing.T) {
	states := []store.State{store.StateLive, store.StateStub, store.StateCold, store.StatePurged, "odd"}
	const body = "\x1b[32mlive\x1b[0m\n\x1b[33mstub\x1b[0m\n\x1b[2mcold\x1b[0m\n\x1b[31mpurged\x1b[0m\nodd\n"
	for _, head := range [][]string{nil, {"state"}} {
		p, tb, want := &Page{TTY: true, color: true, Width: 80}, &Table{Head: head}, body
		for _, s := range states {
			tb.Add(s)
		}
		if head != nil {
			want = "\x1b[2mstate\x1b[0m\n" + want
		}
		if p.Table(tb); p.String() != want {
			t.Errorf("head %q: %q, want %q", head, p, want)
		}
	}
}
