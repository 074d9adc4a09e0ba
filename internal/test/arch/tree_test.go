package arch

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the root of the module, seen from this package.
var root = filepath.Join("..", "..", "..")

// A ban is text that no file of the repository may contain.
type ban struct {
	what    string
	pattern *regexp.Regexp
}

// bans are written so that none matches its own source.
var bans = []ban{
	{"a private key", regexp.MustCompile(`-----BEGIN ([A-Z]+ )*PRIVATE KEY`)},
	{"a cloud access key", regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{16}\b`)},
	{"a cloud API key", regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{35}`)},
	{"a model provider's key", regexp.MustCompile(`\bsk-([a-z0-9]+-)*[0-9A-Za-z_]{24,}`)},
	{"a code host's token", regexp.MustCompile(`\b(gh[pousr]_|github_pat_|glpat-)[0-9A-Za-z_-]{20,}`)},
	{"a registry's token", regexp.MustCompile(`\b(npm_|pypi-)[0-9A-Za-z_-]{36,}`)},
	{"a chat service's token", regexp.MustCompile(`\bxox[abeprs]-[0-9A-Za-z-]{10,}`)},
	{"a signed web token", regexp.MustCompile(`\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}`)},
	{"a password in a URL", regexp.MustCompile(`\b[a-z][a-z0-9+]*://[^\s/:@"'<>{}$]+:[^\s/:@"'<>{}$]+@`)},

	{"the host of a package registry", regexp.MustCompile(`\b(proxy|sum|index)[.]golang[.]org\b`)},
	{"the host of a package registry", regexp.MustCompile(`\bregistry[.](npmjs[.]org|yarnpkg[.]com)\b`)},
	{"the host of a package registry", regexp.MustCompile(`\b(pypi[.]org|files[.]pythonhosted[.]org|crates[.]io|rubygems[.]org)\b`)},

	{"a path of one machine", regexp.MustCompile(`(?m)(^|[^\w.~*/-])/(work|farm|root)/`)},
	{"a path of one machine", regexp.MustCompile(`/go/pkg/mod/[a-z]`)},
}

func TestNothingLeaks(t *testing.T) {
	bans := bans
	// Where this checkout lies is nobody's business either, but "/src" may
	// well be mentioned.
	if dir, err := filepath.Abs(root); err != nil {
		t.Fatal(err)
	} else if dir = filepath.ToSlash(dir); strings.Count(dir, "/") > 1 {
		bans = append(slices.Clip(bans), ban{"a path of one machine", regexp.MustCompile(regexp.QuoteMeta(dir) + `\b`)})
	}
	for _, f := range readTree(t) {
		for _, v := range checkText(bans, f) {
			t.Error(v)
		}
	}
}

func TestNothingLeaksBites(t *testing.T) {
	for _, tt := range []struct {
		text string // with "~" in it, so that this file is clean
		want string
	}{
		{"-----BEGIN RSA PRIV~ATE KEY-----", "a private key"},
		{"id = AK~IAIOSFODNN7EXAMPLE", "a cloud access key"},
		{"key=AI~za" + strings.Repeat("x", 35), "a cloud API key"},
		{"sk-a~nt-api03-" + strings.Repeat("x", 40), "a model provider's key"},
		{"gh~p_" + strings.Repeat("x", 36), "a code host's token"},
		{"np~m_" + strings.Repeat("x", 36), "a registry's token"},
		{"xox~b-1234567890-abc", "a chat service's token"},
		{"ey~JhbGciOiJIUzI1.ey~JzdWIiOiIxMjM0.SflKxwRJSMeKKF", "a signed web token"},
		{"postgres:/~/u:pass@localhost/db", "a password in a URL"},
		{"pro~xy.golang.org", "the host of a package registry"},
		{"https://pyp~i.org/simple", "the host of a package registry"},
		{"registr~y.npmjs.org", "the host of a package registry"},
		{`"cwd":"/wo~rk/main"`, "a path of one machine"},
		{"/ro~ot/x", "a path of one machine"},
		{"/home/ada/g~o/pk~g/mod/example.com/x", "a path of one machine"},
		{"a desk at home/work/balance, and network/root/leaf", ""},
		{"postgres://localhost:5432/db?user=ada@example.com", ""},
		{"risk-assessment-of-everything_that_may_go", ""},
		{"the task-list", ""},
	} {
		want := tt.want
		if want != "" {
			want = "f:2: " + want
		}
		text := strings.ReplaceAll(tt.text, "~", "")
		got := strings.Join(checkText(bans, file{"f", []byte("one\n" + text + "\nthree\n")}), "; ")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: violations (-want +got):\n%s", text, diff)
		}
	}
}

// checkText returns where a file goes against the bans. It does not quote what
// it finds: a test's output is not the place for a credential.
func checkText(bans []ban, f file) []string {
	var violations []string
	for _, b := range bans {
		if at := b.pattern.FindIndex(f.data); at != nil {
			line := 1 + bytes.Count(f.data[:at[1]], []byte("\n"))
			violations = append(violations, fmt.Sprintf("%s:%d: %s", f.name, line, b.what))
		}
	}
	return violations
}

// A file is a file of the repository.
type file struct {
	name string // path from the root, with slashes
	data []byte
}

// readTree returns the files of the repository in the order of their names.
func readTree(t *testing.T) []file {
	t.Helper()
	var files []file
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if base := path.Base(name); base == ".git" || base == ".carrel" {
				return fs.SkipDir // git's own, and a store of the person who runs this
			}
		case d.Type().IsRegular():
			data, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			files = append(files, file{name, data})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file in %s", root)
	}
	return files
}
