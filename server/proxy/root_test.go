package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A compaction says how a client asks for a summary, and how it goes on.
type compaction struct {
	name    string
	dialect wire.Dialect
	asks    string                           // at the end of the history
	path    string                           // where, if not where it asks for replies
	goes    func(n int, answer string) []any // the history after the n-th
}

func spoke(role, text string) map[string]any { return map[string]any{"role": role, "content": text} }

var compactionsOf = []compaction{
	{
		name: "Claude Code", dialect: wire.Anthropic, asks: "CRITICAL: Respond with TEXT ONLY. Summarize.",
		goes: func(n int, _ string) []any {
			return []any{spoke("user", "This session is being continued from a previous conversation that ran out of context.\n\nSummary: made "+strconv.Itoa(n))}
		},
	},
	{
		name: "Codex", dialect: wire.Responses, asks: "You are performing a CONTEXT CHECKPOINT COMPACTION. Summarize.",
		goes: func(n int, _ string) []any {
			return []any{spoke("user", "Make it."), spoke("user", "Another language model started to solve this problem and produced a summary: made "+strconv.Itoa(n))}
		},
	},
	{
		name: "Codex and its provider", dialect: wire.Responses, path: "/openai/v1/responses/compact",
		goes: func(_ int, answer string) (items []any) {
			var a struct{ Output []any }
			if json.Unmarshal([]byte(answer), &a) != nil {
				return nil
			}
			return a.Output
		},
	},
	{
		name: "OpenCode", dialect: wire.Chat, asks: "Here is the conversation so far:\n\n<conversation>…",
		goes: func(n int, _ string) []any {
			return []any{spoke("user", "What did we do so far?"), spoke("assistant", "We made "+strconv.Itoa(n)), spoke("user", "Continue if you have next steps.")}
		},
	},
}

// compact has the client compact its history, and go on with what came of it.
func (c *recalling) compact(how *compaction, n int) {
	c.t.Helper()
	body := c.request()
	if how.asks != "" {
		before := c.history
		if c.says(how.asks); how.dialect == wire.Chat {
			c.history = c.history[len(before):]
		}
		body = c.request()
		c.history = before
		if how.dialect == wire.Chat {
			delete(body, "tools")
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	path := cmp.Or(how.path, pathOf[c.dialect])
	status, got := c.send(path, data)
	if status != http.StatusOK {
		c.t.Fatalf("%d %s", status, got)
	}
	c.history = how.goes(n, string(got))
	if len(c.history) == 0 {
		c.t.Fatalf("nothing is left: %s", got)
	}
}

// sessions returns what is stored, once everything is.
func (c *recalling) sessions() []api.SessionInfo {
	c.t.Helper()
	c.start(false) // which waits for imports
	list, err := c.engine.Sessions(c.t.Context(), governance.DefaultScope, &carrel.SessionsRequest{})
	if err != nil {
		c.t.Fatal(err)
	}
	return list.Items
}

// earlier returns how many blocks of a session say something, by the window that they are of.
func (c *recalling) earlier(id transcript.SessionID, says string) map[int]int {
	c.t.Helper()
	found := make(map[int]int)
	res, err := c.engine.Search(c.t.Context(), governance.DefaultScope, &carrel.SearchRequest{Query: says, Session: id})
	if err != nil {
		c.t.Fatal(err)
	}
	for i := range res.Items {
		hit := &res.Items[i]
		recalled, err := c.engine.Recall(c.t.Context(), governance.DefaultScope, &carrel.RecallRequest{Block: string(hit.Block), Text: true})
		if err != nil {
			c.t.Fatal(err)
		}
		if strings.Contains(string(recalled.Data), says) {
			found[hit.Earlier]++
		}
	}
	return found
}

// After a client compacted its history it goes on in the same session, and again after the
// next time; what was before is in earlier windows, once, and comes back.
func TestACompactedHistoryIsTheSameSession(t *testing.T) {
	for i := range compactionsOf {
		how := &compactionsOf[i]
		for _, manages := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, managed %t", how.name, manages), func(t *testing.T) {
				c := newRecalling(t, how.dialect, false, 0)
				defer c.close()
				c.observes = !manages
				c.start(manages)
				c.says("Make it.")
				var first []any // window, at its end
				for n := range 9 {
					c.script = []upstream.Reply{upstream.Say(upstream.Thinking("So."), upstream.Text(fmt.Sprintf("zebra%d it is.", n)), c.runs())}
					c.results(c.ask().calls)
					if n%3 == 2 && n < 8 {
						if first == nil {
							first = slices.Clone(c.history)
						}
						c.compact(how, n)
						c.start(manages)
					}
				}
				sessions := c.sessions()
				if len(sessions) != 1 {
					t.Fatalf("%d sessions, want one: %+v", len(sessions), sessions)
				}
				for n := range 8 {
					want := map[int]int{n/3 + 1: 1}
					if n/3 == 2 {
						want = map[int]int{0: 1}
					}
					if got := c.earlier(sessions[0].Session, fmt.Sprintf("zebra%d", n)); fmt.Sprint(got) != fmt.Sprint(want) && n%3 != 2 {
						t.Errorf("what was said in call %d is found by windows in %v, want %v", n, got, want)
					}
				}
				out, err := c.engine.Export(t.Context(), governance.DefaultScope, &carrel.ExportRequest{Session: sessions[0].Session})
				if err != nil || strings.Contains(string(out.Data), "zebra1") || strings.Contains(string(out.Data), `"carrel"`) || !strings.Contains(string(out.Data), "zebra7") {
					t.Errorf("%v: the window is\n%s", err, out.Data)
				}
				c.history = first // the client goes back
				c.start(manages)
				c.ask()
				if c.sessions(); c.earlier(sessions[0].Session, "zebra1")[0] != 1 || c.earlier(sessions[0].Session, "zebra4")[2] != 0 {
					t.Errorf("behind the way back, what was said is found in windows %v and %v", c.earlier(sessions[0].Session, "zebra1"), c.earlier(sessions[0].Session, "zebra4"))
				}
				c.refusals()
			})
		}
	}
}

