package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/store"
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
	if len(s.seen) != 1 {
		t.Fatalf("%d requests, want 1", len(s.seen))
	}
	return s.seen[0]
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
	c.sleep = func(ctx context.Context, d time.Duration) error {
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	c.rand = func(int64) int64 { return 0 }
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
				_, err := c.Recall(ctx, scope, &carrel.RecallRequest{Block: "b/1 ?", Text: true, To: 7})
				return err
			},
			received{Method: "GET", URI: "/v1/items/b%2F1%20%3F?text=true&to=7"},
		},
		{
			"dots are a name and no way to go",
			func(ctx context.Context, c *Client) error { _, err := c.Why(ctx, scope, ".."); return err },
			received{Method: "GET", URI: "/v1/items/%2E%2E/why"},
		},
		{
			"the other fields of POST are the body, and messages are sent byte for byte",
			func(ctx context.Context, c *Client) error {
				_, err := c.Append(ctx, scope, &carrel.AppendRequest{Session: "s", At: &at, Messages: []json.RawMessage{
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
			func(ctx context.Context, c *Client) error { _, err := c.Remove(ctx, scope); return err },
			received{Method: "POST", URI: "/v1/artifacts/remove", Body: `{"ids":[]}`},
		},
		{
			"what is false and has no omitempty is said",
			func(ctx context.Context, c *Client) error {
				_, err := c.Mark(ctx, scope, &carrel.MarkRequest{Session: "s"})
				return err
			},
			received{Method: "PUT", URI: "/v1/sessions/s/mark", Body: `{"critical":false}`},
		},
		{
			"what is embedded is spelled out, and a page is as long as it may be",
			func(ctx context.Context, c *Client) error {
				_, err := c.Artifacts(ctx, scope, &carrel.ArtifactsRequest{All: true, Source: "a b"})
				return err
			},
			received{Method: "GET", URI: "/v1/artifacts?all=true&limit=1000&source=a+b"},
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
	s := serve(t, result(carrel.UndoResult{}), result(carrel.StatsResult{}))
	c, _ := dial(t, s.URL, &Options{Token: "tok_1.secret", UserAgent: "test/1"})
	if _, err := c.Undo(t.Context(), scope, &carrel.UndoRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stats(t.Context(), "", "s"); err != nil {
		t.Fatal(err)
	}
	write, read := s.seen[0].Header, s.seen[1].Header
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
	s := serve(t, problem(store.ErrBusy), hangUp, result(carrel.UndoResult{Op: "op_1"}))
	c, pauses := dial(t, s.URL, nil)
	for range 2 {
		if res, err := c.Undo(t.Context(), scope, &carrel.UndoRequest{Session: "s"}); err != nil || res.Op != "op_1" {
			t.Fatal(res, err)
		}
	}
	var keys []string
	for _, r := range s.seen {
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
		{"time is up", problem(context.DeadlineExceeded), 1, context.DeadlineExceeded, nil},
		{"too many requests, with a pause", status(429, "Retry-After", "2"), 3, nil, []time.Duration{2 * time.Second, 2 * time.Second}},
		{"a pause that is too long", status(503, "Retry-After", "3600"), 1, nil, nil},
		{"a broken server", status(500), 1, nil, nil},
		{"a gateway", status(502), 1, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.answer)
			c, pauses := dial(t, s.URL, &Options{Retries: 2})
			_, err := c.Undo(t.Context(), scope, &carrel.UndoRequest{})
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %v", err, tt.is)
			}
			if len(s.seen) != tt.times {
				t.Errorf("sent %d times, want %d", len(s.seen), tt.times)
			}
			if diff := cmp.Diff(tt.pauses, *pauses); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoRetriesSendsOnce(t *testing.T) {
	s := serve(t, problem(store.ErrBusy))
	c, _ := dial(t, s.URL, &Options{Retries: NoRetries})
	if _, err := c.Stats(t.Context(), scope, "s"); !errors.Is(err, store.ErrBusy) {
		t.Error(err)
	}
	s.only(t)
}

func TestAServerThatIsNotThereIsUnreachable(t *testing.T) {
	s := serve(t, hangUp)
	s.Close()
	c, pauses := dial(t, s.URL, nil)
	_, err := c.Search(t.Context(), scope, &carrel.SearchRequest{Query: "a secret"})
	if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "secret") || !strings.HasPrefix(err.Error(), "search: ") {
		t.Error(err)
	}
	if len(*pauses) != 3 {
		t.Errorf("pauses are %v", *pauses)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	other := serve(t, result(struct{}{}))
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := serve(t, status(code, "Location", other.URL))
		c, _ := dial(t, s.URL, &Options{Token: "tok", HTTPClient: new(http.Client)})
		if _, err := c.Undo(t.Context(), scope, nil); !errors.Is(err, ErrReply) {
			t.Errorf("%d: %v", code, err)
		}
		s.only(t)
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
	if _, err := c.Stats(ctx, scope, "s"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(*pauses) > 0 {
		t.Errorf("pauses are %v", *pauses)
	}

	ctx, cancel = context.WithCancel(t.Context())
	s = serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); problem(store.ErrBusy)(w, r) })
	c, _ = dial(t, s.URL, nil)
	if _, err := c.Stats(ctx, scope, "s"); !errors.Is(err, context.Canceled) {
		t.Errorf("while waiting to try again: %v", err)
	}
	s.only(t)
}

func TestRepliesHaveALimit(t *testing.T) {
	s := serve(t, result(api.ReplayResult{Data: make([]byte, 1000)}))
	c, _ := dial(t, s.URL, &Options{MaxReply: 1000})
	if _, err := c.Replay(t.Context(), scope, "m_1"); !errors.Is(err, ErrReply) {
		t.Error(err)
	}
	c, _ = dial(t, s.URL, nil)
	if data, err := c.Replay(t.Context(), scope, "m_1"); err != nil || len(data) != 1000 {
		t.Error(len(data), err)
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
			res, err := c.Stats(t.Context(), scope, "s")
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
		_, _ = c.Stats(t.Context(), scope, "s")
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
	ctx := carrel.WithProgress(t.Context(), func(job string, done, total int) { told = append(told, fmt.Sprint(job, done, total)) })
	res, err := c.Compress(ctx, scope, &carrel.CompressRequest{Session: "s"})
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
	p, err := json.Marshal(api.NewProblem(carrel.ErrPolicy))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, stream("event: progress\ndata: {}\n\n"), stream("event: problem\ndata: "+string(p)+"\n\n"))
	c, pauses := dial(t, s.URL, nil)
	ctx := carrel.WithProgress(t.Context(), func(string, int, int) {})
	if _, err := c.Compress(ctx, scope, &carrel.CompressRequest{Session: "s"}); !errors.Is(err, carrel.ErrPolicy) {
		t.Error(err)
	}
	if len(*pauses) != 1 {
		t.Errorf("%d pauses, want 1: the first stream ended too early", len(*pauses))
	}
}

// list answers with a page of a list of n numbers, whose cursors are numbers, too.
func list(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("after")) // 0 if there is none
		limit, _ := strconv.Atoi(r.FormValue("limit"))
		page := api.Page[store.Entry]{Items: []store.Entry{}}
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
	entries, err := c.Journal(t.Context(), scope, "s", 0)
	if err != nil || len(entries) != 2500 || entries[2499].Revision != 2499 || len(s.seen) != 3 {
		t.Errorf("%d entries in %d pages, %v", len(entries), len(s.seen), err)
	}
	for limit, pages := range map[int]int{1: 1, 1000: 1, 1001: 2, 2500: 3, 9999: 3} {
		s := serve(t, list(2500))
		c, _ := dial(t, s.URL, nil)
		got, err := c.Sessions(t.Context(), scope, limit)
		if err != nil || len(got) != min(limit, 2500) || len(s.seen) != pages {
			t.Errorf("limit %d: %d sessions in %d pages, %v", limit, len(got), len(s.seen), err)
		}
	}
}

func TestAPageThatComesAgainEndsTheList(t *testing.T) {
	s := serve(t, result(api.Page[store.Entry]{Next: "x"}))
	c, _ := dial(t, s.URL, nil)
	if _, err := c.Log(t.Context(), scope, 0); !errors.Is(err, ErrReply) {
		t.Error(err)
	}
}

func TestMessagesAreOfOneRevision(t *testing.T) {
	page := func(revision store.Revision, next string, ids ...transcript.BlockID) http.HandlerFunc {
		r := api.MessagesResult{Next: next}
		r.Revision, r.Session = revision, "s"
		for _, id := range ids {
			r.Blocks = append(r.Blocks, carrel.BlockInfo{ID: id})
		}
		return result(r)
	}
	s := serve(t, page(1, "n", "a"), page(2, "", "c"), page(2, "n", "b"), page(2, "", "c"))
	c, _ := dial(t, s.URL, nil)
	res, err := c.Messages(t.Context(), scope, "s")
	if err != nil || len(res.Blocks) != 2 || res.Blocks[0].ID != "b" || res.Revision != 2 {
		t.Errorf("%+v, %v", res, err)
	}

	s = serve(t, page(1, "n", "a"), page(2, ""), page(3, "n"), page(4, ""), page(5, "n"), page(6, ""))
	c, _ = dial(t, s.URL, nil)
	if _, err := c.Messages(t.Context(), scope, "s"); !errors.Is(err, store.ErrConflict) {
		t.Error(err)
	}
}

func TestWhatCannotBeSentIsRefusedHere(t *testing.T) {
	s := serve(t, result(struct{}{}))
	c, _ := dial(t, s.URL, nil)
	_, err := c.Append(t.Context(), scope, &carrel.AppendRequest{Session: "s", Messages: []json.RawMessage{json.RawMessage(`{}],"at":1`)}})
	if !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("a message that is not JSON: %v", err)
	}
	if _, err := c.Stats(t.Context(), scope, ""); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("no session: %v", err)
	}
	if len(s.seen) > 0 {
		t.Errorf("%d requests were sent", len(s.seen))
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
		if _, _, err := c.Manifest(t.Context(), scope, "m_1"); !errors.Is(err, carrel.ErrIntegrity) {
			t.Errorf("%s: %v", name, err)
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
		{"http://host", &Options{Token: "sec ret"}},
		{"http://host", &Options{Token: "secret\r\nx: y"}},
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
