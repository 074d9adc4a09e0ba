package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/weave"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// A seen request is what a provider gets of one.
type seen struct {
	Method, URI, Host string
	Header            http.Header
	Body              string
}

// An echo is a provider that keeps what it gets and answers with what a seed says.
type echo struct {
	mu  sync.Mutex
	got []seen
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h := r.Header.Clone()
	seed, _ := strconv.ParseUint(h.Get("Seed"), 10, 64)
	e.mu.Lock()
	e.got = append(e.got, seen{r.Method, r.RequestURI, r.Host, h, string(body)})
	e.mu.Unlock()
	random := rand.New(rand.NewPCG(7, seed))
	for range random.IntN(4) {
		w.Header().Add(pick(random, "X-Request-Id", "Anthropic-Ratelimit", "Set-Cookie", "Via", "X-Empty"), pick(random, "a", "b; c", "", "\"d\""))
	}
	kind := pick(random, eventStreamType, "application/json", "text/plain; charset=utf-8", "")
	w.Header()["Content-Type"] = nil
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(pick(random, 200, 200, 200, 201, 400, 404, 429, 500, 529))
	text := randomText(random, kind)
	for len(text) > 0 && r.Method != http.MethodHead {
		n := min(len(text), 1+random.IntN(4000))
		_, _ = io.WriteString(w, text[:n])
		_ = http.NewResponseController(w).Flush()
		text = text[n:]
	}
}

const eventStreamType = "text/event-stream"

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// randomText returns a text that may be what its type says, or nearly.
func randomText(random *rand.Rand, kind string) string {
	var b strings.Builder
	for range random.IntN(20) {
		switch random.IntN(7) {
		case 0:
			b.WriteString(claudeReply)
		case 1:
			b.WriteString(claudeStop)
		case 2:
			b.WriteString(chatAnswer)
		case 3:
			b.WriteString(responseAnswer)
		case 4:
			b.WriteString("{\"usage\":{\"input_tokens\":1}}")
		case 5:
			for range random.IntN(3000) {
				b.WriteByte(byte(random.IntN(256)))
			}
		default:
			b.WriteString(pick(random, "\r\n", "\n\n", "data: ", "event: message_stop", "}", "]", "{", "\""))
		}
	}
	if kind == "application/json" && random.IntN(2) == 0 {
		return responseAnswer[strings.LastIndex(responseAnswer, "data: ")+6:]
	}
	return b.String()
}

// randomRequest returns a request as clients make them, or as they should not.
func randomRequest(random *rand.Rand, base string, seed uint64) *http.Request {
	path := pick(random, "/v1/messages", "/v1/messages?beta=true", "/v1/messages/count_tokens", "/v1/chat/completions", "/v1/responses",
		"/v1/responses/compact", "/v1/responses/r%2F1?include[]=a&b=%zz;c", "/v1/messages/batches//x")
	method := pick(random, "POST", "POST", "POST", "POST", "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")
	body := pick(random, claudeBody, randomText(random, ""), "", `{"model":"m","input":"hi"}`, `{"messages":[{"role":"user","content":"`+strings.Repeat("long ", random.IntN(20_000))+`"}]}`)
	if method == http.MethodGet || method == http.MethodHead {
		body = ""
	}
	var reader io.Reader = strings.NewReader(body)
	if random.IntN(3) == 0 {
		reader = io.MultiReader(reader) // in chunks
	}
	r, err := http.NewRequestWithContext(context.Background(), method, base+path, reader)
	if err != nil {
		panic(err)
	}
	for range random.IntN(8) {
		r.Header.Add(pick(random, "X-Api-Key", "Authorization", "Anthropic-Version", "Anthropic-Beta", "X-Stainless-Lang", "X-Forwarded-For", "X-Forwarded-Proto",
			"Forwarded", "Via", "Cookie", "Accept", "Accept-Encoding", "User-Agent", "X-Claude-Code-Session-Id", "Idempotency-Key", "Content-Type", "Content-Encoding", "Cache-Control"),
			pick(random, "a", "Bearer sk-ant-x", "gzip, br, zstd", "", "b,c ; q=0.5", "\tx"))
	}
	r.Header.Set("Seed", strconv.FormatUint(seed, 10))
	return r
}

