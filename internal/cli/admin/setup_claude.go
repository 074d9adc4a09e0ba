package admin

import (
	"path/filepath"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/server/proxy"
)

// claudeClient returns the client Claude Code.
func claudeClient() *client {
	return &client{
		name: "claude", title: "Claude Code",
		does: `Setup writes the hooks, the MCP server and the skill of Carrel into the settings of
Claude Code: into yours, or with --scope project into those of this folder, for everybody who
works in it. Carrel needs Claude Code ` + LowestClaude + ` or newer: if the claude on the PATH is
older, the exit code is 9 and nothing is changed.

With --mode proxy it writes instead the address of "carrel proxy" as the address to which
Claude Code sends its calls. The proxy must then run whenever Claude Code does; "carrel
doctor" warns if it does not. After the proxy's address has changed, --undo takes the earlier one,
http://127.0.0.1:PORT/anthropic, out. "carrel run -- claude" needs no setup at all.`,
		examples: []string{"claude --print", "claude --scope project --mode mcp --yes", "claude --mode proxy", "claude --undo"},
		scopes:   []string{"user", "project"},
		modes:    []string{modeAll, modeHooks, modeMCP, modeProxy},
		ready:    newEnough,
		pieces: func(w *writing) ([]piece, error) {
			at, err := claudePaths(w.j, w.scope)
			return []piece{
				{mode: modeHooks, path: at.settings, part: claudeHooks().part(w.program)},
				{mode: modeProxy, path: at.settings, part: claudeURL(w.proxy)},
				{mode: modeMCP, path: at.servers, part: claudeServer().part(w.program)},
				skillPiece(at.skills),
			}, err
		},
	}
}

// claudeHooks returns the events that Carrel answers. Carrel's plug-in for Claude Code has the same
// events. The limit is in seconds.
func claudeHooks() *hookTable {
	return &hookTable{client: "claude", limit: 10, events: []hookEvent{
		{name: "SessionStart"},
		{name: "PostToolUse", matcher: "Bash|PowerShell|Read|Grep|WebFetch|Agent|Task|ReadMcpResource|ReadMcpResourceTool|mcp__.*"},
		{name: "PreCompact"},
		{name: "PostCompact", async: true},
		{name: "UserPromptSubmit", async: true},
		{name: "Stop"},
		{name: "SessionEnd"},
	}}
}

// stdioServer is an MCP server in the settings of Claude Code.
type stdioServer struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func claudeServer() *serverEntry {
	return &serverEntry{
		under:   "mcpServers",
		value:   func(program string) any { return stdioServer{"stdio", program, []string{"mcp"}} },
		program: stdioProgram,
	}
}

// claudeURL returns the setting with the base URL for Claude Code's calls.
func claudeURL(url string) setupPart {
	return urlPart(url+proxy.PathAnthropic, "anthropic", "env", "ANTHROPIC_BASE_URL")
}

// claudeFiles are the paths of Claude Code's files.
type claudeFiles struct {
	settings string
	servers  string // file with the MCP servers
	skills   string // folder of the skills
}

func claudePaths(j *job.Job, scope string) (*claudeFiles, error) {
	if scope != "user" {
		here, err := filepath.Abs(j.Path(""))
		dir := filepath.Join(here, ".claude")
		return &claudeFiles{filepath.Join(dir, "settings.json"), filepath.Join(here, ".mcp.json"), filepath.Join(dir, "skills")}, err
	}
	if dir := j.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return &claudeFiles{filepath.Join(dir, "settings.json"), filepath.Join(dir, ".claude.json"), filepath.Join(dir, "skills")}, nil
	}
	home, err := homeOf(j, "CLAUDE_CONFIG_DIR")
	dir := filepath.Join(home, ".claude")
	return &claudeFiles{filepath.Join(dir, "settings.json"), filepath.Join(home, ".claude.json"), filepath.Join(dir, "skills")}, err
}
