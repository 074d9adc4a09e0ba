package probe

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	published := Probe{Type: typeFilePath, Question: "Which file?", Expected: []string{"a/b.go"}, Need: 1}
	published.ID = published.identify(0)
	for _, tt := range []struct {
		name, in string
		want     []Probe
	}{
		{"an empty list", `[]`, []Probe{}},
		{
			"this package's form", `[{"id":"x","type":"error","about":"error","question":"Q?","expected_keywords":["a","b","c"],"need":1,"critical":true,"source_message":"b1"}]`,
			[]Probe{{"x", typeError, "error", "Q?", []string{"a", "b", "c"}, 1, true, "b1"}},
		},
		{"the published form", `[{"type":"file_path","question":"Which file?","expected_keywords":["a/b.go"],"critical":false}]`, []Probe{published}},
		{"the first form", `{"probes":[{"type":"file_path","question":"Which file?","expected_contains":"a/b.go"}]}`, []Probe{published}},
		{
			"the first form without a type", `[{"id":"1","question":"What is wanted?","expected_contains":"peace"}]`,
			[]Probe{{ID: "1", Type: typeIntent, Question: "What is wanted?", Expected: []string{"peace"}, Need: 1}},
		},
		{
			"a source by its index", `[{"id":"1","type":"intent","question":"Q?","expected_keywords":["a"],"source_message":7,"more":{}}]`,
			[]Probe{{ID: "1", Type: typeIntent, Question: "Q?", Expected: []string{"a"}, Need: 1, Source: "7"}},
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

func TestParseGivesEqualProbesIDsOfTheirOwn(t *testing.T) {
	const one = `{"type":"intent","question":"Q?","expected_keywords":["a"]}`
	got, err := Parse([]byte("[" + one + "," + one + "]"))
	if err != nil {
		t.Fatal(err)
	}
	if got[0].ID == got[1].ID || len(got[0].ID) != 8 || len(got[1].ID) != 8 {
		t.Errorf("ids are %q and %q", got[0].ID, got[1].ID)
	}
}

func TestParseErrors(t *testing.T) {
	const good = `{"type":"intent","question":"Q?","expected_keywords":["a"]}`
	for _, tt := range []struct {
		name, in string
		index    int
		field    string
	}{
		{"empty", ``, -1, ""},
		{"null", `null`, -1, ""},
		{"a text", `"probes"`, -1, ""},
		{"cut off", `[{"type":`, -1, ""},
		{"an object without probes", `{}`, -1, ""},
		{"null for a probe", `[null]`, 0, ""},
		{"a text for a probe", `[` + good + `, "x"]`, 1, ""},
		{"no type", `[` + good + `, {"question":"Q?","expected_keywords":["a"]}]`, 1, "type"},
		{"unknown type", `[{"type":"mood","question":"Q?","expected_keywords":["a"]}]`, 0, "type"},
		{"no question", `[{"type":"intent","expected_keywords":["a"]}]`, 0, "question"},
		{"a number for a question", `[{"type":"intent","question":1,"expected_keywords":["a"]}]`, 0, "question"},
		{"no keywords", `[{"type":"intent","question":"Q?"}]`, 0, "expected_keywords"},
		{"an empty keyword", `[{"type":"intent","question":"Q?","expected_keywords":["a"," "]}]`, 0, "expected_keywords"},
		{"a text for keywords", `[{"type":"intent","question":"Q?","expected_keywords":"a"}]`, 0, "expected_keywords"},
		{"too much needed", `[{"type":"intent","question":"Q?","expected_keywords":["a"],"need":2}]`, 0, "need"},
		{"less than nothing needed", `[{"type":"intent","question":"Q?","expected_keywords":["a"],"need":-1}]`, 0, "need"},
		{"a word for a truth", `[{"type":"intent","question":"Q?","expected_keywords":["a"],"critical":"yes"}]`, 0, "critical"},
		{"an odd source", `[{"type":"intent","question":"Q?","expected_keywords":["a"],"source_message":{}}]`, 0, "source_message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			e, ok := errors.AsType[*ParseError](err)
			if !ok {
				t.Fatalf("Parse = %v, %v, want a ParseError", got, err)
			}
			if e.Index != tt.index || e.Field != tt.field || e.Problem == "" {
				t.Errorf("error is %+v, want index %d and field %q", e, tt.index, tt.field)
			}
		})
	}
	_, err := Parse([]byte(`[` + good + `,{"type":"mood"}]`))
	if got, want := err.Error(), `probes[1].type: "mood" is no type of probes: want one of [file_path file_changes decision rationale error resolution blocker progress next_steps intent]`; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
}

func TestProbesSurviveJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		probes := Generate(anyFacts().Draw(t, "facts"), of(Options{}))
		data, err := json.Marshal(probes)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(probes, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

// What was parsed can be checked, graded, written and parsed again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"type":"file_path","question":"Which file?","expected_keywords":["a/b.go","1,234","90%"],"critical":true,"source_message":7}]`), "a/b.go 1234 90 %")
	f.Add([]byte(`{"probes":[{"question":"What?","expected_contains":"缓存"}]}`), "缓存")
	f.Add([]byte(`[{"type":"error","question":"Ü?","expected_keywords":["\\n x","\u00ad"],"need":1}]`), "\\n\\\\ 1,2,345,6789 v1. .. ./ ｖ１．２")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		probes, err := Parse(data)
		if err != nil {
			if _, ok := errors.AsType[*ParseError](err); !ok {
				t.Fatalf("%v is no ParseError", err)
			}
			return
		}
		Lint(probes)
		answers := make(map[string]string)
		for _, p := range probes {
			answers[p.ID] = text
		}
		GradeAnswers(probes, answers)
		if r := Grade(probes, &Evidence{Window: []string{text}, Recall: []string{text, text}}); r.Total != len(probes) || r.Recall != 0 {
			t.Errorf("report of %d probes: %+v", len(probes), r.Tally)
		}
		out, err := json.Marshal(probes)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if d := cmp.Diff(probes, again); d != "" {
			t.Errorf("(-first +second):\n%s", d)
		}
	})
}
