package agents

import (
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// Codex is the agent of OpenAI. It keeps each session in a file below the day on which that
// began, and may pack such files. Sub-agents and forks have files of their own.
var Codex = &Agent{
	Name: "codex", Title: "Codex", Format: "codex",
	Folders: func(env Getenv) ([]string, error) {
		home, err := CodexHome(env)
		return []string{filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions")}, err
	},
	Sessions: func(path string) ([]Source, error) { return Files(path, isRollout, everyFolder) },
	NewFile:  newRollout,
}

// CodexHome returns the folder of Codex.
func CodexHome(env Getenv) (string, error) { return dirOf(env, "CODEX_HOME", ".codex") }

// isRollout reports whether a file is a session of Codex, by its name.
func isRollout(name string) bool { return RolloutSession(name) != "" }

// RolloutSession returns the id of the session that a file of Codex has, by its name, or "".
func RolloutSession(path string) string {
	name, _ := strings.CutSuffix(filepath.Base(path), packed)
	if m := rolloutName.Get().FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

var rolloutName = lazy.Regexp(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$`)

// newRollout begins a session where Codex looks for one: unless the user names a place, below
// the day in its own folder.
func newRollout(n *New) (*NewFile, error) {
	id := newUUID(7, n.Now)
	name := "rollout-" + n.Now.Local().Format("2006-01-02T15-04-05") + "-" + id + ".jsonl"
	path, folder := n.Output, ""
	switch {
	case path == "":
		home, err := CodexHome(n.Env)
		if err != nil {
			return nil, err
		}
		folder = filepath.Join(home, "sessions", filepath.FromSlash(n.Now.Local().Format("2006/01/02")))
		path = filepath.Join(folder, name)
	case n.Folder:
		path = filepath.Join(path, name)
	default:
		id = RolloutSession(path)
	}
	if id == "" || strings.HasSuffix(path, packed) {
		return nil, &NameError{Output: n.Output, Want: "a file with such a name as " + name}
	}
	return &NewFile{Path: path, Folder: folder, ID: id, Resume: "resume it in its project: codex resume " + id}, nil
}
