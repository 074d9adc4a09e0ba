package responses

import (
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/transcript"
)

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.Name()
	if own && w.Intact() {
		return &transcript.Encoded{Data: chat.Now(w.Session.Bytes()), Spans: chat.Spans(w)}, nil
	}
	source := []byte(`{"input": []}`)
	if own {
		source = chat.Now(w.Session.Bytes())
	}
	b, err := parse("", source)
	if err != nil {
		return nil, err
	}
	e := &encoder{
		body: b, own: own, mend: w.Mend, at: chat.Indexes(w.Session), entries: w.Entries,
		outputs: make(map[string]bool), wants: make(map[string]string), written: make(map[int]bool),
	}
	if b.elsewhere == "" { // otherwise calls and outputs may be at the server
		e.entries, e.fixes = rules.Repair(w.Entries)
	}
	if !own {
		e.losses.Account(w, func(role string, m transcript.Media) bool { return e.media(role, m) != nil })
	}
	e.all()
	data, spans := b.Join(e.pieces, e.cuts...)
	return &transcript.Encoded{Data: data, Losses: e.losses.List, Repairs: e.fixes, Spans: spans}, nil
}

// An encoder writes the messages of a window.
type encoder struct {
	body    *body
	own     bool // the session is in this format, so items can be kept
	mend    bool // record repairs
	at      map[*transcript.Message]int
	entries []transcript.Entry
	outputs map[string]bool       // ids of calls whose outputs keep their bytes
	calls   []transcript.ToolCall // calls of the latest reply
	wants   map[string]string     // types of the calls written so far, by call id
	written map[int]bool          // items written with their own bytes
	raws    map[string]int        // indexes of all items of the body by their bytes; built on first use
	owner   transcript.BlockID    // block that is being written
	pieces  []chat.Piece
	cuts    []transcript.Cut
	losses  chat.Losses
	fixes   []transcript.Fix
}

// rules are the numbers of the rules for calls and outputs.
var rules = transcript.Pairing{Twice: "R7", Apart: "R2", Second: "R2", Unanswered: "R1", Orphan: "R2"}

func (e *encoder) fix(rule, what string) {
	e.fixes = append(e.fixes, transcript.Fix{Rule: rule, Message: len(e.pieces), What: what})
}

// write appends an item, unless raw is nil.
func (e *encoder) write(raw []byte, index int) {
	if raw != nil {
		e.pieces = append(e.pieces, chat.Piece{Raw: raw, Index: index, Block: e.owner})
	}
}

// original returns the source items of en, and false if en has no source. The run of the
// instructions is empty.
func (e *encoder) original(en *transcript.Entry) (run, bool) {
	at, ok := e.at[en.Source]
	if !e.own || !ok {
		return run{}, false
	}
	if e.body.instructions.End > 0 {
		at--
	}
	if at < 0 {
		return run{}, true
	}
	return e.body.runs[at], true
}

func (e *encoder) all() {
	for i := range e.entries {
		en := &e.entries[i]
		if r, ok := e.original(en); ok && r.to > 0 && e.body.items[r.from].class == answered {
			it := &e.body.items[r.from]
			_, replaced := en.Replaced[it.call]
			e.outputs[it.call] = !replaced
		}
	}
	instructed := false
	mended, at := len(e.fixes), make([]int, len(e.entries))
	for i := 0; i < len(e.entries); {
		last := i
		at[i] = len(e.pieces)
		for last < len(e.entries) && len(e.entries[last].Results()) > 0 {
			at[last] = at[i] + last - i
			last++
		}
		e.owner = e.entries[i].Block
		if last > i {
			e.results(e.entries[i:last])
			i = last
			continue
		}
		instructed = e.plain(i) || instructed
		i++
	}
	chat.Place(e.fixes[:mended], at)
	if at := e.body.instructions.Span; at.End > 0 && !instructed {
		e.cuts = append(e.cuts, transcript.Cut{From: at.Start, To: at.End, With: []byte("null")})
	}
}

// plain writes entry i, a message without results. It reports whether the entry is the
// instructions, which are not in the list.
func (e *encoder) plain(i int) (instructed bool) {
	en := &e.entries[i]
	if en.Role == transcript.RoleAssistant {
		e.calls = en.Calls()
	}
	from := len(e.pieces)
	r, ok := e.original(en)
	switch {
	case !ok:
		if en.Bare && e.mend {
			e.fix("", "reasoning left out")
		}
		e.made(en)
		return false
	case r.to == 0:
		return true
	}
	for k := r.from; k < r.to; k++ {
		e.keep(k, en.Bare, i == len(e.entries)-1)
	}
	for n := len(e.pieces) - 1; n >= from && e.dangles(&e.pieces[n]); n-- {
		e.pieces = e.pieces[:n]
		e.fix("R3", "reasoning that led to nothing left out")
	}
	return false
}

// dangles reports whether a piece is a reasoning item with an id. The provider refuses such an item
// unless another item of the same reply follows it.
func (e *encoder) dangles(p *chat.Piece) bool {
	return p.Index >= 0 && e.body.items[p.Index].kind == "reasoning" && e.body.items[p.Index].id != ""
}

