package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Limits for functions and repetitions.
const (
	maxLines   = 80 // lines of a function
	maxWays    = 25 // ways through a function
	sharedRun  = 6  // equal lines that count as a repetition
	maxSharers = 8  // places that share lines; what more places share is a habit of the language
)

// A figure is one count with its places.
type figure struct {
	name   string
	n      int
	places []string
}

// A counter reads the files of a module one after the other.
type counter struct {
	code, tests    int // lines
	exported       []string
	root           []string // files of the root package, without tests
	rootLines      int      // lines of the longest of these files
	long, manyWays []string
	files          []source
}

// A source is a file in the form for finding repetitions: without comments, imports, blank
// lines and lines of punctuation.
type source struct {
	name  string
	lines []string
	at    []int // line numbers
}

// count reads every Go file of a tree, except generated files and test data.
func count(tree fs.FS) (*counter, error) {
	c := new(counter)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base[0] == '.' || base == "testdata" || base == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return c.add(name, text)
	})
	return c, err
}

// add counts a file.
func (c *counter) add(name string, text []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(f) {
		return nil
	}
	src := reduce(fset, f, name, text)
	n := len(codeLines(name, text))
	test := strings.HasSuffix(name, "_test.go")
	c.files = append(c.files, src)
	if test {
		c.tests += n
		return nil
	}
	c.code += n
	if dir := path.Dir(name); dir == "." {
		c.root = append(c.root, name)
		c.rootLines = max(c.rootLines, strings.Count(string(text), "\n"))
	}
	if f.Name.Name != "main" && !slices.Contains(strings.Split(path.Dir(name), "/"), "internal") {
		c.exports(name, f)
	}
	c.functions(fset, f)
	return nil
}

// codeLines returns the numbers of the lines with code.
func codeLines(name string, text []byte) map[int]bool {
	fset := token.NewFileSet()
	file := fset.AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := make(map[int]bool)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue // the scanner inserted this semicolon
		}
		first := file.Line(pos)
		for i, line := range strings.Split(lit, "\n") {
			if i == 0 || strings.TrimSpace(line) != "" {
				lines[first+i] = true
			}
		}
	}
}

// exports counts the exported declarations of a file of a public package: names, and methods of
// exported types. An alias of a declaration of another package with the same name does not count,
// because that package has it already.
func (c *counter) exports(name string, f *ast.File) {
	add := func(id *ast.Ident) {
		if id.IsExported() {
			c.exported = append(c.exported, path.Join(path.Dir(name), id.Name))
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if !spec.Assign.IsValid() || !reexports(spec.Name, spec.Type) {
						add(spec.Name)
					}
				case *ast.ValueSpec:
					for i, id := range spec.Names {
						if i >= len(spec.Values) || !reexports(id, spec.Values[i]) {
							add(id)
						}
					}
				}
			}
		}
	}
}

// reexports reports whether a declaration is an alias of the same name in another package.
func reexports(name *ast.Ident, of ast.Expr) bool {
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	sel, ok := of.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == name.Name
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// functions finds the functions of a file that are too long or have too many ways through them:
// one way, and one more for each branch, loop, case and joined condition (McCabe, "A complexity
// measure", 1976).
func (c *counter) functions(fset *token.FileSet, f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		begin, end := fset.Position(fn.Pos()), fset.Position(fn.End())
		ways := 1
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
				ways++
			case *ast.CaseClause:
				ways += min(1, len(n.List))
			case *ast.CommClause:
				ways++
			case *ast.BinaryExpr:
				if n.Op == token.LAND || n.Op == token.LOR {
					ways++
				}
			}
			return true
		})
		where := fmt.Sprintf("%s:%d %s", begin.Filename, begin.Line, fn.Name.Name)
		if lines := end.Line - begin.Line + 1; lines > maxLines {
			c.long = append(c.long, fmt.Sprintf("%s, %d lines", where, lines))
		}
		if ways > maxWays {
			c.manyWays = append(c.manyWays, fmt.Sprintf("%s, %d ways", where, ways))
		}
	}
}

// reduce returns a file in the form in which repetitions are searched: see source.
func reduce(fset *token.FileSet, f *ast.File, name string, text []byte) source {
	skip := make(map[int]bool)
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			for l := fset.Position(g.Pos()).Line; l <= fset.Position(g.End()).Line; l++ {
				skip[l] = true
			}
		}
	}
	has := codeLines(name, text)
	s := source{name: name}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if has[i+1] && !skip[i+1] && strings.Trim(line, "{}()[],;") != "" {
			s.lines, s.at = append(s.lines, line), append(s.at, i+1)
		}
	}
	return s
}

// repetitions returns the pairs of places that share at least sharedRun consecutive lines.
func (c *counter) repetitions() []string {
	type place struct{ file, at int }
	places := make(map[string][]place)
	for i, s := range c.files {
		for at := 0; at+sharedRun <= len(s.lines); at++ {
			run := strings.Join(s.lines[at:at+sharedRun], "\n")
			places[run] = append(places[run], place{i, at})
		}
	}
	before := func(p place) string {
		if p.at == 0 {
			return ""
		}
		return c.files[p.file].lines[p.at-1]
	}
	var pairs []string
	for _, at := range places {
		if len(at) > maxSharers {
			continue
		}
		for i, p := range at {
			for _, q := range at[i+1:] {
				overlap := p.file == q.file && q.at-p.at < sharedRun
				if within := before(p) != "" && before(p) == before(q); !overlap && !within {
					pairs = append(pairs, fmt.Sprintf("%s:%d ~ %s:%d", c.files[p.file].name, c.files[p.file].at[p.at],
						c.files[q.file].name, c.files[q.file].at[q.at]))
				}
			}
		}
	}
	slices.Sort(pairs)
	return pairs
}

// figures returns all counts.
func (c *counter) figures() []figure {
	pairs := c.repetitions()
	slices.SortFunc(c.exported, cmp.Compare)
	return []figure{
		{"lines of code, without tests", c.code, nil},
		{"lines of tests", c.tests, nil},
		{"exported names and methods", len(c.exported), c.exported},
		{"pairs of places that share six lines", len(pairs), pairs},
		{"files of the root package", len(c.root), c.root},
		{"lines of its longest file", c.rootLines, nil},
		{"functions of more than 80 lines", len(c.long), c.long},
		{"functions with more than 25 ways through", len(c.manyWays), c.manyWays},
	}
}
