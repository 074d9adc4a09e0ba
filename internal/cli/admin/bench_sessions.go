package admin

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/store"
)

// A recording holds the sessions to measure.
type recording struct {
	all     []*retention.Trajectory
	paths   []string
	files   int // files read
	cases   int
	short   int // sessions with too few tokens before every cut
	idle    int // sessions that reuse too little of their text
	skipped int // files that contain no conversation
	left    int // files not read, because enough conversations were read
}

// read reads conversations from files and folders until there are enough to measure.
func (b *retentionBench) read(ctx context.Context, paths []string) (*recording, error) {
	files, err := b.j.Files(paths)
	if err != nil {
		return nil, err
	}
	files = inHashOrder(files)
	r := &recording{paths: paths}
	for i, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(r.all) == b.max {
			r.left = len(files) - i
			break
		}
		b.j.Reporter.Step("read file", i, len(files))
		data, err := b.j.ReadFile(f)
		if err != nil {
			return nil, err
		}
		r.files++
		t, err := retention.Read(f.Name, "", data)
		switch {
		case err != nil && f.Named:
			return nil, out.InFile(f.Name, err)
		case err != nil:
			r.skipped++
			if b.j.Verbose > 0 {
				b.j.Note("skipped: %s", f.Name)
			}
			continue
		}
		r.add(t, b.least)
	}
	if len(r.all) == 0 {
		return nil, r.nothing(b.least)
	}
	return r, nil
}

// add adds a session, if there is something to measure in it.
func (r *recording) add(t *retention.Trajectory, least int) {
	switch n := len(t.Cases(nil, least)); {
	case n > 0:
		r.all = append(r.all, t)
		r.cases += n
	case len(t.Cases(nil, 1)) > 0:
		r.short++
	default:
		r.idle++
	}
}

// inHashOrder orders files by a hash of their names, each once.
func inHashOrder(files []job.File) []job.File {
	key := func(f job.File) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(filepath.Base(f.Name))) // never fails
		return h.Sum64()
	}
	slices.SortStableFunc(files, func(a, b job.File) int {
		return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(files, func(a, b job.File) bool { return filepath.Clean(a.Name) == filepath.Clean(b.Name) })
}

// nothing returns the error that there is nothing to measure, with the reason.
func (r *recording) nothing(least int) error {
	where := strings.Join(r.paths, ", ")
	nothing := func(hint, format string, args ...any) error {
		return &out.Error{Text: "bench retention: " + fmt.Sprintf(format, args...), Err: store.ErrNotFound, Hint: hint}
	}
	switch {
	case r.short+r.idle == 0 && r.files == 0:
		return nothing("carrel help formats; name the folder or the files of your sessions",
			"no conversation in %s: no file there ends in .json or .jsonl", where)
	case r.short+r.idle == 0:
		return nothing("carrel help formats; name the folder or the files of your sessions",
			"no conversation in %s: %s there %s in .json or .jsonl, none in a known format", where, out.Count(r.files, "file"), out.Plural(r.files, "ends", "end"))
	case r.short == 0:
		return nothing("name longer sessions, in which an agent calls tools",
			"none of the sessions in %s can be measured (%d): a session must use three names of files, functions or the like again", where, r.idle)
	}
	return nothing(fmt.Sprintf("give a lower --min, such as %d, or name longer sessions", max(least/4, 1)),
		"no session in %s has --min %s tokens before a cut: %s %s shorter", where, out.Thousands(least), out.Count(r.short, "session"), out.Plural(r.short, "is", "are"))
}
