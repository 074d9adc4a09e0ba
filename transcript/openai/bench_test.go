package openai

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

var large = formattest.Large{Format: format{}, List: "messages", Turn: func(id string, result []byte) string {
	return fmt.Sprintf(`, {"role": "assistant", "content": "I read on.", "tool_calls": [{"id": %q, "type": "function", "function": {"name": "read", "arguments": "{\"file\": \"main.go\"}"}}]}`+
		`, {"role": "tool", "tool_call_id": %q, "content": %s}`, id, id, result)
}}

func BenchmarkLarge(b *testing.B)   { large.Run(b) }
func TestDecodeMemory(t *testing.T) { large.Memory(t) }
