package probe

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A scanner cuts a text into runs, and runs into words. A run consists of letters, digits and
// characters of paths. The scanner calls three functions: the function run for each run, the
// function word for each word, and the function path for a run that may be a path. It passes
// the text in the form for comparison, and offsets in the source. The offset of the text's
// start is added to them.
type scanner struct {
	run  func(start, end int)
	word func(form []byte, start, end int)
	path func(form []byte, start, end int)

	form   []byte // current run, folded
	at     []int  // offset of the source of each byte of form
	single bool   // whether the run has characters that are words by themselves
	number int    // end of the last word, if that was a number
}

// scan reads a text. The argument base is the offset of the start of the text.
func (s *scanner) scan(text string, base int) {
	s.number = -1
	if s.form == nil {
		s.form, s.at = make([]byte, 0, 64), make([]int, 0, 64)
	}
	for i := 0; i < len(text); {
		if class[text[i]] == separator {
			i += s.separate(text[i:], base+i)
			continue
		}
		start := i
		s.form, s.at, s.single = s.form[:0], s.at[:0], false
		for i < len(text) {
			n := s.add(text, i, base+i)
			if n == 0 {
				break
			}
			i += n
		}
		if i == start { // a separator that is not ASCII
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		if len(s.form) > 0 {
			s.end(base+start, base+i)
		}
	}
}

// separate handles a separator between runs and returns its length. In an escaped line feed or
// tab, the letter belongs to the separator.
func (s *scanner) separate(text string, at int) int {
	switch {
	case text[0] == '\\' && len(text) > 1 && (text[1] == 'n' || text[1] == 't' || text[1] == 'r'):
		return 2
	case text[0] == '%' && s.near(at):
		s.word(percent, at, at+1)
		s.number = -1
	}
	return 1
}

// near reports whether a number ended at the given offset or one byte before.
func (s *scanner) near(at int) bool { return s.number >= 0 && at-s.number <= 1 }

var percent = []byte("%")

// add adds the character at i to the run and returns its length, or 0 if the character does not
// belong to a run.
func (s *scanner) add(text string, i, at int) int {
	c := text[i]
	if c < utf8.RuneSelf {
		switch class[c] {
		case separator:
			if c != ',' || !s.thousands(text[i+1:]) {
				return 0
			}
		case upper:
			s.put(c|0x20, at)
		default:
			s.put(c, at)
		}
		return 1
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	switch {
	case r >= 0xff01 && r <= 0xff5e: // full width
		c := byte(r - 0xfee0)
		if class[c] == separator {
			return 0
		}
		if class[c] == upper {
			c |= 0x20
		}
		s.put(c, at)
	case strings.ContainsRune("\u2010\u2011\u2012\u2013\u2212", r): // hyphens, en dash, minus
		s.put('-', at)
	case r >= 0xfb00 && r <= 0xfb04:
		for _, c := range []byte([...]string{"ff", "fi", "fl", "ffi", "ffl"}[r-0xfb00]) {
			s.put(c, at)
		}
	case invisible(r):
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		r = unicode.ToLower(r)
		if base, ok := plain.Get()[r]; ok {
			s.put(base, at)
			break
		}
		s.single = s.single || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
		for range utf8.RuneLen(r) {
			s.at = append(s.at, at)
		}
		s.form = utf8.AppendRune(s.form, r)
	default:
		return 0
	}
	return n
}

func (s *scanner) put(c byte, at int) {
	s.form, s.at = append(s.form, c), append(s.at, at)
}

// thousands reports whether a comma before rest separates thousands of the number at the end of
// the run.
func (s *scanner) thousands(rest string) bool {
	if len(rest) < 3 || !text.AreDigits(rest[:3]) || len(rest) > 3 && isDigit(rest[3]) {
		return false
	}
	n := 0
	for n < len(s.form) && isDigit(s.form[len(s.form)-1-n]) {
		n++
	}
	if n == 0 || n > 3 && !s.joined(n) {
		return false
	}
	return n == len(s.form) || s.form[len(s.form)-1-n] != '.' && class[s.form[len(s.form)-1-n]] == mark
}

// joined reports whether the last n digits of the run were written with separators, so that
// their offsets are not consecutive.
func (s *scanner) joined(n int) bool {
	last := len(s.at) - 1
	return s.at[last]-s.at[last-n+1] > n-1
}

// end passes the run, its words and its path to the callbacks.
func (s *scanner) end(start, end int) {
	if s.run != nil {
		s.run(start, end)
	}
	b := s.form
	slash := false
	dot := false
	for i := 0; i < len(b); {
		if class[b[i]] == mark {
			slash, dot = slash || b[i] == '/', dot || b[i] == '.'
			i++
			continue
		}
		from := i
		for i < len(b) && (class[b[i]] != mark || b[i] == '.' && isDigit(b[i-1]) && i+1 < len(b) && isDigit(b[i+1])) {
			i++
		}
		to := end
		if i < len(b) {
			to = s.at[i]
		}
		if s.single {
			s.each(b[from:i], from, to)
		} else {
			s.atom(b[from:i], s.at[from], to)
		}
	}
	if s.path != nil && (slash || dot) {
		if p := bytes.Trim(b, marks); isPath(p) {
			s.path(p, start, end)
		}
	}
}

// each passes each character of b to the callback word, for scripts without spaces between
// words. It treats a sequence of ASCII characters as one word.
func (s *scanner) each(b []byte, from, end int) {
	for i := 0; i < len(b); {
		_, n := utf8.DecodeRune(b[i:])
		j := i + n
		if n == 1 {
			for j < len(b) && b[j] < utf8.RuneSelf {
				j++
			}
		}
		to := end
		if j < len(b) {
			to = s.at[from+j]
		}
		s.atom(b[i:j], s.at[from+i], to)
		i = j
	}
}

// atom passes the word a, which is between start and end in the text, to the callback word,
// with a plural made singular. It passes a number and its unit separately.
func (s *scanner) atom(a []byte, start, end int) {
	if a = bytes.Trim(a, "_"); len(a) == 0 {
		return
	}
	near := s.near(start)
	s.number = -1
	if a[0] == 'v' && len(a) > 3 && isDigit(a[1]) && numeric(a[1:]) == -1 { // v1.2
		a = a[1:]
	}
	if !isDigit(a[0]) {
		if near && string(a) == "percent" {
			a = percent
		}
		s.word(singular(a), start, end)
		return
	}
	switch n := numeric(a); {
	case n < 0:
		s.word(compact(a), start, end)
		s.number = end
	case text.IsUnit(string(a[n:])):
		s.word(a[:n], start, end)
		s.word(a[n:], start, end)
	default:
		s.word(a, start, end)
	}
}

// numeric returns the length of the digits, points and "_" at the beginning of a, or -1 if a
// has nothing else.
func numeric(a []byte) int {
	for i, c := range a {
		if !isDigit(c) && c != '.' && c != '_' {
			return i
		}
	}
	return -1
}

// compact removes the "_" from a number, such as 1_000.
func compact(a []byte) []byte {
	n := 0
	for _, c := range a {
		if c != '_' {
			a[n] = c
			n++
		}
	}
	return a[:n]
}

// singular removes the s of a plural. It also removes the s of some other words, which does no
// harm: both sides of a comparison lose it.
func singular(a []byte) []byte {
	n := len(a)
	if n < 4 || a[n-1] != 's' || a[n-2] == 's' {
		return a
	}
	for _, c := range a {
		if c < 'a' || c > 'z' {
			return a
		}
	}
	return a[:n-1]
}

// isPath reports whether a trimmed run may be a path: it has a slash and a letter, or an
// extension that begins with a letter.
func isPath(b []byte) bool {
	for i, c := range slices.Backward(b) {
		switch c {
		case '/':
			return bytes.IndexFunc(b, unicode.IsLetter) >= 0
		case '.':
			if i+1 < len(b) && !isDigit(b[i+1]) {
				return true
			}
		}
	}
	return false
}

// agree reports whether two trimmed paths are equal, or one is the end of the other and has at
// least two names.
func agree(a, b string) bool {
	for n := 0; ; n++ {
		if a == "" || b == "" {
			return n >= 2 || n == 1 && a == "" && b == ""
		}
		var x, y string
		a, x = cutLast(a)
		b, y = cutLast(b)
		if x != y {
			return false
		}
	}
}

// cutLast cuts the last name off a path. It ignores empty names and ".".
func cutLast(p string) (rest, last string) {
	for last == "" || last == "." {
		i := strings.LastIndexByte(p, '/')
		rest, last = p[:max(i, 0)], p[i+1:]
		if i < 0 {
			break
		}
		p = rest
	}
	return rest, last
}

// words returns the words of a text in the form for comparison.
func words(text string) []string {
	var list []string
	s := scanner{word: func(form []byte, _, _ int) { list = append(list, string(form)) }}
	s.scan(text, 0)
	return list
}

// normal returns the words of a text, joined by spaces.
func normal(text string) string { return strings.Join(words(text), " ") }

// contains reports whether the text whole has the words of the text part one after the
// other. Both texts are in normal form.
func contains(whole, part string) bool {
	return part != "" && strings.Contains(" "+whole+" ", " "+part+" ")
}

// A term is a keyword in the form for searching: a path, or words that follow each other.
type term struct {
	words []string
	path  string
}

func (t term) key() string { return t.path + "\x00" + strings.Join(t.words, " ") }

// terms returns the terms of a probe's keywords.
func (p *Probe) terms() []term {
	list := make([]term, len(p.Expected))
	for i, keyword := range p.Expected {
		list[i] = compile(keyword, p.Type == typeFilePath)
	}
	return list
}

// compile returns the term of a keyword. If file is true, a single file name is a path;
// otherwise it is not, because fmt.Print looks like one.
func compile(keyword string, file bool) term {
	var t term
	runs, paths := 0, 0
	s := scanner{
		run:  func(int, int) { runs++ },
		word: func(form []byte, _, _ int) { t.words = append(t.words, string(form)) },
		path: func(form []byte, _, _ int) {
			paths++
			t.path = string(form)
		},
	}
	s.scan(keyword, 0)
	if runs != 1 || paths != 1 || !file && !strings.Contains(t.path, "/") {
		t.path = ""
	}
	return t
}

// Classes of bytes. For other alphabets, the character decides whether it belongs to a run.
const (
	separator = iota
	letter    // or digit
	upper
	mark // character of paths and compounds
)

// marks have no meaning at the ends of a path. They may end a sentence.
const marks = "./-@+~"

var class = func() (c [256]uint8) {
	for b := range 256 {
		switch {
		case 'A' <= b && b <= 'Z':
			c[b] = upper
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '_', b >= utf8.RuneSelf:
			c[b] = letter
		case strings.IndexByte(marks, byte(b)) >= 0:
			c[b] = mark
		}
	}
	return c
}()

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// invisible reports whether a character is ignored: joiners, soft hyphens, combining marks.
func invisible(r rune) bool {
	return r == 0xad || r >= 0x200b && r <= 0x200d || r == 0x2060 || r == 0xfeff || unicode.Is(unicode.Mn, r)
}

// plain has the base letters of accented letters.
var plain = lazy.Value[map[rune]byte]{Make: func() map[rune]byte {
	m := make(map[rune]byte)
	for _, row := range []string{
		"aàáâãäåāăą", "cçćĉċč", "dďđ", "eèéêëēĕėęě", "gĝğġģ", "hĥħ", "iìíîïĩīĭįı", "jĵ", "kķ", "lĺļľŀł",
		"nñńņňŉ", "oòóôõöøōŏő", "rŕŗř", "sśŝşš", "tţťŧ", "uùúûüũūŭůűų", "wŵ", "yýÿŷ", "zźżž",
	} {
		for _, r := range row[1:] {
			m[r] = row[0]
		}
	}
	return m
}}

// setOf returns the words of a text as a set, computed on first use.
func setOf(text string) *lazy.Set { return &lazy.Set{Text: text, Read: readSet} }

func readSet(text string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range words(text) {
		m[w] = true
	}
	return m
}

// stop has words that carry no information by themselves.
var stop = setOf(`a about above after again all almost along already also although always am an and another any anyway are as at
	be because been before being below between both but by can cannot could did do does doing done don down during each either else
	enough even ever every few first for from further get gets getting give given go goes going gone got had has have having he her
	here hers him his how however i if in instead into is it its itself just keep kept last let like ll made make makes making many
	may maybe me might mine more most much must my need needs neither never new next no none nor not now of off ok okay old on once
	one only onto or other others our ours out over own per perhaps please put quite rather re really s same see seem seems seen
	shall she should since so some something soon still such sure t take taken than thank thanks that the their them themselves then
	there these they thing things this those though through thus to together too toward two under until up upon us use used uses
	using ve very via want wants was way we well went were what when where whether which while who whole whom whose why will with
	within without would yes yet you your yours doesn didn isn wasn aren weren couldn wouldn shouldn won haven hasn hadn http https www`)

// generic has words that are too common in this field for keywords.
var generic = setOf(`file files path paths folder directory line lines code test tests error errors bug bugs issue issues problem
	problems change changes changed update updated add added fix fixed work works working run running data value values name names
	type types function functions method class user turn turns message messages command commands edited succeeded func const interface struct import return null nil true
	false`)
