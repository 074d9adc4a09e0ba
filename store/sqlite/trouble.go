package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	engine "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/carrel-dev/carrel/store"
)

// A troubleError says why a store cannot be read or written for a reason that is outside
// of it, and what to do. It is one of the errors of package store.
type troubleError struct {
	Path string
	Kind error  // such as [store.ErrFull]
	Next string // what to try

	cause error
}

func (e *troubleError) Error() string { return fmt.Sprintf("store %s: %v: %s", e.Path, e.Kind, e.Next) }

// Unwrap returns the kind, and what the engine or the system said.
func (e *troubleError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// What to try next.
const (
	nextFull     = "free some space on its disk, then try again; nothing was changed"
	nextReadOnly = "reading works; to change it, make the file and its folder writable, or name another with --store"
	nextFailing  = "look into the log of the system, and copy the file while it can be read"
	nextMoved    = "put it back, or start again what has it open"
	nextWAL      = "a part of it is in the file beside it that ends in -wal, which cannot be read here: make room for it and the folder writable"
	nextUpgrade  = "it was made by an earlier version and has to be brought up to date: make the file and its folder writable once"
)

// storeError returns an error of the engine as one of package store, or nil if it is about
// nothing of the disk.
func (s *database) storeError(e *engine.Error) error {
	t := &troubleError{Path: s.path, cause: e}
	switch e.Code() & 0xff {
	case codes.SQLITE_FULL:
		t.Kind, t.Next = store.ErrFull, nextFull
	case codes.SQLITE_READONLY:
		t.Kind, t.Next = store.ErrReadOnly, nextReadOnly
		if e.Code() == codes.SQLITE_READONLY_DBMOVED {
			t.Kind, t.Next = store.ErrMoved, nextMoved
		}
	case codes.SQLITE_CANTOPEN:
		t.Kind, t.Next = store.ErrReadOnly, "no file can be made beside it: "+nextReadOnly
		if _, err := os.Stat(s.path); err != nil {
			t.Kind, t.Next, t.cause = store.ErrUnreadable, "make it readable, or name another with --store", err
		}
	case codes.SQLITE_PERM, codes.SQLITE_AUTH:
		t.Kind, t.Next = store.ErrUnreadable, "make it readable, or name another with --store"
	case codes.SQLITE_IOERR:
		t.Kind, t.Next = store.ErrFailing, nextFailing
		switch e.Code() {
		case codes.SQLITE_IOERR_SHMSIZE, codes.SQLITE_IOERR_WRITE, codes.SQLITE_IOERR_TRUNCATE: // a file cannot grow
			t.Kind, t.Next = store.ErrFull, nextFull
		}
	default:
		return nil
	}
	return t
}

// cannotWrite reports whether an error is about a file, or a folder, that nothing can be
// written to.
func cannotWrite(err error) bool {
	return errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrFull) || errors.Is(err, fs.ErrPermission)
}

// moved returns an error if the path of the store names another file than the one that
// is open, or none.
func (s *database) moved() error {
	now, err := os.Stat(s.path)
	if err == nil && os.SameFile(now, s.file) {
		return nil
	}
	return &troubleError{Path: s.path, Kind: store.ErrMoved, Next: nextMoved, cause: err}
}

// empty returns an error if a file has no bytes: a store never has none.
func empty(path string) error {
	fi, err := os.Stat(path)
	if err != nil || fi.Size() > 0 {
		return err
	}
	return fmt.Errorf("%s is empty, which no store is: %w: carrel store restore puts a backup in its place; if there was nothing in it, remove the file",
		path, store.ErrCorrupt)
}

// hasLog reports whether there is a part of a database in the file beside it.
func hasLog(path string) bool {
	fi, err := os.Stat(path + "-wal")
	return err == nil && fi.Size() > 0
}
