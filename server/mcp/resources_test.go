package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/store"
)

func readResource(t *testing.T, c *sdk.ClientSession, uri string) *sdk.ResourceContents {
	t.Helper()
	res, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	if len(res.Contents) != 1 || res.Contents[0].URI != uri {
		t.Fatalf("%s: %+v", uri, res.Contents)
	}
	return res.Contents[0]
}

// wireProblem returns the problem in an error of the protocol.
func wireProblem(t *testing.T, err error) problem {
	t.Helper()
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		t.Fatalf("%v is no error of the protocol", err)
	}
	var p problem
	if err := json.Unmarshal(wire.Data, &p); err != nil {
		t.Fatalf("%s: %v", wire.Data, err)
	}
	return p
}

func TestResources(t *testing.T) {
	d := newDesk(t)
	l := messages(t, d.ClientSession)
	templates, err := d.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, x := range templates.ResourceTemplates {
		uris = append(uris, x.URITemplate)
	}
	if diff := cmp.Diff([]string{"carrel://item/{id}", "carrel://manifest/{id}", "carrel://session/{id}", "carrel://why/{id}"}, uris); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}

	var s listed
	for _, id := range []string{string(d.session), "%40last"} {
		if err := json.Unmarshal([]byte(readResource(t, d.ClientSession, "carrel://session/"+id).Text), &s); err != nil {
			t.Fatal(err)
		}
		if s.Total != l.Total || len(s.Messages) != l.Count {
			t.Errorf("session %s: %+v", id, s)
		}
	}

	id := l.reads()[0]
	want := done(t, d.ClientSession, "recall", m{"id": id}, nil).text[0]
	if c := readResource(t, d.ClientSession, "carrel://item/"+id); c.Text != want || c.MIMEType != "text/plain" {
		t.Errorf("item: %s %.60q", c.MIMEType, c.Text)
	}
	var why carrel.WhyResult
	if err := json.Unmarshal([]byte(readResource(t, d.ClientSession, "carrel://why/"+id).Text), &why); err != nil || !strings.HasPrefix(string(why.Block), id) || len(why.History) == 0 {
		t.Errorf("why: %+v, %v", why, err)
	}
	arts, err := carrel.Items(d.engine.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Content: []byte("\xff\x00")}}}))
	if err != nil {
		t.Fatal(err)
	}
	if c := readResource(t, d.ClientSession, "carrel://item/"+string(arts[0].ID)); !bytes.Equal(c.Blob, []byte("\xff\x00")) || c.MIMEType != "application/octet-stream" {
		t.Errorf("item that is no text: %+v", c)
	}

	a, err := d.engine.Assemble(t.Context(), scope, &carrel.AssembleRequest{Query: "wire", Budget: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := carrel.VerifyDocument([]byte(readResource(t, d.ClientSession, "carrel://manifest/"+a.Manifest).Text)); err != nil || res.Manifest != a.Manifest {
		t.Errorf("manifest: %+v, %v", res, err)
	}
}

func TestResourcesThatAreNotThere(t *testing.T) {
	d := newDesk(t)
	big, err := carrel.Items(d.engine.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Content: bytes.Repeat([]byte("lamp\n"), 1<<18)}}}))
	if err != nil {
		t.Fatal(err)
	}
	largest, err := carrel.Items(d.engine.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: "document", Content: bytes.Repeat([]byte("lamp"), 1<<18)}}}))
	if err != nil {
		t.Fatal(err)
	}
	if c := readResource(t, d.ClientSession, "carrel://item/"+string(largest[0].ID)); len(c.Text) != 1<<20 {
		t.Errorf("a resource as large as may be has %d bytes", len(c.Text))
	}
	for _, tt := range []struct{ uri, kind, hint string }{
		{"carrel://session/none", "not-found", "get_messages"},
		{"carrel://item/00ff00ff", "not-found", "search"},
		{"carrel://why/00ff00ff", "not-found", "search"},
		{"carrel://manifest/none", "not-found", ""},
		{"carrel://item/" + strings.Repeat("f", 200), "not-found", "search"},
		{"carrel://item/" + strings.Repeat("f", 201), "usage", ""},
		{"carrel://item/" + string(big[0].ID), "usage", "recall tool"},
	} {
		_, err := d.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: tt.uri})
		if p := wireProblem(t, err); p.Type != "carrel:problem/"+tt.kind || !strings.Contains(p.Hint, tt.hint) {
			t.Errorf("%.40s: %+v", tt.uri, p)
		}
	}
	for _, uri := range []string{"carrel://item/a/b", "carrel://other/x", "file:///etc/passwd", "carrel://item/", "carrel://item/\x01", "::", ""} {
		_, err := d.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if p := wireProblem(t, err); p.Type != "carrel:problem/usage" || !strings.Contains(p.Detail, "URI") {
			t.Errorf("%q: %+v", uri, p)
		}
	}
}

