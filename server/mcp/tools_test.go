package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/tools/txtar"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/mcp"
)

var update = flag.Bool("update", false, "write the golden files")

func listTools(t *testing.T, c *sdk.ClientSession) []*sdk.Tool {
	t.Helper()
	res, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.Tools
}

// What a model is told of the tools changes only on purpose.
func TestToolsAreAsWritten(t *testing.T) {
	a := &txtar.Archive{Comment: []byte("The tools as a model sees them, in their order: a change here changes every prompt.\n")}
	for _, tool := range listTools(t, newDesk(t).ClientSession) {
		data, err := json.MarshalIndent(m{
			"title": tool.Title, "description": tool.Description, "annotations": tool.Annotations, "inputSchema": tool.InputSchema,
		}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		a.Files = append(a.Files, txtar.File{Name: tool.Name, Data: append(data, '\n')})
	}
	const file = "testdata/tools.txtar"
	if *update {
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(a))); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestToolListIsFixed(t *testing.T) {
	all := []string{"get_messages", "discard_messages", "status", "compress", "recall", "search", "assemble", "pin"}
	reading := []string{"get_messages", "status", "recall", "search"}
	for _, tt := range []struct {
		name     string
		readOnly bool
		want     []string
	}{{"all", false, all}, {"read-only", true, reading}} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(t, stores.New(t))
			c := connect(t, mcp.New(whole(e), &mcp.Options{ReadOnly: tt.readOnly}), nil)
			names := func() (list []string) {
				for _, tool := range listTools(t, c) {
					list = append(list, tool.Name)
					if tool.Annotations.ReadOnlyHint != slices.Contains(reading, tool.Name) {
						t.Errorf("%s: readOnlyHint %t", tool.Name, tool.Annotations.ReadOnlyHint)
					}
				}
				return list
			}
			before := names()
			load(t, e, scope, "lamp.json", lampChat().bytes(t))
			call(t, c, "status", nil)
			if diff := cmp.Diff(tt.want, before); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, names()); diff != "" {
				t.Errorf("tools, then later (-then +later):\n%s", diff)
			}
			_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "pin", Arguments: m{"ids": []string{"ff"}}})
			if (err != nil) != tt.readOnly {
				t.Errorf("pin: %v", err)
			}
		})
	}
	var table []string
	for _, tool := range mcp.Tools() {
		table = append(table, tool.Name)
	}
	if diff := cmp.Diff(all, table); diff != "" {
		t.Errorf("Tools (-want +got):\n%s", diff)
	}
}

func TestInstructionsAreShortAndTellHowToRecall(t *testing.T) {
	d := newDesk(t)
	text := d.InitializeResult().Instructions
	if text != mcp.Instructions || len(text) >= 1500 {
		t.Errorf("%d characters of instructions, the client got\n%s", len(mcp.Instructions), text)
	}
	for _, want := range []string{"recall by id]", "first parameter is id", "stashed", "sum_", "floor_tokens", "not instructions"} {
		if !strings.Contains(text, want) {
			t.Errorf("the instructions do not say %q", want)
		}
	}
}

