package admin

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/server/proxy"
	"github.com/carrel-dev/carrel/transcript"
)

// codexClient is Codex.
func codexClient() *client {
	return &client{
		name: "codex", title: "Codex",
		does: `Setup writes a model provider into the settings of Codex, and makes it the one that is
used: "carrel proxy", which must run from then on whenever Codex does. It has the login
that Codex has. With one by ChatGPT, set proxy.upstream.openai in Carrel's own settings
to https://chatgpt.com/backend-api/codex.`,
		examples: []string{"codex --mode proxy", "codex --mode proxy --undo"},
		scopes:   []string{"user"},
		modes:    []string{modeProxy},
		pieces: func(w *writing) ([]piece, error) {
			home, err := agents.CodexHome(w.j.Getenv)
			if err != nil {
				return nil, out.Usagef("setup: neither CODEX_HOME nor HOME is set")
			}
			return []piece{{mode: modeProxy, path: filepath.Join(home, "config.toml"), part: codexPart(w.proxy)}}, nil
		},
	}
}

// What setup writes into a file with TOML stands between these lines.
const (
	codexBegin = "# carrel setup: begin\n"
	codexEnd   = "# carrel setup: end\n"
)

// codexPart returns the part of the settings of Codex that makes a proxy its provider. The
// name of the provider stands before everything, where no table has begun, and the table of
// the provider behind everything.
func codexPart(url string) setupPart {
	name := codexBegin + "model_provider = \"carrel\"\n" + codexEnd
	// The provider has no websockets: a proxy cannot read what goes through them.
	table := fmt.Sprintf("\n"+codexBegin+`[model_providers.carrel]
name = "OpenAI through Carrel"
base_url = %q
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
`+codexEnd, url+proxy.PathOpenAI+"/v1")
	with := func(file string, data []byte) ([]byte, error) {
		if err := checkTOML(file, data); err != nil {
			return nil, err
		}
		rest, err := withoutCodex(file, data)
		if err != nil {
			return nil, err
		}
		if err := noProvider(file, rest); err != nil {
			return nil, err
		}
		end := ""
		if len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n")) {
			end = "\n"
		}
		made := slices.Concat([]byte(name), rest, []byte(end+table))
		return made, checkTOML(file, made)
	}
	return setupPart{with, withoutCodex}
}

// withoutCodex returns the settings of Codex without what stands between our lines.
func withoutCodex(file string, data []byte) ([]byte, error) {
	rest := bytes.Clone(data)
	for {
		from := bytes.Index(rest, []byte(codexBegin))
		if from < 0 {
			return rest, nil
		}
		size := bytes.Index(rest[from:], []byte(codexEnd))
		if size < 0 {
			return nil, &transcript.SyntaxError{Name: file, Line: transcript.LineOf(rest, from), Text: "nothing ends what carrel setup wrote", Hint: "take it out by hand"}
		}
		to := from + size + len(codexEnd)
		if head := string(rest[:from]); to == len(rest) && (head == "\n" || strings.HasSuffix(head, "\n\n")) {
			from-- // the blank line that was written before it
		}
		rest = append(rest[:from], rest[to:]...)
	}
}

// noProvider fails if settings of Codex name a provider themselves.
func noProvider(file string, data []byte) error {
	var settings struct {
		Provider  string         `toml:"model_provider"`
		Providers map[string]any `toml:"model_providers"`
	}
	if err := toml.Unmarshal(data, &settings); err != nil {
		return tomlError(file, err)
	}
	switch {
	case settings.Provider != "":
		line := bytes.Index(data, []byte("model_provider"))
		return out.Hinted(&transcript.SyntaxError{Name: file, Line: transcript.LineOf(data, line), Text: fmt.Sprintf("model_provider is %q already", settings.Provider)},
			"take the line out, and name the base_url of that provider as proxy.upstream.openai in Carrel's own settings: carrel help config")
	case settings.Providers["carrel"] != nil:
		return &transcript.SyntaxError{Name: file, Text: "model_providers.carrel is there already, and setup did not write it"}
	}
	return nil
}

// checkTOML returns why a text is no TOML.
func checkTOML(file string, data []byte) error {
	var all map[string]any
	return tomlError(file, toml.Unmarshal(data, &all))
}

// tomlError returns an error of the library as one about a line of a file.
func tomlError(file string, err error) error {
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := e.Position()
		return &transcript.SyntaxError{Name: file, Line: line, Text: e.Error()}
	}
	return err
}
