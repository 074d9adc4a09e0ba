package limn

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzRun checks that no program makes a machine panic or run on, and that what it
// says about itself is true.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if a := txtar.Parse(data); len(a.Files) > 0 {
			f.Add(string(a.Files[0].Data))
		}
	}
	pack, err := BuiltinPack("session")
	if err != nil {
		f.Fatal(err)
	}
	opts := &Options{Packs: []*Pack{pack}, Today: "2025-07-01", Confirm: func(string) bool { return true }}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			t.Skip("long programs only take long")
		}
		m := NewMachine(opts)
		m.limit = 20_000
		for r := range m.Run(Parse("", text, opts)) {
			checkResult(t, r)
		}
		for r := range m.Listen(nil) {
			checkResult(t, r)
		}
		held := 0
		for _, s := range m.symbols {
			held += itemsOf(s)
		}
		if held != m.items {
			t.Errorf("the lists hold %d items, the machine counts %d", held, m.items)
		}
	})
}

// checkResult checks that the parts of a result agree.
func checkResult(t *testing.T, r Result) {
	t.Helper()
	switch r.Status {
	case StatusParseError, StatusSemanticError:
		if r.Err == nil || r.Message == "" || r.Err.fault.status() != r.Status {
			t.Errorf("%s with error %v and message %q", r.Status, r.Err, r.Message)
		}
	case StatusRuntimeError: // of a handler, not of a statement
		if r.Err == nil || r.Message == "" || r.Err.fault != faultRuntime {
			t.Errorf("%s with error %v and message %q", r.Status, r.Err, r.Message)
		}
	case StatusNotMet, StatusViolated, StatusPackFailure:
		if r.Err != nil || r.Message == "" || r.Metadata == nil || !r.Executed {
			t.Errorf("%s with error %v, message %q and metadata %v", r.Status, r.Err, r.Message, r.Metadata)
		}
	case StatusSuccess, StatusFired:
		if r.Err != nil || r.Message != "" {
			t.Errorf("%s with error %v and message %q", r.Status, r.Err, r.Message)
		}
	case StatusAmber, StatusListening, StatusShutdown:
	}
}
