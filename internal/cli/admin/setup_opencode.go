package admin

import (
	"path/filepath"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/server/proxy"
)

// openCodeClient is OpenCode.
func openCodeClient() *client {
	return &client{
		name: "opencode", title: "OpenCode",
		does: `Setup writes into the settings of OpenCode where it sends the calls to Anthropic and
OpenAI: to the address that "carrel proxy" listens at, which must run from then on
whenever OpenCode does. Other providers of OpenCode stay as they are.`,
		examples: []string{"opencode --mode proxy", "opencode --mode proxy --undo"},
		scopes:   []string{"user", "project"},
		modes:    []string{modeProxy},
		pieces: func(w *writing) ([]piece, error) {
			path, err := openCodePath(w.j, w.scope)
			part := func(provider, below string) piece {
				return piece{mode: modeProxy, path: path, part: urlPart(w.proxy+below+"/v1", provider, "provider", provider, "options", "baseURL")}
			}
			return []piece{part("anthropic", proxy.PathAnthropic), part("openai", proxy.PathOpenAI)}, err
		},
	}
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
