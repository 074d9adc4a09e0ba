package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/transcript"
)

// at is the block n of a turn, or the turn alone if n is 0.
func at(turn, n int) int { return 100*turn + n }

// of returns options for facts of such blocks.
func of(o Options) *Options {
	odd := map[int]string{0: "", 91: "404", 92: "42", 93: "auth", 94: "7f3a"}
	o.Ref = func(block int) string {
		if id, ok := odd[block%100]; ok {
			return id
		}
		return fmt.Sprintf("b%d", block%100)
	}
	o.Turn = func(block int) int { return block / 100 }
	return &o
}

// session has facts of every kind, as a conversation would give them.
func session() []facts.Fact {
	return []facts.Fact{
		{Kind: facts.FactTask, Text: "Migrate the billing service from MySQL to PostgreSQL without downtime", Names: []string{"MySQL", "PostgreSQL"}, Block: at(1, 1), Role: transcript.RoleUser},
		{Kind: facts.FactRead, Subject: "billing/store.go", Block: at(1, 2)},
		{Kind: facts.FactChange, Status: "created", Subject: "billing/pgstore.go", Text: "func OpenPool(dsn string) *Pool", Names: []string{"billing/pgstore.go", "OpenPool"}, Block: at(2, 3)},
		{Kind: facts.FactChange, Status: "modified", Subject: "./billing/pgstore.go", Text: "retry after serialization failures", Block: at(3, 4)},
		{Kind: facts.FactChange, Status: "modified", Subject: "billing/pgstore.go", Text: "rows.Close is deferred now", Names: []string{"rows.Close"}, Block: at(4, 5)},
		{Kind: facts.FactCorrection, Text: "Never touch the legacy_invoices table, it belongs to accounting", Names: []string{"legacy_invoices"}, Block: at(5, 6), Role: transcript.RoleUser},
		{Kind: facts.FactDecision, Text: "We will use pgx instead of lib/pq for connections", Why: "it supports COPY and pipelining", Names: []string{"lib/pq"}, Block: at(6, 7)},
		{Kind: facts.FactDecision, Text: "Go with logical replication for the cutover", Block: at(7, 8), Role: transcript.RoleUser},
		{Kind: facts.FactCommand, Status: "failed", Subject: "go test ./billing -run TestCutover", Text: "3 failed, 42 passed", Names: []string{"TestCutover"}, Block: at(8, 9)},
		{Kind: facts.FactError, Status: "resolved", Text: "pq: deadlock detected while locking invoices", Why: "ordering the updates by primary key", Block: at(8, 9)},
		{Kind: facts.FactQuestion, Status: "open", Text: "Which replica should the nightly export read from?", Block: at(9, 10), Role: transcript.RoleUser},
		{Kind: facts.FactTodo, Status: "pending", Subject: "Backfill currency columns", Block: at(9, 11)},
		{Kind: facts.FactTodo, Status: "completed", Subject: "Backfill currency columns", Block: at(10, 12)},
		{Kind: facts.FactTodo, Status: "in_progress", Subject: "Write rollback playbook", Block: at(10, 12)},
		{Kind: facts.FactPlan, Text: "Next I will shadow the writes for a week", Block: at(10, 13)},
		{Kind: facts.FactPlan, Text: "Afterwards the dashboards get compared nightly", Block: at(11, 14)},
		{Kind: facts.FactProgress, Text: "Replication lag went down to 40 ms on port 5433", Block: at(12, 15)},
		{Kind: facts.FactReference, Subject: "https://example.org/runbooks/cutover", Names: []string{"https://example.org/runbooks/cutover"}, Block: at(13, 16)},
	}
}

