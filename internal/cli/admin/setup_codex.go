package admin

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/server/proxy"
	"github.com/carrel-dev/carrel/transcript"
)

// codexClient returns the client Codex.
func codexClient() *client {
	return &client{
		name: "codex", title: "Codex",
		does: `Setup writes the hooks, the MCP server and the skill of Carrel into the settings of
Codex: into yours, or with --scope project into those of this folder, for everybody who works in
it and trusts it. Codex runs a new hook only after you have reviewed the hook: Codex asks at its
next start, and its command /hooks lists them.

With --mode proxy it writes instead "carrel proxy" as the model provider that Codex uses. The
proxy must then run whenever Codex does. It forwards the login of Codex; for a login by ChatGPT,
set proxy.upstream.openai in your settings of Carrel to https://chatgpt.com/backend-api/codex. The
settings of a project cannot choose a provider.`,
		examples: []string{"codex --print", "codex --mode hooks --yes", "codex --mode proxy", "codex --undo"},
		scopes:   []string{"user", "project"},
		modes:    []string{modeAll, modeHooks, modeMCP, modeProxy},
		pieces: func(w *writing) ([]piece, error) {
			dir, err := codexDir(w.j, w.scope)
			config := filepath.Join(dir, "config.toml")
			pieces := []piece{
				{mode: modeHooks, path: filepath.Join(dir, "hooks.json"), part: codexHooks().part(w.program)},
				{mode: modeMCP, path: config, part: codexServer(w.program)},
				skillPiece(filepath.Join(dir, "skills")),
			}
			if w.scope == "user" {
				pieces = append(pieces, piece{mode: modeProxy, path: config, part: codexPart(w.proxy)})
			}
			return pieces, err
		},
		after: func(mode string) string {
			if mode == modeAll || mode == modeHooks {
				return "Codex runs the hooks once you have reviewed them: start it, and say yes, or open /hooks"
			}
			return ""
		},
		doctor: codexDoctor(),
	}
}

// codexDir returns the folder with the settings of Codex.
func codexDir(j *job.Job, scope string) (string, error) {
	if scope != "user" {
		here, err := filepath.Abs(j.Path(""))
		return filepath.Join(here, ".codex"), err
	}
	dir, err := agents.CodexHome(j.Getenv)
	if err != nil {
		return "", out.Usagef("setup: neither CODEX_HOME nor HOME is set")
	}
	return dir, nil
}

// codexHooks returns the events of Codex that Carrel answers. The limit is in seconds.
func codexHooks() *hookTable {
	return &hookTable{client: "codex", limit: 10, events: []hookEvent{
		{name: "SessionStart"},
		{name: "PostToolUse", matcher: "Bash|mcp__.*"},
		{name: "PreCompact"},
		{name: "PostCompact", async: true},
		{name: "UserPromptSubmit", async: true},
		{name: "Stop"},
		{name: "SubagentStop", async: true},
		{name: "SessionEnd"},
	}}
}

// In a TOML file, setup puts what it writes between a begin line and an end line. The lines
// around the server end with " server"; those around the provider have no suffix.
const (
	codexBegin = "# carrel setup: begin"
	codexEnd   = "# carrel setup: end"
)

// between returns text enclosed in two lines, with which setup marks the begin and end of its own
// part of a file. Both lines end with a suffix, the first argument. Parts with different suffixes
// can stand in one file.
func between(of, text string) string {
	return codexBegin + of + "\n" + text + codexEnd + of + "\n"
}

// ofServer is the suffix of the marking lines around the settings of the MCP server; see between.
const ofServer = " server"

// codexServer returns the MCP server for the settings of Codex. Codex passes few variables to a
// server; the server needs CODEX_HOME to find the sessions.
func codexServer(program string) setupPart {
	table := between(ofServer, fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = [\"mcp\"]\nenv_vars = [\"CODEX_HOME\"]\n", serverName, tomlString(program)))
	with := func(file string, data []byte) ([]byte, error) {
		rest, err := withoutLines(ofServer, file, data)
		if err != nil || hasOnly(data, ofServer, table) {
			return data, err
		}
		var settings struct {
			Servers map[string]any `toml:"mcp_servers"`
		}
		if err := toml.Unmarshal(rest, &settings); err != nil {
			return nil, tomlError(file, err)
		}
		if settings.Servers[serverName] != nil {
			return nil, out.Hinted(&transcript.SyntaxError{Name: file, Text: "mcp_servers." + serverName + " is there already, and setup did not write it"},
				"take it out: codex mcp remove "+serverName)
		}
		made := append(endLine(rest), "\n"+table...)
		return made, checkTOML(file, made)
	}
	return setupPart{with: with, without: func(file string, data []byte) ([]byte, error) { return withoutLines(ofServer, file, data) }}
}

