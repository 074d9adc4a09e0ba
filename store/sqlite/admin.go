package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Scopes implements [store.Admin].
func (s *database) Scopes(ctx context.Context) ([]governance.Scope, error) {
	return inView(ctx, s, func(v view) ([]governance.Scope, error) { return column[governance.Scope](v.each, selectScopes) })
}

// Ready implements [store.Database]. It returns an error if the store was opened for reading only,
// if its file was moved, or if the last transaction failed and another attempt to write fails too.
func (s *database) Ready(ctx context.Context) error {
	if s.barred != nil {
		return s.barred
	}
	if err := s.moved(); err != nil || !s.writer.failed.Load() {
		return err
	}
	return s.explain(s.submit(&job{ctx: ctx, write: func(w *writer) error { return w.exec(countCredentials, 0) }}))
}

// Info implements [store.Admin].
func (s *database) Info(ctx context.Context) (*store.Info, error) {
	info := &store.Info{Driver: "sqlite", Version: s.version, Path: s.path, Schema: len(s.steps)}
	err := s.view(ctx, func(v view) error {
		return v.row(selectCounts, nil, &info.Sessions, &info.Blocks, &info.Cells, &info.Artifacts, &info.Manifests)
	})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{s.path, s.path + "-wal"} {
		switch fi, err := os.Stat(name); {
		case err == nil:
			info.Bytes += fi.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return info, nil
}
