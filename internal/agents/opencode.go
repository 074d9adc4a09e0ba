package agents

import (
	"path/filepath"
	"strings"
)

// OpenCode stores all sessions in one database, which Carrel can read while OpenCode writes it.
// OpenCode exports and imports a session as a file, so a new session is a file for "opencode
// import". Sub-agents and forks are sessions of their own.
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

// OpenCodePlace returns the name of a session of OpenCode for [Open].
func OpenCodePlace(env Getenv, session string) (string, error) {
	path, err := openCodeDatabase(env)
	return path + placeMark + session, err
}

// isOpenCode reports whether a file is a database of OpenCode or one of its log files, and
// returns the path of the database.
func isOpenCode(path string) (string, bool) {
	path, _ = strings.CutSuffix(path, "-wal")
	path, _ = strings.CutSuffix(path, "-shm")
	name := filepath.Base(path)
	return path, strings.HasPrefix(name, "opencode") && filepath.Ext(name) == ".db"
}

// newOpenCode returns the file of a new session for "opencode import".
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
