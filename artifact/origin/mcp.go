package origin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel/artifact"
)

// servers is a source of resources of MCP servers: in "mcp:server/uri", server is the name of a
// configured server and uri the resource's URI.
//
// The first fetch that needs a server starts it or connects to it; the session stays open until
// Close. A fetch that finds the session broken opens it once more. Resources are read from the
// server each time, even if the server allows caching, because a fetch asks for the present
// content.
type servers struct {
	*Options

	// connect returns a transport to a server, and a function to call after the session is
	// closed.
	connect func(name string) (t mcp.Transport, closed func(), err error)

	mu    sync.Mutex // guards what follows
	links map[string]*link
}

// newServers returns a source that gets its transports from the function connect, or from
// Options.Servers if connect is nil.
func newServers(o *Options, connect func(name string) (t mcp.Transport, closed func(), err error)) *servers {
	m := &servers{Options: o, connect: connect, links: make(map[string]*link)}
	if connect == nil {
		m.connect = m.transport
	}
	return m
}

// A Server is the configuration of an MCP server: either Command or URL.
type Server struct {
	// Command is a program and its arguments. It is started without a shell and speaks MCP on its
	// standard input and output. It gets Env and, of the environment of this process, only the
	// variables that programs need to find their files, such as PATH, HOME, USER, LANG and TMPDIR.
	Command []string

	Env []string // "NAME=value", for Command

	// URL is an endpoint for streamable HTTP. Its host need not be in
	// [Options.Hosts]; its address is checked in the same way. Redirects are not followed.
	URL string
}

// A link holds the session with one server, if there is one.
type link struct {
	busy    chan struct{} // a semaphore: full while a goroutine opens or closes the session
	session atomic.Pointer[session]
}

type session struct {
	*mcp.ClientSession
	closed func()
}

// Close ends the session.
func (s *session) Close() error {
	defer s.closed()
	return s.ClientSession.Close()
}

// Fetch implements [artifact.Source]. A resource unknown to the server
// is [artifact.ErrGone].
func (m *servers) Fetch(ctx context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	what := shown(ref)
	name, uri := cutName(ref)
	if _, ok := m.Servers[name]; !ok {
		return nil, fail(artifact.ErrForbidden, what, "set %s.%s to allow it", SettingMCP, name)
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	result, err := m.read(ctx, name, uri)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, classify(err))
	}
	content, err := join(what, result.Contents, m.Limit)
	if err != nil {
		return nil, err
	}
	return answer(what, m.Limit, &artifact.Fetched{Content: content}, have)
}

// read asks a server for a resource.
func (m *servers) read(ctx context.Context, name, uri string) (*mcp.ReadResourceResult, error) {
	l := m.link(name)
	for {
		session, fresh, err := m.open(ctx, l, name)
		if err != nil {
			return nil, err
		}
		result, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err == nil {
			return result, nil
		}
		if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
			return nil, refusal(e)
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, err // the caller's context ended; the session is not broken
		}
		l.drop(session)
		if fresh || ctx.Err() != nil {
			return nil, err
		}
	}
}

// codeNotFound is the error code for a missing resource, up to the
// protocol of 2025-11-25. Later protocols use the code for invalid parameters.
const codeNotFound = -32002

// refusal converts the error that a server returned for a resource into an error of package
// artifact.
func refusal(e *jsonrpc.Error) error {
	kind := artifact.ErrUnavailable
	if e.Code == codeNotFound || e.Code == jsonrpc.CodeInvalidParams {
		kind = artifact.ErrGone
	}
	return fmt.Errorf("%w: the server says: %w", kind, e)
}

// join returns the texts of a resource, separated by line feeds. It fails if a content is no text,
// or if the texts exceed limit bytes. Errors call the resource by the text in what.
func join(what string, contents []*mcp.ResourceContents, limit int64) ([]byte, error) {
	if len(contents) == 0 {
		return nil, fail(artifact.ErrGone, what, "the server returned no content")
	}
	var b []byte
	for i, c := range contents {
		if c.Blob != nil {
			return nil, fail(artifact.ErrForbidden, what, "it is not text but %q", c.MIMEType)
		}
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, c.Text...)
		if int64(len(b)) > limit {
			return nil, tooLarge(what, limit)
		}
	}
	return b, nil
}

