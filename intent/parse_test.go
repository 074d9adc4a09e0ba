package intent

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     *Intent
	}{
		{"a list of keywords", `["Pager", "score"]`, &Intent{Words: []string{"Pager", "score"}, Confidence: confidenceLow}},
		{"a history of the pager", `{"blocks": [{"id": "block-1"}], "intent_ir": ["pager"], "current_turn": 3}`, &Intent{Words: []string{"pager"}, Confidence: confidenceLow}},
		{
			"a packet with plain strings",
			`{"schema":"prosecode.intent.v0","verb":"fix","slots":{"target":"the form","symptoms":["a","b"]},"gaps":[],"amber_flags":["TONE_TENSION"],"human_context":["UNCERTAIN_USER"],"assumptions":["x"],"confidence":"medium","secondary_intents":["plan"]}`,
			&Intent{
				Verb: Fix, Slots: map[Slot][]Phrase{slotTarget: {{Text: "the form"}}, slotSymptoms: {{Text: "a"}, {Text: "b"}}}, Gaps: nil,
				Amber: []Flag{{Name: "TONE_TENSION"}}, Human: []Flag{{Name: "UNCERTAIN_USER"}}, Assumed: []string{"x"},
				Secondary: []FurtherRequest{{Verb: Plan, Gaps: []Slot{slotGoal}}}, Confidence: confidenceMedium,
			},
		},
		{
			"gaps that are not listed", `{"verb":"transform","slots":{"source":{"end":3,"start":0,"text":"abc"}},"schema":"prosecode.intent.v0"}`,
			&Intent{Verb: Transform, Slots: map[Slot][]Phrase{slotSource: {{"abc", 0, 3}}}, Gaps: []Slot{slotTargetForm}, Confidence: confidenceLow},
		},
		{
			"objects for all that has a place", `{"secondary_intents":[{"gaps":["target"],"slots":{"symptoms":"x"},"verb":"fix"},{"verb":"plan","slots":{"goal":["a"]}}],"amber_flags":[{"words":[{"text":"a","start":0,"end":1},"b"],"name":"TONE_TENSION"}],"human_context":[],"assumptions":[],"gaps":["source","target-form"],"slots":{},"verb":"transform","schema":"prosecode.intent.v0","confidence":"low","form":"question","intent_ir":["a"]}`,
			&Intent{
				Verb: Transform, Gaps: []Slot{slotSource, slotTargetForm}, Amber: []Flag{{"TONE_TENSION", []Phrase{{"a", 0, 1}, {Text: "b"}}}}, Form: formQuestion, Words: []string{"a"}, Confidence: confidenceLow,
				Secondary: []FurtherRequest{{Fix, map[Slot][]Phrase{slotSymptoms: {{Text: "x"}}}, []Slot{slotTarget}}, {Verb: Plan, Slots: map[Slot][]Phrase{slotGoal: {{Text: "a"}}}}},
			},
		},
		{"keywords beside what would be no intent", `{"verb":7,"intent_ir":["a"],"mood":1,"slots":[]}`, &Intent{Words: []string{"a"}, Confidence: confidenceLow}},
		{
			"one that passes through", `{"schema":"prosecode.intent.v0","verb":null,"slots":{},"pass_through":"machine","confidence":"high"}`,
			&Intent{Pass: passMachine, Confidence: confidenceHigh},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	head := `{"schema":"prosecode.intent.v0",`
	for _, tt := range []struct{ name, in, want string }{
		{"a string, which is no list of keywords", `"pager"`, "offset 0: neither an object nor a list of keywords"},
		{"a keyword that is no string", `["a", 1]`, "offset 6: 1: found '1', and a string is expected"},
		{"an object that is none", `{}`, "offset 0: an intent needs schema and verb"},
		{"another schema", `{"schema":"v1","verb":null}`, `offset 10: schema: "v1" is not prosecode.intent.v0`},
		{"a schema that is no string", `{"schema":7,"verb":null}`, `offset 10: schema: found '7', and a string is expected`},
		{"a verb that is no string", head + `"verb":7}`, `offset 39: verb: found '7', and a string is expected`},
		{"a confidence that is no string", head + `"verb":null,"confidence":7}`, `offset 57: confidence: found '7', and a string is expected`},
		{"a value with an escape that is none", head + `"verb":"fix","slots":{"target":"\q"}}`, "offset 64: slots: malformed escape in a string"},
		{"no verb", head + `"slots":{}}`, "offset 0: an intent needs schema and verb"},
		{"another verb", head + `"verb":"run"}`, `offset 39: verb: "run" is none of [explain create transform analyze decide plan fix]`},
		{"a slot of another verb", head + `"verb":"fix","slots":{"goal":"x"}}`, `offset 54: slots.goal: "goal" is no slot of fix`},
		{"an empty value", head + `"verb":"fix","slots":{"target":""}}`, "offset 63: slots.target: an empty value"},
		{"no value", head + `"verb":"fix","slots":{"target":[]}}`, "offset 63: slots.target: no value"},
		{"a span that ends before it begins", head + `"verb":"fix","slots":{"target":[{"text":"x","start":2,"end":1}]}}`, "offset 64: slots.target.0: start 2 is not before end 1"},
		{"an offset that is no whole number", head + `"verb":"fix","slots":{"target":[{"text":"x","start":1.5,"end":2}]}}`, "offset 84: slots.target.0.start: not a whole number from 0"},
		{"an offset that is no number", head + `"verb":"fix","slots":{"target":[{"text":"x","start":"1","end":2}]}}`, "offset 84: slots.target.0.start: not a number"},
		{"a gap that is filled", head + `"verb":"fix","slots":{"target":"x"},"gaps":["target"]}`, "offset 0: target is listed as a gap and has a value"},
		{"a gap that is not listed", head + `"verb":"fix","slots":{},"gaps":[]}`, "offset 0: 1 required slots have no value, and gaps lists 0"},
		{"a verb that passes through", head + `"verb":"fix","pass_through":"greeting"}`, "offset 0: verb and pass_through are both set: remove one"},
		{"a flag of the other kind", head + `"verb":null,"human_context":["TONE_TENSION"]}`, `offset 61: human_context.0: "TONE_TENSION" is none of [UNCERTAIN_USER OVERWHELMED_USER EXPERT_USER DELEGATING_USER HIGH_STAKES_USER IMPERFECT_TEXT]`},
		{"a flag without a name", head + `"verb":null,"human_context":[{}]}`, "offset 61: human_context.0: a flag without a name"},
		{"a confidence that is none", head + `"verb":null,"confidence":"sure"}`, `offset 57: confidence: "sure" is none of [low medium high]`},
		{"a secondary intent without a verb", head + `"verb":null,"secondary_intents":[{}]}`, "offset 65: secondary_intents.0: a secondary intent needs a verb"},
		{"a field that is none", head + `"verb":null,"mood":1}`, `offset 44: "mood" is no field of an intent`},
		{"a field that comes twice", head + `"verb":null,"verb":null}`, `offset 44: key "verb" comes twice`},
		{"keywords that are none", `{"intent_ir":[1]}`, "offset 14: intent_ir.0: found '1', and a string is expected"},
		{"an object that is cut off", `{"schema":`, "offset 10: schema: the text ends in the middle of a value"},
		{"a span of nothing", head + `"verb":"fix","slots":{"target":{"text":"x","start":2,"end":2}}}`, "offset 63: slots.target: start 2 is not before end 2"},
		{"a text of nothing", head + `"verb":"fix","slots":{"target":{"text":"","start":1,"end":2}}}`, "offset 63: slots.target: an empty value"},
		{"a value that is none", head + `"verb":"fix","slots":{"target":7}}`, "offset 63: slots.target: '7' where an object is expected"},
		{"a value with another field", head + `"verb":"fix","slots":{"target":{"at":1}}}`, `offset 64: slots.target.at: "at" is no field of a value`},
		{"an offset below 0", head + `"verb":"fix","slots":{"target":[{"text":"x","start":-1,"end":2}]}}`, "offset 84: slots.target.0.start: not a whole number from 0"},
		{"a flag with another field", head + `"verb":null,"human_context":[{"name":"EXPERT_USER","at":1}]}`, `offset 83: human_context.0.at: "at" is no field of a flag`},
		{"a secondary intent of another verb", head + `"verb":null,"secondary_intents":["run"]}`, `offset 65: secondary_intents.0: "run" is none of [explain create transform analyze decide plan fix]`},
		{"a secondary intent that is none", head + `"verb":null,"secondary_intents":[7]}`, "offset 65: secondary_intents.0: '7' where an object is expected"},
		{"a secondary intent with another field", head + `"verb":null,"secondary_intents":[{"verb":"fix","at":1}]}`, `offset 79: secondary_intents.0: "at" is no field of a secondary intent`},
		{"a secondary intent with a gap that is filled", head + `"verb":null,"secondary_intents":[{"verb":"fix","slots":{"target":"x"},"gaps":["target"]}]}`, "offset 65: secondary_intents.0: target is listed as a gap and has a value"},
		{"a gap that is no slot", head + `"verb":"fix","slots":{},"gaps":["goal"]}`, `offset 64: gaps.0: "goal" is none of [target]`},
		{"more behind it", `[] []`, "offset 3: more text behind the end of the value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.in))
			if e, ok := errors.AsType[*ParseError](err); !ok || e.Error() != tt.want {
				t.Errorf("error is %v, want %s", err, tt.want)
			}
		})
	}
}

