package codex

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// dawn is the timestamp of rows that the encoder builds itself if no row before them has one.
const dawn = "2000-01-01T00:00:00.000Z"

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.Name()
	if own && w.Intact() {
		return &transcript.Encoded{Data: w.Session.Bytes(), Session: w.Session.ID}, nil
	}
	in := &rollout{meta: -1, last: -1, windows: [][]item{nil}}
	if own {
		in = read(w.Session.Bytes())
	}
	inner, instructed, err := in.window(w, own)
	if err != nil {
		return nil, err
	}
	out, err := responses.Format.Encode(inner)
	if err != nil {
		return nil, err
	}
	e := &encoder{in: in, stamp: dawn, instructed: instructed, session: w.Session.ID, as: w.As}
	if !own || w.As != "" && !slices.ContainsFunc(in.rows, func(r row) bool { return r.kind == "session_meta" }) {
		e.begin(w.Session)
	}
	e.all(out)
	return &transcript.Encoded{Data: e.out.Bytes(), Session: e.session, Losses: out.Losses, Repairs: out.Repairs}, nil
}

// window returns w as a window of package responses. instructed reports whether it has the
// instructions.
func (f *rollout) window(w *transcript.Window, own bool) (inner *transcript.Window, instructed bool, err error) {
	inner = &transcript.Window{Session: w.Session, Entries: slices.Clone(w.Entries), As: "another"} // a new id, so that responses encodes it again
	if !own {
		for i := range inner.Entries { // the field instructions of a request would not be in the list of items
			if e := &inner.Entries[i]; i == 0 && e.Role == transcript.RoleSystem && says(e.Parts) {
				e.Source = nil
			}
		}
		return inner, false, nil
	}
	if inner.Session, err = responses.Format.Decode("", responses.Body(raws(f.live()))); err != nil {
		return nil, false, err
	}
	first := 0
	if f.meta >= 0 {
		first = 1
	}
	at := make(map[*transcript.Message]int, len(w.Session.Messages))
	for i := range w.Session.Messages {
		at[&w.Session.Messages[i]] = i - first
	}
	inner.Entries = inner.Entries[:0]
	for _, e := range w.Entries {
		i, known := at[e.Source]
		switch {
		case known && i < 0:
			instructed = true
			continue
		case known:
			e.Source = &inner.Session.Messages[i]
		}
		inner.Entries = append(inner.Entries, e)
	}
	return inner, instructed, nil
}

// says reports whether parts are texts.
func says(parts []transcript.Part) bool {
	return !slices.ContainsFunc(parts, func(p transcript.Part) bool { _, ok := p.(transcript.Text); return !ok })
}

// An encoder writes rows.
type encoder struct {
	in         *rollout
	instructed bool
	session    transcript.SessionID
	as         transcript.SessionID // id of the new session, or empty
	stamp      string               // timestamp of the last row
	next       int                  // index of the next source row; earlier rows are written or left out
	out        bytes.Buffer
}

// begin writes the first row of a session of another format, or of a file that lacks it.
func (e *encoder) begin(s *transcript.Session) {
	h := sha256.Sum256([]byte("codex/v1\x00" + s.Format + "\x00" + string(s.ID)))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	x := hex.EncodeToString(h[:16])
	id := cmp.Or(string(e.as), x[:8]+"-"+x[8:12]+"-"+x[12:16]+"-"+x[16:20]+"-"+x[20:])
	e.session = transcript.SessionID(id)
	payload := rawjson.AppendString([]byte(`{"id":`), id)
	payload = rawjson.AppendString(append(payload, `,"timestamp":"`+dawn+`","cwd":`...), cmp.Or(s.Project, "/"))
	e.row("session_meta", append(payload, `,"originator":"carrel","cli_version":"0.0.0"}`...)) // Codex requires these to resume the file
	if s.Model != "" {
		e.row("turn_context", append(rawjson.AppendString([]byte(`{"model":`), s.Model), '}'))
	}
}

// row writes a row that the encoder builds itself, not one copied from the file.
func (e *encoder) row(kind string, payload []byte) {
	if bytes.ContainsAny(payload, "\r\n") {
		var b bytes.Buffer
		if json.Compact(&b, payload) == nil {
			payload = b.Bytes()
		}
	}
	e.out.Write(rawjson.AppendString([]byte(`{"timestamp":`), e.stamp))
	e.out.WriteString(`,"type":"` + kind + `","payload":`)
	e.out.Write(payload)
	e.out.WriteString("}\n")
}

