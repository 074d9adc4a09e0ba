package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Upstreams are where requests go: the base URLs as clients have them. That of OpenAI
// ends where its paths begin, such as https://api.openai.com/v1; that of Anthropic is
// without version.
type Upstreams struct {
	Anthropic, OpenAI string
}

// The providers' own.
const (
	DefaultAnthropic = "https://api.anthropic.com"
	DefaultOpenAI    = "https://api.openai.com/v1"
)

// The first step of a path that says for which upstream it is.
const (
	PathAnthropic = "/anthropic"
	PathOpenAI    = "/openai"
)

// parseBase reads a base URL.
func parseBase(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("upstream %s: %q is no URL such as https://api.example.com", name, text)
	case u.User != nil:
		return nil, fmt.Errorf("upstream %s: the URL has a user or a password in it; clients bring their own key", name)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("upstream %s: the URL has more behind its path", name)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// A target is where a request goes.
type target struct {
	base *url.URL
	path string // behind the base, escaped
	rest string // as RouteOf wants it
}

// url returns the URL to ask.
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

// target returns where a request goes, and false if nothing tells. A key must not go to a
// host that it was not meant for, so what could be for either goes to neither: the path
// decides if it is one that only one provider has, then the headers that only the clients
// of one send.
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
	case r.Header.Get("Authorization") == "" && r.Header.Get("Cookie") == "" && r.Header.Get("Proxy-Authorization") == "":
		return &target{p.anthropic, path, path}, true // it brings nothing that could get lost
	}
	return nil, false
}

func (p *Proxy) openAI(path string) *target {
	rest := path
	if after, ok := below(path, "/v1"); ok {
		rest = after
	}
	return &target{p.openai, rest, rest}
}

// below returns what of a path is below another.
func below(path, of string) (string, bool) {
	rest, ok := strings.CutPrefix(path, of)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// isAnthropic reports whether only Anthropic has a path.
func isAnthropic(path string) bool {
	for _, of := range [...]string{"/v1/messages", "/v1/complete", "/api"} {
		if _, ok := below(path, of); ok {
			return true
		}
	}
	return false
}

// isOpenAI reports whether only OpenAI has a path.
func isOpenAI(path string) bool {
	path = strings.TrimPrefix(path, "/v1")
	for _, of := range [...]string{"/chat/completions", "/responses", "/completions", "/embeddings", "/moderations"} {
		if _, ok := below(path, of); ok {
			return true
		}
	}
	return false
}

// sentTo reports whether a request has headers of a family, or a bearer token of a form,
// that only one provider has.
func sentTo(h http.Header, family, token string) bool {
	for name := range h {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	return strings.HasPrefix(h.Get("Authorization"), "Bearer "+token)
}

// Listening returns an error unless something listens at an address: a host and a port.
func Listening(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
