package opencode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// dawn is the time of messages that have no source if no message before them has one: the first
// moment of the year 2000, in milliseconds.
const dawn = 946_684_800_000

// free is the usage of a kept reply, whose cost counts in the source session only.
const free = `{"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}`

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.Name()
	if own && w.Intact() {
		return &transcript.Encoded{Data: w.Session.Bytes(), Session: w.Session.ID}, nil
	}
	entries, fixes := transcript.Repair(w.Entries)
	e := &encoder{session: cmp.Or(string(w.As), name(w.Session, entries)), names: make(map[string]string), at: make(map[*transcript.Message]*view), last: dawn}
	if own {
		d, err := read("", w.Session.Bytes())
		if err != nil {
			return nil, err
		}
		e.document = d
		if w.Unchanged() && len(fixes) == 0 {
			return &transcript.Encoded{Data: e.renew(), Session: transcript.SessionID(e.session)}, nil
		}
		v := &viewer{document: d}
		_, v.items = d.Cut(d.Messages)
		live, _, _ := v.conversation()
		for i := range live {
			e.at[&w.Session.Messages[i]] = &live[i]
		}
	} else {
		e.losses.Account(w, func(role string, m transcript.Media) bool {
			return role != "assistant" && role != "system" && chat.DataURL(m) != ""
		})
	}
	e.begin(w.Session)
	e.all(entries)
	return &transcript.Encoded{Data: e.whole(w.Session), Session: transcript.SessionID(e.session), Losses: e.losses.List, Repairs: fixes}, nil
}

// name returns the id of the new session: a hash of its content.
func name(s *transcript.Session, entries []transcript.Entry) string {
	h := sha256.New()
	fmt.Fprintf(h, "opencode/v1\x00%s\x00%s\x00%d", s.Format, s.ID, len(entries))
	for i := range entries {
		e := &entries[i]
		fmt.Fprintf(h, "\x00%s\x00%s\x00%t", e.Role, e.ID, e.Bare)
		for _, p := range e.Parts {
			switch p := p.(type) {
			case transcript.Text:
				fmt.Fprintf(h, "\x00t%s", p)
			case transcript.ToolResult:
				fmt.Fprintf(h, "\x00r%s\x00%s", p.CallID, p.Text())
			}
		}
	}
	return "ses_" + hex.EncodeToString(h.Sum(nil)[:13])
}

// An encoder writes messages with rising ids.
type encoder struct {
	*document // nil if the session is of another format

	session string
	at      map[*transcript.Message]*view
	names   map[string]string // old id of a message → new
	asked   string            // new id of the latest user's message
	last    int64             // time of the latest message, in milliseconds
	count   int               // number of ids given
	out     [][]byte
	losses  chat.Losses

	agent, provider, model, cwd string // fields of messages that have no source

	index   int      // index of the entry that is being written
	open    *message // message that is being written; pending holds its parts
	opened  string   // new id of the open message
	pending []pending
}

// A pending part waits until the encoder writes its message.
type pending struct {
	index int // of the part in the open message
	raw   []byte
}

// id returns the next id with a prefix.
func (e *encoder) id(prefix string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "id/v1\x00%s\x00%d", e.session, e.count))
	e.count++
	return fmt.Sprintf("%s_%012x%s", prefix, e.count, hex.EncodeToString(sum[:7]))
}

// set returns an object with new values of some members. The list in pairs has keys and JSON values
// by turns.
func set(raw []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		raw = chat.Set(raw, pairs[i], []byte(pairs[i+1]))
	}
	return raw
}

func quote(s string) string { return string(rawjson.AppendString(nil, s)) }

// begin sets the agent, model and directory of messages that have no source.
func (e *encoder) begin(s *transcript.Session) {
	e.agent, e.cwd, e.model = "build", cmp.Or(s.Project, "/"), cmp.Or(s.Model, "unknown")
	e.provider = providerOf(s.Model)
	if e.document == nil {
		return
	}
	for i := range e.msgs {
		m := &e.msgs[i]
		if m.role != "user" {
			continue
		}
		model := m.info.in(e.Data, "model")
		e.agent = cmp.Or(m.info.text(e.Data, "agent"), e.agent)
		e.provider = cmp.Or(model.text(e.Data, "providerID"), e.provider)
		e.model = cmp.Or(model.text(e.Data, "modelID"), e.model)
	}
}

