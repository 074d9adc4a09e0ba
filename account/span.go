package account

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// Limits of a span; longer statements are several spans.
const (
	mostSpanLines = 4
	mostSpan      = 200 // bytes
)

// file adds the text of a file or of a part of one: prose with its headings,
// other files as spans. If a later unit has the same lines of the same file,
// only that later unit is kept.
func (r *reader) file(kind Kind, path, body string, head int32) {
	from := len(r.units)
	if forPeople(path) {
		r.prose(kind, withoutNumbers(body, kind != Written && numbers(body)), head)
		r.guide(r.units[from:], path)
	} else {
		r.spans(kind, body, head)
	}
	path = r.short(path)
	copies := r.copies[path]
	if copies == nil {
		copies = make(map[string]int32)
		r.copies[path] = copies
	}
	for i := from; i < len(r.units); i++ {
		_, said := withoutPlace(r.units[i].Text)
		if before, known := copies[said]; known {
			r.units[before].Later = int32(i)
		}
		copies[said] = int32(i)
	}
}

// withoutNumbers returns a text without the line numbers that a tool put before its lines.
func withoutNumbers(s string, lined bool) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		_, line = numbered(line, lined)
		b.WriteString(line)
	}
	return b.String()
}

// guide marks the units of a file written for people, and the rules in it:
// entries of lists, if the file's name or the heading says that it has rules,
// or if the user named the file.
func (r *reader) guide(units []Unit, path string) {
	base := path[strings.LastIndexByte(path, '/')+1:]
	name := strings.ToLower(base)
	all := ruleFiles[name[:strings.LastIndexByte(name, '.')]] || r.mentioned(base)
	rules := all
	for i := range units {
		u := &units[i]
		u.Guide = true
		if u.Title {
			rules = all || obliges.Get().MatchString(u.Text)
		}
		u.Rule = rules && entry(u.Text)
	}
}

// obliges matches a heading of text that binds.
var obliges = lazy.Regexp(`(?i)rule|constraint|requirement|acceptance|convention`)

// mentioned reports whether the user named a file.
func (r *reader) mentioned(base string) bool {
	return slices.ContainsFunc(r.words, func(said string) bool { return strings.Contains(said, base) })
}

// ruleFiles are names, without extensions, of files whose lists are rules.
var ruleFiles = map[string]bool{"agents": true, "claude": true, "gemini": true, "contributing": true, "rules": true, "conventions": true, "copilot-instructions": true}

// forPeople reports whether a file is written for people.
func forPeople(path string) bool {
	i := strings.LastIndexByte(path, '.')
	return i >= 0 && proseFiles[strings.ToLower(path[i:])]
}

// proseFiles are the extensions of files written for people.
var proseFiles = map[string]bool{".md": true, ".mdx": true, ".markdown": true, ".txt": true, ".rst": true, ".adoc": true}

// withoutPlace splits the text of a span into the line number at its
// beginning, "" if it has none, and the rest.
func withoutPlace(s string) (number, said string) {
	bare := strings.TrimLeft(s, " ")
	if n := text.Digits(bare); n > 0 && strings.HasPrefix(bare[n:], ": ") {
		return bare[:n], bare[n+2:]
	}
	return "", bare
}

// noise reports whether a line is data that no one reads: long and with few
// letters.
func noise(line string) bool {
	if len(line) < leastNoise {
		return false
	}
	letters := 0
	for i := range len(line) {
		if c := line[i] | 0x20; 'a' <= c && c <= 'z' || c >= 0x80 {
			letters++
		}
	}
	return 3*letters < len(line)
}

// leastNoise is the length, in bytes, from which a line may be noise.
const leastNoise = 80

