package shell

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// describe writes what a line does in the form of testdata/lines.txt.
func describe(line string) string {
	l, err := Parse(line)
	if err != nil {
		return "ERROR"
	}
	var out []string
	for _, c := range l.Commands {
		said := c.Name
		if said == "" {
			said = "-"
		}
		if c.Unknown {
			said += "!"
		}
		var acts []string
		for _, e := range c.Effects {
			name := e.Path
			if name == "" {
				name = "?"
			}
			switch {
			case e.Act == Rename:
				name = e.From + ">" + name
			case e.From != "":
				name += "<" + e.From
			}
			acts = append(acts, string(e.Act)+" "+name)
		}
		if len(acts) > 0 {
			said += ": " + strings.Join(acts, ", ")
		}
		out = append(out, said)
	}
	return strings.Join(out, " ; ")
}

// fixture returns the lines of testdata/lines.txt and what they do.
func fixture(t testing.TB) (lines, want []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(string(data), "\n") {
		if text == "" || text[0] == '#' {
			continue
		}
		line, does, ok := strings.Cut(text, " => ")
		if !ok {
			t.Fatalf("%q does not say what the line does", text)
		}
		lines, want = append(lines, strings.ReplaceAll(line, "⏎", "\n")), append(want, does)
	}
	return lines, want
}

func TestLines(t *testing.T) {
	lines, want := fixture(t)
	if len(lines) < 150 {
		t.Errorf("%d lines, want 150 at least", len(lines))
	}
	for i, line := range lines {
		if got := describe(line); got != want[i] {
			t.Errorf("%q\n got %s\nwant %s", line, got, want[i])
		}
	}
}

