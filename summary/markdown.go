package summary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// Markdown returns the summary as a document: header, sections in their order, metadata. It
// leaves out sections that are missing and metadata that is zero. A source follows its text, as
// in "go test passes [3f2a91bc]". Line breaks in lists become spaces. A backslash precedes text
// that would otherwise be read as markup.
//
// [Parse] reads back an equal summary if no text has white space at its ends, texts in lists
// have one line and are more than a label such as "Decision 1", errors have one of the two
// statuses or none, and sources are 8 or more hexadecimal digits.
func (s *Summary) Markdown() string {
	var b strings.Builder
	b.WriteString("# Anchored Summary\n\n")
	put := func(fields []metaField) {
		for _, f := range fields {
			if value := f.text(); value != "" {
				b.WriteString("- **" + f.labels[0] + ":** " + text.Fold(value) + "\n")
			}
		}
	}
	meta := s.fields()
	put(meta[:3])
	for _, sec := range Sections() {
		s.section(&b, sec)
	}
	b.WriteString("\n## Metadata\n\n")
	put(meta[3:])
	return b.String()
}

// text returns the value of a field of the metadata as text in Markdown, or "" if the value is zero.
func (f *metaField) text() string {
	switch v := f.value.(type) {
	case *string:
		return *v
	case *ratio.Ratio:
		return decimal(*v)
	case *int64:
		return number(*v)
	case *int:
		if f.name != "messages_compressed" {
			return number(int64(*v))
		}
		if *v > 0 {
			return "1-" + strconv.Itoa(*v)
		}
	}
	return ""
}

// section writes the heading and the lines of a section, unless the section is missing.
func (s *Summary) section(b *strings.Builder, sec Section) {
	if !s.said(sec) {
		return
	}
	b.WriteString("\n## " + sec.title() + "\n\n")
	for _, l := range s.lines(sec) {
		b.WriteString(l)
		b.WriteByte('\n')
	}
}

// lines returns the lines of a section in Markdown.
func (s *Summary) lines(sec Section) []string {
	var lines []string
	switch sec {
	case SectionIntent, SectionState:
		for l := range strings.SplitSeq(s.prose(sec), "\n") {
			lines = append(lines, escapeLine(l))
		}
		return lines
	case SectionFiles:
		for _, f := range s.Files {
			lines = append(lines, f.lines()...)
		}
	case sectionDecisions:
		for _, d := range s.Decisions {
			lines = append(lines, "- "+d.markdown())
		}
	case sectionErrors:
		for _, e := range s.Errors {
			lines = append(lines, "- "+e.markdown())
		}
	case sectionBlockers, SectionNext, SectionContext, SectionArtifacts:
		for i, it := range *s.items(sec) {
			mark := "- "
			if sec == SectionNext {
				mark = strconv.Itoa(i+1) + ". "
			}
			lines = append(lines, mark+it.markdown())
		}
	}
	if len(lines) == 1 && slices.Contains(noneLines, lines[0]) {
		return []string{None}
	}
	return lines
}

// noneLines are the lines of a list in Markdown whose only entry is [None].
var noneLines = []string{"- " + None, "1. " + None, "- `" + None + "`", "- **" + None + "**"}

// lines returns a file in Markdown: path and changes on one line or, if the changes could not
// be separated again, one line for the path and one for each change.
func (f File) lines() []string {
	head := "- " + codeSpan(f.Path)
	switch {
	case len(f.Changes) == 0:
		return []string{head}
	case len(f.Changes) == 1 && plainChange(f.Changes[0].Text):
		return []string{head + ": " + f.Changes[0].markdown()}
	}
	lines := []string{head + ":"}
	for _, c := range f.Changes {
		lines = append(lines, "  - "+c.markdown())
	}
	return lines
}

// plainChange reports whether [Parse] reads s as one change if it stands after a path.
func plainChange(s string) bool {
	list := splitChanges(text.Fold(s))
	return len(list) == 1 && list[0] == text.Fold(s)
}

func (it Item) markdown() string { return sourced(escapeTail(text.Fold(it.Text)), it.Source) }

func (d Decision) markdown() string {
	decision := text.Fold(d.Decision)
	t := "**" + escapeBold(decision) + "**"
	if d.Rationale != "" || strings.HasSuffix(decision, ":") {
		t += ":"
	}
	if d.Rationale != "" {
		t += " " + escapeTail(text.Fold(d.Rationale))
	}
	return sourced(t, d.Source)
}

func (e Error) markdown() string {
	s := text.Fold(e.Error)
	t := "**" + escapeBold(s) + "**"
	if e.Status != "" || e.Note != "" || strings.HasSuffix(s, ":") {
		t += ":"
	}
	if e.Status != "" {
		t += " " + text.Fold(e.Status)
	}
	if e.Note != "" {
		t += " – " + escapeTail(text.Fold(e.Note))
	}
	return sourced(t, e.Source)
}

// sourced returns a text followed by its source.
func sourced(text, source string) string {
	if source == "" {
		return text
	}
	if text == "" {
		return "[" + source + "]"
	}
	return text + " [" + source + "]"
}

// codeSpan returns a text between backticks, as many as Markdown needs.
func codeSpan(text string) string {
	run, longest := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 && (text[0] == '`' || text[len(text)-1] == '`' || text[0] == ' ') {
		text = " " + text + " "
	}
	return fence + text + fence
}

// escapeLine adds a backslash to a line of prose that would be read as a heading, a rule or an
// escaped line.
func escapeLine(line string) string {
	t := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(line, `\`) || strings.HasPrefix(t, "#") || isRule(t) {
		return `\` + line
	}
	return line
}

func unescapeLine(line string) string { return strings.TrimPrefix(line, `\`) }

// isRule reports whether a line is a horizontal rule.
func isRule(line string) bool {
	t := strings.TrimSpace(line)
	return t == "---" || t == "***" || t == "___" || strings.HasPrefix(t, "```")
}

var (
	tailSource  = lazy.Regexp(`(?:^|\s)\[([0-9a-f]{8,64})\]$`)
	tailBracket = lazy.Regexp(`\[[0-9a-f]{8,64}\]$`)
	tailEscaped = lazy.Regexp(`\\\[[0-9a-f]{8,64}\]$`)
)

// escapeTail escapes the end of a text if [Parse] would read it as a source, such as "[3f2a91bc]".
func escapeTail(text string) string {
	if at := tailBracket.Get().FindStringIndex(text); at != nil {
		return text[:at[0]] + `\` + text[at[0]:]
	}
	return text
}

func unescapeTail(text string) string {
	if at := tailEscaped.Get().FindStringIndex(text); at != nil {
		return text[:at[0]] + text[at[0]+1:]
	}
	return text
}

// escapeBold escapes asterisks in a text that goes between double asterisks. Other text is
// unchanged.
func escapeBold(text string) string {
	if strings.Contains(text, "**") || strings.Contains(text, `\*`) ||
		strings.HasPrefix(text, "*") || strings.HasSuffix(text, "*") {
		return strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(text)
	}
	if strings.HasSuffix(text, `\`) {
		text += " " // otherwise the backslash would escape the closing asterisk
	}
	return text
}

func unescapeBold(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, `\*`) {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, `\*`, `*`).Replace(text)
}

// number returns the digits of n, or "" for 0.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// decimal returns r without trailing zeros, or "" for 0.
func decimal(r ratio.Ratio) string {
	if r == 0 {
		return ""
	}
	return strings.TrimRight(strings.TrimRight(fmt.Sprint(r), "0"), ".")
}
