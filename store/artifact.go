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

// A Version counts the updates of a scope, from 1. A scope without updates has version 0.
type Version int64

// An ArtifactID names an artifact within its scope. The writer makes it: any text that is not empty
// and reveals nothing about the artifact's text, such as 8 random bytes in hexadecimal.
type ArtifactID string

// A Status is the status of an artifact. Only StatusLive artifacts may enter
// a context. It is stored as its text.
type Status string

// The statuses of an artifact.
const (
	StatusLive       Status = "live"
	StatusHeld       Status = "held"       // the gate holds it until a person decides
	StatusRejected   Status = "rejected"   // a person rejected it
	StatusRefuted    Status = "refuted"    // it, its source, or an artifact that it was made from is wrong
	StatusTombstoned Status = "tombstoned" // removed; the text is kept
	StatusPurged     Status = "purged"     // the text is erased
)

// An Artifact is the record of a piece of context from outside the conversations. Its text is in
// the cell Content; its title, source and other metadata are in the cell About.
type Artifact struct {
	ID       ArtifactID
	Seq      int64   // position in its scope, from 1, in the order of arrival; set by the store
	Version  Version // of the last update that wrote it; set by the store
	Class    provenance.Class
	Status   Status
	Pinned   bool
	Content  CellID
	About    CellID
	Bytes    int64
	Tokens   token.Count // tokens of its rendering in a context, by Encoding
	Encoding string
	Source   string          // scheme of the source from which it is fetched again, such as "https"; "stash"; or empty
	Created  time.Time       // time from which the text is true; like all times here UTC, in whole milliseconds
	Updated  time.Time       // time of the last write
	Expires  time.Time       // zero: never
	Address  string          // digest, made by the writer, to find equal texts of a scope; empty after a purge
	Gate     json.RawMessage // record of the gate; holds no text
}

// A Write is the new state of an artifact.
type Write struct {
	Artifact

	// At is the version of the artifact that this one replaces; 0 means that
	// the artifact must not exist.
	At Version
}

// An Update has all that one write changes in the artifacts of a scope and in its ledger. Entry
// needs an ID; all other fields may be zero.
//
// A purged cell keeps its kind and its commitment. An artifact whose content is purged is removed
// from the index, unless Index has a new entry for it. Purging a cell twice is no error.
type Update struct {
	Cells     []Cell
	Edges     []Edge
	Artifacts []Write
	Index     []ArtifactText
	Purge     []CellID // cells whose salt and body are erased
	Manifest  *Manifest
	Outcome   *ContextOutcome
	Entry     Entry // the store sets its Revision to the new version
}

// An ArtifactText is the index entry of an artifact. It replaces the earlier
// entry; an empty text removes it.
type ArtifactText struct {
	Artifact ArtifactID
	Text     string
}

// A Manifest is the record of one assembled context. It is immutable, but each
// [Update] with an Outcome for it adds to Made.
type Manifest struct {
	ID      string               `json:"id"`
	Version Version              `json:"version"`           // of the update that wrote it; set by the store
	Session transcript.SessionID `json:"session,omitempty"` // session whose window is in the context
	Created time.Time            `json:"created"`
	Format  string               `json:"format"` // name of the context's format
	Tier    tier.Tier            `json:"tier"`
	Budget  token.Count          `json:"budget"`
	Total   token.Count          `json:"total"`
	Seal    digest.Digest        `json:"seal"`
	Body    []byte               `json:"body,omitempty"` // the document; holds no text
	Uses    []ArtifactID         `json:"uses,omitempty"` // artifacts whose text is in the context, each once, in order
	Made    []ContextOutcome     `json:"made,omitempty"` // outcomes of the context, in order; set by the store
}

// A ContextOutcome is recorded beside the manifest of an assembled context: the decision of the
// gate or of a review about a memory that was made with it, or the end of the call that sent it.
// The store does not interpret Data.
type ContextOutcome struct {
	Manifest string           `json:"manifest"`
	Version  Version          `json:"version"` // set by the store
	Actor    governance.Actor `json:"actor"`
	Time     time.Time        `json:"time"`
	Data     json.RawMessage  `json:"data,omitempty"` // holds no text
}

// A Pick selects artifacts by one of its fields. Set only one: otherwise the first that is set of
// Cells, Seqs, Status, Address and Prefix selects alone.
type Pick struct {
	Prefix  string // beginning of the id
	Address string
	Status  Status
	Cells   []CellID // artifacts with one of these cells as content
	Seqs    []int64  // artifacts at these positions
}

// Artifacts stores pieces of context from outside the conversations.
type Artifacts interface {
	// Update makes an update durably, whole or not at all, and returns the new version. It fails
	// with ErrConflict unless each artifact that it writes is at the stated version, and with
	// ErrNotFound if it refers to a missing cell, artifact or manifest. It refuses an invalid
	// update, and one with a cell, manifest or entry that exists.
	Update(ctx context.Context, scope governance.Scope, u *Update) (Version, error)

	// Version returns the version of a scope.
	Version(ctx context.Context, scope governance.Scope) (Version, error)

	// Artifacts yields the artifacts written after a version, with every
	// status, by Seq. After 0 it yields all.
	Artifacts(ctx context.Context, scope governance.Scope, after Version) iter.Seq2[*Artifact, error]

	// Pick returns the artifacts that p selects, by Seq, at most limit. A zero Pick selects all.
	Pick(ctx context.Context, scope governance.Scope, p *Pick, limit int) ([]Artifact, error)

	// Hits returns the positions (Seq) of artifacts whose text has at least one of the terms, at
	// most limit. Artifacts with rarer or more terms come first, as [FindHits] weighs them; of
	// equals the newest first. Of a very frequent term only the newest artifacts are considered. A
	// term is split into words by [Words], and each matches only whole words of a text.
	Hits(ctx context.Context, scope governance.Scope, terms []string, limit int) ([]int64, error)
}

// Ledger stores manifests and the log of artifacts.
type Ledger interface {
	// Manifest returns a manifest with its outcomes, or ErrNotFound.
	Manifest(ctx context.Context, scope governance.Scope, id string) (*Manifest, error)

	// Manifests yields the manifests of a scope, or of one of its sessions if
	// session is not empty, newest first and without Body, Uses and Made.
	Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID) iter.Seq2[*Manifest, error]

	// Users returns the ids of the manifests that use any of the artifacts, oldest first.
	Users(ctx context.Context, scope governance.Scope, ids []ArtifactID) ([]string, error)

	// Log yields the entries of a scope's updates after a version, in order.
	Log(ctx context.Context, scope governance.Scope, after Version) iter.Seq2[*Entry, error]
}

// Validate returns the first error in an update that can be found without the store. Every driver
// calls it before it writes. Cells are checked as in [Change.Validate]. Each artifact is there once
// and has an ID, a valid Class and Status, Content and About. A manifest has an ID, and each of
// Uses once. An outcome names a Manifest, and Entry has an ID.
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
			return fmt.Errorf("artifact %s needs a cell for its content and one for its metadata: set Content and About", a.ID)
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
		return errors.New("the outcome names no manifest: set its field Manifest")
	case u.Entry.ID == "":
		return errors.New("the log entry has no id")
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
