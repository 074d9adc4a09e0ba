package facts

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// Outputs of commands without an exit code: those that report a failure and others.
func TestOutcomeOf(t *testing.T) {
	for text, want := range map[string]FactStatus{
		"error: 0":                       StatusOK,
		"Errors: none":                   StatusOK,
		"ERROR: 0, WARNING: 3":           StatusOK,
		"FAILED: 0, PASSED: 12":          StatusOK,
		"FAIL-safe mode: on":             StatusOK,
		"ERROR handling: ok":             StatusOK,
		"error: nothing":                 StatusOK,
		"[INFO] BUILD SUCCESS\nError: 0": StatusOK,
		"error: the cache is cold, retrying\nupload succeeded":       StatusOK,
		"ERROR: resolver warning\nSuccessfully installed lamp-1.4.2": StatusOK,

		"error: 12":                  StatusFailed,
		"error: 0x80070005":          StatusFailed,
		"error: no such file":        StatusFailed,
		"error: nothing was written": StatusFailed,
		"FAIL":                       StatusFailed,
		"FAIL\tlamp/beam\t0.02s":     StatusFailed,
		"FAILED tests/test_beam.py":  StatusFailed,
		"FAILURE: the beam is off":   StatusFailed,
		"--- FAIL: TestBeam (0.02s)\nok  \tlamp/lens\t0.1s":             StatusFailed,
		"error: the beam is off\nnot successfully installed":            StatusFailed,
		"upload succeeded\nerror: the beam is off":                      StatusFailed,
		"--- FAIL: TestBeam (0.02s)\nnotes were written successfully\n": StatusFailed,
	} {
		r := transcript.ToolResult{Content: []transcript.Part{transcript.Text(text)}}
		if got := outcomeOf(r, false).status; got != want {
			t.Errorf("a command that printed %q is %s, want %s", text, got, want)
		}
	}
}

// The status and the most informative line of an output.
// The first line of an output is its summary even if it is too long to be read.
func TestFirstLine(t *testing.T) {
	long := strings.Repeat("lamp ", 500)
	for said, want := range map[string]string{"\n\n  lit\ndim": "lit", long + "\nlit": strings.TrimSpace(long), "": "", "\n": ""} {
		if got := scanOutput(said).first; got != want {
			t.Errorf("the first line of %q is %q", said, got)
		}
	}
}

func TestLocated(t *testing.T) {
	for line, want := range map[string]bool{
		"main.go:17:4: unused": true, "main.go:17: unused": true, "[lint] main.go:17:4: unused": true, "[vet lamp.go] main.go:17:4: unused": true, "[go:vet] main.go:17:4: unused": true, "[lint] ": false,
		"main.go: unused": false, "main.go:1234567: unused": false, "main.go:123456: unused": true, "the main.go:17: unused": false,
		"main:17: unused": false, "main.go:17": false, strings.Repeat("m", 196) + ".go:17: x": true, strings.Repeat("m", 198) + ".go:17: x": false,
	} {
		if got := startsWithPosition(line); got != want {
			t.Errorf("%q begins with a place: %v, want %v", line, got, want)
		}
	}
}

func TestTotal(t *testing.T) {
	for line, want := range map[string]bool{
		"3 failed in the end": true, strings.Repeat("x", 158) + " 3": true, strings.Repeat("x", 159) + " 3": false,
		"[1/7] [lint] 3 errors": false, "3 errors in [a] [b]": true, "[1/7] 3 errors": true,
	} {
		if got := isTotal(line, "3"); got != want {
			t.Errorf("%q is a total: %v, want %v", line, got, want)
		}
	}
	if isTotal("that is all", "") || !isTotal("12 errors. No fixes applied.", "") {
		t.Error("a line without a count")
	}
}

