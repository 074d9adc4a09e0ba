package facts

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// Arguments that are nested very deep are read as JSON from some depth on.
func TestDeepArguments(t *testing.T) {
	nested := func(n int) string { return repeat(n, "[") + "1" + repeat(n, "]") }
	leaves := func(s string) (all string) {
		eachLeaf(gjson.Parse(s), 0, func(text string) { all += text })
		return all
	}
	if argumentText([]byte(nested(33))) != "1" || argumentText([]byte(nested(34))) != "[1]" || leaves(nested(64)) != "1" || leaves(nested(65)) != "[1]" || leaves(`[true,"a",null,{"b":2}]`) != "a2" {
		t.Error("deep arguments are read in another way")
	}
}

// Every number falls into the bin whose name includes it.
func TestBinsHaveTheirNumbers(t *testing.T) {
	of := FeaturesOfNames()
	e := &estimator{}
	for v := int32(1); v < 33_000; v++ {
		f := e.nameFeatures(&nameState{
			kind: KindFile, last: v, count: v, blocks: v, args: v, seen: v, recent: v, neighbors: v, length: v, withHot: v, withAsked: v, files: v, rank: v - 1, lastCall: -1,
		})
		for i, value := range map[int]int32{1: v, 2: v, 3: v, 4: v, 6: v, 7: v, 11: v, 16: v, 18: v, 19: v, 21: v, 22: v} {
			if got, want := of[i].Bins[f[i]], binOf(of[i], int(value)); got != want {
				t.Fatalf("%s of %d is %s, want %s", of[i].Name, value, got, want)
			}
		}
		if v > 500 { // from there on only the age in tokens changes
			v += 9
		}
	}
	for _, v := range []int32{999, 1000, 1999, 2000, 3999, 4000, 7999, 8000, 15_999, 16_000, 31_999, 32_000} {
		if got, want := of[1].Bins[e.nameFeatures(&nameState{kind: KindFile, last: v})[1]], binOf(of[1], int(v)); got != want {
			t.Errorf("an age of %d is %s, want %s", v, got, want)
		}
	}
	for asked := int32(1); asked < 200; asked++ {
		if got, want := of[5].Bins[(&estimator{callCount: asked}).nameFeatures(&nameState{kind: KindFile, args: 1})[5]], binOf(of[5], int(asked)); got != want {
			t.Errorf("%d calls ago is %s, want %s", asked, got, want)
		}
	}
	parts, around := FeaturesOfLines()[12], FeaturesOfLines()[13]
	for v := int32(1); v <= 100; v++ {
		if got, want := parts.Bins[partBin(v, 100)], binOf(parts, 10*int(v)); got != want {
			t.Errorf("a part of %d %% is %s, want %s", v, got, want)
		}
		s := &surroundings{weights: []wordWeights{{}, {asked: v, all: 99}}}
		if got, want := around.Bins[s.askedAround(0)], binOf(around, 10*int(v)); got != want {
			t.Errorf("%d %% around is %s, want %s", v, got, want)
		}
	}
	if partBin(0, 0) != 0 || rarityBin(0) != 0 {
		t.Error("nothing is in a bin of something")
	}
}

// The surroundings of a line are five lines on either side.
func TestAroundALine(t *testing.T) {
	for at := range 13 {
		s := &surroundings{weights: make([]wordWeights, 13)}
		s.weights[at] = wordWeights{asked: 100, all: 99}
		want := uint8(0)
		if at != 6 && at >= 1 && at <= 11 {
			want = 7
		}
		if got := s.askedAround(6); got != want {
			t.Errorf("line %d around line 6: bin %d, want %d", at, got, want)
		}
	}
}

// A read of a file begins with line 1, or with a later one.
func TestWhereAReadBegins(t *testing.T) {
	for _, tt := range []struct {
		source source
		start  int32
		want   uint8
	}{{sourceRead, 0, 1}, {sourceRead, 1, 1}, {sourceRead, 2, 2}, {sourceSearch, 2, 0}} {
		if got := partRead(&Piece{source: tt.source, Scan: &Scan{start: tt.start}}); got != tt.want {
			t.Errorf("the part of source %d from line %d is %d, want %d", tt.source, tt.start, got, tt.want)
		}
	}
}

