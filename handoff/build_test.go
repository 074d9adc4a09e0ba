package handoff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/contract"
)

// The packet of an empty input says that everything is unknown.
func TestBuildOfNothing(t *testing.T) {
	p := Build(&Input{})
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{p.CreatedBy, p.Date, p.Session, p.Goal, p.State, p.Intent.Target, p.Next} {
		if !strings.HasPrefix(s, unknown) {
			t.Errorf("%q does not say that it is unknown", s)
		}
	}
	want := []Boundary{{"Do not fill in what is marked as unknown.", "No record says it."}}
	if diff := cmp.Diff(want, p.Boundaries); diff != "" {
		t.Errorf("boundaries (-want +got):\n%s", diff)
	}
	if p.Intent.Primary != unknownVerb || p.Artifacts != nil {
		t.Errorf("intent %q, artifacts %v", p.Intent.Primary, p.Artifacts)
	}
	if found := findings(Check(p, &Evidence{})); found != "" {
		t.Errorf("findings:\n%s", found)
	}
}

// Build moves entries that go against a rule of honesty to a weaker section or state.
func TestBuild(t *testing.T) {
	p := Build(&Input{
		By: "carrel", Date: "2026-03-02", Session: "pump", Goal: "Mend the pump.", Task: "It runs dry.",
		State:  "Half done.",
		Intent: Aim{Primary: "fix", Target: "pump.go", Status: "open", Basis: "the task", Slots: []string{"relay", "Relay"}},
		Sources: []Source{
			{"z.go", "file", Verified, "It reads the level."},
			{"a.go", "file", Verified, ""},
			{"a.go", "file", Referenced, ""},
			{"link", "page", Verified, "Linked by the user."},
			{"z.go", "file", Unavailable, ""},
			{"z.go", "file", Verified, "It has one caller."},
			{"", "file", Verified, "x"},
		},
		Inferred: []Claim{{"The relay is slow.", "the log"}, {"the relay is slow", "again"}},
		Decisions: []Decision{
			{"Twice.", "the user agreed"},
			{"The relay is slow.", "the user agreed"},
			{"Buy another.", ""},
			{"Paint it.", "assumed"},
			{"twice", "said again"},
		},
		Questions:   []Question{{"Which relay?", ""}},
		Corrections: []Correction{{"Measure.", ""}, {"measure", "x"}},
		Out:         []Out{{"3f2a", "the log"}, {"99bc", ""}, {"", "nothing"}},
		Done:        []string{"Read it.", "Test it.", "Which relay?", "Is it dry?", "The relay is slow.", "read it"},
		Remaining:   []string{"Test it."},
		Unavailable: []string{"the bench"},
		Notes:       "Be brief. Who has the key?",
		Artifacts: []Deliverable{
			{"pump.go", "code", "cmd", Draft},
			{"notes", "", "", "who knows"},
			{"pump.go", "code", "cmd", Delivered},
		},
	})
	want := &Packet{
		CreatedFor: "any agent", CreatedBy: "carrel", Date: "2026-03-02", Session: "pump",
		Goal: "Mend the pump.\n\nThe task as it was given: It runs dry.", State: "Half done.",
		Intent: Aim{Primary: "fix", Target: "pump.go", Status: "open", Basis: "the task", Slots: []string{"relay"}},
		Sources: []Source{
			{"z.go", "file", Verified, "It reads the level.; It has one caller."},
			{"a.go", "file", Scanned, "Unknown: what was verified from it is not on record."},
			{"link", "page", Referenced, "Linked by the user."},
		},
		Inferred: []Claim{
			{"The relay is slow.", "the log"},
			{"Buy another.", "Unknown: who decided it is not on record."},
			{"Paint it.", "assumed"},
		},
		Decisions: []Decision{{"Twice.", "the user agreed"}},
		Questions: []Question{
			{"Which relay?", "Unknown: what depends on it is not on record."},
			{"Is it dry?", "It was listed as work completed, and is a question."},
			{"Who has the key?", "The notes ask it."},
		},
		Corrections: []Correction{{"Measure.", "Follow it as it is worded."}},
		Context:     []Context{{"Block 3f2a: the log", "It is out of the window; recall it before relying on it."}},
		Done:        []string{"Read it."},
		Remaining:   []string{"Test it."},
		Boundaries: []Boundary{
			{"Do not state as verified what section 5 has.", "It is inferred."},
			{"Do not claim to have verified what section 4 has as scanned.", "It was looked through, and not checked."},
			{"Do not claim to have read what section 4 has as referenced.", "It was only linked or mentioned."},
			{"Do not count on reaching: z.go", "It was unavailable in this session."},
			{"Do not count on reaching: the bench", "It was unavailable in this session."},
			{"Do not treat as settled what section 7 asks.", "It is open."},
			{"Do not guess what the user left out: relay", "It was not said."},
			{"Do not claim what these blocks say without recalling them: 3f2a, 99bc", "They are out of the window."},
			{"Do not fill in what is marked as unknown.", "No record says it."},
		},
		Next:  "Go on with: Test it.",
		Notes: "Be brief. Who has the key?",
		Artifacts: []Deliverable{
			{"pump.go", "code", "cmd", Delivered},
			{"notes", "unknown", "Unknown: the path is not on record.", Intermediate},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("packet (-want +got):\n%s", diff)
	}
}

// Each source has the state that its text supports, and a text for that state.
func TestBuildSources(t *testing.T) {
	const unknown = "Unknown: what was verified from it is not on record."
	for _, tt := range []struct {
		name     string
		in, want []Source
	}{
		{"what is only inferred is not verified", []Source{{"a.go", "file", Verified, "The relay is slow."}}, []Source{{"a.go", "file", Scanned, "Unknown: what it was read for is only inferred."}}},
		{"what was scanned may be inferred", []Source{{"a.go", "file", Scanned, "The relay is slow."}}, []Source{{"a.go", "file", Scanned, "The relay is slow."}}},
		{"what could not be reached was not read", []Source{{"a.go", "file", Unavailable, "Not read."}}, []Source{{"a.go", "file", Unavailable, "Not read."}}},
		{"the same twice", []Source{{"a.go", "file", Scanned, "It is long."}, {"a.go", "file", Scanned, "it is long"}}, []Source{{"a.go", "file", Scanned, "It is long."}}},
		{"words in place of none", []Source{{"a.go", "file", Scanned, ""}, {"a.go", "file", Scanned, "It is long."}}, []Source{{"a.go", "file", Scanned, "It is long."}}},
		{"none beside words", []Source{{"a.go", "file", Scanned, "It is long."}, {"a.go", "file", Scanned, ""}}, []Source{{"a.go", "file", Scanned, "It is long."}}},
		{"two mentions", []Source{{"a.go", "file", Referenced, "Linked."}, {"a.go", "file", Referenced, "Named."}}, []Source{{"a.go", "file", Referenced, "Linked."}}},
		{"nothing that is known", []Source{{"a.go", "file", Scanned, ""}}, []Source{{"a.go", "file", Scanned, unknown}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Build(&Input{Sources: tt.in, Inferred: []Claim{{"The relay is slow.", "the log"}}})
			if diff := cmp.Diff(tt.want, p.Sources); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// If everything is known, a packet has only the boundaries of the input, each once. Without
// any it has one for a doubt in its notes.
func TestBuildBoundaries(t *testing.T) {
	doubt := Boundary{"Do not state as certain what the notes doubt.", "The notes say so."}
	for _, tt := range []struct {
		name, notes string
		in, want    []Boundary
	}{
		{"nothing to doubt", "Be brief.", nil, []Boundary{}},
		{"a doubt in the notes", "It is unclear.", nil, []Boundary{doubt}},
		{"a bound that was given", "It is unclear.", []Boundary{{"Keep off.", "x"}, {"Keep off.", "y"}}, []Boundary{{"Keep off.", "x"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Build(&Input{
				For: "a", By: "b", Date: "2026-03-02", Session: "s", Goal: "g", State: "s", Next: "n", Notes: tt.notes, Boundaries: tt.in,
				Intent: Aim{Primary: "fix", Target: "t", Status: "open", Basis: "b"},
			})
			if diff := cmp.Diff(tt.want, p.Boundaries); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Without remaining work, the next action is to ask the user the first open question.
func TestBuildNext(t *testing.T) {
	for want, in := range map[string]*Input{
		"Ask the user: Which relay?": {Questions: []Question{{"Which relay?", ""}}},
		"Go on with: Test it.":       {Questions: []Question{{"Which relay?", ""}}, Remaining: []string{"Test it."}},
		"Paint it.":                  {Next: "Paint it.", Remaining: []string{"Test it."}},
	} {
		if got := Build(in).Next; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	p := Build(&Input{Artifacts: []Deliverable{{}, {"pump.go", "code", "cmd", Draft}}})
	if len(p.Artifacts) != 1 || p.Artifacts[0].Artifact != "pump.go" {
		t.Errorf("got %v, want the one that has a name", p.Artifacts)
	}
}

// A source that was only mentioned needs no evidence, Check ignores a block without an id,
// and a question is not completed work.
func TestCheckAgainstARecord(t *testing.T) {
	p := Build(&Input{Sources: []Source{{"a.go", "file", Referenced, ""}}})
	if found := findings(Check(p, &Evidence{Out: []string{""}})); found != "" {
		t.Errorf("findings:\n%s", found)
	}
	p.Done = []string{"Is it dry?"}
	if found := findings(Check(p, nil)); !strings.Contains(found, "is a question") {
		t.Errorf("findings:\n%s\nwant that a question is none of what is done", found)
	}
	p = Build(&Input{Notes: "The relay may be too old for it."})
	p.Sources = slices.Repeat([]Source{{"a.go", "file", Referenced, "named"}}, 2)
	p.Artifacts = slices.Repeat([]Deliverable{{"b.go", "file", "b.go", Draft}}, 2)
	for reasoning, want := range map[string]bool{"the relay may be too old": true, "relay may be too old for": true, "the relay may be too ol": false} {
		found := findings(Check(p, &Evidence{Reasoning: []string{reasoning}}))
		if strings.Contains(found, "hidden reasoning") != want || strings.Contains(found, "has two") {
			t.Errorf("%s: findings:\n%s\nwant hidden reasoning: %v, and nothing with two states", reasoning, found, want)
		}
	}
}

// A packet with any uncertainty and no boundary is an error, and the error names the
// uncertainty.
func TestDoubtAsksForBoundaries(t *testing.T) {
	for _, tt := range []struct {
		want  string
		doubt func(p *Packet)
	}{
		{"there are inferred claims", func(p *Packet) { p.Inferred = []Claim{{"The pump leaks", "the floor is wet"}} }},
		{"there are open questions", func(p *Packet) { p.Questions = []Question{{"Is it dry?", "nobody looked"}} }},
		{"there are unresolved slots", func(p *Packet) { p.Intent.Slots = []string{"when"} }},
		{"there are sources that were not verified", func(p *Packet) { p.Sources = []Source{{"a.go", "file", Referenced, "named"}} }},
		{"the notes have doubts", func(p *Packet) { p.Notes = "It is unclear whether it holds." }},
	} {
		p := Build(&Input{})
		p.Inferred, p.Questions, p.Intent.Slots, p.Sources, p.Notes = nil, nil, nil, nil, ""
		p.Boundaries = nil
		if found := findings(Check(p, nil)); strings.Contains(found, tt.want) {
			t.Errorf("without a doubt: %s", found)
		}
		tt.doubt(p)
		if found := findings(Check(p, nil)); !strings.Contains(found, "is empty, but "+tt.want) {
			t.Errorf("findings:\n%s\nwant that %s", found, tt.want)
		}
	}
}

// A missing artifact gives one finding, even if the evidence lists it several times.
func TestAFileIsLeftOutOnce(t *testing.T) {
	p := Build(&Input{Artifacts: []Deliverable{{"b.go", "file", "", "created"}}})
	made := Deliverable{"a.go", "file", "", "created"}
	found := findings(Check(p, &Evidence{Artifacts: []Deliverable{made, {"b.go", "file", "", "created"}, made}}))
	if n := strings.Count(found, "was produced, but is missing here; add it"); n != 1 {
		t.Errorf("%d findings of one file:\n%s", n, found)
	}
}

// loose generates texts that may be empty and often repeat.
var loose = rapid.OneOf(
	rapid.SampledFrom([]string{
		"", " ", "a", "A.", "b", "c", "Is it?", "is it", "Unknown: x", "unknown", "assumed", "Not read.", "linked",
		"x <think>y</think> z", "<think>y", "chain of thought: y", "w\nprivate reasoning: y\nz", "Nothing.", "It is unclear.",
	}),
	saying, rapid.String(), rapid.StringN(0, 3, -1),
)

var inputs = rapid.Custom(func(t *rapid.T) *Input {
	lines := func(name string) []string { return rapid.SliceOfN(loose, 0, 4).Draw(t, name) }
	pairs := func(name string) [][2]string {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]string {
			return [2]string{loose.Draw(t, "first"), loose.Draw(t, "second")}
		}), 0, 4)
		return list.Draw(t, name)
	}
	in := &Input{
		For: loose.Draw(t, "for"), Date: loose.Draw(t, "date"), Filename: loose.Draw(t, "filename"),
		Goal: loose.Draw(t, "goal"), Task: loose.Draw(t, "task"), State: loose.Draw(t, "state"),
		Intent: Aim{
			Primary: rapid.SampledFrom(append(verbs, "", "sing")).Draw(t, "verb"),
			Target:  loose.Draw(t, "target"), Secondary: loose.Draw(t, "secondary"), Slots: lines("slots"),
		},
		Done: lines("done"), Remaining: lines("remaining"), Unavailable: lines("unavailable"),
		Next: loose.Draw(t, "next"), Notes: loose.Draw(t, "notes"),
	}
	for _, x := range pairs("inferred") {
		in.Inferred = append(in.Inferred, Claim{x[0], x[1]})
	}
	for _, x := range pairs("decisions") {
		in.Decisions = append(in.Decisions, Decision{x[0], x[1]})
	}
	for _, x := range pairs("questions") {
		in.Questions = append(in.Questions, Question{x[0], x[1]})
	}
	for _, x := range pairs("corrections") {
		in.Corrections = append(in.Corrections, Correction{x[0], x[1]})
	}
	for _, x := range pairs("context") {
		in.Context = append(in.Context, Context{x[0], x[1]})
	}
	for _, x := range pairs("boundaries") {
		in.Boundaries = append(in.Boundaries, Boundary{x[0], x[1]})
	}
	for _, x := range pairs("sources") {
		state := rapid.SampledFrom(states).Draw(t, "state")
		in.Sources = append(in.Sources, Source{x[0], loose.Draw(t, "type"), Scrutiny(state), x[1]})
	}
	for _, x := range pairs("artifacts") {
		status := rapid.SampledFrom(statuses).Draw(t, "status")
		in.Artifacts = append(in.Artifacts, Deliverable{x[0], loose.Draw(t, "type"), x[1], Status(status)})
	}
	for _, id := range rapid.SliceOfN(rapid.StringMatching(`[0-9a-f]{4}`), 0, 3).Draw(t, "out") {
		in.Out = append(in.Out, Out{id, loose.Draw(t, "of a block")})
	}
	return in
})

// evidenceOf returns evidence with all entries of the input.
func evidenceOf(in *Input) *Evidence {
	return &Evidence{
		Sources: in.Sources, Inferred: texts(in.Inferred, ofClaim), Decisions: in.Decisions,
		Questions: texts(in.Questions, ofQuestion), Corrections: texts(in.Corrections, ofCorrection),
		Done: in.Done, Remaining: in.Remaining, Artifacts: in.Artifacts,
		Out: texts(in.Out, func(o Out) string { return o.ID }), Unavailable: in.Unavailable,
	}
}

// For any input the packet is valid, is the same after it is written and read in
// both forms, and passes Check with and without evidence.
func TestBuildIsHonest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs.Draw(t, "input")
		p := Build(in)
		sameAfter(t, p)
		for _, e := range []*Evidence{nil, evidenceOf(in)} {
			for _, f := range Check(p, e) {
				if f.Error {
					t.Fatalf("%v\n%s", f, p.Markdown())
				}
			}
		}
		if diff := cmp.Diff(p, Build(in)); diff != "" {
			t.Fatalf("the same input gives another packet:\n%s", diff)
		}
	})
}

// An artifact without a name is named by its path, even if a no-break space stands
// before a reasoning tag at the beginning of the path.
func TestBuildNamesAFileByItsPath(t *testing.T) {
	for _, path := range []string{"a.go", "\u00a0<think>", "<think> a", "A.go."} {
		in := &Input{Artifacts: []Deliverable{{Path: path, Status: Delivered}}}
		for _, f := range Check(Build(in), evidenceOf(in)) {
			if f.Error {
				t.Errorf("the path %q: %v", path, f)
			}
		}
	}
}

// A packet that is built does not change what it is built from.
func TestBuildLeavesItsInput(t *testing.T) {
	in := &Input{Sources: []Source{{"b", "", Scanned, ""}, {"a", "", Verified, "x"}}, Done: []string{" a ", "a"}}
	sources, done := slices.Clone(in.Sources), slices.Clone(in.Done)
	Build(in)
	if !slices.Equal(sources, in.Sources) || !slices.Equal(done, in.Done) {
		t.Errorf("the input is now %+v", in)
	}
}

// A packet with many sources that could not be read is checked, and with many decisions accepted, in
// linear time: quadratic time would be minutes.
func TestManyEntries(t *testing.T) {
	const n = 30_000
	in := new(Input)
	for i := range n {
		in.Sources = append(in.Sources, Source{Source: fmt.Sprintf("a/file%d", i), State: Unavailable})
		in.Decisions = append(in.Decisions, Decision{Text: fmt.Sprintf("use-part%d-x", i), Basis: "the user said so"})
	}
	p := Build(in)
	if found := Check(p, nil); len(found) > 0 {
		t.Errorf("%d findings, the first is %v", len(found), found[0])
	}
	if got := len(p.Contract().Texts(contract.TrackedDecisions)); got != n {
		t.Errorf("%d decisions are accepted, want %d", got, n)
	}
}
