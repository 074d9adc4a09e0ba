package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/transcript"
)

const scope = governance.Scope("acme/web")

// A received is a request as the server saw it.
type received struct {
	Method, URI, Body string
	Header            http.Header
}

// A server answers in turn, the last answer again and again.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	seen    []received
	answers []http.HandlerFunc
}

func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.seen = append(s.seen, received{r.Method, r.RequestURI, string(body), r.Header})
	answer := s.answers[min(len(s.seen), len(s.answers))-1]
	s.mu.Unlock()
	answer(w, r)
}

// only returns the one request that there was.
func (s *server) only(t *testing.T) received {
	t.Helper()
	all := s.requests()
	if len(all) != 1 {
		t.Fatalf("%d requests, want 1", len(all))
	}
	return all[0]
}

// requests returns the requests that there were.
func (s *server) requests() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// result answers with a result.
func result(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			panic(err)
		}
	}
}

// problem answers with a problem.
func problem(err error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		p := api.NewProblem(err)
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(p.Status)
		if err := json.NewEncoder(w).Encode(p); err != nil {
			panic(err)
		}
	}
}

// status answers with a status and a text that is no problem.
func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, "<html>secret</html>")
	}
}

// hangUp drops the connection without an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// dial returns a client of a server that does not sleep but counts its pauses.
func dial(t *testing.T, url string, opts *Options) (*Client, *[]time.Duration) {
	t.Helper()
	c, err := New(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	pauses := new([]time.Duration)
	c.tries.Sleep = func(ctx context.Context, d time.Duration) error {
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	c.tries.Rand = func(int64) int64 { return 0 }
	t.Cleanup(c.http.CloseIdleConnections)
	return c, pauses
}

func TestRequestsAreAsTheTableHasThem(t *testing.T) {
	at := 2
	for _, tt := range []struct {
		name string
		call func(context.Context, *Client) error
		want received
	}{
		{
			"what stands in braces goes into the path, other fields of GET into the query",
			func(ctx context.Context, c *Client) error {
				_, err := c.Recall(ctx, scope, &api.RecallRequest{Block: "b/1 ?", Text: true, To: 7})
				return err
			},
			received{Method: "GET", URI: "/v1/items/b%2F1%20%3F?text=true&to=7"},
		},
		{
			"dots are a name and no way to go",
			func(ctx context.Context, c *Client) error {
				_, err := c.Why(ctx, scope, &api.BlockRequest{Block: ".."})
				return err
			},
			received{Method: "GET", URI: "/v1/items/%2E%2E/why"},
		},
		{
			"the other fields of POST are the body, and messages are sent byte for byte",
			func(ctx context.Context, c *Client) error {
				_, err := c.Append(ctx, scope, &api.AppendRequest{Session: "s", At: &at, Messages: []json.RawMessage{
					json.RawMessage(`{ "role" : "user",  "content":"<a & b>", "n": 1.0 }`), json.RawMessage(`{}`),
				}})
				return err
			},
			received{
				Method: "POST", URI: "/v1/sessions/s/messages",
				Body: `{"messages":[{ "role" : "user",  "content":"<a & b>", "n": 1.0 },{}],"at":2}`,
			},
		},
		{
			"a list that is not there is an empty one",
			func(ctx context.Context, c *Client) error {
				_, err := c.Remove(ctx, scope, &api.IDsRequest{})
				return err
			},
			received{Method: "POST", URI: "/v1/artifacts/remove", Body: `{"ids":[]}`},
		},
		{
			"what is false and has no omitempty is said",
			func(ctx context.Context, c *Client) error {
				_, err := c.Mark(ctx, scope, &api.MarkRequest{Session: "s"})
				return err
			},
			received{Method: "PUT", URI: "/v1/sessions/s/mark", Body: `{"critical":false}`},
		},
		{
			"what is embedded is spelled out, and a page is as long as it may be",
			func(ctx context.Context, c *Client) error {
				_, err := api.Items(c.Artifacts(ctx, scope, &api.ArtifactsRequest{All: true, Source: "a b"}))
				return err
			},
			received{Method: "GET", URI: "/v1/artifacts?all=true&limit=1000&source=a+b"},
		},
		{
			"a dot is one, too",
			func(ctx context.Context, c *Client) error {
				_, err := c.Why(ctx, scope, &api.BlockRequest{Block: "."})
				return err
			},
			received{Method: "GET", URI: "/v1/items/%2E/why"},
		},
		{
			"a list is sent as it is",
			func(ctx context.Context, c *Client) error {
				_, err := c.Remove(ctx, scope, &api.IDsRequest{IDs: []string{"a", "<b>"}})
				return err
			},
			received{Method: "POST", URI: "/v1/artifacts/remove", Body: `{"ids":["a","<b>"]}`},
		},
		{
			"what follows a field that is left out is there",
			func(ctx context.Context, c *Client) error {
				_, err := c.Undo(ctx, scope, &api.UndoRequest{Op: "op_1"})
				return err
			},
			received{Method: "POST", URI: "/v1/undo", Body: `{"op":"op_1"}`},
		},
		{
			"a file is the body as it is, and the fields on both sides of it are in the query",
			func(ctx context.Context, c *Client) error {
				_, err := c.Import(ctx, scope, &api.ImportRequest{Name: "a b", Data: []byte("{\n\x00"), DryRun: true})
				return err
			},
			received{Method: "POST", URI: "/v1/sessions?dry_run=true&name=a+b", Body: "{\n\x00"},
		},
		{
			"no request is an empty one",
			func(ctx context.Context, c *Client) error { _, err := c.Undo(ctx, scope, nil); return err },
			received{Method: "POST", URI: "/v1/undo", Body: `{}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, result(struct{}{}))
			c, _ := dial(t, s.URL, nil)
			if err := tt.call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			got := s.only(t)
			got.Header = nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeadersSayWhoAsksAndWhose(t *testing.T) {
	s := serve(t, result(api.UndoResult{}), result(api.StatsResult{}))
	c, _ := dial(t, s.URL, &Options{Credential: "tok_1.secret", UserAgent: "test/1"})
	if _, err := c.Undo(t.Context(), scope, &api.UndoRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stats(t.Context(), "", &api.SessionRequest{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	write, read := s.requests()[0].Header, s.requests()[1].Header
	for key, want := range map[string]string{
		"Carrel-Scope": "acme/web", "Authorization": "Bearer tok_1.secret", "User-Agent": "test/1",
		"Content-Type": "application/json", "Accept": "application/json",
	} {
		if got := write.Get(key); got != want {
			t.Errorf("%s of a write is %q, want %q", key, got, want)
		}
	}
	if write.Get("Idempotency-Key") == "" {
		t.Error("a write has no key")
	}
	for _, key := range []string{"Idempotency-Key", "Content-Type", "Carrel-Scope"} {
		if read.Values(key) != nil {
			t.Errorf("a read has %s: %q", key, read.Values(key))
		}
	}
}

func TestEachWriteHasAKeyOfItsOwnHoweverOftenItIsSent(t *testing.T) {
	s := serve(t, problem(store.ErrBusy), hangUp, result(api.UndoResult{Op: "op_1"}))
	c, pauses := dial(t, s.URL, nil)
	for range 2 {
		if res, err := c.Undo(t.Context(), scope, &api.UndoRequest{Session: "s"}); err != nil || res.Op != "op_1" {
			t.Fatal(res, err)
		}
	}
	var keys []string
	for _, r := range s.requests() {
		keys = append(keys, r.Header.Get(api.HeaderIdempotency))
		if r.Body != `{"session":"s"}` {
			t.Errorf("body %q", r.Body)
		}
	}
	// Package net/http itself sends a keyed request again on a connection that was
	// used before, so that there may be more requests than pauses.
	if last := len(keys) - 1; last < 3 || keys[0] == "" || keys[0] == keys[last] || len(slices.Compact(slices.Clone(keys))) != 2 {
		t.Errorf("keys are %q", keys)
	}
	if len(*pauses) == 0 || (*pauses)[0] != firstPause/2 {
		t.Errorf("pauses are %v", *pauses)
	}
}

func TestWhatMayPassIsTriedAgainAndNothingElse(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		times  int // that it is sent, with two retries
		is     error
		pauses []time.Duration
	}{
		{"busy", problem(fmt.Errorf("undo: %w", store.ErrBusy)), 3, store.ErrBusy, []time.Duration{firstPause / 2, firstPause}},
		{"a conflict", problem(fmt.Errorf("undo: %w", store.ErrConflict)), 1, store.ErrConflict, nil},
		{"given up", problem(context.Canceled), 1, context.Canceled, nil},
		{"time is up", problem(context.DeadlineExceeded), 1, context.DeadlineExceeded, nil},
		{"too many requests, with a pause", status(429, "Retry-After", "2"), 3, nil, []time.Duration{2 * time.Second, 2 * time.Second}},
		{"a pause that is too long", status(503, "Retry-After", "3600"), 1, nil, nil},
		{"the longest pause that a server may ask for", status(503, "Retry-After", "10"), 3, nil, []time.Duration{10 * time.Second, 10 * time.Second}},
		{"a pause that is no number", status(503, "Retry-After", "1a"), 3, nil, []time.Duration{firstPause / 2, firstPause}},
		{"a broken server", status(500), 1, nil, nil},
		{"a gateway", status(502), 1, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.answer)
			c, pauses := dial(t, s.URL, &Options{Retries: 2})
			_, err := c.Undo(t.Context(), scope, &api.UndoRequest{})
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %v", err, tt.is)
			}
			if len(s.requests()) != tt.times {
				t.Errorf("sent %d times, want %d", len(s.requests()), tt.times)
			}
			if diff := cmp.Diff(tt.pauses, *pauses); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
		})
	}
}

// Pauses double up to the longest, and half of each is left to chance.
func TestPausesGrowToTheLongest(t *testing.T) {
	s := serve(t, problem(store.ErrBusy))
	c, pauses := dial(t, s.URL, &Options{Retries: 9})
	var chances []int64
	c.tries.Rand = func(n int64) int64 {
		chances = append(chances, n)
		return n - 1
	}
	if _, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"}); !errors.Is(err, store.ErrBusy) {
		t.Fatal(err)
	}
	full := firstPause
	if len(*pauses) != 9 || len(chances) != 9 {
		t.Fatalf("%d pauses and %d chances, want 9", len(*pauses), len(chances))
	}
	for i, got := range *pauses {
		if got != full-1 || chances[i] != int64(full/2) {
			t.Errorf("pause %d is %v with a chance of %v, want %v and %v", i, got, time.Duration(chances[i]), full-1, full/2)
		}
		full = min(2*full, maxPause)
	}
}

func TestNoRetriesSendsOnce(t *testing.T) {
	s := serve(t, problem(store.ErrBusy))
	c, _ := dial(t, s.URL, &Options{Retries: NoRetries})
	if _, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"}); !errors.Is(err, store.ErrBusy) {
		t.Error(err)
	}
	s.only(t)
}

func TestAServerThatIsNotThereIsUnreachable(t *testing.T) {
	s := serve(t, hangUp)
	s.Close()
	c, pauses := dial(t, s.URL, nil)
	_, err := api.Items(c.Search(t.Context(), scope, &api.SearchRequest{Query: "a secret"}))
	if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "secret") || !strings.HasPrefix(err.Error(), "search: ") {
		t.Error(err)
	}
	if len(*pauses) != 3 {
		t.Errorf("pauses are %v", *pauses)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	other := serve(t, result(struct{}{}))
	for _, code := range []int{300, 301, 302, 303, 307, 308, 399} {
		s := serve(t, status(code, "Location", other.URL))
		c, _ := dial(t, s.URL, &Options{Credential: "tok", HTTPClient: new(http.Client)})
		if _, err := c.Undo(t.Context(), scope, nil); !errors.Is(err, ErrReply) {
			t.Errorf("%d: %v", code, err)
		}
		s.only(t)
	}
	s := serve(t, status(400, "Location", other.URL))
	c, _ := dial(t, s.URL, nil)
	_, err := c.Undo(t.Context(), scope, nil)
	if e, ok := errors.AsType[*Error](err); !ok || errors.Is(err, ErrReply) || e.Problem.Status != 400 || e.Error() != "the server answers with status 400 bad request" {
		t.Errorf("400: %v", err)
	}
	if len(other.seen) > 0 {
		t.Errorf("the other server was asked: %v", other.seen)
	}
}

func TestWhoGivesUpGetsNoFurtherTry(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	})
	c, pauses := dial(t, s.URL, nil)
	if _, err := c.Stats(ctx, scope, &api.SessionRequest{Session: "s"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(*pauses) > 0 {
		t.Errorf("pauses are %v", *pauses)
	}

	ctx, cancel = context.WithCancel(t.Context())
	s = serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); problem(store.ErrBusy)(w, r) })
	c, _ = dial(t, s.URL, nil)
	if _, err := c.Stats(ctx, scope, &api.SessionRequest{Session: "s"}); !errors.Is(err, context.Canceled) {
		t.Errorf("while waiting to try again: %v", err)
	}
	s.only(t)
}

func TestRepliesHaveALimit(t *testing.T) {
	s := serve(t, result(api.ReplayResult{Data: make([]byte, 1000)}))
	c, _ := dial(t, s.URL, &Options{MaxReply: 1000})
	if _, err := c.Replay(t.Context(), scope, &api.IDRequest{ID: "m_1"}); !errors.Is(err, ErrReply) {
		t.Error(err)
	}
	c, _ = dial(t, s.URL, nil)
	if data, err := c.Replay(t.Context(), scope, &api.IDRequest{ID: "m_1"}); err != nil || len(data.Data) != 1000 {
		t.Error(len(data.Data), err)
	}
	if c.opts.MaxReply != 256<<20 { // as is promised; to read so much takes too long
		t.Errorf("the default is %d bytes", c.opts.MaxReply)
	}
}

// Of what a server says why it refuses, 4 MiB are read: what is longer is no problem of
// Carrel's.
func TestProblemsHaveALimit(t *testing.T) {
	for size, want := range map[int]bool{4 << 20: true, 4<<20 + 1: false} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			data, err := json.Marshal(api.NewProblem(store.ErrNotFound))
			if err != nil {
				panic(err)
			}
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, strings.Repeat(" ", size-len(data)), string(data))
		})
		c, _ := dial(t, s.URL, nil)
		if _, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"}); err == nil || errors.Is(err, store.ErrNotFound) != want {
			t.Errorf("%d bytes: %v, want that it is understood: %v", size, err, want)
		}
	}
}

func TestARaggedReplyIsNoResult(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		is     error
	}{
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, ErrReply},
		{"of another type", result(map[string]any{"session": 7}), ErrReply},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"session":`)
		}, ErrUnreachable},
		{"a problem whose status is another", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			problem(store.ErrNotFound)(w, r)
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.answer)
			c, _ := dial(t, s.URL, nil)
			res, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"})
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || errors.Is(err, store.ErrNotFound) {
				t.Errorf("%v, %v, want %v", res, err, tt.is)
			}
		})
	}
}

