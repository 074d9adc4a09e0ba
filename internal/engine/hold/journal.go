package hold

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An Op is an entry of a session's journal.
type Op struct {
	store.Entry

	Undone bool
}

// Ops returns the operations in the journal of a session, in order, and marks those that were
// undone.
func (e *Desk) Ops(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]Op, error) {
	var ops []Op
	for entry, err := range e.Store.Entries(ctx, scope, id, 0) {
		if err != nil {
			return nil, err
		}
		ops = append(ops, Op{Entry: *entry})
		if entry.Op != OpUndo {
			continue
		}
		var data struct {
			Undoes string `json:"undoes"`
		}
		if err := ReadEntry(entry, &data); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(ops, func(o Op) bool { return o.ID == data.Undoes }); i >= 0 {
			ops[i].Undone = true
		}
	}
	return ops, nil
}

// ReadEntry decodes the data of a journal entry.
func ReadEntry(entry *store.Entry, data any) error {
	if err := json.Unmarshal(entry.Data, data); err != nil {
		return fmt.Errorf("%w: decode journal entry %s: %w", store.ErrCorrupt, entry.ID, err)
	}
	return nil
}

// Names of the operations in the journal.
const (
	OpImport     = "import"
	OpPage       = "page"
	OpPageByHand = "page-by-hand"
	OpDiscard    = "discard"
	OpPin        = "pin"
	OpUnpin      = "unpin"
	OpUndo       = "undo"
	OpContract   = "contract"
	OpRewrite    = "rewrite"
)

// ImportEntry is the data of an import in the journal.
type ImportEntry struct {
	Bytes    int         `json:"bytes"`
	Messages int         `json:"messages"`
	Blocks   int         `json:"blocks"`
	Added    int         `json:"added"`
	Off      int         `json:"off"`
	Tokens   token.Count `json:"tokens"`
	Warnings int         `json:"warnings"`
	Reset    bool        `json:"reset,omitempty"`   // blocks that a summary had replaced came back
	Rewind   bool        `json:"rewind,omitempty"`  // the import is shorter than the stored conversation, on purpose
	Earlier  int         `json:"earlier,omitempty"` // number of blocks in earlier windows

	Compacted *CompactionEntry     `json:"compacted,omitempty"`
	Back      []transcript.BlockID `json:"back,omitempty"` // blocks that are in the conversation again, whole
}

// CompactionEntry is the journal data about blocks that the client took out of the window.
type CompactionEntry struct {
	Actor   governance.Actor     `json:"actor"`
	Rule    pager.Rule           `json:"rule"`
	Windows int                  `json:"windows"` // number of windows before the present one
	Blocks  []transcript.BlockID `json:"blocks"`
}

// SummaryChange is the journal data about a change of the summary in the window.
type SummaryChange struct {
	From       store.CellID `json:"from,omitempty"`
	To         store.CellID `json:"to,omitempty"`
	FromTokens token.Count  `json:"from_tokens,omitempty"`
	ToTokens   token.Count  `json:"to_tokens,omitempty"`
}

// HandoffTitle begins the title that a session gets when it begins with a packet. A later import or
// append gives the session another title.
const HandoffTitle = "Handoff: "

// A Move is a change of one block, as the journal keeps it: enough to explain
// it and to take it back.
type Move struct {
	pager.BlockDecision
	FromStub store.CellID `json:"from_stub,omitempty"`
	ToStub   store.CellID `json:"to_stub,omitempty"`
}

// PassEntry is the data of a pass in the journal. It has the moves of all blocks, including those
// that stayed.
type PassEntry struct {
	Budget  token.Count   `json:"budget"`
	Before  token.Count   `json:"before"`
	After   token.Count   `json:"after"`
	Weights pager.Weights `json:"weights"`
	Cuts    pager.Cuts    `json:"cuts"`
	Intent  int           `json:"intent"` // number of terms of the intent
	Moves   []Move        `json:"moves"`

	Strategy api.Strategy   `json:"strategy,omitempty"`
	Summary  *SummaryChange `json:"summary,omitempty"` // left out if it did not change
	Round    *api.Round     `json:"round,omitempty"`   // results of the probes
}
