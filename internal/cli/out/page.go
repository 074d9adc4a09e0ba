package out

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Page is text for standard output: aligned for a terminal, separated by tabs for a pipe.
type Page struct {
	buf   bytes.Buffer
	TTY   bool
	color bool
	Width int // columns of the terminal
}

// NewPage returns a page without colors. If tty is true, the page is for a terminal of width
// columns, and otherwise for a pipe.
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

// Line adds a line. It escapes arguments, except the results of [Page.Paint]. For a terminal it
// breaks a line that is too wide between words.
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

// Text adds text with a line end. For a terminal the text is escaped.
func (p *Page) Text(s string) {
	p.buf.WriteString(Printable(s, p.TTY))
}

// Verbatim adds text unchanged for a pipe. For a terminal it adds the text escaped and with a line
// end.
func (p *Page) Verbatim(s string) {
	if s != "" && p.TTY {
		s = Printable(s, true)
	}
	p.buf.WriteString(s)
}

// Printable returns text with a line end. For a terminal, control sequences are escaped.
func Printable(text string, tty bool) string {
	text = strings.TrimSuffix(text, "\n")
	if tty {
		text = Readable(text)
	}
	return text + "\n"
}

// A shown formats its value, and then escapes the result.
type shown struct{ value any }

func (s shown) Format(f fmt.State, verb rune) {
	_, _ = io.WriteString(f, Visible(fmt.Sprintf(fmt.FormatString(f, verb), s.value))) // writing to a buffer never fails
}

// Fields adds lines with a name and a value.
func (p *Page) Fields(rows ...[]any) {
	t := &Table{Whole: true}
	for _, r := range rows {
		t.Add(r...)
	}
	p.Table(t)
}

// A Table is rows of cells. A cell is a string, a number, a time, an id or a state.
type Table struct {
	Head  []string
	Rows  [][]any
	Whole bool // cells are never cut

	// Spare are headings of columns that a terminal leaves out, in this order, while it is too
	// narrow for the table. A line below the table names the columns left out.
	Spare []string
}

// Add adds a row.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// Table adds a table. A pipe gets no head. A terminal cuts the last column at the end of the
// line.
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

// aligned adds a table for a terminal. It leaves out columns of t.Spare until the lines fit.
func (p *Page) aligned(t *Table) {
	lines, right, widths := p.columns(t)
	var left []string
	for spare := t.Spare; len(spare) > 0 && need(right, widths) > p.Width; spare = spare[1:] {
		t, left = t.without(slices.Index(t.Head, spare[0])), append(left, spare[0])
		lines, right, widths = p.columns(t)
	}
	for n, line := range lines {
		used := 0
		for i, s := range line {
			last := i == len(line)-1
			if last && !right[i] && !t.Whole {
				s = cutCell(s, max(p.Width-used, leastLast))
			}
			pad := strings.Repeat(" ", max(widths[i]-Columns(s), 0))
			switch colored := string(p.Paint(t.style(n, i), s)); {
			case right[i]:
				p.buf.WriteString(pad + colored)
			case last && strings.TrimSpace(s) != "" && used < hangs && Columns(s) > p.Width-used:
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
	if left != nil {
		p.Line("%s", p.Paint(Dim, "without "+WordList(left)+", which a wider terminal and --json show"))
	}
}

// Turned returns t with rows and columns exchanged. It is for a table that has few rows but too
// many columns for a terminal.
func (t *Table) Turned() *Table {
	turned := &Table{Head: t.Head[:1:1]}
	for _, r := range t.Rows {
		turned.Head = append(turned.Head, fmt.Sprint(r[0]))
	}
	for i, name := range t.Head[1:] {
		row := []any{name}
		for _, r := range t.Rows {
			row = append(row, r[i+1])
		}
		turned.Add(row...)
	}
	return turned
}

// leastLast is the fewest columns to which the last cell of a line is cut.
const leastLast = 12

// need returns how many columns of a terminal a table needs if its last cells are cut. Its
// arguments are results of [Page.columns].
func need(right []bool, widths []int) int {
	n := 2*len(widths) - 2
	for i, w := range widths {
		if i == len(widths)-1 && !right[i] {
			w = min(w, leastLast)
		}
		n += w
	}
	return n
}

// without returns a copy of a table without one of its columns.
func (t *Table) without(column int) *Table {
	less := &Table{Head: slices.Delete(slices.Clone(t.Head), column, column+1), Whole: t.Whole}
	for _, r := range t.Rows {
		less.Add(slices.Delete(slices.Clone(r), column, column+1)...)
	}
	return less
}

// columns returns the cells of a table as text, the head first. For each column it returns
// whether it is aligned to the right, as numbers are, and the width of its widest cell.
func (p *Page) columns(t *Table) (lines [][]string, right []bool, widths []int) {
	most := len(t.Head)
	for _, r := range t.Rows {
		most = max(most, len(r))
	}
	right, widths = make([]bool, most), make([]int, most)
	words := make([]bool, most)
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
		right[i] = right[i] && !words[i] // a column with other values than numbers is aligned to the left
	}
	for _, line := range lines {
		for i, s := range line {
			widths[i] = max(widths[i], Columns(s))
		}
	}
	return lines, right, widths
}

// style returns the color of the cell in a line and column. The head is line 0.
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
		if v.IsZero() {
			return "", false // unknown
		}
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

// When returns the age of a time for a terminal. For a pipe, and if t is zero or after now, it
// returns the time itself.
func (p *Page) When(t, now time.Time) any {
	age := now.Sub(t)
	switch {
	case !p.TTY || age < 0 || t.IsZero():
		return t
	case age < time.Hour:
		return fmt.Sprintf("%d min", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%d h", int(age.Hours()))
	}
	return fmt.Sprintf("%d d", int(age.Hours()/24))
}

// ID returns the id of an artifact, a block or a manifest. For a terminal the id is shortened.
func (p *Page) ID(id string) string {
	if p.TTY {
		return ShortRef(id)
	}
	return id
}

// Short returns a name. For a terminal the name is cut to n columns.
func (p *Page) Short(name string, n int) string {
	if p.TTY {
		return Cut(name, n)
	}
	return name
}

// Number returns a number. For a terminal it has separators.
func (p *Page) Number(n int64) string {
	if p.TTY {
		return Thousands(n)
	}
	return fmt.Sprint(n)
}

// The colors. A word has the same color everywhere.
const (
	Green  = "32"
	Yellow = "33"
	Red    = "31"
	Dim    = "2"
)

// A Painted is escaped text that may contain Carrel's own color sequences.
type Painted string

// Paint returns s, escaped, in a color if colors are on.
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
