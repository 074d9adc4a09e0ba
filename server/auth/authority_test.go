package auth_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/sqlite"
)

var epoch = time.Date(2026, time.January, 2, 3, 4, 5, 678_000_000, time.UTC)

func clock() time.Time { return epoch }

// newKey returns a key of its own.
func newKey(t testing.TB) *auth.Key {
	t.Helper()
	key, err := auth.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// request asks for a credential that may do most things in one scope.
func request() *auth.MintRequest {
	return &auth.MintRequest{
		Actor: "ci", Scopes: []governance.ScopePattern{"acme/*"},
		Permissions: []governance.Permission{governance.Read, governance.Write}, Note: "for tests", Lifetime: time.Hour,
	}
}

// mint makes a credential, which must succeed.
func mint(t testing.TB, a *auth.Authority, r *auth.MintRequest) (string, *store.Credential) {
	t.Helper()
	text, credential, err := a.Mint(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return text, credential
}

func TestMintAndVerify(t *testing.T) {
	s := memory.New()
	a := auth.NewAuthority(s, newKey(t), &auth.AuthorityOptions{Now: clock})
	r := request()
	r.Scopes, r.Permissions = append(r.Scopes, "acme/*", "local"), append(r.Permissions, governance.Read)
	text, credential := mint(t, a, r)
	want := &store.Credential{
		ID: credential.ID, Hash: credential.Hash, Actor: "ci", Scopes: []governance.ScopePattern{"acme/*", "local"},
		Permissions: []governance.Permission{governance.Read, governance.Write}, Note: "for tests", Created: epoch, Expires: epoch.Add(time.Hour),
	}
	if diff := cmp.Diff(want, credential); diff != "" {
		t.Errorf("credential (-want +got):\n%s", diff)
	}
	kept, err := a.Credentials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.Credential{*want}, kept); diff != "" {
		t.Errorf("credentials (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(text, auth.Prefix) || len(text) != len(auth.Prefix)+8+1+43 || !strings.HasPrefix(text, "carrel_"+credential.ID+"_") {
		t.Errorf("a credential has the form %q", secret.Redact(text))
	}
	if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		t.Error("a credential is not safe in a URL")
	}
	for _, in := range []string{text, "credential: " + text + "\n", `{"a":"` + text + `"}`, "Authorization: Bearer " + text} {
		if found := secret.Scan(in); len(found) != 1 || found[0].Kind != "carrel-token" {
			t.Errorf("in %d bytes %v was found", len(in), found)
		}
	}
	grant, err := a.Verify(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&governance.Grant{ID: credential.ID, Actor: "ci", Scopes: want.Scopes, Permissions: want.Permissions, Expires: want.Expires}, grant); diff != "" {
		t.Errorf("grant (-want +got):\n%s", diff)
	}
}

// A credential has 256 random bits, and its id has other random bits.
func TestCredentialsAreRandom(t *testing.T) {
	source := &counted{}
	a := auth.NewAuthority(memory.New(), newKey(t), &auth.AuthorityOptions{Now: clock, Rand: source})
	first, _ := mint(t, a, request())
	second, _ := mint(t, a, request())
	if source.n != 2*(4+32) {
		t.Errorf("two credentials took %d random bytes, want 2 times 36", source.n)
	}
	if first[len(auth.Prefix)+9:] == second[len(auth.Prefix)+9:] {
		t.Error("two credentials have one secret")
	}
}

// counted is a source of bytes that counts instead of being random.
type counted struct{ n int }

func (c *counted) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c.n)
		c.n++
	}
	return len(p), nil
}

