package upstream

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// DialectGemini is the Gemini API.
const DialectGemini Dialect = "gemini"

// geminiRoutes adds the routes of the Gemini API.
func (s *Server) geminiRoutes() {
	s.mux.HandleFunc("POST /v1beta/models/{call}", s.serve(DialectGemini, func(r *Request) (*response, *Refusal) {
		model, method, _ := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":")
		read := func(r *Request) (*reading, *Refusal) { return s.readGemini(r, model) }
		switch method {
		case "generateContent", "streamGenerateContent":
			if method == "generateContent" {
				r.Kind = KindSide // a client streams the conversation
			}
			return s.answer(r, read, s.composeGemini)
		case "countTokens":
			r.Kind = KindCount
			if _, refusal := s.begin(r, read); refusal != nil && refusal.Rule != "W" {
				return nil, refusal
			}
			return mustJSON(object{"totalTokens": r.Tokens}), nil
		}
		return nil, noGemini(model)
	}))
	s.mux.HandleFunc("GET /v1beta/models", s.serve(DialectGemini, func(*Request) (*response, *Refusal) {
		var list []object
		for _, m := range geminiModels() {
			list = append(list, object{"name": "models/" + m.Name, "displayName": m.Name, "inputTokenLimit": m.Window})
		}
		return mustJSON(object{"models": list}), nil
	}))
}

func noGemini(model string) *Refusal {
	return &Refusal{Status: http.StatusNotFound, Type: "NOT_FOUND", Message: fmt.Sprintf("models/%s is not found for API version v1beta, or is not supported for generateContent.", model)}
}

// admitGemini checks the headers of a request to the Gemini API.
func admitGemini(r *Request) *Refusal {
	if r.Header.Get("X-Goog-Api-Key") == "" && r.URL.Query().Get("key") == "" && !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		return &Refusal{Status: http.StatusForbidden, Type: "PERMISSION_DENIED", Message: "Method doesn't allow unregistered callers."}
	}
	return nil
}

// geminiError returns a refusal in the error format of the Gemini API.
func geminiError(r *Refusal) object {
	status := r.Type
	switch {
	case status == "invalid_request_error":
		status = "INVALID_ARGUMENT"
	case r.Status == http.StatusTooManyRequests:
		status = "RESOURCE_EXHAUSTED"
	case r.Status >= http.StatusInternalServerError:
		status = "UNAVAILABLE"
	}
	return object{"error": object{"code": r.Status, "message": r.Message, "status": status}}
}

// readGemini reads a request of the Gemini API and checks it by every rule. It converts the
// content to the form of the Messages API, for tests that examine the request.
func (s *Server) readGemini(r *Request, model string) (*reading, *Refusal) {
	if refusal := JudgeGemini(r.Body); refusal != nil {
		return nil, refusal
	}
	all, contents, refusal := geminiOf(r.Body)
	if refusal != nil {
		return nil, refusal
	}
	b := &body{all: all, model: model}
	in := &reading{body: b}
	tools, _ := all["tools"].([]any)
	for i, v := range tools {
		tool, _ := v.(object)
		declared, _ := either(tool, "functionDeclarations", "function_declarations").([]any)
		for _, v := range declared {
			f, _ := v.(object)
			b.tools = append(b.tools, object{"name": text(f, "name")})
		}
		in.chain.add(fmt.Sprintf("tools.%d", i), 0, false, v)
	}
	if said, ok := either(all, "systemInstruction", "system_instruction").(object); ok {
		parts, _ := said["parts"].([]any)
		b.system = textBlocks(parts)
		in.chain.add("systemInstruction", 0, false, said)
	}
	m, _ := longestName(geminiModels(), model, "-.")
	if refusal := checkSigned(contents, m.Bound); refusal != nil {
		return nil, refusal
	}
	for i, c := range contents {
		for k, p := range c.parts {
			if sig := signature(p); sig != "" && !isSkipped(sig) && sig != s.signGemini(p) {
				return nil, refuse("G8", "contents[%d].parts[%d]: Corrupted thought signature.", i, k)
			}
		}
		in.chain.add(fmt.Sprintf("contents.%d", i), 0, false, c.role, c.parts)
		b.messages = append(b.messages, c.message())
	}
	s.note(r, in)
	return in, nil
}

// isSkipped reports whether a signature is one that the service ignores.
func isSkipped(signature string) bool {
	return signature == "skip_thought_signature_validator" || signature == "context_engineering_is_the_way_to_go"
}

