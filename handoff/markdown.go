package handoff

import "strings"

// Texts in place of entries.
const (
	noneText    = "None."       // the list is empty
	notSaidText = "Not stated." // the packet does not say whether there are entries
)

// heading is the first line of a packet in Markdown.
const heading = "# Handoff Packet"

// Markdown returns the packet as a document: the header, then the fifteen
// sections. [Parse] reads the document of a valid packet back to an equal packet.
// The grammar is in doc/spec/handoff.md.
func (p *Packet) Markdown() string {
	var w writer
	w.line(heading)
	w.line("")
	w.labels("", headFields, p.head())
	for i := range layouts {
		l := &layouts[i]
		w.line("")
		w.line("## " + l.heading(i))
		w.line("")
		switch l.form {
		case formProse:
			w.line(proseOut(*l.text(p)))
		case formIntent:
			w.intent(&p.Intent)
		case formList:
			w.list(l.fields, l.entries(p))
		case formTable:
			w.table(l, l.entries(p))
		}
	}
	return w.String()
}

// A writer collects the lines of a document.
type writer struct{ strings.Builder }

func (w *writer) line(s string) {
	w.WriteString(s)
	w.WriteByte('\n')
}

// labels writes the texts, each on a line after the label of its field. It leaves
// out optional texts that are empty.
func (w *writer) labels(indent string, fields []field, texts []*string) {
	for i, t := range texts {
		if *t != "" || !fields[i].optional {
			w.line(indent + label(&fields[i]) + " " + itemOut(*t, indent+"  "))
		}
	}
}

// label returns the bullet and the label of a field.
func label(f *field) string { return "- **" + f.label + ":**" }

func (w *writer) intent(in *Aim) {
	w.labels("", intentFields, in.texts())
	for i, items := range in.lists() {
		switch start := label(&intentLists[i]); {
		case *items == nil:
		case len(*items) == 0:
			w.line(start + " " + noneText)
		default:
			w.line(start)
			for _, s := range *items {
				w.line("  - " + itemOut(s, "    "))
			}
		}
	}
}

func (w *writer) list(fields []field, entries list) {
	if entries.size() == 0 {
		w.line(noneText)
	}
	for i := range entries.size() {
		row := entries.row(i)
		w.labels("", fields[:1], row[:1])
		w.labels("  ", fields[1:], row[1:])
	}
}

func (w *writer) table(l *layout, entries list) {
	switch {
	case entries.size() > 0:
	case l.section == sectionArtifacts && !entries.stated():
		w.line(notSaidText)
		return
	default:
		w.line(noneText)
		return
	}
	w.line(tableHead(l.fields))
	w.line("|" + strings.Repeat("---|", len(l.fields)))
	for i := range entries.size() {
		w.WriteByte('|')
		for _, t := range entries.row(i) {
			w.WriteString(" " + cellOut(*t) + " |")
		}
		w.line("")
	}
}

// tableHead returns the first row of a table.
func tableHead(fields []field) string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].label
	}
	return "| " + strings.Join(names, " | ") + " |"
}