func TestOutcomeTells(t *testing.T) {
	for _, tt := range []struct{ name, text, status, exit, tells string }{
		{"the last line, if nothing stands out", "one\ntwo\n", "ok", "", "two"},
		{"nothing", "", "ok", "", ""},
		{"how many tests passed", "ok  \tlamp/beam\t0.1s\nmore", "ok", "", "ok lamp/beam 0.1s"},
		{"totals on lines that follow each other", "Tests:  3 passed\nTest Suites: 1 passed\nbye", "ok", "", "Tests: 3 passed Test Suites: 1 passed"},
		{"but not across others", "Tests: 3 passed\n\nx y\nFound 0 warnings", "ok", "", "Tests: 3 passed"},
		{"the first package that was tested", "ok  \tlamp/beam\t0.1s\nok  \tlamp/lens\t0.1s", "ok", "", "ok lamp/beam 0.1s"},
		{"that was not only remembered", "ok  \tlamp/beam\t(cached)\nok  \tlamp/lens\t0.1s", "ok", "", "ok lamp/lens 0.1s"},
		{"what counts something", "hello\n12 passed in 0.3s\nbye", "ok", "", "12 passed in 0.3s"},
		{"a place on the net", "see\nhttps://example.com/pull/7\nbye", "ok", "", "https://example.com/pull/7"},
		{"http, too", "http://example.com/7\nbye", "ok", "", "http://example.com/7"},
		{"totals rather than a place on the net", "https://example.com/7\n3 passed\nbye", "ok", "", "3 passed"},
		{"a commit rather than totals", "3 passed\n[main 1a2b3c4] Fix it\n1 file changed", "ok", "", "[main 1a2b3c4] Fix it"},
		{"a commit that failed to push is one", "[topic 1a2b3c4] Fix it\nfatal: no remote", "ok", "", "[topic 1a2b3c4] Fix it"},
		{"the first commit on a branch", "[main (root-commit) 1234567] Begin\nx", "ok", "", "[main (root-commit) 1234567] Begin"},
		{"brackets without the name of a commit", "[main] Fix it\nx", "ok", "", "x"},

		{"a code of its own", "Exit code 2\nno rule to make it", "failed", "2", "no rule to make it"},
		{"a code of 0 in spite of its words", "Exit code 0\nerror: the beam is off", "ok", "0", "error: the beam is off"},
		{"a code in the last line", "x\n[exit status 3]\n", "failed", "3", "x"},
		{"a code behind other words is none", "it may exit with exit code 3 at times\nx", "ok", "", "x"},
		{"a code of a process", "Process exited with code 1\nx", "failed", "1", "Process exited with code 1"},
		{"a code out of JSON", `{"output":"x\ny","metadata":{"exit_code":4}}`, "failed", "4", "x"},
		{"JSON without a failure", `{"output":"x\ny","metadata":{"exit_code":0}}`, "ok", "", "y"},

		{"a code of one digit, with a colon", "exit code: 3\nno bulb", "failed", "3", "exit code: 3"},
		{"a code that is no number", "exit code unknown\nlit", "ok", "", "lit"},
		{"a long line is not looked at", strings.Repeat("x", 2001) + "\nlit", "ok", "", "lit"},
		{"the first of two commits", "[main 1a2b3c4] Fix it\n[main 5d6e7f8] Paint it\nbye", "ok", "", "[main 1a2b3c4] Fix it"},
		{"the best of several failures", "error: it broke\n--- FAIL: TestBeam\nFAIL", "failed", "", "--- FAIL: TestBeam"},
		{"the first of those that are as good", "panic: one\npanic: two", "failed", "", "panic: one"},
		{"a place in a file is no failure by itself", "main.go:17:4: unused\nbye", "ok", "", "bye"},
		{"but tells of one", "Exit code 1\nbuilding\nmain.go:17:4: unused\nmake: *** [all] Error 1", "failed", "1", "main.go:17:4: unused"},
		{"a place behind a mark of a linter", "Exit code 1\nbuilding\n[lint] main.go:17:4: unused", "failed", "1", "[lint] main.go:17:4: unused"},
		{"a command that is not there", "trying\nsh: frob: command not found", "failed", "", "sh: frob: command not found"},
		{"an error of a compiler", "src/a.ts(3,1): error TS2304: no name", "failed", "", "src/a.ts(3,1): error TS2304: no name"},
		{"counted failures", "running\n3 failed, 12 passed", "failed", "", "3 failed, 12 passed"},
		{"no counted failures", "running\n0 failed, 12 passed", "ok", "", "0 failed, 12 passed"},
		{"failures that a later count takes back", "FAIL: one of the cases\n0 failed, 12 passed", "ok", "", "0 failed, 12 passed"},
		{"what speaks of a failure, if no line begins so", "Exit code 1\nbuilding\nit cannot be read", "failed", "1", "it cannot be read"},
		{"the first line, if none speaks", "Exit code 1\none\ntwo", "failed", "1", "one"},
		{"totals beside a failure of few letters", "FAIL\n2 failed, 1 passed", "failed", "", "2 failed, 1 passed"},
		{"an early error that the run got over", "error: cold cache\n1\n2\n3\n4\n5\n6", "ok", "", "6"},
		{"an error near the end", "1\n2\nerror: cold cache\n3\n4\n5\n6", "failed", "", "error: cold cache"},
		{"where a shell is, is not looked at", "fine\nShell cwd was reset to /srv", "ok", "", "fine"},
		{"what a program adds at the end is not looked at", "fine\n<system-reminder>\nerror: no\n", "ok", "", "fine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := transcript.ToolResult{Content: []transcript.Part{transcript.Text(tt.text)}}
			o := outcomeOf(r, false)
			if string(o.status) != tt.status || o.exit != tt.exit || o.summary != tt.tells {
				t.Errorf("%q is %s, exit %q, and tells %q, want %s, %q, %q", tt.text, o.status, o.exit, o.summary, tt.status, tt.exit, tt.tells)
			}
			if (o.failure != "") != (tt.status == "failed") {
				t.Errorf("the failure is %q", o.failure)
			}
		})
	}
}

