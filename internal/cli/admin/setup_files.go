package admin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// A fileChange is what becomes of a file. There was none if before is nil, and there will
// be none if after is.
type fileChange struct {
	path          string
	before, after []byte
	backup        string // that is written, if it is not empty
	restores      bool   // the backup comes back, and goes
	alone         bool   // its folder goes with it
}

// action says in a word what becomes of the file.
func (c *fileChange) action() string {
	switch {
	case c.before == nil && c.after == nil || c.before != nil && c.after != nil && bytes.Equal(c.before, c.after):
		return "none"
	case c.before == nil:
		return "create"
	case c.after == nil:
		return "remove"
	}
	return "change"
}

// A setupFile is a file of a client, and what goes in and out.
type setupFile struct {
	path  string
	parts []setupPart
	all   []setupPart // that Carrel may have in the file
	alone bool        // nothing else is in its folder
}

// newSetupFile returns a file of a client of which all parts go in or out.
func newSetupFile(path string, parts ...setupPart) *setupFile {
	return &setupFile{path: path, parts: parts, all: parts}
}

// A setupPart is one thing that goes into a file. Both functions get the name of the file,
// which goes into errors.
type setupPart struct {
	with    func(name string, data []byte) ([]byte, error) // puts it in; changes nothing if it is there
	without func(name string, data []byte) ([]byte, error) // takes it out
}

// jsonPart returns a part of a file with JSON.
func jsonPart(add, drop func(*settingsText) error) setupPart {
	edit := func(do func(*settingsText) error) func(string, []byte) ([]byte, error) {
		return func(name string, data []byte) ([]byte, error) {
			if len(bytes.TrimSpace(data)) == 0 {
				data = []byte("{}\n")
			}
			t := &settingsText{name: name, data: data}
			err := do(t)
			return t.data, err
		}
	}
	return setupPart{edit(add), edit(drop)}
}

// backupSuffix is what the name of a backup ends with.
const backupSuffix = ".carrel-backup"

// plan returns what is to become of a file.
func plan(f *setupFile, undo bool) (*fileChange, error) {
	before, err := readIfThere(f.path)
	if err != nil {
		return nil, err
	}
	if undo {
		return planUndo(f, before)
	}
	c := &fileChange{path: f.path, before: before, alone: f.alone}
	if c.after, err = f.with(before); err != nil {
		return nil, err
	}
	if before == nil || bytes.Equal(before, c.after) {
		return c, nil
	}
	without, err := (&setupFile{path: f.path, parts: f.all}).without(before)
	if err == nil && bytes.Equal(without, before) { // otherwise there is an older one, or there was no file
		c.backup = f.path + backupSuffix
	}
	return c, err
}

func planUndo(f *setupFile, now []byte) (*fileChange, error) {
	c := &fileChange{path: f.path, before: now, after: now, alone: f.alone}
	if now == nil {
		return c, nil
	}
	backup, err := readIfThere(f.path + backupSuffix)
	if err != nil {
		return nil, err
	}
	if f.made(backup, now) {
		c.after = backup // nil if there was none
		if backup != nil {
			c.backup, c.restores = f.path+backupSuffix, true
		}
		return c, nil
	}
	c.after, err = f.without(now) // it was changed since
	return c, err
}

// made reports whether a file is what setup made of another, by any of its parts in any
// order.
func (f *setupFile) made(before, now []byte) bool {
	var step func(data []byte, left []setupPart) bool
	step = func(data []byte, left []setupPart) bool {
		for i := range left {
			rest := slices.Concat(left[:i], left[i+1:])
			next, err := left[i].with(f.path, data)
			if err == nil && (bytes.Equal(next, now) || step(next, rest)) {
				return true
			}
		}
		return false
	}
	return step(before, f.parts)
}

// with returns the content of a file with Carrel in it.
func (f *setupFile) with(data []byte) (_ []byte, err error) {
	for i := range f.parts {
		if data, err = f.parts[i].with(f.path, data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// without returns the content of a file without Carrel.
func (f *setupFile) without(data []byte) (_ []byte, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return data, nil
	}
	for i := range f.parts {
		if data, err = f.parts[i].without(f.path, data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// readIfThere returns the content of a file, not nil, or nil if there is none.
func readIfThere(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && data == nil:
		return []byte{}, nil
	}
	return data, err
}

// applyChange makes a change, unless the file is not as it was when that was planned.
func applyChange(j *job.Job, c *fileChange) error {
	now, err := readIfThere(c.path)
	if err != nil {
		return err
	}
	if (now == nil) != (c.before == nil) || !bytes.Equal(now, c.before) {
		return fmt.Errorf("%s was changed at this moment: try again", c.path)
	}
	if c.after == nil {
		err := os.Remove(c.path)
		if err == nil && c.alone {
			_ = os.Remove(filepath.Dir(c.path)) // it stays if something else is in it
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	if c.backup != "" && !c.restores {
		if err := j.Place(c.backup, c.before, true); err != nil {
			return err
		}
	}
	if err := j.Place(c.path, c.after, true); err != nil {
		return err
	}
	if c.restores {
		return os.Remove(c.backup)
	}
	return nil
}
