package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
)

// The media types of documents other than results.
const (
	typeOpenAPI = "application/openapi+json"
	typeYAML    = "application/openapi+yaml"
	typeMetrics = "text/plain; version=0.0.4; charset=utf-8"
)

// registerPlain adds the routes that belong to no scope, and the stream of events.
func (s *server) registerPlain() {
	s.plain("healthz", "/healthz", s.healthz)
	s.plain("readyz", "/readyz", s.readyz)
	s.plain("metrics", "/metrics", s.writeMetrics)
	s.plain("openapi", api.Prefix+"/openapi.json", s.openAPI(typeOpenAPI, func() ([]byte, error) { return json.Marshal(s.api.OpenAPI()) }))
	s.plain("openapi", api.Prefix+"/openapi.yaml", s.openAPI(typeYAML, func() ([]byte, error) { return s.api.OpenAPI().YAML() }))
	s.plain(ops.Whoami.Name, api.Prefix+ops.Whoami.Path, s.whoami)

	s.registerEvents()
	s.describePlain(ops.Whoami.Name, api.Prefix+ops.Whoami.Path, ops.Whoami.Summary, typeJSON, reflect.TypeFor[api.Identity]())
	s.describePlain("metrics", "/metrics", "Return what is counted, for Prometheus", "text/plain", nil)
}

// plain adds a GET route that is not an operation of the table.
func (s *server) plain(name, path string, serve func(http.ResponseWriter, *http.Request, *call)) {
	s.mux.HandleFunc(http.MethodGet+" "+path, func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r.Context())
		c.name = name
		serve(w, r, c)
	})
}

// healthz reports that the process lives. It does not ask the store.
func (s *server) healthz(w http.ResponseWriter, r *http.Request, _ *call) {
	send(w, r, &response{status: http.StatusOK, kind: typeJSON, body: []byte(`{"status":"ok"}` + "\n")})
}

// ErrEnding is the error that [Options.Ready] has to return when the server will stop soon. Only
// GET /readyz then fails.
var ErrEnding = errors.New("the server is shutting down")

// readyz reports whether the store answers and can be written, and the server is not stopping.
func (s *server) readyz(w http.ResponseWriter, r *http.Request, c *call) {
	if err := s.opts.Ready(r.Context()); errors.Is(err, ErrEnding) {
		send(w, r, s.refuse(c, &refusal{kind: overloaded, detail: err.Error(), hint: "send requests to another server"}))
		return
	} else if err != nil {
		s.opts.Logger.Warn("not ready", "error", err.Error())
		detail, hint := "the store does not answer", "try again"
		if k := api.KindOf(err); k.Exit == api.ExitStore {
			detail, hint = k.Title, "see the log of the server for the cause"
		}
		send(w, r, s.refuse(c, &refusal{kind: overloaded, detail: detail, hint: hint}))
		return
	}
	send(w, r, &response{status: http.StatusOK, kind: typeJSON, body: []byte(`{"status":"ready"}` + "\n")})
}

func (s *server) writeMetrics(w http.ResponseWriter, r *http.Request, c *call) {
	if err := s.admitAnywhere(r, c, governance.Observe); err != nil {
		send(w, r, s.refuse(c, err))
		return
	}
	var b bytes.Buffer
	if _, err := s.opts.Metrics.WriteTo(&b); err != nil {
		send(w, r, s.refuse(c, err))
		return
	}
	send(w, r, &response{status: http.StatusOK, kind: typeMetrics, body: b.Bytes()})
}

// openAPI serves the document in the media type that kind names. At the first request it calls the
// function build, which encodes the document.
func (s *server) openAPI(kind string, build func() ([]byte, error)) func(http.ResponseWriter, *http.Request, *call) {
	build = sync.OnceValues(build)
	return func(w http.ResponseWriter, r *http.Request, c *call) {
		err := s.admitAnywhere(r, c, "")
		var body []byte
		if err == nil {
			body, err = build()
		}
		if err != nil {
			send(w, r, s.refuse(c, err))
			return
		}
		send(w, r, &response{status: http.StatusOK, kind: kind, body: body})
	}
}

func (s *server) whoami(w http.ResponseWriter, r *http.Request, c *call) {
	if err := s.admitAnywhere(r, c, ""); err != nil {
		send(w, r, s.refuse(c, err))
		return
	}
	g := c.grant
	res, err := encode(&api.Identity{
		Actor: g.Actor, Scopes: g.Scopes, Permissions: g.Permissions, Expires: g.Expires, Version: s.opts.Version, Policy: c.engine.Policy(),
	})
	if err != nil {
		res = s.refuse(c, err)
	}
	send(w, r, res)
}

// notFound answers a request whose path has no route, or none for its method.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	c := callOf(r.Context())
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		send(w, r, s.refuse(c, &refusal{kind: noRoute, detail: "there is no such route", hint: "see the routes in " + api.Prefix + "/openapi.json"}))
		return
	}
	res := s.refuse(c, &refusal{kind: noMethod, detail: "the route has no such method", hint: "use " + strings.Join(allowed, " or ")})
	res.set("Allow", strings.Replace(strings.Join(allowed, ", "), http.MethodGet, http.MethodGet+", "+http.MethodHead, 1)) // a route for GET answers HEAD
	send(w, r, res)
}
