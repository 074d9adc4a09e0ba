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
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// quiet is how long nothing must have changed in the watched folders before changed files are
// imported.
const quiet = 100 * time.Millisecond

// watch imports files that change under paths until ctx is done, and returns the error of ctx.
func (in *importer) watch(ctx context.Context, paths []string) (err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	targets := make(map[string]bool) // files that the user named
	for _, s := range in.stores {
		add := func() error { return addTree(w, s.folder, true) }
		if s.agent.Flat {
			add = func() error { return w.Add(s.folder) }
		}
		if err := add(); err != nil {
			return err
		}
	}
	for _, p := range paths {
		path := in.j.Path(p)
		fi, err := os.Stat(path)
		if err != nil {
			return err
		}
		if fi.IsDir() {
			err = addTree(w, path, false)
		} else {
			targets[filepath.Clean(path)] = true
			err = w.Add(filepath.Dir(path)) // watch the folder: editors replace files
		}
		if err != nil {
			return err
		}
	}
	in.j.Note("watching; interrupt to stop")
	return in.follow(ctx, w, targets)
}

// addTree watches a folder and its subfolders. If all is false, it leaves out subfolders that an
// import does not read.
func addTree(w *fsnotify.Watcher, root string, all bool) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != root && !all && !job.IsFolder(d.Name()):
			return filepath.SkipDir
		}
		return w.Add(path)
	})
}

// follow imports the files that a watcher reports. It waits until nothing has changed for the
// duration [quiet].
func (in *importer) follow(ctx context.Context, w *fsnotify.Watcher, targets map[string]bool) error {
	waiting := make(map[string]job.File)
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
			if err != nil {
				continue // removed again
			}
			files, folder, err := in.touched(e.Name, fi.IsDir(), targets)
			if folder {
				err = errors.Join(err, addTree(w, e.Name, in.storeOf(e.Name) != nil))
			}
			if err != nil {
				in.j.Note("warning: watch: %v", err)
			}
			for _, f := range files {
				waiting[f.Name] = f
			}
			timer.Reset(quiet)
		case <-timer.C:
			for _, name := range slices.Sorted(maps.Keys(waiting)) {
				if err := in.again(ctx, waiting[name]); err != nil {
					return err
				}
			}
			clear(waiting)
		}
	}
}

// wanted reports whether a change at path matters. If one file of a folder is a target, changes of
// other files in that folder do not matter.
func (in *importer) wanted(path string, targets map[string]bool) bool {
	for t := range targets {
		if filepath.Dir(t) == filepath.Dir(path) {
			return targets[path]
		}
	}
	return true
}

// storeOf returns the agent's session folder that contains path, or nil.
func (in *importer) storeOf(path string) *folderOf {
	for i := range in.stores {
		if job.Within(path, in.stores[i].folder) {
			return &in.stores[i]
		}
	}
	return nil
}

// touched returns the files to import after a change at path, and whether path is a new folder to
// watch.
func (in *importer) touched(path string, folder bool, targets map[string]bool) (files []job.File, watch bool, err error) {
	if s := in.storeOf(path); s != nil {
		found, err := s.agent.Sessions(path)
		for _, f := range found {
			files = append(files, job.File{Source: f})
		}
		return files, folder && !s.agent.Flat, err
	}
	switch {
	case folder && job.IsFolder(filepath.Base(path)) && in.wanted(path, targets):
		files, err = in.j.Files([]string{path})
		return files, true, err
	case !folder && (targets[path] || job.IsFile(path) && in.wanted(path, targets)):
		files = []job.File{{Source: agents.Source{Name: path}}}
	}
	return files, false, nil
}

// again imports a file and prints a line if it has new content.
func (in *importer) again(ctx context.Context, f job.File) error {
	if f.Read != nil && !f.Changed.After(in.read[f.Name]) {
		return nil
	}
	res, err := in.file(ctx, f)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, carrel.ErrShorter):
		in.j.Note("skipped: %s: %v", f.Name, err)
		return nil
	case err != nil:
		in.j.PrintProblem(job.NewProblem(err))
		return nil
	case res == nil || !res.Changed:
		return nil
	}
	return in.j.Result("imported", importedFile{File: f.Name, ImportResult: res}, func(p *out.Page) {
		t := &out.Table{}
		t.Add(res.Format, res.Session, res.Messages, res.Tokens, res.Added, f.Name)
		p.Table(t)
	})
}
