package upstream

import (
	"bytes"
	"net"
	"net/http"
	"slices"
)

// A Fault is an error during the sending of an answer.
type Fault struct {
	Kind FaultKind

	// The fault occurs after Events whole events of a stream and Bytes bytes of the next
	// event, as they are sent. A document counts as one event. If the answer ends earlier,
	// there is no fault.
	Events, Bytes int

	// Release ends a stall. Without it a stall ends when the client leaves.
	Release <-chan struct{}

	// Failure is the content of an error event. The default is that the service is overloaded.
	Failure *Refusal
}

// A FaultKind is a kind of error during an answer.
type FaultKind string

// The kinds of faults. Faults of events occur between two events and ignore Bytes.
const (
	FaultReset     FaultKind = "reset"     // the connection is reset
	FaultCut       FaultKind = "cut"       // the connection is closed in the middle of the body
	FaultTruncate  FaultKind = "truncate"  // the body ends early, as if it were complete
	FaultStall     FaultKind = "stall"     // nothing is sent until it is released, then the rest
	FaultDrip      FaultKind = "drip"      // the rest is sent byte by byte
	FaultMalformed FaultKind = "malformed" // an event that is not JSON is inserted
	FaultDuplicate FaultKind = "duplicate" // the previous event is sent again
	FaultSwap      FaultKind = "swap"      // the next two events are exchanged
	FaultError     FaultKind = "error"     // an error event is sent, then the answer ends
)

// FaultKinds returns all kinds of faults.
func FaultKinds() []FaultKind {
	return []FaultKind{
		FaultReset, FaultCut, FaultTruncate, FaultStall, FaultDrip, FaultMalformed, FaultDuplicate, FaultSwap, FaultError,
	}
}

// errorFrame returns the event for an error.
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

// disturb applies a fault to the events of an answer.
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

// send writes a response, a stream event by event. It is no error if the client has left.
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

// An output is the destination of an answer. Writes after the client has left are lost.
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

// fail applies a fault to the rest of an answer.
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
