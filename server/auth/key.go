package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// keySize is the length of a key in bytes.
const keySize = 32

// A Key is the secret key of the hashes of credentials. Printing a Key does not show it.
type Key struct {
	secret [keySize]byte
}

// Format implements [fmt.Formatter]. It writes "[key]" instead of the key.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[key]") }

// MarshalText implements [encoding.TextMarshaler]. It always fails, so that no encoder writes a
// key.
func (Key) MarshalText() ([]byte, error) {
	return nil, errors.New("a key cannot be encoded: it is only in its file")
}

// hash returns the hash that a store keeps of a credential: an HMAC of its text, actor, scopes,
// permissions and times. Without the text and the key nobody can compute it, so an edited record
// is not valid.
func (k *Key) hash(credential string, t *store.Credential) []byte {
	h := hmac.New(sha256.New, k.secret[:])
	part := func(texts ...string) {
		for _, s := range texts {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
			h.Write([]byte(s)) // never fails
		}
	}
	list := func(n int) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) } //nolint:gosec // it is a length
	part("token/v2", credential, t.ID, string(t.Actor))
	list(len(t.Scopes))
	for _, s := range t.Scopes {
		part(string(s))
	}
	list(len(t.Permissions))
	for _, p := range t.Permissions {
		part(string(p))
	}
	part(stamp(t.Created), stamp(t.Expires))
	return h.Sum(nil)
}

// stamp returns a time in whole milliseconds, or "" if it is zero.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// unbound returns the hash of a credential in earlier versions: an HMAC of its text only.
func (k *Key) unbound(credential string) []byte {
	h := hmac.New(sha256.New, k.secret[:])
	h.Write([]byte(credential))
	return h.Sum(nil)
}

// KeyFile returns the path of the key file of a store, which is beside the store.
func KeyFile(storePath string) string { return storePath + ".token-key" }

// LoadKey returns the key in a file. If there is no file, it makes one with a new key and mode
// 0600. If several processes do that at once, all return the same key.
//
// It fails with a [*KeyError] if the file has no valid key, or if other users may read it.
func LoadKey(path string) (*Key, error) {
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("credential key: %w", err)
	}
	return readKey(path)
}

// A KeyError says what is wrong with a key file, and what to do. It does not show the content.
type KeyError struct {
	Path   string
	Reason string
	Remedy string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("credential key %s: %s: %s", e.Path, e.Reason, e.Remedy)
}

// The remedies of a KeyError.
const (
	remedyKey  = "put the key back, or remove the file to get a new key, which makes all credentials invalid"
	remedyMode = "set its mode to 600 (chmod 600), and remove the file to get a new key if others may have read it"
)

func readKey(path string) (_ *Key, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("credential key: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat() // of the opened file, even if the path was replaced meanwhile
	if err != nil {
		return nil, fmt.Errorf("credential key: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, &KeyError{path, "it is not a regular file", remedyKey}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, &KeyError{path, fmt.Sprintf("other users may read or write it, as its mode is %#o", info.Mode().Perm()), remedyMode}
	}
	text, err := io.ReadAll(io.LimitReader(f, 4*keySize))
	if err != nil {
		return nil, fmt.Errorf("credential key: %w", err)
	}
	text = bytes.TrimSpace(text)
	key := &Key{}
	if len(text) != hex.EncodedLen(keySize) {
		return nil, &KeyError{path, fmt.Sprintf("it must have %d hexadecimal digits and nothing else", hex.EncodedLen(keySize)), remedyKey}
	}
	if _, err := hex.Decode(key.secret[:], text); err != nil { // not wrapped, as it may quote the key
		return nil, &KeyError{path, "it has characters that are not hexadecimal digits", remedyKey}
	}
	return key, nil
}

// makeKey makes a file with a new key, whole or not at all. It fails with [fs.ErrExist] if the
// file exists.
func makeKey(path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".token-key-") // a new file with mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(temp.Name())) }()
	var secret [keySize]byte
	_, err = rand.Read(secret[:])
	if err == nil {
		_, err = temp.WriteString(hex.EncodeToString(secret[:]) + "\n")
	}
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Link(temp.Name(), path) // fails if path exists
}
