package static

import (
	"fmt"
	"strings"
	"unicode"
)

// A normalizer changes a text before it is split.
type normalizer func(text string) string

// normalizer returns the normalizer that a component describes.
func (c *component) normalizer() (normalizer, error) {
	switch c.Type {
	case "BertNormalizer":
		return c.bert(), nil
	case "Lowercase":
		return strings.ToLower, nil
	case "StripAccents":
		return func(text string) string { // the letters may be decomposed by a normal form or not
			return removeIf(text, func(r rune) bool { return unicode.Is(unicode.Mn, r) })
		}, nil
	case "Strip":
		return func(text string) string {
			if c.StripLeft {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if c.StripRight {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		}, nil
	case "Prepend":
		if len(c.Prepend) > maxInserted {
			return nil, fmt.Errorf("prepend: %d bytes are too many: %w", len(c.Prepend), ErrFormat)
		}
		return func(text string) string {
			if text == "" {
				return ""
			}
			return c.Prepend + text
		}, nil
	case "Replace":
		return c.replace()
	}
	return nil, fmt.Errorf("type: %q is %w", c.Type, ErrUnsupported)
}

// replace returns the normalizer of type Replace. It refuses a replacement that is much
// longer than the replaced text, because several in sequence could make a text longer
// without limit.
func (c *component) replace() (normalizer, error) {
	from, to := c.Pattern.String, c.Content
	if from == "" {
		return nil, fmt.Errorf("pattern: a pattern that is not a text is %w", ErrUnsupported)
	}
	if len(to) > max(len(from), len("\u2581")) {
		return nil, fmt.Errorf("content: %d bytes in place of %d are %w", len(to), len(from), ErrUnsupported)
	}
	return func(text string) string { return strings.ReplaceAll(text, from, to) }, nil
}

// bert returns the normalizer of BERT.
func (c *component) bert() normalizer {
	is := func(option *bool, otherwise bool) bool {
		if option == nil {
			return otherwise
		}
		return *option
	}
	lower := is(c.Lowercase, true)
	clean, chinese, accents := is(c.CleanText, true), is(c.HandleChineseChars, true), is(c.StripAccents, lower)
	plain := plainLetters()
	return func(text string) string {
		if clean {
			text = cleanText(text)
		}
		if chinese {
			text = spaceOut(text)
		}
		if accents {
			letters := make([]rune, 0, len(text))
			for _, r := range text {
				letters = appendPlain(letters, plain, r)
			}
			text = string(letters)
		}
		if lower {
			text = strings.ToLower(text)
		}
		return text
	}
}

// cleanText removes control, format and invalid characters, and replaces every white space by a
// space.
func cleanText(text string) string {
	text = removeIf(text, func(r rune) bool {
		switch r {
		case '\t', '\n', '\r':
			return false
		case 0, unicode.ReplacementChar:
			return true
		}
		return unicode.Is(unicode.C, r)
	})
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
}

// ideographs are the blocks that BERT treats as Chinese.
var ideographs = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x3400, Hi: 0x4DBF, Stride: 1}, {Lo: 0x4E00, Hi: 0x9FFF, Stride: 1}, {Lo: 0xF900, Hi: 0xFAFF, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x20000, Hi: 0x2A6DF, Stride: 1}, {Lo: 0x2A700, Hi: 0x2CEAF, Stride: 1}, {Lo: 0x2F800, Hi: 0x2FA1F, Stride: 1}},
}

// spaceOut puts spaces around ideographs, so that each becomes a word.
func spaceOut(text string) string {
	var s strings.Builder
	for _, r := range text {
		if unicode.Is(ideographs, r) {
			s.WriteByte(' ')
			s.WriteRune(r)
			s.WriteByte(' ')
			continue
		}
		s.WriteRune(r)
	}
	return s.String()
}

// removeIf removes the letters for which the function drop returns true.
func removeIf(text string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, text)
}
