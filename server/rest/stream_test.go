package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/rest"
)

// An event is one of a stream, as a client reads it.
type event struct{ id, name, data string }

// events reads a stream to its end.
func events(r io.Reader) []event {
	var list []event
	var e event
	for in := bufio.NewScanner(r); in.Scan(); {
		field, value, _ := strings.Cut(in.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data += value
		case "":
			if e != (event{}) {
				list = append(list, e)
			}
			e = event{}
		}
	}
	return list
}

const sse = "text/event-stream"

// HEAD has the header of a response and ends: it neither follows events nor becomes a stream of them.
func TestHeadIsNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.ask("POST", "/v1/sessions/s/messages", appended("hello"))
		for path, want := range map[string]string{"/v1/events": sse, "/v1/sessions/s": "application/json"} {
			r := request(t, "HEAD", path, nil, "Accept", sse)
			ctx, cancel := context.WithTimeout(r.Context(), time.Hour)
			rec := w.do(r.WithContext(ctx))
			if kind := rec.Header().Get("Content-Type"); rec.Code != 200 || kind != want || ctx.Err() != nil {
				t.Errorf("%s: status %d, type %q, want %q; ended: %v", path, rec.Code, kind, want, ctx.Err() == nil)
			}
			cancel()
		}
	})
}

// A long job tells how far it is, and then what came of it.
func TestProgress(t *testing.T) {
	w := newWorld(t, nil)
	rec := w.ask("POST", "/v1/sessions/s/messages", map[string]any{"messages": say(strings.Split(strings.Repeat("word ", 200), " ")...)}, "Accept", sse)
	if kind := rec.Header().Get("Content-Type"); rec.Code != 200 || kind != sse || !rec.Flushed || rec.Header().Get("X-Accel-Buffering") != "no" {
		t.Fatalf("status %d, type %q", rec.Code, kind)
	}
	steps, names := 0, ""
	for _, e := range events(rec.Body) {
		var p struct {
			Job         string
			Done, Total int
		}
		if e.name == "progress" {
			steps++
			if err := json.Unmarshal([]byte(e.data), &p); err != nil || p.Job != "count" || p.Done > p.Total {
				t.Errorf("progress %s: %v", e.data, err)
			}
			continue
		}
		names += e.name
		var in carrel.ImportResult
		if err := json.Unmarshal([]byte(e.data), &in); err != nil || in.Blocks != 201 {
			t.Errorf("%s: %v", e.data, err)
		}
	}
	if steps != 3 || names != "result" { // one for every 64 blocks
		t.Errorf("%d steps, then %q", steps, names)
	}
}

// What fails before the job is a plain problem; what fails in it is the last event.
func TestStreamOfAProblem(t *testing.T) {
	w := newWorld(t, nil)
	if p := problem(t, w.ask("POST", "/v1/sessions/s/messages", `{`, "Accept", sse)); p.Status != 400 {
		t.Errorf("%+v", p)
	}
	list := events(w.ask("POST", "/v1/sessions/s/compress", nil, "Accept", sse).Body)
	var p api.Problem
	if len(list) != 1 || list[0].name != "problem" || json.Unmarshal([]byte(list[0].data), &p) != nil || p.Status != 404 {
		t.Errorf("got %+v", list)
	}
	if rec := w.ask("POST", "/v1/sessions/s/compress", nil, "Accept", "application/json, "+sse); problem(t, rec).Status != 404 {
		t.Errorf("JSON is preferred: status %d", rec.Code)
	}
}

// A stream and a key go together: the result is sent again, and nothing is done.
func TestStreamOfAKey(t *testing.T) {
	w := newWorld(t, nil)
	var data []string
	for range 2 {
		list := events(w.ask("POST", "/v1/sessions/s/messages", appended("hi"), "Accept", sse, api.HeaderIdempotency, "k").Body)
		data = append(data, list[len(list)-1].data)
	}
	if data[0] != data[1] || data[0] == "" {
		t.Errorf("got %q", data)
	}
}

// A reader is a client of a stream in a bubble of its own time.
type reader struct {
	world  *world
	pipe   *io.PipeReader
	in     *bufio.Reader // of the pipe, for next
	cancel context.CancelFunc
	ended  chan struct{}
	status int
}

// pipeWriter is a response that is read while it is written.
type pipeWriter struct {
	*httptest.ResponseRecorder
	out *io.PipeWriter
}

func (w pipeWriter) Write(b []byte) (int, error) { return w.out.Write(b) }

func (w *world) listen(target string, headers ...string) *reader {
	w.t.Helper()
	in, out := io.Pipe()
	r := request(w.t, "GET", target, nil, headers...)
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), credentialKey{}, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	l := &reader{world: w, pipe: in, in: bufio.NewReader(in), cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(pipeWriter{rec, out}, r.WithContext(ctx))
		l.status = rec.Code
		_ = out.Close()
	}()
	return l
}