// The longest actor and note are allowed, and the shortest lifetime ends. The default clock is that
// of the machine, and the default bits are random.
func TestMintAtItsBounds(t *testing.T) {
	r := request()
	r.Actor, r.Note, r.Lifetime = governance.Actor(strings.Repeat("a", 100)), strings.Repeat("n", 500), 1
	before := time.Now().Truncate(time.Millisecond)
	text, credential := mint(t, auth.NewAuthority(memory.New(), newKey(t), &auth.AuthorityOptions{Rand: &counted{}}), r)
	if credential.Actor != r.Actor || credential.Note != r.Note || !credential.Expires.Equal(credential.Created) {
		t.Errorf("the credential is %+v", credential)
	}
	if credential.Created.Before(before) || credential.Created.After(time.Now()) {
		t.Errorf("the credential is made at %v, want now", credential.Created)
	}
	if again, _ := mint(t, auth.NewAuthority(memory.New(), newKey(t), &auth.AuthorityOptions{Now: clock}), r); again == text {
		t.Error("a credential is made of given bits without such a source")
	}
}

// full is a store that cannot write.
type full struct {
	store.Database

	tries int
}

func (f *full) AddCredential(context.Context, *store.Credential) error {
	f.tries++
	return store.ErrBusy
}

// Mint tries another id only if the first is taken.
func TestMintWithoutAStore(t *testing.T) {
	s := &full{}
	if text, _, err := auth.NewAuthority(s, newKey(t), nil).Mint(t.Context(), request()); text != "" || !errors.Is(err, store.ErrBusy) || s.tries != 1 {
		t.Errorf("Mint: %v after %d tries, want ErrBusy after one", err, s.tries)
	}
}

// Mint never uses an id twice; if it finds no free id, it fails.
func TestMintFindsAnID(t *testing.T) {
	s, key := memory.New(), newKey(t)
	source := bytes.Repeat([]byte{7}, 3*36)
	copy(source[2*36:], "another")
	a := auth.NewAuthority(s, key, &auth.AuthorityOptions{Now: clock, Rand: bytes.NewReader(source)})
	mint(t, a, request())
	if _, second := mint(t, a, request()); second.ID != "tok_616e6f74" {
		t.Errorf("the second credential has the id %s", second.ID)
	}
	stuck := auth.NewAuthority(s, key, &auth.AuthorityOptions{Now: clock, Rand: bytes.NewReader(bytes.Repeat([]byte{7}, 9*36))})
	if _, _, err := stuck.Mint(t.Context(), request()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("when all ids are taken: %v, want ErrConflict", err)
	}
	dry := auth.NewAuthority(s, key, &auth.AuthorityOptions{Now: clock, Rand: strings.NewReader("little")})
	if text, _, err := dry.Mint(t.Context(), request()); text != "" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without randomness: %v, want ErrUnexpectedEOF", err)
	}
}

func TestMintRefuses(t *testing.T) {
	a := auth.NewAuthority(memory.New(), newKey(t), &auth.AuthorityOptions{Now: clock})
	for name, spoil := range map[string]func(*auth.MintRequest){
		"no actor":                    func(r *auth.MintRequest) { r.Actor = "" },
		"an actor with a blank":       func(r *auth.MintRequest) { r.Actor = "a b" },
		"an actor with a line feed":   func(r *auth.MintRequest) { r.Actor = "a\nb" },
		"an actor that hides":         func(r *auth.MintRequest) { r.Actor = "a\u202eb" },
		"an actor that is no UTF-8":   func(r *auth.MintRequest) { r.Actor = "a\xff" },
		"a long actor":                func(r *auth.MintRequest) { r.Actor = governance.Actor(strings.Repeat("a", 101)) },
		"a note of two lines":         func(r *auth.MintRequest) { r.Note = "a\nb" },
		"a long note":                 func(r *auth.MintRequest) { r.Note = strings.Repeat("a", 501) },
		"no scope":                    func(r *auth.MintRequest) { r.Scopes = nil },
		"a scope that is none":        func(r *auth.MintRequest) { r.Scopes = append(r.Scopes, "a//b") },
		"nothing allowed":             func(r *auth.MintRequest) { r.Permissions = nil },
		"a permission that is none":   func(r *auth.MintRequest) { r.Permissions = append(r.Permissions, "fly") },
		"a lifetime that is negative": func(r *auth.MintRequest) { r.Lifetime = -1 },
	} {
		r := request()
		spoil(r)
		if text, _, err := a.Mint(t.Context(), r); text != "" || !errors.Is(err, carrel.ErrRequest) {
			t.Errorf("%s: %v, want ErrRequest", name, err)
		}
	}
	if all, err := a.Credentials(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("%d credentials were made, %v", len(all), err)
	}
}

