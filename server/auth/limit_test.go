package auth

import (
	"fmt"
	"testing"
	"time"
)

// A meter knows a bounded number of keys. The rest share one allowance, so that requests from
// very many addresses neither fill the memory nor pass; who was known before is not affected, and
// keys that are idle make room.
func TestMeterIsBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m := &meter{per: 1}
	for i := range maxRated {
		if _, ok := m.take(fmt.Sprint(i), now); !ok {
			t.Fatalf("the first request of key %d is refused", i)
		}
	}
	passed := 0
	for i := range 1000 {
		if _, ok := m.take(fmt.Sprint("more", i), now); ok {
			passed++
		}
	}
	if want := int(window / time.Second); passed != want {
		t.Errorf("%d requests of further keys pass, want %d together", passed, want)
	}
	if len(m.owed) > maxRated+1 {
		t.Errorf("%d keys are known, want at most %d", len(m.owed), maxRated+1)
	}
	if _, ok := m.take("0", now); !ok {
		t.Error("a key that was known is refused")
	}
	if _, ok := m.take("late", now.Add(3*time.Second)); !ok || len(m.owed) > 3 {
		t.Errorf("with idle keys a new one passes: %v; %d are known, want those that owe something", ok, len(m.owed))
	}
}

// A meter without a bound lets everything pass and knows nobody.
func TestMeterWithoutBound(t *testing.T) {
	m := &meter{per: -1}
	for range 10_000 {
		if _, ok := m.take("ada", time.Time{}); !ok {
			t.Fatal("a request is refused")
		}
	}
	if len(m.owed) != 0 {
		t.Errorf("%d keys are known, want none", len(m.owed))
	}
}
