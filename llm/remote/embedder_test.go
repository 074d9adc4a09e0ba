package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/llm"
)

// A server counts its calls and knows what the client waited.
type server struct {
	*httptest.Server
	calls  atomic.Int32
	pauses []time.Duration
}

// serve starts a server and returns it with a client of it.
func serve(t *testing.T, opts EmbedderOptions, h func(w http.ResponseWriter, r *http.Request, call int)) (*server, *embedder) {
	t.Helper()
	s := new(server)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h(w, r, int(s.calls.Add(1)))
	}))
	t.Cleanup(s.Close)
	opts.Key = llm.NewSecret(key)
	if opts.Sleep == nil {
		opts.Sleep = func(ctx context.Context, d time.Duration) error {
			s.pauses = append(s.pauses, d)
			return ctx.Err()
		}
	}
	opts.Rand = func(n int64) int64 { return n - 1 }
	c, err := NewEmbedder(s.URL, model, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return s, c.(*embedder)
}

// answer writes a vector for each text of a request: its length and its place.
func answer(t *testing.T, w io.Writer, r *http.Request) {
	t.Helper()
	var req embedRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		t.Error(err)
	}
	var data []string
	for i, in := range slices.Backward(req.Input) { // the index counts, not the place
		data = append(data, fmt.Sprintf(`{"object":"embedding","embedding":[%d, -0.5, 1e-3],"index":%d}`, len(in), i))
	}
	fmt.Fprintf(w, `{"object":"list","data":[%s],"model":"m","usage":{"total_tokens":1}}`, strings.Join(data, ","))
}

func TestEmbed(t *testing.T) {
	var sent []embedRequest
	var header http.Header
	s, c := serve(t, EmbedderOptions{Batch: 2, BatchBytes: 6, Dimensions: 3}, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method != http.MethodPost || r.URL.String() != "/v1/embeddings" {
			t.Errorf("request is %s %s", r.Method, r.URL)
		}
		header = r.Header
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var req embedRequest
		if err := json.Unmarshal(body, &req); err != nil {
			t.Error(err)
		}
		sent = append(sent, req)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		answer(t, w, r)
	})
	got, err := c.Embed(t.Context(), []string{"a", "bb", "", "much too long", "dddd", "eee"})
	if err != nil {
		t.Fatal(err)
	}
	var want [][]float32
	for _, n := range []float32{1, 2, 1, 13, 4, 3} {
		want = append(want, []float32{n, -0.5, 1e-3})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("vectors (-want +got):\n%s", diff)
	}
	var wantSent []embedRequest
	for _, in := range [][]string{{"a", "bb"}, {" "}, {"much too long"}, {"dddd"}, {"eee"}} {
		wantSent = append(wantSent, embedRequest{model, in, "float", 3})
	}
	if diff := cmp.Diff(wantSent, sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if got := header.Get("Authorization"); got != "Bearer "+key {
		t.Errorf("authorization is %q", got)
	}
	if got, want := c.Name(), "tiny/3@"+s.URL+"/v1"; got != want {
		t.Errorf("name is %q, want %q", got, want)
	}
}

// A request has as many texts as fit, and one at least.
func TestBatchesAreFilled(t *testing.T) {
	_, c := serve(t, EmbedderOptions{Batch: 3, BatchBytes: 6}, func(http.ResponseWriter, *http.Request, int) {})
	for _, tt := range []struct {
		texts []string
		want  int
	}{
		{[]string{"a"}, 1},
		{[]string{"aaaaaaaaa", "b"}, 1},
		{[]string{"aa", "bbbb", "c"}, 2},
		{[]string{"aa", "bbbbb"}, 1},
		{[]string{"aa", "bb", "cc", ""}, 3},
		{[]string{"aa", "bb", "ccc"}, 2},
		{[]string{"", "", "", ""}, 3},
	} {
		if got := c.batch(tt.texts); got != tt.want {
			t.Errorf("%q: %d, want %d", tt.texts, got, tt.want)
		}
	}
}

