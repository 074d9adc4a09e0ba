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

// NewOpenAI returns a generator of the server at a base URL, such as
// "http://localhost:11434" or "https://api.openai.com/v1", with one of its models, by
// the interface of OpenAI. The URL may end in "/v1" or not. It sends nothing.
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

// lengthField returns the name of the field that bounds a reply. Newer models of
// OpenAI refuse the name that everybody else knows.
func lengthField(base string) string {
	if u, err := url.Parse(base); err == nil && u.Hostname() == "api.openai.com" {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// completion is the part of a reply, or of an event of one, that is looked at.
type completion struct {
	Object  string          `json:"object"`
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Choices []struct {
		Index   int     `json:"index"`
		Message written `json:"message"` // as a whole
		Delta   written `json:"delta"`   // of a stream
		Finish  string  `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// written is what the model wrote.
type written struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
}

// A chatCollector puts a completion together.
type chatCollector struct{ draft }

func (t *chatCollector) event(data []byte) (last bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	return false, t.add(data, true)
}

func (t *chatCollector) document(data []byte) error { return t.add(data, false) }

// add adds a reply, or an event of one. That of a stream may have no choice: the
// last has the usage alone.
func (t *chatCollector) add(data []byte, stream bool) error {
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return badReply("no JSON of a reply")
	}
	if given(c.Error) {
		return chatError(c.Error)
	}
	if c.Object == "error" {
		return chatError(data)
	}
	if len(c.Choices) == 0 && !stream {
		return badReply("no choices")
	}
	if c.Model != "" {
		t.model = httpjson.Label(c.Model)
	}
	t.usage = llm.Usage{Input: c.Usage.Input, Output: c.Usage.Output}.Or(t.usage)
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // nobody has asked for it
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

// chatError returns the error that came as a reply. Some have the status that
// they would have had; what they say is dropped.
func chatError(data []byte) error {
	var e struct {
		Code json.RawMessage `json:"code"`
	}
	if json.Unmarshal(data, &e) == nil {
		code, _ := strconv.Atoi(strings.Trim(string(e.Code), `"`)) // 0 if it is none
		if code >= 400 && code <= 599 {
			return fmt.Errorf("an error in place of a reply: %w", sentinels.Status(code))
		}
	}
	return badReply("an error in its place")
}

func (t *chatCollector) reply(most llm.Usage) (*llm.Reply, error) { return t.finish(chatStops, most) }

// chatStops are the reasons for which a completion ends.
var chatStops = map[string]llm.Stop{
	"stop": llm.StopEnd, "eos_token": llm.StopEnd, "stop_sequence": llm.StopEnd,
	"length": llm.StopLength, "content_filter": llm.StopRefusal,
}
