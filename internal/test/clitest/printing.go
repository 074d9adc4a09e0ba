package clitest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/cli/out"
)

// A Printing is a test case for the printed form of a value. Pipe is the output into a pipe,
// where tabs separate the cells of a table; TTY is the output on a terminal of 80 columns.
// Blanks at the end of a line are ignored. If a wanted line is wider than the terminal, it does
// not matter where it is broken.
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
		tt.Print(p)
		ends := regexp.MustCompile(` +\n`)
		want, got := ends.ReplaceAllString(want, "\n"), ends.ReplaceAllString(p.String(), "\n")
		tooWide := kind && slices.ContainsFunc(strings.Split(want, "\n"), func(line string) bool { return out.Columns(line) > p.Width })
		if diff := cmp.Diff(want, got); diff != "" && (!tooWide || !slices.Equal(strings.Fields(want), strings.Fields(got))) { // a terminal breaks a wide line
			t.Errorf("%s, on a terminal %v (-want +got):\n%s", tt.Name, kind, diff)
		}
	}
}
