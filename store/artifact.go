package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Version counts the updates of a scope. The first makes it 1; a scope that
// never saw one is at 0.
type Version int64

// An ArtifactID names an artifact within its scope. It says nothing about the
// text.
type ArtifactID string

// A Status says whether an artifact may enter a context. Only StatusLive may.
// It is stored as its text.
type Status string

// The statuses of an artifact.
const (
	StatusLive       Status = "live"
	StatusHeld       Status = "held"       // by the gate, until a person decides
	StatusRejected   Status = "rejected"   // by a person
	StatusRefuted    Status = "refuted"    // its source, or what it was made from, turned out wrong
	StatusTombstoned Status = "tombstoned" // removed; the text is kept
	StatusPurged     Status = "purged"     // the text is gone
)

// An Artifact is what a store knows of a piece of context from outside the
// conversations. Its text is in the cell Content; title, source and whatever
// else is said about it are in the cell About.
type Artifact struct {
	ID       ArtifactID
	Seq      int64   // place in its scope, from 1 in the order of arrival; set by the store
	Version  Version // of the update that wrote it last; set by the store
	Class    provenance.Class
	Status   Status
	Pinned   bool
	Content  CellID
	About    CellID
	Bytes    int64
	Tokens   token.Count // as it is rendered in a context, by Encoding
	Encoding string
	Source   string          // kind of source that it can be fetched from again, or empty
	Created  time.Time       // since when the text has been true; UTC, whole milliseconds, as all times here
	Updated  time.Time       // when it was written last
	Expires  time.Time       // zero: never
	Address  string          // equal for equal texts of a scope; empty once purged
	Gate     json.RawMessage // what the gate found; holds no text
}

// A Write is an artifact as it is from now on.
type Write struct {
	Artifact

	// At is the version of the artifact that this one replaces. 0 means that
	// the artifact must not exist yet.
	At Version
}

// An Update is all that one job writes to the artifacts of a scope and to its
// ledger.
//
// A cell that is purged keeps its kind and its commitment. An artifact of which
// it is the content is findable by nothing from then on, unless Index says by
// what. To purge a cell again is no error.
type Update struct {
	Cells     []Cell
	Edges     []Edge
	Artifacts []Write
	Index     []ArtifactText
	Purge     []CellID // whose salt and body are erased
	Manifest  *Manifest
	Outcome   *ContextOutcome
	Entry     Entry // its Revision becomes the version that the update makes
}

// An ArtifactText makes an artifact findable by a text. It replaces what the
// artifact was findable by before; an empty text leaves nothing.
type ArtifactText struct {
	Artifact ArtifactID
	Text     string
}

// A Manifest is the account of one assembled context, as a store keeps it. It
// is written once and never changed, except that items of Body may be redacted.
type Manifest struct {
	ID      string               `json:"id"`
	Version Version              `json:"version"`           // of the update that wrote it; set by the store
	Session transcript.SessionID `json:"session,omitempty"` // whose window is in it
	Created time.Time            `json:"created"`
	Format  string               `json:"format"`
	Tier    tier.Tier            `json:"tier"`
	Budget  token.Count          `json:"budget"`
	Total   token.Count          `json:"total"`
	Seal    digest.Digest        `json:"seal"`
	Body    []byte               `json:"body,omitempty"` // the document; holds no text
	Uses    []ArtifactID         `json:"uses,omitempty"` // whose text is in the context, each once, in order
	Made    []ContextOutcome     `json:"made,omitempty"` // what came of it, in order; set by the store
}

// A ContextOutcome says what came of a context: a second record beside its manifest.
type ContextOutcome struct {
	Manifest string           `json:"manifest"`
	Version  Version          `json:"version"` // set by the store
	Actor    governance.Actor `json:"actor"`
	Time     time.Time        `json:"time"`
	Data     json.RawMessage  `json:"data,omitempty"` // holds no text
}

// A Pick says which artifacts are wanted: one of its fields is set.
type Pick struct {
	Prefix  string // of the id
	Address string
	Status  Status
	Cells   []CellID // that have one of these as their content
	Seqs    []int64  // at these places
}

