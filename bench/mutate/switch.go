package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// chosen is the environment variable with the number of the mutant that a test binary runs
// with. With 0 it runs with none, and makes a file in the folder that the variable reached
// names for each function with mutants that it comes to. The file is called as the first of them.
const (
	chosen  = "MUTANT"
	reached = "MUTANTS_REACHED"
)

// switched returns the overlay of all mutants. The body of a function that has some begins
// with a switch that holds, for each, a copy of the body with the mutant in it. So a copy is
// compiled as it would be alone, whatever the mutant changes: constants, types or labels of
// cases.
func switched(set *token.FileSet, mutants []*mutant) map[string][]byte {
	of := make(map[*file]map[*ast.FuncDecl][]*mutant)
	for _, m := range mutants {
		if of[m.file] == nil {
			of[m.file] = make(map[*ast.FuncDecl][]*mutant)
		}
		of[m.file][m.fn] = append(of[m.file][m.fn], m)
		m.first = of[m.file][m.fn][0].id
	}
	replace := make(map[string][]byte)
	for f, functions := range of {
		var b bytes.Buffer
		at := 0
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || functions[fn] == nil {
				continue
			}
			body, end := set.Position(fn.Body.Pos()).Offset, set.Position(fn.Body.End()).Offset
			b.Write(f.data[at : body+1])
			at = body + 1
			fmt.Fprintf(&b, "\nswitch mutantChosen {\ncase 0:\nmutantReached(%d)\n", functions[fn][0].first)
			for _, m := range functions[fn] {
				fmt.Fprintf(&b, "case %d:\n%s%s%s\n", m.id, f.data[body:m.from], m.text, f.data[m.to:end])
				if fn.Type.Results == nil {
					b.WriteString("return\n")
				}
			}
			b.WriteString("}\n")
		}
		b.Write(f.data[at:])
		replace[f.name] = b.Bytes()
		replace[filepath.Join(filepath.Dir(f.name), "mutant_chosen.go")] = fmt.Appendf(nil, chooser, f.tree.Name.Name, chosen, len(mutants)+1, reached)
	}
	return replace
}

// chooser is the file that each package with mutants has besides. Its words are the name of the
// package, the variables, and the length of a list with a place for each mutant.
const chooser = `package %s

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

var mutantChosen, _ = strconv.Atoi(os.Getenv(%q))

var mutantsReached [%d]atomic.Bool

func mutantReached(first int) {
	if dir := os.Getenv(%q); !mutantsReached[first].Load() && dir != "" {
		mutantsReached[first].Store(true)
		_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(first)), nil, 0o600)
	}
}
`

// A suite is the tests of a package, compiled with all mutants.
type suite struct {
	once    sync.Once
	err     error
	binary  string
	limit   time.Duration // for the tests; 0 if they fail without a mutant
	reaches string        // the folder that tells which functions they come to
}

// test runs the tests that should notice a mutant, the nearest first, until some do.
func (t *trial) test(ctx context.Context, m *mutant) (ending, error) {
	for _, p := range t.suites(m) {
		p.once.Do(func() { p.err = t.compile(ctx, p) })
		if p.err != nil {
			return "", p.err
		}
		if _, err := os.Stat(filepath.Join(p.reaches, strconv.Itoa(m.first))); p.limit == 0 || err != nil {
			continue
		}
		if passed, _, err := t.runSuite(ctx, p, m.id); err != nil {
			return "", err
		} else if !passed {
			return noticed, nil
		}
	}
	return lived, nil
}

// suites returns the packages whose tests should notice a mutant: the one that it is at home
// in, then those above it in the tree, such as the engine, then the others that depend on it, the
// smaller first, and the command line last.
func (t *trial) suites(m *mutant) []*pkg {
	home := t.home(m.file.pkg)
	var all []*pkg
	for _, p := range t.pkgs {
		if slices.Contains(p.Deps, m.file.pkg.ImportPath) && (p == home || !t.near) {
			all = append(all, p)
		}
	}
	rank := func(p *pkg) int {
		switch {
		case p == home:
			return 0
		case strings.HasPrefix(m.file.pkg.Dir, p.Dir+"/"):
			return 1
		case strings.HasSuffix(p.ImportPath, "/internal/cli"):
			return 1 << 20
		}
		return 1 + len(p.Deps)
	}
	slices.SortStableFunc(all, func(a, b *pkg) int { return rank(a) - rank(b) })
	return all
}

// home returns the package whose tests are those of a package: itself, or the nearest above it
// that has tests and depends on it. So the door tests the rooms of the engine.
func (t *trial) home(own *pkg) *pkg {
	for dir := own.Dir; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, p := range t.pkgs {
			if p.Dir == dir && slices.Contains(p.Deps, own.ImportPath) {
				return p
			}
		}
	}
	return own
}

// compile builds the tests of a package and runs them once without a mutant, to know how
// long they take and what they come to. It says if they fail: then they can notice nothing.
func (t *trial) compile(ctx context.Context, p *pkg) error {
	p.binary = filepath.Join(t.dir, strings.ReplaceAll(p.ImportPath, "/", "-")+".test")
	if _, err := golang(ctx, "test", "-c", "-vet=off", "-overlay", t.overlaid, "-o", p.binary, p.ImportPath); err != nil {
		return err
	}
	var err error
	if p.reaches, err = temporary(t.dir); err != nil {
		return err
	}
	p.limit = t.limit
	began := time.Now()
	passed, out, err := t.runSuite(ctx, p, 0)
	if passed {
		p.limit = min(t.limit, time.Minute+10*time.Since(began))
	} else if p.limit = 0; err == nil {
		fmt.Fprintf(os.Stderr, "mutate: the tests of %s fail without a mutant, or take more than %v, so they notice none:\n%s\n", p.ImportPath, t.limit, out)
	}
	return err
}

// runSuite runs the tests of a package with a mutant, as go test does. It reports whether
// they pass within their time, and returns what they write.
func (t *trial) runSuite(ctx context.Context, p *pkg, id int) (passed bool, out []byte, err error) {
	temp, err := temporary(t.dir)
	if err != nil {
		return false, nil, err
	}
	defer os.RemoveAll(temp)
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.binary, "-test.failfast", "-test.paniconexit0")
	if slices.Contains(p.Deps, "pgregory.net/rapid") {
		cmd.Args = append(cmd.Args, "-rapid.nofailfile")
	}
	cmd.Dir = p.Dir
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "TMPDIR="+temp, chosen+"="+strconv.Itoa(id), reached+"="+p.reaches)
	cmd.WaitDelay = 10 * time.Second
	out, err = cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return false, nil, err // it did not start
	}
	return err == nil, out, ctx.Err()
}
