package arch

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// most are how many bytes and lines a document may have: whoever opens it reads all of it.
var most = map[string]struct{ bytes, lines int }{
	"README.md":       {9_000, 150},
	"ARCHITECTURE.md": {12_000, 200},
	"SECURITY.md":     {3_000, 80},
	"CHANGELOG.md":    {4_000, 40},
}

// Documents are as short as they are to be, and what they link to is there.
func TestDocuments(t *testing.T) {
	documents := readDocuments(t)
	for _, v := range checkDocuments(documents, func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil
	}) {
		t.Error(v)
	}
}

func TestDocumentsBites(t *testing.T) {
	documents := map[string]string{
		"README.md":  strings.Repeat("a long line\n", 151) + "[gone](doc/gone.md) [here](doc/a.md) [there](doc/a.md#the-second--part) [no](doc/a.md#third)",
		"doc/a.md":   "# One\n## The second – part!\n[up](../README.md) [out](https://example.org) ![picture](a.svg)\n```sh\n[code](none.md)\n# Third\n```\n`[code](none)`\n",
		"doc/b/c.md": "[a](../a.md#one) [itself](#here)\n",
	}
	want := []string{
		"README.md has 151 lines, more than 150",
		"README.md links to doc/gone.md, which is not there",
		"README.md links to doc/a.md#third, which is not there",
		"doc/a.md links to a.svg, which is not there",
		"doc/b/c.md links to #here, which is not there",
	}
	got := checkDocuments(documents, func(string) bool { return false })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// readDocuments returns the documents of the repository by name.
func readDocuments(t *testing.T) map[string]string {
	t.Helper()
	documents := make(map[string]string)
	for _, f := range readTree(t) {
		if path.Ext(f.name) == ".md" && !strings.Contains(f.name, "testdata/") {
			documents[f.name] = string(f.data)
		}
	}
	return documents
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	quoted  = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// checkDocuments returns what is wrong with documents. There reports whether a file that is
// no document is there.
func checkDocuments(documents map[string]string, there func(name string) bool) []string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		text := documents[name]
		if m, ok := most[name]; ok {
			if len(text) > m.bytes {
				wrong = append(wrong, fmt.Sprintf("%s has %d bytes, more than %d", name, len(text), m.bytes))
			}
			if n := strings.Count(text, "\n"); n > m.lines {
				wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d", name, n, m.lines))
			}
		}
		for _, l := range link.FindAllStringSubmatch(quoted.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
			target := l[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file, part, _ := strings.Cut(target, "#")
			other := name
			if file != "" {
				other = path.Join(path.Dir(name), file)
			}
			to, isDocument := documents[other]
			if !isDocument && !there(other) || part != "" && !hasPart(to, part) {
				wrong = append(wrong, fmt.Sprintf("%s links to %s, which is not there", name, target))
			}
		}
	}
	return wrong
}

// hasPart reports whether a document has a heading with an anchor.
func hasPart(text, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		if anchorOf(h[1]) == anchor {
			return true
		}
	}
	return false
}

// anchorOf returns the anchor that code hosts give a heading: lower case, blanks as hyphens,
// without punctuation.
func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}

// proving are the documents that name tests, as `package.Test`; "carrel" is the root package.
var proving = []string{"doc/invariants.md", "doc/threat-model.md"}

var (
	namedTest    = regexp.MustCompile("`([a-z0-9_/]+)\\.((?:Test|Fuzz)\\w+)`")
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// The tests that documents name are there, and no row of a table of theirs names none.
func TestDocumentsNameTests(t *testing.T) {
	documents, tests := readDocuments(t), make(map[string]bool)
	for _, f := range readTree(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			for _, m := range declaredTest.FindAllSubmatch(f.data, -1) {
				tests[path.Dir(f.name)+"."+string(m[1])] = true
			}
		}
	}
	for _, name := range proving {
		for _, v := range checkTests(name, documents[name], tests) {
			t.Error(v)
		}
	}
}

func TestDocumentsNameTestsBites(t *testing.T) {
	tests := map[string]bool{"a/b.TestOne": true, "..TestRoot": true}
	text := "| promise | tests |\n|---|---|\n| one | `a/b.TestOne`, `carrel.TestRoot` |\n| two | `a/b.TestGone` |\n| three | |\n"
	want := []string{"d.md names a/b.TestGone, which is no test", "d.md: no test for: | three | |"}
	if diff := cmp.Diff(want, checkTests("d.md", text, tests)); diff != "" {
		t.Error(diff)
	}
}

// checkTests returns what is wrong with the tests that a document names.
func checkTests(name, text string, tests map[string]bool) []string {
	var wrong []string
	rows := 0
	for line := range strings.Lines(text) {
		found := namedTest.FindAllStringSubmatch(line, -1)
		for _, m := range found {
			pkg := m[1]
			if pkg == "carrel" {
				pkg = "."
			}
			if !tests[pkg+"."+m[2]] {
				wrong = append(wrong, fmt.Sprintf("%s names %s.%s, which is no test", name, m[1], m[2]))
			}
		}
		switch isRow := strings.HasPrefix(line, "|"); {
		case !isRow:
			rows = 0
		default:
			if rows++; rows > 2 && found == nil { // below the head
				wrong = append(wrong, fmt.Sprintf("%s: no test for: %s", name, strings.TrimSpace(line)))
			}
		}
	}
	if text == "" {
		wrong = append(wrong, name+" is not there")
	}
	return wrong
}

// The document about threats names the packages that may open connections.
func TestConnectingPackagesAreNamed(t *testing.T) {
	text := readDocuments(t)["doc/threat-model.md"]
	_, part, _ := strings.Cut(text, "## Who opens connections")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, p := range connecting {
		if !strings.Contains(part, "`"+p+"`") {
			t.Errorf("doc/threat-model.md does not say that %s may open connections", p)
		}
	}
}
