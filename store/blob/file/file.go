// Package file is a [blob.Keeper] in a directory. Each blob is a file of mode 0600, in folders of
// mode 0700 by the parts of its key.
//
// Put writes a file whose name ends in ".part", waits until it is on the disk, renames it, and
// waits for the folder. So a file with the name of a key is complete. Several processes and
// machines can use one directory, if its file system renames a file atomically and keeps
// acknowledged writes.
//
// The directory must exist. This package does not create it: otherwise a volume that is not mounted
// would look like an empty place, in which all blobs are missing. If it is missing, the methods
// fail with a store.ErrUnreachable that names it.
package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
)

// part is the end of the name of a file that is not complete.
const part = ".part"

// A place keeps blobs as files in a directory.
type place struct {
	dir    string
	sync   func(dir *os.Root, folder string) error // syncFolder, except in tests
	synced sync.Map                                // the folders whose names this process has seen on the disk
}

// New returns the place in a directory. It refuses a path that is not absolute, and does not look
// at the directory.
func New(dir string) (blob.Keeper, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the directory %q of blobs is not an absolute path", dir)
	}
	return &place{dir: filepath.Clean(dir), sync: syncFolder}, nil
}

// String implements [blob.Keeper].
func (p *place) String() string {
	slashed := filepath.ToSlash(p.dir)
	if slashed[0] != '/' {
		slashed = "/" + slashed // it starts with a drive letter
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// What to try next.
const (
	nextDir      = "create the directory, or mount its volume"
	nextFull     = "free some space on its disk, then try again"
	nextWritable = "make the directory readable and writable for the user that runs carrel"
	nextFailing  = "look into the log of the system"
)

// explain turns an error of the system into one of package store, if one fits. If the system
// refused the permission, it returns an error of the kind denied.
func (p *place) explain(err, denied error) error {
	if err == nil {
		return nil
	}
	t := &blob.TroubleError{Place: p.String(), Cause: err}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		t.Kind, t.Next = store.ErrFull, nextFull
	case errors.Is(err, syscall.EROFS):
		t.Kind, t.Next = store.ErrReadOnly, nextWritable
	case errors.Is(err, fs.ErrPermission):
		t.Kind, t.Next = denied, nextWritable
	case errors.Is(err, syscall.EIO):
		t.Kind, t.Next = store.ErrFailing, nextFailing
	default:
		return fmt.Errorf("blobs in %s: %w", p, err)
	}
	return t
}

// in checks the key and calls f with the directory. A path that f uses cannot leave the directory,
// not even through a symbolic link. If the system refuses the permission, the error is of the kind
// denied.
func (p *place) in(ctx context.Context, key string, denied error, f func(dir *os.Root) error) (err error) {
	if err := errors.Join(ctx.Err(), blob.CheckKey(key)); err != nil {
		return err
	}
	dir, err := os.OpenRoot(p.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return &blob.TroubleError{Place: p.String(), Kind: store.ErrUnreachable, Next: nextDir, Cause: err}
	case err != nil:
		return p.explain(err, denied)
	}
	return p.explain(errors.Join(f(dir), dir.Close()), denied)
}

// Put implements [blob.Keeper].
func (p *place) Put(ctx context.Context, key string, body []byte) error {
	return p.in(ctx, key, store.ErrReadOnly, func(dir *os.Root) error {
		folder := path.Dir(key)
		if err := p.makeFolders(dir, folder); err != nil {
			return err
		}
		err := write(dir, key+part, body)
		if err == nil {
			err = dir.Rename(key+part, key)
		}
		if err != nil {
			_ = dir.Remove(key + part) // the error above tells more, and Drop tries again
			return err
		}
		return p.sync(dir, folder)
	})
}

// makeFolders makes a folder and those above it, and waits until they are on the disk. That there is
// a folder does not mean that it is on the disk: another process may have just made it.
func (p *place) makeFolders(dir *os.Root, folder string) error {
	if folder == "." {
		return nil
	}
	_, err := dir.Stat(folder)
	if _, synced := p.synced.Load(folder); synced && err == nil {
		return nil
	}
	if err := p.makeFolders(dir, path.Dir(folder)); err != nil {
		return err
	}
	if err := dir.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := p.sync(dir, path.Dir(folder)); err != nil {
		return err
	}
	p.synced.Store(folder, nil)
	return nil
}

// write writes a file and waits until it is on the disk.
func write(dir *os.Root, name string, body []byte) error {
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncFolder waits until the names in a folder are on the disk.
func syncFolder(dir *os.Root, folder string) error {
	if runtime.GOOS == "windows" { // it cannot, and NTFS does not need it
		return nil
	}
	f, err := dir.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Get implements [blob.Keeper].
func (p *place) Get(ctx context.Context, key string, most int64) (body []byte, err error) {
	err = p.in(ctx, key, store.ErrUnreadable, func(dir *os.Root) error {
		f, err := dir.Open(key)
		if err != nil {
			return err
		}
		body, err = blob.ReadAtMost(f, most)
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// Drop implements [blob.Keeper].
func (p *place) Drop(ctx context.Context, key string) error {
	return p.in(ctx, key, store.ErrReadOnly, func(dir *os.Root) error {
		for _, name := range []string{key + part, key} {
			if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		err := p.sync(dir, path.Dir(key))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // there never was such a folder
		}
		return err
	})
}

// Ready implements [blob.Keeper]. It writes and deletes an empty file.
func (p *place) Ready(ctx context.Context) error {
	return p.in(ctx, "ready", store.ErrReadOnly, func(dir *os.Root) error {
		f, err := os.CreateTemp(p.dir, ".ready-")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	})
}
