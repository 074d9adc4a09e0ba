// Package origin has the sources from which artifacts are fetched again: files,
// HTTP, and resources of MCP servers.
//
// A ref comes from a transcript, a tool or a page on the web, so its author
// may try to read secrets: a key in the home directory, the metadata service of a
// cloud, a router's console. Therefore everything is forbidden that a setting does not allow,
// and each source checks the file or connection that it has opened, not only the ref:
//
//   - the source of files opens regular files below configured folders; a link, a ".."
//     or a race cannot lead outside;
//   - the source of HTTP connects to configured hosts and ports at public addresses,
//     checked when the connection is made, after names are resolved, and
//     again for every redirect;
//   - the source of MCP reads resources of configured servers.
//
// [New] returns a [Router], which chooses the source by the scheme of the ref, and can return
// single lines of its content.
//
//	r := origin.New(&origin.Options{Files: []string{"/srv/docs"}})
//	defer r.Close()
//	f, err := r.Fetch(ctx, "file:policy.md#L1-L20", nil) // 20 lines of /srv/docs/policy.md
//
// # Content
//
// Content is text: valid UTF-8 without a zero byte, whatever type a server declares. Its size is
// limited, by [DefaultLimit] unless [Options.Limit] is set. The limit counts the bytes read, not
// the announced size. Other and larger content is an [artifact.ErrForbidden].
//
// # Errors and concurrency
//
// Each error wraps one of [artifact.ErrGone], [artifact.ErrForbidden] and
// [artifact.ErrUnavailable]. One that forbids names the setting that would
// allow it. Errors quote no query of a URL, which may hold a secret. Sources are
// safe for concurrent use.
package origin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/artifact"
)

// DefaultLimit is the maximum size in bytes of a content, unless [Options.Limit] is
// set.
const DefaultLimit = 16 << 20

// The names of the settings that errors tell people to change.
const (
	SettingFiles   = "sources.files"   // folders, for [Options.Files]
	SettingHosts   = "sources.hosts"   // for [Options.Hosts]
	SettingPrivate = "sources.private" // for [Options.AllowPrivate]
	SettingAllow   = "sources.allow"   // address ranges, for [Options.Allow]
	SettingMCP     = "sources.mcp"     // for [Options.Servers]
	SettingLimit   = "sources.limit"   // bytes, for [Options.Limit]
)

// Options configure what may be fetched. The zero value allows nothing.
type Options struct {
	// Files are folders. Regular files below them may be read. A relative path in a ref is looked
	// up in each folder in order; an absolute path must be below one of them.
	Files []string

	// Hosts are the hosts from which http and https may fetch: "example.org" at the ports 80 for
	// http and 443 for https, "example.org:8443" at this port only, "*.example.org" for all hosts
	// below example.org, at any depth, but not example.org itself. Names are in ASCII ("xn--" for
	// others); an IPv6 address stands in brackets.
	Hosts []string

	// Servers are the MCP servers, by name.
	Servers map[string]Server

	// Sources are sources of other schemes, such as "func", by scheme in lower case.
	Sources map[string]artifact.Source

	// AllowPrivate lets addresses of this machine and of private networks be
	// dialed: loopback, RFC 1918 and unique local ones. Link-local addresses,
	// where clouds keep credentials, need to be in Allow.
	AllowPrivate bool

	// Allow lists address ranges that may be dialed, even if they are not public.
	Allow []netip.Prefix

	Limit   int64         // of a content, in bytes; the default is DefaultLimit
	Timeout time.Duration // of one fetch over the network, redirects included; the default is 30 s

	// Offline forbids all schemes except file and func, also those of Sources. The error is an
	// [artifact.ErrOffline].
	Offline bool
}

// defaultTimeout is how long a fetch over the network may take.
const defaultTimeout = 30 * time.Second

// complete returns the options with their defaults.
func (o Options) complete() *Options {
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &o
}

// A Router is a source that delegates to other sources by the scheme of the ref.
// It removes a range of lines such as "#L10-L20" from the ref, so that the other
// source fetches the whole content, and cuts the result to the range.
type Router struct {
	sources map[string]artifact.Source // by scheme
	offline bool
}

// New returns a source for the refs that opts allow; opts must not be nil or change afterwards. It
// opens nothing before the first fetch, so a fetch that needs an invalid option fails.
func New(opts *Options) *Router {
	o := opts.complete()
	r := &Router{sources: maps.Clone(o.Sources), offline: o.Offline}
	if r.sources == nil {
		r.sources = make(map[string]artifact.Source)
	}
	if len(o.Files) > 0 {
		r.sources["file"] = &folders{o}
	}
	if len(o.Hosts) > 0 {
		w := newWeb(o, nil)
		r.sources["http"], r.sources["https"] = w, w
	}
	if len(o.Servers) > 0 {
		r.sources["mcp"] = newServers(o, nil)
	}
	return r
}