// The number of lines with a word stays at its largest value.
func TestCountsOfWordsAreBounded(t *testing.T) {
	e := &estimator{pieces: []Piece{{Scan: &Scan{words: []uint16{0, 1}}}}, calls: make([]int32, 1), wordWeights: make([][]wordWeights, 1)}
	e.words.lines[0], e.words.lines[1] = 65534, 65535
	if e.indexWords(); e.words.lines[0] != 65535 || e.words.lines[1] != 65535 {
		t.Errorf("got %v", e.words.lines[:2])
	}
}

func TestRoundness(t *testing.T) {
	for number, want := range map[string]uint8{"1200": 4, "1250": 3, "1230": 2, "1234": 1, "1205": 1} {
		if got := roundness(KindNumber, number); got != want {
			t.Errorf("%s is round to %d, want %d", number, got, want)
		}
	}
	if roundness(KindHash, "1200") != 0 {
		t.Error("what is no number is round")
	}
}

// Random ids, at the bounds of their length and alphabet.
func TestOpaqueWords(t *testing.T) {
	for _, tt := range []struct {
		what string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{
			"hexadecimal", isHex,
			[]string{"1a2b3c4", strings.Repeat("a1", 32), "ABCDEF0123456789", "abc1234", "abcdefabc0123", "ab0cdef1"},
			[]string{"1a2b3c", strings.Repeat("a1", 32) + "a", "1234567", "abcdefa", "1A2B3C4D", "aBCDEF0123456789", "1a2b3g4", "facade2", "decade2024", "1a2b3c:", "1a2b3c@", "1a2b3c-", "12345A7"},
		},
		{
			"an UUID", isUUID,
			[]string{"01234567-89ab-cdef-0123-456789abcdef"},
			[]string{
				"01234567-89ab-cdef-0123-456789abcde", "01234567-89ab-cdef-0123-456789abcdefa", "g1234567-89ab-cdef-0123-456789abcdef", "0123456g-89ab-cdef-0123-456789abcdef",
				"01234567-g9ab-cdef-0123-456789abcdef", "01234567-89ag-cdef-0123-456789abcdef", "01234567-89ab-gdef-0123-456789abcdef", "01234567-89ab-cdeg-0123-456789abcdef",
				"01234567-89ab-cdef-g123-456789abcdef", "01234567-89ab-cdef-012g-456789abcdef", "01234567-89ab-cdef-0123-g56789abcdef", "01234567-89ab-cdef-0123-456789abcdeg",
				"01234567089ab-cdef-0123-456789abcdef", "01234567-89ab0cdef-0123-456789abcdef", "01234567-89ab-cdef00123-456789abcdef", "01234567-89ab-cdef-01230456789abcdef",
			},
		},
		{"drawn by lot", random, []string{"a1b2", "a1b22222", "aAaAa1aaaa", "aaAAaaA1aa", "1aA2bbbbbbbbbbbbbb", "aaA11"}, []string{"abcdefgh", "12345678", "aaaaaaa1", "a1-b2c3d4", "aaaa1aaaaaaa"}},
		{"a refusal", isRefusal, []string{"The user doesn't want to go on", "The user rejected it", "Sibling tool call errored", strings.Repeat("x", 35) + "Sibling tool call errored"}, []string{"", "The user wants to go on", strings.Repeat("x", 36) + "Sibling tool call errored"}},
		{"a list of files", lists, []string{"ls", "listdir", "readdir", "globfiles"}, []string{"", "lsp", "enlist", "read"}},
		{
			"without content", unchanged,
			[]string{"", "File unchanged since last read.", strings.Repeat("x", 95) + "unchanged since last read", "[Old tool result content cleared]"},
			[]string{"x", strings.Repeat("x", 96) + "unchanged since last read", "see [Old tool result"},
		},
		{"a report of an error", reportsError, []string{"Error: x", "error: x", `{"error":"x"}`, "<tool_use_error>x"}, []string{"", "An Error: x", "errors", `{"errors":1`[:8]}},
		{"the beginning of another word than FAIL", continuesWord, []string{"-safe", "_on", "over"}, []string{"", "ED", "URE", ": x", " x", "\tx", "1-"}},
		{"a denial", reportsNone, []string{": 0", " = 0", "URES: 0", "ED: 0, PASSED: 3", ": 0) x", ": 0; x", ": None.", ": nothing", ".0", ": 0 of 3"}, []string{": 00", ": 0x", ": 10", ": none of it", ": nothing more", "", ": 0-1"}},
	} {
		for _, w := range tt.yes {
			if !tt.is(w) {
				t.Errorf("%q is not %s", w, tt.what)
			}
		}
		for _, w := range tt.no {
			if tt.is(w) {
				t.Errorf("%q is %s", w, tt.what)
			}
		}
	}
}

