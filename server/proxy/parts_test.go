package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A base is an address with a path at most: a user in it would go into logs.
func TestBasesOfUpstreams(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.example.com":       "https://api.example.com",
		"http://127.0.0.1:80/a/b//":     "http://127.0.0.1:80/a/b",
		"https://api.example.com/a%2Fb": "https://api.example.com/a%2Fb",
	} {
		if u, err := parseBase("x", text); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, u, err, want)
		}
	}
	for text, says := range map[string]string{
		"":                            "is not an HTTP URL such as",
		"api.example.com":             "is not an HTTP URL such as",
		"ftp://example.com":           "is not an HTTP URL such as",
		"https://":                    "is not an HTTP URL such as",
		"https://%":                   "is not an HTTP URL such as",
		"https://me@a.example":        "has a user or a password",
		"https://me" + ":x@a.example": "has a user or a password",
		"https://a.example?x=1":       "has a query or a fragment",
		"https://a.example?":          "has a query or a fragment",
		"https://a.example#x":         "has a query or a fragment",
	} {
		if _, err := parseBase("x", text); err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "upstream x: ") {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// The path tells the provider, else the headers; a credential of nobody known goes nowhere.
func TestTargetsOfRequests(t *testing.T) {
	base := func(text string) *url.URL {
		u, err := parseBase("x", text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	p := &Proxy{anthropic: base("https://a.example/in"), openai: base("https://o.example/v1")}
	for _, tt := range []struct {
		path, header, value string
		want                string // "" if it goes nowhere
		rest                string
	}{
		{"/anthropic/v1/messages?b=1", "", "", "https://a.example/in/v1/messages?b=1", "/v1/messages"},
		{"/anthropic", "", "", "https://a.example/in", ""},
		{"/openai/v1/responses", "", "", "https://o.example/v1/responses", "/responses"},
		{"/openai/responses", "", "", "https://o.example/v1/responses", "/responses"},
		{"/openai/v10", "", "", "https://o.example/v1/v10", "/v10"},
		{"/v1/messages", "Cookie", "x", "https://a.example/in/v1/messages", "/v1/messages"},
		{"/v1/messages/count_tokens", "Cookie", "x", "https://a.example/in/v1/messages/count_tokens", "/v1/messages/count_tokens"},
		{"/v1/messagesx", "Cookie", "x", "", ""},
		{"/v1/complete", "Cookie", "x", "https://a.example/in/v1/complete", "/v1/complete"},
		{"/api/x", "Cookie", "x", "https://a.example/in/api/x", "/api/x"},
		{"/v1/chat/completions", "Cookie", "x", "https://o.example/v1/chat/completions", "/chat/completions"},
		{"/chat/completions", "Cookie", "x", "https://o.example/v1/chat/completions", "/chat/completions"},
		{"/v1/responses/1", "Cookie", "x", "https://o.example/v1/responses/1", "/responses/1"},
		{"/v1/completions", "Cookie", "x", "https://o.example/v1/completions", "/completions"},
		{"/v1/embeddings", "Cookie", "x", "https://o.example/v1/embeddings", "/embeddings"},
		{"/v1/moderations", "Cookie", "x", "https://o.example/v1/moderations", "/moderations"},
		{"/anthropics", "Cookie", "x", "", ""},
		{"/v1/models", "Anthropic-Version", "1", "https://a.example/in/v1/models", "/v1/models"},
		{"/v1/models", "X-Api-Key", "x", "https://a.example/in/v1/models", "/v1/models"},
		{"/v1/models", "Authorization", "Bearer sk-ant-1", "https://a.example/in/v1/models", "/v1/models"},
		{"/v1/models", "Openai-Project", "1", "https://o.example/v1/models", "/models"},
		{"/v1/models", "Authorization", "Bearer sk-proj-1", "https://o.example/v1/models", "/models"},
		{"/v1/models", "Authorization", "Bearer other", "", ""},
		{"/v1/models", "Cookie", "x", "", ""},
		{"/v1/models", "Proxy-Authorization", "x", "", ""},
		{"/v1/models", "Api-Key", "x", "", ""},
		{"/v1/files", "X-Goog-Api-Key", "x", "", ""},
		{"/v1/files", "X-Amz-Security-Token", "x", "", ""},
		{"/v1/files", "X-Forwarded-Authorization", "x", "", ""},
		{"/v1/files?key=x", "", "", "", ""},
		{"/v1/files?a=b;Api%5FKey=x", "", "", "", ""},
		{"/v1/files?access_token", "", "", "", ""},
		{"/v1/files?limit=1&after=key", "Idempotency-Key", "x", "https://a.example/in/v1/files?limit=1&after=key", "/v1/files"},
		{"/v1/messages?key=x", "Api-Key", "x", "https://a.example/in/v1/messages?key=x", "/v1/messages"},
		{"/v1/models", "", "", "https://a.example/in/v1/models", "/v1/models"},
		{"/v1/models", "Api-Key", "", "https://a.example/in/v1/models", "/v1/models"},
		{"/anthropic/a%2Fb", "", "", "https://a.example/in/a%2Fb", "/a%2Fb"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.header != "" {
			r.Header.Set(tt.header, tt.value)
		}
		to, ok := p.target(r)
		switch {
		case ok != (tt.want != ""):
			t.Errorf("%s with %s: goes on %v, want %q", tt.path, tt.header, ok, tt.want)
		case ok && (to.url(r.URL).String() != tt.want || to.rest != tt.rest):
			t.Errorf("%s with %s: to %s as %s, want %s as %s", tt.path, tt.header, to.url(r.URL), to.rest, tt.want, tt.rest)
		}
	}
}

// A refusal is an error of the client's dialect, as an answer and as an event of a stream.
func TestRefusalsOfDialects(t *testing.T) {
	f := &refusal{502, "api_error", "no"}
	const anthropic = `{"error":{"message":"carrel proxy: no","type":"api_error"},"type":"error"}`
	const openai = `{"error":{"code":"api_error","message":"carrel proxy: no","param":null,"type":"api_error"}}`
	for _, tt := range []struct {
		d           wire.Dialect
		body, event string
		ping        string
	}{
		{wire.Anthropic, anthropic, "event: error\ndata: " + anthropic + "\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"},
		{wire.Chat, openai, "data: " + openai + "\n\n", ": ping\n\n"},
		{wire.Responses, openai, "event: error\ndata: " + `{"code":"api_error","message":"carrel proxy: no","param":null,"type":"error"}` + "\n\n", ": ping\n\n"},
	} {
		if got := string(f.body(tt.d)); got != tt.body {
			t.Errorf("%s: body %s, want %s", tt.d, got, tt.body)
		}
		if got := string(f.event(tt.d)); got != tt.event {
			t.Errorf("%s: event %q, want %q", tt.d, got, tt.event)
		}
		if got := string(ping(tt.d)); got != tt.ping {
			t.Errorf("%s: ping %q, want %q", tt.d, got, tt.ping)
		}
	}
	for f, want := range map[*refusal]int{refusedUpgrade: 426, refusedPath: 404, refusedIntent: 503, refusedOutcome: 503, refusedRound: 502, refusedDial: 502, refusedIdle: 504} {
		if f.status != want {
			t.Errorf("%q has status %d, want %d", f.text, f.status, want)
		}
	}
	for _, tt := range []struct{ body, kind, text string }{
		{`{"error":{"type":"overloaded","message":"later"}}`, "overloaded", refusedRound.text + ": later"},
		{`{"error":{"type":"` + strings.Repeat("x", 100) + `"}}`, strings.Repeat("x", 100), refusedRound.text},
		{`{"error":{"type":"` + strings.Repeat("x", 101) + `"}}`, "long", refusedRound.text},
		{`{"error":{"type":1,"message":[]}}`, "api_error", refusedRound.text},
		{`{"error":"x"}`, "api_error", refusedRound.text},
		{`no`, "api_error", refusedRound.text},
	} {
		if got := refusalOf(529, []byte(tt.body)); got.status != 529 || got.kind != tt.kind || got.text != tt.text {
			t.Errorf("%s: %+v, want %q %q", tt.body, got, tt.kind, tt.text)
		}
	}
}

// Times are counted in steps of ten percent, from ten microseconds on.
func TestOverheadIsCounted(t *testing.T) {
	var h histogram
	if got := h.quantile(0.5); got != 0 {
		t.Errorf("the median of nothing is %v", got)
	}
	h.add(0)
	h.add(spreadLeast)
	if h.counts[0] != 2 || h.quantile(1) != spreadLeast {
		t.Errorf("the first step has %d, the slowest is %v", h.counts[0], h.quantile(1))
	}
	h.add(spreadLeast + 1)
	h.add(100 * time.Hour)
	if h.counts[1] != 1 || h.counts[len(h.counts)-1] != 1 || h.all != 4 {
		t.Errorf("steps have %v, of %d", h.counts, h.all)
	}
	for share, want := range map[float64]time.Duration{0.5: 10 * time.Microsecond, 0.51: 11 * time.Microsecond, 0.75: 11 * time.Microsecond} {
		if got := h.quantile(share); got != want {
			t.Errorf("share %v is below %v, want %v", share, got, want)
		}
	}
	if got := h.quantile(0.99); got < time.Hour {
		t.Errorf("the slowest of four is %v, want the last step", got)
	}
	for _, ms := range []time.Duration{time.Millisecond, 30 * time.Millisecond, time.Second} {
		var one histogram
		one.add(ms)
		if got := one.quantile(0.5); got < ms || got > ms+ms/9 {
			t.Errorf("the median of %v is %v, want it within ten percent above", ms, got)
		}
	}
}

func TestPayloadsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		length int64
		body   string
		large  bool
	}{{4, "abcd", false}, {-1, "abcd", false}, {0, "", false}, {5, "abcde", true}, {-1, "abcde", true}, {2, "abcd", false}} {
		b, err := readPayload(strings.NewReader(tt.body), tt.length, 4)
		if errors.Is(err, errBodyTooLarge) != tt.large || !tt.large && b.String() != tt.body {
			t.Errorf("%+v: %q, %v", tt, b, err)
		}
		r := b.reader()
		b.release()
		got, err := io.ReadAll(r)
		if err != nil || !tt.large && string(got) != tt.body {
			t.Errorf("%+v: read %q, %v", tt, got, err)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, errClosed) {
			t.Errorf("a read of a closed body: %v", err)
		}
	}
}

// A body that cannot be read to its end is no body that is too large, and a large buffer is not kept.
func TestBodiesThatAreNotKept(t *testing.T) {
	broken := iotest.DataErrReader(io.MultiReader(strings.NewReader("abcde"), iotest.ErrReader(errDisk)))
	b, err := readPayload(broken, -1, 4)
	if !errors.Is(err, errDisk) {
		t.Errorf("a body that breaks off: %v", err)
	}
	b.Grow(maxKept + 1)
	b.release()
	if again, _ := payloads.Get().(*payload); again == b {
		t.Error("a large buffer is used again")
	}
}

// The event that ends an answer may have the whole answer in it again. Only its newest bytes are
// held back, up to a bound.
func TestWhatIsHeldBackIsBounded(t *testing.T) {
	p, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	answer := "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[\"" + strings.Repeat("z", 3*maxHeld) + "\"]}}\n\n"
	body := strings.NewReader(answer)
	h := &heldBody{
		call: &call{proxy: p, dialect: wire.Responses, timer: time.NewTimer(time.Hour)}, body: io.NopCloser(body),
		tap: wire.NewTap(wire.Responses, "text/event-stream", ""), status: http.StatusOK,
	}
	defer h.Close()
	var got strings.Builder
	for b := make([]byte, 32<<10); ; {
		n, err := h.Read(b)
		got.Write(b[:n])
		if held := len(answer) - body.Len() - got.Len(); held > maxHeld {
			t.Fatalf("%d bytes are held back after %d were passed on, want at most %d", held, got.Len(), maxHeld)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) || got.String() != answer {
				t.Errorf("%d bytes of %d came, %v", got.Len(), len(answer), err)
			}
			break
		}
	}
	one := &heldBody{call: h.call, body: io.NopCloser(strings.NewReader("<html>")), tap: wire.NewTap(wire.Chat, "text/html", ""), status: http.StatusOK}
	if n, err := one.Read(nil); n != 0 || err != nil {
		t.Errorf("no bytes are asked for, and %d came, %v", n, err)
	}
	if text, err := io.ReadAll(iotest.OneByteReader(one)); err != nil || string(text) != "<html>" {
		t.Errorf("byte by byte comes %q, %v", text, err)
	}
}

// A conversation is stored once it has an answer, and one that is compacted once it has more than
// the request for it.
func TestRequestsThatAreImported(t *testing.T) {
	roles := func(list ...wire.Role) (all []wire.Message) {
		for _, r := range list {
			all = append(all, wire.Message{Role: r})
		}
		return all
	}
	two := roles(wire.RoleUser, wire.RoleAssistant)
	for _, tt := range []struct {
		name string
		req  wire.Request
		want bool
	}{
		{"two messages", wire.Request{Kind: wire.KindCall, Messages: two}, true},
		{"one message", wire.Request{Kind: wire.KindCall, Messages: two[:1]}, false},
		{"one beside a system text", wire.Request{Kind: wire.KindCall, Messages: roles(wire.RoleSystem, wire.RoleUser)}, false},
		{"two beside a system text", wire.Request{Kind: wire.KindCall, Messages: roles(wire.RoleSystem, wire.RoleUser, wire.RoleUser)}, true},
		{"a request aside", wire.Request{Kind: wire.KindCall, Messages: two, Side: true}, false},
		{"a history at the provider", wire.Request{Kind: wire.KindCall, Messages: two, Remote: true}, false},
		{"a count of tokens", wire.Request{Kind: wire.KindCount, Messages: two}, false},
		{"a compaction of one", wire.Request{Kind: wire.KindCall, Messages: two, Compacts: true}, false},
		{"a compaction", wire.Request{Kind: wire.KindCall, Messages: roles(wire.RoleUser, wire.RoleAssistant, wire.RoleUser), Compacts: true}, true},
	} {
		if got := importable(&tt.req); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The segments of a body cover it without gaps: what was sent before is one, and the frame around
// the messages, each message with its comma, and what Carrel made are others.
func TestAccountsOfBodies(t *testing.T) {
	body := []byte(`{"m":[aa,bb,cc],"x":1}`)
	parts := []epoch.Part{{Start: 6, End: 8, Chain: digest.Of([]byte("a"))}, {Start: 9, End: 11, Chain: digest.Of([]byte("b")), Made: true}, {Start: 12, End: 14, Chain: digest.Of([]byte("c"))}}
	account := func(before lastSent) string {
		var all []string
		for _, s := range accountOf(parts, body, before).Segments {
			text := string(s.Kind) + ":" + string(body[:s.Bytes])
			body = body[s.Bytes:]
			if s.Before != "" {
				text += " in " + s.Before
			}
			all = append(all, text)
		}
		return strings.Join(all, "|")
	}
	whole := bytes.Clone(body)
	frame, message, stub := string(manifest.KindFrame)+":", string(manifest.KindMessage)+":", string(manifest.KindStub)+":"
	for _, tt := range []struct {
		before lastSent
		want   string
	}{
		{lastSent{}, frame + `{"m":[|` + message + "aa,|" + stub + "bb,|" + message + "cc|" + frame + `],"x":1}`},
		{lastSent{"call_1", parts[1].Chain}, frame + `{"m":[|` + message + "aa,bb, in call_1|" + message + "cc|" + frame + `],"x":1}`},
		{lastSent{"call_1", parts[2].Chain}, frame + `{"m":[|` + message + "aa,bb,cc in call_1|" + frame + `],"x":1}`},
		{lastSent{"call_1", digest.Of([]byte("z"))}, frame + `{"m":[|` + message + "aa,|" + stub + "bb,|" + message + "cc|" + frame + `],"x":1}`},
		{lastSent{"", parts[1].Chain}, frame + `{"m":[|` + message + "aa,|" + stub + "bb,|" + message + "cc|" + frame + `],"x":1}`},
	} {
		body = bytes.Clone(whole)
		if got := account(tt.before); got != tt.want {
			t.Errorf("%+v:\n%s\nwant:\n%s", tt.before, got, tt.want)
		}
	}
	if a := accountOf(nil, whole, lastSent{}); a != nil {
		t.Errorf("no parts: %+v", a)
	}
	if a := accountOf(parts, whole[:13], lastSent{}); a != nil {
		t.Errorf("parts behind the body: %+v", a)
	}
	if a := accountOf(parts, whole[:14], lastSent{}); a == nil || len(a.Segments) != 4 {
		t.Errorf("a body that ends with its messages: %+v", a)
	}
	many := make([]epoch.Part, maxSingleSegments+2)
	if last, call := sentBefore(many, lastSent{}); last != 2 || call != "" {
		t.Errorf("of many messages the first segment ends with %d, %q, want 2", last, call)
	}
	if last, _ := sentBefore(many[:maxSingleSegments], lastSent{}); last != 0 {
		t.Errorf("of few messages the first segment ends with %d, want 0", last)
	}
}

// What the proxy decides by figures, names and the form of a request.
func TestDecisions(t *testing.T) {
	read := func(d wire.Dialect, body string) *wire.Request {
		t.Helper()
		doc, q := new(rawjson.Document), new(wire.Request)
		if err := doc.Read([]byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := q.Read(d, wire.KindCall, nil, doc); err != nil {
			t.Fatal(err)
		}
		return q
	}
	for _, tt := range []struct {
		dialect               wire.Dialect
		fields                string
		forced, resends, long bool
	}{
		{wire.Anthropic, `"x":1`, false, true, false},
		{wire.Anthropic, `"tool_choice":{ "type": "tool"}`, true, true, false},
		{wire.Anthropic, `"tool_choice":{"type":"auto"}`, false, true, false},
		{wire.Anthropic, `"a":{"ttl":"1h"}`, false, true, true},
		{wire.Anthropic, `"a":{"ttl": "1h"}`, false, true, true},
		{wire.Anthropic, `"a":{"ttl":"5m"}`, false, true, false},
		{wire.Chat, `"tool_choice":{"x":1}`, true, true, false},
		{wire.Chat, `"tool_choice":"auto","n":1`, false, true, false},
		{wire.Chat, `"n":null`, false, true, false},
		{wire.Chat, `"n":2`, false, false, false},
		{wire.Responses, `"store":false`, false, true, false},
		{wire.Responses, `"store":true`, false, false, false},
		{wire.Responses, `"x":1`, false, false, false},
	} {
		q := read(tt.dialect, `{"messages":[],"input":[],`+tt.fields+`}`)
		if f, r, l := forced(q), resends(q), isLong(q); f != tt.forced || r != tt.resends || l != tt.long {
			t.Errorf("%s with %s: forced %v, resends %v, long %v", tt.dialect, tt.fields, f, r, l)
		}
	}
	for _, tt := range []struct{ fresh, frame, want token.Count }{{100, 50, 400}, {450, 50, 175}, {900, 50, 150}} {
		if got := new(thread).room(&epoch.Limits{Budget: 1000, Target: 500}, epoch.Size{Fresh: tt.fresh, Frame: tt.frame}); got != tt.want {
			t.Errorf("with %d new tokens and a frame of %d there is room for %d, want %d", tt.fresh, tt.frame, got, tt.want)
		}
	}
	big := `"` + strings.Repeat("x", mostRecent-len(`{"content":""}`)) + `"`
	for contents, want := range map[string]string{`"a" "b" "c" "d" "e"`: "abcd", `"a" "b" ` + big + ` "d" "e"`: "axd", `"a" "b" "c" ` + big + ` "e"`: "ax", `"a" "e"`: "a"} {
		var all []string
		for c := range strings.FieldsSeq(contents) {
			all = append(all, `{"content":`+c+`}`)
		}
		got := ""
		for _, m := range gjson.GetBytes(recent(read(wire.Chat, `{"messages":[`+strings.Join(all, ",")+`]}`), len(all)-1), "messages.#.content").Array() {
			got += m.Str[:1]
		}
		if got != want {
			t.Errorf("before the last of %.20s stand %s, want %s", contents, got, want)
		}
	}
	if got, want := string(messageList(read(wire.Responses, `{"input":"x"}`)))+string(messageList(read(wire.Chat, `{"messages":[{}]}`))), `[{"role":"user","content":"x"}][{}]`; got != want {
		t.Errorf("the lists are %s, want %s", got, want)
	}
	if got, want := withBrief("a", "b")+";"+withBrief(additional+"\nc", "b")+";"+withBrief("a"+additional, "b"), "a\n\nAdditional Instructions:\nb;Additional Instructions:\nb\nc;aAdditional Instructions:\nb\n"; got != want {
		t.Errorf("the prompts are %q, want %q", got, want)
	}
}

func TestWhoIsManaged(t *testing.T) {
	half, held := &Proxy{opts: Options{Holdout: ratio.Of(1, 2)}}, 0
	for i := range 1000 {
		q := &wire.Request{Session: fmt.Sprint(i), Agent: fmt.Sprint(i)}
		if half.heldOut(q) {
			held++
		}
		if other := (&wire.Request{Session: q.Session, Dialect: wire.Chat}); half.heldOut(other) != half.heldOut(q) || (&Proxy{}).heldOut(q) || !(&Proxy{opts: Options{Holdout: ratio.One}}).heldOut(q) {
			t.Errorf("session %d is held out now and then", i)
		}
	}
	if held < 400 || held > 600 {
		t.Errorf("of 1000 sessions %d are held out, want half of them", held)
	}
	for want, q := range map[string]*wire.Request{"s": {Session: "s"}, "s ": {Session: "s ", Agent: "s "}, "s/a": {Session: "s", Agent: "a"}} {
		if got := clientOf(q); got != want {
			t.Errorf("the client is %q, want %q", got, want)
		}
	}
	for session, share := range map[string]ratio.Ratio{"s": 594_171, "s399708": 0} { // which never changes
		q := &wire.Request{Session: session}
		if (&Proxy{opts: Options{Holdout: share}}).heldOut(q) || !(&Proxy{opts: Options{Holdout: share + 1}}).heldOut(q) {
			t.Errorf("session %q is not the first that a share of more than %v has", session, share)
		}
	}
	if p, err := New(&Options{Wait: 1, Idle: 1, Prepare: 1, MaxBody: 1}); err != nil || p.opts.Wait != 1 || p.opts.Idle != 1 || p.opts.Prepare != 1 || p.opts.MaxBody != 1 {
		t.Errorf("the least bounds are not taken: %v", err)
	}
	m := NewEpochs(&EpochOptions{})
	p, err := New(&Options{Wait: -1, Idle: -1, Prepare: -1, MaxBody: -1})
	if err != nil {
		t.Fatal(err)
	}
	s, o := p.Server(), &p.opts
	if m.Bound() != 45*time.Second || m.o.Large != DefaultLarge || m.o.Threads != DefaultThreads || o.Wait != DefaultWait || o.Idle != DefaultIdle || o.Prepare != DefaultPrepare || o.MaxBody != DefaultMaxBody || s.ReadTimeout != readTimeout || s.WriteTimeout != 0 || o.Scope != governance.DefaultScope {
		t.Errorf("managing takes %v; proxy %+v; server %+v", m.Bound(), o, s)
	}
}

// A manager may still read the body of a call that was abandoned, so no other call gets its buffer.
func TestAnAbandonedBodyIsNotReused(t *testing.T) {
	for _, abandoned := range []bool{false, true} {
		b, err := readPayload(strings.NewReader("the body"), 8, 100)
		if err != nil {
			t.Fatal(err)
		}
		c := &call{body: b}
		if abandoned {
			c.abandon()
		}
		b.release()
		if inUse := b.users.Load() > 0; inUse != abandoned {
			t.Errorf("abandoned %t: the body is in use %t", abandoned, inUse)
		}
	}
}
