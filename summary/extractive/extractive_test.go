package extractive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

func ref(block int) string { return fmt.Sprintf("b%d", block) }

func TestDraftOfNothingSaysSo(t *testing.T) {
	none := []summary.Item{{Text: summary.None}}
	want := &summary.Summary{
		Intent: summary.None, State: summary.None,
		Files: summary.Files{{Path: summary.None}}, Decisions: []summary.Decision{{Decision: summary.None}}, Errors: []summary.Error{{Error: summary.None}},
		Blockers: none, Next: none, Context: none, Artifacts: none,
	}
	if diff := cmp.Diff(want, Draft(nil, nil)); diff != "" {
		t.Errorf("draft of no facts (-want +got):\n%s", diff)
	}
}

func TestDraft(t *testing.T) {
	user, agent := transcript.RoleUser, transcript.RoleAssistant
	got := Draft([]facts.Fact{
		{Kind: facts.FactTask, Role: user, Block: 0, Text: "Fix the pool."},
		{Kind: facts.FactRead, Role: agent, Block: 1, Subject: "pool/doc.go"},
		{Kind: facts.FactRead, Role: agent, Block: 1, Subject: "get_order W7", Text: "status open"},
		{Kind: facts.FactChange, Status: facts.StatusModified, Role: agent, Block: 2, Subject: "pool/pool.go", Text: "new func Close (+4 −0 lines)"},
		{Kind: facts.FactCommand, Status: facts.StatusFailed, Role: agent, Block: 3, Subject: "go test ./... 2>&1 | tail -5", Text: "--- FAIL: TestClose"},
		{Kind: facts.FactError, Status: facts.StatusResolved, Role: agent, Block: 3, Subject: "go test ./...", Text: "--- FAIL: TestClose", Why: "edited pool/pool.go"},
		{Kind: facts.FactCorrection, Role: user, Block: 4, Text: "Never touch the lock file."},
		{Kind: facts.FactTask, Role: user, Block: 4, Text: "Now the README. Never touch the"},
		{Kind: facts.FactDecision, Role: agent, Block: 5, Text: "I chose a mutex because two goroutines write.", Why: "two goroutines write."},
		{Kind: facts.FactChange, Status: facts.StatusCreated, Role: agent, Block: 5, Subject: "README.md", Text: "\"Pool\", 12 lines"},
		{Kind: facts.FactChange, Status: facts.StatusModified, Role: agent, Block: 6, Subject: "pool/pool.go", Text: "limit: 5 → 30"},
		{Kind: facts.FactCommand, Status: facts.StatusOK, Role: agent, Block: 7, Subject: "go test ./...", Text: "ok pool 0.1s"},
		{Kind: facts.FactProgress, Role: agent, Block: 8, Text: "All 42 tests pass."},
		{Kind: facts.FactTodo, Status: facts.StatusCompleted, Role: agent, Block: 8, Subject: "Fix", Text: "Fix"},
		{Kind: facts.FactTodo, Status: facts.StatusActive, Role: agent, Block: 8, Subject: "Document", Text: "Document"},
		{Kind: facts.FactReference, Role: user, Block: 8, Subject: "https://example.com/17", Text: "See https://example.com/17."},
		{Kind: facts.FactReference, Role: user, Block: 8, Subject: "TestClose", Text: "TestClose is in the context already"},
		{Kind: facts.FactQuestion, Status: facts.StatusOpen, Role: agent, Block: 9, Text: "Should I commit?"},
		{Kind: facts.FactQuestion, Status: facts.StatusResolved, Role: agent, Block: 9, Text: "Which port?", Why: "8443"},
	}, &Options{Ref: ref})
	want := &summary.Summary{
		Intent: "Fix the pool. Now: Now the README. Never touch the",
		Files: summary.Files{
			{Path: "README.md", Changes: []summary.Item{{Text: "created: \"Pool\", 12 lines", Source: "b5"}}},
			{Path: "pool/pool.go", Changes: []summary.Item{{Text: "new func Close (+4 −0 lines)", Source: "b2"}, {Text: "limit: 5 → 30", Source: "b6"}}},
		},
		Decisions: []summary.Decision{{Decision: "I chose a mutex because two goroutines write.", Rationale: "two goroutines write.", Source: "b5"}},
		State: "All 42 tests pass. To-dos: 1 of 2 completed, in progress: Document. Last command: go test ./...: ok (ok pool 0.1s). " +
			"Waiting for an answer: Should I commit?",
		Blockers: []summary.Item{{Text: "Should I commit?", Source: "b9"}},
		Next:     []summary.Item{{Text: "Document", Source: "b8"}},
		Context: []summary.Item{
			{Text: "User: Never touch the lock file.", Source: "b4"},
			{Text: "All 42 tests pass.", Source: "b8"},
			{Text: "go test ./... ×2: ok (ok pool 0.1s)", Source: "b7"},
			{Text: "get_order W7: status open", Source: "b1"},
			{Text: "Read: pool/doc.go", Source: "b1"},
		},
		Errors:    []summary.Error{{Error: "go test ./...: --- FAIL: TestClose", Status: "resolved", Note: "edited pool/pool.go", Source: "b3"}},
		Artifacts: []summary.Item{{Text: "See https://example.com/17.", Source: "b8"}, {Text: "TestClose is in the context already", Source: "b8"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("draft (-want +got):\n%s", diff)
	}
}

func TestIntentGoesOn(t *testing.T) {
	task := func(block int, text string) facts.Fact {
		return facts.Fact{Kind: facts.FactTask, Role: transcript.RoleUser, Block: block, Text: text}
	}
	got := Draft([]facts.Fact{task(7, "Do d."), task(8, "Do e.")}, &Options{Ref: ref, Intent: "Do a. Now: Do b. Now: Do c."})
	if want := "Do a. Now: Do c. Now: Do d. Now: Do e."; got.Intent != want {
		t.Errorf("intent = %q, want %q", got.Intent, want)
	}
	if diff := cmp.Diff([]summary.Item{{Text: "User asked: Do b."}}, got.Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
}

// The intent of a session that is drafted and merged again and again has the first task and the
// three newest, each once; the others are in the context.
func TestIntentGoesOnThroughMerges(t *testing.T) {
	s := &summary.Summary{}
	for i, tasks := range [][]string{{"Build the lamp.", "Paint it red.", "Add a switch."}, {"Write the manual.", "Ship it."}, {"Call the shop.", "Send the bill."}} {
		var list []facts.Fact
		for _, text := range tasks {
			list = append(list, facts.Fact{Kind: facts.FactTask, Role: transcript.RoleUser, Block: i, Text: text})
		}
		s, _ = s.Merge(Draft(list, &Options{Intent: s.Intent}))
	}
	if want := "Build the lamp. Now: Ship it. Now: Call the shop. Now: Send the bill."; s.Intent != want {
		t.Errorf("intent = %q, want %q", s.Intent, want)
	}
	want := []summary.Item{{Text: "User asked: Paint it red."}, {Text: "User asked: Add a switch."}, {Text: "User asked: Write the manual."}}
	if diff := cmp.Diff(want, s.Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if got := Draft(nil, &Options{Intent: "Do a.\nNow: Do b."}).Intent; got != "Do a. Now: Do b." {
		t.Errorf("intent of a model's summary = %q", got)
	}
}

// Every commit is an entry, also if the command line is the same, and a reference that is only a
// part of another one has its own.
func TestDraftHasEveryCommitAndReference(t *testing.T) {
	agent := transcript.RoleAssistant
	commit := func(block int, status facts.FactStatus, text string) facts.Fact {
		return facts.Fact{Kind: facts.FactCommand, Status: status, Role: agent, Block: block, Subject: "git commit -F msg", Text: text}
	}
	page := func(url string) facts.Fact {
		return facts.Fact{Kind: facts.FactReference, Role: agent, Block: 1, Subject: url, Text: "see " + url}
	}
	s := Draft([]facts.Fact{
		commit(1, facts.StatusFailed, "hook failed"), commit(2, facts.StatusOK, "[main aaaaaaa] one"), commit(3, facts.StatusOK, "[main bbbbbbb] two"), commit(4, facts.StatusFailed, "nothing to commit"),
		page("https://x.dev/docs/api"), page("https://x.dev/docs"), page("https://x.dev/docs/api"), page("#12"), page("#1"),
	}, nil)
	want := []summary.Item{{Text: "Committed [main aaaaaaa] one"}, {Text: "Committed [main bbbbbbb] two"}, {Text: "git commit -F msg: failed (nothing to commit)"}}
	if diff := cmp.Diff(want, s.Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	want = []summary.Item{{Text: "see https://x.dev/docs/api"}, {Text: "see https://x.dev/docs"}, {Text: "see #12"}, {Text: "see #1"}}
	if diff := cmp.Diff(want, s.Artifacts); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
}

func TestFilesAreMerged(t *testing.T) {
	change := func(block int, status facts.FactStatus, path, text string) facts.Fact {
		return facts.Fact{Kind: facts.FactChange, Status: status, Role: transcript.RoleAssistant, Block: block, Subject: path, Text: text}
	}
	for _, tt := range []struct {
		name string
		in   []facts.Fact
		want summary.Files
	}{
		{
			"what was written anew is there once",
			[]facts.Fact{change(1, facts.StatusCreated, "a.go", "func A, 3 lines"), change(2, facts.StatusCreated, "a.go", "func B, 4 lines")},
			summary.Files{{Path: "a.go", Changes: []summary.Item{{Text: "created: func B, 4 lines", Source: "b2"}}}},
		},
		{
			"what was added and taken away is no change, but the file was",
			[]facts.Fact{change(1, facts.StatusModified, "a.go", "new retry (+1 −0 lines)"), change(2, facts.StatusModified, "a.go", "gone retry (+0 −1 lines)"), change(3, facts.StatusDeleted, "b.go", "")},
			summary.Files{
				{Path: "a.go", Changes: []summary.Item{{Text: "changed, and changed back", Source: "b2"}}},
				{Path: "b.go", Changes: []summary.Item{{Text: "deleted", Source: "b3"}}},
			},
		},
		{
			"what was written, changed and written anew is told",
			[]facts.Fact{change(1, facts.StatusCreated, "a.go", "func A"), change(2, facts.StatusModified, "a.go", ""), change(3, facts.StatusCreated, "a.go", "func B"), change(4, facts.StatusModified, "a.go", "")},
			summary.Files{{Path: "a.go", Changes: []summary.Item{{Text: "created: func A", Source: "b1"}, {Text: "created: func B", Source: "b3"}, {Text: "modified", Source: "b4"}}}},
		},
		{
			"what is gone and was not added, or with other things, is told",
			[]facts.Fact{change(1, facts.StatusModified, "a.go", "new a; new b (+2 −0 lines)"), change(2, facts.StatusModified, "a.go", "gone c (+0 −1 lines)"), change(3, facts.StatusModified, "a.go", "gone a; new b (+0 −2 lines)"), change(4, facts.StatusModified, "a.go", "gone c")},
			summary.Files{{Path: "a.go", Changes: []summary.Item{{Text: "new a; new b (+2 −0 lines)", Source: "b1"}, {Text: "gone c (+0 −1 lines)", Source: "b2"}, {Text: "gone a; new b (+0 −2 lines)", Source: "b3"}, {Text: "gone c", Source: "b4"}}}},
		},
		{
			"the file that was changed last is last",
			[]facts.Fact{change(1, facts.StatusModified, "a.go", "x: 1 → 2"), change(2, facts.StatusModified, "b.go", "y: 1 → 2"), change(3, facts.StatusModified, "a.go", "x: 2 → 3")},
			summary.Files{
				{Path: "b.go", Changes: []summary.Item{{Text: "y: 1 → 2", Source: "b2"}}},
				{Path: "a.go", Changes: []summary.Item{{Text: "x: 1 → 2", Source: "b1"}, {Text: "x: 2 → 3", Source: "b3"}}},
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Draft(tt.in, &Options{Ref: ref}).Files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// Every section says something, whatever the facts; what was corrected and what
// is open is in it; equal facts make equal drafts.
func TestDraftSaysEverySection(t *testing.T) {
	kinds := []facts.FactKind{
		facts.FactTask, facts.FactCorrection, facts.FactChange, facts.FactRead, facts.FactCommand, facts.FactDecision, facts.FactError,
		facts.FactQuestion, facts.FactTodo, facts.FactPlan, facts.FactProgress, facts.FactReference,
	}
	statuses := []facts.FactStatus{"", facts.StatusOK, facts.StatusFailed, facts.StatusOpen, facts.StatusResolved, facts.StatusPending, facts.StatusCreated, facts.StatusModified}
	rapid.Check(t, func(t *rapid.T) {
		var list []facts.Fact
		for i := range rapid.IntRange(0, 30).Draw(t, "facts") {
			list = append(list, facts.Fact{
				Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Status: rapid.SampledFrom(statuses).Draw(t, "status"), Block: i,
				Role:    rapid.SampledFrom([]transcript.Role{transcript.RoleUser, transcript.RoleAssistant}).Draw(t, "role"),
				Subject: rapid.SampledFrom([]string{"a.go", "go test", "x y z", "d/e.go"}).Draw(t, "subject"),
				Text:    rapid.SampledFrom([]string{"one", "two words", "new x (+1 −0 lines)", "gone x (+0 −1 lines)", "a longer text with 3 figures: 1, 2"}).Draw(t, "text"),
			})
		}
		s := Draft(list, &Options{Ref: ref})
		if s.Intent == "" || s.State == "" || len(s.Files) == 0 || len(s.Decisions) == 0 || len(s.Blockers) == 0 || len(s.Next) == 0 ||
			len(s.Context) == 0 || len(s.Errors) == 0 || len(s.Artifacts) == 0 {
			t.Fatalf("a section is empty: %+v", s)
		}
		said := fmt.Sprint(s)
		for _, f := range list {
			if (f.Kind == facts.FactCorrection || f.Kind == facts.FactQuestion && f.Status == facts.StatusOpen) && !strings.Contains(said, f.Text) {
				t.Errorf("%+v is not in the draft", f)
			}
		}
		if diff := cmp.Diff(s, Draft(list, &Options{Ref: ref})); diff != "" {
			t.Errorf("a second time (-first +second):\n%s", diff)
		}
	})
}

// What is old, long, repeated or settled is shown as its section promises.
func TestDraftAtItsBounds(t *testing.T) {
	fact := func(kind facts.FactKind, block int, status facts.FactStatus, subject, text string) facts.Fact {
		return facts.Fact{Kind: kind, Status: status, Role: transcript.RoleAssistant, Block: block, Subject: subject, Text: text}
	}
	user := func(f facts.Fact) facts.Fact { f.Role = transcript.RoleUser; return f }
	long := func(n int) string { return strings.Repeat("x", n) }
	const open, resolved = facts.StatusOpen, facts.StatusResolved
	failures := []facts.Fact{
		fact(facts.FactError, 9, open, "", "E9"), fact(facts.FactError, 9, resolved, "", "R9"), fact(facts.FactError, 10, open, "", "E10"), fact(facts.FactError, 19, open, "", "E19"),
		fact(facts.FactError, 20, open, "make", "make E20"), fact(facts.FactError, 20, open, "make", "E20"),
		{Kind: facts.FactError, Block: 1, Status: open, Text: "E1", Why: "rare"},
		fact(facts.FactError, 27, open, "", "Unknown skill 27"), fact(facts.FactError, 28, open, "", "Unknown skill 28"), fact(facts.FactError, 30, resolved, "", "Unknown skill 30"),
		fact(facts.FactError, 1, resolved, long(80), "a"), fact(facts.FactError, 1, resolved, long(81), "b"), fact(facts.FactQuestion, 29, open, "", "Q29?"), fact(facts.FactQuestion, 30, resolved, "", "Q30?"),
	}
	reads := []facts.Fact{fact(facts.FactChange, 1, facts.StatusModified, "a.go", "x"), fact(facts.FactRead, 1, "", "a.go", ""), fact(facts.FactRead, 1, facts.StatusFailed, "b.go", ""), fact(facts.FactRead, 1, "", "find . -x", ""), fact(facts.FactRead, 1, "", "lamp", "")}
	for i := range 25 {
		reads = append(reads, fact(facts.FactRead, 2, "", fmt.Sprintf("%d.go", i), ""), fact(facts.FactRead, 2, "", fmt.Sprintf("%d.go", i), ""))
	}
	task := user(fact(facts.FactTask, 3, "", "", "T3"))
	for i, tt := range []struct {
		section summary.Section
		list    []facts.Fact
		want    string
	}{
		{"errors_encountered", failures, "E9: open – did not come again|R9: resolved|E10: open|E19: open|make E20: open|make: E20: open|E1: open – rare|Unknown skill 28: open|" + long(80) + ": a: resolved|" + long(80) + "…: b: resolved"},
		{"blockers", failures, "Q29?|Open error: make E20|Open error: E20"},
		{"current_state", failures, ""},
		{"current_state", []facts.Fact{fact(facts.FactProgress, 5, "", "", "P5"), fact(facts.FactProgress, 6, "", "", "A!"), fact(facts.FactProgress, 6, "", "", "B"), fact(facts.FactProgress, 6, "", "", "C"), fact(facts.FactProgress, 6, "", "", "D")}, "A! B. C."},
		{"current_state", []facts.Fact{fact(facts.FactProgress, 5, "", "", long(240)), fact(facts.FactCommand, 5, "", long(160), "")}, long(240) + ". Last command: " + long(160) + "."},
		{"current_state", []facts.Fact{fact(facts.FactProgress, 5, "", "", long(241)), fact(facts.FactCommand, 5, facts.StatusOK, long(161), "")}, long(240) + "…. Last command: " + long(160) + "…: ok."},
		{"current_state", []facts.Fact{fact(facts.FactCommand, 5, facts.StatusOK, "git commit", "[main a] B"), fact(facts.FactQuestion, 5, resolved, "", "Q5?")}, "Last command: committed [main a] B."},
		{"current_state", reads, "Last change: a.go: x"},
		{"current_state", reads[1:2], "Last read: a.go"},
		{"current_state", []facts.Fact{fact(facts.FactTodo, 2, facts.StatusCompleted, "D", "D"), fact(facts.FactTodo, 2, facts.StatusCompleted, "E", "E"), fact(facts.FactTodo, 2, facts.StatusPending, "F", "F")}, "To-dos: 2 of 3 completed."},
		{"session_intent", []facts.Fact{task}, "T3"},
		{"next_steps", []facts.Fact{task, fact(facts.FactProgress, 3, "", "", "P3")}, "Do what was asked last: T3"},
		{"next_steps", []facts.Fact{task, fact(facts.FactProgress, 4, "", "", "P4")}, ""},
		{"next_steps", []facts.Fact{task, fact(facts.FactQuestion, 4, resolved, "", "Q4?")}, ""},
		{"next_steps", []facts.Fact{task, fact(facts.FactTodo, 2, facts.StatusPending, "D", "D"), fact(facts.FactTodo, 2, facts.StatusCompleted, "E", "E")}, "D"},
		{"decisions_made", []facts.Fact{user(fact(facts.FactDecision, 1, "", "Which?", "Red")), fact(facts.FactDecision, 1, "", "", "Blue")}, "User: Which? Red: not stated|Blue: not stated"},
		{"technical_context", reads, "Read: 1.go, 2.go, 3.go, 4.go, 5.go, 6.go, 7.go, 8.go|Read: 9.go, 10.go, 11.go, 12.go, 13.go, 14.go, 15.go, 16.go|Read: 17.go, 18.go, 19.go, 20.go, 21.go, 22.go, 23.go, 24.go"},
		{"technical_context", []facts.Fact{fact(facts.FactCommand, 1, facts.StatusFailed, "go vet | head -3 | tail -1", "bad"), fact(facts.FactCommand, 2, facts.StatusOK, "go vet 2>&1", ""), fact(facts.FactCommand, 1, facts.StatusOK, "go list | grep x", "y")}, "go list | grep x: ok (y)|go vet ×2: ok"},
		{"technical_context", []facts.Fact{user(fact(facts.FactPlan, 1, "", "", "one")), user(fact(facts.FactPlan, 1, "", "", "two")), fact(facts.FactProgress, 1, "", "", "3 of 9 pass"), fact(facts.FactProgress, 2, "", "", "7 of 9 pass"), fact(facts.FactProgress, 3, "", "", "all pass")}, "User's plan: one; two|7 of 9 pass|all pass"},
	} {
		var got []string
		for _, e := range Draft(tt.list, &Options{Intent: summary.None}).Entries() {
			if e.Section == tt.section {
				got = append(got, e.Text)
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s of list %d (-want +got):\n%s", tt.section, i, diff)
		}
	}
	if !refers("x", "") {
		t.Error("a text has no nothing")
	}
	for text, want := range map[string]bool{"see a.org/b": true, "a.org/b.": true, "a.org/b/c": false, "a.org/b/c and a.org/b": true, "a.org/b2": false, "a.org": false} {
		if got := refers(text, "a.org/b"); got != want {
			t.Errorf("%q has a.org/b: %v, want %v", text, got, want)
		}
	}
}

// What is next are the steps that the agent announced last, if no task came behind them, or
// else what was asked last.
func TestNextSteps(t *testing.T) {
	task := facts.Fact{Kind: facts.FactTask, Role: transcript.RoleUser, Block: 3, Text: "Paint the lamp."}
	plan := func(block int, role transcript.Role, text string) facts.Fact {
		return facts.Fact{Kind: facts.FactPlan, Role: role, Block: block, Text: text}
	}
	for _, tt := range []struct {
		name string
		list []facts.Fact
		want []string
	}{
		{"steps behind the task", []facts.Fact{task, plan(4, transcript.RoleAssistant, "look"), plan(5, transcript.RoleAssistant, "mix"), plan(5, transcript.RoleAssistant, "paint")}, []string{"mix", "paint"}},
		{"steps of the user beside them", []facts.Fact{task, plan(5, transcript.RoleUser, "dry"), plan(5, transcript.RoleAssistant, "mix")}, []string{"mix"}},
		{"steps of the user behind them", []facts.Fact{task, plan(5, transcript.RoleAssistant, "mix"), plan(6, transcript.RoleUser, "dry")}, []string{"mix"}},
		{"steps before the task", []facts.Fact{plan(2, transcript.RoleAssistant, "mix"), task}, []string{"Do what was asked last: Paint the lamp."}},
		{"steps at the task", []facts.Fact{task, plan(3, transcript.RoleAssistant, "mix")}, []string{"Do what was asked last: Paint the lamp."}},
		{"steps and no task", []facts.Fact{plan(2, transcript.RoleAssistant, "mix")}, []string{"mix"}},
	} {
		var got []string
		for _, item := range Draft(tt.list, &Options{Ref: ref}).Next {
			got = append(got, item.Text)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
