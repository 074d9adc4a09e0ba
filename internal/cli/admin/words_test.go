package admin

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/plugin"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

func TestComparedStoresArePrinted(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	newest := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, tt := range []struct {
		c    sqlite.Comparison
		want string
	}{
		{sqlite.Comparison{Backup: sqlite.Inventory{Sessions: 1, Artifacts: 2, Newest: newest}}, "the backup has 1 session and 2 artifacts, the newest change of 2026-02-03 04:05:06 UTC\n"},
		{
			sqlite.Comparison{Present: &sqlite.Inventory{Sessions: 2, Artifacts: 1}},
			"the backup has 0 sessions and 0 artifacts\nthe present store has 2 sessions and 1 artifact\n",
		},
		{
			sqlite.Comparison{Present: &sqlite.Inventory{}, LostSessions: 1, OlderSessions: 2, LostVersions: 1, LostCalls: 2},
			"the backup has 0 sessions and 0 artifacts\nthe present store has 0 sessions and 0 artifacts\n" +
				"of the present store the backup does not have 1 session, the latest changes of 2 sessions, 1 update of artifacts, 2 calls to models\n",
		},
	} {
		stderr.Reset()
		if printCompared(job.New(env), &tt.c); stderr.String() != tt.want {
			t.Errorf("%+v: %q, want %q", tt.c, stderr, tt.want)
		}
	}
}

func TestMeasurementsArePrinted(t *testing.T) {
	for _, tt := range []clitest.Printing{
		{
			Name: "a pager that is right", Print: func(p *out.Page) {
				printBench(p, &benchResult{Matrix: []string{"m"}, Blocks: 10_000, Bytes: 20_000, Millis: 1.25, Rate: 8000})
			},
			Pipe: "m\ninvariants hold\n10000 blocks, 20000 bytes: 1.2 ms, 8000 blocks/s\n", TTY: "m\ninvariants hold\n10,000 blocks, 20,000 bytes: 1.2 ms, 8,000 blocks/s\n",
		},
		{Name: "one that is not", Print: func(p *out.Page) { printBench(p, &benchResult{Faults: []string{"f"}}) }, Pipe: "fault: f\n0 blocks, 0 bytes: 0.0 ms, 0 blocks/s\n"},
		{
			Name: "repairs", Print: func(p *out.Page) {
				printRepair(p, &carrel.RepairResult{Format: "openai", Intact: true})
				printRepair(p, &carrel.RepairResult{Repairs: []transcript.Fix{{Rule: "r", Message: 2, What: "moved"}}})
			},
			Pipe: "openai ok\nr\t2\tmoved\n", TTY: "openai ok\nrule  message  repair\nr     2        moved\n",
		},
	} {
		tt.Test(t)
	}
	for _, tt := range []struct {
		f      float64
		person bool
		want   string
	}{{math.NaN(), true, "–"}, {math.NaN(), false, ""}, {0.1234, true, "0.12"}, {0.1234, false, "0.123"}} {
		if got := figure(tt.f, tt.person); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	if got := millionths(0.12345651); got != 0.123457 {
		t.Errorf("millionths of 0.12345651 are %v", got)
	}
	if got := inBrackets("") + inBrackets("r"); got != " (r)" {
		t.Errorf("in brackets: %q", got)
	}
}

// Files are in the order of a hash of their names, wherever they are, and each is there once.
func TestFilesInHashOrder(t *testing.T) {
	order := func(names ...string) string {
		var files []job.File
		for _, name := range names {
			files = append(files, job.File{Source: agents.Source{Name: name}})
		}
		var got []string
		for _, f := range inHashOrder(files) {
			got = append(got, f.Name)
		}
		return strings.Join(got, " ")
	}
	names := []string{"x/1.json", "x/2.json", "x/3.json", "x/4.json", "x/5.json"}
	want := order(names...)
	slices.Reverse(names)
	if got := order(names...); got != want {
		t.Errorf("%s, want %s as in another order", got, want)
	}
	if got := order("y/1.json", "y/2.json", "y/3.json", "y/4.json", "y/5.json"); got != strings.ReplaceAll(want, "x/", "y/") {
		t.Errorf("in another folder %s, want the order %s", got, want)
	}
	if want == "x/1.json x/2.json x/3.json x/4.json x/5.json" {
		t.Errorf("%s: the order is that of the names", want)
	}
	if got := order("b/1.json", "a/1.json", "b/./1.json", "a/1.json"); got != "a/1.json b/./1.json" && got != "a/1.json b/1.json" {
		t.Errorf("files of one name: %s", got)
	}
}

func TestNothingToMeasure(t *testing.T) {
	for _, tt := range []struct {
		r          recording
		says, hint string
	}{
		{recording{}, "bench retention: no conversation in a, b: no file there ends in .json or .jsonl", "carrel help formats; name the folder or the files of your sessions"},
		{recording{files: 1}, "bench retention: no conversation in a, b: 1 file there ends in .json or .jsonl, none in a known format", "carrel help formats; name the folder or the files of your sessions"},
		{recording{files: 2}, "bench retention: no conversation in a, b: 2 files there end in .json or .jsonl, none in a known format", "carrel help formats; name the folder or the files of your sessions"},
		{recording{files: 2, idle: 2}, "bench retention: none of the sessions in a, b can be measured (2): a session must use three names of files, functions or the like again", "name longer sessions, in which an agent calls tools"},
		{recording{files: 1, short: 1}, "bench retention: no session in a, b has --min 4,000 tokens before a cut: 1 session is shorter", "give a lower --min, such as 1000, or name longer sessions"},
		{recording{files: 2, short: 1, idle: 1}, "bench retention: no session in a, b has --min 4,000 tokens before a cut: 1 session is shorter", "give a lower --min, such as 1000, or name longer sessions"},
	} {
		tt.r.paths = []string{"a", "b"}
		err := tt.r.nothing(4000)
		if err.Error() != tt.says || out.HintOf(err) != tt.hint || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%+v: %q, hint %q", tt.r, err, out.HintOf(err))
		}
	}
	if err := (&recording{short: 1}).nothing(3); !strings.Contains(out.HintOf(err), "--min, such as 1,") {
		t.Errorf("hint %q, want --min 1 at least", out.HintOf(err))
	}
}

