package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A book is a recorder in memory.
type book struct {
	mu    sync.Mutex
	begun []api.BeginRequest
	ended map[string]api.EndRequest

	begin, end func(ctx context.Context) error // what happens before something is written
}

func (b *book) Begin(ctx context.Context, _ governance.Scope, in *api.BeginRequest) (*api.BeginResult, error) {
	if b.begin != nil {
		if err := b.begin(ctx); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun = append(b.begun, *in)
	return &api.BeginResult{Call: fmt.Sprintf("call_%d", len(b.begun)-1)}, nil
}

func (b *book) End(ctx context.Context, _ governance.Scope, out *api.EndRequest) (*api.EndResult, error) {
	if b.end != nil {
		if err := b.end(ctx); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended == nil {
		b.ended = make(map[string]api.EndRequest)
	}
	if _, twice := b.ended[out.Call]; twice {
		return nil, fmt.Errorf("%s has ended already", out.Call)
	}
	b.ended[out.Call] = *out
	return &api.EndResult{}, nil
}

// calls returns the intents and outcomes so far.
func (b *book) calls() ([]api.BeginRequest, map[string]api.EndRequest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.begun), maps.Clone(b.ended)
}

// A shelf is an importer in memory.
type shelf struct {
	mu sync.Mutex
	in []*api.ImportRequest
}

func (s *shelf) Import(_ context.Context, _ governance.Scope, in *api.ImportRequest) (*api.ImportResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.in = append(s.in, in)
	return &api.ImportResult{Session: transcript.SessionID("s_" + in.Name), Format: in.Format}, nil
}

// A stage is a proxy between a test and a provider.
type stage struct {
	t        *testing.T
	proxy    *Proxy
	url      string // of the proxy
	client   *http.Client
	recorder *book
	shelf    *shelf
	close    func() // when all calls are over; may be called again
}

// newStage returns a stage over a provider. Options are changed before they are used.
func newStage(t *testing.T, provider http.Handler, change ...func(*Options)) *stage {
	t.Helper()
	up := httptest.NewServer(provider)
	t.Cleanup(up.Close)
	return newStageAt(t, up.URL, change...)
}

func newStageAt(t *testing.T, upstream string, change ...func(*Options)) *stage {
	t.Helper()
	s := &stage{t: t, recorder: &book{}, shelf: &shelf{}, client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	o := &Options{Upstreams: Upstreams{upstream, upstream + "/v1"}, Recorder: s.recorder, Importer: s.shelf}
	o.Wait = time.Minute // a busy machine is no reason for a gap in the record
	for _, c := range change {
		c(o)
	}
	var err error
	if s.proxy, err = New(o); err != nil {
		t.Fatal(err)
	}
	down := httptest.NewUnstartedServer(s.proxy)
	down.Config = s.proxy.Server()
	down.Start()
	s.url = down.URL
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.close = sync.OnceFunc(func() {
		s.client.CloseIdleConnections()
		down.Close()
		s.proxy.Close(context.Background())
	})
	t.Cleanup(s.close)
	return s
}

// ask sends a request and returns the answer, read to its end.
func (s *stage) ask(method, path, body string, headers ...string) (*reply, string, error) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return &reply{resp.StatusCode, resp.Header}, string(text), err
}

// A reply is the head of an answer.
type reply struct {
	StatusCode int
	Header     http.Header
}

const (
	claudeBody  = `{"model":"claude-opus-5-5","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"},{"role":"user","content":"and?"}]}`
	claudeReply = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-opus-5-5\",\"usage\":{\"input_tokens\":7,\"cache_read_input_tokens\":90,\"output_tokens\":1}}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n"
	claudeStop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

// streams answers with a stream.
func streams(parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range parts {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// A call is recorded, and its conversation is imported.
func TestCallIsRecorded(t *testing.T) {
	s := newStage(t, streams(claudeReply, claudeStop))
	resp, text, err := s.ask("POST", "/v1/messages?beta=true", claudeBody, "X-Claude-Code-Session-Id", "abc")
	if err != nil || resp.StatusCode != http.StatusOK || text != claudeReply+claudeStop {
		t.Fatalf("got %v, %q, %v", resp, text, err)
	}
	begun, ended := s.recorder.calls()
	if len(begun) != 1 || begun[0].Dialect != "anthropic" || begun[0].Model != "claude-opus-5-5" || begun[0].Messages != 3 || begun[0].Bytes != len(claudeBody) {
		t.Errorf("intents: %+v", begun)
	}
	want := map[string]api.EndRequest{"call_0": {Call: "call_0", State: store.CallDone, CallOutcome: api.CallOutcome{
		Status: http.StatusOK, Stop: "end_turn", Received: len(text), First: ended["call_0"].First, Usage: api.Usage{Input: 7, CacheRead: 90, Output: 5},
	}}}
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	s.proxy.Close(t.Context())
	if len(s.shelf.in) != 1 || string(s.shelf.in[0].Data) != claudeBody || s.shelf.in[0].Format != "anthropic" {
		t.Fatalf("imports: %+v", s.shelf.in)
	}
	if want := "an-" + strings.TrimPrefix(s.shelf.in[0].Name, transcript.ThreadName("")); string(begun[0].Session) != want {
		t.Errorf("the intent names session %q, want %q", begun[0].Session, want)
	}
	if got := s.proxy.Traffic(); got.Calls != 1 || got.Gaps != 0 || got.Prompt != 97 || got.Cached != 90 || got.Output != 5 || got.Kept != 1 || got.Sessions != 1 {
		t.Errorf("traffic: %+v", got)
	}
}

// The end of an answer waits for the outcome; what stands before it does not.
func TestEndWaitsForTheOutcome(t *testing.T) {
	read, gate := make(chan struct{}), make(chan struct{})
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streams(claudeReply)(w, r)
		<-read // else both parts may reach the proxy as one, which is withheld whole
		streams(claudeStop)(w, r)
	}))
	s.recorder.end = func(context.Context) error { <-gate; return nil }
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/messages", strings.NewReader(claudeBody))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(req) //nolint:bodyclose // it is, when the test ends
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	head := make([]byte, len(claudeReply))
	if _, err := io.ReadFull(resp.Body, head); err != nil || string(head) != claudeReply {
		t.Fatalf("got %q, %v", head, err)
	}
	close(read)
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(resp.Body)
		rest <- string(text)
	}()
	select {
	case text := <-rest:
		t.Fatalf("%q came before the outcome was recorded", text)
	default:
	}
	close(gate)
	if text := <-rest; text != claudeStop {
		t.Errorf("the end is %q", text)
	}
}

