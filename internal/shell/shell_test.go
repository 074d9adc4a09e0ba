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
		{"a change to a directory that only the shell knows stays", "cd $X && make", "", "cd $X && make"},
		{"a change back stays", "cd a && cd - && make", "a", "cd - && make"},
		{"changes before one to a directory that is known go", "cd $X && cd y && cd /z && make", "/z", "make"},
		{"a change in the background stays", "cd x && make & rm y", "", "cd x && make & rm y"},
		{"a shell beside others stays", "bash -c make &", "", "bash -c make &"},
		{"a shell whose result is turned round stays", "! bash -c make", "", "! bash -c make"},
		{"a shell with a variable stays", "X=1 bash -c make", "", "X=1 bash -c make"},
		{"a shell whose output goes elsewhere stays", "bash -c make > log", "", "bash -c make > log"},
		{"a shell with a line that is not known stays", `bash -c "$X"`, "", `bash -c "$X"`},
		{"a shell with words for the line goes", "bash -c make all", "", "make"},
		{"a shell with more words stays", "bash -c make all x", "", "bash -c make all x"},
		{"a shell with a line that is none stays", `bash -c "if"`, "", `bash -c "if"`},
		{"a change whose output goes elsewhere stays", "cd a > x && make", "", "cd a > x && make"},
		{"a change with a variable stays", "X=1 cd a && make", "", "X=1 cd a && make"},
		{"a change that is turned round stays", "! cd a; make", "", "! cd a; make"},
		{"a change beside others stays", "cd a & make", "", "cd a & make"},
		{"a change with more words stays", "cd -P a; make", "", "cd -P a; make"},
		{"changes to the root and up go", "cd /x && cd .. && make", "/", "make"},
		{"changes from the home go", "cd ~/x; cd y; make", "~/x/y", "make"},
		{"a change of the directory before changes of nothing goes", "cd a\ncd b", "a", "cd b"},
		{"a change behind an and that may fail stays", "cd a && cd b || cd c; make", "a", "cd b || cd c; make"},
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

// A here-document without an end line ends with the line.
func TestInput(t *testing.T) {
	for line, want := range map[string]string{
		"cat > a.txt <<EOF\nhello\nworld": "hello\nworld\n", "cat <<EOF\nhello\n": "hello\n", "cat <<EOF\n": "", "cat <<EOF\nEO": "EO\n", "cat <<EOF\nhello\nEOF": "hello\n", "bash -c 'cat <<EOF\nhello'": "hello\n",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if c := l.Commands[0]; c.Input != want || !c.Fed {
			t.Errorf("%q feeds %t %q, want %q", line, c.Fed, c.Input, want)
		}
	}
}

// Where a command reads from and prints to, and where it runs: fed by the line, piped from
// another, shown in the output, inner to a word, remote.
func TestWhereCommandsRun(t *testing.T) {
	for line, want := range map[string]string{
		"ls":                          "ls shown",
		"ls > f; ls":                  "ls; ls shown",
		"ls 1> f":                     "ls",
		"ls 2> f":                     "ls shown",
		"ls 2> f > g":                 "ls",
		"ls > g 2> f":                 "ls",
		"ls < f":                      "ls shown",
		"ls >> f":                     "ls",
		"ls &> f":                     "ls",
		"ls | wc":                     "ls; wc piped shown",
		"ls | { wc; cat; }":           "ls; wc piped shown; cat piped shown",
		"ls | (wc) | cat":             "ls; wc piped; cat piped shown",
		"(ls) > f; pwd":               "-; ls; pwd shown",
		"{ cat; } <<< x":              "- fed; cat shown",
		"export $(ls)":                "ls inner; export shown",
		"trap ls EXIT":                "ls shown",
		"echo $(ls) `pwd`; id":        "ls inner; pwd inner; echo shown; id shown",
		"cat <(ls | wc)":              "ls inner; wc piped inner; cat shown",
		"X=$(ls); pwd":                "ls inner; pwd shown",
		"bash -c 'ls; pwd'":           "ls shown; pwd shown",
		"bash -c 'ls; pwd' > f; id":   "-; ls; pwd; id shown",
		"ls | bash -c 'pwd' | wc":     "ls; pwd piped; wc piped shown",
		"eval $X":                     "eval shown",
		"eval $X > f":                 "eval",
		"f() { ls; }; f > x; f":       "-; ls; ls shown",
		"coproc ls; pwd":              "ls; pwd shown",
		"ssh host 'ls; pwd'; id":      "ls shown remote; pwd shown remote; id shown",
		"cat <<< a; wc <<E\nb\nE\nls": "cat fed shown; wc fed shown; ls shown",
		"[[ $(ls) ]] && pwd":          "ls inner; [[ shown; pwd shown",
		"export X=$(ls)":              "ls inner; export shown",
		"if ls; then pwd; fi | wc":    "ls; pwd; wc piped shown",
		"ls & pwd":                    "ls shown; pwd shown",
		"! ls":                        "ls shown",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range l.Commands {
			said := c.Name
			if said == "" {
				said = "-"
			}
			for _, f := range []struct {
				name string
				set  bool
			}{{"fed", c.Fed}, {"piped", c.Piped}, {"shown", c.Shown}, {"inner", c.Inner}, {"remote", c.Remote}} {
				if f.set {
					said += " " + f.name
				}
			}
			all = append(all, said)
		}
		if got := strings.Join(all, "; "); got != want {
			t.Errorf("%q\n got %s\nwant %s", line, got, want)
		}
	}
}