// link returns the link to a server.
func (m *servers) link(name string) *link {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.links[name]
	if !ok {
		l = &link{busy: make(chan struct{}, 1)}
		m.links[name] = l
	}
	return l
}

// open returns the session of a link, and whether this call opened it.
func (m *servers) open(ctx context.Context, l *link, name string) (_ *session, fresh bool, err error) {
	select {
	case l.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	defer func() { <-l.busy }()
	if s := l.session.Load(); s != nil {
		return s, false, nil
	}
	t, closed, err := m.connect(name)
	if err != nil {
		return nil, false, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "carrel", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	client.AddSendingMiddleware(uncached)
	cs, err := client.Connect(ctx, t, nil)
	if err != nil {
		closed()
		return nil, false, err
	}
	s := &session{cs, closed}
	l.session.Store(s)
	return s, true, nil
}

// uncached disables a client's cache of resources.
func uncached(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if r, ok := result.(*mcp.ReadResourceResult); ok && err == nil {
			r.TTLMs = 0
		}
		return result, err
	}
}

// drop closes a broken session, unless another goroutine has already done so. The next fetch opens
// a new one.
func (l *link) drop(s *session) {
	if l.session.CompareAndSwap(s, nil) {
		_ = s.Close() // the error is known already
	}
}

// Close ends all sessions. The next fetch opens new ones.
func (m *servers) Close() error {
	m.mu.Lock()
	links := m.links
	m.links = make(map[string]*link)
	m.mu.Unlock()
	var errs []error
	for name, l := range links {
		l.busy <- struct{}{}
		if s := l.session.Swap(nil); s != nil {
			if err := s.Close(); err != nil {
				errs = append(errs, fmt.Errorf("mcp server %s: %w", name, err))
			}
		}
		<-l.busy
	}
	return errors.Join(errs...)
}

// transport returns a transport to a server, and a function to call after the session is
// closed. The transport limits the size of messages to about the limit of a content, and the
// time of a request to the timeout of a fetch.
func (m *servers) transport(name string) (_ mcp.Transport, closed func(), err error) {
	s := m.Servers[name]
	switch {
	case len(s.Command) > 0 && s.URL != "":
		return nil, nil, fmt.Errorf("%w: the server has both a command and a URL: configure one of them", artifact.ErrForbidden)
	case len(s.Command) > 0:
		// The process lives until Close, longer than a fetch.
		cmd := exec.CommandContext(context.Background(), s.Command[0], s.Command[1:]...)
		cmd.Env = append(environment(), s.Env...)
		return &mcp.CommandTransport{Command: cmd}, func() {}, nil
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the configured URL of the server is no valid URL", artifact.ErrForbidden)
	}
	rule, err := parseHost(u.Host)
	if err == nil {
		err = checkURL([]hostRule{rule}, u)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: URL of the server: %w", artifact.ErrForbidden, err)
	}
	guarded := guard{private: m.AllowPrivate, allow: m.Allow}.transport(nil)
	return &mcp.StreamableClientTransport{
		Endpoint: s.URL,
		HTTPClient: &http.Client{
			Timeout:   m.Timeout,
			Transport: capped{guarded, 2*m.Limit + 1<<20},
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return fmt.Errorf("%w: the server redirects elsewhere: configure the URL that it redirects to", artifact.ErrForbidden)
			},
		},
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
	}, guarded.CloseIdleConnections, nil
}

// environment returns the environment variables that a program needs to find its files.
func environment() []string {
	var env []string
	for _, name := range []string{
		"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
		"APPDATA", "LOCALAPPDATA", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE",
	} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// capped is a transport whose response bodies fail after limit bytes.
type capped struct {
	*http.Transport
	limit int64
}

// RoundTrip implements [http.RoundTripper].
func (c capped) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.Transport.RoundTrip(req)
	if err == nil {
		resp.Body = &cappedBody{resp.Body, c.limit}
	}
	return resp, err
}

type cappedBody struct {
	io.ReadCloser
	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the response of the server is too large: raise " + SettingLimit)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
