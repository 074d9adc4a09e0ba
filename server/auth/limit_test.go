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

// A meter looks for idle keys at most once in a second, and at once if the clock went back.
func TestMeterSweeps(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		name  string
		after time.Duration
		want  bool
	}{
		{"at once", 0, false},
		{"in the same second", time.Second - 1, false},
		{"a second later", time.Second, true},
		{"the clock went back", -1, true},
	} {
		m := &meter{per: 1, swept: now, owed: map[string]time.Time{"idle": now.Add(-time.Hour)}}
		if got := m.sweep(now.Add(tt.after)); got != tt.want || (len(m.owed) == 0) != tt.want {
			t.Errorf("%s: sweep = %v, and %d keys are known; want %v", tt.name, got, len(m.owed), tt.want)
		}
	}
}

// With failures from very many addresses, only known credentials are checked, from any address; and
// few credentials are known.
func TestFailuresAreBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	f := &failures{most: 2, per: time.Minute}
	f.failed("early") // nothing is counted yet
	for n := range maxAddresses {
		if wait, many := f.tooMany(fmt.Sprint(n), "new", now); many {
			t.Fatalf("after %d addresses, another has to wait for %v", n, wait)
		}
		f.failed(fmt.Sprint(n))
	}
	if wait, many := f.tooMany("another", "new", now.Add(time.Second)); !many || wait != 59*time.Second {
		t.Errorf("after %d addresses, another has to wait for %v, want 59 s", maxAddresses, wait)
	}
	for n := range 2*maxKnown + 1 {
		f.passed(fmt.Sprint(n))
		if _, many := f.tooMany("another", fmt.Sprint(n), now); many {
			t.Fatalf("valid credential %d is not known", n)
		}
		if want := n%maxKnown + 1; len(f.known) != want {
			t.Fatalf("after %d valid credentials, %d are known, want %d", n+1, len(f.known), want)
		}
	}
}
