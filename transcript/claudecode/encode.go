package claudecode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	if w.Session.Format == f.Name() && w.Intact() {
		return &transcript.Encoded{Data: w.Session.Bytes(), Session: w.Session.ID}, nil
	}
	own := w.Session.Format == f.Name()
	entries, fixes := rules.Repair(w.Entries)
	first := replyFirst(entries, own, own || w.Session.Format == "anthropic")
	if own && w.As != "" && w.Unchanged() && first < 0 && len(fixes) == 0 {
		return &transcript.Encoded{Data: renew(w.Session, string(w.As)), Session: w.As}, nil
	}
	if first >= 0 {
		entries = slices.Insert(slices.Clone(entries), first, transcript.Stub("", transcript.Opening))
		for i := range fixes {
			fixes[i].Message++
		}
		if w.Mend {
			fixes = append(fixes, transcript.Fix{Rule: "X7", Message: first, What: "a user's text put first"})
		}
	}
	e := newEncoder(w.Session, entries, own)
	if w.As != "" {
		e.session = string(w.As)
	}
	for i := range entries {
		e.entry(i, &entries[i])
	}
	e.flush()
	return &transcript.Encoded{Data: e.out.Bytes(), Session: transcript.SessionID(e.session), Losses: e.losses, Repairs: fixes}, nil
}

// The numbers of the rules of Anthropic's API for each kind of fault that Repair mends.
var rules = transcript.Pairing{Twice: "A16", Apart: "X1", Second: "X1", Unanswered: "X1", Orphan: "X1", Served: "A6"}

// replyFirst returns the index of the first message if it is a reply, else -1. In a session of
// another format (own is false), messages without anything to write do not count.
func replyFirst(entries []transcript.Entry, own, provider bool) int {
	i := slices.IndexFunc(entries, func(e transcript.Entry) bool {
		return e.Role != transcript.RoleSystem && (own || anyWritten(e.Parts, provider))
	})
	if i >= 0 && entries[i].Role != transcript.RoleAssistant {
		return -1
	}
	return i
}

// anyWritten reports whether the encoder writes any of the parts of a message of a session in
// another format. The argument provider is that of [encoder.provider].
func anyWritten(parts []transcript.Part, provider bool) bool {
	return slices.ContainsFunc(parts, func(p transcript.Part) bool {
		switch p := p.(type) {
		case transcript.Thinking:
			return provider && !unsigned(parts)
		case transcript.Opaque:
			return provider && gjson.ValidBytes(p.Raw)
		}
		return written(p)
	})
}

// unsigned reports whether a thinking part has no signature.
func unsigned(parts []transcript.Part) bool {
	return slices.ContainsFunc(parts, func(p transcript.Part) bool { t, ok := p.(transcript.Thinking); return ok && t.Signature == "" })
}

// written reports whether the encoder writes a part of a session in another format. It
// leaves out blank texts.
func written(p transcript.Part) bool {
	t, ok := p.(transcript.Text)
	return !ok || strings.TrimSpace(string(t)) != ""
}

// writable returns the parts of message i that the encoder may write. If one thinking part
// has no signature, it drops all thinking of the message, since the provider refuses
// unsigned thinking.
func (e *encoder) writable(i int, parts []transcript.Part) []transcript.Part {
	drop := unsigned(parts)
	var list []transcript.Part
	for _, p := range parts {
		if t, ok := p.(transcript.Thinking); ok && drop {
			e.lose(i, "thinking", len(t.Text)+len(t.Signature))
		} else if written(p) {
			list = append(list, p)
		}
	}
	return list
}

// An encoder writes rows in one chain.
type encoder struct {
	from    *transcript.Session
	own     bool // the session is in this format, so rows can be kept
	session string
	parent  string
	stamp   string            // timestamp of the last row
	frame   map[string]string // fields of each [madeRow], copied from the session's first row
	renamed map[string]string // old uuid → new
	rows    int
	out     bytes.Buffer
	losses  []transcript.Loss

	reply []pending // rows of the reply that is being written
	model string
}

// A pending row is queued until its reply is complete.
type pending struct {
	item int // sort key: index of the item; for a [madeRow], -1 if it is of the reply, and the number of items if it is of results
	raw  []byte
}

