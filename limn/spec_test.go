package limn

import (
	"os"
	"strings"
	"testing"
)

// What doc/spec/limn.md says of statements that come out otherwise elsewhere is true
// here.
func TestSpecSaysWhatStatementsDo(t *testing.T) {
	data, err := os.ReadFile("../doc/spec/limn.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```limn\n")
	before, rest, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the page has no program")
	}
	checked := 0
	for line := range strings.Lines(rest) {
		row := strings.Split(line, " | ")
		statement, code := strings.CutPrefix(row[0], "| `")
		if !code || len(row) != 4 {
			continue
		}
		checked++
		prog := Parse("", before+strings.TrimSuffix(statement, "`"), nil)
		m := NewMachine(nil)
		var last Result
		for last = range m.Run(prog) {
		}
		if last.Line == nil || last.Line != prog.Lines[len(prog.Lines)-1] || string(last.Status) != row[1] {
			t.Errorf("%s: %s (%s), the page says %s", row[0], last.Status, last.Message, row[1])
		}
	}
	if checked < 10 {
		t.Errorf("%d statements were checked", checked)
	}
}
