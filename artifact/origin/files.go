package origin

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/carrel-dev/carrel/artifact"
)

// folders is a source of regular files below some folders.
//
// The relative path in "file:docs/policy.md" is looked up in each folder in turn, and the first
// folder that has the file decides. A folder that cannot be opened is passed over; if no other folder
// has the file, the error is about it. The absolute path in "file:/srv/docs/policy.md" must begin
// with one of the folders as configured. "file:///srv/a%20b" is an absolute path in URL
// notation.
//
// Symbolic links are followed if they stay in the folder and are relative. Changing a link
// during the fetch cannot lead outside, because each folder is opened once and paths are
// resolved from there. Devices, pipes, folders and the files of /proc and /sys are refused.
type folders struct{ *Options }

// Fetch implements [artifact.Source]. A file that does not exist is
// [artifact.ErrGone].
func (f *folders) Fetch(ctx context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	what := string(ref)
	if err := ctx.Err(); err != nil {
		return nil, fail(artifact.ErrUnavailable, what, "%w", err)
	}
	name, err := filePath(ref)
	if err != nil {
		return nil, fail(artifact.ErrForbidden, what, "%w", err)
	}
	err = fail(artifact.ErrForbidden, what, "add its folder to %s to allow it", SettingFiles)
	var closed error // of the first folder that cannot be opened
	for _, root := range f.Files {
		rel, ok := within(root, name)
		if !ok {
			continue
		}
		dir, openErr := os.OpenRoot(root)
		if openErr != nil {
			closed = cmp.Or(closed, fail(artifact.ErrUnavailable, what, "folder of %s: %w", SettingFiles, openErr))
			continue
		}
		var content []byte
		if content, err = f.read(what, dir, rel); err == nil {
			return answer(what, f.Limit, &artifact.Fetched{Content: content}, have)
		}
		if !errors.Is(err, artifact.ErrGone) {
			return nil, err
		}
	}
	return nil, cmp.Or(closed, err)
}

// filePath returns the path in a ref, in the syntax of the operating system.
func filePath(ref artifact.Ref) (string, error) {
	p := ref.Rest()
	if rest, ok := strings.CutPrefix(p, "//"); ok {
		host, path, _ := strings.Cut(rest, "/")
		if host != "" && host != "localhost" {
			return "", errors.New("it is on another host: want file:///path without a host")
		}
		var err error
		if p, err = url.PathUnescape("/" + path); err != nil {
			return "", err
		}
		if drive := filepath.FromSlash(p[1:]); filepath.IsAbs(drive) && filepath.VolumeName(drive) != "" {
			return drive, nil // "/C:/x" on Windows
		}
	}
	return filepath.FromSlash(p), nil
}

// within returns name as a path relative to root, and whether that path stays below root. It looks
// only at the text of the paths and follows no links.
func within(root, name string) (string, bool) {
	if filepath.IsAbs(name) {
		if root, err := filepath.Abs(root); err == nil {
			name, _ = filepath.Rel(root, name) // empty if there is none
		}
	}
	return name, filepath.IsLocal(name) // what is empty or absolute is not
}

// read returns the content of a file below the folder dir, and closes the folder; name is the path of
// the file. Errors call the file by the text in what.
func (f *folders) read(what string, dir *os.Root, name string) ([]byte, error) {
	defer dir.Close()
	// Check before opening, because opening a device may act on it, and check the
	// opened file again, because the path may name another file by then.
	info, err := dir.Stat(name)
	if err == nil {
		err = regular(what, info)
	}
	if err != nil {
		return nil, fileError(what, err)
	}
	file, err := dir.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, fileError(what, err)
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil {
		err = regular(what, info)
	}
	if err != nil {
		return nil, fileError(what, err)
	}
	if ofKernel(file) {
		return nil, fail(artifact.ErrForbidden, what, "it is a window into the kernel, not a file")
	}
	if info.Size() > f.Limit {
		return nil, tooLarge(what, f.Limit)
	}
	content, err := readAll(file, f.Limit)
	if err != nil {
		return nil, fileError(what, err)
	}
	return content, nil
}

// regular returns an error unless info describes a regular file. The error calls the file by the
// text in what.
func regular(what string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return fail(artifact.ErrForbidden, what, "it is a folder, not a file")
	}
	return fail(artifact.ErrForbidden, what, "it is not a regular file")
}

// fileError converts an error of the operating system or of [os.Root] into an error of package
// artifact. An error that wraps no error of the system comes from [os.Root], which refuses to
// leave its folder.
func fileError(what string, err error) error {
	if errors.Is(err, artifact.ErrForbidden) {
		return err
	}
	reason := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		reason = p.Err // what contains the path already
	}
	_, system := errors.AsType[syscall.Errno](err)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fail(artifact.ErrGone, what, "%w", reason)
	case system:
		return fail(artifact.ErrUnavailable, what, "%w", reason)
	}
	return fail(artifact.ErrForbidden, what, "%w, out of the folder of %s", reason, SettingFiles)
}
