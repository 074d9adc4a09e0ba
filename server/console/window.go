package console

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// A windowPage is the window of a session as Carrel would send it.
type windowPage struct {
	Session  transcript.SessionID `json:"session"`
	Format   string               `json:"format"`
	Tokens   token.Count          `json:"tokens"` // as the page of the session has them
	All      int                  `json:"messages_in_all"`
	Large    int                  `json:"large,omitempty"` // blocks, if the session is large and nobody asked for its window
	Messages []shownMessage       `json:"messages"`
	Losses   []transcript.Loss    `json:"losses,omitempty"`
	Call     string               `json:"call,omitempty"` // id of the last call of the session that went through a proxy
	Managed  bool                 `json:"managed,omitempty"`
	Next     int                  `json:"next,omitempty"` // number of the first message of the next page, from 1
}

// A shownMessage is a message of a window, for a page.
type shownMessage struct {
	Role  string      `json:"role"`
	Parts []shownPart `json:"parts"`
}

// A shownPart is a part of a message. Its kind is text, thinking, call or result. A part of another
// kind, such as an image, has the type of its block as Kind, and no text.
type shownPart struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // of the tool
	Text string `json:"text"`
	Size int    `json:"size,omitempty"` // bytes of the whole text, if Text is only its beginning
}

// shownPartBytes is the most bytes of a part on the page of a window.
const shownPartBytes = 64 << 10

// shorten cuts the texts that are too long for a page.
func shorten(messages []shownMessage) {
	for i := range messages {
		for k := range messages[i].Parts {
			if p := &messages[i].Parts[k]; len(p.Text) > shownPartBytes {
				p.Size, p.Text = len(p.Text), strings.ToValidUTF8(p.Text[:shownPartBytes], "")
			}
		}
	}
}

func showWindow(v *visit) (any, error) {
	info, err := v.sessionInfo()
	if err != nil {
		return nil, err
	}
	id := info.Session
	p := &windowPage{Session: id, Tokens: info.Window}
	if v.large(info) {
		p.Large = info.Blocks
		return p, nil
	}
	release, err := v.turn()
	if err != nil {
		return nil, err
	}
	defer release()
	out, err := v.engine.Export(v.Context(), v.scope, &carrel.ExportRequest{Session: id, To: "anthropic"})
	if err != nil {
		return nil, err
	}
	p.Format, p.Losses = out.Format, out.Losses
	if p.Messages, err = messagesOf(out.Data); err != nil {
		return nil, err
	}
	p.All = len(p.Messages)
	p.Messages, p.Next = pageOf(p.Messages, v.number("message"))
	shorten(p.Messages)
	calls, err := v.engine.Calls(v.Context(), v.scope, &carrel.CallsRequest{Session: id, Cursor: carrel.Cursor{Limit: 1}})
	if err == nil && len(calls.Items) > 0 {
		p.Call, p.Managed = calls.Items[0].ID, calls.Items[0].Managed
	}
	return p, err
}

// messagesOf returns the messages of a request body in the format anthropic.
func messagesOf(body []byte) ([]shownMessage, error) {
	var request struct {
		System   json.RawMessage `json:"system"`
		Messages json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("the exported window cannot be read: %w", err)
	}
	var all []shownMessage
	if parts := partsOf(request.System); len(parts) > 0 {
		all = append(all, shownMessage{"system", parts})
	}
	return append(all, messagesIn(request.Messages)...), nil
}

// messagesIn returns the messages of a JSON list, or none if it is not one.
func messagesIn(list json.RawMessage) []shownMessage {
	var messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(list, &messages) != nil {
		return nil
	}
	all := make([]shownMessage, 0, len(messages))
	for _, m := range messages {
		all = append(all, shownMessage{m.Role, partsOf(m.Content)})
	}
	return all
}

