package facts

import (
	"slices"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A Scan has the parts of a text that an agent may need again: its lines,
// identifiers and compounds. It depends on the text alone, is immutable, and
// may be shared.
type Scan struct {
	Text  string
	Lines []Line // nonblank lines, in order
	Marks []Mark // in order

	// Skipped is the number of bytes in the middle of a text of more than a
	// mebibyte that were not scanned.
	Skipped int

	words []uint16 // the hashes of the words of all lines, in order
	start int32    // the line number printed before the first line; 0 if there is none
}

// A Line is a line of a text. Offsets are in bytes of the text.
type Line struct {
	// From and To bound the line's content: without surrounding blanks and
	// without the line number of an editor or a tool.
	From, To int32

	// Scan.Marks[First:End] are its marks.
	First, End int32

	// Key is equal for lines that differ only in blanks, line numbers and the
	// location that a search prints. It is 0 for a line with less than 20
	// bytes, less than two words or more than 400 bytes: agents do not copy
	// such a line as a whole.
	Key uint64

	words, wordsEnd int32 // the range of its words in Scan.words
	shape           shape
	indent          uint8 // number of blanks before the content, after a line number; at most 255
	fails           bool  // it mentions an error
}

// A Mark is one occurrence of an identifier in a text, or of a compound that
// an agent may repeat, such as up-to-date. Offsets are in bytes.
type Mark struct {
	// Key is equal for equal identifiers. Paths are compared by their last
	// two segments.
	Key uint64

	From, To int32 // of the identifier

	// Left and Right bound the identifier with the nearest word on each side
	// in its line: the shortest meaningful excerpt.
	Left, Right int32

	kind  Kind
	inner bool // it is the file name at the end of a path; the path has its own mark
}

// Bounds in bytes: of a line that may be copied as a whole, and of the distance and the
// length of a word beside an identifier.
const (
	minCopied = 20
	maxCopied = 400
	maxBeside = 40
)

// maxScanned is the number of bytes of a text that are scanned. Of a longer text, half of
// them are at the beginning and half at the end.
const maxScanned = 1 << 20

// NewScan scans a text in one pass. Of a text of more than a mebibyte it
// scans the beginning and the end, see [Scan.Skipped].
func NewScan(text string) *Scan {
	s := &Scan{Text: text}
	head, tail := scanned(text)
	s.Lines = make([]Line, 0, 2+strings.Count(text[:head], "\n")+strings.Count(text[tail:], "\n"))
	s.scanSpan(0, head)
	if tail < len(text) {
		s.scanSpan(tail, len(text))
	}
	s.Skipped = tail - head
	return s
}

// scanned returns the parts of s that are scanned: s[:head] and s[tail:]. Both offsets are
// len(s) if all of s is scanned. It cuts between lines, unless a part would lose more than
// half of its bytes.
func scanned(s string) (head, tail int) {
	const half = maxScanned / 2
	if len(s) <= maxScanned {
		return len(s), len(s)
	}
	if head = strings.LastIndexByte(s[:half], '\n'); head < half/2 {
		head = text.Floor(s, half)
	}
	tail = len(s) - half
	if n := strings.IndexByte(s[tail:], '\n'); n >= 0 && n < half/2 {
		return head, tail + n + 1
	}
	return head, text.Ceil(s, tail)
}

// scanSpan scans the text between two offsets.
func (s *Scan) scanSpan(from, to int) {
	text := s.Text[:to]
	var found []Mark
	identifiers(text[from:], true, func(id Identifier, at int) {
		at += from
		m := Mark{From: int32(at), To: int32(at + len(id.Text)), kind: id.Kind}
		if id.Kind == KindPath {
			m.From = m.To - int32(len(lastSegments(id.Text)))
		}
		m.Key = hash(text[m.From:m.To])
		found = append(found, m)
		if slash := strings.LastIndexByte(text[m.From:m.To], '/'); id.Kind == KindPath && slash >= 0 {
			m.From += int32(slash) + 1
			m.Key, m.kind, m.inner = hash(text[m.From:m.To]), KindFile, true
			found = append(found, m)
		}
	})
	s.Marks = slices.Grow(s.Marks, len(found))
	for from <= to {
		end := strings.IndexByte(text[from:], '\n')
		if end < 0 {
			end = to - from
		}
		n := 0
		for n < len(found) && int(found[n].From) < from+end {
			n++
		}
		s.line(from, from+end, found[:n])
		found = found[n:]
		from += end + 1
	}
}

// line adds the line between two offsets, with the identifiers found in it.
func (s *Scan) line(from, to int, found []Mark) {
	whole := strings.TrimSpace(s.Text[from:to])
	if whole == "" {
		return
	}
	indent := strings.Index(s.Text[from:to], whole)
	from += indent
	to = from + len(whole)
	bare := whole
	if n := lineNumberPrefix(whole); n > 0 {
		if len(s.Lines) == 0 {
			s.start = number32(whole)
		}
		if rest := strings.TrimLeft(whole[n:], " \t"); rest != "" {
			bare = rest
			indent = len(whole) - n - len(bare)
		}
	}
	l := Line{
		From: int32(to - len(bare)), To: int32(to), First: int32(len(s.Marks)),
		Key: copyKey(bare), shape: shapeOf(bare), indent: uint8(min(indent, 255)), fails: mentionsError(bare),
	}
	s.Marks = append(s.Marks, found...)
	l.End = int32(len(s.Marks))
	for i := l.First; i < l.End; i++ {
		m := &s.Marks[i]
		m.Left = int32(excerptEnd(s.Text, from, int(m.From), -1))
		m.Right = int32(excerptEnd(s.Text, int(m.To), to, +1))
	}
	l.words = int32(len(s.words))
	s.words = appendWords(s.words, bare)
	l.wordsEnd = int32(len(s.words))
	s.Lines = append(s.Lines, l)
}

// appendWords appends the 16-bit hashes of the words of a line that have four letters or
// more. Words that differ only in case have the same hash. Of a long line it reads the
// first 800 bytes.
func appendWords(list []uint16, line string) []uint16 {
	line = line[:min(len(line), 2*maxCopied)]
	h, n := uint32(2166136261), 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) {
			c := line[i]
			if l := c | 0x20; 'a' <= l && l <= 'z' || c >= 0x80 {
				h = (h ^ uint32(l)) * 16777619
				n++
				continue
			}
		}
		if n >= 4 {
			list = append(list, uint16(h^h>>16))
		}
		h, n = 2166136261, 0
	}
	return list
}

