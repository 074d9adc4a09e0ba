package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/transcript"
)

// ownArgs are the tools that are about the client's own session if none is named, or if
// this is what is named, with arguments that they take.
func ownArgs(block string) map[string]m {
	return map[string]m{
		"status": {}, "get_messages": {}, "compress": {"target": 3000}, "discard_messages": {"short_ids": []string{block}},
		"search": {"query": "wire", "session": "@this"}, "assemble": {"budget": 4000, "session": "@this"},
		"recall": {"id": block, "session": "@this"}, "pin": {"ids": []string{block}, "session": "@this"},
	}
}

// Where the session of a client cannot be known, nothing is done: the session that was
// updated last may be that of somebody else. The sessions there are are listed, so that
// one can be named, and each is named well enough.
func TestNothingIsDoneToASessionThatNobodyNamed(t *testing.T) {
	e := newEngine(t, stores.New(t))
	first := load(t, e, scope, "lamp.json", lampChat().bytes(t))
	last := load(t, e, scope, "chair.json", (&chat{}).say("user", "Mend the chair.").use("Read", "{}", strings.Repeat("leg\n", 500)).bytes(t))
	c := connect(t, mcp.New(whole(e), nil), nil)
	block := messagesOf(t, c, last)
	before := map[transcript.SessionID]int{}
	for _, id := range []transcript.SessionID{first, last} {
		entries, err := carrel.Items(e.Journal(t.Context(), scope, &carrel.JournalRequest{Session: id}))
		if err != nil {
			t.Fatal(err)
		}
		before[id] = len(entries)
	}
	for tool, args := range ownArgs(block) {
		r, p := refused(t, c, tool, args)
		if p.Type != "carrel:problem/usage" {
			t.Errorf("%s: problem %q", tool, p.Type)
		}
		at := -1
		for _, id := range []transcript.SessionID{last, first} {
			i := strings.Index(p.Hint, string(id)[:8])
			if i <= at {
				t.Errorf("%s: session %s is not listed, or not in order: %s", tool, id, r.text)
			}
			at = i
		}
		if strings.Contains(p.Hint, " more") {
			t.Errorf("%s: all sessions are listed, and yet: %s", tool, p.Hint)
		}
		for _, want := range []string{`"Mend the chair."`, `"Find why the lamp flickers and fix it."`, "2026-01-02", "argument session"} {
			if !strings.Contains(p.Hint, want) {
				t.Errorf("%s: the hint lacks %s: %s", tool, want, p.Hint)
			}
		}
	}
	for id, n := range before {
		if entries, err := carrel.Items(e.Journal(t.Context(), scope, &carrel.JournalRequest{Session: id})); err != nil || len(entries) != n {
			t.Errorf("session %s was written to: %d entries, then %d, %v", id, n, len(entries), err)
		}
	}
	var l listed
	if done(t, c, "get_messages", m{"session": string(first)[:8]}, &l); l.Session != string(first) {
		t.Errorf("what was listed names %s", l.Session)
	}
	if _, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "compress"}); err == nil || !strings.Contains(err.Error(), string(first)[:8]) {
		t.Errorf("the prompt: %v", err)
	}
}

// Ids that begin alike are listed as they are, and no more than ten sessions are.
func TestCandidatesAreNamedWhole(t *testing.T) {
	e := newEngine(t, stores.New(t))
	for i := range 12 {
		text := fmt.Sprintf(`{"type":"user","uuid":"u%d","sessionId":"0b8a6f0e-%02d","cwd":"/srv/lamp","message":{"role":"user","content":"Lamp %d."}}`, i, i, i)
		load(t, e, scope, "x.jsonl", []byte(text+"\n"))
		if more := i - 9; more == 0 || more == 1 {
			_, p := refused(t, connect(t, mcp.New(whole(e), nil), nil), "status", nil)
			if strings.Contains(p.Hint, " more") != (more == 1) || more == 1 && !strings.HasSuffix(p.Hint, "and 1 more") {
				t.Errorf("%d sessions: %s", i+1, p.Hint)
			}
		}
	}
	_, p := refused(t, connect(t, mcp.New(whole(e), nil), nil), "status", nil)
	for i := range 12 {
		if got := strings.Contains(p.Hint, fmt.Sprintf("0b8a6f0e-%02d  last used", i)); got != (i >= 2) {
			t.Errorf("session %d is listed: %t\n%s", i, got, p.Hint)
		}
	}
	if !strings.Contains(p.Hint, "/srv/lamp") || !strings.HasSuffix(p.Hint, "and 2 more") {
		t.Error(p.Hint)
	}
}

// The session of a client is asked for at each call, with the id of the call.
func TestToolsAreAboutTheSessionOfTheClient(t *testing.T) {
	e := newEngine(t, stores.New(t))
	sessions := []transcript.SessionID{
		load(t, e, scope, "lamp.json", lampChat().bytes(t)),
		load(t, e, scope, "last.json", (&chat{}).say("user", "Mend the chair.").bytes(t)),
	}
	own := sessions[0]
	var asked string
	c := connect(t, mcp.New(whole(e), &mcp.Options{Own: func(_ context.Context, meta map[string]any) (transcript.SessionID, error) {
		asked, _ = meta["claudecode/toolUseId"].(string)
		return own, nil
	}}), nil)
	for range 2 {
		for _, own = range sessions {
			for tool, args := range ownArgs(messagesOf(t, c, own)) {
				res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args, Meta: sdk.Meta{"claudecode/toolUseId": "toolu_" + tool}})
				if err != nil {
					t.Fatal(err)
				}
				if other := sessions[0]; own != other && strings.Contains(answerOf(res, nil), string(other)) {
					t.Errorf("%s: answers of session %s", tool, other)
				}
				if r := resultOf(t, res); strings.Contains(fmt.Sprint(r.text), "session is yours") {
					t.Errorf("%s: %s", tool, r.text)
				}
				if asked != "toolu_"+tool {
					t.Errorf("%s: asked for call %q", tool, asked)
				}
			}
			var l listed
			if done(t, c, "status", nil, &l); l.Session != string(own) {
				t.Errorf("status is of %s, want %s", l.Session, own)
			}
		}
	}
}

// messagesOf returns the short id of the first block of a session.
func messagesOf(t *testing.T, c *sdk.ClientSession, session transcript.SessionID) string {
	t.Helper()
	var l listed
	done(t, c, "get_messages", m{"session": session}, &l)
	return l.Messages[0].ShortID
}

// A session of which nothing is stored yet is not another one, whatever begins alike.
func TestOwnSessionThatIsNotStoredYet(t *testing.T) {
	e := newEngine(t, stores.New(t))
	id := load(t, e, scope, "lamp.json", lampChat().bytes(t))
	for _, own := range []transcript.SessionID{"0b8a6f0e", id[:8]} {
		_, p := refused(t, connect(t, mcp.New(whole(e), &mcp.Options{Own: in(own)}), nil), "status", nil)
		if p.Type != "carrel:problem/not-found" || !strings.Contains(p.Detail, "your session "+string(own)) {
			t.Errorf("%s: %+v", own, p)
		}
	}
}
