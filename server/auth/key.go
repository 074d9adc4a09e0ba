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

// keySize is how many bytes a key has.
const keySize = 32

// A Key is what credentials are hashed under. However it is printed, it does not show.
type Key struct {
	secret [keySize]byte
}

// Format implements [fmt.Formatter]. It writes that there is a key.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[key]") }

// MarshalText implements [encoding.TextMarshaler]. It is an error: a key is in its file
// and nowhere else.
func (Key) MarshalText() ([]byte, error) { return nil, errors.New("a key is not written") }

// hash returns what a store keeps of a credential: a code over the credential and over what it
// allows. Who has neither the credential nor the key cannot make one for something else, so
// that a row that was edited is no credential.
func (k *Key) hash(credential string, t *store.Credential) []byte {
	h := hmac.New(sha256.New, k.secret[:])
	part := func(texts ...string) {
		for _, s := range texts {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
			h.Write([]byte(s)) // a hash takes everything
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

// stamp returns a time in whole milliseconds, or nothing if it is zero.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// unbound returns what a store kept of a credential before it was a code over what the credential
// allows, too.
func (k *Key) unbound(credential string) []byte {
	h := hmac.New(sha256.New, k.secret[:])
	h.Write([]byte(credential))
	return h.Sum(nil)
}

// KeyFile returns where the key of a store is: beside it.
func KeyFile(storePath string) string { return storePath + ".token-key" }

// LoadKey returns the key in a file. If there is no file it makes one, mode 0600, with
// a new key: of several who do so at once one wins, and all return what it made.
//
// It fails with a [*KeyError] if the file has no key in it, or if others may read it.
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

// A KeyError says what is wrong with the file of a key, and what to do about it. It
// shows nothing of what is in it.
type KeyError struct {
	Path   string
	Reason string
	Remedy string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("credential key %s: %s: %s", e.Path, e.Reason, e.Remedy)
}

// What to do about a file.
const (
	remedyKey  = "put the key back, or remove the file to have a new one made, which makes all credentials worthless"
	remedyMode = "let nobody else have it (chmod 600), and remove it to have a new one made if others may have read it"
)

func readKey(path string) (_ *Key, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("credential key: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat() // of what was opened, whatever the path names meanwhile
	if err != nil {
		return nil, fmt.Errorf("credential key: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, &KeyError{path, "it is no file", remedyKey}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, &KeyError{path, fmt.Sprintf("others may use it, its mode is %#o", info.Mode().Perm()), remedyMode}
	}
	text, err := io.ReadAll(io.LimitReader(f, 4*keySize))
	if err != nil {
		return nil, fmt.Errorf("credential key: %w", err)
	}
	text = bytes.TrimSpace(text)
	key := &Key{}
	if len(text) != hex.EncodedLen(keySize) {
		return nil, &KeyError{path, fmt.Sprintf("it should have %d hexadecimal digits and nothing else", hex.EncodedLen(keySize)), remedyKey}
	}
	if _, err := hex.Decode(key.secret[:], text); err != nil { // which may quote the text
		return nil, &KeyError{path, "it has something other than hexadecimal digits in it", remedyKey}
	}
	return key, nil
}

// makeKey makes a file with a new key, whole or not at all. It fails with
// [fs.ErrExist] if there is one.
func makeKey(path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".token-key-") // mode 0600, and never one that is there
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
	return os.Link(temp.Name(), path) // which replaces nothing
}
