package binding

import (
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/transcript"
)

// claudeCall is the key in _meta under which Claude Code sends the id of a call.
const claudeCall = "claudecode/toolUseId"

// claude returns the session that Claude Code names in the environment of a server that it
// started, or nil. It returns nil if CLAUDE_CODE_CHILD_SESSION is set, because programs that an
// agent runs inherit the variables of their agent.
func claude(getenv func(string) string, _ Meta) *ClientSession {
	name := getenv("CLAUDE_CODE_SESSION_ID")
	if name == "" || getenv("CLAUDE_CODE_CHILD_SESSION") != "" || strings.ContainsAny(name, `/\*?[`) {
		return nil
	}
	return &ClientSession{Session: transcript.SessionID(name), Format: agents.Claude.Format, Find: func() string {
		projects, err := agents.ClaudeProjects(getenv)
		if err != nil {
			return ""
		}
		// A session has one file, in the folder of its project.
		found, _ := filepath.Glob(filepath.Join(projects, "*", name+".jsonl")) // the pattern is valid
		if len(found) != 1 {
			return ""
		}
		return found[0]
	}}
}

// Forking reports whether a hook at the start of a session got the wrong session id: for a fork,
// version 2.1.197 of Claude Code sends the id of the original session, but names a file in the
// folder of the fork in CLAUDE_ENV_FILE.
func Forking(getenv func(string) string, id transcript.SessionID) bool {
	file := getenv("CLAUDE_ENV_FILE")
	return file != "" && filepath.Base(filepath.Dir(file)) != string(id) &&
		filepath.Base(filepath.Dir(filepath.Dir(file))) == "session-env"
}
