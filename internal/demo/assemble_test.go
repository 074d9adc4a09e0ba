package demo

import (
	"bytes"
	"strings"
	"testing"
)

// The worked example passes its own checks: seed 002, and what it promises.
func TestAssemble(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := Assemble(t.Context(), &out, dir, "carrel"); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"checks passed", "847 artifacts", "312 expired", "fetched again", "of 40,000 tokens", "explains 847 of 847"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output has no %q:\n%s", want, out.String())
		}
	}
}
