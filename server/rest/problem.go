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

// The kinds of errors that only this surface has.
var (
	tooLargeKind = api.Kind{Slug: "too-large", Title: "body is too large", Status: http.StatusRequestEntityTooLarge}
	mediaType    = api.Kind{Slug: "media-type", Title: "body is of the wrong type", Status: http.StatusUnsupportedMediaType}
	noRoute      = api.Kind{Slug: "no-route", Title: "no such route", Status: http.StatusNotFound}
	noMethod     = api.Kind{Slug: "method", Title: "no such method of this route", Status: http.StatusMethodNotAllowed}
	reused       = api.Kind{Slug: "idempotency", Title: "key was used for another request", Status: http.StatusUnprocessableEntity}
	overloaded   = api.Kind{Slug: "overloaded", Title: "too much to do at once", Status: http.StatusServiceUnavailable}
	manyStreams  = api.Kind{Slug: "streams", Title: "too many streams", Status: http.StatusTooManyRequests}
)

// A refusal is an error of this package: it refuses a request before the engine gets it.
type refusal struct {
	kind   api.Kind
	detail string
	hint   string
	field  string
	line   int
}

func (e *refusal) Error() string { return e.detail }

// Is makes errors.Is match the error that belongs to the kind, if there is one.
func (e *refusal) Is(target error) bool { return e.kind.Is != nil && target == e.kind.Is }

// bad returns a refusal of a request because of a field; field may be empty.
func bad(field, format string, args ...any) *refusal {
	detail := fmt.Sprintf(format, args...)
	if field != "" {
		detail = field + ": " + detail
	}
	return &refusal{kind: api.Request, field: field, detail: detail}
}

func tooLarge(limit int64) *refusal {
	return &refusal{kind: tooLargeKind, field: "body", detail: fmt.Sprintf("the body has more than %d bytes, the limit of the server", limit), hint: "divide it into several requests"}
}

// problem returns the problem document for an error. An unexpected error is logged, and the
// client does not get its text.
func (s *server) problem(c *call, err error) *api.Problem {
	if errors.Is(err, store.ErrRepeated) { // the outcome will be recorded in a moment
		err = &refusal{kind: api.Busy, detail: "another server has just made the write", hint: "send the request again"}
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
		p.Detail = "the cause is in the log of the server: look for the id of the request"
	}
	p.Request = c.id
	return p
}

// refuse returns the response for an error.
func (s *server) refuse(c *call, err error) *response {
	return problemResponse(s.problem(c, err))
}

// bug returns the response to a request that caused a panic.
func (s *server) bug(c *call) *response {
	return problemResponse(&api.Problem{
		Type: api.TypePrefix + api.Unexpected.Slug, Title: api.Unexpected.Title, Status: api.Unexpected.Status,
		Detail: "this is a bug of the server: report it with the lines of its log that have the id of the request", Request: c.id,
	})
}

func problemResponse(p *api.Problem) *response {
	body, _ := json.Marshal(p) // all types of a problem can be encoded
	res := &response{status: p.Status, kind: typeProblem, body: append(body, '\n'), problem: p}
	switch p.Status {
	case http.StatusServiceUnavailable, http.StatusConflict, http.StatusTooManyRequests:
		res.set("Retry-After", "1")
	case http.StatusUnauthorized:
		res.set("WWW-Authenticate", `Bearer realm="carrel"`)
	}
	return res
}
