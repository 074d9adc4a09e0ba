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

// RunTokens checks the role [store.Tokens] of the drivers that have it. Each check
// asks for handles of one empty database: open returns a function that opens another
// each time it is called, as another process would. A driver that has no other, such
// as one in memory, returns the same. The cleanup is registered with t.
func RunTokens(t *testing.T, open func(t *testing.T) (handle func() store.Tokens)) {
	for _, c := range tokenChecks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// tokenChecks are about what is known of tokens.
var tokenChecks = []struct {
	name string
	run  func(t *testing.T, open func() store.Tokens)
}{
	{"an empty database has no tokens", noTokens},
	{"a token is read back field by field, also through another handle", readsBackTokens},
	{"AddToken fails with ErrConflict if there is one with that id", addTokenTwice},
	{"AddToken lets one of many writers of an id win", addTokenLetsOneWin},
	{"AddToken refuses a token that is not valid", refusesBadTokens},
	{"Tokens returns all by time of creation, then by id", tokensOrder},
	{"one that was revoked before keeps the time of that", revokeTwice},
	{"a token that was revoked through one handle is revoked in all", revokedForAll},
	{"RevokeToken returns ErrNotFound if there is none", revokeNothing},
	{"times of tokens are UTC in whole milliseconds", tokenTimes},
	{"no token that goes in or comes out is shared", noTokenIsShared},
	{"a context that is done is an error for tokens and changes nothing", tokenContextDone},
}

// newToken returns a token with something in every field but Revoked.
func newToken(id string) *store.Token {
	hash := digest.Of([]byte(id))
	return &store.Token{
		ID: id, Hash: hash[:], Actor: "ci", Scopes: []governance.ScopePattern{"acme/*", "local"},
		Permissions: []governance.Permission{governance.Read, governance.Write}, Note: "for \x00 \"tests\"",
		Created: epoch, Expires: epoch.Add(time.Hour),
	}
}

// addTokens adds tokens, which must succeed.
func addTokens(t *testing.T, s store.Tokens, all ...*store.Token) {
	t.Helper()
	for _, token := range all {
		if err := s.AddToken(t.Context(), token); err != nil {
			t.Fatalf("AddToken %s: %v", token.ID, err)
		}
	}
}

// token returns a token that must be there.
func token(t *testing.T, s store.Tokens, id string) *store.Token {
	t.Helper()
	got, err := s.Token(t.Context(), id)
	if err != nil {
		t.Fatalf("Token %s: %v", id, err)
	}
	return got
}

// tokens returns all tokens.
func tokens(t *testing.T, s store.Tokens) []store.Token {
	t.Helper()
	all, err := s.Tokens(t.Context())
	if err != nil {
		t.Fatalf("Tokens: %v", err)
	}
	return all
}

func noTokens(t *testing.T, open func() store.Tokens) {
	s := open()
	if all := tokens(t, s); len(all) != 0 {
		t.Errorf("Tokens = %v, want none", all)
	}
	if _, err := s.Token(t.Context(), "tok_1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Token: %v, want ErrNotFound", err)
	}
}

func readsBackTokens(t *testing.T, open func() store.Tokens) {
	full := newToken("tok_1")
	bare := &store.Token{ID: "any string \x00 \"'", Hash: full.Hash, Actor: "somebody", Created: epoch.Add(time.Second)}
	addTokens(t, open(), full, bare)
	for range 2 {
		s := open()
		equal(t, "token", token(t, s, full.ID), full)
		equal(t, "token", token(t, s, bare.ID), bare)
		equal(t, "tokens", tokens(t, s), []store.Token{*full, *bare})
	}
}

func addTokenTwice(t *testing.T, open func() store.Tokens) {
	first, second := newToken("tok_1"), newToken("tok_1")
	second.Actor = "another"
	addTokens(t, open(), first)
	for _, s := range []store.Tokens{open(), open()} {
		if err := s.AddToken(t.Context(), second); !errors.Is(err, store.ErrConflict) {
			t.Errorf("AddToken of an id that is taken: %v, want ErrConflict", err)
		}
	}
	equal(t, "tokens", tokens(t, open()), []store.Token{*first})
}

func addTokenLetsOneWin(t *testing.T, open func() store.Tokens) {
	const writers = 6
	stores := make([]store.Tokens, writers)
	for i := range stores {
		stores[i] = open()
	}
	won := winners(t, writers, func(i int) error { return stores[i].AddToken(t.Context(), newToken("tok_1")) })
	if n := len(tokens(t, open())); won != 1 || n != 1 {
		t.Errorf("%d writers won, there are %d tokens; want 1 and 1", won, n)
	}
}

