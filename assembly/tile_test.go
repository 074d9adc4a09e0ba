package assembly

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/token"
)

func TestTile(t *testing.T) {
	type part = Stretch[string]
	for _, tt := range []struct {
		name string
		list []part
		size int
		want []part
	}{
		{"nothing", nil, 0, nil},
		{"frame alone", nil, 3, []part{{0, 3, "frame"}}},
		{"all of it", []part{{0, 3, "a"}}, 3, []part{{0, 3, "a"}}},
		{"frame at both ends", []part{{2, 5, "a"}}, 9, []part{{0, 2, "frame"}, {2, 5, "a"}, {5, 9, "frame"}}},
		{"a gap belongs to what is behind it", []part{{0, 2, "a"}, {4, 6, "b"}}, 6, []part{{0, 2, "a"}, {2, 6, "b"}}},
		{"out of order", []part{{4, 6, "b"}, {1, 4, "a"}}, 6, []part{{0, 1, "frame"}, {1, 4, "a"}, {4, 6, "b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, Tile(tt.list, tt.size, "frame")); d != "" {
				t.Errorf("Tile(%v, %d): -want +got\n%s", tt.list, tt.size, d)
			}
		})
	}
}

// A form that does not fit with its fence is made again for less room: less by the tokens that were too
// many, at most four times, and never if the fence leaves no room. A fence has at least ten tokens.
func TestShortenTriesAgain(t *testing.T) {
	for _, tt := range []struct {
		name        string
		limit, more token.Count // more is what the fence has more around a text
		over        token.Count // how much more each form is over its room than the one before
		want, calls token.Count
	}{
		{"no room", 10, 0, 0, 0, 0},
		{"room for one token", 11, 0, 0, 11, 1},
		{"room at once", 20, 0, 0, 20, 1},
		{"a second try", 20, 3, 0, 20, 2},
		{"a fourth", 20, 0, 1, 0, 4},
		{"room that is used up", 12, 0, 1, 0, 2},
	} {
		calls := token.Count(0)
		count := func(s string) token.Count {
			n := 10 + token.Count(strings.Count(s, "x"))
			if n > 10 {
				n += tt.more
			}
			return n
		}
		form := func(_ Origin, _ string, _ []string, room token.Count, _ func(string) token.Count) string {
			calls++
			return strings.Repeat("x", int(room+tt.over*calls))
		}
		short, n := Shorten(form, Origin{Tokens: 100}, "", nil, tt.limit, count)
		if n != tt.want || calls != tt.calls || (short == "") != (n == 0) {
			t.Errorf("%s: %d tokens after %d calls, want %d after %d", tt.name, n, calls, tt.want, tt.calls)
		}
	}
}

// A shorter form is within its limit with its fence, and there is none where not even the
// fence fits.
func TestShorten(t *testing.T) {
	count := func(s string) token.Count { return token.Count(len(s)) }
	text := strings.Repeat("A sentence about ledgers and their numbers.\n", 40)
	s := Origin{ID: "a1", Class: "retrieved", Origin: "notes"}
	s.Tokens = count(Fence(s, text))
	fitted := false
	for limit := token.Count(0); limit < s.Tokens; limit += 37 {
		short, n := Shorten(Brief, s, text, []string{"ledger"}, limit, count)
		if n > limit || n != count(short) {
			t.Errorf("within %d: %d tokens, counted %d", limit, n, count(short))
		}
		fitted = fitted || short != ""
	}
	if !fitted {
		t.Error("no limit has room for a shorter form")
	}
}
