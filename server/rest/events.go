package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/server/auth"
)

// registerEvents adds the route that streams events. The data of each event is an [api.Event]. The
// event is named "journal" if it is from the journal of a session, and "log" if it is from the log
// of the scope.
func (s *server) registerEvents() {
	op := &ops.Events.Operation
	p := newPlan(op, reflect.TypeFor[api.EventsRequest](), s.decoders)
	d := s.describe(op, p, reflect.TypeFor[api.EventsRequest](), reflect.TypeFor[api.Event]())
	d.Parameters = append(d.Parameters, header("Last-Event-ID", "The id of the last event that is known."))
	d.Responses["200"] = &huma.Response{Description: "Events; the schema is that of their data", Content: map[string]*huma.MediaType{
		typeEvents: {Schema: s.schemas.Schema(reflect.TypeFor[api.Event](), true, "")},
	}}
	delete(d.Responses, "304")
	s.api.OpenAPI().AddOperation(d)
	s.plain(op.Name, d.Path, func(w http.ResponseWriter, r *http.Request, c *call) { s.events(w, r, c, p) })
}

// events streams events until the client disconnects, the grant is lost or the server stops. The
// response to HEAD ends with its header.
func (s *server) events(w http.ResponseWriter, r *http.Request, c *call, p *plan) {
	f, release, err := s.subscribe(r, c, p)
	if err != nil {
		send(w, r, s.refuse(c, err))
		return
	}
	defer release()
	s.metrics.streams.Add(1)
	tick, stop := s.opts.Ticker(s.opts.Limits.Poll)
	defer stop()
	st := open(w)
	if r.Method == http.MethodHead {
		return
	}
	st.beat()
	for quiet := 0; !st.gone; quiet++ {
		n, err := s.forward(r.Context(), st, c, f)
		if err != nil {
			st.finish(s.refuse(c, err))
			return
		}
		if n > 0 {
			quiet = 0
		}
		if quiet >= int(heartbeat/s.opts.Limits.Poll) {
			st.beat()
			quiet = 0
		}
		select {
		case <-tick:
		case <-r.Context().Done():
			if err := auth.Lost(r.Context()); err != nil {
				st.finish(s.refuse(c, err))
			}
			return
		case <-s.opts.Stopping:
			return
		}
	}
}

// subscribe admits a reader of events, and returns a feed that begins where the request says.
// Call release when the stream ends.
func (s *server) subscribe(r *http.Request, c *call, p *plan) (f feed, release func(), err error) {
	if err := s.admit(r, c, &ops.Events.Operation); err != nil {
		return nil, nil, err
	}
	var req api.EventsRequest
	if err := p.fill(r, nil, reflect.ValueOf(&req).Elem()); err != nil {
		return nil, nil, err
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		req.Since = last
	}
	release, ok := s.streams.take(c.credential())
	if !ok {
		return nil, nil, &refusal{
			kind: manyStreams, detail: fmt.Sprintf("the credential already has %d open event streams, the most that are allowed", s.opts.Limits.Streams), hint: "close one",
		}
	}
	if req.Session != "" {
		f, err = newSessionFeed(r.Context(), c.engine, c.scope, req.Session, req.Since)
	} else {
		f, err = newScopeFeed(r.Context(), c.engine, c.scope, req.Since, s.opts.Limits.Job)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return f, release, nil
}

// forward sends the new events of f and returns their number. It fails if the caller may no longer
// read them.
func (s *server) forward(ctx context.Context, st *stream, c *call, f feed) (n int, err error) {
	list, err := f.next(ctx)
	if e := s.holds(ctx, c, governance.Read); e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	for i := range list {
		name := "journal"
		if list[i].Session == "" {
			name = "log"
		}
		data, err := json.Marshal(&list[i].Event)
		if err != nil {
			return 0, err
		}
		st.send(list[i].id, name, data)
	}
	return len(list), nil
}
