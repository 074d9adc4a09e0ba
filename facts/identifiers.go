package facts

import (
	"bytes"
	"strings"
)

// A Kind says what an identifier looks like. It is stored as its text.
type Kind string

// The kinds of identifiers.
const (
	KindURL    Kind = "url"    // has ://
	KindEmail  Kind = "email"  // has @ and a dot behind it
	KindPath   Kind = "path"   // has a slash
	KindFile   Kind = "file"   // a name with a known extension
	KindKebab  Kind = "kebab"  // words or numbers joined by -
	KindSymbol Kind = "symbol" // has an inner _, a step to upper case, or letters and digits
	KindNumber Kind = "number" // three digits or more, or a few with a unit
)

// An Identifier is one word of a text that is likely to be a name.
type Identifier struct {
	Text string
	Kind Kind
}

// Each calls f for every identifier of text and its offset, in order,
// repetitions included. The strings share memory with text.
func Each(text string, f func(id Identifier, at int)) {
	for i := 0; i < len(text); {
		if !chunkByte[text[i]] {
			// A line feed or tab written as an escape separates, too.
			if text[i] == '\\' && i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 't' || text[i+1] == 'r') {
				i++
			}
			i++
			continue
		}
		start := i
		for i < len(text) && chunkByte[text[i]] {
			i++
		}
		chunk(text[start:i], start, f)
	}
}

// chunk handles a run of bytes that URLs are made of, at an offset.
func chunk(s string, at int, f func(Identifier, int)) {
	if strings.Index(s, "://") > 0 {
		if u := strings.TrimRight(s, ".:-/?#&=+%~@"); len(u) >= 12 {
			f(Identifier{u, KindURL}, at)
			return
		}
	}
	for i := 0; i < len(s); {
		if !pathByte[s[i]] {
			i++
			continue
		}
		start := i
		for i < len(s) && pathByte[s[i]] {
			i++
		}
		w := strings.TrimLeft(s[start:i], ".-/@")
		start = i - len(w)
		w = strings.TrimRight(w, ".-/@")
		if len(w) < 3 || len(w) > 200 {
			continue
		}
		// The root belongs to a path.
		if start > 0 && s[start-1] == '/' && strings.IndexByte(w, '/') > 0 && isPath(w) {
			start--
			w = s[start : start+1+len(w)]
		}
		word(w, at+start, f)
	}
}

// word handles a run of letters, digits and _ . / - @.
func word(w string, at int, f func(Identifier, int)) {
	slash := strings.IndexByte(w, '/') >= 0
	switch sign := strings.IndexByte(w, '@'); {
	case sign > 0 && !slash && strings.IndexByte(w[sign:], '.') > 0:
		f(Identifier{w, KindEmail}, at)
	case slash && isPath(w):
		f(Identifier{w, KindPath}, at)
	case !slash && isFile(w):
		f(Identifier{w, KindFile}, at)
	case !slash && isKebab(w):
		f(Identifier{w, KindKebab}, at)
	default:
		atoms(w, at, f)
	}
}

func isPath(w string) bool {
	if len(w) < 5 || len(w) > 140 || !hasLetter(w) {
		return false
	}
	last := w[strings.LastIndexByte(w, '/')+1:]
	return isFile(last) || strings.Count(w, "/") >= 2 || strings.ContainsAny(w, "0123456789_")
}

func isFile(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	return dot > 0 && len(w) <= 100 && extension[strings.ToLower(w[dot+1:])]
}

func isKebab(w string) bool {
	parts := strings.Count(w, "-") + 1
	if parts < 2 || len(w) < 6 || len(w) > 80 || strings.Contains(w, "--") || strings.ContainsAny(w, ".@") {
		return false
	}
	digit := strings.ContainsAny(w, "0123456789")
	return (parts >= 3 || digit) && (hasLetter(w) || len(w) >= 8)
}

// atoms finds the symbols and numbers in what is none of the larger kinds.
func atoms(w string, at int, f func(Identifier, int)) {
	for i := 0; i < len(w); {
		if !wordByte[w[i]] {
			i++
			continue
		}
		start := i
		for i < len(w) && wordByte[w[i]] {
			i++
		}
		atom(w[start:i], at+start, f)
	}
}

func atom(a string, at int, f func(Identifier, int)) {
	if len(a) < 3 || len(a) > 100 {
		return
	}
	letters, digits, inner, step := 0, 0, false, false
	for i := range len(a) {
		c := a[i]
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c == '_':
			inner = inner || i > 0 && i < len(a)-1
		default:
			letters++
			step = step || 'A' <= c && c <= 'Z' && i > 0 && 'a' <= a[i-1] && a[i-1] <= 'z'
		}
	}
	switch {
	case letters == 0 && digits == len(a) && digits <= 18:
		f(Identifier{a, KindNumber}, at)
	case a[0] <= '9' && len(a) <= 5 && !inner:
		f(Identifier{a, KindNumber}, at) // with a unit, such as 40ms
	case len(a) >= 4 && letters > 0 && (inner || step || digits > 0):
		f(Identifier{a, KindSymbol}, at)
	}
}

func hasLetter(w string) bool {
	for i := range len(w) {
		if c := w[i] | 0x20; 'a' <= c && c <= 'z' {
			return true
		}
	}
	return false
}

type set [256]bool

func bytesOf(extra string) set {
	var s set
	for c := range 256 {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		s[c] = letter || '0' <= c && c <= '9' || bytes.IndexByte([]byte("_"+extra), byte(c)) >= 0
	}
	return s
}

var (
	wordByte  = bytesOf("")
	pathByte  = bytesOf("./-@")
	chunkByte = bytesOf("./-@:~+%#?=&")
)

// extension has the endings by which a name is a file's.
var extension = func() map[string]bool {
	m := make(map[string]bool)
	for e := range strings.FieldsSeq(`go py js ts tsx jsx mjs cjs rs c h cc cpp hpp cs java kt kts scala rb php swift m mm lua pl pm
		r jl ex exs erl hs ml clj dart zig nim sh bash zsh fish ps1 bat sql proto graphql html htm css scss less vue svelte
		json jsonl ndjson yaml yml toml ini cfg conf env xml csv tsv md mdx rst txt log lock mod sum work gradle cmake mk
		tf hcl nix ipynb pdf png jpg jpeg gif svg webp ico zip gz tgz tar zst whl limn db sqlite pem crt key diff patch tmpl`) {
		m[e] = true
	}
	return m
}()
