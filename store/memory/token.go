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

// AddToken implements [store.Tokens].
func (s *database) AddToken(ctx context.Context, t *store.Token) error {
	if err := errors.Join(ctx.Err(), t.Validate()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens[t.ID] != nil {
		return fmt.Errorf("token %s: it is there already: %w", t.ID, store.ErrConflict)
	}
	s.tokens[t.ID] = copyToken(t)
	return nil
}

// Token implements [store.Tokens].
func (s *database) Token(ctx context.Context, id string) (*store.Token, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	t := s.tokens[id]
	if t == nil {
		return nil, fmt.Errorf("token %s: %w", id, store.ErrNotFound)
	}
	return copyToken(t), nil
}

// Tokens implements [store.Tokens].
func (s *database) Tokens(ctx context.Context) ([]store.Token, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]store.Token, 0, len(s.tokens))
	for _, t := range s.tokens {
		all = append(all, *copyToken(t))
	}
	slices.SortFunc(all, func(a, b store.Token) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// RevokeToken implements [store.Tokens].
func (s *database) RevokeToken(ctx context.Context, id string, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at.IsZero() {
		return fmt.Errorf("token %s: it cannot be revoked from never on", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[id]
	if t == nil {
		return fmt.Errorf("token %s: %w", id, store.ErrNotFound)
	}
	if t.Revoked.IsZero() {
		t.Revoked, t.Hash = wholeMillis(at), make([]byte, store.HashSize)
	}
	return nil
}

func copyToken(t *store.Token) *store.Token {
	d := *t
	d.Created, d.Expires, d.Revoked = wholeMillis(t.Created), wholeMillis(t.Expires), wholeMillis(t.Revoked)
	d.Hash, d.Scopes, d.Permissions = bytes.Clone(t.Hash), slices.Clone(t.Scopes), slices.Clone(t.Permissions)
	return &d
}
