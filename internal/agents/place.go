package agents

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// placeMark separates the path of a file from a session in it.
const placeMark = "#"

// A Reading is an open session.
type Reading interface {
	io.ReaderAt
	io.Closer
}

// Open opens the session that the name of a [Source] names, with the content of [ReadFile], and
// returns its size in bytes. It reads a session in a database, a compressed file or a fork of
// Codex into memory at once.
func Open(name string) (Reading, int64, error) {
	if path, id, ok := place(name); ok {
		data, err := readOpenCode(path, id, 0)
		return inMemory{bytes.NewReader(data)}, int64(len(data)), err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
	case !fi.Mode().IsRegular():
		err = fmt.Errorf("%s is no file, and no session in a database", name)
	default:
		var all io.ReaderAt
		var size int64
		if all, size, err = entire(f, fi.Size()); err == nil {
			return opened{all, f}, size, nil
		}
	}
	_ = f.Close() // errors of Close do not matter for a file that was only read
	return nil, 0, err
}

// An opened is a reader together with the file to close.
type opened struct {
	io.ReaderAt
	io.Closer
}

// Ends returns the first and the newest messages of a session in an agent's database, in the
// agent's format. It returns about most bytes, or more if the first and the newest message alone
// are larger. It returns false if name names a file.
func Ends(name string, most int64) ([]byte, bool, error) {
	path, id, ok := place(name)
	if !ok {
		return nil, false, nil
	}
	data, err := readOpenCode(path, id, most)
	return data, true, err
}

// Held returns the sessions in a database. If name names one session in it (see [Source]), Held
// returns only that one. It returns false for any other file.
func Held(name string) (list []Source, ok bool, err error) {
	path, _, one := place(name)
	if !one {
		if path, ok = isOpenCode(name); !ok || path != name {
			return nil, false, nil
		}
	}
	list, err = listOpenCode(path)
	if one {
		list = slices.DeleteFunc(list, func(s Source) bool { return s.Name != name })
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("%s: the database has no such session: %w", name, fs.ErrNotExist)
		}
	}
	return list, true, err
}

// IsPlace reports whether name names a session in a database: a path, # and an id.
func IsPlace(name string) bool {
	_, _, ok := place(name)
	return ok
}

// place splits a name into the path of a database and the id of a session.
func place(name string) (path, id string, ok bool) {
	at := strings.LastIndex(name, placeMark)
	if at < 0 {
		return "", "", false
	}
	path, ok = isOpenCode(name[:at])
	return path, name[at+len(placeMark):], ok
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }
