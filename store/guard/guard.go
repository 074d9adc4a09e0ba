// Package guard restricts a [store.Store] to the calls that a [governance.Grant] of one
// actor allows. It refuses any other call before it calls the underlying store, so that
// neither the error nor the time of a refusal reveals whether a scope has records.
//
// The guard stands between the store and the surfaces: HTTP, MCP, hooks and the proxy. It does not
// rely on them to check permissions, nor on the engine to use the right scope.
//
// # Permissions
//
// Reading in a scope needs [governance.Read] there. Writing needs [governance.Write],
// and in addition
//
//   - [governance.Erase] for removal, restoration and erasure: artifacts that become or
//     were tombstoned, refuted or purged; sessions that become or were tombstoned or
//     purged; purges of cells; blocks that become purged; sessions that adopt cells;
//   - [governance.Review] for decisions of a person: to give an artifact the class
//     "verified", to change the text of one that has it, to decide about an artifact that
//     the gate holds or a person has rejected (unless the gate itself releases a held
//     one), and to record an outcome for another actor.
//
// The actor of each journal entry must be that of the grant. The role [store.Admin] concerns all
// scopes at once and can close the database for all, so it needs all permissions in all scopes, as
// [governance.Whole] grants them. A guard does not have the role [store.Credentials].
//
// # Errors and concurrency
//
// A refusal is a [*governance.DeniedError], perhaps wrapped. A refused iteration yields
// it once. Permissions are checked at each call, and for an iteration when it begins,
// at the current time, so that a grant can expire while it is in use. A guard is safe
// for concurrent use if the store is.
package guard

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// everywhere stands for all scopes at once. It is not a valid scope, and only the
// pattern "*" matches it.
const everywhere governance.Scope = "*"

// A guard implements every method of [store.Store] explicitly, without embedding, so
// that a new method of the interface cannot bypass it.
type guard struct {
	store store.Store
	grant governance.Grant
	now   func() time.Time
}

// New returns s restricted to a grant. A nil grant allows nothing. New copies the grant,
// so later changes to it have no effect. The clock is time.Now if now is nil.
func New(s store.Store, grant *governance.Grant, now func() time.Time) store.Store {
	g := &guard{store: s, now: now}
	if grant != nil {
		g.grant = *grant
		g.grant.Scopes, g.grant.Permissions = slices.Clone(grant.Scopes), slices.Clone(grant.Permissions)
	}
	if now == nil {
		g.now = time.Now //nolint:forbidigo // this is the default clock
	}
	return g
}

// may returns an error unless the grant has all the given permissions in a scope. If the scope is
// empty, which no pattern matches, the grant must have every permission in every scope.
func (g *guard) may(scope governance.Scope, all ...governance.Permission) error {
	if scope == "" {
		return g.whole()
	}
	now := g.now()
	for _, p := range all {
		if err := g.grant.Check(scope, p, now); err != nil {
			return err
		}
	}
	return nil
}

// whole returns an error unless the grant has every permission in every scope.
func (g *guard) whole() error { return g.may(everywhere, governance.Permissions()...) }

// checkActor returns an error unless the actor of an entry is that of the grant.
func (g *guard) checkActor(scope governance.Scope, e *store.Entry) error {
	if e.Actor == g.grant.Actor {
		return nil
	}
	denied := &governance.DeniedError{Actor: g.grant.Actor, Scope: scope, Permission: governance.Write}
	return fmt.Errorf("entry %s has the actor %q, not that of the grant: %w", e.ID, e.Actor, denied)
}

// reading yields the values of the function list if the grant allows reading in a scope.
func reading[T any](g *guard, scope governance.Scope, list func() iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := g.may(scope, governance.Read); err != nil {
			yield(*new(T), err)
			return
		}
		list()(yield)
	}
}