func TestKeywords(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   *Intent
		want []string
	}{
		{"slots and the verb", Compile("fix the pager score", nil), []string{"fix", "pager", "score"}},
		{"in the order of the slots", Compile("For my team, write a note about Page-Faults in pager_v2.go", nil), []string{"create", "note", "page", "faults", "pager_v2", "go", "team"}},
		{"further requests", Compile("Review the pager and then write a poem about the pager", nil), []string{"analyze", "pager", "create", "poem"}},
		{"what passes through has none", Compile("yes, go on", nil), nil},
		{"words that were given", &Intent{Words: []string{"Pager", "page-fault", "über", "the"}}, []string{"pager", "page", "fault", "ber"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.Keywords(); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		want                []string
	}{
		{"nothing", "Fix the parser", "Fix the parser.", nil},
		{"the verb", "Explain the parser", "Fix the parser", []string{`verb: "fix", before "explain"`}},
		{"a gap resolved", "Fix it", "Fix the parser", []string{`target: now "the parser"`, `gap resolved: target is "the parser"`}},
		{"a new gap", "Fix the parser", "Fix it", []string{`target: no longer "the parser"`, "gap: target"}},
		{
			"constraints, audience and posture", "Write a note for my boss, without names", "Maybe write a note for my team, without jargon",
			[]string{
				`audience: no longer "my boss"`, `audience: now "my team"`,
				`constraints: no longer "without names"`, `constraints: now "without jargon"`, `posture: now "UNCERTAIN_USER"`,
			},
		},
		{"from nothing", "hi", "Fix the parser", []string{`verb: now "fix"`, `target: now "the parser"`}},
		{"a new flag", "Fix the parser", "Maybe fix the parser", []string{`posture: now "UNCERTAIN_USER"`}},
		{"words that no longer clash", "Explain DNS briefly and thoroughly", "Explain DNS", []string{`posture: no longer "BREVITY_DEPTH_TENSION"`}},
		{"two gaps, and one of them stays", "Make it better.", "Shorten it", []string{`gap resolved: target-form is "Shorten"`}},
		{"to nothing", "Fix the parser", "thanks", []string{`verb: no longer "fix"`, `target: no longer "the parser"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range Diff(Compile(tt.before, nil), Compile(tt.after, nil)) {
				got = append(got, c.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := Diff(nil, nil); got != nil {
		t.Errorf("nothing and nothing differ: %v", got)
	}
}

// The forms of an intent for other programs have every field, and do not change the intent.
func TestFormsForOtherPrograms(t *testing.T) {
	full := &Intent{
		Verb: Create, Slots: map[Slot][]Phrase{slotArtifact: {{Text: "a poem"}}, slotTopic: {{"rain", 0, 4}, {"wind", 5, 9}}}, Amber: []Flag{{Name: "TONE_TENSION"}}, Human: []Flag{{"EXPERT_USER", []Phrase{{"x", 1, 2}}}},
		Assumed: []string{"a"}, Secondary: []FurtherRequest{{Verb: Fix}, {Verb: Plan}}, Confidence: confidenceHigh, Gaps: []Slot{slotStyle},
	}
	for _, tt := range []struct {
		name string
		in   any
		want string
	}{
		{"nothing", &Intent{}, `{"schema":"prosecode.intent.v0","verb":null,"slots":{},"gaps":[],"amber_flags":[],"human_context":[],"assumptions":[],"secondary_intents":[],"confidence":"low"}`},
		{"nothing, published", (&Intent{}).Published(), `{"schema":"prosecode.intent.v0","verb":null,"slots":{},"gaps":[],"amber_flags":[],"human_context":[],"assumptions":[],"secondary_intents":[],"confidence":"low"}`},
		{"an intent", full, `{"schema":"prosecode.intent.v0","verb":"create","slots":{"artifact":["a poem"],"topic":[{"text":"rain","start":0,"end":4},{"text":"wind","start":5,"end":9}]},"gaps":["style"],"amber_flags":[{"name":"TONE_TENSION","words":[]}],"human_context":[{"name":"EXPERT_USER","words":[{"text":"x","start":1,"end":2}]}],"assumptions":["a"],"secondary_intents":[{"verb":"fix","slots":{},"gaps":[]},{"verb":"plan","slots":{},"gaps":[]}],"confidence":"high"}`},
		{"an intent, published", full.Published(), `{"schema":"prosecode.intent.v0","verb":"create","slots":{"artifact":"a poem","topic":"rain, wind"},"gaps":["style"],"amber_flags":["TONE_TENSION"],"human_context":["EXPERT_USER"],"assumptions":["a"],"secondary_intents":["fix","plan"],"confidence":"high"}`},
	} {
		got, err := json.Marshal(tt.in)
		if diff := cmp.Diff(tt.want, string(got)); diff != "" || err != nil {
			t.Errorf("%s, %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	if full.Amber[0].Words != nil || full.Secondary[0].Slots != nil || full.Secondary[0].Gaps != nil {
		t.Errorf("the intent became %+v", full)
	}
}
