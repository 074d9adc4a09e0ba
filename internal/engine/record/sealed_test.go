package record

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

// A call has a manifest if Carrel made its id: "call_" and 16 hexadecimal digits.
func TestManifestsHaveIDs(t *testing.T) {
	for call, want := range map[string]string{
		"call_0123456789abcdef": "m_0123456789abcdef", "call_0123456789abcde": "", "call_0123456789abcdef0": "", "call_0123456789abcdeg": "", "call_0123456789ABCDEF": "", "0123456789abcdef": "", "": "",
	} {
		if got := CallManifest(call); got != want {
			t.Errorf("CallManifest(%q) = %q, want %q", call, got, want)
		}
	}
}

// A callStore has one call.
type callStore struct {
	store.Store
	call store.Call
	err  error
}

func (s *callStore) Calls(context.Context, governance.Scope, store.CallFilter) iter.Seq2[*store.Call, error] {
	return func(yield func(*store.Call, error) bool) { yield(&s.call, s.err) }
}

// The manifest of a call is read with the seal that was recorded, or not at all.
func TestSealsOfCalls(t *testing.T) {
	s := &callStore{call: store.Call{ID: "call_0123456789abcdef", Session: "s", Begun: time.Unix(1, 0)}}
	e := &Recorder{Desk: &hold.Desk{Stacks: &stacks.Stacks{Base: &base.Base{Store: s, Opts: base.Options{Actor: "me", Rand: rand.Reader}}}}}
	frame := api.CallSegment{Kind: manifest.KindFrame, Bytes: 5, Commit: digest.Digest{1}}
	seal := func(id string, account *api.CallAccount) *StoredIntent {
		t.Helper()
		in := &StoredIntent{CallIntent: api.CallIntent{Dialect: "anthropic", SentBytes: 5}}
		if err := e.SealCall("a", &store.Call{ID: id, Session: "s", Begun: s.call.Begun}, in, account); err != nil {
			t.Fatal(err)
		}
		return in
	}
	one := &api.CallAccount{Segments: []api.CallSegment{frame}}
	for name, in := range map[string]*StoredIntent{"no account": seal(s.call.ID, nil), "no segments": seal(s.call.ID, &api.CallAccount{}), "foreign": seal("call_mine", one)} {
		if in.Manifest != "" || in.Document != nil {
			t.Errorf("%s: it is sealed as %s", name, in.Manifest)
		}
	}
	sound := *seal(s.call.ID, one)
	if sound.Manifest != "m_0123456789abcdef" {
		t.Fatalf("the manifest is %q", sound.Manifest)
	}
	for name, tt := range map[string]struct {
		change func(*StoredIntent)
		want   error
	}{
		"sound": {func(*StoredIntent) {}, nil}, "other seal": {func(in *StoredIntent) { in.Seal = digest.Digest{9} }, api.ErrIntegrity},
		"no document": {func(in *StoredIntent) { in.Document = json.RawMessage("{}") }, api.ErrIntegrity}, "not managed": {func(in *StoredIntent) { in.Manifest = "" }, store.ErrNotFound},
	} {
		in := sound
		tt.change(&in)
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		s.call.Intent = raw
		for _, id := range []string{"call_0123456789abcdef", "m_0123456789abcdef"} {
			if _, err := e.SealedCall(t.Context(), "a", id); !errors.Is(err, tt.want) {
				t.Errorf("%s of %s: %v, want %v", id, name, err, tt.want)
			}
		}
	}
	s.call.Intent = json.RawMessage("[")
	if _, err := e.SealedCall(t.Context(), "a", s.call.ID); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("an intent that is no JSON: %v, want ErrCorrupt", err)
	}
}
