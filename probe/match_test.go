package probe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"case, marks and quotes do not count", "**Use** `ParseConfig` – “now”", "use parseconfig now"},
		{"a plural is its singular, but status and class stay comparable", "tokens token class status", "token token class statu"},
		{"thousands are joined", "1,234,567 and 12,34 and 1234,567", "1234567 and 12 34 and 1234 567"},
		{"and so is a list that looks like it", "10,200,3000", "10200 3000"},
		{"decimals stay whole", "3.14, 1.2.3.", "3.14 1.2.3"},
		{"units may be near or far", "40ms 40 ms 512MB", "40 ms 40 ms 512 mb"},
		{"percent is %", "90% 90 % 90 percent", "90 % 90 % 90 %"},
		{"a percent sign without a number is nothing", "% of %d", "of d"},
		{"versions without their v", "v1.26 v2 go1.26", "1.26 v2 go1.26"},
		{"full-width characters, hard spaces and joiners", "１２３\u00a0ａｂ zero\u200bwidth soft\u00adhyphen", "123 ab zerowidth softhyphen"},
		{"accents, composed or not", "Café cafe\u0301 ﬁle", "cafe cafe file"},
		{"paths and compounds are their names", "./src/my-app/a_b.go:12", "src my app a_b go 12"},
		{"underlines at the ends are marks", "__init__ _so_", "init so"},
		{"numbers with underlines", "1_000_000", "1000000"},
		{"escapes of line feeds are no letters", `one\ntwo\tthree`, "one two three"},
		{"full-width capitals and marks", "ＡＢ，ＺＤ／ｚ＠ａ", "ab zd z a"},
		{"half-width Katakana has a word for each character", "ｱｲ", "ｱ ｲ"},
		{"ligatures are their letters", "oﬀ oﬃce waﬄe ﬂat faﬅ", "off office waffle flat faﬅ"},
		{"characters that nobody sees", "wo\u2060rd wo\u200crd \ufeffword", "word word word"},
		{"pictures part words", "one😀two", "one two"},
		{"marks alone are no words", "__ _ -- ./", ""},
		{"a short version, and what looks like one", "v1.2 v12 v12a v1-2 va.b", "1.2 v12 v12a v1 2 va b"},
		{"percent by itself", "a percent of 90, percent", "a percent of 90 percent"},
		{"short words and those with digits keep their s", "bus yes h4ss 8s as7s keys", "bus yes h4ss 8 s as7s key"},
		{"Chinese has a word for each character", "使用缓存v2", "使 用 缓 存 v2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := normal(tt.in); got != tt.want {
				t.Errorf("normal(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestAgree(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"a/b.go", "a/b.go", true},
		{"home/me/a/b.go", "a/b.go", true},
		{"c/b.go", "a/b.go", false},
		{"b.go", "b.go", true},
		{"a/b.go", "b.go", false}, // one name is too little
		{"x/a/b.go", "y/a/b.go", false},
		{"a//b.go", "a/./b.go", true},
		{"aa/b.go", "a/b.go", false},
	} {
		if got := agree(tt.a, tt.b); got != tt.want {
			t.Errorf("agree(%q, %q) = %t, want %t", tt.a, tt.b, got, tt.want)
		}
		if got := agree(tt.b, tt.a); got != tt.want {
			t.Errorf("agree(%q, %q) = %t, want %t", tt.b, tt.a, got, tt.want)
		}
	}
}

// ask returns a probe for keywords, all of which or Need must be found.
func ask(t Type, keywords ...string) Probe {
	p := Probe{Type: t, Question: "What is it that is asked?", Expected: keywords, Need: needOf(len(keywords))}
	p.ID = p.identify(0)
	return p
}

