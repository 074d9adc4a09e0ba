package console

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

// Root is where the pages begin.
const Root = "/console/"

// Options says what a console shows. Verifier and Engine are needed.
type Options struct {
	// Verifier knows the credentials with which people sign in.
	Verifier auth.Verifier

	// Engine returns the engine that acts for whoever asks, whose grant is in ctx.
	Engine func(ctx context.Context) (*carrel.Engine, *governance.Grant, error)

	// Scope is what is shown if a page does not name one and the grant not a single one. The
	// default is [governance.DefaultScope].
	Scope governance.Scope

	// Listen, Hosts and Origins are those of [auth.DoorOptions].
	Listen         string
	Hosts, Origins []string

	// Store says how the store is, to whoever may observe all of it. It may be nil.
	Store func(ctx context.Context) (*store.Info, error)

	AllowWrite bool // pins, undoing and reviews are possible
	Secure     bool // the server speaks TLS, so cookies may be for TLS alone

	Version string
	Logger  *slog.Logger     // the default discards
	Now     func() time.Time // the default is time.Now
}

// A Console answers requests below [Root]. It is safe for concurrent use.
type Console struct {
	opts    Options
	pages   *template.Template
	visits  visits
	handler http.Handler
}

//go:embed pages
var files embed.FS

// New returns a console.
func New(o *Options) (*Console, error) {
	c := &Console{opts: *o}
	if c.opts.Now == nil {
		c.opts.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if c.opts.Scope == "" {
		c.opts.Scope = governance.DefaultScope
	}
	c.pages = template.Must(template.New("").Funcs(c.functions()).ParseFS(files, "pages/*.html"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root+"sign-in", c.askSignIn)
	mux.HandleFunc("POST "+Root+"sign-in", c.signIn)
	mux.HandleFunc("POST "+Root+"sign-out", c.signOut)
	for _, name := range [...]string{"style.css", "keys.js", "icon.svg"} {
		mux.HandleFunc("GET "+Root+name, c.asset(name))
	}
	for pattern, p := range c.table() {
		mux.HandleFunc("GET "+Root+pattern, c.show(p))
	}
	mux.HandleFunc("GET "+Root+"session/{session}/live", c.live)
	for pattern, do := range c.changes() {
		mux.HandleFunc("POST "+Root+pattern, c.change(do))
	}
	mux.HandleFunc(Root, func(w http.ResponseWriter, r *http.Request) {
		v, _ := c.enter(r) // whoever asks for what is not there is told just that
		c.fail(w, r, v, fmt.Errorf("the console has no page %s: %w", r.URL.Path, store.ErrNotFound))
	})
	door, err := auth.NewDoor(o.Verifier, &auth.DoorOptions{
		Listen: o.Listen, Hosts: o.Hosts, Origins: o.Origins, Now: c.opts.Now,
		Open:       []string{Root + "sign-in", Root + "sign-out", Root + "style.css", Root + "keys.js", Root + "icon.svg"},
		Credential: c.credential, Unknown: c.unknown,
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost}, MaxBody: 1 << 20,
	})
	if err != nil {
		return nil, err
	}
	c.handler = c.remember(secured(door.Guard(mux)))
	return c, nil
}

// ServeHTTP answers a request below [Root].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// policy allows a page what comes from the server, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secured adds the headers that keep a page to itself.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with none, forms would name no origin
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// asset returns a handler of a file that comes with the program.
func (c *Console) asset(name string) http.HandlerFunc {
	data, err := files.ReadFile("pages/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	kind := mime.TypeByExtension(path.Ext(name))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // whoever does not wait for it has no use for it
	}
}

// A visit is a request for a page: who asks, whose data it is about.
type visit struct {
	*http.Request

	console *Console
	engine  *carrel.Engine
	grant   *governance.Grant
	scope   governance.Scope
}

// A page makes what a page shows.
type page struct {
	name    string // of the template
	title   string
	section string // of the menu that it is in

	// show returns what the template gets; its result is also the JSON twin.
	show func(v *visit) (any, error)

	// command is what shows the same on the command line.
	command func(v *visit) string
}

// A frame is what every page has around what it shows.
type frame struct {
	Title, Section, Command string
	Scope                   governance.Scope
	Path                    string // of the page, with its query but for format
	Twin                    string // of the JSON
	Write                   bool
	Actor                   governance.Actor
	Version                 string
	Data                    any
	Problem                 *api.Problem
}

// enter returns the visit that a request is.
func (c *Console) enter(r *http.Request) (*visit, error) {
	engine, grant, err := c.opts.Engine(r.Context())
	if err != nil {
		return nil, err
	}
	v := &visit{Request: r, console: c, engine: engine, grant: grant, scope: c.scopeOf(grant)}
	if s := r.FormValue("scope"); s != "" {
		if v.scope, err = governance.ParseScope(s); err != nil {
			return nil, &api.FieldError{Field: "scope", Text: "is no scope"}
		}
	}
	return v, nil
}

// scopeOf returns what is shown to whom a page does not name a scope for.
func (c *Console) scopeOf(g *governance.Grant) governance.Scope {
	if len(g.Scopes) == 1 && !strings.HasSuffix(string(g.Scopes[0]), "*") {
		return governance.Scope(g.Scopes[0])
	}
	return c.opts.Scope
}

// show returns the handler of a page.
func (c *Console) show(p *page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := c.enter(r)
		if err != nil {
			c.fail(w, r, nil, err)
			return
		}
		data, err := p.show(v)
		if err != nil {
			c.fail(w, r, v, err)
			return
		}
		if r.FormValue("format") == "json" {
			c.writeJSON(w, http.StatusOK, "application/json", data)
			return
		}
		c.write(w, http.StatusOK, p.name, v.frame(p.title, p.section, p.command(v), data))
	}
}

