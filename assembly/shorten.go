package assembly

import (
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/token"
)

// A Shortener makes a shorter form of a text: [Brief] or [Excerpt].
type Shortener func(s Origin, text string, terms []string, limit token.Count, count func(string) token.Count) string

// shortenTries is the largest number of attempts of Shorten. An attempt fails if the text in its
// fence has more tokens than text and fence have separately.
const shortenTries = 4

// Shorten returns a short form of text inside its fence, with at most limit tokens including
// the fence, and the tokens of the result. The fence has the form brief, whatever s.Form is.
// The results are "" and 0 if no form fits. The caller has neutralized text, and s.Tokens is the
// size of Fence(s, text), where s.Form is whole or empty; it must not be 0.
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
