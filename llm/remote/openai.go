package remote

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/llm"
)

// NewOpenAI returns a generator for a model of the server at baseURL, such as
// "http://localhost:11434" or "https://api.openai.com/v1", with the API of OpenAI. The URL may
// end in "/v1". It sends nothing, and fails if the URL, the model or an option is invalid. The name
// of the generator is the model and the URL, such as "llama3@http://localhost:11434/v1".
func NewOpenAI(baseURL, model string, opts *GeneratorOptions) (llm.Generator, error) {
	return openAI.open(baseURL, model, opts)
}

var openAI = protocol{
	name: "openai", path: "/chat/completions", authorize: bearer,
	request: chatRequest, collect: func() collector { return new(chatCollector) },
}

// A chatMessage is a message of a request.
type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func chatRequest(base, model string, p *llm.Prompt, stream bool) any {
	messages := []chatMessage{{"user", p.Text}}
	if p.System != "" {
		messages = []chatMessage{{"system", p.System}, messages[0]}
	}
	request := map[string]any{"model": model, lengthField(base): p.MaxTokens, "messages": messages}
	if stream {
		request["stream"] = true
		request["stream_options"] = map[string]bool{"include_usage": true}
	}
	return request
}

// lengthField returns the name of the field that limits the length of a reply. Newer models of
// OpenAI refuse the name that all other servers use.
func lengthField(base string) string {
	if u, err := url.Parse(base); err == nil && u.Hostname() == "api.openai.com" {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// completion has the fields of a reply, or of an event of a stream, that are used.
type completion struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Choices []struct {
		Index   int     `json:"index"`
		Message written `json:"message"` // complete
		Delta   written `json:"delta"`   // part of a stream
		Finish  string  `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// written is the output of the model.
type written struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
}

// A chatCollector collects the parts of a completion.
type chatCollector struct{ draft }

func (t *chatCollector) event(data []byte) (last bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	return false, t.add(data, true)
}

func (t *chatCollector) document(data []byte) error { return t.add(data, false) }

// add reads a reply or an event of a stream. An event may have no choices: the last one has
// only the usage.
func (t *chatCollector) add(data []byte, stream bool) error {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return badReply("no JSON of a chat completion")
	}
	if given(c.Error) {
		return chatError(c.Error)
	}
	if c.Object == "error" {
		return chatError(data)
	}
	if len(c.Choices) == 0 && !stream {
		return badReply("it has no choices")
	}
	if c.Model != "" {
		t.model = httpjson.Label(c.Model)
	}
	t.usage = llm.Usage{Input: c.Usage.Input, Output: c.Usage.Output}.Or(t.usage)
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // only one choice was requested
		}
		w := choice.Message
		if stream {
			w = choice.Delta
		}
		if t.stop != "" && w.Content != "" {
			return badReply("goes on after its end")
		}
		t.text.WriteString(w.Content)
		t.refused = t.refused || w.Refusal != ""
		if choice.Finish != "" {
			t.stop = choice.Finish
		}
	}
	return nil
}

// chatError returns the error for an error object that the server sent in place of a reply.
// Some servers put an HTTP status code into it. The returned error does not contain the
// server's text.
func chatError(data []byte) error {
	var e struct {
		Code json.RawMessage `json:"code"`
	}
	if json.Unmarshal(data, &e) == nil {
		code, _ := strconv.Atoi(strings.Trim(string(e.Code), `"`)) // 0 if there is no code
		if code >= 400 && code <= 599 {
			return fmt.Errorf("an error in place of a reply: %w", sentinels.Status(code))
		}
	}
	return badReply("the server sent an error in its place")
}

func (t *chatCollector) reply(most llm.Usage) (*llm.Reply, error) { return t.finish(chatStops, most) }

// chatStops maps the API's reasons for the end of a completion.
var chatStops = map[string]llm.Stop{
	"stop": llm.StopEnd, "eos_token": llm.StopEnd, "stop_sequence": llm.StopEnd,
	"length": llm.StopLength, "content_filter": llm.StopRefusal,
}
