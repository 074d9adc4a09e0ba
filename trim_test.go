package carrel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/store"
)

// What is trimmed is valid, fits, and everything that left it is one recall away; what
// fits stays as it is, and what cannot fit is told.
func TestTrim(t *testing.T) {
	data := working(t, 60)
	got, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: carrel.Target{Tokens: 12_000}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Result.After > 12_000 || len(got.Data) > len(data)/2 {
		t.Errorf("%d tokens, %d bytes of %d", got.Result.After, len(got.Data), len(data))
	}
	dry, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: carrel.Target{Tokens: 12_000}, DryRun: true}, nil)
	if err != nil || !bytes.Equal(dry.Data, got.Data) {
		t.Errorf("a dry run returns %d bytes, %v", len(dry.Data), err)
	}
	if _, wrong, err := carrel.Validate("openai", got.Data); err != nil || len(wrong) > 0 {
		t.Errorf("its provider refuses it: %v, %v", wrong, err)
	}
	var came struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal(data, &came); err != nil {
		t.Fatal(err)
	}
	recalled := make(map[string]bool)
	named := 0
	for _, d := range got.Result.Decisions {
		text, err := got.Recall(t.Context(), string(d.Block))
		if err != nil {
			t.Fatalf("%s: %v", d.Block, err)
		}
		if d.Changed() && bytes.Contains(got.Data, []byte(d.Block.Short())) {
			named++
		}
		for _, m := range came.Messages {
			if m.Content != "" && bytes.Contains(text, []byte(m.Content)) {
				recalled[m.Content] = true
			}
		}
	}
	for _, m := range came.Messages {
		if kept, err := json.Marshal(m.Content); err != nil || !recalled[m.Content] && !bytes.Contains(got.Data, kept) {
			t.Errorf("in no reach: %.80q, %v", m.Content, err)
		}
	}
	if named == 0 {
		t.Error("the window names nothing that left")
	}
	if _, err := got.Recall(t.Context(), "ffffffff"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a block that is not there: %v", err)
	}

	whole, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: carrel.Target{Tokens: 1_000_000}}, nil)
	if err != nil || !bytes.Equal(whole.Data, data) {
		t.Errorf("what fits came back changed, %v", err)
	}
	if _, err := carrel.Trim(t.Context(), data, &carrel.CompressRequest{Target: carrel.Target{Tokens: 10}}, nil); !errors.Is(err, carrel.ErrBudget) {
		t.Errorf("a budget of nothing: %v", err)
	}
	if _, err := carrel.Trim(t.Context(), []byte("hello"), &carrel.CompressRequest{Target: carrel.Target{Tokens: 10}}, nil); !errors.Is(err, carrel.ErrFormat) {
		t.Errorf("no conversation: %v", err)
	}
}
