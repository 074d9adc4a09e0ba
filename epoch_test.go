package carrel_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/ratio"
)

// Between two passes the window grows at its end only: what was sent is sent again
// byte for byte, and caches of the provider stay valid.
func TestBetweenPassesTheWindowGrowsAtItsEnd(t *testing.T) {
	data := leak(t)
	for _, strategy := range []carrel.Strategy{carrel.StrategyImportance, carrel.StrategyAnchored, carrel.StrategyPager} {
		t.Run(string(strategy), func(t *testing.T) {
			e, _ := summarizing(t, carrel.Options{Strategy: strategy})
			in := load(t, e, part(t, data, 16))
			res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(50, 100)}, ProbeMin: anything()})
			if err != nil || res.Op == "" {
				t.Fatalf("%+v, %v", res, err)
			}
			before := messages(t, export(t, e, in.Session))
			for _, n := range []int{25, 29} {
				if longer := load(t, e, part(t, data, n)); longer.Session != in.Session {
					t.Fatalf("another session: %s", longer.Session)
				}
				now := messages(t, export(t, e, in.Session))
				if len(now) < len(before)+4 {
					t.Fatalf("%d messages of %d after a longer import", len(now), len(before))
				}
				for i := range before {
					if !bytes.Equal(before[i], now[i]) {
						t.Fatalf("message %d was %s and is %s", i, before[i], now[i])
					}
				}
				before = now
			}
		})
	}
}

// messages returns the messages of a request.
func messages(t *testing.T, data []byte) []json.RawMessage {
	t.Helper()
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	return body.Messages
}
