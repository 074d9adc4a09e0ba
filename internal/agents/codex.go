package agents

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/transcript/codex"
)

// Codex is the agent of OpenAI. It stores each session in a file, in a folder for the day on
// which the session began, and may compress files. Sub-agents and forks have files of their own.
var Codex = &Agent{
	Name: "codex", Title: "Codex", Format: "codex",
	Folders: func(env Getenv) ([]string, error) {
		home, err := CodexHome(env)
		return []string{filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions")}, err
	},
	Sessions: func(path string) ([]Source, error) {
		list, err := Files(path, isRollout, everyFolder)
		return newest(list), err
	},
	NewFile: newRollout,
}

// CodexHome returns the folder of Codex.
func CodexHome(env Getenv) (string, error) { return dirOf(env, "CODEX_HOME", ".codex") }

// isRollout reports whether the name of a file is that of a session of Codex.
func isRollout(name string) bool { return codex.SessionOf(strings.TrimSuffix(name, packed)) != "" }

// newest returns, for each thread, the file with the last name, because a rewound thread
// continues in a new file.
func newest(list []Source) []Source {
	last := make(map[string]string) // names of files by thread
	thread := func(s Source) string { return codex.SessionOf(strings.TrimSuffix(s.Name, packed)) }
	for _, s := range list {
		last[thread(s)] = max(last[thread(s)], filepath.Base(s.Name))
	}
	return slices.DeleteFunc(list, func(s Source) bool { return last[thread(s)] != filepath.Base(s.Name) })
}

// RolloutOf returns the path of the newest file of a thread in the folder sessions of home, or "".
// It does not look into archived_sessions. The file may be compressed.
func RolloutOf(home, thread string) string {
	if found := rollouts(filepath.Join(home, "sessions", "*", "*", "*"), thread); len(found) > 0 {
		return found[len(found)-1]
	}
	return ""
}

// rollouts returns the files of a thread in the folders that match a pattern, sorted by name. It
// leaves out a compressed file if the uncompressed one is beside it.
func rollouts(folders, thread string) []string {
	if thread == "" || strings.ContainsAny(thread, `/\*?[`) {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(folders, "rollout-*-"+thread+"*.jsonl*"))
	if err != nil {
		return nil
	}
	found = slices.DeleteFunc(found, func(path string) bool {
		return codex.SessionOf(strings.TrimSuffix(path, packed)) != thread || doubled(Source{Name: path})
	})
	slices.SortFunc(found, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return found
}

// newRollout returns the file of a new session: at the path that the user names, or else in
// Codex's folder for the present day.
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
		id = codex.SessionOf(path)
	}
	if id == "" {
		return nil, &NameError{Output: n.Output, Want: "a file with such a name as " + name}
	}
	return &NewFile{Path: path, Folder: folder, ID: id, Resume: "resume it in its project: codex resume " + id}, nil
}
