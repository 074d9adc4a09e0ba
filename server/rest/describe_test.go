package rest

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write fields.json from the comments of the source")

// source reads what the comments of a package say of its types.
type source struct {
	fields map[string]map[string]string // of structs: what a field is, "" for the struct itself
	values map[string][]string          // of kinds of text: the values that have a name
}

func readSource(t *testing.T, dir string) *source {
	t.Helper()
	s := &source{make(map[string]map[string]string), make(map[string][]string)}
	only := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	pkgs, err := parser.ParseDir(token.NewFileSet(), dir, only, parser.ParseComments|parser.SkipObjectResolution) //nolint:staticcheck // no build tag matters here
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, name := range slices.Sorted(maps.Keys(p.Files)) {
			for _, d := range p.Files[name].Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					s.read(g)
				}
			}
		}
	}
	return s
}

func (s *source) read(g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			about := map[string]string{"": said(spec.Doc, g.Doc)}
			if st, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, n := range f.Names {
						about[n.Name] = said(f.Doc, f.Comment)
					}
				}
			}
			s.fields[spec.Name.Name] = about
		case *ast.ValueSpec:
			name, ok := spec.Type.(*ast.Ident)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					s.values[name.Name] = append(s.values[name.Name], text)
				}
			}
		}
	}
}

// said returns the first comment that there is, in one line.
func said(comments ...*ast.CommentGroup) string {
	for _, c := range comments {
		if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
			return text
		}
	}
	return ""
}

// The descriptions of the document are the comments of the source.
func TestFieldsAreDescribedByTheirComments(t *testing.T) {
	r := newServer(nil).schemas
	sources := make(map[string]*source)
	got := described{Types: make(map[string]map[string]string), Values: make(map[string][]string)}
	note := func(t2 reflect.Type) {
		pkg := strings.TrimPrefix(t2.PkgPath(), module)
		if sources[pkg] == nil {
			sources[pkg] = readSource(t, filepath.Join("..", "..", pkg))
		}
		key := keyOf(t2)
		if t2.Kind() == reflect.String {
			if list := sources[pkg].values[t2.Name()]; len(list) > 1 {
				got.Values[key] = list
			}
		} else if about := sources[pkg].fields[strings.Split(t2.Name(), "[")[0]]; about != nil {
			got.Types[key] = about
		}
	}
	var visit func(reflect.Type)
	seen := make(map[reflect.Type]bool)
	visit = func(t2 reflect.Type) {
		for t2.Kind() == reflect.Pointer || t2.Kind() == reflect.Slice || t2.Kind() == reflect.Map || t2.Kind() == reflect.Array {
			t2 = t2.Elem()
		}
		if seen[t2] || !strings.HasPrefix(t2.PkgPath(), module) {
			return
		}
		seen[t2] = true
		note(t2)
		if t2.Kind() == reflect.Struct {
			for f := range t2.Fields() {
				visit(f.Type)
			}
		}
	}
	for _, t2 := range slices.Concat(slices.Collect(maps.Values(r.types)), r.requests) {
		visit(t2)
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("fields.json", want.Bytes(), 0o644); err != nil { //nolint:gosec // it is source
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile("fields.json"); err != nil || !bytes.Equal(data, want.Bytes()) {
		t.Errorf("fields.json is not what the comments say, %v: go test ./server/rest -run Described -update", err)
	}
	var bare []string
	for _, t2 := range slices.Concat(slices.Collect(maps.Values(r.types)), r.requests) {
		for _, f := range fieldsOf(t2) {
			if describe(&f) == "" {
				bare = append(bare, keyOf(t2)+" "+f.name)
			}
		}
	}
	slices.Sort(bare)
	for _, b := range slices.Compact(bare) {
		t.Errorf("%s has no description", b)
	}
}
