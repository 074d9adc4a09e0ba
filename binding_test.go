package carrel_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/transcript"
)

// thoughtful is a request in which every reply begins with signed thinking. The last
// one waits for a result, so no pass touches it.
func thoughtful(model string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"messages":[{"role":"user","content":"Find why the pool hangs."}`, model)
	for i := range 12 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"thinking","thinking":"thought %d","signature":"signed-%d"},{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"go test ./p%d"}}]}`, i, i, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q}]}`, i, strings.Repeat(fmt.Sprintf("ok p%d of many\n", i), 40))
	}
	b.WriteString(`,{"role":"assistant","content":[{"type":"thinking","thinking":"last","signature":"signed-last"},{"type":"tool_use","id":"last","name":"Bash","input":{"command":"git diff"}}]}]}`)
	return []byte(b.String())
}

func signatures(data []byte) int { return bytes.Count(data, []byte(`signed-`)) }

// A signature behind a changed byte stays only where the model is known to accept it.
func TestThinkingBehindAChange(t *testing.T) {
	for _, tt := range []struct {
		model string
		keeps bool
	}{
		{"claude-opus-4-6", true},
		{"claude-opus-5-5", false},
		{"claude-opus-6", false},
		{"opus[1m]", false},
		{"anthropic/claude-opus-4.5", false},
		{"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abcdef", false},
		{"", false},
	} {
		t.Run(tt.model, func(t *testing.T) {
			e := newEngine(t, stores.New(t))
			data := thoughtful(tt.model)
			in := load(t, e, data)
			if got := export(t, e, in.Session); !bytes.Equal(got, data) {
				t.Errorf("an untouched session is exported as\n%s", got)
			}
			res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: in.Tokens * 7 / 10}})
			if err != nil || res.Changed == 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session})
			if err != nil {
				t.Fatal(err)
			}
			if n := signatures(out.Data); n > 0 != tt.keeps {
				t.Errorf("%d signatures behind a change\n%s", n, out.Data)
			}
			if (lost(out.Losses) == 0) != tt.keeps {
				t.Errorf("losses are %+v", out.Losses)
			}
		})
	}
}

// lost counts the thinking among losses.
func lost(losses []transcript.Loss) int {
	n := 0
	for _, l := range losses {
		if strings.HasPrefix(l.What, "thinking") {
			n += l.Count
		}
	}
	return n
}

// Another format carries no system text, tools or rows as they were, so nothing bound
// to these is still valid. All of it is told as lost.
func TestThinkingInAnotherFormat(t *testing.T) {
	for model, keeps := range map[string]bool{"claude-opus-4-6": true, "claude-opus-5-5": false, "": false} {
		e := newEngine(t, stores.New(t))
		in := load(t, e, thoughtful(model))
		out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, To: "claudecode"})
		if err != nil {
			t.Fatal(err)
		}
		want := 13
		if !keeps {
			want = 0
		}
		if n := signatures(out.Data); n != want || lost(out.Losses) != 13-want {
			t.Errorf("%q: %d signatures, want %d; losses %+v", model, n, want, out.Losses)
		}
	}
}

// What is put before a session in a context is a change before all of its thinking.
func TestThinkingInAContext(t *testing.T) {
	for model, keeps := range map[string]bool{"claude-opus-4-6": true, "claude-opus-5-5": false, "": false} {
		e := newEngine(t, stores.New(t))
		answered := bytes.Replace(thoughtful(model), []byte("}]}]}"), []byte(`}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"last","content":"nothing"}]}]}`), 1)
		in := load(t, e, answered)
		out, err := e.Assemble(t.Context(), scope, &carrel.AssembleRequest{
			Session: in.Session, System: "You fix things.", Query: "the pool", Format: "anthropic", Budget: 4 * in.Tokens,
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := signatures(out.Data); n > 0 != keeps {
			t.Errorf("%q: %d signatures in\n%s", model, n, out.Data)
		}
	}
}
