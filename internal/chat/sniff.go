package chat

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A Dialect is a provider's way of writing a request body.
type Dialect string

// The dialects. Neither is for what is no request body at all.
const (
	Neither   Dialect = ""
	Anthropic Dialect = "anthropic"
	OpenAI    Dialect = "openai"
	Responses Dialect = "responses"
)

// Sniff returns the dialect of a body, of which data may be only the
// beginning. Where nothing else tells them apart, a model whose name begins with
// "claude-" is Anthropic's, unless a system message comes first, which Anthropic
// refuses. All other messages that could be either are taken for those of OpenAI's Chat
// Completions. A body of the Responses API has an input in place of messages: items, or
// a text beside a model. A list of items alone is known by their types.
func Sniff(data []byte) Dialect {
	s := sniffer{r: rawjson.NewReader(data)}
	var err error
	if s.r.Kind() == rawjson.Object {
		err = s.r.Object(s.field)
	} else {
		err = s.messages()
	}
	if err == nil && s.r.End() != nil {
		return Neither // more than one value: a log
	}
	switch {
	case s.responses():
		return Responses
	case s.roles == 0 && !s.empty, s.input != "" && !s.listed:
		return Neither
	case s.openai:
		return OpenAI
	case s.anthropic, s.claude && s.first != "system":
		return Anthropic
	}
	return OpenAI
}

// responses reports whether a body is of the Responses API.
func (s *sniffer) responses() bool {
	switch {
	case s.listed:
		return false
	case s.input == asText:
		return s.model && !s.vectors
	case s.input == asItems:
		return s.items || s.roles > 0 || s.empty && s.model
	}
	return s.items
}

// A sniffer collects signs. An error only means that there is no more to see.
type sniffer struct {
	r         *rawjson.Reader
	empty     bool   // there is a list of messages with nothing in it
	elements  int    // elements of the list of messages
	roles     int    // messages with a role
	first     string // role of the first message
	listed    bool   // there are messages
	input     string // form of the input, if there is one
	items     bool   // an element is what only the Responses API has
	model     bool   // a model is named
	vectors   bool   // something else is asked of the model than an answer
	claude    bool   // the model is named as Anthropic names models
	anthropic bool
	openai    bool
}

// The forms of an input.
const (
	asItems = "items"
	asText  = "text"
)

func (s *sniffer) field(key string) error {
	switch key {
	case "messages":
		s.listed = true
		return s.list()
	case "input":
		kind := s.r.Kind()
		if kind == rawjson.Array {
			s.input = asItems
			return s.list()
		}
		if kind == rawjson.String {
			s.input = asText
		}
	case "model":
		if s.r.Kind() == rawjson.String {
			model, err := s.r.String()
			s.model = true
			s.claude = strings.HasPrefix(model, "claude-")
			s.vectors = s.vectors || strings.Contains(model, "embed") || strings.Contains(model, "moderation")
			return err
		}
	case "encoding_format", "voice":
		s.vectors = true
	case "system", "anthropic_version", "anthropic_beta", "stop_sequences", "context_management", "mcp_servers", "output_config":
		s.anthropic = true
	case "max_completion_tokens", "response_format", "frequency_penalty", "presence_penalty", "logprobs":
		s.openai = true
	case "tools":
		if s.r.Kind() == rawjson.Array {
			return s.r.Array(func(int) error { return s.tool() })
		}
	}
	_, err := s.r.Skip()
	return err
}

func (s *sniffer) tool() error {
	return s.object(func(key string) error {
		s.anthropic = s.anthropic || key == "input_schema"
		s.openai = s.openai || key == "function"
		if key == "type" && s.r.Kind() == rawjson.String {
			kind, err := s.r.String()
			s.anthropic = s.anthropic || kind == "mcp_toolset" || dated(kind)
			return err
		}
		_, err := s.r.Skip()
		return err
	})
}

// dated reports whether the type of a tool ends in a date, as those of tools do that
// Anthropic defines: web_search_20250305.
func dated(kind string) bool {
	at := strings.LastIndexByte(kind, '_') + 1
	return len(kind)-at == len("20250305") && strings.Trim(kind[at:], "0123456789") == ""
}

// list looks at the list of a body.
func (s *sniffer) list() error {
	is := s.r.Kind() == rawjson.Array
	before := s.elements
	err := s.messages()
	s.empty = is && err == nil && s.elements == before
	return err
}

func (s *sniffer) messages() error {
	if s.r.Kind() != rawjson.Array {
		_, err := s.r.Skip()
		return err
	}
	return s.r.Array(func(int) error {
		s.elements++
		return s.object(s.member)
	})
}

// object looks into an object and passes over anything else.
func (s *sniffer) object(member func(key string) error) error {
	if s.r.Kind() != rawjson.Object {
		_, err := s.r.Skip()
		return err
	}
	return s.r.Object(member)
}

func (s *sniffer) member(key string) error {
	switch kind := s.r.Kind(); {
	case key == "role" && kind == rawjson.String:
		role, err := s.r.String()
		switch role {
		case "tool", "function", "developer":
			s.openai = true
			s.roles++
		case "system", "user", "assistant":
			s.roles++
		}
		if s.elements == 1 {
			s.first = role
		}
		return err
	case key == "type" && kind == rawjson.String:
		kind, err := s.r.String()
		s.items = s.items || isItem(kind)
		return err
	case key == "output_config":
		s.anthropic = true
	case key == "tool_calls", key == "function_call", key == "tool_call_id":
		s.openai = true
	case key == "content" && kind == rawjson.Array:
		return s.r.Array(func(int) error { return s.object(s.block) })
	}
	_, err := s.r.Skip()
	return err
}

func (s *sniffer) block(key string) error {
	if key != "type" || s.r.Kind() != rawjson.String {
		_, err := s.r.Skip()
		return err
	}
	kind, err := s.r.String()
	s.anthropic = s.anthropic || isAnthropic(kind)
	switch kind {
	case "input_text", "output_text", "input_image", "input_file":
		s.items = true
	case "image_url", "input_audio", "file", "refusal":
		s.openai = true
	}
	return err
}

// isAnthropic reports whether a block is of a kind that only Anthropic has. Tools that
// run at the provider's come with new kinds of calls and results, which end alike.
func isAnthropic(kind string) bool {
	switch kind {
	case "thinking", "redacted_thinking", "tool_result", "image", "document", "compaction", "container_upload", "search_result",
		"tool_reference", "tool_addition", "tool_removal":
		return true
	}
	return strings.HasSuffix(kind, "tool_use") || strings.HasSuffix(kind, "_tool_result")
}

// isItem reports whether an element of a list is of a type that an item of the Responses
// API has. Tools come with new types of calls and outputs, which end alike.
func isItem(kind string) bool {
	switch kind {
	case "message", "reasoning", "compaction", "compaction_summary", "context_compaction", "item_reference", "additional_tools", "configuration_update":
		return true
	}
	return strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
}
