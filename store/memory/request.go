package memory

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// The driver implements [store.Requests] as the reference for other drivers, although no other
// process can have its store open.
var _ store.Requests = (*database)(nil)

type requestKey struct {
	scope governance.Scope
	actor governance.Actor
	key   string
}

// claim returns the request in ctx if it is of the scope, or nil. It fails with ErrRepeated if
// another attempt has recorded the request less than store.RequestTime before. The caller holds the
// lock.
func (s *database) claim(ctx context.Context, scope governance.Scope) (*store.Request, error) {
	r := store.RequestFrom(ctx, scope)
	if r == nil {
		return nil, nil
	}
	if there := s.requests[requestKey{r.Scope, r.Actor, r.Key}]; there != nil && there.Attempt != r.Attempt && !there.Precedes(r) {
		return nil, store.ErrRepeated
	}
	return r, nil
}

// record stores r, unless the request is already recorded, and returns the recorded request. If r is
// nil it does nothing. The caller holds the lock.
func (s *database) record(r *store.Request) *store.Request {
	if r == nil {
		return nil
	}
	key := requestKey{r.Scope, r.Actor, r.Key}
	if there := s.requests[key]; there == nil || there.Precedes(r) {
		s.requests[key] = &store.Request{
			Scope: r.Scope, Actor: r.Actor, Key: r.Key, Attempt: r.Attempt, Asking: r.Asking, Time: r.Time,
		}
	}
	return s.requests[key]
}

// Request implements [store.Requests].
func (s *database) Request(ctx context.Context, scope governance.Scope, actor governance.Actor, key string) (*store.Request, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	there := s.requests[requestKey{scope, actor, key}]
	if there == nil {
		return nil, fmt.Errorf("request: %w", store.ErrNotFound)
	}
	r := *there
	r.Outcome = bytes.Clone(r.Outcome)
	return &r, nil
}

// AllRequests implements [store.Requests].
func (s *database) AllRequests(ctx context.Context, scope governance.Scope) (all []store.Request, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key, r := range s.requests {
		if key.scope == scope {
			one := *r
			one.Outcome = bytes.Clone(r.Outcome)
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b store.Request) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Key, b.Key))
	})
	return all, nil
}

// SettleRequest implements [store.Requests].
func (s *database) SettleRequest(ctx context.Context, r *store.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if there := s.record(r); there.Attempt == r.Attempt {
		there.Outcome = bytes.Clone(r.Outcome)
	}
	for key, old := range s.requests {
		if key.scope == r.Scope && old.Precedes(r) {
			delete(s.requests, key)
		}
	}
	return nil
}

// DropRequest implements [store.Requests].
func (s *database) DropRequest(ctx context.Context, r *store.Request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := requestKey{r.Scope, r.Actor, r.Key}
	if there := s.requests[key]; there != nil && there.Attempt == r.Attempt {
		delete(s.requests, key)
	}
	return nil
}
