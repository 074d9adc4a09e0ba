package calls

import (
	"cmp"
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
	for says, r := range map[string]api.KeepRewriteRequest{
		"": {Session: "s"}, "session": {}, "chain": {Session: "s", Rewrite: api.Rewrite{Chain: digest.Digest{1}}}, "messages": {Session: "s", Rewrite: api.Rewrite{Messages: -1}},
		"epoch of 0": {Session: "s", Rewrite: api.Rewrite{Epoch: -1}}, "data": {Session: "s", Rewrite: api.Rewrite{Data: json.RawMessage("[")}}, "kind": {Session: "s", Rewrite: api.Rewrite{Kind: "x"}},
	} {
		r.Kind, r.Messages, r.Data = cmp.Or(r.Kind, store.RewriteHead), r.Messages+1, append(json.RawMessage("[]"), r.Data...)
		r.Chain[0] ^= 1
		if err := checkRewrite(&r); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("a wrong %s: %v", says, err)
		}
	}
}
