package out_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[2J\n\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := out.Visible(s)
		if r := clitest.Commands(got, ""); r != "" {
			t.Errorf("visible(%q) = %q has %q", s, got, r)
		}
		if again := out.Visible(got); again != got {
			t.Errorf("visible(%q) = %q, want it as it is", got, again)
		}
	})
}

// A table for a terminal has its head, its numbers to the right, and its last column cut.
func TestTablesAreAligned(t *testing.T) {
	long := strings.Repeat("w", 40)
	for _, tt := range []clitest.Printing{
		{Name: "words and numbers", Print: func(p *out.Page) {
			p.Width = 30
			tb := &out.Table{Head: []string{"name", "n", "text"}}
			tb.Add("a", 1200, long)
			tb.Add("bcdef", 5, "x")
			p.Table(tb)
		}, Pipe: "a\t1200\t" + long + "\nbcdef\t5\tx\n", TTY: "name       n  text\na      1,200  " + strings.Repeat("w", 15) + "…\nbcdef      5  x\n"},
		{Name: "a narrow terminal", Print: func(p *out.Page) {
			p.Width = 10
			tb := &out.Table{}
			tb.Add("abcdefgh", long)
			p.Table(tb)
		}, Pipe: "", TTY: "abcdefgh  " + strings.Repeat("w", 11) + "…\n"},
		{Name: "a number at the end", Print: func(p *out.Page) {
			tb := &out.Table{}
			tb.Add("a", 5)
			tb.Add("b", 1234)
			p.Table(tb)
		}, Pipe: "a\t5\nb\t1234\n", TTY: "a      5\nb  1,234\n"},
		{Name: "values of many kinds", Print: func(p *out.Page) {
			p.Width = 20
			p.Fields([]any{"n", 5}, []any{"text", long})
		}, Pipe: "n\t5\ntext\t" + long + "\n", TTY: "n     5\ntext  " + long + "\n"},
		{
			Name: "spare columns go, the first first, while it is too wide", Print: func(p *out.Page) {
				p.Width = 48
				tb := &out.Table{Head: []string{"name", "more", "most", "text"}, Spare: []string{"most", "name"}}
				tb.Add(strings.Repeat("a", 20), 1, strings.Repeat("b", 20), "x")
				p.Table(tb)
			}, Pipe: strings.Repeat("a", 20) + "\t1\t" + strings.Repeat("b", 20) + "\tx\n",
			TTY: "name                  more  text\n" + strings.Repeat("a", 20) + "     1  x\nwithout most, which a wider terminal and --json\nshow\n",
		},
		{Name: "a table that just fits keeps its spare columns", Print: func(p *out.Page) {
			for p.Width = 26; p.Width > 23; p.Width-- {
				tb := &out.Table{Head: []string{"more", "text"}, Spare: []string{"more"}}
				tb.Add(strings.Repeat("a", 10), "x")
				tb.Add("", strings.Repeat("b", 14))
				p.Table(tb)
			}
		}, TTY: "more        text\naaaaaaaaaa  x\n            bbbbbbbbbbbbbb\n" + "more        text\naaaaaaaaaa  x\n            bbbbbbbbbbbb…\n" + "more        text\naaaaaaaaaa  x\n            bbbbbbbbbbb…\n"},
		{Name: "a number at the end is not cut", Print: func(p *out.Page) {
			p.Width = 26
			tb := &out.Table{Head: []string{"more", "n"}, Spare: []string{"more"}}
			tb.Add("a", 1)
			tb.Add("b", int64(1_000_000_000_000_000_000))
			p.Table(tb)
		}, TTY: "                        n\n                        1\n1,000,000,000,000,000,000\nwithout more, which a\nwider terminal and --json\nshow\n"},
		{Name: "a turned table", Print: func(p *out.Page) {
			tb := &out.Table{Head: []string{"of", "calls", "read"}}
			tb.Add("managed", 1200, "3%")
			tb.Add("all", 5, "9%")
			p.Table(tb.Turned())
		}, Pipe: "calls\t1200\t5\nread\t3%\t9%\n", TTY: "of     managed  all\ncalls    1,200    5\nread        3%   9%\n"},
	} {
		tt.Test(t)
	}
}

// A table can be printed on a terminal of any width, also with empty cells.
func TestTablesFitAnyWidth(t *testing.T) {
	for width := range 60 {
		for _, last := range []string{"", "x", " ", "two words", strings.Repeat("w", 40), "pkg/" + strings.Repeat("w", 40) + "/a.go"} {
			for _, whole := range []bool{false, true} {
				p := out.NewPage(true, width)
				tb := &out.Table{Head: []string{"name", "n", ""}, Whole: whole}
				tb.Add(strings.Repeat("a", 45), 1200, last)
				tb.Add("b", 5, "")
				p.Table(tb)
				if lines := strings.Count(p.String(), "\n"); lines < 3 {
					t.Errorf("width %d, last cell %q: %d lines, want at least 3", width, last, lines)
				}
			}
		}
	}
}

func TestTimesAreAges(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]any{
		0: "0 min", time.Hour - 1: "59 min", time.Hour: "1 h", 48*time.Hour - 1: "47 h", 48 * time.Hour: "2 d", 71 * time.Hour: "2 d", 72 * time.Hour: "3 d",
		-1: now.Add(1),
	} {
		if got := out.NewPage(true, 80).When(now.Add(-age), now); got != want {
			t.Errorf("%v ago: %v, want %v", age, got, want)
		}
	}
	if got := out.NewPage(false, 80).When(now.Add(-time.Hour), now); got != now.Add(-time.Hour) {
		t.Errorf("for a pipe: %v", got)
	}
}
