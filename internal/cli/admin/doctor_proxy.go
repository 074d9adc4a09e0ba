package admin

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/server/proxy"
)

// proxy looks whether a proxy listens where agents send their calls. An agent whose proxy
// does not listen cannot work at all.
func (d *doctor) proxy(ctx context.Context) doctorCheck {
	c := doctorCheck{Name: "proxy", State: stateOK}
	url, err := proxyURL(d.j)
	if err != nil {
		return doctorCheck{"proxy", stateFail, "its address is not known: the settings cannot be read", "see above"}
	}
	clients, err := d.proxied(url)
	switch {
	case err != nil:
		return doctorCheck{"proxy", stateFail, err.Error(), "repair the file: the client cannot read it either"}
	case clients == nil:
		c.Detail = "no agent is set up to send its calls through it"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	if proxy.Listening(ctx, strings.TrimPrefix(url, "http://")) != nil {
		return doctorCheck{
			"proxy", stateFail, fmt.Sprintf("%s sends its calls to %s, where nothing listens", strings.Join(clients, " and "), url),
			"start it: carrel proxy; or take it out: carrel setup " + clients[0] + " --mode proxy --undo",
		}
	}
	c.Detail = strings.Join(clients, " and ") + " through " + url
	return c
}

// proxied returns the clients whose settings name a proxy, of the user and of this folder.
func (d *doctor) proxied(url string) (clients []string, err error) {
	var files []setupFile
	var names []string
	add := func(name string, f *setupFile) { files, names = append(files, *f), append(names, name) }
	for _, scope := range []string{"user", "project"} {
		paths, err := claudePaths(d.j, scope)
		if err != nil {
			return nil, err
		}
		add("claude", newSetupFile(paths[0], claudeURL(url)))
		f, err := openCodeFile(d.j, scope, url)
		if err != nil {
			return nil, err
		}
		add("opencode", f)
	}
	f, err := codexFile(d.j, url)
	if err != nil {
		return nil, err
	}
	add("codex", f)
	for i := range files {
		data, err := readIfThere(files[i].path)
		if err != nil {
			return nil, err
		}
		without, err := files[i].without(data)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(data, without) {
			clients = append(clients, names[i])
		}
	}
	slices.Sort(clients)
	return slices.Compact(clients), nil
}
