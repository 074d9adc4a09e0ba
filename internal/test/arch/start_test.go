package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A start is cheap, as internal/lazy has it: no package compiles a regular
// expression before main runs. What is compiled later is compiled here, so that
// no user is the first to see that a pattern is none.
func TestPatterns(t *testing.T) {
	for _, f := range readTree(t) {
		if path.Ext(f.name) != ".go" || strings.HasSuffix(f.name, "_test.go") || strings.Contains(f.name, "testdata/") {
			continue
		}
		violations, err := checkPatterns(f.name, f.data)
		if err != nil {
			t.Error(err)
		}
		for _, v := range violations {
			t.Error(v)
		}
	}
}

func TestPatternsBites(t *testing.T) {
	const source = `package p

var early = regexp.MustCompile("a+")

var nested = []pair{{"x", regexp.MustCompile("b+")}}

var called = func() *regexp.Regexp { return regexp.MustCompile("c+") }()

var sound = lazy.Regexp("d" + ("+|" + ` + "`e+`" + `))

var later = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile("f+") }}

var broken = lazy.Regexp("(" + "g")

func f(s string) bool { return lazy.Regexp(s).Get().MatchString(s) || regexp.MustCompile("[").MatchString(s) }
`
	got, err := checkPatterns("p.go", []byte(source))
	want := []string{
		"p.go:3:13: a regular expression is compiled before main runs: use internal/lazy",
		"p.go:5:27: a regular expression is compiled before main runs: use internal/lazy",
		"p.go:7:45: a regular expression is compiled before main runs: use internal/lazy",
		"p.go:13:14: error parsing regexp: missing closing ): `(g`",
		"p.go:15:32: the pattern is no constant: it cannot be compiled here",
		"p.go:15:71: error parsing regexp: missing closing ]: `[`",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("violations (-want +got), error %v:\n%s", err, diff)
	}
}

// checkPatterns returns which regular expressions of a file are compiled before
// main runs, and which cannot be compiled. Patterns that [regexp.MustCompile] gets
// in a function may be made there; those of lazy.Regexp have to be constants.
func checkPatterns(name string, source []byte) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var violations []string
	report := func(n ast.Node, text string) {
		violations = append(violations, fset.Position(n.Pos()).String()+": "+text)
	}
	for _, decl := range file.Decls {
		vars, _ := decl.(*ast.GenDecl)
		eachCall(decl, vars != nil && vars.Tok == token.VAR, func(call *ast.CallExpr, early bool) {
			fun := selector(call.Fun)
			if fun != "regexp.MustCompile" && fun != "lazy.Regexp" || len(call.Args) != 1 {
				return
			}
			pattern, constant := text(call.Args[0])
			_, err := regexp.Compile(pattern)
			switch {
			case fun == "regexp.MustCompile" && early:
				report(call, "a regular expression is compiled before main runs: use internal/lazy")
			case fun == "lazy.Regexp" && !constant:
				report(call, "the pattern is no constant: it cannot be compiled here")
			case constant && err != nil:
				report(call, err.Error())
			}
		})
	}
	return violations, nil
}

// eachCall calls f for the calls in a node, with whether they are made before main
// runs if the node is. A function within it is run early only if it is called on
// the spot.
func eachCall(n ast.Node, early bool, f func(call *ast.CallExpr, early bool)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			eachCall(n.Body, false, f)
			return false
		case *ast.CallExpr:
			f(n, early)
			if fun, ok := n.Fun.(*ast.FuncLit); ok {
				eachCall(fun.Body, early, f)
				for _, arg := range n.Args {
					eachCall(arg, early, f)
				}
				return false
			}
		}
		return true
	})
}

// selector returns a name with its package, such as "regexp.MustCompile", or "".
func selector(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if p, ok := s.X.(*ast.Ident); ok {
			return p.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// text returns the string that an expression of literals is, and whether it is one.
func text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return text(e.X)
	case *ast.BinaryExpr:
		x, isText := text(e.X)
		y, areTexts := text(e.Y)
		return x + y, isText && areTexts && e.Op == token.ADD
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	}
	return "", false
}