// Nothing is sent before the intent is recorded.
func TestNothingIsSentBeforeTheIntent(t *testing.T) {
	sent := make(chan struct{}, 1)
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- struct{}{}
		streams(claudeReply, claudeStop)(w, r)
	}))
	s.recorder.begin = func(context.Context) error {
		select {
		case <-sent:
			return errors.New("it was sent already")
		default:
			return nil
		}
	}
	if _, text, err := s.ask("POST", "/v1/messages", claudeBody); err != nil || text != claudeReply+claudeStop {
		t.Errorf("got %q, %v", text, err)
	}
	if begun, _ := s.recorder.calls(); len(begun) != 1 {
		t.Errorf("%d intents", len(begun))
	}
}

// A record that fails or hangs does not stop a call, but is counted as a gap.
func TestGapsPass(t *testing.T) {
	fails := func(context.Context) error { return errors.New("the disk is full") }
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, tt := range map[string]struct {
		begin, end func(context.Context) error
		gaps       int64
	}{
		"an intent that fails":   {fails, nil, 1},
		"an intent that hangs":   {hangs, nil, 1},
		"an outcome that fails":  {nil, fails, 1},
		"an outcome that hangs":  {nil, hangs, 1},
		"neither can be written": {fails, fails, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, streams(claudeReply, claudeStop), func(o *Options) { o.Wait = time.Millisecond })
			var mended atomic.Bool
			until := func(do func(context.Context) error) func(context.Context) error {
				return func(ctx context.Context) error {
					if do == nil || mended.Load() {
						return nil
					}
					return do(ctx)
				}
			}
			s.recorder.begin, s.recorder.end = until(tt.begin), until(tt.end)
			if resp, text, err := s.ask("POST", "/v1/messages", claudeBody); err != nil || text != claudeReply+claudeStop || resp.StatusCode != http.StatusOK {
				t.Errorf("got %q, %v", text, err)
			}
			if got := s.proxy.Traffic(); got.Gaps != tt.gaps || got.Calls != 1 {
				t.Errorf("traffic: %+v", got)
			}
			mended.Store(true)
			for range 100 { // while a write hangs none is tried
				if _, _, err := s.ask("POST", "/v1/messages", claudeBody); err != nil {
					t.Fatal(err)
				}
				if begun, _ := s.recorder.calls(); len(begun) > 0 && begun[len(begun)-1].Gaps > 0 {
					break
				}
			}
			told := 0
			begun, _ := s.recorder.calls()
			for i := range begun {
				told += begun[i].Gaps
			}
			if all := s.proxy.Traffic().Gaps; int64(told) < tt.gaps || int64(told) > all { // the machine may make more
				t.Errorf("of %d gaps later calls tell %d", all, told)
			}
		})
	}
}

