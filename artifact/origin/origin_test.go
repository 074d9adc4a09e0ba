package origin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/artifact"
)

// TestMain lets the tests start this program again, as an MCP server.
func TestMain(m *testing.M) {
	if os.Getenv("CARREL_TEST_MCP_SERVER") != "" {
		serveStdio()
		return
	}
	os.Exit(m.Run())
}

// has returns the Have of a caller with a copy of a text.
func has(text string) *artifact.Have {
	return &artifact.Have{Same: func(content []byte) bool { return string(content) == text }}
}

// check compares the result of a fetch with want: content, or "=" for unchanged,
// or an error of a kind with a text.
func check(t *testing.T, f *artifact.Fetched, err error, want string, kind error, says string) {
	t.Helper()
	switch {
	case kind != nil:
		for _, k := range []error{artifact.ErrGone, artifact.ErrForbidden, artifact.ErrUnavailable} {
			if got := errors.Is(err, k); got != errors.Is(kind, k) {
				t.Errorf("error %v, of kind %q: %t, want kind %q", err, k, got, kind)
			}
		}
		if err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("error %q, want it to say %q", err, says)
		}
		if f != nil {
			t.Errorf("an answer with an error: %+v", f)
		}
	case err != nil:
		t.Errorf("error %v, want %q", err, want)
	case want == "=":
		if !f.Unchanged || f.Content != nil {
			t.Errorf("got %q, unchanged %t, want unchanged", f.Content, f.Unchanged)
		}
	case string(f.Content) != want || f.Unchanged:
		t.Errorf("got %q, unchanged %t, want %q", f.Content, f.Unchanged, want)
	}
}

// funcs is a source of functions, by the name after the scheme.
type funcs map[string]func(ctx context.Context, ref artifact.Ref) ([]byte, error)

func (f funcs) Fetch(ctx context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	name, _ := cutName(ref)
	call := f[name]
	if call == nil {
		return nil, fail(artifact.ErrForbidden, shown(ref), "the program has no function of this name")
	}
	content, err := call(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(ref), classify(err))
	}
	return answer(shown(ref), DefaultLimit, &artifact.Fetched{Content: content}, have)
}

