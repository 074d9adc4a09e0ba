package retention

import (
	"path"
	"sort"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A Kind is the form of an identifier.
type Kind string

// The kinds of identifiers.
const (
	kindURL    Kind = "url"    // has ://
	kindEmail  Kind = "email"  // has @ and later a dot
	kindPath   Kind = "path"   // has a slash
	kindFile   Kind = "file"   // a name with a known extension
	kindKebab  Kind = "kebab"  // parts joined by -
	kindAtom   Kind = "atom"   // has an inner _, a step to upper case, or letters and digits
	kindNumber Kind = "number" // 3 to 18 digits
)

// A mention is an occurrence of an identifier or a whole line in a text. A line has neither
// neighbors nor a kind.
type mention struct {
	id          name
	left, right name // hashes of the words beside it on the line; 0 at the ends of the line
	from, to    int
	kind        Kind
	inner       bool // the mention is a part of another one
}

// A name is the hash of an identifier, a word or a line, for comparisons: 64-bit FNV-1a.
type name uint64

func nameOf(s string) name {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return name(h)
}

// A scanner finds the mentions of a text in one pass.
type scanner struct {
	text     string
	words    []word
	line     int
	first    int // index of the first word of the current chunk
	mentions []mention
	after    []int // index of the word behind each mention
}

type word struct{ from, to, line int }

// scan returns the mentions of a text in the order in which they begin. A mention comes before the
// mentions that are parts of it.
func scan(text string) []mention {
	s := &scanner{text: text}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case chunkByte[c]:
			from := i
			for i < len(text) && chunkByte[text[i]] {
				i++
			}
			s.chunk(from, i)
			continue
		case c == '\n':
			s.line++
		case c == '\\' && i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 't' || text[i+1] == 'r'):
			i++ // the letter of an escaped line feed or tab
		}
		i++
	}
	for k := range s.mentions {
		// The previous word is the last word of the mention itself.
		if w := s.after[k]; w < len(s.words) && s.words[w].line == s.words[w-1].line {
			s.mentions[k].right = nameOf(text[s.words[w].from:s.words[w].to])
		}
	}
	return s.mentions
}

// chunk finds the mentions in a run of bytes that can occur in a URL.
func (s *scanner) chunk(from, to int) {
	s.first = len(s.words)
	s.runs(from, to, &wordByte, func(from, to int) { s.words = append(s.words, word{from, to, s.line}) })
	if strings.Contains(s.text[from:to], "://") {
		if u := strings.TrimRight(s.text[from:to], ".:-/?#&=+%~@"); len(u) >= 12 && strings.Contains(u, "://") {
			s.add(kindURL, from, from+len(u), false)
			s.atoms(from, from+len(u), true)
			return
		}
	}
	s.runs(from, to, &pathByte, s.name)
}

// runs calls f for each longest run, between from and to, of bytes that are in the set in.
func (s *scanner) runs(from, to int, in *set, f func(from, to int)) {
	for i := from; i < to; {
		if !in[s.text[i]] {
			i++
			continue
		}
		start := i
		for i < to && in[s.text[i]] {
			i++
		}
		f(start, i)
	}
}

// name adds the mentions in s.text[from:to] to s.mentions. That part of the text may be a path, an
// address or a word: it has only ASCII letters, digits and the characters "_./-@".
func (s *scanner) name(from, to int) {
	w := strings.TrimLeft(s.text[from:to], ".-/@")
	from = to - len(w)
	w = strings.TrimRight(w, ".-/@")
	to = from + len(w)
	if len(w) < 3 {
		return
	}
	slashed := strings.Contains(w, "/")
	switch {
	case !slashed && isEmail(w):
		s.add(kindEmail, from, to, false)
	case slashed && isPath(w):
		s.add(kindPath, from+len(w)-len(lastTwo(w)), to, false)
		if file := path.Base(w); isFile(file) {
			s.add(kindFile, to-len(file), to, true)
		}
	case !slashed && isFile(w):
		s.add(kindFile, from, to, false)
	case isKebab(w):
		s.add(kindKebab, from, to, false)
	default:
		s.atoms(from, to, false)
	}
}

