package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A pkg is what `go list` says of a package.
type pkg struct {
	ImportPath string
	Doc        string   // first sentence of the package comment
	Imports    []string // of the package itself, not of its tests
}

// listPackages returns the path of the module and its packages.
func listPackages(t *testing.T) (module string, pkgs []pkg) {
	t.Helper()
	module = strings.TrimSpace(string(goList(t, "-m")))
	dec := json.NewDecoder(bytes.NewReader(goList(t, "-json=ImportPath,Doc,Imports", "./...")))
	for {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return module, pkgs
		case err != nil:
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// goList runs `go list` in the root of the module.
func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
	}
	return out
}

func TestPackages(t *testing.T) {
	_, pkgs := listPackages(t)
	for _, v := range checkPackages(pkgs) {
		t.Error(v)
	}
}

func TestPackagesBites(t *testing.T) {
	got := checkPackages([]pkg{
		{ImportPath: "m/sound", Doc: "Package sound is told.", Imports: []string{"net/netip", "net/url"}},
		{ImportPath: "m/mute"},
		{ImportPath: "m/open", Doc: "Package open talks.", Imports: []string{"fmt", "net/http"}},
		{ImportPath: "github.com/carrel-dev/carrel/llm/remote", Doc: "Package remote talks, and may.", Imports: []string{"net/http"}},
	})
	want := []string{
		"m/mute has no package comment",
		"m/open imports net/http: only artifact/origin and client and internal/acme and internal/httpjson and internal/telemetry and llm/remote and server/proxy and store/blob/s3 and store/postgres may open connections",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// connecting are the packages that may open connections, each only where a
// setting of the user's tells it to. doc/threat-model.md lists them.
var connecting = []string{"artifact/origin", "client", "internal/acme", "internal/httpjson", "internal/telemetry", "llm/remote", "server/proxy", "store/blob/s3", "store/postgres"}

// answering are the packages that may use the network's packages to answer, or to name
// what is said over HTTP, and that open no connection.
var answering = []string{
	"api", "bench/load", "bench/scale", "internal/ops", "internal/test/upstream", "internal/service", "internal/wire", "server/auth", "server/console", "server/mcp", "server/rest",
}

// dials is how a connection is opened. No package that only answers says it.
var dials = regexp.MustCompile(`\b(net\.Dial|net\.Dialer|http\.(Get|Post|PostForm|Head|Client|DefaultClient|Transport|DefaultTransport|NewRequest))\b`)

// Packages that only answer open no connection.
func TestWhoAnswersDoesNotDial(t *testing.T) {
	for _, dir := range answering {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no files: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(dir, "bench/") {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := dials.Find(data); found != nil {
				t.Errorf("%s: %s opens a connection", file, found)
			}
		}
	}
}

// checkPackages returns which packages have no package comment, and which could
// open a connection and may not.
func checkPackages(pkgs []pkg) []string {
	network := []string{"net", "net/http", "net/rpc", "net/smtp", "crypto/tls", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgxpool"}
	var violations []string
	for _, p := range pkgs {
		if p.Doc == "" {
			violations = append(violations, p.ImportPath+" has no package comment")
		}
		if _, rel, _ := strings.Cut(p.ImportPath, "/carrel/"); slices.Contains(connecting, rel) || slices.Contains(answering, rel) {
			continue
		}
		for _, imp := range p.Imports {
			if slices.Contains(network, imp) {
				violations = append(violations, fmt.Sprintf("%s imports %s: only %s may open connections",
					p.ImportPath, imp, strings.Join(connecting, " and ")))
			}
		}
	}
	return violations
}

// Wiring is explicit. The linter says so too, but only of the files that the
// build at hand selects.
func TestNoInit(t *testing.T) {
	for _, f := range readTree(t) {
		if path.Ext(f.name) != ".go" || strings.Contains(f.name, "testdata/") {
			continue
		}
		got, err := initFunctions(f.name, f.data)
		if err != nil {
			t.Error(err)
		}
		for _, at := range got {
			t.Errorf("%s: init function: wire it where it is used", at)
		}
	}
}

func TestNoInitBites(t *testing.T) {
	const source = "package p\n\ntype T struct{}\n\nfunc (T) init() {}\n\nfunc init() {}\n"
	got, err := initFunctions("p.go", []byte(source))
	if diff := cmp.Diff([]string{"p.go:7:1"}, got); diff != "" || err != nil {
		t.Errorf("init functions (-want +got), error %v:\n%s", err, diff)
	}
}

// initFunctions returns where in a file the functions are that run before
// main.
func initFunctions(name string, source []byte) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var at []string
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			at = append(at, fset.Position(f.Pos()).String())
		}
	}
	return at, nil
}
