package contexts

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/token"
)

// A memory is compared with the texts of a context without the escapes and fences of the format.
func TestTextsOfContexts(t *testing.T) {
	for in, want := range map[string]string{
		"a": "a", `a\"b\\c\/d`: `a"b\c/d`, `a\nb\tc`: "a b c", `\u00e4x`: " x", `a\`: `a\`, `a\u00`: "a ", `\\n`: `\n`, "": "",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"<artifact id=1>\na > b\n</artifact id=1>": "a > b", "a": "a", "</artifact": "", "x>a</artifact>b</artifact>": "a</artifact>b"} {
		if got := unfence(in); got != want {
			t.Errorf("unfence(%q) = %q, want %q", in, got, want)
		}
	}
}

// The tokens of the segments add up to those of the context; what a format adds counts for the
// first.
func TestTokensOfSegments(t *testing.T) {
	for total, want := range map[token.Count]string{10: "10 [8 2]", 4: "4 [2 2]", 3: "3 [1 2]", 2: "3 [1 2]"} {
		segments := []*manifest.Segment{{Tokens: 1}, {Tokens: 2}}
		sum := settle(segments, total)
		if got := fmt.Sprint(sum, " ", []token.Count{segments[0].Tokens, segments[1].Tokens}); got != want {
			t.Errorf("of %d tokens: %s, want %s", total, got, want)
		}
	}
	if got := settle(nil, 5); got != 0 {
		t.Errorf("no segments have %d tokens", got)
	}
}
