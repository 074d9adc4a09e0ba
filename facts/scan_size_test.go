package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The scan of a long text has whole lines at its beginning and its end, and the number of
// skipped bytes. Marks are in order, and their offsets are right.
func TestScanOfALongText(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < 2*maxScanned; i++ {
		fmt.Fprintf(&b, "line %d of pkg/file%d.go\n", i, i)
	}
	all := strings.TrimSuffix(b.String(), "\n")
	for name, text := range map[string]string{
		"lines": all, "one line": strings.ReplaceAll(all, "\n", " "), "wide letters": strings.Repeat("日本語 ", maxScanned/3),
	} {
		s := NewScan(text)
		if s.Text != text || s.Skipped < len(text)-maxScanned || s.Skipped > len(text)-maxScanned/2 {
			t.Errorf("%s: %d of %d bytes were not looked at", name, s.Skipped, len(text))
		}
		first, last := s.Lines[0], s.Lines[len(s.Lines)-1]
		if first.From != 0 || int(last.To) != len(strings.TrimRight(text, " ")) {
			t.Errorf("%s: lines from %d to %d of %d", name, first.From, last.To, len(text))
		}
		if name == "lines" {
			for _, l := range s.Lines {
				if got := text[l.From:l.To]; l.From > 0 && text[l.From-1] != '\n' || int(l.To) < len(text) && text[l.To] != '\n' {
					t.Fatalf("%s: a line is cut: %q", name, got)
				}
			}
		}
		if !slices.IsSortedFunc(s.Marks, func(a, b Mark) int { return int(a.From - b.From) }) {
			t.Errorf("%s: marks are not in order", name)
		}
	}
	const half = maxScanned / 2
	long := strings.Repeat("x", 2*maxScanned)
	for at, want := range map[int][2]int{half/2 - 1: {half, 3 * half}, half / 2: {half / 2, 3 * half}, half - 1: {half - 1, 3 * half}, half: {half, 3 * half}, 3 * half: {half, 3*half + 1}, 3*half + half/2 - 1: {half, 3*half + half/2}, 3*half + half/2: {half, 3 * half}} {
		if head, tail := scanned(long[:at] + "\n" + long[at+1:]); head != want[0] || tail != want[1] {
			t.Errorf("with a line feed at %d the parts end and begin at %d and %d, want %v", at, head, tail, want)
		}
	}
	if s := NewScan(all[:maxScanned]); s.Skipped != 0 {
		t.Errorf("%d bytes of a text that is short enough were not looked at", s.Skipped)
	}
}