// Whatever a tool answers, success or problem, its schema describes.
func TestAnswersFitTheirSchemas(t *testing.T) {
	d := newDesk(t)
	if _, err := d.engine.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte("wire3 is loose"), Title: "probe"}); err != nil {
		t.Fatal(err)
	}
	first := messages(t, d.ClientSession).reads()[0]
	calls := map[string][]m{
		"get_messages":     {{}, {"limit": 2}, {"session": "none"}},
		"discard_messages": {{"short_ids": []string{first}}, {"short_ids": []string{first}}, {}},
		"status":           {{}, {"session": "none"}, {"extra": true}},
		"compress":         {{"dry_run": true}, {"target": 3000}, {"target": 1}, {"strategy": "anchored"}, {"strategy": "none"}},
		"recall":           {{"id": first}, {"id": first, "from": 3, "to": 9}, {"id": "none"}, {}},
		"search":           {{"query": "wire3"}, {"query": "nothing of this"}, {"query": ""}},
		"assemble":         {{"query": "wire3", "budget": 2000}, {"budget": 1, "system": "You are one who needs more than that."}, {"budget": 0}},
		"pin":              {{"ids": []string{first}}, {"ids": []string{first}, "unpin": true}, {"ids": []string{}}},
	}
	for _, tool := range listTools(t, d.ClientSession) {
		var schema *jsonschema.Schema
		data, err := json.Marshal(tool.OutputSchema)
		if err == nil {
			err = json.Unmarshal(data, &schema)
		}
		if err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		outcomes := make(map[bool]int)
		for _, args := range calls[tool.Name] {
			r := call(t, d.ClientSession, tool.Name, args)
			outcomes[r.isError]++
			var value any
			if err := json.Unmarshal(r.json, &value); err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(value); err != nil {
				t.Errorf("%s %v: %v\n%s", tool.Name, args, err, r.json)
			}
			if len(r.text) == 0 || r.text[0] == "" {
				t.Errorf("%s %v: no text", tool.Name, args)
			}
		}
		if outcomes[true] == 0 || outcomes[false] == 0 {
			t.Errorf("%s: %d problems and %d results: both are to be seen", tool.Name, outcomes[true], outcomes[false])
		}
	}
}

func TestMessagesSayWhatMayGo(t *testing.T) {
	d := newDesk(t)
	l := messages(t, d.ClientSession)
	want, err := d.engine.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: d.session})
	if err != nil {
		t.Fatal(err)
	}
	if l.Session != string(d.session) || l.Total != int(want.Total) || l.Target != int(want.Target) || l.Floor != 1000 || l.Count != len(want.Messages) {
		t.Errorf("figures: %+v", l)
	}
	for i, b := range l.Messages {
		if w := want.Messages[i]; b.ShortID != w.ShortID || b.Preview != w.Preview || b.Tokens != int(w.Tokens) || b.Discardable != w.Discardable || b.Kept != w.Kept {
			t.Errorf("message %d: %+v, want %+v", i, b, w)
		}
	}
	if n := len(l.reads()); n != 6 {
		t.Errorf("%d files that were read may go, want 6", n)
	}
	if b := l.Messages[1]; b.Discardable || b.Kept != "is the first task" {
		t.Errorf("the task: %+v", b)
	}
}

func TestMessagesComeInPages(t *testing.T) {
	d := newDesk(t)
	whole, args := messages(t, d.ClientSession), m{"limit": 5}
	var ids []string
	for pages := 0; ; pages++ {
		if pages > 5 {
			t.Fatal("there is no end of pages")
		}
		var l listed
		done(t, d.ClientSession, "get_messages", args, &l)
		for _, b := range l.Messages {
			ids = append(ids, b.ShortID)
		}
		if l.Next == "" {
			break
		}
		args["after"] = l.Next
	}
	var want []string
	for _, b := range whole.Messages {
		want = append(want, b.ShortID)
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("ids (-whole +pages):\n%s", diff)
	}
	if _, p := refused(t, d.ClientSession, "get_messages", m{"after": "none"}); p.Type != "carrel:problem/not-found" {
		t.Errorf("problem %+v", p)
	}
}

func TestStatusSaysWhenACompressionIsDue(t *testing.T) {
	var s struct {
		Level, Action  string
		Used, Capacity int
		Due            bool
		Cold           struct{ Blocks int }
	}
	d := newDesk(t)
	done(t, d.ClientSession, "status", nil, &s)
	if s.Level != "ok" || s.Due || s.Action != "none" || s.Capacity != 20_000 || s.Used == 0 || s.Cold.Blocks != 0 {
		t.Errorf("a window that is hardly used: %+v", s)
	}
	// 16,000 of the 20,000 tokens are of use, and three quarters of those are in use.
	full := lampChat().use("Read", `{"file_path":"big"}`, strings.Repeat("x", 4*8000)).say("user", "Go on.")
	session := load(t, d.engine, scope, "full.json", full.bytes(t))
	r := done(t, d.ClientSession, "status", m{"session": session}, &s)
	if s.Level != "compress" || !s.Due || s.Action != "compress" || !strings.Contains(r.text[0], "discard_messages or compress") {
		t.Errorf("a window that is full: %+v\n%s", s, r.text)
	}
}

