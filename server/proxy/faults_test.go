package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/store"
)

// amount returns how often a test does something: what a variable says, or else n.
func amount(t *testing.T, variable string, n int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return n
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// A line is a listener in memory.
type line struct {
	conns chan net.Conn
	done  chan struct{}
}

func newLine() *line { return &line{make(chan net.Conn), make(chan struct{})} }

func (l *line) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *line) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}

func (l *line) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (l *line) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	ended := new(atomic.Pointer[error])
	select {
	case l.conns <- &lineConn{far, ended}:
		return &lineConn{near, ended}, nil
	case <-l.done:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A lineConn is an end of a connection that can be reset.
type lineConn struct {
	net.Conn

	ended *atomic.Pointer[error]
}

func (c *lineConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if e := c.ended.Load(); err != nil && e != nil {
		err = *e
	}
	return n, err
}

// reset ends a connection as a router does that has lost it.
func (c *lineConn) reset() {
	var err error = syscall.ECONNRESET
	c.ended.Store(&err)
	_ = c.Close()
}

// A scene is a proxy between a client and a provider that speaks bytes, all in memory and
// in the time of a bubble.
type scene struct {
	proxy    *Proxy
	recorder *book
	client   *http.Client
}

// play plays a scene. The provider is given each request that comes, and the connection on
// which to answer; it returns when that is over.
func play(t *testing.T, change func(*Options), provider func(c *lineConn, r *http.Request), do func(t *testing.T, s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		up, down := newLine(), newLine()
		s := &scene{recorder: &book{}}
		o := &Options{Upstreams: Upstreams{"http://up.test", "http://up.test/v1"}, Recorder: s.recorder, Importer: &shelf{}, Dial: up.dial}
		if change != nil {
			change(o)
		}
		var err error
		if s.proxy, err = New(o); err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := up.Accept()
				if err != nil {
					return
				}
				go func() {
					defer conn.Close()
					c, _ := conn.(*lineConn)
					r, err := http.ReadRequest(bufio.NewReader(c))
					if err != nil {
						return
					}
					if _, err := io.Copy(io.Discard, r.Body); err == nil {
						provider(c, r)
					}
				}()
			}
		}()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.proxy.Serve(ctx, down, time.Minute) }()
		transport := &http.Transport{DialContext: down.dial, DisableCompression: true}
		s.client = &http.Client{Transport: transport}
		do(t, s)
		transport.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			t.Errorf("the proxy ended with %v", err)
		}
		_ = up.Close()
		// The bubble ends when no goroutine is left, or else fails.
	})
}

func (s *scene) post(ctx context.Context, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return s.client.Do(req)
}

// hear sends a request and reads the answer, to wherever it ends.
func (s *scene) hear(t *testing.T, path, body string) (head *reply, got []byte, err error) {
	t.Helper()
	resp, err := s.post(t.Context(), path, body)
	if err != nil {
		t.Fatal(err)
	}
	got, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return &reply{resp.StatusCode, resp.Header}, got, err
}

// ended returns the outcome of the only call.
func (s *scene) ended(t *testing.T) api.EndRequest {
	t.Helper()
	begun, ended := s.recorder.calls()
	if len(begun) != 1 || len(ended) != 1 {
		t.Fatalf("%d intents and %d outcomes of one call", len(begun), len(ended))
	}
	return ended["call_0"]
}

// A speech is the answer of a dialect, and where its last event begins.
type speech struct {
	path, body, text string
	end              string
}

var speeches = map[string]speech{
	"messages":  {"/v1/messages", claudeBody, claudeReply + claudeStop, "event: message_stop"},
	"chat":      {"/v1/chat/completions", `{"model":"gpt-6","stream":true,"messages":[{"role":"user","content":"hi"}]}`, chatAnswer, "data: [DONE]"},
	"responses": {"/v1/responses", `{"model":"gpt-6","stream":true,"input":"hi"}`, responseAnswer, "event: response.completed"},
}

