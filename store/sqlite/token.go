package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// AddToken implements [store.Tokens].
func (s *Store) AddToken(ctx context.Context, t *store.Token) error {
	if err := errors.Join(ctx.Err(), t.Validate()); err != nil {
		return err
	}
	scopes, err := json.Marshal(t.Scopes)
	if err != nil {
		return err
	}
	permissions, err := json.Marshal(t.Permissions)
	if err != nil {
		return err
	}
	err = s.submit(&job{ctx: ctx, write: func(w *writer) error {
		return w.exec(insertToken, t.ID, t.Hash, t.Actor, string(scopes), string(permissions), t.Note,
			t.Created.UnixMilli(), millisOf(t.Expires), millisOf(t.Revoked))
	}})
	if isTaken(err) {
		err = fmt.Errorf("it is there already: %w", store.ErrConflict)
	}
	return s.ofToken(t.ID, err)
}

// RevokeToken implements [store.Tokens].
func (s *Store) RevokeToken(ctx context.Context, id string, at time.Time) error {
	if at.IsZero() {
		return fmt.Errorf("token %s: it cannot be revoked from never on", id)
	}
	err := s.submit(&job{ctx: ctx, write: func(w *writer) error {
		_, err := w.number(revokeToken, id, at.UnixMilli())
		return err
	}})
	return s.ofToken(id, err)
}

// Token implements [store.Tokens].
func (s *Store) Token(ctx context.Context, id string) (t *store.Token, err error) {
	err = s.view(ctx, func(v view) (err error) {
		t, err = scanToken(func(dest ...any) error { return v.row(selectToken, []any{id}, dest...) })
		return err
	})
	if err != nil {
		return nil, s.ofToken(id, err)
	}
	return t, nil
}

// Tokens implements [store.Tokens].
func (s *Store) Tokens(ctx context.Context) (all []store.Token, err error) {
	err = s.view(ctx, func(v view) error {
		return v.each(func(rows *sql.Rows) error {
			t, err := scanToken(rows.Scan)
			if err != nil {
				return err
			}
			all = append(all, *t)
			return nil
		}, selectTokens)
	})
	if err != nil {
		return nil, s.explain(err)
	}
	return all, nil
}

// checkTokens reports each token that cannot be read.
func (v view) checkTokens(report func(string, ...any)) error {
	return v.each(func(rows *sql.Rows) error {
		t, err := scanToken(rows.Scan)
		switch {
		case errors.Is(err, store.ErrCorrupt):
			report("%v", err)
		case err != nil:
			return err
		default:
			if err := t.Validate(); err != nil {
				report("%v", err)
			}
		}
		return nil
	}, selectTokens)
}

func scanToken(scan func(dest ...any) error) (*store.Token, error) {
	var t store.Token
	var scopes, permissions string
	var created int64
	var expires, revoked sql.NullInt64
	err := scan(&t.ID, &t.Hash, &t.Actor, &scopes, &permissions, &t.Note, &created, &expires, &revoked)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(json.Unmarshal([]byte(scopes), &t.Scopes), json.Unmarshal([]byte(permissions), &t.Permissions)); err != nil {
		return nil, fmt.Errorf("token %s: %w: what it allows cannot be read: %w", t.ID, store.ErrCorrupt, err)
	}
	t.Created = timeOf(created)
	if expires.Valid {
		t.Expires = timeOf(expires.Int64)
	}
	if revoked.Valid {
		t.Revoked = timeOf(revoked.Int64)
	}
	return &t, nil
}

// ofToken says which token an error is about.
func (s *Store) ofToken(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		err = store.ErrNotFound
	}
	return fmt.Errorf("token %s: %w", id, s.explain(err))
}

// millisOf returns a time as a value, NULL if it is zero.
func millisOf(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}
