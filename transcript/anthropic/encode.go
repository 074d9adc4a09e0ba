package anthropic

import (
	"cmp"
	"slices"
	"strings"

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
		return &transcript.Encoded{Data: chat.Now(w.Session.Bytes()), Spans: chat.Spans(w)}, nil
	}
	b, err := frame(w.Session, own)
	if err != nil {
		return nil, err
	}
	entries, fixes := rules.Repair(w.Entries)
	e := &encoder{body: b, own: own, mend: w.Mend, fixes: fixes, at: chat.Indexes(w.Session)}
	e.provider = own || w.Session.Format == "claudecode"
	if !own {
		e.account(w)
	}
	e.system(e.head(entries))
	e.open()
	e.place()
	e.end()
	data, spans := e.body.Join(e.pieces, e.cuts...)
	return &transcript.Encoded{Data: data, Losses: e.losses.List, Repairs: e.fixes, Spans: spans}, nil
}

// frame returns the body whose list takes the messages: that of the session if own is true,
// else an empty body.
func frame(s *transcript.Session, own bool) (*body, error) {
	if own {
		return parse("", chat.Now(s.Bytes()))
	}
	return parse("", []byte(`{"messages": []}`))
}

// An encoder writes the messages of a window.
type encoder struct {
	body     *body
	own      bool // the session is in this format, so messages can be kept
	mend     bool // record repairs
	provider bool // the session's blocks are in Anthropic's format
	at       map[*transcript.Message]int
	calls    []transcript.ToolCall // calls of the latest reply
	owner    transcript.BlockID    // block that is being written
	pieces   []chat.Piece
	roles    []string // roles of the pieces
	notes    []note
	cuts     []transcript.Cut
	losses   chat.Losses
	fixes    []transcript.Fix
}

// rules are the numbers of the provider's rules for calls and results.
var rules = transcript.Pairing{Twice: "A16", Apart: "A2", Second: "A3", Unanswered: "A2", Orphan: "A3", Served: "A6"}

func (e *encoder) fix(rule, what string) {
	e.fixes = append(e.fixes, transcript.Fix{Rule: rule, Message: len(e.pieces), What: what})
}

func (e *encoder) write(role string, raw []byte, index int) {
	e.pieces = append(e.pieces, chat.Piece{Raw: raw, Index: index, Block: e.owner})
	e.roles = append(e.roles, role)
}

// writeBlocks writes a message with these blocks, or nothing if there are no blocks.
func (e *encoder) writeBlocks(role string, blocks [][]byte) {
	if len(blocks) > 0 {
		e.write(role, messageOf(role, blocks), -1)
	}
}

func messageOf(role string, blocks [][]byte) []byte {
	raw := append([]byte(`{"role": "`+role+`", "content": `), list(blocks)...)
	return append(raw, '}')
}

// head returns the system entries at the beginning, which go into the system field, and writes all
// other entries. Repairs are recorded for the entries where they occur.
func (e *encoder) head(entries []transcript.Entry) (head []transcript.Entry) {
	atHead := e.body.Key >= 0
	at := make([]int, len(entries))
	mended := len(e.fixes)
	defer func() { chat.Place(e.fixes[:mended], at) }()
	for i := 0; i < len(entries); {
		en := &entries[i]
		e.owner = en.Block
		at[i] = len(e.pieces)
		switch {
		case e.isField(en):
			head = append(head, *en)
		case en.Role == transcript.RoleSystem && atHead && !e.kept(en):
			head = append(head, *en)
		case en.Role == transcript.RoleSystem:
			atHead = false
			e.note(en)
		case len(en.Results()) > 0:
			atHead = false
			last := i + 1
			for last < len(entries) && len(entries[last].Results()) > 0 {
				at[last] = at[i]
				last++
			}
			e.answers(entries[i:last])
			i = last
			continue
		default:
			atHead = false
			e.plain(en)
		}
		i++
	}
	return head
}

// isField reports whether en is the session's system field.
func (e *encoder) isField(en *transcript.Entry) bool {
	if !e.own || en.Source == nil || e.body.system.End == 0 {
		return false
	}
	at, ok := e.at[en.Source]
	return ok && at == 0
}

// kept reports whether en is a message of the session that is written with its own bytes.
func (e *encoder) kept(en *transcript.Entry) bool { return e.own && e.index(en) >= 0 }

// index returns the index in the list messages of en's source message, or -1.
func (e *encoder) index(en *transcript.Entry) int {
	at, ok := e.at[en.Source]
	if !ok {
		return -1
	}
	if e.body.system.End > 0 {
		at--
	}
	return at
}