// What is named twice is measured once.
func TestBudgetsAndStrategiesAreTakenOnce(t *testing.T) {
	env, _, _ := clitest.Env(t)
	b := &retentionBench{j: job.New(env), budgets: "10%, 4k,10%", strategies: "window, pager,window", max: 1, least: 1}
	opts, err := b.options()
	if err != nil || len(opts.Budgets) != 2 || !opts.NoStable {
		t.Errorf("%+v, %v, want two budgets", opts, err)
	}
	list, err := b.chosen()
	if err != nil || fmt.Sprint(list) != "[window pager]" {
		t.Errorf("%v, %v, want window and pager", list, err)
	}
	for change, says := range map[*retentionBench]string{
		{budgets: "x"}:                    "--budgets: ",
		{budgets: "5%", least: 1}:         "--max: 0 is below 1",
		{budgets: "5%", max: 1}:           "--min: 0 is below 1",
		{budgets: "5%", max: 1, least: 1}: "--strategy: ",
	} {
		change.j = job.New(env)
		if _, err := change.options(); out.KindOf(err) != out.KindUsage || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", change, err, says)
		}
	}
	if _, err := b.ownSessions(); out.KindOf(err) != out.KindUsage {
		t.Errorf("without sessions: %v", err)
	}
	at := filepath.Dir(clitest.WriteFile(t, env, ".claude/projects/x", ""))
	if got, err := b.ownSessions(); err != nil || len(got) != 1 || got[0] != at {
		t.Errorf("own sessions are in %q, %v, want %s", got, err, at)
	}
}