// atoms finds the mentions of the kinds atom and number in a run. inner says that the run is a
// mention itself.
func (s *scanner) atoms(from, to int, inner bool) {
	s.runs(from, to, &wordByte, func(from, to int) {
		switch w := s.text[from:to]; {
		case isNumber(w):
			s.add(kindNumber, from, to, inner)
		case isAtom(w):
			s.add(kindAtom, from, to, inner)
		}
	})
}

// add adds a mention to s.mentions, with the word before it, and notes which word comes after it.
func (s *scanner) add(kind Kind, from, to int, inner bool) {
	m := mention{id: nameOf(s.text[from:to]), from: from, to: to, kind: kind, inner: inner}
	chunk := s.words[s.first:]
	before := s.first + sort.Search(len(chunk), func(i int) bool { return chunk[i].to > from }) - 1
	if before >= 0 && s.words[before].line == s.line {
		m.left = nameOf(s.text[s.words[before].from:s.words[before].to])
	}
	s.mentions = append(s.mentions, m)
	s.after = append(s.after, s.first+sort.Search(len(chunk), func(i int) bool { return chunk[i].from >= to }))
}

func isEmail(w string) bool {
	at := strings.IndexByte(w, '@')
	return at > 0 && strings.IndexByte(w[at:], '.') > 0
}

// lastTwo returns the last two segments of a path.
func lastTwo(w string) string {
	last := strings.LastIndexByte(w, '/')
	return w[strings.LastIndexByte(w[:max(last, 0)], '/')+1:]
}

func isPath(w string) bool {
	two := lastTwo(w)
	if len(two) < 5 || len(two) > 140 || !hasLetter(two) {
		return false
	}
	return isFile(path.Base(w)) || strings.Count(w, "/") >= 2 || strings.ContainsAny(two, "0123456789_")
}

func isFile(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	return dot > 0 && len(w) >= 5 && len(w) <= 100 && extensions.Get()[strings.ToLower(w[dot+1:])]
}

func isKebab(w string) bool {
	parts := strings.Count(w, "-") + 1
	if parts < 2 || len(w) < 6 || len(w) > 80 || strings.IndexByte(w, '.') >= 0 || strings.Contains(w, "--") {
		return false
	}
	return (parts >= 3 || strings.ContainsAny(w, "0123456789")) && (hasLetter(w) || len(w) >= 8)
}

func isNumber(w string) bool {
	return len(w) >= 3 && len(w) <= 18 && text.AreDigits(w)
}

// isAtom reports whether a word of letters, digits and _ is an identifier and not an ordinary word:
// it has an underscore inside, a capital behind a small letter, or both letters and digits. An
// underscore at the beginning or end of the word does not count.
func isAtom(w string) bool {
	if len(w) < 4 || len(w) > 100 {
		return false
	}
	letters, digits, step := false, false, false
	for i := range len(w) {
		switch c := w[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case c != '_':
			letters = true
			step = step || 'A' <= c && c <= 'Z' && i > 0 && 'a' <= w[i-1] && w[i-1] <= 'z'
		}
	}
	return step || letters && digits || strings.IndexByte(strings.Trim(w, "_"), '_') > 0
}

func hasLetter(w string) bool {
	for i := range len(w) {
		if c := w[i] | 0x20; 'a' <= c && c <= 'z' {
			return true
		}
	}
	return false
}

// A set is a set of bytes.
type set [256]bool

func wordsAnd(extra string) set {
	var s set
	for c := range 256 {
		low := c | 0x20
		s[c] = 'a' <= low && low <= 'z' || '0' <= c && c <= '9' || c == '_' || strings.IndexByte(extra, byte(c)) >= 0
	}
	return s
}

var (
	wordByte  = wordsAnd("")
	pathByte  = wordsAnd("./-@")
	chunkByte = wordsAnd("./-@:~+%#?=&")
)

// extensions are the extensions of file names.
var extensions = lazy.Words(`
	go py js ts tsx jsx mjs cjs rs c h cc cpp hpp cs java kt scala rb php swift lua r sh bash ps1 bat sql proto graphql
	html htm css scss less vue svelte json jsonl yaml yml toml ini cfg conf env xml csv tsv md mdx rst txt log lock mod
	sum gradle tf ipynb pdf png jpg jpeg gif svg webp ico zip gz tar db sqlite pem diff patch tmpl`)
