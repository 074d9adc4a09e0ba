package carrel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/store/memory"
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

// However a session file of Codex grows, following it leaves what an import of all of it would;
// of one that only grew, no more than its beginning and its last turn is read.
func TestFollowCodexIsImport(t *testing.T) {
	const id, turn = "019a7c1e-0000-7000-8000-000000000002", 5 // rows
	const name = "rollout-2026-11-01T10-00-00-" + id + ".jsonl"
	rows := bytes.SplitAfter(bytes.TrimSuffix(rollout(t, "gpt-5.3-codex", 40), []byte("\n")), []byte("\n"))
	compacted := []byte(`{"timestamp":"2026-11-01T10:00:00.000Z","type":"compacted","payload":{"message":"We looked.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"We looked."}]}]}}` + "\n")
	rows = slices.Insert(rows, 2+30*6, compacted)
	followed, imported := memory.New(), memory.New()
	e, whole := newEngine(t, followed), newEngine(t, imported)
	short := 0
	for n := 9; n < len(rows); n += turn {
		file := bytes.Join(rows[:n], nil)
		c := &counted{Reader: bytes.NewReader(file)}
		got, err := e.Follow(t.Context(), scope, &carrel.FollowRequest{Name: name, Format: "codex", File: c, Size: int64(len(file))})
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.Import(t.Context(), scope, &carrel.ImportRequest{Name: name, Format: "codex", Data: file})
		if err != nil {
			t.Fatal(err)
		}
		if got.Messages != want.Messages || got.Tokens != want.Tokens || got.Session != id {
			t.Errorf("%d rows: %+v, want %+v", n, got, want)
		}
		if diff := cmp.Diff(look(t, imported, whole, id), look(t, followed, e, id)); diff != "" {
			t.Fatalf("%d rows (-import +follow):\n%s", n, diff)
		}
		if c.read < int64(len(file)) {
			short++
			if c.read > 4<<10+6000 {
				t.Errorf("%d rows: of %d bytes, %d are read", n, len(file), c.read)
			}
		}
	}
	if steps := (len(rows) - 9) / turn; short < steps/2 {
		t.Errorf("in %d of %d steps the end alone was read", short, steps)
	}
}
