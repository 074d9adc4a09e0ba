package origin

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel/artifact"
)

var quiet = log.New(io.Discard, "", 0)

// library is an MCP server with some resources.
func library(reads *atomic.Int64) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, nil)
	add := func(uri string, read func() (*mcp.ReadResourceResult, error)) {
		s.AddResource(&mcp.Resource{Name: uri, URI: uri}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			reads.Add(1)
			return read()
		})
	}
	contents := func(c ...mcp.ResourceContents) func() (*mcp.ReadResourceResult, error) {
		return func() (*mcp.ReadResourceResult, error) {
			r := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}
			for _, one := range c {
				one.URI = "doc:x"
				r.Contents = append(r.Contents, &one)
			}
			return r, nil
		}
	}
	add("doc:///hours.md", contents(mcp.ResourceContents{Text: "Monday\nTuesday\n"}))
	add("doc:///parts", contents(mcp.ResourceContents{Text: "one"}, mcp.ResourceContents{Text: "two"}))
	add("doc:///empty", contents(mcp.ResourceContents{Text: ""}))
	add("doc:///none", contents())
	add("doc:///image", contents(mcp.ResourceContents{MIMEType: "image/png", Blob: []byte("\x89PNG")}))
	add("doc:///big", contents(mcp.ResourceContents{Text: strings.Repeat("x", 101)}))
	add("doc:///bad", func() (*mcp.ReadResourceResult, error) { return nil, errors.New("out of order") })
	add("doc:///cached", func() (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{
			Cacheable: mcp.Cacheable{TTLMs: 3_600_000},
			Contents:  []*mcp.ResourceContents{{URI: "doc:///cached", Text: "cached"}},
		}, nil
	})
	add("doc:///environment", contents(mcp.ResourceContents{Text: strings.Join(os.Environ(), "\n")}))
	add("doc:///exit", func() (*mcp.ReadResourceResult, error) { os.Exit(1); return nil, nil })
	return s
}

// serveStdio runs the MCP server when the tests start their own program again.
func serveStdio() {
	if err := library(new(atomic.Int64)).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		quiet.Print(err)
	}
}

// inMemory connects to a library in this process, and counts connections.
func inMemory(t *testing.T, reads, connects *atomic.Int64) func(string) (mcp.Transport, func(), error) {
	return func(string) (mcp.Transport, func(), error) {
		connects.Add(1)
		ours, theirs := mcp.NewInMemoryTransports()
		session, err := library(reads).Connect(t.Context(), theirs, nil)
		if err != nil {
			return nil, nil, err
		}
		return ours, func() { _ = session.Wait() }, nil
	}
}

