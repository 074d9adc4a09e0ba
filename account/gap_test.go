package account

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A line of code closes small gaps to the kept lines beside it. In the drawing, K is a kept line, x the new
// one, numbers are missing lines of ten times their bytes, | ends the code, and - cannot be kept.
func TestSmallGapsAreClosed(t *testing.T) {
	for _, tt := range []struct {
		drawn string
		kind  Kind
		want  string
	}{
		{"K2x", Span, "1"},
		{"x2K", Change, "1"},
		{"K22x", Written, "2 1"},
		{"K4x", Span, "1"},
		{"K5x", Span, ""},
		{"K31x11K", Span, "2 1 4 5"},
		{"K32x11K", Span, "4 5"},
		{"K-x", Span, ""},
		{"2x2", Span, ""},
		{"xK", Span, ""},
		{"K2|x2|K", Span, ""},
		{"K2x", Output, ""},
		{"K2x", Sentence, ""},
	} {
		p := &planning{p: &Plan{}, Request: Request{Blocks: make([]Block, 2)}}
		head, at := int32(0), 0
		for _, c := range tt.drawn {
			u := Unit{Kind: tt.kind, Head: head}
			switch {
			case c == '|':
				head++
				continue
			case c == 'x':
				at = len(p.Units)
			case c == '-':
				u.Later = 1
			case '0' <= c && c <= '9':
				u.Text = strings.Repeat("z", int(c-'0')*10-1)
			}
			p.Units, p.p.Kept = append(p.Units, u), append(p.p.Kept, c == 'K')
		}
		p.p.Whole = make([]bool, len(p.Blocks))
		got := strings.Trim(fmt.Sprint(p.close(nil, at)), "[]")
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.drawn, got, tt.want)
		}
		if len(p.Units) > 2 && slices.Contains(p.close([]int32{1}, at)[1:], 1) {
			t.Errorf("%s: a line of the step is added again", tt.drawn)
		}
	}
}
