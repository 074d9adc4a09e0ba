package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/carrel-dev/carrel/store"
)

// maxVerified is how many verified credentials an Authority remembers.
const maxVerified = 1024

// verified remembers credentials whose hash matched their record, with the record. The hash
// depends on the text and the record only, so while the store has the same record, the hash need
// not be computed again. It has a digest of each text, not the text.
type verified struct {
	mu      sync.Mutex
	records map[[sha256.Size]byte]*store.Credential
}

// has reports whether the credential with a digest was verified, and its record is
// the same as then.
func (v *verified) has(digest [sha256.Size]byte, t *store.Credential) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	was := v.records[digest]
	return was != nil && was.ID == t.ID && hmac.Equal(was.Hash, t.Hash) && was.Actor == t.Actor &&
		slices.Equal(was.Scopes, t.Scopes) && slices.Equal(was.Permissions, t.Permissions) &&
		was.Created.Equal(t.Created) && was.Expires.Equal(t.Expires) && was.Revoked.Equal(t.Revoked)
}

// add remembers a credential, and forgets all others if there are too many.
func (v *verified) add(digest [sha256.Size]byte, t *store.Credential) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.records == nil || len(v.records) >= maxVerified {
		v.records = make(map[[sha256.Size]byte]*store.Credential)
	}
	kept := *t
	kept.Scopes, kept.Permissions = slices.Clone(t.Scopes), slices.Clone(t.Permissions) // a grant has those of t
	v.records[digest] = &kept
}
