package outcome

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/shell"
)

// parse parses a command line.
func parse(t *testing.T, line string) *shell.Line {
	l, err := shell.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return l
}

// linesOf returns the lines of an output.
func linesOf(s string) []line {
	var o output
	o.add(s, 0)
	return o.lines
}

func TestWhatGitSays(t *testing.T) {
	for s, want := range map[string]string{
		"[main 1a2b3c4] Mend it": "main 1a2b3c4 Mend it", "[main (root-commit) 1a2b3c4] Mend it": "main 1a2b3c4 Mend it", "[detached HEAD 1a2b3c4] x": "detached HEAD 1a2b3c4 x", "[main lamp] x": "", "[1a2b3c4] x": "", "[ 1a2b3c4] x": "", "main 1a2b3c4] x": "", "[main 1a2b3c4]": "", "[x 1a2b3c] x": "",
	} {
		got := ""
		if c, ok := commitOf(s); ok {
			got = c.Branch + " " + c.Hash + " " + c.Subject
		}
		if got != want {
			t.Errorf("%q is the commit %q, want %q", s, got, want)
		}
	}
	for w, want := range map[string]bool{"1a2b3c4": true, "1a2b3c": false, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "1a2b3cg": false, "1A2B3C4": false, "": false} {
		if IsHash(w) != want {
			t.Errorf("%q is a hash: %v", w, !want)
		}
	}
	for s, want := range map[string]string{
		"Switched to branch 'x'": "x", "Switched to a new branch 'x'": "x", "Already on 'x'": "x", "Switched to branch 'x": "", "## x...origin/x [ahead 1]": "x", "## x": "x", "## Getting started": "", "## x [gone]": "x", "## HEAD (no branch)": "", "## No commits yet on x": "", "On branch x": "x", "On branch x y": "", "on branch x": "", "# x": "",
	} {
		if b, ok := branchOf(s, true); ok != (want != "") || ok && b != want {
			t.Errorf("%q is on the branch %q, %v, want %q", s, b, ok, want)
		}
	}
	if b, ok := branchOf("## x", false); ok {
		t.Errorf("a heading is the branch %q", b)
	}
	for _, tt := range []struct {
		line, output string
		want         string // commit, branch, pushed
	}{
		{"git commit -m x", "[main 1a2b3c4] x", "1a2b3c4 main false"},
		{"git commit --dry-run -m x", "[main 1a2b3c4] x", "  false"},
		{"git log", "[main 1a2b3c4] x", "  false"},
		{"git push", "Everything up-to-date", "  true"},
		{"git push -n", "Everything up-to-date", "  false"},
		{"git push --dry-run", "Everything up-to-date", "  false"},
		{"git fetch", "Everything up-to-date", "  false"},
		{"git status -sb", "## x...y", " x false"},
		{"git checkout x", "Switched to branch 'x'", " x false"},
		{"git checkout x", "## y", "  false"},
		{"git status --short && cat NEWS.md", "## Unreleased", "  false"},
		{"git status -s && cat NEWS.md", "## Unreleased", "  false"},
		{"git status -sb; head -20 README.md", "## main\n## Installation", " main false"},
		{"git status --short --branch", "## main", " main false"},
		{"head -20 README.md; git status -sb", "## Installation\n## main", "  false"},
		{"cd x && git status -sb", "## main", " main false"},
		{"git fetch && git push", "From h:x\n1a2b3c4..5d6e7f8 main -> origin/main\nTo h:x\n! [rejected] main -> main (fetch first)", "  false"},
		{"git fetch && git push", "From h:x\n1a2b3c4..5d6e7f8 main -> origin/main\nTo h:x\n1a2b3c4..5d6e7f8 main -> main", "  true"},
		{"git pull; git push", "1a2b3c4..5d6e7f8 main -> origin/main\nfatal: could not read Username", "  false"},
		{"git pull; git push", "Already up to date.\nEverything up-to-date", "  true"},
		{"git push | tail -1", "1a2b3c4..5d6e7f8 main -> main", "  true"},
		{"git commit -m x && git push --dry-run", "[main 1a2b3c4] x", "1a2b3c4 main false"},
		{"git commit --dry-run", "On branch main", " main false"},
		{"git log", "Switched to branch 'x'", "  false"},
		{"git push && git push -n", "Everything up-to-date", "  true"},
		{"git push -n; git push", "Everything up-to-date", "  true"},
		{"git branch --show-current", "x", " x false"},
		{"git branch --show-current && ls", "x", "  false"},
		{"git branch --show-current", "x\ny", "  false"},
		{"git branch", "x", "  false"},
		{"echo $(git commit -m x)", "[main 1a2b3c4] x", "  false"},
		{"hg commit -m x", "[main 1a2b3c4] x", "  false"},
		{"git commit -n -m x", "[main 1a2b3c4] x", "1a2b3c4 main false"},
		{"git push", "nothing", "  false"},
		{"git merge x", "[main 1a2b3c4] x", "1a2b3c4 main false"},
		{"git push", "Switched to branch 'x'", "  false"},
		{"ls; git push", "Everything up-to-date", "  true"},
	} {
		j := &judge{line: parse(t, tt.line), out: output{lines: linesOf(tt.output)}}
		j.state()
		hash := ""
		if j.commit != nil {
			hash = j.commit.Hash
		}
		if got := fmt.Sprint(hash, " ", j.branch, " ", j.pushed); got != tt.want {
			t.Errorf("%s with %q: %q, want %q", tt.line, tt.output, got, tt.want)
		}
	}
	j := &judge{line: parse(t, "git branch --show-current"), out: output{failed: true, lines: linesOf("fatal: not a git repository")}}
	if j.state(); j.branch != "" {
		t.Errorf("a failed command is on the branch %q", j.branch)
	}
}

