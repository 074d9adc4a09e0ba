package judged

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// long returns a request of Chat Completions of so many bytes: replies with a call, and
// results of a few lines.
func long(size int) []byte {
	result := rawjson.AppendString(nil, strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", name, err)\n\t}\n", 16))
	var b strings.Builder
	b.Grow(size + len(result) + 1000)
	b.WriteString(`{"messages": [{"role": "user", "content": "go"}`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `, {"role": "assistant", "content": "I look at file %d.", "tool_calls": [{"id": "call_%d", "type": "function", "function": {"name": "Read", "arguments": "{\"file_path\": \"src/%d.go\"}"}}]}`, i, i, i)
		fmt.Fprintf(&b, `, {"role": "tool", "tool_call_id": "call_%d", "content": %s}`, i, result)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// aboves are decoders that allocate more in all, of which most does not live long: Codex'
// reads rows of turns twice, Gemini CLI's replays the rows of its file.
var aboves = map[string]float64{"codex": 11, "geminicli": 20}

// All that a decoder allocates on its way is at most ten times its input, but for some that
// hold less at once, so that what it holds is bounded.
func TestDecodersAllocateTenTimesTheirInput(t *testing.T) {
	if raceDetector {
		t.Skip("under the race detector everything allocates more")
	}
	const size = 20 << 20
	openai, err := carrel.FormatNamed("openai")
	if err != nil {
		t.Fatal(err)
	}
	source, err := openai.Decode("x.json", long(size))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range carrel.Formats() {
		t.Run(name, func(t *testing.T) {
			f, err := carrel.FormatNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			w := transcript.Whole(source)
			out, err := f.Encode(w)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := f.Decode("x.json", out.Data)
			runtime.ReadMemStats(&after)
			if err != nil || len(s.Messages) < 1000 {
				t.Fatalf("%d messages, %v", len(s.Messages), err)
			}
			most := cmp.Or(aboves[name], 10)
			times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(out.Data))
			t.Logf("%d bytes, %.1f times as much allocated", len(out.Data), times)
			if len(out.Data) < size/2 || times > most {
				t.Errorf("of %d bytes %.1f times as much was allocated, want %.0f at most", len(out.Data), times, most)
			}
		})
	}
}
