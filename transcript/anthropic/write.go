package anthropic

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// carried lists kinds of blocks, besides text, thinking, calls, results and media, that
// Anthropic's API accepts in requests.
var carried = []string{
	"server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
	"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
	"mcp_tool_use", "mcp_tool_result", "container_upload", "compaction", "search_result", "tool_reference",
}

// blocks encodes parts as blocks, and leaves out parts that the API has no block for.
func (e *encoder) blocks(parts []transcript.Part) [][]byte {
	noThinking := hasUnsigned(parts)
	var blocks [][]byte
	for _, p := range parts {
		if _, thinking := p.(transcript.Thinking); thinking && noThinking {
			continue
		}
		if raw := e.block(p); raw != nil {
			blocks = append(blocks, raw)
		}
	}
	return blocks
}

// block encodes one part, or returns nil if the API has no block for it.
func (e *encoder) block(p transcript.Part) []byte {
	switch p := p.(type) {
	case transcript.Text:
		if blank(string(p)) {
			return nil
		}
		return textBlock(string(p))
	case transcript.Thinking:
		switch {
		case !e.provider || p.Signature == "":
			return nil
		case p.Redacted:
			return object("type", "redacted_thinking", "data", p.Signature)
		}
		return object("type", "thinking", "thinking", p.Text, "signature", p.Signature)
	case transcript.ToolCall:
		raw := object("type", "tool_use", "id", chat.CleanID(p.ID), "name", cmp.Or(p.Name, "unknown"))
		input, _ := chat.Arguments(p.Input)
		return field(raw, "input", input)
	case transcript.ToolResult:
		return e.result(p)
	case transcript.Media:
		if raw := e.media(p); raw != nil {
			return raw
		}
		return textBlock("[" + strings.TrimSpace(p.Kind+" "+p.MIME) + "]")
	case transcript.Opaque:
		if e.carries(p) {
			return p.Raw
		}
	}
	return nil
}

func (e *encoder) carries(p transcript.Opaque) bool {
	return e.own || e.provider && slices.Contains(carried, p.Type) && rawjson.Valid(p.Raw)
}

func (e *encoder) result(p transcript.ToolResult) []byte {
	raw := object("type", "tool_result", "tool_use_id", chat.CleanID(p.CallID))
	blocks := e.blocks(p.Content)
	if len(p.Content) == 1 && len(blocks) == 1 {
		if t, ok := p.Content[0].(transcript.Text); ok {
			blocks = nil
			raw = field(raw, "content", rawjson.AppendString(nil, string(t)))
		}
	}
	if len(blocks) > 0 {
		raw = field(raw, "content", list(blocks))
	}
	if p.Error {
		raw = field(raw, "is_error", []byte("true"))
	}
	return raw
}

// media encodes an image or a document, or returns nil if the API has no block for it.
func (e *encoder) media(p transcript.Media) []byte {
	var source []byte
	switch {
	case e.own:
		return p.Raw
	case p.Kind != "image" && (p.Kind != "document" || p.MIME != "application/pdf"):
		return nil
	case p.Data != "" && p.MIME != "":
		source = object("type", "base64", "media_type", p.MIME, "data", p.Data)
	case p.URL != "":
		source = object("type", "url", "url", p.URL)
	default:
		return nil
	}
	return field(object("type", p.Kind), "source", source)
}

// account records the losses of a window of a session in another format: each part for which the
// API has no block.
func (e *encoder) account(w *transcript.Window) {
	if n := len(w.Session.Tools); n > 0 {
		e.losses.Add(-1, "tools", n)
	}
	for i := range w.Entries {
		en := &w.Entries[i]
		noThinking := !e.provider || hasUnsigned(en.Parts)
		for _, p := range en.Parts {
			if t, ok := p.(transcript.Thinking); ok {
				if noThinking {
					e.losses.Add(i, "thinking", len(t.Text)+len(t.Signature))
				}
				continue
			}
			e.lose(i, en.Role, p)
		}
	}
}

// lose records the loss of part p, unless the API has a block for it.
func (e *encoder) lose(i int, role transcript.Role, p transcript.Part) {
	switch p := p.(type) {
	case transcript.ToolCall:
		if _, ok := chat.Arguments(p.Input); !ok {
			e.losses.Add(i, "arguments", len(p.Input))
		}
	case transcript.ToolResult:
		for _, c := range p.Content {
			e.lose(i, role, c)
		}
	case transcript.Media:
		if role == transcript.RoleSystem || e.media(p) == nil {
			e.losses.Add(i, p.Kind, len(p.Raw))
		}
	case transcript.Opaque:
		if role == transcript.RoleSystem || !e.carries(p) {
			e.losses.Add(i, strconv.Quote(p.Type), len(p.Raw))
		}
	case transcript.Text, transcript.Thinking:
	}
}

func textBlock(text string) []byte { return object("type", "text", "text", text) }

// object encodes an object of strings, given as alternating keys and values.
func object(pairs ...string) []byte {
	raw := []byte("{")
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			raw = append(raw, ", "...)
		}
		raw = rawjson.AppendString(raw, pairs[i])
		raw = append(raw, ": "...)
		raw = rawjson.AppendString(raw, pairs[i+1])
	}
	return append(raw, '}')
}

// field adds a field to an object that is not empty.
func field(object []byte, key string, value []byte) []byte {
	raw := append(object[:len(object)-1], ", "...)
	raw = rawjson.AppendString(raw, key)
	raw = append(raw, ": "...)
	raw = append(raw, value...)
	return append(raw, '}')
}

// list writes an array.
func list(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(", ")), []byte("]"))
}