// answerTo returns what a client gets for a request.
func answerTo(t *testing.T, client *http.Client, r *http.Request) (status int, header http.Header, body string) {
	t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v after %d bytes", r.Method, r.URL, err, len(text))
	}
	header = resp.Header.Clone()
	if len(header["Date"]) != 1 {
		t.Errorf("%d headers Date", len(header["Date"]))
	}
	header.Del("Date") // it is of the second
	return resp.StatusCode, header, string(text)
}

// What a provider gets and what a client gets is the same with the proxy and without it.
func TestNothingIsChanged(t *testing.T) {
	provider := &echo{}
	up := httptest.NewServer(provider)
	defer up.Close()
	s := newStageAt(t, up.URL)
	for i := range uint64(amount(t, "CARREL_TEST_IDENTITY", 400)) {
		status, header, body := answerTo(t, s.client, randomRequest(rand.New(rand.NewPCG(22, i)), up.URL, i))
		status2, header2, body2 := answerTo(t, s.client, randomRequest(rand.New(rand.NewPCG(22, i)), s.url, i))
		if status != status2 || body != body2 {
			t.Fatalf("request %d: status %d and %d bytes without the proxy, %d and %d bytes with it", i, status, len(body), status2, len(body2))
		}
		for _, h := range []http.Header{header, header2} {
			h.Del("Content-Length") // a server gives it to short answers in one piece
		}
		if diff := cmp.Diff(header, header2); diff != "" {
			t.Fatalf("request %d: headers of the answer (-without the proxy +with it):\n%s", i, diff)
		}
		got := provider.got
		for j := range got {
			got[j].Header.Del("Content-Length") // in place of chunks
		}
		if diff := cmp.Diff(got[0], got[1]); len(got) != 2 || diff != "" {
			t.Fatalf("request %d: the provider got (-without the proxy +with it):\n%s", i, diff)
		}
		provider.got = nil
	}
}

// An answer may begin before the request has ended: neither is cut.
func TestAnAnswerBeforeTheEndOfTheRequest(t *testing.T) {
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if err := errors.Join(control.EnableFullDuplex(), control.Flush()); err != nil {
			t.Error(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(body)
	}))
	body, rest := io.Pipe()
	defer func() { _ = body.Close() }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.url+"/v1/files", io.MultiReader(strings.NewReader("first, "), body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	go func() {
		_, err := io.WriteString(rest, "then")
		_ = rest.CloseWithError(err)
	}()
	if got, err := io.ReadAll(resp.Body); string(got) != "first, then" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Headers that are about one connection stay on it.
func TestHopByHopHeaders(t *testing.T) {
	provider := &echo{}
	s := newStage(t, provider)
	_, _, err := s.ask("POST", "/v1/messages", claudeBody, "Connection", "X-Private, keep-alive", "X-Private", "a", "Keep-Alive", "5", "Proxy-Authorization", "b", "Proxy-Connection", "c", "Expect", "100-continue", "X-Kept", "d")
	if err != nil {
		t.Fatal(err)
	}
	h := provider.got[0].Header
	for _, name := range []string{"X-Private", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Expect", "X-Forwarded-For", "Accept-Encoding"} {
		if v, ok := h[name]; ok {
			t.Errorf("%s: %q went upstream", name, v)
		}
	}
	if h.Get("X-Kept") != "d" {
		t.Errorf("headers %v", h)
	}
}

// A client that offers to go on in HTTP/2, as that of the JDK does, gets its answer in HTTP/1.1.
func TestAnOfferOfHTTP2(t *testing.T) {
	provider := &echo{}
	s := newStage(t, provider)
	resp, _, err := s.ask("POST", "/v1/messages", claudeBody, "Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "HTTP2-Settings", "AAEAAEAA", "Seed", "1")
	if err != nil || resp.StatusCode == http.StatusUpgradeRequired || len(provider.got) != 1 {
		t.Fatalf("got %v, %v; %d requests went upstream", resp, err, len(provider.got))
	}
	for _, name := range []string{"Connection", "Upgrade", "Http2-Settings"} {
		if v, ok := provider.got[0].Header[name]; ok {
			t.Errorf("%s: %q went upstream", name, v)
		}
	}
	if begun, _ := s.recorder.calls(); len(begun) != 1 {
		t.Errorf("%d calls are recorded", len(begun))
	}
}

// A stream comes through byte for byte and its end is found, wherever the provider parts it.
func TestStreamsSplitAtEveryOffset(t *testing.T) {
	var cut int
	var sp speech
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { streams(sp.text[:cut], sp.text[cut:])(w, r) }))
	for _, sp = range speeches {
		for cut = range sp.text {
			if _, text, err := s.ask("POST", sp.path, sp.body); err != nil || text != sp.text {
				t.Fatalf("%s cut at %d: got %q, %v", sp.path, cut, text, err)
			}
		}
	}
	_, ended := s.recorder.calls()
	for id := range ended {
		if ended[id].State != store.CallDone || ended[id].Stop == "" {
			t.Fatalf("outcome %+v", ended[id])
		}
	}
}

