package intent

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// checkLaws checks properties that hold for every prompt.
func checkLaws(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, prompt string,
) *Intent {
	t.Helper()
	in := Compile(prompt, nil)
	if d := cmp.Diff(in, Compile(prompt, nil)); d != "" {
		t.Fatalf("%q compiles in two ways:\n%s", prompt, d)
	}
	check := func(v Phrase) {
		if v.Start < 0 || v.Start >= v.End || v.End > len(prompt) || v.Text != strings.ToValidUTF8(prompt[v.Start:v.End], "\ufffd") {
			t.Fatalf("%q has no %q from %d to %d", prompt, v.Text, v.Start, v.End)
		}
	}
	part := func(p FurtherRequest) {
		for s, values := range p.Slots {
			if !p.Verb.has(s) || len(values) == 0 {
				t.Fatalf("%q has %v in %s of %s", prompt, values, s, p.Verb)
			}
			for _, v := range values {
				check(v)
			}
		}
		if d := cmp.Diff(missing(p.Verb, p.Slots), p.Gaps); d != "" {
			t.Fatalf("%q has other gaps:\n%s", prompt, d)
		}
	}
	part(FurtherRequest{in.Verb, in.Slots, in.Gaps})
	for _, p := range in.Secondary {
		part(p)
	}
	for _, f := range append(append([]Flag(nil), in.Amber...), in.Human...) {
		for _, w := range f.Words {
			check(w)
		}
	}
	if (in.Verb == "") != (in.Pass != "") {
		t.Fatalf("%q has verb %q and passes as %q", prompt, in.Verb, in.Pass)
	}
	for _, k := range in.Keywords() {
		if k != strings.ToLower(k) || strings.ContainsFunc(k, func(r rune) bool { return r > 'z' || !wordRune(r) }) || stops.Get()[k] {
			t.Fatalf("%q has keyword %q", prompt, k)
		}
	}
	return in
}

func FuzzCompile(f *testing.F) {
	for _, name := range []string{"tune", "held", "everyday-tune", "second-tune"} {
		for _, c := range readCases(f, name) {
			f.Add(c.Prompt)
		}
	}
	for _, s := range []string{"make", "write a", "fix:\n", "\xff fix \xfe the", "“", "```", "<a-b></a-b>", "which, or", "a\u0130 fix", "do, do, do", "Is it?", "- # -", "\u2019", "please", "make it, ", "from to into", "have knights no horses in Japan? Or"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		in := checkLaws(t, prompt)
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		packet, err := json.Marshal(in.Published())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(packet); err != nil {
			t.Fatalf("%q as a published packet: %v\n%s", prompt, err, packet)
		}
		again, err := Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if d := cmp.Diff(in, again); d != "" {
			t.Fatalf("%q changed in JSON:\n%s", prompt, d)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"schema":"prosecode.intent.v0","verb":"fix","slots":{"target":"x"},"gaps":[]}`))
	f.Add([]byte(`{"intent_ir":["a"],"blocks":[]}`))
	f.Add([]byte(`["a"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Parse(data)
		if err != nil {
			if _, ok := err.(*ParseError); !ok { //nolint:errorlint // the type is the contract
				t.Fatalf("error is a %T", err)
			}
			return
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if len(in.Words) > 0 && in.Verb == "" {
			return // keywords alone are no complete intent
		}
		if _, err := Parse(text); err != nil {
			t.Fatalf("%s became %s: %v", data, text, err)
		}
	})
}

// promptWords are words that the rules know, and some that they do not.
var promptWords = strings.Fields(`fix write make a the parser it and then , . ? : please explain which or should i my text shorter as into for team without
	names crashes after review help me plan to "quoted" brief detailed not hi yes don't compare Rust with - because we need 3 ideas ] [x] }`)

func drawPrompt(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(promptWords), 1, 14).Draw(t, "words"), " ")
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkLaws(t, drawPrompt(t))
		checkLaws(t, rapid.String().Draw(t, "text"))
	})
}