// A credential with one changed byte is not valid.
func TestCredentialsWithAnotherByte(t *testing.T) {
	a := auth.NewAuthority(memory.New(), newKey(t), &auth.AuthorityOptions{Now: clock})
	text, _ := mint(t, a, request())
	tries := []string{"", " " + text, text + " ", text + "A", text[1:], text[:len(text)-1], strings.ToUpper(text), strings.TrimPrefix(text, "carrel_"), text + text}
	for i := range text {
		for b := range 256 {
			if byte(b) != text[i] {
				tries = append(tries, text[:i]+string([]byte{byte(b)})+text[i+1:])
			}
		}
	}
	for _, try := range tries {
		if grant, err := a.Verify(t.Context(), try); grant != nil || err != api.ErrUnauthenticated { //nolint:errorlint // not even wrapped
			t.Fatalf("%q, of %d bytes, is taken for a credential: %v", secret.Redact(try), len(try), err)
		}
	}
	if _, err := a.Verify(t.Context(), text); err != nil {
		t.Errorf("the credential itself: %v", err)
	}
}

// Unknown, wrong, revoked and expired credentials, and those of another key, give the same error.
func TestCredentialsThatAreNone(t *testing.T) {
	now := epoch
	opts := &auth.AuthorityOptions{Now: func() time.Time { return now }}
	s, key := memory.New(), newKey(t)
	a := auth.NewAuthority(s, key, opts)
	text, credential := mint(t, a, request())
	forever := request()
	forever.Lifetime = 0
	eternal, _ := mint(t, a, forever)
	refused := func(what string, a *auth.Authority, text string) {
		t.Helper()
		if grant, err := a.Verify(t.Context(), text); grant != nil || err != api.ErrUnauthenticated { //nolint:errorlint // not even wrapped
			t.Errorf("%s: %v, %v", what, grant, err)
		}
	}
	refused("the secret of another id", a, eternal[:len(auth.Prefix)+9]+text[len(auth.Prefix)+9:])
	refused("an unknown id", a, auth.Prefix+"00000000"+text[len(auth.Prefix)+8:])
	refused("another key", auth.NewAuthority(s, newKey(t), opts), text)
	refused("another store", auth.NewAuthority(memory.New(), key, opts), text)

	now = epoch.Add(time.Hour - time.Millisecond)
	if _, err := a.Verify(t.Context(), text); err != nil {
		t.Errorf("just before it expires: %v", err)
	}
	now = epoch.Add(time.Hour)
	refused("when it expires", a, text)
	now = epoch.Add(1000 * time.Hour)
	if _, err := a.Verify(t.Context(), eternal); err != nil {
		t.Errorf("one that does not expire: %v", err)
	}
	now = epoch
	if _, err := a.Revoke(t.Context(), credential.ID); err != nil {
		t.Fatal(err)
	}
	refused("once it is revoked", a, text)
	now = epoch.Add(-time.Hour)
	refused("once it is revoked, for one whose clock is late", a, text)
}

