package handoff

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// maxBytes is the largest size of a packet that [Parse] reads, in bytes.
const maxBytes = 16 << 20

// Parse reads a packet in JSON or in Markdown; data that begins with a brace is
// JSON. The name of the file, which may be empty, appears in errors. Errors are
// of type [*transcript.SyntaxError], name the line, the field or the heading,
// and have a hint.
//
// Besides the Markdown that [Packet.Markdown] writes, Parse reads the published
// form of the packet, which has labels that are not bold, a header and an intent
// without bullets, and fourteen sections.
func Parse(name string, data []byte) (*Packet, error) {
	fail := func(line int, text, hint string) (*Packet, error) {
		return nil, &transcript.SyntaxError{Name: name, Line: line, Text: text, Hint: hint}
	}
	if len(data) > maxBytes {
		return fail(0, fmt.Sprintf("has %d bytes, and a packet may have %d", len(data), maxBytes),
			"shorten the packet")
	}
	if at := invalid(data); at >= 0 {
		return fail(transcript.LineOf(data, at), "is not valid UTF-8", "save the file as UTF-8")
	}
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.HasPrefix(bytes.TrimLeft(text, blank), []byte("{")) {
		return readJSON(name, text)
	}
	r := reader{name: name, lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")}
	return r.packet()
}

// invalid returns the position of the first byte that is not UTF-8, or -1.
func invalid(data []byte) int {
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return -1
}

// A reader reads Markdown line by line.
type reader struct {
	name  string
	lines []string
	at    int // index of the next line
}

// A body has the lines below a heading. Numbers of lines begin with 1.
type body struct {
	title string
	at    int // number of the line with the heading
	first int // number of the first line below the heading
	lines []string
}

// errorf returns a [*transcript.SyntaxError] about a line, given by its number.
func (r *reader) errorf(line int, field, hint, format string, args ...any) error {
	return &transcript.SyntaxError{
		Name: r.name, Line: line, Field: field, Text: fmt.Sprintf(format, args...), Hint: hint,
	}
}

func (r *reader) packet() (*Packet, error) {
	for r.at < len(r.lines) && trim(r.lines[r.at]) == "" {
		r.at++
	}
	if r.at == len(r.lines) || !strings.EqualFold(trim(r.lines[r.at]), heading) {
		return nil, r.errorf(min(r.at+1, len(r.lines)), "",
			"begin with "+quote(heading)+" for Markdown, or with a brace for JSON", "there is no packet")
	}
	r.at++
	p := new(Packet)
	p.fillLists()
	if err := r.header(p, r.body("Header")); err != nil {
		return nil, err
	}
	for i := range layouts {
		l := &layouts[i]
		b, err := r.section(i)
		if err != nil {
			return nil, err
		}
		if b == nil {
			continue // the published form has no list of artifacts
		}
		if err := r.read(p, l, b); err != nil {
			return nil, err
		}
	}
	if r.at < len(r.lines) {
		return nil, r.errorf(r.at+1, "", `put a backslash before it if it is text`,
			"%s is behind the last section", quote(r.lines[r.at]))
	}
	return p, nil
}

// body reads the lines up to the next heading.
func (r *reader) body(title string) *body {
	b := &body{title: title, at: r.at, first: r.at + 1}
	for r.at < len(r.lines) && !strings.HasPrefix(r.lines[r.at], "## ") {
		b.lines = append(b.lines, trim(r.lines[r.at]))
		r.at++
	}
	return b
}

// section reads the heading and the body of section i. It returns nil if i is
// the last section, which lists the artifacts, and the packet does not have it.
func (r *reader) section(i int) (*body, error) {
	want := layouts[i].heading(i)
	if r.at == len(r.lines) {
		if layouts[i].section == sectionArtifacts {
			return nil, nil //nolint:nilnil // there is no body
		}
		return nil, r.errorf(len(r.lines), want, "write "+quote("## "+want)+
			` and what belongs there; "None." if a list has nothing`, "the section is missing")
	}
	line := r.lines[r.at]
	if !strings.EqualFold(trim(line[len("## "):]), want) {
		return nil, r.errorf(r.at+1, "", "write "+quote("## "+want)+", or put a backslash before it if it is text",
			"%s where section %d belongs", quote(line), i+1)
	}
	r.at++
	return r.body(want), nil
}

// read reads the body of a section.
func (r *reader) read(p *Packet, l *layout, b *body) error {
	switch l.form {
	case formProse:
		return r.text(b.at, b.title, &field{}, proseIn(b.lines), l.text(p))
	case formIntent:
		return r.intent(&p.Intent, b)
	case formList, formTable:
	}
	entries := l.entries(p)
	if b.says(noneText, "None", publishedNone[l.section]) {
		entries.state()
		return nil
	}
	if l.section == sectionArtifacts && b.says(notSaidText) {
		return nil
	}
	if b.says() {
		return r.errorf(b.at, b.title, `write "None." if there is nothing`, "says nothing")
	}
	if l.form == formTable {
		return r.table(l, b, entries)
	}
	return r.list(l, b, entries)
}

// publishedNone has the sentences that published packets have in place of "None.".
var publishedNone = map[Section]string{
	sectionQuestions: "No open questions visible in the current context.",
	sectionArtifacts: "No files produced this session.",
}

// says reports whether the whole body is one of the given texts. Without texts it reports whether
// the body is empty.
func (b *body) says(texts ...string) bool {
	all := strings.Trim(strings.Join(b.lines, "\n"), "\n")
	for _, t := range texts {
		if t != "" && strings.EqualFold(all, t) {
			return true
		}
	}
	return len(texts) == 0 && all == ""
}

// text stores s in *to if s is valid for field f, and fails otherwise.
func (r *reader) text(line int, title string, f *field, s string, to *string) error {
	if f.label != "" {
		title += ": " + f.label
	}
	if text, hint := f.problem(s); text != "" {
		return r.errorf(line, title, hint, "%s", text)
	}
	*to = s
	return nil
}

var separator = lazy.Regexp(`^:?-+:?$`)

// table reads the rows of a table.
func (r *reader) table(l *layout, b *body, entries list) error {
	head, n := tableHead(l.fields), 0
	for i, line := range b.lines {
		if line == "" {
			continue
		}
		row, ok := cells(line)
		if !ok || len(row) != len(l.fields) {
			return r.errorf(b.first+i, b.title, `write a row with the columns "`+head+`" and "\|" for a pipe in a text`,
				"%s is no row of %d cells", quote(line), len(l.fields))
		}
		n++
		var err error
		switch n {
		case 1:
			err = r.columns(b, b.first+i, row, func(j int, s string) bool { return strings.EqualFold(s, l.fields[j].label) }, head)
		case 2:
			err = r.columns(b, b.first+i, row, func(_ int, s string) bool { return separator.Get().MatchString(s) }, "|"+strings.Repeat("---|", len(l.fields)))
		default:
			for j, to := range entries.grow() {
				if err = r.text(b.first+i, b.title, &l.fields[j], cellIn(row[j]), to); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
	}
	if n < 3 {
		return r.errorf(b.at, b.title, `write "None." in place of the table if there is nothing`, "the table has no rows")
	}
	return nil
}

// columns checks one of the two rows at the top of a table: labels or dashes.
func (r *reader) columns(b *body, line int, row []string, ok func(int, string) bool, want string) error {
	for j, c := range row {
		if c = strings.Trim(c, " \t"); !ok(j, c) {
			return r.errorf(line, b.title, "write "+quote(want), "%s is not how the table begins", quote(c))
		}
	}
	return nil
}

// trim takes white space off the end of a line.
func trim(line string) string { return strings.TrimRight(line, " \t") }

// quote returns a line in quotes for an error, cut to [shownText] bytes.
func quote(s string) string { return `"` + text.Clip(trim(s), shownText) + `"` }
