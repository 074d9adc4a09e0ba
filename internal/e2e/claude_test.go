package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/transcript"
)

// claudeProgram is the variable that names the program of Claude Code.
const claudeProgram = "CARREL_TEST_CLAUDE"

// Claude Code resumes a compressed session: what it sends upstream has every
// stub and every call of the window, in order, and passes the provider's rules.
func TestClaudeCodeResumesACompressedSession(t *testing.T) {
	program := os.Getenv(claudeProgram)
	if program == "" {
		t.Skipf("%s is not set: no Claude Code to test with", claudeProgram)
	}
	session, file := compressed(t)
	upstream := new(upstream)
	server := httptest.NewServer(upstream)
	defer server.Close()

	home, work := t.TempDir(), t.TempDir()
	work, err := filepath.EvalSymlinks(work)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, "projects", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(work, "-"))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, string(session)+".jsonl"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "--resume", string(session), "-p", "what is left to do?")
	cmd.Dir = work
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "ANTHROPIC_BASE_URL=" + server.URL,
		"ANTHROPIC_API_KEY=dummy", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), reply) {
		t.Fatalf("the agent ended with %v and said:\n%s", err, out)
	}
	checkRequest(t, upstream.last(), file)
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
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Share: ratio.Of(1, 4)}); err != nil {
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

// reply is what the upstream answers.
const reply = "nothing is left to do"

// An upstream answers every request for a message with the same reply, and
// remembers the requests.
type upstream struct {
	mu     sync.Mutex
	bodies [][]byte
}

func (u *upstream) last() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.bodies) == 0 {
		return nil
	}
	return u.bodies[len(u.bodies)-1]
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var req struct {
		Model  string
		Stream bool
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		fmt.Fprint(w, `{"input_tokens": 10}`)
		return
	case r.URL.Path != "/v1/messages" || json.Unmarshal(body, &req) != nil:
		fmt.Fprint(w, `{"data": []}`)
		return
	}
	u.mu.Lock()
	u.bodies = append(u.bodies, body)
	u.mu.Unlock()
	message := fmt.Sprintf(`"id":"msg_1","type":"message","role":"assistant","model":%q,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":5}`, req.Model)
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{%s,"stop_reason":"end_turn","content":[{"type":"text","text":%q}]}`, message, reply)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"type":"message_start","message":{` + message + `,"stop_reason":null,"content":[]}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, reply),
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`,
		`{"type":"message_stop"}`,
	} {
		var kind struct{ Type string }
		if err := json.Unmarshal([]byte(event), &kind); err != nil {
			panic(err) // the events above are JSON
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind.Type, event)
	}
}
