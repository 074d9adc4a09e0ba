package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// RunCredentials checks the role [store.Credentials]. Each check calls open, which makes an empty
// database and registers its cleanup with t. Each call of handle opens that database anew, as
// another process would. A driver that cannot, such as one in memory, returns the same handle.
func RunCredentials(t *testing.T, open func(t *testing.T) (handle func() store.Credentials)) {
	for _, c := range credentialChecks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// credentialChecks are the checks of credentials.
var credentialChecks = []struct {
	name string
	run  func(t *testing.T, open func() store.Credentials)
}{
	{"an empty database has no credentials", noCredentials},
	{"a credential is read back field by field, also through another handle", readsBackCredentials},
	{"AddCredential fails with ErrConflict if there is one with that id", addCredentialTwice},
	{"AddCredential lets one of many writers of an id win", addCredentialLetsOneWin},
	{"AddCredential refuses a credential that is not valid", refusesBadCredentials},
	{"Credentials returns all by time of creation, then by id", credentialsOrder},
	{"a second revocation keeps the time of the first", revokeTwice},
	{"a credential that was revoked through one handle is revoked in all", revokedForAll},
	{"RevokeCredential returns ErrNotFound if there is none", revokeNothing},
	{"times of credentials are UTC in whole milliseconds", credentialTimes},
	{"the store shares no memory with credentials in arguments and results", noCredentialIsShared},
	{"a canceled context is an error for credentials and changes nothing", credentialContextDone},
}

// newCredential returns a credential with a value in every field except Revoked.
func newCredential(id string) *store.Credential {
	hash := digest.Of([]byte(id))
	return &store.Credential{
		ID: id, Hash: hash[:], Actor: "ci", Scopes: []governance.ScopePattern{"acme/*", "local"},
		Permissions: []governance.Permission{governance.Read, governance.Write}, Note: "for \x00 \"tests\"",
		Created: epoch, Expires: epoch.Add(time.Hour),
	}
}

// addCredentials adds credentials, which must succeed.
func addCredentials(t *testing.T, s store.Credentials, all ...*store.Credential) {
	t.Helper()
	for _, credential := range all {
		if err := s.AddCredential(t.Context(), credential); err != nil {
			t.Fatalf("AddCredential %s: %v", credential.ID, err)
		}
	}
}

// credential returns a credential, or fails the test.
func credential(t *testing.T, s store.Credentials, id string) *store.Credential {
	t.Helper()
	got, err := s.Credential(t.Context(), id)
	if err != nil {
		t.Fatalf("Credential %s: %v", id, err)
	}
	return got
}

// credentials returns all credentials.
func credentials(t *testing.T, s store.Credentials) []store.Credential {
	t.Helper()
	all, err := s.Credentials(t.Context())
	if err != nil {
		t.Fatalf("Credentials: %v", err)
	}
	return all
}

func noCredentials(t *testing.T, open func() store.Credentials) {
	s := open()
	if all := credentials(t, s); len(all) != 0 {
		t.Errorf("Credentials = %v, want none", all)
	}
	if _, err := s.Credential(t.Context(), "tok_1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Credential: %v, want ErrNotFound", err)
	}
}

func readsBackCredentials(t *testing.T, open func() store.Credentials) {
	full := newCredential("tok_1")
	bare := &store.Credential{ID: "any string \x00 \"'", Hash: full.Hash, Actor: "somebody", Created: epoch.Add(time.Second)}
	addCredentials(t, open(), full, bare)
	for range 2 {
		s := open()
		equal(t, "credential", credential(t, s, full.ID), full)
		equal(t, "credential", credential(t, s, bare.ID), bare)
		equal(t, "credentials", credentials(t, s), []store.Credential{*full, *bare})
	}
}

func addCredentialTwice(t *testing.T, open func() store.Credentials) {
	first, second := newCredential("tok_1"), newCredential("tok_1")
	second.Actor = "another"
	addCredentials(t, open(), first)
	for _, s := range []store.Credentials{open(), open()} {
		if err := s.AddCredential(t.Context(), second); !errors.Is(err, store.ErrConflict) {
			t.Errorf("AddCredential of an id that is taken: %v, want ErrConflict", err)
		}
	}
	equal(t, "credentials", credentials(t, open()), []store.Credential{*first})
}

func addCredentialLetsOneWin(t *testing.T, open func() store.Credentials) {
	const writers = 6
	stores := make([]store.Credentials, writers)
	for i := range stores {
		stores[i] = open()
	}
	won := winners(t, writers, func(i int) error { return stores[i].AddCredential(t.Context(), newCredential("tok_1")) })
	if n := len(credentials(t, open())); won != 1 || n != 1 {
		t.Errorf("%d writers won, there are %d credentials; want 1 and 1", won, n)
	}
}

