package agents

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// Claude is Claude Code. The transcript of a sub-agent is a session of its own, in a folder
// beside the session that started the sub-agent.
var Claude = &Agent{
	Name: "claude", Title: "Claude Code", Format: "claudecode",
	Folders: func(env Getenv) ([]string, error) {
		dir, err := ClaudeProjects(env)
		return []string{dir}, err
	},
	Sessions: func(path string) ([]Source, error) {
		list, err := Files(path, isLines, everyFolder)
		return slices.DeleteFunc(list, func(s Source) bool { return besideClaude(s.Name) }), err
	},
	NewFile: newClaude,
}

// ClaudeProjects returns the folder in which Claude Code has a folder of sessions for each
// project.
func ClaudeProjects(env Getenv) (string, error) {
	dir, err := dirOf(env, "CLAUDE_CONFIG_DIR", ".claude")
	return filepath.Join(dir, "projects"), err
}

// isLines reports whether the name of a file is that of JSON lines.
func isLines(name string) bool { return filepath.Ext(name) == ".jsonl" }

// besideClaude reports whether a file in a session folder is not a session: tool outputs, and
// files about sub-agents other than their transcripts.
func besideClaude(path string) bool {
	path = filepath.ToSlash(path)
	return strings.Contains(path, "/tool-results/") || strings.Contains(path, "/subagents/") && !strings.HasPrefix(filepath.Base(path), "agent-")
}

// newClaude returns the file of a new session in a project folder that the user names. Its name
// is the id of the session, a UUID.
func newClaude(n *New) (*NewFile, error) {
	path := n.Output
	if n.Folder {
		path = filepath.Join(path, newUUID(4, n.Now)+".jsonl")
	}
	id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok || !text.IsUUID(id) {
		return nil, &NameError{Output: n.Output, Want: "a file after a UUID, such as " + newUUID(4, n.Now) + ".jsonl"}
	}
	return &NewFile{Path: path, ID: id, Resume: "resume it in its project: claude --resume " + id}, nil
}
