package geminicli

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/gemini"
)

// dawn is the time of lines that the encoder builds itself if no line before them has one.
const dawn = "2000-01-01T00:00:00.000Z"

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.Name()
	if own && w.Intact() {
		return &transcript.Encoded{Data: w.Session.Bytes(), Session: w.Session.ID}, nil
	}
	e := &encoder{in: &file{header: -1}, as: cmp.Or(w.As, w.Session.ID), stamp: dawn, used: make(map[string]bool)}
	var inner *transcript.Window
	var losses []transcript.Loss
	if own {
		e.in = read(w.Session.Bytes())
		e.now = e.in.contents(e.in.list)
		e.fresh = w.As != ""
		var err error
		if inner, err = e.window(w); err != nil {
			return nil, err
		}
	} else {
		inner, losses = withoutSystem(w)
	}
	out, err := gemini.Format.Encode(inner)
	if err != nil {
		return nil, err
	}
	for i := range out.Losses { // the inner window lacks the system texts
		if l := &out.Losses[i]; l.Message >= 0 {
			l.Message += len(losses)
		}
	}
	e.begin(w.Session)
	if err := e.all(out); err != nil {
		return nil, err
	}
	return &transcript.Encoded{Data: e.out.Bytes(), Session: e.as, Losses: append(losses, out.Losses...), Repairs: out.Repairs}, nil
}

// window returns w as a window of package gemini. The Block of each entry is the index of its
// content.
func (e *encoder) window(w *transcript.Window) (*transcript.Window, error) {
	s, err := gemini.Format.Decode("", gemini.Body(raws(e.now)))
	if err != nil {
		return nil, err
	}
	at := make(map[*transcript.Message]int, len(w.Session.Messages))
	for i := range w.Session.Messages {
		at[&w.Session.Messages[i]] = i
	}
	inner := &transcript.Window{Session: s, Entries: slices.Clone(w.Entries), As: "another"} // a new id, so that gemini encodes it again
	for i := range inner.Entries {
		en := &inner.Entries[i]
		k, known := at[en.Source]
		if en.Block = ""; known {
			en.Source, en.Block = &s.Messages[k], transcript.BlockID(strconv.Itoa(k))
		}
	}
	return inner, nil
}

// withoutSystem returns a window without its leading system texts, which a chat file cannot
// hold, and the resulting losses.
func withoutSystem(w *transcript.Window) (*transcript.Window, []transcript.Loss) {
	inner := &transcript.Window{Session: w.Session, Entries: slices.Clone(w.Entries), As: "another"}
	var losses []transcript.Loss
	n := 0
	for n < len(inner.Entries) && inner.Entries[n].Role == transcript.RoleSystem {
		losses = append(losses, transcript.Loss{Message: n, What: "system text", Count: 1, Bytes: len(inner.Entries[n].Text())})
		n++
	}
	inner.Entries = inner.Entries[n:]
	for i := range inner.Entries {
		inner.Entries[i].Block = ""
	}
	return inner, losses
}

// An encoder writes the lines of a window.
type encoder struct {
	in    *file
	now   []content
	as    transcript.SessionID
	fresh bool // the window becomes a new session, so no line is kept
	stamp string
	next  int             // number of settings written so far
	used  map[string]bool // ids that new lines must not use
	out   bytes.Buffer
}

// begin writes the first line, with the fields of the session.
func (e *encoder) begin(s *transcript.Session) {
	if e.in.header >= 0 && !e.fresh {
		if o, err := readObject(body(e.in.items[e.in.header])); err == nil && !o.listed {
			e.keep(body(e.in.items[e.in.header]))
			return
		}
	}
	hash := sha256.Sum256([]byte(s.Project))
	begun := cmp.Or(e.in.begun, dawn)
	raw := rawjson.AppendString([]byte(`{"sessionId":`), string(e.as))
	raw = rawjson.AppendString(append(raw, `,"projectHash":`...), cmp.Or(e.in.hash, hex.EncodeToString(hash[:])))
	raw = rawjson.AppendString(append(raw, `,"startTime":`...), begun)
	raw = rawjson.AppendString(append(raw, `,"lastUpdated":`...), begun)
	raw = append(raw, `,"kind":"main"`...)
	if e.in.summary != "" {
		raw = rawjson.AppendString(append(raw, `,"summary":`...), e.in.summary)
	}
	e.keep(append(raw, '}'))
}