// Apply implements [store.Sessions].
func (g *guard) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if err := g.may(scope, ofChange(c)...); err != nil {
		return 0, err
	}
	if err := g.checkActor(scope, &c.Entry); err != nil {
		return 0, err
	}
	seen := store.Revision(0)
	head, err := g.store.Head(ctx, scope, id)
	if err == nil {
		seen = head.Revision
	}
	if err == nil && head.Status != "" { // the change may restore the session
		err = g.may(scope, governance.Erase)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) { // Apply decides about a missing session
		return 0, err
	}
	if seen < at { // the session may have been removed by the time it is at this revision
		return 0, fmt.Errorf("session %s: not at revision %d: %w", id, at, store.ErrConflict)
	}
	return g.store.Apply(ctx, scope, id, at, c)
}

// Head implements [store.Sessions].
func (g *guard) Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Head(ctx, scope, id)
}

// Heads implements [store.Sessions].
func (g *guard) Heads(ctx context.Context, scope governance.Scope) iter.Seq2[*store.Head, error] {
	return reading(g, scope, func() iter.Seq2[*store.Head, error] { return g.store.Heads(ctx, scope) })
}

// Blocks implements [store.Sessions].
func (g *guard) Blocks(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Block, error] {
	return reading(g, scope, func() iter.Seq2[*store.Block, error] { return g.store.Blocks(ctx, scope, id) })
}

// Items implements [store.Sessions].
func (g *guard) Items(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Items(ctx, scope, id)
}

// Cells implements [store.Cells].
func (g *guard) Cells(ctx context.Context, scope governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return reading(g, scope, func() iter.Seq2[*store.Cell, error] { return g.store.Cells(ctx, scope, ids) })
}

// Sources implements [store.Cells].
func (g *guard) Sources(ctx context.Context, scope governance.Scope, id store.CellID) ([]store.Edge, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Sources(ctx, scope, id)
}

// Derived implements [store.Cells].
func (g *guard) Derived(ctx context.Context, scope governance.Scope, ids []store.CellID) ([]store.CellID, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Derived(ctx, scope, ids)
}

// Brought implements [store.Cells].
func (g *guard) Brought(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Brought(ctx, scope, id)
}

// Entries implements [store.Journal].
func (g *guard) Entries(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) iter.Seq2[*store.Entry, error] {
	return reading(g, scope, func() iter.Seq2[*store.Entry, error] { return g.store.Entries(ctx, scope, id, after) })
}

// Statements implements [store.Journal].
func (g *guard) Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[string, error] {
	return reading(g, scope, func() iter.Seq2[string, error] { return g.store.Statements(ctx, scope, id) })
}

// Block implements [store.Finder].
func (g *guard) Block(ctx context.Context, scope governance.Scope, ref store.BlockRef) (*store.Block, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Block(ctx, scope, ref)
}

// Find implements [store.Finder].
func (g *guard) Find(ctx context.Context, scope governance.Scope, prefix string, limit int) ([]store.BlockRef, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Find(ctx, scope, prefix, limit)
}

// Postings implements [store.Finder].
func (g *guard) Postings(ctx context.Context, scope governance.Scope, words []string) ([]postings.View, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Postings(ctx, scope, words)
}

// Numbered implements [store.Finder].
func (g *guard) Numbered(ctx context.Context, scope governance.Scope, numbers []int64) ([]store.BlockRef, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Numbered(ctx, scope, numbers)
}

// Version implements [store.Artifacts].
func (g *guard) Version(ctx context.Context, scope governance.Scope) (store.Version, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return 0, err
	}
	return g.store.Version(ctx, scope)
}

// Artifacts implements [store.Artifacts].
func (g *guard) Artifacts(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Artifact, error] {
	return reading(g, scope, func() iter.Seq2[*store.Artifact, error] { return g.store.Artifacts(ctx, scope, after) })
}

// Pick implements [store.Artifacts].
func (g *guard) Pick(ctx context.Context, scope governance.Scope, p *store.Pick, limit int) ([]store.Artifact, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Pick(ctx, scope, p, limit)
}

// Hits implements [store.Artifacts].
func (g *guard) Hits(ctx context.Context, scope governance.Scope, terms []string, limit int) ([]int64, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Hits(ctx, scope, terms, limit)
}

// Manifest implements [store.Ledger].
func (g *guard) Manifest(ctx context.Context, scope governance.Scope, id string) (*store.Manifest, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Manifest(ctx, scope, id)
}