func TestBodiesAreClosed(t *testing.T) {
	s := serve(t, result(struct{}{}), problem(store.ErrNotFound), status(302), problem(store.ErrBusy))
	rt := &closing{base: http.DefaultTransport}
	c, _ := dial(t, s.URL, &Options{HTTPClient: &http.Client{Transport: rt}})
	for range 4 {
		_, _ = c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"})
	}
	if rt.opened != 7 || rt.closed != rt.opened {
		t.Errorf("%d of %d bodies were closed", rt.closed, rt.opened)
	}
}

// A closing transport counts bodies.
type closing struct {
	base           http.RoundTripper
	opened, closed int
}

func (c *closing) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.base.RoundTrip(r)
	if err == nil {
		c.opened++
		resp.Body = &body{resp.Body, c}
	}
	return resp, err
}

type body struct {
	io.ReadCloser
	of *closing
}

func (b *body) Close() error { b.of.closed++; return b.ReadCloser.Close() }

func TestProgressIsToldAsItComes(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": hello\n\nevent: progress\ndata: {\"job\":\"count\",\"done\":1,\"total\":2}\n\n",
			"event: news\ndata: {}\n\nevent: progress\ndata: {\"job\":\"count\",\"done\":2,\"total\":2}\n\n",
			"event: result\ndata: {\"op\":\n", "data: \"op_1\"}\n\n")
	})
	c, _ := dial(t, s.URL, nil)
	var told []string
	ctx := api.WithProgress(t.Context(), func(job string, done, total int) { told = append(told, fmt.Sprint(job, done, total)) })
	res, err := c.Compress(ctx, scope, &api.CompressRequest{Session: "s"})
	if err != nil || res.Op != "op_1" {
		t.Fatal(res, err)
	}
	if want := []string{"count1 2", "count2 2"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if accept := s.only(t).Header.Get("Accept"); !strings.HasPrefix(accept, "text/event-stream") {
		t.Errorf("Accept is %q", accept)
	}
}