// Where calls have to be recorded, one that cannot be is not sent, and one whose outcome
// cannot be ends as failed, without its end.
func TestRequiredRecords(t *testing.T) {
	fails := func(context.Context) error { return errors.New("the disk is full") }
	required := func(o *Options) { o.Required, o.Wait = true, time.Second }
	if p, err := New(&Options{Required: true}); err == nil {
		t.Errorf("got %v, want an error, as nothing records", p)
	}
	t.Run("intent", func(t *testing.T) {
		s := newStage(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was sent") }), required)
		s.recorder.begin = fails
		resp, text, err := s.ask("POST", "/v1/messages", claudeBody)
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, `"type":"error"`) || !strings.Contains(text, "nothing was sent") {
			t.Errorf("got %v, %q, %v", resp, text, err)
		}
		if got := s.proxy.Traffic(); got.Calls != 1 || got.Failed != 1 || got.BytesIn != int64(len(claudeBody)) {
			t.Errorf("traffic: %+v", got)
		}
	})
	for _, tt := range []struct{ path, kind, body, reply, end, want string }{
		{"/v1/messages", "text/event-stream", claudeBody, claudeReply, claudeStop, "event: error\ndata: {\"error\":{\"message\":\"carrel proxy: the outcome"},
		{"/v1/chat/completions", "text/event-stream", `{"messages":[]}`, "data: {\"choices\":[]}\n\n", "data: [DONE]\n\n", "data: {\"error\":{\"code\":\"api_error\",\"message\":\"carrel proxy: the outcome"},
		{"/v1/responses", "text/event-stream", `{"input":"x"}`, "event: response.created\ndata: {}\n\n", "event: response.completed\ndata: {}\n\n", "event: error\ndata: {\"code\":\"api_error\",\"message\":\"carrel proxy: the outcome"},
		{"/v1/responses", "application/json", `{"input":"x"}`, `{"id":"r","output":[]`, `}`, ""},
	} {
		t.Run("outcome of "+tt.path+" "+tt.kind, func(t *testing.T) {
			for _, pieces := range [][]string{{tt.reply, tt.end}, {tt.reply + tt.end}} {
				s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tt.kind)
					for _, p := range pieces {
						_, _ = io.WriteString(w, p)
						_ = http.NewResponseController(w).Flush()
					}
				}), required)
				s.recorder.end = fails
				_, text, err := s.ask("POST", tt.path, tt.body)
				if err == nil {
					t.Error("the answer ended well")
				}
				if rest, ok := strings.CutPrefix(text, tt.reply); !ok || !strings.HasPrefix(rest, tt.want) || strings.Contains(rest, strings.TrimSpace(tt.end)+"\n") || tt.want == "" && rest != "" {
					t.Errorf("got %q", text)
				}
				if got := s.proxy.Traffic(); got.Gaps != 1 {
					t.Errorf("traffic: %+v", got)
				}
			}
		})
	}
}

// The end of an answer without a body is its headers: they wait, too.
func TestAnswersWithoutABody(t *testing.T) {
	provider := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	for range 50 {
		s := newStage(t, provider)
		resp, _, err := s.ask("POST", "/v1/messages", claudeBody)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests {
			t.Fatalf("got %v, %v", resp, err)
		}
		if _, ended := s.recorder.calls(); len(ended) != 1 || ended["call_0"].State != store.CallFailed {
			t.Fatalf("outcomes %+v", ended)
		}
	}
	s := newStage(t, provider, func(o *Options) { o.Required = true })
	s.recorder.end = func(context.Context) error { return errors.New("the disk is full") }
	if resp, text, err := s.ask("POST", "/v1/messages", claudeBody); err != nil || resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "could not be recorded") {
		t.Errorf("got %v, %q, %v", resp, text, err)
	}
}

