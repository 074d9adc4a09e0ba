// Package offload keeps large bodies of cells outside of a database, in blobs: see package
// store/blob for the places. The [store.Database] that [New] returns behaves like the one that it
// wraps; small bodies and all other records stay there.
//
//	place, err := file.New(dir)
//	...
//	db = offload.New(db.(offload.Wrapped), &offload.Options{Place: place})
//
// # Order
//
// A large body is written in three steps, and a fourth deletes the blob of a failed write or of a
// purged cell. So a death of the process between any two of them loses nothing:
//
//	reserve   the database records the key of the blob as loose, durably
//	write     the blob is written and then read back; its commitment must match
//	switch    the change that brings the cell also takes the key, in one transaction
//	drop      a blob that no cell refers to is deleted
//
// The switch fails with [store.ErrConflict] if the key is not loose any more. So the drop of a blob
// that is still being written makes its write fail and can never leave a cell without its body.
// After a failed write the blob is dropped at once. If the process has died, a [Dropper] drops it,
// once its key has been loose for [Age].
//
// # Reading
//
// A body is where its row says it is, whatever the settings are now. Each blob that is read is
// checked against the commitment of its cell. A missing or changed blob is a [DamageError], which
// names cell and blob; a place that does not answer is an error of the place, such as
// [store.ErrUnreachable].
//
// # Isolation and erasure
//
// The key of a blob in the place is a digest of the scope, a slash and the [store.BlobKey]. The
// digest is computed from the scope of the request and stored nowhere: a row in one scope cannot
// refer to a blob of another. Blobs are not shared, not even by equal bodies.
//
// An update that purges cells first asks the place whether it is ready, and changes nothing if it is
// not. The blobs are deleted before Update returns. If that fails half-way, Update returns the error
// although the cells are purged, and the rest is dropped later, or by the next update of the scope
// that purges cells, such as the same purge again.
package offload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/blob"
	"github.com/carrel-dev/carrel/transcript"
)

// DefaultLeast is the default of [Options].Least.
const DefaultLeast = 1 << 20

// Age is how long a blob may be without a cell before a [Dropper] drops it. A write that takes
// longer fails with [store.ErrConflict].
const Age = time.Hour

// Options configures [New].
type Options struct {
	// Place keeps the blobs. Without a place, new bodies stay in the database, and cells with blobs
	// can be listed but neither read nor purged: both fail with a [store.AwayError].
	Place blob.Keeper

	// Least is the size in bytes of the smallest body that is kept in the place. If it is below
	// 1, it is [DefaultLeast].
	Least int
}

// A Wrapped is a store that [New] can wrap. The stores of packages sqlite and postgres are, and
// those of memory are not.
type Wrapped interface {
	store.Database
	store.Blobs
}

// A Dropper drops blobs. Every store from [New] is one: db.(offload.Dropper). Call DropLoose for
// each scope now and then: it also drops the blobs of writes whose process died.
type Dropper interface {
	// DropLoose deletes the blobs of a scope that no cell refers to, and returns how many. It
	// fails with [store.ErrTaken] while another process does the same.
	DropLoose(ctx context.Context, scope governance.Scope) (int, error)
}

// A DamageError means that the blob with the body of a cell is missing or changed. It matches
// [store.ErrCorrupt].
type DamageError struct {
	Cell    store.CellID
	Blob    string // key of the blob in the place
	Place   string
	Missing bool
}

func (e *DamageError) Error() string {
	if e.Missing {
		return fmt.Sprintf("cell %s: %v: its blob %s is not in %s", e.Cell, store.ErrCorrupt, e.Blob, e.Place)
	}
	return fmt.Sprintf("cell %s: %v: its commitment does not match the blob %s in %s", e.Cell, store.ErrCorrupt, e.Blob, e.Place)
}

// Is makes errors.Is(e, store.ErrCorrupt) true.
func (e *DamageError) Is(target error) bool { return target == store.ErrCorrupt }

// An offloaded is a database whose large bodies are in a place.
type offloaded struct {
	Wrapped

	place blob.Keeper // or nil
	least int
	age   time.Duration // the constant Age, except in tests
}

// A shared is an offloaded whose database has the role [store.Requests].
type shared struct {
	*offloaded
	store.Requests
}

// New returns a database that keeps large bodies of db in a place. Closing it closes db. It has the
// role [store.Requests] if db has it. The options o must not be nil.
func New(db Wrapped, o *Options) store.Database {
	s := &offloaded{Wrapped: db, place: o.Place, least: o.Least, age: Age}
	if s.least < 1 {
		s.least = DefaultLeast
	}
	if r, ok := db.(store.Requests); ok {
		return &shared{s, r}
	}
	return s
}

