package facts

import (
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// What a command printed that did not fail by its own account.
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
