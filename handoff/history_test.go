package handoff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/transcript"
)

// history is a session in which a person asked for two things and corrected one.
func history() *handoff.History {
	said := []string{"Rename the ledger to journal.", "Done.", "No, keep the old name in the API.", "Kept."}
	h := &handoff.History{
		Session: "s1", Title: "Names", Texts: said, Contract: new(contract.Contract),
		Goal: "rename the ledger", State: "renamed", Next: "run the tests",
		Preview: func(i int) string { return said[i] }, OneOff: func(line string) bool { return line == "ls" },
	}
	for i, text := range said {
		kind, role := transcript.KindUser, transcript.RoleUser
		if i%2 == 1 {
			kind, role = transcript.KindAssistant, transcript.RoleAssistant
		}
		h.Messages = append(h.Messages, transcript.Message{Role: role, Parts: []transcript.Part{transcript.Text(text)}})
		h.Blocks = append(h.Blocks, transcript.Block{ID: transcript.BlockID(strings.Repeat(string(rune('a'+i)), 16)), Kind: kind, Messages: []int{i}})
		h.Known = append(h.Known, handoff.Known{Asks: i%2 == 0, Corrects: i == 2, Live: i == 2 || i == 3, Stub: i == 1, Pinned: i == 0})
	}
	h.Facts = []facts.Fact{
		{Kind: facts.FactRead, Block: 1, Subject: "ledger.go"},
		{Kind: facts.FactCommand, Block: 1, Subject: "go test ./...", Status: facts.StatusOK, Text: "ok"},
		{Kind: facts.FactCommand, Block: 1, Subject: "ls", Status: facts.StatusOK},
		{Kind: facts.FactDecision, Block: 2, Role: transcript.RoleUser, Text: "Keep the old name in the API"},
		{Kind: facts.FactDecision, Block: 3, Role: transcript.RoleAssistant, Text: "An alias is enough", Why: "nobody sees it"},
		{Kind: facts.FactChange, Block: 1, Subject: "ledger.go", Status: facts.StatusCreated},
		{Kind: facts.FactChange, Block: 3, Subject: "ledger.go", Status: "changed", Text: "2 lines"},
	}
	return h
}

// Every entry of the input names its block, and no words of the user are attributed to
// the agent.
func TestInputOfAHistory(t *testing.T) {
	in := history().Input()
	if in.Session != "s1 (Names)" || in.Goal != "rename the ledger" || in.State != "renamed" || in.Next != "run the tests" {
		t.Errorf("session %q, goal %q, state %q, next %q", in.Session, in.Goal, in.State, in.Next)
	}
	if d := cmp.Diff([]handoff.Source{
		{Source: "ledger.go", Type: "file", State: handoff.Scanned, What: "read in block bbbbbbbb"},
		{Source: "go test ./...", Type: "command", State: handoff.Verified, What: "it ran without an error in block bbbbbbbb: ok"},
	}, in.Sources); d != "" {
		t.Errorf("sources: -want +got\n%s", d)
	}
	if d := cmp.Diff([]handoff.Decision{{Text: "Keep the old name in the API", Basis: "the user said so in block cccccccc"}}, in.Decisions); d != "" {
		t.Errorf("decisions: -want +got\n%s", d)
	}
	if len(in.Inferred) != 1 || !strings.Contains(in.Inferred[0].Basis, "no word of the user's") {
		t.Errorf("inferred: %v", in.Inferred)
	}
	if len(in.Corrections) != 1 || in.Corrections[0].Correction != "No, keep the old name in the API." {
		t.Errorf("corrections: %v", in.Corrections)
	}
	if d := cmp.Diff([]string{"ledger.go: changed: 2 lines (the last of 2 changes)"}, in.Done); d != "" {
		t.Errorf("done: -want +got\n%s", d)
	}
	if d := cmp.Diff([]handoff.Out{{ID: "aaaaaaaa", Text: "Rename the ledger to journal."}}, in.Out); d != "" {
		t.Errorf("out of the window: -want +got\n%s", d)
	}
}

// A session that begins with a packet and has no facts keeps the packet's goal, state and next
// action. Once it has facts, it keeps the goal, and its own state and next action replace them.
func TestAHistoryGoesOnFromItsBase(t *testing.T) {
	base := &handoff.Packet{}
	base.Goal, base.State, base.Next = "mend the lamp", "the bulb is out", "buy a bulb"
	h := &handoff.History{Session: "s2", Base: base, Contract: new(contract.Contract), State: "new", Next: "go on", Goal: "look"}
	if in := h.Input(); in.Goal != base.Goal || in.State != base.State || in.Next != base.Next {
		t.Errorf("with no facts: goal %q, state %q, next %q", in.Goal, in.State, in.Next)
	}
	h.Facts = history().Facts[:1]
	h.Blocks = history().Blocks
	h.Known = history().Known
	h.Messages, h.Texts, h.Preview = history().Messages, history().Texts, history().Preview
	if in := h.Input(); in.Goal != base.Goal || in.State != "new" || in.Next != "go on" {
		t.Errorf("with facts: goal %q, state %q, next %q", in.Goal, in.State, in.Next)
	}
}

