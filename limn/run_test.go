package limn

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRun runs the programs of testdata/run. Each archive begins with a sentence
// that says what it pins; "want" has for every line its number and its status, then
// what was shown after "|" and the message after "!", and at last the exit status.
func TestRun(t *testing.T) {
	files, err := filepath.Glob("testdata/run/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := transcript(string(archive.Files[0].Data))
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// dated is the options of the programs: the date is known, and nobody confirms
// ambers.
var dated = &Options{Today: "2025-07-01"}

// transcript runs a program and writes down what becomes of each line.
func transcript(text string) string {
	var b strings.Builder
	m := NewMachine(dated)
	for _, l := range Parse("", text, dated).Lines {
		r := m.Exec(l)
		fmt.Fprintf(&b, "%d %s\n", l.Pos.Line, r.Status)
		for _, line := range r.Output {
			fmt.Fprintf(&b, "  | %s\n", line)
		}
		if r.Message != "" && r.Status != StatusParseError {
			fmt.Fprintf(&b, "  ! %s\n", r.Message)
		}
	}
	exit := 0
	if m.failed {
		exit = 1
	}
	fmt.Fprintf(&b, "exit %d\n", exit)
	return b.String()
}