func TestGenerate(t *testing.T) {
	var got []string
	for _, p := range Generate(session(), of(Options{})) {
		mark := " "
		if p.Critical {
			mark = "!"
		}
		got = append(got, fmt.Sprintf("%s%s/%s %s %s %d of %s", mark, p.Type, p.About, p.Source, p.Question, p.Need, strings.Join(p.Expected, ", ")))
	}
	want := []string{
		"!file_path/path b3 Which file was created in turn 2? 1 of billing/pgstore.go",
		" file_changes/change b4 What was changed in a file in turn 3? 2 of retry, serialization, failures",
		" file_changes/change b5 What was changed in a file in turn 4? 2 of rows.Close, deferred",
		" decision/decision b7 What was decided in turn 6? 2 of pgx, lib/pq, connections",
		"!decision/decision b8 What did the user decide in turn 7? 2 of logical, replication, cutover",
		` rationale/reason b7 Why was it decided as it was in turn 6 about "connections"? 2 of supports, COPY, pipelining`,
		" error/error b9 Which error was reported in turn 8? 4 of pq, deadlock, detected, locking, invoices",
		` resolution/error b9 How was the error resolved in turn 8 about "deadlock"? 2 of ordering, primary, key`,
		"!blocker/question b10 What was left open in turn 9? 3 of replica, nightly, export, read",
		" progress/command b9 Which command failed in turn 8? 2 of ./billing, TestCutover",
		` progress/number b9 Which figure was reported in turn 8 about "TestCutover"? 1 of 3 failed`,
		" progress/todo b12 Which entry of the list of things to do was completed in turn 10? 2 of Backfill, currency, columns",
		" progress/progress b15 What was done or found in turn 12? 4 of Replication, lag, 40, port, 5433",
		` progress/number b15 Which figure was reported in turn 12 about "lag"? 1 of 40 ms`,
		" progress/reference b16 Which reference was used in turn 13? 1 of https://example.org/runbooks/cutover",
		" next_steps/todo b12 Which entry of the list of things to do is in progress in turn 10? 2 of Write, rollback, playbook",
		" next_steps/plan b14 What is the next step, as announced in turn 11? 3 of Afterwards, dashboards, compared, nightly",
		`!intent/task b1 What did the user ask for first in turn 1 about "service"? 4 of Migrate, billing, MySQL, PostgreSQL, downtime`,
		"!intent/correction b6 What did the user insist on in turn 5? 4 of touch, legacy_invoices, table, belongs, accounting",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("probes (-want +got):\n%s", d)
	}
}

func TestGenerateCoversAllTypes(t *testing.T) {
	have := make(map[Type]bool)
	for _, p := range Generate(session(), of(Options{})) {
		have[p.Type] = true
	}
	for _, typ := range Types() {
		if !have[typ] {
			t.Errorf("no probe of type %s", typ)
		}
	}
}

// What is said later leaves the probes alone that were there.
func TestProbesStayAsAConversationGrows(t *testing.T) {
	found := session()
	all := Generate(found, of(Options{}))
	for n := range found {
		for _, p := range Generate(found[:n], of(Options{})) {
			if p.Type == typeNextSteps || p.Type == typeFileChanges { // these are replaced
				continue
			}
			if !slices.ContainsFunc(all, func(q Probe) bool { return q.ID == p.ID }) {
				t.Errorf("after %d facts there is %v, and at the end it is not", n, p)
			}
		}
	}
}

func TestGenerateDropsWhatTheOriginalsDoNotAnswer(t *testing.T) {
	found := []facts.Fact{
		{Kind: facts.FactDecision, Text: "sessions move into redis", Block: at(1, 0)},
		{Kind: facts.FactDecision, Text: "tokens expire after midnight", Block: at(2, 0)},
	}
	got := Generate(found, of(Options{Originals: []string{"hello", "so sessions move to Redis"}}))
	if len(got) != 1 || !slices.Contains(got[0].Expected, "redis") {
		t.Errorf("probes are %+v, want the one about redis", got)
	}
}

func TestPlansGiveWayToALaterList(t *testing.T) {
	plan := facts.Fact{Kind: facts.FactPlan, Text: "Afterwards compare dashboards nightly", Block: at(3, 0)}
	for _, tt := range []struct {
		name string
		turn int // of the list
		want int
	}{
		{"an earlier list leaves the plan", 2, 2},
		{"so does one of the same turn", 3, 2},
		{"a later one replaces it", 4, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := []facts.Fact{plan, {Kind: facts.FactTodo, Status: "pending", Subject: "Write rollback playbook", Block: at(tt.turn, 0)}}
			if got := Generate(found, of(Options{})); len(got) != tt.want {
				t.Errorf("%d probes, want %d: %+v", len(got), tt.want, got)
			}
		})
	}
}

