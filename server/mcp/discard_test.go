package mcp_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/mcp"
)

type discarded struct {
	Op            string
	Before, After int
	Target        int `json:"target_tokens"`
	Floor         int `json:"floor_tokens"`
	Thinking      int
	Continue      bool
	Discarded     []struct {
		ShortID string `json:"short_id"`
		Class   string
	}
}

func TestDiscardTakesWhatIsNamed(t *testing.T) {
	d := newDesk(t)
	before := messages(t, d.ClientSession)
	ids := before.reads()[:2]
	var got discarded
	r := done(t, d.ClientSession, "discard_messages", m{"short_ids": ids}, &got)
	if got.Before != before.Total || got.After >= got.Before || got.Target != before.Target || got.Floor != 1000 || !got.Continue || got.Op == "" {
		t.Errorf("discarded %+v", got)
	}
	for _, b := range messages(t, d.ClientSession).Messages {
		if gone := b.State == "cold"; gone != slices.Contains(ids, b.ShortID) {
			t.Errorf("%s is %s", b.ShortID, b.State)
		}
	}
	if !strings.HasPrefix(r.text[0], ids[0]+" "+ids[1]+"  discarded;") {
		t.Errorf("text %q", r.text)
	}
	if back := done(t, d.ClientSession, "recall", m{"id": ids[0]}, nil); !strings.Contains(back.text[0], "wire0") {
		t.Errorf("recalled %q", back.text)
	}
}

// What is refused is refused whole, each id has its reason, and the answer says what
// may go, what goes first coming first.
func TestDiscardRefusesWithReasons(t *testing.T) {
	d := newDesk(t)
	l := messages(t, d.ClientSession)
	task, edit, read := l.Messages[1].ShortID, l.Messages[8].ShortID, l.reads()
	r, p := refused(t, d.ClientSession, "discard_messages", m{"short_ids": []string{read[0], task, edit}})
	var reasons []string
	for _, x := range p.Refused {
		reasons = append(reasons, x.Block[:8]+": "+x.Reason)
	}
	want := []string{task + ": is the first task", edit + ": is a code edit that shows what a file is like now"}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	for _, line := range []string{"  is the first task", "  is a code edit that shows"} {
		if !strings.Contains(r.text[0], line) {
			t.Errorf("the text does not say %q:\n%s", line, r.text[0])
		}
	}
	// Part 3 was changed since, so it goes first.
	if !strings.Contains(p.Hint, "discard these instead: "+read[3]+" (read, ") || strings.Contains(p.Hint, task) {
		t.Errorf("hint %q", p.Hint)
	}
	// All six are 4,683 of 4,796 tokens: the floor of 1,000 is in the way.
	_, p = refused(t, d.ClientSession, "discard_messages", m{"short_ids": read})
	if p.Type != "carrel:problem/refused" || len(p.Refused) != 6 || !strings.Contains(p.Refused[0].Reason, "and the floor is 1000") {
		t.Errorf("below the floor: %+v", p)
	}
	if after := messages(t, d.ClientSession); after.Total != l.Total {
		t.Errorf("refusals changed the window from %d to %d tokens", l.Total, after.Total)
	}
}

// Of many messages that may go instead, ten are named.
func TestDiscardNamesTenInstead(t *testing.T) {
	e := newEngine(t, stores.New(t))
	chat := (&chat{}).say("user", "Look at the parts.")
	for range 14 {
		chat.use("Read", "{}", strings.Repeat("a wire\n", 200))
	}
	id := load(t, e, scope, "many.json", chat.say("assistant", "I looked.").bytes(t))
	c := connect(t, mcp.New(whole(e), &mcp.Options{Now: now, Own: in(id)}), nil)
	task := messages(t, c).Messages[0].ShortID
	_, p := refused(t, c, "discard_messages", m{"short_ids": []string{task}})
	if n := strings.Count(p.Hint, " tokens)"); n != 10 {
		t.Errorf("%d are named: %s", n, p.Hint)
	}
}

func TestDiscardWithoutIDsDoesNothing(t *testing.T) {
	d := newDesk(t)
	before := messages(t, d.ClientSession).Total
	for _, args := range []m{{}, {"short_ids": []string{}}, {"short_ids": nil}, {"short_ids": []string{""}}, {"auto": true, "short_ids": []string{"ff"}}} {
		refused(t, d.ClientSession, "discard_messages", args)
	}
	if after := messages(t, d.ClientSession).Total; after != before {
		t.Errorf("the window went from %d to %d tokens", before, after)
	}
}

// code finds the code in a hint.
func code(t *testing.T, p problem) string {
	t.Helper()
	found := regexp.MustCompile(`confirm="([0-9a-f]{8})"`).FindStringSubmatch(p.Hint)
	if found == nil {
		t.Fatalf("no code in %+v", p)
	}
	return found[1]
}