// spans adds the lines of a file as spans: statements with the comments above
// them. A span begins with the number of its first line if the tool printed
// it.
func (r *reader) spans(kind Kind, file string, head int32) {
	s := &spanner{r: r, unit: Unit{Kind: kind, Head: head, First: true, Size: size(file)}, last: -1}
	lined := kind != Written && numbers(file)
	for line := range strings.SplitSeq(file, "\n") {
		number, bare := numbered(line, lined)
		s.line(number, strings.TrimRight(bare, " \t\r"))
	}
	s.flush()
	if s.last >= 0 {
		r.units[s.last].Last = true
	}
}

// A spanner cuts a file into spans.
type spanner struct {
	r      *reader
	unit   Unit
	lines  []string
	number string // of the first line
	size   int
	open   int   // number of open brackets
	last   int32 // index of the last unit
}

func (s *spanner) line(number, line string) {
	bare := strings.TrimSpace(line)
	if dense := noise(bare); bare == "" || wrapper(bare) || dense {
		if dense {
			s.r.units[s.unit.Head].Gap = true
		}
		s.flush()
		return
	}
	if len(s.lines) > 0 && (len(s.lines) == mostSpanLines || s.size+len(bare) > mostSpan || !s.goesOn(line)) {
		s.flush()
	}
	if len(s.lines) == 0 {
		if len(bare) < leastOutput {
			return // an empty line ends a span
		}
		s.number = number
	}
	s.lines = append(s.lines, line)
	s.size += len(bare)
	s.open += strings.Count(bare, "(") + strings.Count(bare, "[") - strings.Count(bare, ")") - strings.Count(bare, "]")
}

// goesOn reports whether a line continues the span: brackets are open, or it
// follows a comment.
func (s *spanner) goesOn(line string) bool {
	last := s.lines[len(s.lines)-1]
	return depth(line) >= depth(s.lines[0]) && (s.open > 0 || comment(last))
}

// comment reports whether a line is a comment of one of the languages that
// mark comments at the beginning.
func comment(line string) bool {
	bare := strings.TrimLeft(line, " \t")
	for _, sign := range [...]string{"//", "#", "/*", "* ", "--"} {
		if strings.HasPrefix(bare, sign) {
			return true
		}
	}
	return false
}

// depth returns the indentation of a line in bytes.
func depth(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// flush adds the span.
func (s *spanner) flush() {
	lines := s.lines
	s.lines, s.size, s.open = nil, 0, 0
	if len(lines) == 0 {
		return
	}
	var b strings.Builder
	least := depth(lines[0])
	for _, l := range lines {
		least = min(least, depth(l))
	}
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(indent)
		if i == 0 && s.number != "" {
			b.WriteString(s.number + ": ")
		}
		b.WriteString(text.Clip(strings.ReplaceAll(l[least:], "\t", " "), mostUnit))
	}
	u := s.unit
	u.Text = b.String()
	s.last = s.r.add(u)
	s.unit.First = false
}

// mostAbove bounds the lines that a tool prints above numbered lines.
const mostAbove = 8

// numbers reports whether a tool put line numbers with a tab before the lines of a text: before its
// only line, or ascending by one before two of the first lines.
func numbers(s string) bool {
	before, lines := "", 0
	for line := range strings.Lines(s) {
		n, _ := numbered(line, true)
		if at, err := strconv.Atoi(before); err == nil && n == strconv.Itoa(at+1) {
			return true
		}
		if lines++; lines > mostAbove {
			return false
		}
		before = n
	}
	return lines == 1 && before != ""
}

// numbered splits a line into the line number that a tool put before it and
// the rest. Without such a number, the first result is "". A number before a
// tab counts only if lined is true.
func numbered(line string, lined bool) (number, bare string) {
	rest := strings.TrimLeft(line, " ")
	if n := text.Digits(rest); n > 0 {
		if bare, found := strings.CutPrefix(rest[n:], "→"); found {
			return rest[:n], bare
		}
		if bare, found := strings.CutPrefix(rest[n:], "\t"); found && lined {
			return rest[:n], bare
		}
	}
	return "", line
}
