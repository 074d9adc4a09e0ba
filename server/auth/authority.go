package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Prefix is the beginning of every credential, by which people and scanners can recognize one.
const Prefix = "carrel_tok_"

const (
	idDigits    = 8  // hexadecimal, behind "tok_" in an id
	secretBytes = 32 // of randomness
)

// secretLetters are the letters of URL-safe base64.
const secretLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// An Authority makes and checks credentials. It is safe for concurrent use.
type Authority struct {
	credentials store.Credentials
	key         *Key
	now         func() time.Time
	rand        io.Reader
	verified    verified
}

// AuthorityOptions configures an [Authority]. A zero field, and a nil *AuthorityOptions, mean the
// defaults.
type AuthorityOptions struct {
	// Now returns the time. The default is time.Now.
	Now func() time.Time

	// Rand is the source of the random bits of credentials. It must be safe for concurrent use.
	// The default is crypto/rand.
	Rand io.Reader
}

// NewAuthority returns an Authority over the credentials of a store, which it does not close. The
// key may be nil if the Authority only lists and revokes credentials.
func NewAuthority(credentials store.Credentials, key *Key, opts *AuthorityOptions) *Authority {
	a := &Authority{credentials: credentials, key: key, now: time.Now, rand: rand.Reader} //nolint:forbidigo // this is the default clock
	if opts != nil && opts.Now != nil {
		a.now = opts.Now
	}
	if opts != nil && opts.Rand != nil {
		a.rand = opts.Rand
	}
	return a
}

// A MintRequest describes a credential to make.
type MintRequest struct {
	Actor       governance.Actor
	Scopes      []governance.ScopePattern
	Permissions []governance.Permission
	Note        string        // the purpose, for people
	Lifetime    time.Duration // 0 for a credential that does not expire
}

// Validate returns a [carrel.ErrRequest] if a field of the request is invalid. Actor, one scope and
// one permission are required.
func (r *MintRequest) Validate() error {
	switch {
	case r.Actor == "" || len(r.Actor) > 100 || !plain(string(r.Actor)) || strings.Contains(string(r.Actor), " "):
		return fmt.Errorf("%w: actor %q: want a name of up to 100 bytes, without blanks", carrel.ErrRequest, r.Actor)
	case len(r.Note) > 500 || !plain(r.Note):
		return fmt.Errorf("%w: a note is one line of up to 500 bytes", carrel.ErrRequest)
	case len(r.Scopes) == 0:
		return fmt.Errorf("%w: scopes: name at least one", carrel.ErrRequest)
	case len(r.Permissions) == 0:
		return fmt.Errorf("%w: permissions: name at least one", carrel.ErrRequest)
	case r.Lifetime < 0:
		return fmt.Errorf("%w: lifetime: the credential would have expired %v ago", carrel.ErrRequest, -r.Lifetime)
	}
	for _, s := range r.Scopes {
		if _, err := governance.ParseScopePattern(string(s)); err != nil {
			return fmt.Errorf("%w: %w", carrel.ErrRequest, err)
		}
	}
	for _, p := range r.Permissions {
		if _, err := governance.ParsePermission(string(p)); err != nil {
			return fmt.Errorf("%w: %w", carrel.ErrRequest, err)
		}
	}
	return nil
}

