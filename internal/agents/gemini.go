package agents

import (
	"path/filepath"
	"slices"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// Gemini is Gemini CLI. It stores the sessions of a project in a folder named after the project
// or after a hash of its path. Sub-agents have their own files, in a folder named after the
// session that started them.
var Gemini = &Agent{
	Name: "gemini", Title: "Gemini CLI", Format: "geminicli",
	Folders: func(env Getenv) ([]string, error) {
		home, err := GeminiHome(env)
		return []string{filepath.Join(home, "tmp")}, err
	},
	Sessions: func(path string) ([]Source, error) {
		list, err := Files(path, func(name string) bool { return isLines(name) || filepath.Ext(name) == ".json" }, everyFolder)
		return slices.DeleteFunc(list, func(s Source) bool { return !isChat(s.Name) }), err
	},
	NewFile: newChat,
}

// GeminiHome returns the folder of Gemini CLI.
func GeminiHome(env Getenv) (string, error) {
	h := env("GEMINI_CLI_HOME")
	if h == "" {
		var err error
		if h, err = Home(env); err != nil {
			return "", err
		}
	}
	return filepath.Join(h, ".gemini"), nil
}

// isChat reports whether a file is a session of Gemini CLI, by its name, or of a sub-agent, by
// its folder. Older versions of Gemini CLI wrote a session as one JSON object.
func isChat(path string) bool {
	folder := filepath.Base(filepath.Dir(filepath.Dir(path)))
	return chatName.Get().MatchString(filepath.Base(path)) || folder == "chats" && isLines(path)
}

var chatName = lazy.Regexp(`^session-\d{4}-\d\d-\d\dT\d\d-\d\d(?:-\d\d)?-[0-9a-zA-Z]+\.jsonl?$`)

// newChat returns the file of a new session in the folder chats of a project that the user names.
// The file name ends with the start of the session id.
func newChat(n *New) (*NewFile, error) {
	id := newUUID(4, n.Now)
	name := "session-" + n.Now.UTC().Format("2006-01-02T15-04") + "-" + id[:8] + ".jsonl"
	if !n.Folder {
		return nil, &NameError{Output: n.Output, Want: "~/.gemini/tmp/PROJECT/chats, where Gemini CLI looks for sessions"}
	}
	return &NewFile{Path: filepath.Join(n.Output, name), ID: id, Resume: "resume it in its project: gemini --resume " + id}, nil
}
