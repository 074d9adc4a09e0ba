package gemini

import (
	"bytes"
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// systemMark precedes a system text that is written as a user's text.
const systemMark = "[system] "

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.Name()
	if own && w.Intact() {
		return &transcript.Encoded{Data: w.Session.Bytes(), Spans: chat.Spans(w)}, nil
	}
	source := []byte(`{"contents": []}`)
	if own {
		source = w.Session.Bytes()
	}
	b, err := parse("", source)
	if err != nil {
		return nil, err
	}
	e := &encoder{body: b, own: own, at: chat.Indexes(w.Session), names: make(map[string]callee), ids: make(map[string]bool)}
	e.provider = own || w.Session.Format == "geminicli"
	entries, fixes := transcript.Repair(w.Entries)
	e.fixes = fixes
	if !e.provider {
		e.account(w)
	}
	e.all(entries)
	e.alternate(w.Mend)
	if err := e.sign(); err != nil {
		return nil, err
	}
	data, spans := b.Join(e.pieces, e.cuts...)
	return &transcript.Encoded{Data: data, Losses: e.losses.List, Repairs: e.fixes, Spans: spans}, nil
}

// An encoder writes the messages of a window.
type encoder struct {
	body     *body
	own      bool // the session is in this format, so contents can be kept
	provider bool // the session's parts are in Gemini's format
	at       map[*transcript.Message]int
	calls    []transcript.ToolCall // calls of the latest reply
	names    map[string]callee     // ids and names of the calls written so far, by their ids in the transcript
	ids      map[string]bool       // ids of the calls written so far
	owner    transcript.BlockID    // block that is being written
	pieces   []chat.Piece
	roles    []string // roles of the pieces; roleModel or another
	cuts     []transcript.Cut
	losses   chat.Losses
	fixes    []transcript.Fix
}

// A callee is the id and the name by which a response refers to its call.
type callee struct{ id, name string }

func (e *encoder) fix(what string) {
	e.fixes = append(e.fixes, transcript.Fix{Message: len(e.pieces), What: what})
}

// write appends a content, unless raw is nil.
func (e *encoder) write(role string, raw []byte, index int) {
	if raw != nil {
		e.pieces = append(e.pieces, chat.Piece{Raw: raw, Index: index, Block: e.owner})
		e.roles = append(e.roles, role)
	}
}

// original returns the source content of en, or nil if en has no source, and its index in
// the list, which is -1 for the system instruction.
func (e *encoder) original(en *transcript.Entry) (c *content, index int) {
	at, ok := e.at[en.Source]
	switch {
	case !ok || !e.own:
		return nil, 0
	case e.body.system.End > 0 && at == 0:
		return &e.body.system, -1
	case e.body.system.End > 0:
		at--
	}
	return &e.body.contents[at], at
}

// all writes all entries. System texts before any other message become the system instruction.
// Repairs are recorded for the contents where they occur.
func (e *encoder) all(entries []transcript.Entry) {
	var system [][]byte
	at := make([]int, len(entries)) // index of the content that is written for an entry
	mended := len(e.fixes)
	defer func() { chat.Place(e.fixes[:mended], at) }()
	kept := false // the body's own instruction is the only system text
	for i := 0; i < len(entries); {
		en := &entries[i]
		e.owner = en.Block
		at[i] = len(e.pieces)
		c, index := e.original(en)
		switch {
		case c != nil && index < 0:
			kept = len(system) == 0
			for k := range c.parts {
				system = append(system, c.parts[k].Of(e.body.Data))
			}
		case en.Role == transcript.RoleSystem && len(e.pieces) == 0 && e.body.Key >= 0:
			kept = false
			system = append(system, instruction(en.Parts, "")...)
		case en.Role == transcript.RoleSystem:
			e.write(roleUser, contentOf(roleUser, instruction(en.Parts, systemMark)), -1)
		case len(en.Results()) > 0:
			last := i + 1
			for last < len(entries) && len(entries[last].Results()) > 0 {
				at[last] = at[i]
				last++
			}
			e.answers(entries[i:last])
			i = last
			continue
		default:
			e.plain(en)
		}
		i++
	}
	if !kept {
		e.instruct(system)
	}
}

// instruct writes the system instruction.
func (e *encoder) instruct(parts [][]byte) {
	value := []byte("null")
	if len(parts) > 0 {
		value = slices.Concat([]byte(`{"parts": `), list(parts), []byte("}"))
	}
	switch at := e.body.system.Span; {
	case at.End > 0:
		e.cuts = append(e.cuts, transcript.Cut{From: at.Start, To: at.End, With: value})
	case len(parts) > 0:
		with := slices.Concat([]byte(`"systemInstruction": `), value, []byte(", "))
		e.cuts = append(e.cuts, transcript.Cut{From: e.body.Key, To: e.body.Key, With: with})
	}
}

// plain writes a message without results.
func (e *encoder) plain(en *transcript.Entry) {
	role := roleUser
	if en.Role == transcript.RoleAssistant {
		role, e.calls = roleModel, en.Calls()
	}
	c, index := e.original(en)
	if c == nil {
		e.write(role, contentOf(role, e.written(en.Parts)), -1)
		return
	}
	parts, changed := e.revise(c, en)
	switch {
	case len(parts) == 0:
		if len(c.parts) == 0 {
			e.fix("empty message left out")
		}
	case !changed:
		e.write(role, c.Of(e.body.Data), index)
	default:
		raw := transcript.Splice(c.Of(e.body.Data), transcript.Cut{From: c.list.Start - c.Start, To: c.list.End - c.Start, With: list(parts)})
		e.write(role, raw, index)
	}
}

