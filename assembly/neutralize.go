package assembly

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Neutralize makes characters visible that a reader would not see, or that change the order in
// which other text is displayed. It replaces each forbidden code point by its name in brackets,
// such as "[U+202E]", and each byte that is not valid UTF-8 by "[0xFF]". It returns the text
// and the number of replacements.
//
// Forbidden are control characters other than tab, line feed and carriage return; controls of
// text direction; line and paragraph separators; code points that Unicode allows programs to
// ignore in display, such as zero-width spaces, fillers, tags and variation selectors;
// annotation marks; and noncharacters. Some of them are allowed where a script or an emoji
// needs them:
//
//   - U+200D between two pictographs, the first with or without a skin tone or
//     U+FE0F
//   - U+200C and U+200D within a word of the Arabic, Syriac or an Indic script
//     or of Khmer, Myanmar or Sinhala
//   - U+FE0E and U+FE0F directly after a pictograph, and in a keycap
//   - U+E0100 to U+E01EF directly after a Han ideograph, U+180B to U+180D and
//     U+180F directly after a Mongolian letter
//   - the tags of the flags of England, Scotland and Wales
//
// Neutralizing a neutralized text changes nothing. A text without forbidden code points is
// returned unchanged.
func Neutralize(text string) (string, int) {
	return ReplaceForbidden(text, func(code string) string {
		r, _ := utf8.DecodeRuneInString(code)
		if r == utf8.RuneError {
			return fmt.Sprintf("[0x%02X]", code[0])
		}
		return fmt.Sprintf("[U+%04X]", r)
	})
}

// ReplaceForbidden replaces each code point that [Neutralize] forbids, and each byte that is not
// valid UTF-8, by name(code), where code is the UTF-8 of the code point or the single byte. It
// returns the text and the number of replacements.
func ReplaceForbidden(text string, name func(code string) string) (string, int) {
	i := forbidden(text, 0)
	if i == len(text) {
		return text, 0
	}
	var b strings.Builder
	n, done := 0, 0
	for ; i < len(text); i = forbidden(text, done) {
		b.WriteString(text[done:i])
		_, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(name(text[i : i+size]))
		n++
		done = i + size
	}
	b.WriteString(text[done:])
	return b.String(), n
}

// forbidden returns the offset of the first forbidden code point in text at or after i, or
// len(text) if there is none.
func forbidden(text string, i int) int {
	for i = suspicious(text, i); i < len(text); {
		size := legitimate(text, i)
		if size == 0 {
			return i
		}
		i = suspicious(text, i+size)
	}
	return i
}

// suspicious returns the offset of the first code point at or after i that is forbidden, or is
// allowed only next to certain code points. It returns len(text) if there is none.
func suspicious(text string, i int) int {
	for i < len(text) {
		c := text[i]
		if plain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			return i
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || suspect(r) {
			return i
		}
		i += size
	}
	return i
}

// plain has the ASCII bytes that are always allowed: printable characters, tab, line feed and
// carriage return.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		t[c] = true
	}
	t['\t'], t['\n'], t['\r'] = true, true, true
	return t
}()

// suspect reports whether a code point is forbidden, or allowed only next to certain code
// points.
func suspect(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return !plain[byte(r)]
	case r < 0x2000:
		return r < 0xA0 || r == 0xAD || r == 0x34F || r == 0x61C || r == 0x115F || r == 0x1160 ||
			r == 0x17B4 || r == 0x17B5 || 0x180B <= r && r <= 0x180F
	case r < 0x2070:
		return 0x200B <= r && r <= 0x200F || 0x2028 <= r && r <= 0x202E || r >= 0x2060
	case r < 0xFDD0:
		return r == 0x3164
	}
	return suspectBeyond(r)
}

// suspectBeyond does the work of suspect for code points from U+FDD0 on.
func suspectBeyond(r rune) bool {
	if r < 0x10000 {
		return r <= 0xFDEF || 0xFE00 <= r && r <= 0xFE0F || r == 0xFEFF || r == 0xFFA0 ||
			0xFFF0 <= r && r <= 0xFFFB || r >= 0xFFFE
	}
	return r&0xFFFE == 0xFFFE || 0x1BCA0 <= r && r <= 0x1BCA3 || 0x1D173 <= r && r <= 0x1D17A ||
		0xE0000 <= r && r <= 0xE0FFF
}