// Compressed bodies pass as they came in both directions, and are read all the same.
func TestCompressedBodies(t *testing.T) {
	var z bytes.Buffer
	w, err := zstd.NewWriter(&z)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(w, claudeBody)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, err = io.WriteString(g, claudeReply+claudeStop)
	if err = errors.Join(err, g.Close()); err != nil {
		t.Fatal(err)
	}
	var got []byte
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, _ = io.ReadAll(r.Body); r.Header.Get("Content-Encoding") != "zstd" {
			t.Errorf("headers %v", r.Header)
		}
		w.Header().Set("Content-Encoding", "gzip")
		streams(packed.String())(w, r)
	}))
	_, text, err := s.ask("POST", "/v1/messages", z.String(), "Content-Encoding", "zstd", "Accept-Encoding", "gzip")
	if err != nil || text != packed.String() || !bytes.Equal(got, z.Bytes()) {
		t.Errorf("sent %d bytes of %d, got %d of %d, %v", len(got), z.Len(), len(text), packed.Len(), err)
	}
	begun, ended := s.recorder.calls()
	if begun[0].Model != "claude-opus-5-5" || begun[0].Messages != 3 || ended["call_0"].Usage.CacheRead != 90 || ended["call_0"].State != store.CallDone {
		t.Errorf("recorded %+v and %+v", begun, ended)
	}
}

// A provider that speaks HTTP/2 is spoken to in it.
func TestHTTP2(t *testing.T) {
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Proto", r.Proto)
		streams(claudeReply, claudeStop)(w, r)
	}))
	up.EnableHTTP2 = true
	up.StartTLS()
	defer up.Close()
	s := newStageAt(t, up.URL)
	transport, ok := up.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("no transport")
	}
	s.proxy.transport.TLSClientConfig = &tls.Config{RootCAs: transport.TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
	for range 3 {
		resp, text, err := s.ask("POST", "/v1/messages", claudeBody)
		if err != nil || text != claudeReply+claudeStop || resp.Header.Get("Proto") != "HTTP/2.0" {
			t.Errorf("got %v, %q, %v", resp, text, err)
		}
	}
	if _, ended := s.recorder.calls(); len(ended) != 3 || ended["call_2"].State != store.CallDone {
		t.Errorf("outcomes %+v", ended)
	}
}

