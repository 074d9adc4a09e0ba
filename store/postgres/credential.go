package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carrel-dev/carrel/store"
)

const (
	credentialColumns = `SELECT token_id, hash, actor, scopes, permissions, note, created, expires, revoked FROM token `
	selectCredential  = credentialColumns + `WHERE token_id = $1`
	lockCredential    = selectCredential + ` FOR UPDATE`
	selectCredentials = credentialColumns + `ORDER BY created, token_id`
	insertCredential  = `
		INSERT INTO token (token_id, hash, actor, scopes, permissions, note, created, expires, revoked)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	revokeCredential = `UPDATE token SET revoked = $2, hash = $3 WHERE token_id = $1 AND revoked IS NULL`
)

// AddCredential implements [store.Credentials].
func (s *database) AddCredential(ctx context.Context, credential *store.Credential) error {
	if err := errors.Join(ctx.Err(), credential.Validate()); err != nil {
		return err
	}
	scopes, err := json.Marshal(credential.Scopes)
	if err != nil {
		return err
	}
	permissions, err := json.Marshal(credential.Permissions)
	if err != nil {
		return err
	}
	err = s.transact(ctx, noScope, writing, func(t *tx) error {
		if t.again {
			there, err := t.credential(credential.ID, selectCredential)
			if err == nil && bytes.Equal(there.Hash, credential.Hash) {
				return errMade
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		t.do("", insertCredential, raw(credential.ID), credential.Hash, raw(credential.Actor), scopes, permissions, raw(credential.Note),
			millis(credential.Created), maybeMillis(credential.Expires), maybeMillis(credential.Revoked))
		return nil
	})
	if isTaken(err) {
		err = fmt.Errorf("the id already exists: %w", store.ErrConflict)
	}
	return ofCredential(credential.ID, err)
}

// RevokeCredential implements [store.Credentials].
func (s *database) RevokeCredential(ctx context.Context, id string, at time.Time) error {
	if at.IsZero() {
		return fmt.Errorf("credential %s: the time of its revocation is zero", id)
	}
	return ofCredential(id, s.transact(ctx, noScope, writing, func(t *tx) error {
		if _, err := t.credential(id, lockCredential); err != nil {
			return err
		}
		t.do("", revokeCredential, raw(id), millis(at), make([]byte, store.HashSize))
		return nil
	}))
}

// credential runs a query for the credential with an id and returns the result, or ErrNotFound.
func (t *tx) credential(id, query string) (*store.Credential, error) {
	var found []store.Credential
	t.rows(each(&found, scanCredential), query, raw(id))
	if err := t.flush(); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, store.ErrNotFound
	}
	return &found[0], nil
}

// Credential implements [store.Credentials].
func (s *database) Credential(ctx context.Context, id string) (credential *store.Credential, err error) {
	err = s.transact(ctx, noScope, reading, func(t *tx) (err error) {
		credential, err = t.credential(id, selectCredential)
		return err
	})
	if err != nil {
		return nil, ofCredential(id, err)
	}
	return credential, nil
}

// Credentials implements [store.Credentials].
func (s *database) Credentials(ctx context.Context) (all []store.Credential, err error) {
	err = s.transact(ctx, noScope, reading, func(t *tx) error {
		all = nil
		t.rows(each(&all, scanCredential), selectCredentials)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func scanCredential(rows pgx.Rows) (store.Credential, error) {
	var t store.Credential
	var scopes, permissions []byte
	var created int64
	var expires, revoked *int64
	err := rows.Scan(to(&t.ID), &t.Hash, to(&t.Actor), &scopes, &permissions, to(&t.Note), &created, &expires, &revoked)
	if err != nil {
		return t, err
	}
	t.Created, t.Expires, t.Revoked = timeOf(created), maybeTime(expires), maybeTime(revoked)
	if err := errors.Join(json.Unmarshal(scopes, &t.Scopes), json.Unmarshal(permissions, &t.Permissions)); err != nil {
		return t, fmt.Errorf("%w: its scopes or permissions cannot be parsed: %w", store.ErrCorrupt, err)
	}
	return t, nil
}

// ofCredential adds the id of a credential to err, unless err is nil.
func ofCredential(id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("credential %s: %w", id, err)
}
