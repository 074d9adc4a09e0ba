package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/store"
)

// The kinds of errors that only HTTP has.
var (
	tooLargeKind = api.Kind{Slug: "too-large", Title: "body is too large", Status: http.StatusRequestEntityTooLarge}
	mediaType    = api.Kind{Slug: "media-type", Title: "body is of the wrong type", Status: http.StatusUnsupportedMediaType}
	noRoute      = api.Kind{Slug: "no-route", Title: "no such route", Status: http.StatusNotFound}
	noMethod     = api.Kind{Slug: "method", Title: "no such method of this route", Status: http.StatusMethodNotAllowed}
	reused       = api.Kind{Slug: "idempotency", Title: "key was used for another request", Status: http.StatusUnprocessableEntity}
	overloaded   = api.Kind{Slug: "overloaded", Title: "too much to do at once", Status: http.StatusServiceUnavailable}
	manyStreams  = api.Kind{Slug: "streams", Title: "too many streams", Status: http.StatusTooManyRequests}
)

// A refusal is an error of a surface: why a request does not get as far as the
// engine.
type refusal struct {
	kind   api.Kind
	detail string
	hint   string
	field  string
	line   int
}

func (e *refusal) Error() string { return e.detail }

// Is makes a refusal what its kind is.
func (e *refusal) Is(target error) bool { return e.kind.Is != nil && target == e.kind.Is }

// bad returns a refusal of what cannot be read, for a field.
func bad(field, format string, args ...any) *refusal {
	detail := fmt.Sprintf(format, args...)
	if field != "" {
		detail = field + ": " + detail
	}
	return &refusal{kind: api.Request, field: field, detail: detail}
}

func tooLarge(limit int64) *refusal {
	return &refusal{kind: tooLargeKind, field: "body", detail: fmt.Sprintf("a body has %d bytes at most", limit)}
}

// problem returns an error as it is told. What nobody expected is logged and not
// told.
func (s *server) problem(c *call, err error) *api.Problem {
	if errors.Is(err, store.ErrRepeated) { // and what came of it will be known in a moment
		err = &refusal{kind: api.Busy, detail: "another server has just made the write", hint: "ask again"}
	}
	var p *api.Problem
	if e, ok := errors.AsType[*refusal](err); ok {
		p = &api.Problem{
			Type: api.TypePrefix + e.kind.Slug, Title: e.kind.Title, Status: e.kind.Status,
			Detail: e.detail, Hint: e.hint, Field: e.field, Line: e.line,
		}
	} else {
		p = api.NewProblem(err)
	}
	if p.Type == api.TypePrefix+api.Unexpected.Slug {
		s.opts.Logger.Error("unexpected error", slog.String("operation", c.name), slog.String("request", c.id), slog.String("error", err.Error()))
		p.Detail = "what went wrong is in the log of the server, by the id of the request"
	}
	p.Request = c.id
	return p
}

// refuse returns the response that tells of an error.
func (s *server) refuse(c *call, err error) *response {
	return s.tell(c, s.problem(c, err))
}

// bug returns the response to a request on which a program error came up.
func (s *server) bug(c *call) *response {
	return s.tell(c, &api.Problem{
		Type: api.TypePrefix + api.Unexpected.Slug, Title: api.Unexpected.Title, Status: api.Unexpected.Status,
		Detail: "this is a bug of the server; it is in its log, by the id of the request", Request: c.id,
	})
}

func (s *server) tell(c *call, p *api.Problem) *response {
	body, err := json.Marshal(p)
	if err != nil { // no type in it does that
		s.opts.Logger.Error("problem cannot be written", slog.String("request", c.id), slog.String("error", err.Error()))
		body = []byte("{}")
	}
	res := &response{status: p.Status, kind: typeProblem, body: append(body, '\n'), problem: p}
	switch p.Status {
	case http.StatusServiceUnavailable, http.StatusConflict, http.StatusTooManyRequests:
		res.set("Retry-After", "1")
	case http.StatusUnauthorized:
		res.set("WWW-Authenticate", `Bearer realm="carrel"`)
	}
	return res
}