// A command line that handles its errors fails by strong signs only, whatever its code is.
func TestErrorsThatAreExpected(t *testing.T) {
	for text, want := range map[string]FactStatus{
		"Exit code 3\nlit": StatusOK, "Exit code 3\n--- FAIL: TestBeam": StatusFailed, "Exit code 0\n--- FAIL: TestBeam": StatusOK, "lit": StatusOK,
	} {
		if got := outcomeOf(transcript.ToolResult{Content: []transcript.Part{transcript.Text(text)}}, true).status; got != want {
			t.Errorf("a command that printed %q is %s, want %s", text, got, want)
		}
	}
}

// Totals on adjacent lines are joined up to 199 bytes. Otherwise the later line counts, unless only
// the earlier one tells what passed.
func TestTotals(t *testing.T) {
	long := strings.Repeat("x", 190)
	for _, tt := range []struct {
		first string
		n     int
		line  string
		want  string
	}{
		{"3 lamps", 2, "2 lenses", "3 lamps 2 lenses"},
		{"3 lamps", 3, "2 lenses", "2 lenses"},
		{long, 2, "2 lenses!", long + " 2 lenses!"},
		{long, 2, "2 lenses!!", "2 lenses!!"},
		{"3 pass", 3, "2 lenses", "3 pass"},
		{"3 pass", 3, "2 pass", "2 pass"},
		{"3 lamps", 2, "ok lamp", "ok lamp"},
	} {
		var s outputLines
		s.total(tt.first, 1)
		if s.total(tt.line, tt.n); s.totals != tt.want {
			t.Errorf("line 1 %q and line %d %q are %q, want %q", tt.first, tt.n, tt.line, s.totals, tt.want)
		}
	}
}
