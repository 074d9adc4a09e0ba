package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A page is text for standard output: aligned for a terminal, parted by tabs
// for a pipe.
type page struct {
	buf   bytes.Buffer
	tty   bool
	color bool
	width int // columns of the terminal
}

func (g *globals) newPage() *page {
	p := &page{tty: g.env.StdoutTerminal, color: g.colored(), width: 80}
	if g.env.Width != nil {
		if w := g.env.Width(); w > 0 {
			p.width = w
		}
	}
	return p
}

// colored reports whether standard output gets colors.
func (g *globals) colored() bool {
	switch {
	case g.color == "always":
		return true
	case g.color == "never", g.env.Getenv("NO_COLOR") != "":
		return false
	case isTrue(g.env.Getenv("CLICOLOR_FORCE")):
		return true
	}
	return g.env.StdoutTerminal && g.env.Getenv("TERM") != "dumb"
}

// aside writes text to standard error as for a terminal, unless quiet: standard
// output has something else.
func (g *globals) aside(text func(p *page)) {
	p := &page{tty: true, width: 100}
	text(p)
	if !g.quiet {
		_, _ = unguarded(g.env.Stderr).Write(p.buf.Bytes()) // what was asked for is written
	}
}

// line adds a line. What the arguments say is made visible, but for what
// [page.paint] returned.
func (p *page) line(format string, args ...any) {
	for i, a := range args {
		if _, ok := a.(painted); !ok {
			args[i] = shown{a}
		}
	}
	fmt.Fprintf(&p.buf, format+"\n", args...)
}

// text adds a text of lines, with a line end: for a terminal readable, and otherwise
// as it is.
func (p *page) text(s string) {
	p.buf.WriteString(printable(s, p.tty))
}

// A shown value is formatted as itself, and then made visible.
type shown struct{ value any }

func (s shown) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, visible(fmt.Sprintf(fmt.FormatString(f, verb), s.value))) // a buffer takes all
}

// fields adds lines of a name and a value each.
func (p *page) fields(rows ...[]any) {
	t := &table{whole: true}
	for _, r := range rows {
		t.add(r...)
	}
	p.table(t)
}

// A table is rows of cells. A cell is a string, a number, a time, an id or a
// state.
type table struct {
	head  []string
	rows  [][]any
	whole bool // nothing is cut
}

func (t *table) add(cells ...any) { t.rows = append(t.rows, cells) }

// table adds a table. Only a terminal sees its head, and there its last column
// is cut where the line ends.
func (p *page) table(t *table) {
	if !p.tty {
		for _, r := range t.rows {
			for i, c := range r {
				if i > 0 {
					p.buf.WriteByte('\t')
				}
				text, _ := p.cell(c)
				p.buf.WriteString(text)
			}
			p.buf.WriteByte('\n')
		}
		return
	}
	p.aligned(t)
}

func (p *page) aligned(t *table) {
	lines := make([][]string, 0, len(t.rows)+1)
	right, words := make([]bool, 32), make([]bool, 32)
	if t.head != nil {
		lines = append(lines, t.head)
	}
	for _, r := range t.rows {
		line := make([]string, len(r))
		for i, c := range r {
			var number bool
			line[i], number = p.cell(c)
			right[i] = right[i] || number
			words[i] = words[i] || t.whole && !number
		}
		lines = append(lines, line)
	}
	for i := range right {
		right[i] = right[i] && !words[i] // values of many kinds begin below one another
	}
	widths := make([]int, 32)
	for _, line := range lines {
		for i, s := range line {
			widths[i] = max(widths[i], columns(s))
		}
	}
	for n, line := range lines {
		used := 0
		for i, s := range line {
			last := i == len(line)-1
			if last && !right[i] && !t.whole {
				s = cut(s, max(p.width-used, 12))
			}
			pad := strings.Repeat(" ", max(widths[i]-columns(s), 0))
			switch colored := string(p.paint(t.style(n, i), s)); {
			case right[i]:
				p.buf.WriteString(pad + colored)
			case last:
				p.buf.WriteString(colored)
			default:
				p.buf.WriteString(colored + pad)
			}
			if !last {
				p.buf.WriteString("  ")
			}
			used += widths[i] + 2
		}
		p.buf.WriteByte('\n')
	}
}

// style returns the color of a cell, counting the head as a line.
func (t *table) style(line, column int) string {
	if t.head != nil {
		if line == 0 {
			return dim
		}
		line--
	}
	if s, ok := t.rows[line][column].(store.State); ok {
		return stateColor(s)
	}
	return ""
}

// cell returns the text of a value, and whether it is a number.
func (p *page) cell(v any) (text string, number bool) {
	switch v := v.(type) {
	case string:
		return visible(v), false
	case int:
		return p.number(int64(v)), true
	case int64:
		return p.number(v), true
	case token.Count:
		return p.number(int64(v)), true
	case time.Time:
		if p.tty {
			return v.UTC().Format("2006-01-02 15:04"), false
		}
		return v.UTC().Format(time.RFC3339), false
	case transcript.SessionID:
		if p.tty {
			return visible(short(v)), false
		}
		return visible(string(v)), false
	case store.ArtifactID:
		if p.tty {
			return visible(shortRef(string(v))), false
		}
		return visible(string(v)), false
	case transcript.BlockID:
		if p.tty {
			return v.Short(), false
		}
		return string(v), false
	case fmt.Stringer:
		return visible(v.String()), true
	}
	return visible(fmt.Sprint(v)), false
}

// when returns how long ago a time was for a terminal, and otherwise the time.
func (p *page) when(t, now time.Time) any {
	age := now.Sub(t)
	switch {
	case !p.tty || age < 0:
		return t
	case age < time.Hour:
		return fmt.Sprintf("%d min", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", int(age.Hours()))
	}
	return fmt.Sprintf("%d d", int(age.Hours()/24))
}

func (p *page) number(n int64) string {
	if p.tty {
		return thousands(n)
	}
	return fmt.Sprint(n)
}

// The colors. A word always says the same.
const (
	green  = "32"
	yellow = "33"
	red    = "31"
	dim    = "2"
)

// A painted text has colors of ours, and nothing else that commands a terminal.
type painted string

// paint returns s, made visible, in a color if there are colors.
func (p *page) paint(color, s string) painted {
	s = visible(s)
	if !p.color || color == "" || s == "" {
		return painted(s)
	}
	return painted("\x1b[" + color + "m" + s + "\x1b[0m")
}

func stateColor(s store.State) string {
	switch s {
	case store.StateLive:
		return green
	case store.StateStub:
		return yellow
	case store.StateCold:
		return dim
	case store.StatePurged:
		return red
	}
	return ""
}
