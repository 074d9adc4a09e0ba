package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// An engine keeps what hooks bring in, and fails where it is told to.
type engine struct {
	imports   []string // sizes of what was imported
	sessions  []carrel.SessionInfo
	briefs    []string // sessions of briefs, with the size
	says      map[transcript.SessionID]string
	stash     [][]byte
	titles    []string
	histories []int            // sizes of what stash was told of the conversation
	fail      map[string]error // by job: open, import, stash, brief, close; or "brief of" a session
	alter     func(*carrel.StashResult)
	panics    string // the job that panics
	hangs     string // the job that takes forever
	opened    int
	closed    int
}

func (e *engine) do(ctx context.Context, job string) error {
	if e.panics == job {
		panic("no such luck")
	}
	if e.hangs == job {
		<-ctx.Done()
		return ctx.Err()
	}
	return e.fail[job]
}

func (e *engine) open(ctx context.Context) (hook.Engine, func() error, error) {
	e.opened++
	if err := e.do(ctx, "open"); err != nil {
		return nil, nil, err
	}
	return e, func() error { e.closed++; return e.do(context.Background(), "close") }, nil
}

func (e *engine) Follow(ctx context.Context, _ governance.Scope, req *carrel.FollowRequest) (*carrel.ImportResult, error) {
	if err := e.do(ctx, "import"); err != nil {
		return nil, err
	}
	e.imports = append(e.imports, fmt.Sprintf("%s %s %d", req.Format, req.Name, req.Size))
	return &carrel.ImportResult{Session: "s1"}, nil
}

func (e *engine) Sessions(ctx context.Context, _ governance.Scope, req *carrel.SessionsRequest) (*carrel.List[carrel.SessionInfo], error) {
	if err := e.do(ctx, "sessions"); err != nil {
		return nil, err
	}
	return &carrel.List[carrel.SessionInfo]{Items: e.sessions[:min(len(e.sessions), req.Limit)]}, nil
}

func (e *engine) Stash(ctx context.Context, _ governance.Scope, req *carrel.StashRequest) (*carrel.StashResult, error) {
	if err := e.do(ctx, "stash"); err != nil {
		return nil, err
	}
	id := -1
	for i, old := range e.stash {
		if bytes.Equal(old, req.Content) {
			id = i
		}
	}
	if id < 0 {
		id = len(e.stash)
		e.stash, e.titles = append(e.stash, req.Content), append(e.titles, req.Title)
	}
	history := 0
	for _, part := range req.History {
		history += len(part)
	}
	e.histories = append(e.histories, history)
	pointer := fmt.Sprintf("pointer %d by %s", id, req.Tool)
	if req.FirstLine > 0 {
		pointer += fmt.Sprintf(" from line %d", req.FirstLine)
	}
	res := &carrel.StashResult{
		Artifact: carrel.Artifact{ID: store.ArtifactID(fmt.Sprintf("id%d", id)), Bytes: int64(len(req.Content))},
		Pointer:  pointer,
	}
	if e.alter != nil {
		e.alter(res)
	}
	return res, nil
}

func (e *engine) Brief(ctx context.Context, _ governance.Scope, req *carrel.BriefRequest) (*carrel.BriefResult, error) {
	if err := e.do(ctx, "brief"); err != nil {
		return nil, err
	}
	e.briefs = append(e.briefs, fmt.Sprintf("%s %d", req.Session, req.Tokens))
	if err := e.fail["brief of "+string(req.Session)]; err != nil {
		return nil, err
	}
	if e.says[req.Session] == "nothing" {
		return &carrel.BriefResult{Session: req.Session, Text: "no entries\n", Tokens: 100}, nil
	}
	text := "brief of " + string(req.Session) + " for a " + string(req.For) + "\n" + e.says[req.Session]
	return &carrel.BriefResult{Session: req.Session, Text: text, Tokens: 100, Entries: 1}, nil
}

// A client has a transcript and what the client keeps beside it.
type client struct {
	transcript string
	results    string // folder of large results
}

func newClient(t testing.TB) *client {
	t.Helper()
	c := &client{transcript: filepath.Join(t.TempDir(), "1111.jsonl")}
	c.results = filepath.Join(strings.TrimSuffix(c.transcript, ".jsonl"), "tool-results")
	if err := os.MkdirAll(c.results, 0o700); err != nil {
		t.Fatal(err)
	}
	c.write(t, c.transcript, "{\"type\":\"user\"}\n")
	return c
}

func (c *client) write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// input returns the input of an event with further members.
func (c *client) input(t testing.TB, event string, members map[string]any) string {
	t.Helper()
	all := map[string]any{"session_id": "1111", "transcript_path": c.transcript, "cwd": "/srv", "hook_event_name": event}
	maps.Copy(all, members)
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// run returns what a hook of Claude Code prints.
func run(t testing.TB, e *engine, event, input string, o hook.Options) (string, error) {
	t.Helper()
	o.Open = e.open
	var out bytes.Buffer
	err := hook.Run(t.Context(), hook.Claude, event, strings.NewReader(input), &out, &o)
	if e.opened != e.closed && e.fail["open"] == nil && e.panics == "" && e.hangs == "" {
		t.Errorf("opened %d times, closed %d times", e.opened, e.closed)
	}
	return out.String(), err
}
