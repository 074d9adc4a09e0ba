// Package origin has the sources that artifacts are fetched from again: files,
// HTTP, resources of MCP servers, and functions.
//
// A ref comes from a transcript, a tool or a page on the web, so whoever wrote
// it may want a fetch to read what it must not: a key in the home directory,
// the metadata service of a cloud, a router's console. Therefore nothing is
// allowed that a setting does not name, and each source looks at what it has
// really opened, not at what the ref says:
//
//   - [Files] opens regular files below configured folders, and nothing that a
//     link, a ".." or a race leads out of them;
//   - [HTTP] connects to configured hosts and ports, and to addresses that are
//     public, checked when the connection is made, after names are resolved and
//     again for every redirect;
//   - [MCP] reads resources of configured servers;
//   - [Func] calls functions of the program.
//
// A [Router] picks the source by the scheme of the ref, and cuts lines out of
// what it returns.
//
// # Content
//
// Content is text: valid UTF-8 without a zero byte, whatever type a server
// declares. It is not larger than a limit in bytes, [DefaultLimit] unless the
// source says otherwise, counted on what is read and not on what is announced.
//
// # Errors and concurrency
//
// Each error wraps one of [artifact.ErrGone], [artifact.ErrForbidden] and
// [artifact.ErrUnavailable]. One that forbids names the setting that would
// allow it. Errors quote no query of a URL, which may hold a secret. Sources are
// safe for concurrent use; their fields must not be changed after the first
// fetch.
package origin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/artifact"
)

// DefaultLimit is the size of the largest content that a source returns if it
// is not told otherwise, in bytes.
const DefaultLimit = 16 << 20

// The names of the settings that errors tell people to change.
const (
	SettingFiles   = "sources.files"   // folders, for [Files.Roots]
	SettingHosts   = "sources.hosts"   // for [HTTP.Hosts]
	SettingPrivate = "sources.private" // for [HTTP.AllowPrivate]
	SettingAllow   = "sources.allow"   // address ranges, for [HTTP.Allow]
	SettingMCP     = "sources.mcp"     // for [MCP.Servers]
	SettingLimit   = "sources.limit"   // bytes
)

// settings says which setting allows the refs of a scheme.
var settings = map[string]string{
	"file": SettingFiles, "http": SettingHosts, "https": SettingHosts, "mcp": SettingMCP,
}

// A Router is a source that asks others, by the scheme of the ref. It takes
// refs that end in lines, as "#L10-L20", which the others never see: they fetch
// all of the content, and the router cuts.
type Router struct {
	Sources map[string]artifact.Source // by scheme, in lower case

	// Offline forbids every scheme but file and func: whatever connects.
	Offline bool
}

// Fetch implements [artifact.Source].
func (r *Router) Fetch(ctx context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	if _, err := artifact.ParseRef(string(ref)); err != nil {
		return nil, fmt.Errorf("%w: %w", artifact.ErrForbidden, err)
	}
	source, err := r.source(ref.Scheme())
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
		return nil, err
	}
	return &cut, nil
}

// cutHave returns what a caller has of the whole who has some lines of it.
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

// source returns the source for a scheme, if it may be asked.
func (r *Router) source(scheme string) (artifact.Source, error) {
	s, ok := r.Sources[scheme]
	switch setting := settings[scheme]; {
	case r.Offline && scheme != "file" && scheme != "func":
		return nil, fail(artifact.ErrForbidden, scheme, "it connects, and we are offline")
	case ok && s != nil:
		return s, nil
	case setting != "":
		return nil, fail(artifact.ErrForbidden, scheme, "set %s to allow it", setting)
	}
	return nil, fail(artifact.ErrForbidden, scheme, "no source has this scheme")
}

// Close closes the sources that can be closed.
func (r *Router) Close() error {
	var errs []error
	for _, s := range r.Sources {
		if c, ok := s.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Func is a source of functions of the program, by name: "func:name/rest" calls
// the function of that name with the whole ref.
type Func map[string]func(ctx context.Context, ref artifact.Ref) ([]byte, error)

// Fetch implements [artifact.Source]. An error of a function that is none of
// the three of package artifact is an [artifact.ErrUnavailable].
func (f Func) Fetch(ctx context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	what := shown(ref)
	name, _ := cutName(ref)
	call := f[name]
	if call == nil {
		return nil, fail(artifact.ErrForbidden, what, "the program has no function of this name")
	}
	content, err := call(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, classify(err))
	}
	return answer(what, DefaultLimit, &artifact.Fetched{Content: content}, have)
}

// cutName parts what follows the scheme at the first slash.
func cutName(ref artifact.Ref) (name, rest string) {
	name, rest, _ = strings.Cut(ref.Rest(), "/")
	return name, rest
}

// shown returns what of a ref may stand in an error: no query.
func shown(ref artifact.Ref) string {
	s, _, _ := strings.Cut(string(ref), "?")
	return s
}

// answer returns what was fetched, or that the caller has it, if it is text and
// not too large.
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

// limited returns a limit with its default.
func limited(limit int64) int64 {
	if limit <= 0 {
		return DefaultLimit
	}
	return limit
}

// readAll returns what is in r, or one byte more than the limit of what is.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, limit+1))
}

func tooLarge(what string, limit int64) error {
	return fail(artifact.ErrForbidden, what, "it is larger than %d bytes, the limit of %s", limit, SettingLimit)
}

// fail returns an error of a kind: about what, and why.
func fail(kind error, what, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", what, kind, fmt.Errorf(format, args...))
}

// classify returns an error that is one of the three kinds.
func classify(err error) error {
	for _, kind := range []error{artifact.ErrGone, artifact.ErrForbidden, artifact.ErrUnavailable} {
		if errors.Is(err, kind) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", artifact.ErrUnavailable, err)
}
