package summary

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/ratio"
)

// Parse reads a summary in JSON or in Markdown. A model may have written other text around it,
// such as a fence. Besides the Markdown of [Summary.Markdown] it reads common variants of the
// template: headings of any level, bullets of any style, wrapped lines, decisions in bold or
// with "because", changes behind a path or below it. A heading with another name ends a section
// unless it is deeper than the heading of the section. The field of a missing section is nil.
//
// It fails with a [*SyntaxError] if a value has a wrong type, if the JSON is broken or cut off,
// or if the text has no section.
func Parse(data []byte) (*Summary, error) {
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
	text = strings.ToValidUTF8(text, "\ufffd")
	body, line, isJSON := payload(text)
	if !isJSON {
		return parseMarkdown(body)
	}
	var s Summary
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&s); err != nil {
		e := syntax([]byte(body), "", err)
		if e.Line > 0 {
			e.Line += line
		}
		return nil, e
	}
	if s.blank() && !strings.Contains(strings.ToLower(body), string(SectionIntent)) {
		return nil, noSection(line + 1)
	}
	return &s, nil
}

// noSection returns the error for a text without any section.
func noSection(line int) *SyntaxError {
	return &SyntaxError{
		Line: line, Text: "the text has no section of a summary",
		Hint: `write headings such as "## Session Intent", or JSON with session_intent`,
	}
}

// blank reports whether all sections are missing.
func (s *Summary) blank() bool {
	return !slices.ContainsFunc(Sections(), s.said)
}

// payload finds the summary in a text. It returns either the JSON, with the number of lines
// above it, or the Markdown.
func payload(text string) (body string, above int, isJSON bool) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") {
		return trimmed, lead(text, trimmed), true
	}
	if rest, ok := strings.CutPrefix(trimmed, "```"); ok {
		_, inner, _ := strings.Cut(rest, "\n")
		inner = strings.TrimSuffix(strings.TrimSpace(inner), "```")
		if t := strings.TrimSpace(inner); strings.HasPrefix(t, "{") {
			return t, lead(text, t), true
		}
		return inner, 0, false
	}
	if hasSection(text) {
		return text, 0, false
	}
	// A model may write text before and after the object, and braces in it.
	from := strings.IndexByte(text, '{')
	if at := objectStart.Get().FindStringIndex(text); at != nil {
		from = at[0]
	}
	if from >= 0 {
		body := text[from:]
		if to := strings.LastIndexByte(body, '}'); to > 0 {
			body = body[:to+1]
		}
		return body, strings.Count(text[:from], "\n"), true
	}
	return text, 0, false
}

var objectStart = lazy.Regexp(`\{\s*"`)

// lead returns the number of lines of text before part.
func lead(text, part string) int {
	at := max(strings.Index(text, part), 0)
	return strings.Count(text[:at], "\n")
}

func hasSection(text string) bool {
	for line := range strings.Lines(text) {
		if _, ok := heading(line); ok {
			return true
		}
	}
	return false
}

// parseMarkdown reads a document line by line.
func parseMarkdown(text string) (*Summary, error) {
	var (
		s     Summary
		parts = make(map[Section][]string)
		in    Section // section of the current line; empty in the header and the metadata
		own   int     // level of the heading of that section
		other bool    // whether the section has an unknown name
	)
	for line := range strings.SplitSeq(text, "\n") {
		if name, ok := heading(line); ok {
			in, own, other = name, headingLevel(line), false
			if name != "" && parts[name] == nil {
				parts[name] = []string{}
			}
			continue
		}
		if level := headingLevel(line); level > 0 && (in == "" || level <= own) {
			in, other = "", level > 1
			continue
		}
		switch {
		case in != "":
			parts[in] = append(parts[in], line)
		case !other:
			s.readLine(line)
		}
	}
	if len(parts) == 0 {
		return nil, noSection(1)
	}
	for sec, lines := range parts {
		s.parseSection(sec, lines)
	}
	return &s, nil
}

var (
	headingLine = lazy.Regexp(`^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$`)
	headingNum  = lazy.Regexp(`^\d+[.)]\s+`)
	headingJoin = lazy.Regexp(`\s*(?:/|&|\band\b)\s*`)
)