func TestCompressMakesStubsThatCanBeRecalled(t *testing.T) {
	d := newDesk(t)
	var c struct {
		Op                            string
		Before, After, Changed, Stubs int
	}
	before := messages(t, d.ClientSession)
	done(t, d.ClientSession, "compress", m{"target": 3000, "dry_run": true}, &c)
	if c.Op != "" || c.After > 3000 || messages(t, d.ClientSession).Total != before.Total {
		t.Errorf("a dry run: %+v", c)
	}
	done(t, d.ClientSession, "compress", m{"target": 3000}, &c)
	after := messages(t, d.ClientSession)
	if c.Op == "" || c.After > 3000 || c.After != after.Total || c.Stubs == 0 {
		t.Errorf("compressed: %+v, the window has %d tokens", c, after.Total)
	}
	for _, b := range after.Messages {
		if b.State == "stub" {
			if r := done(t, d.ClientSession, "recall", m{"id": b.ShortID}, nil); !strings.Contains(r.text[0], "wire") && !strings.Contains(r.text[0], "lamp/") && !strings.Contains(r.text[0], "The note is written.") {
				t.Errorf("recalled %s", r.text)
			}
		}
	}
	done(t, d.ClientSession, "compress", m{"target": 3000}, &c)
	if c.Changed != 0 || c.Before != c.After {
		t.Errorf("again: %+v", c)
	}
	r, p := refused(t, d.ClientSession, "compress", m{"target": 10})
	if p.Type != "carrel:problem/budget-floor" || !strings.Contains(r.text[0], "next: ask for ") {
		t.Errorf("below the floor: %+v\n%s", p, r.text)
	}
}

func TestPinHoldsAndUnpinLets(t *testing.T) {
	d := newDesk(t)
	id := messages(t, d.ClientSession).reads()[0]
	pinned := func() bool {
		for _, b := range messages(t, d.ClientSession).Messages {
			if b.ShortID == id {
				return b.Pinned && !b.Discardable
			}
		}
		return false
	}
	var p struct{ IDs, Changed []string }
	done(t, d.ClientSession, "pin", m{"ids": []string{id}, "session": "@last"}, &p)
	if !pinned() || !slices.Equal(p.Changed, []string{id}) {
		t.Errorf("pinned %+v", p)
	}
	done(t, d.ClientSession, "pin", m{"ids": []string{id}}, &p)
	if !pinned() || len(p.Changed) != 0 || !slices.Equal(p.IDs, []string{id}) {
		t.Errorf("pinned again %+v", p)
	}
	if _, problem := refused(t, d.ClientSession, "discard_messages", m{"short_ids": []string{id}}); problem.Refused[0].Reason != "is pinned" {
		t.Errorf("discard: %+v", problem)
	}
	done(t, d.ClientSession, "pin", m{"ids": []string{id}, "unpin": true}, &p)
	if pinned() || len(p.Changed) != 1 {
		t.Errorf("unpinned %+v", p)
	}
	load(t, d.engine, scope, "other.json", (&chat{}).say("user", "Another thing.").bytes(t))
	if _, problem := refused(t, d.ClientSession, "pin", m{"ids": []string{id}, "session": "@last"}); problem.Type != "carrel:problem/not-found" || pinned() {
		t.Errorf("pin in another session: %+v", problem)
	}
	refused(t, d.ClientSession, "pin", m{"ids": []string{"00ff00ff"}})
}

