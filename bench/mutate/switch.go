package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
)

// chosen is the environment variable with the number of the mutant that a test binary runs
// with; without it, it runs with none. The binary creates a file for each mutant that it
// reaches, in the folder named by the variable reached, with the number of the mutant as its
// name.
const (
	chosen  = "MUTANT"
	reached = "MUTANTS_REACHED"
)

// switched returns the overlay of all mutants. The body of a function with mutants begins with
// a switch that has, for each mutant, a copy of the body with the mutant applied. So each copy
// is compiled as if it were alone, whatever the mutant changes: constants, types or labels of
// cases. The original body records which mutants it reaches.
func switched(set *token.FileSet, mutants []*mutant) map[string][]byte {
	of := make(map[*file]map[*ast.FuncDecl][]*mutant)
	for _, m := range mutants {
		if of[m.file] == nil {
			of[m.file] = make(map[*ast.FuncDecl][]*mutant)
		}
		of[m.file][m.fn] = append(of[m.file][m.fn], m)
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
			b.WriteString("\nswitch mutantChosen {\n")
			for _, m := range functions[fn] {
				fmt.Fprintf(&b, "case %d:\n%s%s%s\n", m.id, f.data[body:m.from], m.text, f.data[m.to:end])
				if fn.Type.Results == nil {
					b.WriteString("return\n")
				}
			}
			b.WriteString("}\n")
			at = body + 1
			slices.SortFunc(functions[fn], func(a, b *mutant) int { return a.statement(set) - b.statement(set) })
			for _, m := range functions[fn] {
				b.Write(f.data[at:m.statement(set)])
				at = m.statement(set)
				fmt.Fprintf(&b, "mutantReached(%d); ", m.id)
			}
		}
		b.Write(f.data[at:])
		replace[f.name] = b.Bytes()
		replace[filepath.Join(filepath.Dir(f.name), "mutant_chosen.go")] = fmt.Appendf(nil, chooser, f.tree.Name.Name, chosen, reached, len(mutants)+1)
	}
	return replace
}

// statement returns the offset of the smallest statement around a mutant that another statement
// can precede.
func (m *mutant) statement(set *token.FileSet) int {
	at := 0
	for n := range ast.Preorder(m.fn.Body) {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		for _, s := range list {
			switch s.(type) {
			case *ast.CaseClause, *ast.CommClause:
				continue // inserted text would belong to the previous case
			}
			if from := set.Position(s.Pos()).Offset; from <= m.from && m.to <= set.Position(s.End()).Offset {
				at = from
			}
		}
	}
	return at
}

// chooser is an additional file in each package with mutants. Its arguments are the name of the
// package, the names of the two environment variables, and the number of mutants plus one.
const chooser = `package %s

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

var mutantChosen, _ = strconv.Atoi(os.Getenv(%q))

var mutantFolder = os.Getenv(%q)

var mutantsReached [%d]atomic.Bool

func mutantReached(id int) {
	if mutantFolder != "" && !mutantsReached[id].Load() {
		mutantsReached[id].Store(true)
		_ = os.WriteFile(filepath.Join(mutantFolder, strconv.Itoa(id)), nil, 0o600)
	}
}
`