// all writes the contents of an encoded request as lines. Unchanged contents keep their lines,
// with the settings before them.
func (e *encoder) all(out *transcript.Encoded) error {
	source := make([]int, len(out.Spans)) // index of the source content of each, or -1
	same := make([]bool, len(e.now))      // contents that did not change
	for i, span := range out.Spans {
		source[i] = -1
		if k, err := strconv.Atoi(string(span.Block)); err == nil {
			source[i] = k
			same[k] = same[k] || bytes.Equal(out.Data[span.Start:span.End], e.now[k].raw)
		}
	}
	whole := e.whole(same)
	for i := range whole {
		e.used[e.in.records[i].id] = whole[i] && !e.fresh
	}
	for i, span := range out.Spans {
		raw, k := out.Data[span.Start:span.End], source[i]
		if k < 0 || !bytes.Equal(raw, e.now[k].raw) || !whole[e.now[k].record] || e.fresh {
			if err := e.made(raw, k); err != nil {
				return err
			}
			continue
		}
		r := &e.in.records[e.now[k].record]
		e.settings(r.item)
		if e.stamp = cmp.Or(r.stamp, e.stamp); !e.now[k].second { // otherwise the results are in the line of their reply
			e.keep(r.raw)
		}
	}
	e.settings(len(e.in.items))
	return nil
}

// whole returns the records that keep their lines because neither their contents nor the answers to
// their calls have changed. An element of same is true if the content with its index is unchanged.
func (e *encoder) whole(same []bool) map[int]bool {
	whole := make(map[int]bool, len(e.now))
	for _, c := range e.now {
		whole[c.record] = true
	}
	for k, c := range e.now {
		if same[k] {
			continue
		}
		whole[c.record] = false
		if c.of != none {
			whole[c.of] = false
		}
	}
	return whole
}

// made writes a content as a new line. The parameter k is the index of its source content, or -1.
func (e *encoder) made(raw []byte, k int) error {
	var role, parts []byte
	r := rawjson.NewReader(raw)
	err := r.Object(func(key string) error {
		span, err := r.Skip()
		switch key {
		case "role":
			role = r.Of(span)
		case "parts":
			parts = r.Of(span)
		}
		return err
	})
	if err != nil {
		return err
	}
	kind, id := "user", ""
	if string(role) == `"model"` {
		kind = "gemini"
	}
	var from *record
	if k >= 0 {
		from = &e.in.records[e.now[k].record]
		e.settings(from.item)
		e.stamp, id = cmp.Or(from.stamp, e.stamp), from.id
		if e.now[k].second || kind != from.kind {
			id += "_response"
		}
	}
	line := rawjson.AppendString([]byte(`{"id":`), e.name(id, raw))
	line = rawjson.AppendString(append(line, `,"timestamp":`...), e.stamp)
	line = append(append(line, `,"type":"`+kind+`","content":`...), parts...)
	if from != nil && kind == "gemini" && from.kind == kind {
		if from.tokens.End > 0 {
			line = append(append(line, `,"tokens":`...), from.tokens.Of(from.raw)...)
		}
		if from.model != "" {
			line = rawjson.AppendString(append(line, `,"model":`...), from.model)
		}
	}
	e.keep(append(line, '}'))
	return nil
}

// name returns an unused id for a new line: the id of its message, or a hash of its content.
func (e *encoder) name(id string, raw []byte) string {
	if id == "" || e.used[id] {
		for n := len(e.used); ; n++ {
			h := sha256.Sum256(strconv.AppendInt(append(slices.Clip(raw), id...), int64(n), 10))
			if id := hex.EncodeToString(h[:16]); !e.used[id] {
				e.used[id] = true
				return id
			}
		}
	}
	e.used[id] = true
	return id
}

// settings writes those lines that set fields of the session and precede the item with the index
// before.
func (e *encoder) settings(before int) {
	for ; e.next < len(e.in.settings) && e.in.settings[e.next] < before; e.next++ {
		e.keep(body(e.in.items[e.in.settings[e.next]]))
	}
}

// keep writes a line.
func (e *encoder) keep(raw []byte) {
	if bytes.ContainsAny(raw, "\r\n") {
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			raw = b.Bytes()
		}
	}
	e.out.Write(raw)
	e.out.WriteByte('\n')
}
