package claudecode

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// Users write messages while the model is working. Claude Code queues them. It either gives one to
// the model beside the next result of a tool, or begins a turn with it, which has a row of its own.
// For the first case newer versions write an attachment of type queued_command into the
// conversation. Versions up to 2.1.50 wrote only rows of type queue-operation, which have no uuid:
// enqueue with the text, then remove when the model gets it beside a result, dequeue when it begins
// a turn, or popAll when the user takes it back.

// attach makes r a message of the user if its attachment is one from the queue.
func (r *row) attach(attachment []byte) {
	doc := gjson.ParseBytes(attachment)
	origin, mode := doc.Get("origin.kind").String(), doc.Get("commandMode").String()
	if doc.Get("type").String() != "queued_command" || doc.Get("isMeta").Bool() ||
		origin != "" && origin != "human" || mode != "" && mode != "prompt" {
		return
	}
	d := newRowReader()
	d.line = []byte(doc.Get("prompt").Raw)
	d.Reset(d.line)
	if parts, err := d.content(); err == nil && len(parts) > 0 {
		r.kind, r.queued, r.parts = "user", true, parts
	}
}

// A queue holds the queued messages while the rows of a file are read.
type queue struct {
	waiting []row
	seen    map[string]bool // uuids
}

// apply applies a row about the queue, whose bytes are in raw. It returns the message that the model
// got, as a row below the row last. The row has the item of its enqueue operation, and a uuid that
// depends only on that item's bytes.
func (q *queue) apply(r row, raw []byte, last *row) (row, bool) {
	switch r.operation {
	case "enqueue":
		sum := sha256.Sum256(append([]byte("queued/v1\x00"), bytes.TrimSpace(raw)...))
		r.kind, r.queued, r.uuid, r.parts = "user", true, uuid(sum[:]), []transcript.Part{transcript.Text(r.content)}
		q.waiting = append(q.waiting, r)
	case "remove", "dequeue", "popAll":
		if len(q.waiting) == 0 {
			break
		}
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		if r.operation == "remove" && last != nil && typed(next.content) && !q.seen[next.uuid] {
			next.parent, next.sidechain, next.hidden = last.uuid, last.sidechain, last.hidden
			return next, true
		}
	}
	return row{}, false
}

// once returns the rows without operations of the queue whose message has an attachment, too.
func once(rows []row) []row {
	attached := make(map[string]bool)
	for i := range rows {
		if r := &rows[i]; r.queued && r.operation == "" {
			m := r.message()
			attached[m.Text()] = true
		}
	}
	if len(attached) == 0 {
		return rows
	}
	return slices.DeleteFunc(rows, func(r row) bool { return r.operation != "" && r.queued && attached[r.content] })
}

// lastMessage returns the last row with a message of the conversation, or nil.
func lastMessage(rows []row) *row {
	for i := range slices.Backward(rows) {
		if r := &rows[i]; r.chat() && !r.sidechain && !r.hidden {
			return r
		}
	}
	return nil
}

// typed reports whether a person wrote a queued text for the model. It reports false for notices of
// tasks, which are JSON or tags, and for slash commands.
func typed(content string) bool {
	if transcript.Words(content) == "" || strings.HasPrefix(content, "<") || gjson.Get(content, "task_id").Exists() {
		return false
	}
	command, _, _ := strings.Cut(content, " ")
	return !strings.HasPrefix(command, "/") || strings.Count(command, "/") > 1
}