// heading returns the section to which a line is the heading. It returns false if the line is not
// the heading of a section. The section of the metadata is "".
func heading(line string) (Section, bool) {
	m := headingLine.Get().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if m == nil {
		return "", false
	}
	name := strings.ToLower(strings.Trim(headingNum.Get().ReplaceAllString(m[2], ""), " *:_`"))
	sec, ok := headings[headingJoin.Get().ReplaceAllString(strings.ReplaceAll(name, "_", " "), "/")]
	return sec, ok
}

// headings are the names of sections, in lower case, without blanks around a
// slash.
var headings = map[string]Section{
	"session intent": SectionIntent, "intent": SectionIntent,
	"files modified": SectionFiles, "modified files": SectionFiles, "files changed": SectionFiles, "files": SectionFiles,
	"decisions made": sectionDecisions, "decisions": sectionDecisions, "key decisions": sectionDecisions,
	"current state": SectionState, "state": SectionState,
	"blockers": sectionBlockers, "blockers/open questions": sectionBlockers, "open questions": sectionBlockers,
	"open questions/blockers": sectionBlockers,
	"next steps":              SectionNext,
	"technical context":       SectionContext,
	"errors encountered":      sectionErrors, "errors": sectionErrors,
	"key artifacts": SectionArtifacts, "artifacts": SectionArtifacts,
	"metadata": "", "compression metadata": "",
}

func headingLevel(line string) int {
	if m := headingLine.Get().FindStringSubmatch(line); m != nil {
		return len(m[1])
	}
	return 0
}

// readLine reads a line of the header or of the metadata. It ignores other lines.
func (m *Meta) readLine(line string) {
	line = strings.TrimLeft(line, " \t-*>|")
	key, value, ok := strings.Cut(strings.ReplaceAll(line, "**", ""), ":")
	if !ok {
		key, value, _ = strings.Cut(line, "#")
		if value == "" {
			return
		}
		key += "#"
	}
	value = strings.Trim(value, " `")
	key = strings.ToLower(strings.TrimSpace(key))
	for _, f := range m.fields() {
		if !slices.ContainsFunc(f.labels, func(label string) bool { return strings.ToLower(label) == key }) {
			continue
		}
		switch into := f.value.(type) {
		case *int:
			*into = int(lastNumber(value))
		case *int64:
			*into = lastNumber(value)
		case *string:
			*into = value
		case *ratio.Ratio:
			*into = firstRatio(value)
		}
	}
}

var wholeNumber = lazy.Regexp(`\d[\d,_]*`)

