package binding

import (
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/transcript"
)

// claudeCall is the member of _meta by which Claude Code says which call a call is.
const claudeCall = "claudecode/toolUseId"

// claude returns what Claude Code says in the environment of a server that it starts. It
// returns nil if there is nothing, or if the environment is not the server's own: what an
// agent runs, be it another client that starts servers, inherits the name and a mark beside it.
func claude(getenv func(string) string, _ Meta) *Said {
	name := getenv("CLAUDE_CODE_SESSION_ID")
	if name == "" || getenv("CLAUDE_CODE_CHILD_SESSION") != "" || strings.ContainsAny(name, `/\*?[`) {
		return nil
	}
	return &Said{Session: transcript.SessionID(name), Format: agents.Claude.Format, Find: func() string {
		projects, err := agents.ClaudeProjects(getenv)
		if err != nil {
			return ""
		}
		// A session has one file, in the folder of its project.
		found, err := filepath.Glob(filepath.Join(projects, "*", name+".jsonl"))
		if err != nil || len(found) != 1 {
			return ""
		}
		return found[0]
	}}
}

// Forking reports whether a hook that begins a session is told the wrong one: version
// 2.1.197 of Claude Code names the session that a fork comes from, and puts what the
// hook may set into the folder of the fork.
func Forking(getenv func(string) string, id transcript.SessionID) bool {
	file := getenv("CLAUDE_ENV_FILE")
	return file != "" && filepath.Base(filepath.Dir(file)) != string(id) &&
		filepath.Base(filepath.Dir(filepath.Dir(file))) == "session-env"
}
