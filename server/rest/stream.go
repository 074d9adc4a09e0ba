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

// A progress is the event that says how far a job is, in steps of its own.
type progress struct {
	Job   string `json:"job"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// wantsEvents reports whether a client takes a stream of events before all.
func wantsEvents(h http.Header) bool {
	kinds := accepted(h)
	at := slices.Index(kinds, typeEvents)
	return at >= 0 && !slices.Contains(kinds[:at], typeJSON)
}

// A stream is one of server-sent events.
type stream struct {
	w    http.ResponseWriter
	gone bool // nobody reads it any more
}

// open begins a stream.
func open(w http.ResponseWriter) *stream {
	h := w.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies in between must not wait for more
	extend(w)
	w.WriteHeader(http.StatusOK)
	st := &stream{w: w}
	st.flush()
	return st
}

// send writes an event of one line of data, or more.
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

// beat writes a comment, by which both sides see that the other is there.
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

// heartbeat is how often a stream says that it is there.
const heartbeat = 15 * time.Second

// stream does a job and tells how far it is. The response to it is the last event,
// whose name is result or problem. Progress that comes faster than it is read is left
// out. The job is done to its end also if nobody reads. Who may not do it any more is
// told nothing else.
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
			over = nil // which is once: a write goes on
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