// keyOf returns the key of a blob in the place: the key from the store, and before it the scope in
// a form that is valid in keys.
func keyOf(scope governance.Scope, key store.BlobKey) string {
	sum := sha256.Sum256([]byte(scope))
	return hex.EncodeToString(sum[:16]) + "/" + string(key)
}

// Apply implements [store.Sessions].
func (s *offloaded) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if !s.large(c.Cells) || c.Validate() != nil { // the database refuses an invalid change
		return s.Wrapped.Apply(ctx, scope, id, at, c)
	}
	away := *c
	var next store.Revision
	err := s.writing(ctx, scope, c.Cells, func(cells []store.Cell) (err error) {
		away.Cells = cells
		next, err = s.Wrapped.Apply(ctx, scope, id, at, &away)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("session %s: %w", id, err)
	}
	return next, nil
}

// Update implements [store.Artifacts].
func (s *offloaded) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if err := s.purgeable(ctx, scope, u.Purge); err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, err)
	}
	if !s.large(u.Cells) || u.Validate() != nil {
		version, err := s.Wrapped.Update(ctx, scope, u)
		if err != nil {
			return version, err
		}
		return version, s.dropAfter(ctx, scope, u)
	}
	away := *u
	var version store.Version
	err := s.writing(ctx, scope, u.Cells, func(cells []store.Cell) (err error) {
		away.Cells = cells
		version, err = s.Wrapped.Update(ctx, scope, &away)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("update %s: %w", u.Entry.ID, err)
	}
	return version, s.dropAfter(ctx, scope, u)
}

// AddCells implements [store.Movable].
func (s *offloaded) AddCells(ctx context.Context, scope governance.Scope, cells []store.Cell, edges []store.Edge) error {
	if !s.large(cells) || store.ValidateMoved(cells) != nil {
		return s.Wrapped.AddCells(ctx, scope, cells, edges)
	}
	return s.writing(ctx, scope, cells, func(cells []store.Cell) error { return s.Wrapped.AddCells(ctx, scope, cells, edges) })
}

// large reports whether the body of one of the cells belongs in the place, or whether a cell has a
// blob already.
func (s *offloaded) large(cells []store.Cell) bool {
	for i := range cells {
		if s.place != nil && len(cells[i].Body) >= s.least || cells[i].Blob != "" {
			return true
		}
	}
	return false
}

// writing writes the large bodies of cells and calls f with the cells that refer to the blobs. If
// anything fails, it drops the blobs that no cell refers to.
func (s *offloaded) writing(ctx context.Context, scope governance.Scope, cells []store.Cell, f func([]store.Cell) error) error {
	away := make([]store.Cell, len(cells))
	copy(away, cells)
	for i := range away {
		c := &away[i]
		if c.Blob != "" {
			return fmt.Errorf("cell %s already has a blob", c.ID)
		}
		if len(c.Body) >= s.least {
			c.Blob, c.Body = store.NewBlobKey(len(c.Body)), nil
		}
	}
	keys := store.BlobsOf(away)
	if err := s.ReserveBlobs(ctx, scope, keys); err != nil {
		return err
	}
	err := s.put(ctx, scope, cells, away)
	if err == nil {
		err = f(away)
	}
	if err != nil {
		s.giveUp(ctx, scope, keys)
	}
	return err
}

// put writes the blobs of cells. It reads each blob back, and checks it against the commitment of
// the cell. The cells in away are the same cells with the keys of the blobs in place of the bodies.
func (s *offloaded) put(ctx context.Context, scope governance.Scope, cells, away []store.Cell) error {
	for i := range away {
		c := away[i]
		if c.Blob == "" {
			continue
		}
		if err := s.place.Put(ctx, keyOf(scope, c.Blob), cells[i].Body); err != nil {
			return fmt.Errorf("cell %s: %w", c.ID, err)
		}
		if _, err := s.body(ctx, scope, &c); err != nil {
			return fmt.Errorf("verify what was written: %w", err)
		}
	}
	return nil
}

// giveUpTime is how long giveUp tries.
const giveUpTime = 10 * time.Second

// giveUp drops the blobs of a write that failed, even if ctx has ended. If the write was made
// although it reported an error, its blobs are not loose, and giveUp does not drop them. A blob
// that it cannot drop is left to DropLoose.
func (s *offloaded) giveUp(ctx context.Context, scope governance.Scope, keys []store.BlobKey) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTime)
	defer cancel()
	_, _ = s.drop(ctx, scope, keys)
}

