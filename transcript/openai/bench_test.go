package openai

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

var large = formattest.Large{Format: format{}, Turn: func(id string, result []byte) string {
	return fmt.Sprintf(`, {"role": "assistant", "content": "I read on.", "tool_calls": [{"id": %q, "type": "function", "function": {"name": "read", "arguments": "{\"file\": \"main.go\"}"}}]}`+
		`, {"role": "tool", "tool_call_id": %q, "content": %s}`, id, id, result)
}}

func BenchmarkDecode(b *testing.B)        { large.Decode(b) }
func BenchmarkEncodeChanged(b *testing.B) { large.EncodeChanged(b) }
func BenchmarkValidate(b *testing.B)      { large.Validate(b) }
func TestDecodeMemory(t *testing.T)       { large.Memory(t) }
