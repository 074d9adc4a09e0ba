package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// AddCredential implements [store.Credentials].
func (s *database) AddCredential(ctx context.Context, t *store.Credential) error {
	if err := errors.Join(ctx.Err(), t.Validate()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.issued[t.ID] != nil {
		return fmt.Errorf("credential %s: the id already exists: %w", t.ID, store.ErrConflict)
	}
	s.issued[t.ID] = copyCredential(t)
	return nil
}

// Credential implements [store.Credentials].
func (s *database) Credential(ctx context.Context, id string) (*store.Credential, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.issued[id]
	if t == nil {
		return nil, fmt.Errorf("credential %s: %w", id, store.ErrNotFound)
	}
	return copyCredential(t), nil
}

// Credentials implements [store.Credentials].
func (s *database) Credentials(ctx context.Context) ([]store.Credential, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]store.Credential, 0, len(s.issued))
	for _, t := range s.issued {
		all = append(all, *copyCredential(t))
	}
	slices.SortFunc(all, func(a, b store.Credential) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// RevokeCredential implements [store.Credentials].
func (s *database) RevokeCredential(ctx context.Context, id string, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at.IsZero() {
		return fmt.Errorf("credential %s: the time of its revocation is zero", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.issued[id]
	if t == nil {
		return fmt.Errorf("credential %s: %w", id, store.ErrNotFound)
	}
	if t.Revoked.IsZero() {
		t.Revoked, t.Hash = wholeMillis(at), make([]byte, store.HashSize)
	}
	return nil
}

func copyCredential(t *store.Credential) *store.Credential {
	d := *t
	d.Created, d.Expires, d.Revoked = wholeMillis(t.Created), wholeMillis(t.Expires), wholeMillis(t.Revoked)
	d.Hash, d.Scopes, d.Permissions = bytes.Clone(t.Hash), slices.Clone(t.Scopes), slices.Clone(t.Permissions)
	return &d
}
