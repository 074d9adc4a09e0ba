package limn

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzParse checks that no text makes the parser panic, that errors are inside the
// text, and that the canonical form is a fixed point with the same statements.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "-", "--", ":", "\"", "show", "\xff", "\u0085show \u00a0x\u2028show y", "\x1fshow x",
		"show \"\xff\"", "İs count", "x: \"y\"z", "- is -", "a a an the", "when\n ", "inherited",
		"inherited when x is 1\n  show y\n\t", "equal to equal to", "starting \"2026-01-01\" --x",
		"remember called x with 1 and a", "choose if x is 1: x otherwise", "about about", "about \"",
		"add 5 to xs because \"x\" because \"y\"", "each x each y inherited show from z from w",
	} {
		f.Add(text)
	}
	files, err := filepath.Glob("testdata/grammar/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range archive.Files {
			for _, e := range examples(string(section.Data)) {
				f.Add(strings.Join(e.source, "\n"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		prog := Parse("", text, &Options{Packs: []*Pack{testPack}})
		var lines []string
		for _, line := range Lines(text) {
			lines = append(lines, line)
		}
		for _, l := range prog.Lines {
			testLine(t, l, lines)
		}
		testFixedPoint(t, prog)
	})
}

// testLine checks that a line is inside the lines of a text, and has a statement
// or an error.
func testLine(t *testing.T, l *Line, lines []string) {
	t.Helper()
	if (l.stmt == nil) == (l.Err == nil) {
		t.Fatalf("line %v has statement %v and error %v", l.Pos, l.stmt, l.Err)
	}
	inside(t, l.Pos, lines)
	if l.Err != nil {
		inside(t, l.Err.Pos, lines)
		if l.Err.Text == "" || l.Err.Hint == "" {
			t.Fatalf("incomplete error %+v", l.Err)
		}
	}
	if w, ok := l.stmt.(*when); ok {
		for _, l := range w.Body {
			testLine(t, l, lines)
		}
	}
}

// inside checks that a place is in the lines of a text, or at the end of one.
func inside(t *testing.T, pos Pos, lines []string) {
	t.Helper()
	if pos.Line < 1 || pos.Line > len(lines) || pos.Column < 1 || pos.Column > len(lines[pos.Line-1])+1 {
		t.Fatalf("position %v is outside of the text", pos)
	}
}
