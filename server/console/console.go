package console

import (
	"cmp"
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
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
)

// Root is the path below which all pages are.
const Root = "/console/"

// Options configures a console. Verifier and Engine are required.
type Options struct {
	// Verifier checks the credentials with which people sign in.
	Verifier auth.Verifier

	// Engine returns the engine that acts for the caller, whose grant is in ctx, and the grant;
	// see the example of package server/rest.
	Engine func(ctx context.Context) (*carrel.Engine, *governance.Grant, error)

	// Scope is the scope of a page that names none, if the grant is for it. Otherwise it is the
	// first scope that the grant names. The default is [governance.DefaultScope].
	Scope governance.Scope

	// Listen, Hosts, Origins, Limits and Limited are those of [auth.DoorOptions].
	Listen         string
	Hosts, Origins []string
	Limits         auth.DoorLimits
	Limited        func(limit string)

	// Turns bounds the large jobs of each actor. Give all surfaces of a server the same. Nil
	// means no bound.
	Turns *auth.Turns

	// Store returns the state of the store, for callers with the permission to observe, whatever
	// their scopes. It may be nil.
	Store func(ctx context.Context) (*store.Info, error)

	// Node returns the state of the server that the console is a part of, for the page about it.
	// It may be nil.
	Node func(ctx context.Context) *ServerState

	// Stopping is closed when the server begins to shut down, so that streams end. By default they
	// end only with their requests.
	Stopping <-chan struct{}

	AllowWrite bool // allows pins, undo and reviews
	Secure     bool // the server speaks TLS, so cookies are sent over TLS only

	Version string           // of the program
	Logger  *slog.Logger     // the default discards all records
	Now     func() time.Time // the default is time.Now
}

// A Console answers requests below [Root]. It is safe for concurrent use.
type Console struct {
	opts    Options
	pages   *template.Template
	visits  visits
	handler http.Handler
	started time.Time
}

// ServerState is the state of a server.
type ServerState struct {
	Problem  string   `json:"problem,omitempty"` // why it takes no requests, or empty
	Surfaces []string `json:"surfaces"`          // what it serves, such as "mcp"
	Running  int      `json:"running"`           // large jobs that run
	Waiting  int      `json:"waiting"`           // large jobs that wait for their turn
	Limits   []Limit  `json:"limits"`
}

// A Limit is a limit of a server.
type Limit struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

//go:embed pages
var files embed.FS

// New returns a console. It fails if Listen or Hosts are invalid. Mount the console at [Root], not
// behind another [auth.Door].
func New(o *Options) (*Console, error) {
	c := &Console{opts: *o}
	if c.opts.Now == nil {
		c.opts.Now = time.Now //nolint:forbidigo // this is the default clock
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	c.opts.Scope = cmp.Or(c.opts.Scope, governance.DefaultScope)
	c.started = c.opts.Now()
	c.pages = template.Must(template.New("").Funcs(c.functions()).ParseFS(files, "pages/*.html"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root+"sign-in", c.signIn)
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
		v, _ := c.enter(r) // without a visit the page has no menu
		c.fail(w, r, v, fmt.Errorf("the console has no page %s: %w", r.URL.Path, store.ErrNotFound))
	})
	door, err := auth.NewDoor(o.Verifier, &auth.DoorOptions{
		Listen: o.Listen, Hosts: o.Hosts, Origins: o.Origins, Now: c.opts.Now, Limits: o.Limits, Limited: o.Limited,
		Open:       []string{Root + "sign-out", Root + "style.css", Root + "keys.js", Root + "icon.svg"},
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

// policy is the Content-Security-Policy: a page may load only from this server.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secured adds headers that isolate a page from other sites.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms would send the origin "null"
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// asset returns a handler of an embedded file.
func (c *Console) asset(name string) http.HandlerFunc {
	data, err := files.ReadFile("pages/" + name)
	if err != nil {
		panic(err) // unreachable: the file is embedded
	}
	kind := mime.TypeByExtension(path.Ext(name))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data) // whoever does not wait for it has no use for it
	}
}

// A visit is a request for a page with the caller's engine, grant and scope.
type visit struct {
	*http.Request

	console *Console
	engine  *carrel.Engine
	grant   *governance.Grant
	scope   governance.Scope
}

// A page describes a page of the console.
type page struct {
	name    string // of the template
	title   string
	section string // of the menu

	// show returns the data for the template, which is also the page's JSON form.
	show func(v *visit) (any, error)

	// command returns the command line that shows the same.
	command func(v *visit) string
}

// A frame is the data of the part that all pages share.
type frame struct {
	Title, Section, Command string
	Scope                   governance.Scope
	Others                  []governance.Scope // other scopes that the grant names
	Path                    string             // of the page, with its query except format
	Twin                    string             // URL of the page's JSON form
	Write                   bool               // the person may change things
	Review                  bool               // the person may decide about memories
	First                   bool               // the page is the first of its list, if it has one
	Actor                   governance.Actor
	Version                 string
	Data                    any
	Problem                 *api.Problem
}

// enter returns the visit of a request. It fails if the caller has no grant for the scope.
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

// scopeOf returns the scope of a page that does not name one: Options.Scope if the grant is for it,
// or otherwise the first scope of the grant.
func (c *Console) scopeOf(g *governance.Grant) governance.Scope {
	if named := scopesOf(g); len(named) > 0 && !covers(g, c.opts.Scope) {
		return named[0]
	}
	return c.opts.Scope
}

// covers reports whether a grant is for a scope.
func covers(g *governance.Grant, s governance.Scope) bool {
	return slices.ContainsFunc(g.Scopes, func(p governance.ScopePattern) bool { return p.Matches(s) })
}

// scopesOf returns the scopes that a grant names. A pattern names none.
func scopesOf(g *governance.Grant) []governance.Scope {
	var named []governance.Scope
	for _, p := range g.Scopes {
		if !strings.HasSuffix(string(p), "*") {
			named = append(named, governance.Scope(p))
		}
	}
	return named
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
		title := p.title
		if own, ok := data.(interface{ title() string }); ok {
			title = own.title()
		}
		c.write(w, http.StatusOK, p.name, v.frame(title, p.section, p.command(v), data))
	}
}

