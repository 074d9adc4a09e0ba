package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/text"
)

// Quotations on a line, with the marks of code and of prose.
func TestQuotes(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"marks of code", `say "the red one" or 'the blue one'`, []string{"the red one", "the blue one"}},
		{"marks of prose", "say “the red one” and „the blue one“", []string{"the red one", "the blue one"}},
		{"a mark that is cut off", "the end is \xe2\x80", nil},
		{"marks within JSON", `{\"name\":\"the red one\"}`, []string{"name", "the red one"}},
		{"a text of Python", `print(f"the red one")`, []string{"the red one"}},
		{"a text of Python behind a letter", `half"the red one"`, nil},
		{"a letter before a mark", `the lamp's one and the cat's one`, nil},
		{"a line feed of JSON before a mark", `x\n"the red one"`, []string{"the red one"}},
		{"a tab of JSON before a mark", `x\t'the red one'`, []string{"the red one"}},
		{"a word that ends in n before a mark", `in"the red one"`, nil},
		{"a bracket before a mark", `f()"the red one"`, nil},
		{"a full stop before a mark", `lamp."the red one"`, nil},
		{"a colon before a mark", `lamp:"the red one"`, []string{"the red one"}},
		{"two lines", "\"the red\none\"", nil},
		{"a length", `"ab" "abc" "` + repeat(80, "😀") + `" "` + repeat(81, "x") + `"`, []string{"abc", repeat(80, "😀")}},
		{"a mark that is escaped", `say "a\"b c" x`, []string{`a\"b c`}},
		{"a return within a quotation", "\"the red\rone\"", nil},
		{"a backslash before a mark of prose", `see “C:\lamps\” there`, []string{`C:\lamps\`}},
		{"a backslash at the end of a line", "\"the red\\\none\"", nil},
		{"a backslash at the end", `see "the red\`, nil},
		{"a blank before the second mark", `see "the red " there`, nil},
		{"a letter after a mark", `see 'the lamp's lens' there`, []string{"the lamp's lens"}},
		{"a mark of another kind after a mark", `see "the red one"'`, []string{"the red one"}},
		{"a mark that is 321 bytes away", `"` + repeat(305, "x") + ` 'the blue one' "`, []string{"the blue one"}},
		{"a mark that is 320 bytes away", `"` + repeat(304, "x") + ` 'the blue one'"`, nil},
		{"two marks of code", "``the red one`` and `the blue one`", []string{"the blue one"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			eachQuote(tt.in, func(quote string, _ int) { got = append(got, quote) })
			if !slices.Equal(got, tt.want) {
				t.Errorf("Quotes(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// The classification of single words and lines.
func TestWhatWordsAre(t *testing.T) {
	for _, tt := range []struct {
		what string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{"success", succeeds, []string{"ok", "PASS", "done", "Success", "x: ok", "Build succeeded", "It ended successfully."}, []string{"okay", "not done", "not successfully", "", "pass it on"}},
		{
			"a place in a file", startsWithPosition,
			[]string{"main.go:17: unused", "main.go:123456:4: unused", "[lint] main.go:17:4: unused", "[a.b:go] main.go:17: unused"},
			[]string{"main.go:1234567: unused", "main:17: unused", "see main.go:17: unused", "main.go:: unused", "main.go:17 unused", strings.Repeat("a", 199) + ".c:1: x", "no place"},
		},
		{"an ULID", isULID, []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV"}, []string{"81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FAL", "01ARZ3NDEKTSV4RRFFQ69G5FAO", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FAv", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FA-"}},
		{"an address of four numbers", isIP, []string{"1.2.3.4", "192.168.100.255"}, []string{"1.2.3", "1.2.3.256", "1.2.3.4.5", "1.2.3.", "1234.2.3.4", "1.2.34.", "1111.1111.1111.1"}},
		{"a version of three numbers", isVersion3, []string{"1.2.3", "v1.26.0", "2.2.1-rc1", "1.2.3-b", "100.200.3"}, []string{"1.2", "1.02.3", "1.200.300", "1.2.3-", "1.2.3.4", "1.2.3-1", "123456.2.3"}},
		{"a field of a value", isField, []string{"this.key", "self.js", "this.js", "console.log", "this.whatever", "process.env", "Node.js"}, []string{"server.log", "main.js", "a.go"}},
		{"an address of mail", isEmail, []string{"ada@example.com", "a@b.co"}, []string{"git@example.com", "@example.com", "ada@example", "ada@example.c", "ada@.com", "ada@example.c0m"}},
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

// An id has enough digits, and only the characters of ids.
func TestIsID(t *testing.T) {
	for w, want := range map[string]bool{
		"AB123": true, "AB12": false, "12345": false, "ABCDEFGHIJ1234": true, "ABCDEFGHIJ12345": false, "ab_123": true, "ab-12": false, "A-123": true,
		"-123": false, "Ab123": false, "AB+123": false,
	} {
		if got := isID(w); got != want {
			t.Errorf("%s is an id: %v, want %v", w, got, want)
		}
	}
}

// The name of a case of a test, in any of its words.
func TestTestCase(t *testing.T) {
	for _, tt := range []struct{ rest, word, want string }{
		{`it("dims", () => {`, "it", `it "dims"`},
		{`test('dims', x)`, "test", `test "dims"`},
		{"describe(`lamp`)", "describe", `describe "lamp"`},
		{`it("x")`, "it", `it "x"`},
		{`each("dims")`, "each", ""},
		{`it(dims)`, "it", ""},
		{`it "dims"`, "it", ""},
		{`it("`, "it", ""},
		{`it("")`, "it", ""},
		{`it("dims`, "it", ""},
	} {
		if got := testCase(tt.rest, tt.word); got != tt.want {
			t.Errorf("testCase(%q) = %q, want %q", tt.rest, got, tt.want)
		}
	}
}

// A check list has entries that are open, done and in progress.
func TestBoxes(t *testing.T) {
	got := boxes([]sentence{{text: "Mend it", box: ' '}, {text: "Paint it", box: 'x'}, {text: "Look", box: '~' | 0x20}, {text: "A sentence."}})
	want := []entry{{"", "Mend it", StatusPending}, {"", "Paint it", StatusCompleted}, {"", "Look", StatusActive}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A success resolves a failure if both are attempts at the same thing.
func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		name, key, other string
		want             bool
	}{
		{"the same", "make lint", "make lint", true},
		{"a test of all", allTestsKey, "go test ./lamp", true},
		{"a test of all, and an edit", allTestsKey, "edit test.go", false},
		{"all packages, and one", "go test ./...", "go test ./lamp", true},
		{"one package, and another", "go test ./lens", "go test ./lamp", false},
		{"the same with more words", "go test ./lamp", "go test ./lamp -v", true},
		{"the same with fewer words", "go test ./lamp -v", "go test ./lamp", false},
		{"all packages of a folder, and one elsewhere", "go test ./store/...", "go test ./api", false},
		{"all packages of a folder, and one of them", "go test ./store/...", "go test ./store/sqlite", true},
		{"all packages of a folder, and the folder", "go test ./store/...", "go test ./store", true},
		{"the package of a folder, and two", "go test", "go test ./lamp ./lens", false},
		{"one package, and two", "go test ./lamp", "go test ./lamp ./lens", false},
		{"one file, and two", "pytest tests/a.py", "pytest tests/a.py tests/b.py", false},
		{"another folder", "api\x01npm test", "web\x01npm test", false},
		{"the same folder by another path", "/w/p/web\x01npm test", "web\x01npm test", true},
		{"the same folder by its other path", "web\x01npm test", "/w/p/web\x01npm test", true},
		{"a folder that nobody named", "npm test", "web\x01npm test lamp", true},
		{"a folder, and one that nobody named", "web\x01npm test", "npm test lamp", true},
		{"a program of one letter behind a wrapper", "g test", "rtk g test", true},
		{"a test of all, and a tag", allTestsKey, "docker push app:latest", false},
		{"two words alone", "npm test", "npm test lamp", true},
		{"one word", "make", "make lint", false},
		{"behind a wrapper", "go test ./lamp", "rtk go test ./lamp", true},
		{"one word behind a wrapper", "make", "rtk make", false},
		{"at the end of a longer word", "go test ./lamp", "cargo test ./lamp", false},
		{"verbs of git", "git push", "git push origin", false},
		{"edits", "edit a.go", "edit a.go b.go", false},
		{"another verb", "go vet ./...", "go test ./...", false},
		{"nothing", "", "make lint", false},
		{"two words, and one", "make lint", "make", false},
		{"all packages here, and one elsewhere", "go test ./...", "go test ../lamp", false},
		{"all packages of a folder and another, and a longer name", "go test ./store/... ./lamp", "go test ./lampshade", false},
		{"all packages of a folder and another, and the other", "go test ./store/... ./lamp", "go test ./lamp", true},
		{"of nothing", "make lint", "", false},
	} {
		if got := covers(tt.key, tt.other); got != tt.want {
			t.Errorf("%s: %q covers %q: %v, want %v", tt.name, tt.key, tt.other, got, tt.want)
		}
	}
}

// An error that comes back is open again, until it is resolved again.
func TestAnErrorThatComesBack(t *testing.T) {
	fails := func(s *talk) *talk {
		return s.call("", "Bash", map[string]string{"command": "make lamp"}, "!Exit code 2\nerror: no bulb")
	}
	passes := func(s *talk) *talk { return s.call("", "Bash", map[string]string{"command": "make lamp"}, "lit") }
	for _, tt := range []struct {
		name string
		talk *talk
		want string
	}{
		{"once", fails(new(talk)), "error open | make lamp | error: no bulb"},
		{"and mended", passes(fails(new(talk))), "error resolved | make lamp | error: no bulb <- make lamp succeeded"},
		{"and back", fails(passes(fails(new(talk)))), "error open | make lamp | error: no bulb"},
		{"and mended again", passes(fails(passes(fails(new(talk))))), "error resolved | make lamp | error: no bulb <- make lamp succeeded"},
		{"and mended by an edit", passes(fails(new(talk)).edit("a.go", "x := 1", "x := 2")), "error resolved | make lamp | error: no bulb <- edited a.go"},
	} {
		if got := strings.Join(written(tt.talk.extract(nil), FactError), "; "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The fact of a read has the fields of its JSON result. A command in the background has no
// outcome yet.
func TestWhatACallReads(t *testing.T) {
	for _, tt := range []struct {
		name, tool string
		in         map[string]string
		result     string
		kind       FactKind
		want       string
	}{
		{"an object", "get_lamp", map[string]string{"id": "7"}, `{"color":"red"}`, FactRead, "read | get_lamp id 7 | color red"},
		{"an empty list", "get_lamps", map[string]string{"id": "7"}, `[]`, FactRead, "read | get_lamps id 7 | []"},
		{"a command in the background", "Bash", map[string]string{"command": "make lamp"}, "Command running in background with ID: b1", FactCommand, "command unknown | make lamp"},
	} {
		if got := strings.Join(written(new(talk).call("", tt.tool, tt.in, tt.result).extract(nil), tt.kind), "; "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The change of a line is described by its changed words, after the name before them. One
// line may be a prefix or a suffix of the other.
func TestReplaced(t *testing.T) {
	for _, tt := range []struct{ old, now, want string }{
		{"poolSize = 5", "poolSize = 30", "poolSize: 5 → 30"},
		{"poolSize = 5", "poolSize = 5 + 3", "poolSize: added + 3"},
		{"poolSize = 5 + 3", "poolSize = 5", "poolSize: removed + 3"},
		{"5 poolSize", "3 + 5 poolSize", "added 3 +"},
		{"3 + 5 poolSize", "5 poolSize", "removed 3 +"},
		{"lamp = 5", "lamp = 6", "lamp: 5 → 6"},
		{repeat(59, "x") + " 5", repeat(59, "x") + " 6", repeat(59, "x") + ": 5 → 6"},
		{repeat(60, "x") + " 5", repeat(60, "x") + " 6", "5 → 6"},
		{"a a", "a", "a: removed a"},
		{"a", "a a", "a: added a"},
	} {
		if got := replaced(tt.old, tt.now); got != tt.want {
			t.Errorf("%q for %q is %q, want %q", tt.now, tt.old, got, tt.want)
		}
	}
}

// The excerpt around a name begins with a whole word and has the whole name.
func TestAround(t *testing.T) {
	if got := excerpt("see ID-4711 there", "ID-4711"); got != "see ID-4711 there" {
		t.Errorf("of a short sentence, %q", got)
	}
	for said, want := range map[string]string{
		repeat(100, "lamp ") + "ID-4711 is dark":         "…" + repeat(13, "lamp ") + "ID-4711 is dark",   // up to a third of 200 bytes before the name
		repeat(92, "x") + " ID-4711 " + repeat(98, "y"):  repeat(92, "x") + " ID-4711 " + repeat(98, "y"), // 199 bytes
		repeat(92, "x") + " ID-4711 " + repeat(100, "y"): repeat(92, "x") + " ID-4711…",                   // cut between words
		repeat(93, "x") + " ID-4711 " + repeat(100, "y"): "…ID-4711 " + repeat(100, "y"),
		repeat(38, "lamp ") + "ID-4711 is":               repeat(38, "lamp ") + "ID-4711 is", // 200 bytes
		repeat(300, "x") + "/ID-4711 is dark":            "…ID-4711 is dark",                 // no blank before the name
	} {
		if got := excerpt(said, "ID-4711"); got != want {
			t.Errorf("around the name in %q is %q, want %q", said, got, want)
		}
	}
	for _, said := range []string{strings.Repeat("lamp ", 100) + "ID-4711 is dark", strings.Repeat("x", 400) + " ID-4711 is dark", "ID-4711 is dark " + strings.Repeat("lamp ", 100)} {
		got := excerpt(said, "ID-4711")
		first, _, _ := strings.Cut(strings.TrimPrefix(got, text.Ellipsis), " ")
		if !strings.Contains(got, "ID-4711 is dark") || !slices.Contains(strings.Fields(said), first) || len(got) > 2*lineRunes || strings.HasPrefix(got, text.Ellipsis) == strings.HasPrefix(said, "ID") {
			t.Errorf("around the name in %q is %q", said, got)
		}
	}
}

func TestReference(t *testing.T) {
	for _, tt := range []struct{ prev, w, next, want string }{
		{"", "https://a.io/17", "", "https://a.io/17"},
		{"", "a://bcd.e", "", ""},
		{"", "https://a.io/(17)", "", ""},
		{"", "ada@example.com", "", "ada@example.com"},
		{"", "a@b.co", "", "a@b.co"},
		{"", "ada@home", "", ""},
		{"", "@ada.lamp", "", ""},
		{"", "a/b@c.d", "", ""},
		{"", "lamp", "", ""},
		{"", "x", "", ""},
		{"", "#17", "", "#17"},
		{"", "lamp/17", "", ""},
	} {
		if got := reference(tt.prev, tt.w, tt.next); got != tt.want {
			t.Errorf("%q refers to %q, want %q", tt.w, got, tt.want)
		}
	}
}

// A reason is the words after a conjunction. After "to avoid" it includes these words.
func TestReasons(t *testing.T) {
	for said, want := range map[string]string{
		"I use a lock to avoid a data race":          "to avoid a data race",
		"I use a lock to prevent a data race":        "to prevent a data race",
		"I use a lock so that writes are in order":   "so that writes are in order",
		"I use a lock because writes are concurrent": "writes are concurrent",
		"I use a lock because so":                    "",
		"I use a lock because it locks":              "",
		"I use a lock because it is wet":             "it is wet",
		"I use the lock since yesterday in all":      "",
		"Because writes are concurrent, I use one":   "writes are concurrent",
		"I use a lock":                         "",
		"The pool is shared, so I use a lock":  "The pool is shared",
		"I use a lock, so writes are in order": "",
	} {
		if got := reason(sentence{text: said}, sentence{}); got != want {
			t.Errorf("the reason in %q is %q, want %q", said, got, want)
		}
	}
	for _, tt := range []struct {
		next sentence
		want string
	}{
		{sentence{text: "This avoids a race", para: 1}, "This avoids a race"},
		{sentence{text: "This avoids a race", para: 2, item: true}, "This avoids a race"},
		{sentence{text: "This avoids a race", para: 2}, ""},
		{sentence{text: "This avoids two races:", para: 1}, ""},
		{sentence{text: "It is a race", para: 1}, ""},
	} {
		if got := reason(sentence{text: "I use a lock", para: 1}, tt.next); got != tt.want {
			t.Errorf("the reason before %+v is %q, want %q", tt.next, got, tt.want)
		}
	}
}
