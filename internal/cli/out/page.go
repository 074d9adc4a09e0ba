package out

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

// A Page is text for standard output: aligned for a terminal, parted by tabs
// for a pipe.
type Page struct {
	buf   bytes.Buffer
	TTY   bool
	color bool
	Width int // columns of the terminal
}

// NewPage returns a page without colors, for a terminal of some columns or for a pipe.
func NewPage(tty bool, width int) *Page { return &Page{TTY: tty, Width: width} }

// String returns what is on the page.
func (p *Page) String() string { return p.buf.String() }

// newPage returns a page for standard output.
func (o *Out) newPage() *Page {
	p := &Page{TTY: o.terminal.StdoutTerminal, color: o.colored(), Width: 80}
	if o.terminal.Width != nil {
		if w := o.terminal.Width(); w > 0 {
			p.Width = w
		}
	}
	return p
}

// Line adds a line. What the arguments say is made visible, but for what
// [Page.Paint] returned. A terminal gets a line that is too wide for it in several, broken
// between words.
func (p *Page) Line(format string, args ...any) {
	for i, a := range args {
		if _, ok := a.(Painted); !ok {
			args[i] = shown{a}
		}
	}
	line := fmt.Sprintf(format+"\n", args...)
	if p.TTY {
		line = wrapped(line, p.Width)
	}
	p.buf.WriteString(line)
}

// Text adds a text of lines, with a line end: for a terminal readable, and otherwise
// as it is.
func (p *Page) Text(s string) {
	p.buf.WriteString(Printable(s, p.TTY))
}

// Verbatim adds a text as it is, or for a terminal readable and with a line end.
func (p *Page) Verbatim(s string) {
	if s != "" && p.TTY {
		s = Printable(s, true)
	}
	p.buf.WriteString(s)
}

// Printable returns text with a line end, and for a terminal without what could
// command it.
func Printable(text string, tty bool) string {
	text = strings.TrimSuffix(text, "\n")
	if tty {
		text = Readable(text)
	}
	return text + "\n"
}

// A shown value is formatted as itself, and then made visible.
type shown struct{ value any }

func (s shown) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, Visible(fmt.Sprintf(fmt.FormatString(f, verb), s.value))) // a buffer takes all
}

// Fields adds lines of a name and a value each.
func (p *Page) Fields(rows ...[]any) {
	t := &Table{Whole: true}
	for _, r := range rows {
		t.Add(r...)
	}
	p.Table(t)
}

// A Table is rows of cells. A cell is a string, a number, a time, an id or a
// state.
type Table struct {
	Head  []string
	Rows  [][]any
	Whole bool // nothing is cut
}

// Add adds a row.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// Table adds a table. Only a terminal sees its head, and there its last column
// is cut where the line ends.
func (p *Page) Table(t *Table) {
	if !p.TTY {
		for _, r := range t.Rows {
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

func (p *Page) aligned(t *Table) {
	lines := make([][]string, 0, len(t.Rows)+1)
	right, words := make([]bool, 32), make([]bool, 32)
	if t.Head != nil {
		lines = append(lines, t.Head)
	}
	for _, r := range t.Rows {
		line := make([]string, len(r))
		for i, c := range r {
			var number bool
			line[i], number = p.cell(c)
			right[i] = right[i] || number
			words[i] = words[i] || t.Whole && !number
		}
		lines = append(lines, line)
	}
	for i := range right {
		right[i] = right[i] && !words[i] // values of many kinds begin below one another
	}
	widths := make([]int, 32)
	for _, line := range lines {
		for i, s := range line {
			widths[i] = max(widths[i], Columns(s))
		}
	}
	for n, line := range lines {
		used := 0
		for i, s := range line {
			last := i == len(line)-1
			if last && !right[i] && !t.Whole {
				s = cutCell(s, max(p.Width-used, 12))
			}
			pad := strings.Repeat(" ", max(widths[i]-Columns(s), 0))
			switch colored := string(p.Paint(t.style(n, i), s)); {
			case right[i]:
				p.buf.WriteString(pad + colored)
			case last && used < hangs && Columns(s) > p.Width-used:
				p.buf.WriteString(strings.TrimSuffix(wrapped(strings.Repeat(" ", used)+colored+"\n", p.Width), "\n")[used:])
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
func (t *Table) style(line, column int) string {
	if t.Head != nil {
		if line == 0 {
			return Dim
		}
		line--
	}
	if s, ok := t.Rows[line][column].(store.State); ok {
		return stateColor(s)
	}
	return ""
}

// cell returns the text of a value, and whether it is a number.
func (p *Page) cell(v any) (text string, number bool) {
	switch v := v.(type) {
	case string:
		return Visible(v), false
	case int:
		return p.Number(int64(v)), true
	case int64:
		return p.Number(v), true
	case token.Count:
		return p.Number(int64(v)), true
	case time.Time:
		if p.TTY {
			return v.UTC().Format("2006-01-02 15:04"), false
		}
		return v.UTC().Format(time.RFC3339), false
	case transcript.SessionID:
		if p.TTY {
			return Visible(Short(v)), false
		}
		return Visible(string(v)), false
	case store.ArtifactID:
		if p.TTY {
			return Visible(ShortRef(string(v))), false
		}
		return Visible(string(v)), false
	case transcript.BlockID:
		if p.TTY {
			return v.Short(), false
		}
		return string(v), false
	case fmt.Stringer:
		return Visible(v.String()), true
	}
	return Visible(fmt.Sprint(v)), false
}

// When returns how long ago a time was for a terminal, and otherwise the time.
func (p *Page) When(t, now time.Time) any {
	age := now.Sub(t)
	switch {
	case !p.TTY || age < 0:
		return t
	case age < time.Hour:
		return fmt.Sprintf("%d min", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", int(age.Hours()))
	}
	return fmt.Sprintf("%d d", int(age.Hours()/24))
}

// ID returns the id of an artifact, a block or a manifest: short on a terminal.
func (p *Page) ID(id string) string {
	if p.TTY {
		return ShortRef(id)
	}
	return id
}

// Number returns a number, for a terminal with separators.
func (p *Page) Number(n int64) string {
	if p.TTY {
		return Thousands(n)
	}
	return fmt.Sprint(n)
}

// The colors. A word always says the same.
const (
	Green  = "32"
	Yellow = "33"
	Red    = "31"
	Dim    = "2"
)

// A Painted text has colors of ours, and nothing else that commands a terminal.
type Painted string

// Paint returns s, made visible, in a color if there are colors.
func (p *Page) Paint(color, s string) Painted {
	s = Visible(s)
	if !p.color || color == "" || s == "" {
		return Painted(s)
	}
	return Painted("\x1b[" + color + "m" + s + "\x1b[0m")
}

func stateColor(s store.State) string {
	switch s {
	case store.StateLive:
		return Green
	case store.StateStub:
		return Yellow
	case store.StateCold:
		return Dim
	case store.StatePurged:
		return Red
	}
	return ""
}
