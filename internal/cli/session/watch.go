package session

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// quiet is how long a file must have been left alone before it is imported.
const quiet = 100 * time.Millisecond

// watch imports what changes under paths until ctx is done, whose error it
// returns.
func (in *importer) watch(ctx context.Context, paths []string) (err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	targets := make(map[string]bool) // files that were named
	for _, p := range paths {
		path := in.j.Path(p)
		fi, err := os.Stat(path)
		if err != nil {
			return err
		}
		if fi.IsDir() {
			err = addTree(w, path)
		} else {
			targets[filepath.Clean(path)] = true
			err = w.Add(filepath.Dir(path)) // editors replace files
		}
		if err != nil {
			return err
		}
	}
	in.j.Note("watching; interrupt to stop")
	return in.follow(ctx, w, targets)
}

// addTree watches a folder and those in it.
func addTree(w *fsnotify.Watcher, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != root && !job.IsFolder(d.Name()):
			return filepath.SkipDir
		}
		return w.Add(path)
	})
}

// follow imports the files that a watcher names, each when it was quiet for a
// moment.
func (in *importer) follow(ctx context.Context, w *fsnotify.Watcher, targets map[string]bool) error {
	waiting := make(map[string]bool)
	timer := time.NewTimer(quiet)
	timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-w.Errors:
			in.j.Note("warning: watch: %v", err)
		case e := <-w.Events:
			if !e.Has(fsnotify.Create) && !e.Has(fsnotify.Write) {
				continue
			}
			fi, err := os.Stat(e.Name)
			switch {
			case err != nil:
				continue // gone again
			case fi.IsDir() && job.IsFolder(filepath.Base(e.Name)) && in.wanted(e.Name, targets):
				if err := addTree(w, e.Name); err != nil {
					in.j.Note("warning: watch: %v", err)
				}
				files, err := in.j.Files([]string{e.Name})
				if err != nil {
					in.j.Note("warning: watch: %v", err)
				}
				for _, f := range files {
					waiting[f.Name] = true
				}
			case targets[e.Name], job.IsFile(e.Name) && in.wanted(e.Name, targets):
				waiting[e.Name] = true
			}
			timer.Reset(quiet)
		case <-timer.C:
			if err := in.again(ctx, slices.Sorted(maps.Keys(waiting))); err != nil {
				return err
			}
			clear(waiting)
		}
	}
}

// wanted reports whether a file or folder is in a folder that is watched as a
// whole. A folder that is watched for one file only has others in it, too.
func (in *importer) wanted(path string, targets map[string]bool) bool {
	for t := range targets {
		if filepath.Dir(t) == filepath.Dir(path) {
			return targets[path]
		}
	}
	return true
}

// again imports files and prints a line for each that has something new.
func (in *importer) again(ctx context.Context, names []string) error {
	for _, name := range names {
		res, err := in.file(ctx, job.File{Name: name, Named: false})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, carrel.ErrShorter) {
			in.j.Note("skipped: %s: %v", name, err)
			continue
		}
		if err != nil {
			in.j.Complain(job.NewProblem(err))
			continue
		}
		if res == nil || !res.Changed {
			continue
		}
		err = in.j.Result("imported", importedFile{File: name, ImportResult: res}, func(p *out.Page) {
			t := &out.Table{}
			t.Add(res.Format, res.Session, res.Messages, res.Tokens, res.Added, name)
			p.Table(t)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
