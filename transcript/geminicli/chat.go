package geminicli

import (
	"bytes"
	"errors"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A file is a parsed chat file.
type file struct {
	items    [][]byte // the bytes of the file, cut into items
	lines    []int    // line of each item; the first line is 1
	records  []record
	settings []int // items that set fields of the session, other than messages
	header   int   // item of the first line about the session, or -1

	list     []int          // the conversation, as indexes of records
	at       map[string]int // indexes in list, by message id
	past     []replaced
	branches []transcript.Branch
	warnings []transcript.Warning

	about
}

// A replaced list was the conversation until a new list replaced it.
type replaced struct {
	list []int // indexes of records
	from int   // first item behind the messages that the new list had at its beginning
}

// An about holds fields of the session.
type about struct {
	id, hash, begun, summary string
	dirs                     []string
}

// A record is one message of the file.
type record struct {
	item  int
	raw   []byte // the object
	id    string
	kind  string
	stamp string
	model string

	content, thoughts, calls, tokens rawjson.Span // in raw; empty if missing
}

// An object holds the fields of a line, or of an element of a list of messages.
type object struct {
	record
	about

	identified bool         // it has an id
	rewinds    bool         // it has the field $rewindTo
	rewind     string       // value of $rewindTo: the id of the first message to remove
	set        rawjson.Span // value of the field $set, or empty
	listed     bool         // it has a list of messages
	messages   []rawjson.Span
	more       bool // it has fields of the session other than its id and its times
}

// read reads a chat file. Unreadable lines are kept, with a warning.
func read(data []byte) *file {
	f := &file{header: -1, at: make(map[string]int)}
	if whole, err := readObject(body(data)); err == nil && !whole.identified && whole.about.id != "" && whole.listed {
		f.take(data, &whole, 1)
		return f
	}
	for n := 1; len(data) > 0; n++ {
		end := bytes.IndexByte(data, '\n') + 1
		if end == 0 {
			end = len(data)
		}
		raw := data[:end:end]
		data = data[end:]
		if len(body(raw)) == 0 {
			f.item(raw, n)
			continue
		}
		o, err := readObject(body(raw))
		if err != nil {
			f.item(raw, n)
			f.warn(n, err)
			continue
		}
		f.take(raw, &o, n)
	}
	return f
}

// body returns the bytes of an object without a byte order mark and surrounding whitespace.
func body(raw []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
}

func (f *file) item(raw []byte, n int) int {
	f.items, f.lines = append(f.items, raw), append(f.lines, n)
	return len(f.items) - 1
}

func (f *file) warn(n int, err error) {
	what := err.Error()
	if e, ok := errors.AsType[*rawjson.Error](err); ok {
		what = e.Text
	} else if e, ok := errors.AsType[*transcript.SyntaxError](err); ok {
		what = e.Text
	}
	f.warnings = append(f.warnings, transcript.Warning{Line: n, Text: what + " (kept, not read)"})
}

// readObject reads an object, which must be all of raw.
func readObject(raw []byte) (o object, err error) {
	o.raw = raw
	r := rawjson.NewReader(raw)
	if err = r.Object(func(key string) error { return o.member(r, key) }); err == nil {
		err = r.End()
	}
	return o, err
}

// member reads one member of an object.
func (o *object) member(r *rawjson.Reader, key string) (err error) {
	kind := r.Kind()
	if to := o.text(key); to != nil && kind == rawjson.String {
		o.identified = o.identified || key == "id"
		o.rewinds = o.rewinds || key == "$rewindTo"
		*to, err = r.String()
		return err
	}
	switch {
	case key == "messages" && kind == rawjson.Array:
		o.listed = true
		o.messages, err = r.Elements()
		return err
	case key == "directories" && kind == rawjson.Array:
		return r.Array(func(int) error {
			if r.Kind() != rawjson.String {
				_, err := r.Skip()
				return err
			}
			dir, err := r.String()
			o.dirs = append(o.dirs, dir)
			return err
		})
	}
	span, err := r.Skip()
	switch {
	case kind == rawjson.Null:
	case key == "$set" && kind == rawjson.Object:
		o.set = span
	case key == "content":
		o.content = span
	case key == "thoughts" && kind == rawjson.Array:
		o.thoughts = span
	case key == "toolCalls" && kind == rawjson.Array:
		o.calls = span
	case key == "tokens" && kind == rawjson.Object:
		o.tokens = span
	default:
		o.more = true
	}
	return err
}

// text returns the variable for the string field with the name key, or nil if no string field has
// this name.
func (o *object) text(key string) *string {
	switch key {
	case "id":
		return &o.record.id
	case "type":
		return &o.kind
	case "timestamp":
		return &o.stamp
	case "model":
		return &o.model
	case "$rewindTo":
		return &o.rewind
	case "sessionId":
		return &o.about.id
	case "projectHash":
		return &o.hash
	case "startTime", "lastUpdated":
		return &o.begun
	case "summary":
		o.more = true
		return &o.summary
	}
	return nil
}

// take applies an object to the file. raw holds the bytes of its line, line number n.
func (f *file) take(raw []byte, o *object, n int) {
	switch {
	case o.rewinds:
		f.item(raw, n)
		f.rewind(o.rewind)
	case o.identified:
		o.item = f.item(raw, n)
		f.put(o.record)
	case o.set.End > 0:
		f.change(raw, o, n)
	case o.about.id != "":
		if f.header < 0 {
			f.header = len(f.items)
		}
		f.learn(&o.about)
		f.cut(raw, bytes.IndexByte(raw, '{'), o.messages, n)
	default:
		f.item(raw, n)
	}
}

// change applies the fields that an object sets.
func (f *file) change(raw []byte, o *object, n int) {
	inner, err := readObject(o.set.Of(o.raw))
	if err != nil { // for example a key that occurs twice
		f.item(raw, n)
		f.warn(n, err)
		return
	}
	f.learn(&inner.about)
	if !inner.listed {
		if inner.more || len(inner.dirs) > 0 {
			f.settings = append(f.settings, len(f.items))
		}
		f.item(raw, n)
		return
	}
	f.past = append(f.past, replaced{list: f.list})
	f.list = nil
	clear(f.at)
	f.cut(raw, bytes.IndexByte(raw, '{')+o.set.Start, inner.messages, n)
	f.past[len(f.past)-1].from = len(f.items)
}

// learn sets the fields of the session from those of a that are not empty. The id, the hash and the
// begin time do not change once they are set.
func (f *file) learn(a *about) {
	for _, p := range [][2]*string{{&f.id, &a.id}, {&f.hash, &a.hash}, {&f.begun, &a.begun}} {
		if *p[0] == "" {
			*p[0] = *p[1]
		}
	}
	if a.summary != "" {
		f.summary = a.summary
	}
	if len(a.dirs) > 0 {
		f.dirs = a.dirs
	}
}

// cut makes items of a line that has a list of messages: one item for each message, and one
// for the bytes between. The spans are relative to the object, which begins at base in raw. An
// element that is not a message belongs to the bytes between.
func (f *file) cut(raw []byte, base int, messages []rawjson.Span, n int) {
	from := 0
	for _, s := range messages {
		start, end := base+s.Start, base+s.End
		o, err := readObject(raw[start:end:end])
		if err == nil && o.identified {
			f.item(raw[from:start:start], n)
			n += bytes.Count(raw[from:start], []byte("\n"))
			o.item = f.item(raw[start:end:end], n)
			n += bytes.Count(raw[start:end], []byte("\n"))
			f.put(o.record)
			from = end
		} else if err != nil {
			f.warn(n, err)
		}
	}
	f.item(raw[from:], n) // it has the end of the list at least
}

// put appends a message to the list, or replaces the message with the same id.
func (f *file) put(r record) {
	f.records = append(f.records, r)
	if at, ok := f.at[r.id]; ok {
		f.list[at] = len(f.records) - 1
		return
	}
	f.at[r.id] = len(f.list)
	f.list = append(f.list, len(f.records)-1)
}

// rewind removes the message with the id and all after it, or all messages if none has the id.
func (f *file) rewind(id string) {
	from := f.at[id] // 0 if no message has the id
	gone := f.list[from:]
	if len(gone) == 0 {
		return
	}
	b := transcript.Branch{Kind: transcript.BranchFork, Root: f.records[gone[0]].id, Leaf: f.records[gone[len(gone)-1]].id, Messages: len(gone)}
	if from > 0 {
		b.Parent = f.records[f.list[from-1]].id
	}
	f.branches = append(f.branches, b)
	for _, i := range gone {
		delete(f.at, f.records[i].id)
	}
	f.list = f.list[:from:from]
}
