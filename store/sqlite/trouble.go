package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	codes "modernc.org/sqlite/lib"

	"github.com/carrel-dev/carrel/store"
)

// A troubleError means that a store cannot be read or written for a reason outside of Carrel, such
// as a full disk. It says what to do, and matches an error of package store.
type troubleError struct {
	Path string
	Kind error  // such as [store.ErrFull]
	Next string // what to try

	cause error
}

func (e *troubleError) Error() string { return fmt.Sprintf("store %s: %v: %s", e.Path, e.Kind, e.Next) }

// Unwrap returns the kind, and the error of SQLite or of the system.
func (e *troubleError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// What to try next.
const (
	nextFull     = "free some space on its disk, then try again; nothing was changed"
	nextReadOnly = "reading works; to change it, make the file and its folder writable, or name another store with --store"
	nextFailing  = "look into the log of the system, and copy the file while it can be read"
	nextMoved    = "put the file back, or restart the program that has it open"
	nextWAL      = "part of it is in the file beside it that ends in -wal, which cannot be opened: free some space and make the folder writable"
	nextOpened   = "it was opened for reading only"
	nextUpgrade  = "an earlier version of carrel made it, and its schema must be upgraded: make the file and its folder writable once, and run carrel store migrate"
)

// storeError turns an error of SQLite about the disk or permissions, which has the given code, into
// a troubleError. It returns nil for any other error.
func (s *database) storeError(code int, e error) error {
	t := &troubleError{Path: s.path, cause: e}
	switch code & 0xff {
	case codes.SQLITE_FULL:
		t.Kind, t.Next = store.ErrFull, nextFull
	case codes.SQLITE_READONLY:
		t.Kind, t.Next = store.ErrReadOnly, nextReadOnly
		if code == codes.SQLITE_READONLY_DBMOVED {
			t.Kind, t.Next = store.ErrMoved, nextMoved
		}
	case codes.SQLITE_CANTOPEN:
		t.Kind, t.Next = store.ErrReadOnly, "no file can be created beside it: "+nextReadOnly
		if _, err := os.Stat(s.path); err != nil {
			t.Kind, t.Next, t.cause = store.ErrUnreadable, "make the file readable, or name another store with --store", err
		}
	case codes.SQLITE_PERM, codes.SQLITE_AUTH:
		t.Kind, t.Next = store.ErrUnreadable, "make the file readable, or name another store with --store"
	case codes.SQLITE_IOERR:
		t.Kind, t.Next = store.ErrFailing, nextFailing
		switch code {
		case codes.SQLITE_IOERR_SHMSIZE, codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_TRUNCATE: // a file cannot grow
			t.Kind, t.Next = store.ErrFull, nextFull
		}
	default:
		return nil
	}
	return t
}

// cannotWrite reports whether an error means that a file or folder cannot be written.
func cannotWrite(err error) bool {
	return errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrFull) || errors.Is(err, fs.ErrPermission)
}

// moved returns an ErrMoved unless the path of the store still names the open file.
func (s *database) moved() error {
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(now, s.file) {
		return nil
	}
	return &troubleError{Path: s.path, Kind: store.ErrMoved, Next: nextMoved, cause: err}
}

// empty returns an ErrCorrupt if the file at path has no content: no store is empty. SQLite takes a
// file of one byte for an empty one.
func empty(path string) error {
	fi, err := os.Stat(path)
	if err != nil || fi.Size() > 1 {
		return err
	}
	return &NotStoreError{Path: path, Empty: true}
}

// hasLog reports whether the file -wal beside the database at path has content.
func hasLog(path string) bool {
	fi, err := os.Stat(path + "-wal")
	return err == nil && fi.Size() > 0
}
