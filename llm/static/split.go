package static

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A splitter splits a piece of a text into smaller pieces. The argument first is true if the
// piece is at the beginning of the text.
type splitter func(piece string, first bool) []string

// A class says how a letter is treated when a text is split into pieces.
type class int

const (
	gap   class = iota // separates pieces and is in none
	alone              // is a piece by itself
	word               // is in a piece with neighbors of this class
	other              // is in a piece with neighbors of this class
)

// splitter returns the pre-tokenizer that a component describes.
func (c *component) splitter() (splitter, error) {
	switch c.Type {
	case "BertPreTokenizer":
		return byClass(func(r rune) class {
			switch {
			case unicode.IsSpace(r):
				return gap
			case isPunct(r):
				return alone
			}
			return word
		}), nil
	case "Whitespace":
		return byClass(func(r rune) class {
			switch {
			case unicode.IsSpace(r):
				return gap
			case isWord(r):
				return word
			}
			return other
		}), nil
	case "WhitespaceSplit":
		return byClass(func(r rune) class {
			if unicode.IsSpace(r) {
				return gap
			}
			return word
		}), nil
	case "Punctuation":
		if c.Behavior != "" && c.Behavior != "Isolated" {
			return nil, fmt.Errorf("behavior: %q is %w", c.Behavior, ErrUnsupported)
		}
		return byClass(func(r rune) class {
			if isPunct(r) {
				return alone
			}
			return word
		}), nil
	case "Digits":
		digit := other
		if c.IndividualDigits {
			digit = alone
		}
		return byClass(func(r rune) class {
			if unicode.IsNumber(r) {
				return digit
			}
			return word
		}), nil
	case "Metaspace":
		return c.metaspace()
	}
	return nil, fmt.Errorf("type: %q is %w", c.Type, ErrUnsupported)
}

// byClass returns a splitter that splits a text where two adjacent letters have
// different classes. The function of returns the class of a letter.
func byClass(of func(rune) class) splitter {
	return func(piece string, _ bool) []string {
		var pieces []string
		start, last := 0, gap
		for i, r := range piece {
			next := of(r)
			if next != last || next == alone {
				if last != gap {
					pieces = append(pieces, piece[start:i])
				}
				start = i
			}
			last = next
		}
		if last != gap {
			pieces = append(pieces, piece[start:])
		}
		return pieces
	}
}

// metaspace returns the pre-tokenizer Metaspace: it replaces spaces by a visible letter, and
// pieces begin with it.
func (c *component) metaspace() (splitter, error) {
	mark := c.Replacement
	if utf8.RuneCountInString(mark) != 1 {
		return nil, fmt.Errorf("replacement: %q is not one letter: %w", mark, ErrFormat)
	}
	scheme := c.PrependScheme
	if scheme == "" {
		scheme = "always"
		if c.AddPrefixSpace != nil && !*c.AddPrefixSpace {
			scheme = "never"
		}
	}
	switch scheme {
	case "always", "first", "never":
	default:
		return nil, fmt.Errorf("prepend_scheme: %q is %w", scheme, ErrUnsupported)
	}
	cut := c.Split == nil || *c.Split
	return func(piece string, first bool) []string {
		text := strings.ReplaceAll(piece, " ", mark)
		if !strings.HasPrefix(text, mark) && (scheme == "always" || scheme == "first" && first) {
			text = mark + text
		}
		if !cut {
			return []string{text}
		}
		// Every such letter begins a piece.
		var pieces []string
		for text != "" {
			_, letter := utf8.DecodeRuneInString(text)
			end := strings.Index(text[letter:], mark)
			if end < 0 {
				return append(pieces, text)
			}
			pieces = append(pieces, text[:letter+end])
			text = text[letter+end:]
		}
		return pieces
	}, nil
}

// isPunct reports whether BERT treats a letter as punctuation.
func isPunct(r rune) bool {
	return r < utf8.RuneSelf && unicode.In(r, unicode.P, unicode.S) || unicode.IsPunct(r)
}

// isWord reports whether a letter matches \w in a regular expression of Unicode.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
