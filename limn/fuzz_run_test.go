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
	f.Add("remember a number called n with 1\ngather the xs from 1 to 4\neach the xs remember a list called n with each and n\nsum the n")
	f.Add("remember a number called n with 1\ngather the xs from 1 to 3\neach the xs remember an order called n with f as n\nshow n")
	f.Add("remember a list called xs with 1\nremember a list called ys with 2\ncompare xs to ys\nremember a list called cs with comparison and comparison\nsort the cs by divergences")
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
		for name, s := range m.symbols {
			if deep(s.value) {
				t.Errorf("'%s' has a list or a record within another: %v", name, s.value)
			}
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

// deep reports whether a value nests deeper than the language allows: a list of records of
// scalars. It allows the record of a "compare", which has a list as a field.
func deep(v Value) bool {
	for _, item := range v.items() {
		if item.kindOf() == kindList || deep(item) {
			return true
		}
	}
	for _, e := range v.entries() {
		if !e.Value.scalar() && (e.Name != "divergences" || e.Value.kindOf() != kindList || e.Value.category() == kindRecord || deep(e.Value)) {
			return true
		}
	}
	return false
}