// answers writes consecutive entries with results as one content: the responses in the order
// of their calls, then the other parts.
func (e *encoder) answers(run []transcript.Entry) {
	if len(run) == 1 {
		if c, index := e.original(&run[0]); c != nil && ordered(run[0].Parts) {
			parts, changed := e.revise(c, &run[0])
			raw := c.Of(e.body.Data)
			if changed {
				raw = transcript.Splice(raw, transcript.Cut{From: c.list.Start - c.Start, To: c.list.End - c.Start, With: list(parts)})
			}
			e.write("answer", raw, index)
			return
		}
	}
	if e.own && run[0].Source != nil {
		e.fix("results put in one message, before anything else")
	}
	type answer struct {
		call int
		raw  []byte
	}
	var results []answer
	var others [][]byte
	for i := range run {
		raws := e.rawsOf(&run[i])
		for k, p := range run[i].Parts {
			if res, ok := p.(transcript.ToolResult); ok {
				call := slices.IndexFunc(e.calls, func(c transcript.ToolCall) bool { return c.ID == res.CallID })
				results = append(results, answer{call, raws[k]})
			} else if raws[k] != nil {
				others = append(others, raws[k])
			}
		}
	}
	slices.SortStableFunc(results, func(a, b answer) int { return a.call - b.call })
	parts := make([][]byte, 0, len(results)+len(others))
	for _, r := range results {
		parts = append(parts, r.raw)
	}
	e.write("answer", contentOf(roleUser, append(parts, others...)), -1)
}

// ordered reports whether all results precede the other parts.
func ordered(parts []transcript.Part) bool {
	other := false
	for _, p := range parts {
		_, result := p.(transcript.ToolResult)
		if result && other {
			return false
		}
		other = other || !result
	}
	return true
}

// rawsOf returns the encoded parts of an entry, with nil for each part that is left out.
func (e *encoder) rawsOf(en *transcript.Entry) [][]byte {
	raws := make([][]byte, len(en.Parts))
	c, _ := e.original(en)
	for k, p := range en.Parts {
		if c != nil && len(c.parts) == len(en.Parts) {
			raws[k] = e.revisePart(c, &c.parts[k], en)
		} else {
			raws[k] = e.part(p)
		}
	}
	return raws
}

// alternate puts a user's text before each reply that is first or follows another reply. If mend is
// true, it records each text as a repair.
func (e *encoder) alternate(mend bool) {
	text := contentOf(roleUser, [][]byte{textPart(transcript.Opening)})
	var pieces []chat.Piece
	var roles []string
	var fixes []transcript.Fix
	at := make([]int, len(e.pieces)+1) // new index of each content
	for i, p := range e.pieces {
		if e.roles[i] == roleModel && (i == 0 || e.roles[i-1] == roleModel) {
			fixes = append(fixes, transcript.Fix{Message: len(pieces), What: "a user's text put before a reply"})
			pieces, roles = append(pieces, chat.Piece{Raw: text, Index: -1}), append(roles, roleUser)
		}
		at[i] = len(pieces)
		pieces, roles = append(pieces, p), append(roles, e.roles[i])
	}
	at[len(e.pieces)] = len(pieces)
	if len(pieces) == 0 {
		pieces, roles = []chat.Piece{{Raw: text, Index: -1}}, []string{roleUser}
	}
	e.pieces, e.roles = pieces, roles
	chat.Place(e.fixes, at)
	if mend {
		e.fixes = append(e.fixes, fixes...)
	}
}

// sign puts [Skipped] where the provider requires a signature and finds none: at the first
// call of each reply of the current turn.
func (e *encoder) sign() error {
	raws := make([][]byte, 0, len(e.pieces))
	from := 0
	for i := range slices.Backward(e.pieces) {
		if e.roles[i] == roleUser {
			from = i
			break
		}
	}
	for i := range e.pieces[from:] {
		raws = append(raws, e.pieces[from+i].Raw)
	}
	b, err := parse("", Body(raws))
	if err != nil {
		return err
	}
	for _, i := range b.unsigned(!e.provider) {
		c := &b.contents[i]
		call := c.of(calls)[0]
		signed := chat.Set(call.Of(b.Data), "thoughtSignature", rawjson.AppendString(nil, Skipped))
		p := &e.pieces[from+i]
		p.Raw = transcript.Splice(p.Raw, transcript.Cut{From: call.Start - c.Start, To: call.End - c.Start, With: signed})
		if e.own {
			e.fixes = append(e.fixes, transcript.Fix{Message: from + i, What: "signature put in place of a missing one"})
		}
	}
	return nil
}

// contentOf writes a content, or returns nil if it has no parts.
func contentOf(role string, parts [][]byte) []byte {
	if len(parts) == 0 {
		return nil
	}
	return slices.Concat([]byte(`{"role": "`+role+`", "parts": `), list(parts), []byte("}"))
}

// list writes an array.
func list(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(", ")), []byte("]"))
}
