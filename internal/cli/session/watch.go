package session

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// watcher returns a watcher of the folders that contain what paths name and, with --all, of the
// folders of the agents. It fills in.trees and in.targets.
func (in *importer) watcher(paths []string) (_ *fsnotify.Watcher, err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	in.trees, in.targets = make(map[string]bool), make(map[string][]string)
	for _, s := range in.stores {
		add := func() error { return in.addTree(w, s.folder, true) }
		if s.agent.Flat {
			add = func() error { return w.Add(s.folder) }
		}
		if err := add(); err != nil {
			return nil, err
		}
	}
	for _, p := range paths {
		path, err := filepath.Abs(in.j.Path(p)) // a watcher of "." reports "./a.json"
		if err != nil {
			return nil, err
		}
		add := func() error { return in.addFile(w, path, p) }
		if fi, err := os.Stat(path); err == nil && fi.IsDir() {
			add = func() error { return in.addTree(w, path, false) }
		}
		if err := add(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// addFile watches the folder of a file, because editors replace files. If the file is a link, it
// watches the folder of the other file, too. The argument word is the name that the user typed.
func (in *importer) addFile(w *fsnotify.Watcher, path, word string) error {
	if agents.IsPlace(path) {
		path = path[:strings.LastIndexByte(path, '#')]
	}
	files := []string{filepath.Clean(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil && target != files[0] {
		files = append(files, target)
	}
	for _, f := range files {
		in.targets[f] = append(in.targets[f], word)
		if err := w.Add(filepath.Dir(f)); err != nil {
			return err
		}
	}
	return nil
}

// addTree watches a folder and its subfolders, and adds them to in.trees. The folder itself may be
// a link. If all is false, addTree leaves out subfolders that an import does not read.
func (in *importer) addTree(w *fsnotify.Watcher, root string, all bool) error {
	target, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	return filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != target && !all && !job.IsFolder(d.Name()):
			return filepath.SkipDir
		}
		path = filepath.Join(root, strings.TrimPrefix(path, target))
		in.trees[path] = true
		return w.Add(path)
	})
}

// follow imports the files that a watcher reports. It waits until nothing has changed for the
// duration [quiet].
func (in *importer) follow(ctx context.Context, w *fsnotify.Watcher) error {
	in.j.Note("watching; interrupt to stop")
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
			files, err := in.touched(w, e.Name, fi.IsDir())
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

// storeOf returns the agent's session folder that contains path, or nil.
func (in *importer) storeOf(path string) *folderOf {
	for i := range in.stores {
		if job.Within(path, in.stores[i].folder) {
			return &in.stores[i]
		}
	}
	return nil
}

// touched returns the files to import after a change at path. If path is a new folder in which
// sessions may be, touched first watches it, so that no file which is made meanwhile is missed.
func (in *importer) touched(w *fsnotify.Watcher, path string, folder bool) (files []job.File, err error) {
	s := in.storeOf(path)
	if folder {
		if s != nil && s.agent.Flat || s == nil && (!in.trees[filepath.Dir(path)] || !job.IsFolder(filepath.Base(path))) {
			return nil, nil
		}
		if err := in.addTree(w, path, s != nil); err != nil {
			return nil, err
		}
	}
	named := in.targets[path]
	if named == nil {
		named = in.targets[strings.TrimSuffix(path, "-wal")] // the log of a database
	}
	switch {
	case named != nil:
		return in.j.Files(named)
	case s != nil:
		found, err := s.agent.Sessions(path)
		for _, f := range found {
			files = append(files, job.File{Source: f})
		}
		return files, err
	case folder:
		return in.j.Files([]string{path})
	case in.trees[filepath.Dir(path)] && job.IsFile(path):
		files = []job.File{{Source: agents.Source{Name: path}}}
	}
	return files, nil
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