// A packet that is made from a history passes Check with the evidence of that history, and so
// does the packet of a session that begins with that packet.
func TestAHistoryIsHandedOnHonestly(t *testing.T) {
	h := history()
	for range 3 {
		in := h.Input()
		in.By, in.Date = "agent", "2026-01-05"
		p := handoff.Build(in)
		if found := handoff.Check(p, h.Evidence(in)); len(found) > 0 {
			t.Fatalf("findings: %v", found)
		}
		h = &handoff.History{Session: "s2", Base: p, Contract: p.Contract()}
	}
	if d := h.Base.Decisions; len(d) != 1 {
		t.Errorf("decisions after two more sessions: %v", d)
	}
}

// A decision of few words quotes the last line of the agent's message that it answers.
func TestShortDecisionsSayWhatTheyAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, said, text string
		kind             transcript.Kind
		want             string
	}{
		{"yes", "Two ways.\nShall I keep the name?", "Yes.", transcript.KindAssistant, "Yes. (to the agent's words: Shall I keep the name?)"},
		{"three words", "Shall I?", "Yes, do so.", transcript.KindAssistant, "Yes, do so. (to the agent's words: Shall I?)"},
		{"four words", "Shall I?", "Yes, please do so.", transcript.KindAssistant, "Yes, please do so."},
		{"behind a call", "Shall I?", "Yes.", transcript.KindTool, "Yes. (to the agent's words: Shall I?)"},
		{"behind nothing", "", "Yes.", transcript.KindAssistant, "Yes."},
		{"behind another word of the user's", "Shall I?", "Yes.", transcript.KindUser, "Yes."},
	} {
		h := history()
		h.Messages[1].Parts = []transcript.Part{transcript.Text(tt.said)}
		h.Blocks[1].Kind = tt.kind
		h.Facts = []facts.Fact{{Kind: facts.FactDecision, Block: 2, Role: transcript.RoleUser, Text: tt.text}}
		if d := h.Input().Decisions; len(d) != 1 || d[0].Text != tt.want {
			t.Errorf("%s: %+v, want %q", tt.name, d, tt.want)
		}
	}
}

// A correction says whether it is in the window or a compaction took it out.
func TestCorrectionsSayWhereTheyAre(t *testing.T) {
	for earlier, want := range map[bool]string{
		false: "It stands until the user says otherwise. It is block cccccccc, which never leaves the window.",
		true:  "It stands until the user says otherwise. It is block cccccccc, which the agent's own compaction took out of the window.",
	} {
		h := history()
		h.Known[2].Earlier = earlier
		if c := h.Input().Corrections; len(c) != 1 || c[0].Meaning != want {
			t.Errorf("taken out %v: got %+v, want %q", earlier, c, want)
		}
	}
}

// A source has its strongest state, whatever came after, and a command counts only if its last run
// succeeded, also in the packet with which the session began.
func TestSourcesOfAHistory(t *testing.T) {
	read := func(block int, status facts.FactStatus) facts.Fact {
		return facts.Fact{Kind: facts.FactRead, Block: block, Subject: "a.go", Status: status}
	}
	run := func(block int, status facts.FactStatus) facts.Fact {
		return facts.Fact{Kind: facts.FactCommand, Block: block, Subject: "go test", Status: status}
	}
	scanned := handoff.Source{Source: "a.go", Type: "file", State: handoff.Scanned, What: "read in block bbbbbbbb"}
	passed := handoff.Source{Source: "go test", Type: "command", State: handoff.Verified, What: "it ran without an error in block bbbbbbbb"}
	for _, tt := range []struct {
		name  string
		base  []handoff.Source
		facts []facts.Fact
		want  []handoff.Source
	}{
		{"read, then not", nil, []facts.Fact{read(1, ""), read(3, facts.StatusFailed)}, []handoff.Source{scanned}},
		{"not read, then read", nil, []facts.Fact{read(0, facts.StatusFailed), read(1, "")}, []handoff.Source{scanned}},
		{"passed, then failed", nil, []facts.Fact{run(1, facts.StatusOK), run(3, facts.StatusFailed)}, nil},
		{"failed, then passed", nil, []facts.Fact{run(0, facts.StatusFailed), run(1, facts.StatusOK)}, []handoff.Source{passed}},
		{"passed before the session", []handoff.Source{passed, scanned}, []facts.Fact{run(3, facts.StatusFailed)}, []handoff.Source{scanned}},
	} {
		h := history()
		h.Base, h.Facts = &handoff.Packet{Sources: tt.base}, tt.facts
		if d := cmp.Diff(tt.want, h.Input().Sources, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, d)
		}
	}
}

