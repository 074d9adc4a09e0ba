package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// A mutant is a change at one place of a file.
type mutant struct {
	id       int // from 1
	file     *file
	fn       *ast.FuncDecl // function of the place; nil for a fault
	line     int
	from, to int      // offsets in the file
	text     string   // replacement
	what     string   // description of the change
	untried  int      // tests that reach it but were not run, because the time was over
	run      []string // for a fault: the go command that must notice it
	command  []string // for a fault: the same command with faster settings
	says     string   // for a fault: text that the output must contain
}

// String returns the place and the description of a mutant.
func (m *mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file.name, m.line, m.what) }

// key identifies a mutant, even if other parts of its file change.
func (m *mutant) key() string { return m.file.name + ": " + m.what }

// source returns the file with the mutant applied.
func (m *mutant) source() []byte {
	return slices.Concat(m.file.data[:m.from], []byte(m.text), m.file.data[m.to:])
}

// others lists for each operator the operators that replace it in mutants.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
	token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
}

// sites returns all mutants of a file. Functions with labels have none, because two copies of
// such a body cannot be in one function.
func (f *file) sites(set *token.FileSet) []*mutant {
	s := &search{set: set, file: f}
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Name.Name != "String" && !labeled(fn) {
			s.fn = fn
			ast.Inspect(fn.Body, s.visit)
		}
	}
	return s.found
}

func labeled(fn *ast.FuncDecl) bool {
	for n := range ast.Preorder(fn.Body) {
		if _, ok := n.(*ast.LabeledStmt); ok {
			return true
		}
	}
	return false
}

// A search collects the mutants of a file.
type search struct {
	set   *token.FileSet
	file  *file
	fn    *ast.FuncDecl // function that is being searched
	found []*mutant
}

func (s *search) add(from, to token.Pos, text, what string) {
	at := s.set.Position(from)
	s.found = append(s.found, &mutant{
		file: s.file, fn: s.fn, line: at.Line, from: at.Offset, to: s.set.Position(to).Offset, text: text, what: what,
	})
}

func (s *search) text(n ast.Node) string {
	return string(s.file.data[s.set.Position(n.Pos()).Offset:s.set.Position(n.End()).Offset])
}

// line returns the line that contains a place, without the white space around it and cut by the
// function short.
func (s *search) line(at token.Pos) string {
	offset := s.set.Position(at).Offset
	from := 1 + bytes.LastIndexByte(s.file.data[:offset], '\n')
	rest, _, _ := bytes.Cut(s.file.data[from:], []byte("\n"))
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

// reserves reports whether the last argument of a call only reserves capacity, as that of
// make does. No mutant changes it, because no result depends on it.
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

// binary adds mutants of a binary expression: with another operator, and, of a joined
// condition, with only one of its two sides.
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

// statements adds mutants in which one statement of a list is removed: a call, or an
// assignment to an existing variable.
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
