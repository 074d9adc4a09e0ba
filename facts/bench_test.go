package facts

import (
	"strconv"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// mixed is a text with the content of typical sessions: code, listings, logs, JSON with
// escapes, diffs and prose.
const mixed = `   118→func (p *Pool) Close(ctx context.Context) error {
   119→	p.mu.Lock()
   120→	defer p.mu.Unlock()
   121→	if p.closed {
   122→		return ErrClosed
   123→	}
2025-03-14T09:26:53.589Z INFO  api.server request finished method=GET path=/v1/orders/8812 status=200 took=38ms trace=4bf92f3577b34da6a3ce929d0e0e4736
2025-03-14T09:26:54.102Z WARN  api.server slow query took=1.82s rows=1,204 statement="select * from order_items where order_id = $1"
{"content":"line one of the file\n\treturn fmt.Errorf(\"dial %s: %w\", addr, err)\n}\n","path":"internal/pool/pool.go","id":"toolu_01A9x7Kq2mB4nC6vD8sF3gHj"}
ok  	acme/internal/pool	0.318s
--- FAIL: TestCloseTwice (0.02s)
    pool_test.go:84: Close() = <nil>, want ErrClosed
diff --git a/internal/pool/pool.go b/internal/pool/pool.go
index 83db48f..bf2a1c9 100644
The pool closes its connections one by one, and whoever waits for the last of them waits for all. I would rather hand out
a channel that is closed at the end, so that nobody has to poll. See https://example.com/acme/app/pull/17 for the discussion;
the limit of 3.5 GB and the 45 % that the cache takes are in README.md. Nothing else in the file has to change for that.
`

func BenchmarkEach(b *testing.B) {
	text := strings.Repeat(mixed, 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		n := 0
		Each(text, func(Identifier, int) { n++ })
		if n == 0 {
			b.Fatal("nothing found")
		}
	}
}

// worked is a typical session of an agent: reads, searches, edits, commands, failures and
// messages.
func worked(turns int) *talk {
	s := new(talk)
	body := strings.Repeat(mixed, 3)
	for s.calls < turns {
		n := strconv.Itoa(s.calls % 40)
		path := "internal/pool/pool" + n + ".go"
		s.user("Fix the pool in `"+path+"`. Don't touch the lock file.").
			call("I'll use a mutex because two goroutines write. Let me read it.", "Read", map[string]string{"file_path": path}, body).
			call("", "Grep", map[string]string{"pattern": "Close" + n, "path": "internal"}, body[:1500]).
			edit(path, body[:1000], body[:800]+"\nfunc more"+n+"() {}\n").
			run("go test ./internal/...", body+"ok  \tacme/pool\t0.3s").
			run("go vet ./...", "!Exit code 1\n"+body+"pool.go:17:4: unused").
			reply("All 42 tests pass.\n\n## Changes\n- Added a retry to `Dial`\n\nShould I commit?")
	}
	return s
}

// said returns the size of a conversation in bytes.
func (s *talk) said(blocks []transcript.Block) int64 {
	n := 0
	for i := range blocks {
		n += len(blocks[i].Text(s.msgs))
	}
	return int64(n)
}

func BenchmarkExtract(b *testing.B) {
	s := worked(400)
	blocks := transcript.Group("s", 0, s.msgs)
	b.SetBytes(s.said(blocks))
	for b.Loop() {
		if len(Extract(s.msgs, blocks, &Options{Correction: correction})) == 0 {
			b.Fatal("nothing found")
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	s := worked(400)
	blocks := transcript.Group("s", 0, s.msgs)
	b.SetBytes(s.said(blocks))
	for b.Loop() {
		if len(NewGraph(s.msgs, blocks, nil).Nodes()) == 0 {
			b.Fatal("nothing found")
		}
	}
}

// BenchmarkExtractAndGraph measures all the work of the package for one conversation.
func BenchmarkExtractAndGraph(b *testing.B) {
	s := worked(400)
	blocks := transcript.Group("s", 0, s.msgs)
	b.SetBytes(s.said(blocks))
	for b.Loop() {
		if len(Extract(s.msgs, blocks, &Options{Correction: correction}))*len(NewGraph(s.msgs, blocks, nil).Nodes()) == 0 {
			b.Fatal("nothing found")
		}
	}
}

func BenchmarkQuotes(b *testing.B) {
	text := strings.Repeat(mixed, 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		n := 0
		eachQuote(text, func(string, int) { n++ })
		if n == 0 {
			b.Fatal("nothing found")
		}
	}
}
