package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/transcript"
)

// Claude Code resumes a compressed session: what it sends upstream has every
// stub and every call of the window, in order, and passes the provider's rules.
func TestClaudeCodeResumesACompressedSession(t *testing.T) {
	const reply = "nothing is left to do"
	a := newAgent(t, upstream.Step{Reply: upstream.Say(upstream.Thinking("is there more?"), upstream.Text(reply))})
	session, file := compressed(t)
	a.write(filepath.Join(a.sessions(), string(session)+".jsonl"), file)
	if out := a.claude("--resume", string(session), "-p", "what is left to do?"); !strings.Contains(out, reply) {
		t.Fatalf("the agent said:\n%s", out)
	}
	a.nothingRefused()
	checkRequest(t, a.last(upstream.KindMain).Body, file)
}

// Claude Code resumes a session of its own that was exported as a new one, and has
// all of it.
func TestClaudeCodeResumesANewSession(t *testing.T) {
	const id = "0b5f2c1e-7d7a-4c3b-9e0f-5a6b7c8d9e0f"
	const first, second = "the word is heron", "it was heron"
	a := newAgent(t,
		upstream.Step{Reply: upstream.Say(upstream.Thinking("a word to keep"), upstream.Text(first))},
		upstream.Step{Reply: upstream.Say(upstream.Text(second))})
	a.claude("-p", "choose a word")
	file, data := a.session()
	e, err := carrel.New(memory.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := e.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: file, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Export(t.Context(), governance.DefaultScope, &carrel.ExportRequest{Session: in.Session, As: id})
	if err != nil {
		t.Fatal(err)
	}
	a.write(filepath.Join(a.sessions(), id+".jsonl"), out.Data)
	if said := a.claude("--resume", id, "-p", "which word was it?"); !strings.Contains(said, second) {
		t.Fatalf("the agent said:\n%s", said)
	}
	a.nothingRefused()
	body := string(a.last(upstream.KindMain).Body)
	for _, want := range []string{"choose a word", `"signature"`, first} {
		if !strings.Contains(body, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, data) {
		t.Errorf("the old session has changed: %v", err)
	}
}

// compressed returns the demonstration's session, cut to a fourth, as a new
// session file.
func compressed(t *testing.T) (transcript.SessionID, []byte) {
	t.Helper()
	e, err := carrel.New(memory.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	scope := governance.DefaultScope
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "demo.jsonl", Data: demo.Session()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 4)}}); err != nil {
		t.Fatal(err)
	}
	out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	return out.Session, out.Data
}

// checkRequest compares what the agent sent with the file that it resumed.
func checkRequest(t *testing.T, body, file []byte) {
	t.Helper()
	_, violations, err := carrel.Validate("anthropic", body)
	if err != nil || len(violations) > 0 {
		t.Errorf("the request would be refused: %v, %v", violations, err)
	}
	want, got := marks(t, "claudecode", file), marks(t, "anthropic", body)
	if len(want) == 0 {
		t.Fatal("the file has neither stubs nor calls")
	}
	for len(want) > 0 && len(got) > 0 {
		if want[0] == got[0] {
			want = want[1:]
		}
		got = got[1:]
	}
	if len(want) > 0 {
		t.Errorf("the request lacks %d stubs or calls, the first is %s", len(want), want[0])
	}
}

// marks returns the stubs and call ids of a conversation, in order.
func marks(t *testing.T, format string, data []byte) []string {
	t.Helper()
	f, err := carrel.FormatNamed(format)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Decode("x", data)
	if err != nil {
		t.Fatal(err)
	}
	stub := regexp.MustCompile(`\[carrel [0-9a-f]{8}: paged`)
	var found []string
	for i := range s.Messages {
		for _, p := range s.Messages[i].Parts {
			switch p := p.(type) {
			case transcript.Text:
				found = append(found, stub.FindAllString(string(p), -1)...)
			case transcript.ToolCall:
				found = append(found, p.ID)
			case transcript.ToolResult:
				found = append(found, stub.FindAllString(p.Text(), -1)...)
			case transcript.Thinking, transcript.Media, transcript.Opaque:
			}
		}
	}
	return found
}
