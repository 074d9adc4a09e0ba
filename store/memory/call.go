package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A rewriteKey identifies a rewrite within its session.
type rewriteKey struct {
	kind  store.RewriteKind
	chain digest.Digest
}

// Record implements [store.Calls].
func (s *database) Record(ctx context.Context, scope governance.Scope, calls []store.Call) error {
	if err := errors.Join(ctx.Err(), store.ValidateCalls(calls)); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if len(calls) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.space(scope)
	for i := range calls {
		if err := sp.admitCall(&calls[i]); err != nil {
			return fmt.Errorf("record: call %s: %w", calls[i].ID, err)
		}
	}
	for i := range calls {
		c := copyCall(&calls[i])
		if c.State == store.CallIntent {
			sp.callAt[c.ID] = len(sp.calls)
			c.Seq = int64(len(sp.calls) + 1)
			sp.calls = append(sp.calls, *c)
			continue
		}
		old := &sp.calls[sp.callAt[c.ID]]
		old.State, old.Ended, old.Outcome = c.State, c.Ended, c.Outcome
	}
	s.scopes[scope] = sp
	return nil
}

// admitCall returns an error if a call cannot be recorded. It changes nothing.
func (sp *space) admitCall(c *store.Call) error {
	at, there := sp.callAt[c.ID]
	switch {
	case c.State == store.CallIntent && there:
		return fmt.Errorf("the id already exists: %w", store.ErrConflict)
	case c.State == store.CallIntent:
		return nil
	case !there:
		return store.ErrNotFound
	case !c.Ends(sp.calls[at].State):
		return fmt.Errorf("it has already ended as %s: %w", sp.calls[at].State, store.ErrConflict)
	}
	return nil
}

// Calls implements [store.Calls].
func (s *database) Calls(ctx context.Context, scope governance.Scope, filter store.CallFilter) iter.Seq2[*store.Call, error] {
	return list(ctx, s, scope, func(sp *space) []*store.Call {
		var calls []*store.Call
		for i := range slices.Backward(sp.calls) {
			if filter.Limit > 0 && len(calls) == filter.Limit {
				break
			}
			if c := &sp.calls[i]; filter.Fits(c) {
				calls = append(calls, copyCall(c))
			}
		}
		return calls
	})
}

// Rewrites implements [store.Calls].
func (s *database) Rewrites(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*store.Rewrite, error] {
	return snapshot(ctx, s, scope, id, func(se *session) []*store.Rewrite {
		rewrites := make([]*store.Rewrite, 0, len(se.rewrites))
		for _, r := range se.rewrites {
			rewrites = append(rewrites, new(r))
		}
		slices.SortFunc(rewrites, func(a, b *store.Rewrite) int {
			return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.Messages, b.Messages),
				cmp.Compare(a.Kind, b.Kind), bytes.Compare(a.Chain[:], b.Chain[:]))
		})
		return rewrites
	})
}

func copyCall(c *store.Call) *store.Call {
	d := *c
	d.Begun = wholeMillis(c.Begun)
	if !c.Ended.IsZero() {
		d.Ended = wholeMillis(c.Ended)
	}
	d.Intent, d.Outcome = bytes.Clone(c.Intent), bytes.Clone(c.Outcome)
	return &d
}
