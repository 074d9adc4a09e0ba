package claudecode

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// Continue decodes the end of a file without the lines before it; the end begins with the
// first row of a message. Continue returns nil unless decoding the whole file gives the
// messages of the lines before the end, followed by those of the end. This holds if
// neither part refers to an id of the other, except as follows:
//
//   - Each row of the conversation in the end descends from the first row of the end, and
//     only this first row has a parent before the end. So the whole file has the same
//     leaf, and the path from this leaf passes through all messages of the end.
//   - The end has no compaction, no message from the queue, no operation on it and no title, its results answer its own calls, and its
//     ids are not known: no row before the end has or names them. So no reply has rows
//     in both parts.
//
// All lines of end must be complete. The name is that of the file. The function known reports
// whether a line before the end has or names an id, see [transcript.Item]. If it returns true for
// other ids too, Continue returns nil more often than necessary.
func (f format) Continue(name string, end []byte, known func(id string) bool) *transcript.Session {
	if len(end) == 0 || end[len(end)-1] != '\n' || bytes.Contains(end, []byte(`"queue-operation"`)) {
		return nil
	}
	s, err := f.Decode(name, end)
	if err != nil || len(s.Warnings) > 0 || len(s.Earlier) > 0 || s.Messages[0].Items[0] != 0 {
		return nil
	}
	var lines transcript.Session
	rows := f.split(&lines, end)
	t := grow(rows)
	if lines.Title != "" || rows[t.leaf(f.noted)].hidden || t.parent[0] >= 0 || !attached(rows) {
		return nil
	}
	calls := make(map[string]bool)
	for i := range rows {
		if rows[i].boundary || rows[i].queued || rows[i].summary || slices.ContainsFunc(s.Items[rows[i].item].Brings, known) {
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

// attached reports whether each row of the conversation descends from the first row of the
// end. Rows outside the conversation may have other parents, if no row of the conversation
// descends from them.
func attached(rows []row) bool {
	on := make(map[string]bool, len(rows))
	for i := range rows {
		switch r := &rows[i]; {
		case i == 0 || on[r.parent]:
			on[r.uuid] = true
		case r.chat() && !r.hidden:
			return false
		}
	}
	return true
}

// names returns the ids by which other rows can refer to r (its uuid, message id and call
// ids), and the ids of other rows to which r refers.
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

// texts returns all strings in a JSON value, at any depth.
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

// Piece returns the messages of lines, or nil if a line is not a message of a conversation.
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
