package chat

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// A Dialect is the request format of a provider.
type Dialect string

// The dialects. Neither means that data is not a request body.
const (
	Neither   Dialect = ""
	Anthropic Dialect = "anthropic"
	OpenAI    Dialect = "openai"
	Responses Dialect = "responses"
)

// Sniff returns the dialect of data, a body or its beginning. If the fields fit two dialects, a
// body whose model begins with "claude-" is Anthropic's, unless a system message comes first,
// which Anthropic refuses. Any other ambiguous list of messages is taken for OpenAI's Chat
// Completions. A body of the Responses API has an input in place of messages: items, or
// a text and a model. A bare list of items is recognized by the types of its items.
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

// A sniffer collects signs of a dialect. A read error only means that data is cut off.
type sniffer struct {
	r         *rawjson.Reader
	empty     bool   // the list of messages is empty
	elements  int    // elements of the list of messages
	roles     int    // messages with a role
	first     string // role of the first message
	listed    bool   // the body has a list of messages
	input     string // form of the input, or empty
	items     bool   // an element has a type that only the Responses API has
	model     bool   // the body names a model
	vectors   bool   // the request asks for embeddings or another result than an answer
	claude    bool   // the name of the model begins with "claude-"
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

// dated reports whether the type of a tool ends in a date, as the types of tools defined by
// Anthropic do: web_search_20250305.
func dated(kind string) bool {
	at := strings.LastIndexByte(kind, '_') + 1
	return len(kind)-at == len("20250305") && strings.Trim(kind[at:], "0123456789") == ""
}

// list reads the signs in a list of messages or items.
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

// object reads an object, and calls the function member to read the value of each key. It skips any
// other value.
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

// isAnthropic reports whether only Anthropic has blocks of this kind. It matches new server
// tools by the endings of their types.
func isAnthropic(kind string) bool {
	switch kind {
	case "thinking", "redacted_thinking", "tool_result", "image", "document", "compaction", "container_upload", "search_result",
		"tool_reference", "tool_addition", "tool_removal":
		return true
	}
	return strings.HasSuffix(kind, "tool_use") || strings.HasSuffix(kind, "_tool_result")
}

// isItem reports whether items of the Responses API have this type. It matches new tools by the
// endings of their types.
func isItem(kind string) bool {
	switch kind {
	case "message", "reasoning", "compaction", "compaction_summary", "context_compaction", "item_reference", "additional_tools", "configuration_update":
		return true
	}
	return strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
}
