package sessions

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/text"
)

// An excerpt begins 40 bytes before the first word that was found and has 160 at most.
func TestExcerpts(t *testing.T) {
	fill := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		said, words, stems, want string
	}{
		{"a Lamp and a bulb", "bulb lamp", "", "a Lamp and a bulb"},
		{fill(40) + "lamp", "lamp", "", fill(40) + "lamp"},
		{fill(41) + "lamp", "lamp", "", text.Ellipsis + fill(40) + "lamp"},
		{fill(41) + "bulb lamp", "lamp bulb", "", text.Ellipsis + fill(40) + "bulb lamp"},
		{fill(50) + "lamps", "", "lamp", text.Ellipsis + fill(40) + "lamps"},
		{fill(200), "", "", fill(160) + text.Ellipsis},
		{fill(160), "lamp", "bulb", fill(160)},
		{"İ" + fill(60) + "Lamp", "lamp", "", "İ" + fill(60) + "Lamp"},
	} {
		if got := excerpt(tt.said, strings.Fields(tt.words), strings.Fields(tt.stems)); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.words+tt.stems, tt.said, got, tt.want)
		}
	}
}