func TestLinesAsTheyAreRead(t *testing.T) {
	for s, want := range map[string]string{
		"a  b\t c\r\n": "a b c", "10%\r99%\r\n": "99%", "\x1b[31mred\x1b[0m x": "red x", "\x1bMx": "x", "x\x1b": "x", "x\x1b[": "x", "x\x1b[3": "x", "\x1b[\x7fmx": "x", "\x1b[@x": "x", "\x1b[~x": "x", "== 2 passed ==": "2 passed", "== x": "== x", "x ==": "x ==", "─── x ───": "x", "a\xffb": "ab", "": "", "═": "",
		strings.Repeat("z", 1024): strings.Repeat("z", 1024), strings.Repeat("z", 1025): strings.Repeat("z", 1024),
	} {
		if got := plain(s); got != want {
			t.Errorf("%.40q is read as %.40q, want %.40q", s, got, want)
		}
	}
	for s, want := range map[string]string{"n 3": "3", "n -3": "-3", "n 3.": "3", "n 3]": "3", "n 3 x": "none", "n 3 (x)": "3", "n 3)": "3", "n 3(": "3", "n 3x": "none", "n 3:": "none", "n x": "none", "n ": "none", "n -": "none", "m 3": "none", "n 123456789": "123456789", "n 1234567890": "none", "n 0": "0"} {
		got := "none"
		if n, ok := number(s, "n "); ok {
			got = fmt.Sprint(n)
		}
		if got != want {
			t.Errorf("%q has the number %s, want %s", s, got, want)
		}
	}
	for s, want := range map[string]int{"": 0, "a": 0, "7": 1, "77": 1, "7 7": 2, "a7b8": 2, "x 12 y 3 z 456": 3} {
		if got := numbers(s); got != want {
			t.Errorf("%q has %d numbers, want %d", s, got, want)
		}
	}
	for s, want := range map[string]string{"[lint:go] x": "x", "[a b] x": "", "[a\tb] x": "", "x": "", "[a]x": "", "[a] ": "", "(a] x": ""} {
		if got := unprefixed(s); got != want {
			t.Errorf("%q is %q without its task, want %q", s, got, want)
		}
	}
	var o output
	o.add("a\n\nb\n", 5)
	if d := cmp.Diff([]line{{5, "a"}, {7, "b"}}, o.lines, cmp.AllowUnexported(line{})); d != "" || o.number != 8 {
		t.Errorf("%d lines, (-want +got):\n%s", o.number, d)
	}
	if a, b := (line{number: 3}), (line{number: 7}); a.from(b) != 4 || b.from(a) != 4 || a.from(a) != 0 {
		t.Errorf("lines 3 and 7 are %d and %d lines away", a.from(b), b.from(a))
	}
}

