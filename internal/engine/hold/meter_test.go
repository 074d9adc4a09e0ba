package hold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func TestTokensOfParts(t *testing.T) {
	m := Meter{Counter: bytesCounted{}, Framing: token.Framing{Call: 10, Result: 20}}
	for _, tt := range []struct {
		part transcript.Part
		want token.Count
	}{
		{transcript.Text("abc"), 3},
		{transcript.Thinking{Text: "abcd", Signature: "12345678"}, 4},
		{transcript.Thinking{Text: "abcd", Signature: "12345678901", Redacted: true}, 2},
		{transcript.ToolCall{Name: "ls", Input: json.RawMessage("{}")}, 14},
		{transcript.ToolResult{Content: []transcript.Part{transcript.Text("ab"), transcript.Text("c")}}, 23},
		{transcript.Media{Kind: "image", Data: strings.Repeat("x", 50_000)}, token.ImageBound},
		{transcript.Media{Kind: "document", Data: "x"}, token.ImageBound},
		{transcript.Media{Kind: "document", Data: strings.Repeat("x", 16*int(token.ImageBound)+17)}, token.ImageBound + 1},
		{transcript.Opaque{Raw: json.RawMessage("[1]")}, 3},
	} {
		if got := m.Parts([]transcript.Part{tt.part}); got != tt.want {
			t.Errorf("%T has %d tokens, want %d", tt.part, got, tt.want)
		}
	}
}

// The progress of counting is told after every 64 blocks.
func TestProgressOfCounting(t *testing.T) {
	var mu sync.Mutex
	var told []string
	d := &Desk{Stacks: &stacks.Stacks{Base: &base.Base{Opts: base.Options{Progress: func(job string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, fmt.Sprint(job, " ", done, "/", total))
	}}}}}
	d.CountBlocks(t.Context(), Meter{}, nil, make([]transcript.Block, 130))
	if slices.Sort(told); fmt.Sprint(told) != "[count 128/130 count 64/130]" {
		t.Errorf("progress is %v", told)
	}
}
