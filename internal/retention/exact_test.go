package retention

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/transcript"
)

// spoken returns the texts of messages.
func spoken(msgs []Message) string {
	list := make([]string, len(msgs))
	for i := range msgs {
		list[i] = msgs[i].Text
	}
	return strings.Join(list, "|")
}

// Each method fills its budget to the token, and prefers what its comment says.
func TestMethodsAtTheirBudgets(t *testing.T) {
	prefix := []Message{user("aaaaaaaa"), assistant("bbbbbbbb"), assistant("cccccccc")} // of 6 tokens each
	long := strings.Repeat("x", 72)                                                     // 22 tokens, and cleared 13
	tools := []Message{user("aaaaaaaa"), result("1", long), result("2", cleared), result("3", long)}
	three := "|" + cleared + "|" + cleared + "|" + cleared
	largest := []Message{user("aaaaaaaa"), user(strings.Repeat("b", 16)), user(strings.Repeat("c", 16)), user("d")} // 6, 8, 8, 5
	for _, tt := range []struct {
		pack   func([]Message, int) []Message
		prefix []Message
		want   map[int]string // by budget
	}{
		{firstLast, prefix, map[int]string{18: "aaaaaaaa|bbbbbbbb|cccccccc", 12: "aaaaaaaa|cccccccc", 11: "aaaa|cccccccc", 10: "aaaa|cccc", 9: "cccccccc"}},
		{firstLast, nil, map[int]string{9: ""}},
		{Masked, tools, map[int]string{3: spoken(tools), 1: "aaaaaaaa|" + cleared + "|" + cleared + "|" + long, 0: "aaaaaaaa" + three}},
		{Masked, tools[1:], map[int]string{0: three[1:]}},
		{maskFit, tools[1:], map[int]string{57: spoken(tools[1:]), 39: three[1:]}},
		{maskFit, tools, map[int]string{63: spoken(tools), 62: "aaaaaaaa|" + cleared + "|" + cleared + "|" + long, 54: "aaaaaaaa|" + cleared + "|" + cleared + "|" + long, 53: "aaaaaaaa" + three, 45: "aaaaaaaa" + three, 44: "aaaa" + three, 43: three[1:]}},
		{func(p []Message, b int) []Message { return dropLargest(p, singles(p), b) }, largest, map[int]string{27: spoken(largest), 26: spoken([]Message{largest[0], largest[2], largest[3]}), 19: spoken([]Message{largest[0], largest[2], largest[3]}), 18: "aaaaaaaa|d"}},
		{clip, prefix, map[int]string{18: spoken(prefix), 17: "aaaa|bbbb|cccc", 15: "aaaa|bbbb|cccc", 14: "||", 12: "||", 11: "|"}},
	} {
		for budget, want := range tt.want {
			if diff := cmp.Diff(want, spoken(tt.pack(tt.prefix, budget))); diff != "" {
				t.Errorf("%s in %d (-want +got):\n%s", spoken(tt.prefix), budget, diff)
			}
		}
	}
}

