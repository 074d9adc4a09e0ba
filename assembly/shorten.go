package assembly

import (
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/token"
)

// A Shortener makes a shorter form of a text: [Brief] or [Excerpt].
type Shortener func(s Origin, text string, terms []string, limit token.Count, count func(string) token.Count) string

// shortenTries is how often a form is made again because it takes more with its fence
// than without.
const shortenTries = 4

// Shorten returns a form of a text in its fence, in at most limit tokens with the fence,
// and its tokens, or nothing if none fits. The text has been through [Neutralize];
// s.Tokens is what it takes whole, with its fence.
func Shorten(form Shortener, s Origin, text string, terms []string, limit token.Count, count func(string) token.Count) (string, token.Count) {
	s.Form = manifest.FormBrief
	fence := count(Fence(s, ""))
	s.Tokens = max(1, s.Tokens-fence)
	for room, tries := limit-fence, 0; room > 0 && tries < shortenTries; tries++ {
		short := form(s, text, terms, room, count)
		if short == "" {
			break
		}
		short = Fence(s, short)
		n := count(short)
		if n <= limit {
			return short, n
		}
		room -= n - limit
	}
	return "", 0
}
