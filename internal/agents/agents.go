package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/wire"
)

// A Getenv returns the value of a variable of the environment, or "" if there is none.
type Getenv = func(name string) string

// An Agent is a program that keeps sessions on this machine.
type Agent struct {
	Name  string // such as "claude"
	Title string // as its users call it, such as "Claude Code"

	// Format is the name of the format in which it keeps them.
	Format string

	// Folders returns the folders in which it keeps them.
	Folders func(env Getenv) ([]string, error)

	// Flat says that all sessions are in the folders themselves, and nothing of them is below.
	Flat bool

	// Sessions returns the sessions at a path in one of these folders, in the order of their
	// names: of a folder those in it and below, of anything else those that it holds. There
	// are none where nothing of an agent is.
	Sessions func(path string) ([]Source, error)

	// NewFile returns the path and the id of a file for a new session that the agent finds
	// there, with its folder, and how to resume it, in words for a person. It is nil if Carrel
	// cannot begin a session of the agent.
	NewFile func(n *New) (*NewFile, error)
}

// A Source is a place from which a session is read.
type Source struct {
	Name string // path of the file; what comes behind # is a place in it

	// Read returns the content in the agent's format. It is nil for a file that is read as it
	// is.
	Read func() ([]byte, error)

	// Changed is when the session changed last, if Read is set.
	Changed time.Time
}

// All returns the agents in the order of their names.
func All() []*Agent { return []*Agent{Claude, Codex, Gemini, OpenCode} }

// OfFormat returns the agent that keeps its sessions in a format, or nil.
func OfFormat(format string) *Agent {
	for _, a := range All() {
		if a.Format == format {
			return a
		}
	}
	return nil
}

// Home returns the home of the user, or an [ErrHome].
func Home(env Getenv) (string, error) {
	for _, name := range [...]string{"HOME", "USERPROFILE"} {
		if h := env(name); h != "" {
			return h, nil
		}
	}
	return "", ErrHome
}

// ErrHome means that the environment does not say where the user is at home.
var ErrHome = errors.New("HOME is not set")

// dirOf returns a folder that a variable names, or the one at a path below the home of the user.
func dirOf(env Getenv, variable string, below ...string) (string, error) {
	if d := env(variable); d != "" {
		return d, nil
	}
	h, err := Home(env)
	return filepath.Join(append([]string{h}, below...)...), err
}

// Files returns the sources for the files at a path that are sessions by their names. A link
// to a folder is followed only if it is the path itself.
func Files(path string, session func(name string) bool, folder func(name string) bool) ([]Source, error) {
	var list []Source
	root, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && at != root && !folder(d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !session(filepath.Base(at)):
			return nil
		}
		rel, err := filepath.Rel(root, at)
		if err == nil {
			list = append(list, Source{Name: filepath.Join(path, rel)})
		}
		return err
	})
	return slices.DeleteFunc(list, doubled), err
}

// doubled reports whether a file is the compressed copy of one that lies beside it.
func doubled(s Source) bool {
	plain, is := strings.CutSuffix(s.Name, packed)
	if !is {
		return false
	}
	_, err := os.Stat(plain)
	return err == nil
}

// everyFolder looks into all folders.
func everyFolder(string) bool { return true }

// packed is what the name of a file that zstd has compressed ends with.
const packed = ".zst"

// mostUnpacked is how many bytes a compressed file may have when it is unpacked.
const mostUnpacked = 512 << 20

// Unpacked returns what a file holds: data itself, unless its name says that zstd has
// compressed it. One that unpacks to more than 512 MiB is refused.
func Unpacked(name string, data []byte) ([]byte, error) {
	if !strings.HasSuffix(name, packed) {
		return data, nil
	}
	return unpacked(name, data, mostUnpacked)
}

func unpacked(name string, data []byte, most int64) ([]byte, error) {
	plain, err := wire.Unpack("zstd", bytes.NewReader(data), most)
	if err != nil {
		return nil, fmt.Errorf("%s: unpack, to %d bytes at most: %w", name, most, err)
	}
	return plain, nil
}
