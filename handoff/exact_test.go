package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/transcript"
)

// a recorded session of some blocks, whose ids are 00000000, 11111111 and so on.
func recorded(blocks int, list ...facts.Fact) *History {
	h := &History{Session: "s", Facts: list, Contract: new(contract.Contract), Preview: func(i int) string { return fmt.Sprint("preview ", i) }, OneOff: func(line string) bool { return strings.HasPrefix(line, "ls") }}
	for i := range blocks {
		h.Messages = append(h.Messages, transcript.Message{Role: transcript.RoleAssistant})
		h.Blocks = append(h.Blocks, transcript.Block{ID: transcript.BlockID(strings.Repeat(fmt.Sprint(i), 64)), Kind: transcript.KindAssistant, Messages: []int{i}})
		h.Known, h.Texts = append(h.Known, Known{Live: true}), append(h.Texts, "")
	}
	return h
}

func TestSourcesOfAHistory(t *testing.T) {
	h := recorded(2,
		facts.Fact{Kind: facts.FactRead, Subject: "a.go", Block: 1}, facts.Fact{Kind: facts.FactRead, Subject: "b.go", Status: facts.StatusFailed},
		facts.Fact{Kind: facts.FactCommand, Subject: "make", Status: facts.StatusOK, Text: "lit"}, facts.Fact{Kind: facts.FactCommand, Subject: "make x", Status: facts.StatusOK}, facts.Fact{Kind: facts.FactCommand, Subject: "make y", Status: facts.StatusFailed},
		facts.Fact{Kind: facts.FactCommand, Subject: "make z"}, facts.Fact{Kind: facts.FactCommand, Subject: "ls", Status: facts.StatusOK}, facts.Fact{Kind: facts.FactReference, Subject: "https://a.io/x"}, facts.Fact{Kind: facts.FactReference, Subject: "#17"}, facts.Fact{Kind: facts.FactTodo, Subject: "x"},
		facts.Fact{Kind: facts.FactRead, Subject: "a.go"},
	)
	var in Input
	h.sources(&in)
	want := []Source{
		{"b.go", "file", Unavailable, "Nothing: it could not be read in block 00000000"},
		{"make", "command", Verified, "it ran without an error in block 00000000: lit"},
		{"make x", "command", Verified, "it ran without an error in block 00000000"},
		{"https://a.io/x", "page", Referenced, ""},
		{"a.go", "file", Scanned, "read in block 00000000"},
	}
	if d := cmp.Diff(want, in.Sources); d != "" {
		t.Errorf("sources (-want +got):\n%s", d)
	}
	for subject, want := range map[string]string{"https://a.io": "page", "a.go": "file", "src/a": "file", "lamp": "query", "a.go b": "query", "a|b.go": "query", "*.go": "query", "a.*": "query", "[a].go": "query", "^a.": "query"} {
		if got := sourceType(subject); got != want {
			t.Errorf("%s is a %s, want %s", subject, got, want)
		}
	}
}

// The whole line of a command is that of its call.
func TestLineOfACommand(t *testing.T) {
	h := recorded(2)
	h.Messages[1].Parts = []transcript.Part{
		transcript.ToolCall{ID: "1", Name: "Bash", Input: json.RawMessage(`{"command":"cd x && make"}`)}, transcript.ToolCall{ID: "2", Name: "Bash", Input: json.RawMessage(`{"timeout":7}`)},
	}
	for id, want := range map[string]string{"1": "cd x && make", "2": "make", "3": "make"} {
		if got := h.line(&facts.Fact{Block: 1, CallID: id, Subject: "make"}); got != want {
			t.Errorf("call %s has the line %q, want %q", id, got, want)
		}
	}
}

