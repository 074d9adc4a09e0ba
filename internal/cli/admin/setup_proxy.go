package admin

import (
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

// urlPart returns the part of a JSON file that sets a URL at a path of keys. Adding the part fails
// if another URL is already there; the hint is to set that URL as an upstream in Carrel's own
// settings.
func urlPart(url, upstream string, path ...string) setupPart {
	dir, key := path[:len(path)-1], path[len(path)-1]
	is := func(t *settingsText) (n *node, ours bool, err error) {
		if n, err = t.at(path...); err != nil || n == nil {
			return n, false, err
		}
		return n, n.kind == rawjson.String && sameJSON(n.span.Of(t.plain()), rawjson.AppendString(nil, url)), nil
	}
	add := func(t *settingsText) error {
		n, ours, err := is(t)
		switch {
		case err != nil || ours:
			return err
		case n != nil:
			return out.Hinted(t.fail(n.span.Start, "%s is set already, and setup did not write it", placeOf(path)),
				"remove it, and set proxy.upstream."+upstream+" to its value in Carrel's own settings: carrel help config")
		}
		if err := t.isObject(); err != nil {
			return err
		}
		return t.set(dir, key, url)
	}
	drop := func(t *settingsText) error {
		if _, ours, err := is(t); err != nil || !ours {
			return err
		}
		return t.cutMember(dir, key)
	}
	return jsonPart(add, drop)
}
