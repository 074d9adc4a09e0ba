package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
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

// Prefix is what every credential begins with, so that whoever finds one knows what it is.
const Prefix = "carrel_tok_"

const (
	idDigits    = 8  // hexadecimal, behind "tok_" in an id
	secretBytes = 32 // of randomness
)

// secretLetters are those of the base64 that is safe in URLs.
const secretLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// An Authority makes and checks credentials. It is safe for concurrent use.
type Authority struct {
	credentials store.Credentials
	key         *Key
	now         func() time.Time
	rand        io.Reader
}

// AuthorityOptions adjusts an [Authority]. The zero value of every field is a sensible
// default, so a nil *AuthorityOptions is too.
type AuthorityOptions struct {
	// Now tells the time. The default is time.Now.
	Now func() time.Time

	// Rand is where credentials come from. The default is crypto/rand.
	Rand io.Reader
}

// NewAuthority returns an authority over the credentials of a store, which it does not own.
// One that neither makes nor checks credentials, but lists and revokes them, needs no key.
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

// A MintRequest says what a credential is to allow.
type MintRequest struct {
	Actor       governance.Actor
	Scopes      []governance.ScopePattern
	Permissions []governance.Permission
	Note        string        // what it is for
	Lifetime    time.Duration // 0 for a credential that does not expire
}

// Validate returns why a request makes no sense, as a [carrel.ErrRequest].
func (r *MintRequest) Validate() error {
	switch {
	case r.Actor == "" || len(r.Actor) > 100 || !plain(string(r.Actor)) || strings.Contains(string(r.Actor), " "):
		return fmt.Errorf("%w: actor %q: want a name of up to 100 bytes, without blanks", carrel.ErrRequest, r.Actor)
	case len(r.Note) > 500 || !plain(r.Note):
		return fmt.Errorf("%w: a note is one line of up to 500 bytes", carrel.ErrRequest)
	case len(r.Scopes) == 0:
		return fmt.Errorf("%w: it is for no scope", carrel.ErrRequest)
	case len(r.Permissions) == 0:
		return fmt.Errorf("%w: it allows nothing", carrel.ErrRequest)
	case r.Lifetime < 0:
		return fmt.Errorf("%w: it would have expired %v ago", carrel.ErrRequest, -r.Lifetime)
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

// plain reports whether a text shows as it is.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Mint makes a credential and returns it, with what the store knows of it. The credential itself
// is kept nowhere: who loses it needs another. A request that makes no sense is a
// [carrel.ErrRequest].
func (a *Authority) Mint(ctx context.Context, r *MintRequest) (text string, _ *store.Credential, err error) {
	if err := r.Validate(); err != nil {
		return "", nil, err
	}
	now := a.now().UTC().Truncate(time.Millisecond)
	t := &store.Credential{Actor: r.Actor, Scopes: distinct(r.Scopes), Permissions: distinct(r.Permissions), Note: r.Note, Created: now}
	if r.Lifetime > 0 {
		t.Expires = now.Add(r.Lifetime).Truncate(time.Millisecond)
	}
	const attempts = 4 // there are four billion ids
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

// distinct returns all values once, in the order in which they came.
func distinct[T comparable](all []T) []T {
	out := make([]T, 0, len(all))
	for _, v := range all {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// invent returns a new credential and its id.
func (a *Authority) invent() (text, id string, err error) {
	var random [idDigits/2 + secretBytes]byte
	if _, err := io.ReadFull(a.rand, random[:]); err != nil {
		return "", "", err
	}
	digits := hex.EncodeToString(random[:idDigits/2])
	return Prefix + digits + "_" + base64.RawURLEncoding.EncodeToString(random[idDigits/2:]), "tok_" + digits, nil
}

// idOf returns the id of a credential, if the text has the form of one.
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

// ErrUnbound means that a credential was made by a version of carrel whose credentials were not
// bound to what they allow. It is an [api.ErrUnauthenticated].
var ErrUnbound = fmt.Errorf("%w: this one was made by an earlier version, when what is stored of a credential could be edited to allow more: make another with carrel credential create",
	api.ErrUnauthenticated)

// Verify returns what a credential allows. That it is none, unknown, wrong, revoked, expired,
// or no longer allows what it was made for, is all the same [api.ErrUnauthenticated];
// that the store could not be asked is another error. A credential of an earlier version is
// an [ErrUnbound], and only who has it is told so.
func (a *Authority) Verify(ctx context.Context, text string) (*governance.Grant, error) {
	id, ok := idOf(text)
	if !ok {
		return nil, api.ErrUnauthenticated
	}
	t, err := a.credentials.Credential(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		t = &store.Credential{Hash: make([]byte, store.HashSize)} // which nothing is the hash of, and which takes as long
	case err != nil:
		return nil, err
	}
	same := hmac.Equal(a.key.hash(text, t), t.Hash)
	unbound := hmac.Equal(a.key.unbound(text), t.Hash)
	expired := !t.Expires.IsZero() && !a.now().Before(t.Expires)
	if unbound && !expired && t.Revoked.IsZero() {
		return nil, ErrUnbound
	}
	if !same || t.ID == "" || expired || !t.Revoked.IsZero() {
		return nil, api.ErrUnauthenticated
	}
	return &governance.Grant{ID: t.ID, Actor: t.Actor, Scopes: t.Scopes, Permissions: t.Permissions, Expires: t.Expires}, nil
}

// Credentials returns what is known of all credentials, the newest last.
func (a *Authority) Credentials(ctx context.Context) ([]store.Credential, error) {
	return a.credentials.Credentials(ctx)
}

// Revoke makes a credential worthless, from now on and for good, and returns what is known of
// it. The id is as for [Authority.Credential].
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

// Credential returns what is known of the credential with an id. The id may be shortened, as long
// as one credential alone fits, stand without "tok_", or be the whole credential. That there is
// none is a [store.ErrNotFound], that several fit a [carrel.ErrAmbiguous].
func (a *Authority) Credential(ctx context.Context, id string) (*store.Credential, error) {
	if rest, ok := strings.CutPrefix(id, Prefix); ok {
		id, _, _ = strings.Cut(rest, "_") // and nothing of the secret is told
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
	return nil, fmt.Errorf("%w: credential %s: %s and %s begin so", carrel.ErrAmbiguous, quoted(id), found[0].ID, found[1].ID)
}

// quoted returns an id for an error. What is longer than one may hold a secret.
func quoted(id string) string {
	if len(id) > len("tok_")+idDigits {
		return "which is no id"
	}
	return strconv.Quote(id)
}
