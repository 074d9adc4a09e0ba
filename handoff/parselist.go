package handoff

import "strings"

// An item is an entry of a list, or a part of one.
type item struct {
	line  int // number of the item's first line in the document
	lines []string
	parts []*item // entries one level below
}

// items reads the lines of a body as a list of two levels. If bare is true, an
// entry may begin without a bullet.
func (r *reader) items(b *body, bare bool) ([]*item, error) {
	var (
		list   []*item
		open   *item  // item that an indented next line continues
		indent string // indentation of such a line
	)
	for i, line := range b.lines {
		rest, level := bullet(line)
		switch {
		case line == "":
			if open != nil {
				open.lines = append(open.lines, "")
			}
		case level == 1 || level == 0 && bare && line[0] != ' ' && line[0] != '\t':
			open, indent = &item{line: b.first + i, lines: []string{rest}}, "  "
			list = append(list, open)
		case level == 2 && len(list) > 0:
			open, indent = &item{line: b.first + i, lines: []string{rest}}, "    "
			last := list[len(list)-1]
			last.parts = append(last.parts, open)
		case open != nil && strings.HasPrefix(line, indent):
			open.lines = append(open.lines, line[len(indent):])
		case open != nil:
			return nil, r.errorf(b.first+i, b.title,
				strings.ReplaceAll("begin it with # spaces to go on with the text above", "#", digit(len(indent))),
				"%s belongs to no entry", quote(line))
		default:
			return nil, r.errorf(b.first+i, b.title, `write an entry as "- **Label:** text", or "None."`,
				"%s is no entry of a list", quote(line))
		}
	}
	return list, nil
}

func digit(n int) string { return string(rune('0' + n)) }

// bullet returns the text after the bullet of a line, and the level of the
// bullet: 1 or 2. For a line without a bullet it returns the line and 0.
func bullet(line string) (rest string, level int) {
	switch {
	case line == "-" || strings.HasPrefix(line, "- "):
		return strings.TrimLeft(line[1:], " \t"), 1
	case line == "  -" || strings.HasPrefix(line, "  - "):
		return strings.TrimLeft(line[3:], " \t"), 2
	}
	return line, 0
}

// labeled finds the field whose label begins the item, and returns the field's
// index and the text after the label.
func labeled(it *item, fields []field) (at int, text string, ok bool) {
	first := it.lines[0]
	for i := range fields {
		name := fields[i].label
		for _, form := range [...]string{"**" + name + ":**", "**" + name + "**:", name + ":"} {
			if len(first) < len(form) || !strings.EqualFold(first[:len(form)], form) {
				continue
			}
			rest := first[len(form):]
			if rest == "" || rest[0] == ' ' || rest[0] == '\t' {
				return i, itemIn(append([]string{rest}, it.lines[1:]...)), true
			}
		}
	}
	return 0, "", false
}

// unlabeled returns the error for an item that begins with none of the labels of fields.
func (r *reader) unlabeled(it *item, title, indent string, fields []field) error {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = label(&fields[i])
	}
	hint := "begin it with " + quote(indent+names[0])
	if len(names) > 1 {
		hint = "begin it with " + indent + oneOf(names)
	}
	return r.errorf(it.line, title, hint, "%s has no label that belongs here", quote(it.lines[0]))
}

// labels reads items that begin with labels, each label at most once. For a label of one of the
// given fields, it stores the text in texts. For a label of a field in the list more, it calls the
// function further with the index in that list. The function may be nil if more is empty.
func (r *reader) labels(
	its []*item, at int, title, indent string, fields, more []field, texts []*string, further func(i int, it *item, s string) error,
) error {
	all := append(append([]field{}, fields...), more...)
	seen := make([]bool, len(all))
	for _, it := range its {
		i, s, ok := labeled(it, all)
		if !ok {
			return r.unlabeled(it, title, indent, all)
		}
		if seen[i] {
			return r.errorf(it.line, title+": "+all[i].label, "leave one of them", "comes twice")
		}
		seen[i] = true
		var err error
		switch {
		case i >= len(fields):
			err = further(i-len(fields), it, s)
		case len(it.parts) > 0:
			err = r.errorf(it.parts[0].line, title+": "+fields[i].label,
				`put a backslash before the "-" if it is text`, "has no entries below it")
		default:
			err = r.text(it.line, title, &fields[i], s, texts[i])
		}
		if err != nil {
			return err
		}
	}
	for i := range all {
		if !seen[i] && !all[i].optional {
			return r.errorf(at, title, "write "+quote(indent+label(&all[i])+" Unknown: …")+" if it is not known",
				"lacks %q", all[i].label)
		}
	}
	return nil
}

// header reads the labels above the first section.
func (r *reader) header(p *Packet, b *body) error {
	its, err := r.items(b, true)
	if err != nil {
		return err
	}
	return r.labels(its, b.at, b.title, "", headFields, nil, p.head(), nil)
}

// intent reads the body of the section with the active intent.
func (r *reader) intent(in *Aim, b *body) error {
	its, err := r.items(b, true)
	if err != nil {
		return err
	}
	lists := in.lists()
	return r.labels(its, b.at, b.title, "", intentFields, intentLists, in.texts(), func(i int, it *item, s string) error {
		*lists[i] = []string{}
		title := b.title + ": " + intentLists[i].label
		none := strings.EqualFold(s, noneText) || strings.EqualFold(s, "None")
		switch {
		case s != "" && !none || none && len(it.parts) > 0:
			return r.errorf(it.line, title, `write each as "  - text" on a line below`, "%s is not a list", quote(s))
		case s == "" && len(it.parts) == 0:
			return r.errorf(it.line, title, `write "None." if there is nothing`, "says nothing")
		}
		for _, part := range it.parts {
			var text string
			if err := r.text(part.line, title, &field{}, itemIn(part.lines), &text); err != nil {
				return err
			}
			*lists[i] = append(*lists[i], text)
		}
		return nil
	})
}

// list reads a section of entries.
func (r *reader) list(l *layout, b *body, entries list) error {
	its, err := r.items(b, false)
	if err != nil {
		return err
	}
	for _, it := range its {
		i, s, ok := labeled(it, l.fields[:1])
		if !ok {
			return r.unlabeled(it, b.title, "", l.fields[:1])
		}
		row := entries.grow()
		if err := r.text(it.line, b.title, &l.fields[i], s, row[0]); err != nil {
			return err
		}
		if len(l.fields) == 1 && len(it.parts) > 0 {
			return r.errorf(it.parts[0].line, b.title, `put a backslash before the "-" if it is text`, "an entry has nothing below it")
		}
		if err := r.labels(it.parts, it.line, b.title, "  ", l.fields[1:], nil, row[1:], nil); err != nil {
			return err
		}
	}
	return nil
}