func TestTextAndDirectory(t *testing.T) {
	for _, tt := range []struct{ name, in, dir, text string }{
		{"changes of the directory go", "cd /srv/app && go test ./...", "/srv/app", "go test ./..."},
		{"several changes go", "cd a\ncd b; make", "a/b", "make"},
		{"comments before it go", "# run it\nmake # now", "", "make # now"},
		{"the shell around it goes", `bash -lc "cd x; make all"`, "x", "make all"},
		{"shells around shells go", `sh -c "bash -c 'make all'"`, "", "make all"},
		{"a change that may fail stays", "cd x || mkdir x; make", "", "cd x || mkdir x; make"},
		{"a change of the directory alone stays", "cd /srv", "", "cd /srv"},
		{"a directory that only the shell knows is none", "cd $X && make", "", "make"},
		{"a shell that does more stays", "bash -c make && ls", "", "bash -c make && ls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := Parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if l.Dir != tt.dir || l.Text != tt.text {
				t.Errorf("Parse(%q) is in %q and says %q, want %q and %q", tt.in, l.Dir, l.Text, tt.dir, tt.text)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	l, err := Parse("cat a | grep -n \"$P\" >/dev/null; cat <<EOF\nx $(date)\nEOF\nwc <<< 'a b'; ls")
	if err != nil {
		t.Fatal(err)
	}
	type command struct {
		Name, Args, Input string
		Fed, Shown        bool
	}
	var got []command
	for _, c := range l.Commands {
		got = append(got, command{c.Name, strings.Join(c.Args, "|"), c.Input, c.Fed, c.Shown})
	}
	want := []command{
		{"cat", "a", "", false, false},
		{"grep", `-n|"$P"`, "", false, false},
		{"date", "", "", false, false},
		{"cat", "", "x $(date)\n", true, true},
		{"wc", "", "a b", true, true},
		{"ls", "", "", false, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestLooks(t *testing.T) {
	for line, want := range map[string]bool{
		"cat a":                       true,
		"git log -3":                  true,
		"git -C x branch -a":          true,
		"git branch -D old":           false,
		"git config user.name":        true,
		"git config user.name x":      false,
		"git stash list":              true,
		"git stash":                   false,
		"sed -n 1p a":                 true,
		"sed -i s/a/b/ a":             false,
		"find . -delete":              false,
		"sort -o a b":                 false,
		"grep x a > b":                false,
		"grep x a 2>/dev/null":        true,
		"ssh host ls":                 false,
		"make":                        false,
		"gh pr view 12":               true,
		"gh pr create --fill":         false,
		"gh api repos/a/b":            true,
		"gh api -X POST repos/a/b":    false,
		"command -v go":               true,
		"gofmt -l .":                  true,
		"fd x -x rm":                  false,
		"curl -s https://example.com": false,
	} {
		l, err := Parse(line)
		if err != nil || len(l.Commands) != 1 {
			t.Fatalf("Parse(%q) = %+v, %v, want one command", line, l, err)
		}
		if got := l.Commands[0].Looks(); got != want {
			t.Errorf("%q looks: %t, want %t", line, got, want)
		}
	}
}

func TestScript(t *testing.T) {
	for line, want := range map[string]string{
		"sed -n '10,40p' a.go":    "10,40p",
		"sed -i '' s/a/b/ a.go":   "s/a/b/",
		"sed -i.bak -e s/a/b/ a":  "s/a/b/",
		"sed -i .bak s/a/b/ a.go": "s/a/b/",
		"perl -pi -e 's/a/b/' a":  "s/a/b/",
		"grep -A 3 x a.go":        "x",
		"sed -f x.sed a.go":       "",
		"cat a.go":                "",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Commands[0].Script(); got != want {
			t.Errorf("script of %q: %q, want %q", line, got, want)
		}
	}
}

func TestReads(t *testing.T) {
	for line, want := range map[string][]string{
		"cat a.go":                             {"a.go"},
		"cd w && sed -n 1,5p a.go; echo; nl b": {"w/a.go", "w/b"},
		"cat a.go a.go | head -5 2>/dev/null":  {"a.go"},
		"head -5 < in.txt":                     {"in.txt"},
		"rg -n main a.go":                      {"a.go"},
		"git show HEAD:a.go":                   {"a.go"},
		"cat a.go || echo none":                {"a.go"},
		"cat a.go && git log":                  nil,
		"cat a.go && go test ./...":            nil,
		"cat a.go > b.go":                      nil,
		"cat a.go $X":                          nil,
		"rg main":                              nil,
		"ls":                                   nil,
		"echo hi":                              nil,
		"cat <<EOF\nx\nEOF":                    nil,
		"sed -i s/a/b/ a.go":                   nil,
		"ssh host cat a.go":                    nil,
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, l.Reads()); diff != "" {
			t.Errorf("files that %q reads (-want +got):\n%s", line, diff)
		}
	}
}

func TestPatches(t *testing.T) {
	const diff = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n func a() {}\n-port := 1\n+port := 2\n" +
		"--- /dev/null\n+++ b/new.go\n@@ -0,0 +1 @@\n+func b() {}\n--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
	want := []Patch{
		{Path: "x.go", Act: Edit, Old: "func a() {}\nport := 1\n", New: "func a() {}\nport := 2\n"},
		{Path: "new.go", Act: Write, New: "func b() {}\n"},
		{Path: "old.go", Act: Delete, Old: "x\n"},
	}
	if d := cmp.Diff(want, Patches(diff)); d != "" {
		t.Errorf("patches of a unified diff (-want +got):\n%s", d)
	}
	if got := Patches("no diff at all\n--- a line\n"); got != nil {
		t.Errorf("patches of prose = %+v, want none", got)
	}
}

func TestLongLines(t *testing.T) {
	loops := func(n int, body string) string {
		return strings.Repeat("for i in 1 2 3 4 5 6 7 8 9 10; do ", n) + body + strings.Repeat("; done", n)
	}
	for name, line := range map[string]string{
		"more bytes than an argument has": strings.Repeat("a", MaxLine+1),
		"loops in loops":                  loops(7, "ls"),
		"loops that run nothing":          loops(7, "x=1"),
		"a long word in loops":            loops(4, "echo "+strings.Repeat("a", 10_000)),
		"a long line in loops":            loops(4, "eval '"+strings.Repeat("x=1;", 10_000)+"'"),
		"functions that call themselves":  "f() { " + strings.Repeat("f; ", 100) + "}; f",
		"brackets in brackets":            strings.Repeat("(", 5000) + "ls" + strings.Repeat(")", 5000),
	} {
		if l, err := Parse(line); !errors.Is(err, ErrLong) {
			t.Errorf("%s: Parse has %+v and error %v, want ErrLong", name, l, err)
		}
	}
	doubled := "x=aaaaaaaa; " + strings.Repeat("x=$x$x; ", 40) + `cat "$x"`
	if got, want := describe(doubled), "cat: read ?"; got != want {
		t.Errorf("a value that is doubled 40 times: %s, want %s", got, want)
	}
}

// A line of quoted words is read as those words, whatever they are.
func TestQuotedWordsStayThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Custom(func(t *rapid.T) string {
			return strings.NewReplacer("\x00", "", "\r", "").Replace(rapid.OneOf(rapid.String(), rapid.StringMatching(`[-a-z'"\\$*{},;|&<> \n]{0,8}`)).Draw(t, "text"))
		})
		words := rapid.SliceOfN(word, 0, 6).Draw(t, "words")
		for i, w := range words {
			words[i] = strings.ToValidUTF8(w, "")
		}
		line := Quote(append([]string{"prog"}, words...))
		l, err := Parse(line)
		if err != nil {
			t.Fatalf("Parse(%q): %v", line, err)
		}
		if len(l.Commands) != 1 || !slices.Equal(l.Commands[0].Args, words) {
			t.Errorf("Parse(%q) = %+v, want one command with the words %q", line, l.Commands, words)
		}
	})
}

func FuzzParse(f *testing.F) {
	lines, _ := fixture(f)
	for _, line := range lines {
		f.Add(line)
	}
	for _, s := range []string{"$((", "<<<", "a\\", "`", "f() { f; }; f", "eval eval 'eval f'", "f() { cat <<E\n$1\nE\n}; eval 'f a'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l, err := Parse(line)
		if err != nil {
			if l != nil {
				t.Errorf("Parse(%q) has a line and the error %v", line, err)
			}
			return
		}
		for _, c := range l.Commands {
			c.Looks()
			c.Silent()
			c.Operands()
			c.Script()
			c.Verb()
			for _, e := range c.Effects {
				if e.Act == "" || strings.HasPrefix(e.Path, "./") || strings.Contains(e.Path, "//") || c.Remote {
					t.Errorf("Parse(%q) has the effect %+v of %q", line, e, c.Name)
				}
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	lines, _ := fixture(b)
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			_, _ = Parse(lines[i%len(lines)])
		}
	}
}

// sum is how labels name a command line or a path.
func sum(s string, digits int) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])[:digits]
}

