package auth

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/carrel-dev/carrel/store"
)

// A credential is remembered for the text and the record that were verified, and for no others.
func TestVerifiedHasOneTextAndRecord(t *testing.T) {
	var v verified
	one, another := sha256.Sum256([]byte("one")), sha256.Sum256([]byte("another"))
	record := func() *store.Credential {
		return &store.Credential{ID: "tok_1", Hash: bytes.Repeat([]byte{1}, store.HashSize)}
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
	changed := record()
	changed.Hash[0]++
	if v.has(one, changed) {
		t.Error("a record with another hash is taken for verified")
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
