package rest

import (
	"errors"
	"testing"

	"github.com/carrel-dev/carrel"
)

// A body that may be sent has room among all that are read at once.
func TestRoomForTheLargestBody(t *testing.T) {
	l := Limits{Body: 1 << 30}
	if l.complete(); l.Bodies < l.Body {
		t.Errorf("all bodies together have %d bytes at most, one has %d", l.Bodies, l.Body)
	}
}

// What is wrong with a field is told behind its name.
func TestRefusalsNameFields(t *testing.T) {
	for field, want := range map[string]string{"limit": "limit: is from 1 to 9", "": "is from 1 to 9"} {
		if err := bad(field, "is from 1 to %d", 9); err.Error() != want || !errors.Is(err, carrel.ErrRequest) {
			t.Errorf("of %q is told %q", field, err)
		}
	}
}

// A tally counts each credential on its own, up to the limit, and a release lowers only one count.
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
