package carrel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
)

// million is a conversation of about a million tokens (o200k): 1 000 tool calls
// with some 40 lines of output each.
func million(t require) []byte {
	msgs := []message{{Role: "system", Content: "You fix things."}, {Role: "user", Content: "Find why the pool hangs and fix it."}}
	for i := range 1000 {
		id := fmt.Sprintf("call_%d", i)
		var out strings.Builder
		for k := range 42 {
			fmt.Fprintf(&out, "%04d internal/pool/worker%d.go: settled batch b-%05d in %d ms\n", k, (i+k)%97, i*40+k, k*i%911)
		}
		msgs = append(msgs,
			message{Role: "assistant", Calls: []call{newCall(id, "Bash", fmt.Sprintf(`{"command":"go test ./internal/p%d"}`, i%50))}},
			message{Role: "tool", CallID: id, Content: out.String()})
	}
	msgs = append(msgs, message{Role: "user", Content: "Now open a pull request for the pool."}, message{Role: "assistant", Content: "It is open."})
	return body(t, msgs)
}

// BenchmarkImport counts, groups and stores a conversation of a million tokens.
func BenchmarkImport(b *testing.B) {
	data := million(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		e, err := carrel.New(memory.New(), nil)
		if err != nil {
			b.Fatal(err)
		}
		in, err := e.Import(b.Context(), scope, &carrel.ImportRequest{Name: "m.json", Data: data})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(in.Tokens), "tokens")
	}
}

// BenchmarkCompress plans and checks a pass over a conversation of a million
// tokens that is stored and counted. It includes reading and decoding it.
func BenchmarkCompress(b *testing.B) {
	for _, percent := range []int{50, 10} {
		b.Run(fmt.Sprintf("%d%%", percent), func(b *testing.B) {
			e, err := carrel.New(memory.New(), nil)
			if err != nil {
				b.Fatal(err)
			}
			in, err := e.Import(b.Context(), scope, &carrel.ImportRequest{Name: "m.json", Data: million(b)})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := e.Compress(b.Context(), scope, &carrel.CompressRequest{Session: in.Session, Share: ratio.Of(percent, 100), DryRun: true})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