func TestPinKeepsAnArtifactInEveryContext(t *testing.T) {
	d := newDesk(t)
	arts, err := carrel.Items(d.engine.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Title: "manual", Content: []byte("Turn the screw.")}}}))
	if err != nil {
		t.Fatal(err)
	}
	id := string(arts[0].ID)
	for _, step := range []struct {
		unpin, changed bool
	}{{true, false}, {false, true}, {false, false}, {true, true}, {false, true}} {
		var p struct {
			Pinned       bool
			IDs, Changed []string
		}
		done(t, d.ClientSession, "pin", m{"ids": []string{id}, "unpin": step.unpin}, &p)
		if p.Pinned == step.unpin || !slices.Equal(p.IDs, []string{id}) || slices.Equal(p.Changed, []string{id}) != step.changed || len(p.Changed) > 1 {
			t.Errorf("unpin %t: %+v, want it changed: %t", step.unpin, p, step.changed)
		}
	}
	if _, p := refused(t, d.ClientSession, "pin", m{"ids": []string{id, id}, "unpin": true}); p.Type != "carrel:problem/not-found" {
		t.Errorf("two artifacts are no blocks: %+v", p)
	}
	var a struct {
		Used []struct{ ID string }
		Left map[string]int
	}
	r := done(t, d.ClientSession, "assemble", m{"query": "moon", "budget": 500}, &a)
	if len(a.Used) != 1 || a.Used[0].ID != string(arts[0].ID) || !strings.Contains(r.text[0], "Turn the screw.") {
		t.Errorf("assembled %+v:\n%s", a, r.text)
	}
}

func TestSearchFindsWhatIsOutOfTheWindow(t *testing.T) {
	d := newDesk(t)
	id := messages(t, d.ClientSession).reads()[2]
	done(t, d.ClientSession, "discard_messages", m{"short_ids": []string{id}}, nil)
	var s struct {
		Found []struct{ ID, State, Session, Excerpt string }
	}
	r := done(t, d.ClientSession, "search", m{"query": "wire2"}, &s)
	lines := strings.Split(r.text[0], "\n")
	if len(s.Found) == 0 || len(lines) != len(s.Found) || s.Found[0].ID != id || s.Found[0].State != "cold" || s.Found[0].Session != string(d.session) {
		t.Errorf("found %+v, want %s", s.Found, id)
	}
	for i, line := range lines {
		if strings.Contains(line, "(beside a match)") != (i > 0) {
			t.Errorf("line %d is %q", i+1, line)
		}
	}
	for want, args := range map[string]m{
		"no block has any of these words":                              {"query": "zebra"},
		"no block of kind user of this session has any of these words": {"query": "zebra", "session": "@last", "kind": "user"},
		"the query has no word to search for":                          {"query": "--?"},
	} {
		r = done(t, d.ClientSession, "search", args, &s)
		if len(s.Found) != 0 || !strings.HasPrefix(r.text[0], want) {
			t.Errorf("%v: found %+v, %q, want %q", args, s.Found, r.text, want)
		}
	}
}

func TestAssembleHandsTheContextOutAndAccountsForIt(t *testing.T) {
	d := newDesk(t)
	var a struct {
		Manifest, Context string
		Tokens            int `json:"token_count"`
		Budget            int
	}
	r := done(t, d.ClientSession, "assemble", m{"query": "Which wire?", "budget": 6000, "session": "@last", "format": "openai"}, &a)
	replay, err := d.engine.Replay(t.Context(), scope, &carrel.IDRequest{ID: a.Manifest})
	if err != nil || string(replay.Data) != r.text[0] || a.Context != r.text[0] || a.Tokens > 6000 {
		t.Errorf("replay %v, %d tokens:\n%s", err, a.Tokens, r.text)
	}
	if !bytes.Contains(replay.Data, []byte("part5.go")) || !strings.Contains(r.text[1], a.Manifest) {
		t.Errorf("the window is not in it, or the account is not named:\n%s", r.text)
	}
}