// Tools of these names keep a plan or a task list.
func TestPlans(t *testing.T) {
	for _, tt := range []struct {
		class tool.Class
		name  string
		want  bool
	}{{tool.Plan, "x", true}, {tool.Other, "todowrite", true}, {tool.Other, "updateplan", true}, {tool.Other, "x", false}} {
		if got := plans(tt.class, tt.name); got != tt.want {
			t.Errorf("%s of class %v plans: %v", tt.name, tt.class, got)
		}
	}
}

func TestSourcesThatAreArguments(t *testing.T) {
	got := make(map[source]bool)
	for s := range sources {
		if s.arguments() {
			got[s] = true
		}
	}
	if diff := cmp.Diff(map[source]bool{sourceEdit: true, sourceCommand: true, sourcePlan: true, sourceArguments: true}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Dates have ten bytes, and a time of the day may follow.
func TestDates(t *testing.T) {
	for said, want := range map[string]string{
		"2024-05-15": "2024-05-15", "2024-05-1": "", "2024x05-15": "", "2024-05x15": "", "x024-05-15": "", "2024-x5-15": "", "2024-05-x5": "", "2024-05-150": "",
		"2024-05-15T10:30": "2024-05-15T10:30", "2024-05-15T10:30:00Z": "2024-05-15T10:30:00Z", "2024-05-15, x": "2024-05-15", "2024-05-15x": "",
	} {
		if got := said[:dateEnd(said, 0)]; got != want {
			t.Errorf("%q begins with the date %q, want %q", said, got, want)
		}
	}
}

// Numbers of lines are read up to a million, and no further than their digits.
func TestNumbersOfLines(t *testing.T) {
	for text, want := range map[string]int32{"": 0, "x": 0, "12→": 12, "090/": 90, "12:": 12, "999999x": 999_999, "10000000": 1_000_000} {
		if got := number32(text); got != want {
			t.Errorf("%q begins with %d, want %d", text, got, want)
		}
	}
}

// The beginning of a path belongs to it: a root, a home, a scope, a hidden folder.
func TestRootsOfPaths(t *testing.T) {
	for said, want := range map[string]string{
		"/srv/a.go": "/srv/a.go", "x/srv/a.go": "x/srv/a.go", ")/srv/a.go": "srv/a.go", "(/srv/a.go)": "/srv/a.go", "~/b/a.go": "~/b/a.go", "@x/b/a.go": "@x/b/a.go",
		"./b/a.go": "b/a.go", "../b/a.go": "b/a.go", "/.b/a.go": "/.b/a.go", "c/../b/a.go": "c/../b/a.go", "=/srv/a.go": "/srv/a.go", ".b/a.go": ".b/a.go",
	} {
		got := ""
		Each(said, func(id Identifier, _ int) {
			if id.Kind == KindPath {
				got = id.Text
			}
		})
		if got != want {
			t.Errorf("the path in %q is %q, want %q", said, got, want)
		}
	}
}

// Quotation marks after letters and backslashes open quotations of Python and JSON, and no
// others.
func TestMarksBehindLetters(t *testing.T) {
	for said, want := range map[string]string{
		`f"the red one"`: "the red one", `f'the red one'`: "", ` f"the red one"`: "the red one", `b"the red one"`: "the red one", `u"the red one"`: "the red one", `xf"the red one"`: "", `n"the red one"`: "", `\n"the red one"`: "the red one",
		`nn"the red one"`: "", `r"the red one"`: "the red one", `g"the red one"`: "", `\f"the red one"`: "", `?"the red one"`: "", `]"the red one"`: "", `="the red one"`: "the red one",
	} {
		got := ""
		eachQuote(said, func(quote string, _ int) { got = quote })
		if got != want {
			t.Errorf("the quotation in %q is %q, want %q", said, got, want)
		}
	}
}

// A line that mentions a failure is read up to 499 bytes, a line with totals up to 300, and a
// line with a count up to 200.
func TestLinesAreShort(t *testing.T) {
	fill := func(line string, n int) string { return line + strings.Repeat("x", n-len(line)) }
	const speaking = "it cannot be read "
	for line, want := range map[string]string{fill(speaking, 499): fill(speaking, 499), fill(speaking, 500): "first"} {
		o := outcomeOf(transcript.ToolResult{Error: true, Content: []transcript.Part{transcript.Text("first\n" + line)}}, false)
		if got := o.failure; !strings.HasPrefix(got, want[:min(len(want), 100)]) {
			t.Errorf("a line of %d bytes: the failure is %q", len(line), got)
		}
	}
	for n, want := range map[int]bool{300: true, 301: false} {
		s := scanOutput(fill("https://a.io/", n) + "\nx")
		if got := s.url != ""; got != want {
			t.Errorf("a place on the net of %d bytes is told: %v", n, got)
		}
	}
	for n, want := range map[int]bool{200: true, 201: false} {
		s := scanOutput(fill("3 failed, 12 passed ", n))
		if got := s.failure != ""; got != want {
			t.Errorf("a count in a line of %d bytes is told: %v", n, got)
		}
	}
	if s := scanOutput("\x1b[31m\x1b[0m\n\x1b[31mlit\x1b[0m\n"); s.first != "lit" || s.n != 1 {
		t.Errorf("of colored lines %+v is told", s)
	}
}

// Two command lines with equal keys are attempts at the same thing.
func TestKeys(t *testing.T) {
	for line, want := range map[string]string{
		"go test -v ./lamp": "go test ./lamp", "git push -f origin": "git push", "ls a; cd b; make lamp": "b\x01make lamp", "echo $(make lens) | make lamp": "make lamp",
		"go a b c d e": "go a b c d", "cd x && 'it": "cd x && 'it",
	} {
		if got := strings.Join(readLine(line).keys(), "; "); got != want {
			t.Errorf("%q is an attempt at %q, want %q", line, got, want)
		}
	}
	if got := readLine("").keys(); len(got) > 0 {
		t.Errorf("an empty line is an attempt at %q", got)
	}
}

// isName tells plausible file names from others.
func TestIsName(t *testing.T) {
	for path, want := range map[string]bool{"a.go": true, "": false, ".": false, "..": false, "a\nb": false, "a\x00": false, strings.Repeat("a", 299): true, strings.Repeat("a", 300): false} {
		if got := isName(path); got != want {
			t.Errorf("%q is a name: %v, want %v", path, got, want)
		}
	}
}

// A command writes the files that have plausible names.
func TestWritingsOfALine(t *testing.T) {
	if diff := cmp.Diff([]writing{{"a.go", StatusDeleted, true}}, readLine("rm .. a.go").writings(), cmp.AllowUnexported(writing{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// No more than maxWatched files of one name are kept.
func TestFilesOfOneName(t *testing.T) {
	p := &paths{}
	for i := range maxWatched + 2 {
		p.of(fmt.Sprintf("/srv/%d/a.go", i))
	}
	if got := len(p.byBase["a.go"]); got != maxWatched {
		t.Errorf("%d files are kept, want %d", got, maxWatched)
	}
}

// The extents of reads are bounded, whatever numbers a call has.
func TestExtentsAreBounded(t *testing.T) {
	if got := extentOf(toolCall("Read", `{"offset":1e15,"limit":1e15}`)); got.from != maxLine || got.to < 0 || got.to == math.MaxInt {
		t.Errorf("got %v", got)
	}
}