// system writes the system field.
func (e *encoder) system(head []transcript.Entry) {
	b := e.body
	if len(head) == 1 && e.isField(&head[0]) || len(head) == 0 && b.system.End == 0 {
		return
	}
	var blocks [][]byte
	for i := range head {
		if e.isField(&head[i]) {
			blocks = append(blocks, b.system.raw(b.Data)...)
			continue
		}
		for _, p := range head[i].Parts {
			if t, ok := p.(transcript.Text); ok && !blank(string(t)) {
				blocks = append(blocks, textBlock(string(t)))
			}
		}
	}
	switch value := list(blocks); {
	case b.system.End > 0:
		e.cuts = append(e.cuts, transcript.Cut{From: b.system.Start, To: b.system.End, With: value})
	case len(blocks) > 0:
		with := slices.Concat([]byte(`"system": `), value, []byte(", "))
		e.cuts = append(e.cuts, transcript.Cut{From: b.Key, To: b.Key, With: with})
	}
}

// raw returns the blocks of c with their own bytes.
func (c *content) raw(data []byte) [][]byte {
	var blocks [][]byte
	for i := range c.blocks {
		blocks = append(blocks, c.blocks[i].Of(data))
	}
	if !c.list && !blank(c.text) {
		blocks = append(blocks, slices.Concat([]byte(`{"type": "text", "text": `), c.Of(data), []byte("}")))
	}
	return blocks
}

// note writes a system message inside the conversation.
func (e *encoder) note(en *transcript.Entry) {
	var blocks [][]byte
	for _, p := range en.Parts {
		if t, ok := p.(transcript.Text); ok && !blank(string(t)) {
			blocks = append(blocks, textBlock(systemMark+string(t)))
		}
	}
	if e.kept(en) && !hasBlank(en.Parts) && (len(en.Parts) > 0 || e.body.messages[e.index(en)].onlySettings()) {
		e.notes = append(e.notes, note{len(e.pieces), blocks})
		e.write("system", e.body.Messages[e.index(en)].Of(e.body.Data), e.index(en))
		return
	}
	switch {
	case !e.own:
	case len(blocks) > 0:
		e.fix("A15", "system text became user text")
	case e.kept(en):
		e.fix("A10", "empty message left out")
	}
	e.writeBlocks("user", blocks)
}

// A note is a system message inside the conversation.
type note struct {
	piece  int
	blocks [][]byte // the same content as blocks of a user's message
}

// place turns notes into user's messages where the provider would refuse a system message,
// and drops notes without text.
func (e *encoder) place() {
	v, known := versionOf(e.body.Model)
	starts := make([]int, len(e.roles)) // the first of several consecutive system messages
	for i, role := range e.roles {
		if starts[i] = i; i > 0 && role == "system" && e.roles[i-1] == "system" {
			starts[i] = starts[i-1]
		}
	}
	dropped := make(map[int]int) // index of the next message that stays
	for _, n := range slices.Backward(e.notes) {
		i := n.piece
		start, next := starts[i], cmp.Or(dropped[i+1], i+1)
		behind := start > 0 && (e.roles[start-1] == "user" || e.roles[start-1] == serverTool)
		before := next == len(e.roles) || e.roles[next] != "user"
		if (!known || v.systemMessages()) && behind && before {
			continue
		}
		if len(n.blocks) == 0 {
			e.fixes = append(e.fixes, transcript.Fix{Rule: "A15", Message: i, What: "settings inside the conversation left out"})
			dropped[i] = next
			continue
		}
		e.fixes = append(e.fixes, transcript.Fix{Rule: "A15", Message: i, What: "system text became user text"})
		e.roles[i] = "user"
		e.pieces[i] = chat.Piece{Raw: messageOf("user", n.blocks), Index: -1, Block: e.pieces[i].Block}
	}
	if len(dropped) > 0 {
		e.leaveOut(dropped)
	}
}

// leaveOut removes the messages that are keys of dropped.
func (e *encoder) leaveOut(dropped map[int]int) {
	var pieces []chat.Piece
	var roles []string
	at := make([]int, len(e.pieces)+1)
	for i := range e.pieces {
		at[i] = len(pieces)
		if dropped[i] == 0 {
			pieces, roles = append(pieces, e.pieces[i]), append(roles, e.roles[i])
		}
	}
	at[len(e.pieces)] = len(pieces)
	e.pieces, e.roles = pieces, roles
	chat.Place(e.fixes, at)
}

