package carrel_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/token"
)

var errBroken = errors.New("broken")

// brittle counts like quarter, and panics at a word.
type brittle struct{ quarter }

func (brittle) Count(text string) token.Count {
	if strings.Contains(text, "brittle") {
		panic(errBroken)
	}
	return quarter{}.Count(text)
}

// A counter or a source of somebody else that panics does so where the caller can catch
// it, whatever goroutine asked it, and the engine goes on working.
func TestPanicsReachTheCaller(t *testing.T) {
	caught := func(do func()) (v any) {
		defer func() { v = recover() }()
		do()
		return nil
	}
	down := true
	e, err := carrel.New(stores.New(t), &carrel.Options{
		Counter: brittle{},
		Sources: artifact.SourceFunc(func(context.Context, artifact.Ref, *artifact.Have) (*artifact.Fetched, error) {
			if down {
				panic(errBroken)
			}
			return &artifact.Fetched{Unchanged: true}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	talk := func(words string) *carrel.ImportRequest {
		data, err := json.Marshal(map[string]any{"messages": []message{{Role: "user", Content: "Begin."}, {Role: "assistant", Content: words}}})
		if err != nil {
			t.Fatal(err)
		}
		return &carrel.ImportRequest{Name: "talk.json", Data: data}
	}
	if v := caught(func() { _, _ = e.Import(t.Context(), scope, talk("It is brittle.")) }); v != errBroken { //nolint:errorlint // it is that very value
		t.Errorf("caught %v, want %v", v, errBroken)
	}
	if _, err := e.Import(t.Context(), scope, talk("It is sound.")); err != nil {
		t.Errorf("after that: %v", err)
	}

	put, err := carrel.Items(e.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: provenance.Retrieved, Content: []byte("what they say"), Source: "func:theirs"}}}))
	if err != nil {
		t.Fatal(err)
	}
	get := func() error {
		_, err := e.Get(t.Context(), scope, &carrel.GetRequest{ID: string(put[0].ID)})
		return err
	}
	if v := caught(func() { _ = get() }); v != errBroken { //nolint:errorlint // it is that very value
		t.Errorf("caught %v, want %v", v, errBroken)
	}
	down = false
	if err := get(); err != nil {
		t.Errorf("after that: %v", err)
	}
}