func TestMCP(t *testing.T) {
	var reads, connects atomic.Int64
	m := newServers(Options{Servers: map[string]Server{"library": {}}, Limit: 100}.complete(), inMemory(t, &reads, &connects))
	r := &Router{sources: map[string]artifact.Source{"mcp": m}}
	for _, tt := range []struct {
		name string
		ref  artifact.Ref
		have *artifact.Have
		want string
		kind error
		says string
	}{
		{"text", "mcp:library/doc:///hours.md", nil, "Monday\nTuesday\n", nil, ""},
		{"text that the caller has", "mcp:library/doc:///hours.md", has("Monday\nTuesday\n"), "=", nil, ""},
		{"a line", "mcp:library/doc:///hours.md#L2", nil, "Tuesday\n", nil, ""},
		{"several texts", "mcp:library/doc:///parts", nil, "one\ntwo", nil, ""},
		{"an empty text", "mcp:library/doc:///empty", nil, "", nil, ""},
		{"no content", "mcp:library/doc:///none", nil, "", artifact.ErrGone, "no content"},
		{"what is not text", "mcp:library/doc:///image", nil, "", artifact.ErrForbidden, "image/png"},
		{"what is too large", "mcp:library/doc:///big", nil, "", artifact.ErrForbidden, SettingLimit},
		{"an error of the server", "mcp:library/doc:///bad", nil, "", artifact.ErrUnavailable, "out of order"},
		{"no such resource", "mcp:library/doc:///other", nil, "", artifact.ErrGone, "doc:///other"},
		{"no such server", "mcp:other/doc:///hours.md", nil, "", artifact.ErrForbidden, SettingMCP + ".other"},
		{"no resource", "mcp:library", nil, "", artifact.ErrGone, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := r.Fetch(t.Context(), tt.ref, tt.have)
			check(t, f, err, tt.want, tt.kind, tt.says)
		})
	}
	if got := connects.Load(); got != 1 {
		t.Errorf("connected %d times, want once", got)
	}

	t.Run("a resource that may be cached is read each time", func(t *testing.T) {
		before := reads.Load()
		for range 3 {
			f, err := m.Fetch(t.Context(), "mcp:library/doc:///cached", nil)
			check(t, f, err, "cached", nil, "")
		}
		if got := reads.Load() - before; got != 3 {
			t.Errorf("the server was asked %d times, want 3", got)
		}
	})
	t.Run("a session that broke is opened again", func(t *testing.T) {
		if err := m.link("library").session.Load().ClientSession.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := m.Fetch(t.Context(), "mcp:library/doc:///parts", nil)
		check(t, f, err, "one\ntwo", nil, "")
		if got := connects.Load(); got != 2 {
			t.Errorf("connected %d times, want twice", got)
		}
	})
	t.Run("many fetches at once share a session", func(t *testing.T) {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		before := connects.Load()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				f, err := m.Fetch(t.Context(), "mcp:library/doc:///parts", nil)
				check(t, f, err, "one\ntwo", nil, "")
			})
		}
		wg.Wait()
		if got := connects.Load() - before; got != 1 {
			t.Errorf("connected %d times, want once", got)
		}
	})
	t.Run("a call that was canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f, err := m.Fetch(ctx, "mcp:library/doc:///parts", nil)
		check(t, f, err, "", artifact.ErrUnavailable, "canceled")
	})
	if err := r.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
}

// The server is the test program, started again. Of the environment it gets only the variables
// that programs need, and the configured ones.
func TestMCPOverStdio(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CARREL_TEST_KEY", "s3cret")
	m := newServers(Options{Servers: map[string]Server{
		"library": {Command: []string{self, "an argument; not a shell's"}, Env: []string{"CARREL_TEST_MCP_SERVER=1", "GORACE=atexit_sleep_ms=0"}},
		"missing": {Command: []string{self + "-missing"}},
		"silent":  {Command: []string{self, "-test.run=^$"}},
		"both":    {Command: []string{self}, URL: "https://example.org/"},
	}}.complete(), nil)
	for _, tt := range []struct {
		name string
		ref  artifact.Ref
		want string
		kind error
		says string
	}{
		{"text", "mcp:library/doc:///parts", "one\ntwo", nil, ""},
		{"a server that ends", "mcp:library/doc:///exit", "", artifact.ErrUnavailable, ""},
		{"a server that has ended, again", "mcp:library/doc:///parts", "one\ntwo", nil, ""},
		{"a program that is not there", "mcp:missing/x", "", artifact.ErrUnavailable, "missing"},
		{"a program that is no server", "mcp:silent/x", "", artifact.ErrUnavailable, ""},
		{"a server with two ways to it", "mcp:both/x", "", artifact.ErrForbidden, "both"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := m.Fetch(t.Context(), tt.ref, nil)
			check(t, f, err, tt.want, tt.kind, tt.says)
		})
	}
	f, err := m.Fetch(t.Context(), "mcp:library/doc:///environment", nil)
	if err != nil {
		t.Fatal(err)
	}
	if env := string(f.Content); strings.Contains(env, "s3cret") || !strings.Contains(env, "CARREL_TEST_MCP_SERVER=1") || !strings.Contains(env, "PATH=") {
		t.Errorf("the environment of the server is\n%s\nwant PATH and what was given, and no key", env)
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
}