func TestGenerateBounds(t *testing.T) {
	var found []facts.Fact
	for i := range 1000 {
		found = append(found,
			facts.Fact{Kind: facts.FactChange, Subject: fmt.Sprintf("src/part%d.go", i), Status: "created", Block: at(i+1, 0)},
			facts.Fact{Kind: facts.FactDecision, Text: fmt.Sprintf("route tenant%d through shard%d", i, i*7), Block: at(i+1, 0)},
			facts.Fact{Kind: facts.FactCommand, Subject: fmt.Sprintf("deploy region%d zone%d", i, i+5), Text: fmt.Sprintf("%d passed", i+100), Block: at(i+1, 0)})
	}
	found = append(found, facts.Fact{Kind: facts.FactCorrection, Text: "Never deploy on weekends", Block: at(1001, 0), Role: transcript.RoleUser})
	count := func(probes []Probe) map[string]int {
		m := make(map[string]int)
		for _, p := range probes {
			m[string(p.Type)+"/"+p.About]++
		}
		return m
	}
	if d := cmp.Diff(map[string]int{
		"file_path/path": 199, "intent/correction": 1, "decision/decision": 24, "progress/command": 12, "progress/number": 12,
	}, count(Generate(found, of(Options{})))); d != "" {
		t.Errorf("by default (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]int{
		"file_path/path": 4, "intent/correction": 1, "decision/decision": 3, "progress/command": 2, "progress/number": 1,
	}, count(Generate(found, of(Options{PerType: 3, Critical: 5})))); d != "" {
		t.Errorf("bounded (-want +got):\n%s", d)
	}
	if got := Generate(found, of(Options{PerType: -1, Critical: -1})); len(got) != 0 {
		t.Errorf("with bounds below zero there are %d probes", len(got))
	}
	// Each quarter of the conversation has its share.
	quarters := make([]int, 4)
	for _, p := range Generate(found, of(Options{})) {
		if p.Type == typeDecision {
			var n int
			if _, err := fmt.Sscanf(p.Question, "What was decided in turn %d", &n); err != nil {
				t.Fatalf("%q: %v", p.Question, err)
			}
			quarters[(n-1)/250]++
		}
	}
	if d := cmp.Diff([]int{6, 6, 6, 6}, quarters); d != "" {
		t.Errorf("decisions by quarter (-want +got):\n%s", d)
	}
}

func TestQuestionsAvoidTheAnswer(t *testing.T) {
	for _, tt := range []struct {
		name string
		fact facts.Fact
		want string // empty if there is no such question
	}{
		{"a path with the word file in it", facts.Fact{Kind: facts.FactChange, Status: "created", Subject: "src/file.go", Block: at(3, 0)}, "What was created on disk in turn 3?"},
		{"a path with words of all questions", facts.Fact{Kind: facts.FactChange, Status: "created", Subject: "which/what/where.go", Block: at(3, 0)}, ""},
		{"a figure that is the turn", facts.Fact{Kind: facts.FactProgress, Text: "it took 404", Block: at(404, 7)}, "Which figure was reported in block b7 about \"took\"?"},
		{"and the block", facts.Fact{Kind: facts.FactProgress, Text: "it took 404", Block: at(404, 91)}, "Which figure was reported about \"took\"?"},
		{"no turn and no block", facts.Fact{Kind: facts.FactChange, Status: "moved", Subject: "src/a.go"}, "Which file was moved?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, p := range Generate([]facts.Fact{tt.fact}, of(Options{})) {
				got = p.Question
			}
			if got != tt.want {
				t.Errorf("question is %q, want %q", got, tt.want)
			}
		})
	}
}

