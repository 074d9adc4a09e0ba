package httpjson

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func TestParseBase(t *testing.T) {
	for in, want := range map[string]string{
		"http://host":               "http://host/v1",
		"https://HOST:8080/":        "https://host:8080/v1",
		"http://host/v1":            "http://host/v1",
		"http://host/below/v1///":   "http://host/below/v1",
		"http://host/Below":         "http://host/Below/v1",
		"http://[::1]:1":            "http://[::1]:1/v1",
		"http://canary\x7f":         "",
		"ftp://host":                "",
		"host":                      "",
		"http://":                   "",
		"http:///v1":                "",
		"http://:80":                "",
		"http://canary@host":        "",
		"http://host/?canary":       "",
		"http://host/?":             "",
		"http://host/#canary":       "",
		"http://u:" + canary + "@h": "",
	} {
		got, err := ParseBase(in)
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
}

// What a status means, and whether the request is sent again.
func TestStatuses(t *testing.T) {
	for code, want := range map[int]struct {
		err   error
		says  string
		again bool
	}{
		201: {sentinels.Reply, "status 201 Created", false},
		299: {sentinels.Reply, "status 299", false},
		300: {sentinels.Refused, "redirects are not followed", false},
		307: {sentinels.Refused, "redirects are not followed", false},
		399: {sentinels.Refused, "redirects are not followed", false},
		400: {sentinels.Refused, "status 400 Bad Request", false},
		408: {sentinels.Unavailable, "status 408 Request Timeout", false},
		429: {sentinels.Unavailable, "status 429 Too Many Requests", true},
		499: {sentinels.Refused, "status 499", false},
		500: {sentinels.Unavailable, "status 500 Internal Server Error", true},
		503: {sentinels.Unavailable, "status 503 Service Unavailable", true},
	} {
		url, calls := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/")
			w.WriteHeader(code)
			say(w, canary)
		})
		reply, err := client(t, Options{Retries: 1}).Post(t.Context(), url, nil)
		if reply != nil || !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.says) || strings.Contains(err.Error(), canary) {
			t.Errorf("%d: %q, %v, want %v that says %q", code, reply, err, want.err, want.says)
		}
		if strings.Contains(err.Error(), "redirects") != (code/100 == 3) {
			t.Errorf("%d: %v", code, err)
		}
		if again := calls.Load() == 2; again != want.again {
			t.Errorf("%d: %d calls, want that it is sent again: %v", code, calls.Load(), want.again)
		}
	}
}

