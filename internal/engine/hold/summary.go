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

// A WindowSummary is the summary that replaces the older blocks of a session in the window. It is
// the content of a summary cell.
type WindowSummary struct {
	ID      transcript.BlockID `json:"id"`     // id by which it is recalled
	After   transcript.BlockID `json:"after"`  // block behind which it stands; empty means at the start
	Text    string             `json:"text"`   // the text in the window
	Tokens  token.Count        `json:"tokens"` // tokens of Text in the window
	Covers  int                `json:"covers"` // number of blocks that it covers, from the first
	Input   digest.Digest      `json:"input"`  // digest of the texts of these blocks
	Summary *summary.Summary   `json:"summary"`

	// Before is the summary of the windows before a compaction by the client, or nil. The window
	// does not contain it, because the client put a text of its own there.
	Before *summary.Summary `json:"before,omitempty"`
}

// Whole returns the text that a recall of the summary gives: s.Summary merged with s.Before.
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

// SummaryID returns the id of a session's summary. It is the same after each compression, so that
// references to it stay valid.
func SummaryID(id transcript.SessionID) transcript.BlockID {
	sum := sha256.Sum256([]byte("summary/v1\x00" + string(id)))
	return transcript.BlockID(SummaryPrefix + hex.EncodeToString(sum[:4]))
}

// ReadSummary reads a summary cell. It returns nil if cell is empty.
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
		return nil, fmt.Errorf("%w: decode summary cell %s: %w", store.ErrCorrupt, cell, err)
	}
	return s, nil
}

// Size returns the tokens of a summary in the window: 0 for nil.
func (s *WindowSummary) Size() token.Count {
	if s == nil {
		return 0
	}
	return s.Tokens
}

// Covered returns the id of a summary and the number of blocks that it replaces, or "" and 0 for
// nil.
func (s *WindowSummary) Covered() (id string, blocks int) {
	if s == nil {
		return "", 0
	}
	return string(s.ID), s.Covers
}

// ModelCovers returns how many of the first blocks of the session the summary replaces, if a model
// wrote the summary. Otherwise, and for nil, it returns 0.
func (s *WindowSummary) ModelCovers() int {
	if s == nil || s.Summary.Model == "" {
		return 0
	}
	return s.Covers
}

// Entry returns the summary as an entry of a window.
func (s *WindowSummary) Entry() transcript.Entry { return transcript.Stub(s.ID, s.Text) }