// plain reports whether a text is valid Unicode and has only printable characters.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Mint makes a credential. It returns its text and its record in the store. The text is kept
// nowhere, so a lost credential must be replaced. Mint fails with [carrel.ErrRequest] if the
// request is invalid.
func (a *Authority) Mint(ctx context.Context, r *MintRequest) (text string, _ *store.Credential, err error) {
	if err := r.Validate(); err != nil {
		return "", nil, err
	}
	now := a.now().UTC().Truncate(time.Millisecond)
	t := &store.Credential{Actor: r.Actor, Scopes: distinct(r.Scopes), Permissions: distinct(r.Permissions), Note: r.Note, Created: now}
	if r.Lifetime > 0 {
		t.Expires = now.Add(r.Lifetime).Truncate(time.Millisecond)
	}
	const attempts = 4 // of four billion ids, a random one is hardly ever taken
	for range attempts {
		if text, t.ID, err = a.invent(); err != nil {
			return "", nil, err
		}
		t.Hash = a.key.hash(text, t)
		if err = a.credentials.AddCredential(ctx, t); err == nil {
			return text, t, nil
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	return "", nil, err
}

// distinct returns the values without repetitions, in their order.
func distinct[T comparable](all []T) []T {
	out := make([]T, 0, len(all))
	for _, v := range all {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// invent returns a new random credential and its id.
func (a *Authority) invent() (text, id string, err error) {
	var random [idDigits/2 + secretBytes]byte
	if _, err := io.ReadFull(a.rand, random[:]); err != nil {
		return "", "", err
	}
	digits := hex.EncodeToString(random[:idDigits/2])
	return Prefix + digits + "_" + base64.RawURLEncoding.EncodeToString(random[idDigits/2:]), "tok_" + digits, nil
}

// idOf returns the id of a credential, or false if text does not have the form of a credential.
func idOf(text string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(text, Prefix)
	if !ok || len(rest) != idDigits+1+base64.RawURLEncoding.EncodedLen(secretBytes) || rest[idDigits] != '_' {
		return "", false
	}
	digits, secret := rest[:idDigits], rest[idDigits+1:]
	if strings.Trim(digits, "0123456789abcdef") != "" || strings.Trim(secret, secretLetters) != "" {
		return "", false
	}
	return "tok_" + digits, true
}

// ErrUnbound means that a credential was made by an earlier version of carrel, whose hashes did
// not cover the permissions. It is an [api.ErrUnauthenticated].
var ErrUnbound = fmt.Errorf("%w: this one was made by an earlier version, when the permissions of a credential could be edited in the store: make another with carrel credential create",
	api.ErrUnauthenticated)

// Verify returns the grant of a credential. It fails with [api.ErrUnauthenticated], without
// saying why, if the text is not a credential, or the credential is unknown, wrong, revoked or
// expired, or its record was edited. It fails with [ErrUnbound] for a valid credential of an
// earlier version, and with another error if the store does not answer.
func (a *Authority) Verify(ctx context.Context, text string) (*governance.Grant, error) {
	id, ok := idOf(text)
	if !ok {
		return nil, api.ErrUnauthenticated
	}
	t, err := a.credentials.Credential(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		t = &store.Credential{Hash: make([]byte, store.HashSize)} // never equal, so that an unknown id takes the same time
	case err != nil:
		return nil, err
	}
	digest := sha256.Sum256([]byte(text))
	known := a.verified.has(digest, t)
	same := known || hmac.Equal(a.key.hash(text, t), t.Hash)
	unbound := !known && hmac.Equal(a.key.unbound(text), t.Hash)
	expired := !t.Expires.IsZero() && !a.now().Before(t.Expires)
	if unbound && !expired && t.Revoked.IsZero() {
		return nil, ErrUnbound
	}
	if !same || expired || !t.Revoked.IsZero() {
		return nil, api.ErrUnauthenticated
	}
	if !known {
		a.verified.add(digest, t)
	}
	return &governance.Grant{ID: t.ID, Actor: t.Actor, Scopes: t.Scopes, Permissions: t.Permissions, Expires: t.Expires}, nil
}

// Credentials returns the records of all credentials, the newest last.
func (a *Authority) Credentials(ctx context.Context) ([]store.Credential, error) {
	return a.credentials.Credentials(ctx)
}

// Revoke makes a credential invalid for good, and returns its record. The id is as for
// [Authority.Credential].
func (a *Authority) Revoke(ctx context.Context, id string) (*store.Credential, error) {
	t, err := a.Credential(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := a.credentials.RevokeCredential(ctx, t.ID, a.now()); err != nil {
		return nil, err
	}
	return a.credentials.Credential(ctx, t.ID)
}

// Credential returns the record of a credential. The id may be a unique beginning of the id, may
// lack "tok_", or may be the whole text of the credential. Credential fails with
// [store.ErrNotFound] if no credential matches, and with [carrel.ErrAmbiguous] if several do.
func (a *Authority) Credential(ctx context.Context, id string) (*store.Credential, error) {
	if rest, ok := strings.CutPrefix(id, Prefix); ok {
		id, _, _ = strings.Cut(rest, "_") // without the secret, which no error may quote
	}
	all, err := a.credentials.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	var found []*store.Credential
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
		if id != "" && (strings.HasPrefix(all[i].ID, id) || strings.HasPrefix(all[i].ID, "tok_"+id)) {
			found = append(found, &all[i])
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("credential %s: %w", quoted(id), store.ErrNotFound)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%w: credential %s: it is the beginning of %s and %s", carrel.ErrAmbiguous, quoted(id), found[0].ID, found[1].ID)
}

// quoted returns an id as an error text shows it. It does not quote a text that is longer than
// an id, because that may contain a secret.
func quoted(id string) string {
	if len(id) > len("tok_")+idDigits {
		return "(longer than an id and maybe the secret, so it is not shown)"
	}
	return strconv.Quote(id)
}