// Where a vector is given twice, the last one counts.
func TestVectorsAreReadAnew(t *testing.T) {
	vectors, err := parseVectors([]byte(`{"data":[{"index":0,"embedding":[1,2],"embedding":[3]}]}`), 1, 0)
	if diff := cmp.Diff([][]float32{{3}}, vectors); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestEmbedNothing(t *testing.T) {
	s, c := serve(t, EmbedderOptions{}, func(http.ResponseWriter, *http.Request, int) {})
	if got, err := c.Embed(t.Context(), nil); err != nil || len(got) != 0 || s.calls.Load() != 0 {
		t.Errorf("%v, %v after %d calls, want nothing after none", got, err, s.calls.Load())
	}
}

func TestRepliesThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		body string
		want string // in the error
	}{
		{"nothing", ``, "no JSON"},
		{"text", text + key, "no JSON"},
		{"a page", "<html>" + text + "</html>", "no JSON"},
		{"two values", `{"data":[]} {}`, "no JSON"},
		{"another shape", `{"data":{"` + key + `":1}}`, "no JSON"},
		{"no list", `{"error":"` + text + `"}`, "0 embeddings for 2 texts"},
		{"null", `null`, "0 embeddings for 2 texts"},
		{"one vector too few", `{"data":[{"index":0,"embedding":[1]}]}`, "1 embeddings for 2 texts"},
		{"one vector too many", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`, "3 embeddings for 2 texts"},
		{"no index", `{"data":[{"index":0,"embedding":[1]},{"embedding":[1]}]}`, "data.1 has no index"},
		{"an index twice", `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`, "two embeddings have index 1"},
		{"an index out of range", `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`, "data.1 has index 2 of 2"},
		{"a negative index", `{"data":[{"index":-1,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "data.0 has index -1 of 2"},
		{"an index that is no integer", `{"data":[{"index":0.5,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "no JSON"},
		{"no embedding", `{"data":[{"index":0,"embedding":[1]},{"index":1}]}`, "data.1 has no embedding"},
		{"an embedding that is null", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":null}]}`, "not an array of finite numbers"},
		{"an embedding in base64", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":"AACAPw=="}]}`, "not an array of finite numbers"},
		{"an empty embedding", `{"data":[{"index":0,"embedding":[ ]},{"index":1,"embedding":[1]}]}`, "not an array of finite numbers"},
		{"vectors of different lengths", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`, "data.1 has 1 components, want 2"},
		{"a component that is null", `{"data":[{"index":0,"embedding":[1,null]},{"index":1,"embedding":[1,2]}]}`, "not an array of finite numbers"},
		{"NaN", `{"data":[{"index":0,"embedding":[1,NaN]},{"index":1,"embedding":[1,2]}]}`, "no JSON"},
		{"NaN as a string", `{"data":[{"index":0,"embedding":[1,"NaN"]},{"index":1,"embedding":[1,2]}]}`, "not an array of finite numbers"},
		{"Infinity", `{"data":[{"index":0,"embedding":[1,Infinity]},{"index":1,"embedding":[1,2]}]}`, "no JSON"},
		{"a number that is no float32", `{"data":[{"index":0,"embedding":[1,1e39]},{"index":1,"embedding":[1,2]}]}`, "not an array of finite numbers"},
		{"arrays in an array", `{"data":[{"index":0,"embedding":[[1],2]},{"index":1,"embedding":[1,2]}]}`, "not an array of finite numbers"},
		{"more than is read", strings.Repeat(" ", 2000), "more than 1000 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c := serve(t, EmbedderOptions{Options: Options{MaxReply: 1000}}, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, tt.body) })
			got, err := c.Embed(t.Context(), []string{text, "b"})
			checkError(t, err, llm.ErrReply, tt.want)
			if got != nil || s.calls.Load() != 1 {
				t.Errorf("%v after %d calls, want nothing after 1", got, s.calls.Load())
			}
		})
	}
}

func TestDimensionsThatWereNotAskedFor(t *testing.T) {
	_, c := serve(t, EmbedderOptions{Dimensions: 4}, func(w http.ResponseWriter, r *http.Request, _ int) { answer(t, w, r) })
	_, err := c.Embed(t.Context(), []string{text})
	checkError(t, err, llm.ErrReply, "data.0 has 3 components, want 4")
}

func TestLengthThatChangesBetweenBatches(t *testing.T) {
	_, c := serve(t, EmbedderOptions{Batch: 1}, func(w http.ResponseWriter, _ *http.Request, call int) {
		fmt.Fprintf(w, `{"data":[{"index":0,"embedding":[%s1]}]}`, strings.Repeat("1,", call))
	})
	_, err := c.Embed(t.Context(), []string{text, text})
	checkError(t, err, llm.ErrReply, "3 components after those of 2")
}

func TestConnectionThatIsDropped(t *testing.T) {
	t.Run("before the reply, once", func(t *testing.T) {
		s, c := serve(t, EmbedderOptions{}, func(w http.ResponseWriter, r *http.Request, call int) {
			if call == 1 {
				dropping(t, "")(w, r)
				return
			}
			answer(t, w, r)
		})
		if got, err := c.Embed(t.Context(), []string{text}); err != nil || len(got) != 1 || s.calls.Load() != 2 {
			t.Errorf("%v, %v after %d calls, want a vector after 2", got, err, s.calls.Load())
		}
	})
	t.Run("before the reply, always", func(t *testing.T) {
		s, c := serve(t, EmbedderOptions{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			dropping(t, "")(w, r)
		})
		_, err := c.Embed(t.Context(), []string{text})
		checkError(t, err, llm.ErrUnavailable, "connection dropped")
		if got := s.calls.Load(); got != 3 {
			t.Errorf("%d calls, want 3", got)
		}
	})
	t.Run("in the middle of the reply", func(t *testing.T) {
		s, c := serve(t, EmbedderOptions{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			dropping(t, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":")(w, r)
		})
		_, err := c.Embed(t.Context(), []string{text})
		checkError(t, err, llm.ErrReply, "cut off after 8 bytes")
		if got := s.calls.Load(); got != 1 {
			t.Errorf("%d calls, want 1", got)
		}
	})
	t.Run("by what speaks no HTTP", func(t *testing.T) {
		_, c := serve(t, EmbedderOptions{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			dropping(t, key+" "+text+"\r\n\r\n")(w, r)
		})
		_, err := c.Embed(t.Context(), []string{text})
		checkError(t, err, llm.ErrUnavailable, "connection broke")
	})
}

func TestNobodyListens(t *testing.T) {
	s, c := serve(t, EmbedderOptions{}, func(http.ResponseWriter, *http.Request, int) {})
	s.Close()
	_, err := c.Embed(t.Context(), []string{text})
	checkError(t, err, llm.ErrUnavailable, "refused")
	if len(s.pauses) > 0 {
		t.Errorf("tried again after %v", s.pauses)
	}
}

func TestServerThatHangs(t *testing.T) {
	t.Run("until the caller gives up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, c := serve(t, EmbedderOptions{}, func(_ http.ResponseWriter, r *http.Request, _ int) {
			cancel()
			stall(r)
		})
		_, err := c.Embed(ctx, []string{text})
		checkError(t, err, context.Canceled, "")
		if got := s.calls.Load(); got != 1 || errors.Is(err, llm.ErrUnavailable) {
			t.Errorf("%v after %d calls, want the context's own after 1", err, got)
		}
	})
	t.Run("until the time is over", func(t *testing.T) {
		s, c := serve(t, EmbedderOptions{Options: Options{Timeout: time.Millisecond}}, func(_ http.ResponseWriter, r *http.Request, _ int) { stall(r) })
		_, err := c.Embed(t.Context(), []string{text})
		checkError(t, err, llm.ErrUnavailable, "no reply within 1ms")
		if len(s.pauses) > 0 {
			t.Errorf("tried again after %v", s.pauses)
		}
	})
	t.Run("in the middle of the reply", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, c := serve(t, EmbedderOptions{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			fmt.Fprint(w, `{"data":`)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			cancel()
			stall(r)
		})
		_, err := c.Embed(ctx, []string{text})
		checkError(t, err, context.Canceled, "")
	})
}

func TestCallerThatGivesUpInAPause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, c := serve(t, EmbedderOptions{Options: Options{Sleep: func(ctx context.Context, _ time.Duration) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}}}, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusBadGateway) })
	_, err := c.Embed(ctx, []string{text})
	checkError(t, err, context.Canceled, "")
	if got := s.calls.Load(); got != 1 {
		t.Errorf("%d calls, want 1", got)
	}
}

// The key and the texts go to the origin they are meant for, and no further.
func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("followed to %s with %v", r.Host, r.Header)
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		s, c := serve(t, EmbedderOptions{Options: Options{HTTPClient: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}}}, func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, other.URL+"/?"+key, status)
		})
		_, err := c.Embed(t.Context(), []string{text})
		checkError(t, err, llm.ErrRefused, "redirects are not followed")
		if got := s.calls.Load(); got != 1 {
			t.Errorf("%d calls after status %d, want 1", got, status)
		}
	}
}

func TestNewEmbedder(t *testing.T) {
	for _, tt := range []struct{ base, want string }{
		{"http://localhost:11434", "m@http://localhost:11434/v1"},
		{"http://localhost:11434/", "m@http://localhost:11434/v1"},
		{"http://localhost:11434/v1", "m@http://localhost:11434/v1"},
		{"https://API.example.com/v1/", "m@https://api.example.com/v1"},
		{"https://example.com/llm/v1//", "m@https://example.com/llm/v1"},
		{"https://[::1]:8080/a", "m@https://[::1]:8080/a/v1"},
	} {
		if c, err := NewEmbedder(tt.base, "m", nil); err != nil || c.Name() != tt.want {
			t.Errorf("New(%q) = %v, %v, want %s", tt.base, c, err, tt.want)
		}
	}
	if c, err := NewEmbedder("http://localhost", "m", &EmbedderOptions{Dimensions: 1}); err != nil || c.Name() != "m/1@http://localhost/v1" {
		t.Errorf("one dimension: %v, %v", c, err)
	}
	for _, base := range []string{"", "localhost:11434", "/v1", "ftp://example.com", "http://", "http://:80", "http:example.com", "http://a b", "http://user:" + key + "@host%zz", "http://" + key + "@example.com", "http://example.com/?k=" + key, "http://example.com/#a", "http://example.com/?"} {
		if _, err := NewEmbedder(base, "m", nil); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("New(%q): error is %v", base, err)
		}
	}
	for _, opts := range []*EmbedderOptions{
		{Options: Options{Key: llm.NewSecret(key + "\r\nX: y")}},
		{Options: Options{Key: llm.NewSecret(key + "é")}},
		{Dimensions: -1},
		{Batch: -1},
		{BatchBytes: -1},
		{Options: Options{Retries: -2}},
		{Options: Options{MaxReply: -1}},
	} {
		if _, err := NewEmbedder("http://localhost", "m", opts); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("options %+v: error is %v", opts, err)
		}
	}
	if _, err := NewEmbedder("http://localhost", "", nil); err == nil {
		t.Error("no error for no model")
	}
}

func FuzzParseVectors(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3e-2,-4]}]}`,
		`{"data":[{"index":0,"embedding":[null]}]}`, `{"data":null}`, `[]`, `{"data":[{"embedding":[[],{}]}]}`,
	} {
		f.Add([]byte(s), 2)
	}
	f.Fuzz(func(t *testing.T, data []byte, texts int) {
		texts = 1 + texts&7
		vectors, err := parseVectors(data, texts, 0)
		if err != nil {
			if !errors.Is(err, llm.ErrReply) {
				t.Errorf("error is %v", err)
			}
			return
		}
		for _, v := range vectors {
			if len(v) == 0 || len(v) != len(vectors[0]) {
				t.Errorf("vectors are %v", vectors)
			}
			for _, x := range v {
				if x-x != 0 {
					t.Errorf("component %v", x)
				}
			}
		}
		if len(vectors) != texts {
			t.Errorf("%d vectors for %d texts", len(vectors), texts)
		}
	})
}
