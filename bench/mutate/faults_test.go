package main

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The list of faults fits the code. It names every property but those in without.txt, which
// can only become shorter.
func TestEveryPropertyHasAFault(t *testing.T) {
	t.Chdir("../..")
	faults, err := readFaults("bench/mutate/faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	broken := make(map[string]bool)
	for _, m := range faults {
		name, pkg, ok := property(strings.Join(m.run, " "))
		if ok {
			broken[pkg+" "+name] = true
		} else if m.says == "" {
			t.Errorf("%v: nothing says by which words it is noticed", m)
		}
	}
	list, err := entries("bench/mutate/without.txt")
	if err != nil {
		t.Fatal(err)
	}
	without := make(map[string]bool)
	for _, name := range list {
		without[name] = true
	}
	all := properties(t)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		switch {
		case broken[p] && without[p]:
			t.Errorf("%s has a fault: take it out of without.txt", p)
		case !broken[p] && !without[p]:
			t.Errorf("%s has no fault in faults.txt", p)
		}
	}
	for _, list := range []map[string]bool{broken, without} {
		for _, p := range slices.Sorted(maps.Keys(list)) {
			if !all[p] {
				t.Errorf("%s is no property of the module", p)
			}
		}
	}
}

// properties finds the tests that use rapid, each as its package and its name.
func properties(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`^func (\w+)\(`)
	check := regexp.MustCompile(`rapid\.(Check|MakeCheck|MakeFuzz)\(`)
	all := make(map[string]bool)
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pkg := "./" + path.Dir(filepath.ToSlash(file))
		if pkg == "./." {
			pkg = "."
		}
		name := ""
		for line := range strings.Lines(string(data)) {
			if found := function.FindStringSubmatch(line); found != nil {
				name = found[1]
			} else if strings.HasPrefix(line, "func ") {
				name = "" // a method
			}
			if check.MatchString(line) && strings.HasPrefix(name, "Test") {
				all[pkg+" "+name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