// Corrections of a contract come into the packet, and from there into the contract of the next
// session, as they are worded. Contracts of earlier releases have a correction of a packet by a
// name; it is not listed twice.
func TestCorrectionsKeepTheirWords(t *testing.T) {
	said := []string{"Never use C++ here", "Never use C# here", "answer-first"}
	c := new(contract.Contract)
	for _, text := range said {
		if _, err := c.AddCorrection(text); err != nil {
			t.Fatal(err)
		}
	}
	h := &handoff.History{Session: "s1", Contract: c}
	for i, contracts := range []func() (*contract.Contract, error){
		func() (*contract.Contract, error) { return h.Base.Contract(), nil },
		func() (*contract.Contract, error) {
			return contract.Replay(contract.Lines("remember a list called active-corrections\nadd \"never-use-c-here\" to active-corrections\n"))
		},
		func() (*contract.Contract, error) { return c, nil },
	} {
		in := h.Input()
		h.Base = handoff.Build(in)
		var got []string
		for _, x := range h.Base.Corrections {
			got = append(got, x.Correction)
		}
		if d := cmp.Diff(said, got); d != "" {
			t.Errorf("packet %d: -want +got\n%s", i, d)
		}
		if found := handoff.Check(h.Base, h.Evidence(in)); len(found) > 0 {
			t.Errorf("packet %d: findings %v", i, found)
		}
		var err error
		if h.Contract, err = contracts(); err != nil {
			t.Fatal(err)
		}
	}
}

// Decisions that were replaced, questions that were answered, and tasks that were finished or
// opened again since the session began are in the next packet as they are now.
func TestAPacketHasTheNewStateOfItsBase(t *testing.T) {
	base := handoff.Build(&handoff.Input{
		Decisions: []handoff.Decision{{Text: "use-db-postgres", Basis: "the user said so"}, {Text: "pin-go-1.26", Basis: "the user said so"}},
		Questions: []handoff.Question{{Question: "Who owns the ledger?"}},
		Done:      []string{"Write the tests"},
		Remaining: []string{"Write the migration", "Write the guide"},
	})
	c := new(contract.Contract)
	_, err := c.Inherit(base.Contract())
	if err == nil {
		_, err = c.AddDecision("use-db-sqlite", contract.Override)
	}
	if err == nil {
		_, err = c.ResolveQuestion("Who owns the ledger?")
	}
	if err != nil {
		t.Fatal(err)
	}
	h := history()
	h.Base, h.Contract = base, c
	h.Facts = []facts.Fact{
		{Kind: facts.FactTodo, Subject: "write the migration", Status: facts.StatusCompleted},
		{Kind: facts.FactTodo, Subject: "write the tests", Status: facts.StatusPending},
	}
	in := h.Input()
	p := handoff.Build(in)
	var decided []string
	for _, d := range p.Decisions {
		decided = append(decided, d.Text)
	}
	if d := cmp.Diff([]string{"pin-go-1.26", "use-db-sqlite"}, decided); d != "" {
		t.Errorf("decisions: -want +got\n%s", d)
	}
	if len(p.Questions) > 0 {
		t.Errorf("questions: %v", p.Questions)
	}
	if d := cmp.Diff([]string{"write the migration"}, p.Done); d != "" {
		t.Errorf("done: -want +got\n%s", d)
	}
	if d := cmp.Diff([]string{"Write the guide", "write the tests"}, p.Remaining); d != "" {
		t.Errorf("remaining: -want +got\n%s", d)
	}
	if found := handoff.Check(p, h.Evidence(in)); len(found) > 0 {
		t.Errorf("findings: %v", found)
	}
}

// Reasoning that the agent also says aloud is not hidden.
func TestReasoningThatIsSaidIsNotHidden(t *testing.T) {
	const thought = "Now let me run the tests again."
	for said, want := range map[string]int{"Fine.\n" + thought: 0, "Fine.": 1} {
		h := history()
		h.Messages[1].Parts = []transcript.Part{transcript.Thinking{Text: thought}, transcript.Text(said)}
		h.Facts = []facts.Fact{{Kind: facts.FactProgress, Block: 1, Text: thought}}
		in := h.Input()
		if found := handoff.Check(handoff.Build(in), h.Evidence(in)); len(found) != want {
			t.Errorf("said %q: findings %v, want %d", said, found, want)
		}
	}
}
