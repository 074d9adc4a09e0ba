package hold

import (
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// State returns the state of a block that is in form f.
func State(f pager.Form) store.State {
	switch f {
	case pager.Whole, pager.Bare:
		return store.StateLive
	case pager.Gone:
		return store.StateCold
	case pager.Calls, pager.Lines, pager.Line:
	}
	return store.StateStub
}

// SetForm sets the form of a block, the state that follows from the form, its stub, and its tokens
// in the window. Besides SetForm only SetPurged changes the state of a block.
func SetForm(r *store.Block, f pager.Form, stub store.CellID, window token.Count) {
	r.Form, r.State, r.Stub, r.Window = string(f), State(f), stub, window
}

// SetEarlier marks a row as a block of an earlier window.
func SetEarlier(r *store.Block) {
	r.Off = true
	SetForm(r, pager.Gone, "", 0)
}

// SetLive marks a row as a block that is in the window whole.
func SetLive(r *store.Block) { SetForm(r, pager.Whole, "", r.Tokens) }

// SetPurged marks a row as a block whose bytes are deleted.
func SetPurged(r *store.Block) {
	SetForm(r, pager.Gone, "", 0)
	r.State, r.Tools, r.Pinned = store.StatePurged, nil, false
}
