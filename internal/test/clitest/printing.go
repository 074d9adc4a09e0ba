package clitest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/cli/out"
)

// A Printing is a test case for the printed form of a value. Pipe is the output into a pipe,
// where tabs separate the cells of a table; TTY is the output on a terminal of 80 columns, or as
// many as the widest wanted line has. Blanks at the end of a line are ignored.
type Printing struct {
	Name  string
	Print func(p *out.Page)
	Pipe  string // "" is not checked
	TTY   string
}

// Test prints the value and compares the output.
func (tt *Printing) Test(t *testing.T) {
	t.Helper()
	for kind, want := range map[bool]string{false: tt.Pipe, true: tt.TTY} {
		if want == "" {
			continue
		}
		p := out.NewPage(kind, 80)
		for line := range strings.Lines(want) {
			p.Width = max(p.Width, out.Columns(strings.TrimSuffix(line, "\n")))
		}
		tt.Print(p)
		ends := regexp.MustCompile(` +\n`)
		want, got := ends.ReplaceAllString(want, "\n"), ends.ReplaceAllString(p.String(), "\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, on a terminal %v (-want +got):\n%s", tt.Name, kind, diff)
		}
	}
}