// A credential that one process revokes is refused by another process at once; and no file of the
// store has the text of a credential.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "carrel.db")
	open := func() *auth.Authority {
		s, err := sqlite.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		key, err := auth.LoadKey(auth.KeyFile(path))
		if err != nil {
			t.Fatal(err)
		}
		return auth.NewAuthority(s, key, &auth.AuthorityOptions{Now: clock})
	}
	one, another := open(), open()
	text, credential := mint(t, one, request())
	if _, err := another.Verify(t.Context(), text); err != nil {
		t.Errorf("in another process: %v", err)
	}
	if _, err := one.Revoke(t.Context(), credential.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := another.Verify(t.Context(), text); !errors.Is(err, api.ErrUnauthenticated) {
		t.Errorf("in another process, once it is revoked: %v", err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(text[len(auth.Prefix)+9:])) {
			t.Errorf("the secret of a credential is in %s", filepath.Base(file))
		}
	}
}

func TestRevoke(t *testing.T) {
	now := epoch
	source := bytes.NewReader(slices.Concat([]byte("\x12\x34\x56\x78"), make([]byte, 32), []byte("\x12\x34\x99\x99"), make([]byte, 32)))
	a := auth.NewAuthority(memory.New(), newKey(t), &auth.AuthorityOptions{Now: func() time.Time { return now }, Rand: source})
	text, _ := mint(t, a, request())
	mint(t, a, request())
	for _, word := range []string{"1234", "tok_1234", "tok_", "tok"} {
		if _, err := a.Revoke(t.Context(), word); !errors.Is(err, carrel.ErrAmbiguous) {
			t.Errorf("Revoke %q: %v, want ErrAmbiguous", word, err)
		}
	}
	for _, word := range []string{"", "tok_5", "99", "tok_123456789"} {
		if _, err := a.Revoke(t.Context(), word); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Revoke %q: %v, want ErrNotFound", word, err)
		}
	}
	for _, word := range []string{"tok_12345678", "12345678", "12345", "tok_123456", text} {
		now = now.Add(time.Second)
		credential, err := a.Revoke(t.Context(), word)
		if err != nil || credential.ID != "tok_12345678" || !credential.Revoked.Equal(epoch.Add(time.Second)) {
			t.Errorf("Revoke %q: %+v, %v", secret.Redact(word), credential, err)
		}
	}
	_, err := a.Revoke(t.Context(), "tok_99999999")
	if err == nil || !strings.Contains(err.Error(), `"tok_99999999"`) {
		t.Errorf("an unknown id: %v, want the id in the error", err)
	}
	_, err = a.Revoke(t.Context(), "Bearer "+text)
	if err == nil || strings.Contains(err.Error(), text[len(auth.Prefix)+9:]) {
		t.Error("an error shows a credential")
	}
}