// number32 returns the number that a text begins with, up to a million.
func number32(text string) int32 {
	n := int32(0)
	for i := 0; i < len(text) && '0' <= text[i] && text[i] <= '9' && n < 1_000_000; i++ {
		n = n*10 + int32(text[i]-'0')
	}
	return n
}

// lineNumberPrefix returns the length in bytes of the line number that an editor or a tool
// printed before a line, "12→" or "12" and a tab. It returns 0 if there is none.
func lineNumberPrefix(line string) int {
	if n := text.Digits(line); n > 0 {
		for _, sign := range [...]string{"→", "\t"} {
			if strings.HasPrefix(line[n:], sign) {
				return n + len(sign)
			}
		}
	}
	return 0
}

// searchPrefix returns the length in bytes of the location that a search tool printed before
// a line: "12:", "12|" or "file:12:". It returns 0 if there is none.
func searchPrefix(line string) int {
	i := 0
	if colon := strings.IndexByte(line, ':'); colon > 0 && !strings.ContainsAny(line[:colon], " \t") && (line[0] < '0' || line[0] > '9') {
		i = colon + 1
	}
	if n := i + text.Digits(line[i:]); n > i && (stands(line, n, ':') || i == 0 && stands(line, n, '|')) {
		return n + 1
	}
	return 0
}