const (
	chatAnswer = "data: {\"model\":\"gpt-6\",\"choices\":[{\"delta\":{\"content\":\"ho\"}}]}\n\n" +
		"data: {\"model\":\"gpt-6\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n" + "data: [DONE]\n\n"
	responseAnswer = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"ho\"}\n\n" +
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"model\":\"gpt-6\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}}\n\n"
)

const streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk returns a piece of a body in chunks.
func chunk(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("%x\r\n%s\r\n", len(s), s)
}

// A fault is how an answer goes wrong after some of its bytes.
type fault struct {
	name string
	do   func(c *lineConn)
	ends bool // the answer ends as if it were whole
}

var faultsOf = []fault{
	{"reset", func(c *lineConn) { c.reset() }, false},
	{"closed", func(c *lineConn) { _ = c.Close() }, false},
	{"malformed", func(c *lineConn) { _, _ = io.WriteString(c, "zz\r\nno chunk\r\n"); waitUntilLeft(c) }, false},
	{"stalled", waitUntilLeft, false},
	{"truncated", func(c *lineConn) { _, _ = io.WriteString(c, "0\r\n\r\n"); waitUntilLeft(c) }, true},
}

// waitUntilLeft waits until the other side has closed the connection.
func waitUntilLeft(c *lineConn) { _, _ = io.Copy(io.Discard, c) }

// places returns offsets at which an answer goes wrong: those between events, and others.
func places(t *testing.T, text string, seed uint64) []int {
	t.Helper()
	at := []int{0, len(text)}
	for i := range text {
		if strings.HasSuffix(text[:i], "\n\n") {
			at = append(at, i, i-1, i+1)
		}
	}
	random := rand.New(rand.NewPCG(22, seed))
	for range amount(t, "CARREL_TEST_FAULTS", 12) {
		at = append(at, random.IntN(len(text)))
	}
	return at
}

// Wherever and however an answer is cut, the client gets exactly the bytes that came and never an
// end that the provider did not send; the record says that the call failed; and no goroutine or
// memory of the call is left.
func TestFaults(t *testing.T) {
	for name, sp := range speeches {
		for i, f := range faultsOf {
			t.Run(name+" "+f.name, func(t *testing.T) {
				for _, at := range places(t, sp.text, uint64(i)) {
					sent := sp.text[:at]
					play(t, nil, func(c *lineConn, _ *http.Request) {
						_, _ = io.WriteString(c, streamHead+chunk(sent))
						f.do(c)
					}, func(t *testing.T, s *scene) {
						_, got, err := s.hear(t, sp.path, sp.body)
						if string(got) != sent || (err == nil) != f.ends {
							t.Fatalf("at %d: got %q, %v; want %q", at, got, err, sent)
						}
						synctest.Wait()
						whole := at == len(sp.text)
						if name == "chat" && f.ends {
							whole = strings.Contains(sent, "\"stop\"}]}\n\n") // it said why it ended
						}
						if out := s.ended(t); (out.State == store.CallDone) != whole || out.Status != http.StatusOK {
							t.Fatalf("at %d of %d: outcome %+v", at, len(sp.text), out)
						}
					})
				}
			})
		}
	}
}

// A compressed answer that is cut ends as cut, and no more of it passes than came.
func TestFaultsOfCompressedAnswers(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for event := range strings.SplitAfterSeq(claudeReply+claudeStop, "\n\n") {
		_, _ = io.WriteString(z, event)
		_ = z.Flush()
	}
	_ = z.Close()
	packed := b.String()
	for at := 0; at < len(packed); at += 1 + at%11 {
		play(t, nil, func(c *lineConn, _ *http.Request) {
			_, _ = io.WriteString(c, strings.Replace(streamHead, "\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n", 1)+chunk(packed[:at]))
			c.reset()
		}, func(t *testing.T, s *scene) {
			_, got, err := s.hear(t, "/v1/messages", claudeBody)
			if string(got) != packed[:at] || err == nil {
				t.Fatalf("at %d: got %d bytes, %v", at, len(got), err)
			}
			synctest.Wait()
			if out := s.ended(t); out.State == store.CallDone && at < len(packed)-20 {
				t.Fatalf("at %d of %d: outcome %+v", at, len(packed), out)
			}
		})
	}
}