// frame returns the frame of a page with the given data.
func (v *visit) frame(title, section, command string, data any) *frame {
	query := v.URL.Query()
	query.Del("format")
	own := *v.URL
	own.RawQuery = query.Encode()
	query.Set("format", "json")
	twin := *v.URL
	twin.RawQuery = query.Encode()
	if command != "" && v.scope != v.console.opts.Scope {
		command += " --scope " + string(v.scope)
	}
	may := func(p governance.Permission) bool {
		return v.console.opts.AllowWrite && v.grant.Check(v.scope, p, v.console.opts.Now()) == nil
	}
	return &frame{
		Title: title, Section: section, Command: command, Scope: v.scope, Path: own.RequestURI(), Twin: twin.RequestURI(),
		Others: slices.DeleteFunc(scopesOf(v.grant), func(s governance.Scope) bool { return s == v.scope }),
		Write:  may(governance.Write), Review: may(governance.Write) && may(governance.Review), First: v.FormValue("after") == "",
		Actor: v.grant.Actor, Version: v.console.opts.Version, Data: data,
	}
}

// fail shows an error as a page, or as JSON.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	problem := api.NewProblem(err)
	if v != nil && problem.Status == http.StatusForbidden && !covers(v.grant, v.scope) {
		problem.Hint = "add ?scope= to the address of the page, and a scope that your credential is for"
	}
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
		c.opts.Logger.Error("the template of a page failed", "page", name, "reason", err)
		http.Error(w, "the page could not be made: the log of the server has the cause", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.String())) // whoever does not wait for it has no use for it
}

func (c *Console) writeJSON(w http.ResponseWriter, status int, kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "the result could not be encoded as JSON", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(data) // whoever does not wait for it has no use for it
}

// pathOf returns the path below [Root] of the page with the given segments, for [Console.link]. A
// segment may have a slash, as the id of a sub-agent's session has.
func pathOf(segments ...any) string {
	var b strings.Builder
	for i, s := range segments {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(url.PathEscape(fmt.Sprint(s)))
	}
	return b.String()
}

// link returns the URL of a page that shows the given scope. The path is escaped. The pairs are
// names and values of the query.
func (c *Console) link(scope governance.Scope, path string, pairs ...string) string {
	query := url.Values{}
	if scope != c.opts.Scope {
		query.Set("scope", string(scope))
	}
	for p := range slices.Chunk(pairs, 2) {
		if p[1] != "" {
			query.Set(p[0], p[1])
		}
	}
	if len(query) == 0 {
		return Root + path
	}
	return Root + path + "?" + query.Encode()
}

// An action handles a form: it changes something and returns the path of the next page.
type action func(v *visit) (path string, err error)

// change returns the handler of a form.
func (c *Console) change(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := c.enter(r)
		if err == nil && !c.opts.AllowWrite {
			err = fmt.Errorf("%w: this console changes nothing: start it with --allow-write", carrel.ErrPolicy)
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
