package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/mcp"
)

// An output takes what a server writes, from several goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

// An answer is a line of a server.
type answer struct {
	Version string `json:"jsonrpc"`
	ID      any
	Method  string
	Result  json.RawMessage
	Error   *struct {
		Code    int
		Message string
	}
}

// say returns what a server answers to some lines, of which the last ends the input.
func say(t testing.TB, s *mcp.Server, in string) []answer {
	t.Helper()
	var out output
	if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatalf("serving ended with %v", err)
	}
	var answers []answer
	for line := range strings.Lines(out.b.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Version != "2.0" || !strings.HasSuffix(line, "\n") {
			t.Fatalf("the line %q is no message: %v", line, err)
		}
		answers = append(answers, a)
	}
	return answers
}

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// deskServer is a server with the conversation about the lamp.
func deskServer(t testing.TB) *mcp.Server {
	t.Helper()
	e := newEngine(t, stores.New(t))
	session := load(t, e, scope, "lamp.json", lampChat().bytes(t))
	return mcp.New(whole(e), &mcp.Options{Version: "1.2.3", Own: in(session)})
}

// What came before the end of the input is answered, and so is each line that makes no
// sense; those after it are heard.
func TestLinesThatMakeNoSense(t *testing.T) {
	s := deskServer(t)
	const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}`
	for _, tt := range []struct {
		name, line string
		code       int
	}{
		{"no JSON", "hello?", -32700},
		{"half of it", `{"jsonrpc":"2.0","id":1`, -32700},
		{"two in one line", ping + ping, -32700},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffng\"}", -32700},
		{"nested a hundred thousand times", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), -32700},
		{"longer than any message", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("a", 5<<20) + `"}`, -32600},
		{"several in an array", "[" + ping + "]", -32600},
		{"no message", `{"hello":"there"}`, -32600},
		{"an id that is none", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600},
		{"a method that is none", `{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}`, -32601},
		{"no parameters", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, -32600},
		{"a tool that is none", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{}}}`, -32602},
		{"a version that nobody speaks", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, -32022},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := say(t, s, hello+tt.line+"\n\r\n"+ping)
			got := make(map[string]int)
			for _, a := range answers {
				if a.Error != nil {
					got[fmt.Sprint(a.Error.Code)]++
				} else {
					got[fmt.Sprint(a.ID)]++
				}
			}
			if want := map[string]int{"hello": 1, "ping": 1, fmt.Sprint(tt.code): 1}; !cmp.Equal(got, want) {
				t.Errorf("answers %v, want %v", got, want)
			}
		})
	}
}

// A request that needs an answer of the client does not keep the server when the client is gone.
func TestQuestionsBehindTheEnd(t *testing.T) {
	e := newEngine(t, stores.New(t))
	s := mcp.New(whole(e), &mcp.Options{Own: in(load(t, e, scope, "lamp.json", lampChat().bytes(t)))})
	ids, err := json.Marshal(messages(t, connect(t, s, nil)).reads()[:4])
	if err != nil {
		t.Fatal(err)
	}
	var out output
	err = s.ServeStdio(t.Context(), strings.NewReader(strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)+
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"discard_messages","arguments":{"short_ids":`+string(ids)+`}}}`), &out)
	if text := out.b.String(); err != nil || !strings.Contains(text, `"method":"elicitation/create"`) {
		t.Errorf("serving ended with %v: %s", err, text)
	}
}

// Arguments that make no sense are the tool's to refuse, whatever they are.
func TestArgumentsThatMakeNoSense(t *testing.T) {
	s := deskServer(t)
	deep := strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400)
	for _, tool := range mcp.Tools() {
		for _, args := range []string{
			`{"nonsense":1}`, `{"session":1}`, `{"session":null,"id":null}`, `{"id":"` + strings.Repeat("f", 1<<20) + `"}`, `{"Session":"x"}`,
			`{"session":"` + strings.Repeat("x", 1000) + `"}`, `[]`, `"x"`, `{"x":` + deep + `}`, `{"session":"\ud800","id":"\u0000","query":"\u0000","ids":["\u0000"],"short_ids":["\u0000"],"budget":-1}`,
		} {
			answers := say(t, s, hello+`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool.Name+`","arguments":`+args+"}}\n")
			last := answers[len(answers)-1]
			var res struct {
				IsError bool
				Content []struct{ Text string }
			}
			if last.Error != nil || json.Unmarshal(last.Result, &res) != nil || !res.IsError || len(res.Content[0].Text) > 8000 {
				t.Errorf("%s %.60s: %+v %.300s", tool.Name, args, last.Error, last.Result)
			}
		}
	}
}

