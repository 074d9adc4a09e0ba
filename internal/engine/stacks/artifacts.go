package stacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
)

// Resident returns the page of an artifact.
func (e *Stacks) Resident(ctx context.Context, scope governance.Scope, a *store.Artifact) (*Resident, error) {
	pages, err := e.Fault(ctx, scope, []Location{{int(a.Seq - 1), a.ID, a.Version}})
	switch {
	case err != nil:
		return nil, err
	case pages[0] != nil:
		return pages[0], nil
	case a.Status == store.StatusPurged:
		return nil, base.Statef(api.ErrGone, "artifact %s was purged", a.ID)
	}
	return nil, fmt.Errorf("artifact %s has changed meanwhile: %w", a.ID, store.ErrConflict)
}

// NotesOf reads the notes of artifacts. The note of a purged artifact is empty.
func (e *Stacks) NotesOf(ctx context.Context, scope governance.Scope, rows []store.Artifact) ([]*Note, error) {
	notes := make([]*Note, len(rows))
	at := make(map[store.CellID]int, len(rows))
	var cells []store.CellID
	for i := range rows {
		notes[i] = &Note{}
		if rows[i].Status != store.StatusPurged {
			at[rows[i].About] = i
			cells = append(cells, rows[i].About)
		}
	}
	for c, err := range e.Store.Cells(ctx, scope, cells) {
		if errors.Is(err, store.ErrGone) { // purged since the rows were read
			for i := range rows {
				if notes[i], err = e.NoteOf(ctx, scope, &rows[i]); err != nil {
					return nil, err
				}
			}
			return notes, nil
		}
		if err != nil {
			return nil, err
		}
		i := at[c.ID]
		if err := json.Unmarshal(c.Body, notes[i]); err != nil {
			return nil, fmt.Errorf("%w: decode the metadata of artifact %s: %w", store.ErrCorrupt, rows[i].ID, err)
		}
	}
	return notes, nil
}

// NoteOf reads the about cell of an artifact. The note of a purged artifact is empty.
func (e *Stacks) NoteOf(ctx context.Context, scope governance.Scope, a *store.Artifact) (*Note, error) {
	n := &Note{}
	c, err := e.ReadCell(ctx, scope, a.About)
	switch {
	case errors.Is(err, store.ErrGone):
		return n, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(c.Body, n); err != nil {
		return nil, fmt.Errorf("%w: decode the metadata of artifact %s: %w", store.ErrCorrupt, a.ID, err)
	}
	return n, nil
}

// GateStatus returns the status that the gate and a reviewer gave an artifact, whatever happened
// to it later. It is live, unless the gate held the artifact and nobody approved it.
func GateStatus(a *store.Artifact) (store.Status, error) {
	if len(a.Gate) == 0 {
		return store.StatusLive, nil
	}
	g, err := ReadGate(a)
	switch {
	case err != nil:
		return "", err
	case g.Decided == DecidedRejected:
		return store.StatusRejected, nil
	case g.Outcome == assembly.Hold && g.Decided == "":
		return store.StatusHeld, nil
	}
	return store.StatusLive, nil
}

// NamedArtifacts returns the artifacts that the given ids, or prefixes of ids, name, each once. It
// fails with [api.ErrRequest] if ids is empty.
func (e *Stacks) NamedArtifacts(ctx context.Context, scope governance.Scope, ids []string) ([]store.Artifact, error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w: no artifact is named: give its id", api.ErrRequest)
	}
	var rows []store.Artifact
	for _, id := range ids {
		a, err := e.FindArtifact(ctx, scope, id, false)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(rows, func(b store.Artifact) bool { return b.ID == a.ID }) {
			rows = append(rows, *a)
		}
	}
	return rows, nil
}

// SetStatus adds the change of an artifact's status to an update. Only a live artifact stays in
// the search index.
func (e *Stacks) SetStatus(ctx context.Context, scope governance.Scope, u *store.Update, a *store.Artifact, to store.Status) error {
	w := store.Write{Artifact: *a, At: a.Version}
	w.Status, w.Updated = to, e.Now()
	text := ""
	switch to {
	case store.StatusLive:
		p, err := e.Resident(ctx, scope, a)
		if err != nil {
			return err
		}
		live := Resident{Row: w.Artifact, Note: p.Note, Text: p.Text}
		text = live.indexed()
	case store.StatusPurged:
		w.Address, w.Pinned = "", false
	case store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned:
	}
	u.Artifacts = append(u.Artifacts, w)
	u.Index = append(u.Index, store.ArtifactText{Artifact: a.ID, Text: text})
	return nil
}

// A Family is a set of artifacts, everything derived from them, and the cells of all of them.
type Family struct {
	Rows  []store.Artifact // the named artifacts first
	Named int              // number of named artifacts
	Cells []store.CellID   // sorted once the family is complete

	known map[store.ArtifactID]bool
	has   map[store.CellID]bool
	fresh []store.CellID // cells whose descendants are not yet known
}

