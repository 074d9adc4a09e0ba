package carrel_test

import (
	"errors"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

// A call is told of by id and number: what of it the call before was sent too, what it cost,
// and why the cache was not read.
func TestCall(t *testing.T) {
	b := newBookkeeper(t)
	at := func(text string) digest.Digest { return digest.Of([]byte(text)) }
	var ids []string
	call := func(model string, frame digest.Digest, sealed *carrel.CallAccount, usage carrel.Usage) {
		t.Helper()
		size := 0
		for _, s := range sealed.Segments {
			size += s.Bytes
		}
		id := b.begin(&carrel.BeginRequest{
			Session: "s", Sealed: sealed, CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: model, Managed: true, Frame: frame, Messages: 3, SentBytes: size, Sent: at("all")},
		})
		ids = append(ids, id)
		b.end(&carrel.EndRequest{Call: id, State: store.CallDone, CallOutcome: carrel.CallOutcome{Usage: usage}})
	}
	segment := func(kind manifest.Kind, n int, before string) carrel.CallSegment {
		s := carrel.CallSegment{Kind: kind, Bytes: n, Commit: at(string(kind)), Before: before}
		if kind != manifest.KindFrame {
			s.Chain = at(before)
		}
		return s
	}
	tell := func(id string) *carrel.CallResult {
		t.Helper()
		res, err := b.Call(t.Context(), scope, &carrel.IDRequest{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	const model = "claude-opus-4-1"
	call(model, at("tools"), &carrel.CallAccount{Segments: []carrel.CallSegment{segment(manifest.KindFrame, 100, ""), segment(manifest.KindStub, 50, "")}}, carrel.Usage{CacheWrite5m: 50_000})
	call(model, at("tools"), &carrel.CallAccount{Segments: []carrel.CallSegment{segment(manifest.KindFrame, 100, ""), segment(manifest.KindMessage, 50, ids[0]), segment(manifest.KindMessage, 30, "")}}, carrel.Usage{CacheRead: 50_000, Output: 9})
	call(model, at("other tools"), &carrel.CallAccount{Segments: []carrel.CallSegment{segment(manifest.KindFrame, 90, ""), segment(manifest.KindMessage, 80, ids[1])}}, carrel.Usage{CacheWrite5m: 51_000})

	first := tell(ids[0])
	if first.Before != nil || first.Kept != 0 || first.Break != nil || first.Segments[1].Origin != api.OriginCarrel {
		t.Errorf("the first call = %+v", first)
	}
	second := tell("2")
	if second.ID != ids[1] || second.Before == nil || second.Before.ID != ids[0] || second.Kept != 150 || second.Break != nil || second.Segments[2].Origin != api.OriginClient || second.Cost == nil || *second.Cost <= 0 || *second.Uncached <= *second.Cost {
		t.Errorf("the second call = %+v", second)
	}
	third := tell(ids[2])
	if third.Kept != 0 || third.Break == nil || third.Break.Cause != economy.CauseFrame || third.Break.Lost != 50_000 || third.Break.Extra <= 0 {
		t.Errorf("the third call = %+v, break %+v", third, third.Break)
	}
	for _, none := range []string{"4", "0", "-1", "call_0123456789abcdef", "99999999999999999999"} {
		if _, err := b.Call(t.Context(), scope, &carrel.IDRequest{ID: none}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("call %s: %v, want that there is none", none, err)
		}
	}
	page, err := b.Calls(t.Context(), scope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: 2}})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := b.Calls(t.Context(), scope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: 2, After: page.Next}})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != 2 || len(rest.Items) != 1 || rest.Items[0].ID != ids[0] || rest.Next != "" {
		t.Errorf("pages of calls: %+v, then %+v", page, rest)
	}
}