// all writes the items of an encoded request as rows. Unchanged items keep their rows, with
// the rows about settings between them.
func (e *encoder) all(out *transcript.Encoded) {
	live := e.in.live()
	places := make(map[string][]int, len(live)) // indexes in live by the bytes of the item
	for i := range live {
		places[string(live[i].raw)] = append(places[string(live[i].raw)], i)
	}
	for _, span := range out.Spans {
		raw := out.Data[span.Start:span.End]
		same := places[string(raw)]
		if len(same) == 0 {
			e.row("response_item", explicit(raw))
			continue
		}
		places[string(raw)] = same[1:]
		at := live[same[0]].row
		e.settings(at)
		r := &e.in.rows[at]
		e.stamp = cmp.Or(r.stamp, e.stamp)
		if r.kind == "response_item" {
			e.keep(r.raw)
			continue
		}
		e.row("response_item", raw) // the item comes from a compaction
	}
	e.settings(len(e.in.rows))
}

// explicit returns an item in the form that Codex reads: a message with its type, and with a
// list as content.
func explicit(raw []byte) []byte {
	members, err := rawjson.NewReader(raw).Members()
	if err != nil {
		return raw // read has read this item before
	}
	typed, kind := false, "input_text"
	var cuts []transcript.Cut
	for _, m := range members {
		value := m.Value.Of(raw)
		switch {
		case m.Key == "type":
			typed = true
			if string(value) != `"message"` {
				return raw
			}
		case m.Key == "role" && string(value) == `"assistant"`:
			kind = "output_text"
		case m.Key == "content" && value[0] == '"':
			cuts = append(cuts, transcript.Cut{From: m.Value.Start, To: m.Value.End, With: value})
		}
	}
	for i := range cuts {
		cuts[i].With = slices.Concat([]byte(`[{"type":"`+kind+`","text":`), cuts[i].With, []byte("}]"))
	}
	if !typed {
		at := bytes.IndexByte(raw, '{') + 1
		cuts = append(cuts, transcript.Cut{From: at, To: at, With: []byte(`"type":"message",`)})
	}
	return transcript.Splice(raw, cuts...)
}

// settings writes those source rows up to the index before, exclusive, that are about settings. It
// leaves out the rows of the conversation and the events for the screen.
func (e *encoder) settings(before int) {
	for ; e.next < before; e.next++ {
		r := &e.in.rows[e.next]
		e.stamp = cmp.Or(r.stamp, e.stamp)
		switch r.kind {
		case "", "response_item", "compacted", "event_msg", "token_usage_record":
			continue
		}
		var cuts []transcript.Cut
		if e.next == e.in.meta && !e.instructed {
			cuts = append(cuts, transcript.Cut{From: e.in.span.Start, To: e.in.span.End, With: []byte("null")})
		}
		if e.as != "" && r.kind == "session_meta" {
			if e.session == e.as {
				continue // about the parent session of a fork
			}
			e.session = e.as
			cuts = append(cuts, renamed(r, string(e.as))...)
		}
		e.keep(transcript.Splice(r.raw, cuts...))
	}
}

// renamed returns the cuts that change r, a row about a session: the session gets the id, and the
// fields about a parent session or a sub-agent become null.
func renamed(r *row, id string) (cuts []transcript.Cut) {
	members, err := rawjson.NewReader(r.payload.Of(r.raw)).Members()
	if err != nil {
		return nil // read has read this row before
	}
	for _, m := range members {
		with := "null"
		switch m.Key {
		case "id", "session_id":
			with = `"` + id + `"` // a UUID
		case "forked_from_id", "forked_from_ordinal_exclusive", "history_base", "parent_thread_id", "subagent_history_start_ordinal", "agent_nickname", "agent_role":
		case "source":
			with = `"cli"`
		case "thread_source":
			with = `"user"`
		case "history_mode":
			with = `"legacy"` // the other mode needs an index beside the file
		default:
			continue
		}
		cuts = append(cuts, transcript.Cut{From: r.payload.Start + m.Value.Start, To: r.payload.Start + m.Value.End, With: []byte(with)})
	}
	return cuts
}

// keep writes a row with its own bytes. It adds the line end that the last row of a file may lack.
func (e *encoder) keep(raw []byte) {
	e.out.Write(raw)
	if raw[len(raw)-1] != '\n' {
		e.out.WriteByte('\n')
	}
}
