package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A pkg is a package of the module.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Deps       []string // packages linked into its tests, including itself; nil without tests

	Imports, TestImports, XTestImports []string

	files []*file
	suite
}

// A file is a Go file of a package, but not a test file.
type file struct {
	name string // path from the root of the module
	pkg  *pkg
	data []byte
	tree *ast.File
}

// golang runs the go command and returns its output.
func golang(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("go %s: %w\n%s%s", args[0], err, out, failed.Stderr)
	}
	return out, err
}

// list returns the packages of the module with their files.
func list(ctx context.Context, set *token.FileSet) ([]*pkg, error) {
	out, err := golang(ctx, "list", "-test", "-json=ImportPath,Dir,GoFiles,Deps,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	var all []*pkg
	tests := make(map[string][]string)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if path, ok := strings.CutSuffix(p.ImportPath, ".test"); ok {
			for _, dep := range p.Deps {
				dep, _, _ = strings.Cut(dep, " ") // the rest names the tests that it is compiled for
				tests[path] = append(tests[path], dep)
			}
		} else if !strings.Contains(p.ImportPath, " ") {
			all = append(all, &p)
		}
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		p.Deps = tests[p.ImportPath]
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		for _, name := range p.GoFiles {
			f := &file{name: filepath.ToSlash(filepath.Join(dir, name)), pkg: p}
			if f.data, err = os.ReadFile(f.name); err != nil {
				return nil, err
			}
			if f.tree, err = parser.ParseFile(set, f.name, f.data, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
			p.files = append(p.files, f)
		}
	}
	return all, nil
}

// immutable are parts of paths of packages that only support tests and benchmarks.
var immutable = []string{
	"/bench/", "/internal/test/",
	"/internal/retention", "/store/storetest", "/store/blob/blobtest", "/transcript/formattest", "/llm/llmtest",
}

// mutable reports whether mutants are drawn from the package with that path.
func mutable(path string) bool {
	return !slices.ContainsFunc(immutable, func(part string) bool { return strings.Contains(path, part) })
}

// draw returns all mutants in random order.
func (t *trial) draw(set *token.FileSet) ([]*mutant, error) {
	named := make(map[string]bool)
	for _, name := range t.packages {
		dir, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		named[dir] = true
	}
	var all []*mutant
	for _, p := range t.pkgs {
		if !named[p.Dir] && (len(named) > 0 || !mutable(p.ImportPath)) {
			continue
		}
		for _, f := range p.files {
			all = append(all, f.sites(set)...)
		}
	}
	rng := rand.New(rand.NewPCG(t.seed, 0)) //nolint:gosec // it need not be hard to guess
	rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all, nil
}

// A checker checks which mutants build.
type checker struct {
	set     *token.FileSet
	imports types.Importer
}

func newChecker(ctx context.Context, set *token.FileSet) (*checker, error) {
	out, err := golang(ctx, "list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}", "./...")
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = export
	}
	return &checker{set, importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}, nil
}

// builds reports whether the package of a mutant builds with it.
func (c *checker) builds(m *mutant) bool {
	mutated, err := parser.ParseFile(c.set, m.file.name, m.source(), parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	var trees []*ast.File
	for _, f := range m.file.pkg.files {
		if f == m.file {
			trees = append(trees, mutated)
		} else {
			trees = append(trees, f.tree)
		}
	}
	config := types.Config{Importer: c.imports}
	_, err = config.Check(m.file.pkg.ImportPath, c.set, trees, nil)
	return err == nil
}

// choose returns the first n mutants that build, and prints those that change nothing.
func (t *trial) choose(ctx context.Context, all []*mutant, c *checker) ([]*mutant, error) {
	known, err := entries("bench/mutate/equivalent.txt") // of "file: what"
	if err != nil {
		return nil, err
	}
	var chosen []*mutant
	for _, m := range all {
		switch {
		case len(chosen) == t.n || ctx.Err() != nil:
			return chosen, ctx.Err()
		case slices.Contains(known, m.key()):
			t.tell(m, equivalent, 0)
		case c.builds(m):
			chosen = append(chosen, m)
		}
	}
	return chosen, nil
}