// Between two requests there is a pause that grows, or the one that the server asks for.
func TestPauses(t *testing.T) {
	date := "Sat, 03 Jan 2026 12:00:00 GMT"
	for _, tt := range []struct {
		name, after, date string
		retries           int
		want              []time.Duration // with all of what is left to chance but a nanosecond
		says              string
	}{
		{"of our own", "", "", 8, []time.Duration{
			500*time.Millisecond - 1, time.Second - 1, 2*time.Second - 1, 4*time.Second - 1, 8*time.Second - 1, 16*time.Second - 1, 30*time.Second - 1, 30*time.Second - 1,
		}, ""},
		{"in seconds", "7", "", 2, []time.Duration{7 * time.Second, 7 * time.Second}, ""},
		{"in fewer seconds than our own", "0", "", 1, []time.Duration{500*time.Millisecond - 1}, ""},
		{"the longest", "30", "", 1, []time.Duration{30 * time.Second}, ""},
		{"too long", "31", "", 2, nil, "the server asks for a pause of 31s"},
		{"too long for the only retry", "31", "", 1, nil, "the server asks for a pause of 31s"},
		{"no number", "1a", "", 1, []time.Duration{500*time.Millisecond - 1}, ""},
		{"until a time", "Sat, 03 Jan 2026 12:00:09 GMT", date, 1, []time.Duration{9 * time.Second}, ""},
		{"until a time that is over", "Sat, 03 Jan 2026 11:00:00 GMT", date, 1, []time.Duration{500*time.Millisecond - 1}, ""},
		{"until a time by no clock", "Sat, 03 Jan 2026 12:00:09 GMT", "today", 1, []time.Duration{500*time.Millisecond - 1}, ""},
		{"none", "", "", NoRetries, nil, ""},
	} {
		url, calls := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for key, value := range map[string]string{"Retry-After": tt.after, "Date": tt.date} {
				if value != "" {
					w.Header().Set(key, value)
				}
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		var got []time.Duration
		var chances []int64
		_, err := client(t, Options{Retries: tt.retries, Rand: func(n int64) int64 {
			chances = append(chances, n)
			return n - 1
		}, Sleep: func(_ context.Context, d time.Duration) error {
			got = append(got, d)
			return nil
		}}).Post(t.Context(), url, nil)
		if !errors.Is(err, sentinels.Unavailable) || !strings.Contains(err.Error(), tt.says) || !slices.Equal(got, tt.want) || int(calls.Load()) != len(tt.want)+1 {
			t.Errorf("%s: %v after the pauses %v and %d calls, want %q after %v", tt.name, err, got, calls.Load(), tt.says, tt.want)
		}
		full := 500 * time.Millisecond
		for i, n := range chances {
			if n != int64(full/2) {
				t.Errorf("%s: of pause %d, %v is left to chance, want %v", tt.name, i, time.Duration(n), full/2)
			}
			full = min(2*full, 30*time.Second)
		}
	}
}

func TestRequestsSayWhatTheyAre(t *testing.T) {
	var seen http.Header
	var body string
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		w.Header().Set("Content-Type", "application/json")
		say(w, `{"a":1}`)
	})
	c := client(t, Options{Authorize: func(h http.Header) { h.Set("X-Key", "k") }})
	reply, err := c.Post(t.Context(), url, []byte("{}"))
	if err != nil || string(reply) != `{"a":1}` {
		t.Errorf("%q, %v", reply, err)
	}
	post := map[string]string{"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "carrel", "X-Key": "k"}
	stream := map[string]string{"Content-Type": "application/json", "Accept": "text/event-stream, application/json", "User-Agent": "carrel", "X-Key": "k"}
	for key, want := range post {
		if got := seen.Get(key); got != want {
			t.Errorf("%s of a post is %q, want %q", key, got, want)
		}
	}
	if reply, err := c.Stream(t.Context(), url, []byte(body), func(*Event) (bool, error) { return false, nil }); err != nil || string(reply) != `{"a":1}` {
		t.Errorf("%q, %v", reply, err)
	}
	for key, want := range stream {
		if got := seen.Get(key); got != want {
			t.Errorf("%s of a stream is %q, want %q", key, got, want)
		}
	}
}

// A reply may have as many bytes as it may have, and no more.
func TestRepliesHaveALimit(t *testing.T) {
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { say(w, strings.Repeat("x", 1000)) })
	if reply, err := client(t, Options{MaxReply: 1000}).Post(t.Context(), url, nil); err != nil || len(reply) != 1000 {
		t.Errorf("%d bytes, %v", len(reply), err)
	}
	if _, err := client(t, Options{MaxReply: 999}).Post(t.Context(), url, nil); !errors.Is(err, sentinels.Reply) || !strings.Contains(err.Error(), "more than 999 bytes") {
		t.Error(err)
	}
	// What is behind the last event of a stream does not count, however long it is.
	answer := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("data: end\n\n" + strings.Repeat("x", 1000))), Request: r}, nil
	}
	_, err := client(t, Options{MaxReply: 100, HTTPClient: &http.Client{Transport: roundTripper(answer)}}).Stream(t.Context(), "http://host", nil, func(*Event) (bool, error) { return true, nil })
	if err != nil {
		t.Errorf("a stream that is whole: %v", err)
	}
	b := &content{source: strings.NewReader(strings.Repeat("x", 20)), left: 10, heard: func() {}}
	if n, err := b.Read(make([]byte, 15)); n != 11 || !errors.Is(err, errTooLong) {
		t.Errorf("%d bytes, %v, want 11: one more than allowed says that there are more", n, err)
	}
	if n, err := b.Read(make([]byte, 15)); n != 0 || !errors.Is(err, errTooLong) {
		t.Errorf("%d bytes, %v after the end", n, err)
	}
}