func TestMCPOverHTTP(t *testing.T) {
	var reads atomic.Int64
	lib := library(&reads)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return lib }, nil)
	srv, conns := counted(t, handler.ServeHTTP)
	away := httptest.NewServer(http.RedirectHandler(srv.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	flood := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range 4 << 10 {
			if _, err := w.Write(make([]byte, 1<<10)); err != nil {
				return
			}
		}
	}))
	defer flood.Close()
	m := newServers(Options{AllowPrivate: true, Limit: 100, Servers: map[string]Server{
		"library": {URL: srv.URL},
		"away":    {URL: away.URL},
		"flood":   {URL: flood.URL},
		"user":    {URL: "https://u" + ":p@example.org/"},
		"scheme":  {URL: "ftp://example.org/"},
		"nothing": {},
	}}.complete(), nil)
	guarded := newServers(Options{Servers: m.Servers}.complete(), nil)
	for _, tt := range []struct {
		name string
		ref  artifact.Ref
		want string
		kind error
		says string
	}{
		{"a server that sends us elsewhere", "mcp:away/doc:///parts", "", artifact.ErrForbidden, "elsewhere"},
		{"a server that does not end", "mcp:flood/doc:///parts", "", artifact.ErrUnavailable, "too large"},
		{"a user in the URL", "mcp:user/x", "", artifact.ErrForbidden, ""},
		{"another scheme", "mcp:scheme/x", "", artifact.ErrForbidden, "ftp"},
		{"no way to the server", "mcp:nothing/x", "", artifact.ErrForbidden, "URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := m.Fetch(t.Context(), tt.ref, nil)
			check(t, f, err, tt.want, tt.kind, tt.says)
		})
	}
	f, err := guarded.Fetch(t.Context(), "mcp:library/doc:///parts", nil)
	check(t, f, err, "", artifact.ErrForbidden, SettingPrivate)
	if got := conns.Load(); got != 0 {
		t.Errorf("the server got %d connections by what is forbidden, want none", got)
	}
	f, err = m.Fetch(t.Context(), "mcp:library/doc:///parts", nil)
	check(t, f, err, "one\ntwo", nil, "")
	f, err = m.Fetch(t.Context(), "mcp:library/doc:///other", nil)
	check(t, f, err, "", artifact.ErrGone, "")
	if err := m.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
}

// What a server no longer has is gone, by the codes of both protocols, and any other error means that
// it cannot be had now.
func TestRefusals(t *testing.T) {
	for code, want := range map[int64]error{-32002: artifact.ErrGone, -32602: artifact.ErrGone, -32603: artifact.ErrUnavailable} {
		if err := refusal(&jsonrpc.Error{Code: code, Message: "no"}); !errors.Is(err, want) {
			t.Errorf("code %d: %v, want %v", code, err, want)
		}
	}
}

// The texts of a resource and the responses of a server may have as many bytes as the limit.
func TestMCPAtItsLimit(t *testing.T) {
	contents := []*mcp.ResourceContents{{Text: "a"}, {Text: "b"}}
	if b, err := join("x", contents, 3); string(b) != "a\nb" || err != nil {
		t.Errorf("join = %q, %v, want both texts", b, err)
	}
	if _, err := join("x", contents, 2); !errors.Is(err, artifact.ErrForbidden) {
		t.Errorf("a byte too much: %v", err)
	}
	for limit, want := range map[int64]string{1: "a", 2: "ab"} {
		b, err := io.ReadAll(&cappedBody{io.NopCloser(strings.NewReader("abc")), limit})
		if string(b) != want || err == nil {
			t.Errorf("of a response over %d bytes, %q is read: %v", limit, b, err)
		}
	}
}

// Who waits for a server that another call connects to stops when the caller does.
func TestOpenIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := &link{busy: make(chan struct{}, 1)}
	l.busy <- struct{}{}
	if s, fresh, err := newServers(&Options{}, nil).open(ctx, l, "x"); s != nil || fresh || !errors.Is(err, context.Canceled) {
		t.Errorf("open = %v, %v, %v, want nothing that is fresh", s, fresh, err)
	}
}
