package pager

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A stub repeats identifiers of 120 bytes at most. Those that come again are worth more, and
// those of twelve blocks less.
func TestWhatMentionsAreWorth(t *testing.T) {
	path := func(n int) string { return strings.Repeat("lamp/", 23) + strings.Repeat("a", n-118) + ".go" }
	for _, tt := range []struct {
		name  string
		texts []string
		block int
		want  []string
	}{
		{"a path before a file", []string{"a.go lamp/b.go"}, 0, []string{"lamp/b.go", "a.go"}},
		{"of equals the first", []string{"b.go a.go"}, 0, []string{"b.go", "a.go"}},
		{"what comes again", []string{"lamp/b.go a.go", "a.go"}, 0, []string{"a.go", "lamp/b.go"}},
		{"what came before", []string{"a.go", "lamp/b.go a.go"}, 1, []string{"lamp/b.go", "a.go"}},
		{"numbers alone", []string{"8443"}, 0, nil},
		{"numbers that come again", []string{"8443", "8443"}, 0, []string{"8443"}},
		{"an identifier of 120 bytes", []string{path(120)}, 0, []string{path(120)}},
		{"one of 121", []string{path(121)}, 0, nil},
		{"a file of eleven blocks", slices.Repeat([]string{"a.go"}, 11), 10, []string{"a.go"}},
		{"a file of twelve", slices.Repeat([]string{"a.go"}, 12), 11, nil},
		{"a file of twelve that comes again", slices.Repeat([]string{"a.go"}, 12), 10, []string{"a.go"}},
	} {
		if got := NewMentions(tt.texts).Of(tt.block, 0, 1000, 9); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	m := NewMentions([]string{"a.go b.go c.go"})
	for _, tt := range []struct {
		from, to, limit int
		want            []string
	}{{0, 14, 9, []string{"a.go", "b.go", "c.go"}}, {0, 14, 2, []string{"a.go", "b.go"}}, {5, 10, 9, []string{"b.go"}}, {6, 10, 9, nil}, {5, 11, 9, []string{"b.go", "c.go"}}, {0, 5, 9, []string{"a.go"}}} {
		if got := m.Of(0, tt.from, tt.to, tt.limit); !slices.Equal(got, tt.want) {
			t.Errorf("from %d to %d at most %d are %q, want %q", tt.from, tt.to, tt.limit, got, tt.want)
		}
	}
}

// Parts of one line that meet are one text, and parts that do not meet have an ellipsis between
// them.
func TestPassagesOfALine(t *testing.T) {
	const text = "mend the red lamp in the dark\nand the bulb"
	p := &Passages{
		pieces: []facts.Piece{{Scan: facts.NewScan(text)}, {Scan: facts.NewScan(text)}},
		spans:  [][]span{{{0, 0, 8, 0}, {0, 5, 17, 0}, {0, 9, 12, 0}, {0, 12, 17, 0}, {0, 18, 20, 0}, {0, 30, 42, 1}, {1, 30, 42, 1}, {1, 0, 4, 0}}},
	}
	for _, tt := range []struct {
		picks []int32
		want  string
	}{
		{nil, ""},
		{[]int32{0}, "\nmend the"},
		{[]int32{0, 1}, "\nmend the red lamp"},
		{[]int32{1, 2}, "\nthe red lamp"},
		{[]int32{1, 2, 4}, "\nthe red lamp … in"},
		{[]int32{0, 2}, "\nmend the … red"},
		{[]int32{2, 3}, "\nred …  lamp"},
		{[]int32{0, 5}, "\nmend the\nand the bulb"},
		{[]int32{5, 6}, "\nand the bulb\nand the bulb"},
		{[]int32{0, 7}, "\nmend the\nmend"},
		{[]int32{0, 1, 3}, "\nmend the red lamp"},
	} {
		if got := p.Lines(0, tt.picks); got != tt.want {
			t.Errorf("the passages %v are %q, want %q", tt.picks, got, tt.want)
		}
	}
}

// A part of a line is a passage if it saves nine bytes and a name in it is likely.
func TestWhichPartsArePassages(t *testing.T) {
	for _, tt := range []struct {
		name   string
		line   string
		chance facts.Chance
		want   []string
	}{
		{"a long line", "see lamp.go there and all that follows it", 1_000_000, []string{"see lamp.go there"}},
		{"a name that is not likely", "see lamp.go there and all that follows it", 999_999, nil},
		{"eight bytes less", "see lamp.go there or all", 1_000_000, nil},
		{"nine bytes less", "see lamp.go there or all.", 1_000_000, []string{"see lamp.go there"}},
	} {
		pieces := []facts.Piece{{Scan: facts.NewScan(tt.line)}}
		need := &facts.Need{Names: []facts.NameNeed{{Chance: tt.chance, Worth: 7}}, Marks: [][]int32{{0}}, Lines: [][]facts.LineNeed{{{Worth: 3}}}}
		p := NewPassages(pieces, need, 1, -1)
		var got []string
		for k, passage := range p.Readings[0].Passages {
			if passage.Line != 0 || !slices.Equal(passage.Names, []int32{0}) || passage.Bytes != len(p.Text(0, k))+1 {
				t.Errorf("%s: passage %d is %+v", tt.name, k, passage)
			}
			if k > 0 {
				got = append(got, p.Text(0, k))
			}
		}
		if !slices.Equal(got, tt.want) || p.Text(0, 0) != tt.line || p.Names[0] != 7 {
			t.Errorf("%s: the parts %q, want %q", tt.name, got, tt.want)
		}
		if behind := NewPassages(pieces, need, 1, 0); len(behind.Readings[0].Passages) != 0 {
			t.Errorf("%s: a piece of the first message has passages %+v", tt.name, behind.Readings[0].Passages)
		}
	}
}

// A failure is the first line that begins as programs report one, or what a result that is an
// error says.
func TestWhichLineFails(t *testing.T) {
	for _, tt := range []struct {
		text   string
		failed bool
		want   string
	}{
		{"one\npanic: x\nerror: y", false, "panic: x"},
		{"one\n  error: y", false, "error: y"},
		{"one\ntwo", false, ""},
		{"an error here", false, ""},
		{"one\ntwo", true, "error: one"},
		{"one\nit failed\nan error", true, "error: it failed"},
		{"one\nAn ERROR\nit fails", true, "error: An ERROR"},
		{"\n\n one", true, "error: one"},
		{"", true, "error: "},
		{"one\nFAIL x", true, "FAIL x"},
	} {
		if got := failure(transcript.ToolResult{Error: tt.failed}, tt.text); got != tt.want {
			t.Errorf("%q, an error: %v, fails with %q, want %q", tt.text, tt.failed, got, tt.want)
		}
	}
	media := transcript.ToolResult{Content: []transcript.Part{transcript.Text("abc"), transcript.Media{Raw: []byte("12345")}, transcript.Opaque{Raw: []byte("12")}, transcript.Text("d")}}
	if got := size(media); got != 11 {
		t.Errorf("the result has %d bytes, want 11", got)
	}
	for input, want := range map[string]string{
		`{"file_path":"/a/b/c.go"}`: "b/c.go", `{"file_path":"b/c.go"}`: "b/c.go", `{"file_path":"/c.go"}`: "/c.go", `{"file_path":"c.go"}`: "c.go", `{"command":"make"}`: "make", `{"command":"","query":"x"}`: "x", `{"command":7,"url":"u"}`: "u", `{"a":1}`: `{"a":1}`,
	} {
		if got := short(transcript.ToolCall{Name: "x", Input: []byte(input)}); got != want {
			t.Errorf("the subject of %s is %q, want %q", input, got, want)
		}
	}
	for _, tt := range []struct {
		excerpt string
		names   []string
		want    string
	}{{"", nil, "head"}, {"x", nil, "head x"}, {"x a.go", []string{"a.go", "b.go", "c.go"}, "head x a.go · b.go, c.go"}, {"", []string{"a.go", "b.go"}, "head a.go, b.go"}} {
		if got := join("head", tt.excerpt, tt.names); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	for n, want := range map[int]string{1: "t0", 3: "t0+t1+t2", 4: "t0+t1+t2+…", 5: "t0+t1+t2+…"} {
		m := transcript.Message{Role: transcript.RoleAssistant}
		for i := range n {
			m.Parts = append(m.Parts, transcript.ToolCall{ID: fmt.Sprint(i), Name: fmt.Sprint("t", i)}, transcript.ToolCall{ID: fmt.Sprint(-1 - i), Name: fmt.Sprint("t", i)})
		}
		if what, _ := Describe([]transcript.Message{m}, &transcript.Block{Kind: transcript.KindTool, Messages: []int{0}}); what != want {
			t.Errorf("a block with calls of %d tools is %q, want %q", n, what, want)
		}
	}
}

// The size of the rest has no thinking behind the first block that leaves.
func TestWhatADiscardLeaves(t *testing.T) {
	r := &DiscardRequest{Fixed: 5, Blocks: []Standing{{ID: "a", Tokens: 10}, {ID: "b", Tokens: 20, Thinking: 8}, {ID: "c", Tokens: 40, Thinking: 16}}}
	for _, tt := range []struct {
		taken []int
		more  int
		want  token.Count
	}{{nil, -1, 75}, {nil, 2, 35}, {nil, 1, 39}, {nil, 0, 41}, {[]int{1}, -1, 39}, {[]int{2}, 1, 15}, {[]int{0}, 1, 29}, {[]int{1}, 2, 15}, {[]int{0, 1, 2}, -1, 5}} {
		d := newDiscarding(r)
		for _, i := range tt.taken {
			d.take(i)
		}
		if got := d.rest(tt.more); got != tt.want {
			t.Errorf("without %v and %d there are %d tokens, want %d", tt.taken, tt.more, got, tt.want)
		}
	}
	for n, want := range map[int]string{
		1: "1 of 9 blocks may not be discarded: b0 x", 2: "2 of 9 blocks may not be discarded; the first of them, b0, x",
	} {
		e := &DiscardError{Named: 9}
		for i := range n {
			e.Refused = append(e.Refused, Refusal{Block: fmt.Sprint("b", i), Reason: "x"})
		}
		if got := e.Error(); got != want {
			t.Errorf("the error says %q, want %q", got, want)
		}
	}
	if got, want := (&DiscardError{Target: 1, Floor: 7}).Error(), "target of 1 tokens is below the floor of 7"; got != want {
		t.Errorf("the error says %q, want %q", got, want)
	}
	if got, want := (&DiscardError{Paging: true, Named: 1, Refused: []Refusal{{Block: "b", Reason: "x"}}}).Error(), "block b may not be paged: it x"; got != want {
		t.Errorf("the error says %q, want %q", got, want)
	}
}

// What a call reads, what it shows of that, and how the tool is classed.
func TestWhatACallLooksAt(t *testing.T) {
	s := &surveyor{}
	for _, tt := range []struct {
		name, input string
		class       string
		keys, shows []string
	}{
		{"Read", `{"file_path":"./a.go"}`, "read", []string{"file a.go"}, []string{"file a.go"}},
		{"Grep", `{"pattern":"x","path":"a.go"}`, "read", []string{`grep {"pattern":"x","path":"a.go"}`}, []string{`grep {"pattern":"x","path":"a.go"}`}},
		{"Bash", `{"command":"cat a.go b.go"}`, "read", []string{"file a.go", "file b.go"}, []string{"file a.go", "file b.go"}},
		{"Bash", `{"command":"grep x a.go"}`, "read", []string{"file a.go"}, nil},
		{"Bash", `{"command":"make > a.log"}`, "command", []string{`bash {"command":"make > a.log"}`}, []string{`bash {"command":"make > a.log"}`, "file a.log"}},
		{"Bash", `{"command":"'it"}`, "command", []string{`bash {"command":"'it"}`}, []string{`bash {"command":"'it"}`}},
	} {
		class, keys, shows, _ := s.look(transcript.ToolCall{Name: tt.name, Input: []byte(tt.input)})
		if string(class) != tt.class || !slices.Equal(keys, tt.keys) || !slices.Equal(shows, tt.shows) {
			t.Errorf("%s %s is %s, reads %q and shows %q, want %s, %q and %q", tt.name, tt.input, class, keys, shows, tt.class, tt.keys, tt.shows)
		}
	}
	for _, tt := range []struct {
		name, input string
		want        bool
	}{{"Write", `{}`, true}, {"delete_file", `{}`, true}, {"Edit", `{}`, false}, {"str_replace_editor", `{"command":"create"}`, true}, {"str_replace_editor", `{"command":"view"}`, false}} {
		if got := overwrites(transcript.ToolCall{Name: tt.name, Input: []byte(tt.input)}); got != tt.want {
			t.Errorf("%s %s overwrites: %v", tt.name, tt.input, got)
		}
	}
	for kind, rule := range map[transcript.Kind]Rule{transcript.KindSystem: RuleSystem, transcript.KindSummary: ruleSummary, transcript.KindOrphan: "", transcript.KindAssistant: ""} {
		if got, _, stale := (&surveyor{}).survey(&transcript.Block{Kind: kind}, Whole); got != rule || stale {
			t.Errorf("a block of kind %s is kept by %q, stale: %v, want %q", kind, got, stale, rule)
		}
	}
}

// The shape of a line has a 0 in place of each number and each name.
func TestShapesOfLines(t *testing.T) {
	for line, want := range map[string]string{
		"ok module in 17 cups": "ok module in 0 cups", "in 17 ms": "in 0", "ok 1 22 x": "ok 0 0 x", "see src/lamp.go at 7": "see 0 at 0", "7": "0", "lamp.go": "0", "lamp.go7 x": "lamp.go0 x", "no name": "no name", "x 1.5 y": "x 0.0 y",
	} {
		p := &facts.Piece{Scan: facts.NewScan(line)}
		if got := shape(p, 0); got != want {
			t.Errorf("the shape of %q is %q, want %q", line, got, want)
		}
	}
	s := &shapes{counts: map[string]int64{"a": 1, "b": 4}, total: 80, copies: make(map[string]int32), next: 5}
	for _, tt := range []struct {
		shape string
		line  int32
		worth int64
		want  [2]int64
	}{{"a", 0, 3, [2]int64{6, 43}}, {"b", 2, 3, [2]int64{2, 13}}, {"b", 0, 0, [2]int64{7, 10}}, {"a", 0, 0, [2]int64{6, 40}}, {"b", 0, 0, [2]int64{7, 10}}} {
		if line, worth := s.add(tt.shape, tt.line, tt.worth); [2]int64{int64(line), worth} != tt.want {
			t.Errorf("a line of shape %s is line %d and worth %d, want %v", tt.shape, line, worth, tt.want)
		}
	}
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n": 1, "a\n\n": 2} {
		if got := linesIn(text); got != want {
			t.Errorf("%q has %d lines, want %d", text, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "a": "a\n", "a\n": "a\n"} {
		if got := lined(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// A pointer is the whole text if that fits, and both ends of it if it does not.
func TestPointersAtTheirBounds(t *testing.T) {
	text := strings.Repeat("lamp\n", 100)
	whole := token.Count(len(stashMark("a1", text)) + len(text))
	if got := Pointer(pointerTo(text, whole)); !strings.HasSuffix(got, "]\n"+text) {
		t.Errorf("in %d tokens the text is %q", whole, got)
	}
	if got := Pointer(pointerTo(text, whole-1)); !strings.Contains(got, "are left out here") || token.Count(len(got)) > whole-1 {
		t.Errorf("in %d tokens the text is %q", whole-1, got)
	}
	for n, want := range map[int]bool{1200: false, 1201: true} {
		if got := strings.Contains(ShortPointer("a1", strings.Repeat("z", n)), "left out here"); got != want {
			t.Errorf("of %d bytes some are left out: %v, want %v", n, got, want)
		}
	}
	z := func(n int) string { return strings.Repeat("z", n) }
	for _, tt := range []struct {
		name, text string
		head, tail int // bytes
	}{
		{"a line that ends at 301 bytes", z(301) + "\n" + z(2000), 302, 600}, {"one that ends at 300", z(300) + "\n" + z(2000), 600, 600}, {"a line that begins 300 bytes from the end of 600", z(2000) + "\n" + z(300), 600, 300}, {"one that begins 299 bytes from it", z(2000) + "\n" + z(299), 600, 600},
	} {
		want := fmt.Sprintf("%d bytes left out here]", len(tt.text)-tt.head-tt.tail)
		if got := ShortPointer("a1", tt.text); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %s", tt.name, got, want)
		}
	}
	m := &middle{all: "x\n  \tlamp\ny z", from: 2}
	for offset, want := range map[int]string{0: "", 2: "  ", 3: "  \t", 5: "", 8: "", 10: ""} {
		if got := m.indent(offset); got != want {
			t.Errorf("before offset %d the line is indented by %q, want %q", offset, got, want)
		}
	}
}

// A figure of a trigger has a bound, and the error names the field.
func TestTriggersAtTheirBounds(t *testing.T) {
	for _, tt := range []struct {
		window token.Count
		t      Trigger
		want   [3]token.Count // effective, floor, tidy
	}{
		{200_000, Trigger{}, [3]token.Count{160_000, 30_000, 50_000}},
		{100_000, Trigger{}, [3]token.Count{80_000, 30_000, 50_000}},
		{90_000, Trigger{}, [3]token.Count{72_000, 27_000, 45_000}},
		{0, Trigger{}, [3]token.Count{}},
		{100_000, Trigger{Effective: 120_000}, [3]token.Count{100_000, 30_000, 50_000}},
		{0, Trigger{Effective: 120_000}, [3]token.Count{120_000}},
		{100_000, Trigger{Effective: 50_000, Floor: 60_000}, [3]token.Count{50_000, 60_000, 60_000}},
	} {
		f := tt.t.Figures(tt.window)
		if d := cmp.Diff(tt.want, [3]token.Count{f.Effective, f.Floor, f.Tidy}); d != "" {
			t.Errorf("a window of %d with %+v (-want +got):\n%s", tt.window, tt.t, d)
		}
	}
	for _, tt := range []struct {
		name string
		l    Load
		want string
	}{
		{"tokens at the bound", Load{Used: 4000}, "none"}, {"a token more", Load{Used: 4001}, "page"}, {"iterations at the bound", Load{Iterations: 5}, "page"}, {"one less", Load{Iterations: 4}, "none"},
	} {
		if got := (&Trigger{Profile: ProfilePager}).Due(&tt.l); string(got.Action) != tt.want || got.Due != (tt.want == "page") {
			t.Errorf("%s: %s, due: %v, want %s", tt.name, got.Action, got.Due, tt.want)
		}
	}
}

// The shapes of the lines are worth as much as all lines and names of the middle, each name once.
func TestShapesAreWorthTheMiddle(t *testing.T) {
	lines := []Passage{{Worth: 1, Names: []int32{0, 1}}, {Worth: 2, Names: []int32{1}}}
	m := &middle{block: 1, Passages: &Passages{Names: []int64{5, 7}, Readings: []Reading{{}, {Passages: lines}, {}}}}
	if got := m.shapes().total; got != 1+2+5+7 {
		t.Errorf("they are worth %d, want 15", got)
	}
}