// A refusal of the provider passes as it came, before and after the headers.
func TestRefusalsOfTheProvider(t *testing.T) {
	const text = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	for _, status := range []int{400, 401, 429, 500, 503, 529} {
		play(t, nil, func(c *lineConn, _ *http.Request) {
			fmt.Fprintf(c, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nRetry-After: 7\r\nContent-Length: %d\r\n\r\n%s", status, len(text), text)
			waitUntilLeft(c)
		}, func(t *testing.T, s *scene) {
			resp, got, err := s.hear(t, "/v1/messages", claudeBody)
			if err != nil || string(got) != text || resp.StatusCode != status || resp.Header.Get("Retry-After") != "7" {
				t.Errorf("%d: got %d, %q, %v", status, resp.StatusCode, got, err)
			}
			if out := s.ended(t); out.State != store.CallFailed || out.Status != status || out.Error != "overloaded_error" {
				t.Errorf("%d: outcome %+v", status, out)
			}
		})
	}
	const event = "event: error\ndata: " + text + "\n\n"
	play(t, nil, func(c *lineConn, _ *http.Request) {
		_, _ = io.WriteString(c, streamHead+chunk(claudeReply)+chunk(event)+"0\r\n\r\n")
		waitUntilLeft(c)
	}, func(t *testing.T, s *scene) {
		_, got, err := s.hear(t, "/v1/messages", claudeBody)
		if err != nil || string(got) != claudeReply+event {
			t.Errorf("got %q, %v", got, err)
		}
		if out := s.ended(t); out.State != store.CallFailed || out.Error != "overloaded_error" {
			t.Errorf("outcome %+v", out)
		}
	})
}

// An answer has the provider's headers and no others, also behind an informational one.
func TestNoHeaderIsAdded(t *testing.T) {
	for _, first := range []string{"", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"} {
		for _, path := range []string{"/v1/messages", "/v1/models"} {
			play(t, nil, func(c *lineConn, _ *http.Request) {
				_, _ = io.WriteString(c, first+"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Own: 1\r\n\r\ntext")
				waitUntilLeft(c)
			}, func(t *testing.T, s *scene) {
				resp, got, err := s.hear(t, path, claudeBody)
				if err != nil || string(got) != "text" {
					t.Fatalf("got %q, %v", got, err)
				}
				if diff := cmp.Diff(http.Header{"Content-Length": {"4"}, "X-Own": {"1"}}, resp.Header); diff != "" {
					t.Errorf("%s after %q (-want +got):\n%s", path, first, diff)
				}
			})
		}
	}
}

// A provider that is not there, or gives no answer, is told in the words of the dialect.
func TestNoAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		provider func(c *lineConn, r *http.Request)
		status   int
	}{
		"closed":  {func(c *lineConn, _ *http.Request) { _ = c.Close() }, http.StatusBadGateway},
		"reset":   {func(c *lineConn, _ *http.Request) { c.reset() }, http.StatusBadGateway},
		"no HTTP": {func(c *lineConn, _ *http.Request) { _, _ = io.WriteString(c, "hello\r\n\r\n") }, http.StatusBadGateway},
		"silent":  {func(c *lineConn, _ *http.Request) { waitUntilLeft(c) }, http.StatusGatewayTimeout},
	} {
		for path, want := range map[string]string{"/v1/messages": `{"error":{"message":"carrel proxy: `, "/v1/responses": `{"error":{"code":"`} {
			t.Run(name+path, func(t *testing.T) {
				play(t, nil, tt.provider, func(t *testing.T, s *scene) {
					resp, got, err := s.hear(t, path, claudeBody)
					if err != nil || resp.StatusCode != tt.status || !strings.HasPrefix(string(got), want) {
						t.Errorf("got %d, %q, %v", resp.StatusCode, got, err)
					}
					if out := s.ended(t); out.State != store.CallFailed || out.Status != 0 {
						t.Errorf("outcome %+v", out)
					}
				})
			})
		}
	}
}