// A diff shows what goes and what comes, with the line at which it is in the new text.
func TestDifferencesOfFiles(t *testing.T) {
	const long = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	skill := string(plugin.Skill)
	lines := strconv.Itoa(strings.Count(skill, "\n"))
	for _, tt := range []struct {
		before, after string
		alone         bool
		want          string
	}{
		{"", "a\n", false, "--- no file\n+++ f\n@@ line 1 @@\n+a\n"},
		{"a\n", "", false, "--- f\n+++ no file\n@@ line 1 @@\n-a\n"},
		{"a\nb\n", "a\nc\n", false, "--- f\n+++ f\n@@ line 2 @@\n-b\n+c\n"},
		{"a\nb", "b\na", false, "--- f\n+++ f\n@@ line 1 @@\n-a\n@@ line 2 @@\n+a\n"},
		{long, strings.ReplaceAll(strings.Replace(long, "2\n", "", 1), "8\n", "8\nx\ny\n"), false, "--- f\n+++ f\n@@ line 2 @@\n-2\n@@ line 8 @@\n+x\n+y\n"},
		{long, strings.ReplaceAll(strings.ReplaceAll(long, "3\n", "x\n3\n"), "6\n", "y\n"), false, "--- f\n+++ f\n@@ line 3 @@\n+x\n@@ line 7 @@\n-6\n+y\n"},
		{long, long, false, "--- f\n+++ f\n"},
		{"", skill, true, "--- no file\n+++ f\n@@ the skill of Carrel, " + lines + " lines @@\n"},
		{skill, "", true, "--- f\n+++ no file\n@@ the skill of Carrel, " + lines + " lines @@\n"},
		{"a\nb\n", "", true, "--- f\n+++ no file\n@@ line 1 @@\n-a\n-b\n"}, // another text of the skill
		{"a\n", "b\n", true, "--- f\n+++ f\n@@ line 1 @@\n-a\n+b\n"},
	} {
		c := &fileChange{path: "f", alone: tt.alone}
		if tt.before != "" {
			c.before = []byte(tt.before)
		}
		if tt.after != "" {
			c.after = []byte(tt.after)
		}
		if got := c.diff(); got != tt.want {
			t.Errorf("%q to %q:\n%s\nwant:\n%s", tt.before, tt.after, got, tt.want)
		}
	}
	for _, tt := range []struct{ a, b, want string }{
		{"", "", "[]"}, {"a", "b", "[]"}, {"abcd", "axcd", "[[0 0] [2 2] [3 3]]"}, {"ab", "ba", "[[1 0]]"}, {"xaby", "ab", "[[1 0] [2 1]]"}, {"abab", "baba", "[[1 0] [2 1] [3 2]]"},
	} {
		if got := fmt.Sprint(common(strings.Split(tt.a, ""), strings.Split(tt.b, ""))); got != tt.want {
			t.Errorf("common(%s, %s) = %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestActionsOfChanges(t *testing.T) {
	x, y := []byte("x"), []byte("y")
	for want, c := range map[string][]fileChange{
		"none": {{}, {before: x, after: x}}, "create": {{after: x}, {after: []byte{}}}, "remove": {{before: x}, {before: []byte{}}}, "change": {{before: x, after: y}, {before: x, after: []byte{}}},
	} {
		for i := range c {
			if got := c[i].action(); got != want {
				t.Errorf("%+v: %s, want %s", c[i], got, want)
			}
		}
	}
}

func TestValuesOfSettings(t *testing.T) {
	for _, tt := range []struct {
		a, b         string
		same, covers bool
	}{
		{`{"a":1,"b":[2]}`, `{ "b": [2], "a": 1 }`, true, true},
		{`{"a":1,"b":2}`, `{"a":1}`, false, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false, false},
		{`{"a":2}`, `{"a":1}`, false, false},
		{`{"a":1}`, `{`, false, false},
		{`{`, `{"a":1}`, false, false},
		{`[1]`, `[1]`, true, false},
		{`{"a":["carrel mcp"]}`, `{"a":["carrel","mcp"]}`, false, false},
		{`{"a":"true"}`, `{"a":true}`, false, false},
		{`{"a":"1"}`, `{"a":1}`, false, false},
		{`{"a":1.0}`, `{"a":1}`, true, true},
		{`{}`, `{"a":null}`, false, false},
		{`{"a":{"b":[null]}}`, `{"a":{"b":[null]}}`, true, true},
	} {
		if got := sameJSON([]byte(tt.a), []byte(tt.b)); got != tt.same {
			t.Errorf("sameJSON(%s, %s) = %v", tt.a, tt.b, got)
		}
		if got := covers([]byte(tt.a), []byte(tt.b)); got != tt.covers {
			t.Errorf("covers(%s, %s) = %v", tt.a, tt.b, got)
		}
	}
	for text, want := range map[string]string{
		"{}": "  ", "{\n    \"a\": 1\n}": "    ", "{\n\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}": "\t", "   // x\n{\n \"a\": 1\n}": " ", "": "  ", "{\n\"a\": 1\n}": "  ",
	} {
		if got := (&settingsText{data: []byte(text)}).unit(); got != want {
			t.Errorf("the unit of %q is %q, want %q", text, got, want)
		}
	}
}

// A key is put before the others, in the file's own layout, with objects that are missing.
func TestKeysAreSet(t *testing.T) {
	for _, tt := range []struct {
		before string
		dir    []string
		want   string // "" if it is refused
		says   string
	}{
		{"{}", nil, "{\n  \"k\": 1\n}", ""},
		{"{}\n", []string{"a", "b"}, "{\n  \"a\": {\n    \"b\": {\n      \"k\": 1\n    }\n  }\n}\n", ""},
		{"{\n    \"x\": 2\n}\n", nil, "{\n    \"k\": 1,\n    \"x\": 2\n}\n", ""},
		{"{\n\t\"a\": {\n\t\t\"x\": 2\n\t}\n}\n", []string{"a"}, "{\n\t\"a\": {\n\t\t\"k\": 1,\n\t\t\"x\": 2\n\t}\n}\n", ""},
		{"{\n}\n", nil, "{\n  \"k\": 1\n}\n", ""},
		{"{\"a\":{}}", []string{"a"}, "{\"a\":{\n    \"k\": 1\n  }}", ""},
		{"{\"a\":1}", []string{"a"}, "", "a is not an object"},
		{"[1]", nil, "", "the content of the file is not an object"},
		{"[1]", []string{"a"}, "", "the content of the file is not an object"},
		{"{\"a\":{\"b\":1}}", []string{"a", "b", "c"}, "", "a.b is not an object"},
		{"{", nil, "", "f:1"},
	} {
		s := &settingsText{name: "f", data: []byte(tt.before)}
		err := s.set(tt.dir, "k", 1)
		if (err == nil) != (tt.want != "") || err == nil && string(s.data) != tt.want || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q %q: %q, %v, want %q %q", tt.before, tt.dir, s.data, err, tt.want, tt.says)
		}
	}
}
