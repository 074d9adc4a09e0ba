package upstream

import (
	"bytes"
	"net"
	"net/http"
	"slices"
)

// A Fault is what goes wrong while an answer is sent.
type Fault struct {
	Kind FaultKind

	// The fault comes when so many events of a stream have been sent, and so many bytes
	// more, both as they are sent, compressed or not. A document is one event. Behind the
	// end of the answer there is no fault.
	Events, Bytes int

	// Release ends a stall. Without it a stall ends when the client goes.
	Release <-chan struct{}

	// Failure is what an error event says. The default is that the service is overloaded.
	Failure *Refusal
}

// A FaultKind is a way in which an answer goes wrong.
type FaultKind string

// The kinds of faults. Those of events come between two events, whatever Bytes is.
const (
	FaultReset     FaultKind = "reset"     // the connection is reset
	FaultCut       FaultKind = "cut"       // the connection is closed in the middle of the body
	FaultTruncate  FaultKind = "truncate"  // the body ends, as if that were all of it
	FaultStall     FaultKind = "stall"     // nothing comes until it is released, then the rest
	FaultDrip      FaultKind = "drip"      // the rest comes byte by byte
	FaultMalformed FaultKind = "malformed" // an event that is not JSON comes in between
	FaultDuplicate FaultKind = "duplicate" // the event before comes again
	FaultSwap      FaultKind = "swap"      // the next two events change places
	FaultError     FaultKind = "error"     // an error event comes, and then the end
)

// FaultKinds returns all kinds of faults.
func FaultKinds() []FaultKind {
	return []FaultKind{
		FaultReset, FaultCut, FaultTruncate, FaultStall, FaultDrip, FaultMalformed, FaultDuplicate, FaultSwap, FaultError,
	}
}

// errorFrame is the event that says what went wrong.
func (s *Server) errorFrame(d Dialect, f *Fault) []byte {
	if f == nil || f.Kind != FaultError {
		return nil
	}
	r := f.Failure
	if r == nil {
		r = &Refusal{Type: "overloaded_error", Code: "server_is_overloaded", Message: "Overloaded"}
	}
	switch d {
	case DialectChat, DialectGemini:
		return slices.Concat([]byte("data: "), mustJSON(r.object(d, "")).frames[0], []byte("\n\n"))
	case DialectResponses:
		return frames([]event{{"type": "error", "code": r.Code, "message": r.Message, "param": nil, "sequence_number": 0}})[0]
	case DialectAnthropic:
	}
	return frames([]event{r.object(d, s.name("req"))})[0]
}

// disturb changes the events of an answer as a fault says.
func (f *Fault) disturb(events [][]byte, failure []byte) [][]byte {
	n := f.Events
	if n > len(events) {
		return events
	}
	switch f.Kind {
	case FaultMalformed:
		return slices.Insert(slices.Clone(events), n, []byte("event: message\ndata: {\"type\": \n\n"))
	case FaultDuplicate:
		if n > 0 {
			return slices.Insert(slices.Clone(events), n, events[n-1])
		}
	case FaultSwap:
		if n+1 < len(events) {
			events = slices.Clone(events)
			events[n], events[n+1] = events[n+1], events[n]
		}
	case FaultError:
		return append(slices.Clone(events[:n]), failure)
	case FaultReset, FaultCut, FaultTruncate, FaultStall, FaultDrip:
	}
	return events
}

// send writes a response, a stream event by event. That the client is gone is not
// an error of the server.
func send(w http.ResponseWriter, r *http.Request, res *response, failure []byte, encoding string) {
	f := res.fault
	events := res.frames
	if f != nil {
		events = f.disturb(events, failure)
	}
	if len(events) > 0 && encoding != "" {
		w.Header().Set("Content-Encoding", encoding)
		events = compressed(encoding, events)
	}
	if res.kind != "" {
		w.Header().Set("Content-Type", res.kind)
	}
	w.WriteHeader(res.status)
	o := &output{w: w, control: http.NewResponseController(w), flush: res.kind == streamType || f != nil}
	if f == nil {
		for _, e := range events {
			o.write(e)
		}
		return
	}
	n := min(f.Events, len(events))
	for _, e := range events[:n] {
		o.write(e)
	}
	rest := bytes.Join(events[n:], nil)
	more := min(f.Bytes, len(rest))
	switch f.Kind {
	case FaultReset, FaultCut, FaultTruncate, FaultStall, FaultDrip:
		o.write(rest[:more])
		o.fail(f, r, rest[more:])
	case FaultMalformed, FaultDuplicate, FaultSwap, FaultError:
		for _, e := range events[n:] {
			o.write(e)
		}
	}
}

// An output is where an answer goes. What is written after the client has gone is lost.
type output struct {
	w       http.ResponseWriter
	control *http.ResponseController
	flush   bool // after every write
	gone    bool
}

func (o *output) write(data []byte) {
	if o.gone || len(data) == 0 {
		return
	}
	_, err := o.w.Write(data)
	if err == nil && o.flush {
		err = o.control.Flush()
	}
	o.gone = err != nil
}

// fail is what a fault does to the rest of an answer.
func (o *output) fail(f *Fault, r *http.Request, rest []byte) {
	switch f.Kind {
	case FaultTruncate:
		return
	case FaultStall:
		select {
		case <-f.Release:
			o.write(rest)
		case <-r.Context().Done():
		}
		return
	case FaultDrip:
		for i := range rest {
			o.write(rest[i : i+1])
		}
		return
	case FaultReset:
		_ = o.control.Flush()
		if c, _, err := o.control.Hijack(); err == nil {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = c.Close()
			return
		}
	case FaultCut, FaultMalformed, FaultDuplicate, FaultSwap, FaultError:
	}
	_ = o.control.Flush()
	panic(http.ErrAbortHandler)
}
