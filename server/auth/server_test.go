package auth_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/server/auth"
)

// long is a time that no test waits for.
const long = time.Hour

// A site is a room behind a real server on the loopback interface.
type site struct {
	*room
	addr string
	log  *safeBuffer
}

// safeBuffer is a buffer that many may write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newSite serves until the test ends. What the server has logged by then shows no credential.
func newSite(t *testing.T, door *auth.DoorOptions, limits *http.Server) *site {
	t.Helper()
	listener, err := auth.Listen("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{addr: listener.Addr().String(), log: &safeBuffer{}}
	door.Listen = s.addr
	s.room = newRoom(t, door)
	srv := auth.Server(s.room)
	srv.ErrorLog = log.New(s.log, "", 0)
	srv.ReadHeaderTimeout = cmp.Or(limits.ReadHeaderTimeout, srv.ReadHeaderTimeout)
	srv.ReadTimeout = cmp.Or(limits.ReadTimeout, srv.ReadTimeout)
	srv.WriteTimeout = cmp.Or(limits.WriteTimeout, srv.WriteTimeout)
	srv.IdleTimeout = cmp.Or(limits.IdleTimeout, srv.IdleTimeout)
	srv.MaxHeaderBytes = cmp.Or(limits.MaxHeaderBytes, srv.MaxHeaderBytes)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(listener) }()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if strings.Contains(s.log.String(), s.credential[len(auth.Prefix)+9:]) {
			t.Error("a credential is in the log")
		}
	})
	return s
}

// dial opens a connection, which is closed when the test ends. A server that keeps it
// for ever fails the test.
func (s *site) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// say sends a text and returns everything that is answered until the server ends the
// connection.
func (s *site) say(t *testing.T, text string) string {
	t.Helper()
	conn := s.dial(t)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return s.rest(t, conn)
}

func (s *site) rest(t *testing.T, conn net.Conn) string {
	t.Helper()
	answer, err := io.ReadAll(conn)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		t.Errorf("the connection is kept, after %q", answer)
	}
	if strings.Contains(string(answer), s.credential[len(auth.Prefix)+9:]) {
		t.Error("an answer shows a credential")
	}
	return string(answer)
}

// healthy asks the health route, which must answer.
func (s *site) healthy(t *testing.T) {
	t.Helper()
	answer := s.say(t, "GET /healthz HTTP/1.1\r\nHost: "+s.addr+"\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("the health route answers %q", answer)
	}
}

// begun returns the beginning of a request, the credential included.
func (s *site) begun(method string) string {
	return method + " /v1/x HTTP/1.1\r\nHost: " + s.addr + "\r\nAuthorization: Bearer " + s.credential + "\r\n"
}

// A page of another site whose name leads to this machine, as rebinding does, gets
// nothing, although it has a credential and asks for what it takes to be its own.
func TestRebinding(t *testing.T) {
	s := newSite(t, &auth.DoorOptions{}, &http.Server{})
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string // what names were looked up
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			asked = append(asked, addr)
			return (&net.Dialer{}).DialContext(ctx, network, s.addr) // whatever its name
		},
	}}
	for _, tt := range []struct {
		host string
		want int
	}{
		{"localhost:" + port, http.StatusOK},
		{"127.0.0.1:" + port, http.StatusOK},
		{"[::1]:" + port, http.StatusOK},
		{"evil.example:" + port, http.StatusMisdirectedRequest},
		{"evil.example", http.StatusMisdirectedRequest},
		{"localhost.evil.example:" + port, http.StatusMisdirectedRequest},
		{"127.0.0.1.nip.example:" + port, http.StatusMisdirectedRequest},
		{"2130706433:" + port, http.StatusMisdirectedRequest},
		{"0.0.0.0:" + port, http.StatusMisdirectedRequest},
		{"192.168.0.1:" + port, http.StatusMisdirectedRequest},
	} {
		for _, path := range []string{"/v1/sessions", "/healthz"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+tt.host+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = bearing(s.credential)
			r.Header.Set("Sec-Fetch-Site", "same-origin") // for the page it is
			before := s.entered.Load() + s.room.healthy.Load()
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := res.Body.Close(); err != nil {
				t.Fatal(err)
			}
			in := s.entered.Load()+s.room.healthy.Load() > before
			if res.StatusCode != tt.want || in != (tt.want == http.StatusOK) {
				t.Errorf("%s at %s: %d, want %d; came in is %t", path, tt.host, res.StatusCode, tt.want, in)
			}
		}
	}
	if len(asked) != 20 {
		t.Errorf("%d connections were made, %v; want one each", len(asked), asked)
	}
}

