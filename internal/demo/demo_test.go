package demo

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
)

// The demonstration passes its own checks and says where its store is.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := Run(t.Context(), &out, dir, "carrel"); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	told(t, "run.txt", out.String())
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
	out.Reset()
	d.check(true, "one is %d", 1)
	d.check(false, "one is %d", 2)
	if err := d.sum(""); !errors.Is(err, ErrFailed) || out.String() != "  FAILED     one is 2\n\n1 of 2 checks failed\n" {
		t.Errorf("a check that failed: %v, %s", err, out.String())
	}
}

// The demonstration's conversation and artifacts are the same every time, and on every machine.
func TestDataIsFixed(t *testing.T) {
	var artifacts []string
	for _, a := range desk(clock()) {
		artifacts = append(artifacts, fmt.Sprintf("%s %s %q %q %v %v %s %s", a.ID, a.Class, a.Title, a.Content, a.Created, *a.TTL, a.Source, a.VerifiedBy))
	}
	for what, tt := range map[string]struct {
		data []byte
		want string
	}{
		"conversation": {Session(), "4757c626f2a7cd53ca147055d6a27f88eb7f6e7af00b7526bf06bf1d067bfb33"},
		"artifacts":    {[]byte(strings.Join(artifacts, "\n")), "05a6cd292409709773158ddd3b4711021fa9479ddcc9098d0b2ff54bf319ae31"},
	} {
		if got := digest.Of(tt.data).String(); got != tt.want {
			t.Errorf("the %s has the digest %s, want %s", what, got, tt.want)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files")

// changing matches what differs from run to run: durations, and ids that are random.
var changing = regexp.MustCompile(`\d+\.\d\d s\b|m_[0-9a-f]{16}`)

// told compares an output, up to the path of the store, with a golden file.
func told(t *testing.T, name, out string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	out, _, _ = strings.Cut(changing.ReplaceAllString(out, "…"), "\nThe store is ")
	if *update {
		if err := os.WriteFile(name, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestLinesOfADemonstration(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345", 123456: "123,456", 1234567: "1,234,567"} {
		if got := group(n); got != want {
			t.Errorf("group(%d) = %s, want %s", n, got, want)
		}
	}
	for text, want := range map[string]string{"a\nb\n": "[a b]", "1\n2\n3\n4\n5\n6": "[1 2 3 4 5 6]", "1\n2\n3\n4\n5\n6\n7": "[1 2 3 4 … 2 more lines 7]"} {
		if got := fmt.Sprint(excerpt(text)); got != want {
			t.Errorf("excerpt(%q) = %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"x\n$ make\n→ ok\n[12345678]\ny": "$ make\n→ ok\n[12345678]", "$ make [1]\ny": "$ make [1]", "x\n$ make\ny": "$ make\ny", "make": "make", "x": ""} {
		if got := paragraphWith(text, "make"); got != want {
			t.Errorf("paragraphWith(%q) = %q, want %q", text, got, want)
		}
	}
	var out bytes.Buffer
	(&demo{out: &out}).quote([]string{strings.Repeat("é", 74), strings.Repeat("é", 75)})
	if want := "\n    " + strings.Repeat("é", 74) + "\n    " + strings.Repeat("é", 73) + "…\n\n"; out.String() != want {
		t.Errorf("quote wrote %q, want %q", out.String(), want)
	}
}