// What was committed later is delivered.
func TestWorkOfAHistory(t *testing.T) {
	commit := func(block int, status facts.FactStatus, line string) facts.Fact {
		return facts.Fact{Kind: facts.FactCommand, Subject: line, Status: status, Block: block}
	}
	change := func(block int, path, text string) facts.Fact {
		return facts.Fact{Kind: facts.FactChange, Subject: path, Status: facts.StatusModified, Block: block, Text: text}
	}
	for _, tt := range []struct {
		name string
		list []facts.Fact
		want string
	}{
		{"before a commit", []facts.Fact{change(1, "a.go", "x"), commit(2, facts.StatusOK, "git commit -m x")}, "a.go: modified: x = delivered"},
		{"in the block of a commit", []facts.Fact{change(2, "a.go", "x"), commit(2, facts.StatusOK, "git commit -m x")}, "a.go: modified: x = draft"},
		{"after a commit", []facts.Fact{commit(2, facts.StatusOK, "git commit -m x"), change(3, "a.go", "x")}, "a.go: modified: x = draft"},
		{"before a commit that failed", []facts.Fact{change(1, "a.go", "x"), commit(2, facts.StatusFailed, "git commit -m x")}, "a.go: modified: x = draft"},
		{"before another command", []facts.Fact{change(1, "a.go", "x"), commit(2, facts.StatusOK, "git push")}, "a.go: modified: x = draft"},
		{"in the first block", []facts.Fact{change(0, "a.go", "x")}, "a.go: modified: x = draft"},
		{"of two changes the last", []facts.Fact{change(0, "a.go", "x"), change(1, "b.go", ""), change(2, "a.go", "y")}, "a.go: modified: y (the last of 2 changes) = draft; b.go: modified = draft"},
		{"changed again after a commit", []facts.Fact{change(0, "a.go", "x"), commit(1, facts.StatusOK, "git commit"), change(2, "a.go", "y")}, "a.go: modified: y (the last of 2 changes) = draft"},
		{"a temporary file", []facts.Fact{change(0, "/tmp/a.go", "x"), commit(1, facts.StatusOK, "git commit")}, "/tmp/a.go: modified: x = intermediate"},
	} {
		var in Input
		recorded(4, tt.list...).work(&in)
		var got []string
		for i, a := range in.Artifacts {
			got = append(got, in.Done[i]+" = "+string(a.Status))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	var in Input
	recorded(1, facts.Fact{Kind: facts.FactTodo, Subject: "a", Status: facts.StatusCompleted}, facts.Fact{Kind: facts.FactTodo, Subject: "b", Status: facts.StatusPending}).work(&in)
	if len(in.Done) != 1 || in.Done[0] != "a" || len(in.Remaining) != 1 || in.Remaining[0] != "b" {
		t.Errorf("done is %q, and %q remains", in.Done, in.Remaining)
	}
	for name, want := range map[string]string{"a.go": "go file", "a": "file", "a.": "file", "x.y/a": "file", ".env": "env file"} {
		if got := fileType(name); got != want {
			t.Errorf("%s is a %s, want %s", name, got, want)
		}
	}
}

func TestQuestionsAndClaimsOfAHistory(t *testing.T) {
	h := recorded(2,
		facts.Fact{Kind: facts.FactQuestion, Status: facts.StatusOpen, Text: "Why?", Block: 1}, facts.Fact{Kind: facts.FactQuestion, Status: facts.StatusResolved, Text: "Who?"},
		facts.Fact{Kind: facts.FactError, Status: facts.StatusOpen, Subject: "make", Text: "no bulb"}, facts.Fact{Kind: facts.FactError, Status: facts.StatusOpen, Subject: "make"}, facts.Fact{Kind: facts.FactError, Status: facts.StatusResolved, Subject: "x"}, facts.Fact{Kind: facts.FactCommand, Status: facts.StatusOpen, Subject: "x"},
		facts.Fact{Kind: facts.FactProgress, Text: "Done:"}, facts.Fact{Kind: facts.FactProgress, Text: "It is lit."}, facts.Fact{Kind: facts.FactProgress, Text: "It is lit.", Block: 1},
		facts.Fact{Kind: facts.FactDecision, Role: transcript.RoleUser, Text: "We use the red one."}, facts.Fact{Kind: facts.FactDecision, Role: transcript.RoleAssistant, Text: "I use it.", Why: "it is red"}, facts.Fact{Kind: facts.FactDecision, Role: transcript.RoleAssistant, Text: "I paint it."},
	)
	var in Input
	h.questions(&in)
	h.claims(&in)
	if d := cmp.Diff([]Question{
		{"Why?", "nobody answered it since block 11111111"}, {"How is this error resolved: make: no bulb", "it is on record in block 00000000, and nothing that resolved it"}, {"How is this error resolved: make", "it is on record in block 00000000, and nothing that resolved it"},
	}, in.Questions); d != "" {
		t.Errorf("questions (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Claim{
		{"It is lit.", "the agent said so in block 11111111"}, {"I use it.", "the agent decided it in block 00000000; no word of the user's on it is on record; its reason: it is red"}, {"I paint it.", "the agent decided it in block 00000000; no word of the user's on it is on record"},
	}, in.Inferred); d != "" {
		t.Errorf("claims (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Decision{{"We use the red one.", "the user said so in block 00000000"}}, in.Decisions); d != "" {
		t.Errorf("decisions (-want +got):\n%s", d)
	}
}

// What the contract of a session has comes into the packet, with the list that has it.
func TestContractOfAHistory(t *testing.T) {
	h := recorded(1)
	h.State = "Half done."
	h.Facts = []facts.Fact{{Kind: facts.FactTodo, Subject: "x", Status: facts.StatusCompleted}}
	c := h.Contract
	for _, write := range []func() ([]string, error){
		func() ([]string, error) { return c.AddSource("notes", "text") }, func() ([]string, error) { return c.AddClaim("guess", "it is red") }, func() ([]string, error) { return c.Verify("it is lit", "") },
		func() ([]string, error) { return c.AddQuestion("who?") }, func() ([]string, error) { return c.AddDecision("use-x-1", contract.Refuse) }, func() ([]string, error) { return c.SetResumeState("step 3") },
	} {
		if _, err := write(); err != nil {
			t.Fatal(err)
		}
	}
	in := h.Input()
	want := &Input{
		Session: "s", State: "Half done.\nTo be resumed: step 3", Done: []string{"x"},
		Sources:   []Source{{"notes", "source of the contract", Scanned, "the contract has its text"}, {"contract of session s", contractType, Verified, "it is lit"}},
		Inferred:  []Claim{{"it is red", "the contract has it as the claim guess"}},
		Decisions: []Decision{{"use-x-1", "the contract has it in tracked-decisions"}},
		Questions: []Question{{"who?", "the contract has it in open-questions"}},
	}
	if d := cmp.Diff(want, in); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	h.Base = Build(in) // it has all of that already
	if again := Build(h.Input()); len(again.Sources) != 2 || len(again.Decisions) != 1 || len(again.Questions) != 1 {
		t.Errorf("with that packet there are %v, %v and %v", again.Sources, again.Decisions, again.Questions)
	}
	to := h.intentOf(&intent.Intent{Verb: "fix", Gaps: []intent.Slot{"target"}, Amber: []intent.Flag{{Name: "both"}}}, 0)
	if d := cmp.Diff([][]string{{"target"}, {"both"}}, [][]string{to.Slots, to.Flags}); d != "" {
		t.Errorf("slots and flags (-want +got):\n%s", d)
	}
	p := Build(&Input{Sources: []Source{{"a.go", "file", Verified, "It is red."}}})
	e := &Evidence{Sources: p.Sources, Inferred: []string{"it is red"}}
	if found := findings(Check(p, e)); !strings.Contains(found, "is only inferred in the record; move it to section 5") {
		t.Errorf("findings:\n%s\nwant that what is inferred is not verified", found)
	}
}

// An error of a packet in Markdown names the section and what is wrong.
func TestPacketsThatAreBroken(t *testing.T) {
	text := Build(&Input{Intent: Aim{Slots: []string{"lamp"}}}).Markdown()
	before, _, _ := strings.Cut(text, "\n## 14. ")
	for broken, want := range map[string]string{
		before: "14. Handoff Notes for the Receiving Agent: the section is missing",
		strings.Replace(text, "- **Created for:**", " x\n- **Created for:**", 1):       "Header: \" x\" is no entry of a list",
		strings.Replace(text, "- **Primary intent:**", " x\n- **Primary intent:**", 1): "3. Active Intent: \" x\" is no entry of a list",
		strings.Replace(text, "- **Created for:**", "\tx\n- **Created for:**", 1):      "Header: \"\tx\" is no entry of a list",
		strings.Replace(text, "  - lamp\n", "  -\n", 1):                                "3. Active Intent: Unresolved slots: says nothing",
		strings.Replace(text, "slots:**\n", "slots:** None\n", 1):                      "3. Active Intent: Unresolved slots: \"None\" is not a list",
		strings.Replace(text, "slots:**\n", "slots:** None.\n", 1):                     "3. Active Intent: Unresolved slots: \"None.\" is not a list",
	} {
		_, err := Parse("", []byte(broken))
		if e, ok := errors.AsType[*transcript.SyntaxError](err); !ok || e.Field+": "+e.Text != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	p, err := Parse("", []byte(strings.Replace(text, "slots:**\n  - lamp\n", "slots:** none\n", 1)))
	if err != nil || len(p.Intent.Slots) != 0 {
		t.Errorf("of no slots: %+v, %v", p, err)
	}
}

// A packet may be read up to any place.
func TestPlacesUpToASlot(t *testing.T) {
	p := &Packet{Intent: Aim{Slots: []string{"lamp", "bulb"}}}
	for _, want := range []int{4, 5, 6} { // the basis, and the slots behind it
		n := 0
		for at := range p.places() {
			if at.section == sectionIntent {
				n++
			}
			if n == want {
				break
			}
		}
		if n != want {
			t.Errorf("%d places of the intent, want %d", n, want)
		}
	}
	if text := p.Markdown(); !strings.Contains(text, "\n- **Date:** \n") || strings.Contains(text, "Filename") {
		t.Errorf("only an optional label may be missing:\n%s", text)
	}
}

// A decision of at most three words has the line that it answers.
func TestWhatADecisionAnswers(t *testing.T) {
	h := recorded(4)
	h.Messages[0].Parts = []transcript.Part{transcript.Text("Two ways.\nRed?\n")}
	h.Blocks[2].Kind = transcript.KindUser
	h.Messages[2].Parts = []transcript.Part{transcript.Text("x")}
	for _, tt := range []struct {
		block int
		text  string
		want  string
	}{{1, "yes to it", "yes to it (to the agent's words: Red?)"}, {1, "yes do it now", "yes do it now"}, {0, "yes", "yes"}, {2, "yes", "yes"}, {3, "yes", "yes"}} {
		if got := h.assent(&facts.Fact{Block: tt.block, Text: tt.text}); got != tt.want {
			t.Errorf("%q in block %d is %q, want %q", tt.text, tt.block, got, tt.want)
		}
	}
	h.Blocks[0].Kind = transcript.KindTool
	if got, want := h.assent(&facts.Fact{Block: 1, Text: "no"}), "no (to the agent's words: Red?)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	z := strings.Repeat("z", 300)
	for s, want := range map[string]string{"": "", "a": "a", "a\nb": "b", "a\n\n--\n": "a", "\n\n": "", "a\n b ": "b", "1\n2": "", "\na": "a", z: z, "y" + z: "…" + z} {
		if got := lastLine(s); got != want {
			t.Errorf("the last line of %.20q is %.20q, want %.20q", s, got, want)
		}
	}
}

func TestWindowOfAHistory(t *testing.T) {
	h := recorded(5)
	h.First = 1
	h.Known = []Known{{}, {Stub: true}, {}, {Pinned: true, Live: true}, {Pinned: true, Live: true, Earlier: true}}
	var in Input
	h.window(&in)
	if d := cmp.Diff([]Out{{"22222222", "preview 2"}}, in.Out); d != "" {
		t.Errorf("out of the window (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]Context{
		{"Block 33333333: preview 3", "somebody pinned it: it never leaves the window"},
		{"Block 44444444: preview 4", "somebody pinned it, before the agent's own compaction took it out of the window"},
		{"1 blocks are stubs in the window; carrel recall ID has each of them whole", "what a stub does not say is not lost"},
	}, in.Context); d != "" {
		t.Errorf("context (-want +got):\n%s", d)
	}
	in = Input{}
	recorded(2).window(&in)
	if in.Out != nil || in.Context != nil {
		t.Errorf("of a whole window there is %+v", in)
	}
	h = recorded(3)
	h.First = 1
	h.Known[0].Corrects, h.Known[1].Corrects, h.Known[2] = true, true, Known{Corrects: true, Earlier: true}
	h.Texts = []string{"x", strings.Repeat("z", 4001), " Not red. "}
	h.corrections(&in)
	want := []Correction{
		{strings.Repeat("z", 4000), "It stands until the user says otherwise. It is block 11111111, which never leaves the window. These are its first words; carrel recall 11111111 has all."},
		{"Not red.", "It stands until the user says otherwise. It is block 22222222, which the agent's own compaction took out of the window."},
	}
	if d := cmp.Diff(want, in.Corrections); d != "" {
		t.Errorf("corrections (-want +got):\n%s", d)
	}
	h.Texts[1], h.Texts[2] = strings.Repeat("z", 4000), " "
	in = Input{}
	if h.corrections(&in); len(in.Corrections) != 1 || strings.Contains(in.Corrections[0].Meaning, "first words") {
		t.Errorf("of 4000 bytes and of none there are %d corrections", len(in.Corrections))
	}
}

// The intent is that of the last words that ask for something.
func TestIntentOfAHistory(t *testing.T) {
	h := recorded(4)
	for i, text := range []string{"Explain the lamp.", "Fix the bulb and then explain it.", "go on", "Write a poem."} {
		h.Texts[i], h.Known[i].Asks = text, i < 3
	}
	for first, want := range []string{"fix the bulb, explain", "fix the bulb, explain", "", ""} {
		var in Input
		h.First = first
		h.aim(&in)
		if got := strings.Trim(in.Intent.Primary+" "+in.Intent.Target+", "+in.Intent.Secondary, ", "); got != want {
			t.Errorf("from block %d on the intent is %q, want %q", first, got, want)
		}
	}
}

func TestTheNewestEntries(t *testing.T) {
	var in Input
	if got := last(&in, []int{1, 2}, 2, "lamps"); len(got) != 2 || in.Context != nil {
		t.Errorf("of two there are %v and %+v", got, in.Context)
	}
	got := last(&in, []int{1, 2, 3, 4, 5}, 2, "lamps")
	if want := "There are 3 more lamps, older than those listed here: carrel messages and carrel search have them"; len(got) != 2 || got[0] != 4 || len(in.Context) != 1 || in.Context[0].Context != want {
		t.Errorf("of five there are %v and %+v", got, in.Context)
	}
	if got := newest([]string{"a", "b", "A", "c"}, strings.ToLower); strings.Join(got, "") != "bAc" {
		t.Errorf("the newest are %q", got)
	}
}

// The state of a source is one that its text supports, and two records are merged.
func TestStatesOfSources(t *testing.T) {
	const nobody = "Unknown: what was verified from it is not on record."
	for _, tt := range []struct{ in, want Source }{
		{Source{State: "x", What: "y"}, Source{State: Referenced, What: "y"}},
		{Source{State: Verified}, Source{State: Scanned, What: nobody}},
		{Source{State: Verified, What: "Unknown: x"}, Source{State: Scanned, What: "Unknown: x"}},
		{Source{State: Verified, What: "not read"}, Source{State: Referenced, What: "not read"}},
		{Source{State: Scanned, What: "not read"}, Source{State: Referenced, What: "not read"}},
		{Source{State: Scanned, What: "Unknown: x"}, Source{State: Scanned, What: "Unknown: x"}},
		{Source{State: Scanned}, Source{State: Scanned, What: nobody}},
		{Source{State: Referenced}, Source{State: Referenced, What: "Nothing: it was only linked or mentioned."}},
		{Source{State: Unavailable}, Source{State: Unavailable, What: "Nothing: it could not be reached."}},
		{Source{State: Unavailable, What: "not read"}, Source{State: Unavailable, What: "not read"}},
		{Source{State: Verified, What: "y"}, Source{State: Verified, What: "y"}},
	} {
		got := tt.in
		if supported(&got); got != tt.want {
			t.Errorf("%+v becomes %+v, want %+v", tt.in, got, tt.want)
		}
	}
	for _, tt := range []struct{ to, s, want Source }{
		{Source{State: Scanned, Type: "a", What: "x"}, Source{State: Verified, Type: "b", What: "y"}, Source{State: Verified, Type: "b", What: "y"}},
		{Source{State: Verified, What: "x"}, Source{State: Scanned, What: "y"}, Source{State: Verified, What: "x"}},
		{Source{State: Verified, What: "x"}, Source{State: Verified, What: "X"}, Source{State: Verified, What: "x"}},
		{Source{State: Verified, What: "x"}, Source{State: Verified, What: "y"}, Source{State: Verified, What: "x; y"}},
		{Source{State: Scanned, What: "Unknown: x"}, Source{State: Scanned, What: "y"}, Source{State: Scanned, What: "y"}},
		{Source{State: Scanned, What: "x"}, Source{State: Scanned, What: "Unknown: y"}, Source{State: Scanned, What: "x"}},
		{Source{State: Referenced, What: "x"}, Source{State: Referenced, What: "y"}, Source{State: Referenced, What: "x"}},
		{Source{State: Scanned, What: "x"}, Source{State: Scanned, What: "y"}, Source{State: Scanned, What: "x; y"}},
	} {
		got := tt.to
		if merge(&got, tt.s); got != tt.want {
			t.Errorf("%+v with %+v is %+v, want %+v", tt.to, tt.s, got, tt.want)
		}
	}
	r := &recorder{e: &Evidence{Sources: []Source{{Source: "a", State: Scanned}, {Source: "A", State: Verified}, {Source: "a", State: Referenced}, {Source: "b", State: Referenced}, {Source: "b", State: Unavailable}}}}
	if got := r.known(); got["a"] != Verified || got["b"] != Referenced {
		t.Errorf("the states are %v", got)
	}
}

func TestPartsOfFileNames(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "Lamp": "lamp", "a--b": "a_b", "-a-": "a", "é ß": "e", "e\u0301x": "ex", strings.Repeat("a", 61): strings.Repeat("a", 60), strings.Repeat("a", 60): strings.Repeat("a", 60), strings.Repeat("a", 59) + "-b": strings.Repeat("a", 59), "a.9z": "a_9z", "0{`": "0",
	} {
		if got := namePart(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}

func TestLinesOfLists(t *testing.T) {
	for line, want := range map[string]string{"- a": "1 a", "-": "1 ", "  - a": "2 a", "  -": "2 ", "-a": "0 -a", "   - a": "0    - a", "a": "0 a", "-\ta": "0 -\ta", "-  a": "1 a", "": "0 "} {
		rest, level := bullet(line)
		if got := fmt.Sprint(level, " ", rest); got != want {
			t.Errorf("%q has the bullet %q, want %q", line, got, want)
		}
	}
	fields := []field{{label: "Basis"}, {label: "Why"}}
	for line, want := range map[string]string{"**Basis:** x": "0 x true", "**Why**: x": "1 x true", "why: x": "1 x true", "Basis:x": "0  false", "Basis:": "0  true", "Basis:\tx": "0 x true", "x Basis: y": "0  false", "Bas": "0  false", "": "0  false"} {
		at, text, ok := labeled(&item{lines: []string{line}}, fields)
		if got := fmt.Sprint(at, " ", text, " ", ok); got != want {
			t.Errorf("%q has the label %q, want %q", line, got, want)
		}
	}
	r := &reader{name: "x.md"}
	for n, want := range map[int]string{1: "begin it with \"- **Basis:**\"", 2: "begin it with - **Basis:** or - **Why:**"} {
		err := r.unlabeled(&item{lines: []string{"x"}}, "List", "", fields[:n])
		if e, ok := errors.AsType[*transcript.SyntaxError](err); !ok || e.Hint != want {
			t.Errorf("of %d labels: %v, want the hint %s", n, err, want)
		}
	}
	for _, tt := range []struct {
		lines string
		bare  bool
		want  string
	}{
		{"- a|  b||- c|  - d|    e", false, "7a+b+ 10c(11d+e)"},
		{"a|b", true, "7a 8b"},
		{"a|  b", true, "7a+b"},
		{"a", false, `x.md:7: List: "a" is no entry of a list (write an entry as "- **Label:** text", or "None.")`},
		{"- a|b", false, `x.md:8: List: "b" belongs to no entry (begin it with 2 spaces to go on with the text above)`},
		{"- a|  - b|  c", false, `x.md:9: List: "  c" belongs to no entry (begin it with 4 spaces to go on with the text above)`},
		{"  - a", false, `x.md:7: List: "  - a" is no entry of a list (write an entry as "- **Label:** text", or "None.")`},
		{"||- a", false, "9a"},
	} {
		list, err := r.items(&body{title: "List", first: 7, lines: strings.Split(tt.lines, "|")}, tt.bare)
		var all []string
		for _, it := range list {
			s := fmt.Sprint(it.line, strings.Join(it.lines, "+"))
			for _, part := range it.parts {
				s += fmt.Sprint("(", part.line, strings.Join(part.lines, "+"), ")")
			}
			all = append(all, s)
		}
		got := strings.Join(all, " ")
		if err != nil {
			got = err.Error()
			if e, ok := err.(*transcript.SyntaxError); ok { //nolint:errorlint // it is not wrapped
				got = fmt.Sprintf("%s:%d: %s: %s (%s)", e.Name, e.Line, e.Field, e.Text, e.Hint)
			}
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.lines, got, tt.want)
		}
	}
}

// What Markdown would change is written so that it is read as it was.
func TestTextsThatMarkdownWouldChange(t *testing.T) {
	for s, want := range map[string]string{
		" a": "&#32;a", "a ": "a&#32;", "a b": "a b", "a \nb": "a&#32;\nb", "a\n": "a&#10;", "\na": "&#10;a", "a\nb": "a\nb", "&#32;": "&#38;#32;", "&": "&", "a\u2028b": "a&#8232;b", "\ufeffa": "&#65279;a", "a\x01b": "a&#1;b", "a\tb": "a\tb", "\t": "&#9;", "a\xffb": "a\ufffdb",
	} {
		if got := encode(s); got != want {
			t.Errorf("%q is written as %q, want %q", s, got, want)
		}
	}
	for s, want := range map[string]string{"&#32;a": " a", "&#0;": "\x00", "&#55296;": "&#55296;", "&#1114111;": "\U0010ffff", "&#1114112;": "&#1114112;", "&#x;": "&#x;", "&#12345678;": "&#12345678;", "a": "a"} {
		if got := decode(s); got != want {
			t.Errorf("%q is read as %q, want %q", s, got, want)
		}
	}
	for line, want := range map[string][]string{"|a|b|": {"a", "b"}, `|a\|b|`: {"a|b"}, "||": {""}, "|": nil, "a|b|": nil, "|a": nil, "|a|b": nil, "": nil, "| a |": {" a "}} {
		got, ok := cells(line)
		if !ok {
			got = nil
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the cells of %q (-want +got):\n%s", line, d)
		}
	}
	if at := invalid([]byte("aé\xff")); at != 3 {
		t.Errorf("the first byte that is not valid is %d", at)
	}
	if at := invalid([]byte("aé\ufffd")); at >= 0 {
		t.Errorf("byte %d is not valid", at)
	}
	var syntax *transcript.SyntaxError
	if _, err := Parse("", make([]byte, maxBytes+1)); !errors.As(err, &syntax) || syntax.Line != 0 || !strings.Contains(err.Error(), "16777217 bytes, and a packet may have 16777216") {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := Parse("", []byte(strings.Repeat(" ", maxBytes))); err == nil || strings.Contains(err.Error(), "a packet may have") {
		t.Errorf("as many bytes as there may be: %v", err)
	}
}
