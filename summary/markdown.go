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

// Markdown returns the document: the header, the sections in their order and
// the metadata. A section that was not said is left out, and so is metadata
// that is zero. Sources stand behind their text, as in "go test passes
// [3f2a91bc]"; line breaks in lists are written as spaces; a backslash protects
// what would be read as something else. [Parse] reads back what it was, if the
// texts have no white space around them, those of lists have one line and are
// more than a label such as "Decision 1", errors have one of the two statuses
// or none, and sources are 8 or more hexadecimal digits.
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

// text returns a field of the metadata as it stands in Markdown. What is 0 is empty.
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

// section writes the heading and the text of a section, if it was said.
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

// noneLines are what a list that says None looks like as a list.
var noneLines = []string{"- " + None, "1. " + None, "- `" + None + "`", "- **" + None + "**"}

// lines returns a file as one line, or as a line for the path and one for each
// change, if that is the only way to keep them apart.
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

// plainChange reports whether a change that stands behind its path is read as
// one change.
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

// sourced returns a text with its source behind it.
func sourced(text, source string) string {
	if source == "" {
		return text
	}
	if text == "" {
		return "[" + source + "]"
	}
	return text + " [" + source + "]"
}

// codeSpan returns a text between as many backticks as it takes.
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

// escapeLine protects a line of prose that would be read as a heading, a rule
// or a protected line.
func escapeLine(line string) string {
	t := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(line, `\`) || strings.HasPrefix(t, "#") || isRule(t) {
		return `\` + line
	}
	return line
}

func unescapeLine(line string) string { return strings.TrimPrefix(line, `\`) }

// isRule reports whether a line parts sections and says nothing.
func isRule(line string) bool {
	t := strings.TrimSpace(line)
	return t == "---" || t == "***" || t == "___" || strings.HasPrefix(t, "```")
}

var (
	tailSource  = lazy.Regexp(`(?:^|\s)\[([0-9a-f]{8,64})\]$`)
	tailBracket = lazy.Regexp(`\[[0-9a-f]{8,64}\]$`)
	tailEscaped = lazy.Regexp(`\\\[[0-9a-f]{8,64}\]$`)
)

// escapeTail protects an end that would be read as a source.
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

// escapeBold protects asterisks in a text between double asterisks. A text
// without them is left as it is, for those who read it.
func escapeBold(text string) string {
	if strings.Contains(text, "**") || strings.Contains(text, `\*`) ||
		strings.HasPrefix(text, "*") || strings.HasSuffix(text, "*") {
		return strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(text)
	}
	if strings.HasSuffix(text, `\`) {
		text += " " // or it would protect the asterisk that closes
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

// number returns n, or nothing for 0.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// decimal returns r without zeros at its end, or nothing for 0.
func decimal(r ratio.Ratio) string {
	if r == 0 {
		return ""
	}
	return strings.TrimRight(strings.TrimRight(fmt.Sprint(r), "0"), ".")
}
