package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/governance"
)

// A Credential is the record of a bearer credential. It does not hold the
// credential, only a hash that verifies it.
type Credential struct {
	ID          string                    `json:"id"` // such as "tok_5c1f09ab"; part of the credential
	Hash        []byte                    `json:"-"`  // HMAC-SHA-256 of the whole credential, its actor, scopes, permissions and times, under a key that is not in the store; zeros after a revocation
	Actor       governance.Actor          `json:"actor"`
	Scopes      []governance.ScopePattern `json:"scopes"`
	Permissions []governance.Permission   `json:"permissions"`
	Note        string                    `json:"note,omitempty"`   // purpose
	Created     time.Time                 `json:"created"`          // UTC, whole milliseconds, as all times here
	Expires     time.Time                 `json:"expires,omitzero"` // zero: never
	Revoked     time.Time                 `json:"revoked,omitzero"` // zero: not revoked
}

// Credentials stores records of bearer credentials. It is not part of
// [Store], because credentials belong to no scope: only the owner of the
// store has this role, and a guarded store does not.
type Credentials interface {
	// AddCredential adds a credential durably. It fails with ErrConflict if
	// the id exists, and refuses an invalid credential.
	AddCredential(ctx context.Context, t *Credential) error

	// Credential returns a credential, also an expired or revoked one, or
	// ErrNotFound.
	Credential(ctx context.Context, id string) (*Credential, error)

	// Credentials returns all credentials by time of creation, then by id.
	Credentials(ctx context.Context) ([]Credential, error)

	// RevokeCredential durably ends the validity of a credential at a time
	// and erases its hash, so that it cannot become valid again. A second
	// revocation keeps the first time. It returns ErrNotFound if there is no
	// credential with the id, and refuses the zero time.
	RevokeCredential(ctx context.Context, id string, at time.Time) error
}

// A Database is a store with the roles that only its owner has.
type Database interface {
	Store
	Credentials
	Movable

	// Ready returns the reason why the store cannot be written, if one is
	// known.
	Ready(ctx context.Context) error
}

// HashSize is the size of a credential's hash in bytes.
const HashSize = 32

// Validate returns the first error in a credential, which needs an ID, a Hash of [HashSize] bytes,
// an Actor and a time Created. Every driver calls it before it writes.
func (t *Credential) Validate() error {
	switch {
	case t.ID == "":
		return errors.New("the credential has no id")
	case len(t.Hash) != HashSize:
		return fmt.Errorf("credential %s: the hash has %d bytes, want %d", t.ID, len(t.Hash), HashSize)
	case t.Actor == "":
		return fmt.Errorf("credential %s has no actor", t.ID)
	case t.Created.IsZero():
		return fmt.Errorf("credential %s has no time of creation", t.ID)
	}
	return nil
}
