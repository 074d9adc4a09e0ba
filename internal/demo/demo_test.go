package demo

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// The demonstration passes its own checks and says where its store is.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := Run(t.Context(), &out, dir, "carrel"); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	told, _, _ := strings.Cut(out.String(), "checks passed")
	for step := range strings.FieldsSeq("import export compress summary probes validate restart recall search why undo planner verify handoff") {
		if got := strings.Count(told, "\n  "+step+" "); got != 1 {
			t.Errorf("the step %s is told %d times, want once:\n%s", step, got, out.String())
		}
	}
	for _, want := range []string{"checks passed", dir, "A line that left, and is found again:", "Saved: ", "\n  carrel why ", "byte for byte", "summary    of blocks 1–", "47/47 blocks one recall away"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output has no %q:\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(out.String(), dir, "dir")) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// The commands that the demonstration suggests work also if the path has a blank.
func TestSuggestedCommands(t *testing.T) {
	var out bytes.Buffer
	d := &demo{out: &out, dir: "my demo", program: "carrel"}
	if err := d.sum("the exports lie"); err != nil {
		t.Fatal(err)
	}
	if want := "\n  export CARREL_STORE='" + d.path() + "'\n"; !strings.Contains(out.String(), want) {
		t.Errorf("output has no %q:\n%s", want, out.String())
	}
}

// The demonstration's session is the same every time.
func TestSessionIsFixed(t *testing.T) {
	if !bytes.Equal(Session(), Session()) {
		t.Error("two sessions differ")
	}
}