// keep writes item k with its own bytes, changed where the provider would refuse them. If
// bare is true, keep drops reasoning. If last is true, the item is of the last message, whose
// calls may lack outputs.
func (e *encoder) keep(k int, bare, last bool) {
	it := &e.body.items[k]
	raw := e.body.Messages[k].Of(e.body.Data)
	switch {
	case it.kind == "reasoning" && bare:
		if e.mend {
			e.fix("", "reasoning left out")
		}
		return
	case it.kind == "message" && it.content.Empty():
		e.fix("R0", "empty message left out")
		return
	case it.isCall() && (it.odd() || outputs[it.kind] == "" && !last && !e.outputs[it.call] && e.body.elsewhere == ""):
		e.fix(it.brokenCall(), "tool call written anew")
		e.write(e.call(transcript.ToolCall{ID: it.call, Name: e.body.nameOf(k), Input: it.input}), -1)
		return
	case it.isCall():
		e.wants[it.call] = it.kind
	case e.body.Text:
		raw = slices.Concat([]byte(`{"type": "message", "role": "user", "content": `), raw, []byte("}"))
	}
	switch lost := it.behind >= 0 && !e.written[it.behind] && it.mayLoseID(); {
	case it.oddID() || it.twice || e.written[k] || lost:
		if !bare || !lost {
			e.fix(it.brokenID(), "id of an item left out")
		}
		raw = chat.Drop(raw, func(key string) bool { return key == "id" })
	}
	e.written[k] = true
	e.write(raw, k)
}

// brokenCall returns the number of the rule that a call breaks.
func (it *item) brokenCall() string {
	if it.odd() {
		return "R6"
	}
	return "R1" // no output has the type that the call requires
}

// brokenID returns the rule for which the id of an item is left out: R4 or R5 if the id breaks it,
// and otherwise R3. It does not check R3, and never returns "": call it only for an id that is left
// out.
func (it *item) brokenID() string {
	switch {
	case it.oddID():
		return "R4"
	case it.twice:
		return "R5"
	}
	return "R3" // its reasoning item is not written
}

// odd reports whether the provider would refuse a call.
func (it *item) odd() bool {
	named := it.kind == "function_call" || it.kind == "custom_tool_call"
	return it.call != chat.CallID(false, it.call) || named && (it.name == "" || !it.text)
}

// results writes consecutive entries with results: one item per result, then one user's
// message with the other parts.
func (e *encoder) results(run []transcript.Entry) {
	made, others := chat.Loose(run, e.calls, e.keepOutput)
	for _, r := range made {
		e.write(e.result(r), -1)
	}
	e.made(&transcript.Entry{Message: transcript.Message{Role: transcript.RoleUser, Parts: others}})
}

// keepOutput writes an output with its source bytes. It reports false if the output has
// to be encoded again.
func (e *encoder) keepOutput(en *transcript.Entry) bool {
	r, ok := e.original(en)
	if !ok {
		return false
	}
	it := &e.body.items[r.from]
	text, replaced := en.Replaced[it.call]
	want, called := e.wants[it.call]
	switch {
	case called && (!it.answers(want) || it.call != chat.CallID(false, it.call)) || !called && e.body.elsewhere == "":
		e.fix("R2", "output written in the form of its call")
		return false
	case replaced && !it.isText():
		e.fix("R0", "output that is no text left as it is")
		replaced = false
	case !replaced && it.needsContent() && it.content.Empty():
		e.fix("R0", "missing output written as an empty text")
		replaced = true
	}
	raw := e.body.Messages[r.from].Of(e.body.Data)
	if replaced {
		raw = chat.Set(raw, "output", outputOf(it.kind, text, false))
	}
	if it.twice {
		e.fix(it.brokenID(), "id of an item left out")
		raw = chat.Drop(raw, func(key string) bool { return key == "id" })
	}
	e.write(raw, r.from)
	return true
}

// needsContent reports whether an output must have a text or a list.
func (it *item) needsContent() bool {
	return it.kind == "function_call_output" || it.kind == "custom_tool_call_output"
}

// isText reports whether the output field of an item may be a text.
func (it *item) isText() bool {
	for _, kind := range outputs {
		if it.kind == kind {
			return true
		}
	}
	return it.kind == "local_shell_call_output"
}

// made encodes a message without a source.
func (e *encoder) made(en *transcript.Entry) {
	switch en.Role {
	case transcript.RoleAssistant:
		e.reply(en)
	case transcript.RoleSystem:
		e.write(e.said("developer", en.Parts), -1)
	case transcript.RoleUser, transcript.RoleTool:
		e.write(e.said("user", en.Parts), -1)
	}
}

// reply writes an assistant's message.
func (e *encoder) reply(en *transcript.Entry) {
	var said []transcript.Part
	say := func() {
		e.write(e.speech(said), -1)
		said = nil
	}
	for _, p := range en.Parts {
		var raw []byte
		switch p := p.(type) {
		case transcript.ToolCall:
			raw = e.call(p)
		case transcript.Thinking:
			if !e.own {
				continue
			}
			raw = reasoning(p)
		case transcript.Opaque:
			if k, ok := e.itemOf(p); ok {
				say()
				e.keep(k, false, false)
				continue
			}
		case transcript.Text, transcript.Media, transcript.ToolResult:
		}
		if raw == nil {
			said = append(said, p)
			continue
		}
		say()
		e.write(raw, -1)
	}
	say()
}

// itemOf returns the item of the body whose bytes equal p. ok is false if there is no such item.
func (e *encoder) itemOf(p transcript.Opaque) (k int, ok bool) {
	if e.raws == nil && e.own {
		e.raws = make(map[string]int, len(e.body.Messages))
		for i, s := range slices.Backward(e.body.Messages) {
			e.raws[string(s.Of(e.body.Data))] = i
		}
	}
	k, ok = e.raws[string(p.Raw)]
	return k, ok
}
