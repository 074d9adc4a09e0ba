package contract

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// Each archive has a contract, and what becomes of it: the error of replaying it,
// or the failures of running it, which are none if nothing is said; if it is said,
// also what it shows, and what state it leads to. Of failures that the language
// words, only line and kind are given. Lines that are "late" are appended to a
// contract that holds without them.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d archives, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := make(map[string]string)
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			testGolden(t, parts)
		})
	}
}

func testGolden(t *testing.T, parts map[string]string) {
	text := parts["contract"]
	if late, ok := parts["late"]; ok {
		if r, err := Run(Lines(text), nil); err != nil || r.Err() != nil {
			t.Fatalf("without the late lines: %v, %v, want neither", err, r)
		}
		text += late
	}
	r, err := Run(Lines(text), nil)
	if want, ok := parts["error"]; ok {
		if err == nil || err.Error()+"\n" != want {
			t.Errorf("got error  %v\nwant %s", err, want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parts["failures"], failures(r)); diff != "" {
		t.Errorf("failures (-want +got):\n%s\n%v", diff, r.Failures)
	}
	if (r.Err() == nil) != (parts["failures"] == "") {
		t.Errorf("Err() = %v, want an error exactly if there are failures", r.Err())
	}
	if want, ok := parts["shown"]; ok {
		if diff := cmp.Diff(want, strings.Join(r.Shown, "\n")+"\n"); diff != "" {
			t.Errorf("shown (-want +got):\n%s", diff)
		}
	}
	if want, ok := parts["state"]; ok {
		if diff := cmp.Diff(want, describe(r.State)); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
	}
}

// failures returns a line for each failure, with our own words.
func failures(r *Report) string {
	var b strings.Builder
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "%d %s", f.Line, f.Kind)
		switch f.Kind {
		case FailedPin, FailedBudget, FailedDecision:
			fmt.Fprintf(&b, " %s", f.Text)
		case FailedGuard, FailedStatement:
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// describe returns all that a state says.
func describe(s *Contract) string {
	var b strings.Builder
	for i, def := range scalars {
		if v := s.session.values[i]; v != "" {
			fmt.Fprintf(&b, "%s %s\n", def.name, v)
		}
	}
	for i, name := range buckets {
		if s.declared[i] {
			fmt.Fprintf(&b, "%s [%s]\n", name, strings.Join(s.Blocks(name), "|"))
		}
	}
	for i, name := range lists {
		if s.session.lists[i] != nil {
			fmt.Fprintf(&b, "%s [%s]\n", name, strings.Join(s.Texts(name), "|"))
		}
	}
	for _, source := range s.Sources() {
		what := "source"
		if source.Claim {
			what = "claim"
		}
		fmt.Fprintf(&b, "%s %s: %s\n", what, source.Name, source.Text)
	}
	if !s.last.IsZero() {
		fmt.Fprintf(&b, "%s %v\n", lastPass, s.last)
	}
	return b.String()
}
