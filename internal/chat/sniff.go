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
)

// Sniff returns the dialect of a body, of which data may be only the
// beginning. Where nothing else tells them apart, a model whose name begins with
// "claude-" is Anthropic's, unless a system message comes first, which Anthropic
// refuses. All other messages that could be either are taken for OpenAI's.
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
	case s.roles == 0 && !s.empty:
		return Neither
	case s.openai:
		return OpenAI
	case s.anthropic, s.claude && s.first != "system":
		return Anthropic
	}
	return OpenAI
}

// A sniffer collects signs. An error only means that there is no more to see.
type sniffer struct {
	r         *rawjson.Reader
	empty     bool   // there is a list of messages with nothing in it
	elements  int    // elements of the list of messages
	roles     int    // messages with a role
	first     string // role of the first message
	claude    bool   // the model is named as Anthropic names models
	anthropic bool
	openai    bool
}

func (s *sniffer) field(key string) error {
	switch key {
	case "messages":
		list := s.r.Kind() == rawjson.Array
		err := s.messages()
		s.empty = list && err == nil && s.elements == 0
		return err
	case "model":
		if s.r.Kind() == rawjson.String {
			model, err := s.r.String()
			s.claude = strings.HasPrefix(model, "claude-")
			return err
		}
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
