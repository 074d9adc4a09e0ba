package hold

import (
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// State returns the state that a form leads to.
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

// SetForm puts a block into a form, and so into a state: its window has this much of it,
// and this stub if the form has one. Nothing else changes the state of a block but Purge.
func SetForm(r *store.Block, f pager.Form, stub store.CellID, window token.Count) {
	r.Form, r.State, r.Stub, r.Window = string(f), State(f), stub, window
}

// SetEarlier makes a row that of a block of an earlier window.
func SetEarlier(r *store.Block) {
	r.Off = true
	SetForm(r, pager.Gone, "", 0)
}

// SetLive makes a row that of a block as it came in.
func SetLive(r *store.Block) { SetForm(r, pager.Whole, "", r.Tokens) }

// SetPurged makes a row that of a block whose bytes are gone.
func SetPurged(r *store.Block) {
	SetForm(r, pager.Gone, "", 0)
	r.State, r.Tools, r.Pinned = store.StatePurged, nil, false
}
