package remote

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// NewAnthropic returns a generator for a model of the server at baseURL, such as
// "https://api.anthropic.com", with the API of Anthropic. Otherwise it is like [NewOpenAI].
func NewAnthropic(baseURL, model string, opts *GeneratorOptions) (llm.Generator, error) {
	return anthropic.open(baseURL, model, opts)
}

var anthropic = protocol{
	name: "anthropic", path: "/messages", authorize: apiKey,
	request: messageRequest, collect: func() collector { return new(messageCollector) },
}

// anthropicVersion is the version of the API.
const anthropicVersion = "2023-06-01"

// apiKey sets the headers for the version and, if there is a key, the key.
func apiKey(h http.Header, key llm.Secret) {
	h.Set("Anthropic-Version", anthropicVersion)
	if !key.IsZero() {
		h.Set("X-Api-Key", key.Reveal())
	}
}

func messageRequest(_, model string, p *llm.Prompt, stream bool) any {
	request := map[string]any{"model": model, "max_tokens": p.MaxTokens, "messages": []chatMessage{{"user", p.Text}}}
	if p.System != "" {
		request["system"] = p.System
	}
	if stream {
		request["stream"] = true
	}
	return request
}

// A messageCollector collects the parts of a message.
type messageCollector struct {
	draft

	begun bool
	ended bool
}

// message has the fields of a message that are used.
type message struct {
	Type    string          `json:"type"`
	Model   string          `json:"model"`
	Content []block         `json:"content"`
	Stop    string          `json:"stop_reason"`
	Usage   usage           `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// A block is a block of the content, or an addition to one. Only blocks of text are used.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type usage struct {
	Input   int64 `json:"input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// count records the reported usage. Later reports replace earlier ones.
func (t *messageCollector) count(u usage) {
	input := max(0, u.Input) + max(0, u.Written) + max(0, u.Read)
	t.usage = llm.Usage{Input: input, Output: u.Output}.Or(t.usage)
}

// document reads a complete reply.
func (t *messageCollector) document(data []byte) error {
	var m message
	switch err := json.Unmarshal(data, &m); {
	case err != nil:
		return badReply("no JSON of a message of the Messages API")
	case m.Type == "error", given(m.Error):
		return messageError(m.Error)
	case m.Type != "message":
		return badReply("is no message of the Messages API")
	}
	t.begun, t.ended, t.model, t.stop = true, true, httpjson.Label(m.Model), m.Stop
	t.count(m.Usage)
	for _, b := range m.Content {
		if b.Type == "text" {
			t.text.WriteString(b.Text)
		}
	}
	return nil
}

// event reads an event of a stream and reports whether it is the last. It ignores unknown
// events, as the API requires.
func (t *messageCollector) event(data []byte) (last bool, err error) {
	var e struct {
		Type    string  `json:"type"`
		Message message `json:"message"`
		Block   block   `json:"content_block"`
		Delta   struct {
			block

			Stop string `json:"stop_reason"`
		} `json:"delta"`
		Usage usage           `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return false, badReply("no JSON of an event of a stream")
	}
	switch {
	case e.Type == "error":
		return false, messageError(e.Error)
	case e.Type == "message_start" && t.begun:
		return false, badReply("begins twice")
	case e.Type == "message_start":
		t.begun, t.model = true, httpjson.Label(e.Message.Model)
		e.Message.Usage.Output = 0 // the output has only begun
		t.count(e.Message.Usage)
	case e.Type == "content_block_start" && e.Block.Type == "text":
		return false, t.write(e.Block.Text)
	case e.Type == "content_block_delta" && e.Delta.Type == "text_delta":
		return false, t.write(e.Delta.Text)
	case e.Type == "message_delta":
		t.stop = e.Delta.Stop
		t.count(e.Usage)
	case e.Type == "message_stop":
		t.ended = true
		return true, nil
	}
	return false, nil
}

// write appends to the text.
func (t *messageCollector) write(text string) error {
	switch {
	case !t.begun:
		return badReply("has no beginning")
	case t.stop != "" && text != "":
		return badReply("goes on after its end")
	}
	t.text.WriteString(text)
	return nil
}

// messageError returns the error for an error object that the server sent in place of a
// reply or within one. The returned error does not contain the server's text.
func messageError(data []byte) error {
	var e struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &e) != nil {
		e.Type = ""
	}
	switch e.Type {
	case "overloaded_error", "rate_limit_error", "api_error", "timeout_error":
		return fmt.Errorf("%s in place of a reply: %w", e.Type, llm.ErrUnavailable)
	case "invalid_request_error", "authentication_error", "billing_error", "permission_error", "not_found_error", "request_too_large":
		return fmt.Errorf("%s in place of a reply: %w", e.Type, llm.ErrRefused)
	}
	return badReply("the server sent an error in its place")
}

func (t *messageCollector) reply(most llm.Usage) (*llm.Reply, error) {
	if !t.ended {
		return nil, badReply("breaks off before its end")
	}
	return t.finish(messageStops, most)
}

// messageStops maps the API's reasons for the end of a message.
var messageStops = map[string]llm.Stop{
	"end_turn": llm.StopEnd, "stop_sequence": llm.StopEnd,
	"max_tokens": llm.StopLength, "model_context_window_exceeded": llm.StopLength,
	"refusal": llm.StopRefusal,
}
