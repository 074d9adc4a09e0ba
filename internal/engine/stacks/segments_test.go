package stacks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A loggedStore has a log, and manifests without a body. Its log fails with err.
type loggedStore struct {
	store.Store
	log       []store.Entry
	manifests map[string]store.Manifest
	err       error
}

func (s *loggedStore) Log(context.Context, governance.Scope, store.Version) iter.Seq2[*store.Entry, error] {
	return func(yield func(*store.Entry, error) bool) {
		for i := range s.log {
			if s.err != nil {
				yield(nil, s.err)
				return
			}
			if !yield(&s.log[i], nil) {
				return
			}
		}
	}
}

func (s *loggedStore) Manifest(_ context.Context, _ governance.Scope, id string) (*store.Manifest, error) {
	m, ok := s.manifests[id]
	if !ok {
		return nil, fmt.Errorf("manifest %q: %w", id, store.ErrNotFound)
	}
	return &m, nil
}

// The latest context of a session in a format is found by its entry in the log, or, if an earlier
// version wrote the entry, by its manifest.
func TestLatestContext(t *testing.T) {
	manifests := map[string]store.Manifest{}
	for _, m := range []store.Manifest{
		{ID: "wanted", Session: "s", Format: "openai"}, {ID: "format", Session: "s", Format: "anthropic"}, {ID: "session", Session: "o", Format: "openai"},
	} {
		manifests[m.ID] = m
	}
	made := func(id string) store.Entry {
		return store.Entry{Op: OpAssemble, Data: fmt.Appendf(nil, `{"manifest":%q}`, id)}
	}
	told := func(id, session, format string) store.Entry {
		return store.Entry{Op: OpAssemble, Data: fmt.Appendf(nil, `{"manifest":%q,"session":%q,"format":%q}`, id, session, format)}
	}
	for name, c := range map[string]struct {
		log  []store.Entry
		want string
	}{
		"none":               {nil, ""},
		"told":               {[]store.Entry{told("wanted", "s", "openai")}, "wanted"},
		"not told":           {[]store.Entry{made("wanted")}, "wanted"},
		"other format":       {[]store.Entry{made("wanted"), made("format")}, "wanted"},
		"other session":      {[]store.Entry{made("wanted"), made("session")}, "wanted"},
		"told other format":  {[]store.Entry{told("wanted", "s", "openai"), told("gone", "s", "anthropic")}, "wanted"},
		"told other session": {[]store.Entry{told("wanted", "s", "openai"), told("gone", "o", "openai")}, "wanted"},
		"only others":        {[]store.Entry{made("format"), made("session")}, ""},
		"other operation":    {[]store.Entry{made("wanted"), {Op: "put", Data: []byte(`{"manifest":"format"}`)}}, "wanted"},
		"unreadable":         {[]store.Entry{made("wanted"), {Op: OpAssemble, Data: []byte(`[]`)}}, "wanted"},
	} {
		e := process(t, &loggedStore{log: c.log, manifests: manifests}, "")
		err := e.readLatest(t.Context(), segmentsOf{testScope, "s", "openai"}, 1, nil)
		if read := errors.Is(err, store.ErrCorrupt) && strings.Contains(err.Error(), "manifest "+c.want+":"); c.want == "" && err != nil || c.want != "" && !read {
			t.Errorf("%s: %v, want the manifest %q", name, err, c.want)
		}
	}
}

// A log that cannot be read says nothing about erasures.
func TestSegmentsWithoutALog(t *testing.T) {
	s := &loggedStore{log: []store.Entry{{Op: "put"}}}
	e := process(t, s, "")
	if _, err := e.KnownSegments(t.Context(), testScope, 1, "s", "openai"); err != nil {
		t.Fatal(err)
	}
	s.err = errors.New("busy")
	if erased, err := e.erasedSince(t.Context(), testScope, &SegmentsKnown{}, 2); erased || !errors.Is(err, s.err) {
		t.Errorf("erased = %v, %v", erased, err)
	}
	if _, err := e.KnownSegments(t.Context(), testScope, 2, "s", "openai"); !errors.Is(err, s.err) {
		t.Errorf("the segments are served: %v", err)
	}
}

// Segments of one conversation are dropped once more than maxSegments are known, and those of others
// once all together are maxAllSegments.
func TestMostSegments(t *testing.T) {
	m := &manifest.Manifest{Items: []manifest.Item{&manifest.Segment{Kind: "block", Ref: "new"}}}
	for before, want := range map[int]int{0: 1, maxSegments: maxSegments + 1, maxSegments + 1: 1} {
		e := process(t, &loggedStore{}, "")
		k, err := e.KnownSegments(t.Context(), testScope, 1, "s", "openai")
		if err != nil {
			t.Fatal(err)
		}
		for i := range before {
			k.all[fmt.Sprint(i)] = KnownSegment{}
		}
		e.Segments.count.Store(int64(before))
		k.Keep(m, make([]digest.Salt, 1))
		if got := e.Segments.count.Load(); len(k.all) != want || got != int64(want) {
			t.Errorf("after %d segments %d are known and %d are counted, want %d", before, len(k.all), got, want)
		}
	}
	for count, want := range map[int64]int{maxAllSegments - 1: 2, maxAllSegments: 1} {
		e := process(t, &loggedStore{}, "")
		for _, session := range []transcript.SessionID{"s", "o"} {
			if _, err := e.KnownSegments(t.Context(), testScope, 1, session, "openai"); err != nil {
				t.Fatal(err)
			}
			e.Segments.count.Store(count)
		}
		if n := len(e.Segments.all); n != want {
			t.Errorf("of %d segments, those of %d conversations stay, want %d", count, n, want)
		}
	}
}
