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
func (s *database) AddToken(ctx context.Context, t *store.Token) error {
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
		own := tokenImprint(t, string(scopes), string(permissions))
		err := w.exec(insertToken, t.ID, t.Hash, t.Actor, string(scopes), string(permissions), t.Note,
			t.Created.UnixMilli(), millisOf(t.Expires), millisOf(t.Revoked), own.blob())
		if err != nil {
			return err
		}
		return w.exec(countTokens, 1)
	}})
	if isTaken(err) {
		err = fmt.Errorf("it is there already: %w", store.ErrConflict)
	}
	return s.ofToken(t.ID, err)
}

// RevokeToken implements [store.Tokens].
func (s *database) RevokeToken(ctx context.Context, id string, at time.Time) error {
	if at.IsZero() {
		return fmt.Errorf("token %s: it cannot be revoked from never on", id)
	}
	err := s.submit(&job{ctx: ctx, write: func(w *writer) error {
		row, err := readToken(func(dest ...any) error { return w.row(selectToken, []any{id}, dest...) })
		if err != nil || row.intact() && !row.Revoked.IsZero() {
			return err
		}
		intact := row.intact()
		row.Revoked, row.Hash = at, make([]byte, store.HashSize)
		if intact { // else nothing shall say that it is as it was written
			row.own = tokenImprint(&row.Token, row.scopes, row.permissions)
		}
		return w.exec(revokeToken, id, at.UnixMilli(), row.own.blob(), row.Hash)
	}})
	return s.ofToken(id, err)
}

// Token implements [store.Tokens].
func (s *database) Token(ctx context.Context, id string) (t *store.Token, err error) {
	err = s.single(ctx, func(v view) (err error) {
		t, err = scanToken(func(dest ...any) error { return v.row(selectToken, []any{id}, dest...) })
		return err
	})
	if err != nil {
		return nil, s.ofToken(id, err)
	}
	return t, nil
}

// Tokens implements [store.Tokens].
func (s *database) Tokens(ctx context.Context) (all []store.Token, err error) {
	err = s.view(ctx, func(v view) error {
		var have, want int
		if err := v.row(selectTokenCounts, nil, &have, &want); err != nil {
			return err
		}
		if have != want {
			return damaged("the list of tokens")
		}
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

// A tokenRow is a row of the table of tokens, as it is stored.
type tokenRow struct {
	store.Token

	scopes, permissions string
	own                 imprint
}

// intact reports whether the row is as it was written.
func (r *tokenRow) intact() bool {
	return same(tokenImprint(&r.Token, r.scopes, r.permissions), r.own)
}

func readToken(scan func(dest ...any) error) (*tokenRow, error) {
	var r tokenRow
	var created int64
	var expires, revoked sql.NullInt64
	err := scan(&r.ID, &r.Hash, &r.Actor, &r.scopes, &r.permissions, &r.Note, &created, &expires, &revoked, &r.own)
	if err != nil {
		return nil, err
	}
	r.Created = timeOf(created)
	if expires.Valid {
		r.Expires = timeOf(expires.Int64)
	}
	if revoked.Valid {
		r.Revoked = timeOf(revoked.Int64)
	}
	return &r, nil
}

// scanToken returns the token in a row, if it is as it was written.
func scanToken(scan func(dest ...any) error) (*store.Token, error) {
	r, err := readToken(scan)
	if err != nil {
		return nil, err
	}
	if !r.intact() {
		return nil, damaged("token %s", r.ID)
	}
	if err := r.parse(); err != nil {
		return nil, err
	}
	return &r.Token, nil
}

// parse reads what the token allows.
func (r *tokenRow) parse() error {
	if err := errors.Join(json.Unmarshal([]byte(r.scopes), &r.Scopes), json.Unmarshal([]byte(r.permissions), &r.Permissions)); err != nil {
		return fmt.Errorf("token %s: %w: what it allows cannot be read: %w", r.ID, store.ErrCorrupt, err)
	}
	return nil
}

// ofToken says which token an error is about.
func (s *database) ofToken(id string, err error) error {
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