// headOf returns the messages of a head, which is a JSON list in the given dialect.
func headOf(dialect string, head json.RawMessage) []shownMessage {
	format := map[string]transcript.Format{"chat": openai.Format, "responses": responses.Format}[dialect]
	if format == nil || len(head) == 0 {
		return messagesIn(head)
	}
	s, err := format.Decode("", head)
	if err != nil {
		return messagesIn(head)
	}
	all := make([]shownMessage, 0, len(s.Messages))
	for i := range s.Messages {
		all = append(all, shownMessage{string(s.Messages[i].Role), shownParts(s.Messages[i].Parts)})
	}
	return all
}

// shownParts returns the parts of a message for a page.
func shownParts(parts []transcript.Part) []shownPart {
	shown := make([]shownPart, 0, len(parts))
	for _, p := range parts {
		shown = append(shown, shownPartOf(p))
	}
	return shown
}

func shownPartOf(part transcript.Part) shownPart {
	switch p := part.(type) {
	case transcript.Text:
		return shownPart{Kind: "text", Text: string(p)}
	case transcript.Thinking:
		return shownPart{Kind: "thinking", Text: p.Text}
	case transcript.ToolCall:
		return shownPart{Kind: "call", Name: p.Name, Text: string(p.Input)}
	case transcript.ToolResult:
		return shownPart{Kind: "result", Text: joined(shownParts(p.Content))}
	case transcript.Media:
		return shownPart{Kind: p.Kind}
	case transcript.Opaque:
		return shownPart{Kind: p.Type, Text: string(p.Raw)}
	}
	return shownPart{}
}

// joined returns the text of a tool's result. It has the kind of a part without text, such as an
// image, in brackets.
func joined(parts []shownPart) string {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text == "" && p.Kind != "text" {
			p.Text = "[" + p.Kind + "]"
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

// partsOf returns the parts of a content, which is a text or a list of blocks.
func partsOf(content json.RawMessage) []shownPart {
	var text string
	if json.Unmarshal(content, &text) == nil {
		if text == "" {
			return nil
		}
		return []shownPart{{Kind: "text", Text: text}}
	}
	var blocks []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking string          `json:"thinking"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Content  json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	var parts []shownPart
	for _, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, shownPart{Kind: "text", Text: b.Text})
		case "thinking":
			parts = append(parts, shownPart{Kind: "thinking", Text: b.Thinking})
		case "tool_use":
			parts = append(parts, shownPart{Kind: "call", Name: b.Name, Text: string(b.Input)})
		case "tool_result":
			parts = append(parts, shownPart{Kind: "result", Text: joined(partsOf(b.Content))})
		default:
			parts = append(parts, shownPart{Kind: b.Type})
		}
	}
	return parts
}

// marks matches ids in the text of a window, such as "[1ea85b0d]", "[1ea85b0d 77e0b1c2]", "[carrel
// 1ea85b0d: …" and "as 9f4126028ba2520f".
var marks = lazy.Regexp(`\b[0-9a-f]{8}(?:[0-9a-f]{8})?\b`)

// linked returns a text as HTML in which the ids of blocks are links to their pages.
func (c *Console) linked(scope governance.Scope, text string) template.HTML {
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '[')
		if open < 0 {
			break
		}
		shut := strings.IndexAny(text[open:], "]\n")
		if shut == -1 {
			shut = len(text) - open
		}
		b.WriteString(template.HTMLEscapeString(text[:open]))
		inside := text[open : open+shut]
		last := 0
		if strings.HasPrefix(inside, "[carrel") || strings.Trim(inside, "[0123456789abcdef ,") == "" {
			for _, at := range marks.Get().FindAllStringIndex(inside, -1) {
				id := inside[at[0]:at[1]]
				b.WriteString(template.HTMLEscapeString(inside[last:at[0]]))
				fmt.Fprintf(&b, `<a href="%s">%s</a>`, template.HTMLEscapeString(c.link(scope, pathOf("block", id))), id)
				last = at[1]
			}
		}
		b.WriteString(template.HTMLEscapeString(inside[last:]))
		text = text[open+shut:]
	}
	b.WriteString(template.HTMLEscapeString(text))
	return template.HTML(b.String()) //nolint:gosec // all of it is escaped but for our own links, whose ids are hexadecimal digits
}
