//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package job

import (
	"errors"
	"io/fs"
	"os"
)

// TryLock locks a file for this process alone, by a second file beside it that
// only one can make. It reports false if another one has it. Where a process is
// killed the second file stays and must be removed by hand.
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

// SyncFolder has nothing to do: names are durable by themselves here, or
// cannot be made so.
func SyncFolder(string) error { return nil }

// Terminate ends a process. Here nobody can ask it to end by itself; what it was
// writing is undone when the store is opened again.
func Terminate(p *os.Process) error { return p.Kill() }