// The list of resources is the sessions, last updated first, in pages of fifty.
func TestSessionsAreResources(t *testing.T) {
	e := newEngine(t, stores.New(t))
	var want []string
	for i := range 120 {
		id := load(t, e, scope, "x.json", (&chat{}).say("user", fmt.Sprintf("Task %d.", i)).bytes(t))
		want = append([]string{"carrel://session/" + string(id)}, want...)
	}
	c := connect(t, mcp.New(whole(e), nil), nil)
	var got []string
	var sizes []int
	for cursor := ""; ; {
		res, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if res.CacheScope != "private" {
			t.Errorf("the list may be cached as %q", res.CacheScope)
		}
		for _, r := range res.Resources {
			got = append(got, r.URI)
		}
		sizes = append(sizes, len(res.Resources))
		if cursor = res.NextCursor; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || !cmp.Equal(sizes, []int{50, 50, 20}) {
		t.Errorf("sessions in pages of %v (-want +got):\n%s", sizes, diff)
	}
	for _, cursor := range []string{"none", "!", "bm9uZQ"} {
		_, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
		if p := wireProblem(t, err); p.Hint != "begin again without a cursor" {
			t.Errorf("cursor %q: %+v", cursor, p)
		}
	}
}

// A session with a colon in its id is listed under a URI that can be read.
func TestSessionsWithColons(t *testing.T) {
	e := newEngine(t, stores.New(t))
	if _, err := e.Append(t.Context(), scope, &carrel.AppendRequest{
		Session: "lamp:1", Messages: []json.RawMessage{json.RawMessage(`{"role":"user","content":"Fix it."}`)},
	}); err != nil {
		t.Fatal(err)
	}
	c := connect(t, mcp.New(whole(e), nil), nil)
	res, err := c.ListResources(t.Context(), nil)
	if err != nil || len(res.Resources) != 1 {
		t.Fatal(res, err)
	}
	if got := readResource(t, c, res.Resources[0].URI); !strings.Contains(got.Text, `"session":"lamp:1"`) {
		t.Errorf("read %s", got.Text)
	}
}

func prompt(t *testing.T, c *sdk.ClientSession, name string, args map[string]string) string {
	t.Helper()
	res, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text, ok := res.Messages[0].Content.(*sdk.TextContent)
	if len(res.Messages) != 1 || res.Messages[0].Role != "user" || !ok {
		t.Fatalf("messages %+v", res.Messages)
	}
	return text.Text
}

func TestPrompts(t *testing.T) {
	d := newDesk(t)
	if text := prompt(t, d.ClientSession, "compress", nil); !strings.Contains(text, "within its target of 10000: nothing has to go") {
		t.Errorf("a small window:\n%s", text)
	}
	id := load(t, d.engine, scope, "full.json", lampChat().use("Read", `{"file_path":"big"}`, strings.Repeat("x", 4*8000)).say("user", "Go on.").bytes(t))
	text := prompt(t, d.ClientSession, "compress", map[string]string{"session": string(id)})
	for _, want := range []string{"session " + string(id), "target of 10000", "floor of 1000", "get_messages", "discard_messages", "Leave alone", "recall"} {
		if !strings.Contains(text, want) {
			t.Errorf("the prompt does not say %q:\n%s", want, text)
		}
	}
	for _, managed := range []bool{false, true} {
		begun, err := d.engine.Begin(t.Context(), scope, &carrel.BeginRequest{Session: id, CallIntent: carrel.CallIntent{Dialect: "anthropic", Messages: 9, Bytes: 400, SentBytes: 90, Managed: managed}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.engine.End(t.Context(), scope, &carrel.EndRequest{Call: begun.Call, State: store.CallDone}); err != nil {
			t.Fatal(err)
		}
		text := prompt(t, d.ClientSession, "compress", map[string]string{"session": string(id)})
		if strings.Contains(text, "is not what your client sends") == managed || strings.Contains(text, "counts from the next epoch on") != managed {
			t.Errorf("managed %t: the prompt says\n%s", managed, text)
		}
	}
	text = prompt(t, d.ClientSession, "handoff", map[string]string{"for": "reviewer", "notes": "Mind the wire."})
	_, packet, _ := strings.Cut(text, "\n\n")
	p, err := handoff.Parse("packet.md", []byte(packet))
	if err != nil {
		t.Fatalf("%v:\n%s", err, packet)
	}
	if p.CreatedFor != "reviewer" || !strings.Contains(packet, "Mind the wire.") || !strings.HasPrefix(text, "Go on with the work") {
		t.Errorf("handoff:\n%s", text)
	}
	notes := strings.Repeat("x", 100_000)
	prompt(t, d.ClientSession, "handoff", map[string]string{"notes": notes})
	_, err = d.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "handoff", Arguments: map[string]string{"notes": notes + "x"}})
	if p := wireProblem(t, err); !strings.Contains(p.Detail, `argument "notes" is unknown or has more than 100000 bytes`) {
		t.Errorf("notes that are too long: %+v", p)
	}
	for _, args := range []map[string]string{{"session": "none"}, {"other": "x"}} {
		for _, name := range []string{"compress", "handoff"} {
			_, err := d.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
			if p := wireProblem(t, err); p.Type == "" {
				t.Errorf("%s %v: %+v", name, args, p)
			}
		}
	}
}

// A prompt that is a large job waits for its turn, as a tool does.
func TestLargePromptsTakeTurns(t *testing.T) {
	e := newEngine(t, stores.New(t))
	session := load(t, e, scope, "lamp.json", lampChat().bytes(t))
	turns := &auth.Turns{Most: 1, Wait: time.Millisecond}
	c := connect(t, mcp.New(whole(e), &mcp.Options{Own: in(session), Turns: turns}), nil)
	_, release, err := turns.Take(t.Context(), "agent")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "handoff"})
	if p, want := wireProblem(t, err), api.NewProblem(api.ErrTooMany); p.Type != want.Type {
		t.Errorf("a packet beside another large job: %+v, want %s", p, want.Type)
	}
	prompt(t, c, "compress", nil)
	release()
	prompt(t, c, "handoff", nil)
}

