package demo

import (
	"bytes"
	"strings"
	"testing"
)

// The demonstration passes its own checks and says where its store is.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := Run(t.Context(), &out, dir); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"checks passed", dir, "byte for byte", "summary    of blocks 1–", "47/47 blocks one recall away"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output has no %q:\n%s", want, out.String())
		}
	}
}

// The demonstration's session is the same every time.
func TestSessionIsFixed(t *testing.T) {
	if !bytes.Equal(Session(), Session()) {
		t.Error("two sessions differ")
	}
}