// A session is counted once, however many of its threads a compaction has begun.
func TestThreadsOfASessionAreOneSession(t *testing.T) {
	p, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	for thread, session := range map[string]transcript.SessionID{"a": "an-a", "a, compacted": "an-a", "b": "an-b"} {
		p.keeper.remember(digest.Of([]byte(thread)), session)
	}
	if n := p.Traffic().Sessions; n != 2 {
		t.Errorf("%d sessions, want 2", n)
	}
}

// A history that begins with a summary, and of which nobody knows whose summary that is, is a
// conversation of its own.
func TestWhatIsNotSureIsASessionOfItsOwn(t *testing.T) {
	q := &wire.Request{Dialect: wire.Anthropic}
	doc := new(rawjson.Document)
	if err := doc.Read([]byte(`{"messages":[{"role":"user","content":"This session is being continued from a previous conversation"}]}`)); err != nil {
		t.Fatal(err)
	}
	if err := q.Read(wire.Anthropic, wire.KindCall, nil, doc); err != nil {
		t.Fatal(err)
	}
	call := func(session string, compacts bool, state store.CallState) api.Call {
		c := api.Call{Session: transcript.SessionID(session), State: state}
		c.Dialect, c.Compacts = "anthropic", compacts
		return c
	}
	own, other := call("an-b", false, store.CallDone), call("an-a", true, store.CallDone)
	own.Thread, other.Dialect = q.Thread(), "chat"
	aside := own
	aside.Session = ""
	for data, want := range map[string]bool{"no": false, "{}": false, `{"messages":[]}`: false, string(doc.Raw(rawjson.Root)): true} {
		if got := summaryDigest(q, []byte(data)); (got != "") != want {
			t.Errorf("the summary in %s is %q", data, got)
		}
	}
	for _, tt := range []struct {
		name  string
		calls []api.Call // the oldest first
		want  string
	}{
		{"nothing is known", nil, ""},
		{"no compaction", []api.Call{call("an-a", false, store.CallDone)}, ""},
		{"the compaction of a conversation", []api.Call{call("an-a", false, store.CallDone), call("an-a", true, store.CallDone)}, "an-a"},
		{"a side call behind it", []api.Call{call("an-a", true, store.CallDone), call("", false, store.CallDone)}, "an-a"},
		{"a compaction that failed", []api.Call{call("an-a", false, store.CallDone), call("an-a", true, store.CallFailed)}, ""},
		{"a compaction that was told the history", []api.Call{call("an-a", false, store.CallDone), call("", true, store.CallDone)}, "an-a"},
		{"the conversation went on", []api.Call{call("an-a", true, store.CallDone), call("an-a", false, store.CallDone)}, ""},
		{"another conversation went on", []api.Call{call("an-a", true, store.CallDone), call("an-c", false, store.CallDone)}, ""},
		{"two compactions, and nobody knows whose the newer one is", []api.Call{call("an-c", false, store.CallDone), call("an-a", true, store.CallDone), call("", true, store.CallDone)}, "an-c"},
		{"the other dialect", []api.Call{other}, ""},
		{"this thread as a side call", []api.Call{aside}, ""},
		{"a failed call behind it", []api.Call{call("an-a", true, store.CallDone), call("an-c", false, store.CallFailed)}, "an-a"},
		{"this thread went on before", []api.Call{own, call("an-c", true, store.CallDone), call("an-c", false, store.CallDone)}, "an-b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			slices.Reverse(tt.calls)
			if got := rootOf(tt.calls, q); string(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
