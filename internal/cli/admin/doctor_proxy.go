package admin

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/server/proxy"
)

// proxy checks whether a proxy listens at the address to which agents send calls. Without it
// these agents cannot work at all.
func (d *doctor) proxy(ctx context.Context) doctorCheck {
	c := doctorCheck{Name: "proxy", State: stateOK}
	url, err := proxyURL(d.j)
	if err != nil {
		return doctorCheck{"proxy", stateFail, "its address is not known: the settings cannot be read", "see above"}
	}
	names, err := d.proxied()
	switch {
	case err != nil:
		return doctorCheck{"proxy", stateFail, err.Error(), "repair the file: the client cannot read it either"}
	case names == nil:
		c.Detail = "no agent is set up to send its calls through it"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	if proxy.Listening(ctx, strings.TrimPrefix(url, "http://")) != nil {
		return doctorCheck{
			"proxy", stateFail, fmt.Sprintf("%s sends its calls to %s, where nothing listens", out.WordList(names), url),
			"start it: carrel proxy; or take it out: carrel setup " + names[0] + " --mode proxy --undo",
		}
	}
	c.Detail = out.WordList(names) + " through " + url
	return c
}

// proxied returns the clients whose settings name the proxy, for the user or in this folder.
func (d *doctor) proxied() (names []string, err error) {
	for _, c := range clients() {
		in, err := d.installed(c)
		if err != nil {
			return nil, err
		}
		if slices.Contains(in, modeProxy) {
			names = append(names, c.name)
		}
	}
	return names, nil
}

// installed returns the modes of setup that are in a client's settings, for the user or in this
// folder.
func (d *doctor) installed(c *client) (modes []string, err error) {
	for _, scope := range c.scopes {
		pieces, err := c.written(d.j, scope)
		if err != nil {
			return nil, err
		}
		for i := range pieces {
			p := &pieces[i]
			data, err := readIfThere(p.path)
			if err != nil {
				return nil, err
			}
			without, err := (&setupFile{path: p.path, parts: []setupPart{p.part}}).without(data)
			if err != nil {
				return nil, err
			}
			if !bytes.Equal(data, without) && !slices.Contains(modes, p.mode) {
				modes = append(modes, p.mode)
			}
		}
	}
	return modes, nil
}