func refusesBadCredentials(t *testing.T, open func() store.Credentials) {
	s := open()
	for name, spoil := range map[string]func(*store.Credential){
		"no id":         func(t *store.Credential) { t.ID = "" },
		"no hash":       func(t *store.Credential) { t.Hash = nil },
		"a short hash":  func(t *store.Credential) { t.Hash = t.Hash[1:] },
		"a long hash":   func(t *store.Credential) { t.Hash = append(t.Hash, 0) },
		"no actor":      func(t *store.Credential) { t.Actor = "" },
		"no time of it": func(t *store.Credential) { t.Created = time.Time{} },
	} {
		bad := newCredential("tok_1")
		spoil(bad)
		if err := s.AddCredential(t.Context(), bad); err == nil || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: AddCredential reports %v, want a refusal that is no conflict", name, err)
		}
	}
	if all := credentials(t, s); len(all) != 0 {
		t.Errorf("Credentials = %v, want none", all)
	}
}

func credentialsOrder(t *testing.T, open func() store.Credentials) {
	s := open()
	for _, at := range []struct {
		id    string
		after time.Duration
	}{{"b", 2}, {"d", 1}, {"a", 2}, {"c", 0}} {
		credential := newCredential(at.id)
		credential.Created = epoch.Add(at.after * time.Second)
		addCredentials(t, s, credential)
	}
	if err := s.RevokeCredential(t.Context(), "d", epoch); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, credential := range credentials(t, s) {
		ids = append(ids, credential.ID)
	}
	if want := []string{"c", "d", "a", "b"}; !slices.Equal(ids, want) {
		t.Errorf("Credentials are in the order %v, want %v", ids, want)
	}
}

func revokeTwice(t *testing.T, open func() store.Credentials) {
	s, other := open(), newCredential("tok_2")
	addCredentials(t, s, newCredential("tok_1"), other)
	first := epoch.Add(time.Minute)
	for _, at := range []time.Time{first, first.Add(time.Second), first.Add(-time.Second)} {
		if err := s.RevokeCredential(t.Context(), "tok_1", at); err != nil {
			t.Fatalf("RevokeCredential: %v", err)
		}
		want := newCredential("tok_1")
		want.Revoked, want.Hash = first, make([]byte, store.HashSize)
		equal(t, "credential", credential(t, s, "tok_1"), want)
	}
	equal(t, "the other credential", credential(t, s, "tok_2"), other)
}

func revokedForAll(t *testing.T, open func() store.Credentials) {
	one, another := open(), open()
	addCredentials(t, one, newCredential("tok_1"))
	if got := credential(t, another, "tok_1"); !got.Revoked.IsZero() {
		t.Errorf("Revoked = %v before it is", got.Revoked)
	}
	if err := one.RevokeCredential(t.Context(), "tok_1", epoch); err != nil {
		t.Fatal(err)
	}
	for _, s := range []store.Credentials{one, another, open()} {
		if got := credential(t, s, "tok_1"); !got.Revoked.Equal(epoch) {
			t.Errorf("Revoked = %v, want %v", got.Revoked, epoch)
		}
	}
}

func revokeNothing(t *testing.T, open func() store.Credentials) {
	s := open()
	addCredentials(t, s, newCredential("tok_1"))
	if err := s.RevokeCredential(t.Context(), "tok_2", epoch); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("RevokeCredential of none: %v, want ErrNotFound", err)
	}
	if err := s.RevokeCredential(t.Context(), "tok_1", time.Time{}); err == nil {
		t.Error("a credential can be revoked from the zero time on")
	}
	equal(t, "credential", credential(t, s, "tok_1"), newCredential("tok_1"))
}

func credentialTimes(t *testing.T, open func() store.Credentials) {
	s := open()
	zone := time.FixedZone("elsewhere", 3600)
	in := newCredential("tok_1")
	in.Created, in.Expires = in.Created.In(zone).Add(999*time.Microsecond), in.Expires.In(zone).Add(999*time.Microsecond)
	addCredentials(t, s, in)
	if err := s.RevokeCredential(t.Context(), "tok_1", epoch.In(zone).Add(999*time.Microsecond)); err != nil {
		t.Fatal(err)
	}
	want := newCredential("tok_1")
	want.Revoked, want.Hash = epoch, make([]byte, store.HashSize)
	got := credential(t, s, "tok_1")
	equal(t, "credential", got, want)
	for _, at := range []time.Time{got.Created, got.Expires, got.Revoked} {
		if at.Location() != time.UTC {
			t.Errorf("%v is not in UTC", at)
		}
	}
}

func noCredentialIsShared(t *testing.T, open func() store.Credentials) {
	s := open()
	in := newCredential("tok_1")
	addCredentials(t, s, in)
	spoil := func(t *store.Credential) {
		t.Hash[0] ^= 1
		t.Scopes[0], t.Permissions[0] = "*", governance.Erase
		t.Revoked = epoch
	}
	spoil(in)
	spoil(credential(t, s, "tok_1"))
	spoil(&credentials(t, s)[0])
	equal(t, "credential", credential(t, s, "tok_1"), newCredential("tok_1"))
}

func credentialContextDone(t *testing.T, open func() store.Credentials) {
	s := open()
	addCredentials(t, s, newCredential("tok_1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, one := s.Credential(ctx, "tok_1")
	_, all := s.Credentials(ctx)
	for name, err := range map[string]error{
		"AddCredential": s.AddCredential(ctx, newCredential("tok_2")), "RevokeCredential": s.RevokeCredential(ctx, "tok_1", epoch), "Credential": one, "Credentials": all,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
	equal(t, "credentials", credentials(t, s), []store.Credential{*newCredential("tok_1")})
}