func TestWordsOfPrograms(t *testing.T) {
	for args, want := range map[string]int{"": 10, "-n 5": 5, "-n5": 5, "-5": 5, "--lines=7": 7, "-c x": 10, "-n 12345678": 12345678, "-n 123456789": 10, "file": 10, "-q -n 3": 3} {
		if got := headed(strings.Fields(args)); got != want {
			t.Errorf("head %s shows %d lines, want %d", args, got, want)
		}
	}
	for name, want := range map[string]string{"python3.12": "python", "node20": "node", "npm.cmd": "npm", "go.exe": "go", "go": "go", "7": "7"} {
		if got := unversioned(name); got != want {
			t.Errorf("%s is %s without its version, want %s", name, got, want)
		}
	}
	for line, want := range map[string]bool{"grep x a": true, "git diff": true, "git commit": false, "make": false, "test -f x": true, "git merge-base a b": true} {
		if got := isAnswer(&parse(t, line).Commands[0]); got != want {
			t.Errorf("a status of 1 answers %q: %v, want %v", line, got, want)
		}
	}
	for line, want := range map[string]bool{"go --version": true, "go -V": true, "go help": true, "go version x": false, "go": false, "go build": false} {
		if got := asks(&parse(t, line).Commands[0]); got != want {
			t.Errorf("%q only asks: %v, want %v", line, got, want)
		}
	}
	for _, tt := range []struct {
		outer, inner string
		want         bool
	}{{"--- FAIL: TestA (0.1s)", "--- FAIL: TestA/b (0.1s)", true}, {"--- FAIL: TestA (0.1s)", "--- FAIL: TestAB (0.1s)", false}, {"--- FAIL: TestA", "--- FAIL: TestA/b", true}} {
		if got := within(tt.outer, tt.inner); got != tt.want {
			t.Errorf("%q is within %q: %v", tt.inner, tt.outer, got)
		}
	}
	if !begin([]string{"a", "b"}, []string{"a"}) || !begin([]string{"a"}, []string{"a"}) || begin([]string{"a"}, []string{"a", "b"}) || begin([]string{"b"}, []string{"a"}) || !begin(nil, nil) {
		t.Error("words begin with others")
	}
	for s, want := range map[string]bool{"Error: x": true, "MCP error 3": true, "Failed to open": true, "An error": false, "failed to": false, "": false} {
		if got := speaksOfError(s); got != want {
			t.Errorf("%q speaks of an error: %v, want %v", s, got, want)
		}
	}
}

// An expression is parted where it may be, and left whole where that would change it.
func TestPartsOfExpressions(t *testing.T) {
	for expression, want := range map[string][]string{
		"a|b": {"a", "b"}, "a": {"a"}, "(a|b)|c": {"(a|b)", "c"}, "((a|b)|c)|d": {"((a|b)|c)", "d"}, `a\|b|c`: {`a\|b`, "c"}, "[|]|a": {"[|]", "a"}, "[^|]|a": {"[^|]", "a"}, "[]|]|a": {"[]|]", "a"}, "[^]|]|a": {"[^]|]", "a"}, "[[:alpha:]|]|a": {"[[:alpha:]|]|a"}, "[:|]": {"[:|]"}, "[:a]|b": {"[:a]", "b"},
		"(?i)a|b": {"(?i)a|b"}, "(?i:a|b)|c": {"(?i:a|b)", "c"}, "(?:a|b)|c": {"(?:a|b)", "c"}, `\Qa|b\E|c`: {`\Qa|b\E|c`}, "|a": {"", "a"}, `[\]|]|a`: {`[\]|]`, "a"},
		"[a[:]|b": {"[a[:]|b"}, "a[:b]|c": {"a[:b]", "c"},
	} {
		if got := alternatives(expression); !slices.Equal(got, want) {
			t.Errorf("the parts of %s are %q, want %q", expression, got, want)
		}
	}
}

