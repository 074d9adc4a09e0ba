package gemini

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/transcript/formattest"
)

var large = formattest.Large{Format: format{}, List: "contents", Turn: func(id string, result []byte) string {
	return fmt.Sprintf(`, {"role": "model", "parts": [{"text": "I read on."}, {"functionCall": {"id": %q, "name": "read", "args": {"file": "main.go"}}}]}`+
		`, {"role": "user", "parts": [{"functionResponse": {"id": %q, "name": "read", "response": {"output": %s}}}]}`, id, id, result)
}}

func BenchmarkLarge(b *testing.B)   { large.Run(b) }
func TestDecodeMemory(t *testing.T) { large.Memory(t) }