// all writes entries. The results after a reply go into the parts of the reply.
func (e *encoder) all(entries []transcript.Entry) {
	for i := 0; i < len(entries); {
		end := i + 1
		var results []transcript.Entry
		answers := make(map[string]answer)
		for calls := len(entries[i].Calls()) > 0; calls && end < len(entries) && len(entries[end].Results()) > 0; {
			results = append(results, entries[end])
			for _, r := range entries[end].Results() {
				answers[r.CallID] = answer{&entries[end], r}
			}
			end++
		}
		e.index = i
		e.entry(&entries[i], answers)
		for _, r := range results { // other parts of the entries with results
			if others := slices.DeleteFunc(slices.Clone(r.Parts), isResult); len(others) > 0 {
				e.entry(&transcript.Entry{Message: transcript.Message{Role: transcript.RoleUser, Parts: others}, Block: r.Block}, nil)
			}
		}
		i = end
	}
	e.flush(nil)
}

// An answer is the result of a call, in an entry.
type answer struct {
	*transcript.Entry

	result transcript.ToolResult
}

func isResult(p transcript.Part) bool { _, ok := p.(transcript.ToolResult); return ok }

// entry writes a message. Entries from the same message of the session become one message
// again.
func (e *encoder) entry(en *transcript.Entry, results map[string]answer) {
	v := e.at[en.Source]
	switch {
	case len(en.Parts) == 0:
		return
	case v == nil:
		e.flush(nil)
		e.make(en, results)
		return
	}
	m := &e.msgs[v.at]
	if e.open != m || len(e.pending) > 0 && e.pending[len(e.pending)-1].index >= v.parts[0] {
		e.flush(m)
		if m.role == "assistant" {
			e.opening()
		}
		e.open, e.opened = m, e.id("msg")
		e.names[m.id] = e.opened
	}
	for _, k := range v.parts {
		if raw := e.keep(&m.parts[k], en, results); raw != nil {
			e.pending = append(e.pending, pending{k, raw})
		}
	}
}

// keep returns a part without what the entry left out, or nil if nothing remains.
func (e *encoder) keep(p *part, en *transcript.Entry, results map[string]answer) []byte {
	raw := p.Of(e.Data)
	switch p.kind {
	case "reasoning":
		if en.Bare {
			return nil
		}
	case "text":
		if en.Bare { // it may refer to the reasoning
			return chat.Drop(raw, func(key string) bool { return key == "metadata" })
		}
	case "step-finish":
		return set(raw, "tokens", free, "cost", "0")
	case "tool":
		if en.Bare && !p.in(e.Data, "metadata").flag("providerExecuted") {
			raw = chat.Drop(raw, func(key string) bool { return key == "metadata" })
		}
		return e.keepCall(p, raw, results)
	}
	return raw
}

// keepCall returns a call with its result from results.
func (e *encoder) keepCall(p *part, raw []byte, results map[string]answer) []byte {
	id := p.text(e.Data, "callID")
	if r, ok := results[id]; ok {
		if _, replaced := r.Replaced[id]; !replaced && e.at[r.Source] != nil {
			return raw
		}
		return e.state(p, raw, r.result)
	}
	if key, _ := p.outcome(e.Data); key == "" {
		return raw
	}
	return set(raw, "state", pendingState(p.state["input"].Of(e.Data)))
}

// state returns the state of a call with the new result.
func (e *encoder) state(p *part, raw []byte, r transcript.ToolResult) []byte {
	key, interrupted := p.outcome(e.Data)
	if key == "" || interrupted {
		input := p.state["input"].Of(e.Data)
		return set(raw, "state", e.ended(e.opened, input, p.text(e.Data, "tool"), r))
	}
	at := p.object["state"]
	state := chat.Drop(at.Of(e.Data), func(key string) bool { return key == "attachments" })
	if key == "error" {
		state = chat.Drop(set(state, "error", quote(r.Text())), func(key string) bool { return key == "metadata" })
	} else {
		state = set(state, "output", quote(r.Text()), "metadata", "{}")
		if p.pruned(e.Data) {
			state = set(state, "time", string(chat.Drop(p.state["time"].Of(e.Data), func(key string) bool { return key == "compacted" })))
		}
	}
	return set(raw, "state", string(state))
}

