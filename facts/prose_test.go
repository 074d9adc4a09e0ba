package facts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

func TestAcknowledges(t *testing.T) {
	for said, want := range map[string]bool{
		"ok": true, "Yes, please go ahead!": true, "thanks :)": true, "ok, but paint it": false, "ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok ok": true,
		strings.Repeat("ok ", 20): true, strings.Repeat("ok ", 20) + "k": false, "": true,
	} {
		if got := acknowledges(said); got != want {
			t.Errorf("%q says no more than yes: %v, want %v", said, got, want)
		}
	}
}

// Corrections in a message and in a document.
func TestOrders(t *testing.T) {
	for _, tt := range []struct {
		said string
		size int
		want bool
	}{
		{"Never paint it", 1201, true},
		{"You should never paint it", 1200, true},
		{"You should never paint it", 1201, false},
		{"Did you never paint it?", 30, false},
		{"Never paint it, did you?", 30, true},
		{"I don't have the paint", 30, false},
		{"I have no paint, I don't know why", 30, false},
	} {
		if got := orders(tt.said, tt.size); got != tt.want {
			t.Errorf("%q in %d bytes orders: %v, want %v", tt.said, tt.size, got, tt.want)
		}
	}
}

func TestCorrections(t *testing.T) {
	marked := func(said string) bool { return strings.Contains(strings.ToLower(said), "never") }
	long := strings.Repeat("x", 150)
	for _, tt := range []struct {
		name, said string
		want       []string
	}{
		{"three of a message", "Never dim it. Never paint it. Never sell it. Never lend it.", []string{"Never dim it.", "Never paint it.", "Never sell it."}},
		{"none far behind", strings.Repeat(long+". ", 4) + "Never dim it.", nil},
		{"one before", strings.Repeat(long[:145]+". ", 4) + "Never dim it.", []string{"Never dim it."}},
		{"one that no single sentence has", "> Never\n> dim it\n", []string{"> Never > dim it"}},
		{"none of a long message that no single sentence has", "> Never\n> " + strings.Repeat(long, 4), nil},
		{"600 bytes that no single sentence has", "> Never\n> " + strings.Repeat("x", 590), []string{"> Never > " + strings.Repeat("x", 290) + "…"}},
		{"601 bytes", "> Never\n> " + strings.Repeat("x", 591), nil},
		{"none that is asked", "Did you never dim it?", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range new(talk).user(tt.said).extract(&Options{Correction: marked}) {
				if f.Kind == FactCorrection {
					got = append(got, f.Text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Sentences that state a decision, by role.
func TestDecides(t *testing.T) {
	const user, assistant = transcript.RoleUser, transcript.RoleAssistant
	for _, tt := range []struct {
		role transcript.Role
		s    sentence
		want bool
	}{
		{assistant, sentence{text: "We decided to use a lens"}, true},
		{assistant, sentence{text: "We decided to use a lens?"}, false},
		{assistant, sentence{text: "We decided on these:", title: true}, false},
		{assistant, sentence{text: "We decided on these:"}, true},
		{assistant, sentence{text: "Let me check what was decided"}, false},
		{assistant, sentence{text: `"We decided to use a lens"`}, false},
		{assistant, sentence{text: "'We decided to use a lens'"}, false},
		{assistant, sentence{text: `We decided\nto use a lens`}, false},
		{user, sentence{text: "option two it is"}, true},
		{user, sentence{text: "option two: paint it"}, false},
		{user, sentence{text: "option two it is", item: true}, false},
		{user, sentence{text: "option two it is", title: true}, false},
		{user, sentence{text: "option " + strings.Repeat("x", 72)}, true},
		{user, sentence{text: "option " + strings.Repeat("x", 73)}, false},
		{assistant, sentence{text: "option two it is"}, false},
		{user, sentence{text: "use the lens"}, true},
		{assistant, sentence{text: "use the lens"}, false},
		{assistant, sentence{text: "The lamp uses a lens instead of a bulb"}, false},
		{assistant, sentence{text: "I replaced the bulb instead"}, true},
		{assistant, sentence{text: "I'll paint it because it is old"}, true},
		{assistant, sentence{text: "It is old, so I'll paint it"}, true},
		{assistant, sentence{text: "Since it is old, I'll paint it"}, true},
		{user, sentence{text: "It is old, so I'll paint it"}, false},
		{assistant, sentence{text: "I'll paint it"}, false},
		{assistant, sentence{text: "It is old, so it is dark"}, false},
		{assistant, sentence{text: "We are keeping the lens as it is"}, true},
		{assistant, sentence{text: "As we are keeping the lens"}, false},
	} {
		if got := decides(tt.s, tt.role); got != tt.want {
			t.Errorf("%+v of %s decides: %v, want %v", tt.s, tt.role, got, tt.want)
		}
	}
}

// The sentence of a decision has 12 to 900 bytes.
func TestLengthOfADecision(t *testing.T) {
	for said, want := range map[string]int{"use lens 17.": 1, "use lens 1.": 0, "use " + strings.Repeat("x", 895) + ".": 1, "use " + strings.Repeat("x", 896) + ".": 0} {
		if got := len(written(new(talk).user(said).extract(nil), FactDecision)); got != want {
			t.Errorf("%d decisions in %d bytes, want %d", got, len(said), want)
		}
	}
}

// Progress in the last reply of a turn and between calls.
func TestProgresses(t *testing.T) {
	for _, tt := range []struct {
		s             sentence
		within, atEnd bool
	}{
		{sentence{text: "The lamp is fixed"}, true, true},
		{sentence{text: "is fixed"}, true, true},
		{sentence{text: "fixed it"}, false, true},
		{sentence{text: "added a"}, false, false},
		{sentence{text: "Is it fixed, and is fixed?"}, false, false},
		{sentence{text: "It is fixed so:"}, false, false},
		{sentence{text: "It is fixed so:", item: true}, true, true},
		{sentence{text: "Let me see that it is fixed"}, false, false},
		{sentence{text: "Now let me see that it is fixed"}, false, false},
		{sentence{text: "The price is 12 coins"}, false, true},
		{sentence{text: "The price is high there"}, false, false},
		{sentence{text: "The 12 lamps are dark"}, false, false},
		{sentence{text: "✅ Lamps of brass"}, true, true},
		{sentence{text: "✓ Lamps of brass"}, true, true},
		{sentence{text: "All lamps pass"}, true, true},
		{sentence{text: "12 lamps pass"}, true, true},
		{sentence{text: "Some lamps pass"}, false, false},
		{sentence{text: "Pass all lamps"}, false, false},
		{sentence{text: "Root cause: a bulb"}, true, true},
		{sentence{text: "Conclusion: a bulb"}, true, true},
		{sentence{text: "A lamp with a lens", item: true, head: "what changed:"}, false, true},
		{sentence{text: "A lamp with a lens", head: "what changed:"}, false, false},
		{sentence{text: "A lamp with lens", item: true, head: "what changed:"}, false, true},
		{sentence{text: "Lamp with lens", item: true, head: "what changed:"}, false, false},
		{sentence{text: "A lamp with a lens", item: true, head: "wishes"}, false, false},
		{sentence{text: "I've painted and added"}, false, false},
		{sentence{text: "I've added a lens"}, false, true},
		{sentence{text: "I added a lens"}, false, true},
		{sentence{text: "A lens has been added"}, false, true},
		{sentence{text: "Lenses have been added"}, false, true},
		{sentence{text: "A lens has been dark"}, false, false},
		{sentence{text: "Lenses have been dark"}, false, false},
	} {
		if got := progresses(tt.s, false); got != tt.within {
			t.Errorf("between calls %+v progresses: %v", tt.s, got)
		}
		if got := progresses(tt.s, true); got != tt.atEnd {
			t.Errorf("at the end %+v progresses: %v", tt.s, got)
		}
	}
}

// A user's answer resolves a question, and is a decision if it begins with a word of choice.
func TestAnswers(t *testing.T) {
	const asked = "question resolved | Which lens do you want? <- "
	const chose = "decision | Which lens do you want? | "
	long := strings.Repeat("and round, ", 11) + "and red"
	for _, tt := range []struct{ said, why, chosen string }{
		{"the red one, which is round", "the red one, which is round", ""},
		{"2", "2", "2"},
		{"17", "17", "17"},
		{"the first", "the first", "the first"},
		{"both of **them**", "both of them", "both of them"},
		{"Yes. The red one.", "Yes. The red one.", "Yes. The red one."},
		{"Certainly so. The red one.", "Certainly so.", ""},
		{"Yes, surely. The red one.", "Yes, surely.", "Yes, surely. The red one."},
		{"Yes, right. The red one.", "Yes, right. The red one.", "Yes, right. The red one."},
		{"Yes, surely. The " + repeat(98, "x") + " one.", "Yes, surely.", "Yes, surely. The " + repeat(98, "x") + " one."},
		{"Yes, surely. The " + repeat(99, "x") + " one.", "Yes, surely.", "Yes, surely."},
		{"Yes.\n\nThe red one.", "Yes.", "Yes. The red one."},
		{"Yes.\n- The red one.", "Yes.", "Yes. - The red one."},
		{"No, why is it red?", "No, why is it red?", ""},
		{"Use it " + long + ". It is new.", "Use it " + long + ".", "Use it " + long + "."},
	} {
		got := written(new(talk).user("Go.").reply("Which lens do you want?").user(tt.said).extract(nil), FactQuestion, FactDecision)
		want := []string{asked + tt.why}
		if tt.chosen != "" {
			want = append(want, chose+tt.chosen)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer %q (-want +got):\n%s", tt.said, diff)
		}
	}
}

// The last reply of a turn may ask three things, near its end.
func TestQuestionsOfAReply(t *testing.T) {
	for _, tt := range []struct {
		name, said string
		want       []string
	}{
		{"three at most, the last", strings.Join(listOf(5, "Is lamp %d dark?"), " "), []string{"Is lamp 3 dark?", "Is lamp 4 dark?", "Is lamp 5 dark?"}},
		{"seven sentences from the end", "Is it dark? " + strings.Repeat("It is so. ", 6), []string{"Is it dark?"}},
		{"none farther away", "Is it dark? " + strings.Repeat("It is so. ", 7), nil},
		{"nine characters", "Is it so?", []string{"Is it so?"}},
		{"eight characters", "Is it x?", nil},
		{"no heading", "# Is it dark?\n\nNo.", nil},
		{"a request", "Please confirm the color.", []string{"Please confirm the color."}},
	} {
		var want []string
		for _, q := range tt.want {
			want = append(want, "question open | "+q)
		}
		if diff := cmp.Diff(want, written(new(talk).user("Go.").reply(tt.said).extract(nil), FactQuestion)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A reply without other facts gives its first informative sentence.
func TestGist(t *testing.T) {
	for said, want := range map[string]string{
		"The lamp stands on the left now": "The lamp stands on the left now", "The lamp stands there, on left": "The lamp stands there, on left", "The lamp stands there on left": "",
		"[a line of a log that is rather long": "", "Who put the lamp there at all, and why?": "", "The lamp is where it was put before:": "", "- The lamp is where it was put before:": "",
		"I'll look at the lamp that stands there": "", "Sure, the lamp stands on the left there": "", "# The lamp stands on the left, as ever": "",
		"Sure. The lamp stands on the left there. The lens lies on the right side.": "The lamp stands on the left there.",
	} {
		var all []string
		if want != "" {
			all = []string{"progress | " + want}
		}
		if diff := cmp.Diff(all, written(new(talk).user("Go.").reply(said).extract(nil), FactProgress)); diff != "" {
			t.Errorf("of %q (-want +got):\n%s", said, diff)
		}
	}
}

// A reply that reports a fix or passing checks resolves these errors, and no others.
func TestRepliesResolveErrors(t *testing.T) {
	const failed = "error resolved | %k | %t <- "
	for _, tt := range []struct{ name, line, output, said, why string }{
		{"a test that is fixed", "go test ./lamp", "--- FAIL: TestBeam (0.02s)", "Fixed TestBeam with a new lens.", "Fixed TestBeam with a new lens."},
		{"another test that is fixed", "go test ./lamp", "--- FAIL: TestBeam (0.02s)", "Fixed TestLens with a new lens.", ""},
		{"a test that is only spoken of", "go test ./lamp", "--- FAIL: TestBeam (0.02s)", "The root cause of TestBeam is a lens.", ""},
		{"tests that pass", "go test ./lamp", "--- FAIL: TestBeam (0.02s)", "All tests pass now.", "All tests pass now."},
		{"a test that passes", "go test ./lamp", "--- FAIL: TestBeam (0.02s)", "TestLens and all lamps pass now.", ""},
		{"linters that pass", "go test ./lamp", "--- FAIL: TestBeam (0.02s)", "The lint checks all pass now.", ""},
		{"everything that passes", "make lint", "error: no bulb", "It is all clean now.", "It is all clean now."},
		{"linters that are clean, in the first word", "make lint", "error: no bulb", "Clean lint, and the build passes.", "Clean lint, and the build passes."},
		{"everything that passes, and no test", "make lamp", "error: no bulb", "It is all clean now.", ""},
	} {
		got := strings.Join(written(new(talk).user("Go.").run(tt.line, "!Exit code 1\n"+tt.output).reply(tt.said).extract(nil), FactError), "; ")
		want := "error open | " + tt.line + " | " + tt.output
		if tt.why != "" {
			want = strings.NewReplacer("%k", tt.line, "%t", tt.output).Replace(failed) + tt.why
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", tt.name, got, want)
		}
	}
}

// A pasted line is an error if it clearly reports a failure. Of several the clearest counts.
func TestReportedErrors(t *testing.T) {
	for said, want := range map[string]string{
		"see\nerror: no bulb\npanic: no lamp": "error open | panic: no lamp", "it failed for me": "", "panic: one\npanic: two": "error open | panic: one",
		"npm ERR! no bulb": "", "see\n\nerror: no bulb": "error open | error: no bulb",
	} {
		if got := strings.Join(written(new(talk).user(said).extract(nil), FactError), "; "); got != want {
			t.Errorf("of %q: got %q, want %q", said, got, want)
		}
	}
}

// An error that the user reported is resolved by a reply after an edit, unless the reply asks.
func TestReportedErrorsAreResolved(t *testing.T) {
	begin := func() *talk { return new(talk).user("panic: no lamp") }
	for _, tt := range []struct {
		name string
		talk *talk
		want string
	}{
		{"a reply", begin().reply("I see what it is."), "error open | panic: no lamp"},
		{"an edit and a reply", begin().edit("a.go", "x := 1", "x := 2").reply("I turned the lamp."), "error resolved | panic: no lamp <- edited a.go"},
		{"an edit and a question", begin().edit("a.go", "x := 1", "x := 2").reply("Does the lamp burn now?"), "error open | panic: no lamp"},
		{"two, and an edit between them", begin().edit("a.go", "x := 1", "x := 2").user("panic: no bulb").reply("I turned the lamp."), "error resolved | panic: no lamp <- edited a.go; error open | panic: no bulb"},
		{"an edit before it", new(talk).user("Go.").edit("a.go", "x := 1", "x := 2").user("panic: no lamp").reply("I see what it is."), "error open | panic: no lamp"},
	} {
		if got := strings.Join(written(tt.talk.extract(nil), FactError), "; "); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The steps of a plan, at most twelve. In a user message they count only if it is long.
func TestSteps(t *testing.T) {
	long := "\n\n" + strings.Repeat("The lamp is dark. ", 40)
	numbers := strings.Join(listOf(14, "%d. Mend the lamp"), "\n")
	for _, tt := range []struct {
		name string
		talk *talk
		want int
	}{
		{"of a short message none", new(talk).user("# 1. Mend the lamp\n"), 0},
		{"of 600 bytes none", new(talk).user("# 1. Mend the lamp\n\n" + strings.Repeat("x", 580)), 0},
		{"of 601 bytes", new(talk).user("# 1. Mend the lamp\n\n" + strings.Repeat("x", 581)), 1},
		{"of a long one", new(talk).user("# 1. Mend the lamp" + long), 1},
		{"of a heading with no number none", new(talk).user("# Mend the lamp" + long), 0},
		{"of nine bytes", new(talk).user("# 1. Mend lamp" + long), 1},
		{"of eight bytes none", new(talk).user("# 1. Mend lam" + long), 0},
		{"under a heading of what a person wants done", new(talk).user("# Changes needed\n- Mend the lamp" + long), 1},
		{"under that heading an agent tells what it did", new(talk).user("Go.").reply("# Changes needed\n- Mend the lamp"), 0},
		{"twelve at most", new(talk).user("Go.").reply("# Next steps\n" + strings.ReplaceAll(numbers, "lamp", "lamp again")), 1},
		{"what is ticked off is none", new(talk).user("Go.").reply("# Next steps\n- [ ] Mend the lamp"), 0},
		{"a sentence that says what is next", new(talk).user("Go.").reply("Next up is the lens."), 1},
		{"a heading that says what is next is none", new(talk).user("Go.").reply("# Next up is the lens"), 0},
		{"a step with a number", new(talk).user("Go.").reply("# Step 1: mend it"), 1},
		{"a sentence with a step is none", new(talk).user("Go.").reply("Step 3 mends the lamp"), 0},
		{"a step without one is none", new(talk).user("Go.").reply("# Step one: mend it"), 0},
	} {
		if got := written(tt.talk.extract(nil), FactPlan); len(got) != tt.want {
			t.Errorf("%s: got %q, want %d", tt.name, got, tt.want)
		}
	}
	var all []string
	for what := range strings.SplitSeq("abcdefghijklmn", "") {
		all = append(all, "- Mend lamp "+what)
	}
	if got := written(new(talk).user("Go.").reply("# Next steps\n"+strings.Join(all, "\n")).extract(nil), FactPlan); len(got) != 12 {
		t.Errorf("got %d steps, want 12", len(got))
	}
}

// A summary has the user's request after one of several headings.
func TestIntentOfASummary(t *testing.T) {
	for said, want := range map[string]string{
		"Analysis:\n\nx\nSummary:\nThe lamp.": "The lamp.", "Session Intent\nMend the lamp.\n\nRest": "Mend the lamp.", "Initial User Request: Mend it.\n\nRest": "Mend it.",
		"Initial request: Mend it.": "Mend it.", "The lamp.\nInitial request:\n": "The lamp. Initial request:",
	} {
		s := &talk{msgs: []transcript.Message{{Role: transcript.RoleUser, Summary: true, Parts: []transcript.Part{transcript.Text(said)}}}}
		if diff := cmp.Diff([]string{"task | " + want}, written(s.extract(nil), FactTask)); diff != "" {
			t.Errorf("of %q (-want +got):\n%s", said, diff)
		}
	}
}

// The newest plan is the last text of the assistant, if no user message follows.
func TestNewestPlan(t *testing.T) {
	say := func(said string) *talk {
		return new(talk).user("Go.").call(said, "Bash", map[string]string{"command": "make"}, "ok")
	}
	for _, tt := range []struct {
		talk *talk
		want []string
	}{
		{say("Let me mend the lamp."), []string{"plan | Let me mend the lamp."}},
		{say("Now let me mend the lamp."), []string{"plan | Now let me mend the lamp."}},
		{say("The lamp is dark."), nil},
		{say("Let me mend the lamp.").reply("The lamp is lit."), nil},
	} {
		if diff := cmp.Diff(tt.want, written(tt.talk.extract(nil), FactPlan)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// The text of a result in JSON: its fields, and of arrays the fields that identify elements.
func TestFields(t *testing.T) {
	for _, tt := range []struct{ in, known, want string }{
		{"lit\ndim", "", "lit"},
		{"{", "", "{"},
		{"12", "", "12"},
		{"[]", "", "[]"},
		{`["a",["b","c"],{"id":"7","x":1}]`, "", "a, b, c, 7"},
		{`[{"id":"7"},{"id":"7"},{"x":1}]`, "", "7"},
		{`{"lamps":[{"name":"red","user_id":4,"size":3,"title":["x"]}],"none":[]}`, "", "lamps red 4"},
		{`{"id":"W7","status":"open","note":""}`, "order W7", "status open"},
		{`{"at":{"x":1,"y":[2,3]}}`, "", "x 1, y 2, y 3"},
		{`{"at":{"x":"` + strings.Repeat("l", 118) + `"}}`, "", "x " + strings.Repeat("l", 118)},
		{`{"at":{"x":"` + strings.Repeat("l", 119) + `"}}`, "", ""},
		{`{"at":{"x":"","y":1}}`, "", "y 1"},
	} {
		if got := fields(tt.in, tt.known); got != tt.want {
			t.Errorf("%s says %q, want %q", tt.in, got, tt.want)
		}
	}
}

// Which command lines run all tests.
func TestSuite(t *testing.T) {
	for line, want := range map[string]bool{
		"go test ./...": true, "go test": true, "npm test": true, "npm run test": true, "npm run build test": false, "make test": true, "test lamp": false, "go vet ./...": false,
		"go test ./lamp": false, "go test -run Lamp ./...": false, "pytest -k lamp": false, "cargo test lamp::x": false, "npm test -t lamp": false,
		"npm test --filter x": false, "npm test --grep x": false, "make testdata": true, "go test lamp.go": false,
	} {
		if got := runsAllTests(line, readLine(line).keys()); got != want {
			t.Errorf("%q runs all tests: %v, want %v", line, got, want)
		}
	}
}

// A text that is cut ends with a sentence, if one ends in its second half.
func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"The **lamp** is lit.", 40, "The lamp is lit."},
		{"The lamp is lit. The lens is red and round.", 24, "The lamp is lit."},
		{"The lamp. The lens is red and round, as ever.", 40, "The lamp. The lens is red and round, as…"},
	} {
		if got := cutAtSentence(tt.in, tt.n); got != tt.want {
			t.Errorf("%q in %d characters is %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

// Prose is split into sentences with the heading above them.
func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []sentence
	}{
		{"sentences and paragraphs", "One lamp. Two lamps.\n\nThree.", []sentence{{text: "One lamp."}, {text: "Two lamps."}, {text: "Three.", para: 1}}},
		{"code is none", "a\n```\nb\n~~~\n```\nc", []sentence{{text: "a"}, {text: "c"}}},
		{"code in other marks", "~~~~\nb\n~~~~~\nc", []sentence{{text: "c"}}},
		{"nor tables, quotations, markup and lines", "a\n|b|\n> c\n<d>\n---\n===\ne", []sentence{{text: "a"}, {text: "e"}}},
		{"nor items of nothing", "a\n- **\nb", []sentence{{text: "a"}, {text: "b"}}},
		{"headings", "## Lamp\n- lit\n####### x", []sentence{{text: "Lamp", title: true}, {text: "lit", item: true, head: "lamp"}, {text: "####### x", head: "lamp"}}},
		{"bold headings", "**Lamp**\n\nlit\n\n**Lens.**", []sentence{{text: "Lamp", title: true}, {text: "lit", head: "lamp", para: 1}, {text: "Lens.", head: "lamp", para: 2}}},
		{
			"labels", "Lamps:\n- red\n* green\n+ blue\nmore\n1. one\n12) two\n1234. three",
			[]sentence{
				{text: "Lamps:", title: true},
				{text: "red", item: true, head: "lamps:"},
				{text: "green", item: true, head: "lamps:"},
				{text: "blue", item: true, head: "lamps:"},
				{text: "more"},
				{text: "one", item: true, number: true},
				{text: "two", item: true, number: true},
				{text: "1234. three"},
			},
		},
		{"a label of 159 bytes", strings.Repeat("a", 158) + ":\n- x", []sentence{{text: strings.Repeat("a", 158) + ":", title: true}, {text: "x", item: true, head: strings.Repeat("a", 158) + ":"}}},
		{"none of 160 bytes", strings.Repeat("a", 159) + ":\n- x", []sentence{{text: strings.Repeat("a", 159) + ":"}, {text: "x", item: true}}},
		{"a heading behind a label", "Lamps:\n# Lens\n- red", []sentence{{text: "Lamps:", title: true}, {text: "Lens", title: true}, {text: "red", item: true, head: "lens"}}},
		{"boxes", "- [ ] a\n- [X] b\n[~] c\n[y] d\n[x]e", []sentence{
			{text: "a", item: true, box: ' '}, {text: "b", item: true, box: 'x'}, {text: "c", item: true, box: '~'}, {text: "[y] d"}, {text: "[x]e"},
		}},
		{"lines that were wrapped", strings.Repeat("lamp ", 10) + "and\nlens", []sentence{{text: strings.Repeat("lamp ", 10) + "and lens"}}},
		{"lines of 49 bytes were not", strings.Repeat("lamp ", 9) + "lamp\nlens", []sentence{{text: strings.Repeat("lamp ", 9) + "lamp"}, {text: "lens"}}},
		{"nor before a capital", strings.Repeat("lamp ", 10) + "and\nLens", []sentence{{text: strings.Repeat("lamp ", 10) + "and"}, {text: "Lens"}}},
		{"nor behind a colon", strings.Repeat("lamp ", 10) + "and:\nlens", []sentence{{text: strings.Repeat("lamp ", 10) + "and:", title: true}, {text: "lens"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sentences(tt.in), cmp.AllowUnexported(sentence{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
