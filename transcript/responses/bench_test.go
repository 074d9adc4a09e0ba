package responses

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

var large = formattest.Large{Format: format{}, List: "input", Turn: func(id string, result []byte) string {
	return fmt.Sprintf(`, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I read on."}]}`+
		`, {"type": "function_call", "call_id": %q, "name": "read", "arguments": "{\"file\": \"main.go\"}"}`+
		`, {"type": "function_call_output", "call_id": %q, "output": %s}`, id, id, result)
}}

func BenchmarkLarge(b *testing.B)   { large.Run(b) }
func TestDecodeMemory(t *testing.T) { large.Memory(t) }
