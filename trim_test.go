package carrel_test

import (
	"bytes"
	"errors"
	"regexp"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/store"
)

// What is trimmed is valid, fits, and everything that left it is one recall away; what
// fits stays as it is, and what cannot fit is told.
func TestTrim(t *testing.T) {
	data := working(t, 60)
	got, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: 12_000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Result.After > 12_000 || len(got.Data) > len(data)/2 {
		t.Errorf("%d tokens, %d bytes of %d", got.Result.After, len(got.Data), len(data))
	}
	if _, wrong, err := carrel.Validate("openai", got.Data); err != nil || len(wrong) > 0 {
		t.Errorf("its provider refuses it: %v, %v", wrong, err)
	}
	recalled := 0
	for _, id := range regexp.MustCompile(`\b[0-9a-f]{8}\b`).FindAll(got.Data, -1) {
		original, err := got.Recall(t.Context(), string(id))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		recalled++
		for message := range bytes.Lines(original) {
			if !bytes.Contains(data, bytes.TrimSpace(message)) {
				t.Errorf("%s is not in what came: %.80s", id, message)
			}
		}
	}
	if recalled == 0 {
		t.Error("nothing names what left")
	}
	if _, err := got.Recall(t.Context(), "ffffffff"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a block that is not there: %v", err)
	}

	whole, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: 1_000_000}, nil)
	if err != nil || !bytes.Equal(whole.Data, data) {
		t.Errorf("what fits came back changed, %v", err)
	}
	if _, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: 10}, nil); !errors.Is(err, carrel.ErrBudget) {
		t.Errorf("a budget of nothing: %v", err)
	}
	if _, err := carrel.Trim(t.Context(), []byte("hello"), &carrel.CompressRequest{Target: 10}, nil); !errors.Is(err, carrel.ErrFormat) {
		t.Errorf("no conversation: %v", err)
	}
}
