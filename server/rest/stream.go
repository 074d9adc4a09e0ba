package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
)

// A progress is the data of an event about a running job: Done of Total steps.
type progress struct {
	Job   string `json:"job"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// wantsEvents reports whether the header Accept has text/event-stream, and not JSON before it.
func wantsEvents(h http.Header) bool {
	kinds := accepted(h)
	at := slices.Index(kinds, typeEvents)
	return at >= 0 && !slices.Contains(kinds[:at], typeJSON)
}

// A stream writes server-sent events.
type stream struct {
	w    http.ResponseWriter
	gone bool // a write failed: the client is gone
}

// open begins a stream.
func open(w http.ResponseWriter) *stream {
	h := w.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // keeps proxies in between from buffering
	extend(w)
	w.WriteHeader(http.StatusOK)
	st := &stream{w: w}
	st.flush()
	return st
}

// send writes an event with one or more lines of data.
func (st *stream) send(id, name string, data []byte) {
	var b bytes.Buffer
	if id != "" {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("event: " + name + "\n")
	for line := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	st.write(b.Bytes())
}

// beat writes a comment, which shows both sides that the connection is alive.
func (st *stream) beat() { st.write([]byte(":\n\n")) }

func (st *stream) write(data []byte) {
	if st.gone {
		return
	}
	extend(st.w)
	if _, err := st.w.Write(data); err != nil {
		st.gone = true
		return
	}
	st.flush()
}

func (st *stream) flush() {
	if err := http.NewResponseController(st.w).Flush(); err != nil {
		st.gone = true
	}
}

// heartbeat is the interval between comments on an idle stream.
const heartbeat = 15 * time.Second

// stream does a job and streams its progress. The last event has the response, and is named
// "result" or "problem". Progress that comes faster than the client reads is dropped. A job that
// writes and has begun runs to its end even if the client disconnects; any other job is canceled
// then. If the caller loses one of the permissions in needs, or that cannot be checked, the stream
// ends with a problem and sends nothing of the result.
func (s *server) stream(w http.ResponseWriter, r *http.Request, c *call, needs []governance.Permission, run func(context.Context) *response) {
	s.metrics.streams.Add(1)
	st := open(w)
	steps := make(chan progress, 16)
	ctx := carrel.WithProgress(r.Context(), func(job string, done, total int) {
		select {
		case steps <- progress{job, done, total}:
		default:
		}
	})
	finished := make(chan *response, 1)
	go func() { finished <- run(ctx) }()
	tick, stop := s.opts.Ticker(heartbeat)
	defer stop()
	over := r.Context().Done()
	var res *response
	for res == nil {
		var p progress
		select {
		case p = <-steps:
		case <-tick:
		case <-over:
			over = nil // the case is taken once, and the job goes on
		case res = <-finished:
		}
		if err := s.holds(r.Context(), c, needs...); err != nil {
			st.finish(s.refuse(c, err))
			if res == nil {
				<-finished
			}
			return
		}
		switch {
		case p != progress{}:
			st.step(p)
		case res == nil:
			st.beat()
		}
	}
	for len(steps) > 0 {
		st.step(<-steps)
	}
	st.finish(res)
}

func (st *stream) step(p progress) {
	if data, err := json.Marshal(p); err == nil {
		st.send("", "progress", data)
	}
}

func (st *stream) finish(res *response) {
	name := "result"
	if res.problem != nil {
		name = "problem"
	}
	st.send("", name, []byte(strings.ToValidUTF8(string(res.body), "\ufffd")))
}
