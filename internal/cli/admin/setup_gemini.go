package admin

import (
	"path/filepath"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// geminiClient returns the client Gemini CLI.
func geminiClient() *client {
	return &client{
		name: "gemini", title: "Gemini CLI",
		does: `Setup writes the hooks, the MCP server and the skill of Carrel into the settings of
Gemini CLI: into yours, or with --scope project into those of this folder, for everybody who works
in it and trusts it. There is no --mode proxy: "carrel proxy" does not speak the Gemini API, so it
can neither manage nor record these calls. The hooks shorten large results of tools.`,
		examples: []string{"gemini --print", "gemini --scope project --mode mcp --yes", "gemini --undo"},
		scopes:   []string{"user", "project"},
		modes:    []string{modeAll, modeHooks, modeMCP},
		cannot: map[string]string{
			modeProxy: `the proxy does not speak the Gemini API, so it could neither manage nor record the calls of Gemini CLI; hooks shorten large results: --mode hooks`,
		},
		doctor: &agentDoctor{
			agent: agents.Gemini, calls: "hooks",
			homes: func(j *job.Job) ([]string, error) {
				home, err := agents.GeminiHome(j.Getenv)
				return []string{home}, err
			},
			programs: func(j *job.Job, scope string) (map[string]string, string, error) {
				dir, err := geminiFolder(j, scope)
				if err != nil {
					return nil, "", err
				}
				return hooksIn(geminiHooks(), filepath.Join(dir, "settings.json"))
			},
			events: geminiHooks().names(), event: "BeforeAgent", input: `{"prompt":"x"}`,
		},
		pieces: func(w *writing) ([]piece, error) {
			dir, err := geminiFolder(w.j, w.scope)
			settings := filepath.Join(dir, "settings.json")
			return []piece{
				{mode: modeHooks, path: settings, part: geminiHooks().part(w.program)},
				{mode: modeMCP, path: settings, part: geminiServer().part(w.program)},
				skillPiece(filepath.Join(dir, "skills")),
			}, err
		},
	}
}

// geminiFolder returns the folder with the settings and skills of Gemini CLI.
func geminiFolder(j *job.Job, scope string) (string, error) {
	if scope != "user" {
		here, err := filepath.Abs(j.Path(""))
		return filepath.Join(here, ".gemini"), err
	}
	dir, err := agents.GeminiHome(j.Getenv)
	if err != nil {
		return "", out.Usagef("setup: neither GEMINI_CLI_HOME nor HOME is set")
	}
	return dir, nil
}

// geminiHooks returns the hooks of Gemini CLI, one for each event that Carrel answers. Gemini CLI
// counts the timeout of a hook in milliseconds.
func geminiHooks() *hookTable {
	return &hookTable{client: "gemini", limit: 10_000, events: []hookEvent{
		{name: "SessionStart"},
		{name: "BeforeAgent"},
		{name: "AfterTool", matcher: "*"},
		{name: "AfterAgent"},
		{name: "SessionEnd"},
	}}
}

// geminiStdio is an MCP server in the settings of Gemini CLI.
type geminiStdio struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func geminiServer() *serverEntry {
	return &serverEntry{
		under:   "mcpServers",
		value:   func(program string) any { return geminiStdio{program, []string{"mcp"}} },
		program: stdioProgram,
	}
}
