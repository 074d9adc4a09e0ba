package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxBytes is how long a body may be, by rule A14.
const maxBytes = 32 << 20

// controls is the beta with which a client says what is to become of thinking that
// is bound to something else.
const controls = "thinking-binding-controls-2026-08-01"

// Options are what a [Server] goes by. The zero value has no script.
type Options struct {
	Script []Step

	// Key signs thinking. Servers with one key read each other's.
	Key []byte

	// Otherwise answers what no step is about. The default gives a client what it
	// needs to go on.
	Otherwise func(*Request) Reply
}

// A Server answers as the Messages API. It may be used by several clients at once.
type Server struct {
	sealer    sealer
	otherwise func(*Request) Reply
	mux       *http.ServeMux

	mu       sync.Mutex
	script   *script
	requests []*Request
	names    map[string]int // how many of each kind were made up
}

// New returns a server.
func New(o *Options) *Server {
	if o == nil {
		o = new(Options)
	}
	s := &Server{
		sealer: sealer{key: o.Key}, otherwise: o.Otherwise,
		script: newScript(o.Script), names: make(map[string]int), mux: http.NewServeMux(),
	}
	if s.otherwise == nil {
		s.otherwise = otherwise
	}
	s.mux.HandleFunc("POST /v1/messages", s.serve(s.message))
	s.mux.HandleFunc("POST /v1/messages/count_tokens", s.serve(s.count))
	s.mux.HandleFunc("GET /v1/models", s.serve(s.list))
	s.mux.HandleFunc("HEAD /{$}", s.serve(func(*Request) (*response, *Refusal) { return &response{}, nil }))
	s.mux.HandleFunc("/", s.serve(func(*Request) (*response, *Refusal) {
		return nil, &Refusal{Status: http.StatusNotFound, Type: "not_found_error", Message: "Not found"}
	}))
	return s
}

// Start serves on a free port of the loopback interface, until stop is called. The
// base is what a client takes for the address of the service.
func (s *Server) Start() (base string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it does not wait
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // the listener is ours alone
		}
	}()
	return "http://" + l.Addr().String(), func() {
		_ = server.Close() // only the closing of the listener can fail
		<-done
	}, nil
}

// Requests returns what was asked and has been answered, in the order in which it
// came.
func (s *Server) Requests() []*Request { return s.filter(func(*Request) bool { return true }) }

// Refused returns those of [Server.Requests] that were refused. A failure of the
// script is no refusal.
func (s *Server) Refused() []*Request {
	return s.filter(func(r *Request) bool { return r.Refusal != nil })
}

// OfKind returns those of [Server.Requests] that are of a kind.
func (s *Server) OfKind(k Kind) []*Request { return s.filter(OfKind(k)) }

func (s *Server) filter(keep func(*Request) bool) []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []*Request
	for _, r := range s.requests {
		if r.done && keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// name makes up an identifier that was not used before.
func (s *Server) name(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[kind]++
	return fmt.Sprintf("%s_%06d", kind, s.names[kind])
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// A response is what a request gets that is not refused.
type response struct {
	status int    // 200 if it is 0
	kind   string // the content type
	data   []byte
}

// serve returns a handler that reads and records requests, and has them answered.
func (s *Server) serve(answer func(*Request) (*response, *Refusal)) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		r := &Request{Method: hr.Method, URL: hr.URL, Header: hr.Header.Clone(), body: new(body)}
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()

		res, refusal := s.receive(r, hr.Body, answer)
		if refusal != nil {
			res = s.failure(refusal)
		}
		if res.status == 0 {
			res.status = http.StatusOK
		}
		s.mu.Lock()
		r.Status, r.Reply, r.Refusal, r.done = res.status, res.data, refusal, true
		s.mu.Unlock()
		send(w, res)
	}
}

// receive reads a request and has it answered.
func (s *Server) receive(r *Request, from io.Reader, answer func(*Request) (*response, *Refusal)) (*response, *Refusal) {
	var err error
	if r.Body, err = io.ReadAll(io.LimitReader(from, maxBytes+1)); err != nil {
		return nil, refuse("", "The request body could not be read: %v", err)
	}
	if len(r.Body) > maxBytes {
		return nil, &Refusal{Rule: "A14", Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Message: "Request exceeds the maximum size"}
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		if refusal := admit(r.Header); refusal != nil {
			return nil, refusal
		}
	}
	return answer(r)
}

