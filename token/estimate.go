package token

// A Kind is the kind of a text for an estimate. It is stored as its text.
type Kind string

// The kinds. Any other is treated as prose, which gives too low a result for code and JSON.
const (
	KindProse Kind = "prose"
	KindCode  Kind = "code"
	KindJSON  Kind = "json"
	KindImage Kind = "image"
)

// Estimate returns a guess at the number of tokens of a text from its length alone: 4
// characters a token for prose, 3.5 for code, 3 for JSON, rounded up. So 400 characters are 100
// tokens as prose, 115 as code, 134 as JSON. For an image it returns 0: the text of an image is
// encoded bytes, which no model reads as text. Add [ImageBound] for it.
//
// A character is a UTF-16 code unit. A guess may be too low by a factor of two
// or more, above all for Chinese, Japanese and Korean text; where a budget must
// hold, use [ForModel].
func Estimate(text string, kind Kind) Count {
	n := characters(text)
	switch kind {
	case KindCode:
		return Count((2*n + 6) / 7)
	case KindJSON:
		return Count((n + 2) / 3)
	case KindImage:
		return 0
	case KindProse:
	}
	return Count((n + 3) / 4)
}

// characters returns the length of text in UTF-16 code units.
func characters(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// An estimate is the Counter of [Estimate] for text of unknown kind.
type estimate struct{}

func (estimate) Count(text string) Count { return Estimate(text, KindProse) }
func (estimate) Encoding() string        { return "estimate" }
