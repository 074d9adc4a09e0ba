package guard

import (
	"bytes"
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

// ofChange returns the permissions that a change needs whatever the state of the session is. If the
// stored session has a status, Apply also asks for [governance.Erase].
func ofChange(c *store.Change) []governance.Permission {
	if c.Head.Status != "" || c.Erase || len(c.Adopt) > 0 {
		return []governance.Permission{governance.Write, governance.Erase}
	}
	for i := range c.Blocks {
		if c.Blocks[i].State == store.StatePurged {
			return []governance.Permission{governance.Write, governance.Erase}
		}
	}
	return []governance.Permission{governance.Write}
}

// Update implements [store.Artifacts].
func (g *guard) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if err := g.may(scope, governance.Write); err != nil {
		return 0, err
	}
	if err := g.checkActor(scope, &u.Entry); err != nil {
		return 0, err
	}
	if len(u.Purge) > 0 {
		if err := g.may(scope, governance.Erase); err != nil {
			return 0, err
		}
	}
	if u.Outcome != nil && u.Outcome.Actor != g.grant.Actor {
		if err := g.may(scope, governance.Review); err != nil {
			return 0, err
		}
	}
	for i := range u.Artifacts {
		w := &u.Artifacts[i]
		before, err := g.before(ctx, scope, w)
		if err != nil {
			return 0, err
		}
		if err := g.may(scope, ofWrite(before, w, u.Entry.Op)...); err != nil {
			return 0, err
		}
	}
	return g.store.Update(ctx, scope, u)
}

// before returns the artifact that a write replaces, or nil for a new one. It fails with
// ErrConflict unless the artifact is at the version w.At. The store checks this version again, so
// the write either replaces the artifact that before has returned, or fails.
func (g *guard) before(ctx context.Context, scope governance.Scope, w *store.Write) (*store.Artifact, error) {
	if w.At == 0 || w.ID == "" { // the store refuses a write without an id
		return nil, nil
	}
	for limit := 8; ; limit *= 8 {
		found, err := g.store.Pick(ctx, scope, &store.Pick{Prefix: string(w.ID)}, limit)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].ID == w.ID && found[i].Version == w.At {
				return &found[i], nil
			}
		}
		if len(found) < limit {
			return nil, fmt.Errorf("update: artifact %s: not at version %d: %w", w.ID, w.At, store.ErrConflict)
		}
	}
}

// ofWrite returns the permissions that a write needs besides [governance.Write]. The parameter
// before is the artifact that the write replaces, or nil for a new one; op is the operation of the
// update's entry.
func ofWrite(before *store.Artifact, w *store.Write, op string) []governance.Permission {
	if before == nil {
		before = &store.Artifact{}
	}
	var all []governance.Permission
	if w.Status != before.Status && (retired(w.Status) || retired(before.Status)) {
		all = append(all, governance.Erase)
	}
	if vouches(before, w, op) || decides(before, w) {
		all = append(all, governance.Review)
	}
	return all
}

// retired reports whether an artifact with the status s was taken out of use.
func retired(s store.Status) bool {
	switch s {
	case store.StatusTombstoned, store.StatusRefuted, store.StatusPurged:
		return true
	case store.StatusLive, store.StatusHeld, store.StatusRejected:
	}
	return false
}

// opRefetch is the operation with which the engine updates an artifact from its source.
const opRefetch = "refetch"

// vouches reports whether a write claims that a person has verified its text: it makes
// an artifact verified, or changes the text of a verified one. A new text from the same
// source is no new claim, because a person who verifies a fetched artifact trusts its
// source.
func vouches(before *store.Artifact, w *store.Write, op string) bool {
	switch {
	case w.Class != provenance.Verified:
		return false
	case before.Class != provenance.Verified:
		return true
	case w.Content == before.Content:
		return false
	}
	return op != opRefetch || w.Source == "" || w.Source != before.Source
}

// decides reports whether a write is a person's decision about an artifact: it rejects
// the artifact, restores a rejected one, or releases a held one without the gate. The
// gate writes a new record into the artifact at each check; a release without a new
// record is not by the gate.
func decides(before *store.Artifact, w *store.Write) bool {
	if w.Status == before.Status {
		return false
	}
	if w.Status == store.StatusRejected || before.Status == store.StatusRejected {
		return !retired(w.Status)
	}
	return before.Status == store.StatusHeld && !retired(w.Status) && (len(w.Gate) == 0 || bytes.Equal(w.Gate, before.Gate))
}
