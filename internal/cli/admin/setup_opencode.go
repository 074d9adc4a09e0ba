package admin

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/plugin"
	"github.com/carrel-dev/carrel/server/proxy"
	"github.com/carrel-dev/carrel/transcript"
)

// openCodeClient returns the client OpenCode.
func openCodeClient() *client {
	return &client{
		name: "opencode", title: "OpenCode",
		does: `Setup writes a plug-in that calls "carrel hook", the MCP server and the skill of
Carrel into the folder of OpenCode's settings: into yours, or with --scope project into that of
this folder, for everybody who works in it. On a machine without carrel the plug-in does nothing.

With --mode proxy it writes instead the address of "carrel proxy" as the address to which OpenCode
sends its calls to Anthropic and OpenAI. The proxy must then run whenever OpenCode does. After the
proxy's address has changed, --undo takes the earlier one, http://127.0.0.1:PORT/anthropic/v1 or
http://127.0.0.1:PORT/openai/v1, out. Other providers of OpenCode stay as they are.`,
		examples: []string{"opencode --print", "opencode --scope project --mode mcp --yes", "opencode --mode proxy", "opencode --undo"},
		scopes:   []string{"user", "project"},
		modes:    []string{modeAll, modeHooks, modeMCP, modeProxy},
		pieces: func(w *writing) ([]piece, error) {
			path, err := openCodePath(w.j, w.scope)
			if err != nil {
				return nil, err
			}
			dir := openCodeFolder(path, w.scope)
			url := func(provider, below string) piece {
				return piece{mode: modeProxy, path: path, part: urlPart(w.proxy+below+"/v1", provider, "provider", provider, "options", "baseURL")}
			}
			return []piece{
				{mode: modeHooks, path: openCodePluginPath(path, w.scope), part: openCodePlugin(w.program)},
				{mode: modeMCP, path: path, part: openCodeServer().part(w.program)},
				skillPiece(filepath.Join(dir, "skills")),
				url("anthropic", proxy.PathAnthropic), url("openai", proxy.PathOpenAI),
			}, nil
		},
		doctor: openCodeDoctor(),
	}
}

func openCodeDoctor() *agentDoctor {
	return &agentDoctor{
		agent: agents.OpenCode, calls: "plug-in",
		homes: func(j *job.Job) ([]string, error) {
			settings, err := openCodePath(j, "user")
			if err != nil {
				return nil, err
			}
			folders, err := agents.OpenCode.Folders(j.Getenv)
			return append(folders, filepath.Dir(settings)), err
		},
		programs: func(j *job.Job, scope string) (map[string]string, string, error) {
			settings, err := openCodePath(j, scope)
			if err != nil {
				return nil, "", err
			}
			path := openCodePluginPath(settings, scope)
			data, err := readIfThere(path)
			if err != nil || pluginProgram(data) == "" {
				return nil, path, err
			}
			return map[string]string{"session.start": pluginProgram(data)}, path, nil
		},
		event: "session.start", input: `{}`,
	}
}

// openCodeFolder returns the folder in which OpenCode looks for plug-ins and skills. For a project
// it is .opencode beside the settings; otherwise it is the folder of the settings.
func openCodeFolder(settings, scope string) string {
	dir := filepath.Dir(settings)
	if scope == "project" {
		return filepath.Join(dir, ".opencode")
	}
	return dir
}

// openCodePluginPath returns the path of the plug-in, given the path of the settings.
func openCodePluginPath(settings, scope string) string {
	return filepath.Join(openCodeFolder(settings, scope), "plugin", "carrel.js")
}

// openCodeLocal is an MCP server in the settings of OpenCode.
type openCodeLocal struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
}

func openCodeServer() *serverEntry {
	return &serverEntry{
		under: "mcp",
		value: func(program string) any { return openCodeLocal{"local", []string{program, "mcp"}} },
		program: func(raw []byte) (string, bool) {
			var s openCodeLocal
			if json.Unmarshal(raw, &s) != nil || len(s.Command) != 2 {
				return "", false
			}
			return s.Command[0], ourProgram(s.Command[0]) && s.Command[1] == "mcp"
		},
	}
}

// openCodeProgram begins the line of the plug-in that contains the path or name of Carrel's
// program.
const openCodeProgram = "const program = "

// openCodePlugin returns the file of the plug-in. It replaces an older plug-in of Carrel, and
// fails if the file is not Carrel's.
func openCodePlugin(program string) setupPart {
	return setupPart{
		with: func(file string, data []byte) ([]byte, error) {
			if len(bytes.TrimSpace(data)) > 0 && !ourPlugin(data) {
				return nil, out.Hinted(&transcript.SyntaxError{Name: file, Text: "setup did not write this plug-in and does not replace it"}, "rename it; or set up without the plug-in: --mode mcp")
			}
			line := rawjson.AppendString([]byte(openCodeProgram), program)
			return bytes.Replace(plugin.OpenCode, []byte(openCodeProgram+`"carrel"`), line, 1), nil
		},
		without: func(_ string, data []byte) ([]byte, error) {
			if ourPlugin(data) {
				return nil, nil
			}
			return data, nil
		},
	}
}

// ourPlugin reports whether a file is Carrel's plug-in, of any version.
func ourPlugin(data []byte) bool {
	first, _, _ := bytes.Cut(plugin.OpenCode, []byte("\n"))
	return bytes.HasPrefix(data, first)
}

// pluginProgram returns the program that Carrel's plug-in calls, or "".
func pluginProgram(data []byte) string {
	_, rest, _ := bytes.Cut(data, []byte("\n"+openCodeProgram))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	var program string
	if !ourPlugin(data) || json.Unmarshal(line, &program) != nil {
		return ""
	}
	return program
}

// openCodePath returns the path of OpenCode's settings. OpenCode reads one of two files; if the one
// that may have comments exists, its path is returned.
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
