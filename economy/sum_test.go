package economy

import "testing"

// Each part of two spends is added to the same part.
func TestSpendsAddUp(t *testing.T) {
	a, b := Spend{1, 2, 4, 8, 16}, Spend{32, 64, 128, 256, 512}
	if got, want := a.Plus(b), (Spend{33, 66, 132, 264, 528}); got != want {
		t.Errorf("the sum is %+v, want %+v", got, want)
	}
	if got := a.Written(); got != 12 {
		t.Errorf("%d tokens were written, want 12", got)
	}
	if got := a.Prompt(); got != 15 {
		t.Errorf("the prompt has %d tokens, want 15", got)
	}
}
