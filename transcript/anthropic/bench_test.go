package anthropic

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// large returns a body of about 5 MB: replies with a call, and results of 2 kB
// of program text.
func large() []byte {
	result := rawjson.AppendString(nil, strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", name, err)\n\t}\n", 32))
	var b strings.Builder
	b.WriteString(`{"messages": [{"role": "user", "content": "go"}`)
	for i := 0; b.Len() < 5<<20; i++ {
		writeTurn(&b, fmt.Sprintf("call_%d", i), result)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// writeTurn writes a reply with a call, and its result.
func writeTurn(b *strings.Builder, id string, result []byte) {
	fmt.Fprintf(b, `, {"role": "assistant", "content": [{"type": "text", "text": "I read on."}, {"type": "tool_use", "id": %q, "name": "read", "input": {"file": "main.go"}}]}`, id)
	fmt.Fprintf(b, `, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": %q, "content": %s}]}`, id, result)
}

func BenchmarkDecode(b *testing.B) {
	data := large()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Format{}).Decode("x.json", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeChanged(b *testing.B) {
	data := large()
	s, err := Format{}.Decode("x.json", data)
	if err != nil {
		b.Fatal(err)
	}
	w := transcript.Whole(s)
	for i := range w.Entries {
		for _, r := range w.Entries[i].Results() {
			if i%4 == 0 {
				w.Entries[i] = w.Entries[i].WithResult(r.CallID, "short")
			}
		}
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Format{}).Encode(w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	data := large()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if v, err := (Format{}).Validate(data); err != nil || len(v) > 0 {
			b.Fatal(v, err)
		}
	}
}

// A session takes no more than three times the memory of its input, the input
// itself included.
func TestDecodeMemory(t *testing.T) {
	data := large()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s, err := Format{}.Decode("x.json", data)
	if err != nil {
		t.Fatal(err)
	}
	grown := int64(heap() - before)
	if limit := int64(2 * len(data)); grown > limit {
		t.Errorf("a session of %d bytes takes %d more", len(data), grown)
	}
	runtime.KeepAlive(s)
}
