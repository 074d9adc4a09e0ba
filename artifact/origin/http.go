package origin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/carrel-dev/carrel/artifact"
)

// maxRedirects is the maximum number of redirects of a fetch.
const maxRedirects = 5

// web is a source of URLs with the scheme http or https.
//
// A URL is fetched if its host and port are configured, it has no user or password,
// and the dialed address is public. Up to five redirects are followed, if the same holds for
// their targets and none leads from https to http. No proxy, cookie or credential is used.
//
// If the caller has an ETag or a date, the request is conditional. ETag and date are sent only
// to the origin that returned them.
type web struct {
	*Options

	rules  []hostRule
	client *http.Client
	err    error // error in Options.Hosts, returned by each fetch
}

// newWeb returns a source that connects with the function dial. If dial is nil, it connects over
// the network.
func newWeb(o *Options, dial dialer) *web {
	w := &web{Options: o}
	for _, s := range o.Hosts {
		r, err := parseHost(s)
		if err != nil {
			w.err = fail(artifact.ErrForbidden, "http", "%s has %q: %w", SettingHosts, s, err)
			break
		}
		w.rules = append(w.rules, r)
	}
	w.client = &http.Client{
		Transport:     guard{private: o.AllowPrivate, allow: o.Allow}.transport(dial),
		CheckRedirect: w.redirect,
	}
	return w
}

// Fetch implements [artifact.Source]. The statuses 404 and 410 are
// [artifact.ErrGone]; any other error status is
// [artifact.ErrUnavailable].
func (h *web) Fetch(ctx context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	if h.err != nil {
		return nil, h.err
	}
	u, err := url.Parse(string(ref))
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the URL
		}
		return nil, fail(artifact.ErrForbidden, ref.Scheme(), "%w", err)
	}
	what := display(u)
	if err := checkURL(h.rules, u); err != nil {
		return nil, fail(artifact.ErrForbidden, what, "%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	resp, err := h.get(ctx, u, have)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return nil, fmt.Errorf("%s: %w", what, classify(harmless(err)))
	}
	defer resp.Body.Close()
	return h.read(what, u, resp, have)
}

// harmless returns err, unless it may quote the answer of a server, which may repeat the query.
func harmless(err error) error {
	_, network := errors.AsType[net.Error](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	for _, kind := range []error{artifact.ErrForbidden, artifact.ErrUnavailable, context.Canceled, io.EOF, http.ErrSchemeMismatch} {
		network = network || errors.Is(err, kind)
	}
	if network || certificate {
		return err
	}
	return errors.New("a header or the answer is not valid HTTP")
}

// get sends the request and follows redirects.
func (h *web) get(ctx context.Context, u *url.URL, have *artifact.Have) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "carrel")
	if have != nil && have.ETag != "" {
		req.Header.Set("If-None-Match", have.ETag)
	}
	if have != nil && have.Modified != "" {
		req.Header.Set("If-Modified-Since", have.Modified)
	}
	return h.client.Do(req)
}

// redirect checks a redirect to req.
func (h *web) redirect(req *http.Request, via []*http.Request) error {
	to := display(req.URL)
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", artifact.ErrUnavailable, maxRedirects)
	case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme == "http":
		return fail(artifact.ErrForbidden, "redirect to "+to, "it leaves https")
	}
	if err := checkURL(h.rules, req.URL); err != nil {
		return fail(artifact.ErrForbidden, "redirect to "+to, "%w", err)
	}
	req.Header.Del("Referer")
	if !sameOrigin(via[0].URL, req.URL) {
		for _, name := range []string{"If-None-Match", "If-Modified-Since", "Authorization", "Cookie"} {
			req.Header.Del(name)
		}
	}
	return nil
}

// read converts a response to the result of the fetch of u, or to an error of package artifact.
func (h *web) read(what string, u *url.URL, resp *http.Response, have *artifact.Have) (*artifact.Fetched, error) {
	f := &artifact.Fetched{}
	if sameOrigin(u, resp.Request.URL) {
		f.ETag, f.Modified = resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	}
	asked := resp.Request.Header.Get("If-None-Match") != "" || resp.Request.Header.Get("If-Modified-Since") != ""
	switch code := resp.StatusCode; {
	case code == http.StatusOK, code == http.StatusNonAuthoritativeInfo:
	case code == http.StatusNotModified && asked:
		if f.ETag == "" && f.Modified == "" {
			f.ETag, f.Modified = have.ETag, have.Modified
		}
		f.Unchanged = true
		return f, nil
	case code == http.StatusNotFound, code == http.StatusGone:
		return nil, fail(artifact.ErrGone, what, "the server says %s", status(code))
	default:
		return nil, fail(artifact.ErrUnavailable, what, "the server says %s", status(code))
	}
	if e := resp.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, fail(artifact.ErrUnavailable, what, "the server sent the encoding %q, which we did not ask for", e)
	}
	if resp.ContentLength > h.Limit {
		return nil, tooLarge(what, h.Limit)
	}
	var err error
	if f.Content, err = readAll(resp.Body, h.Limit); err != nil {
		return nil, fail(artifact.ErrUnavailable, what, "%w", err)
	}
	return answer(what, h.Limit, f, have)
}

// Close closes idle connections. The next fetch opens new ones.
func (h *web) Close() error {
	h.client.CloseIdleConnections()
	return nil
}

// status returns a status code with Go's text for it, not with the server's text.
func status(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}

// display returns the part of a URL that may be shown: no query, user or fragment.
func display(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
