package agents

import (
	"path/filepath"
	"strings"
)

// OpenCode keeps all sessions in one database, which is read while OpenCode writes it. What it
// exports and imports is a file for each session; a new session is such a file, which
// opencode import takes. Sub-agents and forks are sessions of their own.
var OpenCode = &Agent{
	Name: "opencode", Title: "OpenCode", Format: "opencode", Flat: true,
	Folders: func(env Getenv) ([]string, error) {
		path, err := openCodeDatabase(env)
		return []string{filepath.Dir(path)}, err
	},
	Sessions: openCodeSessions,
	NewFile:  newOpenCode,
}

// openCodeDatabase returns the path of the database of OpenCode.
func openCodeDatabase(env Getenv) (string, error) {
	dir := env("XDG_DATA_HOME")
	if dir == "" {
		home, err := Home(env)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "share")
	}
	dir = filepath.Join(dir, "opencode")
	switch name := env("OPENCODE_DB"); {
	case name == "" || name == ":memory:":
		return filepath.Join(dir, "opencode.db"), nil
	case filepath.IsAbs(name):
		return name, nil
	default:
		return filepath.Join(dir, name), nil
	}
}

// OpenCodePlace returns where a session of OpenCode is read from, as [Open] takes it.
func OpenCodePlace(env Getenv, session string) (string, error) {
	path, err := openCodeDatabase(env)
	return path + placeMark + session, err
}

// isOpenCode returns the path of the database of OpenCode that a file is, or belongs to.
func isOpenCode(path string) (string, bool) {
	path, _ = strings.CutSuffix(path, "-wal")
	path, _ = strings.CutSuffix(path, "-shm")
	name := filepath.Base(path)
	return path, strings.HasPrefix(name, "opencode") && filepath.Ext(name) == ".db"
}

// newOpenCode begins a session in a file, from which opencode import takes it.
func newOpenCode(n *New) (*NewFile, error) {
	id := "ses_" + strings.ReplaceAll(newUUID(7, n.Now), "-", "")[:26]
	path := n.Output
	switch {
	case path == "":
		path = "opencode-" + id + ".json"
	case n.Folder:
		path = filepath.Join(path, "opencode-"+id+".json")
	}
	if filepath.Ext(path) != ".json" {
		return nil, &NameError{Output: n.Output, Want: "a file whose name ends in .json"}
	}
	return &NewFile{Path: path, ID: id, Resume: "resume it in its project: opencode import " + path + " && opencode --session " + id}, nil
}
