package handoff

import (
	"strings"

	"pgregory.net/rapid"
)

// awkward are texts that Markdown, tables or lists would read as something
// else.
var awkward = []string{
	"a", "B c", "é", "日本", "😀", "\u200d", "\u00a0", "|", `\`, `\|`, `\\|`, "#", "##", "## ", `\## 5. Inferred Claims`,
	"# Handoff Packet", "-", "- ", "  - ", "    - ", `\- `, "**Basis:**", "Basis:", "None.", "Not stated.", "`", "```", "<br>", "&#10;", "&#",
	"&amp;", "\n", "\n\n", " ", "\t", "\r", "\r\n", "\x00", "\x1b", "\u2028", "\ufeff", "> ", "1. ", "---", "|---|", "{", "unknown", "?", "; ",
	"<think>", "</think>", "chain of thought:", "Unknown: ",
}

// saying generates texts that are not empty.
var saying = rapid.OneOf(
	rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(awkward), 1, 6).Draw(t, "parts"), "")
	}),
	rapid.String(),
).Filter(func(s string) bool { return strings.Trim(s, blank) != "" })

// packets generates valid packets.
var packets = rapid.Custom(func(t *rapid.T) *Packet {
	p := new(Packet)
	for i, to := range p.head() {
		if !headFields[i].optional || rapid.Bool().Draw(t, headFields[i].key) {
			*to = saying.Draw(t, headFields[i].key)
		}
	}
	for i := range layouts {
		l := &layouts[i]
		switch l.form {
		case formProse:
			*l.text(p) = saying.Draw(t, l.title)
		case formIntent:
			drawIntent(t, &p.Intent)
		case formList, formTable:
			entries := l.entries(p)
			if l.section == sectionArtifacts && rapid.Bool().Draw(t, "not said") {
				continue
			}
			entries.state()
			for range rapid.IntRange(0, 3).Draw(t, "entries") {
				drawRow(t, l.fields, entries.grow())
			}
		}
	}
	return p
})

func drawIntent(t *rapid.T, in *Aim) {
	drawRow(t, intentFields, in.texts())
	for i, items := range in.lists() {
		if rapid.Bool().Draw(t, intentLists[i].key) {
			*items = rapid.SliceOfN(saying, 0, 3).Draw(t, "items")
		}
	}
}

func drawRow(t *rapid.T, fields []field, row []*string) {
	for i, to := range row {
		switch {
		case fields[i].words != nil:
			*to = rapid.SampledFrom(fields[i].words).Draw(t, fields[i].label)
		case !fields[i].optional || rapid.Bool().Draw(t, "is there"):
			*to = saying.Draw(t, fields[i].label)
		}
	}
}