// A thousand sessions at once: each gets its own answer, and its record is its own.
func TestSessionsDoNotMix(t *testing.T) {
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		name := r.Header.Get("X-Claude-Code-Session-Id")
		if !strings.Contains(string(body), "I am "+name+".") {
			t.Errorf("session %s sends %.80q", name, body)
		}
		streams(strings.Replace(claudeReply, `"input_tokens":7`, `"input_tokens":`+name, 1), ": "+name+"\n\n", claudeStop)(w, r)
	}), func(o *Options) { o.Would = NewEstimator(&EpochOptions{}) })
	s.client.Transport = &http.Transport{MaxConnsPerHost: 200, MaxIdleConnsPerHost: 200}
	n := amount(t, "CARREL_TEST_SESSIONS", 1000)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			name := strconv.Itoa(1000 + i)
			said := `{"role":"user","content":"I am ` + name + `.` + strings.Repeat(" So it is.", i) + `"}`
			for call := range 2 {
				body := `{"model":"m","stream":true,"messages":[` + said + strings.Repeat(`,{"role":"assistant","content":"ok"},`+said, call) + `]}`
				_, text, err := s.ask("POST", "/v1/messages", body, "X-Claude-Code-Session-Id", name)
				if err != nil || !strings.Contains(text, ": "+name+"\n\n") {
					t.Errorf("session %s got %q, %v", name, text, err)
				}
			}
		})
	}
	all.Wait()
	begun, ended := s.recorder.calls()
	if len(begun) != 2*n || len(ended) != 2*n {
		t.Errorf("%d intents and %d outcomes of %d calls", len(begun), len(ended), 2*n)
	}
	for id, out := range ended {
		var at int
		if _, err := fmt.Sscanf(id, "call_%d", &at); err != nil {
			t.Fatal(err)
		}
		want := len(fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":"I am %d.%s"}]}`, out.Usage.Input, strings.Repeat(" So it is.", int(out.Usage.Input)-1000)))
		if begun[at].Messages == 1 && begun[at].Bytes != want {
			t.Errorf("the call of session %d had %d bytes, recorded are %d", out.Usage.Input, want, begun[at].Bytes)
		}
	}
	s.proxy.Close(t.Context())
	if got := s.proxy.Traffic(); got.Sessions != n || got.Unkept != 0 {
		t.Errorf("traffic %+v", got)
	}
}

// A script is a manager that does what a test says.
type script struct {
	prepare func(ctx context.Context, q *wire.Request) (*Prepared, error)
	refused func(q *wire.Request, p *Prepared, status int, body []byte) (*Prepared, error)

	mu   sync.Mutex
	done []*Prepared
}

func (m *script) Prepare(ctx context.Context, q *wire.Request) (*Prepared, error) {
	return m.prepare(ctx, q)
}

func (m *script) Refused(_ context.Context, q *wire.Request, p *Prepared, status int, body []byte) (*Prepared, error) {
	return m.refused(q, p, status, body)
}

func (m *script) Done(_ *wire.Request, p *Prepared, _ *wire.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = append(m.done, p)
}