// Malformed HTTP requests are refused.
func TestOddRequests(t *testing.T) {
	s := newSite(t, &auth.DoorOptions{MaxURL: 100}, &http.Server{MaxHeaderBytes: 1000})
	bearer, host := "Authorization: Bearer "+s.credential+"\r\n", "Host: "+s.addr+"\r\n"
	for _, tt := range []struct{ name, text, want string }{
		{"no Host", "GET / HTTP/1.1\r\n" + bearer + "\r\n", "400"},
		{"no Host in an old version", "GET / HTTP/1.0\r\n" + bearer + "\r\n", "421"},
		{"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n" + bearer + "\r\n", "421"},
		{"two Hosts", "GET / HTTP/1.1\r\n" + host + "Host: evil.example\r\n" + bearer + "\r\n", "400"},
		{"another host in the URL", "GET http://evil.example/ HTTP/1.1\r\n" + host + bearer + "\r\n", "421"},
		{"all of the server", "OPTIONS * HTTP/1.1\r\n" + host + bearer + "\r\n", "405"},
		{"a tunnel", "CONNECT evil.example:443 HTTP/1.1\r\n" + host + bearer + "\r\n", "405"},
		{"a credential on two lines", "GET / HTTP/1.1\r\n" + host + "Authorization: Bearer\r\n " + s.credential + "\r\nConnection: close\r\n\r\n", "200"},
		{"a credential twice", "GET / HTTP/1.1\r\n" + host + bearer + bearer + "\r\n", "401"},
		{"a credential in a trailer", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n0\r\n" + bearer + "\r\n", "401"},
		{"a URL that is too long", "GET /" + strings.Repeat("a", 100) + " HTTP/1.1\r\n" + host + bearer + "\r\n", "414"},
		{"a header that is too long", "GET / HTTP/1.1\r\n" + host + bearer + "X: " + strings.Repeat("a", 20_000) + "\r\n\r\n", "431"},
		{"too many headers", "GET / HTTP/1.1\r\n" + host + bearer + strings.Repeat("X: a\r\n", 5000) + "\r\n", "431"},
		{"a body that is announced as too large", "POST / HTTP/1.1\r\n" + host + bearer + "Content-Length: 999999999999\r\n\r\n", "413"},
		{"two lengths", "POST / HTTP/1.1\r\n" + host + bearer + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
	} {
		before := s.entered.Load()
		answer := s.say(t, tt.text)
		if _, status, _ := strings.Cut(answer, " "); !strings.HasPrefix(status, tt.want+" ") {
			t.Errorf("%s: %.100q, want %s", tt.name, answer, tt.want)
		}
		if entered := s.entered.Load() > before; entered != (tt.want == "200") {
			t.Errorf("%s: came in is %t", tt.name, entered)
		}
	}
	s.healthy(t)
}

// A client that never ends its header is cut off, and does not block other clients.
func TestSlowHeaders(t *testing.T) {
	s := newSite(t, &auth.DoorOptions{}, &http.Server{ReadHeaderTimeout: 300 * time.Millisecond, ReadTimeout: long, WriteTimeout: long, IdleTimeout: long})
	const many = 60
	conns := make([]net.Conn, many)
	for i := range conns {
		conns[i] = s.dial(t)
		begin := s.begun(http.MethodGet) + "X-Slow: "
		if _, err := io.WriteString(conns[i], begin[:1+i*len(begin)/many]); err != nil {
			t.Fatal(err)
		}
	}
	s.healthy(t)
	for _, conn := range conns {
		if answer := s.rest(t, conn); answer != "" && !strings.HasPrefix(answer, "HTTP/1.1 400 ") {
			t.Errorf("half a header is answered with %q", answer)
		}
	}
	if s.entered.Load() != 0 {
		t.Errorf("%d came in", s.entered.Load())
	}
	s.healthy(t)
}

// A client that never ends its body is cut off: with a credential after the time limit, without
// one at once.
func TestSlowBodies(t *testing.T) {
	s := newSite(t, &auth.DoorOptions{}, &http.Server{ReadHeaderTimeout: long, ReadTimeout: 300 * time.Millisecond, WriteTimeout: long, IdleTimeout: long})
	s.visit = func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusRequestTimeout)
			return
		}
		t.Errorf("a body that does not end is read: %v", err)
	}
	for _, body := range []string{"Content-Length: 100\r\n\r\n12", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"} {
		conn := s.dial(t)
		if _, err := io.WriteString(conn, s.begun(http.MethodPost)+body); err != nil {
			t.Fatal(err)
		}
		s.healthy(t)
		if answer := s.rest(t, conn); !strings.HasPrefix(answer, "HTTP/1.1 408 ") {
			t.Errorf("a body that does not end is answered with %q", answer)
		}
	}

	patient := newSite(t, &auth.DoorOptions{}, &http.Server{ReadHeaderTimeout: long, ReadTimeout: long, WriteTimeout: long, IdleTimeout: long})
	for _, body := range []string{"Content-Length: 100\r\n\r\n12", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"} {
		answer := patient.say(t, "POST /v1/x HTTP/1.1\r\nHost: "+patient.addr+"\r\nAuthorization: Bearer wrong\r\n"+body)
		if !strings.HasPrefix(answer, "HTTP/1.1 401 ") {
			t.Errorf("without a credential it is answered with %q", answer)
		}
	}
	if patient.entered.Load() != 0 {
		t.Errorf("%d came in", patient.entered.Load())
	}
}

