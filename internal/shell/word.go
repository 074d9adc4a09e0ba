package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// words returns words as the shell passes them on or, if known is false for a word, as written
// in the line. Braces may expand a word to several.
func (w *walker) words(list []*syntax.Word) (words []string, known []bool) {
	words, known = make([]string, 0, len(list)), make([]bool, 0, len(list))
	for _, word := range list {
		made, ok := braces(word)
		if !ok {
			w.within(word)
			words, known = append(words, w.source(word)), append(known, false)
			continue
		}
		for _, one := range made {
			text, ok := w.expand(one)
			words, known = append(words, text), append(known, ok)
		}
	}
	return words, known
}

// maxBraces limits the words to which the braces of a word expand and the nesting of these braces,
// and maxParts the parts of each of several words.
const (
	maxBraces = 64
	maxParts  = 1000
)

// braces returns the words to which a word with braces expands: a.{js,ts} becomes two. ok is
// false for too many words or braces in braces, and for a sequence.
func braces(word *syntax.Word) ([]*syntax.Word, bool) {
	has, depth := false, 0
	for _, p := range word.Parts {
		l, ok := p.(*syntax.Lit)
		for i := 0; ok && i < len(l.Value); i++ {
			switch l.Value[i] {
			case '{':
				has = true
				if depth++; depth > maxBraces {
					return nil, false
				}
			case '}':
				depth = max(0, depth-1)
			}
		}
	}
	if !has {
		return []*syntax.Word{word}, true
	}
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	syntax.SplitBraces(split)
	return product(split)
}

// product returns all combinations of a word's brace parts. ok is false if there are too many.
func product(word *syntax.Word) ([]*syntax.Word, bool) {
	made := []*syntax.Word{{}}
	for _, p := range word.Parts {
		b, ok := p.(*syntax.BraceExp)
		if len(made) > 1 && len(made[0].Parts) > maxParts {
			return nil, false
		}
		if !ok {
			for _, m := range made {
				m.Parts = append(m.Parts, p)
			}
			continue
		}
		var elems []*syntax.Word
		for _, e := range b.Elems {
			inner, ok := product(e)
			if elems = append(elems, inner...); !ok || b.Sequence || len(made)*len(elems) > maxBraces {
				return nil, false
			}
		}
		next := make([]*syntax.Word, 0, len(made)*len(elems))
		for _, m := range made {
			for _, e := range elems {
				next = append(next, &syntax.Word{Parts: slices.Concat(m.Parts, e.Parts)})
			}
		}
		made = next
	}
	return made, true
}

// expand returns the text of a word, and reads the substitutions in it.
func (w *walker) expand(word *syntax.Word) (text string, known bool) {
	if text, known = w.word(word); !known {
		w.within(word)
	}
	w.spend(len(text) / textStep)
	return text, known
}

// word returns the word as the program gets it or, if only the shell knows this, as written
// in the line.
func (w *walker) word(word *syntax.Word) (text string, known bool) {
	var b strings.Builder
	for _, p := range word.Parts {
		if !w.part(&b, p, false) || b.Len() > MaxLine {
			return w.source(word), false
		}
	}
	return b.String(), true
}

// source returns the text of a node in the line. A here-document without an end line ends with the
// line.
func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), min(int(n.End().Offset()), len(w.text))
	if from > to {
		return ""
	}
	return w.text[from:to]
}

// part writes a part of a word, and reports whether its text is known.
func (w *walker) part(b *strings.Builder, p syntax.WordPart, quoted bool) bool {
	switch p := p.(type) {
	case *syntax.Lit:
		return literal(b, p.Value, quoted)
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return escaped(b, p.Value)
		}
		b.WriteString(p.Value)
		return true
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			if !w.part(b, inner, true) || b.Len() > MaxLine {
				return false
			}
		}
		return true
	case *syntax.ParamExp:
		if !isPlain(p) {
			return false
		}
		value, ok := w.vars[p.Param.Value]
		if !ok || !quoted && strings.ContainsAny(value, " \t\n*?[") { // the shell would split the value or expand it as a pattern
			return false
		}
		b.WriteString(value)
		return true
	}
	return false
}

// isPlain reports whether a parameter expands to its value without changes: $x, ${x}. Fields for
// other shells are not set in Bash.
func isPlain(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil
}

// literal writes literal text, and reports whether it is no pattern.
func literal(b *strings.Builder, s string, quoted bool) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if quoted && strings.IndexByte("\"\\$`", s[i]) < 0 {
				b.WriteByte(c)
			}
			b.WriteByte(s[i])
		case !quoted && (c == '*' || c == '?' || c == '[' && strings.Contains(s[i:], "]")):
			return false
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// escaped writes the text of $'…', and reports whether it can decode all escapes.
func escaped(b *strings.Builder, s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '\\', '\'', '"', '?':
			b.WriteByte(s[i])
		default:
			return false
		}
	}
	return true
}

// programName returns the name of the program that a word runs: its last path segment, or ""
// if the word is not known.
func programName(word string, known bool) string {
	name := word[strings.LastIndexByte(word, '/')+1:]
	if known {
		return name
	}
	name = strings.TrimRight(name, `"`)
	if strings.ContainsAny(name, "$`(){}*?[]'\"\\ \n") {
		return ""
	}
	return name
}

// IsTemporary reports whether a path is in a directory for temporary files.
func IsTemporary(path string) bool {
	return strings.HasPrefix(path, "/tmp/") || strings.HasPrefix(path, "/private/tmp/") || strings.HasPrefix(path, "/var/folders/")
}