func TestGradeFindsKeywords(t *testing.T) {
	far := strings.Repeat("nothing to see here. ", 30)
	for _, tt := range []struct {
		name  string
		probe Probe
		text  string
		want  Location
	}{
		{"a number is whole", ask(typeProgress, "42"), "it was 420 and 142 and 42.5", Lost},
		{"a number may be written with a comma", ask(typeProgress, "1234"), "1,234 tests", Window},
		{"a figure with its unit", ask(typeProgress, "40ms"), "took 40 ms", Window},
		{"a share", ask(typeProgress, "90%"), "90 percent", Window},
		{"a share is not a number without it", ask(typeProgress, "90%"), "90 files", Lost},
		{"words in any order", ask(typeDecision, "cache", "redis"), "Redis is the Caches' store", Window},
		{"words that are far apart", ask(typeDecision, "cache", "redis"), "cache " + far + far + " redis", Lost},
		{"words in texts of their own do not stand together", ask(typeDecision, "cache", "redis"), "cache\x00redis", Lost},
		{"two of three", ask(typeDecision, "cache", "redis", "ttl"), "the redis ttl", Window},
		{"one of three", ask(typeDecision, "cache", "redis", "ttl"), "the ttl", Lost},
		{"three of four on lines that follow", ask(typeDecision, "cache", "redis", "ttl", "hour"), "cache:\n- redis\n- an hour", Window},
		{"together late in a long line", ask(typeDecision, "cache", "redis"), "cache " + far + far + "redis cache " + far, Window},
		{"several words must follow each other", ask(typeProgress, "go test"), "test it with go", Lost},
		{"and may do so over punctuation", ask(typeProgress, "go test"), "`go` *test*", Window},
		{"a path", ask(typeFilePath, "./a/b.go"), "see a/b.go.", Window},
		{"an absolute path for a relative one", ask(typeFilePath, "a/b.go"), "/home/me/a/b.go:12: bad", Window},
		{"a relative path for an absolute one", ask(typeFilePath, "/home/me/a/b.go"), "a/b.go", Window},
		{"a path with other hyphens and tildes", ask(typeFilePath, "my-app~1/a.go"), "my‐app～1/a.go my−app~1", Window},
		{"another path that ends alike", ask(typeFilePath, "a/b.go"), "c/b.go", Lost},
		{"a longer name", ask(typeFilePath, "a/b.go"), "a/b.go.orig and a/b.gob and aa/b.go", Lost},
		{"the names of a path apart", ask(typeFilePath, "a/b.go"), "a, b.go", Lost},
		{"a single file is that file", ask(typeFilePath, "README.md"), "docs/README.md", Lost},
		{"and not another", ask(typeFilePath, "README.md"), "the README.md", Window},
		{"a dotted name is not a path", ask(typeDecision, "fmt.Print", "x"), "x/fmt.Print(x)", Window},
		{"a URL", ask(typeProgress, "https://example.org/a?b=1"), "<https://example.org/a?b=1>", Window},
		{"a keyword without letters is never found", ask(typeProgress, "--"), "--", Lost},
		{"a keyword in an escaped text", ask(typeDecision, "cache", "redis"), `"cache\nredis"`, Window},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Grade([]Probe{tt.probe}, &Evidence{Window: strings.Split(tt.text, "\x00")})
			if got := r.Results[0].Place; got != tt.want {
				t.Errorf("%q in %q is %s, want %s", tt.probe.Expected, tt.text, got, tt.want)
			}
		})
	}
}