func TestCompletion(t *testing.T) {
	d := newDesk(t)
	a, err := d.engine.Assemble(t.Context(), scope, &carrel.AssembleRequest{Query: "wire", Budget: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		ref   sdk.CompleteReference
		arg   string
		value string
		want  []string
	}{
		{"a session of a resource", sdk.CompleteReference{Type: "ref/resource", URI: "carrel://session/{id}"}, "id", "oa", []string{string(d.session)}},
		{"a manifest of a resource", sdk.CompleteReference{Type: "ref/resource", URI: "carrel://manifest/{id}"}, "id", "", []string{a.Manifest}},
		{"a session of a prompt", sdk.CompleteReference{Type: "ref/prompt", Name: "handoff"}, "session", "", []string{string(d.session)}},
		{"no session begins so", sdk.CompleteReference{Type: "ref/prompt", Name: "handoff"}, "session", "zz", []string{}},
		{"another argument of a session", sdk.CompleteReference{Type: "ref/resource", URI: "carrel://session/{id}"}, "other", "", []string{}},
		{"another argument of a manifest", sdk.CompleteReference{Type: "ref/resource", URI: "carrel://manifest/{id}"}, "other", "", []string{}},
		{"a session of another resource", sdk.CompleteReference{Type: "ref/resource", URI: "carrel://item/{id}"}, "session", "", []string{}},
		{"an argument without values", sdk.CompleteReference{Type: "ref/prompt", Name: "handoff"}, "notes", "", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := d.Complete(t.Context(), &sdk.CompleteParams{Ref: &tt.ref, Argument: sdk.CompleteParamsArgument{Name: tt.arg, Value: tt.value}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, res.Completion.Values); diff != "" || res.Completion.Total != len(tt.want) {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}
