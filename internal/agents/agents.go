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

// A Getenv returns the value of an environment variable, or "" if it is not set.
type Getenv = func(name string) string

// An Agent is a program that stores sessions on this machine.
type Agent struct {
	Name  string // such as "claude"
	Title string // display name, such as "Claude Code"

	// Format is the name of the format of its sessions.
	Format string

	// Folders returns the folders in which it stores sessions.
	Folders func(env Getenv) ([]string, error)

	// Flat means that all sessions are in these folders themselves, none in subfolders.
	Flat bool

	// Sessions returns the sessions at a path in one of these folders, sorted by name: those in a
	// folder and its subfolders, or those in a file. It returns none for a file that is not the
	// agent's.
	Sessions func(path string) ([]Source, error)

	// NewFile returns the file for a new session that the agent can find: its path, id and
	// folder, and a text that tells a person how to resume it. NewFile is nil if Carrel cannot
	// start a session of the agent.
	NewFile func(n *New) (*NewFile, error)
}

// A Source is a file, or a place in a file, from which a session is read.
type Source struct {
	Name string // path of the file; for a session in a database, followed by # and the id of the session

	// Read returns the content in the agent's format. It is nil if the file is read unchanged.
	Read func() ([]byte, error)

	// Changed is the time of the last change of the session, if Read is set.
	Changed time.Time
}

// All returns the agents, sorted by name.
func All() []*Agent { return []*Agent{Claude, Codex, Gemini, OpenCode} }

// OfFormat returns the agent whose sessions have a format, or nil.
func OfFormat(format string) *Agent {
	for _, a := range All() {
		if a.Format == format {
			return a
		}
	}
	return nil
}

// Home returns the user's home folder, or fails with [ErrHome].
func Home(env Getenv) (string, error) {
	for _, name := range [...]string{"HOME", "USERPROFILE"} {
		if h := env(name); h != "" {
			return h, nil
		}
	}
	return "", ErrHome
}

// ErrHome means that no environment variable names the user's home folder.
var ErrHome = errors.New("HOME is not set: set it to the path of your home folder")

// dirOf returns the folder that a variable names, or else the folder below the user's home.
func dirOf(env Getenv, variable string, below ...string) (string, error) {
	if d := env(variable); d != "" {
		return d, nil
	}
	h, err := Home(env)
	return filepath.Join(append([]string{h}, below...)...), err
}

// Files returns the files at path for which session returns true, as sources. It returns none if
// path does not exist. It reads subfolders for which folder returns true, and follows a link to a
// folder only if path itself is the link. It leaves out a compressed file if the uncompressed one
// is beside it.
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

// doubled reports whether a file is the compressed copy of a file beside it.
func doubled(s Source) bool {
	plain, is := strings.CutSuffix(s.Name, packed)
	if !is {
		return false
	}
	_, err := os.Stat(plain)
	return err == nil
}

// everyFolder returns true for every folder.
func everyFolder(string) bool { return true }

// packed is the suffix of files that zstd has compressed.
const packed = ".zst"

// mostUnpacked is the largest size of an unpacked file, in bytes.
const mostUnpacked = 512 << 20

// Unpacked returns data, unpacked if the name has the suffix of zstd. It fails if the result is
// larger than 512 MiB.
func Unpacked(name string, data []byte) ([]byte, error) {
	if !strings.HasSuffix(name, packed) {
		return data, nil
	}
	return unpacked(name, data, mostUnpacked)
}

func unpacked(name string, data []byte, most int64) ([]byte, error) {
	plain, err := wire.Unpack("zstd", bytes.NewReader(data), most)
	if err != nil {
		return nil, fmt.Errorf("%s: unpack (at most %d bytes): %w", name, most, err)
	}
	return plain, nil
}
