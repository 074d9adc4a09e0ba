package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
)

// A mutant is a change of one place of one file.
type mutant struct {
	file     string // from the root of the module
	pkg      string // import path
	line     int
	from, to int    // bytes of the file
	text     string // in their place
	what     string // the change, for people
	commands [][]string
	run      []string // of a fault: the go command that it is noticed by
	says     string   // what a command must say for the mutant to be noticed
}

// String returns where a mutant is and what it changes.
func (m *mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.what) }

// source returns the file with the mutant in it.
func (m *mutant) source() ([]byte, error) {
	data, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	return append(data[:m.from:m.from], append([]byte(m.text), data[m.to:]...)...), nil
}

// others are the operators that an operator may be taken for.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
	token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
}

// sites returns all mutants of a file.
func sites(file, pkg string) ([]*mutant, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, data, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &search{set: set, data: data, file: file, pkg: pkg}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Name.Name != "String" {
			ast.Inspect(fn.Body, s.visit)
		}
	}
	return s.found, nil
}

// A search collects the mutants of a file.
type search struct {
	set       *token.FileSet
	data      []byte
	file, pkg string
	found     []*mutant
}

func (s *search) add(from, to token.Pos, text, what string) {
	m := &mutant{
		file: s.file, pkg: s.pkg, line: s.set.Position(from).Line,
		from: s.set.Position(from).Offset, to: s.set.Position(to).Offset, text: text, what: what,
	}
	s.found = append(s.found, m)
}

func (s *search) text(n ast.Node) string {
	return string(s.data[s.set.Position(n.Pos()).Offset:s.set.Position(n.End()).Offset])
}

// line returns the beginning of the line that a place is on.
func (s *search) line(at token.Pos) string {
	offset := s.set.Position(at).Offset
	from := 1 + bytes.LastIndexByte(s.data[:offset], '\n')
	rest, _, _ := bytes.Cut(s.data[from:], []byte("\n"))
	return short(string(bytes.TrimSpace(rest)))
}

func (s *search) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if reserves(n) {
			for _, arg := range n.Args[:len(n.Args)-1] {
				ast.Inspect(arg, s.visit)
			}
			return false
		}
	case *ast.BinaryExpr:
		s.binary(n)
	case *ast.IfStmt:
		s.add(n.Cond.Pos(), n.Cond.End(), "!("+s.text(n.Cond)+")", "if "+short(s.text(n.Cond))+": turned round")
	case *ast.BasicLit:
		if n.Kind == token.INT {
			s.number(n)
		}
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			s.add(n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"), s.line(n.Pos())+": not "+n.Name)
		}
	case *ast.BlockStmt:
		s.statements(n.List)
	case *ast.CaseClause:
		s.statements(n.Body)
	case *ast.BranchStmt:
		if n.Label == nil && (n.Tok == token.BREAK || n.Tok == token.CONTINUE) {
			other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]
			s.add(n.Pos(), n.End(), other, n.Tok.String()+" → "+other)
		}
	}
	return true
}

// reserves reports whether the last argument of a call is a capacity alone: no result
// depends on it.
func reserves(n *ast.CallExpr) bool {
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		if fun.Name != "make" {
			return false
		}
		_, isMap := n.Args[0].(*ast.MapType)
		return len(n.Args) == 3 || isMap && len(n.Args) == 2
	case *ast.SelectorExpr:
		return fun.Sel.Name == "Grow" && len(n.Args) > 0
	}
	return false
}

// binary mutates an operator, and leaves out each arm of a joined condition.
func (s *search) binary(n *ast.BinaryExpr) {
	where := short(s.text(n))
	for _, other := range others[n.Op] {
		end := n.OpPos + token.Pos(len(n.Op.String()))
		s.add(n.OpPos, end, other.String(), fmt.Sprintf("%s: %s → %s", where, n.Op, other))
	}
	if n.Op == token.LAND || n.Op == token.LOR {
		s.add(n.Pos(), n.End(), "("+s.text(n.X)+")", where+": only the left arm")
		s.add(n.Pos(), n.End(), "("+s.text(n.Y)+")", where+": only the right arm")
	}
}

func (s *search) number(n *ast.BasicLit) {
	v, err := strconv.ParseInt(n.Value, 0, 64)
	if err != nil {
		return
	}
	s.add(n.Pos(), n.End(), strconv.FormatInt(v+1, 10), fmt.Sprintf("%s: %s → %d", s.line(n.Pos()), n.Value, v+1))
}

// statements leaves out calls, and assignments to what is there already.
func (s *search) statements(list []ast.Stmt) {
	for _, stmt := range list {
		switch stmt := stmt.(type) {
		case *ast.IncDecStmt:
		case *ast.ExprStmt:
			if call, ok := stmt.X.(*ast.CallExpr); ok && reserves(call) {
				continue
			}
		case *ast.AssignStmt:
			if stmt.Tok == token.DEFINE {
				continue
			}
		default:
			continue
		}
		s.add(stmt.Pos(), stmt.End(), "{}", short(s.text(stmt))+": left out")
	}
}

// short returns the beginning of a text on one line.
func short(text string) string {
	const most = 60
	runes := []rune(text)
	for i, r := range runes {
		if r == '\n' || i == most {
			return string(runes[:i]) + "…"
		}
	}
	return text
}
