package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"unicode/utf8"
)

// An answer is a message in the form of the service.
type answer struct {
	ID              string    `json:"id"`
	Type            string    `json:"type"`
	Role            string    `json:"role"`
	Model           string    `json:"model"`
	Content         []object  `json:"content"`
	StopReason      any       `json:"stop_reason"`
	StopSequence    any       `json:"stop_sequence"`
	Usage           object    `json:"usage"`
	Transformations []dropped `json:"input_transformations,omitempty"`
}

// compose makes the message for a reply that follows a prefix.
func (s *Server) compose(b *body, r Reply, p prefix, gone []dropped, u *Usage) (*answer, error) {
	a := &answer{
		ID: s.name("msg"), Type: "message", Role: roleAssistant, Model: b.model, Content: []object{},
		StopReason: r.Stop, Transformations: gone,
	}
	stop := "end_turn"
	for _, block := range r.Blocks {
		o, err := s.block(b, block, p)
		if err != nil {
			return nil, err
		}
		if o == nil {
			continue
		}
		if kind(o) == "tool_use" {
			stop = "tool_use"
		}
		a.Content = append(a.Content, o)
		u.Output += tokens(len(read(o)))
		p.addBlock(roleAssistant, o)
	}
	if r.Stop == "" {
		a.StopReason = stop
	}
	a.Usage = object{
		"input_tokens": u.Input, "cache_read_input_tokens": u.Read, "cache_creation_input_tokens": u.Write + u.Write1,
		"cache_creation": object{"ephemeral_5m_input_tokens": u.Write, "ephemeral_1h_input_tokens": u.Write1},
		"output_tokens":  u.Output,
	}
	return a, nil
}

// block makes a block of a message. It returns nil for thinking if the request does not ask for
// thinking and its model does not think by default.
func (s *Server) block(b *body, block Block, p prefix) (object, error) {
	switch block := block.(type) {
	case Text:
		return object{"type": "text", "text": string(block)}, nil
	case Thinking:
		said := string(block)
		if text(thinking(b), "display") == "omitted" {
			said = ""
		}
		if !thinks(b) {
			return nil, nil
		}
		return object{"type": "thinking", "thinking": said, "signature": s.sealer.seal(b.model, said, p)}, nil
	case Redacted:
		if !thinks(b) {
			return nil, nil
		}
		return object{"type": "redacted_thinking", "data": s.sealer.seal(b.model, "", p)}, nil
	case Call:
		input, err := asObject(block.Input)
		if err != nil {
			return nil, fmt.Errorf("encode the input of %s: %w", block.Name, err)
		}
		if block.ID == "" {
			block.ID = s.name("toolu")
		}
		return object{"type": "tool_use", "id": block.ID, "name": block.Name, "input": input}, nil
	}
	return nil, fmt.Errorf("the Messages API has no block of type %T: change the script", block)
}

// thinks reports whether the model thinks for a request. By default, models that preserve
// thinking do.
func thinks(b *body) bool {
	switch text(thinking(b), "type") {
	case "":
		m, _ := ModelNamed(b.model)
		return m.Bound
	case "disabled":
		return false
	}
	return true
}

// asObject returns a value encoded to JSON and decoded again.
func asObject(value any) (object, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var o object
	err = dec.Decode(&o)
	if o == nil {
		o = object{}
	}
	return o, err
}

// An event is an event of a stream. Its name is in the data, too.
type event = object

// events returns a message as a stream.
func events(a *answer) []event {
	begun := *a
	begun.Content, begun.StopReason, begun.Usage = []object{}, nil, maps.Clone(a.Usage)
	begun.Usage["output_tokens"] = 1
	stream := []event{{"type": "message_start", "message": &begun}, {"type": "ping"}}
	for i, block := range a.Content {
		empty, deltas := split(block)
		stream = append(stream, event{"type": "content_block_start", "index": i, "content_block": empty})
		for _, d := range deltas {
			stream = append(stream, event{"type": "content_block_delta", "index": i, "delta": d})
		}
		stream = append(stream, event{"type": "content_block_stop", "index": i})
	}
	return append(stream,
		event{"type": "message_delta", "delta": object{"stop_reason": a.StopReason, "stop_sequence": nil}, "usage": a.Usage},
		event{"type": "message_stop"})
}

// split splits a block for a stream: it returns the empty block that begins it,
// and the deltas that fill the block.
func split(block object) (empty object, deltas []object) {
	switch kind(block) {
	case "text":
		return object{"type": "text", "text": ""}, pieces("text_delta", "text", text(block, "text"))
	case "thinking":
		deltas = pieces("thinking_delta", "thinking", text(block, "thinking"))
		deltas = append(deltas, object{"type": "signature_delta", "signature": block["signature"]})
		return object{"type": "thinking", "thinking": "", "signature": ""}, deltas
	case "tool_use":
		empty = without(block, "input")
		empty["input"] = object{}
		return empty, append([]object{{"type": "input_json_delta", "partial_json": ""}}, pieces("input_json_delta", "partial_json", read(block))...)
	}
	return block, nil
}

// piece is the size of a delta, in bytes. Real ones are smaller.
const piece = 512

// pieces cuts the text s between characters and returns a delta for each piece. The argument
// delta is the type of the deltas, and field is their field with the text.
func pieces(delta, field, s string) []object {
	var list []object
	for len(s) > 0 {
		n := min(piece, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		list = append(list, object{"type": delta, field: s[:n]})
		s = s[n:]
	}
	return list
}

// frames returns events in the form of a stream, with the type of each as its name.
func frames(events []event) [][]byte {
	list := make([][]byte, len(events))
	for i, e := range events {
		list[i] = fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e["type"], mustJSON(e).frames[0])
	}
	return list
}