// next returns the next events, n of them, as they come.
func (l *reader) next(n int) []event {
	var list []event
	var text strings.Builder
	for len(list) < n {
		line, err := l.in.ReadString('\n')
		if err != nil {
			break
		}
		text.WriteString(line)
		if line == "\n" {
			list = append(list, events(strings.NewReader(text.String()))...)
			text.Reset()
		}
	}
	return list
}

func (l *reader) close() {
	l.cancel()
	_ = l.pipe.Close()
	<-l.ended
}

// told returns what events are about: the session, or log, and the operation.
func told(t *testing.T, list []event) []string {
	t.Helper()
	var out []string
	for _, e := range list {
		var v api.Event
		if err := json.Unmarshal([]byte(e.data), &v); err != nil {
			t.Fatal(err)
		}
		where := string(v.Session)
		if (where == "") != (e.name == "log") {
			t.Errorf("event %+v", e)
		}
		out = append(out, strings.TrimSpace(where+" "+v.Entry.Op))
	}
	return out
}

func TestEventsOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.ask("POST", "/v1/sessions/s/messages", appended("one"))
		w.ask("POST", "/v1/sessions/s/messages", appended("two"))

		l := w.listen("/v1/events?session=s") // from now on
		synctest.Wait()
		w.ask("POST", "/v1/sessions/t/messages", appended("of another session"))
		w.ask("POST", "/v1/sessions/s/messages", appended("three"))
		got := l.next(1)
		l.close()
		if diff := cmp.Diff([]string{"s import"}, told(t, got)); diff != "" || got[0].id != "3" {
			t.Errorf("events %+v (-want +got):\n%s", got, diff)
		}

		w.ask("POST", "/v1/sessions/s/messages", appended("while nobody listens"))
		for _, l := range []*reader{w.listen("/v1/events?session=s&since=2"), w.listen("/v1/events?session=s&since=0", "Last-Event-ID", "2")} {
			got = l.next(2)
			l.close()
			if len(got) != 2 || got[0].id != "3" || got[1].id != "4" {
				t.Errorf("resumed at 2: %+v", got)
			}
		}
	})
}

func TestEventsOfAScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, newEngine(t, &carrel.Options{Counter: quarter{}, Now: time.Now}), nil)
		write := func(name string) { w.ask("POST", "/v1/sessions/"+name+"/messages", appended("hi")) }
		put := func() {
			w.ask("POST", "/v1/artifacts", map[string]any{"artifacts": []any{map[string]any{"class": "document", "content": "aGk="}}})
		}
		write("old")
		put()
		time.Sleep(time.Hour)

		l := w.listen("/v1/events")
		synctest.Wait()
		write("a")
		time.Sleep(time.Millisecond)
		put()
		time.Sleep(time.Millisecond)
		write("b")
		got := l.next(3)
		write("b")
		got = append(got, l.next(1)...)
		l.close()
		if diff := cmp.Diff([]string{"a import", "put", "b import", "b import"}, told(t, got)); diff != "" || got[2].data == got[3].data {
			t.Errorf("events (-want +got):\n%s", diff)
		}

		time.Sleep(time.Millisecond)
		write("a")
		put()
		// Behind the first: what is new, what comes after it, and, of the time that a job may
		// take, the first again.
		for i, want := range [][]string{
			{"a import", "put", "b import", "b import", "put", "a import"},
			{"a import", "b import", "b import", "put", "a import"},
			{"a import", "b import", "b import", "put", "a import"},
		} {
			l = w.listen("/v1/events?since=" + got[i].id)
			if diff := cmp.Diff(want, told(t, l.next(len(want)))); diff != "" {
				t.Errorf("behind event %d (-want +got):\n%s", i, diff)
			}
			l.close()
		}
	})
}

// A stream says now and then that it is there, and ends with the grant, or the server.
func TestStreamsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopping := make(chan struct{})
		w := newWorld(t, func(o *rest.Options) { o.Stopping, o.Now = stopping, time.Now })
		w.grants["short"] = &governance.Grant{
			Actor: "ada", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions(), Expires: time.Now().Add(time.Minute),
		}
		short, long := w.listen("/v1/events", "Authorization", "Bearer short"), w.listen("/v1/events")
		begin := time.Now()
		got := make(chan string)
		read := func(l *reader) {
			data, _ := io.ReadAll(l.pipe)
			got <- string(data)
		}
		go read(short)
		text := <-got
		if list := events(strings.NewReader(text)); len(list) != 1 || list[0].name != "problem" || !strings.Contains(list[0].data, "denied") {
			t.Errorf("got %q", text)
		}
		if took, beats := time.Since(begin), strings.Count(text, ":\n\n"); took != time.Minute || beats != 4 {
			t.Errorf("%d beats in %v", beats, took)
		}
		go read(long)
		synctest.Wait()
		close(stopping)
		if text := <-got; strings.Contains(text, "event") {
			t.Errorf("got %q", text)
		}
	})
}

func TestStreamsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *rest.Options) { o.Limits.Streams = 2 })
		w.grants["other"] = &governance.Grant{ID: "t2", Actor: "ada", Scopes: []governance.ScopePattern{"local"}, Permissions: governance.Permissions()}
		a, b := w.listen("/v1/events"), w.listen("/v1/events")
		go io.Copy(io.Discard, a.pipe) //nolint:errcheck // until it is closed
		go io.Copy(io.Discard, b.pipe) //nolint:errcheck // until it is closed
		synctest.Wait()
		if p := problem(t, w.ask("GET", "/v1/events", nil)); p.Status != http.StatusTooManyRequests {
			t.Errorf("%+v", p)
		}
		other := w.listen("/v1/events", "Authorization", "Bearer other")
		go io.Copy(io.Discard, other.pipe) //nolint:errcheck // until it is closed
		a.close()
		again := w.listen("/v1/events")
		go io.Copy(io.Discard, again.pipe) //nolint:errcheck // until it is closed
		synctest.Wait()
		for _, l := range []*reader{b, other, again} {
			select {
			case <-l.ended:
				t.Errorf("a stream ended with status %d", l.status)
			default:
			}
			l.close()
		}
	})
}

func TestEventsOfNothing(t *testing.T) {
	w := newWorld(t, nil)
	for target, want := range map[string]int{
		"/v1/events?session=none":         404,
		"/v1/events?since=x":              400,
		"/v1/events?since=1":              400,
		"/v1/events?since=-1-5":           400,
		"/v1/events?session=none&since=x": 400,
		"/v1/events?sesion=s":             400,
	} {
		if p := problem(t, w.ask("GET", target, nil)); p.Status != want {
			t.Errorf("%s: %+v", target, p)
		}
	}
}

// Over a connection: a slow body is cut off by the server, and health answers meanwhile.
func TestOverAConnection(t *testing.T) {
	w := newWorld(t, nil)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.handler.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), credentialKey{}, "whole")))
	}))
	srv.Config.ReadTimeout = 50 * time.Millisecond
	srv.Config.MaxHeaderBytes = 4096
	srv.Start()
	defer srv.Close()

	slow, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprint(slow, "POST /v1/discard HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	health, err := http.Get(srv.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer health.Body.Close()
	if health.StatusCode != http.StatusOK {
		t.Errorf("health: status %d", health.StatusCode)
	}
	res, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("a slow body: status %d", res.StatusCode)
	}

	req, err := http.NewRequest(http.MethodGet, srv.URL+"/v1/sessions", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Flood", strings.Repeat("a", 16<<10))
	flood, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer flood.Body.Close()
	if flood.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a flood of headers: status %d", flood.StatusCode)
	}
}

// A removal, a restoration and a purge are events of the scope, and so is what was written just
// before.
func TestEventsOfRemovedSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, newEngine(t, &carrel.Options{Counter: quarter{}, Now: time.Now}), nil)
		do := func(name, job string, body any) {
			if rec := w.ask("POST", "/v1/sessions/"+name+"/"+job, body); rec.Code != http.StatusOK {
				t.Fatalf("%s: status %d: %s", job, rec.Code, rec.Body)
			}
			time.Sleep(time.Millisecond)
		}
		do("gone", "messages", appended("one"))
		do("gone", "remove", map[string]any{})
		do("old", "messages", appended("one"))
		for i := range 300 { // more than a feed looks at first
			do(fmt.Sprintf("other%d", i), "messages", appended("two"))
		}
		time.Sleep(time.Hour)

		l := w.listen("/v1/events")
		synctest.Wait()
		do("new", "messages", appended("three"))
		do("new", "remove", map[string]any{})
		got := l.next(2)
		if diff := cmp.Diff([]string{"new import", "new remove"}, told(t, got)); diff != "" {
			t.Errorf("events of a removal (-want +got):\n%s", diff)
		}
		do("old", "remove", map[string]any{})
		do("old", "restore", map[string]any{})
		if diff := cmp.Diff([]string{"old remove", "old restore"}, told(t, l.next(2))); diff != "" {
			t.Errorf("events of a restoration (-want +got):\n%s", diff)
		}
		do("new", "purge", map[string]any{})
		if diff := cmp.Diff([]string{"purge", "new purge"}, told(t, l.next(2))); diff != "" {
			t.Errorf("events of a purge (-want +got):\n%s", diff)
		}
		l.close()

		l = w.listen("/v1/events?since=" + got[1].id)
		want := []string{"new import", "new remove", "old remove", "old restore", "purge", "new purge"}
		if diff := cmp.Diff(want, told(t, l.next(len(want)))); diff != "" {
			t.Errorf("resumed (-want +got):\n%s", diff)
		}
		l.close()
	})
}
