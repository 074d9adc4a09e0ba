package binding_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/carrel-dev/carrel/internal/binding"
)

// A call is found in the transcript of its session only, possibly after a while.
func TestWrote(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "one.jsonl")
	row := `{"message":{"content":[{"type":"tool_use","id":"toolu_01","input":{}}]}}` + "\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wrote := func(path, call string) (ok bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			found, err := binding.Wrote(t.Context(), func() string { return path }, call)
			if ok = found != ""; err != nil || ok && found != path {
				t.Errorf("Wrote: %q, %v", found, err)
			}
		})
		return ok
	}
	if wrote(file, "toolu_01") || wrote("", "toolu_01") || wrote(file, "") {
		t.Error("what is not there has the call")
	}
	write(`{"text":"the id is \"toolu_01\""}` + "\n")
	if wrote(file, "toolu_01") {
		t.Error("a quotation is taken for the call")
	}
	write(strings.Repeat("{}\n", 1<<19) + row + "{}\n")
	if !wrote(file, "toolu_01") || wrote(file, "toolu_0") || wrote(file, "toolu_02") {
		t.Error("the end of a long transcript is not looked at")
	}
	write("{}\n")
	later(t, "the call", func() string { return file }, func() { write("{}\n" + row) })
	var path atomic.Value
	path.Store("")
	later(t, "the file", func() string { return path.Load().(string) }, func() { path.Store(file) })
}

// later calls Wrote before do makes the call findable, and expects that Wrote waits.
func later(t *testing.T, what string, find func() string, do func()) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		found := make(chan string)
		go func() {
			path, err := binding.Wrote(t.Context(), find, "toolu_01")
			if err != nil {
				t.Error(err)
			}
			found <- path
		}()
		synctest.Wait() // it has looked once, and waits
		do()
		if <-found == "" {
			t.Errorf("where %s comes a moment later, it is not found", what)
		}
	})
}
