package admin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

// A fileChange is a change of a file. If before is nil, the file does not exist yet; if after is
// nil, the change removes it.
type fileChange struct {
	path          string
	before, after []byte
	backup        string // path of the backup to write, or ""
	restores      bool   // the backup replaces the file
	alone         bool   // the folder is removed with the file
}

// action returns the kind of change in one word.
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

// A setupFile is a file of a client, with the parts to add or remove.
type setupFile struct {
	path  string
	parts []setupPart
	all   []setupPart // all parts that Carrel may have in the file
	alone bool        // the folder contains only this file
}

// A setupPart is a part of a file. Both functions get the name of the file for errors.
type setupPart struct {
	with    func(name string, data []byte) ([]byte, error) // adds the part; does nothing if it is there
	without func(name string, data []byte) ([]byte, error) // removes the part

	// url returns the URL that the part in a file has. It is nil for parts without a URL.
	url func(name string, data []byte) (string, error)
}

// jsonPart returns a part of a JSON file.
func jsonPart(add, drop func(*settingsText) error) setupPart {
	edit := func(do func(*settingsText) error) func(string, []byte) ([]byte, error) {
		return func(name string, data []byte) ([]byte, error) {
			if len(bytes.TrimSpace(data)) == 0 {
				data = []byte("{}\n")
			}
			t := &settingsText{name: name, data: data}
			err := do(t)
			if _, invalid := hujson.Parse(t.data); err == nil && invalid != nil {
				err = fmt.Errorf("%s: setup cannot change its entry without damage to the file: take the entry out by hand", name)
			}
			return t.data, err
		}
	}
	return setupPart{with: edit(add), without: edit(drop)}
}

// backupSuffix is the suffix of the names of backups.
const backupSuffix = ".carrel-backup"

// plan returns the change that adds, or with undo removes, the parts of a file.
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
	if bytes.Equal(without, before) { // otherwise keep the older backup; or there was no file
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
	c.after, err = f.without(now) // the file was changed since setup
	return c, err
}

// made reports whether setup made the text now from the text before, by adding one or more of the
// parts of the file in any order.
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

// with returns the content of a file with the parts added.
func (f *setupFile) with(data []byte) (_ []byte, err error) {
	for i := range f.parts {
		if data, err = f.parts[i].with(f.path, data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// without returns the content of a file with the parts removed.
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

// readIfThere returns the content of a file, which is never nil, or nil if the file does not
// exist.
func readIfThere(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// applyChange makes a change. It fails if the file was changed since the change was planned.
func applyChange(j *job.Job, c *fileChange) error {
	now, err := readIfThere(c.path)
	if err != nil {
		return err
	}
	if (now == nil) != (c.before == nil) || !bytes.Equal(now, c.before) {
		return fmt.Errorf("%s was changed by another program just now: try again", c.path)
	}
	if c.after == nil {
		err := os.Remove(c.path)
		if err == nil && c.alone {
			_ = os.Remove(filepath.Dir(c.path)) // fails, as intended, if the folder has other files
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