// Manifests implements [store.Ledger].
func (g *guard) Manifests(ctx context.Context, scope governance.Scope, session transcript.SessionID) iter.Seq2[*store.Manifest, error] {
	return reading(g, scope, func() iter.Seq2[*store.Manifest, error] { return g.store.Manifests(ctx, scope, session) })
}

// Users implements [store.Ledger].
func (g *guard) Users(ctx context.Context, scope governance.Scope, ids []store.ArtifactID) ([]string, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.Users(ctx, scope, ids)
}

// Log implements [store.Ledger].
func (g *guard) Log(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Entry, error] {
	return reading(g, scope, func() iter.Seq2[*store.Entry, error] { return g.store.Log(ctx, scope, after) })
}

// Record implements [store.Calls].
func (g *guard) Record(ctx context.Context, scope governance.Scope, calls []store.Call) error {
	if err := g.may(scope, governance.Write); err != nil {
		return err
	}
	return g.store.Record(ctx, scope, calls)
}

// Calls implements [store.Calls].
func (g *guard) Calls(ctx context.Context, scope governance.Scope, filter store.CallFilter) iter.Seq2[*store.Call, error] {
	return reading(g, scope, func() iter.Seq2[*store.Call, error] { return g.store.Calls(ctx, scope, filter) })
}

// Rewrites implements [store.Calls].
func (g *guard) Rewrites(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Rewrite, error] {
	return reading(g, scope, func() iter.Seq2[*store.Rewrite, error] { return g.store.Rewrites(ctx, scope, id) })
}

// BeginJob implements [store.Jobs]. It refuses a job of another actor than that of the grant.
func (g *guard) BeginJob(ctx context.Context, j *store.Job, d time.Duration) (*store.Job, error) {
	if err := g.may(j.Scope, governance.Write); err != nil {
		return nil, err
	}
	if j.Actor != g.grant.Actor {
		denied := &governance.DeniedError{Actor: g.grant.Actor, Scope: j.Scope, Permission: governance.Write}
		return nil, fmt.Errorf("job %s has the actor %q, not that of the grant: %w", j.Name, j.Actor, denied)
	}
	return g.store.BeginJob(ctx, j, d)
}

// KeepJob implements [store.Jobs].
func (g *guard) KeepJob(ctx context.Context, j *store.Job, d time.Duration) error {
	if err := g.may(j.Scope, governance.Write); err != nil {
		return err
	}
	return g.store.KeepJob(ctx, j, d)
}

// EndJob implements [store.Jobs].
func (g *guard) EndJob(ctx context.Context, j *store.Job) error {
	if err := g.may(j.Scope, governance.Write); err != nil {
		return err
	}
	return g.store.EndJob(ctx, j)
}

// OpenJobs implements [store.Jobs].
func (g *guard) OpenJobs(ctx context.Context, scope governance.Scope) ([]store.Job, error) {
	if err := g.may(scope, governance.Read); err != nil {
		return nil, err
	}
	return g.store.OpenJobs(ctx, scope)
}

// Info implements [store.Admin].
func (g *guard) Info(ctx context.Context) (*store.Info, error) {
	if err := g.whole(); err != nil {
		return nil, err
	}
	return g.store.Info(ctx)
}

// Scopes implements [store.Admin].
func (g *guard) Scopes(ctx context.Context) ([]governance.Scope, error) {
	if err := g.whole(); err != nil {
		return nil, err
	}
	return g.store.Scopes(ctx)
}

// Check implements [store.Admin].
func (g *guard) Check(ctx context.Context) ([]string, error) {
	if err := g.whole(); err != nil {
		return nil, err
	}
	return g.store.Check(ctx)
}

// Backup implements [store.Admin].
func (g *guard) Backup(ctx context.Context, path string) error {
	if err := g.whole(); err != nil {
		return err
	}
	return g.store.Backup(ctx, path)
}

// Close implements [store.Admin].
func (g *guard) Close() error {
	if err := g.whole(); err != nil {
		return err
	}
	return g.store.Close()
}
