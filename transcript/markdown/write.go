package markdown

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/outcome"
	"github.com/carrel-dev/carrel/transcript"
)

// first is the first line of a document.
const first = "<!-- carrel: a conversation in Markdown, version 1 -->"

// leftOut is the heading of the table at the end.
const leftOut = "## Left out of the window"

// A writer writes a document.
type writer struct {
	strings.Builder

	results map[string]transcript.ToolResult // by the ids of their calls
	losses  []transcript.Loss
}

// head writes the text before the messages.
func (b *writer) head(w *transcript.Window) {
	s := w.Session
	fmt.Fprintf(b, "%s\n\n# %s\n\n| | |\n|---|---|\n", first, plain(cmp.Or(text.Line(s.Title, 80), "A conversation")))
	for _, row := range [][2]string{
		{"session", string(s.ID)},
		{"format", s.Format},
		{"model", s.Model},
		{"project", s.Project},
		{"messages", fmt.Sprintf("%d in the window, of %d", len(w.Entries), len(s.Messages))},
	} {
		if row[1] != "" {
			fmt.Fprintf(b, "| %s | %s |\n", row[0], plain(text.Line(row[1], 200)))
		}
	}
	b.WriteByte('\n')
}

// section writes a message.
func (b *writer) section(i int, e *transcript.Entry) {
	speaker := string(e.Role)
	switch {
	case e.Summary:
		speaker = "summary"
	case e.Source == nil && e.Block != "" && e.Role == transcript.RoleUser:
		speaker = "stub"
	}
	fmt.Fprintf(b, "## %d · %s", i+1, speaker)
	if isID(e.Block.Short()) {
		fmt.Fprintf(b, " · %s", e.Block.Short())
	}
	b.WriteString("\n\n")
	behind := false // a result precedes, and the next fence would be read as a part of it
	for _, p := range e.Parts {
		if _, says := p.(transcript.Text); says && behind {
			b.WriteString("### Text\n\n")
		}
		_, behind = p.(transcript.ToolResult)
		b.part(i, p)
	}
}

func (b *writer) part(i int, p transcript.Part) {
	switch p := p.(type) {
	case transcript.Text:
		b.fence(i, "text", string(p))
	case transcript.Thinking:
		b.WriteString("### Thinking\n\n")
		b.lose(i, "signature", len(p.Signature))
		b.fence(i, "text", p.Text)
	case transcript.ToolCall:
		fmt.Fprintf(b, "### Call of `%s` · `%s`\n\n", inline(p.Name), inline(p.ID))
		if r, answered := b.results[p.ID]; answered {
			if o := outcome.Builtin().Of(p, r); o.Verdict != outcome.Unknown {
				fmt.Fprintf(b, "Outcome: %s `%s`\n\n", o.Verdict, inline(o.Text))
			}
		} else {
			b.WriteString("Outcome: no result\n\n")
		}
		b.fence(i, "json", string(p.Input))
	case transcript.ToolResult:
		failed := ""
		if p.Error {
			failed = " · failed"
		}
		fmt.Fprintf(b, "### Result · `%s`%s\n\n", inline(p.CallID), failed)
		for _, c := range p.Content {
			b.part(i, c)
		}
	case transcript.Media:
		fmt.Fprintf(b, "*%s, %d bytes*\n\n", plain(text.Line(p.Kind+" "+p.MIME, 80)), len(p.Raw))
		b.lose(i, p.Kind, len(p.Raw))
	case transcript.Opaque:
		fmt.Fprintf(b, "*%s, %d bytes, for its provider alone*\n\n", plain(text.Line(p.Type, 80)), len(p.Raw))
		b.lose(i, p.Type, len(p.Raw))
	}
}

// fence writes a text in a fence that the text cannot end.
func (b *writer) fence(i int, kind, said string) {
	said, changed := shown(said)
	if changed {
		b.lose(i, "characters that are not seen", 1)
	}
	longest, row := 2, 0
	for _, c := range []byte(said) {
		if row++; c != '`' {
			row = 0
		}
		longest = max(longest, row)
	}
	marks := strings.Repeat("`", longest+1)
	fmt.Fprintf(b, "%s%s\n%s\n%s\n\n", marks, kind, said, marks)
}

func (b *writer) lose(i int, what string, size int) {
	if size > 0 {
		b.losses = append(b.losses, transcript.Loss{Message: i, What: what, Count: 1, Bytes: size})
	}
}

// shown returns a text with every invisible character replaced, except tabs and line ends, and
// reports whether there was one.
func shown(s string) (string, bool) {
	var b strings.Builder
	changed := false
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == '\x7f':
			b.WriteRune('␡')
		case r == unicode.ReplacementChar && !strings.HasPrefix(s[i:], "\ufffd"), unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\u200d':
			fmt.Fprintf(&b, "U+%04X", r)
		default:
			b.WriteRune(r)
			continue
		}
		changed = changed || r != '\n' && r != '\t'
	}
	return b.String(), changed
}

// inline returns a text for a place between two backticks.
func inline(s string) string {
	s, _ = shown(strings.ReplaceAll(s, "\n", " "))
	return cmp.Or(strings.ReplaceAll(s, "`", "'"), " ")
}

// plain returns a text of one line with all markup escaped.
func plain(s string) string {
	s, _ = shown(s)
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>|&!~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isID reports whether a text is the beginning of a block's id.
func isID(s string) bool {
	return len(s) == 8 && strings.Trim(s, "0123456789abcdef") == ""
}

// dropped writes the table of the blocks that are not whole in the window.
func (b *writer) dropped(w *transcript.Window) {
	whole := make(map[*transcript.Message]bool)
	part := make(map[*transcript.Message]bool)
	stubs := make(map[transcript.BlockID]bool)
	ids := make(map[*transcript.Message]transcript.BlockID)
	for i := range w.Entries {
		e := &w.Entries[i]
		if e.Source == nil {
			stubs[e.Block] = true
			continue
		}
		whole[e.Source], part[e.Source], ids[e.Source] = !e.Changed(), e.Changed(), e.Block
	}
	s := w.Session
	blocks, _ := s.Blocks()
	known := true // whether the window has the ids
	for i := range blocks {
		m := &s.Messages[blocks[i].Messages[0]]
		known = known && (ids[m] == "" || ids[m] == blocks[i].ID)
	}
	rows := 0
	for i := range blocks {
		k := &blocks[i]
		state := "left out"
		missing := false
		for _, at := range k.Messages {
			m := &s.Messages[at]
			missing = missing || !whole[m]
			if part[m] {
				state = "shortened"
			}
		}
		if stubs[k.ID] {
			state = "stub"
		}
		if !missing {
			continue
		}
		if rows++; rows == 1 {
			b.WriteString(leftOut + "\n\n| block | turn | what | state | bytes | begins |\n|---|---|---|---|---|---|\n")
		}
		id := k.ID.Short()
		if !known {
			id = ""
		}
		fmt.Fprintf(b, "| %s | %d | %s | %s | %d | %s |\n", id, k.Turn, k.Kind, state, len(s.RawBlock(k)), plain(text.Line(k.Text(s.Messages), 60)))
	}
}
