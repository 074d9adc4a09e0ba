package calls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/transcript"
)

// The parts of a logged call follow each other. What the call before it sent, too, names that call.
func TestPartsOfALoggedCall(t *testing.T) {
	call := func(frame byte, r transcript.Request) loggedCall {
		c := loggedCall{request: &r, before: "s:1"}
		c.Frame = digest.Digest{frame}
		return c
	}
	same := []loggedCall{call(8, transcript.Request{}), call(9, transcript.Request{})}
	for _, tt := range []struct {
		name   string
		frame  byte
		sizes  [3]int // of the frame, of the messages, and of those that were kept
		before []loggedCall
		want   string
	}{
		{"first", 9, [3]int{5, 7, 0}, nil, "frame 0+5 client; message 5+7 client"},
		{"same frame", 9, [3]int{5, 7, 6}, same, "frame 0+5 before s:1; message 5+6 before s:1; message 11+1 client"},
		{"frame of a call further back", 8, [3]int{5, 7, 7}, same, "frame 0+5 client; message 5+7 before s:1"},
		{"one byte each", 9, [3]int{1, 2, 1}, same, "frame 0+1 before s:1; message 1+1 before s:1; message 2+1 client"},
		{"no frame", 9, [3]int{0, 3, 0}, same, "message 0+3 client"},
	} {
		c := call(tt.frame, transcript.Request{FrameBytes: tt.sizes[0], Bytes: tt.sizes[1], KeptBytes: tt.sizes[2]})
		var got []string
		for _, p := range c.segments(tt.before) {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d+%d %s %s", p.Kind, p.Start, p.Bytes, p.Origin, p.Before)))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A session is held out if one of its calls was, and a model without a price is counted, not charged.
func TestTallies(t *testing.T) {
	s := &sessionTally{epochs: make(map[int]bool), models: make(map[string]*api.ModelTally)}
	for _, held := range []bool{false, true, false} {
		s.add(&api.Call{CallIntent: api.CallIntent{Holdout: held}})
	}
	if !s.holdout || s.tally.Calls != 3 {
		t.Errorf("held out %v, %d calls", s.holdout, s.tally.Calls)
	}
	prices, err := economy.Published().With(economy.Tariff{Name: "free"}, economy.Tariff{Name: "paid", Input: 1_000_000, Output: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"free", "paid", "unheard-of"} {
		s.models[name] = &api.ModelTally{Model: name, Calls: 2, Usage: api.Usage{Input: 1000, Output: 1000}}
	}
	got := s.done(prices)
	if len(got.Models) != 3 || got.Models[0].Cost != 0 || got.Models[1].Cost == 0 || got.Models[2].Cost != 0 || got.Unpriced != 4 || got.Cost != got.Models[1].Cost {
		t.Errorf("%+v, want a cost of the model paid, and 4 calls without a price", got)
	}
}