// TestRealLines holds the parser to lines that agents wrote. The labels are in
// testdata/labels.txt, without the lines: the file of a conversation, the number of a
// row, the digest of the command line, its programs, and the digests of the paths that
// it reads (r), writes or edits (w), deletes (d). They were written by reading, before
// the parser was run. The conversations are in a folder of their own.
func TestRealLines(t *testing.T) {
	folder := os.Getenv("CARREL_TEST_CONVERSATIONS")
	if folder == "" {
		t.Skip("CARREL_TEST_CONVERSATIONS names no folder with the conversations that testdata/labels.txt refers to")
	}
	data, err := os.ReadFile(filepath.Join("testdata", "labels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	type tally struct{ right, wrong, missed int }
	tallies := make(map[string]*tally)
	for _, kind := range []string{"p", "r", "w", "d"} {
		tallies[kind] = new(tally)
	}
	n := 0
	for text := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		if text[0] == '#' {
			continue
		}
		f := strings.Fields(text)
		row, err := strconv.Atoi(f[1])
		if err != nil || len(f) < 4 {
			t.Fatalf("%q is no label", text)
		}
		line := commandAt(t, filepath.Join(folder, f[0]), row, f[2])
		want := slices.Clone(f[4:])
		for p := range strings.SplitSeq(f[3], ",") {
			want = append(want, "p:"+p)
		}
		l, err := Parse(line)
		if err != nil {
			t.Errorf("%s:%d: %v", f[0], row, err)
			continue
		}
		n++
		got := make(map[string]string) // label → what it stands for
		for _, c := range l.Commands {
			if c.Name != "" {
				got["p:"+c.Name] = c.Name
			}
			for _, e := range c.Effects {
				kind := map[Act]string{Read: "r:", Delete: "d:"}[e.Act]
				if kind == "" {
					kind = "w:"
				}
				if e.Path != "" {
					got[kind+sum(e.Path, 12)] = e.Path
				}
			}
		}
		for label, what := range got {
			if slices.Contains(want, label) {
				tallies[label[:1]].right++
				continue
			}
			tallies[label[:1]].wrong++
			t.Logf("%s:%d: found %s %s in %q", f[0], row, label[:1], what, line)
		}
		for _, label := range want {
			if _, ok := got[label]; !ok {
				tallies[label[:1]].missed++
				t.Logf("%s:%d: missed %s in %q", f[0], row, label, line)
			}
		}
	}
	t.Logf("%d lines", n)
	for kind, least := range map[string]float64{"p": 0.99, "r": 0.99, "w": 0.99, "d": 0.99} {
		x := tallies[kind]
		precision, recall := float64(x.right)/float64(max(1, x.right+x.wrong)), float64(x.right)/float64(max(1, x.right+x.missed))
		t.Logf("%s: %d right, %d wrong, %d missed: precision %.3f, recall %.3f", kind, x.right, x.wrong, x.missed, precision, recall)
		if precision < least || recall < least {
			t.Errorf("%s: precision %.3f and recall %.3f, want %.2f at least", kind, precision, recall, least)
		}
	}
}

// commandAt returns the command line with a digest in a row of a conversation.
func commandAt(t *testing.T, file string, row int, digest string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := bufio.NewScanner(f)
	rows.Buffer(nil, 64<<20)
	for n := 1; rows.Scan(); n++ {
		if n < row {
			continue
		}
		for _, part := range gjson.GetBytes(rows.Bytes(), "message.content").Array() {
			if line := part.Get("input.command").String(); sum(line, 16) == digest {
				return line
			}
		}
		break
	}
	t.Fatalf("%s:%d has no command line with the digest %s", file, row, digest)
	return ""
}

// Which commands the status of a line counts: those with a "+" before them.
func TestCounts(t *testing.T) {
	for line, want := range map[string]string{
		"make":                            "+make",
		"a && b":                          "+a +b",
		"a; b":                            "a +b",
		"a\nb":                            "a +b",
		"a | b":                           "a +b",
		"a || b":                          "a b",
		"a || exit 1":                     "+a exit",
		"a || { echo no; exit 2; }":       "+a echo exit",
		"a || exit 0":                     "a exit",
		"a || true":                       "a true",
		"a && b || echo no":               "a b echo",
		"a &":                             "a",
		"a & b":                           "a +b",
		"! a":                             "a",
		"set -e; a; b":                    "set +a +b",
		"set -eo pipefail\na | b\nc":      "set +a +b +c",
		"set -o pipefail; a | b":          "set +a +b",
		"set +e; a; b":                    "set a +b",
		"if a; then b; fi":                "a b",
		"for i in 1 2; do a; done":        "a a",
		"while a; do b; done":             "a b",
		"(a && b)":                        "+a +b",
		"{ a; b; } && c":                  "a +b +c",
		"a $(b)":                          "b +a",
		"bash -c 'a; b' && c":             "a +b +c",
		"time a":                          "+a",
		"timeout 9 a":                     "+a",
		"rtk a":                           "a",
		"find . -name x -exec a {} \\;":   "a +find",
		"a && exit 0; b":                  "a exit b",
		"f() { a; b; }; f":                "a +b",
		"[[ -f x ]] && a":                 "+[[ +a",
		"a > log 2>&1 && b":               "+a +b",
		"a | tee log; echo ${PIPESTATUS}": "a tee +echo",
		"case x in x) a;; esac":           "a",
		"coproc a":                        "a",
		"trap 'a b' EXIT; c":              "a +c",
		"ssh host 'a && b'":               "+a +b",
		"export X=1 && a":                 "+export +a",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatalf("Parse(%q): %v", line, err)
		}
		var got []string
		for _, c := range l.Commands {
			name := c.Name
			if c.Counts {
				name = "+" + name
			}
			got = append(got, name)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("the status of %q counts %s, want %s", line, got, want)
		}
	}
}
