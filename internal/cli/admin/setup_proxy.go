package admin

import (
	"encoding/json"
	"net/netip"
	"net/url"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

// proxyURL returns the URL of the proxy, as the settings give it.
func proxyURL(j *job.Job) (string, error) {
	src, err := j.Sources()
	if err != nil {
		return "", err
	}
	s, err := config.Load(src)
	if err != nil {
		return "", err
	}
	return "http://" + s.Proxy().Listen, nil
}

// urlPart returns the part of a JSON file that sets a URL of the proxy at a path of keys. Adding the
// part fails if another URL is already there; the hint is to set that URL as an upstream in Carrel's
// own settings. Taking the part out also takes out a URL that isProxy accepts.
func urlPart(address, upstream string, path ...string) setupPart {
	dir, key := path[:len(path)-1], path[len(path)-1]
	find := func(t *settingsText) (n *node, text string, err error) {
		if n, err = t.at(path...); err == nil && n != nil && n.kind == rawjson.String {
			err = json.Unmarshal(n.span.Of(t.plain()), &text)
		}
		return n, text, err
	}
	add := func(t *settingsText) error {
		n, there, err := find(t)
		switch {
		case err != nil || there == address:
			return err
		case isProxy(there, address):
			return out.Hinted(t.fail(n.span.Start, "%s is set to %s already", placeOf(path), there),
				"if the proxy had this address before, take it out with --undo and run setup again; if another program listens there, remove it, and set proxy.upstream."+upstream+" to it: carrel help config")
		case n != nil:
			return out.Hinted(t.fail(n.span.Start, "%s is set already, and setup did not write it", placeOf(path)),
				"remove it, and set proxy.upstream."+upstream+" to its value in Carrel's own settings: carrel help config")
		}
		if err := t.isObject(); err != nil {
			return err
		}
		return t.set(dir, key, address)
	}
	drop := func(t *settingsText) error {
		if _, there, err := find(t); !isProxy(there, address) {
			return err
		}
		return t.cutMember(dir, key)
	}
	part := jsonPart(add, drop)
	part.url = func(name string, data []byte) (string, error) {
		_, there, err := find(&settingsText{name: name, data: data})
		return there, err
	}
	return part
}

// isProxy reports whether a URL in the settings of a client is that of the proxy, now or before
// proxy.listen was changed: it has the scheme and the path of the present URL, and the same host or
// a loopback address with any port.
func isProxy(there, present string) bool {
	a, err := url.Parse(there)
	if err != nil {
		return false
	}
	ip, _ := netip.ParseAddr(a.Hostname()) // the zero address for a name
	b, err := url.Parse(present)
	return err == nil && a.Scheme == b.Scheme && a.Path == b.Path && a.Port() != "" &&
		(a.Hostname() == b.Hostname() || ip.IsLoopback())
}
