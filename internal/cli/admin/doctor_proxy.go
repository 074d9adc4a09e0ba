package admin

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/server/proxy"
)

// proxy checks whether a proxy listens at each address to which agents send calls. Without it
// these agents cannot work at all.
func (d *doctor) proxy(ctx context.Context) doctorCheck {
	present, err := proxyURL(d.j)
	if err != nil {
		return doctorCheck{"proxy", stateFail, "its address is not known: the settings cannot be read", "see above"}
	}
	all, err := d.proxied()
	switch {
	case err != nil:
		return doctorCheck{"proxy", stateFail, err.Error(), "repair the file: the client cannot read it either"}
	case all == nil:
		return doctorCheck{Name: "proxy", State: stateOK, Detail: "no agent is set up to send its calls through it"}
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	var details []string
	for _, p := range all {
		if proxy.Listening(ctx, strings.TrimPrefix(p.url, "http://")) != nil {
			setup := "carrel setup " + p.clients[0] + " --mode proxy"
			advice := "start it: carrel proxy; or take it out: " + setup + " --undo"
			if p.url != present {
				advice = "take the address out with " + setup + " --undo; without --undo the command then writes that of your settings, " + present
			}
			return doctorCheck{"proxy", stateFail, fmt.Sprintf("%s sends its calls to %s, where nothing listens", out.WordList(p.clients), p.url), advice}
		}
		details = append(details, out.WordList(p.clients)+" through "+p.url)
	}
	return doctorCheck{Name: "proxy", State: stateOK, Detail: strings.Join(details, "; ")}
}

// A proxied has the clients whose settings name one address of the proxy.
type proxied struct {
	url     string // without a path
	clients []string
}

// proxied returns the addresses of the proxy that the settings of clients name, for the user or in
// this folder.
func (d *doctor) proxied() (all []proxied, err error) {
	for _, c := range clients() {
		err := d.eachPiece(c, func(p *piece, data []byte) error {
			if p.part.url == nil {
				return nil
			}
			there, err := p.part.url(p.path, data)
			if err != nil {
				return err
			}
			u, err := url.Parse(there)
			if err != nil {
				return err
			}
			base := u.Scheme + "://" + u.Host
			i := slices.IndexFunc(all, func(q proxied) bool { return q.url == base })
			if i < 0 {
				i = len(all)
				all = append(all, proxied{url: base})
			}
			if !slices.Contains(all[i].clients, c.name) {
				all[i].clients = append(all[i].clients, c.name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// installed returns the modes of setup that are in a client's settings, for the user or in this
// folder.
func (d *doctor) installed(c *client) (modes []string, err error) {
	err = d.eachPiece(c, func(p *piece, _ []byte) error {
		if !slices.Contains(modes, p.mode) {
			modes = append(modes, p.mode)
		}
		return nil
	})
	return modes, err
}

// eachPiece calls a function for each piece of setup that is in a client's settings, for the user
// or in this folder. data is the content of the file with the piece.
func (d *doctor) eachPiece(c *client, do func(p *piece, data []byte) error) error {
	for _, scope := range c.scopes {
		pieces, err := c.written(d.j, scope)
		if err != nil {
			return err
		}
		for i := range pieces {
			p := &pieces[i]
			data, err := readIfThere(p.path)
			if err != nil {
				return err
			}
			without, err := (&setupFile{path: p.path, parts: []setupPart{p.part}}).without(data)
			if err == nil && !bytes.Equal(data, without) {
				err = do(p, data)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
