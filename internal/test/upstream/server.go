package upstream

import (
	"bytes"
	"cmp"
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

// maxBytes is the largest body, by rule A14.
const maxBytes = 32 << 20

// controls is the name of the beta feature with which a client chooses whether the server
// refuses or drops thinking that is bound to other messages.
const controls = "thinking-binding-controls-2026-08-01"

// Options are the settings of a [Server]. The zero value has no script.
type Options struct {
	Script []Step

	// Key signs thinking. Servers with the same key accept each other's signatures.
	Key []byte

	// Otherwise answers requests for which the script has no step. The default answers so that
	// a client can continue.
	Otherwise func(*Request) Reply

	// Window is the most tokens of a request to any model. The default is the window of the
	// model.
	Window int

	// Now is the clock of the caches. The default stands still, so that nothing expires.
	Now func() time.Time

	// Encodings are the compressions of answers: gzip, zstd or br. The first that a request
	// accepts is used. The default is none.
	Encodings []string
}

// A Server answers as the Messages API, Chat Completions, the Responses API and the Gemini API. It may be
// used by several clients at once.
type Server struct {
	sealer    sealer
	otherwise func(*Request) Reply
	window    int
	now       func() time.Time
	encodings []string
	mux       *http.ServeMux

	mu       sync.Mutex
	script   *script
	requests []*Request
	names    map[string]int      // number of generated names, by kind
	stored   map[string][]object // items up to a response, by its id
	needs    map[string]string   // reasoning that came before a stored item, by the item's id
	memory   *memory
}

// New returns a server.
func New(o *Options) *Server {
	if o == nil {
		o = new(Options)
	}
	s := &Server{
		sealer: sealer{key: o.Key}, otherwise: o.Otherwise, window: o.Window, now: o.Now, encodings: o.Encodings,
		script: newScript(o.Script), names: make(map[string]int), stored: make(map[string][]object), needs: make(map[string]string), memory: newMemory(),
		mux: http.NewServeMux(),
	}
	if s.otherwise == nil {
		s.otherwise = defaultReply
	}
	if s.now == nil {
		s.now = func() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }
	}
	s.routes()
	return s
}

// routes adds the routes.
func (s *Server) routes() {
	handle := func(pattern string, d Dialect, answer func(*Request) (*response, *Refusal)) {
		s.mux.HandleFunc(pattern, s.serve(d, answer))
	}
	handle("POST /v1/messages", DialectAnthropic, func(r *Request) (*response, *Refusal) { return s.answer(r, s.readAnthropic, s.composeMessage) })
	handle("POST /v1/messages/count_tokens", DialectAnthropic, s.count)
	handle("POST /v1/chat/completions", DialectChat, func(r *Request) (*response, *Refusal) { return s.answer(r, s.readChat, s.composeChat) })
	handle("POST /v1/responses", DialectResponses, func(r *Request) (*response, *Refusal) {
		return s.answer(r, s.readResponses, s.composeResponses)
	})
	handle("GET /v1/responses", DialectResponses, s.noSocket)
	handle("POST /v1/responses/compact", DialectResponses, s.compact)
	handle("POST /v1/responses/input_tokens", DialectResponses, s.countResponses)
	anthropic, openAI := s.serve(DialectAnthropic, s.list), s.serve(DialectChat, s.listOpenAI)
	s.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Anthropic-Version") == "" && r.Header.Get("X-Api-Key") == "" {
			openAI(w, r)
			return
		}
		anthropic(w, r)
	})
	s.geminiRoutes()
	handle("HEAD /{$}", DialectAnthropic, func(*Request) (*response, *Refusal) { return &response{}, nil })
	handle("/", DialectAnthropic, func(*Request) (*response, *Refusal) {
		return nil, &Refusal{Status: http.StatusNotFound, Type: "not_found_error", Message: "Not found"}
	})
}

// Start serves on a free port of the loopback interface until stop is called. base is the
// address for clients.
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
			panic(err) // nobody else closes the listener
		}
	}()
	return "http://" + l.Addr().String(), func() {
		_ = server.Close() // only the closing of the listener can fail
		<-done
	}, nil
}

// Requests returns the answered requests in the order of their arrival.
func (s *Server) Requests() []*Request { return s.filter(func(*Request) bool { return true }) }

// Refused returns the refused requests of [Server.Requests]. A failure of the script is no
// refusal.
func (s *Server) Refused() []*Request {
	return s.filter(func(r *Request) bool { return r.Refusal != nil })
}

// Cost returns what a session cost, in billionths of a dollar.
func (s *Server) Cost(session string) int {
	sum := 0
	for _, r := range s.filter(func(r *Request) bool { return r.Session == session }) {
		sum += r.Usage.Cost(r.model.Price)
	}
	return sum
}