// serverTool stands in [encoder.roles] for an assistant's message that ends in a call of a server
// tool.
const serverTool = "assistant, server tool"

// plain writes a message without tool results.
func (e *encoder) plain(en *transcript.Entry) {
	role := "user"
	if en.Role == transcript.RoleAssistant {
		role = "assistant"
		e.calls = en.Calls()
	}
	if en.Bare && e.mend {
		e.fix("A9", "thinking left out")
	}
	odd := e.kept(en) && hasOddCall(en.Parts)
	if odd {
		e.fix("A0", "tool call written anew")
	}
	if odd || !e.kept(en) {
		e.writeBlocks(role, e.blocks(en.Parts))
		return
	}
	if raw := e.revise(en); raw != nil {
		if o, ok := en.Parts[len(en.Parts)-1].(transcript.Opaque); ok && isServerTool(o.Type) && role == "assistant" {
			role = serverTool
		}
		e.write(role, raw, e.index(en))
	}
}

// answers writes consecutive messages with tool results as one message: results first, then
// other blocks. If the results come from several messages, they get the order of their calls.
func (e *encoder) answers(run []transcript.Entry) {
	if len(run) == 1 && e.kept(&run[0]) && resultsFirst(run[0].Parts) {
		e.write("user", e.revise(&run[0]), e.index(&run[0]))
		return
	}
	type result struct {
		call int
		raw  []byte
	}
	var results []result
	var others [][]byte
	for i := range run {
		blocks, parts := e.blocksOf(&run[i])
		for k, p := range parts {
			if res, ok := p.(transcript.ToolResult); ok {
				call := slices.IndexFunc(e.calls, func(c transcript.ToolCall) bool { return c.ID == res.CallID })
				results = append(results, result{call, blocks[k]})
			} else {
				others = append(others, blocks[k])
			}
		}
	}
	if e.own && len(run) > 1 {
		e.fix("A5", "results put in one message")
	} else if e.kept(&run[0]) {
		e.fix("A4", "results put before the text")
	}
	slices.SortStableFunc(results, func(a, b result) int { return a.call - b.call })
	var blocks [][]byte
	for _, r := range results {
		blocks = append(blocks, r.raw)
	}
	e.writeBlocks("user", append(blocks, others...))
}

// blocksOf returns the blocks of an entry and, for each block, its part.
func (e *encoder) blocksOf(en *transcript.Entry) (blocks [][]byte, parts []transcript.Part) {
	if !e.kept(en) {
		for _, p := range en.Parts {
			if raw := e.block(p); raw != nil {
				blocks, parts = append(blocks, raw), append(parts, p)
			}
		}
		return blocks, parts
	}
	raw := e.revise(en)
	m, err := readMessage(rawjson.NewReader(raw))
	if err != nil {
		panic("anthropic: " + err.Error()) // parse has read these bytes before
	}
	return m.raw(raw), m.parts(raw)
}

func resultsFirst(parts []transcript.Part) bool {
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

// open puts a user's message first if the first message is not a user's.
func (e *encoder) open() {
	if len(e.roles) > 0 && e.roles[0] == "user" {
		return
	}
	e.pieces = slices.Insert(e.pieces, 0, chat.Piece{Raw: spoken(transcript.Opening), Index: -1})
	e.roles = slices.Insert(e.roles, 0, "user")
	for i := range e.notes {
		e.notes[i].piece++
	}
	for i := range e.fixes {
		e.fixes[i].Message++
	}
	if e.mend {
		e.fixes = append(e.fixes, transcript.Fix{Rule: "A1", What: "a user's text put first"})
	}
}

// end adds a user's message at the end if the model refuses a list that ends in a reply.
func (e *encoder) end() {
	last := len(e.roles) - 1
	if v, _ := versionOf(e.body.Model); !e.mend || !v.from(4, 6) || e.roles[last] != "assistant" || len(e.calls) > 0 {
		return
	}
	e.fix("A12", "a user's text put last")
	e.owner = ""
	e.write("user", spoken(transcript.GoOn), -1)
}

// spoken returns a user's message with a text.
func spoken(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": `), rawjson.AppendString(nil, text), []byte("}"))
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// hasBlank reports whether a text among parts is blank, or a text in a result is empty.
func hasBlank(parts []transcript.Part) bool {
	return slices.ContainsFunc(parts, func(p transcript.Part) bool {
		switch p := p.(type) {
		case transcript.Text:
			return blank(string(p))
		case transcript.ToolResult:
			return slices.Contains(p.Content, transcript.Part(transcript.Text("")))
		}
		return false
	})
}
