package codex

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// A rollout is a parsed session file.
type rollout struct {
	rows     []row
	windows  [][]item // items of each window: its initial ones, then the later ones; the last window is the conversation
	summary  string   // of the latest compaction, or empty
	meta     int      // row with the instructions, or -1
	said     string   // the instructions
	span     rawjson.Span
	id, cwd  string
	root     string // id of the session that started this one as a sub-agent, or empty
	base     string // id of the session whose file has the history before this one, or empty
	based    bool   // the history of base is in this file
	model    string
	last     int  // row of the latest compaction, or -1
	records  bool // the file has token_usage_records
	warnings []transcript.Warning
}

// A row is one line of the file.
type row struct {
	raw     []byte // with its line end
	kind    string // empty if the row is unreadable
	stamp   string
	payload rawjson.Span // in raw

	brings, mentions []string // see [transcript.Item]
}

// An item is one element of a request's input.
type item struct {
	row int
	raw []byte
	id  string // id of the item, or of its call, or empty
}

// read reads a rollout. Unreadable lines are kept, with a warning.
func read(data []byte) *rollout {
	f := &rollout{meta: -1, last: -1, windows: [][]item{nil}}
	for line := 1; len(data) > 0; line++ {
		end := bytes.IndexByte(data, '\n') + 1
		if end == 0 {
			end = len(data)
		}
		r := row{raw: data[:end:end]}
		data = data[end:]
		if len(bytes.TrimSpace(r.raw)) > 0 {
			err := r.read()
			if err == nil {
				err = f.take(&r)
			}
			if err != nil {
				r.kind = ""
				f.warn(line, err)
			}
		}
		f.rows = append(f.rows, r)
	}
	return f
}

func (f *rollout) warn(line int, err error) {
	what := err.Error()
	switch err := err.(type) { //nolint:errorlint // they are as they were made
	case *rawjson.Error:
		what = err.Text
	case *transcript.SyntaxError:
		what = err.Text
	}
	f.warnings = append(f.warnings, transcript.Warning{Line: line, Text: what + " (kept, not read)"})
}

// read reads the fields that every row has.
func (r *row) read() error {
	reader := rawjson.NewReader(r.raw)
	err := reader.Object(func(key string) (err error) {
		switch {
		case key == "type" && reader.Kind() == rawjson.String:
			r.kind, err = reader.String()
		case key == "timestamp" && reader.Kind() == rawjson.String:
			r.stamp, err = reader.String()
		case key == "payload" && reader.Kind() == rawjson.Object:
			r.payload, err = reader.Skip()
		default:
			_, err = reader.Skip()
		}
		return err
	})
	if err == nil {
		err = reader.End()
	}
	return err
}

// take applies row r, the next row, to f.
func (f *rollout) take(r *row) error {
	payload := r.payload.Of(r.raw)
	if len(payload) == 0 {
		return nil
	}
	switch r.kind {
	case "session_meta":
		return f.begin(r)
	case "token_usage_record":
		f.records = true
	case "turn_context":
		return texts(payload, map[string]*string{"model": &f.model})
	case "response_item":
		if _, err := responses.Messages([][]byte{payload}); err != nil {
			return err
		}
		id, err := r.name(payload)
		if err != nil {
			return err
		}
		last := len(f.windows) - 1
		f.windows[last] = append(f.windows[last], item{len(f.rows), payload, id})
	case "compacted":
		return f.compact(r)
	}
	return nil
}

// name adds the item's own id and its call id to the ids that the row brings or to those that it
// mentions. It returns the first id that identifies the item.
func (r *row) name(item []byte) (string, error) {
	var id, call, kind string
	if err := texts(item, map[string]*string{"id": &id, "call_id": &call, "type": &kind}); err != nil {
		return "", err
	}
	if id != "" {
		r.brings = append(r.brings, id)
	}
	switch {
	case call == "":
	case strings.HasSuffix(kind, "_output"):
		r.mentions = append(r.mentions, call)
	default:
		r.brings = append(r.brings, call)
		id = cmp.Or(id, call)
	}
	return id, nil
}

// texts reads the string fields of an object into the variables that the map to has by the names of
// the fields.
func texts(object []byte, to map[string]*string) error {
	reader := rawjson.NewReader(object)
	return reader.Object(func(key string) (err error) {
		if p := to[key]; p != nil && reader.Kind() == rawjson.String {
			*p, err = reader.String()
			return err
		}
		_, err = reader.Skip()
		return err
	})
}

// begin reads a session_meta. Only the first one counts; later ones are of the session from
// which this one was forked.
func (f *rollout) begin(r *row) error {
	if f.id != "" || f.meta >= 0 {
		f.based = true
		return nil
	}
	payload := r.payload.Of(r.raw)
	root := ""
	reader := rawjson.NewReader(payload)
	err := reader.Object(func(key string) (err error) {
		kind, start := reader.Kind(), r.payload.Start+reader.Offset()
		var span rawjson.Span
		switch {
		case key == "id" && kind == rawjson.String:
			f.id, err = reader.String()
		case key == "session_id" && kind == rawjson.String:
			root, err = reader.String()
		case key == "cwd" && kind == rawjson.String:
			f.cwd, err = reader.String()
		case key == "history_base" && kind == rawjson.Object:
			if span, err = reader.Skip(); err == nil {
				err = texts(span.Of(payload), map[string]*string{"thread_id": &f.base})
			}
		case key == "base_instructions" && kind == rawjson.String:
			f.said, err = reader.String()
		case key == "base_instructions" && kind == rawjson.Object:
			if span, err = reader.Skip(); err == nil {
				err = texts(span.Of(payload), map[string]*string{"text": &f.said})
			}
		default:
			_, err = reader.Skip()
			return err
		}
		if key == "base_instructions" && f.said != "" {
			f.meta, f.span = len(f.rows), rawjson.Span{Start: start, End: r.payload.Start + reader.Position()}
		}
		return err
	})
	if root != f.id {
		f.root = root
	}
	return err
}

// compact begins a window with the items by which a compaction replaced all earlier items.
func (f *rollout) compact(r *row) error {
	payload := r.payload.Of(r.raw)
	var message rawjson.Span
	var list []rawjson.Span
	reader := rawjson.NewReader(payload)
	err := reader.Object(func(key string) (err error) {
		switch {
		case key == "message" && reader.Kind() == rawjson.String:
			message, err = reader.Skip()
		case key == "replacement_history" && reader.Kind() == rawjson.Array:
			list, err = reader.Elements()
		default:
			_, err = reader.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	var items []item
	raws := make([][]byte, len(list))
	for i, span := range list {
		raws[i] = span.Of(payload)
		id, err := r.name(raws[i])
		if err != nil {
			return err
		}
		items = append(items, item{len(f.rows), raws[i], id})
	}
	if len(list) == 0 && message.End > 0 {
		text := bytes.Join([][]byte{[]byte(`{"type":"message","role":"user","content":`), message.Of(payload), []byte("}")}, nil)
		items = []item{{len(f.rows), text, ""}}
	}
	if _, err := responses.Messages(raws); err != nil {
		return err
	}
	f.summary, f.last = "", len(f.rows)
	if message.End > 0 {
		if f.summary, err = rawjson.NewReader(message.Of(payload)).String(); err != nil {
			return err
		}
	}
	f.windows = append(f.windows, items)
	return nil
}

// live returns the items of the conversation.
func (f *rollout) live() []item { return f.windows[len(f.windows)-1] }

// raws returns the bytes of items.
func raws(items []item) [][]byte {
	list := make([][]byte, len(items))
	for i := range items {
		list[i] = items[i].raw
	}
	return list
}