// The metrics count calls by their outcome, what the provider reports of its cache, and gaps.
func TestCallsAreMeasured(t *testing.T) {
	metrics := &telemetry.Registry{}
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "refused" {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		streams(claudeReply, claudeStop)(w, r)
	}), func(o *Options) { o.Metrics = metrics })
	if _, _, err := s.ask("POST", "/v1/messages", claudeBody); err != nil {
		t.Fatal(err)
	}
	s.recorder.end = func(context.Context) error { return errors.New("the disk is full") }
	if _, _, err := s.ask("POST", "/v1/messages?refused", claudeBody); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if _, err := metrics.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`carrel_calls_total{dialect="anthropic",outcome="done"} 1`, `carrel_calls_total{dialect="anthropic",outcome="failed"} 1`,
		`carrel_cache_tokens_total{kind="none"} 7`, `carrel_cache_tokens_total{kind="read"} 90`, `carrel_output_tokens_total 5`,
		`carrel_proxy_overhead_seconds_count 2`, `carrel_proxy_gaps_total{what="outcome"} 1`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("the metrics have no line %s:\n%s", want, text.String())
		}
	}
}

// A write that hangs keeps nobody else waiting.
func TestNobodyWaitsBehindAHangingRecord(t *testing.T) {
	gate := make(chan struct{})
	defer close(gate)
	s := newStage(t, streams(claudeReply, claudeStop), func(o *Options) { o.Wait = time.Millisecond })
	s.recorder.begin = func(context.Context) error { <-gate; return nil }
	for range 5 {
		if _, text, err := s.ask("POST", "/v1/messages", claudeBody); err != nil || text != claudeReply+claudeStop {
			t.Errorf("got %q, %v", text, err)
		}
	}
	if got := s.proxy.Traffic(); got.Gaps != 5 {
		t.Errorf("traffic: %+v", got)
	}
	if n := s.proxy.stuck.Load(); n != 1 {
		t.Errorf("%d writes hang, want the first alone", n)
	}
}

// Requests that are not of programs of this machine are refused, and nothing is sent.
func TestWhoMayAsk(t *testing.T) {
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "passed") }))
	for name, tt := range map[string]struct {
		status  int
		headers []string
	}{
		"a program":                      {200, nil},
		"a program that says localhost":  {200, []string{"Host", "localhost"}},
		"another name":                   {421, []string{"Host", "evil.example"}},
		"a page":                         {403, []string{"Origin", "https://evil.example"}},
		"a page of this very server":     {403, []string{"Origin", "http://127.0.0.1"}},
		"a page that says nothing":       {403, []string{"Sec-Fetch-Site", "cross-site"}},
		"a page of the same site":        {403, []string{"Sec-Fetch-Site", "same-origin"}},
		"a person who types the address": {200, []string{"Sec-Fetch-Site", "none"}},
		"a websocket":                    {426, []string{"Upgrade", "websocket", "Connection", "Upgrade"}},
	} {
		t.Run(name, func(t *testing.T) {
			resp, text, err := s.ask("GET", "/v1/responses", "", tt.headers...)
			if err != nil || resp.StatusCode != tt.status || (text == "passed") != (tt.status == 200) {
				t.Errorf("got %v, %q, %v", resp, text, err)
			}
			if tt.status == 426 && !strings.Contains(text, "supports_websockets = false") {
				t.Errorf("no hint: %q", text)
			}
		})
	}
}