func TestAStreamEndsWithAProblemOrIsTriedAgain(t *testing.T) {
	stream := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, text)
		}
	}
	p, err := json.Marshal(api.NewProblem(api.ErrPolicy))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, stream("event: progress\ndata: {}\n\n"), stream("event: problem\ndata: "+string(p)+"\n\n"))
	c, pauses := dial(t, s.URL, nil)
	ctx := api.WithProgress(t.Context(), func(string, int, int) {})
	if _, err := c.Compress(ctx, scope, &api.CompressRequest{Session: "s"}); !errors.Is(err, api.ErrPolicy) || errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	if len(*pauses) != 1 {
		t.Errorf("%d pauses, want 1: the first stream ended too early", len(*pauses))
	}
}

// A reply in a stream is one whether or not progress was asked for, and progress that
// cannot be read is not told.
func TestOddProgressIsNotTold(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: progress\ndata: {\n\nevent: progress\ndata: {\"job\":\"count\"}\n\nevent: result\ndata: {\"op\":\"op_1\"}\n\n")
	})
	c, _ := dial(t, s.URL, nil)
	told := 0
	for _, ctx := range []context.Context{t.Context(), api.WithProgress(t.Context(), func(string, int, int) { told++ })} {
		if res, err := c.Compress(ctx, scope, &api.CompressRequest{Session: "s"}); err != nil || res.Op != "op_1" {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if told != 1 {
		t.Errorf("told %d times, want once", told)
	}
}

// A failing transport fails each request.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// A request is sent again if the connection could not be made or broke, but not if the
// name is unknown.
func TestALostConnectionIsMadeAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		again bool
	}{
		{"dialing fails", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		{"the name is unknown", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "host"}}, false},
		{"reading fails", &net.OpError{Op: "read", Err: syscall.EHOSTUNREACH}, false},
		{"the connection is reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		{"the connection is closed while writing", &net.OpError{Op: "write", Err: syscall.EPIPE}, true},
		{"it ends", io.EOF, true},
		{"it ends early", io.ErrUnexpectedEOF, true},
		{"something else", errors.New("odd"), false},
	} {
		c, pauses := dial(t, "http://127.0.0.1:1", &Options{Retries: 1, HTTPClient: &http.Client{Transport: failing{tt.err}}})
		_, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"})
		if !errors.Is(err, ErrUnreachable) || !errors.Is(err, tt.err) || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if again := len(*pauses) == 1; again != tt.again {
			t.Errorf("%s: sent again: %v, want %v", tt.name, again, tt.again)
		}
	}
}