func TestRouter(t *testing.T) {
	boom := errors.New("boom")
	functions := funcs{
		"lines": func(context.Context, artifact.Ref) ([]byte, error) { return []byte("a\nb\nc\n"), nil },
		"echo":  func(_ context.Context, ref artifact.Ref) ([]byte, error) { return []byte(ref), nil },
		"bad":   func(context.Context, artifact.Ref) ([]byte, error) { return nil, boom },
		"gone":  func(context.Context, artifact.Ref) ([]byte, error) { return nil, artifact.ErrGone },
		"image": func(context.Context, artifact.Ref) ([]byte, error) { return []byte("\x89PNG"), nil },
		"nul":   func(context.Context, artifact.Ref) ([]byte, error) { return []byte("a\x00b"), nil },
		"large": func(context.Context, artifact.Ref) ([]byte, error) { return make([]byte, DefaultLimit+1), nil },
	}
	nothing := artifact.SourceFunc(func(context.Context, artifact.Ref, *artifact.Have) (*artifact.Fetched, error) {
		return nil, nil
	})
	online := &Router{sources: map[string]artifact.Source{
		"func": functions, "nothing": nothing, "https": nothing, "s3": nothing, "none": nil,
	}}
	offline := &Router{sources: online.sources, offline: true}
	for _, tt := range []struct {
		name string
		r    *Router
		ref  artifact.Ref
		have *artifact.Have
		want string // content, or "=" for unchanged
		kind error
		says string
	}{
		{"a function", online, "func:echo/x?y", nil, "func:echo/x?y", nil, ""},
		{"a scheme in capitals", online, "FUNC:echo", nil, "FUNC:echo", nil, ""},
		{"a line", online, "func:lines#L2", nil, "b\n", nil, ""},
		{"lines", online, "func:lines#L2-L9", nil, "b\nc\n", nil, ""},
		{"lines that the source does not see", online, "func:echo#L1", nil, "func:echo", nil, ""},
		{"lines beyond the end", online, "func:lines#L4", nil, "", artifact.ErrGone, "line 4"},
		{"lines that the caller has", online, "func:lines#L2", has("b\n"), "=", nil, ""},
		{"lines that the caller has no longer", online, "func:lines#L2", has("x\n"), "b\n", nil, ""},
		{"a whole that is not the lines that the caller has", online, "func:lines#L2", has("a\nb\nc\n"), "b\n", nil, ""},
		{"lines beyond the end that the caller had", online, "func:lines#L4", has(""), "", artifact.ErrGone, "line 4"},
		{"what the caller has", online, "func:lines", has("a\nb\nc\n"), "=", nil, ""},
		{"a function that nobody named", online, "func:other/x", nil, "", artifact.ErrForbidden, "func:other"},
		{"an error of a function", online, "func:bad", nil, "", artifact.ErrUnavailable, "boom"},
		{"an error that has a kind", online, "func:gone", nil, "", artifact.ErrGone, "func:gone"},
		{"what is not text", online, "func:image", nil, "", artifact.ErrForbidden, "not text"},
		{"what has a zero byte", online, "func:nul", nil, "", artifact.ErrForbidden, "not text"},
		{"what is too large", online, "func:large", nil, "", artifact.ErrForbidden, SettingLimit},
		{"a source that returns nothing", online, "nothing:x", nil, "", artifact.ErrUnavailable, "nothing"},
		{"files without a setting", online, "file:x", nil, "", artifact.ErrForbidden, SettingFiles},
		{"http without a setting", online, "http://h/", nil, "", artifact.ErrForbidden, SettingHosts},
		{"MCP without a setting", online, "mcp:a/b", nil, "", artifact.ErrForbidden, SettingMCP},
		{"a scheme that nobody knows", online, "gopher://h/", nil, "", artifact.ErrForbidden, "gopher"},
		{"a source that is nil", online, "none:x", nil, "", artifact.ErrForbidden, "none"},
		{"what is no ref", online, "docs/policy.md", nil, "", artifact.ErrForbidden, "no scheme"},
		{"a ref of several lines", online, "func:echo\nx", nil, "", artifact.ErrForbidden, "control"},
		{"a function, offline", offline, "func:lines#L1", nil, "a\n", nil, ""},
		{"https, offline", offline, "https://h/", nil, "", artifact.ErrForbidden, "offline"},
		{"an invalid URL, offline", offline, "https://u:p1" + "@h:bad/x?q=1", nil, "", artifact.ErrForbidden, "https: not allowed: no connections are made offline"},
		{"any other scheme, offline", offline, "s3://b/k", nil, "", artifact.ErrForbidden, "offline"},
		{"MCP, offline", offline, "mcp:a/b", nil, "", artifact.ErrForbidden, "offline"},
		{"nothing at all", new(Router), "file:x", nil, "", artifact.ErrForbidden, SettingFiles},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := tt.r.Fetch(t.Context(), tt.ref, tt.have)
			check(t, f, err, tt.want, tt.kind, tt.says)
		})
	}
}

// Errors never contain the query of a URL, which may hold a token.
func TestErrorsQuoteNoQuery(t *testing.T) {
	r := &Router{sources: map[string]artifact.Source{
		"https": newWeb(Options{Hosts: []string{"example.org"}}.complete(), new(network).dial),
		"http":  newWeb(Options{}.complete(), nil),
		"mcp":   newServers(Options{}.complete(), nil),
		"func":  funcs{},
	}}
	for _, ref := range []artifact.Ref{
		"https://example.org/a?token=s3cret", "https://example.org:x/a?token=s3cret", "http://example.org/a?token=s3cret",
		"http://u" + ":s3cret@example.org/", "https://u" + ":s3cret@example.org/", "mcp:a/https://h/?token=s3cret",
		"func:a?token=s3cret", "a?token=s3cret", "https://h/?token=s3cret\n", "s3:?token=s3cret", "https://[/?token=s3cret",
	} {
		_, err := r.Fetch(t.Context(), ref, nil)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("fetching %q: %v, want an error without the secret", ref, err)
		}
	}
}

type closer struct {
	artifact.SourceFunc
	closed *[]string
	name   string
	err    error
}

func (c closer) Close() error {
	*c.closed = append(*c.closed, c.name)
	return c.err
}

func TestRouterCloses(t *testing.T) {
	var closed []string
	boom := errors.New("boom")
	r := &Router{sources: map[string]artifact.Source{
		"a": closer{closed: &closed, name: "a", err: boom}, "b": funcs{}, "c": newWeb(Options{}.complete(), nil), "d": newServers(Options{}.complete(), nil), "e": nil,
	}}
	if err := r.Close(); !errors.Is(err, boom) {
		t.Errorf("Close = %v, want %v", err, boom)
	}
	if diff := cmp.Diff([]string{"a"}, closed); diff != "" {
		t.Errorf("closed (-want +got):\n%s", diff)
	}
}