func TestLooks(t *testing.T) {
	for line, want := range map[string]bool{
		"cat a":                      true,
		"git log -3":                 true,
		"git -C x branch -a":         true,
		"git branch -D old":          false,
		"git config user.name":       true,
		"git config user.name x":     false,
		"git stash list":             true,
		"git stash":                  false,
		"sed -n 1p a":                true,
		"sed -i s/a/b/ a":            false,
		"find . -delete":             false,
		"sort -o a b":                false,
		"grep x a > b":               false,
		"grep x a 2>/dev/null":       true,
		"ssh host ls":                false,
		"make":                       false,
		"gh pr view 12":              true,
		"gh pr create --fill":        false,
		"gh api repos/a/b":           true,
		"gh api --method=DELETE a/b": false, "gh api -XDELETE a/b": false, "gh api --field=a=b a/b": false, "gh api -q .id a/b": true,
		"git branch -d -r origin/x": false, "git branch -vv": true, "git branch --set-upstream-to=origin/x": false, "git branch --unset-upstream": false, "git config --remove-section a": false, "git config get a b": true,
		"git branch --remotes x": true, "git tag -a v1 -m x": false, "git tag -n5 v1": true, "git tag -d v1": false,
		"gh api -X POST repos/a/b":     false,
		"command -v go":                true,
		"gofmt -l .":                   true,
		"fd x -x rm":                   false,
		"git remote -v":                true,
		"git remote show origin":       true,
		"git remote get-url origin":    true,
		"git remote add x y":           false,
		"git worktree":                 true,
		"git worktree list":            true,
		"git worktree add ../w":        false,
		"git reflog":                   true,
		"git reflog show main":         true,
		"git reflog expire --all":      false,
		"git notes list":               true,
		"git notes show HEAD":          true,
		"git notes add -m x":           false,
		"git bundle verify b":          true,
		"git bundle create b HEAD":     false,
		"git bisect log":               true,
		"git bisect good":              false,
		"git bisect":                   false,
		"git stash show":               true,
		"git stash pop":                false,
		"git config":                   true,
		"git config -l":                true,
		"git config --get a b":         true,
		"git config --unset a":         false,
		"git config --replace-all a b": false,
		"git symbolic-ref HEAD":        true,
		"git symbolic-ref HEAD x":      false,
		"git tag":                      true,
		"git tag -l 'v*'":              true,
		"git tag v1":                   false,
		"git branch":                   true,
		"git branch --contains x":      true,
		"git branch -v":                true,
		"git commit -m x":              false,
		"git $VERB":                    false,
		"gh":                           false,
		"gh pr":                        false,
		"gh run watch 1":               true,
		"gh api -f a=b repos":          false,
		"gh api --method POST repos":   false,
		"rm a":                         false,
		"$X a":                         false,
		"ls":                           true,
		"curl -s https://example.com":  false,
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
		"git show :a.go":                       {"a.go"},
		"git show HEAD~5:a.go":                 nil,
		"cat a.go > /dev/null":                 nil,
		"cat b.go; cat a.go &> /dev/null":      nil,
		"X=$(cat a.go)":                        nil,
		"cat a.go || echo none":                {"a.go"},
		"cat a.go; echo x > b.go":              nil,
		"git blame a:b.go":                     {"a:b.go"},
		"git show --format=%h:%s HEAD:a.go":    {"a.go"},
		"git show -n 1 HEAD:a.go":              {"a.go"},
		"cat a.go; X=1":                        {"a.go"},
		"cat a.go; export X=1":                 {"a.go"},
		"{ cat b.go; } < a.go":                 {"a.go", "b.go"},
		"cat b.go a.go b.go":                   {"b.go", "a.go"},
		"cat a.go; $X":                         nil,
		"cat a.go; ls":                         nil,
		"cat a.go; source x.sh":                nil,
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

func TestSilentAndSearches(t *testing.T) {
	for line, want := range map[string][2]bool{
		"cd x":            {true, false},
		"export A=1":      {true, false},
		"trap - EXIT":     {true, false},
		"> f":             {false, true},
		"true > f":        {false, true},
		"$X a":            {false, true},
		"ls":              {false, true},
		"cat a":           {false, false},
		"grep x a":        {false, true},
		"git show HEAD:a": {false, false},
		"< a":             {true, false},
	} {
		l, err := Parse(line)
		if err != nil || len(l.Commands) != 1 {
			t.Fatalf("Parse(%q) = %+v, %v, want one command", line, l, err)
		}
		if got := [2]bool{l.Commands[0].Silent(), l.Searches()}; got != want {
			t.Errorf("%q is silent, and searches: %v, want %v", line, got, want)
		}
	}
	for line, want := range map[string]bool{"cat a | wc -l": true, "cd x; head a": false, "cat a; jq . b": true, "": false} {
		l, err := Parse(line)
		if err != nil || l.Searches() != want {
			t.Errorf("%q searches: %t, %v, want %t", line, l.Searches(), err, want)
		}
	}
}

// A word is what the program gets, or stands there as it is in the line.
func TestWordsOfALine(t *testing.T) {
	for _, tt := range []struct {
		in    string
		words []string
		known bool // all of them
	}{
		{`$'a\n\t\r\\\'\"\?z'`, []string{"a\n\t\r\\'\"?z"}, true},
		{`$'ab'`, []string{"ab"}, true},
		{`$'a\x41'`, []string{`$'a\x41'`}, false},
		{`'a\n'`, []string{`a\n`}, true},
		{`"a\$b\"c\\d\` + "`" + `e\f"`, []string{`a$b"c\d` + "`" + `e\f`}, true},
		{`a\ b\*c\\`, []string{`a b*c\`}, true},
		{`[a]b`, []string{`[a]b`}, false},
		{`[ab`, []string{`[ab`}, true},
		{`a]b[`, []string{`a]b[`}, true},
		{`"[a]*?"`, []string{`[a]*?`}, true},
		{`a?`, []string{`a?`}, false},
		{`a"$X"b`, []string{`a"$X"b`}, false},
		{`"a$X"`, []string{`"a$X"`}, false},
		{`{1,2,3,4,5,6,7,8}{1,2}`, []string{"11", "12", "21", "22", "31", "32", "41", "42", "51", "52", "61", "62", "71", "72", "81", "82"}, true},
		{`{a}`, []string{"{a}"}, true},
		{`{a,{1..3}}`, []string{`{a,{1..3}}`}, false},
		{`a[]b`, []string{`a[]b`}, false},
		{`"{a,b}"`, []string{"{a,b}"}, true},
	} {
		l, err := Parse("p " + tt.in)
		if err != nil || len(l.Commands) != 1 {
			t.Fatalf("Parse(%q) = %+v, %v, want one command", tt.in, l, err)
		}
		c := l.Commands[0]
		if diff := cmp.Diff(tt.words, c.Args); diff != "" || all(c.known) != tt.known {
			t.Errorf("words of %s, known %t (-want +got):\n%s", tt.in, all(c.known), diff)
		}
	}
	eight := "{1,2,3,4,5,6,7,8}"
	for in, want := range map[string]int{eight + eight: 64, eight + "{1,2,3,4,5,6,7,8,9}": 1, "{a," + eight + eight + "}": 1, "{a," + eight + eight + "0,b}x{1,2}": 1} {
		if l, err := Parse("p " + in); err != nil || len(l.Commands[0].Args) != want {
			t.Errorf("%s is %d words, %v, want %d", in, len(l.Commands[0].Args), err, want)
		}
	}
}

// What a line sets is followed as far as is said, and no further.
func TestBoundsOfALine(t *testing.T) {
	var vars strings.Builder
	for i := range 65 {
		vars.WriteString("x" + strconv.Itoa(i) + "=f" + strconv.Itoa(i) + "; ")
	}
	calls := func(n int) string { // n functions, each of which calls the one before
		b := "f0() { rm a; }; "
		for i := range n {
			b += "f" + strconv.Itoa(i+1) + "() { f" + strconv.Itoa(i) + "; }; "
		}
		return b + "f" + strconv.Itoa(n)
	}
	kib := "x=" + strings.Repeat("a", 1<<10) + "; "
	shells := func(n int) string { // n shells, each run by the one before
		line := "rm a"
		for range n {
			line = "sh -c " + strings.NewReplacer(`\`, `\\`, " ", `\ `).Replace(line)
		}
		return line
	}
	for name, tt := range map[string]struct{ line, want string }{
		"64 variables":                 {vars.String() + "cat $x63", "cat: read f63"},
		"65 variables":                 {vars.String() + "cat $x64", "cat: read ?"},
		"one of 65 variables, again":   {vars.String() + "x3=a; cat $x3", "cat: read a"},
		"a value of 1024 bytes":        {"x=" + strings.Repeat("a", 1024) + "; cat $x", "cat: read " + strings.Repeat("a", 1024)},
		"a value of 1025 bytes":        {"x=" + strings.Repeat("a", 1025) + "; cat $x", "cat: read ?"},
		"8 functions in one another":   {calls(7), "rm: delete a"},
		"9 functions in one another":   {calls(8), "f0!"},
		"8 lines in one another":       {strings.Repeat("eval ", 8) + "rm a", "rm: delete a"},
		"9 lines in one another":       {strings.Repeat("eval ", 9) + "rm a", "eval!"},
		"8 shells in one another":      {shells(8), "rm: delete a"},
		"9 shells in one another":      {shells(9), "sh!"},
		"a search in 7 lines":          {strings.Repeat("eval ", 7) + "find . -exec rm a +", "rm: delete a ; find"},
		"a search in 8 lines":          {strings.Repeat("eval ", 8) + "find . -exec rm a +", "find!"},
		"1000 brackets of a text":      {"rm '" + strings.Repeat("({", 1000) + "'", "rm: delete " + strings.Repeat("({", 1000)},
		"a word of 128 KiB":            {kib + "rm " + strings.Repeat("$x", 128), "rm: delete " + strings.Repeat("a", 128<<10)},
		"a longer word":                {kib + "rm " + strings.Repeat("$x", 128) + "a", "rm: delete ?"},
		"a quoted word of 128 KiB":     {kib + `rm "` + strings.Repeat("$x", 128) + `"`, "rm: delete " + strings.Repeat("a", 128<<10)},
		"a longer quoted word":         {kib + `rm "` + strings.Repeat("$x", 128) + `a"`, "rm: delete ?"},
		"as many steps as there are":   {strings.Repeat(":\n", maxSteps-1) + ":", strings.Repeat(": ; ", maxSteps-1) + ":"},
		"1001 brackets beside another": {strings.Repeat("(:);", 1001) + "rm a", strings.Repeat(": ; ", 1001) + "rm: delete a"},
		"a directory of 4096 bytes":    {"cd " + strings.Repeat("a", 4096) + "; rm /b; rm c", "cd ; rm: delete /b ; rm: delete " + strings.Repeat("a", 4096) + "/c"},
		"a directory of 4097 bytes":    {"cd " + strings.Repeat("a", 4097) + "; rm /b; rm c", "cd ; rm: delete /b ; rm: delete ?"},
		"many braces of one word":      {"rm " + strings.Repeat("{a}", 16_000) + "/x", "rm: delete " + strings.Repeat("{a}", 16_000) + "/x"},
		"64 braces in one another":     {"rm " + strings.Repeat("{", 64), "rm: delete " + strings.Repeat("{", 64)},
		"65 braces in one another":     {"rm x " + strings.Repeat("{", 65), "rm: delete x, delete ?"},
		"many words of many parts":     {"rm " + strings.Repeat("{a,b}", 6) + strings.Repeat("{a}", 16_000), "rm: delete ?"},
		"the longest line":             {": " + strings.Repeat("a", MaxLine-2), ":"},
	} {
		if got := describe(tt.line); got != tt.want {
			t.Errorf("%s:\n got %.200s\nwant %.200s", name, got, tt.want)
		}
	}
	if _, err := Parse(strings.Repeat("(", 1000) + "ls" + strings.Repeat(")", 1000)); err != nil {
		t.Errorf("1000 brackets in one another: %v", err)
	}
	if _, err := Parse(strings.Repeat("(", 1001) + "ls" + strings.Repeat(")", 1001)); !errors.Is(err, ErrLong) {
		t.Errorf("1001 brackets in one another: %v", err)
	}
	for _, bracket := range []string{"(", "{"} {
		if _, err := Parse("rm '" + strings.Repeat(bracket, 1001) + "'"); !errors.Is(err, ErrLong) {
			t.Errorf("1001 times %s: %v", bracket, err)
		}
	}
}

// The heads of a patch are read in either form; what is no head is no file.
func TestPatchHeads(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []Patch
	}{
		"a file that is renamed":          {"--- a/x.go\t2026-01-02\n+++ b/y.go\n@@ -1 +1 @@\n-a\n+b\n", []Patch{{Path: "y.go", From: "x.go", Act: Rename, Old: "a\n", New: "b\n"}}},
		"a removed comment":               {"--- a/q.sql\n+++ b/q.sql\n@@ -1,4 +1,3 @@\n a\n--- old comment\n-drop\n+keep\n z\n", []Patch{{Path: "q.sql", Act: Edit, Old: "a\n-- old comment\ndrop\nz\n", New: "a\nkeep\nz\n"}}},
		"lines like a head in a hunk":     {"--- a/q\n+++ b/q\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n", []Patch{{Path: "q", Act: Edit, Old: "-- x\nz\n", New: "++ y\nz\n"}}},
		"a hunk with fewer lines":         {"--- x\n+++ x\n@@ -1,9 +1,9 @@\n-a\n+b\n--- y\n+++ y\n@@ -1 +1 @@\n-c\n+d\n", []Patch{{Path: "x", Act: Edit, Old: "a\n", New: "b\n"}, {Path: "y", Act: Edit, Old: "c\n", New: "d\n"}}},
		"other names without git":         {"--- a.go.orig\n+++ a.go\n@@ -1 +1 @@\n-a\n+b\n", []Patch{{Path: "a.go", Act: Edit, Old: "a\n", New: "b\n"}}},
		"other folders without git":       {"--- old/a.go\n+++ new/a.go\n@@ -1 +1 @@\n-a\n+b\n", []Patch{{Path: "new/a.go", Act: Edit, Old: "a\n", New: "b\n"}}},
		"a rename by git alone":           {"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n", []Patch{{Path: "y", From: "x", Act: Rename}, {Path: "z", Act: Edit, Old: "a\n", New: "b\n"}}},
		"a rename by git with a hunk":     {"diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", []Patch{{Path: "y", From: "x", Act: Rename, Old: "a\n", New: "b\n"}}},
		"without prefixes":                {"--- x.go\n+++ x.go\n@@\n \n+b\n\n", []Patch{{Path: "x.go", Act: Edit, Old: "\n", New: "\nb\n"}}},
		"paths of a letter":               {"--- a\n+++ a\n@@\n+b\n", []Patch{{Path: "a", Act: Edit, New: "b\n"}}},
		"a new name without the old":      {"rename to y\n--- x\n+++ x\n@@\n+b\n", []Patch{{Path: "x", Act: Edit, New: "b\n"}}},
		"an old line that is missing":     {"--- q\n+++ q\n@@ -1,2 +1 @@\n-a\n+b\n--- x\n+++ y", []Patch{{Path: "q", Act: Edit, Old: "a\n-- x\n", New: "b\n++ y\n"}}},
		"a new line that is missing":      {"--- q\n+++ q\n@@ -1 +1,2 @@\n-a\n+b\n--- x\n+++ y\n", []Patch{{Path: "q", Act: Edit, Old: "a\n-- x\n", New: "b\n++ y\n"}}},
		"one prefix of git":               {"--- a/x.go\n+++ y.go\n@@\n-a\n+b\n", []Patch{{Path: "y.go", Act: Edit, Old: "a\n", New: "b\n"}}},
		"to a file without a name":        {"--- x\n+++ \n@@\n+b\n", nil},
		"two renames":                     {"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n--- a/v\n+++ b/w\n@@ -1 +1 @@\n-c\n+d\n", []Patch{{Path: "y", From: "x", Act: Rename, Old: "a\n", New: "b\n"}, {Path: "w", From: "v", Act: Rename, Old: "c\n", New: "d\n"}}},
		"a hunk that has words for lines": {"--- x\n+++ x\n@@ f g @@\n--- y\n+++ y\n", []Patch{{Path: "x", Act: Edit}, {Path: "y", Act: Edit}}},
		"a path that is only a prefix":    {"--- a/\n+++ a/\n@@\n+b\n", []Patch{{Path: "a/", Act: Edit, New: "b\n"}}},
		"nothing to nothing":              {"--- /dev/null\n+++ /dev/null\n", nil},
		"a head with two others":          {"--- x\n+++ x\n+++ y\n@@\n+b\n", []Patch{{Path: "x", Act: Edit, New: "b\n"}}},
		"a head without the other":        {"+++ x.go\n@@\n+b\n", nil},
		"what stands before the hunk":     {"--- x\n+++ x\nindex 1\n-no\n@@\n+b\n", []Patch{{Path: "x", Act: Edit, New: "b\n"}}},
		"an envelope with several files":  {"say *** Begin Patch\n*** Update File: a b.go\n@@\n-x\n+y\n*** Add File: c.go\n+z\n*** Move to: d.go\n*** Update File:  \n*** End Patch\n", []Patch{{Path: "a b.go", Act: Edit, Old: "x\n", New: "y\n"}, {Path: "d.go", From: "c.go", Act: Rename, New: "z\n"}}},
		"a line like a head at the end":   {"--- x", nil},
		"a head at the end":               {"--- x\n+++ x", []Patch{{Path: "x", Act: Edit}}},
		"a head behind a whole hunk":      {"--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n--- y\n+++ y\n", []Patch{{Path: "x", Act: Edit, Old: "a\n", New: "b\n"}, {Path: "y", Act: Edit}}},
		"a move to nothing":               {"*** Begin Patch\n*** Update File: a\n*** Move to: \n*** End Patch\n", []Patch{{Path: "a", Act: Edit}}},
		"a move of nothing":               {"*** Begin Patch\n*** Move to: d.go\n*** End Patch\n", nil},
	} {
		if diff := cmp.Diff(tt.want, Patches(tt.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
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
		"braces in braces":                "echo " + strings.Repeat("{a,", 8000),
		"braces":                          "echo " + strings.Repeat("{", 4000),
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
		"make":                      "+make",
		"a && b":                    "+a +b",
		"a; b":                      "a +b",
		"a\nb":                      "a +b",
		"a | b":                     "a +b",
		"a || b":                    "a b",
		"a || exit 1":               "+a exit",
		"a || { echo no; exit 2; }": "+a echo exit",
		"a || exit 0":               "a exit",
		"a || true":                 "a true",
		"a && b || echo no":         "a b echo",
		"a &":                       "a", "a & b": "a +b", "! a": "a",
		"set -e; a; b":               "set +a +b",
		"set -eo pipefail\na | b\nc": "set +a +b +c",
		"set -o pipefail; a | b":     "set +a +b",
		"set +e; a; b":               "set a +b",
		"set -e; set +e; a; b":       "set +set a +b",
		"set -eu; a; b":              "set +a +b",
		"exit 0; exit 1; a":          "exit exit a", "f() { return 0; return 1; a; }; f": "return return a", "eval 'exit 0'; a": "exit a", "a || exit $X": "a exit",
		"set -x pipefail; a | b": "set a +b", "set -x posix; a; b": "set a +b", "set -u errexit; a; b": "set a +b", "set -e; set here; a; b": "set +set +a +b", "set here; a; b": "set a +b", "rtk time a": "a",
		"set errexit; a; b": "set a +b", "set -u; a; b": "set a +b", "set --e; a; b": "set a +b",
		"set -o errexit; a; b":                    "set +a +b",
		"set pipefail; a | b":                     "set a +b",
		"set -o pipefail; set +o pipefail; a | b": "set set a +b",
		"a || false":                              "+a false",
		"a || false x":                            "a false",
		"a || exit":                               "a exit",
		"a || return 2":                           "+a return",
		"a || exit 00":                            "a exit",
		"a || exit 1 2":                           "a exit",
		"a || ! false":                            "a false",
		"a || { b && exit 1; }":                   "+a b exit",
		"a || { b || exit 1; }":                   "a b exit",
		"set -o nounset; a; b":                    "set a +b", "set -o posix; a | b": "set a +b", "if b; then a || exit 1; fi": "b a exit", "set -e; bash -c 'a && b'; c": "set +a +b +c", "bash -c 'set -e; a; b' || exit 1": "set +a +b exit",
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
		"set -e; a && b; c":               "set a b +c", "set -e; a && b": "set +a +b", "set -e; a || exit 1; c": "set +a exit +c",
		"set -e; a && b || exit 1; c": "set +a +b exit +c", "set -e; { a && b; }; c": "set a b +c", "set -e; (a && b); c": "set +a +b +c",
		"set -e; (a; b); c": "set +a +b +c", "set -e; { a; b; } && c": "set a +b +c", "set -e; { a; b; } || exit 1": "set a +b exit",
		"set -e; f() { a; b; }; f && c": "set a +b +c", "set -e; bash -c 'a; b'; c": "set a +b +c", "set -e; eval 'a; b'; c": "set +a +b +c",
		"(set -e; a); b; c": "set a b +c", "(set -e; a; b)": "set +a +b", "bash -c 'set -e; a'; b; c": "set a b +c",
		"(set -o pipefail); a | b": "set a +b", "(exit 0); a": "exit +a", "bash -c 'exit 0'; a": "exit +a",
		"trap 'exit 0' INT; a": "exit +a", "trap 'exit 0' EXIT; a": "exit a", "f() { return 0; }; f; a": "return +a",
		"f() { return 0; a; }; f": "return a", "f() { exit 0; }; f; a": "exit a",
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

// Where the last command of a line runs.
func TestDir(t *testing.T) {
	for line, want := range map[string]string{
		"git log": "", "git -C ../other commit -am x": "../other", "cd w && git -C a -C b log": "w/a/b", "git -C a log; ls": "", "git -C \"$X\" log": "", "env -C web ls": "web", "cd web; ls": "web", "(cd web); ls": "",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Commands[len(l.Commands)-1].Dir; got != want {
			t.Errorf("%q ends in %q, want %q", line, got, want)
		}
	}
}

// Which commands a status directly behind them is about.
func TestOwn(t *testing.T) {
	for line, want := range map[string]bool{
		"a": true, "b; a": true, "b && a": true, "b | a": true, "{ b; a; }": true, "(a)": true, "bash -c 'b; a'": true, "a || exit 1": true, "! a": false, "a &": false, "b || a": false, "a || b": false,
		"if b; then a; fi": false, "while b; do a; done": false, "for x in 1; do a; done": false, "case x in x) a;; esac": false, "b $(a)": false, "rtk a": false, "b || exit 0; a": false, "if b; then a || exit 1; fi": false,
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range l.Commands {
			if c.Name == "a" && c.Own != want {
				t.Errorf("the status behind a in %q is its own: %t, want %t", line, c.Own, want)
			}
		}
	}
}

// Which commands run whatever the others do (!), and which may run several times (*).
func TestAlwaysAndAgain(t *testing.T) {
	for line, want := range map[string]string{
		"a; b": "a! b!", "a && b": "a! b", "a || b": "a! b", "if a; then b; fi": "a b", "set -e; a": "set a", "(a; b) | c": "a! b! c!", "a $(b)": "b a!", "exit 0; a": "exit a", "bash -c 'a; b'": "a! b!",
		"for x in 1 2; do a; done": "a a", "for x in *; do a; done; b": "a* b!", "while a; do b; done": "a* b*", "for x; do a; done": "a*", "for x in; do a; done": "a*", "for x in *; do for y in 1; do a; done; b; done": "a* b*",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range l.Commands {
			name := c.Name
			if c.Always {
				name += "!"
			}
			if c.Again {
				name += "*"
			}
			got = append(got, name)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q runs %s, want %s", line, got, want)
		}
	}
}

// What of a line that failed holds all the same.
func TestBegun(t *testing.T) {
	for line, want := range map[string]string{
		"mkdir a; echo b; make; rm c; ls": "mkdir echo rm", "make; rm c": "", "mkdir a; make && rm c; ls": "mkdir", "mkdir a; make; ls": "mkdir", "mkdir a; ls; cat b; rm c; d": "mkdir rm",
		"printf a; make; rm b": "printf", "cd a; > b; sed -i s/a/b/ c; make": "cd  sed", "go build -o a; ls": "", "ls a; make": "", "echo a; mkdir b": "",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range l.Begun("").Commands {
			got = append(got, c.Name)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("of %q hold %q, want %q", line, got, want)
		}
	}
}

// What a program of Python wrote holds unless it ended by an error.
func TestBegunPrograms(t *testing.T) {
	for _, tt := range []struct {
		line, printed string
		holds         bool
	}{
		{"python3 - <<'P'\nopen('b', 'w')\nP\nmake", "", true},
		{"python3 - <<'P'\nopen('b', 'w')\nP\nmake", `File "<stdin>", line 1`, false},
		{"python3 - <<'P'\nopen('b', 'w')\nP\nmake", `File "<string>", line 1`, true},
		{`python -u -c "open('b', 'w')" && make`, `File "<string>", line 1`, false},
		{`python -u -c "open('b', 'w')" && make`, `File "<stdin>", line 1`, true},
		{"cat > d/p.py <<'P'\nopen('b', 'w')\nP\npython3 d/p.py && make", `File "/srv/d/p.py", line 1`, false},
		{"cat > d/p.py <<'P'\nopen('b', 'w')\nP\npython3 d/p.py && make", `File "/srv/d/q.py", line 1`, true},
		{"python3 - <<'P'\nprint('b')\nP\nmake", "", false},
		{"go build -o b; make", "", false},
	} {
		l, err := Parse(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(l.Begun(tt.printed).Commands, func(c Command) bool { return c.Unknown }); got != tt.holds {
			t.Errorf("%s, which printed %q: %v, want %v", tt.line, tt.printed, got, tt.holds)
		}
	}
}

// The words that are neither options nor their values.
func TestOperands(t *testing.T) {
	for line, want := range map[string]string{
		"yq": "", "yq e": "", "yq e .a b": ".a b", "head -n 5 a": "a", "head -n5 -20 a": "a", "head -n": "", "sort --key=1 --output a b": "b", "jq --arg a b .c d": ".c d", "jq --arg a": "", "sed -i -- -a": "-a", "ls - -a": "-", "perl -i.b -F, x": "x", "go test -run X -v ./a": "test ./a",
	} {
		l, err := Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(l.Commands[0].Operands(), " "); got != want {
			t.Errorf("the operands of %q are %q, want %q", line, got, want)
		}
	}
}

func TestIsTemporary(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/lamp.go": true, "/private/tmp/lamp.go": true, "/var/folders/1/lamp.go": true, "/srv/tmp/lamp.go": false, "tmp/lamp.go": false, "/tmp": false,
	} {
		if got := IsTemporary(path); got != want {
			t.Errorf("%s is not to last: %v, want %v", path, got, want)
		}
	}
}