// A question that answers another is asked without what it is about. A probe that is
// still answered is dropped, and no other question changes.
func TestSilence(t *testing.T) {
	about := func(keyword, question, about string) candidate {
		plain := strings.ReplaceAll(question, "~", "")
		p := ask(typeDecision, keyword)
		p.Question = strings.ReplaceAll(question, "~", about)
		return candidate{Probe: p, plain: plain}
	}
	for _, tt := range []struct {
		name string
		list []candidate
		want []string
	}{
		{"none answers another", []candidate{
			about("redis", "What about ~?", "speed"), about("kafka", "Which of ~?", "queues"),
		}, []string{"What about speed?", "Which of queues?"}},
		{"the last answers the first", []candidate{
			about("redis", "What about ~?", "speed"), about("kafka", "Which of ~?", "queues"), about("nginx", "Who saw ~?", "redis"),
		}, []string{"What about speed?", "Which of queues?", "Who saw ?"}},
		{"the first answers the last", []candidate{
			about("redis", "~, what of it?", "nginx"), about("kafka", "Which of ~?", "queues"), about("nginx", "Who saw ~?", "rain"),
		}, []string{", what of it?", "Which of queues?", "Who saw rain?"}},
		{"one in the middle begins with the answer", []candidate{
			about("redis", "What about ~?", "speed"), about("kafka", "~: which?", "redis"), about("nginx", "Who saw ~?", "rain"),
		}, []string{"What about speed?", ": which?", "Who saw rain?"}},
		{"one in the middle ends with the answer", []candidate{
			about("redis", "What about ~?", "speed"), about("kafka", "Which is ~", "redis"), about("nginx", "~ by whom?", "rain"),
		}, []string{"What about speed?", "Which is ", "rain by whom?"}},
		{"two that follow each other answer together", []candidate{
			about("blue-green", "What is ~", "blue"), about("kafka", "~ is what?", "green"), about("nginx", "Who saw ~?", "rain"),
		}, []string{"What is ", " is what?", "Who saw rain?"}},
		{"a question that answers without what it is about", []candidate{
			about("redis", "What about ~?", "speed"), about("saw", "Which of ~?", "queues"), about("nginx", "Who saw ~?", "rain"),
		}, []string{"What about speed?", "Who saw ?"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range dropAnswered(tt.list) {
				got = append(got, c.Question)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("questions (-want +got):\n%s", d)
			}
		})
	}
}

func TestFigure(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"42 passed, 1 failed", []string{"42", "passed"}},
		{"only 3 failed", []string{"3 failed"}},
		{"listening on port 8443", []string{"8443"}},
		{"took 40ms", []string{"40ms"}},
		{"coverage is 87.5% now", []string{"87.5%"}},
		{"version 1.26.3 is out", []string{"1.26.3"}},
		{"at 12:30 in a.go:17: bad", nil},
		{":170, at 12:300 and 4711", []string{"4711"}},
		{"no number at all", nil},
		{"step 2 of it", nil},
		{"4200  passed", []string{"4200"}},
		{"4200, passed", []string{"4200"}},
		{"40-lamps and port 4711", []string{"4711"}},
		{"v2 is out", nil},
		{"the lamp-ms flag takes 250 bulbs", []string{"250", "bulbs"}},
		{"vat 3, v 4, v2.30 is out", []string{"v2.30"}},
		{"12345678901234567890123456 and 4711", []string{"4711"}},
		{"42 ms later", []string{"42 ms"}},
		{strings.Repeat("x ", 998) + "8443", []string{"8443"}},
		{strings.Repeat("x ", 1000) + "8443", nil}, // what is behind the first 2000 bytes is not read
	} {
		if got, _ := figure(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("figure(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// anyFacts draws facts of words that are likely to be mistaken for others.
func anyFacts() *rapid.Generator[[]facts.Fact] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{
			"file", "turn", "which", "decided", "What", "src/auth.go", "./a/b.go", "/x/file.go", "go", "42", "420", "7", "1,234", "90%", "40ms",
			"v1.2", "the", "user", "users", "redis", "Cache", "caches", "don’t", "use", "https://x.org/a?b=1", "foo_bar", "--fail-fast", "。", "缓存",
			"“quoted”", "`code`", "**", "README.md", "a.b.c", "\u00a0", "…?", "turn-3", "B12", `C:\new\table`, "block", "3", "failed", "passed", "12,345,678",
		}),
		rapid.StringMatching(`[a-z]{2,9}`),
		rapid.StringN(1, 8, 20),
	)
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(strings.Fields(strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "words"), " ")), " ")
	})
	kinds := []facts.FactKind{
		facts.FactTask, facts.FactCorrection, facts.FactChange, facts.FactRead, facts.FactCommand, facts.FactDecision, facts.FactError, facts.FactQuestion, facts.FactTodo, facts.FactPlan, facts.FactProgress,
		facts.FactReference, "other",
	}
	fact := rapid.Custom(func(t *rapid.T) facts.Fact {
		f := facts.Fact{
			Kind:    rapid.SampledFrom(kinds).Draw(t, "kind"),
			Status:  rapid.SampledFrom([]facts.FactStatus{"", "created", "file", "failed", "resolved", "open", "completed", "in_progress"}).Draw(t, "status"),
			Subject: text.Draw(t, "subject"), Text: text.Draw(t, "text"), Why: text.Draw(t, "why"),
			Block: at(rapid.IntRange(0, 50).Draw(t, "turn"), rapid.SampledFrom([]int{0, 12, 92, 93, 94}).Draw(t, "block")),
			Role:  rapid.SampledFrom([]transcript.Role{transcript.RoleUser, transcript.RoleAssistant}).Draw(t, "role"),
		}
		if f.Kind == facts.FactChange && rapid.Bool().Draw(t, "path") {
			f.Subject = word.Draw(t, "one")
		}
		f.Names = slices.DeleteFunc(strings.Fields(f.Subject+" "+f.Text), func(w string) bool { return !strings.ContainsAny(w, "_/.0123456789") })
		return f
	})
	return rapid.SliceOfN(fact, 0, 12)
}

func TestGeneratedProbesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found := anyFacts().Draw(t, "facts")
		probes := Generate(found, of(Options{}))
		if got := Lint(probes); len(got) > 0 {
			t.Errorf("problems: %+v\nof %+v", got, probes)
		}
		if d := cmp.Diff(probes, Generate(found, of(Options{}))); d != "" {
			t.Errorf("second time:\n%s", d)
		}
		var verbatim, echo []string
		for _, f := range found {
			verbatim = append(verbatim, f.Subject+"\n"+f.Text+"\n"+f.Why)
		}
		for _, p := range probes {
			echo = append(echo, p.Question+" Indeed.") // no line is a question, which would not be read
		}
		if r := Grade(probes, &Evidence{Window: verbatim}); r.Passed != r.Total {
			t.Errorf("the facts themselves fail: %+v", r.Failed())
		}
		if r := Grade(probes, &Evidence{Window: []string{strings.Join(echo, "\n")}}); r.Passed != 0 {
			t.Errorf("the questions pass: %+v", r.Results)
		}
		if r := Grade(probes, &Evidence{Window: []string{""}}); r.Passed != 0 {
			t.Errorf("nothing passes: %+v", r.Results)
		}
	})
}

func TestMoreTextFailsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		found := anyFacts().Draw(t, "facts")
		probes := Generate(found, of(Options{}))
		var lines []string
		for _, f := range found {
			for _, s := range []string{f.Subject, f.Text, f.Why} {
				if rapid.Bool().Draw(t, "keep") {
					lines = append(lines, s)
				}
			}
		}
		less := Grade(probes, &Evidence{Window: lines})
		more := rapid.Permutation(append(lines, rapid.SliceOf(rapid.String()).Draw(t, "more")...)).Draw(t, "order")
		for i, r := range Grade(probes, &Evidence{Window: more}).Results {
			if less.Results[i].Place == Window && r.Place != Window {
				t.Errorf("probe %v fails with more text", r.Probe)
			}
		}
		// So it is if the further text stands in front of it.
		front := append([]string{}, lines...)
		for i := range front {
			front[i] = "cache redis failed\n" + front[i] + "\nuse"
		}
		for i, r := range Grade(probes, &Evidence{Window: front}).Results {
			if less.Results[i].Place == Window && r.Place != Window {
				t.Errorf("probe %v fails within more text", r.Probe)
			}
		}
	})
}