// signGemini returns the signature of a part. It covers the call or the text of the part.
func (s *Server) signGemini(p object) string {
	said := "said " + text(p, "text")
	if call := calling(p); call != nil {
		said = "call " + text(call, "name") + " " + read(object{"type": "tool_use", "input": call["args"]})
	}
	return base64.StdEncoding.EncodeToString([]byte(s.sealer.mac("gemini", said)))
}

// message returns a content as a message of the Messages API.
func (c geminiContent) message() message {
	m := message{role: roleUser}
	if c.role == "model" {
		m.role = roleAssistant
	}
	for _, p := range c.parts {
		switch call, res := calling(p), responding(p); {
		case call != nil:
			m.content = append(m.content, object{"type": "tool_use", "id": text(call, "id"), "name": text(call, "name"), "input": call["args"]})
		case res != nil:
			said, _ := res["response"].(object)
			output, failed := text(said, "output"), text(said, "error")
			m.content = append(m.content, object{
				"type": "tool_result", "tool_use_id": text(res, "id"), "is_error": failed != "",
				"content": []any{object{"type": "text", "text": output + failed}},
			})
		case p["thought"] == true:
			m.content = append(m.content, object{"type": "thinking", "thinking": text(p, "text")})
		default:
			m.content = append(m.content, textBlocks([]any{p})...)
		}
	}
	return m
}

// composeGemini makes the answer for a reply: a document, or a stream with one event for each
// part.
func (s *Server) composeGemini(r *Request, in *reading, reply Reply, u *Usage) (*response, error) {
	var parts []object
	thought, signed := 0, false
	for _, block := range reply.Blocks {
		var p object
		switch block := block.(type) {
		case Text:
			p = object{"text": string(block)}
		case Thinking:
			p = object{"text": string(block), "thought": true}
			thought += tokens(len(block))
		case Redacted:
			p = object{"text": "", "thoughtSignature": s.signGemini(object{"text": ""})}
		case Call:
			args, err := asObject(block.Input)
			if err != nil {
				return nil, fmt.Errorf("encode the input of %s: %w", block.Name, err)
			}
			call := object{"name": block.Name, "args": args}
			if block.ID != "" {
				call["id"] = block.ID
			}
			p = object{"functionCall": call}
			if !signed { // the service signs the first call of a reply
				p["thoughtSignature"], signed = s.signGemini(p), true
			}
		default:
			return nil, fmt.Errorf("the Gemini API has no block of type %T: change the script", block)
		}
		parts = append(parts, p)
		u.Output += tokens(len(read(object{"type": "tool_use", "input": p})))
	}
	usage := object{
		"promptTokenCount": u.Total(), "candidatesTokenCount": u.Output, "thoughtsTokenCount": thought,
		"cachedContentTokenCount": u.Read, "totalTokenCount": u.Total() + u.Output + thought,
	}
	stop := "STOP"
	if reply.Stop == "max_tokens" {
		stop = "MAX_TOKENS"
	}
	chunk := func(parts []object, last bool) object {
		c := object{"content": object{"role": "model", "parts": parts}, "index": 0}
		o := object{"candidates": []object{c}, "modelVersion": in.body.model}
		if last {
			c["finishReason"], o["usageMetadata"] = stop, usage
		}
		return o
	}
	if !strings.Contains(r.URL.Path, ":stream") {
		return mustJSON(chunk(parts, true)), nil
	}
	res := &response{kind: "text/event-stream"}
	for i := range max(1, len(parts)) {
		o := chunk(slices.Concat(parts[min(i, len(parts)):min(i+1, len(parts))]), i+1 >= len(parts))
		res.frames = append(res.frames, fmt.Appendf(nil, "data: %s\r\n\r\n", mustJSON(o).frames[0]))
	}
	return res, nil
}

// geminiModels returns the models of the Gemini API. From version 3 on they require the
// signatures of the current turn.
func geminiModels() []Model {
	m := Model{
		Window: 1 << 20, Cache: CacheRule{Automatic: true, Minimum: 2048, Step: 1},
		Price: Price{Input: 2000, Output: 12_000, Read: 100, Write: 1000, Write1: 1000},
	}
	var table []Model
	for _, m.Name = range []string{"gemini-2.0", "gemini-2.5"} {
		table = append(table, m)
	}
	m.Bound = true
	for _, m.Name = range []string{"gemini-3", "gemini-3.1", "gemini-3.5", "gemini-3.8"} {
		table = append(table, m)
	}
	return table
}