// tomlString returns s as a TOML string. If s contains no single quotes, it is put in single
// quotes; otherwise it is quoted with escapes.
func tomlString(s string) string {
	if strings.ContainsAny(s, "'\n") {
		return strconv.Quote(s)
	}
	return "'" + s + "'"
}

// endLine returns data, with a line end appended to a copy if it lacks one.
func endLine(data []byte) []byte {
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		return append(slices.Clone(data), '\n')
	}
	return slices.Clone(data)
}

// codexPart returns the settings that make a proxy the provider of Codex. The name of the
// provider goes to the start of the file, before any table, and the table of the provider to the
// end.
func codexPart(url string) setupPart {
	name := between("", "model_provider = \"carrel\"\n")
	// The provider has no websockets, because a proxy cannot read their content.
	table := between("", fmt.Sprintf(`[model_providers.carrel]
name = "OpenAI through Carrel"
base_url = %q
wire_api = "responses"
requires_openai_auth = true
supports_websockets = false
`, url+proxy.PathOpenAI+"/v1"))
	with := func(file string, data []byte) ([]byte, error) {
		if err := checkTOML(file, data); err != nil {
			return nil, err
		}
		rest, err := withoutLines("", file, data)
		if err != nil || hasOnly(data, "", name, table) {
			return data, err
		}
		if err := noProvider(file, rest); err != nil {
			return nil, err
		}
		made := slices.Concat([]byte(name), endLine(rest), []byte("\n"+table))
		return made, checkTOML(file, made)
	}
	return setupPart{with: with, without: func(file string, data []byte) ([]byte, error) { return withoutLines("", file, data) }, url: codexURL}
}

// codexURL returns the base URL of the provider in the settings of Codex.
func codexURL(file string, data []byte) (string, error) {
	var settings struct {
		Providers map[string]struct {
			URL string `toml:"base_url"`
		} `toml:"model_providers"`
	}
	err := toml.Unmarshal(data, &settings)
	return settings.Providers["carrel"].URL, tomlError(file, err)
}

// hasOnly reports whether each of the given parts is in data, and no other part that [between] has
// enclosed with the same suffix.
func hasOnly(data []byte, of string, parts ...string) bool {
	for _, p := range parts {
		if !bytes.Contains(data, []byte(p)) {
			return false
		}
	}
	return bytes.Count(data, []byte(codexBegin+of+"\n")) == len(parts)
}

// withoutLines removes from data each part that [between] has enclosed with the given suffix, and
// the two lines that enclose it.
func withoutLines(of, file string, data []byte) ([]byte, error) {
	rest := bytes.Clone(data)
	begin, end := []byte(codexBegin+of+"\n"), []byte(codexEnd+of+"\n")
	for {
		from := bytes.Index(rest, begin)
		if from < 0 {
			return rest, nil
		}
		size := bytes.Index(rest[from:], end)
		if size < 0 {
			return nil, &transcript.SyntaxError{Name: file, Line: transcript.LineOf(rest, from), Text: "the line that ends what setup wrote is missing", Hint: "remove by hand what setup wrote, from this line on"}
		}
		to := from + size + len(end)
		table := rest[from+len(begin)] == '['
		if head := string(rest[:from]); table && (head == "\n" || strings.HasSuffix(head, "\n\n")) {
			from-- // the blank line that setup writes before a table
		}
		rest = append(rest[:from], rest[to:]...)
	}
}

// providerKey matches the beginning of the line that names the provider.
var providerKey = lazy.Regexp(`(?m)^[ \t]*["']?model_provider["']?[ \t]*=`)

// noProvider returns an error if the settings of Codex already name a provider.
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
		e := &transcript.SyntaxError{Name: file, Text: fmt.Sprintf("model_provider is set to %q, and setup does not replace it", settings.Provider)}
		if at := providerKey.Get().FindIndex(data); at != nil {
			e.Line = transcript.LineOf(data, at[0])
		}
		return out.Hinted(e, "take the line out, and name the base_url of that provider as proxy.upstream.openai in Carrel's own settings: carrel help config")
	case settings.Providers["carrel"] != nil:
		return &transcript.SyntaxError{Name: file, Text: "model_providers.carrel is there already, and setup did not write it", Hint: "rename or remove that provider"}
	}
	return nil
}

// checkTOML returns an error if a text is not TOML.
func checkTOML(file string, data []byte) error {
	var all map[string]any
	return tomlError(file, toml.Unmarshal(data, &all))
}

// tomlError converts an error of the TOML library to one with the file and line.
func tomlError(file string, err error) error {
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := e.Position()
		return &transcript.SyntaxError{Name: file, Line: line, Text: e.Error()}
	}
	return err
}