// A stream lives for as long as it says something now and then. A client that expects no stream waits longer.
func TestStreamThatGoesOn(t *testing.T) {
	for _, o := range []Options{{Idle: 50 * time.Millisecond}, {Idle: 30 * time.Millisecond, NoStream: true}} {
		synctest.Test(t, func(t *testing.T) {
			in, out := io.Pipe()
			go func() {
				for range 4 {
					time.Sleep(40 * time.Millisecond) // of the bubble's clock
					if _, err := io.WriteString(out, "data: a\n\n"); err != nil {
						t.Error(err)
					}
				}
				_ = out.Close() // a pipe fails never
			}()
			answer := func(r *http.Request) (*http.Response, error) {
				context.AfterFunc(r.Context(), func() { _ = out.CloseWithError(r.Context().Err()) }) // as package http does
				return &http.Response{StatusCode: http.StatusOK, Body: in, Request: r}, nil
			}
			events := 0
			o.HTTPClient = &http.Client{Transport: roundTripper(answer)}
			_, err := client(t, o).Stream(t.Context(), "http://host", nil, func(*Event) (bool, error) {
				events++
				return false, nil
			})
			if err != nil || events != 4 {
				t.Errorf("NoStream %v: %d events, %v", o.NoStream, events, err)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A timing error says whether it is that the time was up.
type timing bool

func (timing) Error() string   { return canary }
func (e timing) Timeout() bool { return bool(e) }
func (timing) Temporary() bool { return false }

func TestWhyThereIsNoReply(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		says  string
		calls int
	}{
		{"dialing fails", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "dial: connection refused", 1},
		{"reading fails", &net.OpError{Op: "read", Err: syscall.EHOSTUNREACH}, "connection broke", 1},
		{"the time is up", timing(true), "no reply within 1m0s", 1},
		{"a network error that is another", timing(false), "connection broke", 1},
		{"the connection is reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, "connection dropped by the server", 2},
		{"the connection ends", io.EOF, "connection dropped by the server", 2},
		{"something else", errors.New(canary), "connection broke", 1},
	} {
		calls := 0
		fail := func(*http.Request) (*http.Response, error) { calls++; return nil, tt.err }
		_, err := client(t, Options{Retries: 1, HTTPClient: &http.Client{Transport: roundTripper(fail)}}).Post(t.Context(), "http://host", nil)
		if !errors.Is(err, sentinels.Unavailable) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), canary) || calls != tt.calls {
			t.Errorf("%s: %v after %d calls, want %q after %d", tt.name, err, calls, tt.says, tt.calls)
		}
	}
	for broken, want := range map[error]int{syscall.ECONNRESET: 2, errors.New(canary): 1} { // within a reply
		calls := 0
		reply := func(*http.Request) (*http.Response, error) {
			calls++
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(iotest.ErrReader(broken))}, nil
		}
		_, err := client(t, Options{Retries: 1, HTTPClient: &http.Client{Transport: roundTripper(reply)}}).Post(t.Context(), "http://host", nil)
		if !errors.Is(err, sentinels.Unavailable) || strings.Contains(err.Error(), canary) || calls != want {
			t.Errorf("%v within a reply: %v after %d calls, want %d", broken, err, calls, want)
		}
	}
}

func TestNamesAtTheirBounds(t *testing.T) {
	for s, want := range map[string]bool{strings.Repeat("a", 128): true, "!~": true, "\x7f": false, " ": false, "é": false} {
		if got := Label(s) != ""; got != want {
			t.Errorf("Label(%q) is one: %v, want %v", s, got, want)
		}
	}
	for key, want := range map[string]bool{"!~aZ09": true, "": true, "\x7f": false, " ": false, "\n": false} {
		if got := CheckKey(key) == nil; got != want {
			t.Errorf("CheckKey(%q) passes: %v, want %v", key, got, want)
		}
	}
	o := Options{Retries: NoRetries}
	if err := o.Complete(1, 1, 1); err != nil || o.Retries != NoRetries {
		t.Errorf("%d retries, %v", o.Retries, err)
	}
}

// An event has the id of the last one that had one, and CR LF is one end of a line even
// where they come apart.
func TestEventsHaveIDs(t *testing.T) {
	var got []string
	_, err := ReadEvents(strings.NewReader("id: 1\r\ndata: a\r\n\r\ndata: b\r\r\n\nid: 2\r\ndata: c\r\n\r\n"), func(e *Event) (bool, error) {
		got = append(got, e.ID+"|"+string(e.Data))
		return false, nil
	})
	if want := []string{"1|a", "1|b", "2|c"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	got = nil
	_, err = ReadEvents(strings.NewReader("data: a\n:\ndata: b\n\n"), func(e *Event) (bool, error) {
		got = append(got, string(e.Data))
		return false, nil
	})
	if want := []string{"a\nb"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("a short comment in an event: %q, %v, want %q", got, err, want)
	}
	got = nil
	_, err = ReadEvents(strings.NewReader("data: a\rdata: b\n\ndata: c\r\n\ndata: d\n\n"), func(e *Event) (bool, error) {
		got = append(got, string(e.Data))
		return false, nil
	})
	if want := []string{"a\nb", "c", "d"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
