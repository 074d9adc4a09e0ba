package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// With hook.memory, a new Claude Code session of a folder is told what was ordered and decided in
// the session before it; the first one is told nothing.
func TestClaudeCodeIsToldOfTheSessionBefore(t *testing.T) {
	const fence = "[carrel: memory of earlier sessions of this project"
	a := newAgent(t, said("I decided to keep the symbol table at version 41."), said("The linker is next."))
	a.write(filepath.Join(a.home, ".config", "carrel", "config.toml"), []byte("hook.memory = 1500\n"))
	a.carrel("setup", "claude", "--yes")
	a.ask("At which version is the symbol table? " + order)
	a.ask("What is next?")
	a.nothingRefused()
	asked := a.fake.OfKind(upstream.KindMain)
	if len(asked) != 2 {
		t.Fatalf("the model was asked %d times, want twice", len(asked))
	}
	if first := string(asked[0].Body); strings.Contains(first, fence) {
		t.Error("the first session is told of another one")
	}
	second := string(asked[1].Body)
	for _, text := range []string{fence, order, "version 41", "[carrel: the memory ends here]"} {
		if !strings.Contains(second, text) {
			t.Errorf("the second session is not told %q", text)
		}
	}
}
