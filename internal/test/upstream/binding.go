package upstream

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
)

// A sealer signs the thinking in replies, and verifies the signature when a
// later request contains the thinking.
type sealer struct{ key []byte }

// A prefix identifies everything before a block: it has a digest of all earlier blocks that are
// not thinking, and the seal of the last block of thinking. It is computed block by block, so
// that a long conversation is read once.
type prefix struct {
	sum  [sha256.Size]byte
	seal string // seal of the last thinking block, or empty
}

// startOf returns the prefix for the first message of b: a digest of the system prompt and of the
// tools in b, without the tools that are loaded later (defer_loading).
func startOf(b *body) prefix {
	var p prefix
	for _, s := range b.system {
		p.add(roleSystem, "prompt", plain(s))
	}
	for _, t := range b.tools {
		if later, _ := t["defer_loading"].(bool); later {
			continue
		}
		p.add("tool", "definition", without(t, "cache_control"))
	}
	return p
}

// add continues the digest with the given JSON values.
func (p *prefix) add(parts ...any) {
	h := sha256.New()
	h.Write(p.sum[:])
	for _, part := range parts {
		writeJSON(h, part)
	}
	h.Sum(p.sum[:0])
}

// addBlock continues the prefix with a block of a message.
func (p *prefix) addBlock(role string, block object) {
	if isThinking(block) {
		p.seal = sealOf(block)
		return
	}
	p.add(role, plain(block))
}

// writeJSON writes a decoded JSON value to h, with the keys of objects in order.
func writeJSON(h hash.Hash, value any) {
	if err := json.NewEncoder(h).Encode(value); err != nil {
		panic(fmt.Sprintf("upstream: a JSON value cannot be written: %v", err)) // it was read from JSON
	}
}

// plain returns a block as it enters the digest of a [prefix]: without cache marks, and with
// the content of a tool result as a list.
func plain(block object) object {
	block = without(block, "cache_control")
	if kind(block) == "tool_result" {
		content := make([]any, 0)
		for _, inner := range nested(block) {
			content = append(content, without(inner, "cache_control"))
		}
		block["content"] = content
	}
	return block
}

// without returns a copy of an object without a field.
func without(o object, field string) object {
	c := maps.Clone(o)
	delete(c, field)
	return c
}

// sealOf returns the signature of a thinking block.
func sealOf(block object) string {
	if kind(block) == "redacted_thinking" {
		return text(block, "data")
	}
	return text(block, "signature")
}

// seal returns the signature of a thinking block. The signature covers the model, the text in
// said, and the prefix p of the block.
func (s sealer) seal(model, said string, p prefix) string {
	link := s.mac("link", p.seal)
	return base64.StdEncoding.EncodeToString([]byte(strings.Join([]string{
		model, link, s.mac("text", model, link, said), s.mac("prefix", model, said, hex.EncodeToString(p.sum[:])),
	}, "|")))
}

// A verdict is the result of verifying a signature.
type verdict string

const (
	verdictGood  verdict = "good"
	verdictOther verdict = "of another model"
	verdictEdit  verdict = "not the block that was given"
	verdictBound verdict = "bound to a different conversation"
)

// verify verifies the signature of a thinking block for a model and the prefix before it.
func (s sealer) verify(model string, block object, p prefix) verdict {
	data, err := base64.StdEncoding.DecodeString(sealOf(block))
	fields := strings.Split(string(data), "|")
	if err != nil || len(fields) != 4 {
		return verdictEdit
	}
	maker, link, said := fields[0], fields[1], text(block, "thinking")
	switch {
	case !equal(fields[2], s.mac("text", maker, link, said)):
		return verdictEdit
	case maker != model:
		return verdictOther
	case !equal(fields[3], s.mac("prefix", maker, said, hex.EncodeToString(p.sum[:]))),
		p.seal != "" && !equal(link, s.mac("link", p.seal)):
		return verdictBound
	}
	return verdictGood
}

func equal(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

// mac returns the authentication code of some texts.
func (s sealer) mac(parts ...string) string {
	h := hmac.New(sha256.New, s.key)
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A dropped block is thinking that was not shown to the model.
type dropped struct {
	Type   string `json:"type"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// checkThinking checks the rules A7 and A9: each thinking block is as the server wrote it, and
// everything before it is as it was when the server wrote it. It returns the prefix of the next
// reply, and the thinking that the server drops instead of refusing the request. If soft is
// true, this includes thinking that breaks only the second rule.
func (s sealer) checkThinking(b *body, m Model, soft bool) (prefix, []dropped, *Refusal) {
	var gone []dropped
	p := startOf(b)
	for i, msg := range b.messages {
		if msg.clears {
			continue
		}
		for k, block := range msg.content {
			if isThinking(block) {
				path := fmt.Sprintf("messages.%d.content.%d", i, k)
				v := s.verify(b.model, block, p)
				switch {
				case v == verdictEdit:
					return p, nil, edited(path, block, i == latestReply(b))
				case v == verdictOther:
					gone = append(gone, dropped{Type: "thinking_dropped", Path: path, Reason: "model_binding_mismatch"})
				case v == verdictBound && m.Bound && !soft:
					return p, nil, refuse("A9", "%s: Invalid `signature` in `%s` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", path, kind(block))
				case v == verdictBound && m.Bound:
					gone = append(gone, dropped{Type: "thinking_dropped", Path: path, Reason: "prefix_binding_mismatch"})
				}
			}
			p.addBlock(msg.role, block)
		}
	}
	return p, gone, nil
}

// edited returns the refusal of a thinking block that the server did not write. latest reports
// whether the block is in the latest reply.
func edited(path string, block object, latest bool) *Refusal {
	if latest {
		return refuse("A7", "%s: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", path)
	}
	return refuse("A9", "%s: Invalid `signature` in `%s` block", path, kind(block))
}

// latestReply returns the index of the last reply, or -1.
func latestReply(b *body) int {
	for i, m := range slices.Backward(b.messages) {
		if m.role == roleAssistant {
			return i
		}
	}
	return -1
}