func refusesBadTokens(t *testing.T, open func() store.Tokens) {
	s := open()
	for name, spoil := range map[string]func(*store.Token){
		"no id":         func(t *store.Token) { t.ID = "" },
		"no hash":       func(t *store.Token) { t.Hash = nil },
		"a short hash":  func(t *store.Token) { t.Hash = t.Hash[1:] },
		"a long hash":   func(t *store.Token) { t.Hash = append(t.Hash, 0) },
		"no actor":      func(t *store.Token) { t.Actor = "" },
		"no time of it": func(t *store.Token) { t.Created = time.Time{} },
	} {
		bad := newToken("tok_1")
		spoil(bad)
		if err := s.AddToken(t.Context(), bad); err == nil || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: AddToken reports %v, want a refusal that is no conflict", name, err)
		}
	}
	if all := tokens(t, s); len(all) != 0 {
		t.Errorf("Tokens = %v, want none", all)
	}
}

func tokensOrder(t *testing.T, open func() store.Tokens) {
	s := open()
	for _, at := range []struct {
		id    string
		after time.Duration
	}{{"b", 2}, {"d", 1}, {"a", 2}, {"c", 0}} {
		token := newToken(at.id)
		token.Created = epoch.Add(at.after * time.Second)
		addTokens(t, s, token)
	}
	if err := s.RevokeToken(t.Context(), "d", epoch); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, token := range tokens(t, s) {
		ids = append(ids, token.ID)
	}
	if want := []string{"c", "d", "a", "b"}; !slices.Equal(ids, want) {
		t.Errorf("Tokens are in the order %v, want %v", ids, want)
	}
}

func revokeTwice(t *testing.T, open func() store.Tokens) {
	s, other := open(), newToken("tok_2")
	addTokens(t, s, newToken("tok_1"), other)
	first := epoch.Add(time.Minute)
	for _, at := range []time.Time{first, first.Add(time.Second), first.Add(-time.Second)} {
		if err := s.RevokeToken(t.Context(), "tok_1", at); err != nil {
			t.Fatalf("RevokeToken: %v", err)
		}
		want := newToken("tok_1")
		want.Revoked, want.Hash = first, make([]byte, store.HashSize)
		equal(t, "token", token(t, s, "tok_1"), want)
	}
	equal(t, "the other token", token(t, s, "tok_2"), other)
}

func revokedForAll(t *testing.T, open func() store.Tokens) {
	one, another := open(), open()
	addTokens(t, one, newToken("tok_1"))
	if got := token(t, another, "tok_1"); !got.Revoked.IsZero() {
		t.Errorf("Revoked = %v before it is", got.Revoked)
	}
	if err := one.RevokeToken(t.Context(), "tok_1", epoch); err != nil {
		t.Fatal(err)
	}
	for _, s := range []store.Tokens{one, another, open()} {
		if got := token(t, s, "tok_1"); !got.Revoked.Equal(epoch) {
			t.Errorf("Revoked = %v, want %v", got.Revoked, epoch)
		}
	}
}

func revokeNothing(t *testing.T, open func() store.Tokens) {
	s := open()
	addTokens(t, s, newToken("tok_1"))
	if err := s.RevokeToken(t.Context(), "tok_2", epoch); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("RevokeToken of none: %v, want ErrNotFound", err)
	}
	if err := s.RevokeToken(t.Context(), "tok_1", time.Time{}); err == nil {
		t.Error("a token can be revoked from the zero time on")
	}
	equal(t, "token", token(t, s, "tok_1"), newToken("tok_1"))
}

func tokenTimes(t *testing.T, open func() store.Tokens) {
	s := open()
	zone := time.FixedZone("elsewhere", 3600)
	in := newToken("tok_1")
	in.Created, in.Expires = in.Created.In(zone).Add(999*time.Microsecond), in.Expires.In(zone).Add(999*time.Microsecond)
	addTokens(t, s, in)
	if err := s.RevokeToken(t.Context(), "tok_1", epoch.In(zone).Add(999*time.Microsecond)); err != nil {
		t.Fatal(err)
	}
	want := newToken("tok_1")
	want.Revoked, want.Hash = epoch, make([]byte, store.HashSize)
	got := token(t, s, "tok_1")
	equal(t, "token", got, want)
	for _, at := range []time.Time{got.Created, got.Expires, got.Revoked} {
		if at.Location() != time.UTC {
			t.Errorf("%v is not in UTC", at)
		}
	}
}

func noTokenIsShared(t *testing.T, open func() store.Tokens) {
	s := open()
	in := newToken("tok_1")
	addTokens(t, s, in)
	spoil := func(t *store.Token) {
		t.Hash[0] ^= 1
		t.Scopes[0], t.Permissions[0] = "*", governance.Erase
		t.Revoked = epoch
	}
	spoil(in)
	spoil(token(t, s, "tok_1"))
	spoil(&tokens(t, s)[0])
	equal(t, "token", token(t, s, "tok_1"), newToken("tok_1"))
}

func tokenContextDone(t *testing.T, open func() store.Tokens) {
	s := open()
	addTokens(t, s, newToken("tok_1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, one := s.Token(ctx, "tok_1")
	_, all := s.Tokens(ctx)
	for name, err := range map[string]error{
		"AddToken": s.AddToken(ctx, newToken("tok_2")), "RevokeToken": s.RevokeToken(ctx, "tok_1", epoch), "Token": one, "Tokens": all,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
	equal(t, "tokens", tokens(t, s), []store.Token{*newToken("tok_1")})
}