// list answers with a page of a list of n numbers, whose cursors are numbers, too.
func list(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("after")) // 0 if there is none
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		page := api.List[store.Entry]{Items: []store.Entry{}}
		for i := from; i < min(from+limit, n); i++ {
			page.Items = append(page.Items, store.Entry{Revision: store.Revision(i)})
		}
		if from+limit < n {
			page.Next = fmt.Sprint(from + limit)
		}
		result(page)(w, r)
	}
}

func TestListsAreReadToTheEndOrTheLimit(t *testing.T) {
	s := serve(t, list(2500))
	c, _ := dial(t, s.URL, nil)
	entries, err := api.Items(c.Journal(t.Context(), scope, &api.JournalRequest{Session: "s"}))
	if err != nil || len(entries) != 2500 || entries[2499].Revision != 2499 || len(s.requests()) != 3 {
		t.Errorf("%d entries in %d pages, %v", len(entries), len(s.requests()), err)
	}
	log, err := api.Items(c.Log(t.Context(), scope, &api.LogRequest{}))
	if err != nil || len(log) != 2500 {
		t.Errorf("%d entries of the log, %v", len(log), err)
	}
	for limit, pages := range map[int]int{1: 1, 1000: 1, 1001: 2, 2500: 3, 9999: 3} {
		s := serve(t, list(2500))
		c, _ := dial(t, s.URL, nil)
		got, err := api.Items(c.Sessions(t.Context(), scope, &api.SessionsRequest{Cursor: api.Cursor{Limit: limit}}))
		if err != nil || len(got) != min(limit, 2500) || len(s.requests()) != pages {
			t.Errorf("limit %d: %d sessions in %d pages, %v", limit, len(got), len(s.requests()), err)
		}
		asked := 0
		for _, r := range s.requests() {
			u, err := url.Parse(r.URI)
			if err != nil {
				t.Fatal(err)
			}
			n, _ := strconv.Atoi(u.Query().Get("limit")) // 0 if it has none
			asked += n
		}
		if want := min(limit, 3000); asked != want {
			t.Errorf("limit %d: pages of %d sessions in all were asked for, want %d", limit, asked, want)
		}
	}
}

