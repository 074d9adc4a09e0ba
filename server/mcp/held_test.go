package mcp_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/store"
)

// agentFile returns a session file of Claude Code whose newest request had 118,007
// tokens by the provider's count, most of them cached, and whose older ones had fewer.
func agentFile() []byte {
	var b strings.Builder
	parent := "null"
	row := func(kind, uuid, message string) {
		fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"0b8a6f0e","cwd":"/srv/lamp","message":%s}`+"\n", kind, uuid, parent, message)
		parent = fmt.Sprintf("%q", uuid)
	}
	row("user", "u0", `{"role":"user","content":"Find why the lamp flickers."}`)
	for i := range 8 {
		usage := fmt.Sprintf(`{"input_tokens":7,"cache_read_input_tokens":%d,"cache_creation_input_tokens":1000,"output_tokens":50}`, 110_000+1000*i)
		row("assistant", fmt.Sprintf("a%d", i), fmt.Sprintf(
			`{"id":"m%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"t%d","name":"Read","input":{"file_path":"part%d.go"}}],"usage":%s}`, i, i, i, usage))
		row("user", fmt.Sprintf("r%d", i), fmt.Sprintf(
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}`, i, strings.Repeat(fmt.Sprintf("part %d\n", i), 300)))
	}
	row("assistant", "api", `{"id":"m9","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"usage":{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}`)
	return []byte(b.String())
}

// What Carrel holds becomes smaller, and what the client sends does not: every tool that
// speaks of the one tells the other, too, and says what does make requests smaller.
func TestBothFiguresAreTold(t *testing.T) {
	e := newEngine(t, stores.New(t))
	session := load(t, e, scope, "0b8a6f0e.jsonl", agentFile())
	c := connect(t, mcp.New(whole(e), &mcp.Options{Own: in(session)}), nil)
	const sent = 118_007
	check := func(tool string, args m, note bool) (held int) {
		t.Helper()
		var res struct {
			Sent, Used, After int
			Total             int `json:"total_est_tokens"`
			Note              string
			Figures           pager.Figures
		}
		r := done(t, c, tool, args, &res)
		held = res.Used + res.After + res.Total
		text := strings.Join(r.text, "\n")
		for _, want := range []string{fmt.Sprint(sent), fmt.Sprint(held), "Carrel holds"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text lacks %q: %s", tool, want, text)
			}
		}
		if f := res.Figures; tool != "discard_messages" && (f.Effective == 0 || f.Target == 0 || !strings.Contains(text, fmt.Sprintf("the %d tokens of the effective window", f.Effective))) {
			t.Errorf("%s: the figures are %+v, the text %s", tool, f, text)
		}
		if res.Sent != sent || held == 0 || held >= sent/2 {
			t.Errorf("%s: %d sent, %d held", tool, res.Sent, held)
		}
		for _, means := range []string{"hooks", "compaction", "carrel export", "resumes", "recalled"} {
			if note && (!strings.Contains(res.Note, means) || !strings.Contains(text, res.Note)) {
				t.Errorf("%s: %q is not named: %q", tool, means, res.Note)
			}
		}
		return held
	}
	before := check("status", nil, true)
	var l listed
	done(t, c, "get_messages", nil, &l)
	check("get_messages", nil, false)
	check("discard_messages", m{"short_ids": l.reads()[:1]}, true)
	check("compress", m{"target": 3000}, true)
	if after := check("status", nil, true); after >= before || after > 3000 {
		t.Errorf("Carrel holds %d tokens, then %d", before, after)
	}
}

// Where a transcript does not say how much was sent, nothing is made up.
func TestWhatIsSentMayBeUnknown(t *testing.T) {
	d := newDesk(t)
	for tool, args := range map[string]m{"status": nil, "compress": {"target": 3000}} {
		r := done(t, d.ClientSession, tool, args, nil)
		if text := strings.Join(r.text, "\n"); !strings.Contains(text, "how much your client sends is not known") || strings.Contains(string(r.json), `"sent"`) {
			t.Errorf("%s: %s\n%s", tool, text, r.json)
		}
	}
}

// Where a proxy sends the window that Carrel holds, that is what is told.
func TestAManagedWindowIsWhatIsSent(t *testing.T) {
	e := newEngine(t, stores.New(t))
	session := load(t, e, scope, "0b8a6f0e.jsonl", agentFile())
	c := connect(t, mcp.New(whole(e), &mcp.Options{Own: in(session)}), nil)
	for _, managed := range []bool{false, true} {
		begun, err := e.Begin(t.Context(), scope, &carrel.BeginRequest{Session: session, CallIntent: carrel.CallIntent{
			Dialect: "anthropic", Messages: 9, Bytes: 400_000, SentBytes: 90_000, Epoch: 3, Managed: managed,
		}})
		if err != nil {
			t.Fatal(err)
		}
		end := &carrel.EndRequest{Call: begun.Call, State: store.CallDone}
		end.Usage = carrel.Usage{Input: 7, CacheRead: 23_000}
		if _, err := e.End(t.Context(), scope, end); err != nil {
			t.Fatal(err)
		}
		for tool, args := range map[string]m{"status": nil, "compress": {"target": 3000}} {
			r := done(t, c, tool, args, nil)
			text := strings.Join(r.text, "\n")
			if says := strings.Contains(text, "counts from the next epoch on"); says != managed || strings.Contains(text, "carrel export") == managed {
				t.Errorf("managed %v: %s says %s", managed, tool, text)
			}
			if tool == "status" && (!strings.Contains(text, "your client sent 23007 tokens") || !strings.Contains(text, "with 400000 bytes and was sent with 90000, in epoch 3")) {
				t.Errorf("managed %v: %s says %s", managed, tool, text)
			}
		}
	}
}

// A model that reads no result yet knows it, too.
func TestDescriptionsSayWhatChanges(t *testing.T) {
	d := newDesk(t)
	list, err := d.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, tool := range list.Tools {
		if tool.Name != "compress" && tool.Name != "discard_messages" {
			continue
		}
		n++
		for _, want := range []string{"that Carrel holds", "smaller only if they go through Carrel's proxy", "exported and resumed"} {
			if !strings.Contains(tool.Description, want) {
				t.Errorf("%s does not say %q: %s", tool.Name, want, tool.Description)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d tools change what Carrel holds", n)
	}
}

// A callless store fails when it is asked for calls.
type callless struct{ store.Store }

func (callless) Calls(context.Context, governance.Scope, store.CallFilter) iter.Seq2[*store.Call, error] {
	return func(yield func(*store.Call, error) bool) { yield(nil, store.ErrBusy) }
}

// A tool that fails because the calls cannot be read has not changed the window, so that the
// model can try again.
func TestAFailureChangesNothing(t *testing.T) {
	s := stores.New(t)
	e := newEngine(t, s)
	session := load(t, e, scope, "lamp.json", lampChat().bytes(t))
	sound := connect(t, mcp.New(whole(e), &mcp.Options{Now: now, Own: in(session)}), nil)
	failing := connect(t, mcp.New(whole(newEngine(t, callless{s})), &mcp.Options{Now: now, Own: in(session)}), nil)
	before := messages(t, sound)
	for _, tt := range []struct {
		tool string
		args m
	}{
		{"discard_messages", m{"short_ids": before.reads()[:2]}},
		{"compress", m{"target": 3000}},
	} {
		refused(t, failing, tt.tool, tt.args)
		if after := messages(t, sound); after.Total != before.Total {
			t.Errorf("%s failed and took the window from %d to %d tokens", tt.tool, before.Total, after.Total)
		}
	}
}
