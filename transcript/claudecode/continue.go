package claudecode

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// Continue decodes the end of a file, which begins with the first row of a message,
// without what is before it. It returns nil unless the conversation of the whole file is
// that of what is before, and then that of the end. That is so if nothing that one of
// them names is something that the other brings:
//
//   - The rows of the conversation hang on the first row of the end, which alone hangs
//     on a row before it. So the whole file ends at the same leaf, and the path from there
//     passes over all that the conversation has of the end.
//   - The end has no compaction and no title, its results are of its own calls, and the
//     ids that it brings are not known: the rows before it neither have nor name them.
//     So no reply of one is joined to one of the other.
//
// All lines must be whole. Name is that of the file; known reports whether what is before
// has an id, see [transcript.Item], and may err on the side of true.
func (f format) Continue(name string, end []byte, known func(id string) bool) *transcript.Session {
	if len(end) == 0 || end[len(end)-1] != '\n' {
		return nil
	}
	s, err := f.Decode(name, end)
	if err != nil || len(s.Warnings) > 0 || len(s.Earlier) > 0 || s.Messages[0].Items[0] != 0 {
		return nil
	}
	var lines transcript.Session
	rows := split(&lines, end)
	t := grow(rows)
	if lines.Title != "" || rows[t.leaf()].hidden || t.parent[0] >= 0 || !attached(rows) {
		return nil
	}
	calls := make(map[string]bool)
	for i := range rows {
		if rows[i].boundary || rows[i].summary || slices.ContainsFunc(s.Items[rows[i].item].Brings, known) {
			return nil
		}
		for _, id := range rows[i].callIDs() {
			calls[id] = true
		}
	}
	for i := range rows {
		if rows[i].kind != "user" {
			continue
		}
		for _, id := range rows[i].answered() {
			if !calls[id] {
				return nil
			}
		}
	}
	return s
}

// attached reports whether each row hangs on one before it, back to the first, or is none
// of the conversation, with nothing of the conversation behind it.
func attached(rows []row) bool {
	on := make(map[string]bool, len(rows))
	for i := range rows {
		switch r := &rows[i]; {
		case i == 0 && r.item == 0 || on[r.parent]:
			on[r.uuid] = true
		case r.chat() && !r.hidden:
			return false
		}
	}
	return true
}

// names returns the ids that a row brings, by which other rows can refer to it: its own,
// those of its reply and of its calls. The second list is of those that it only refers to.
func names(r *row, raw []byte) (brought, mentioned []string) {
	brought = append(brought, r.uuid)
	if r.reply != "" {
		brought = append(brought, r.reply)
	}
	brought = append(brought, r.callIDs()...)
	for _, id := range [...]string{r.parent, r.before} {
		if id != "" {
			mentioned = append(mentioned, id)
		}
	}
	mentioned = append(mentioned, r.answered()...)
	if r.boundary {
		mentioned = append(mentioned, texts(gjson.Get(view(raw), "compactMetadata"))...)
	}
	return brought, mentioned
}

// texts returns the strings in a value.
func texts(v gjson.Result) (all []string) {
	if v.Type == gjson.String {
		return []string{v.String()}
	}
	v.ForEach(func(_, inner gjson.Result) bool {
		if inner.Type == gjson.String || inner.Type == gjson.JSON {
			all = append(all, texts(inner)...)
		}
		return true
	})
	return all
}

// Piece returns the messages of some lines, or nil if one of them is none of a
// conversation.
func (format) Piece(lines [][]byte) []transcript.Message {
	all := make([]int, len(lines))
	rows := make([]row, len(lines))
	d := newRowReader()
	for i, raw := range lines {
		r, err := d.row(i, bytes.TrimSpace(raw))
		if err != nil || !r.chat() {
			return nil
		}
		all[i], rows[i] = i, r
	}
	return grow(rows).messages(window{rows: all})
}