// lastNumber returns the last whole number in a text, or 0.
func lastNumber(text string) int64 {
	all := wholeNumber.Get().FindAllString(text, -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(all[len(all)-1]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// firstRatio returns the number at the beginning of a text, or 0.
func firstRatio(text string) ratio.Ratio {
	word, _, _ := strings.Cut(text, " ")
	r, _ := ratio.Parse(word)
	return r
}

// parseSection reads the lines of section sec into s.
func (s *Summary) parseSection(sec Section, lines []string) {
	switch sec {
	case SectionIntent:
		s.Intent = parseProse(lines)
	case SectionState:
		s.State = parseProse(lines)
	case SectionFiles:
		files := Files{}
		for _, b := range bullets(lines) {
			files = append(files, parseFile(b))
		}
		s.Files = unite(files)
	case sectionDecisions:
		s.Decisions = []Decision{}
		for _, b := range bullets(lines) {
			s.Decisions = append(s.Decisions, parseDecision(b))
		}
	case sectionErrors:
		s.Errors = []Error{}
		for _, b := range bullets(lines) {
			s.Errors = append(s.Errors, parseError(b))
		}
	case sectionBlockers, SectionNext, SectionContext, SectionArtifacts:
		list := []Item{}
		for _, b := range bullets(lines) {
			list = append(list, parseItem(b.text))
			for _, sub := range b.sub {
				list = append(list, parseItem(sub))
			}
		}
		*s.items(sec) = list
	}
}

// parseProse returns the text of a section that is no list, without horizontal rules.
func parseProse(lines []string) string {
	var kept []string
	for _, l := range lines {
		if !isRule(l) {
			kept = append(kept, unescapeLine(l))
		}
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// A bullet is an entry of a list with its nested entries.
type bullet struct {
	text string
	sub  []string
}

var bulletLine = lazy.Regexp(`^(\s*)(?:[-*+•]|\d{1,4}[.)])(?:\s+(.*))?$`)

// bullets returns the entries of a list. A line without a bullet continues the entry above it. It
// begins an entry of its own if there is none above, or if a blank line or a rule is between them and
// the line is not indented below the entry.
func bullets(lines []string) []bullet {
	var (
		list   []bullet
		indent int
		open   bool // whether the next line may continue the last entry
	)
	for _, line := range lines {
		text := strings.TrimSpace(line)
		if text == "" || isRule(text) {
			open = false
			continue
		}
		line = strings.ReplaceAll(line, "\t", "    ")
		m := bulletLine.Get().FindStringSubmatch(line)
		in := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case m != nil && len(list) > 0 && len(m[1]) > indent+1:
			last := &list[len(list)-1]
			last.sub = append(last.sub, strings.TrimSpace(m[2]))
			open = true
		case m != nil:
			list, indent, open = append(list, bullet{text: strings.TrimSpace(m[2])}), len(m[1]), true
		case len(list) > 0 && (open || in > indent+1):
			last := &list[len(list)-1]
			if n := len(last.sub); n > 0 {
				last.sub[n-1] += " " + text
			} else {
				last.text += " " + text
			}
		default:
			list, indent, open = append(list, bullet{text: text}), in, true
		}
	}
	return list
}

// isNone reports whether an entry says "None".
func (b *bullet) isNone() bool {
	text, source := cutSource(b.text)
	return source == "" && isNone(text) && len(b.sub) == 0
}

// parseItem reads an item and the source at its end.
func parseItem(text string) Item {
	text, source := cutSource(strings.TrimSpace(text))
	if source == "" && isNone(text) {
		return Item{Text: None}
	}
	return Item{unescapeTail(text), source}
}

func cutSource(text string) (rest, source string) {
	if m := tailSource.Get().FindStringSubmatchIndex(text); m != nil {
		return strings.TrimSpace(text[:m[0]]), text[m[2]:m[3]]
	}
	return text, ""
}

var boldEntry = lazy.Regexp(`^(?:\*\*((?:\\[\\*]|[^*]|\*[^*])*?)\*\*|__(.+?)__)`)

// cutBold cuts bold text off the beginning of an entry.
func cutBold(text string) (bold, rest string, ok bool) {
	m := boldEntry.Get().FindStringSubmatchIndex(text)
	if m == nil {
		return "", text, false
	}
	rest = strings.TrimSpace(text[m[1]:])
	if m[2] < 0 {
		bold = text[m[4]:m[5]]
	} else {
		bold = unescapeBold(text[m[2]:m[3]])
	}
	if !strings.HasPrefix(rest, ":") {
		bold = strings.TrimSpace(strings.TrimSuffix(bold, ":"))
	}
	return bold, rest, true
}

// trimSeparator removes the punctuation between the two halves of an entry.
func trimSeparator(text string) string {
	for _, sep := range []string{":", "—", "–", "->", "→", "-"} {
		if rest, ok := strings.CutPrefix(text, sep); ok {
			return strings.TrimSpace(rest)
		}
	}
	return text
}

// parseDecision reads a decision and its rationale. The decision may be in bold, before
// "because" or before a colon; the rationale may also be in nested entries.
func parseDecision(b bullet) Decision {
	if b.isNone() {
		return Decision{Decision: None}
	}
	text, source := cutSource(b.text)
	d := Decision{Source: source}
	bold, rest, ok := cutBold(text)
	switch {
	case ok && isLabel(bold) && rest != "":
		// "**Decision 1**: chose X because of Y"
		d.Decision, d.Rationale = splitDecision(trimSeparator(rest))
	case ok:
		d.Decision = bold
		if !strings.HasPrefix(rest, ":") {
			rest = trimWord(rest, "because")
		}
		d.Rationale = unescapeTail(trimSeparator(rest))
	default:
		d.Decision, d.Rationale = splitDecision(cutLabel(unescapeTail(text)))
	}
	for _, sub := range b.sub {
		if why, ok := cutName(sub, "rationale", "reason", "why", "because"); ok && d.Rationale == "" {
			it := parseItem(why)
			d.Rationale = it.Text
			continue
		}
		if d.Rationale != "" {
			d.Rationale += "; "
		}
		d.Rationale += sub
	}
	return d
}

var label = lazy.Regexp(`(?i)^(?:decision|question|error|step|blocker)\s*#?\d+$`)

func isLabel(text string) bool { return label.Get().MatchString(text) }

// cutLabel removes a label such as "Decision 1:".
func cutLabel(text string) string {
	if name, rest, ok := strings.Cut(text, ": "); ok && isLabel(strings.Trim(name, "* ")) {
		return strings.TrimSpace(rest)
	}
	return text
}

var (
	becauseWord  = lazy.Regexp(`(?i)[,;]?\s+(?:because|since)\s+`)
	reasonBehind = lazy.Regexp(`(?i)\s*[(;.,—–-]\s*(?:rationale|reason|why):\s*(.+?)\)?$`)
)

// splitDecision separates a decision from its rationale.
func splitDecision(text string) (decision, rationale string) {
	if m := reasonBehind.Get().FindStringSubmatchIndex(text); m != nil {
		return text[:m[0]], text[m[2]:m[3]]
	}
	if at := becauseWord.Get().FindStringIndex(text); at != nil && at[0] > 0 {
		return text[:at[0]], strings.TrimSpace(text[at[1]:])
	}
	for _, sep := range []string{": ", " — ", " – "} {
		if a, b, ok := strings.Cut(text, sep); ok && strings.Contains(a, " ") && strings.Contains(strings.TrimSpace(b), " ") {
			return strings.TrimSpace(a), strings.TrimSpace(b)
		}
	}
	return text, ""
}

// trimWord removes a word from the beginning of a text.
func trimWord(text, word string) string {
	if len(text) > len(word) && strings.EqualFold(text[:len(word)], word) && text[len(word)] == ' ' {
		return strings.TrimSpace(text[len(word):])
	}
	return text
}

// cutName removes a name such as "Rationale:" from the beginning of a text.
func cutName(text string, names ...string) (rest string, ok bool) {
	name, rest, ok := strings.Cut(strings.ReplaceAll(text, "**", ""), ":")
	if !ok {
		return text, false
	}
	for _, n := range names {
		if strings.EqualFold(strings.Trim(name, " _*"), n) {
			return strings.TrimSpace(rest), true
		}
	}
	return text, false
}

var (
	// statusBehind matches a status behind an error. Behind the status is the end, a bracket, a
	// mark, or a word such as "by". The status is not a part of a longer statement, as in "open
	// a.txt: no such file" and "fixed width".
	statusBehind = lazy.Regexp(`(?i)^(.*?)(?:\s*:\s+|\s+[—–-]\s+|\s+→\s+|\s+\(|\s+\[)\**(?:` +
		`(open|unresolved|pending|ongoing|investigating|resolved|fixed|solved)(|[\])*].*|[.;,:]+(?:\s.*)?|\s*[—–].*|\s+(?:[(\[]|-\s).*)|` +
		`(resolved|fixed|solved)(\s+(?:by|in|with|via|after|through|using|since|when|now|at|on)\b.*))$`)
	noteBehind = lazy.Regexp(`^[\s.:;,—–(-]+`)
)

// parseError reads an error, its status and its note.
func parseError(b bullet) Error {
	if b.isNone() {
		return Error{Error: None}
	}
	text, source := cutSource(b.text)
	e := Error{Source: source}
	if bold, rest, ok := cutBold(text); ok && (!isLabel(bold) || rest == "") {
		e.Error = bold
		if after, ok := strings.CutPrefix(rest, ":"); ok {
			rest = strings.TrimSpace(after)
		} else {
			rest = trimSeparator(rest)
		}
		e.Status, e.Note = splitStatus(rest)
	} else if m := statusBehind.Get().FindStringSubmatch(cutLabel(text)); m != nil {
		e.Error, e.Status = m[1], status(m[2]+m[4])
		e.Note = unescapeTail(noteBehind.Get().ReplaceAllString(strings.TrimLeft(m[3]+m[5], "])*"), ""))
	} else {
		e.Error, e.Status = unescapeTail(cutLabel(text)), statusOpen
	}
	for _, sub := range b.sub {
		if word, ok := cutName(sub, "status"); ok && status(word) != "" {
			e.Status = status(word)
			continue
		}
		if e.Note != "" {
			e.Note += "; "
		}
		note, _ := cutName(sub, "note", "fix", "resolution")
		e.Note += note
	}
	return e
}

// splitStatus separates status and note in a text such as "resolved – the note".
func splitStatus(text string) (st, note string) {
	if rest, ok := strings.CutPrefix(text, "– "); ok {
		return "", unescapeTail(rest)
	}
	word := text
	for _, sep := range []string{" – ", " — ", " - ", ": ", "; ", ", ", " ("} {
		if i := strings.Index(text, sep); i >= 0 {
			word = text[:min(i, len(word))]
		}
	}
	st = status(word)
	if st == "" {
		return "", unescapeTail(trimSeparator(text))
	}
	rest, ok := strings.CutPrefix(text[len(word):], " – ")
	if !ok {
		rest = noteBehind.Get().ReplaceAllString(rest, "")
	}
	return st, unescapeTail(rest)
}

// parseFile reads a path and its changes.
func parseFile(b bullet) File {
	if b.isNone() {
		return File{Path: None}
	}
	path, rest := cutPath(b.text)
	f := File{Path: path}
	if rest != "" {
		body, source := cutSource(rest)
		for _, c := range splitChanges(body) {
			f.Changes = append(f.Changes, Item{unescapeTail(c), source})
		}
	}
	for _, sub := range b.sub {
		body, source := cutSource(sub)
		f.Changes = append(f.Changes, Item{unescapeTail(body), source})
	}
	return f
}

// cutPath cuts the path off the beginning of an entry. If it does not begin with a path, the
// first code span is the path and the whole entry the change.
func cutPath(text string) (path, rest string) {
	if bold, after, ok := cutBold(text); ok {
		return strings.Trim(bold, "`"), trimSeparator(after)
	}
	if span, after, ok := cutSpan(text); ok {
		return span, trimSeparator(strings.TrimSpace(after))
	}
	for _, sep := range []string{": ", " — ", " – ", " - "} {
		if a, after, ok := strings.Cut(text, sep); ok && !strings.Contains(a, " ") {
			return a, strings.TrimSpace(after)
		}
	}
	if i := strings.IndexByte(text, '`'); i > 0 {
		if span, _, ok := cutSpan(text[i:]); ok {
			return span, text
		}
	}
	first, after, more := strings.Cut(text, " ")
	if more && strings.ContainsAny(strings.TrimRight(first, ".:"), "./") {
		return strings.TrimSuffix(first, ":"), strings.TrimSpace(after)
	}
	return strings.TrimSuffix(text, ":"), ""
}

// cutSpan cuts a code span off the beginning of a text.
func cutSpan(text string) (span, rest string, ok bool) {
	n := len(text) - len(strings.TrimLeft(text, "`"))
	if n == 0 {
		return "", text, false
	}
	for i := n; i < len(text); {
		j := strings.IndexByte(text[i:], '`')
		if j < 0 {
			break
		}
		i += j
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == n {
			span = text[n:i]
			if n > 1 && len(span) > 2 && span[0] == ' ' && span[len(span)-1] == ' ' {
				span = span[1 : len(span)-1]
			}
			return span, text[i+run:], true
		}
		i += run
	}
	return "", text, false
}

// splitChanges splits the changes of a file at commas and semicolons that are outside brackets,
// quotation marks and code.
func splitChanges(text string) []string {
	var (
		list  []string
		start int
		depth int
		quote byte
	)
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '`' || c == '"':
			if strings.IndexByte(text[i+1:], c) >= 0 {
				quote = c
			}
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth = max(depth-1, 0)
		case (c == ',' || c == ';') && depth == 0 && strings.HasPrefix(text[i+1:], " "):
			list = append(list, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	list = append(list, strings.TrimSpace(text[start:]))
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], "and ")
	}
	return slices.DeleteFunc(list, func(c string) bool { return c == "" })
}