func newEncoder(s *transcript.Session, entries []transcript.Entry, own bool) *encoder {
	e := &encoder{
		from: s, own: own, session: sessionUUID(s, entries), model: s.Model,
		stamp:   "2000-01-01T00:00:00.000Z",
		frame:   map[string]string{"cwd": s.Project, "version": "2.0.0", "gitBranch": ""},
		renamed: make(map[string]string),
	}
	if e.frame["cwd"] == "" {
		e.frame["cwd"] = "/"
	}
	e.model = cmp.Or(e.model, "unknown")
	if own && len(s.Messages) > 0 {
		first := s.Items[s.Messages[0].Items[0]].Raw
		e.stamp = gjson.GetBytes(first, "timestamp").String()
		for key := range e.frame {
			if v := gjson.GetBytes(first, key); v.Exists() {
				e.frame[key] = v.String()
			}
		}
	}
	return e
}

// sessionUUID returns an id for the new session: a hash of its content.
func sessionUUID(s *transcript.Session, entries []transcript.Entry) string {
	h := sha256.New()
	fmt.Fprintf(h, "claudecode/v1\x00%s\x00%d", s.ID, len(entries))
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
	return uuid(h.Sum(nil))
}

// uuid formats the first 16 bytes of a hash as a uuid of version 8 (RFC 9562,
// section 5.8).
func uuid(sum []byte) string {
	b := slices.Clone(sum[:16])
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	x := hex.EncodeToString(b)
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

// entry queues the rows of an entry. Rows of a reply and of its results are
// written together, in the order of the source file.
func (e *encoder) entry(i int, en *transcript.Entry) {
	if en.Role != transcript.RoleTool {
		e.flush()
	}
	switch {
	case e.own && en.Source != nil && !e.operation(en.Source):
		e.keep(en)
	case en.Role == transcript.RoleAssistant:
		e.makeReply(i, en)
	default:
		e.makeUser(i, en)
	}
}

// operation reports whether a message stands only in an operation of the queue, which the agent does
// not read when it resumes.
func (e *encoder) operation(m *transcript.Message) bool {
	return !gjson.GetBytes(e.from.Items[m.Items[0]].Raw, "uuid").Exists()
}

// keep queues the source rows of an entry, without the parts that were taken out.
func (e *encoder) keep(en *transcript.Entry) {
	for _, item := range en.Source.Items {
		raw := e.from.Items[item].Raw
		if en.Changed() {
			raw = reduce(raw, en)
			if raw == nil {
				continue
			}
		}
		e.reply = append(e.reply, pending{item, raw})
	}
}

// reduce returns a row with the new texts of its results, and without its thinking if en
// is bare. It returns nil if no part is left.
func reduce(raw []byte, en *transcript.Entry) []byte {
	content := gjson.GetBytes(raw, "message.content")
	if !content.IsArray() {
		return raw
	}
	var cuts []transcript.Cut
	parts, dropped := content.Array(), make(map[int]bool)
	replaced := false
	for k, part := range parts {
		switch part.Get("type").String() {
		case "thinking", "redacted_thinking":
			if en.Bare {
				dropped[k] = true
			}
		case "tool_result":
			if text, ok := en.Replaced[part.Get("tool_use_id").String()]; ok {
				replaced = true
				old := part.Get("content")
				at := old.Index
				if !old.Exists() {
					at = part.Index + 1
					cuts = append(cuts, transcript.Cut{From: at, To: at, With: slices.Concat([]byte(`"content":`), quote(text), []byte(","))})
					continue
				}
				cuts = append(cuts, transcript.Cut{From: at, To: at + len(old.Raw), With: quote(text)})
			}
		}
	}
	if len(dropped) == len(parts) && len(parts) > 0 {
		return nil
	}
	for _, s := range rawjson.Remove(spans(parts), func(k int) bool { return dropped[k] }) {
		cuts = append(cuts, transcript.Cut{From: s.Start, To: s.End})
	}
	if replaced { // toolUseResult repeats the whole result
		if extra := gjson.GetBytes(raw, "toolUseResult"); extra.Exists() {
			cuts = append(cuts, transcript.Cut{From: extra.Index, To: extra.Index + len(extra.Raw), With: []byte("null")})
		}
	}
	return transcript.Splice(raw, cuts...)
}

// spans returns where the elements of an array are.
func spans(parts []gjson.Result) []rawjson.Span {
	var list []rawjson.Span
	for _, p := range parts {
		list = append(list, rawjson.Span{Start: p.Index, End: p.Index + len(p.Raw)})
	}
	return list
}

// flush writes the queued rows in this order: each [madeRow] of the reply, the kept rows in the
// order of the file, each [madeRow] of results.
func (e *encoder) flush() {
	slices.SortStableFunc(e.reply, func(a, b pending) int { return cmp.Compare(a.item, b.item) })
	for _, p := range e.reply {
		e.write(p.raw)
	}
	e.reply = e.reply[:0]
}

// write writes a row with a new id, as the child of the row written before.
func (e *encoder) write(raw []byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "row/v1\x00%s\x00%d", e.session, e.rows))
	id := uuid(sum[:])
	old := gjson.GetBytes(raw, "uuid").String()
	parent := []byte("null")
	if e.parent != "" {
		parent = quote(e.parent)
	}
	stamp := max(gjson.GetBytes(raw, "timestamp").String(), e.stamp)
	values := []struct {
		key  string
		with []byte
	}{
		{"uuid", quote(id)},
		{"parentUuid", parent},
		{"sessionId", quote(e.session)},
		{"timestamp", quote(stamp)},
	}
	var cuts []transcript.Cut
	for _, v := range values {
		if r := gjson.GetBytes(raw, v.key); r.Exists() {
			cuts = append(cuts, transcript.Cut{From: r.Index, To: r.Index + len(r.Raw), With: v.with})
		}
	}
	if r := gjson.GetBytes(raw, "sourceToolAssistantUUID"); r.Exists() {
		if to, ok := e.renamed[r.String()]; ok {
			cuts = append(cuts, transcript.Cut{From: r.Index, To: r.Index + len(r.Raw), With: quote(to)})
		}
	}
	// The usage of the copied call is that of another window: with it Claude Code would take this
	// one for as large, and compact it at once.
	if r := gjson.GetBytes(raw, "message.usage"); r.IsObject() {
		cuts = append(cuts, transcript.Cut{From: r.Index, To: r.Index + len(r.Raw), With: []byte(`{"input_tokens":0,"output_tokens":0}`)})
	}
	line := bytes.TrimRight(transcript.Splice(raw, cuts...), "\r\n")
	e.out.Write(line)
	e.out.WriteByte('\n')
	if old != "" {
		e.renamed[old] = id
	}
	e.parent, e.stamp = id, stamp
	e.rows++
}

