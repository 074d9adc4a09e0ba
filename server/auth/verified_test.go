package auth

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// A credential is remembered for the text and the record that were verified, and for no others.
func TestVerifiedHasOneTextAndRecord(t *testing.T) {
	var v verified
	one, another := sha256.Sum256([]byte("one")), sha256.Sum256([]byte("another"))
	record := func() *store.Credential {
		return &store.Credential{ID: "tok_1", Hash: bytes.Repeat([]byte{1}, store.HashSize), Scopes: []governance.ScopePattern{"a"}, Permissions: []governance.Permission{governance.Read}}
	}
	if v.has(one, record()) {
		t.Error("a credential is remembered before it was verified")
	}
	v.add(one, record())
	if !v.has(one, record()) {
		t.Error("a verified credential is not remembered")
	}
	if v.has(another, record()) {
		t.Error("the record of another text is taken for verified")
	}
	for what, change := range map[string]func(c *store.Credential){
		"hash": func(c *store.Credential) { c.Hash[0]++ }, "id": func(c *store.Credential) { c.ID = "tok_2" }, "actor": func(c *store.Credential) { c.Actor = "b" },
		"scope": func(c *store.Credential) { c.Scopes[0] = "b" }, "permission": func(c *store.Credential) { c.Permissions = nil }, "begin": func(c *store.Credential) { c.Created = time.Unix(1, 0) },
		"end": func(c *store.Credential) { c.Expires = time.Unix(1, 0) }, "revocation": func(c *store.Credential) { c.Revoked = time.Unix(1, 0) },
	} {
		changed := record()
		if change(changed); v.has(one, changed) {
			t.Errorf("a record with another %s is taken for verified", what)
		}
	}
}

// However many credentials are used, few are remembered.
func TestVerifiedIsBounded(t *testing.T) {
	var v verified
	for n := range 3 * maxVerified {
		digest := sha256.Sum256([]byte{byte(n), byte(n >> 8)})
		v.add(digest, &store.Credential{ID: "tok_1"})
		if len(v.records) > maxVerified {
			t.Fatalf("after %d credentials %d are remembered, want at most %d", n+1, len(v.records), maxVerified)
		}
		if !v.has(digest, &store.Credential{ID: "tok_1"}) {
			t.Fatalf("credential %d is not remembered", n)
		}
	}
}
