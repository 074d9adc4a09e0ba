package carrel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// rollout is the conversation of [items] as a session file of Codex.
func rollout(t *testing.T, model string, steps int) []byte {
	t.Helper()
	var body struct {
		Input []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(items(model, steps, ""), &body); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	row := func(kind, payload string) {
		fmt.Fprintf(&b, `{"timestamp":"2026-11-01T10:00:00.000Z","type":%q,"payload":%s}`+"\n", kind, payload)
	}
	row("session_meta", `{"id":"019a7c1e-0000-7000-8000-000000000002","cwd":"/srv/pool","base_instructions":{"text":"You mend things."}}`)
	row("turn_context", fmt.Sprintf(`{"model":%q}`, model))
	for _, item := range body.Input {
		row("response_item", string(item))
		row("event_msg", `{"type":"token_count"}`)
	}
	return b.Bytes()
}

// A session file of Codex is compressed by every strategy, and what it is exported as passes
// the judge of requests.
func TestCodex(t *testing.T) {
	for _, strategy := range carrel.Strategies() {
		t.Run(string(strategy), func(t *testing.T) {
			data := rollout(t, "gpt-5.3-codex", 12)
			e, in := squeezed(t, strategy, data)
			if in.Format != "codex" || in.Session != "019a7c1e-0000-7000-8000-000000000002" {
				t.Errorf("imported as %+v", in)
			}
			for _, to := range []string{"codex", "responses", "openai", "anthropic", "claudecode"} {
				out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, To: to})
				if err != nil {
					t.Fatal(err)
				}
				if to != "codex" {
					if r := upstream.Judge("codex", data, to, out.Data); r != nil {
						t.Errorf("%s: %v\n%s", to, r, out.Data)
					}
					continue
				}
				s := decoded(t, "codex", out.Data)
				if s.ID != in.Session || s.Model != "gpt-5.3-codex" || s.Messages[0].Text() != "You mend things." || signatures(out.Data) == 0 || bytes.Contains(out.Data, []byte("event_msg")) {
					t.Errorf("exported as %s", out.Data)
				}
			}
		})
	}
}
