package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
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

// The words of a text in the form in which they are compared.
func TestFormsOfWords(t *testing.T) {
	for text, want := range map[string]string{
		"Lamp Lamps": "lamp lamp", "pass": "pass", "was": "was", "gas lens": "gas len", "a1s": "a1s", "v1.2": "1.2", "v12": "v12", "vx1.2": "vx1.2", "v1": "v1", "v1.2b": "v1.2b", "1,234": "1234", "1 234": "1 234", "1;234": "1 234", "1,23": "1 23", "1,2345": "1 2345", "1234,567": "1234 567", "1,234,567": "1234567", "1.5,234": "1.5 234", "x1,234": "x1 234", "12,345": "12345",
		"1_000": "1000", "_a_": "a", "___": "", "35s": "35 s", "35 %": "35 %", "35%": "35 %", "35  %": "35", "x %": "x", "35 percent": "35 %", "35 x percent": "35 x percent", "35lamps": "35lamps", "1.5": "1.5", "1.": "1", ".5": "5", "1.a": "1 a", "a.b": "a b", "a-b": "a b", `a\nb`: "a b", `a\qb`: "a qb", `a\tb\rc`: "a b c", `a\`: "a", "Ｌａｍｐ": "lamp", "５": "5", "a！b": "a b",
		"a‐b": "a b", "ﬁx ﬄ": "fix ffl", "a\u00adb": "ab", "Été": "ete", "ñ": "n", "漢字": "漢 字", "漢a字": "漢 a 字", "ab漢": "ab 漢", "ß": "ß", "ω": "ω", "a…b": "a b", "a\x80b": "a b", "a｟b": "a b", "10%5": "10 % 5", "": "",
	} {
		if got := normal(text); got != want {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
	told(t, "a path", func(s string) bool { return isPath([]byte(s)) }, []string{"a/b", "a.go", "a/1", "1.2.b"}, []string{"", "a", "1/2", "1.2", "a.", "a.1"})
	for p, want := range map[string][2]string{"a/b": {"a", "b"}, "b": {"", "b"}, "/b": {"", "b"}, "a//b": {"a/", "b"}, "a/b/": {"a", "b"}, "a/./b": {"a/.", "b"}, "a/.": {"", "a"}, "": {"", ""}, ".": {"", "."}} {
		if rest, last := cutLast(p); [2]string{rest, last} != want {
			t.Errorf("the last name of %q is %q behind %q, want %q", p, last, rest, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"a/b", "a/b", true}, {"x/a/b", "a/b", true}, {"b", "b", true}, {"a/b", "b", false}, {"a/b", "c/b", false}, {"x/a/b", "y/a/b", false}, {"", "", false}, {"a/./b", "a/b", true}} {
		if got := agree(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q agree: %v", tt.a, tt.b, got)
		}
	}
	for _, tt := range []struct {
		whole, part string
		want        bool
	}{{"a b c", "b c", true}, {"a b c", "a", true}, {"a b c", "", false}, {"ab c", "b", false}, {"a b", "a b", true}, {"", "a", false}} {
		if got := contains(tt.whole, tt.part); got != tt.want {
			t.Errorf("%q contains %q: %v", tt.whole, tt.part, got)
		}
	}
	for _, tt := range []struct {
		keyword string
		file    bool
		want    string
	}{{"src/a.go", false, "src/a.go"}, {"a.go", true, "a.go"}, {"a.go", false, ""}, {"see src/a.go", true, ""}, {"lamp", true, ""}} {
		if got := compile(tt.keyword, tt.file); got.path != tt.want {
			t.Errorf("%q, an answer that is a path: %v, is the path %q, want %q", tt.keyword, tt.file, got.path, tt.want)
		}
	}
}

func TestWhatLintSays(t *testing.T) {
	for keyword, want := range map[string]string{"!?": "has no letter and no digit", "a": "is too short", "é": "is too short", "漢": "", "7": "is too short", "ab": "", "file": "is too generic", "error": "is too generic", "the of": "has nothing but stop words", "the lamp": "", "files error": ""} {
		if got := weak(compile(keyword, false)); got != want {
			t.Errorf("%q %q, want %q", keyword, got, want)
		}
	}
	for _, tt := range []struct {
		question, keyword string
		want              string
	}{
		{"which lamp is it", "lamp", "lamp"}, {"which one is it", "lamp", ""}, {"what is in bulb", "src/bulb.go", "bulb"}, {"what is in bulb go", "src/bulb.go", "bulb go"}, {"what does src have", "src/bulb.go", "src"}, {"what does the file have", "file/bulb.go", ""}, {"what does lib have", "src/lib/bulb.go", "lib"}, {"what is it", "src/bulb.go", ""}, {"what is b", "b/x.go", ""},
	} {
		if got := leak(tt.question, compile(tt.keyword, true)); got != tt.want {
			t.Errorf("the question %q has %q of %q, want %q", tt.question, got, tt.keyword, tt.want)
		}
	}
	told(t, "a question", asks, []string{"Why?", "Why?**", "Why？ ", `"Why?"`}, []string{"", "Why", "Why? So."})
	for _, tt := range []struct {
		p    Probe
		want string
	}{
		{Probe{ID: "a", Type: typeIntent, Question: "What is it now?", Expected: []string{"lamp"}, Need: 1}, ""},
		{Probe{Type: typeIntent, Question: "What is it now?", Expected: []string{"lamp"}, Need: 1}, "missing"},
		{Probe{ID: "a", Question: "What is it now?", Expected: []string{"lamp"}, Need: 1}, "missing"},
		{Probe{ID: "a", Type: "x", Question: "What is it now?", Expected: []string{"lamp"}, Need: 1}, "type"},
		{Probe{ID: "a", Type: typeIntent, Expected: []string{"lamp"}, Need: 1}, "missing"},
		{Probe{ID: "a", Type: typeIntent, Question: "What is?", Expected: []string{"lamp"}, Need: 1}, "question"},
		{Probe{ID: "a", Type: typeIntent, Question: "What is it?", Expected: []string{"lamp"}, Need: 1}, ""},
		{Probe{ID: "a", Type: typeIntent, Question: "It is so.", Expected: []string{"lamp"}, Need: 1}, "question"},
		{Probe{ID: "a", Type: typeIntent, Question: "What is it?"}, "missing"},
		{Probe{ID: "a", Type: typeIntent, Question: "What is it?", Expected: []string{"lamp"}}, "need"},
		{Probe{ID: "a", Type: typeIntent, Question: "What is it?", Expected: []string{"lamp"}, Need: 2}, "need"},
		{Probe{ID: "a", Type: typeIntent, Question: "What is it?", Expected: []string{"lamp", "Lamps"}, Need: 2}, "duplicate"},
	} {
		var rules []string
		for _, problem := range Lint([]Probe{tt.p}) {
			rules = append(rules, problem.Rule)
		}
		if got := strings.Join(rules, " "); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.p, got, tt.want)
		}
	}
	twice := Lint([]Probe{{ID: "a", Type: typeIntent, Question: "What is it?", Expected: []string{"lamp"}, Need: 1}, {ID: "a", Type: typeIntent, Question: "What is it?", Expected: []string{"bulb"}, Need: 1}})
	if len(twice) != 1 || twice[0].Index != 1 || twice[0].Text != "the id is that of probe 0" {
		t.Errorf("of two probes of one id: %+v", twice)
	}
}

// An error of a list names the probe, the field and what is wrong.
func TestWhereListsAreWrong(t *testing.T) {
	const ok = `"type":"intent","question":"q?","expected_keywords":["a","b"]`
	for data, want := range map[string]string{
		`[{` + ok + `,"need":2}]`: "", `[{` + ok + `,"need":3}]`: "probes[0].need: 3, want 0 to 2, the number of expected_keywords", `[{` + ok + `,"need":-1}]`: "probes[0].need: -1, want 0 to 2, the number of expected_keywords", `[{` + ok + `},7]`: "probes[1]: not an object", `[null]`: "probes[0]: not an object", `null`: "probes: not a list of probes: null", `{}`: `probes: the list "probes" is missing`,
		` {"probes":[{` + ok + `}]}`: "", `[{"type":"x","question":"q","expected_keywords":["a"]}]`: `probes[0].type: "x" is no type of probes: want one of [file_path file_changes decision rationale error resolution blocker progress next_steps intent]`, `[{"question":"q","expected_keywords":["a"]}]`: "probes[0].type: missing", `[{"question":"q","expected_contains":"a"}]`: "", `[{"question":"q","expected_contains":"a","expected_keywords":["b"]}]`: "",
		`[{"type":"intent","question":" ","expected_keywords":["a"]}]`: "probes[0].question: missing", `[{"type":"intent","question":"q"}]`: "probes[0].expected_keywords: missing", `[{"type":"intent","question":"q","expected_keywords":["a"," "]}]`: "probes[0].expected_keywords: an empty keyword", `[{` + ok + `,"critical":1}]`: "probes[0].critical: not true or false",
		`[{` + ok + `,"source_message":1.5}]`: "probes[0].source_message: not a text or a whole number", `[{` + ok + `,"source_message":7}]`: "", `[{` + ok + `,"need":"1"}]`: "probes[0].need: not a whole number", `[{` + ok + `,"id":7}]`: "probes[0].id: not a text",
	} {
		probes, err := Parse([]byte(data))
		got := ""
		if err != nil {
			if _, is := errors.AsType[*ParseError](err); !is {
				t.Errorf("%s: the error is a %T", data, err)
			}
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
		if strings.Contains(data, `"expected_contains":"a","expected_keywords"`) && !slices.Equal(probes[0].Expected, []string{"b"}) {
			t.Errorf("%s: it expects %q", data, probes[0].Expected)
		}
		if strings.Contains(data, `"source_message":7}`) && probes[0].Source != "7" {
			t.Errorf("%s: its source is %q", data, probes[0].Source)
		}
	}
}

// A share equal to a threshold suffices, and a negative threshold is none.
func TestThresholds(t *testing.T) {
	for _, tt := range []struct {
		passed, total int
		want          ratio.Ratio
		reached       bool
	}{{9, 10, ratio.Of(90, 100), true}, {89, 100, ratio.Of(90, 100), false}, {0, 0, ratio.One, true}, {0, 10, -1, true}, {10, 10, ratio.One, true}, {9, 10, ratio.One, false}} {
		if got := reaches(Tally{Passed: tt.passed, Total: tt.total}, tt.want); got != tt.reached {
			t.Errorf("%d of %d reach %v: %v", tt.passed, tt.total, tt.want, got)
		}
	}
	r := &Report{Tally: Tally{Passed: 10, Total: 10}}
	for _, tt := range []struct {
		before, after token.Count
		want          string // number of red flags and warnings
	}{{100, 5, "0 0"}, {100, 4, "1 0"}, {100, 100, "0 1"}, {100, 99, "0 0"}, {0, 0, "0 0"}, {100, 101, "0 1"}, {1, 1, "0 1"}} {
		v := r.Judge(nil, tt.before, tt.after)
		if got := fmt.Sprint(len(v.RedFlags), " ", len(v.Warnings)); got != tt.want || !v.Accepted {
			t.Errorf("from %d to %d tokens: %s, want %s: %+v", tt.before, tt.after, got, tt.want, v)
		}
	}
	if v := r.Judge(&Criteria{MaxRatio: 1}, 100, 99); len(v.RedFlags) != 1 {
		t.Errorf("with the least largest ratio: %+v", v)
	}
	if v := r.Judge(&Criteria{MaxRatio: -1}, 100, 1); len(v.RedFlags) != 0 {
		t.Errorf("without a largest ratio: %+v", v)
	}
}

// Of an answer the first 240 bytes count, and of the words before a figure the last 24 bytes.
func TestBeginningsAndEnds(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for s, want := range map[string]int{x(240): 240, x(241): 240, x(100) + " " + x(139): 240, x(100) + " " + x(140): 100, x(1) + strings.Repeat("é", 120): 239} {
		if got := clip(s); len(got) != want || !strings.HasPrefix(s, got) {
			t.Errorf("of %q there are %d bytes, want %d", s, len(got), want)
		}
	}
	for s, want := range map[string]string{"port 42": "port ", "the quick brown fox jumps over 42": "brown fox jumps over ", x(3) + " " + x(19) + " 42": x(3) + " " + x(19) + " ", x(3) + " " + x(20) + " 42": x(20) + " "} {
		if got := beside(s, len(s)-2); got != want {
			t.Errorf("beside the figure of %q is %q, want %q", s, got, want)
		}
	}
}

// Words have one root in any inflection, and times of day one form.
func TestRootsOfWords(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"lamp", "lamp", true}, {"config", "configure", true}, {"configure", "config", true}, {"conf", "config", false}, {"confi", "configura", true}, {"confi", "configurat", false}, {"lampx", "lampy", false}, {"", "", true}} {
		if got := sameRoot(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q have one root: %v", tt.a, tt.b, got)
		}
	}
	for text, want := range map[string]string{"at 4 pm": "at 16:00", "4:30 p.m. it": "16:30 it", "12 am": "0:00", "12 pm": "12:00", "9AM": "9:00", "13 pm": "13 pm", "4 pmx": "4 pmx", "11:59 PM": "23:59", "4:60 pm": "4:60 pm"} {
		if got := clock(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	r := rootsOf("The lamps in src/bulb.go were mended at 4 pm by two people")
	for _, tt := range []struct {
		kind    Type
		keyword string
		want    bool
	}{{typeIntent, "lamp", true}, {typeIntent, "red lamp", false}, {typeIntent, "16:00", true}, {typeIntent, "2", true}, {typeIntent, "!", false}, {typeFilePath, "other/bulb.go", true}, {typeFilePath, "lib/bulb.go/", true}, {typeIntent, "other/bulb.go", false}, {typeIntent, "mend", true}} {
		found, n := r.find(&Probe{Type: tt.kind, Expected: []string{tt.keyword}})
		if found[0] != tt.want || n != map[bool]int{true: 1}[tt.want] {
			t.Errorf("the entry has %q: %v, %d, want %v", tt.keyword, found[0], n, tt.want)
		}
	}
}