// A madeRow is a row that the encoder builds itself, not one copied from the file.
type madeRow struct {
	Parent    any    `json:"parentUuid"`
	Sidechain bool   `json:"isSidechain"`
	UserType  string `json:"userType"`
	Cwd       string `json:"cwd"`
	Session   string `json:"sessionId"`
	Version   string `json:"version"`
	Branch    string `json:"gitBranch"`
	Type      string `json:"type"`
	Message   any    `json:"message"`
	UUID      string `json:"uuid"`
	Timestamp string `json:"timestamp"`
}

func (e *encoder) make(kind string, message any) {
	row := madeRow{
		UserType: "external", Cwd: e.frame["cwd"], Version: e.frame["version"], Branch: e.frame["gitBranch"],
		Type: kind, Message: message, Timestamp: e.nextStamp(),
	}
	at := len(e.from.Items)
	if kind == "assistant" {
		at = -1
	}
	e.reply = append(e.reply, pending{at, marshal(row)})
}

// nextStamp returns the timestamp of a [madeRow]: in a session of this format, that of the
// row before it; otherwise one second later.
func (e *encoder) nextStamp() string {
	if e.own {
		return e.stamp
	}
	const layout = "2006-01-02T15:04:05.000Z"
	t, err := time.Parse(layout, e.stamp)
	if err != nil {
		return e.stamp
	}
	e.stamp = t.Add(time.Second).Format(layout)
	return e.stamp
}

type userMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// makeUser queues a row for a user's message, a stub, a system text or tool results.
func (e *encoder) makeUser(i int, en *transcript.Entry) {
	if en.Role == transcript.RoleSystem {
		e.lose(i, "system text (the agent has its own)", len(en.Text()))
		return
	}
	parts := e.writable(i, en.Parts)
	if len(parts) == 1 {
		if t, ok := parts[0].(transcript.Text); ok {
			e.make("user", userMessage{"user", string(t)})
			return
		}
	}
	if blocks := e.blocks(i, parts); len(blocks) > 0 {
		e.make("user", userMessage{"user", blocks})
	}
}

