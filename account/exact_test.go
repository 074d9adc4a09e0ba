package account

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// told checks what a function tells of texts: yes of those that it must tell it of, and no of
// others, which differ from the former as little as they can.
func told(t *testing.T, what string, is func(string) bool, yes, no []string) {
	t.Helper()
	for i, w := range slices.Concat(yes, no) {
		if got, want := is(w), i < len(yes); got != want {
			t.Errorf("%q is %s: %v, want %v", w, what, got, want)
		}
	}
}

func toolCall(name, input string) transcript.ToolCall {
	return transcript.ToolCall{ID: "c1", Name: name, Input: json.RawMessage(input)}
}

// parse parses a command line.
func parse(t *testing.T, line string) *shell.Line {
	t.Helper()
	l, err := shell.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWhatTextsAre(t *testing.T) {
	repeat := strings.Repeat
	told(t, "a question", asking, []string{"Why?", "Why?**", "_Why?_ "}, []string{"", "Why", "Why? So."})
	told(t, "an entry", entry, []string{"- a", "* a", "  - a", "1. a", "7"}, []string{"", "-a", "*a", "a - b", "+ a"})
	told(t, "data", noise, []string{repeat("0", 80), repeat("aZ0000", 14) + "a00000"}, []string{repeat("0", 79), repeat("aZ0000", 15), repeat("é", 40)})
	told(t, "a comment", comment, []string{"// x", "\t# x", "/* x", " * x", "-- x"}, []string{"x // y", "*x", "", "- x", "/ x"})
	told(t, "a rule", rule, []string{"----", "| - |", "~\x7f", ""}, []string{"-- a", "_", "─", "-0-", "Z-", "\u0080"})
	told(t, "a number", number, []string{"1", "$1.50", "2024-05-15", "-3 %", "[7]"}, []string{"", "-", "v1", "1a", "1_0", "1/2", "Z9", "1A"})
	told(t, "of an agent's own", wrapper, []string{"Chunk ID: x", "Wall time: 3", "Exit code 1", "Output:", "Process exited with code 0", "<system-reminder>x"}, []string{"Process exited with code 1", "x Output:", "Exit"})
	told(t, "yes", agrees, []string{"Yes.", "no!", "OK; go", "sure: red", "neither", "it is no", "a b c yes"}, []string{"", "red", "yesterday", "(yes)", "so it is no", "red ok"})
	told(t, "an answer to what was said before", refersBack, []string{"as you Proposed", "your suggestion", "as you said", "what you recommend"}, []string{"", "as I said", "recommended"})
	told(t, "a proposal", proposes, []string{"I Propose it", "my proposal", "I suggest", "I recommend", "I would use it", "I'd use it", "I could do it", "we could do it", "unless you mind", "If you agree", "if you like", "if you want", "it could be"}, []string{"", "I use it", "it is so"})
	told(t, "for all changes", allChanges, []string{"-a", "-am", "-qa", "--all"}, []string{"", "a", "-m", "--amend", "-"})
	told(t, "for a short status", isShort, []string{"-s", "-sb", "--short"}, []string{"", "s", "--shorts", "-b"})
	told(t, "of a short status", func(line string) bool { state, file := statusOf(line); return state != "" && file == "a" }, []string{" M a", "?? a", "R  a", "!! a\r\n", "UU a"}, []string{"", "  a", "   a", "M a", "X  a", "MM", "MM ", "MM-a"})
	told(t, "quoted with a gap", func(s string) bool { return (&Unit{Kind: Span, Text: s}).Quotation() == s+ellipsis+"\n" }, []string{"x", "12:x"}, []string{"12: x"})
	told(t, "one that passed", onePassed, []string{" --- PASS: x", "=== RUN x", "ok  \tx", "✓ x", "✔ x", "PASS x", "PASS"}, []string{"", "PASSED", "--- FAIL", "ok x", "x PASS"})
	told(t, "for people", forPeople, []string{"a.md", "A.MD", ".txt", "a/b.rst", "a.md.adoc"}, []string{"md", "a.go", "a.md.go", ""})
	told(t, "a question to a person", func(name string) bool { return asks(toolCall(name, "{}")) }, []string{"AskUserQuestion", "ask", "request_user_input"}, []string{"task", "user_input", "Read"})
	told(t, "a call of an agent", func(name string) bool { return delegates(toolCall(name, "{}")) }, []string{"Task", "Agent", "run_sub_agent", "delegate"}, []string{"delegated", "multitask", "Read"})
	told(t, "a tool that changes something", changes, []string{"create", "__create_x", "a__b__createX", "take_payment", "takeDeposit"}, []string{"", "get_payment", "take_picture", "created", "a__create__get"})
	told(t, "a result of a call that changed something", func(s string) bool {
		_, is := (&reader{}).record(toolCall("set_lamp", "{}"), transcript.ToolResult{Content: []transcript.Part{transcript.Text(s)}})
		return is
	}, []string{"", `{"ok":true}`, `{"success":true,"error":0}`, `{"success":"no"}`, "[false]"}, []string{`{"success":false}`, `{"ok":false}`, `{"error":1}`, "Error: none"})
	told(t, "shown alone", func(line string) bool { return shows(parse(t, line)) }, []string{"ls", "cd x && cat a", "cat a | head"}, []string{"", "make", "cat a && make"})
}

func TestWhatAnAnswerPicks(t *testing.T) {
	for said, want := range map[string]string{
		"b": "b", "(b)": "b", "b)": "b", "B.": "b", "b, please": "b", "b please": "b", "a": "a", "a)": "a", "a lamp": "", "i see": "", "a.": "a", "it's": "", "b's": "", "b' x": "", "option 2": "2", "option b": "b",
		"the option 2.": "2", "option 23": "", "options 2": "", "(ab)": "", "(a": "", "see (a) y": "a", "(a) and (c)": "ac", "red": "", "2": "2", "2nd": "", "12": "", " b ": "b", "": "", "take b)": "", "use (b": "",
	} {
		if got := string(picks(said)); got != want {
			t.Errorf("%q picks %q, want %q", said, got, want)
		}
	}
	told(t, "option b", func(s string) bool { return offersOne(s, []byte("b")) }, []string{"(b) mend it", "either (b) or not", "b. mend it", "B) mend it", "- b: mend it", "** b. mend", "Option b is best", "b:"},
		[]string{"", "b", "b mend it", "(a) mend it", "ab) x", "c. x", "an option b", "bb. x", "option c"})
	told(t, "option a or b", func(s string) bool { return offersOne(s, []byte("ab")) }, []string{"(a)", "(b)", "a. x", "b. x"}, []string{"(c)", "c. x"})
}

// A reply of 160 bytes may be an answer, and 420 bytes of the agent's text stand with it.
func TestHowMuchAnAnswerHas(t *testing.T) {
	bind := func(answer string, said ...string) string {
		r := &reader{}
		for _, s := range said {
			r.units = append(r.units, Unit{Kind: Sentence, Reply: true, Text: s, Head: -1})
		}
		whole := len(answer) != 100 // one of 100 bytes goes on in another unit
		r.units = append(r.units, Unit{Kind: Words, First: true, Last: whole, Text: answer, Head: -1})
		r.bind()
		u := r.units[len(r.units)-1]
		var got []string
		for k := range u.Asked {
			got = append(got, r.units[u.Asks+k].Text[:2])
		}
		return strings.Join(got, " ")
	}
	text := func(begin, end string, n int) string {
		return begin + strings.Repeat("z", n-len(begin)-len(end)) + end
	}
	for _, tt := range []struct {
		name, answer string
		said         []string
		want         string
	}{
		{"an answer that goes on", text("Yes. ", "", 100), []string{text("q1", "?", 70)}, "q1"},
		{"another answer that goes on", text("Red. ", "", 100), []string{text("q1", "?", 70)}, ""},
		{"a proposal and yes", "Yes.", []string{text("s1 I suggest ", ".", 70), text("s2", ".", 20)}, "s1"},
		{"a proposal and yes with more", "Yes. " + text("", "", 160), []string{text("s1 I suggest ", ".", 70), text("s2", ".", 20)}, "s1"},
		{"a statement and yes with more", "Yes. " + text("", "", 160), []string{text("s1", ".", 70)}, ""},
		{"an answer of 160 bytes", text("ye", "", 160), []string{text("q1", "?", 70)}, "q1"},
		{"one of 161", text("ye", "", 161), []string{text("q1", "?", 70)}, ""},
		{"a question of 60 bytes", "Red.", []string{text("s1", ".", 70), text("q1", "?", 60)}, "q1"},
		{"one of 59, with the sentence before it", "Red.", []string{text("s1", ".", 70), text("q1", "?", 59)}, "s1 q1"},
		{"both of 320 bytes", "Red.", []string{text("s1", ".", 261), text("q1", "?", 59)}, "s1 q1"},
		{"both of 321", "Red.", []string{text("s1", ".", 262), text("q1", "?", 59)}, "q1"},
		{"a short question alone", "Red.", []string{text("q1", "?", 20)}, "q1"},
		{"a question of 320 bytes", "Red.", []string{text("q1", "?", 320)}, "q1"},
		{"one of 321", "Red.", []string{text("q1", "?", 321)}, ""},
		{"a statement and yes", "Yes.", []string{text("s1", ".", 70), text("s2", ".", 20)}, "s2"},
		{"a statement and an order", "Red.", []string{text("s1", ".", 20)}, ""},
		{"options of 320 bytes", "(a) and (b)", []string{text("(a)", ".", 160), text("(b)", ".", 160)}, "(a (b"},
		{"options of 321", "(a) and (b)", []string{text("(a)", ".", 160), text("(b)", ".", 161)}, "(a"},
		{"a first option that is too long alone", "(a)", []string{text("(a)", ".", 500)}, "(a"},
		{"an option and what is between", "(a) and (c)", []string{"s1", "(a) x", "(b) x", "(c) x", "s2"}, "(a (b (c"},
		{"an option that nothing has", "(x)", []string{"(a) x", "(b) x?"}, "(a (b"},
	} {
		if got := bind(tt.answer, tt.said...); got != tt.want {
			t.Errorf("%s: it stands with %q, want %q", tt.name, got, tt.want)
		}
	}
}

// An answer is of the reply before it, and of none that is older.
func TestAnswersAreOfTheReplyBeforeThem(t *testing.T) {
	say := func(block int32) Unit { return Unit{Kind: Sentence, Reply: true, Text: "Shall I?", Block: block} }
	words := func(first bool) Unit { return Unit{Kind: Words, First: first, Last: true, Text: "Yes."} }
	for _, tt := range []struct {
		name  string
		units []Unit
		want  []int32 // Asked of each unit with words
		first int32   // Asks of the last one
	}{
		{"one answer", []Unit{say(1), words(true)}, []int32{1}, 0},
		{"a second one", []Unit{say(1), words(true), words(true)}, []int32{1, 0}, 0},
		{"an answer that goes on in a second unit", []Unit{say(1), words(true), words(false)}, []int32{1, 0}, 0},
		{"sentences of two replies", []Unit{say(1), say(2), words(true)}, []int32{1}, 1},
		{"sentences of one reply", []Unit{say(1), say(1), words(true)}, []int32{2}, 0},
		{"a call between", []Unit{say(1), {Kind: Look, Text: "• Read"}, words(true)}, []int32{1}, 0},
		{"nothing before", []Unit{words(true)}, []int32{0}, 0},
	} {
		r := &reader{units: tt.units}
		r.bind()
		var got []int32
		for _, u := range r.units {
			if u.Kind == Words {
				got = append(got, u.Asked)
			}
		}
		if last := r.units[len(r.units)-1]; !slices.Equal(got, tt.want) || last.Asks != tt.first {
			t.Errorf("%s: of %v sentences from %d on, want %v from %d on", tt.name, got, last.Asks, tt.want, tt.first)
		}
	}
}

// A prior tells the features that matter to a unit, the heaviest first.
func TestWhatAPriorTells(t *testing.T) {
	var weights [][]int
	for _, f := range Features() {
		weights = append(weights, make([]int, len(f.Bins)))
	}
	weights[0][1], weights[1][0], weights[2][0], weights[2][1] = 5, -9, 7, 3
	p, err := NewPrior(weights)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range p.Explain(&Sight{1}) {
		got += fmt.Sprint(c.Feature, " ", c.Bin, " ", c.Weight, "; ")
	}
	f := Features()
	if want := fmt.Sprintf("%s %s -9; %s %s 7; %s %s 5; ", f[1].Name, f[1].Bins[0], f[2].Name, f[2].Bins[0], f[0].Name, f[0].Bins[1]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhereTheLeadOfAMessageEnds(t *testing.T) {
	for said, want := range map[string]int{"": 0, "a": 1, "a. b": 2, ". b": 3, "a.b": 3, "a! b. c": 2, "a? b": 2, "a; b": 2, "a, b": 4, "a\nb. c": 1, "\nb": 0} {
		if got := leadEnd(said); got != want {
			t.Errorf("the first sentence of %q ends at %d, want %d", said, got, want)
		}
	}
}

func TestCells(t *testing.T) {
	for line, want := range map[string][]string{
		"a|b|c": {"a", "b", "c"}, "| a | b | c |": {"a", "b", "c"}, "a | | c": {"a", "", "c"}, "a|b": nil, "|a|": nil, "a\tb\tc": {"a", "b", "c"}, "a;b;c": {"a", "b", "c"}, "a  b  c": {"a", "b", "c"}, "a    b  c": {"a", "b", "c"}, "a b c": nil, "a  b": nil,
		"a  b c   ": nil, "a;b;c|d": nil, "": nil, "a|b\tc|d": {"a", "b\tc", "d"},
	} {
		if d := cmp.Diff(want, cells(line)); d != "" {
			t.Errorf("the cells of %q (-want +got):\n%s", line, d)
		}
	}
	for _, tt := range []struct {
		head, row string
		want      bool
	}{
		{"cup tea price", "red green 1.50", true}, {"cup tea price", "red green x", false}, {"cup tea 7", "red green 1.50", false}, {"cup tea", "red green 1.50", false}, {"", "", false}, {"cup tea price", "1 2 3", true}, {"1 tea price", "red green 1", false},
	} {
		if got := names(strings.Fields(tt.head), strings.Fields(tt.row)); got != tt.want {
			t.Errorf("%q names the columns of %q: %v", tt.head, tt.row, got)
		}
	}
}

func TestPrefixesOfLines(t *testing.T) {
	for line, want := range map[string][2]string{"12→x": {"12", "x"}, "  7\tx": {"7", "x"}, "12: x": {"", "12: x"}, "→x": {"", "→x"}, "x": {"", "x"}, "12": {"", "12"}, " x": {"", " x"}, "0→": {"0", ""}} {
		if number, bare := numbered(line, true); [2]string{number, bare} != want {
			t.Errorf("%q is line %q with %q, want %q", line, number, bare, want)
		}
	}
	for span, want := range map[string][2]string{"  12: x": {"12", "x"}, "12:x": {"", "12:x"}, "  x": {"", "x"}, ": x": {"", ": x"}, "7: ": {"7", ""}} {
		if number, said := withoutPlace(span); [2]string{number, said} != want {
			t.Errorf("%q is line %q with %q, want %q", span, number, said, want)
		}
	}
	for line, n := range map[string]int{"": 0, "x": 0, "  x": 2, "\t x": 2, "  ": 2} {
		if got := depth(line); got != n {
			t.Errorf("%q is indented by %d, want %d", line, got, n)
		}
	}
	for s, want := range map[string]string{"agentId: abc x": "abc", "agentId: abc\nmore": "abc", "agentId:  abc": "abc", "agentId: ": "", "x": "", "agentId: a\nb c": "a"} {
		if got := after(s, "agentId: "); got != want {
			t.Errorf("after the mark in %q stands %q, want %q", s, got, want)
		}
	}
}

// Sentences end between words, or between characters of a word that does not end.
func TestWhereSentencesEnd(t *testing.T) {
	z := func(n int) string { return strings.Repeat("z", n) }
	for line, want := range map[string]int{
		"": 0, z(39) + ". x": 42, z(40) + ". x": 41, z(40) + "! x": 41, z(40) + "? x": 41, z(40) + "; x": 43, z(40) + ".x": 42, z(40) + ".": 41, z(419) + " x y": 421, z(420) + " x y": 420, z(421) + " x": 421, z(840): 840, z(841): 840, z(839) + "éé": 839,
	} {
		if got := sentenceEnd(line); got != want {
			t.Errorf("the first sentence of %d bytes ends at %d, want %d", len(line), got, want)
		}
	}
	for n, want := range map[int]int{200: 1, 201: 2} {
		if got := sentences("Mend the lamp, and do it before it is dark. " + z(n-44)); len(got) != want || got[0].same || want == 2 && !got[1].same {
			t.Errorf("a line of %d bytes has the sentences %+v, want %d", n, got, want)
		}
	}
	for n, want := range map[int]int{414: 1, 415: 2} { // with the line feed before it a byte more
		if got := passages("- aaaa\n  " + z(n-2)); len(got) != want {
			t.Errorf("an entry whose second line has %d bytes is %d passages, want %d", n, len(got), want)
		}
	}
	for n, want := range map[int]int{160: 1, 161: 2} {
		if got := passages("```\n" + z(80) + "\n" + z(n-80) + "\n```"); len(got) != want {
			t.Errorf("code of %d bytes is %d passages, want %d", n, len(got), want)
		}
	}
}

// The project's folder has three to five segments and four fifths of the paths.
func TestRootOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		paths string
		want  string
	}{
		{"none", "", ""},
		{"relative paths", "a/b/c/d/e.go", ""},
		{"two segments", "/a/b/x.go", ""},
		{"three segments", "/a/b/c/x.go", "/a/b/c"},
		{"five segments at most", "/a/b/c/d/e/f/x.go", "/a/b/c/d/e"},
		{"four of five", "/a/b/c/x.go /a/b/c/y.go /a/b/c/z.go /a/b/c/w.go /q/r/s/t.go", "/a/b/c"},
		{"three of four", "/a/b/c/x.go /a/b/c/y.go /a/b/c/z.go /q/r/s/t.go", ""},
		{"the deeper one", "/a/b/c/d/x.go /a/b/c/d/y.go", "/a/b/c/d"},
		{"relative paths do not count", "/a/b/c/x.go x.go y.go", "/a/b/c"},
	} {
		var parts []transcript.Part
		for path := range strings.FieldsSeq(tt.paths) {
			parts = append(parts, toolCall("Read", `{"file_path":"`+path+`"}`))
		}
		if got := rootOf([]transcript.Message{{Role: transcript.RoleAssistant, Parts: parts}}); got != tt.want {
			t.Errorf("%s: the root is %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCommandsAreCutInTheMiddle(t *testing.T) {
	if line := strings.Repeat("z", 300); middle(line) != line {
		t.Errorf("a line of 300 bytes is cut to %q", middle(line))
	}
	if got, want := middle(strings.Repeat("a", 225)+"b"+strings.Repeat("c", 75)), strings.Repeat("a", 225)+" … "+strings.Repeat("c", 75); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for line, want := range map[string]string{
		"cat a.go": "a.go", "cd x && cat a.go": "x/a.go", "cat a.go b.go": "", "cat a.md b.md": "b.md", "cat a.md b.go": "", "cat a.go b.md": "", "cat a.go a.go": "a.go", "cat a.go && make": "", "ls": "", "head -n 3 a.go | tail -n 1": "a.go", "grep x a.go": "",
	} {
		if got := shown(parse(t, line)); got != want {
			t.Errorf("%q shows %q, want %q", line, got, want)
		}
	}
	r := &reader{root: "/w/p/x/"}
	for line, want := range map[string]string{
		" cd /w/p/x && make ": "make", "cd /w/p/x; make": "make", "cd /w/p/x/y && make": "cd y && make", "cat /w/p/x/a.go": "cat a.go", "make": "make",
		"cat /backup/w/p/x/a.go s/w/p/x/b.go": "cat /backup/w/p/x/a.go s/w/p/x/b.go", "scp h:/w/p/x/a.go /w/p/x/b.go": "scp h:/w/p/x/a.go b.go", "x '/w/p/x/a' --of=/w/p/x/b </w/p/x/c": "x 'a' --of=b <c",
	} {
		if got := r.inProject(line); got != want {
			t.Errorf("%q is %q in the project, want %q", line, got, want)
		}
	}
	if got := new(reader).inProject(" make\n"); got != "make" {
		t.Errorf("without a project the line is %q", got)
	}
	if got, problems := complaints("fine\nan error\n\nit failed"); !problems || !slices.Equal(got, []int{1, 3}) {
		t.Errorf("the complaints are in lines %v", got)
	}
}

func TestOutputOfGit(t *testing.T) {
	for line, want := range map[string]string{
		"git commit -m x": "x", "git commit -am x": "x", "git commit -q -mform a.go": "form", "git commit -qmx": "x", "git commit --message x": "x", "git commit --message=x": "x", "git commit -m": "", "git commit -am": "", "git commit --message": "", "git commit --am x": "", "git commit": "", "git commit -a": "",
		"git commit -F - <<'E'\nx\nE": "x\nE", "git commit --file=- <<'E'\nx\nE": "x\nE", "git commit -a <<'E'\nx\nE": "",
	} {
		if got := messageOf(line, strings.Fields(strings.TrimPrefix(strings.Split(line, " <<")[0], "git commit"))); got != want {
			t.Errorf("the message of %q is %q, want %q", line, got, want)
		}
	}
	const hash, long = "1a2b3c4", "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"
	for output, want := range map[string]string{
		hash + " mend it\n": hash, "* " + hash + " mend it": hash, hash + " (HEAD -> main) mend it\n": hash, hash + " paint it\n": "", "lamp mend it": "", "": "",
		"commit " + long + "\nAuthor: x\n\n    mend it\n": hash, "commit " + long + "\n\n    paint it\n": "", "    mend it\n": "", "commit lamp\n\n    mend it\n": "", "commit " + long + "\n\n    mend it\n\n5d6e7f8 mend it\n": "5d6e7f8",
	} {
		if got := hashBeside("mend it", output); got != want {
			t.Errorf("the hash beside the subject in %q is %q, want %q", output, got, want)
		}
	}
	for _, tt := range []struct{ line, output, want string }{
		{"git merge topic", "Merge made by the 'ort' strategy.", " Merge"},
		{"git merge -m 'mend it' topic", "", " mend it"},
		{"git merge topic -m", "", " Merge"},
		{"git merge --abort", "", "none"},
		{"git merge --squash topic", "", "none"},
		{"git merge --no-commit topic", "", "none"},
		{"git status", "", "none"},
		{"echo $(git merge topic)", "", "none"},
		{"git merge topic", "CONFLICT (content): a.go", "none"},
		{"git merge topic", "Already up to date.", "none"},
		{"git merge topic", "Updating 0a1b2c3..1a2b3c4\nFast-forward", "1a2b3c4 (merged by fast-forward)"},
		{"git merge topic", "see 0a1b2c3..1a2b3c4", " Merge"},
		{"git merge topic", "Updating 0a1b2c3..lamp", " Merge"},
		{"git merge topic && git log", "* 1a2b3c4 Merge branch topic", "1a2b3c4 Merge branch topic"},
		{"git merge topic && git log", "1a2b3c4 mend it", " Merge"},
		{"git merge topic", "lamp Merge it", " Merge"},
	} {
		got := "none"
		if c := mergeCommit(parse(t, tt.line), tt.output); c != nil {
			got = c.Hash + " " + c.Subject
		}
		if got != tt.want {
			t.Errorf("%s with %q makes the commit %q, want %q", tt.line, tt.output, got, tt.want)
		}
	}
	for line, want := range map[string]string{"git status": "", "cd x && git status": "x", "git status; cd x && make": "", "cd x && git status && cd .. && make": "x"} {
		if got := whereGit(parse(t, line)); got != want {
			t.Errorf("%q works on the tree in %q, want %q", line, got, want)
		}
	}
	for _, tt := range []struct {
		line, output, want string
	}{
		{"git commit -qm x", "", " x"},
		{"git commit -qm x && git log --oneline", "1a2b3c4 x", "1a2b3c4 x"},
		{"git commit --dry-run -m x", "", ""},
		{"git commit -qm x; git commit -qm y", "", " y"},
		{"git commit -q", "", ""},
		{"git log -m x", "", ""},
		{"echo $(git commit -qm x)", "", ""},
		{"git commit -qm 'x\ny'", "", " x"},
	} {
		got := ""
		if c := quietCommit(tt.line, parse(t, tt.line), tt.output); c != nil {
			got = c.Hash + " " + c.Subject
		}
		if got != tt.want {
			t.Errorf("%s makes the commit %q, want %q", tt.line, got, tt.want)
		}
	}
	for want, p := range map[string]Place{
		"git: no commit here": {}, "git in x: branch b, no commit here": {Dir: "x", Branch: "b"}, "git: pushed": {Pushed: true}, "git: last commit c, pushed": {Commit: "c", Pushed: true}, "git: branch b, last commit c, not pushed": {Branch: "b", Commit: "c"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
}

func TestCommandsThatAreAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"make lint", "make lint", true}, {"make lint", "make lint-fix", true}, {"make lint-fix", "make lint", true}, {"make lint", "make test", false}, {"go test .", "go test ./a", false}, {"go test ./a", "go test ./a/b", false}, {"go vet .", "go vet .", true}, {"go vet .", "go vet .x", false},
	} {
		if got := alike([]string{"x", tt.a}, []string{tt.b}); got != tt.want {
			t.Errorf("%q may mend %q: %v", tt.b, tt.a, got)
		}
	}
	one := func(keys, options string) failing {
		return failing{keys: strings.Fields(keys), options: strings.Fields(options)}
	}
	for _, tt := range []struct {
		now, then failing
		want      bool
	}{
		{one("a", ""), one("a", ""), true}, {one("a", ""), one("a", "-x"), true}, {one("a", "-x"), one("a", ""), false}, {one("a", "-x"), one("a", "-x"), true}, {one("a", ""), one("b", ""), false}, {one("a b", ""), one("b", ""), true}, {one("a", "-x -y"), one("a", "-x"), false},
	} {
		if got := again(tt.now, tt.then); got != tt.want {
			t.Errorf("%v repeats %v: %v", tt.now, tt.then, got)
		}
	}
	for line, want := range map[string]string{"go test -v -q -run=X ./a": "-run", "go test -race; ls -l": "-race", "make - x": "", "echo $(make -k)": "", "make --x=1 -j": "--x -j", "cd -P x": ""} {
		if got := strings.Join(options(parse(t, line)), " "); got != want {
			t.Errorf("the options of %q are %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{"go test ./a ./b": "go test ./a", "make": "make", "ls; make -k lint": "make lint", "echo $(make)": "", "cd x": ""} {
		if got := strings.Join(programs(parse(t, line)), "; "); got != want {
			t.Errorf("the programs of %q are %q, want %q", line, got, want)
		}
	}
}

// A file, a folder and a pattern are no longer changed when they are gone.
func TestFilesThatAreGone(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"a.go", "lib/a.go lib/b.go library.go"}, {"lib", "a.go library.go"}, {"*.go", "lib/a.go lib/b.go"}, {"lib/*.go", "a.go library.go"}, {"[", "a.go lib/a.go lib/b.go library.go"}, {"b.go", "a.go lib/a.go lib/b.go library.go"},
	} {
		files := []string{"a.go", "lib/a.go", "lib/b.go", "library.go"}
		tr := &tracker{reader: &reader{}, files: slices.Clone(files), loose: slices.Clone(files)}
		tr.forget(tt.name)
		if got := strings.Join(tr.files, " "); got != tt.want || !slices.Equal(tr.files, tr.loose) {
			t.Errorf("without %s there are %q and %q, want %q", tt.name, got, tr.loose, tt.want)
		}
	}
	for _, tt := range []struct {
		from, to, want string
		folder         bool
	}{{"lib", "src", "a.go src/a.go library.go", true}, {"a.go", "b.go", "lib/a.go library.go", false}, {"li", "src", "a.go lib/a.go library.go", false}} {
		files := []string{"a.go", "lib/a.go", "library.go"}
		tr := &tracker{reader: &reader{}, files: slices.Clone(files), loose: slices.Clone(files)}
		if folder := tr.rename(tt.from, tt.to); folder != tt.folder || strings.Join(tr.files, " ") != tt.want || !slices.Equal(tr.files, tr.loose) {
			t.Errorf("from %s to %s: %v, %q and %q, want %v and %q", tt.from, tt.to, folder, tr.files, tr.loose, tt.folder, tt.want)
		}
	}
	tr := &tracker{reader: &reader{}, from: make(map[int]bool)}
	for _, name := range []string{"", strings.Repeat("a", 160), "b", strings.Repeat("c", 161), ".", "d/", "a", "b"} {
		tr.change(name)
	}
	if want := []string{strings.Repeat("a", 160), "a", "b"}; !slices.Equal(tr.files, want) || !slices.Equal(tr.loose, want) {
		t.Errorf("changed are %q and %q, want %q", tr.files, tr.loose, want)
	}
}

// The bins of a unit's features change at these sizes.
func TestBinsOfUnits(t *testing.T) {
	text := func(n int) string { return strings.Repeat("z", n) }
	said := func(u *Unit) uint8 { return saysBin(u, says(u.Text)) }
	for _, tt := range []struct {
		what string
		bin  func(u *Unit) uint8
		unit Unit
		want uint8
	}{
		{"place", placeBin, Unit{First: true, Last: true}, 3},
		{"place", placeBin, Unit{Last: true}, 2},
		{"place", placeBin, Unit{First: true}, 0},
		{"place", placeBin, Unit{}, 1},
		{"form", formBin, Unit{Title: true, Code: true}, 1},
		{"form", formBin, Unit{Code: true}, 4},
		{"form", formBin, Unit{Kind: Sentence, Code: true}, 2},
		{"form", formBin, Unit{Kind: Change, Removed: true}, 5},
		{"form", formBin, Unit{Kind: Change}, 0},
		{"form", formBin, Unit{Kind: Report, Text: " - x"}, 3},
		{"form", formBin, Unit{Kind: Look, Text: "- x"}, 0},
		{"form", formBin, Unit{Kind: Argument, Text: "* x"}, 3},
		{"form", formBin, Unit{Text: "1. x"}, 3},
		{"form", formBin, Unit{Text: "1.x"}, 0},
		{"form", formBin, Unit{Text: ". x"}, 0},
		{"form", formBin, Unit{Text: "x"}, 0},
		{"form", formBin, Unit{Kind: Output, Text: "1. x"}, 0},
		{"words", wordsBin, Unit{Kind: Sentence, Task: true}, 0},
		{"words", wordsBin, Unit{Task: true}, 1},
		{"words", wordsBin, Unit{Turns: 1}, 4},
		{"words", wordsBin, Unit{Turns: 2, Size: 599}, 2},
		{"words", wordsBin, Unit{Turns: 2, Size: 600}, 3},
		{"figure", figureBin, Unit{Kind: Output, Text: "x"}, 0},
		{"figure", figureBin, Unit{Kind: Output, Text: "7", Size: 399}, 1},
		{"figure", figureBin, Unit{Kind: Output, Text: "7", Size: 400}, 2},
		{"figure", figureBin, Unit{Kind: Sentence, Text: "7"}, 3},
		{"figure", figureBin, Unit{Kind: Words, Text: "7"}, 0},
		{"says", said, Unit{Kind: Words, Text: "Let me"}, 0},
		{"says", said, Unit{Kind: Sentence, Reply: true, Talk: true, Text: "Why?"}, 4},
		{"says", said, Unit{Kind: Sentence, Reply: true, Talk: true, Text: "So."}, 5},
		{"says", said, Unit{Kind: Sentence, Reply: true, Text: "So."}, 3},
		{"says", said, Unit{Kind: Sentence, Text: "- Let me see"}, 1},
		{"says", said, Unit{Kind: Sentence, Text: "It is so."}, 2},
		{"says", said, Unit{Kind: Sentence, Talk: true, Text: "Why?"}, 2},
		{"says", said, Unit{Kind: Sentence, Reply: true, Text: "Correction of what I said: it does not change."}, 6},
		{"says", said, Unit{Kind: Sentence, Talk: true, Text: "And another correction of my report."}, 6},
		{"says", said, Unit{Kind: Sentence, Text: "Let me see: a real mistake of mine."}, 6},
		{"says", said, Unit{Kind: Sentence, Text: "I was wrong."}, 6},
		{"says", said, Unit{Kind: Sentence, Text: "The correction is in."}, 2},
		{"says", said, Unit{Kind: Sentence, Text: "Their mistake was wrong."}, 2},
		{"says", said, Unit{Kind: Report, Text: "I was wrong."}, 0},
		{"length", lengthBin, Unit{Text: text(999)}, 5},
		{"length", lengthBin, Unit{Kind: Output, Text: text(29)}, 0},
		{"length", lengthBin, Unit{Kind: Output, Text: text(30)}, 1},
		{"length", lengthBin, Unit{Kind: Output, Text: text(60)}, 2},
		{"length", lengthBin, Unit{Kind: Output, Text: text(100)}, 3},
		{"length", lengthBin, Unit{Kind: Output, Text: text(180)}, 4},
		{"length", lengthBin, Unit{Kind: Output, Text: text(179)}, 3},
		{"size", sizeBin, Unit{Size: 299}, 0},
		{"size", sizeBin, Unit{Size: 1499}, 1},
		{"size", sizeBin, Unit{Size: 1500}, 4},
		{"size", sizeBin, Unit{Size: 6000}, 4},
		{"size", sizeBin, Unit{Kind: Report, Size: 299}, 0},
		{"size", sizeBin, Unit{Kind: Report, Size: 300}, 1},
		{"size", sizeBin, Unit{Kind: Report, Size: 1499}, 1},
		{"size", sizeBin, Unit{Kind: Report, Size: 1500}, 2},
		{"size", sizeBin, Unit{Kind: Report, Size: 5999}, 2},
		{"size", sizeBin, Unit{Kind: Report, Size: 6000}, 3},
		{"binds", func(u *Unit) uint8 { return bindsBin(u, binds) }, Unit{}, 1},
		{"binds", func(u *Unit) uint8 { return bindsBin(u, binds|badly) }, Unit{Guide: true}, 2},
		{"binds", func(u *Unit) uint8 { return bindsBin(u, 0) }, Unit{Rule: true, Guide: true}, 3},
		{"binds", func(u *Unit) uint8 { return bindsBin(u, badly) }, Unit{Guide: true}, 0},
		{"age", func(u *Unit) uint8 { return age(u, 2, 6) }, Unit{}, 6},
		{"age", func(u *Unit) uint8 { return age(u, 2, 6) }, Unit{Kind: Sentence, Reply: true}, 7},
		{"age", func(u *Unit) uint8 { return age(u, 2, 6) }, Unit{Kind: Span, Rule: true}, 7},
		{"age", func(u *Unit) uint8 { return age(u, 2, 6) }, Unit{Kind: Span}, 2},
	} {
		if got := tt.bin(&tt.unit); got != tt.want {
			t.Errorf("the bin %s of %+.60v is %d, want %d", tt.what, tt.unit, got, tt.want)
		}
	}
	for s, want := range map[string]uint8{"": 0, "it must be": binds, "Don't!": binds, "dont": 0, "because it failed": decides | badly, "ERRORS": badly, "error7": badly, "successfully": well, "mustard": 0, "x must": binds, strings.Repeat("z", 17) + " must": binds} {
		if got := says(s); got != want {
			t.Errorf("%q says %b, want %b", s, got, want)
		}
	}
}

// Lists of rules are in files that are named so, and below headings that say so.
func TestRulesOfGuides(t *testing.T) {
	for path, want := range map[string]string{"AGENTS.md": "ftfft", "docs/CLAUDE.md": "ftfft", "lamp.md": "ftfff", ".md": "ftfff", "agents/lamp.md": "ftfff"} {
		units := []Unit{{Text: "# House rules", Title: true}, {Text: "  - never"}, {Text: "  plain"}, {Text: "# Lamps", Title: true}, {Text: "  - red"}}
		(&reader{}).guide(units, path)
		got := ""
		for _, u := range units {
			if !u.Guide {
				t.Errorf("%q of %s is not of a guide", u.Text, path)
			}
			got += map[bool]string{true: "t", false: "f"}[u.Rule]
		}
		if got != want {
			t.Errorf("the rules of %s are %s, want %s", path, got, want)
		}
	}
}

// A file with later changes has its text as long as each of them fits.
func TestVersionsOfAFile(t *testing.T) {
	var none *version
	for _, tt := range []struct {
		name string
		v    *version
		want string
	}{
		{"none", none, ""},
		{"as it was read", &version{read: "1→a\n2→b"}, "a\nb"},
		{"changed", &version{read: "a b", since: []change{{old: "a", now: "c"}}}, "c b"},
		{"changed by what does not fit", &version{read: "a b", since: []change{{old: "x", now: "c"}}}, ""},
		{"changed twice", &version{read: "a b", since: []change{{old: "a", now: "b"}, {old: "b", now: "c"}}}, "c c"},
	} {
		if got := tt.v.text(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	r := &reader{versions: map[string]*version{"b.go": {read: "x"}}}
	r.note(&change{path: "a.go", from: "b.go"})
	if r.versions["b.go"] != nil || r.versions["a.go"].text() != "x" {
		t.Fatalf("after a move the versions are %+v", r.versions)
	}
	for range 50 {
		r.note(&change{path: "a.go", old: "x", now: "x"})
	}
	if v := r.versions["a.go"]; v == nil || len(v.since) != 50 {
		t.Fatalf("after 50 changes the version is %+v", v)
	}
	r.note(&change{path: "a.go", old: "x", now: "x"})
	if r.versions["a.go"] != nil {
		t.Error("after 51 changes there still is a version")
	}
	r.note(&change{path: "a.go", old: "x", now: "y"})
	if r.versions["a.go"] != nil {
		t.Error("a change of a part makes a version")
	}
	r.note(&change{path: "a.go", now: "y", whole: true})
	if got := r.versions["a.go"].text(); got != "y" {
		t.Errorf("a file that was written has the text %q", got)
	}
	r.note(&change{path: "a.go", now: "z"})
	if r.versions["a.go"] != nil {
		t.Error("a change whose place is not known leaves a version")
	}
}

// Lines in common are found up to 2^18 pairs of lines.
func TestHowManyLinesAreCompared(t *testing.T) {
	lines := func(n int, what string) []string {
		all := slices.Repeat([]string{what}, n)
		all[n/2] = "same"
		return all
	}
	for n, want := range map[int]int{512: 2, 513: 1} {
		if got := differences(lines(512, "old"), lines(n, "new")); len(got) != want {
			t.Errorf("%d and %d lines differ in %d runs, want %d", 512, n, len(got), want)
		}
	}
}

// Below a unit are the units whose head it is and the answers to it, the last first.
func TestUnitsBelowOthers(t *testing.T) {
	l := kidsOf([]Unit{{Head: -1}, {Head: 0}, {Head: 0}, {Head: 1, Asks: 1, Asked: 2}, {Head: -1, Asks: 2, Asked: 1}})
	for i, want := range [][]int32{{2, 1}, {3, 3}, {4, 3}, nil, nil} {
		if got := l.of(i); !slices.Equal(got, want) {
			t.Errorf("below unit %d are %v, want %v", i, got, want)
		}
	}
}

// A span has four lines and 200 bytes at most, also the second one of a file.
func TestHowLongSpansAre(t *testing.T) {
	z := func(n int) string { return "// " + strings.Repeat("z", n-3) }
	for _, tt := range []struct {
		name string
		file []string
		want []int // lines of each span
	}{
		{"200 bytes", []string{z(160), z(40)}, []int{2}},
		{"201 bytes", []string{z(160), z(41)}, []int{1, 1}},
		{"200 bytes again", []string{"x(((", "", z(160), z(40)}, []int{1, 2}},
		{"201 bytes again", []string{"x((", "", z(160), z(41)}, []int{1, 1, 1}},
		{"four lines", []string{z(9), z(9), z(9), z(9), z(9)}, []int{4, 1}},
		{"a bracket of the span before", []string{"x((", "", "yyy", "zzz"}, []int{1, 1, 1}},
		{"three bytes", []string{"(((", "yyy"}, []int{2}},
		{"two bytes", []string{"((", "yyy", "zzz"}, []int{1, 1}},
		{"less indented", []string{"  xx(", " yyy"}, []int{1, 1}},
		{"as much", []string{"  xx(", "  yyy"}, []int{2}},
		{"a bracket that is closed", []string{"x(1)", "yyy"}, []int{1, 1}},
		{"square ones", []string{"x[1", "2]", "yyy"}, []int{2, 1}},
	} {
		r := &reader{}
		r.spans(Span, strings.Join(tt.file, "\n"), r.add(Unit{Head: -1}))
		var got []int
		for i, u := range r.units[1:] {
			got = append(got, 1+strings.Count(u.Text, "\n"))
			if u.First != (i == 0) || u.Last != (i == len(r.units)-2) {
				t.Errorf("%s: span %d is the first: %v, the last: %v", tt.name, i, u.First, u.Last)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: spans of %v lines, want %v", tt.name, got, tt.want)
		}
	}
	r := &reader{}
	r.block(0, &transcript.Block{})
	r.msgs = []transcript.Message{{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Media{Kind: "image"}}}}
	r.block(0, &transcript.Block{Messages: []int{0}})
	if len(r.units) != 1 || !r.units[0].First || !r.units[0].Last {
		t.Errorf("an image is %+v", r.units)
	}
}

// Names and lines that only outputs of commands and wholly written files have are worth a third,
// and those of other units, such as a search or a message, keep their worth.
func TestWorthOfNamesInPassing(t *testing.T) {
	units := []Unit{
		{Kind: Run, Head: -1},
		{Kind: Output, Head: 0},
		{Kind: Output, Head: 1}, // a line below a line of the output
		{Kind: Look, Head: -1},
		{Kind: Output, Head: 3},
		{Kind: Span, Head: 3},
		{Kind: Edit, Head: -1},
		{Kind: Written, Head: 6},
		{Kind: Change, Head: 6},
		{Kind: Step, Head: -1},
		{Kind: Output, Head: 9},
		{Kind: Argument, Head: 9},
		{Kind: Words, Head: -1},
		{Kind: Look, Head: -1, Text: "$\ncat lamp.go"},
		{Kind: Span, Head: 13, Text: "func lamp() {"},
		{Kind: Look, Head: -1, Text: "$ is a name"},
		{Kind: Span, Head: 15, Text: "$\n"},
	}
	w := &Worth{gains: make([]int64, len(units)+1), things: lists{from: []int32{0}}}
	for i := range units {
		w.gains[i] = 300
		w.things.all = append(w.things.all, int32(i))
		if units[i].Kind == Output || units[i].Kind == Words {
			w.things.all = append(w.things.all, int32(len(units))) // this one also stands in a message
		}
		w.things.from = append(w.things.from, int32(len(w.things.all)))
	}
	w.gains[len(units)] = 300
	w.lower(units)
	if got, want := fmt.Sprint(w.gains), "[300 100 100 300 300 300 300 100 300 300 100 300 300 300 100 300 300 300]"; got != want {
		t.Errorf("worth of names by unit, and of one in outputs and a message: %s, want %s", got, want)
	}
}

// A file that a tool deletes or moves is told by the name of the tool, and a move by both paths.
func TestMoved(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		want        string // path and path before
	}{
		{"delete_file", `{"path":"a.go"}`, "a.go,"},
		{"remove_file", `{"path":"a.go"}`, "a.go,"},
		{"deletePath", `{}`, ""},
		{"move_file", `{"source":"a.go","destination":"b.go"}`, "b.go,a.go"},
		{"RenameFile", `{"old_path":"a.go","new_path":"b.go"}`, "b.go,a.go"},
		{"rename", `{"oldPath":"a.go","newPath":"b.go"}`, "b.go,a.go"},
		{"move", `{"from":"a.go","to":"b.go"}`, "b.go,a.go"},
		{"move_file", `{"source":"a.go"}`, ""},
		{"move_file", `{"target":"b.go"}`, ""},
		{"edit", `{"path":"a.go","source":"a.go","destination":"b.go"}`, ""},
	} {
		got := ""
		ch, ok := moved(toolCall(tt.name, tt.input), gjson.Parse(tt.input))
		if ok {
			got = ch.path + "," + ch.from
		}
		if got != tt.want || ok && ch.gone != (ch.from == "") {
			t.Errorf("%s %s changes %q (%+v), want %q", tt.name, tt.input, got, ch, tt.want)
		}
	}
}

func TestTasksOfAList(t *testing.T) {
	for list, want := range map[string]string{
		`[{"content":"a","status":"done"},{"status":"open"},7,"",true,"b",{"step":"c"}]`: "a:done b:open c:",
		`"[ ] a\n- [x] b\n* [-] c\n[~] d\ne"`:                                            "a:open b:completed c:in_progress d:in_progress",
		`"a"`:                                                                            "", `{"content":"a"}`: "a:", `[]`: "", ``: "",
	} {
		var got []string
		for _, e := range entries(gjson.Parse(list)) {
			got = append(got, e.Subject+":"+e.Status)
		}
		if joined := strings.Join(got, " "); joined != want {
			t.Errorf("the tasks of %s are %q, want %q", list, joined, want)
		}
	}
}

// Tags that a program adds for the model are no part of a result at its end, on lines of their own.
func TestSaid(t *testing.T) {
	const tag = "<system-reminder>x</system-reminder>"
	for result, want := range map[string]string{
		"": "", "a": "a", tag: "", "a\n" + tag: "a\n", "a\n" + tag + "\n" + tag + " \r\n": "a\n", "\n" + tag: "\n", "a" + tag: "a" + tag, "ab " + tag: "ab " + tag, "a</system-reminder>": "a</system-reminder>", tag + "\na": tag + "\na",
	} {
		if got := said(transcript.ToolResult{Content: []transcript.Part{transcript.Text(result)}}); got != want {
			t.Errorf("%q says %q, want %q", result, got, want)
		}
	}
}

// The name of the project's folder inside of another path stays.
func TestShort(t *testing.T) {
	r := &reader{root: "/w/"}
	for s, want := range map[string]string{"/w/a": "a", "x/w/a": "x/w/a", "ab/w/a": "ab/w/a", "(/w/a": "(a", "see /w/a, /w/b and v/w/c": "see a, b and v/w/c", "/w": "/w"} {
		if got := r.short(s); got != want {
			t.Errorf("%q is %q in the project, want %q", s, got, want)
		}
	}
}

// Records name what is new, up to so many bytes.
func TestHowLongRecordsAre(t *testing.T) {
	z := func(n int) string { return strings.Repeat("z", n) }
	for doc, want := range map[string]string{
		`{"id":"T-1"}`: "T-1", `{"order_number":"O-7"}`: "O-7", `{"order_ref":"O-8"}`: "O-8", `{"Claim_ID":9}`: "9", `{"id":"lamp","lamp_id":"L-1"}`: "L-1", `{"bid":"7"}`: "", `["7"]`: "",
		`{"id":"7` + z(23) + `"}`: "7" + z(23), `{"id":"7` + z(24) + `"}`: "",
	} {
		if got := idOf(gjson.Parse(doc)); got != want {
			t.Errorf("the id of %s is %q, want %q", doc, got, want)
		}
	}
	for n, want := range map[int]int{82: 1, 83: 0} { // with "status: " 90 bytes and one more
		if got := resultOf(gjson.Parse(`{"status":"`+z(n)+`"}`), "", ""); len(got) != want {
			t.Errorf("of a state of %d bytes the record has %q", n, got)
		}
	}
	for n, want := range map[int]int{397: 0, 398: 1} { // with two blanks and a line feed 400 bytes and one more
		tr := &tracker{reader: &reader{}, records: []record{{call: z(n)}}}
		if lines, more := tr.newestRecords(); more != want || len(lines) != 1-want {
			t.Errorf("of a record of %d bytes there are %q, and %d more", n, lines, more)
		}
	}
	for id, want := range map[string]string{"": "a → x: 1; b → x: 1, y: 2", "T-1": "a; b → x: 1, y: 2"} { // what an older call of the same thing says, too
		tr := &tracker{reader: &reader{}, records: []record{{"a", []string{"x: 1"}, id}, {"b", []string{"x: 1", "y: 2"}, id}}}
		if lines, more := tr.newestRecords(); strings.Join(lines, "; ") != want || more != 0 {
			t.Errorf("the records of %q are %q, and %d more, want %s", id, lines, more, want)
		}
	}
	for s, want := range map[string]string{"aaaa bbbb": "aaaa bbbb", "aaaaaaa bbbb": "aaaaaaa…", "aaaaaa bbbbb": "aaaaaa bb…", "aaaa bbbb cc": "aaaa bbbb…", "aaaaaaaa bc": "aaaaaaaa…", "ccccccccccc": "ccccccccc…"} {
		if got := clip(s, 9); got != want {
			t.Errorf("%q in nine bytes is %q, want %q", s, got, want)
		}
	}
	for n, want := range map[int]int{44: 7, 45: 6} { // seven calls with two bytes between them have 320 bytes and one more
		var all []record
		for i := range 7 {
			id := fmt.Sprint("T-", i)
			all = append(all, record{call: id + z(44-len(id)), id: id})
		}
		all[6].call += z(n - 44)
		if got := strings.Count(idsOf(all), "T-"); got != want {
			t.Errorf("of 7 ids %d are named, want %d", got, want)
		}
	}
	for n, want := range map[int]string{139: " one", 140: ""} {
		name := "set_" + z(n-4)
		if r, _ := (&reader{}).record(toolCall(name, `{"a":"one"}`), transcript.ToolResult{}); r.call != name+want {
			t.Errorf("a call by a name of %d bytes is %q", n, r.call)
		}
	}
}

// Lines of a change, of a document and of a file have their head also where nothing stands before them.
func TestFirstUnits(t *testing.T) {
	of := func(add func(r *reader)) string {
		r := &reader{}
		add(r)
		var got []string
		for _, u := range r.units {
			got = append(got, fmt.Sprint(strings.TrimSpace(u.Text), " ", u.Head, " ", u.First, " ", u.Last))
		}
		return strings.Join(got, "; ")
	}
	document := func(doc string) func(r *reader) {
		return func(r *reader) { r.fields(Unit{Head: -1}, gjson.Parse(doc), "", -1, 0) }
	}
	z := func(n int) string { return strings.Repeat("z", n) }
	for _, tt := range []struct{ name, got, want string }{
		{"a change", of(func(r *reader) { r.side("-", []string{"one", "}", "two"}, Change, 3, -1) }), "- -1 false false; one 0 false false; two 0 false false"},
		{"a document", of(document(`{"a":{"b":1},"c":2}`)), "a: b: 1 -1 true false; c: 2 -1 false false"},
		{"a list of 120 bytes", of(document(`{"a":["` + z(116) + `"]}`)), `a: ["` + z(116) + `"] -1 true false`},
		{"a list of 121 bytes", of(document(`{"a":["` + z(117) + `"]}`)), "a: " + z(117) + " -1 true false"},
		{"a file", of(func(r *reader) { r.spans(Span, "one", -1) }), "one -1 true true"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	for said, whole := range map[string]bool{strings.Repeat("One. ", 239) + "Done.": true, strings.Repeat("One. ", 239) + "Done.\n ": true, strings.Repeat("One. ", 239) + "Done..": false} {
		r := &reader{}
		if r.prose(Words, said, -1); (len(r.units) == 1) != whole {
			t.Errorf("a message of %d bytes is %d units", len(said), len(r.units))
		}
	}
}

// The worth of a plan's step counts each unit once, and a unit that is worth one per byte is taken.
func TestStepsOfAPlan(t *testing.T) {
	units := []Unit{{Kind: Sentence, Head: -1, Title: true}, {Kind: Sentence, Head: 0}, {Kind: Sentence, Head: 0}, {Kind: Words, Head: -1, Asks: 1, Asked: 2}}
	planOf := func(units []Unit, blocks ...Block) *planning {
		w := &Worth{prior: make([]int64, len(units)), texts: make([]int32, len(units)), things: lists{from: make([]int32, len(units)+1)}, kids: kidsOf(units)}
		for i := range units {
			w.texts[i], w.prior[i] = int32(i), cost(&units[i])
		}
		p := newPlanning(&Request{Units: units, Worth: w, Blocks: blocks, Budget: 100, Count: func(int) token.Count { return 2 }})
		p.p.planning = p
		return p
	}
	if got, want := fmt.Sprint(planOf(units, Block{}).step(3)), "[3 1 0 2]"; got != want {
		t.Errorf("a step of an answer is %s, want %s", got, want)
	}
	if got := planOf([]Unit{{Kind: Output, Head: -1}}, Block{}).gain(0); got != 1 {
		t.Errorf("a line without a call is worth %d", got)
	}
	for _, tt := range []struct {
		name  string
		block Block
		whole bool
		tail  int // blocks before the whole ones
		offer bool
		want  bool
	}{
		{"a unit in an open block", Block{Cut: true}, false, 1, false, true},
		{"a unit that is offered anew", Block{Cut: true}, false, 1, true, true},
		{"a unit in a whole block", Block{}, true, 0, true, false},
	} {
		p := planOf([]Unit{{Kind: Words, Head: -1, Text: "a"}}, tt.block)
		p.p.Opened[0], p.named, p.tail = true, 0, tt.tail
		if tt.offer {
			p.offers = offers{rate: make([]int64, 1), at: make([]int32, 1)}
			p.offer(0)
		}
		p.p.Whole[0] = tt.whole
		if p.run(); p.p.Kept[0] != tt.want {
			t.Errorf("%s is kept: %v", tt.name, p.p.Kept[0])
		}
	}
	p := planOf(nil, Block{Tokens: 10, Frame: 2, Mark: 3})
	p.open(0)
	if p.tail = 1; !p.lengthenTail() || p.p.Tokens != 10 {
		t.Errorf("a block that is whole in place of its id takes %d tokens, want 10", p.p.Tokens)
	}
	p.p.From = []token.Count{0, 1, 7}
	if p.reach(20); !slices.Equal(p.p.From, []token.Count{0, 20, 20}) {
		t.Errorf("of a plan of 20 tokens at least, units come with %v", p.p.From)
	}
}

// A unit that a plan leaves out is said by the later copy of its lines, or by a unit with its text that
// comes with a smaller budget.
func TestWhereAUnitIsSaid(t *testing.T) {
	for _, tt := range []struct {
		name   string
		from   []token.Count
		absent bool
		want   string // by unit
	}{
		{"a later copy", []token.Count{0, 0, 0}, false, "1 -1 -1"},
		{"a later copy that is absent", []token.Count{0, 0, 0}, true, "-1 -1 -1"},
		{"the same text", []token.Count{0, 0, 1}, true, "2 -1 -1"},
		{"the same text with a smaller budget", []token.Count{8, 0, 7}, true, "2 -1 -1"},
		{"the same text with the same budget", []token.Count{7, 0, 7}, true, "-1 -1 -1"},
		{"the same text with a larger budget", []token.Count{7, 0, 8}, true, "-1 -1 0"},
	} {
		r := &Request{
			Units: []Unit{{Later: 1}, {Block: 1}, {Block: 2}}, Blocks: []Block{{}, {Absent: tt.absent}, {}},
			Worth: &Worth{texts: []int32{7, 8, 7}},
		}
		var got []string
		for i := range r.Units {
			got = append(got, fmt.Sprint((&Plan{From: tt.from}).In(r, i)))
		}
		if joined := strings.Join(got, " "); joined != tt.want {
			t.Errorf("%s: units are said by %s, want %s", tt.name, joined, tt.want)
		}
		p := &planning{Request: *r, p: newPlan(r)}
		if got := p.ready(0); got != tt.absent {
			t.Errorf("%s: the first unit may be kept: %v", tt.name, got)
		}
	}
}

// The state of a long conversation repeats what the agent said last, but no reply that no model wrote.
func TestWhatAnAgentSaid(t *testing.T) {
	tr := newTracker(&reader{})
	for _, said := range []string{"I look.", " ", noReply} {
		tr.speaks(&transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{transcript.Text(said)}}, transcript.KindAssistant)
	}
	if tr.said != "I look." {
		t.Errorf("the agent said %q", tr.said)
	}
	for dir, touched := range map[string]int{"b": 1, "a": 1, "c": 2, "d": 0} {
		tr.places[dir] = &Place{Dir: dir, touched: touched}
	}
	got := ""
	for _, p := range tr.state().Places {
		got += p.Dir
	}
	if got != "cabd" {
		t.Errorf("the places are %s, want the last first, and else by name: cabd", got)
	}
	for n, want := range map[int]string{60_000: "I look.", 59_999: ""} {
		tr.units, tr.calls = []Unit{{Text: strings.Repeat("z", n-5)}, {Text: "12345"}}, 3
		if got := tr.state().Said; got != want {
			t.Errorf("in a conversation of %d bytes the agent said %q, want %q", n, got, want)
		}
	}
}