// Prompts of a repeated phrase, up to the default limit, are compiled in an acceptable time.
func TestRepeats(t *testing.T) {
	for _, unit := range []string{
		"please ", "help me ", "i want to ", "and then ", "make it ", "make ", "tell me if ", "write a big plan ", "which, or ", "must be ", "do ", "- ", "\n# ",
		"a, b, and ", "\"", "“", "```", "<a-b></a-b>", "<a-b>", "no not ", "x fails, ", "x: ",
	} {
		checkLaws(t, strings.Repeat(unit, defaultLimit/len(unit)))
		checkLaws(t, strings.Repeat(unit, 30))
	}
}

// Space around a prompt, a full stop after a last word, and capital letters at the beginning do
// not change the verb.
func TestVerbIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prompt := drawPrompt(t)
		want := show(Compile(prompt, nil))
		if got := show(Compile(" \n"+prompt+"\t ", nil)); got != want {
			t.Fatalf("%q is %s, and with space around it %s", prompt, want, got)
		}
		last := prompt[len(prompt)-1]
		if last < 'a' || last > 'z' {
			return
		}
		if got := Compile(prompt+".", nil).Verb; got != Compile(prompt, nil).Verb && !strings.Contains(prompt, " or ") {
			t.Fatalf("%q is %s, and with a full stop %s", prompt, want, got)
		}
	})
}

// Compiled intents fit the schema, and so do intents that other programs write.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("../internal/cli/admin/schema/intent.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("carrel:schema/intent", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("carrel:schema/intent")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) error {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(doc)
	}
	for _, c := range append(readCases(t, "tune"), readCases(t, "held")...) {
		data, err := json.Marshal(Compile(c.Prompt, nil))
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(string(data)); err != nil {
			t.Errorf("%q: %v", c.Prompt, err)
		}
	}
	const plain = `{"schema":"prosecode.intent.v0","verb":"fix","slots":{"target":"the parser"},"gaps":[],"amber_flags":["TONE_TENSION"],"human_context":["IMPERFECT_TEXT"],"assumptions":[],"confidence":"high"}`
	if err := valid(plain); err != nil {
		t.Error(err)
	}
	for _, change := range [][2]string{
		{`"fix"`, `"run"`},
		{`"target":`, `"goal-post":`},
		{`"the parser"`, `""`},
		{`"the parser"`, `[]`},
		{`"TONE_TENSION"`, `"IMPERFECT_TEXT"`},
		{`"IMPERFECT_TEXT"`, `{"name":"TONE_TENSION"}`},
		{`"gaps":[]`, `"gaps":["style"]`},
		{`"high"`, `"sure"`},
		{`"assumptions":[],`, ``},
	} {
		if text := strings.Replace(plain, change[0], change[1], 1); valid(text) == nil {
			t.Errorf("%s is valid", text)
		}
	}
}

func TestJSONIsStable(t *testing.T) {
	data, err := json.Marshal(Compile("Fix the <pager>, it crashes \xff after a detailed summary", nil))
	if err != nil || !utf8.Valid(data) {
		t.Fatalf("%s, %v", data, err)
	}
	const want = `{"schema":"prosecode.intent.v0","verb":"fix","slots":{` +
		`"context":[{"text":"after a detailed summary","start":30,"end":54}],` +
		`"symptoms":[{"text":"crashes","start":20,"end":27}],` +
		`"target":[{"text":"the \u003cpager\u003e","start":4,"end":15}]},"gaps":[],` +
		`"amber_flags":[{"name":"BREVITY_DEPTH_TENSION","words":[{"text":"detailed","start":38,"end":46},{"text":"summary","start":47,"end":54}]}],` +
		`"human_context":[],"assumptions":[],"secondary_intents":[],"confidence":"medium","form":"verb-first"}`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, bb := range []struct{ name, prompt string }{
		{"short", "Write a short note for my team about the outage, without names."},
		{"16KiB", strings.Repeat("Fix the parser, and then write a report about what you did. ", 273)},
		{"1MiB", strings.Repeat("Fix the parser, and then write a report about what you did. ", 17476)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.prompt)))
			for b.Loop() {
				Compile(bb.prompt, nil)
			}
		})
	}
}