// NewFamily returns an empty family.
func NewFamily() *Family {
	return &Family{known: make(map[store.ArtifactID]bool), has: make(map[store.CellID]bool)}
}

// Add adds cells to a family.
func (f *Family) Add(cells ...store.CellID) {
	for _, c := range cells {
		if !f.has[c] {
			f.has[c], f.fresh = true, append(f.fresh, c)
		}
	}
}

// join adds an artifact to a family, with all its versions.
func (e *Stacks) join(ctx context.Context, scope governance.Scope, f *Family, a *store.Artifact) error {
	if f.known[a.ID] {
		return nil
	}
	f.known[a.ID] = true
	f.Rows = append(f.Rows, *a)
	own, err := e.versions(ctx, scope, a)
	f.Add(own...)
	return err
}

// Lineage returns the family of the artifacts with the given ids or from the given source, with
// all their versions.
func (e *Stacks) Lineage(ctx context.Context, scope governance.Scope, ids []string, source string) (*Family, error) {
	if len(ids) == 0 && source == "" {
		return nil, fmt.Errorf("%w: no artifact is named: give its id", api.ErrRequest)
	}
	f := NewFamily()
	if len(ids) > 0 {
		rows, err := e.NamedArtifacts(ctx, scope, ids)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if err := e.join(ctx, scope, f, &rows[i]); err != nil {
				return nil, err
			}
		}
	}
	if source != "" {
		err := e.eachFrom(ctx, scope, source, func(a *store.Artifact) error { return e.join(ctx, scope, f, a) })
		if err != nil {
			return nil, err
		}
	}
	if f.Named = len(f.Rows); f.Named == 0 {
		return nil, api.About(api.SubjectArtifact, base.Statef(store.ErrNotFound, "there is no artifact from the source %q in scope %s", source, scope))
	}
	return f, e.Descend(ctx, scope, f)
}

// Descend adds to a family everything derived from its cells. A derived memory may have further
// versions, from which more was derived, so Descend repeats until it finds nothing new.
func (e *Stacks) Descend(ctx context.Context, scope governance.Scope, f *Family) error {
	for len(f.fresh) > 0 {
		derived, err := e.Store.Derived(ctx, scope, f.fresh)
		if err != nil {
			return err
		}
		if len(derived) == 0 {
			break // a Pick without cells would select all artifacts
		}
		f.fresh = nil
		for _, c := range derived {
			f.has[c] = true
		}
		made, err := e.Store.Pick(ctx, scope, &store.Pick{Cells: derived}, max(1, len(derived)))
		if err != nil {
			return err
		}
		for i := range made {
			if err := e.join(ctx, scope, f, &made[i]); err != nil {
				return err
			}
		}
	}
	f.Cells = slices.Sorted(maps.Keys(f.has))
	return nil
}

// eachFrom calls f for each artifact that comes from source.
func (e *Stacks) eachFrom(ctx context.Context, scope governance.Scope, source string, f func(*store.Artifact) error) error {
	for a, err := range e.Store.Artifacts(ctx, scope, 0) {
		if err != nil {
			return err
		}
		n, err := e.NoteOf(ctx, scope, a)
		if err != nil {
			return err
		}
		if n.Source != source {
			continue
		}
		if err := f(a); err != nil {
			return err
		}
	}
	return nil
}

// versions returns the cells of all versions of an artifact.
func (e *Stacks) versions(ctx context.Context, scope governance.Scope, a *store.Artifact) ([]store.CellID, error) {
	cells := []store.CellID{a.Content, a.About}
	for row := *a; ; {
		n, err := e.NoteOf(ctx, scope, &row)
		if err != nil {
			return nil, err
		}
		if n.OldAbout == "" {
			return cells, nil
		}
		cells = append(cells, n.OldContent, n.OldAbout)
		row.Content, row.About = n.OldContent, n.OldAbout
	}
}

// GateRecord is the stored decision of the gate. It contains no text of the artifact.
type GateRecord struct {
	Outcome    assembly.GateOutcome `json:"outcome"`
	Reasons    []assembly.Reason    `json:"reasons,omitempty"`
	Evaluator  string               `json:"evaluator,omitempty"`
	Confidence ratio.Ratio          `json:"confidence"`
	Policy     string               `json:"policy,omitempty"`
	Manifest   string               `json:"manifest,omitempty"`
	Artifact   store.ArtifactID     `json:"artifact,omitempty"`
	Decided    string               `json:"decided,omitempty"` // decision of a person: approved, edited or rejected
	By         governance.Actor     `json:"by,omitempty"`
}

// ReadGate decodes the gate's decision about an artifact.
func ReadGate(a *store.Artifact) (*GateRecord, error) {
	g := &GateRecord{}
	if err := json.Unmarshal(a.Gate, g); err != nil {
		return nil, fmt.Errorf("%w: decode the gate record of artifact %s: %w", store.ErrCorrupt, a.ID, err)
	}
	return g, nil
}

// DecidedRejected marks a memory that a reviewer rejected.
const DecidedRejected = "rejected"