// Code points that are parts of emoji.
const (
	joiner       = '\u200D'
	nonJoiner    = '\u200C'
	textStyle    = '\uFE0E'
	emojiStyle   = '\uFE0F'
	keycap       = '\u20E3'
	blackFlag    = '\U0001F3F4'
	lightestSkin = '\U0001F3FB'
	darkestSkin  = '\U0001F3FF'
)

// legitimate returns how many bytes at the beginning of text[i:] are allowed because of their
// neighbors, or 0. text[i:] begins with a suspect code point. The neighbors are never
// replaced, so an allowed code point is still allowed after neutralizing.
func legitimate(text string, i int) int {
	r, size := utf8.DecodeRuneInString(text[i:])
	before, after := text[:i], text[i+size:]
	prev, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	ok := false
	switch {
	case r == textStyle || r == emojiStyle:
		ok = pictograph(prev) || next == keycap && keycapBase(prev)
	case r == joiner && pictograph(next):
		ok = endsInEmoji(before)
	case r == joiner || r == nonJoiner:
		ok = withinWord(before, next)
	case 0xE0100 <= r && r <= 0xE01EF:
		ok = unicode.Is(unicode.Han, prev)
	case 0x180B <= r && r <= 0x180F && r != 0x180E:
		ok = unicode.Is(unicode.Mongolian, prev) && unicode.IsLetter(prev)
	case prev == blackFlag:
		for _, tags := range flagTags {
			if strings.HasPrefix(text[i:], tags) {
				return len(tags)
			}
		}
	}
	if !ok {
		return 0
	}
	return size
}

// pictographs has the code points that emoji consist of, by block, without skin tones and
// regional indicators. Some of them are other symbols.
var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00A9, Hi: 0x00AE, Stride: 5},
		{Lo: 0x203C, Hi: 0x2049, Stride: 13},
		{Lo: 0x2122, Hi: 0x2139, Stride: 23},
		{Lo: 0x2190, Hi: 0x21FF, Stride: 1},
		{Lo: 0x2300, Hi: 0x23FF, Stride: 1},
		{Lo: 0x24C2, Hi: 0x24C2, Stride: 1},
		{Lo: 0x25A0, Hi: 0x27BF, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2B00, Hi: 0x2BFF, Stride: 1},
		{Lo: 0x3030, Hi: 0x303D, Stride: 13},
		{Lo: 0x3297, Hi: 0x3299, Stride: 2},
	},
	R32: []unicode.Range32{
		{Lo: 0x1F000, Hi: 0x1F1E5, Stride: 1},
		{Lo: 0x1F200, Hi: 0x1F3FA, Stride: 1},
		{Lo: 0x1F400, Hi: 0x1FAFF, Stride: 1},
	},
	LatinOffset: 1,
}

func pictograph(r rune) bool { return unicode.Is(pictographs, r) }

func keycapBase(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }

func skinTone(r rune) bool { return lightestSkin <= r && r <= darkestSkin }

// endsInEmoji reports whether a text ends in a pictograph, which a skin tone or a style
// selector may follow.
func endsInEmoji(text string) bool {
	r, size := utf8.DecodeLastRuneInString(text)
	if r == emojiStyle || skinTone(r) {
		r, _ = utf8.DecodeLastRuneInString(text[:len(text)-size])
	}
	return pictograph(r)
}

// joining has the scripts whose words are written with joiners.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// withinWord reports whether a text ends in a letter of a joining script, with
// or without marks, and next is a letter or a mark of the same script.
func withinWord(text string, next rune) bool {
	if !unicode.IsLetter(next) && !unicode.IsMark(next) || suspect(next) {
		return false
	}
	for {
		r, size := utf8.DecodeLastRuneInString(text)
		if unicode.IsMark(r) && !suspect(r) {
			text = text[:len(text)-size]
			continue
		}
		for _, script := range joining {
			if unicode.Is(script, r) {
				return unicode.IsLetter(r) && unicode.Is(script, next)
			}
		}
		return false
	}
}

// flagTags has the tags that follow [blackFlag] in the flags of England, Scotland and Wales.
var flagTags = [...]string{tagged("gbeng"), tagged("gbsct"), tagged("gbwls")}

// tagged returns a region code written in tag characters, with the terminating tag.
func tagged(region string) string {
	return strings.Map(func(r rune) rune { return 0xE0000 + r }, region) + "\U000E007F"
}