func TestGradeReports(t *testing.T) {
	probes := []Probe{
		{ID: "1", Type: typeFilePath, Question: "Which file?", Expected: []string{"a/b.go"}, Need: 1, Critical: true},
		{ID: "2", Type: typeDecision, Question: "What then?", Expected: []string{"redis", "cache", "ttl"}, Need: 2},
		{ID: "3", Type: typeDecision, Question: "And then?", Expected: []string{"blue", "green"}, Need: 2, Critical: true},
		{ID: "4", Type: typeError, Question: "What failed?", Expected: []string{"timeout", "upstream"}}, // what it needs is computed
	}
	got := Grade(probes, &Evidence{
		Window: []string{"changed a/b.go", "first\nUse  redis as a *cache*.\nlast", "blue"},
		Recall: []string{"nothing", "upstream: timeout"},
	})
	want := &Report{
		Tally:    Tally{Total: 4, Passed: 2, Recall: 1},
		Score:    ratio.Of(1, 2),
		Critical: Tally{Total: 2, Passed: 1},
		Ordinary: Tally{Total: 2, Passed: 1, Recall: 1},
		Types:    []TypeTally{{typeFilePath, Tally{1, 1, 0}}, {typeDecision, Tally{2, 1, 0}}, {typeError, Tally{1, 0, 1}}},
		Results: []Result{
			{probes[0], Window, []string{"a/b.go"}, []string{}, "changed a/b.go"},
			{probes[1], Window, []string{"redis", "cache"}, []string{"ttl"}, "Use redis as a *cache*."},
			{probes[2], Lost, []string{"blue"}, []string{"green"}, "blue"},
			{probes[3], Recall, []string{"timeout", "upstream"}, []string{}, "upstream: timeout"},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("report (-want +got):\n%s", d)
	}
	var failed []string
	for _, r := range got.Failed() {
		failed = append(failed, r.Probe.ID)
	}
	if d := cmp.Diff([]string{"3", "4"}, failed); d != "" {
		t.Errorf("failed (-want +got):\n%s", d)
	}
	if got, want := got.Lost(), 1; got != want {
		t.Errorf("Lost() = %d, want %d", got, want)
	}
}

func TestGradeWithoutEvidence(t *testing.T) {
	r := Grade([]Probe{ask(typeDecision, "cache")}, nil)
	if r.Results[0].Place != Lost || r.Score != 0 {
		t.Errorf("graded %s, score %v", r.Results[0].Place, r.Score)
	}
}

func TestPassagesAreBounded(t *testing.T) {
	text := strings.Repeat("é", 500) + " cache " + strings.Repeat("ü", 100) + " redis " + strings.Repeat("x ", 4000)
	r := Grade([]Probe{ask(typeDecision, "cache", "redis")}, &Evidence{Window: []string{text}}).Results[0]
	if len(r.Passage) > 2*passageBytes || !strings.Contains(r.Passage, "cache") || !strings.Contains(r.Passage, "redis") {
		t.Errorf("passage of %d bytes: %q", len(r.Passage), r.Passage)
	}
	if strings.Contains(r.Passage, "\ufffd") {
		t.Errorf("passage is not UTF-8: %q", r.Passage)
	}
}

// The published path probe names the path that it expects, so that repeating
// the question passed it.
func TestEchoPassesNothing(t *testing.T) {
	published, err := Parse([]byte(`[{"type": "file_path", "question": "What changes were made to src/auth.py?", "expected_contains": "src/auth.py"}]`))
	if err != nil {
		t.Fatal(err)
	}
	if got := Lint(published); len(got) != 1 || got[0].Rule != ruleLeak {
		t.Errorf("Lint = %v, want a leak", got)
	}
	question := published[0].Question
	for _, echo := range []string{question, "- **" + question + "**", "Q:\n" + question + "\nA:\n"} {
		if r := Grade(published, &Evidence{Window: []string{echo}}); r.Passed != 0 {
			t.Errorf("window %q passes", echo)
		}
		if r := GradeAnswers(published, map[string]string{published[0].ID: echo}); r.Passed != 0 {
			t.Errorf("answer %q passes", echo)
		}
	}

	probes := Generate(session(), of(Options{}))
	var echo []string
	for _, p := range probes {
		echo = append(echo, p.Question)
	}
	if r := Grade(probes, &Evidence{Window: echo}); r.Passed != 0 {
		t.Errorf("%d of %d generated probes pass on their questions", r.Passed, r.Total)
	}
	// Nor do they if a word is added, so that no line is a question.
	for i := range echo {
		echo[i] += " Indeed."
	}
	if r := Grade(probes, &Evidence{Window: echo}); r.Passed != 0 {
		t.Errorf("%d of %d generated probes pass on altered questions", r.Passed, r.Total)
	}
}

func TestGradeAnswers(t *testing.T) {
	p := Probe{ID: "1", Type: typeDecision, Question: "What was decided in turn 4?", Expected: []string{"redis", "cache"}, Need: 2}
	for _, tt := range []struct {
		name, answer string
		want         Location
	}{
		{"right", "They use Redis as a cache.", Window},
		{"half", "They use Redis.", Lost},
		{"none", "", Lost},
		{"repeats the question", "What was decided in turn 4?", Lost},
		{"repeats it and answers", "What was decided in turn 4? Redis, as a cache.", Window},
		{"does not know", "I don’t know; maybe a redis cache.", Lost},
		{"says that it is not there", "The context does not mention a redis cache.", Lost},
		{"says that it is not there, of it", "It doesn’t say that a redis cache is used.", Lost},
		{"says of nothing that it is not there", "Does not mention a redis cache.", Lost},
		{"cannot tell", "I cannot tell whether it was a redis cache.", Lost},
		{"says what another thing does not have", "The build does not include the redis cache.", Window},
		{"says what users cannot tell", "Users cannot tell a redis cache from another one; I have no doubt.", Window},
		{"shrugs", "Unknown.", Lost},
		{"has an unknown in it", "A redis cache, for an unknown reason.", Window},
		{"has the words far apart", "redis " + strings.Repeat("and so on ", 60) + "cache", Lost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := GradeAnswers([]Probe{p}, map[string]string{"1": tt.answer})
			if got := r.Results[0].Place; got != tt.want {
				t.Errorf("%q is %s, want %s", tt.answer, got, tt.want)
			}
		})
	}
	leaky := Probe{ID: "1", Type: typeDecision, Question: "Was redis chosen as the cache?", Expected: []string{"redis", "cache"}, Need: 2}
	if r := GradeAnswers([]Probe{leaky}, map[string]string{"1": "was redis chosen as the cache? Was Redis chosen as the cache"}); r.Passed != 0 {
		t.Error("an answer that repeats a leaky question passes")
	}
}

