package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// A module with tests that notice some mutants. Package a has none of its own: only those of
// package b can notice its mutants.
const module = `
-- go.mod --
module example.com/m

go 1.26.0
-- bench/mutate/equivalent.txt --
# The same on both sides.
a/a.go: v == v: == → !=
-- a/a.go --
package a

func Sum(_ string, v int) (n int, err error) {
	defer func() { recover() }()
	if v == v {
		n = v
	}
	const size = 3
	var list [size]int
	for i := range list {
		n += i
	}
	return n, nil
}

func Kind(n int) string {
	switch n {
	case 4:
		return "four"
	case 5:
		return "five"
	}
	return "other"
}

func Jump(n int) int {
again:
	if n < 100 {
		n *= 7
		goto again
	}
	return n
}

var Made int

func init() { Made = 8 }
-- b/b.go --
package b

import "example.com/m/a"

func Twice(n int) int {
	for n > 50 {
		n -= 50
	}
	sum, _ := a.Sum("", n)
	return 2 * sum
}
-- b/b_test.go --
package b

import (
	"os"
	"testing"

	"example.com/m/a"
)

func TestTwice(t *testing.T) {
	if _, err := os.Stat("b.go"); err != nil {
		t.Error(err)
	}
	if got := Twice(54); got != 14 {
		t.Error(got)
	}
	if a.Made != 8 {
		t.Error(a.Made)
	}
	if got := a.Jump(20); got != 140 {
		t.Error(got)
	}
}

func TestSmall(t *testing.T) {
	if got := Twice(1); got != 8 {
		t.Error(got)
	}
}

func FuzzKind(f *testing.F) {
	f.Add(4)
	f.Fuzz(func(t *testing.T, n int) {
		if n == 4 && a.Kind(n) != "four" {
			t.Error(a.Kind(n))
		}
	})
}

func ExampleTwice() {
	println(Twice(1))
}

func TestBroken(t *testing.T) {
	t.Error("it fails without a mutant")
}
`

// Every mutant of the module, and what becomes of it. Two cases of the same number do not
// build; a function with a label has no mutants.
func TestMutants(t *testing.T) {
	chdir(t)
	var out bytes.Buffer
	o := options{out: &out, n: 1000, workers: 2, limit: 10 * time.Second, most: time.Minute}
	if ok, err := o.run(t.Context()); ok || err != nil {
		t.Fatalf("got %v, %v, want false, as too many lived", ok, err)
	}
	want := `
10 of 14 noticed (71.4 %), 1 equivalent, seed 0
LIVED a/a.go:20: case 5:: 5 → 6
LIVED a/a.go:4: recover(): left out
LIVED b/b.go:6: for n > 50 {: 50 → 51
LIVED b/b.go:6: n > 50: > → >=
equivalent a/a.go:5: v == v: == → !=
noticed a/a.go:37: Made = 8: left out
noticed a/a.go:37: func init() { Made = 8 }: 8 → 9
noticed a/a.go:5: if v == v: turned round
noticed a/a.go:6: n = v: left out
noticed a/a.go:8: const size = 3: 3 → 4
noticed b/b.go:10: 2 * sum: * → /
noticed b/b.go:10: return 2 * sum: 2 → 3
noticed b/b.go:6: n > 50: > → <=
noticed b/b.go:7: n -= 50: 50 → 51
noticed b/b.go:7: n -= 50: left out`
	got := strings.Split(regexp.MustCompile(` +\d+\.\ds `).ReplaceAllString(out.String(), ""), "\n")
	slices.Sort(got)
	if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Each test that passes is kept with the mutants that it comes to. The statement behind a
// condition that does not hold is none of them, and an example that compares nothing is no test.
func TestReaches(t *testing.T) {
	chdir(t)
	dir, err := temporary("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	of := &trial{options: &options{out: t.Output(), n: 1000, workers: 2, limit: 10 * time.Second, most: time.Minute}, dir: dir, count: make(map[ending]int)}
	if err := of.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := make(map[int]string)
	for _, m := range of.drawn {
		names[m.id] = m.String()
	}
	got := make(map[string][]string)
	for _, p := range of.pkgs {
		if p.Deps == nil {
			continue
		}
		if err := of.compile(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for _, s := range p.tests {
			for id := range s.reaches {
				if !strings.Contains(names[id], "Made") {
					got[s.pattern] = append(got[s.pattern], names[id])
				}
			}
			slices.Sort(got[s.pattern])
		}
	}
	small := []string{
		"a/a.go:4: recover(): left out",
		"a/a.go:5: if v == v: turned round",
		"a/a.go:6: n = v: left out",
		"a/a.go:8: const size = 3: 3 → 4",
		"b/b.go:10: 2 * sum: * → /",
		"b/b.go:10: return 2 * sum: 2 → 3",
		"b/b.go:6: for n > 50 {: 50 → 51",
		"b/b.go:6: n > 50: > → <=",
		"b/b.go:6: n > 50: > → >=",
	}
	want := map[string][]string{
		"^FuzzKind$":  {"a/a.go:20: case 5:: 5 → 6"},
		"^TestSmall$": small,
		"^TestTwice$": append(small, "b/b.go:7: n -= 50: 50 → 51", "b/b.go:7: n -= 50: left out"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParts(t *testing.T) {
	s := &single{pattern: "^TestTwo$"}
	var got []string
	for _, part := range s.parts("=== RUN   TestTwo\n=== RUN   TestTwo/a.b\n=== RUN   TestTwo/a.b/c\n=== PAUSE TestTwo/a.b\n=== RUN   TestTwo/d\n") {
		got = append(got, part.pattern)
		if more := part.parts("=== RUN   TestTwo/d/e\n"); more != nil {
			t.Errorf("a part has the parts %v", more)
		}
	}
	if diff := cmp.Diff([]string{`^TestTwo$/^a\.b$`, `^TestTwo$/^d$`}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What mutants are not drawn from is where it is said to be.
func TestImmutable(t *testing.T) {
	for _, part := range immutable {
		if _, err := os.Stat("../.." + part); err != nil {
			t.Error(err)
		}
	}
}

func chdir(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	files, err := txtar.FS(txtar.Parse([]byte(module)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}