// frame returns what stands around what a page shows.
func (v *visit) frame(title, section, command string, data any) *frame {
	query := v.URL.Query()
	query.Del("format")
	own := *v.URL
	own.RawQuery = query.Encode()
	query.Set("format", "json")
	twin := *v.URL
	twin.RawQuery = query.Encode()
	if v.scope != v.console.opts.Scope && !strings.Contains(command, "--scope") {
		command += " --scope " + string(v.scope)
	}
	return &frame{
		Title: title, Section: section, Command: command, Scope: v.scope, Path: own.RequestURI(), Twin: twin.RequestURI(),
		Write: v.console.opts.AllowWrite, Actor: v.grant.Actor, Version: v.console.opts.Version, Data: data,
	}
}

// fail shows why there is no page.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	problem := api.NewProblem(err)
	if problem.Status >= http.StatusInternalServerError {
		c.opts.Logger.WarnContext(r.Context(), "a page failed", "path", r.URL.Path, "status", problem.Status)
	}
	if r.FormValue("format") == "json" {
		c.writeJSON(w, problem.Status, "application/problem+json", problem)
		return
	}
	f := &frame{Title: problem.Title, Scope: c.opts.Scope, Version: c.opts.Version, Problem: problem}
	if v != nil {
		f = v.frame(problem.Title, "", "", nil)
		f.Problem = problem
	}
	c.write(w, problem.Status, "problem", f)
}

// write writes a page, whole or not at all.
func (c *Console) write(w http.ResponseWriter, status int, name string, f *frame) {
	var b strings.Builder
	if err := c.pages.ExecuteTemplate(&b, name, f); err != nil {
		c.opts.Logger.Error("a page cannot be written", "page", name, "reason", err)
		http.Error(w, "the page cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.String())) // whoever does not wait for it has no use for it
}

func (c *Console) writeJSON(w http.ResponseWriter, status int, kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "the result cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(data) // whoever does not wait for it has no use for it
}

// link returns the URL of a page in the scope of another.
func (c *Console) link(scope governance.Scope, path string, pairs ...string) string {
	query := url.Values{}
	if scope != c.opts.Scope {
		query.Set("scope", string(scope))
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	u := url.URL{Path: Root + path, RawQuery: query.Encode()}
	return u.String()
}

// A doing changes something and returns where to go then.
type doing func(v *visit) (path string, err error)

// change returns the handler of a form.
func (c *Console) change(do doing) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := c.enter(r)
		if err == nil && !c.opts.AllowWrite {
			err = fmt.Errorf("%w: this console only shows: start it with --allow-write", carrel.ErrPolicy)
		}
		var to string
		if err == nil {
			to, err = do(v)
		}
		if err != nil {
			c.fail(w, r, v, err)
			return
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
}