// flush writes the open message. The parameter next is the following message of the document, or
// nil.
func (e *encoder) flush(next *message) {
	m, id, parts := e.open, e.opened, e.pending
	e.open, e.pending = nil, nil
	if m == nil || len(parts) == 0 {
		return
	}
	list := make([][]byte, len(parts))
	for i, p := range parts {
		raw := p.raw
		switch first := len(e.out) == 0 && next != nil && next.summary; {
		case m.parts[p.index].kind != "compaction":
		case first:
			raw = chat.Drop(raw, func(key string) bool { return key == "tail_start_id" }) // the kept messages follow the summary
		default:
			raw = []byte(`{"type": "text", "text": "` + asked + `", "synthetic": true}`) // with a compaction part, OpenCode would not send the messages before it
		}
		list[i] = set(raw, "id", quote(e.id("prt")), "sessionID", quote(e.session), "messageID", quote(id))
	}
	e.last = max(e.last, m.created)
	info := set(m.raw.Of(e.Data), "id", quote(id), "sessionID", quote(e.session))
	if m.created != e.last {
		info = set(info, "time", string(set(timeOf(m, e.Data), "created", strconv.FormatInt(e.last, 10))))
	}
	if m.role == "assistant" {
		info = set(info, "parentID", quote(cmp.Or(e.names[m.parent], e.asked)), "cost", "0", "tokens", free)
	} else {
		e.asked = id
	}
	e.write(info, list)
}

// timeOf returns the object time of a message, which is never empty.
func timeOf(m *message, data []byte) []byte {
	if t := m.info["time"]; len(m.info.in(data, "time")) > 0 {
		return t.Of(data)
	}
	return []byte(`{"created": 0}`)
}

func (e *encoder) write(info []byte, parts [][]byte) {
	e.out = append(e.out, slices.Concat([]byte(`{"info": `), info, []byte(`, "parts": [`), bytes.Join(parts, []byte(", ")), []byte("]}")))
}

// renew returns the document with new ids and no other change.
func (e *encoder) renew() []byte {
	for i := range e.msgs {
		e.names[e.msgs[i].id] = e.id("msg")
	}
	pieces := make([]chat.Piece, len(e.msgs))
	partNames := make(map[string]string)
	for i := range e.msgs {
		m := &e.msgs[i]
		id, start := e.names[m.id], e.Messages[i].Start
		info := set(m.raw.Of(e.Data), "id", quote(id), "sessionID", quote(e.session))
		if m.parent != "" {
			info = set(info, "parentID", quote(cmp.Or(e.names[m.parent], m.parent)))
		}
		cuts := []transcript.Cut{{From: m.raw.Start - start, To: m.raw.End - start, With: info}}
		for k := range m.parts {
			p := &m.parts[k]
			partNames[p.id] = e.id("prt")
			raw := set(p.Of(e.Data), "id", quote(partNames[p.id]), "sessionID", quote(e.session), "messageID", quote(id))
			if tail := e.names[p.text(e.Data, "tail_start_id")]; p.kind == "compaction" && tail != "" {
				raw = set(raw, "tail_start_id", quote(tail))
			}
			cuts = append(cuts, transcript.Cut{From: p.Start - start, To: p.End - start, With: raw})
		}
		pieces[i] = chat.Piece{Raw: transcript.Splice(e.Messages[i].Of(e.Data), cuts...), Index: i}
	}
	info := set(chat.Drop(e.raw.Of(e.Data), isShare), "id", quote(e.session))
	if revert := e.info.in(e.Data, "revert"); revert["messageID"].kind != 0 {
		raw := e.info["revert"].Of(e.Data)
		for key, names := range map[string]map[string]string{"messageID": e.names, "partID": partNames} {
			if name := names[revert.text(e.Data, key)]; name != "" {
				raw = set(raw, key, quote(name))
			}
		}
		info = set(info, "revert", string(raw))
	}
	data, _ := e.Join(pieces, transcript.Cut{From: e.raw.Start, To: e.raw.End, With: info})
	return data
}

// isShare reports whether key is the member with the public address of a session.
func isShare(key string) bool { return key == "share" }

// whole returns the document with the written messages.
func (e *encoder) whole(s *transcript.Session) []byte {
	list := bytes.Join(e.out, []byte(",\n"))
	if e.document != nil {
		info := chat.Drop(e.raw.Of(e.Data), func(key string) bool { return isShare(key) || key == "revert" })
		info = set(info, "id", quote(e.session), "cost", "0", "tokens", free)
		return slices.Concat([]byte(`{"info": `), info, []byte(",\n\"messages\": ["), list, []byte("]}\n"))
	}
	info := fmt.Sprintf(`{"id": %s, "slug": %s, "projectID": "global", "directory": %s, "title": %s, "version": "0.0.0", "time": {"created": %d, "updated": %d}}`,
		quote(e.session), quote("carrel-"+e.session[4:12]), quote(e.cwd), quote(cmp.Or(s.Title, "Imported session")), dawn, e.last)
	return slices.Concat([]byte(`{"info": `), []byte(info), []byte(",\n\"messages\": ["), list, []byte("]}\n"))
}