// What a manager decides is sent, recorded and told; what it does not decide in time is not.
func TestManagers(t *testing.T) {
	const other = `{"model":"m","messages":[]}`
	sent := digest.Of([]byte("sent"))
	changed := func(context.Context, *wire.Request) (*Prepared, error) {
		return &Prepared{Body: []byte(other), Reason: "same epoch", Epoch: 3, Sent: sent}, nil
	}
	refuse := func(http.ResponseWriter, *http.Request, string) bool { return false }
	for name, tt := range map[string]struct {
		manager *script
		refuse  func(w http.ResponseWriter, r *http.Request, body string) bool
		holdout bool
		want    []string // bodies that are sent
		status  int
		text    string
		managed bool
		reason  string
		done    int
	}{
		"it changes the body": {manager: &script{prepare: changed}, want: []string{other}, managed: true, reason: "same epoch", done: 1},
		"it changes nothing": {
			manager: &script{prepare: func(context.Context, *wire.Request) (*Prepared, error) { return &Prepared{Reason: "side call"}, nil }},
			want:    []string{claudeBody}, reason: "side call", done: 1,
		},
		"it decides nothing": {manager: &script{prepare: func(context.Context, *wire.Request) (*Prepared, error) { return nil, nil }}, want: []string{claudeBody}},
		"it fails": {
			manager: &script{prepare: func(context.Context, *wire.Request) (*Prepared, error) { return nil, errors.New("no") }},
			want:    []string{claudeBody}, reason: "not managed: error",
		},
		"it is slow": {
			manager: &script{prepare: func(ctx context.Context, _ *wire.Request) (*Prepared, error) { <-ctx.Done(); return nil, ctx.Err() }},
			want:    []string{claudeBody}, reason: "not managed: too slow",
		},
		"it answers itself": {
			manager: &script{prepare: func(context.Context, *wire.Request) (*Prepared, error) {
				return &Prepared{Reason: "answered", Reply: &Reply{Header: http.Header{"X-Carrel-Answer": {"yes"}}, Body: []byte("own")}}, nil
			}},
			text: "own", managed: true, reason: "answered", done: 1,
		},
		"the session is held out": {manager: &script{prepare: changed}, holdout: true, want: []string{claudeBody}, reason: "holdout"},
		"it sends the original after a refusal": {
			manager: &script{prepare: changed, refused: func(_ *wire.Request, _ *Prepared, status int, body []byte) (*Prepared, error) {
				if status != 400 || string(body) != "bad" {
					return nil, errors.New("another refusal")
				}
				return &Prepared{Reason: "after a refusal"}, nil
			}},
			refuse: func(w http.ResponseWriter, _ *http.Request, body string) bool {
				if body == other {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, "bad")
				}
				return body == other
			},
			want: []string{other, claudeBody}, reason: "after a refusal", done: 1,
		},
		"it leaves a refusal": {
			manager: &script{prepare: changed, refused: func(*wire.Request, *Prepared, int, []byte) (*Prepared, error) { return nil, nil }},
			refuse: func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				w.WriteHeader(http.StatusBadRequest)
				return true
			},
			want: []string{other}, status: 400, managed: true, reason: "same epoch", done: 1,
		},
		"it fails after a refusal": {
			manager: &script{prepare: changed, refused: func(*wire.Request, *Prepared, int, []byte) (*Prepared, error) {
				return &Prepared{Reason: "after a refusal"}, errors.New("no")
			}},
			refuse: func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				w.WriteHeader(499)
				return true
			},
			want: []string{other}, status: 499, managed: true, reason: "same epoch", done: 1,
		},
		"the provider fails": {
			manager: &script{prepare: changed, refused: func(*wire.Request, *Prepared, int, []byte) (*Prepared, error) { return &Prepared{}, nil }},
			refuse: func(w http.ResponseWriter, _ *http.Request, _ string) bool {
				w.WriteHeader(http.StatusInternalServerError)
				return true
			},
			want: []string{other}, status: 500, managed: true, reason: "same epoch", done: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.refuse == nil {
				tt.refuse = refuse
			}
			var bodies []string
			s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(body))
				if r.ContentLength != int64(len(body)) {
					t.Errorf("length %d of %d bytes", r.ContentLength, len(body))
				}
				if !tt.refuse(w, r, string(body)) {
					streams(claudeReply, claudeStop)(w, r)
				}
			}), func(o *Options) {
				o.Manager = tt.manager
				if name == "it is slow" {
					o.Prepare = 1
				}
				if tt.holdout {
					o.Holdout = 1_000_000
				}
			})
			resp, text, err := s.ask("POST", "/v1/messages", claudeBody, "X-Claude-Code-Session-Id", "abc")
			status, want := tt.status, tt.text
			if status == 0 {
				status = http.StatusOK
			}
			if want == "" && status == http.StatusOK {
				want = claudeReply + claudeStop
			}
			if err != nil || resp.StatusCode != status || text != want {
				t.Errorf("got %v, %q, %v", resp, text, err)
			}
			if diff := cmp.Diff(tt.want, bodies); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			begun, ended := s.recorder.calls()
			sendings := max(1, len(tt.want))
			if len(begun) != sendings || len(ended) != sendings || len(tt.manager.done) != tt.done {
				t.Fatalf("%d intents, %d outcomes, told %d times", len(begun), len(ended), len(tt.manager.done))
			}
			in := begun[0]
			if name == "it sends the original after a refusal" {
				if in := begun[1]; in.Managed || in.Reason != tt.reason || in.Bytes != 0 || in.SentBytes != len(claudeBody) || in.Sent != in.Chain {
					t.Errorf("intent of the original %+v", in)
				}
				if first, then := ended["call_0"], ended["call_1"]; first.Status != 400 || first.State != store.CallFailed || first.Received != len("bad") || then.Status != 200 || then.State != store.CallDone {
					t.Errorf("outcomes %+v and %+v", first, then)
				}
				tt.managed, tt.reason = true, "same epoch" // of what was refused
			}
			if in.Managed != tt.managed || in.Reason != tt.reason || in.Holdout != tt.holdout || in.Bytes != len(claudeBody) {
				t.Errorf("intent %+v", in)
			}
			if tt.managed && tt.text == "" && (in.SentBytes != len(other) || in.Sent != sent || in.Epoch != 3) {
				t.Errorf("intent %+v", in)
			}
		})
	}
}