// A limit below 0 is sent, so that the server refuses it as the engine does.
func TestALimitBelowZeroIsSent(t *testing.T) {
	s := serve(t, problem(&api.FieldError{Field: "limit", Text: "is below 0"}))
	c, _ := dial(t, s.URL, nil)
	_, err := c.Log(t.Context(), scope, &api.LogRequest{Cursor: api.Cursor{Limit: -1}})
	if r := s.only(t); !errors.Is(err, api.ErrRequest) || !strings.Contains(r.URI, "limit=-1") {
		t.Errorf("%s is sent: %v", r.URI, err)
	}
}

func TestAPageThatComesAgainEndsTheList(t *testing.T) {
	s := serve(t, result(api.List[store.Entry]{Next: "x"}))
	c, _ := dial(t, s.URL, nil)
	if _, err := api.Items(c.Log(t.Context(), scope, &api.LogRequest{})); !errors.Is(err, ErrReply) {
		t.Error(err)
	}
}

func TestMessagesAreOfOneRevision(t *testing.T) {
	page := func(revision store.Revision, next string, ids ...transcript.BlockID) http.HandlerFunc {
		r := api.MessagesResult{Next: next, Count: 7}
		r.Revision, r.Session = revision, "s"
		for _, id := range ids {
			r.Messages = append(r.Messages, api.BlockInfo{ID: id})
		}
		return result(r)
	}
	s := serve(t, page(1, "n", "a"), page(2, "", "c"), page(2, "n", "b"), page(2, "", "c"))
	c, _ := dial(t, s.URL, nil)
	res, err := c.Messages(t.Context(), scope, &api.MessagesRequest{Session: "s"})
	if err != nil || len(res.Messages) != 2 || res.Messages[0].ID != "b" || res.Revision != 2 {
		t.Errorf("%+v, %v", res, err)
	}

	s = serve(t, page(1, "n", "a"), page(2, ""), page(3, "n"), page(4, ""), page(5, "n"), page(6, ""))
	c, _ = dial(t, s.URL, nil)
	if _, err := c.Messages(t.Context(), scope, &api.MessagesRequest{Session: "s"}); !errors.Is(err, store.ErrConflict) {
		t.Error(err)
	}

	s = serve(t, page(1, "n", "a"), page(2, "m", "b"), page(1, "", "c"), page(1, "", "d"))
	c, _ = dial(t, s.URL, nil)
	if res, err := c.Messages(t.Context(), scope, &api.MessagesRequest{Session: "s"}); err != nil || len(res.Messages) != 1 || res.Count != 7 {
		t.Errorf("one page of another revision: %+v, %v", res, err)
	}

	for i, answers := range [][]http.HandlerFunc{{problem(store.ErrNotFound)}, {page(1, "n", "a"), problem(store.ErrNotFound)}} {
		s = serve(t, answers...)
		c, _ = dial(t, s.URL, nil)
		if res, err := c.Messages(t.Context(), scope, &api.MessagesRequest{Session: "s"}); res != nil || !errors.Is(err, store.ErrNotFound) || len(s.requests()) != i+1 {
			t.Errorf("page %d is refused: %+v, %v after %d requests", i+1, res, err, len(s.requests()))
		}
	}
}

