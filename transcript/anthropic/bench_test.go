package anthropic

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

var large = formattest.Large{Format: format{}, List: "messages", Turn: func(id string, result []byte) string {
	return fmt.Sprintf(`, {"role": "assistant", "content": [{"type": "text", "text": "I read on."}, {"type": "tool_use", "id": %q, "name": "read", "input": {"file": "main.go"}}]}`+
		`, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": %q, "content": %s}]}`, id, id, result)
}}

func BenchmarkLarge(b *testing.B)   { large.Run(b) }
func TestDecodeMemory(t *testing.T) { large.Memory(t) }