// excerptEnd returns the offset where the excerpt around an identifier ends on one side: at the far
// end of the nearest word in s[from:to]. If step is -1, the identifier begins at the offset to, and
// the excerpt grows to the left. If step is 1, the identifier ends at the offset from, and the
// excerpt grows to the right. Without a word within maxBeside bytes the excerpt ends at the
// identifier.
func excerptEnd(s string, from, to, step int) int {
	i, end := from, to
	if step < 0 {
		i, end = to-1, from-1
	}
	start := i
	for i != end && classes[s[i]]&wordBytes == 0 {
		i += step
	}
	if i == end || (i-start)*step > maxBeside {
		if step < 0 {
			return start + 1
		}
		return start
	}
	for i != end && classes[s[i]]&wordBytes != 0 && (i-start)*step <= maxBeside {
		i += step
	}
	if step < 0 {
		return min(text.Ceil(s, i+1), start+1)
	}
	return i
}

// lastSegments returns the last two segments of a path.
func lastSegments(path string) string {
	last := max(strings.LastIndexByte(path, '/'), 0)
	return path[strings.LastIndexByte(path[:last], '/')+1:]
}

// hash is 64-bit FNV-1a.
func hash(s string) uint64 {
	h := uint64(offset64)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime64
	}
	return h
}

const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

// copyKey returns the [Line.Key] of a line without its line number.
func copyKey(line string) uint64 {
	line = line[searchPrefix(line):]
	if len(line) < minCopied {
		return 0
	}
	h, n := uint64(offset64), 0
	blanks, letters, blank, letter := 0, false, true, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c == ' ' || c == '\t' || c == '\r' {
			blank, letter = true, false
			continue
		}
		if blank {
			if n > 0 {
				h = (h ^ ' ') * prime64
				blanks++
				n++
			}
			blank = false
		}
		h = (h ^ uint64(c)) * prime64
		n++
		is := 'a' <= c|0x20 && c|0x20 <= 'z'
		letters = letters || is && letter
		letter = is
	}
	if n < minCopied || n > maxCopied || blanks == 0 || !letters {
		return 0
	}
	return max(h, 1)
}

// A shape is the syntactic form of a line, guessed from its beginning and end.
type shape uint8

const (
	shapePlain shape = iota
	shapeComment
	shapeImport
	shapeDeclaration
	shapeStatement
	shapeItem
	shapeCode
	shapes
)

// shapeOf returns the shape of a line by the syntax of the most common programming
// languages. line must not be empty.
func shapeOf(line string) shape {
	switch line[0] {
	case '/', '#', '*':
		return shapeComment
	case '"', '\'':
		return shapeImport
	case '-', '|':
		return shapeItem
	case '}':
		return shapeStatement
	}
	word := line
	if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		word = line[:i]
	}
	if s, known := leading.Get()[word]; known {
		return s
	}
	switch line[len(line)-1] {
	case ';', '{', ',', ')':
		return shapeCode
	}
	return shapePlain
}

// leading maps keywords at the beginning of a line to the shape of the line.
var leading = lazy.Value[map[string]shape]{Make: func() map[string]shape {
	return map[string]shape{
		"import": shapeImport, "from": shapeImport, "use": shapeImport, "package": shapeImport, "require": shapeImport,
		"func": shapeDeclaration, "type": shapeDeclaration, "export": shapeDeclaration, "class": shapeDeclaration,
		"def": shapeDeclaration, "const": shapeDeclaration, "async": shapeDeclaration, "interface": shapeDeclaration,
		"function": shapeDeclaration, "var": shapeDeclaration, "let": shapeDeclaration, "pub": shapeDeclaration, "fn": shapeDeclaration,
		"struct": shapeDeclaration, "public": shapeDeclaration, "private": shapeDeclaration, "static": shapeDeclaration,
		"if": shapeStatement, "for": shapeStatement, "return": shapeStatement, "else": shapeStatement, "while": shapeStatement,
		"switch": shapeStatement, "case": shapeStatement,
	}
}}

// mentionsError reports whether the first 300 bytes of a line mention an error or a failure.
func mentionsError(line string) bool {
	line = line[:min(len(line), 300)]
	return strings.Contains(line, "rror") || strings.Contains(line, "fail") || strings.Contains(line, "Fail") || strings.Contains(line, "FAIL") || strings.Contains(line, "ERROR")
}
