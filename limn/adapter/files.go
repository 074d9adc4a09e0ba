package adapter

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/carrel-dev/carrel/limn"
)

// A watch watches the files of a directory, or one of them.
type watch struct {
	pack    *limn.Pack
	watcher *fsnotify.Watcher
	only    string // name of the file, or empty
	limit   int    // most bytes of a file
}

// openFiles opens a source of the changes of a file or of the files in a directory. It watches
// a file through its directory, because many programs write a file by replacing it. The file
// need not exist.
func openFiles(p *limn.Pack, o *Options) source {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return failed(p, fmt.Errorf("watching files: %w", err))
	}
	w := &watch{pack: p, watcher: watcher, limit: o.MaxBytes}
	dir := p.Path
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir, w.only = filepath.Dir(p.Path), filepath.Base(p.Path)
	}
	if err := watcher.Add(dir); err != nil {
		_ = watcher.Close() // it watches nothing
		return failed(p, fmt.Errorf("watching %s: %w", dir, err))
	}
	return w.run
}

func (w *watch) run(ctx context.Context, emit func(limn.LiveValue) bool) {
	defer func() { _ = w.watcher.Close() }() // nothing can be done about it
	for events := 0; w.pack.Limit == 0 || events < w.pack.Limit; {
		select {
		case <-ctx.Done():
			return
		case err, ok := <-w.watcher.Errors:
			if ok {
				fail(w.pack, fmt.Errorf("watching files: %w", err), emit)
			}
			return
		case e, ok := <-w.watcher.Events:
			if !ok {
				return
			}
			kind := kindOf(e)
			if kind == "" || w.only != "" && filepath.Base(e.Name) != w.only {
				continue
			}
			events++
			if !w.report(e.Name, kind, emit) {
				return
			}
		}
	}
}

// kindOf returns "created", "modified" or "deleted" for an event of a file, or
// "" for an event of another kind.
func kindOf(e fsnotify.Event) string {
	switch {
	case e.Has(fsnotify.Create):
		return "created"
	case e.Has(fsnotify.Write):
		return "modified"
	case e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename):
		return "deleted"
	}
	return ""
}

// report emits three values: the content of a file, which is empty if it cannot be read, then
// its name, and then the kind of the change. For a deleted file it emits no content.
func (w *watch) report(path, kind string, emit func(limn.LiveValue) bool) bool {
	if kind != "deleted" {
		if content := w.read(path); !emit(limn.LiveValue{Name: "file-content", Value: limn.String(content)}) {
			return false
		}
	}
	return emit(limn.LiveValue{Name: "changed-file", Value: limn.String(filepath.Base(path))}) &&
		emit(limn.LiveValue{Name: "change-type", Value: limn.String(kind)})
}

// read returns the text of a file. It returns an empty text if the file is gone, is too large or
// is not a regular file.
func (w *watch) read(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, int64(w.limit)+1))
	if err != nil || len(data) > w.limit {
		return ""
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}