// A key is sent only to its own provider.
func TestWhereRequestsGo(t *testing.T) {
	answer := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %s", name, r.RequestURI) })
	}
	a, o := httptest.NewServer(answer("anthropic")), httptest.NewServer(answer("openai"))
	defer a.Close()
	defer o.Close()
	s := newStageAt(t, a.URL, func(opts *Options) { opts.Upstreams = Upstreams{a.URL + "/gate%2Fway/", o.URL + "/base/v1"} })
	for _, tt := range []struct {
		method, path, header, value, want string
	}{
		{"POST", "/v1/messages?beta=true", "X-Api-Key", "k", "anthropic /gate%2Fway/v1/messages?beta=true"},
		{"POST", "/v1/messages/count_tokens", "Authorization", "Bearer k", "anthropic /gate%2Fway/v1/messages/count_tokens"},
		{"POST", "/v1/chat/completions", "Authorization", "Bearer k", "openai /base/v1/chat/completions"},
		{"POST", "/chat/completions", "Authorization", "Bearer k", "openai /base/v1/chat/completions"},
		{"POST", "/v1/responses/compact", "Authorization", "Bearer k", "openai /base/v1/responses/compact"},
		{"GET", "/v1/responses/r_1?x=%20;y", "Authorization", "Bearer k", "openai /base/v1/responses/r_1?x=%20;y"},
		{"GET", "/v1/models", "Authorization", "Bearer k", ""},
		{"GET", "/v1/models", "X-Api-Key", "k", "anthropic /gate%2Fway/v1/models"},
		{"GET", "/v1/models", "Anthropic-Version", "2023-06-01", "anthropic /gate%2Fway/v1/models"},
		{"GET", "/v1/models", "Openai-Organization", "o", "openai /base/v1/models"},
		{"GET", "/v1/models", "Authorization", "Bearer sk-ant-oat01", "anthropic /gate%2Fway/v1/models"},
		{"GET", "/openai/v1/models", "Authorization", "Bearer k", "openai /base/v1/models"},
		{"GET", "/anthropic/v1/models", "Authorization", "Bearer k", "anthropic /gate%2Fway/v1/models"},
		{"GET", "/anthropic/v1/files/a%2Fb//c", "Authorization", "Bearer k", "anthropic /gate%2Fway/v1/files/a%2Fb//c"},
		{"GET", "/anthropical", "Authorization", "Bearer k", ""},
		{"GET", "/v1/messagesx", "Authorization", "Bearer k", ""},
		{"GET", "/", "User-Agent", "x", "anthropic /gate%2Fway/"},
		{"GET", "/?", "User-Agent", "x", "anthropic /gate%2Fway/?"},
		{"GET", "/any", "Cookie", "k", ""},
	} {
		resp, text, err := s.ask(tt.method, tt.path, "", tt.header, tt.value)
		if tt.want == "" {
			if err != nil || resp.StatusCode != http.StatusNotFound || !strings.Contains(text, "/anthropic or /openai") {
				t.Errorf("%s %s with %s: got %v, %q, %v", tt.method, tt.path, tt.header, resp, text, err)
			}
			continue
		}
		if err != nil || text != tt.want {
			t.Errorf("%s %s with %s: got %q, %v, want %q", tt.method, tt.path, tt.header, text, err, tt.want)
		}
	}
}

// A redirect is the client's to follow: the proxy sends no key anywhere else.
func TestRedirectsPass(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	for _, path := range []string{"/v1/messages", "/v1/messages/batches"} {
		resp, _, err := s.ask("POST", path, claudeBody, "X-Api-Key", "k")
		if err != nil || resp.StatusCode != http.StatusTemporaryRedirect || resp.Header.Get("Location") != other.URL {
			t.Errorf("%s: got %v, %v", path, resp, err)
		}
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What cannot be read passes as it came, and the record says why.
func TestUnreadableRequestsPass(t *testing.T) {
	var got []byte
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		streams(claudeReply, claudeStop)(w, r)
	}), func(o *Options) {
		o.MaxBody, o.Would = 1000, NewEstimator(&EpochOptions{})
		o.Manager = &script{prepare: func(context.Context, *wire.Request) (*Prepared, error) { return nil, nil }}
	})
	long := zipped(t, strings.Repeat("y", 1000))
	for _, tt := range []struct{ body, encoding, reason string }{
		{"7", "", "unreadable: object"},
		{`{"messages":[]}`, "identity", ""},
		{string(long[:len(long)-4]), "gzip", "unreadable encoding"},
		{"no JSON", "", "unreadable: object"},
		{`{"model":"a","model":"b"}`, "", "unreadable: twice"},
		{`{"messages":7}`, "", "unreadable"},
		{claudeBody, "gzip", "unreadable encoding"},
		{claudeBody, "rot13", "unreadable encoding"},
		{`{"messages":[],"x":"` + strings.Repeat("y", 1000) + `"}`, "", "too large"},
		{"", "", "unreadable"},
		{string(zipped(t, `{"messages":[],"x":"`+strings.Repeat("y", 1000)+`"}`)), "gzip", "too large"},
	} {
		headers := []string{}
		if tt.encoding != "" {
			headers = append(headers, "Content-Encoding", tt.encoding)
		}
		_, text, err := s.ask("POST", "/v1/messages", tt.body, headers...)
		if err != nil || string(got) != tt.body || text != claudeReply+claudeStop {
			t.Errorf("%.40q: sent %.40q, got %q, %v", tt.body, got, text, err)
		}
		begun, _ := s.recorder.calls()
		if last := begun[len(begun)-1]; last.Reason != tt.reason || last.Bytes != len(tt.body) {
			t.Errorf("%.40q: recorded %+v, want %q", tt.body, last, tt.reason)
		}
	}
	if len(s.shelf.in) != 0 {
		t.Errorf("%d imports", len(s.shelf.in))
	}
}