// Breaks returns the requests of a session that do not continue an earlier request. [Prefix]
// has the place of the difference.
func (s *Server) Breaks(session string) []*Request {
	return s.filter(func(r *Request) bool { return r.Session == session && r.Prefix.Broke != "" })
}

// OfKind returns the requests of [Server.Requests] of a kind.
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

// name returns a new identifier.
func (s *Server) name(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[kind]++
	return fmt.Sprintf("%s_%06d", kind, s.names[kind])
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// A response is the answer to a request that is not refused.
type response struct {
	status int      // 200 if it is 0
	kind   string   // the content type
	frames [][]byte // the body: the events of a stream, or one document
	fault  *Fault
}

// serve returns a handler that reads, records and answers requests.
func (s *Server) serve(d Dialect, answer func(*Request) (*response, *Refusal)) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		r := &Request{Method: hr.Method, URL: hr.URL, Header: hr.Header.Clone(), Dialect: d, body: new(body), ended: make(chan struct{})}
		defer close(r.ended)
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.mu.Unlock()

		var res *response
		refusal := s.receive(r, hr.Body)
		if refusal == nil {
			res, refusal = answer(r)
		}
		if res == nil {
			res = s.failure(d, refusal)
		}
		if res.status == 0 {
			res.status = http.StatusOK
		}
		s.mu.Lock()
		r.Status, r.Reply, r.Refusal, r.done = res.status, bytes.Join(res.frames, nil), refusal, true
		r.Canceled = hr.Context().Err() != nil
		s.mu.Unlock()
		defer func() { // also if the connection is cut
			s.mu.Lock()
			defer s.mu.Unlock()
			r.Canceled = r.Canceled || hr.Context().Err() != nil
		}()
		send(w, hr, res, s.errorFrame(d, res.fault), firstOf(s.encodings, hr.Header))
	}
}

// receive reads the body of a request from the reader from.
func (s *Server) receive(r *Request, from io.Reader) *Refusal {
	var err error
	if r.Sent, err = io.ReadAll(io.LimitReader(from, maxBytes+1)); err != nil {
		return refuse("", "The request body could not be read: %v", err)
	}
	if r.Body, err = decompressed(r.Header.Get("Content-Encoding"), r.Sent); err != nil {
		return refuse("", "The request body could not be decompressed: %v", err)
	}
	if max(len(r.Sent), len(r.Body)) > maxBytes {
		return &Refusal{Rule: "A14", Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Message: "Request exceeds the maximum size"}
	}
	if r.Dialect == DialectGemini {
		return admitGemini(r)
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		return admit(r.Dialect, r.Header)
	}
	return nil
}

// admit checks the headers that every request needs.
func admit(d Dialect, h http.Header) *Refusal {
	key := strings.HasPrefix(h.Get("Authorization"), "Bearer ")
	switch {
	case d != DialectAnthropic && !key:
		return &Refusal{Status: http.StatusUnauthorized, Type: "invalid_request_error", Code: "invalid_api_key", Message: "You didn't provide an API key."}
	case d != DialectAnthropic:
		return nil
	case h.Get("X-Api-Key") == "" && !key:
		return &Refusal{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "x-api-key header is required"}
	case h.Get("Anthropic-Version") == "":
		return refuse("", "anthropic-version: header is required")
	}
	return nil
}

// failure returns the response that reports a refusal.
func (s *Server) failure(d Dialect, r *Refusal) *response {
	res := mustJSON(r.object(d, s.name("req")))
	res.status = r.Status
	return res
}

// mustJSON returns a response with a JSON value.
func mustJSON(value any) *response {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("upstream: %v", err)) // the values are ours, or were JSON
	}
	return &response{kind: "application/json", frames: [][]byte{data}}
}

// streamType is the content type of a stream.
const streamType = "text/event-stream; charset=utf-8"

// A reading is a valid request that was read.
type reading struct {
	body   *body // in the form of the Messages API
	model  Model
	chain  chain
	prefix prefix    // prefix of the reply
	gone   []dropped // thinking that is not shown to the model
	items  []object  // items of the Responses API
}

// readAnthropic reads a request of the Messages API and checks it by every rule.
func (s *Server) readAnthropic(r *Request) (*reading, *Refusal) {
	var optional []string
	if r.Kind == KindCount {
		optional = []string{"max_tokens"}
	}
	b, refusal := decode(r.Body, optional...)
	if refusal != nil {
		return nil, refusal
	}
	m, ok := ModelNamed(b.model)
	if !ok {
		return nil, &Refusal{Status: http.StatusNotFound, Type: "not_found_error", Message: "model: " + b.model}
	}
	in := &reading{body: b, model: m, chain: chainOf(b)}
	s.note(r, in)
	if refusal := check(b, m); refusal != nil {
		return nil, refusal
	}
	in.prefix, in.gone, refusal = s.sealer.checkThinking(b, m, soft(r.Header, b))
	return in, refusal
}

