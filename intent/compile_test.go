package intent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show returns the verb, the slots in their order and the gaps of an intent.
func show(in *Intent) string {
	var b strings.Builder
	b.WriteString(string(in.Verb))
	for _, s := range in.Verb.Slots() {
		for _, v := range in.Slots[s] {
			fmt.Fprintf(&b, " %s=%q", s, v.Text)
		}
	}
	for _, g := range in.Gaps {
		fmt.Fprintf(&b, " gap=%s", g)
	}
	for _, p := range in.Secondary {
		fmt.Fprintf(&b, " + %s", p.Verb)
	}
	return b.String()
}

func TestReorder(t *testing.T) {
	for _, tt := range []struct {
		name, prompt string
		form         Phrasing
		want         string
	}{
		{"the verb first", "Fix the pager score", formVerbFirst, `fix target="the pager score"`},
		{"the target first", "The pager score. Fix it.", formTargetFirst, `fix target="The pager score"`},
		{"a question", "How does the pager score blocks?", formQuestion, `explain target="the pager score blocks"`},
		{"two requests", "Review the pager and then write a report.", formVerbFirst, `analyze target="the pager" + create`},
		{"a pronoun is a gap", "Fix it", formVerbFirst, "fix gap=target"},
		{"a form is not the text", "Rewrite as a haiku", formVerbFirst, `transform target-form="a haiku" gap=source`},
		{"what comes before the object", "Explain in detail how DNS works", formVerbFirst, `explain target="how DNS works" depth="in detail"`},
		{"a text is not the form", "Rewrite my letter", formVerbFirst, `transform source="my letter" gap=target-form`},
		{"a noun that is for planning", "Write a plan for the migration", formVerbFirst, `plan goal="the migration"`},
		{"a noun that is for analysis", "Give me an analysis of the logs", formVerbFirst, `analyze target="the logs"`},
		{"make with a new form", "Make the intro shorter", formVerbFirst, `transform source="the intro" target-form="shorter"`},
		{"make with a thing", "Make a list of ports", formVerbFirst, `create artifact="a list of ports"`},
		{"help with a verb", "Help me write a letter", formVerbFirst, `create artifact="a letter"`},
		{"help with a goal", "Help me move house", formVerbFirst, `plan goal="move house"`},
		{"the passive", "The report must be translated into French", formTargetFirst, `transform source="The report" target-form="French"`},
		{"a choice without a verb", "Tea or coffee?", formQuestion, `decide options="Tea or coffee"`},
		{"something broken without a verb", "The build crashes after the update", formStatement, `fix target="The build" symptoms="crashes" context="after the update"`},
		{"something broken that was named before", "My login page. Fails on iOS.", formStatement, `fix target="My login page" symptoms="Fails" context="iOS"`},
		{"something broken that is attached", "Crashes on start:\n```\nx = 1 / 0\n```", formStatement, "fix target=\"```\\nx = 1 / 0\\n```\" symptoms=\"Crashes on start\""},
		{"nothing that is known", "Purple elephants", formStatement, `explain target="Purple elephants"`},
		{"a misspelled verb", "wrte a poem", formVerbFirst, `create artifact="a poem"`},
		{"a British verb", "Please anonymise the logs", formVerbFirst, `transform source="the logs" target-form="anonymise"`},
		{"an unknown verb after please", "Please frobnicate the widget", formVerbFirst, `transform source="the widget" target-form="frobnicate"`},
		{"what is forbidden is no request", "Don't write code. Explain the parser.", formVerbFirst, `explain target="the parser"`},
		{"an attached document", "Implement the following plan:\n\n# Faster tests\n\nRun them twice. Delete the rest.", formVerbFirst, `create artifact="Faster tests"`},
		{"attached code", "Debug this:\n```\nx = 1 / 0\n```", formVerbFirst, "fix target=\"```\\nx = 1 / 0\\n```\""},
		{"a question about a repair", "How do I make my build stop failing?", formQuestion, `fix target="my build" symptoms="failing"`},
		{"what is to be stopped", "How can I stop the cron job from timing out?", formQuestion, `fix target="the cron job" symptoms="timing out"`},
		{"a question about a way", "How do I handle errors in Go?", formQuestion, `plan goal="handle errors in Go"`},
		{"weak sides", "Give me the weaknesses of this proposal.", formVerbFirst, `analyze target="the weaknesses of this proposal"`},
		{"a comparison that serves a choice", "Compare these two vendors and tell me which one is better.", formVerbFirst, `decide options="these two vendors"`},
		{"a comparison", "Compare these two vendors and tell me what each costs.", formVerbFirst, `analyze target="these two vendors" criteria="what each costs"`},
		{"a letter that is mended", "Repair my cover letter.", formVerbFirst, `transform source="my cover letter" target-form="Repair"`},
		{"a typo in a letter", "Repair the typo in my cover letter.", formVerbFirst, `fix target="the typo in my cover letter"`},
		{"a style beside the form", "Turn my notes into a concise memo.", formVerbFirst, `transform source="my notes" target-form="a concise memo" constraints="concise"`},
		{"a style that is the form", "Rewrite my letter in a friendly tone.", formVerbFirst, `transform source="my letter" target-form="a friendly tone" constraints="in a friendly tone"`},
		{"a style of something new", "Write a letter in a friendly tone.", formVerbFirst, `create artifact="a letter" style="friendly tone"`},
		{"only better", "Make it better.", formVerbFirst, "transform gap=source gap=target-form"},
		{"no options", "What would you choose?", formQuestion, "decide gap=options"},
		{"a failing part", "Fix the failing test", formVerbFirst, `fix target="the failing test"`},
		{"going on is no thing to make", "Continue with the plan and write the tests.", formVerbFirst, `create artifact="the tests"`},
		{"a gerund", "Would you mind checking my homework?", formVerbFirst, `analyze target="my homework"`},
		{"a noun without a verb", "Cover letter for a bakery", formStatement, `create artifact="Cover letter" topic="a bakery"`},
		{"a verb that is part of a noun", "Commit message for the staged changes", formStatement, `create artifact="Commit message" topic="the staged changes"`},
		{"a verb parted from its particle", "Please sort the login out", formVerbFirst, `fix target="the login"`},
		{"how it is to be mended", "Fix the failing test, keep it concise", formVerbFirst, `fix target="the failing test"`},
		{"how it is to be mended, in a sentence", "Fix the parser. Keep it short.", formVerbFirst, `fix target="the parser"`},
		{"a look at a fault", "Can you have a look why the tests fail?", formQuestion, `fix target="the tests" symptoms="fail"`},
		{"what stands before the question", "Everybody talks about zero trust now. What is it?", formQuestion, `explain target="Everybody talks about zero trust now"`},
		{"an abbreviation", "Tabs vs. spaces", formQuestion, `decide options="Tabs vs. spaces"`},
		{"a text behind the form", "Translate to German: The door is shut.", formVerbFirst, `transform source="The door is shut" target-form="German"`},
		{"what was told before", "The tap drips. How do I stop it?", formQuestion, `fix target="The tap drips"`},
		{"only the form", "Less formal please", formStatement, `transform target-form="Less formal" constraints="Less formal" gap=source`},
		{"how something should be", "The intro needs to be shorter", formTargetFirst, `transform source="The intro" target-form="shorter"`},
		{"a command of an unknown verb", "Alternate the colors", formVerbFirst, `transform source="the colors" target-form="Alternate"`},
		{"several of what is at hand", "Which of our servers are full?", formQuestion, `analyze target="our servers are full"`},
		{"one of what is at hand", "Which of our servers is best?", formQuestion, `decide options="our servers"`},
		{"a party that is handled", "Handle the birthday party", formVerbFirst, `plan goal="the birthday party"`},
		{"a message to somebody", "Tell my landlord that the heating is out", formVerbFirst, `create artifact="my landlord that the heating is out"`},
		{"what tools put before it", "<ide_selection>write a poem</ide_selection>\nfix the parser", formVerbFirst, `fix target="the parser"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Compile(tt.prompt, nil)
			if got := show(in); got != tt.want || in.Form != tt.form {
				t.Errorf("%q is %s, %s; want %s, %s", tt.prompt, in.Form, got, tt.form, tt.want)
			}
		})
	}
}

// Requests without a verb: the object is named, is missing something, or should be different.
func TestRequestsWithoutAVerb(t *testing.T) {
	for prompt, want := range map[string]string{
		"The intro needs to be shorter":         `transform source="The intro" target-form="shorter"`,
		"the intro should be shorter":           `transform source="the intro" target-form="shorter"`,
		"My lamp is broken":                     `fix target="My lamp" symptoms="is broken"`,
		"Commit message for the staged changes": `create artifact="Commit message" topic="the staged changes"`,
		"commit message":                        `create artifact="commit message"`,
		"cover letter for a job":                `create artifact="cover letter" topic="a job"`,
		"Merge conflict in main.go":             `fix target="Merge conflict in main.go"`,
		"commit plan":                           `plan goal="commit plan"`,
		"the best lamp for a desk":              `decide options="the best lamp" context="a desk"`,
		"best lamp":                             `decide options="best lamp"`,
		"A note about the outage":               `create artifact="A note" topic="the outage"`,
		"a recommendation for a lamp":           `decide options="a lamp"`,
		"who invented the lamp?":                `explain target="the lamp"`,
		"who invented":                          `explain target="who invented"`,
		"has the build passed?":                 `analyze target="the build" criteria="passed"`,
		"do we leak memory?":                    `analyze target="we leak memory"`,
		"make the text warmer and add a title":  `transform source="the text" target-form="warmer" + create`,
		"make it shorter":                       `transform target-form="shorter" gap=source`,
	} {
		if got := show(Compile(prompt, nil)); got != want {
			t.Errorf("%q is compiled to\n%s, want\n%s", prompt, got, want)
		}
	}
}

func TestSlotValuesAreSpans(t *testing.T) {
	const prompt = "Write a short note for my team about the outage, without names."
	in := Compile(prompt, nil)
	want := map[Slot][]Phrase{
		slotArtifact:    {{"a short note", 6, 18}},
		slotAudience:    {{"my team", 23, 30}},
		slotTopic:       {{"the outage", 37, 47}},
		slotConstraints: {{"without names", 49, 62}},
	}
	if d := cmp.Diff(want, in.Slots); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPass(t *testing.T) {
	for prompt, want := range map[string]PassReason{
		"":                                      passNothing,
		"  \n":                                  passNothing,
		"?!":                                    passNothing,
		"\xff\xfe":                              passNothing,
		"hello there":                           passGreeting,
		"Thanks, great work!":                   passGreeting,
		"yes":                                   passContinuation,
		"OK, continue please":                   passContinuation,
		"continue with the parser":              passContinuation,
		"Please carry on from where we were.":   passContinuation,
		"more":                                  passContinuation,
		"one more time":                         passContinuation,
		"Hello, how are you doing?":             passGreeting,
		"What's up?":                            passGreeting,
		"it works now, thanks a lot":            passGreeting,
		"Long day, I am so tired":               passGreeting,
		"Do you ever get bored?":                passGreeting,
		"What's your favorite season?":          passGreeting,
		"I was away for lunch":                  passGreeting,
		"Option 2, please":                      passContinuation,
		"No, the red one":                       passContinuation,
		"the blue one":                          passContinuation,
		"blue ones":                             passContinuation,
		"the big old blue one":                  passContinuation,
		"not that one":                          passContinuation,
		"how are you storing my files?":         "",
		"do you see the bug?":                   "",
		"my disk is broken":                     "",
		"yes, but the build fails":              "",
		"[Request interrupted by user]":         passMachine,
		"exit code 1":                           passMachine,
		`{"ok": true}`:                          passMachine,
		`[1, 2]`:                                passMachine,
		"<tool_result>done</tool_result>":       passMachine,
		"<system-reminder>x</system-reminder> ": passMachine,
		"Who told you to rewrite the parser?":   "",
		"We like to see a report on the parser": "",
		"I like it a lot":                       passGreeting,
		"hello, fix the parser":                 "",
		"continue with a new parser":            "",
		"more tests":                            "",
		"how are you parsing this?":             "",
		"is that ok?":                           "",
		"yes, but explain the parser":           "",
		"[sic] what does this mean?":            "",
		"<b>bold</b> claims, explain them":      "",
		"] fix the pager":                       "",
		"\n] yes":                               passContinuation,
	} {
		in := Compile(prompt, nil)
		if in.Pass != want || (in.Verb == "") != (want != "") {
			t.Errorf("%q passes as %q with verb %q, want %q", prompt, in.Pass, in.Verb, want)
		}
	}
}

func TestAmber(t *testing.T) {
	for _, tt := range []struct {
		name, prompt, want string
	}{
		{"brief and thorough", "Explain DNS briefly but thoroughly", "BREVITY_DEPTH_TENSION briefly thoroughly"},
		{"casual and formal", "Write a casual, formal letter", "TONE_TENSION casual formal"},
		{"beginners and experts", "Explain DNS for beginners at an expert level", "AUDIENCE_TENSION beginners expert"},
		{"simple and deep", "Give me a simple, deep explanation of DNS", "SIMPLICITY_DEPTH_TENSION simple deep"},
		{"fast and rigorous", "Check the proof asap, be rigorous", "EFFORT_TENSION asap rigorous"},
		{"imaginative and factual", "Write an imaginative, factual essay", "STYLE_TENSION imaginative factual"},
		{"overview and exact", "Give me an overview with exact dates", "SCOPE_TENSION overview exact"},
		{"jargon for a layperson", "Explain DNS to a layperson in full jargon", "LANGUAGE_TENSION layperson jargon"},
		{"two rules at once", "A quick but thorough review of DNS, please", "BREVITY_DEPTH_TENSION quick thorough EFFORT_TENSION quick thorough"},
		{"one side alone", "Explain DNS briefly", ""},
		{"not too detailed", "Explain DNS briefly, not too detailed", ""},
		{"nothing formal", "Write a casual note, nothing formal", ""},
		{"a denial at 12 bytes", "Explain DNS briefly, not even so detailed", ""},
		{"a denial at 13 bytes", "Explain DNS briefly, not all that detailed", "BREVITY_DEPTH_TENSION briefly detailed"},
		{"a thing that is fast", "Write a fast parser, be careful", ""},
		{"things that are fast", "Write fast parsers, be careful", "EFFORT_TENSION fast careful"},
		{"a piece of work", "Take a brief look and be thorough", "BREVITY_DEPTH_TENSION brief thorough"},
		{"a text", "Write a brief report, be thorough", "BREVITY_DEPTH_TENSION brief thorough"},
		{"a noun that asks for something", "Make a brief plan, be thorough", "BREVITY_DEPTH_TENSION brief thorough"},
		{"persons", "Explain DNS to a senior engineer and a beginner", "AUDIENCE_TENSION senior beginner"},
		{"a denial of something else", "Write a casual note, not long, formal", "TONE_TENSION casual formal"},
		{"a denial before but", "Not brief but detailed, and short", "BREVITY_DEPTH_TENSION detailed short"},
		{"part of a word", "Explain the plainness of deepfakes", ""},
		{"part of a compound", "Write a non-formal, casual note", ""},
		{"a thing, not the work", "Explain a general strike with a specific case", ""},
		{"quoted", `Translate "a brief, detailed letter" to French`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := flagText(Compile(tt.prompt, nil).Amber); got != tt.want {
				t.Errorf("%q: %q, want %q", tt.prompt, got, tt.want)
			}
		})
	}
}

func TestHuman(t *testing.T) {
	for _, tt := range []struct{ prompt, want string }{
		{"I'm not sure, maybe the parser is wrong", "UNCERTAIN_USER not sure maybe"},
		{"I am lost. What is DNS?", "OVERWHELMED_USER lost"},
		{"List the edge cases of the schema", "EXPERT_USER edge cases schema"},
		{"Fix the parser, just do it", "DELEGATING_USER just do it"},
		{"Is this legal?", "HIGH_STAKES_USER legal"},
		{"Clean up my messy notes", "IMPERFECT_TEXT messy"},
		{"Explain syntax and contractors", ""},          // tax and contract within words
		{"What is blossoming in the closet?", ""},       // lost
		{`Translate "I'm lost" to Dutch`, ""},           // not the person's words
		{"Explain maybe-types and the sorry-state", ""}, // compounds
	} {
		if got := flagText(Compile(tt.prompt, nil).Human); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.prompt, got, tt.want)
		}
	}
}

func flagText(flags []Flag) string {
	var words []string
	for _, f := range flags {
		words = append(words, f.Name)
		for _, w := range f.Words {
			words = append(words, w.Text)
		}
	}
	return strings.Join(words, " ")
}

func TestConfidence(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		want   Confidence
	}{
		{"Fix the parser", confidenceHigh},
		{"hello", confidenceHigh},
		{"Fix it", confidenceMedium},                          // a gap
		{"Explain DNS briefly, thoroughly", confidenceMedium}, // words that clash
		{"The build crashes", confidenceMedium},               // no verb
		{"Please frobnicate the widget", confidenceMedium},
		{"wrte a poem", confidenceMedium},
		{"It crashes", confidenceLow},
		{"Purple elephants", confidenceLow}, // nothing at all
	} {
		if got := Compile(tt.prompt, nil).Confidence; got != tt.want {
			t.Errorf("%q: %s, want %s", tt.prompt, got, tt.want)
		}
	}
}

func TestAssumptions(t *testing.T) {
	for _, tt := range []struct{ prompt, want string }{
		{"Fix the parser", ""},
		{"My resume. Fix it.", `"it" is read as "My resume"`},
		{"wrte a poem", `"wrte" is read as "write"`},
		{"Write a plan for the migration", `"plan" makes it plan`},
		{"Purple elephants", "no verb was found: read as explain"},
		{"The build crashes", "nothing is asked for in words: read as fix"},
		{"Please frobnicate the widget", `"frobnicate" is no verb that is known: read as transform`},
	} {
		if got := strings.Join(Compile(tt.prompt, nil).Assumed, "; "); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.prompt, got, tt.want)
		}
	}
}

// Of a long prompt only the beginning and the end are read.
func TestLimit(t *testing.T) {
	long := "Fix the parser.\n" + strings.Repeat("lorem ipsum ", 100_000) + "\nIt crashes on empty input."
	in := Compile(long, nil)
	if got, want := show(in), `fix target="the parser" symptoms="crashes on empty input"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, v := range in.Slots[slotSymptoms] {
		if long[v.Start:v.End] != v.Text {
			t.Errorf("%q is at another place", v.Text)
		}
	}
	if len(in.Assumed) != 1 || !strings.HasSuffix(in.Assumed[0], "bytes in the middle were not looked at") || in.Confidence != confidenceMedium {
		t.Errorf("assumed %q with %s confidence", in.Assumed, in.Confidence)
	}
	signs := Compile(strings.Repeat("?!", 100), &Options{Limit: 64})
	if signs.Pass != "" || signs.Confidence != confidenceLow {
		t.Errorf("signs that were not all looked at pass as %q with %s confidence", signs.Pass, signs.Confidence)
	}
	for limit, want := range map[int]int{-1: 0, 0: 0, 1: 2} {
		if in := Compile("Fix the parser", &Options{Limit: limit}); len(in.Assumed) != want {
			t.Errorf("a limit of %d: assumed %q", limit, in.Assumed)
		}
	}
	short := Compile("Explain DNS. "+strings.Repeat("a ", 50)+"and then write a poem.", &Options{Limit: 64})
	if got, want := show(short), `explain target="DNS" + create`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A long prompt without blanks at a cut is read up to the cut.
func TestLimitWithoutBlanks(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		cut    int // bytes that are not read
	}{
		{"fix " + strings.Repeat("x", 100), 104 - 64},
		{"fix " + strings.Repeat("修", 40) + " it crashes", 135 - 31 - 32},
		{strings.Repeat("x", 100) + " fix it", 107 - 64},
		{"fix " + strings.Repeat("a ", 100), 204 - 31 - 31},
		{"fix " + strings.Repeat("x", 61), 1},
		{"fix " + strings.Repeat("x", 20) + " " + strings.Repeat("y", 100), 125 - 24 - 32},
		{"fix " + strings.Repeat("x", 96) + " " + strings.Repeat("y", 23), 124 - 32 - 24},
	} {
		in := Compile(tt.prompt, &Options{Limit: 64})
		if want := fmt.Sprintf("%d bytes in the middle were not looked at", tt.cut); !slices.Contains(in.Assumed, want) || in.Confidence == confidenceHigh {
			t.Errorf("%q: assumed %q with %s confidence, want %q", tt.prompt, in.Assumed, in.Confidence, want)
		}
	}
}

func TestFurtherRequestsAreBounded(t *testing.T) {
	in := Compile("Fix the parser."+strings.Repeat(" Write a poem.", 20), nil)
	if len(in.Secondary) != maxSecondary || in.Assumed[len(in.Assumed)-1] != "12 further requests were left out" {
		t.Errorf("%d further requests, assumed %q", len(in.Secondary), in.Assumed)
	}
	if in := Compile("Fix the parser."+strings.Repeat(" Write a poem.", maxSecondary+1), nil); !slices.Equal(in.Assumed, []string{"1 further requests were left out"}) {
		t.Errorf("of one too many: assumed %q", in.Assumed)
	}
	if in := Compile("Fix the parser."+strings.Repeat(" Write a poem.", maxSecondary), nil); len(in.Secondary) != maxSecondary || in.Assumed != nil {
		t.Errorf("%d further requests, assumed %q", len(in.Secondary), in.Assumed)
	}
}

func TestVerbs(t *testing.T) {
	slots := 0
	for _, v := range Verbs() {
		slots += len(v.Slots())
		if len(v.Required()) == 0 || v.Required()[0] != v.object() {
			t.Errorf("%s requires %v", v, v.Required())
		}
	}
	if slots != 24 {
		t.Errorf("%d slots, want 24", slots)
	}
}
