package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Upstreams are the base URLs of the providers, in the form that their clients use: OpenAI's
// with the version, such as https://api.openai.com/v1, and Anthropic's without.
type Upstreams struct {
	Anthropic, OpenAI string
}

// The defaults of [Upstreams].
const (
	DefaultAnthropic = "https://api.anthropic.com"
	DefaultOpenAI    = "https://api.openai.com/v1"
)

// The first element of a path that selects an upstream.
const (
	PathAnthropic = "/anthropic"
	PathOpenAI    = "/openai"
)

// parseBase reads a base URL.
func parseBase(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("upstream %s: %q is not an HTTP URL such as https://api.example.com", name, text)
	case u.User != nil:
		return nil, fmt.Errorf("upstream %s: the URL has a user or a password: remove them, as clients send their own key", name)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("upstream %s: the URL has a query or a fragment: end it with its path", name)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// A target is the destination of a request.
type target struct {
	base *url.URL
	path string // to append to the path of base, escaped
	rest string // the path for wire.RouteOf
}

// url returns the URL of the target with the query of in.
func (t *target) url(in *url.URL) *url.URL {
	u := *t.base
	escaped := u.EscapedPath() + t.path
	u.Path, u.RawPath = escaped, ""
	if plain, err := url.PathUnescape(escaped); err == nil {
		u.Path, u.RawPath = plain, escaped
	}
	u.RawQuery, u.ForceQuery = in.RawQuery, in.ForceQuery
	return &u
}

// target returns the destination of a request, or false if it is not certain: a key must not go
// to the wrong provider. The path decides if only one provider has it; otherwise headers that
// only the clients of one provider send. A request without credentials goes to Anthropic.
func (p *Proxy) target(r *http.Request) (*target, bool) {
	path := r.URL.EscapedPath()
	if rest, ok := below(path, PathAnthropic); ok {
		return &target{p.anthropic, rest, rest}, true
	}
	if rest, ok := below(path, PathOpenAI); ok {
		return p.openAI(rest), true
	}
	switch {
	case isAnthropic(path):
		return &target{p.anthropic, path, path}, true
	case isOpenAI(path):
		return p.openAI(path), true
	case sentTo(r.Header, "Anthropic-", "sk-ant-") || r.Header.Get("X-Api-Key") != "":
		return &target{p.anthropic, path, path}, true
	case sentTo(r.Header, "Openai-", "sk-proj-"):
		return p.openAI(path), true
	case !hasCredentials(r):
		return &target{p.anthropic, path, path}, true
	}
	return nil, false
}

// hasCredentials reports whether a header or a parameter of the query of a request may be a
// credential, by its name.
func hasCredentials(r *http.Request) bool {
	for name, values := range r.Header {
		if name != "Idempotency-Key" && isSecret(name) && strings.Join(values, "") != "" {
			return true
		}
	}
	for pair := range strings.FieldsFuncSeq(r.URL.RawQuery, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if isSecret(name) {
			return true
		}
	}
	return false
}

// isSecret reports whether what has this name may be a credential.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	for _, part := range [...]string{"authorization", "cookie", "key", "token", "secret", "credential"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func (p *Proxy) openAI(path string) *target {
	rest := path
	if after, ok := below(path, "/v1"); ok {
		rest = after
	}
	return &target{p.openai, rest, rest}
}

// below returns true if path is the path in the argument of, or below it. The
// other result is the rest of path after that one.
func below(path, of string) (string, bool) {
	rest, ok := strings.CutPrefix(path, of)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// isAnthropic reports whether path is one that only Anthropic has.
func isAnthropic(path string) bool {
	for _, of := range [...]string{"/v1/messages", "/v1/complete", "/api"} {
		if _, ok := below(path, of); ok {
			return true
		}
	}
	return false
}

// isOpenAI reports whether path is one that only OpenAI has.
func isOpenAI(path string) bool {
	path = strings.TrimPrefix(path, "/v1")
	for _, of := range [...]string{"/chat/completions", "/responses", "/completions", "/embeddings", "/moderations"} {
		if _, ok := below(path, of); ok {
			return true
		}
	}
	return false
}

// sentTo reports whether h has a header whose name begins with the text in family, or a
// bearer token that begins with the text in token.
func sentTo(h http.Header, family, token string) bool {
	for name := range h {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return strings.HasPrefix(h.Get("Authorization"), "Bearer "+token)
}

// Listening returns an error unless a server accepts connections at address, "host:port".
func Listening(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
