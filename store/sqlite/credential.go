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

// AddCredential implements [store.Credentials].
func (s *database) AddCredential(ctx context.Context, t *store.Credential) error {
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
		own := credentialImprint(t, string(scopes), string(permissions))
		err := w.exec(insertCredential, t.ID, t.Hash, t.Actor, string(scopes), string(permissions), t.Note,
			t.Created.UnixMilli(), millisOf(t.Expires), millisOf(t.Revoked), own.blob())
		if err != nil {
			return err
		}
		return w.exec(countCredentials, 1)
	}})
	if isTaken(err) {
		err = fmt.Errorf("the id already exists: %w", store.ErrConflict)
	}
	return s.ofCredential(t.ID, err)
}

// RevokeCredential implements [store.Credentials].
func (s *database) RevokeCredential(ctx context.Context, id string, at time.Time) error {
	if at.IsZero() {
		return fmt.Errorf("credential %s: the time of its revocation is zero", id)
	}
	err := s.submit(&job{ctx: ctx, write: func(w *writer) error {
		row, err := readCredential(func(dest ...any) error { return w.row(selectCredential, []any{id}, dest...) })
		if err != nil || row.intact() && !row.Revoked.IsZero() {
			return err
		}
		intact := row.intact()
		row.Revoked, row.Hash = at, make([]byte, store.HashSize)
		if intact { // a new imprint would hide damage of the row
			row.own = credentialImprint(&row.Credential, row.scopes, row.permissions)
		}
		return w.exec(revokeCredential, id, at.UnixMilli(), row.own.blob(), row.Hash)
	}})
	return s.ofCredential(id, err)
}

// Credential implements [store.Credentials].
func (s *database) Credential(ctx context.Context, id string) (t *store.Credential, err error) {
	err = s.single(ctx, func(v view) (err error) {
		t, err = scanCredential(func(dest ...any) error { return v.row(selectCredential, []any{id}, dest...) })
		return err
	})
	if err != nil {
		return nil, s.ofCredential(id, err)
	}
	return t, nil
}

// Credentials implements [store.Credentials].
func (s *database) Credentials(ctx context.Context) (all []store.Credential, err error) {
	err = s.view(ctx, func(v view) error {
		var have, want int
		if err := v.row(selectCredentialCounts, nil, &have, &want); err != nil {
			return err
		}
		if have != want {
			return damaged("the list of credentials")
		}
		return v.each(func(rows *sql.Rows) error {
			t, err := scanCredential(rows.Scan)
			if err != nil {
				return err
			}
			all = append(all, *t)
			return nil
		}, selectCredentials)
	})
	if err != nil {
		return nil, s.explain(err)
	}
	return all, nil
}

// A credentialRow is a row of the table of credentials, as it is stored.
type credentialRow struct {
	store.Credential

	scopes, permissions string
	own                 imprint
}

// intact reports whether the row matches its imprint.
func (r *credentialRow) intact() bool {
	return same(credentialImprint(&r.Credential, r.scopes, r.permissions), r.own)
}

func readCredential(scan func(dest ...any) error) (*credentialRow, error) {
	var r credentialRow
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

// scanCredential returns the credential in a row and checks its imprint.
func scanCredential(scan func(dest ...any) error) (*store.Credential, error) {
	r, err := readCredential(scan)
	if err != nil {
		return nil, err
	}
	if !r.intact() {
		return nil, damaged("credential %s", r.ID)
	}
	if err := r.parse(); err != nil {
		return nil, err
	}
	return &r.Credential, nil
}

// parse decodes the scopes and permissions.
func (r *credentialRow) parse() error {
	if err := errors.Join(json.Unmarshal([]byte(r.scopes), &r.Scopes), json.Unmarshal([]byte(r.permissions), &r.Permissions)); err != nil {
		return fmt.Errorf("credential %s: %w: its scopes or permissions cannot be parsed: %w", r.ID, store.ErrCorrupt, err)
	}
	return nil
}

// ofCredential adds the id of a credential to err, and turns [sql.ErrNoRows] into an ErrNotFound.
func (s *database) ofCredential(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		err = store.ErrNotFound
	}
	return fmt.Errorf("credential %s: %w", id, s.explain(err))
}

// millisOf returns a time as a value to bind: milliseconds, or NULL if it is zero.
func millisOf(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}