// note stores the content and the length of a request in its record.
func (s *Server) note(r *Request, in *reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.body, r.model, r.Model = in.body, in.model, in.body.model
	r.Session, r.Tokens = sessionOf(r.Header, in.body.all), in.chain.total(len(in.chain))
	if r.Kind == "" {
		r.Kind = kindOf(r)
	}
}

// begin reads a request with the function read, and refuses it if it is too
// long.
func (s *Server) begin(r *Request, read func(*Request) (*reading, *Refusal)) (*reading, *Refusal) {
	in, refusal := read(r)
	if refusal != nil {
		return nil, refusal
	}
	if r.Dialect != DialectAnthropic {
		table, unknown := openAIModels(), noModel
		if r.Dialect == DialectGemini {
			table, unknown = geminiModels(), noGemini
		}
		var ok bool
		if in.model, ok = longestName(table, in.body.model, "-."); !ok {
			return nil, unknown(in.body.model)
		}
		s.note(r, in)
	}
	if limit := cmp.Or(s.window, in.model.Window); r.Tokens > limit {
		return in, tooLong(r.Dialect, r.Tokens, limit)
	}
	return in, nil
}

// tooLong returns the refusal of a request that is larger than the context
// window (rule W).
func tooLong(d Dialect, n, limit int) *Refusal {
	r := refuse("W", "prompt is too long: %d tokens > %d maximum", n, limit)
	switch d {
	case DialectAnthropic:
		return r
	case DialectGemini:
		r.Message = fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", n, limit)
		return r
	case DialectChat:
		r.Message = fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", limit, n)
	case DialectResponses:
		r.Message = "Your input exceeds the context window of this model. Please adjust your input and try again."
	}
	r.Code = "context_length_exceeded"
	return r
}

// soft reports whether a request asks to drop thinking that would otherwise be refused.
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

// answer answers a request with a reply of the script. The function read reads
// the request; the function compose makes the response from the reply.
func (s *Server) answer(
	r *Request, read func(*Request) (*reading, *Refusal), compose func(*Request, *reading, Reply, *Usage) (*response, error),
) (*response, *Refusal) {
	in, refusal := s.begin(r, read)
	if refusal != nil {
		if stream, _ := r.body.all["stream"].(bool); stream && r.Dialect == DialectResponses && refusal.Rule == "W" {
			return s.failedResponse(r.Model, refusal), refusal
		}
		return nil, refusal
	}
	reply := s.play(r)
	if reply.Failure != nil {
		return s.failure(r.Dialect, reply.Failure), nil
	}
	u := &Usage{Input: reply.InputTokens}
	if u.Input == 0 {
		s.mu.Lock()
		*u = s.memory.use(in.model, in.body.model, in.chain, s.now())
		s.mu.Unlock()
	}
	res, err := compose(r, in, reply, u)
	if err != nil {
		return nil, &Refusal{Status: http.StatusInternalServerError, Type: "api_error", Message: fmt.Sprintf("the script has %v", err)}
	}
	s.settle(r, in, u)
	res.fault = reply.Fault
	return res, nil
}

// settle records the cost of a request, and compares it with the earlier ones of its session.
func (s *Server) settle(r *Request, in *reading, u *Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Usage = *u
	for _, d := range in.gone {
		r.Dropped = append(r.Dropped, d.Path)
	}
	if r.Kind == KindMain || r.Kind == KindCompaction {
		r.Prefix = s.memory.follow(r.Session, in.chain)
	}
}

// composeMessage makes the response of the Messages API for a reply.
func (s *Server) composeMessage(_ *Request, in *reading, reply Reply, u *Usage) (*response, error) {
	a, err := s.compose(in.body, reply, in.prefix, in.gone, u)
	if err != nil {
		return nil, err
	}
	if stream, _ := in.body.all["stream"].(bool); !stream {
		return mustJSON(a), nil
	}
	return &response{kind: streamType, frames: frames(events(a))}, nil
}

// play returns the script's answer to a request.
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

// count answers a request that asks how many tokens a prompt has.
func (s *Server) count(r *Request) (*response, *Refusal) {
	r.Kind = KindCount
	if _, refusal := s.begin(r, s.readAnthropic); refusal != nil && refusal.Rule != "W" {
		return nil, refusal
	}
	return mustJSON(object{"input_tokens": r.Tokens}), nil
}

// list answers a request for the list of models.
func (s *Server) list(*Request) (*response, *Refusal) {
	table := models()
	data := make([]object, 0, len(table))
	for _, m := range table {
		data = append(data, object{"type": "model", "id": m.Name, "display_name": m.Name, "created_at": "2026-01-01T00:00:00Z"})
	}
	return mustJSON(object{"data": data, "has_more": false, "first_id": table[0].Name, "last_id": table[len(table)-1].Name}), nil
}