// A line of 1,000 bytes can be the question of a probe, and one that is longer is not.
func TestLongQuestions(t *testing.T) {
	for size, want := range map[int]bool{1000: true, 1001: false} {
		line := strings.Repeat("a ", size/2-1) + strings.Repeat("b", size%2+1) + "?"
		if got := newMatcher([]Probe{{ID: "p", Question: line, Expected: []string{"red"}}}).asked(line); got != want || len(line) != size {
			t.Errorf("a line of %d bytes is a question: %t, want %t for %d", len(line), got, want, size)
		}
	}
}

// A keyword that is listed twice counts once, and a probe without keywords does not pass.
func TestRepeatedKeywords(t *testing.T) {
	twice := []Probe{{ID: "1", Type: typeDecision, Question: "Which?", Expected: []string{"foo", "Foo", "bar"}, Need: 2}}
	for text, want := range map[string]int{"foo": 0, "foo and bar": 1} {
		reports := map[string]*Report{
			"Grade":         Grade(twice, &Evidence{Window: []string{text}}),
			"GradeAnswers":  GradeAnswers(twice, map[string]string{"1": text}),
			"GradeAuthored": GradeAuthored(twice, "", []string{text}),
		}
		for name, r := range reports {
			if r.Passed != want {
				t.Errorf("%s: %d pass in %q, want %d", name, r.Passed, text, want)
			}
		}
	}
	if r := GradeAuthored([]Probe{{ID: "1", Type: typeIntent, Question: "Which?"}}, "", nil); r.Passed != 0 {
		t.Error("a probe without keywords passes")
	}
}