// drop deletes those of the blobs that are loose, and returns how many. If one cannot be deleted,
// drop returns 0 and the error; the blobs before it are deleted, and all stay marked as being
// dropped.
func (s *offloaded) drop(ctx context.Context, scope governance.Scope, keys []store.BlobKey) (int, error) {
	keys, err := s.DropBlobs(ctx, scope, keys)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	for _, key := range keys {
		if err := s.place.Drop(ctx, keyOf(scope, key)); err != nil {
			return 0, fmt.Errorf("drop blobs: %w", err)
		}
	}
	return len(keys), s.ForgetBlobs(ctx, scope, keys)
}

// purgeable returns an error if one of the cells to purge has a blob that cannot be deleted now.
func (s *offloaded) purgeable(ctx context.Context, scope governance.Scope, ids []store.CellID) error {
	if len(ids) == 0 {
		return nil
	}
	away, err := s.CellBlobs(ctx, scope, ids)
	if err != nil || len(away) == 0 {
		return err
	}
	if s.place == nil {
		for id, key := range away {
			return &store.AwayError{Cell: store.Cell{ID: id, Blob: key}}
		}
	}
	return s.place.Ready(ctx)
}

// dropAfter deletes the blobs of cells that the update u has purged, and those that an earlier purge
// could not delete: the same update again finishes it.
func (s *offloaded) dropAfter(ctx context.Context, scope governance.Scope, u *store.Update) error {
	if s.place == nil || len(u.Purge) == 0 {
		return nil
	}
	keys, err := s.LooseBlobs(ctx, scope, s.age)
	if err == nil {
		_, err = s.drop(ctx, scope, keys)
	}
	if err != nil {
		return fmt.Errorf("the cells are purged, but not all blobs of purged cells are deleted yet: %w", err)
	}
	return nil
}

// Cells implements [store.Cells]. It yields a [store.GoneError] for a cell that is purged while its
// blob is read.
func (s *offloaded) Cells(ctx context.Context, scope governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return func(yield func(*store.Cell, error) bool) {
		for rest := ids; ; {
			stopped, at := false, 0
			var away *store.AwayError
			for c, err := range s.Wrapped.Cells(ctx, scope, rest) {
				if s.place != nil && errors.As(err, &away) {
					break
				}
				at++
				if stopped = !yield(c, err) || err != nil; stopped {
					break
				}
			}
			if stopped || away == nil {
				return
			}
			c, err := s.away(ctx, scope, &away.Cell)
			if !yield(c, err) || err != nil || at+1 == len(rest) {
				return
			}
			rest = rest[at+1:]
		}
	}
}

// away reads the blob of the cell c, and returns a copy of the cell that has the body and no blob.
func (s *offloaded) away(ctx context.Context, scope governance.Scope, c *store.Cell) (*store.Cell, error) {
	body, err := s.body(ctx, scope, c)
	if errors.Is(err, store.ErrCorrupt) {
		// The cell may have been purged since its row was read.
		for _, now := range s.Wrapped.Cells(ctx, scope, []store.CellID{c.ID}) {
			if errors.Is(now, store.ErrGone) {
				err = now
			}
		}
	}
	if err != nil {
		return nil, err
	}
	whole := *c
	whole.Body, whole.Blob = body, ""
	return &whole, nil
}

// body returns the body of a cell from its blob. It fails if the body does not match the commitment.
func (s *offloaded) body(ctx context.Context, scope governance.Scope, c *store.Cell) ([]byte, error) {
	key := keyOf(scope, c.Blob)
	body, err := s.place.Get(ctx, key, c.Blob.Size())
	damage := &DamageError{Cell: c.ID, Blob: key, Place: s.place.String()}
	whole := store.Cell{Kind: c.Kind, Salt: c.Salt, Commit: c.Commit, Body: body}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		damage.Missing = true
		return nil, damage
	case errors.Is(err, blob.ErrKey), err == nil && !whole.Holds():
		return nil, damage
	case err != nil:
		return nil, fmt.Errorf("cell %s: %w", c.ID, err)
	}
	return body, nil
}

// Ready implements [store.Database]. It returns the reason why the database or the place cannot be
// used, if one is known.
func (s *offloaded) Ready(ctx context.Context) error {
	err := s.Wrapped.Ready(ctx)
	if err == nil && s.place != nil {
		err = s.place.Ready(ctx)
	}
	return err
}

// Check implements [store.Admin]. After the problems of the database it returns the damage of blobs.
// It reads every blob. A place that does not answer is an error, and not damage.
func (s *offloaded) Check(ctx context.Context) ([]string, error) {
	problems, err := s.Wrapped.Check(ctx)
	var scopes []governance.Scope
	if err == nil {
		scopes, err = s.Scopes(ctx)
	}
	for i := 0; i < len(scopes) && err == nil; i++ {
		var found []string
		found, err = s.checkScope(ctx, scopes[i])
		problems = append(problems, found...)
	}
	if err != nil {
		return nil, err
	}
	return problems, nil
}