func TestWhatCannotBeSentIsRefusedHere(t *testing.T) {
	s := serve(t, result(struct{}{}))
	c, _ := dial(t, s.URL, nil)
	_, err := c.Append(t.Context(), scope, &api.AppendRequest{Session: "s", Messages: []json.RawMessage{json.RawMessage(`{}`), json.RawMessage(`{}],"at":1`)}})
	if !errors.Is(err, api.ErrRequest) || !strings.Contains(err.Error(), "messages: entry 2 ") {
		t.Errorf("a second message that is not JSON: %v", err)
	}
	if _, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: ""}); !errors.Is(err, api.ErrRequest) {
		t.Errorf("no session: %v", err)
	}
	for _, scope := range []governance.Scope{" acme/web", "acme/web\n"} { // net/http would trim one and refuse the other
		if _, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"}); !errors.Is(err, api.ErrRequest) || errors.Is(err, ErrUnreachable) {
			t.Errorf("scope %q: %v", scope, err)
		}
	}
	if len(s.requests()) > 0 {
		t.Errorf("%d requests were sent", len(s.requests()))
	}
}

func TestAManifestWithAnotherSealIsRefused(t *testing.T) {
	for name, r := range map[string]api.ManifestResult{
		"no document":      {},
		"not in its form":  {Document: []byte("{}")},
		"nothing but junk": {Document: []byte{0xff}},
	} {
		s := serve(t, result(r))
		c, _ := dial(t, s.URL, nil)
		if _, err := api.SealedOf(c.Manifest(t.Context(), scope, &api.IDRequest{ID: "m_1"})); !errors.Is(err, api.ErrIntegrity) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A manifest comes with its document, which is sealed as the server says.
func TestAManifestIsReadFromItsDocument(t *testing.T) {
	sealed, err := manifest.Seal(&manifest.Manifest{
		Header: manifest.Header{
			ID: "m_00000001", Scope: string(scope), Actor: "ada", Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			Policy: "default/1", Format: "text", Encoding: "o200k_base", Semantic: "lexical/1", Tier: tier.Full,
		},
		Items: []manifest.Item{&manifest.Output{Commit: manifest.CommitOutput([]digest.Salt{{}}, nil)}},
	}, bytes.NewReader(make([]byte, digest.Size)))
	if err != nil {
		t.Fatal(err)
	}
	r := api.ManifestResult{Document: sealed.Bytes()}
	r.ID, r.Seal = "m_00000001", sealed.Seal()
	s := serve(t, result(r))
	c, _ := dial(t, s.URL, nil)
	m, err := c.Manifest(t.Context(), scope, &api.IDRequest{ID: "m_1"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Sealed()
	if err != nil || m.ID != "m_00000001" || string(m.Document) != string(r.Document) || !got.Seal().Equal(r.Seal) {
		t.Errorf("%+v, %v", m, err)
	}
	r.Seal[0] ^= 1
	s = serve(t, result(r))
	c, _ = dial(t, s.URL, nil)
	if _, err := api.SealedOf(c.Manifest(t.Context(), scope, &api.IDRequest{ID: "m_1"})); !errors.Is(err, api.ErrIntegrity) || !strings.Contains(err.Error(), "seal") {
		t.Errorf("another seal: %v", err)
	}
}

// Events come as they happen, until whoever reads has enough or the stream ends.
func TestEventsComeUntilTheStreamEnds(t *testing.T) {
	stream := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			fmt.Fprint(w, text)
		}
	}
	raw, err := json.Marshal(api.NewProblem(api.ErrPolicy))
	if err != nil {
		t.Fatal(err)
	}
	const two = "id: 1\ndata: {\"session\":\"a\"}\n\nid: 2\ndata: {\"session\":\"b\"}\n\n"
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		most   int // events that are read
		want   string
		is     error
	}{
		{"it ends", stream(two), 9, "1 a, 2 b", ErrUnreachable},
		{"the reader has enough", stream(two), 1, "1 a", nil},
		{"with a problem", stream(two + "event: problem\ndata: " + string(raw) + "\n\n"), 9, "1 a, 2 b", api.ErrPolicy},
		{"with what is no event", stream("data: {\n\n" + two), 9, "", ErrReply},
		{"no stream", result(struct{}{}), 9, "", ErrReply},
		{"a refusal", problem(store.ErrNotFound), 9, "", store.ErrNotFound},
		{"a status that is none of a stream", status(http.StatusNoContent), 9, "", nil},
		{"no reply", hangUp, 9, "", ErrUnreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.answer)
			c, pauses := dial(t, s.URL, nil)
			var got []string
			var last error
			for e, err := range c.Events(t.Context(), scope, "s", "") {
				if err != nil {
					last = err
					continue
				}
				if got = append(got, e.ID+" "+string(e.Session)); len(got) == tt.most {
					break
				}
			}
			if strings.Join(got, ", ") != tt.want || len(*pauses) > 0 {
				t.Errorf("events %q after %d pauses, want %q after none", got, len(*pauses), tt.want)
			}
			if tt.is != nil && !errors.Is(last, tt.is) || (last == nil) != (tt.most == 1) {
				t.Errorf("error %v, want %v", last, tt.is)
			}
			if again, ok := errors.AsType[*httpjson.AgainError](last); ok {
				t.Errorf("%v is to be tried again, which is for the reader to do", again)
			}
			if accept := s.requests()[0].Header.Get("Accept"); accept != "text/event-stream" {
				t.Errorf("Accept is %q", accept)
			}
		})
	}
}