// Of pieces the shorter ones are whole, and those that are extra are there if there is room.
func TestRoomForPieces(t *testing.T) {
	z := func(n int) string { return strings.Repeat("z", n) }
	for _, tt := range []struct {
		name   string
		pieces []piece
		want   []int // bytes of each
	}{
		{"nothing", nil, nil},
		{"200 bytes", []piece{{text: z(200)}}, []int{200}},
		{"201 bytes", []piece{{text: z(201)}}, []int{200}},
		{"two of 99", []piece{{text: z(99)}, {text: z(99)}}, []int{99, 99}},
		{"two of 100", []piece{{text: z(100)}, {text: z(100)}}, []int{99, 99}},
		{"all the room for five", []piece{{text: z(44)}, {text: z(44)}, {text: z(44)}, {text: z(44)}, {text: z(16)}}, []int{44, 44, 44, 44, 16}},
		{"a short one and a long one", []piece{{text: z(50)}, {text: z(300)}}, []int{50, 148}},
		{"five long ones", []piece{{text: z(90)}, {text: z(90)}, {text: z(90)}, {text: z(90)}, {text: z(90)}}, []int{48, 48, 48, 48}},
		{"an extra one that fits", []piece{{text: z(50)}, {text: z(148), extra: true}}, []int{50, 148}},
		{"an extra one that does not", []piece{{text: z(50)}, {text: z(149), extra: true}}, []int{50}},
		{"how many more there are", []piece{{text: z(20), more: 12}}, []int{31}},
		{"cut with how many more there are", []piece{{text: z(300), more: 2}}, []int{200}},
	} {
		got, _ := compose(tt.pieces)
		var sizes []int
		for part := range strings.SplitSeq(got, "; ") {
			if part != "" {
				sizes = append(sizes, len(part))
			}
		}
		if !slices.Equal(sizes, tt.want) {
			t.Errorf("%s: pieces of %v bytes, want %v", tt.name, sizes, tt.want)
		}
	}
	if _, lines := compose([]piece{{line: 7, text: "a"}, {line: 3, text: "b"}, {line: 7, text: "c"}}); !slices.Equal(lines, []int{3, 7}) {
		t.Errorf("the lines are %v", lines)
	}
	many := make([]line, 0, maxKept)
	for i := range 66 {
		many = keep(many, line{number: i})
	}
	if len(many) != 64 || many[62].number != 62 || many[63].number != 65 {
		t.Errorf("of 66 lines %d are kept, the last is %d", len(many), many[len(many)-1].number)
	}
}

func TestWhichLineDecides(t *testing.T) {
	for s, want := range map[string]string{
		"x\ny": " 0", "ValueError: a\nTypeError: b": "TypeError: b 8", "error: a\nerror: b": "error: a 6", "panic: a\nerror: b": "panic: a 7", "a.go:1: x\nERROR x": "ERROR x 5", "it is not found\nan error": "it is not found 3", "it failed": "it failed 2", "": " 0", "sh: x: command not found\nx": "sh: x: command not found 6",
	} {
		l, rank := deciding(linesOf(s))
		if got := fmt.Sprint(l.text, " ", rank); got != want {
			t.Errorf("of %q %q decides, want %q", s, got, want)
		}
	}
	for s, want := range map[string]bool{
		"": false, "Traceback (most recent call last)\nValueError: x": true, "File \"a.py\"\nx.AnError: y": true, "x\nValueError: y": false, "at x\nNode.js v20": true, "x\nNode.js v20": false, "sh: x: command not found": true, "sh: x: command not found\ny": false, "y\nsh: x: command not found": false, "x: command not found": true, "bash: x: Permission denied": true, "lamp": false,
	} {
		if got := crashed(linesOf(s)); got != want {
			t.Errorf("%q is a crash: %v, want %v", s, got, want)
		}
	}
}

