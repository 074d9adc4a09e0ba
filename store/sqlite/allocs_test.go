package sqlite_test

import (
	"testing"

	"github.com/carrel-dev/carrel/store"
)

// The small reads of each server request take few allocations, because they run without a
// transaction and reuse prepared statements.
func TestSmallReadsAllocateLittle(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	s := openAt(t, newPath(t))
	addSession(t, s, 0)
	if err := s.AddCredential(t.Context(), credentialOf("tok_00000001")); err != nil {
		t.Fatal(err)
	}
	var err error
	for name, tt := range map[string]struct {
		read func()
		most float64
	}{
		"a head":       {func() { _, err = s.Head(t.Context(), scope, "s") }, 70},
		"a credential": {func() { _, err = s.Credential(t.Context(), "tok_00000001") }, 70},
		"a block":      {func() { _, err = s.Block(t.Context(), scope, store.BlockRef{Session: "s", Block: "b"}) }, 115},
	} {
		tt.read() // prepares the statement
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := testing.AllocsPerRun(100, tt.read); got > tt.most {
			t.Errorf("%s takes %.0f allocations, want %.0f at most", name, got, tt.most)
		}
	}
}
