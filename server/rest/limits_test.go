package rest

import "testing"

// Each has a count of its own, up to the limit, and to end one ends no other.
func TestTally(t *testing.T) {
	c := &tally{most: 2, count: make(map[string]int)}
	take := func(who string, want bool) func() {
		t.Helper()
		release, ok := c.take(who)
		if ok != want {
			t.Fatalf("%s gets another: %v, want %v", who, ok, want)
		}
		return release
	}
	first := take("ada", true)
	second := take("ada", true)
	take("ada", false)
	take("bob", true)
	first()
	first() // a second end of the same one counts no further down
	third := take("ada", true)
	take("ada", false)
	second()
	third()
	if n, ok := c.count["ada"]; ok {
		t.Errorf("%d streams are left, want none, and no trace", n)
	}
	if c.count["bob"] != 1 {
		t.Errorf("bob has %d streams, want 1", c.count["bob"])
	}
}