// What a decision is known by: names stand for themselves, and a plain word does not.
func TestKeywordsOfADecision(t *testing.T) {
	long := strings.Repeat("a1", 50)
	for _, tt := range []struct {
		name, text string
		names      []string
		want       string
	}{
		{"a name of two words", "We will use lib/pq", nil, "lib/pq"},
		{"a name with a capital in it", "We will use poolX", nil, "poolX"},
		{"a short name with a capital in it", "We will use pgX", nil, ""},
		{"a plain word", "We will use postgres", nil, ""},
		{"a word with a capital in front", "We will use Postgres", nil, ""},
		{"a word in capitals", "We will use GRPC", nil, ""},
		{"a name that begins with a common word", "We will use file-lock", nil, "file-lock"},
		{"a hundred characters", "We will use " + long, nil, long},
		{"more than that", "We will use " + long + "b", nil, ""},
		{"the shortest of six words, and a common one, give way", "We will use project apricot blossom cherries dahlias elderberry figs", nil, "apricot blossom cherries dahlias elderberry"},
		{"a frequent one does so before", "Water the apricot and the blossom|We will use apricot blossom cherries dahlias elderberry figs", nil, "apricot cherries dahlias elderberry figs"},
		{"three names at most", "We will use a1b c2d e3f g4h", []string{"a1b", "c2d", "e3f", "g4h"}, "a1b c2d e3f"},
		{"a word within another", "We will use pool and pool-size", nil, "pool-size"},
		{"an address of 100 bytes", "We will use https://x.example/?" + long[:81], []string{"https://x.example/?" + long[:81]}, "https://x.example/?" + long[:81]},
		{"an address of 101 bytes", "We will use https://x.example/?" + long[:82], []string{"https://x.example/?" + long[:82]}, "//x.example " + long[:82]},
	} {
		var got string
		var found []facts.Fact
		for i, said := range strings.Split(tt.text, "|") {
			found = append(found, facts.Fact{Kind: facts.FactDecision, Text: said, Names: tt.names, Block: at(1+i, 1)})
		}
		for _, p := range Generate(found, of(Options{})) {
			got = strings.Join(p.Expected, " ")
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What is decided twice is asked for once.
func TestDecisionsThatAreTheSame(t *testing.T) {
	f := facts.Fact{Kind: facts.FactDecision, Text: "sessions move into redis"}
	if got := Generate([]facts.Fact{f, f}, nil); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

// Without options, no turn and no block is known, and all else is asked.
func TestGenerateWithoutOptions(t *testing.T) {
	for name, o := range map[string]*Options{"none": nil, "the default": {}} {
		var plans int
		for _, p := range Generate(session(), o) {
			if p.Source != "" || strings.Contains(p.Question, " turn ") {
				t.Errorf("%s: %q of %q", name, p.Question, p.Source)
			}
			if p.About == "plan" {
				plans++
			}
		}
		if plans == 0 {
			t.Errorf("%s: no plan is asked for", name)
		}
	}
}

// A change of which nothing is said is none of the two that are asked for.
func TestTheLatestChangesThatSaySomething(t *testing.T) {
	change := func(text string, n int) facts.Fact {
		return facts.Fact{Kind: facts.FactChange, Status: "modified", Subject: "a/b.go", Text: text, Block: at(n, n)}
	}
	var got []string
	for _, p := range Generate([]facts.Fact{change("redis cache", 1), change("", 2), change("postgres pool", 3)}, of(Options{})) {
		if p.Type == typeFileChanges {
			got = append(got, strings.Join(p.Expected, " "))
		}
	}
	if d := cmp.Diff([]string{"redis cache", "postgres pool"}, got); d != "" {
		t.Error(d)
	}
}

// A question about one of several files that a turn changed says that there were several.
func TestQuestionsAboutSeveralFiles(t *testing.T) {
	change := func(name string, turn, n int) facts.Fact {
		return facts.Fact{Kind: facts.FactChange, Status: "modified", Subject: name, Block: at(turn, n)}
	}
	list := []facts.Fact{change("a/b.go", 1, 1), change("c/d.go", 2, 1), change("e/f.go", 2, 2)}
	got := make(map[string]string)
	for _, p := range Generate(list, of(Options{Turn: func(block int) int { return block / 100 }})) {
		if p.Type == typeFilePath {
			got[p.Expected[0]] = strings.Join(strings.Fields(p.Question)[:2], " ")
		}
	}
	if d := cmp.Diff(map[string]string{"a/b.go": "Which file", "c/d.go": "Which files", "e/f.go": "Which files"}, got); d != "" {
		t.Error(d)
	}
}