// What a client puts around an output is not of it.
func TestWhatClientsPutAround(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // lines, status, known, failed, refused, running, cut
	}{
		{"Exit code 3\nx", "x|3 true false"},
		{"Exit code x\ny", "Exit code x|y|0 false false"},
		{"x\n[The command completed with exit code 2.]", "x|2 true false"},
		{"x\n<exited with exit code 0>", "x|0 true false"},
		{"x\nShell cwd was reset to /", "x|0 false false"},
		{"x\nError: y\nProcess Group PGID: 7", "x|Error: y|0 false false"},
		{"x\nBackground PIDs: 3\nProcess Group PGID: 7", "x|0 false false"},
		{"x\nExit Code: 4", "x|4 true false"},
		{"x\nExit Code: 0\nExit Code: 4", "x|Exit Code: 0|4 true false"},
		{"x\nExit Code: 0\nExit Code: 4\nProcess Group PGID: 7", "x|Exit Code: 0|4 true false"},
		{"x\nError: (none)\nExit Code: 4\nSignal: (none)", "x|4 true false"},
		{"x\n[The command completed with exit code 0.]\n[The command completed with exit code 2.]", "x|[The command completed with exit code 0.]|2 true false"},
		{"Exit code: 1\nx", "Exit code: 1|x|0 false false"},
		{"Exit code 1 is of no use\nx", "Exit code 1 is of no use|x|0 false false"},
		{"Output: x\nProcess Group PGID: 7", "x|0 true false"},
		{"x\nSignal: 9\nProcess Group PGID: 7", "x|0 false false"},
		{"Process Group PGID: 7", "|0 true false"},
		{"Command: a\nDirectory: b\nStdout: x\nExit Code: 1", "x|1 true false"},
		{"Output: (empty)\nExit Code: 1", "|1 true false"},
		{"<returncode>3</returncode>\n<output>\nx\n</output>", "x|3 true false"},
		{"<returncode>3\n<output>x</output>", "x|0 false false"},
		{"<status>running</status>\n<stdout>\nx\n</stdout>\ny", "x|0 false false running"},
		{"<status>completed</status>", "|0 false false"},
		{"<retrieval_status>timeout</retrieval_status>", "|0 false false running"},
		{"<retrieval_status>timeout</retrieval_status>\n<status>completed</status>", "|0 false false running"},
		{"<status>running", "|0 false false"},
		{"<retrieval_status>timeout", "|0 false false"},
		{"<retrieval_status>success</retrieval_status>", "|0 false false"},
		{"<retrieval_status>success</retrieval_status>\n<status>running</status>", "|0 false false running"},
		{"<status>running</status>\n<retrieval_status>success</retrieval_status>", "|0 false false running"},
		{"...output truncated...\nFull output saved to: /x\nlamp", "lamp|0 false false cut"},
		{"...output truncated...\nx\ny\nFull output saved to: /x", "x|y|Full output saved to: /x|0 false false cut"},
		{"<persisted-output>\nOutput too large (9)\nPreview (first 2 KB):\nx\n...\n</persisted-output>", "x|0 false false cut"},
		{"x\n<shell_metadata>\nended. If this command is expected to take longer, x\n</shell_metadata>", "ended.|0 false true"},
		{"x\n<shell_metadata>\ny", "x|<shell_metadata>|y|0 false false"},
		{"<shell_metadata>\nended.\n</shell_metadata>", "ended.|0 false true"},
		{"(no output)", "|0 false false"},
		{"(no output)\nx", "(no output)|x|0 false false"},
		{"<tool_use_error>x</tool_use_error>", "x|0 false false refused"},
		{"[Request interrupted by user]", "[Request interrupted by user]|0 false false refused"},
		{"The user doesn't want to go", "The user doesn't want to go|0 false false"},
		{"Command running in background with ID: 7", "Command running in background with ID: 7|0 false false running"},
		{"Command timed out after 2m\nx", "Command timed out after 2m|x|0 false true"},
		{"x\nCommand timed out after 2m", "x|Command timed out after 2m|0 false true"},
		{"x\n<system-reminder>y</system-reminder>", "x|0 false false"},
		{"x\n<system-reminder>y\nz", "x|<system-reminder>y|z|0 false false"},
		{"<system-reminder>y\nz", "|0 false false"},
		{"<untrusted_context>\nx\n</untrusted_context>", "x|0 false false"},
		{"<untrusted_context>\nx", "x|0 false false"},
		{"<untrusted_context>", "<untrusted_context>|0 false false"},
		{"Chunk ID: 7\nWall time: 1\nProcess exited with code 5\nOutput:\nx", "x|5 true false"},
		{"Chunk ID: 7\nProcess running with session ID 3\nOutput:", "|0 false false running"},
		{"Chunk ID: 7\nx", "Chunk ID: 7|x|0 false false"},
		{"Command executed in /. Exit code: 2\nOutput:\nx", "x|2 true false"},
		{"Command executed in /. Exit code: 2\nx\nOutput:\ny", "x|Output:|y|2 true false"},
		{"Command executed in /. Exit code: x\ny", "y|0 false false"},
		{"Ran. Exit code: 2\nx", "Ran. Exit code: 2|x|0 false false"},
		{"apply_patch verification failed: x", "apply_patch verification failed: x|0 false true"},
		{"", "|0 false false"},
	} {
		var o output
		o.add(tt.text, 0)
		o.unwrap()
		var all []string
		for _, l := range o.lines {
			all = append(all, l.text)
		}
		got := strings.Join(append(all, fmt.Sprint(o.status, " ", o.known, " ", o.failed)), "|")
		if len(all) == 0 {
			got = "|" + got
		}
		for _, flag := range []struct {
			on   bool
			name string
		}{{o.refused, " refused"}, {o.running, " running"}, {o.cut, " cut"}} {
			if flag.on {
				got += flag.name
			}
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.text, got, tt.want)
		}
	}
}

