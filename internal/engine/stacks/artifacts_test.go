package stacks

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

// An id has up to 64 lower-case letters, digits, _ and -.
func TestCheckIDOfArtifact(t *testing.T) {
	e := process(t, nil, "")
	for id, valid := range map[string]bool{
		"": true, "a-9_z": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "A": false, "a b": false, "ä": false,
	} {
		err := e.CheckPut(&api.NewArtifact{ID: store.ArtifactID(id), Class: provenance.Memory, Content: []byte("x")})
		if valid && err != nil || !valid && !errors.Is(err, api.ErrRequest) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Only a source with a scheme that can be fetched has a kind.
func TestSourceKind(t *testing.T) {
	for source, want := range map[string]string{
		"file:/a": "file", "HTTPS://h/a": "https", "func:f/a": "func", "ftp://h/a": "", "note: by hand": "", "file:": "", "a file": "", "": "",
	} {
		if got := SourceKind(source); got != want {
			t.Errorf("SourceKind(%q) = %q, want %q", source, got, want)
		}
	}
}

// The gate holds a memory until a reviewer decides.
func TestGateStatus(t *testing.T) {
	for gate, want := range map[string]store.Status{
		``: store.StatusLive, `{"outcome":"hold"}`: store.StatusHeld, `{"outcome":"hold","decided":"approved"}`: store.StatusLive,
		`{"outcome":"hold","decided":"rejected"}`: store.StatusRejected, `{"outcome":"promote"}`: store.StatusLive,
	} {
		if got, err := GateStatus(&store.Artifact{Gate: []byte(gate)}); got != want || err != nil {
			t.Errorf("GateStatus(%s) = %s, %v, want %s", gate, got, err, want)
		}
	}
	if _, err := GateStatus(&store.Artifact{Gate: []byte("0]")}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a gate that is no JSON: %v, want ErrCorrupt", err)
	}
}

// An id names one artifact, even if others begin with it. What is only the beginning of ids must be
// the beginning of one.
func TestFindArtifact(t *testing.T) {
	e := process(t, filled(t, 202, "op_1"), "") // with named-1, named-101 and named-201
	for _, c := range []struct {
		id    string
		exact bool
		want  store.ArtifactID
		err   error
	}{
		{"named-1", false, "named-1", nil},
		{"named-10", false, "named-101", nil},
		{"named-10", true, "", store.ErrNotFound},
		{"named-101", true, "named-101", nil},
		{"named", false, "", api.ErrAmbiguous},
		{"nam", true, "", store.ErrNotFound},
		{"x", false, "", store.ErrNotFound},
		{"", false, "", api.ErrRequest},
	} {
		a, err := e.FindArtifact(t.Context(), testScope, c.id, c.exact)
		if !errors.Is(err, c.err) || (a != nil) != (c.err == nil) || a != nil && a.ID != c.want {
			t.Errorf("FindArtifact(%q, %v) = %v, %v, want %q, %v", c.id, c.exact, a, err, c.want, c.err)
		}
	}
	rows, err := e.NamedArtifacts(t.Context(), testScope, []string{"named-20", "named-1", "named-201", "named-1"})
	if err != nil || len(rows) != 2 || rows[0].ID != "named-201" || rows[1].ID != "named-1" {
		t.Errorf("NamedArtifacts = %v, %v, want named-201 and named-1", rows, err)
	}
}

// Two ids that begin alike are ambiguous.
func TestTwoArtifactsThatBeginAlike(t *testing.T) {
	e := process(t, filled(t, 102, "op_1"), "")
	if a, err := e.FindArtifact(t.Context(), testScope, "named", false); !errors.Is(err, api.ErrAmbiguous) {
		t.Errorf("FindArtifact = %v, %v, want ErrAmbiguous", a, err)
	}
}

// The note of an artifact that was purged since its row was read is empty, and the others are read.
func TestNotesOfPurgedArtifacts(t *testing.T) {
	e := process(t, stores.New(t), "")
	u, rows := &store.Update{}, []store.Artifact(nil)
	for _, title := range []string{"one", "two", "three"} {
		w := &store.Write{Artifact: store.Artifact{ID: store.ArtifactID(title), Class: provenance.Memory, Status: store.StatusLive}}
		if _, err := e.AddArtifact(testScope, u, w, &Note{Title: title}, []byte(title)); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, u.Artifacts[len(u.Artifacts)-1].Artifact)
	}
	if _, err := e.Update(t.Context(), testScope, u, "put", nil); err != nil {
		t.Fatal(err)
	}
	check := func(want ...string) {
		t.Helper()
		notes, err := e.NotesOf(t.Context(), testScope, rows)
		if err != nil || len(notes) != 3 || notes[0].Title != want[0] || notes[1].Title != want[1] || notes[2].Title != want[2] {
			t.Errorf("NotesOf = %v, %v, want %q", notes, err, want)
		}
	}
	check("one", "two", "three")
	gone := rows[1]
	gone.Status, gone.Address = store.StatusPurged, ""
	u = &store.Update{Artifacts: []store.Write{{Artifact: gone, At: 1}}, Purge: []store.CellID{gone.Content, gone.About}}
	if _, err := e.Update(t.Context(), testScope, u, "purge", nil); err != nil {
		t.Fatal(err)
	}
	check("one", "", "three")
	rows[1].Status = store.StatusPurged
	check("one", "", "three")
}

// A row that the store lacks has no page.
func TestFaultOfNothing(t *testing.T) {
	e := process(t, filled(t, 2, "op_1"), "")
	pages, err := e.Fault(t.Context(), testScope, []Location{{row: 7, ID: "none", version: 1}})
	if err != nil || len(pages) != 1 || pages[0] != nil {
		t.Errorf("Fault = %v, %v, want no page", pages, err)
	}
}

// What a source answers decides about the artifact: nothing, or only white space, is no content.
func TestAskSource(t *testing.T) {
	cell, err := process(t, nil, "").Cell(store.CellText, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	p := &Resident{Row: store.Artifact{Bytes: 1, Version: 7}, Note: Note{Source: "func:f/a"}, cell: cell}
	for name, c := range map[string]struct {
		content string
		same    bool
		err     error
		want    manifest.FetchOutcome
		to      store.Version
	}{
		"unchanged": {same: true, want: manifest.OutcomeUnchanged, to: 7},
		"equal":     {content: "x", want: manifest.OutcomeUnchanged, to: 7},
		"changed":   {content: "y", want: manifest.OutcomeChanged, to: 7},
		"longer":    {content: "xy", want: manifest.OutcomeChanged, to: 7},
		"empty":     {want: manifest.OutcomeGone},
		"white":     {content: " \n", want: manifest.OutcomeGone},
		"gone":      {err: artifact.ErrGone, want: manifest.OutcomeGone},
		"forbidden": {err: artifact.ErrForbidden, want: manifest.OutcomeForbidden},
		"failed":    {err: errors.New("down"), want: manifest.OutcomeUnavailable},
		"no source": {want: manifest.OutcomeForbidden},
	} {
		e := process(t, nil, "")
		if name != "no source" {
			e.Opts.Sources = artifact.SourceFunc(func(context.Context, artifact.Ref, *artifact.Have) (*artifact.Fetched, error) {
				return &artifact.Fetched{Content: []byte(c.content), Unchanged: c.same}, c.err
			})
		}
		f, got := e.ask(t.Context(), p)
		if f.Outcome != c.want || f.From != 7 || f.To != c.to || (f.Err != nil) != (c.to == 0) || (got != nil) != (c.want == manifest.OutcomeChanged) {
			t.Errorf("%s: %+v, %v; want %s at version %d", name, f, got, c.want, c.to)
		}
	}
}

// An update that could not be written has no version.
func TestUpdateThatFails(t *testing.T) {
	e := process(t, filled(t, 1, "op_1"), "")
	if v, err := e.Update(t.Context(), testScope, &store.Update{}, "test", func() {}); v != 0 || err == nil {
		t.Errorf("Update with data that is no JSON = %d, %v", v, err)
	}
	e.Opts.Rand = iotest.ErrReader(errors.New("no numbers"))
	if v, err := e.Update(t.Context(), testScope, &store.Update{}, "test", nil); v != 0 || err == nil {
		t.Errorf("Update without random numbers = %d, %v", v, err)
	}
}