// Artifacts keeps pieces of context from outside the conversations.
type Artifacts interface {
	// Update makes an update as a whole or not at all, durably, and returns the
	// version it made. It fails with ErrConflict unless each artifact that it
	// writes is at the version it names, and with ErrNotFound if it refers to a
	// cell, an artifact or a manifest that is not there. It refuses an update
	// that is not valid, or brings a cell, a manifest or an entry that is there
	// already.
	Update(ctx context.Context, scope governance.Scope, u *Update) (Version, error)

	// Version returns the version of a scope.
	Version(ctx context.Context, scope governance.Scope) (Version, error)

	// Artifacts yields the artifacts that were written after a version,
	// whatever their status, by Seq. After 0 these are all.
	Artifacts(ctx context.Context, scope governance.Scope, after Version) iter.Seq2[*Artifact, error]

	// Pick returns the artifacts that fit, by Seq, limit at most. All fit a Pick
	// of which no field is set.
	Pick(ctx context.Context, scope governance.Scope, p *Pick, limit int) ([]Artifact, error)

	// Hits returns the places (Seq) of artifacts whose text has at least one of
	// the terms, limit at most: those first that have rarer terms, or more of
	// them, as [FindHits] counts; among equals the newest first. Of a term that
	// very many have, it considers only the newest. A term stands for its words,
	// as [Words] yields them, and they are found as whole words.
	Hits(ctx context.Context, scope governance.Scope, terms []string, limit int) ([]int64, error)
}

// Ledger keeps what was assembled, and what happened to the artifacts.
type Ledger interface {
	// Manifest returns a manifest with what came of it, or ErrNotFound.
	Manifest(ctx context.Context, scope governance.Scope, id string) (*Manifest, error)

	// Manifests yields the manifests of a scope, or of one of its sessions if
	// session is not empty, newest first and without Body, Uses and Made.
	Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID) iter.Seq2[*Manifest, error]

	// Users returns the ids of the manifests that use any of some artifacts,
	// oldest first.
	Users(ctx context.Context, scope governance.Scope, ids []ArtifactID) ([]string, error)

	// Log yields the entries of a scope's updates after a version, in order.
	Log(ctx context.Context, scope governance.Scope, after Version) iter.Seq2[*Entry, error]
}

// Validate reports what is wrong with an update on its own, whatever the store
// holds. Every driver asks before it writes.
func (u *Update) Validate() error {
	cells := make(map[CellID]bool, len(u.Cells))
	for i := range u.Cells {
		if err := u.Cells[i].validate(i, cells, "update"); err != nil {
			return err
		}
	}
	seen := make(map[ArtifactID]bool, len(u.Artifacts))
	for i := range u.Artifacts {
		a := &u.Artifacts[i]
		switch {
		case a.ID == "":
			return fmt.Errorf("artifact %d of the update has no id", i+1)
		case seen[a.ID]:
			return fmt.Errorf("artifact %s is twice in the update", a.ID)
		case a.Class.Rank() < 0:
			return fmt.Errorf("artifact %s: no such class: %q", a.ID, a.Class)
		case !a.Status.valid():
			return fmt.Errorf("artifact %s: no such status: %q", a.ID, a.Status)
		case a.Content == "" || a.About == "":
			return fmt.Errorf("artifact %s has no cell for its content, or none about it", a.ID)
		}
		seen[a.ID] = true
	}
	if u.Manifest != nil {
		if err := u.Manifest.validate(); err != nil {
			return err
		}
	}
	switch {
	case u.Outcome != nil && u.Outcome.Manifest == "":
		return errors.New("the outcome names no manifest")
	case u.Entry.ID == "":
		return errors.New("the entry of the log has no id")
	}
	return nil
}

func (m *Manifest) validate() error {
	if m.ID == "" {
		return errors.New("the manifest has no id")
	}
	seen := make(map[ArtifactID]bool, len(m.Uses))
	for _, id := range m.Uses {
		if seen[id] {
			return fmt.Errorf("manifest %s uses artifact %s twice", m.ID, id)
		}
		seen[id] = true
	}
	return nil
}

func (s Status) valid() bool {
	switch s {
	case StatusLive, StatusHeld, StatusRejected, StatusRefuted, StatusTombstoned, StatusPurged:
		return true
	default:
		return false
	}
}