// long returns the facts of a conversation of as many turns.
func long(turns int) []facts.Fact {
	var found []facts.Fact
	for i := range turns {
		speaker := transcript.RoleAssistant
		if i%10 == 0 {
			speaker = transcript.RoleUser
		}
		text := fmt.Sprintf("decided to route part%d of the module through gateway%d because latency rose to %dms", i, i%97, i)
		found = append(found,
			facts.Fact{Kind: facts.FactDecision, Text: text, Role: speaker, Names: []string{fmt.Sprintf("part%d", i)}, Block: at(i+1, 0)},
			facts.Fact{Kind: facts.FactChange, Subject: fmt.Sprintf("src/mod%d/file_%d.go", i%50, i), Status: "modified", Text: text, Block: at(i+1, 0)})
	}
	return found
}

func BenchmarkGenerate(b *testing.B) {
	found := long(1000)
	for b.Loop() {
		Generate(found, of(Options{}))
	}
}

// Some 300 probes of 2 MB.
func BenchmarkGrade(b *testing.B) {
	var window []string
	size := 0
	for i := 0; size < 2<<20; i++ {
		text := strings.Repeat(fmt.Sprintf("The module has parts, such as src/mod%d/other.go, that a gateway%d serves in %d ms.\n", i, i, i), 20)
		window = append(window, text)
		size += len(text)
	}
	probes := Generate(long(2000), of(Options{PerType: 50}))
	b.SetBytes(int64(size))
	for b.Loop() {
		Grade(probes, &Evidence{Window: window})
	}
	b.ReportMetric(float64(len(probes)), "probes")
}

// Whether originals answer a probe is what looking for its best passage says, too.
func TestAnswersIsFind(t *testing.T) {
	words := []string{"alpha", "beta", "gamma", "delta", "some/path.go", "nothing", strings.Repeat("filler ", 40), strings.Repeat("x", 150), "\n"}
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30), func(w []string) string { return strings.Join(w, " ") })
	rapid.Check(t, func(t *rapid.T) {
		p := Probe{
			Type: typeDecision, Expected: rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta", "gamma", "delta", "alpha beta", "--"}), 1, 5).Draw(t, "expected"),
			Need: rapid.IntRange(0, 3).Draw(t, "need"),
		}
		r := newMatcher([]Probe{p}).read(rapid.SliceOfN(text, 0, 4).Draw(t, "texts"))
		if got, want := r.answers(0), r.find(0).ok; got != want {
			t.Fatalf("answers = %v, find %v for %q", got, want, p.Expected)
		}
	})
}

// The passage that a report quotes is the line, if it is short.
func TestPassageIsTheLine(t *testing.T) {
	r := Grade([]Probe{ask(typeDecision, "cache", "redis")}, &Evidence{Window: []string{"first\n\nthe cache is redis\nlast"}})
	if got, want := r.Results[0].Passage, "the cache is redis"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, tt := range [][4]int{{193, 194, 400, 193}, {194, 194, 400, 193}, {1000, 1000, 400, 193}, {10, 1000, 400, 10}, {1000, 10, 216, 193}} { // bytes around, of the passage, and before the words in it
		r := Grade([]Probe{ask(typeDecision, "cache", "redis")}, &Evidence{Window: []string{"a", "b\n" + strings.Repeat(";", tt[0]) + "cache = redis" + strings.Repeat(";", tt[1]) + "\nc"}})
		if got := r.Results[0].Passage; len(got) != tt[2] || strings.Index(got, "cache = redis") != tt[3] {
			t.Errorf("between %d and %d bytes the passage is %q", tt[0], tt[1], got)
		}
	}
}

func TestIsPath(t *testing.T) {
	for text, want := range map[string]bool{
		"a/1": true, "1/a": true, "1/2": false, "lamp.go": true, "1.5": false, "lamp.": false, "a.1": false, "lamp": false, "a.1/b": true, "": false,
	} {
		if got := isPath([]byte(text)); got != want {
			t.Errorf("%q may be a path: %v, want %v", text, got, want)
		}
	}
}

func TestAkin(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"lamp", "lamp", true},
		{"lamp", "lamps", false},
		{"light", "lights", true},
		{"lights", "light", true},
		{"light", "lightings", true},
		{"light", "lightingss", false},
		{"light", "slight", false},
	} {
		if got := sameRoot(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q are of one word: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
