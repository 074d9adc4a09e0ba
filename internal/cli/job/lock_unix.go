//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package job

import (
	"errors"
	"os"
	"syscall"
)

// TryLock locks a file until unlock is called or the process ends. It reports false if another
// process has the lock.
func TryLock(f *os.File) (unlock func() error, ok bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK), errors.Is(err, syscall.EINTR):
		return nil, false, nil
	case err != nil:
		return nil, false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, true, nil
}

// SyncFolder makes the names of files in a folder durable.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Terminate asks a process to end with SIGTERM.
func Terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