// Only a conversation that goes on is imported; of each the newest body.
func TestWhatIsImported(t *testing.T) {
	s := newStage(t, streams(claudeReply, claudeStop))
	one := `{"model":"m","tools":[{"name":"ls"}],"system":[{"type":"text","text":"x-anthropic-billing-header: cch=%d;"},{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":"hi"}%s]}`
	more := `,{"role":"assistant","content":"ho"},{"role":"user","content":"and?"}`
	for i, body := range []string{
		`{"model":"m","messages":[{"role":"user","content":"a title?"}]}`,
		fmt.Sprintf(one, 1, ""), fmt.Sprintf(one, 2, more), fmt.Sprintf(one, 3, more+more),
	} {
		if _, _, err := s.ask("POST", "/v1/messages", body, "X-Claude-Code-Session-Id", "abc"); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	s.proxy.Close(t.Context())
	if n := len(s.shelf.in); n < 1 || n > 2 {
		t.Fatalf("%d imports", n)
	}
	last := s.shelf.in[len(s.shelf.in)-1]
	want := strings.Replace(fmt.Sprintf(one, 3, more+more), `{"type":"text","text":"x-anthropic-billing-header: cch=3;"},`, "", 1)
	if string(last.Data) != want {
		t.Errorf("imported %q, want %q", last.Data, want)
	}
	if first := s.shelf.in[0]; first.Name != last.Name || !strings.HasPrefix(last.Name, transcript.ThreadName("")) {
		t.Errorf("names: %q, %q", first.Name, last.Name)
	}
}

// After the end of a call nothing uses the memory of its body.
func TestBodiesAreReleased(t *testing.T) {
	for name, provider := range map[string]http.HandlerFunc{
		"the body is read": streams(claudeReply, claudeStop),
		"it is answered at once": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusTooManyRequests)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, provider)
			var bodies []*payload
			s.recorder.begin = func(ctx context.Context) error {
				bodies = append(bodies, callOf(ctx).body)
				return nil
			}
			for range 3 {
				body := `{"model":"m","x":"` + strings.Repeat("y", 1<<20) + `","messages":[]}`
				if _, _, err := s.ask("POST", "/v1/messages", body); err != nil {
					t.Fatal(err)
				}
			}
			s.close()
			for i, b := range bodies {
				if n := b.users.Load(); n != 0 {
					t.Errorf("the body of call %d has %d users", i, n)
				}
			}
		})
	}
}

// Bodies of many sizes at once never mix, however their memory is used again.
func TestPayloads(t *testing.T) {
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			want := bytes.Repeat([]byte{byte(i)}, 1000*i+1)
			for range 50 {
				b, err := readPayload(bytes.NewReader(want), int64(len(want)), 1<<20)
				if err != nil {
					t.Error(err)
					return
				}
				r := b.reader()
				b.release()
				got, _ := io.ReadAll(r)
				if !bytes.Equal(got, want) {
					t.Error("a body was overwritten")
				}
				_ = r.Close()
				_ = r.Close() // which is no second user
				if n, err := r.Read(got); n > 0 || err == nil {
					t.Error("a body was read when it was closed")
				}
			}
		})
	}
	all.Wait()
}
