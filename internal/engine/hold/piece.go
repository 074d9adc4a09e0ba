package hold

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A piecewise is a format that can decode some items without the rest of the input.
type piecewise interface {
	// Piece returns the messages of the items of a block, in order, or nil if they cannot be
	// decoded without other items.
	Piece(items [][]byte) []transcript.Message
}

// Piece returns the text of a block without decoding the rest of its session. It returns false if
// the format cannot do that.
func (e *Desk) Piece(ctx context.Context, scope governance.Scope, head *store.Head, row *store.Block) (said string, ok bool, err error) {
	f, err := FormatNamed(head.Format)
	if err != nil {
		return "", false, err
	}
	p, ok := f.(piecewise)
	if !ok {
		return "", false, nil
	}
	items, err := e.Bodies(ctx, scope, row.Cells)
	if err != nil {
		return "", false, err
	}
	said, ok = pieceText(p, items)
	return said, ok, nil
}

// pieceText decodes items without their session. It returns their text, and whether they form
// exactly one block.
func pieceText(p piecewise, items [][]byte) (string, bool) {
	s := transcript.Session{Messages: p.Piece(items)}
	blocks, _ := s.Blocks()
	if len(blocks) != 1 {
		return "", false
	}
	return blocks[0].Text(s.Messages), true
}