// An idle connection is closed.
func TestIdleConnections(t *testing.T) {
	s := newSite(t, &auth.DoorOptions{}, &http.Server{ReadHeaderTimeout: long, ReadTimeout: long, WriteTimeout: long, IdleTimeout: 100 * time.Millisecond})
	if answer := s.say(t, s.begun(http.MethodGet)+"\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("the first request is answered with %q", answer)
	}
}

// A flood of requests without a credential does not block a client with one.
func TestFlood(t *testing.T) {
	s := newSite(t, &auth.DoorOptions{Failures: 5}, &http.Server{})
	if answer := s.say(t, s.begun(http.MethodGet)+"Connection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Fatalf("a good credential is answered with %q", answer)
	}
	const many = 200
	answers := make([]string, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			guess := fmt.Sprintf("%s%08d_%043d", auth.Prefix, i, i)
			answers[i] = s.say(t, "GET /v1/x HTTP/1.1\r\nHost: "+s.addr+"\r\nAuthorization: Bearer "+guess+"\r\n\r\n")
		})
	}
	s.healthy(t)
	wg.Wait()
	refused := 0
	for _, answer := range answers {
		switch {
		case strings.HasPrefix(answer, "HTTP/1.1 401 "):
		case strings.HasPrefix(answer, "HTTP/1.1 429 "):
			refused++
		default:
			t.Errorf("a guess is answered with %q", answer)
		}
	}
	if refused == 0 {
		t.Error("no guess was refused without being looked at")
	}
	if answer := s.say(t, s.begun(http.MethodGet)+"Connection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("a good credential is answered with %q", answer)
	}
	if s.entered.Load() != 2 {
		t.Errorf("%d came in, want 2", s.entered.Load())
	}
}

func TestListen(t *testing.T) {
	for _, tt := range []struct {
		addr         string
		remote       bool
		want, listen string
	}{
		{"127.0.0.1:0", false, "", "127.0.0.1:"},
		{"127.0.0.2:0", false, "", "127.0.0.2:"},
		{"localhost:0", false, "", "127.0.0.1:"},
		{"localhost:0", true, "", "127.0.0.1:"},
		{"[::1]:0", false, "", "[::1]:"},
		{"0.0.0.0:0", true, "", ""},
		{":0", true, "", ""},
		{":0", false, "can be reached from other machines", ""},
		{"0.0.0.0:0", false, "can be reached from other machines", ""},
		{"[::]:0", false, "can be reached from other machines", ""},
		{"10.0.0.7:0", false, "can be reached from other machines", ""},
		{"localhost.:0", false, "can be reached from other machines", ""},
		{"evil.example:0", false, "can be reached from other machines", ""},
		{"127.1:0", false, "can be reached from other machines", ""},
		{"127.0.0.1", false, "want host:port", ""},
		{"127.0.0.1:http:1", true, "want host:port", ""},
	} {
		l, err := auth.Listen(tt.addr, tt.remote)
		if err == nil {
			addr := l.Addr().String()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if tt.want != "" || !strings.HasPrefix(addr, tt.listen) {
				t.Errorf("Listen(%q, %t) listens at %s", tt.addr, tt.remote, addr)
			}
			continue
		}
		if tt.want == "" && !errors.Is(err, auth.ErrRemote) {
			continue // the machine has no such address
		}
		if tt.want == "" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Listen(%q, %t): %v, want %q", tt.addr, tt.remote, err, tt.want)
		}
	}
}