// A report is read as the client wrote it, or not at all.
func TestReportsOfClients(t *testing.T) {
	edge := strings.Repeat("x", maxLook-1) + "yz" + strings.Repeat("x", maxLook-1)
	for _, tt := range []struct {
		name, text string
		error      bool
		want       string
	}{
		{"a script that completed in a failed call", "Script completed\nWall time 1\nOutput:\nx", true, "x|true false"},
		{"a script without an output", "Script failed\nWall time 1", false, "Script failed|Wall time 1|false false"},
		{"a status in JSON", `{"output":"x","metadata":{"exit_code":1}}`, false, "x|true true"},
		{"JSON that is cut off", `{"output":"x","metadata":{"exit_code":1}`, false, `{"output":"x","metadata":{"exit_code":1}|false false`},
		{"as much as is read", edge, false, edge[:maxLine] + "|false false"},
		{"the end of more", "x" + edge, false, "z" + strings.Repeat("x", maxLine-1) + "|false false"},
	} {
		o := open(call("shell", nil), result(tt.text, tt.error))
		var all []string
		for _, l := range o.lines {
			all = append(all, l.text)
		}
		if got := strings.Join(append(all, fmt.Sprint(o.failed, " ", o.known)), "|"); got != tt.want {
			t.Errorf("%s: got %.200s, want %.200s", tt.name, got, tt.want)
		}
	}
}

// A runner announces a program in one line; what it announces otherwise is not known.
func TestAnnouncedPrograms(t *testing.T) {
	j := &judge{table: Builtin()}
	for s, want := range map[string]bool{"$ tsc --noEmit": true, "[check] $ tsc --noEmit": true, "$ tsc && tsc": false, "$ (": false, "$ jest": false, "tsc": false} {
		if got := j.quiet(s); got != want {
			t.Errorf("%q is of a program without a word: %v, want %v", s, got, want)
		}
	}
}

// The status that a line prints is that of the command before it.
func TestStatusThatALinePrints(t *testing.T) {
	for _, tt := range []struct{ line, output, want string }{
		{"make; echo $?", "x\n2", "2 make"},
		{"make; echo \"exit: $?\"", "exit: 0", "0 make"},
		{"make; echo exit $?; ls", "exit 2", "none"},
		{"make; echo exit $?; cd x", "exit 2", "2 make"},
		{"make", "2", "none"},
		{"echo $?", "2", "none"},
		{"make; echo done", "done", "none"},
		{"make; echo code $?", "2", "none"},
		{"make | tail; echo $?", "x\n0", "0 tail"},
		{"make | tail; echo ${PIPESTATUS[0]}", "x\n3", "3 make"},
		{"x; a | b; echo ${PIPESTATUS[0]}", "4", "4 a"},
		{"make; echo code $(echo $?)", "code 2", "none"},
		{"a | b | c; echo ${PIPESTATUS[0]}", "4", "4 a"},
		{"make; echo $? > f", "2", "none"},
		{"make; echo rc=$?; echo bye", "rc=1\nbye", "1 make"},
		{"make; echo $?", "2\n3", "3 make"},
	} {
		j := &judge{line: parse(t, tt.line), out: output{lines: linesOf(tt.output)}}
		got := "none"
		if n, ok, of := j.echoed(); ok {
			got = fmt.Sprint(n, " ", of.Name)
		}
		if got != tt.want {
			t.Errorf("%s with %q prints the status %s, want %s", tt.line, tt.output, got, tt.want)
		}
	}
	for _, tt := range []struct {
		line  string
		lines int
		want  bool
	}{
		{"make", 99, true}, {"make | head", 9, true}, {"make | head", 10, false}, {"make | head -3", 2, true}, {"make | head -3", 3, false}, {"make | tail", 99, true}, {"make | grep x", 1, false}, {"make | grep -i fail", 1, true}, {"make | grep -v x", 1, true}, {"make | grep -v FAIL", 1, false}, {"make | grep -iv error", 1, false}, {"make | fgrep ok", 1, false}, {"make | ggrep ok", 1, false}, {"make | ag -v x", 1, true}, {"make | gawk /ok/", 1, false}, {"make | perl -ne print", 1, false}, {"make | grep --invert x", 1, false}, {"make | grep -v -e fail -e x", 1, false}, {"make | grep -v -e error -e x", 1, false}, {"make | grep -e fail -e x", 1, true}, {"make | wc -l", 1, false}, {"head x", 99, true},
	} {
		j := &judge{line: parse(t, tt.line), out: output{number: tt.lines}}
		if got := j.whole(); got != tt.want {
			t.Errorf("the end of %q with %d lines is there: %v, want %v", tt.line, tt.lines, got, tt.want)
		}
		j.out.cut = true
		if j.whole() {
			t.Errorf("the end of an output that was cut is there: %q", tt.line)
		}
	}
}
