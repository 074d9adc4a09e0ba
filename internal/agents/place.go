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

// placeMark stands between the path of a file and a place in it.
const placeMark = "#"

// A Reading is a session that is open for reading.
type Reading interface {
	io.ReaderAt
	io.Closer
}

// Open opens a session by the name of its [Source], as [ReadFile] reads it, and says how many
// bytes it has. What an agent keeps in a database, and a fork of Codex, is read at once.
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
		err = fmt.Errorf("%s is no file", name)
	default:
		var all io.ReaderAt
		var size int64
		if all, size, err = entire(f, fi.Size()); err == nil {
			return opened{all, f}, size, nil
		}
	}
	_ = f.Close() // it was only read
	return nil, 0, err
}

// opened is what is read of a file, and the file.
type opened struct {
	io.ReaderAt
	io.Closer
}

// Ends returns the beginning and the end of what a database of an agent has of a session, no
// more than about so many bytes, as a session of its own. It reports false for a file.
func Ends(name string, most int64) ([]byte, bool, error) {
	path, id, ok := place(name)
	if !ok {
		return nil, false, nil
	}
	data, err := readOpenCode(path, id, most)
	return data, true, err
}

// Held returns the sessions in a file in which an agent keeps several, or the one of them that a
// name stands for. It reports false for any other file.
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
			err = fmt.Errorf("%s: there is no such session: %w", name, fs.ErrNotExist)
		}
	}
	return list, true, err
}

// IsPlace reports whether a name is that of a session in a database.
func IsPlace(name string) bool {
	_, _, ok := place(name)
	return ok
}

// place returns the database and the session that a name stands for.
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
