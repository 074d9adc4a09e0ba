package hold

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A WindowSummary is what stands in the window for the older blocks of a session, as
// its summary cell holds it.
type WindowSummary struct {
	ID      transcript.BlockID `json:"id"`     // by which it is recalled
	After   transcript.BlockID `json:"after"`  // the block that it stands behind; empty: it comes first
	Text    string             `json:"text"`   // as it is sent
	Tokens  token.Count        `json:"tokens"` // of Text, in the window
	Covers  int                `json:"covers"` // how many blocks, from the first
	Input   digest.Digest      `json:"input"`  // of what they say
	Summary *summary.Summary   `json:"summary"`

	// Before is the summary of the windows before a compaction by the client, or nil.
	// The client left a text of its own for them, so the window has none of it.
	Before *summary.Summary `json:"before,omitempty"`
}

// Whole returns all that there is to recall: the summary, merged with that of the
// earlier windows.
func (s *WindowSummary) Whole() *summary.Summary {
	if s.Before == nil {
		return s.Summary
	}
	all, _ := s.Before.Merge(s.Summary)
	all.Meta = s.Summary.Meta
	return all
}

// SummaryPrefix begins the ids of summaries.
const SummaryPrefix = "sum_"

// SummaryID returns the id of a session's summary. It stays the same from one
// compression to the next, so that what names it stays true.
func SummaryID(id transcript.SessionID) transcript.BlockID {
	sum := sha256.Sum256([]byte("summary/v1\x00" + string(id)))
	return transcript.BlockID(SummaryPrefix + hex.EncodeToString(sum[:4]))
}

// ReadSummary reads what a summary cell holds.
func (e *Desk) ReadSummary(ctx context.Context, scope governance.Scope, cell store.CellID) (*WindowSummary, error) {
	if cell == "" {
		return nil, nil //nolint:nilnil // most sessions have none
	}
	bodies, err := e.Bodies(ctx, scope, []store.CellID{cell})
	if err != nil {
		return nil, err
	}
	s := &WindowSummary{}
	if err := json.Unmarshal(bodies[0], s); err != nil {
		return nil, fmt.Errorf("%w: summary cell %s: %w", store.ErrCorrupt, cell, err)
	}
	return s, nil
}

// Size returns what a summary takes in the window; nil takes nothing.
func (s *WindowSummary) Size() token.Count {
	if s == nil {
		return 0
	}
	return s.Tokens
}

// Covered returns the id of a summary and how many blocks it covers; of nil, nothing.
func (s *WindowSummary) Covered() (id string, blocks int) {
	if s == nil {
		return "", 0
	}
	return string(s.ID), s.Covers
}

// ModelCovers returns of how many blocks a model's text says what the agent said; of a summary
// by a program, or none, of no block.
func (s *WindowSummary) ModelCovers() int {
	if s == nil || s.Summary.Model == "" {
		return 0
	}
	return s.Covers
}

// Entry returns a summary as an entry of a window.
func (s *WindowSummary) Entry() transcript.Entry { return transcript.Stub(s.ID, s.Text) }
