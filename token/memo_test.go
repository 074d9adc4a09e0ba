package token_test

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/token"
)

// A spy is a Counter that counts bytes and its own calls.
type spy struct{ calls int }

func (s *spy) Count(text string) token.Count {
	s.calls++
	return token.Count(len(text))
}

func (*spy) Encoding() string { return "spy" }

func TestMemoCountsATextOnce(t *testing.T) {
	s := new(spy)
	c := token.Memo(s, 10)
	for range 3 {
		if got := c.Count("four"); got != 4 {
			t.Errorf("Count = %d, want 4", got)
		}
		if got := c.Count(""); got != 0 {
			t.Errorf("Count of the empty text = %d, want 0", got)
		}
	}
	if s.calls != 2 {
		t.Errorf("two texts were counted %d times, want 2", s.calls)
	}
	if got := c.Encoding(); got != "spy" {
		t.Errorf("Encoding() = %q, want that of the counter, spy", got)
	}
}

// A text in steady use stays, however many others pass by; one that is not in
// use goes.
func TestMemoForgets(t *testing.T) {
	s := new(spy)
	c := token.Memo(s, 10)
	c.Count("idle")
	c.Count("busy")
	for i := range 100 {
		c.Count(fmt.Sprintf("passer-by %d", i))
		c.Count("busy")
	}
	if s.calls != 102 {
		t.Errorf("102 texts were counted %d times, want 102", s.calls)
	}
	c.Count("idle")
	if s.calls != 103 {
		t.Errorf("the idle text is still remembered after 100 others in a memo of 10")
	}
}

func TestMemoOfNoSize(t *testing.T) {
	for _, limit := range []int{-1, 0, 1} {
		c := token.Memo(new(spy), limit)
		for _, text := range []string{"a", "bb", "a", "ccc", "a"} {
			if got := c.Count(text); int(got) != len(text) {
				t.Errorf("limit %d: Count(%q) = %d, want %d", limit, text, got, len(text))
			}
		}
	}
}
