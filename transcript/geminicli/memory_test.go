package geminicli

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A decoded session takes at most three times the memory of its file, the file included. Half
// of that is the contents in the form of the API and the messages read from them.
func TestDecodeMemory(t *testing.T) {
	result := strings.Repeat(`\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", name, err)\n\t}\n`, 32)
	var b strings.Builder
	b.WriteString(`{"sessionId":"s","projectHash":"h"}` + "\n" + `{"id":"u","type":"user","content":"go"}` + "\n")
	for i := 0; b.Len() < 4<<20; i++ {
		reply := fmt.Sprintf(`{"id":"g%d","type":"gemini","content":"I read on.","toolCalls":[{"id":"c%d","name":"read","args":{"file":"main.go"},"result":[{"functionResponse":{"id":"c%d","name":"read","response":{"output":"%s"}}}]}]}`, i, i, i, result)
		b.WriteString(reply + "\n")
		fmt.Fprintf(&b, `{"id":"a%d","type":"user","content":[{"functionResponse":{"id":"c%d","name":"read","response":{"output":"%s"}}}]}`+"\n", i, i, result)
	}
	data := []byte(b.String())
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s, err := format{}.Decode("x.jsonl", data)
	if err != nil {
		t.Fatal(err)
	}
	if grown, limit := int64(heap()-before), int64(2*len(data)); grown > limit {
		t.Errorf("a session of %d bytes takes %d more", len(data), grown)
	} else {
		t.Logf("a session of %d bytes takes %d more", len(data), grown)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(data)
}