// Cookies of a server are not kept, and the client says what it is.
func TestTheClientOfAnotherProgramIsNotUsedAsItIs(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		result(struct{}{})(w, r)
	})
	c, _ := dial(t, s.URL, &Options{HTTPClient: &http.Client{Jar: jar}})
	for range 2 {
		if _, err := c.Stats(t.Context(), scope, &api.SessionRequest{Session: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range s.requests() {
		if r.Header.Get("Cookie") != "" || r.Header.Get("User-Agent") != "carrel-client" {
			t.Errorf("header %v", r.Header)
		}
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for _, tt := range []struct {
		url  string
		opts *Options
	}{
		{"", nil},
		{"127.0.0.1:8787", nil},
		{"ftp://host", nil},
		{"http://user:" + "secret@host", nil},
		{"http://host?secret", nil},
		{"http://host", &Options{Credential: "sec ret"}},
		{"http://host", &Options{Credential: "secret\r\nx: y"}},
		{"http://host", &Options{Retries: -2}},
		{"http://host", &Options{MaxReply: -1}},
	} {
		if _, err := New(tt.url, tt.opts); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s, %v: %v", tt.url, tt.opts != nil, err)
		}
	}
	for _, url := range []string{"http://host", "http://host/", "https://host:1/below/v1", "http://[::1]:8787"} {
		if _, err := New(url, nil); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