// Fetch implements [artifact.Source].
func (r *Router) Fetch(ctx context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	if _, err := artifact.ParseRef(string(ref)); err != nil {
		return nil, fmt.Errorf("%w: %w", artifact.ErrForbidden, err)
	}
	source, err := r.source(ref)
	if err != nil {
		return nil, err
	}
	base, lines := ref.Split()
	f, err := source.Fetch(ctx, base, cutHave(have, lines))
	switch {
	case err != nil:
		return nil, classify(err)
	case f == nil:
		return nil, fail(artifact.ErrUnavailable, ref.Scheme(), "the source returned nothing")
	case f.Unchanged:
		return f, nil
	}
	cut := *f
	if cut.Content, err = lines.Cut(f.Content); err != nil {
		return nil, fmt.Errorf("%s: %w", shown(base), err)
	}
	return &cut, nil
}

// cutHave adapts have, which describes a copy of some lines of a content, for a source that fetches
// the whole content: its function Same first cuts the content to these lines.
func cutHave(have *artifact.Have, lines artifact.Lines) *artifact.Have {
	if have == nil || lines == (artifact.Lines{}) {
		return have
	}
	whole := *have
	whole.Same = func(content []byte) bool {
		cut, err := lines.Cut(content)
		return err == nil && have.Holds(cut)
	}
	return &whole
}

// source returns the source for a ref, or an error if the options forbid its scheme.
func (r *Router) source(ref artifact.Ref) (artifact.Source, error) {
	scheme, what := ref.Scheme(), shown(ref)
	u, err := url.Parse(string(ref))
	if usualPorts[scheme] != "" {
		what = scheme // an invalid URL may have a password anywhere
		if err == nil {
			what = display(u)
		}
	}
	if r.offline && scheme != "file" && scheme != "func" {
		return nil, fail(artifact.ErrOffline, what, "no connections are made offline")
	}
	if s, ok := r.sources[scheme]; ok && s != nil {
		return s, nil
	}
	switch scheme {
	case "file":
		return nil, fail(artifact.ErrForbidden, what, "add its folder to %s to allow it", SettingFiles)
	case "http", "https":
		if err != nil {
			return nil, fail(artifact.ErrForbidden, scheme, "the URL is invalid")
		}
		return nil, fail(artifact.ErrForbidden, what, "%w", checkURL(nil, u))
	case "mcp":
		server, _ := cutName(ref)
		return nil, fail(artifact.ErrForbidden, what, "set %s.%s to allow it", SettingMCP, server)
	}
	return nil, fail(artifact.ErrForbidden, what, "no source has this scheme")
}

// Close ends the sessions with MCP servers, and closes those of [Options.Sources] that implement
// io.Closer.
func (r *Router) Close() error {
	var errs []error
	for _, s := range r.sources {
		if c, ok := s.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// cutName splits the rest of a ref at the first slash.
func cutName(ref artifact.Ref) (name, rest string) {
	name, rest, _ = strings.Cut(ref.Rest(), "/")
	return name, rest
}

// shown returns a ref for an error text: without its query.
func shown(ref artifact.Ref) string {
	s, _, _ := strings.Cut(string(ref), "?")
	return s
}

// answer checks that fetched content is text within the limit, and returns it, or "unchanged"
// if the caller has the same content.
func answer(what string, limit int64, f *artifact.Fetched, have *artifact.Have) (*artifact.Fetched, error) {
	switch {
	case int64(len(f.Content)) > limit:
		return nil, tooLarge(what, limit)
	case !utf8.Valid(f.Content) || bytes.IndexByte(f.Content, 0) >= 0:
		return nil, fail(artifact.ErrForbidden, what, "it is not text in UTF-8")
	case have.Holds(f.Content):
		f.Content, f.Unchanged = nil, true
	}
	return f, nil
}

// readAll reads r up to one byte more than the limit.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, limit+1))
}

func tooLarge(what string, limit int64) error {
	return fail(artifact.ErrForbidden, what, "it is larger than %d bytes, the limit of %s", limit, SettingLimit)
}

// fail returns an error that begins with the text in what and wraps kind, followed by the formatted
// reason.
func fail(kind error, what, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", what, kind, fmt.Errorf(format, args...))
}

// classify returns err if it wraps one of the sentinels ErrGone, ErrForbidden and
// ErrUnavailable. Otherwise it wraps err in ErrUnavailable.
func classify(err error) error {
	for _, kind := range []error{artifact.ErrGone, artifact.ErrForbidden, artifact.ErrUnavailable} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", artifact.ErrUnavailable, err)
}