type replyMessage struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Role    string         `json:"role"`
	Model   string         `json:"model"`
	Content []any          `json:"content"`
	Stop    any            `json:"stop_reason"`
	StopSeq any            `json:"stop_sequence"`
	Usage   map[string]int `json:"usage"`
}

// makeReply queues a row for each block of an assistant's reply.
func (e *encoder) makeReply(i int, en *transcript.Entry) {
	sum := sha256.Sum256(fmt.Appendf(nil, "reply/v1\x00%s\x00%d", e.session, i))
	id := "msg_carrel_" + hex.EncodeToString(sum[:8])
	for _, block := range e.blocks(i, e.writable(i, en.Parts)) {
		e.make("assistant", replyMessage{
			ID: id, Type: "message", Role: "assistant", Model: e.model, Content: []any{block},
			Usage: map[string]int{"input_tokens": 0, "output_tokens": 0},
		})
	}
}

// blocks returns parts as content blocks, and records parts without a block as losses.
func (e *encoder) blocks(i int, parts []transcript.Part) []any {
	var blocks []any
	for _, p := range parts {
		switch p := p.(type) {
		case transcript.Text:
			if p != "" {
				blocks = append(blocks, map[string]any{"type": "text", "text": string(p)})
			}
		case transcript.ToolCall:
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": chat.CleanID(p.ID), "name": cmp.Or(p.Name, "unknown"), "input": e.input(i, p.Input)})
		case transcript.ToolResult:
			b := map[string]any{"type": "tool_result", "tool_use_id": chat.CleanID(p.CallID)}
			if content := e.blocks(i, p.Content); len(content) > 0 {
				b["content"] = content
			}
			if p.Error {
				b["is_error"] = true
			}
			blocks = append(blocks, b)
		case transcript.Thinking:
			if !e.provider() {
				e.lose(i, "thinking", len(p.Text))
			} else if p.Redacted {
				blocks = append(blocks, map[string]any{"type": "redacted_thinking", "data": p.Signature})
			} else {
				blocks = append(blocks, map[string]any{"type": "thinking", "thinking": p.Text, "signature": p.Signature})
			}
		case transcript.Media:
			blocks = append(blocks, e.media(i, p))
		case transcript.Opaque:
			if e.provider() && gjson.ValidBytes(p.Raw) {
				blocks = append(blocks, p.Raw)
				continue
			}
			e.lose(i, p.Type, len(p.Raw))
		}
	}
	return blocks
}

// media returns an image or a document as a block, or records a loss and returns its placeholder
// if the provider has no block for it.
func (e *encoder) media(i int, p transcript.Media) any {
	block := func(source map[string]any) any { return map[string]any{"type": p.Kind, "source": source} }
	switch {
	case e.provider() && gjson.ValidBytes(p.Raw):
		return p.Raw
	case p.Kind != "image" && (p.Kind != "document" || p.MIME != "application/pdf" && (p.MIME != "" || p.Data != "")):
	case p.Data != "" && p.MIME != "":
		return block(map[string]any{"type": "base64", "media_type": p.MIME, "data": p.Data})
	case p.URL != "":
		return block(map[string]any{"type": "url", "url": p.URL})
	}
	e.lose(i, p.Kind, len(p.Raw))
	return map[string]any{"type": "text", "text": chat.Placeholder(p)}
}

// provider reports whether the session's blocks are in the format of Anthropic's API.
func (e *encoder) provider() bool { return e.own || e.from.Format == "anthropic" }

// input returns the arguments of a call as an object.
func (e *encoder) input(i int, raw json.RawMessage) any {
	if gjson.ValidBytes(raw) && gjson.ParseBytes(raw).IsObject() {
		return raw
	}
	e.lose(i, "arguments that are not an object (wrapped)", len(raw))
	return map[string]any{"_raw": string(raw)}
}

func (e *encoder) lose(i int, what string, size int) {
	e.losses = append(e.losses, transcript.Loss{Message: i, What: what, Count: 1, Bytes: size})
}

// marshal writes v without escaping <, > and &.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("claudecode: " + err.Error()) // rows are made of strings and valid JSON
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func quote(s string) []byte { return marshal(s) }