// Simple methods know no needs, oracles take what fits, and epochs and desks keep what they promise.
func TestMethodsOfCases(t *testing.T) {
	for _, m := range Simple() {
		if !IsSimple(m.Name) || m.Oracle() || IsSimple(strings.TrimPrefix(m.Name, "simple-")) {
			t.Errorf("%s is no simple method", m.Name)
		}
	}
	if len(Simple()) != len(Baselines())-2 {
		t.Errorf("there are %d simple methods, want all but the oracles", len(Simple()))
	}
	if got := keywords("The lamp of the Lamp id"); !slices.Equal(got, []string{"the", "lamp"}) {
		t.Errorf("keywords: %q", got)
	}
	one := at(t, 1, nil, user("alpha_x b"), call("1", `{"q":"alpha_x"}`)) // of 7 tokens
	for budget, want := range map[int]string{7: "alpha_x b", 6: ""} {
		if lines, whole := spoken(oracleLines(one, budget)), spoken(oracleMessages(one, budget)); lines != want || whole != want {
			t.Errorf("in %d, oracles keep %q and %q, want %q", budget, lines, whole, want)
		}
	}
	talk := conversation(1, 40)
	epochs, size := Epochs(nil, carrel.StrategyImportance), Cost(talk)/3
	out, _ := epochs.packCase(&Case{Trajectory: new(Trajectory), Prefix: talk}, size, nil)
	begin := Cost(out) - Cost(talk[epoch(talk, size):])
	if got := epochs.Pack(talk, size); epochs.Name != "carrel-importance-epochs" || begin > size/2 || begin < size/4 || spoken(got) != spoken(out) {
		t.Errorf("%s begins with %d tokens of a budget of %d", epochs.Name, begin, size)
	}
	data, err := Request(talk)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDesk("talk", "openai", data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := d.Whole()
	window, err := d.Window(d.Stays+size, carrel.StrategyImportance)
	if after, _ := d.Whole(); err != nil || len(window) >= len(before) || string(after) != string(before) {
		t.Errorf("of %d bytes a window has %d and leaves %d: %v", len(before), len(window), len(after), err)
	}
	hands := newJudge(at(t, 2, nil, user("x_name y_name"), call("0", `{"q":"old_name"}`), assistant("Well."), call("1", `{"q":"x_name new_name"}`))).about
	if len(hands) != 1 || !hands[0][nameOf("new_name")] || !hands[0][nameOf("y_name")] || hands[0][nameOf("old_name")] {
		t.Errorf("at hand are %v", hands)
	}
	calls := clippedCalls([]Call{{"1", "Edit", `{"a":"abcdef","b":["abcdef",{"c":"abcd"}],"n":12345678901234567890}`}, {"2", "Bash", "abcdef"}}, 3)
	if calls[0].Args != `{"a":"abc","b":["abc",{"c":"abc"}],"n":12345678901234567890}` || calls[1].Args != "abc" {
		t.Errorf("clipped calls: %+v", calls)
	}
	for budget, want := range map[int]string{6: "[0 1] [2]", 5: "[0 1]", 3: "[2]", 1: ""} {
		var got []string
		for _, p := range (&Case{Needs: make([]Need, 3)}).cover([]piece{{cost: 4, needs: []int{0}}, {cost: 4, needs: []int{0, 1}}, {cost: 2, needs: []int{2}}}, budget) {
			got = append(got, fmt.Sprint(p.needs))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("within %d the needs %v are covered, want %s", budget, got, want)
		}
	}
	five := user("aaaa") // tokens
	for _, tt := range []struct {
		prefix []Message
		budget int
		want   int
	}{
		{[]Message{five, five, five, five}, 9, 4},
		{[]Message{five, five, five}, 9, 2},
		{[]Message{five, five}, 10, 0},
		{[]Message{five, five, five}, 10, 3},
		{[]Message{five, five, five, five}, 11, 3},
		{[]Message{result("1", "aaaa")}, 4, 1},
		{[]Message{five, five, result("1", "aaaa"), five}, 9, 3},
	} {
		if got := epoch(tt.prefix, tt.budget); got != tt.want {
			t.Errorf("in %d, %d messages of 5 tokens are compressed up to %d, want %d", tt.budget, len(tt.prefix), got, tt.want)
		}
	}
}

// Names are told from words by their bytes and their length.
func TestNamesAtTheirBounds(t *testing.T) {
	long := func(n int, begin, end string) string {
		return begin + strings.Repeat("b", n-len(begin)-len(end)) + end
	}
	for _, tt := range []struct {
		what    string
		is      func(string) bool
		yes, no []string
	}{
		{"a name of the bag", isName, []string{"a0", "9a", "a.b", "a/b", "a_b", "a-b", "aA", "zZ", "AaB"}, []string{"", "A", "Ab", "AB", "ab", "a:b", "{A", "`A"}},
		{"an atom", isAtom, []string{"aAbc", "zZbc", "a0bc", "a9bc", "a_bc", "a_0b", long(100, "a1", "")}, []string{"AZbc", "abcd", "Abcd", "1234", "_abc", "abc_", "a_b", long(101, "a1", ""), "1_A"}},
		{"a file", isFile, []string{"ab.go", "a.b.go", long(100, "", ".go")}, []string{"a.go", ".json", "abcde", "a.golf", long(101, "", ".go")}},
		{"a path", isPath, []string{"a/bc.go", "ab/c1", "x/ab/cd", "ab/c_", long(140, "a1/", "")}, []string{"a/b1", "ab/cd", "1/2/345", long(141, "a1/", "")}},
		{"joined by hyphens", isKebab, []string{"a-b-cd", "abcd-1", "1234-567", "1-2-3456", long(80, "a-b-", "")}, []string{"a-b-c", "abc-de", "123-456", "a-b--cd", "a-b-c.d", "abcdefg", long(81, "a-b-", "")}},
		{"an address", isEmail, []string{"a@b.c"}, []string{"@b.c", "a.b@c", "a.b", "a@bc"}},
		{"lettered", hasLetter, []string{"a", "z", "A", "Z"}, []string{"", "@[`{", "0_", "é"}},
		{"a line of two letters", twoLetters, []string{"ab", "1 ab"}, []string{"", "a", "a b", "1a2b"}},
		{"a URL", func(s string) bool { m := scan(s); return len(m) > 0 && m[0].kind == kindURL }, []string{"ab://c.de/fg"}, []string{"ab://c.d/fg", "abcdefghij://"}},
	} {
		for i, w := range append(tt.yes, tt.no...) {
			if got, want := tt.is(w), i < len(tt.yes); got != want {
				t.Errorf("%q is %s: %v, want %v", w, tt.what, got, want)
			}
		}
	}
	for c := range 256 {
		if want := c < 128 && strings.ContainsRune("0123456789_abcdefghijklmnopqrstuvwxyz", rune(strings.ToLower(string(rune(c)))[0])); wordByte[c] != want || chunkByte[c] != (want || strings.ContainsRune("./-@:~+%#?=&", rune(c))) {
			t.Errorf("byte %#x is of a word: %v, want %v; of a URL: %v", c, wordByte[c], want, chunkByte[c])
		}
	}
	if diff := cmp.Diff([]piece{{message: 7, to: 2, cost: 3}, {message: 7, from: 3, to: 3, cost: 1}, {message: 7, from: 4, to: 5, cost: 2}}, linesAt(7, "ab\n\nc"), cmp.AllowUnexported(piece{})); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Stubs end where the next begins.
func TestWhereStubsEnd(t *testing.T) {
	d := &desk{places: map[string][]int{"aaaaaaaa": {1}, "bbbbbbbb": {2, 3}}}
	text := "x\n[aaaaaaaa]\ny\n[bbbbbbbb]\n[carrel bbbbbbbb] stub\nz\n[carrel sum_cccccccc] s\n- a [aaaaaaaa] b\n- none\n"
	var got []string
	for _, s := range d.stubs(text) {
		got = append(got, fmt.Sprint(text[s.From:s.To], s.For))
	}
	for _, s := range numbered("x\n[#0 a\n[#1 b\nc\n[#x d\n[#2 e\n[#3 f", 2) {
		got = append(got, fmt.Sprint(s.From, "-", s.To, s.For))
	}
	want := []string{"x\n[aaaaaaaa][1]", "\ny\n[bbbbbbbb][2 3]", "[carrel bbbbbbbb] stub\nz\n[2 3]", "- a [aaaaaaaa] b[1]", "8-22 [0]", "22-33 [1]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, keep := range []peerKept{{Source: -1}, {Source: 4}, {Source: 1, Calls: &[]int{-1}}, {Source: 1, Calls: &[]int{2}}} {
		if out, err := kept(asked(), []peerKept{keep}); err == nil {
			t.Errorf("%+v keeps %+v", keep, out)
		}
	}
	s := &transcript.Session{Messages: []transcript.Message{
		{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "1", Content: []transcript.Part{transcript.Text("a")}}, transcript.Text("b")}}, {Role: transcript.RoleUser},
	}}
	if diff := cmp.Diff([]Message{result("1", "a"), user("b")}, MessagesOf(s), cmp.AllowUnexported(Message{}, reading{})); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestOptionsOfAMeasurement(t *testing.T) {
	for s, want := range map[string]string{"1": "1% 10", "100%": "100% 1000", "1k": "1k 1000", "999999k": "999999k 999999000", "0k": "", "1000000k": "", "0": "", "101": ""} {
		got := ""
		if b, err := ParseBudget(s); err == nil {
			got = fmt.Sprint(b, " ", b.Of(1000))
		}
		if got != want {
			t.Errorf("%s is the budget %q, want %q", s, got, want)
		}
	}
	o := (*Options)(nil).complete()
	if fmt.Sprint(o.Budgets) != "[5% 10% 25% 50%]" || o.Max != 40 || o.Draws != 1000 || len(o.Methods) != len(Baselines()) || o.minPrefix("red") != 4000 {
		t.Errorf("options: %+v", o)
	}
	o = (&Options{Max: 1, Draws: 7, MinPrefix: map[string]int{"red": 0, "": 9}}).complete()
	if o.Max != 1 || o.Draws != 7 || o.minPrefix("red") != 0 || o.minPrefix("blue") != 9 {
		t.Errorf("options: %+v", o)
	}
	for n, want := range map[int]string{39: "{19 0 38}", 40: "{19.5 1 38}"} { // 2.5 percent on either side
		s := Sample{draws: [][]int{nil}}
		for i := range n {
			s.groups = append(s.groups, []int{i})
			s.draws[0] = append(s.draws[0], i)
			s.draws = append(s.draws, []int{i})
		}
		if got := fmt.Sprint(s.Estimate(func(i int) (float64, bool) { return float64(i), true })); got != want {
			t.Errorf("the estimate of %d draws is %s, want %s", n, got, want)
		}
	}
	s := NewSample([][]int{{0}, {1}, {2}}, 20, 1)
	same := func(draw []int) bool { return slices.Equal(draw, []int{0, 1, 2}) }
	if len(s.draws) != 21 || !same(s.draws[0]) || !slices.ContainsFunc(s.draws, func(d []int) bool { return !same(d) }) {
		t.Errorf("draws %v, want each group once, and then random ones", s.draws)
	}
	m := NewTrajectory("a", "a", "f", []Message{{Calls: []Call{{"1", "Read", "a_b"}, {"2", "Read", "c_d"}}}}).Messages[0]
	if m.Calls = m.Calls[:1]; m.reading().plain != "\nRead\na_b" {
		t.Errorf("of one call is read %q", m.reading().plain)
	}
	red, blue := NewTrajectory("a", "g", "red", slices.Repeat([]Message{user("aaaa")}, 3)), NewTrajectory("b", "g", "red", slices.Repeat([]Message{user("aaaa")}, 3))
	other := NewTrajectory("c", "h", "blue", slices.Repeat([]Message{user("aaaa")}, 5))
	got := families([]*Case{
		{Trajectory: red, At: 1, Needs: make([]Need, 3), Lines: make([]Need, 3)},
		{Trajectory: red, At: 2, Needs: make([]Need, 6), Lines: make([]Need, 2)},
		{Trajectory: blue, At: 3, Needs: make([]Need, 3)},
		{Trajectory: other, At: 5, Needs: make([]Need, 5)},
	})
	if diff := cmp.Diff([]Family{{"red", 2, 1, 3, 1, 4, 10}, {"blue", 1, 1, 1, 0, 5, 25}}, got); diff != "" {
		t.Errorf("families (-want +got):\n%s", diff)
	}
}

// A report is written as it always was.
func TestReportIsWritten(t *testing.T) {
	all := func(mean float64) map[Score]Estimate {
		return map[Score]Estimate{ScoreGround: {mean, mean / 2, 1}, ScoreLine: {mean / 2, 0, mean}, ScoreValid: {Mean: 1}, ScoreOver: {Mean: mean / 4}}
	}
	r := &Report{Common: 3, Families: []Family{{"red", 2, 1, 3, 1, 4.25, 1000.5}}, Rows: []Row{
		{Budget: "5%", Method: "a", Scores: all(.5), Speed: &Speed{1234.5, .25}},
		{Budget: "5%", Method: "oracle", Oracle: true, Scores: all(.8)},
		{Family: "red", Budget: "5%", Method: "a", Scores: all(.4)},
		{Budget: "4k", Method: "a", Scores: all(0)},
		{Budget: "4k", Method: "oracle", Oracle: true, Scores: all(1)},
		{Family: "red", Budget: "4k", Method: "b", Scores: all(.2)},
	}}
	want, err := os.ReadFile("testdata/report.golden")
	if diff := cmp.Diff(string(want), written(t, r)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
