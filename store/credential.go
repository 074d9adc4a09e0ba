package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/governance"
)

// A Credential is what a store knows of a bearer credential: not the credential, only what tells
// whether somebody has it.
type Credential struct {
	ID          string                    `json:"id"` // such as "tok_5c1f09ab"; part of the credential
	Hash        []byte                    `json:"-"`  // HMAC-SHA-256 of the whole credential and what it allows, under a key that is not in the store; zeros once it is revoked
	Actor       governance.Actor          `json:"actor"`
	Scopes      []governance.ScopePattern `json:"scopes"`
	Permissions []governance.Permission   `json:"permissions"`
	Note        string                    `json:"note,omitempty"` // what it is for
	Created     time.Time                 `json:"created"`        // UTC, whole milliseconds, as all times here
	Expires     time.Time                 `json:"expires,omitzero"`
	Revoked     time.Time                 `json:"revoked,omitzero"`
}

// Credentials keeps what is known of bearer credentials. It is no part of [Store]: credentials
// belong to no scope, they say who may come into which, so that only who owns the
// store sees this role, and a store that is guarded does not have it.
type Credentials interface {
	// AddCredential adds a credential, durably. It fails with ErrConflict if there is one with
	// that id, and refuses a credential that is not valid.
	AddCredential(ctx context.Context, t *Credential) error

	// Credential returns a credential, also one that has expired or was revoked, or
	// ErrNotFound.
	Credential(ctx context.Context, id string) (*Credential, error)

	// Credentials returns all credentials by time of creation, then by id.
	Credentials(ctx context.Context) ([]Credential, error)

	// RevokeCredential says, durably, that a credential is not valid from a time on, and erases
	// its hash, so that nothing makes it valid again. One that was revoked before keeps
	// the time of that. It returns ErrNotFound if there is
	// none, and refuses the zero time, which means never.
	RevokeCredential(ctx context.Context, id string, at time.Time) error
}

// A Database is a store with what only its owner sees.
type Database interface {
	Store
	Credentials

	// Ready reports why nothing can be written, if that is known.
	Ready(ctx context.Context) error
}

// HashSize is how many bytes the hash of a credential has.
const HashSize = 32

// Validate reports what is wrong with a credential on its own. Every driver asks before
// it writes.
func (t *Credential) Validate() error {
	switch {
	case t.ID == "":
		return errors.New("the credential has no id")
	case len(t.Hash) != HashSize:
		return fmt.Errorf("credential %s: a hash has %d bytes, not %d", t.ID, HashSize, len(t.Hash))
	case t.Actor == "":
		return fmt.Errorf("credential %s: it is nobody's", t.ID)
	case t.Created.IsZero():
		return fmt.Errorf("credential %s: it was never made", t.ID)
	}
	return nil
}
