package calls

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
)

// A word in the record of a call has 256 bytes at most, and what is sent instead of a message has
// all that it is found by.
func TestRecordsOfCallsAreChecked(t *testing.T) {
	for n, want := range map[int]bool{0: true, maxWord: true, maxWord + 1: false} {
		if err := checkWords(map[string]string{"stop": strings.Repeat("x", n)}); (err == nil) != want {
			t.Errorf("a word of %d bytes: %v", n, err)
		}
	}
	for field, change := range map[string]func(*api.KeepRewriteRequest){
		"": func(*api.KeepRewriteRequest) {}, "kind": func(r *api.KeepRewriteRequest) { r.Kind = "x" }, "session": func(r *api.KeepRewriteRequest) { r.Session = "" },
		"chain": func(r *api.KeepRewriteRequest) { r.Chain = digest.Digest{} }, "messages": func(r *api.KeepRewriteRequest) { r.Messages = 0 },
		"epoch of 0": func(r *api.KeepRewriteRequest) { r.Epoch = -1 }, "data": func(r *api.KeepRewriteRequest) { r.Data = json.RawMessage("[") },
	} {
		for _, kind := range []store.RewriteKind{store.RewriteHead, store.RewriteMessage} {
			r := &api.KeepRewriteRequest{Session: "s", Rewrite: api.Rewrite{Chain: digest.Of(nil), Kind: kind, Messages: 1, Data: json.RawMessage("[]")}}
			change(r)
			if err := checkRewrite(r); (err == nil) != (field == "") || err != nil && !strings.Contains(err.Error(), field) {
				t.Errorf("%s, a wrong %s: %v", kind, field, err)
			}
		}
	}
	around := func(data string) digest.Digest { b, _ := readBody([]byte(data)); return b.around }
	if one := around(`{"a":1,"messages":[1]}`); one != around(`{"a":1,"messages":[2,3]}`) || one == around(`{"a":2,"messages":[1]}`) || one == around(`{"b":1,"messages":[1]}`) || one == around(`{"messages":[1]}`) {
		t.Error("the digest of what is around the messages is not of it alone")
	}
}