// When the client disconnects, at any point, the request to the provider is canceled.
func TestClientLeaves(t *testing.T) {
	for name, tt := range map[string]struct {
		says string // before the client leaves
		read int    // bytes that the client reads
	}{
		"before the headers":     {"", 0},
		"before the first event": {streamHead, 0},
		"in an answer":           {streamHead + chunk(claudeReply), 10},
		"before its end":         {streamHead + chunk(claudeReply), len(claudeReply)},
	} {
		t.Run(name, func(t *testing.T) {
			left := make(chan struct{})
			play(t, nil, func(c *lineConn, _ *http.Request) {
				_, _ = io.WriteString(c, tt.says)
				waitUntilLeft(c)
				close(left)
			}, func(t *testing.T, s *scene) {
				ctx, leave := context.WithCancel(t.Context())
				answered := make(chan *http.Response, 1)
				go func() {
					resp, err := s.post(ctx, "/v1/messages", claudeBody) //nolint:bodyclose // who receives it does
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("asked: %v", err)
					}
					answered <- resp
				}()
				var resp *http.Response
				if tt.says != "" {
					resp = <-answered
					if _, err := io.ReadFull(resp.Body, make([]byte, tt.read)); err != nil {
						t.Error(err)
					}
				}
				synctest.Wait()
				leave()
				if resp == nil {
					resp = <-answered
				}
				if resp != nil {
					_ = resp.Body.Close()
				}
				began := time.Now()
				<-left
				if took := time.Since(began); took > 0 {
					t.Errorf("the provider was left %v later", took)
				}
				synctest.Wait()
				if out := s.ended(t); out.State != store.CallFailed {
					t.Errorf("outcome %+v", out)
				}
			})
		})
	}
}

// A record that hangs for ever holds a call up for no longer than its bound.
func TestRecordsThatHang(t *testing.T) {
	for name, required := range map[string]bool{"open": false, "required": true} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{})
			play(t, func(o *Options) { o.Required = required }, func(c *lineConn, _ *http.Request) {
				_, _ = io.WriteString(c, streamHead+chunk(claudeReply+claudeStop)+"0\r\n\r\n")
				waitUntilLeft(c)
			}, func(t *testing.T, s *scene) {
				gate = make(chan struct{}) // of this bubble
				s.recorder.begin = func(context.Context) error { <-gate; return errors.New("too late") }
				began := time.Now()
				resp, err := s.post(t.Context(), "/v1/messages", claudeBody)
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				want := http.StatusOK
				if required {
					want = http.StatusServiceUnavailable
				}
				if took := time.Since(began); err != nil || resp.StatusCode != want || took != DefaultWait {
					t.Errorf("got %d, %v after %v", resp.StatusCode, err, took)
				}
				close(gate)
			})
		})
	}
}

// A client that disconnects while its call is recorded makes no gap in the record of another; only
// a record that takes longer than its bound does, also when its client has left.
func TestLeavingIsNoHangingRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(&Options{})
		if err != nil {
			t.Fatal(err)
		}
		commit := func(ctx context.Context, took time.Duration) error {
			return p.commit(ctx, func(context.Context) error { <-time.After(took); return nil })
		}
		leaves := func(took time.Duration) {
			ctx, leave := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, leave)
			if err := commit(ctx, took); !errors.Is(err, context.Canceled) {
				t.Errorf("the client left: %v", err)
			}
		}
		leaves(DefaultWait / 2)
		if err := commit(t.Context(), 0); err != nil {
			t.Errorf("after another client has left: %v", err)
		}
		synctest.Wait()
		<-time.After(DefaultWait)
		leaves(2 * DefaultWait)
		<-time.After(DefaultWait)
		if err := commit(t.Context(), 0); !errors.Is(err, errStuck) {
			t.Errorf("while a record hangs whose client has left: %v", err)
		}
		<-time.After(DefaultWait)
		if err := commit(t.Context(), 0); err != nil || p.stuck.Load() != 0 {
			t.Errorf("after it: %v, %d hang", err, p.stuck.Load())
		}
	})
}
