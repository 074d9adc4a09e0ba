//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package job

import (
	"errors"
	"io/fs"
	"os"
)

// TryLock locks the name of a file by creating a second file beside it. It reports false if another
// process has the lock. Unlike a lock of Unix, it does not hold for another name of the same file,
// and if a process is killed, the second file stays and must be removed by hand.
func TryLock(f *os.File) (unlock func() error, ok bool, err error) {
	name := f.Name() + ".lock"
	l, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return func() error { return os.Remove(name) }, true, l.Close()
}

// SyncFolder does nothing, because this system has no way to sync a folder.
func SyncFolder(string) error { return nil }

// Terminate kills a process, because this system has no signal that asks it to end. The store
// undoes unfinished writes when it is opened next.
func Terminate(p *os.Process) error { return p.Kill() }