// admit checks what every request must say of itself.
func admit(h http.Header) *Refusal {
	if h.Get("X-Api-Key") == "" && !strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return &Refusal{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "x-api-key header is required"}
	}
	if h.Get("Anthropic-Version") == "" {
		return refuse("", "anthropic-version: header is required")
	}
	return nil
}

// failure is the response that says why there is no message.
func (s *Server) failure(r *Refusal) *response {
	res := mustJSON(object{
		"type": "error", "error": object{"type": r.Type, "message": r.Message}, "request_id": s.name("req"),
	})
	res.status = r.Status
	return res
}

// mustJSON is a response of JSON.
func mustJSON(value any) *response {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("upstream: %v", err)) // the values are ours, or were JSON
	}
	return &response{kind: "application/json", data: data}
}

// send writes a response, a stream event by event. That the client is gone is not
// an error of the server.
func send(w http.ResponseWriter, r *response) {
	if r.kind != "" {
		w.Header().Set("Content-Type", r.kind)
	}
	w.WriteHeader(r.status)
	if r.kind != streamType {
		_, _ = w.Write(r.data)
		return
	}
	control := http.NewResponseController(w)
	for e := range bytes.SplitAfterSeq(r.data, []byte("\n\n")) {
		if _, err := w.Write(e); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
	}
}

// streamType is the content type of a stream.
const streamType = "text/event-stream; charset=utf-8"

// judge reads the body of a request and checks it by every rule.
func (s *Server) judge(r *Request, counting bool) (prefix, []dropped, *Refusal) {
	var optional []string
	if counting {
		optional = []string{"max_tokens"}
	}
	b, refusal := decode(r.Body, optional...)
	if refusal != nil {
		return prefix{}, nil, refusal
	}
	m, ok := ModelNamed(b.model)
	if !ok {
		return prefix{}, nil, &Refusal{Status: http.StatusNotFound, Type: "not_found_error", Message: "model: " + b.model}
	}
	s.mu.Lock()
	r.body, r.Model = b, b.model
	r.Kind = KindCount
	if !counting {
		r.Kind = kindOf(r)
	}
	s.mu.Unlock()
	if refusal := check(b, m); refusal != nil {
		return prefix{}, nil, refusal
	}
	return s.sealer.checkThinking(b, m, soft(r.Header, b))
}

// soft reports whether a request wants thinking dropped that would be refused.
func soft(h http.Header, b *body) bool {
	binding, _ := thinking(b)["block_binding"].(object)
	if text(binding, "prefix_mismatch_behavior") != "drop_block" {
		return false
	}
	for _, line := range h.Values("Anthropic-Beta") {
		for beta := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(beta) == controls {
				return true
			}
		}
	}
	return false
}

// message answers a request for a message.
func (s *Server) message(r *Request) (*response, *Refusal) {
	p, gone, refusal := s.judge(r, false)
	if refusal != nil {
		return nil, refusal
	}
	reply := s.play(r)
	if reply.Failure != nil {
		return s.failure(reply.Failure), nil
	}
	a, err := s.compose(r.body, reply, p, gone, len(r.Body))
	if err != nil {
		return nil, &Refusal{Status: http.StatusInternalServerError, Type: "api_error", Message: fmt.Sprintf("the script has %v", err)}
	}
	if stream, _ := r.body.all["stream"].(bool); !stream {
		return mustJSON(a), nil
	}
	data, err := writeStream(events(a))
	if err != nil {
		return nil, &Refusal{Status: http.StatusInternalServerError, Type: "api_error", Message: err.Error()}
	}
	return &response{kind: streamType, data: data}, nil
}

// play returns what the script has for a request.
func (s *Server) play(r *Request) Reply {
	s.mu.Lock()
	step, ok := s.script.next(r)
	r.Step = step.Name
	s.mu.Unlock()
	switch {
	case !ok:
		return s.otherwise(r)
	case step.Make != nil:
		return step.Make(r)
	}
	return step.Reply
}

// count answers a request for the length of a message.
func (s *Server) count(r *Request) (*response, *Refusal) {
	if _, _, refusal := s.judge(r, true); refusal != nil {
		return nil, refusal
	}
	return mustJSON(object{"input_tokens": tokens(len(r.Body))}), nil
}

// list answers a request for the models.
func (s *Server) list(*Request) (*response, *Refusal) {
	table := models()
	data := make([]object, 0, len(table))
	for _, m := range table {
		data = append(data, object{"type": "model", "id": m.Name, "display_name": m.Name, "created_at": "2026-01-01T00:00:00Z"})
	}
	return mustJSON(object{"data": data, "has_more": false, "first_id": table[0].Name, "last_id": table[len(table)-1].Name}), nil
}
