package binding

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/transcript"
)

// Told returns the session that Claude Code names in the environment of a server that
// it starts, and the path of its transcript. It reports false if there is none, or if
// the environment is not the server's own: what an agent runs, be it another client
// that starts servers, inherits the name and a mark beside it.
func Told(getenv func(string) string) (id transcript.SessionID, path string, ok bool) {
	name := getenv("CLAUDE_CODE_SESSION_ID")
	if name == "" || getenv("CLAUDE_CODE_CHILD_SESSION") != "" || strings.ContainsAny(name, `/\*?[`) {
		return "", "", false
	}
	dir := getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(getenv("HOME"), ".claude")
	}
	// A session has one file, in the folder of its project.
	found, err := filepath.Glob(filepath.Join(dir, "projects", "*", name+".jsonl"))
	if err != nil || len(found) != 1 {
		return transcript.SessionID(name), "", true
	}
	return transcript.SessionID(name), found[0], true
}

// Forking reports whether a hook that begins a session is told the wrong one: version
// 2.1.197 of Claude Code names the session that a fork comes from, and puts what the
// hook may set into the folder of the fork.
func Forking(getenv func(string) string, id transcript.SessionID) bool {
	file := getenv("CLAUDE_ENV_FILE")
	return file != "" && filepath.Base(filepath.Dir(file)) != string(id) &&
		filepath.Base(filepath.Dir(filepath.Dir(file))) == "session-env"
}

const (
	// tail is how many bytes at the end of a transcript are searched for a call.
	tail = 1 << 20

	// patience is how long a client may take to write down a call that it has made:
	// Claude Code takes a tenth of a second.
	patience = time.Second

	// pause is the time between two looks.
	pause = 20 * time.Millisecond
)

// Wrote returns the path of a transcript if it has a call of a tool, by the id that the
// client gave it, and "" if it has not. It waits for a client that has not written the
// call down yet, or not even begun the file: find returns the path, or "" as long as there
// is none.
func Wrote(ctx context.Context, find func() string, call string) (string, error) {
	if call == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		path := find()
		end, err := ending(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if bytes.Contains(end, []byte(`"`+call+`"`)) {
			return path, nil
		}
		select {
		case <-ctx.Done():
			return "", nil
		case <-tick.C:
		}
	}
}

// ending returns the last bytes of a file.
func ending(path string) (_ []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-tail)
	data := make([]byte, info.Size()-from)
	n, err := f.ReadAt(data, from)
	if n < len(data) {
		return nil, err
	}
	return data, nil
}
