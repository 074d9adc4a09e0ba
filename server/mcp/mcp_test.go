package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

const scope governance.Scope = "acme/lamp"

// now is the time of all tests.
func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// ticking returns a clock that is a second later at every look, so that what was
// written last is the last.
func ticking() func() time.Time {
	var n atomic.Int64
	return func() time.Time { return now().Add(time.Duration(n.Add(1)) * time.Second) }
}

// quarter counts a token for four bytes, rounded up: easy to check.
type quarter struct{}

func (quarter) Count(text string) token.Count { return token.Count(len(text)+3) / 4 }
func (quarter) Encoding() string              { return "quarter" }

func newEngine(t testing.TB, s store.Store) *carrel.Engine {
	t.Helper()
	e, err := carrel.New(s, &carrel.Options{
		Counter: quarter{}, Now: ticking(), Actor: "agent", Window: 20_000, Trigger: pager.Trigger{Floor: 1000}, KeepLast: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A chat is a conversation in the format of Chat Completions, in the making.
type chat struct {
	msgs  []map[string]any
	calls int
}

func (c *chat) say(role, text string) *chat {
	c.msgs = append(c.msgs, map[string]any{"role": role, "content": text})
	return c
}

// use adds a call of a tool with its result.
func (c *chat) use(name, args, result string) *chat {
	id := fmt.Sprintf("call_%d", c.calls)
	c.calls++
	c.msgs = append(c.msgs,
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": args},
		}}},
		map[string]any{"role": "tool", "tool_call_id": id, "content": result},
	)
	return c
}

func (c *chat) bytes(t testing.TB) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"model": "gpt-4o", "messages": c.msgs})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// lampChat is a conversation about a lamp: a system text, a task, six files that are
// read, an edit, and what came of it.
func lampChat() *chat {
	c := (&chat{}).say("system", "You fix lamps.").say("user", "Find why the lamp flickers and fix it.")
	for i := range 6 {
		c.use("Read", fmt.Sprintf(`{"file_path":"lamp/part%d.go"}`, i), strings.Repeat(fmt.Sprintf("part %d wire%d\n", i, i), 200+10*i))
	}
	return c.use("Edit", `{"file_path":"lamp/part3.go"}`, "updated").
		say("assistant", "The wire was loose.").
		say("user", "Write a note about it.").
		say("assistant", "The note is written.").
		say("assistant", "It is filed, too.")
}

func load(t testing.TB, e *carrel.Engine, scope governance.Scope, name string, data []byte) transcript.SessionID {
	t.Helper()
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: name, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return in.Session
}

// whole gives everybody everything in one scope.
func whole(e *carrel.Engine) mcp.Access { return granted(e, governance.Whole("agent")) }

// in is for a client that is known to be in a session.
func in(session transcript.SessionID) mcp.Own {
	return func(context.Context, map[string]any) (transcript.SessionID, error) { return session, nil }
}

func granted(e *carrel.Engine, grant *governance.Grant) mcp.Access {
	return func(context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
		return e, scope, grant, nil
	}
}

// A desk is a server with a client that is connected to it, and what they work on.
type desk struct {
	*sdk.ClientSession

	engine  *carrel.Engine
	session transcript.SessionID
}

// newDesk returns a desk with the conversation about the lamp.
func newDesk(t *testing.T) *desk {
	t.Helper()
	e := newEngine(t, stores.New(t))
	d := &desk{engine: e, session: load(t, e, scope, "lamp.json", lampChat().bytes(t))}
	d.ClientSession = connect(t, mcp.New(whole(e), &mcp.Options{Now: now, Own: in(d.session)}), nil)
	return d
}

// connect returns a client of a server in memory.
func connect(t *testing.T, s *mcp.Server, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	return speaking(t, s, "", opts)
}

// speaking returns a client that speaks a version of the protocol.
func speaking(t *testing.T, s *mcp.Server, version string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	if err := s.Connect(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts)
	session, err := client.Connect(t.Context(), ours, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.InitializeResult().ProtocolVersion; version != "" && got != version {
		t.Fatalf("the protocol is %s, want %s", got, version)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// A result is what a tool answered.
type result struct {
	text    []string
	isError bool
	json    json.RawMessage
}

// call calls a tool. An error of the protocol ends the test.
func call(t testing.TB, c *sdk.ClientSession, tool string, args any) *result {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: error of the protocol: %v", tool, args, err)
	}
	return resultOf(t, res)
}

func resultOf(t testing.TB, res *sdk.CallToolResult) *result {
	t.Helper()
	r := &result{isError: res.IsError}
	for _, c := range res.Content {
		text, ok := c.(*sdk.TextContent)
		if !ok {
			t.Fatalf("content is a %T, not text", c)
		}
		r.text = append(r.text, text.Text)
	}
	var err error
	if r.json, err = json.Marshal(res.StructuredContent); err != nil {
		t.Fatal(err)
	}
	return r
}

// done calls a tool that must do what it is asked, and reads its structured content.
func done(t testing.TB, c *sdk.ClientSession, tool string, args, into any) *result {
	t.Helper()
	r := call(t, c, tool, args)
	if r.isError {
		t.Fatalf("%s %v: %s", tool, args, r.text)
	}
	if into != nil {
		if err := json.Unmarshal(r.json, into); err != nil {
			t.Fatalf("%s: structured content: %v", tool, err)
		}
	}
	return r
}

// refused calls a tool that must not do what it is asked, and returns its problem.
func refused(t testing.TB, c *sdk.ClientSession, tool string, args any) (*result, problem) {
	t.Helper()
	r := call(t, c, tool, args)
	if !r.isError {
		t.Fatalf("%s %v: did it: %s", tool, args, r.text)
	}
	var p problem
	if err := json.Unmarshal(r.json, &p); err != nil {
		t.Fatalf("%s: structured content: %v", tool, err)
	}
	return r, p
}

type problem struct {
	Type    string
	Detail  string
	Hint    string
	Refused []struct{ Block, Reason string }
}

type m = map[string]any

type listed struct {
	Session  string
	Total    int `json:"total_est_tokens"`
	Target   int `json:"target_tokens"`
	Floor    int `json:"floor_tokens"`
	Count    int
	Next     string
	Messages []struct {
		ShortID     string `json:"short_id"`
		Kind        string
		State       string
		Tokens      int `json:"est_tokens"`
		Window      int
		Discardable bool
		Class       string
		Kept        string
		Pinned      bool
		Preview     string
	}
}

// reads returns the short ids of the files that were read.
func (l *listed) reads() []string {
	var ids []string
	for _, b := range l.Messages {
		if b.Class == "read" {
			ids = append(ids, b.ShortID)
		}
	}
	return ids
}

func messages(t testing.TB, c *sdk.ClientSession) *listed {
	t.Helper()
	l := new(listed)
	done(t, c, "get_messages", nil, l)
	return l
}
