package hold

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A piecewise format reads the messages of some items without the rest of the input.
type piecewise interface {
	// Piece returns the messages of the items of a block, in their order, or nil if it
	// takes more than them to read these.
	Piece(items [][]byte) []transcript.Message
}

// Piece returns what a block says, of whose session nothing else is read, and whether that
// can be.
func (e *Desk) Piece(ctx context.Context, scope governance.Scope, head *store.Head, row *store.Block) (said string, ok bool, err error) {
	f, err := FormatNamed(head.Format)
	if err != nil {
		return "", false, err
	}
	p, ok := f.(piecewise)
	if !ok || len(row.Cells) == 0 {
		return "", false, nil
	}
	items, err := e.Bodies(ctx, scope, row.Cells)
	if err != nil {
		return "", false, err
	}
	said, ok = pieceText(p, items)
	return said, ok, nil
}

// pieceText returns what the messages of items say, and whether they are one block.
func pieceText(p piecewise, items [][]byte) (string, bool) {
	s := transcript.Session{Messages: p.Piece(items)}
	blocks, _ := s.Blocks()
	if len(blocks) != 1 {
		return "", false
	}
	return blocks[0].Text(s.Messages), true
}