// The three versions of the protocol that clients speak, as they begin.
func TestVersions(t *testing.T) {
	s := deskServer(t)
	const call = `"method":"tools/call","params":{"name":"status","arguments":{}`
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		answers := say(t, s, strings.Replace(hello, "2025-06-18", version, 1)+`{"jsonrpc":"2.0","id":1,`+call+"}}\n")
		var begun struct {
			ProtocolVersion, Instructions string
			Capabilities                  map[string]map[string]any
			ServerInfo                    struct{ Name, Version string }
		}
		if err := json.Unmarshal(answers[0].Result, &begun); err != nil || len(answers) != 2 {
			t.Fatalf("%v, %d answers", err, len(answers))
		}
		if begun.ProtocolVersion != version || begun.Instructions != mcp.Instructions || begun.ServerInfo.Name != "carrel" || begun.ServerInfo.Version != "1.2.3" {
			t.Errorf("%s: begun with %+v", version, begun)
		}
		want := map[string]map[string]any{"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
		if diff := cmp.Diff(want, begun.Capabilities); diff != "" {
			t.Errorf("%s: capabilities, no list of which ever changes (-want +got):\n%s", version, diff)
		}
		if !bytes.Contains(answers[1].Result, []byte(`"level":"ok"`)) {
			t.Errorf("%s: status %s", version, answers[1].Result)
		}
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	answers := say(t, s, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+meta+`}}
{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+meta+`}}
{"jsonrpc":"2.0","id":3,`+call+`,`+meta+"}}\n")
	var ids []string
	for _, a := range answers {
		ids = append(ids, fmt.Sprint(a.ID, a.Method))
		switch fmt.Sprint(a.ID) {
		case "1":
			if !bytes.Contains(a.Result, []byte(`"2026-07-28"`)) || !bytes.Contains(a.Result, []byte(`"cacheScope":"private"`)) {
				t.Errorf("discovered %s", a.Result)
			}
		case "3":
			if !bytes.Contains(a.Result, []byte(`"level":"ok"`)) {
				t.Errorf("status %s", a.Result)
			}
		}
	}
	slices.Sort(ids)
	if want := []string{"1", "2", "3", "<nil>notifications/subscriptions/acknowledged"}; !cmp.Equal(ids, want) {
		t.Errorf("answers %q, want %q", ids, want)
	}
}

// Two calls under one id cannot be told apart, and the second is turned away while
// the first runs; afterwards the id is free again.
func TestIDsInUse(t *testing.T) {
	in, feed := io.Pipe()
	told, out := io.Pipe()
	begun, goOn := make(chan struct{}), make(chan struct{})
	e := newEngine(t, stores.New(t))
	give := whole(e)
	s := mcp.New(func(ctx context.Context) (*carrel.Engine, governance.Scope, *governance.Grant, error) {
		begun <- struct{}{}
		<-goOn
		return give(ctx)
	}, nil)
	ended := make(chan error)
	go func() {
		err := s.ServeStdio(t.Context(), in, out)
		_ = out.Close()
		ended <- err
	}()
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"status","arguments":{}}}` + "\n"
	lines := bufio.NewScanner(told)
	line := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no more is said: %v", lines.Err())
		}
		return lines.Text()
	}
	write := func(text string) {
		t.Helper()
		if _, err := io.WriteString(feed, text); err != nil {
			t.Fatal(err)
		}
	}
	write(hello + call)
	line() // to the hello
	<-begun
	write(call)
	if got := line(); !strings.Contains(got, "is not answered yet") {
		t.Errorf("the second call is answered by %s", got)
	}
	close(goOn)
	if got := line(); !strings.Contains(got, `"id":7`) {
		t.Errorf("the first call is answered by %s", got)
	}
	write(call)
	<-begun
	if got := line(); !strings.Contains(got, `"id":7`) {
		t.Errorf("the third call is answered by %s", got)
	}
	if err := feed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// A client that answers what it was not asked still gets all answers when its input has ended.
func TestAnswersThatWereNotAskedFor(t *testing.T) {
	s := deskServer(t)
	const calls = 20
	in := hello + `{"jsonrpc":"2.0","id":99,"result":{}}` + "\n"
	for i := range calls {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"status","arguments":{}}}`+"\n", i)
	}
	if answers := say(t, s, in); len(answers) != 1+calls {
		t.Errorf("got %d answers, want one to the hello and %d to the calls", len(answers), calls)
	}
}

// A server ends with its context, also if its input does not.
func TestServingEndsWithItsContext(t *testing.T) {
	in, feed := io.Pipe()
	defer func() { _ = feed.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- deskServer(t).ServeStdio(ctx, in, io.Discard) }()
	if _, err := io.WriteString(feed, hello); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

// Whatever comes in, nothing breaks, and what goes out is messages, a line each.
func FuzzLines(f *testing.F) {
	s := deskServer(f)
	f.Add(hello + `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	f.Add(hello + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"id":"x","from":3}}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n[]\n\n{\n\"\xff\"")
	f.Add(hello + `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"carrel://item/%zz"}}`)
	f.Add(hello + `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"\u0001"}}`)
	f.Fuzz(func(t *testing.T, in string) { say(t, s, in) })
}
