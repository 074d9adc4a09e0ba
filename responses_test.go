package carrel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

// items is a request of the Responses API in which every reply begins with sealed
// reasoning. The last one waits for an output, so no pass touches it.
func items(model string, steps int, more string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"instructions":"You mend things.",%s"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Find why the pool hangs."}]}`, model, more)
	for i := range steps {
		fmt.Fprintf(&b, ",\n"+`{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"signed-%d"}`, i, i)
		fmt.Fprintf(&b, ",\n"+`{"type":"function_call","id":"fc_%d","call_id":"c%d","name":"Bash","arguments":"{\"command\": \"go test ./p%d\"}"}`, i, i, i)
		fmt.Fprintf(&b, ",\n"+`{"type":"function_call_output","call_id":"c%d","output":%q}`, i, strings.Repeat(fmt.Sprintf("ok p%d of many\n", i), 40))
	}
	b.WriteString(`,{"type":"reasoning","id":"rs_last","summary":[],"encrypted_content":"signed-last"},{"type":"function_call","id":"fc_last","call_id":"last","name":"Bash","arguments":"{\"command\":\"git diff\"}"}]}`)
	return []byte(b.String())
}

// squeezed imports a conversation of 12 [items] and more, and compresses it to 7 tenths.
func squeezed(t *testing.T, strategy carrel.Strategy, data []byte) (*carrel.Engine, *carrel.ImportResult) {
	t.Helper()
	e, _ := summarizing(t, carrel.Options{Strategy: strategy})
	in := load(t, e, data)
	if in.Messages != 27 || in.Blocks != 15 {
		t.Errorf("imported as %+v", in)
	}
	if got := export(t, e, in.Session); !bytes.Equal(got, data) {
		t.Errorf("an untouched session is exported as\n%s", got)
	}
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: in.Tokens * 7 / 10}, ProbeMin: anything()})
	if err != nil || res.Changed == 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	return e, in
}

// A body of the Responses API is compressed by every strategy, and what is exported is what
// the provider takes: reasoning behind a change stays only where the model uses it, and an
// item without its reasoning has no id.
func TestResponses(t *testing.T) {
	for model, keeps := range map[string]bool{"gpt-5.3-codex": true, "gpt-6": false, "a gateway's own": false, "": false} {
		for _, strategy := range carrel.Strategies() {
			t.Run(fmt.Sprintf("%s by %s", model, strategy), func(t *testing.T) {
				data := items(model, 12, "")
				e, in := squeezed(t, strategy, data)
				if in.Format != "responses" {
					t.Errorf("imported as %+v", in)
				}
				out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session})
				if err != nil {
					t.Fatal(err)
				}
				if r := upstream.Judge("responses", data, "responses", out.Data); r != nil {
					t.Errorf("refused: %v\n%s", r, out.Data)
				}
				if left := signatures(out.Data); left > 0 != keeps || !keeps && lost(out.Losses) == 0 {
					t.Errorf("%d pieces of reasoning behind a change, losses %+v\n%s", left, out.Losses, out.Data)
				}
				if n := bytes.Count(out.Data, []byte(`"id":"fc_`)); n != signatures(out.Data) {
					t.Errorf("%d calls with an id, and %d pieces of reasoning\n%s", n, signatures(out.Data), out.Data)
				}
				for _, to := range []string{"openai", "anthropic", "claudecode"} {
					other, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, To: to})
					if err != nil || signatures(other.Data) > 0 || lost(other.Losses) == 0 {
						t.Errorf("%s: %v, losses %+v\n%s", to, err, other.Losses, other.Data)
					}
				}
			})
		}
	}
}

// A session of which the provider's server has a part says so and is kept as it is: nothing
// of it can be paged.
func TestHistoryAtTheServer(t *testing.T) {
	for _, field := range []string{"previous_response_id", "conversation"} {
		e := newEngine(t, stores.New(t))
		data := items("gpt-5.3", 12, fmt.Sprintf("%q:%q,", field, "resp_1"))
		in := load(t, e, bytes.Replace(data, []byte(`"call_id":"c0","output"`), []byte(`"call_id":"elsewhere","output"`), 1))
		if len(in.Warnings) != 1 || !strings.Contains(in.Warnings[0].Text, field) {
			t.Errorf("warnings are %+v", in.Warnings)
		}
		refused := func(what string, err error) {
			if !errors.Is(err, carrel.ErrPolicy) || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(50, 100)}})
		refused("compressed", err)
		list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
		if err != nil {
			t.Fatal(err)
		}
		block := string(list.Messages[3].ID)
		_, err = e.Page(t.Context(), scope, &carrel.PageRequest{Session: in.Session, Blocks: []string{block}})
		refused("paged", err)
		_, err = e.Discard(t.Context(), scope, &carrel.DiscardRequest{Session: in.Session, IDs: []string{block}})
		refused("discarded", err)
	}
}

// A conversation that grows is one session: blocks that were known keep their ids, and items
// that come one by one make one reply.
func TestResponsesGrow(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := items("gpt-6", 3, "")
	in := load(t, e, data)
	before, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	grown := bytes.TrimSuffix(data, []byte("]}"))
	grown = append(grown, `,{"type":"function_call_output","call_id":"last","output":"nothing"},{"type":"message","role":"user","content":"Go on."}]}`...)
	again := load(t, e, grown)
	if again.Session != in.Session || again.Added != 1 {
		t.Errorf("grown: %+v", again)
	}
	after, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	for i := range before.Messages {
		if before.Messages[i].ID != after.Messages[i].ID {
			t.Errorf("block %d has another id", i)
		}
	}

	var one struct {
		Input []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(grown, &one); err != nil {
		t.Fatal(err)
	}
	for _, item := range one.Input {
		req := &carrel.AppendRequest{Session: "run:8", Format: "responses", Model: "gpt-6", System: "You mend things.", Messages: []json.RawMessage{item}}
		if _, err := e.Append(t.Context(), scope, req); err != nil {
			t.Fatal(err)
		}
	}
	s := decoded(t, "responses", export(t, e, "run:8"))
	if len(s.Messages) != again.Messages || s.Messages[0].Role != transcript.RoleSystem || s.Messages[0].Text() != "You mend things." {
		t.Errorf("%d messages, want %d: %+v", len(s.Messages), again.Messages, s.Messages)
	}
}
