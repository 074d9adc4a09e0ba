package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// A client that breaks off within its body gets no answer, and nothing is sent or recorded.
func TestBodiesThatBreakOff(t *testing.T) {
	s := newStage(t, streams(claudeReply, claudeStop), func(o *Options) { o.Manager = &script{} })
	for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, io.MultiReader(strings.NewReader("{"), iotest.ErrReader(io.ErrUnexpectedEOF)))
		r.Host = "localhost"
		func() {
			defer func() {
				if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // it is that very value
					t.Errorf("%s: the handler ends with %v", path, got)
				}
			}()
			s.proxy.ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	if begun, _ := s.recorder.calls(); len(begun) != 0 {
		t.Errorf("%d intents are recorded", len(begun))
	}
}

// A proxy that records and imports nothing passes calls on.
func TestNothingIsRecorded(t *testing.T) {
	s := newStage(t, streams(claudeReply, claudeStop), func(o *Options) { o.Recorder, o.Importer = nil, nil })
	if resp, text, err := s.ask("POST", "/v1/messages", claudeBody); err != nil || resp.StatusCode != http.StatusOK || text != claudeReply+claudeStop {
		t.Errorf("got %v, %q, %v", resp, text, err)
	}
	if got := s.proxy.Traffic(); got.Failed != 0 {
		t.Errorf("traffic %+v", got)
	}
}

// If an outcome must be recorded and is not, the client does not get an answer of Carrel, and nothing
// goes out in place of what was refused. A count of tokens has no outcome.
func TestOutcomesThatAreRequired(t *testing.T) {
	bodies := 0
	m := &script{refused: func(*wire.Request, *Prepared, int, []byte) (*Prepared, error) {
		return &Prepared{Reason: "stopped"}, nil
	}}
	s := newStage(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		bodies++
		w.WriteHeader(http.StatusBadRequest)
	}), func(o *Options) { o.Required, o.Manager = true, m })
	s.recorder.end = func(context.Context) error { return errDisk }
	for _, tt := range []struct {
		path   string
		p      *Prepared
		status int
		bodies int
	}{
		{"/v1/messages", &Prepared{Reply: &Reply{Body: []byte("own")}}, http.StatusServiceUnavailable, 0},
		{"/v1/messages", &Prepared{Body: []byte(`{"model":"m","messages":[]}`)}, http.StatusServiceUnavailable, 1},
		{"/v1/messages/count_tokens", &Prepared{Body: []byte(`{"model":"m","messages":[]}`)}, http.StatusBadRequest, 2},
	} {
		m.prepare = func(context.Context, *wire.Request) (*Prepared, error) { return tt.p, nil }
		bodies = 0
		before := s.proxy.Traffic()
		resp, text, err := s.ask("POST", tt.path, claudeBody)
		if err != nil || resp.StatusCode != tt.status || text == "own" || bodies != tt.bodies {
			t.Errorf("%s: got %v, %q, %v after %d bodies", tt.path, resp, text, err, bodies)
		}
		if after := s.proxy.Traffic(); tt.bodies == 2 && (after.Failed != before.Failed || after.Gaps != before.Gaps) {
			t.Errorf("a count of tokens changes %+v to %+v", before, after)
		}
	}
}

// What continues a history at the provider is of no thread and no session.
func TestHistoriesElsewhere(t *testing.T) {
	s := newStage(t, streams())
	body := `{"model":"m","tools":[{"name":"ls"}],"input":[{"role":"user","content":"Another language model started to solve this problem"}]`
	for _, more := range []string{`}`, `,"previous_response_id":"r"}`} {
		if _, _, err := s.ask("POST", "/v1/responses", body+more); err != nil {
			t.Fatal(err)
		}
	}
	begun, _ := s.recorder.calls()
	if here, there := begun[0], begun[1]; here.Thread == (digest.Digest{}) || here.Session == "" || there.Thread != (digest.Digest{}) || there.Session != "" {
		t.Errorf("recorded %+v and %+v", here, there)
	}
}

// A source is a script that says what to store.
type source struct{ *script }

func (source) Whole(*wire.Request) ([]byte, error) { return []byte(`{"messages":[]}`), nil }

// Of a managed call the manager says what to store, and of another the client.
func TestWhoSaysWhatIsStored(t *testing.T) {
	for _, p := range []*Prepared{nil, {Reason: "nothing to change"}} {
		m := source{&script{prepare: func(context.Context, *wire.Request) (*Prepared, error) { return p, nil }}}
		s := newStage(t, streams(claudeReply, claudeStop), func(o *Options) { o.Manager = m })
		if _, _, err := s.ask("POST", "/v1/messages", claudeBody); err != nil {
			t.Fatal(err)
		}
		if s.close(); len(s.shelf.in) != 1 || (string(s.shelf.in[0].Data) == `{"messages":[]}`) != (p != nil) {
			t.Errorf("%+v: stored are %d conversations", p, len(s.shelf.in))
		}
	}
}

// An answer that is closed before its end is recorded as failed, once.
func TestAnswersThatAreClosed(t *testing.T) {
	s := newStage(t, streams())
	ended := 0
	s.recorder.end = func(context.Context) error { ended++; return nil }
	h := &heldBody{
		call: &call{proxy: s.proxy, ctx: t.Context(), model: true, id: "call_0", timer: time.NewTimer(time.Hour)}, body: io.NopCloser(strings.NewReader(claudeReply)),
		tap: wire.NewTap(wire.Anthropic, "text/event-stream", ""), status: http.StatusOK,
	}
	if _, err := io.ReadFull(h, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(h.Close(), h.Close())
	if _, all := s.recorder.calls(); err != nil || ended != 1 || all["call_0"].State != store.CallFailed {
		t.Errorf("%v: %d outcomes are recorded, %+v", err, ended, all)
	}
}

// At its end a server cuts the calls that take longer than the grace.
func TestCallsBeyondTheGrace(t *testing.T) {
	came := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
		close(came)
		<-r.Context().Done()
	}))
	defer up.Close()
	p, err := New(&Options{Upstreams: Upstreams{Anthropic: up.URL}})
	if err != nil {
		t.Fatal(err)
	}
	l := httptest.NewUnstartedServer(nil).Listener
	ctx, stop := context.WithCancel(t.Context())
	served, cut := make(chan error, 1), make(chan error, 1)
	go func() { served <- p.Serve(ctx, l, time.Millisecond) }()
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.Addr().String()+"/v1/messages", strings.NewReader(claudeBody))
		if err == nil {
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(r); err == nil {
				err = resp.Body.Close()
			}
		}
		cut <- err
	}()
	<-came
	stop()
	if err := <-served; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the server ends with %v", err)
	}
	if err := <-cut; err == nil {
		t.Error("a call beyond the grace gets an answer")
	}
}