// What goes out after a refusal is not sent before its intent is recorded.
func TestNothingIsSentAgainBeforeItsIntent(t *testing.T) {
	intents, bodies := 0, 0
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		bodies++
		w.WriteHeader(http.StatusBadRequest)
	}), func(o *Options) {
		o.Required = true
		o.Manager = &script{
			prepare: func(context.Context, *wire.Request) (*Prepared, error) {
				return &Prepared{Body: []byte(`{"model":"m","messages":[]}`), Reason: "same epoch"}, nil
			},
			refused: func(*wire.Request, *Prepared, int, []byte) (*Prepared, error) {
				return &Prepared{Reason: "stopped"}, nil
			},
		}
	})
	s.recorder.begin = func(context.Context) error {
		if intents++; intents > 1 {
			return errors.New("the disk is full")
		}
		return nil
	}
	resp, text, err := s.ask("POST", "/v1/messages", claudeBody)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "could not be recorded") || intents != 2 || bodies != 1 {
		t.Errorf("got %v, %q, %v after %d intents and %d bodies", resp, text, err, intents, bodies)
	}
}

// A manager reads a refusal without its compression; the client gets it as it came. What is sent
// then is another request, which has no Idempotency-Key of the first.
func TestCompressedRefusals(t *testing.T) {
	const text = `{"type":"error","error":{"type":"invalid_request_error","message":"no thinking block"}}`
	pack := func(open func(io.Writer) io.WriteCloser) string {
		var out bytes.Buffer
		z := open(&out)
		_, err := io.WriteString(z, text)
		if err = errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	zipped := pack(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	for _, tt := range []struct {
		name, encoding, body, want string
	}{
		{"plain", "", text, text},
		{"identity", "identity", text, text},
		{"gzip", "gzip", zipped, text},
		{"GZIP", "GZIP", zipped, text},
		{"br", "br", pack(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }), text},
		{"zstd", "zstd", pack(func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return z
		}), text},
		{"an encoding that is not known", "odd", "odd bytes", "odd bytes"},
		{"gzip that is none", "gzip", text, text},
		{"gzip that is cut", "gzip", zipped[:len(zipped)-8], text},
		{"gzip that is cut behind its head", "gzip", zipped[:10], zipped[:10]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var keys, told []string
			m := &script{
				prepare: func(context.Context, *wire.Request) (*Prepared, error) {
					return &Prepared{Body: []byte(`{"model":"m","messages":[]}`), Reason: "same epoch"}, nil
				},
				refused: func(_ *wire.Request, _ *Prepared, _ int, body []byte) (*Prepared, error) {
					if told = append(told, string(body)); len(told) == 1 {
						return nil, nil
					}
					return &Prepared{Reason: "after a refusal"}, nil
				},
			}
			s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				if string(body) == claudeBody {
					streams(claudeReply, claudeStop)(w, r)
					return
				}
				if tt.encoding != "" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, tt.body)
			}), func(o *Options) { o.Manager = m })
			for _, want := range []string{tt.body, claudeReply + claudeStop} {
				if _, got, err := s.ask("POST", "/v1/messages", claudeBody, "Accept-Encoding", "gzip, br, zstd", "Idempotency-Key", "k"); err != nil || got != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
			}
			if diff := cmp.Diff([]string{tt.want, tt.want}, told); diff != "" {
				t.Errorf("the manager reads (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"k", "k", ""}, keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// A recallScript is a script that also answers calls of ToolRecall.
type recallScript struct{ *script }

func (recallScript) Recall(context.Context, string) string { return "" }

func (recallScript) Recalled(context.Context, *wire.Request, *Prepared, *weave.Reply) error {
	return nil
}

// A model that recalls in every round is stopped. The client is told so, and each round is recorded
// with what the provider counted.
func TestRecallsWithoutEnd(t *testing.T) {
	m := recallScript{&script{prepare: func(context.Context, *wire.Request) (*Prepared, error) {
		return &Prepared{Body: []byte(claudeBody), Reason: "same epoch", Recall: true}, nil
	}}}
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"message","content":[{"type":"tool_use","id":"t","name":"`+ToolRecall+`","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":7}}`)
	}), func(o *Options) { o.Manager = m })
	resp, text, err := s.ask("POST", "/v1/messages", claudeBody)
	if err != nil || resp.StatusCode != http.StatusBadGateway || !strings.Contains(text, "in more than 8 rounds") {
		t.Errorf("got %v, %s, %v", resp, text, err)
	}
	begun, ended := s.recorder.calls()
	if len(begun) != 1+maxRounds || len(ended) != len(begun) {
		t.Fatalf("%d intents and %d outcomes, want %d", len(begun), len(ended), 1+maxRounds)
	}
	for id, out := range ended {
		if out.Status != http.StatusOK || out.Usage.Input != 7 || (out.State == store.CallFailed) != (id == "call_8") {
			t.Errorf("%s: recorded %+v", id, out)
		}
	}
	if got := s.proxy.Traffic(); got.Used != 1+maxRounds || got.Prompt != 7*(1+maxRounds) || got.Failed != 1 {
		t.Errorf("traffic %+v", got)
	}
}

// An answer that the proxy reads whole may come slowly, as any other.
func TestSlowAnswersThatAreReadWhole(t *testing.T) {
	const text = `{"type":"message","content":[],"stop_reason":"end_turn"}`
	play(t, func(o *Options) {
		o.Idle = time.Minute
		o.Manager = recallScript{&script{prepare: func(context.Context, *wire.Request) (*Prepared, error) {
			return &Prepared{Body: []byte(claudeBody), Reason: "same epoch", Recall: true}, nil
		}}}
	}, func(c *lineConn, _ *http.Request) {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(text))
		for i := 0; i < len(text); i += 8 {
			<-time.After(40 * time.Second)
			_, _ = io.WriteString(c, text[i:i+8])
		}
		waitUntilLeft(c)
	}, func(t *testing.T, s *scene) {
		if resp, got, err := s.hear(t, "/v1/messages", claudeBody); err != nil || resp.StatusCode != http.StatusOK || string(got) != text {
			t.Errorf("got %v, %q, %v", resp, got, err)
		}
	})
}

// An answer that can have no call of the tool passes as it came, and is recorded, though the tool
// was offered.
func TestAnswersThatCannotRecall(t *testing.T) {
	var z bytes.Buffer
	g := gzip.NewWriter(&z)
	_, err := io.WriteString(g, `{"an":"answer"}`)
	if err = errors.Join(err, g.Close()); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"text/plain", "application/problem+json", ""} {
		m := recallScript{&script{prepare: func(context.Context, *wire.Request) (*Prepared, error) {
			return &Prepared{Body: []byte(claudeBody), Reason: "same epoch", Recall: true}, nil
		}}}
		s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if kind != "" {
				w.Header().Set("Content-Type", kind)
			}
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Length", strconv.Itoa(z.Len()))
			_, _ = w.Write(z.Bytes())
		}), func(o *Options) { o.Manager = m })
		resp, text, err := s.ask("POST", "/v1/messages", claudeBody)
		if err != nil || text != z.String() || resp.Header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Content-Length") != strconv.Itoa(z.Len()) {
			t.Errorf("%q: got %q with %v, %v", kind, text, resp.Header, err)
		}
		_, ended := s.recorder.calls()
		if out := ended["call_0"]; out.Received != z.Len() || out.First.IsZero() || out.State != store.CallDone {
			t.Errorf("%q: recorded %+v", kind, out)
		}
	}
}
