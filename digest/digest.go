// Package digest computes digests of bytes, and commitments that do not reveal the bytes.
//
// A [Digest] is the SHA-256 of some bytes. Anyone who guesses the bytes can confirm the guess
// with it. A commitment, made by [Commit], is a hash under a random [Salt] that is stored with
// the bytes. Once the salt is deleted, the commitment cannot confirm a guess. Records that
// outlive erased text therefore hold commitments, never digests of the text.
//
// The package does no I/O, and its values may be used concurrently. The forms of digests and
// commitments do not change.
package digest

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Size is the length of a [Digest] and of a [Salt], in bytes.
const Size = sha256.Size

// A Digest is the SHA-256 of some bytes, or a commitment to them.
type Digest [Size]byte

// A Salt hides the bytes of a commitment. Fill it from crypto/rand, a new one for each commitment,
// and store it with the bytes only.
type Salt [Size]byte

// Of returns the digest of b.
func Of(b []byte) Digest { return sha256.Sum256(b) }

// Commit returns a commitment to data of a kind:
//
//	HMAC-SHA256(salt, "cell/v1" 0 kind 0 len(data) data)
//
// The length is 8 bytes, big endian. Two commitments to the same bytes are
// equal only if salt and kind are.
func Commit(salt Salt, kind string, data []byte) Digest {
	h := hmac.New(sha256.New, salt[:])
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(data)))
	h.Write([]byte("cell/v1\x00" + kind + "\x00"))
	h.Write(n[:])
	h.Write(data)
	return Digest(h.Sum(nil))
}

// Equal reports whether d and e are equal, in a time that does not depend on
// where they differ.
func (d Digest) Equal(e Digest) bool { return subtle.ConstantTimeCompare(d[:], e[:]) == 1 }

// String returns d as 64 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first 8 hexadecimal digits of d, for people to read.
func (d Digest) Short() string { return hex.EncodeToString(d[:4]) }

// Parse reads the form that [Digest.String] writes.
func Parse(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*Size {
		return d, fmt.Errorf("digest %q has %d characters, want %d", s, len(s), 2*Size)
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return Digest{}, fmt.Errorf("digest %q: %w", s, err)
	}
	return d, nil
}

// MarshalText implements [encoding.TextMarshaler].
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Digest) UnmarshalText(text []byte) error {
	p, err := Parse(string(text))
	if err != nil {
		return err
	}
	*d = p
	return nil
}