// More than half of the window goes only when it was asked for twice, the second time
// with the code of the first answer, which is of these messages in this window.
func TestDiscardOfMuchMustBeConfirmed(t *testing.T) {
	d := newDesk(t)
	l := messages(t, d.ClientSession)
	ids := l.reads()[:4] // 2,992 of 4,796 tokens
	args := m{"short_ids": ids}
	_, p := refused(t, d.ClientSession, "discard_messages", args)
	first := code(t, p)
	for _, wrong := range []m{
		{"short_ids": ids, "confirm": "yes"},
		{"short_ids": append(slices.Clone(ids), l.reads()[4]), "confirm": first},
	} {
		refused(t, d.ClientSession, "discard_messages", wrong)
	}
	done(t, d.ClientSession, "discard_messages", m{"short_ids": l.reads()[5:]}, nil)
	if _, p := refused(t, d.ClientSession, "discard_messages", m{"short_ids": ids[:3], "confirm": first}); code(t, p) == first {
		t.Error("another discard of another window has the same code")
	}
	var got discarded
	_, p = refused(t, d.ClientSession, "discard_messages", m{"short_ids": ids[:3]})
	done(t, d.ClientSession, "discard_messages", m{"short_ids": ids[:3], "confirm": code(t, p)}, &got)
	if len(got.Discarded) != 3 || got.Op == "" {
		t.Errorf("discarded %+v", got)
	}
}

// thoughts is a conversation in which signed thinking stands behind a result that may
// go, so that the thinking goes with it.
func thoughts(t *testing.T) []byte {
	t.Helper()
	use := func(id, file string) m {
		return m{"role": "assistant", "content": []any{
			m{"type": "thinking", "thinking": strings.Repeat("What is in "+file+"? ", 20), "signature": "c2lnbmVk"},
			m{"type": "tool_use", "id": id, "name": "Read", "input": m{"file_path": file}},
		}}
	}
	result := func(id string) m {
		return m{"role": "user", "content": []any{m{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat("a line of it\n", 300)}}}
	}
	data, err := json.Marshal(m{"model": "claude-opus-4-5", "max_tokens": 1000, "messages": []any{
		m{"role": "user", "content": "Find why the lamp flickers."},
		use("t1", "a.go"), result("t1"), use("t2", "b.go"), result("t2"), use("t3", "c.go"), result("t3"), use("t4", "d.go"), result("t4"),
		m{"role": "assistant", "content": "It is the wire."},
		m{"role": "user", "content": "Thanks."},
		m{"role": "assistant", "content": "Welcome."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDiscardOfThinkingMustBeConfirmed(t *testing.T) {
	e := newEngine(t, stores.New(t))
	session := load(t, e, scope, "thoughts.json", thoughts(t))
	c := connect(t, mcp.New(whole(e), &mcp.Options{Own: in(session)}), nil)
	args := m{"short_ids": messages(t, c).reads()[:1]}
	_, p := refused(t, c, "discard_messages", args)
	args["confirm"] = code(t, p)
	var got discarded
	done(t, c, "discard_messages", args, &got)
	if got.Thinking == 0 || 2*got.After < got.Before {
		t.Errorf("discarded %+v, want thinking with it and less than half of the window", got)
	}
}

// Where the client can ask the person, it does, whatever code the model has; and in
// both ways to ask that there are.
func TestDiscardAsksThePerson(t *testing.T) {
	for _, tt := range []struct {
		action string
		want   bool
	}{{"accept", true}, {"decline", false}, {"cancel", false}} {
		for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			t.Run(tt.action+" in "+version, func(t *testing.T) {
				var asked []string
				e := newEngine(t, stores.New(t))
				session := load(t, e, scope, "lamp.json", lampChat().bytes(t))
				c := speaking(t, mcp.New(whole(e), &mcp.Options{Own: in(session)}), version, &sdk.ClientOptions{
					ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						asked = append(asked, req.Params.Message)
						return &sdk.ElicitResult{Action: tt.action}, nil
					},
				})
				ids := messages(t, c).reads()
				done(t, c, "discard_messages", m{"short_ids": ids[:1]}, nil)
				if len(asked) != 0 {
					t.Fatalf("asked for little: %q", asked)
				}
				args := m{"short_ids": ids[1:4], "confirm": "00000000"}
				if tt.want {
					done(t, c, "discard_messages", args, nil)
				} else if _, p := refused(t, c, "discard_messages", args); !strings.Contains(p.Detail, "did not agree") || strings.Contains(p.Hint, "confirm") {
					t.Errorf("problem %+v", p)
				}
				if len(asked) != 1 || !strings.Contains(asked[0], "Take 3 messages out of the window") {
					t.Errorf("asked %q", asked)
				}
			})
		}
	}
}

// A client that cannot get the answer does not break the protocol.
func TestDiscardWithAPersonWhoIsAway(t *testing.T) {
	e := newEngine(t, stores.New(t))
	session := load(t, e, scope, "lamp.json", lampChat().bytes(t))
	// From 2026-07-28 on it is the client who asks, and fails, by itself.
	c := speaking(t, mcp.New(whole(e), &mcp.Options{Own: in(session)}), "2025-11-25", &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return nil, context.DeadlineExceeded
		},
	})
	if _, p := refused(t, c, "discard_messages", m{"short_ids": messages(t, c).reads()[:4]}); !strings.Contains(p.Detail, "did not answer") {
		t.Errorf("problem %+v", p)
	}
}
