package admin

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/server/proxy"
)

// proxyURL returns where the settings say that the proxy listens.
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

// urlPart returns the part of a file with JSON that is a URL at a path of keys. One that is
// there already stays, and is an error: the proxy has to know it, as the upstream of a
// dialect.
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
			return out.Hinted(t.fail(n.span.Start, "%s is there already", placeOf(path)),
				"take it out, and name what it says as proxy.upstream."+upstream+" in Carrel's own settings: carrel help config")
		}
		if _, err := t.root(); err != nil {
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

// set puts a value into the object at a path, before all others, with the objects on the
// way that are not there.
func (t *settingsText) set(dir []string, key string, value any) error {
	depth := len(dir)
	n, err := t.at(dir...)
	for err == nil && n == nil {
		depth--
		value, key = map[string]any{key: value}, dir[depth]
		n, err = t.at(dir[:depth]...)
	}
	switch {
	case err != nil:
		return err
	case n.kind != rawjson.Object:
		return t.fail(n.span.Start, "%s is no object", placeOf(dir[:depth]))
	}
	return t.insert(n, depth, key, value)
}

func newSetupOpenCode(j *job.Job) *cobra.Command {
	s := &setup{client: "opencode"}
	cmd := &cobra.Command{
		Use:   "opencode --mode proxy [--undo] [--print] [--scope user|project]",
		Short: "Let OpenCode send its calls through the proxy",
		Long: `Setup writes into the settings of OpenCode where it sends the calls to Anthropic and
OpenAI: to the address that "carrel proxy" listens at, which must run from then on
whenever OpenCode does. Other providers of OpenCode stay as they are.

` + setupLaw,
		Example:     "  carrel setup opencode --mode proxy\n  carrel setup opencode --mode proxy --undo",
		Annotations: job.WithoutFiles(),
		Args:        cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := errOf(s, "user", "project"); err != nil {
				return err
			}
			url, err := proxyURL(j)
			if err != nil {
				return err
			}
			f, err := openCodeFile(j, s.scope, url)
			if err != nil {
				return err
			}
			return changeSettings(j, s, []setupFile{*f})
		},
	}
	s.flags(cmd)
	s.proxyFlags(cmd)
	cmd.Flags().StringVar(&s.scope, "scope", "user", "whose settings: a `word`, user or project")
	job.Offer(cmd, "scope", "user", "project")
	return cmd
}

// proxyFlags gives a command the flag of a client that has nothing but the proxy of Carrel.
func (s *setup) proxyFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.mode, "mode", "proxy", "what is written: the `word` proxy")
	job.Offer(cmd, "mode", "proxy")
}

// errOf says what is wrong with the flags of a client that has nothing but the proxy of
// Carrel.
func errOf(s *setup, scopes ...string) error {
	if err := out.OneOf("--mode", s.mode, "proxy"); err != nil {
		return err
	}
	return out.OneOf("--scope", s.scope, scopes...)
}

// openCodeFile returns the settings of OpenCode with a proxy as what both providers are at.
func openCodeFile(j *job.Job, scope, url string) (*setupFile, error) {
	path, err := openCodePath(j, scope)
	part := func(provider, below string) setupPart {
		return urlPart(url+below+"/v1", provider, "provider", provider, "options", "baseURL")
	}
	return newSetupFile(path, part("anthropic", proxy.PathAnthropic), part("openai", proxy.PathOpenAI)), err
}

// openCodePath returns the path of the settings of OpenCode: of the file with comments if
// there is one.
func openCodePath(j *job.Job, scope string) (string, error) {
	dir, err := filepath.Abs(j.Path(""))
	if scope == "user" {
		dir = j.Getenv("XDG_CONFIG_HOME")
		if dir == "" {
			var home string
			home, err = homeOf(j, "XDG_CONFIG_HOME")
			dir = filepath.Join(home, ".config")
		}
		dir = filepath.Join(dir, "opencode")
	}
	if err != nil {
		return "", err
	}
	withComments := filepath.Join(dir, "opencode.jsonc")
	data, err := readIfThere(withComments)
	if data != nil || err != nil {
		return withComments, err
	}
	return filepath.Join(dir, "opencode.json"), nil
}