// A record that was edited to allow more is not valid, whichever column was edited.
func TestEditedRows(t *testing.T) {
	for what, edit := range map[string]func(t *store.Credential){
		"scopes":      func(t *store.Credential) { t.Scopes = append(t.Scopes, "*") },
		"no scope":    func(t *store.Credential) { t.Scopes = t.Scopes[:0] },
		"permissions": func(t *store.Credential) { t.Permissions = append(t.Permissions, governance.Erase) },
		"order":       func(t *store.Credential) { slices.Reverse(t.Permissions) },
		"actor":       func(t *store.Credential) { t.Actor = "root" },
		"expiry":      func(t *store.Credential) { t.Expires = t.Expires.Add(time.Hour) },
		"no expiry":   func(t *store.Credential) { t.Expires = time.Time{} },
		"created":     func(t *store.Credential) { t.Created = t.Created.Add(time.Hour) },
		"id":          func(t *store.Credential) { t.ID = "tok_00000000" },
		"revoked":     func(t *store.Credential) { t.Revoked = epoch },
	} {
		credentials := &edited{Database: memory.New(), edit: func(*store.Credential) {}}
		a := auth.NewAuthority(credentials, newKey(t), &auth.AuthorityOptions{Now: clock})
		text, _ := mint(t, a, request())
		if _, err := a.Verify(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		credentials.edit = edit
		if g, err := a.Verify(t.Context(), text); !errors.Is(err, api.ErrUnauthenticated) || errors.Is(err, auth.ErrUnbound) {
			t.Errorf("%s: Verify = %+v, %v; want ErrUnauthenticated", what, g, err)
		}
	}
}

// edited is a store whose credentials somebody has edited.
type edited struct {
	store.Database

	edit func(t *store.Credential)
}

func (e *edited) Credential(ctx context.Context, id string) (*store.Credential, error) {
	t, err := e.Database.Credential(ctx, id)
	if err == nil {
		e.edit(t)
	}
	return t, err
}

// A credential of an earlier version is refused with ErrUnbound.
func TestUnboundCredentials(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	key, err := auth.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	digits, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(digits)))
	if err != nil {
		t.Fatal(err)
	}
	text := auth.Prefix + "12345678_" + strings.Repeat("A", 43)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	s := &edited{Database: memory.New(), edit: func(*store.Credential) {}}
	err = s.AddCredential(t.Context(), &store.Credential{
		ID: "tok_12345678", Hash: mac.Sum(nil), Actor: "ci", Scopes: []governance.ScopePattern{"*"},
		Permissions: []governance.Permission{governance.Read}, Created: epoch,
	})
	if err != nil {
		t.Fatal(err)
	}
	a := auth.NewAuthority(s, key, &auth.AuthorityOptions{Now: clock})
	if _, err := a.Verify(t.Context(), text); !errors.Is(err, auth.ErrUnbound) || !errors.Is(err, api.ErrUnauthenticated) {
		t.Errorf("Verify: %v, want ErrUnbound", err)
	}
	if _, err := a.Verify(t.Context(), text[:len(text)-1]+"B"); errors.Is(err, auth.ErrUnbound) {
		t.Error("who does not have the credential is told about it")
	}
	for what, edit := range map[string]func(t *store.Credential){
		"expired": func(t *store.Credential) { t.Expires = epoch },
		"revoked": func(t *store.Credential) { t.Revoked = epoch },
	} {
		s.edit = edit
		if _, err := a.Verify(t.Context(), text); err != api.ErrUnauthenticated { //nolint:errorlint // not even wrapped
			t.Errorf("one that is %s: %v, want ErrUnauthenticated", what, err)
		}
	}
}

// broken is a store that does not answer.
type broken struct{ store.Database }

func (broken) Credential(context.Context, string) (*store.Credential, error) {
	return nil, fmt.Errorf("disk: %w", store.ErrBusy)
}

// An error of the store is not reported as an invalid credential.
func TestVerifyWithoutAStore(t *testing.T) {
	a := auth.NewAuthority(memory.New(), newKey(t), nil)
	text, _ := mint(t, a, request())
	if _, err := auth.NewAuthority(broken{}, newKey(t), nil).Verify(t.Context(), text); !errors.Is(err, store.ErrBusy) || errors.Is(err, api.ErrUnauthenticated) {
		t.Errorf("Verify: %v, want ErrBusy", err)
	}
}

// No way of printing a key shows it.
func TestKeyDoesNotShow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	digits := strings.Repeat("c0ffee11", 8)
	if err := os.WriteFile(path, []byte(digits), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := auth.LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %s %x %q %d %v %+v", key, key, key, key, key, key, key, *key, struct{ K auth.Key }{*key})
	raw, _ := json.Marshal(map[string]any{"key": key}) // it is an error
	for _, hint := range []string{"c0ffee", "C0FFEE", "192 255", "c0 ff", "0xc0"} {
		if strings.Contains(shown+string(raw), hint) {
			t.Errorf("a key shows as %s", shown)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	path := filepath.Join(b.TempDir(), "carrel.db")
	s, err := sqlite.Open(b.Context(), path, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close() // the benchmark is over
	a := auth.NewAuthority(s, newKey(b), nil)
	text, _ := mint(b, a, request())
	for b.Loop() {
		if _, err := a.Verify(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}
