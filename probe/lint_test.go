package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLint(t *testing.T) {
	sound := Probe{ID: "1", Type: typeDecision, Question: "What was decided in turn 4?", Expected: []string{"redis", "cache"}, Need: 2}
	with := func(change func(p *Probe)) Probe {
		p := sound
		change(&p)
		return p
	}
	path := func(question, path string) Probe {
		return Probe{ID: "1", Type: typeFilePath, Question: question, Expected: []string{path}, Need: 1}
	}
	for _, tt := range []struct {
		name  string
		probe Probe
		want  []string
	}{
		{"sound", sound, nil},
		{"a keyword in the question", with(func(p *Probe) { p.Question = "Why was **REDIS** decided?" }), []string{ruleLeak}},
		{"its plural", with(func(p *Probe) { p.Question = "Which of the caches was decided?" }), []string{ruleLeak}},
		{"a longer word", with(func(p *Probe) { p.Question = "What about the cached one?" }), nil},
		{"the number of the turn", with(func(p *Probe) { p.Expected = []string{"4", "cache"} }), []string{ruleKeyword, ruleLeak}},
		{"a path", path("What changes were made to src/auth.go?", "src/auth.go"), []string{ruleLeak}},
		{"the end of a path", path("What about auth.go in turn 4?", "src/auth.go"), []string{ruleLeak}},
		{"the stem of a path", path("Which file is about AUTH?", "src/auth.go"), []string{ruleLeak}},
		{"the folder of a path", path("Which file of billing was changed?", "billing/auth.go"), []string{ruleLeak}},
		{"a folder of two letters", path("Which file of db was changed?", "db/auth.go"), []string{ruleLeak}},
		{"a folder with a name of all questions", path("Which file is it in?", "in/auth.go"), nil},
		{"another path", path("Which file is about billing?", "src/auth.go"), nil},
		{"no id", with(func(p *Probe) { p.ID = "" }), []string{ruleMissing}},
		{"no type", with(func(p *Probe) { p.Type = "" }), []string{ruleMissing}},
		{"no question", with(func(p *Probe) { p.Question = " ?" }), []string{ruleMissing}},
		{"no keywords", with(func(p *Probe) { p.Expected = nil }), []string{ruleMissing}},
		{"unknown type", with(func(p *Probe) { p.Type = "mood" }), []string{ruleType}},
		{"needs none", with(func(p *Probe) { p.Need = 0 }), []string{ruleNeed}},
		{"needs more than it has", with(func(p *Probe) { p.Need = 3 }), []string{ruleNeed}},
		{"a stop word", with(func(p *Probe) { p.Expected = []string{"the", "cache"} }), []string{ruleKeyword}},
		{"stop words", with(func(p *Probe) { p.Expected = []string{"of the", "cache"} }), []string{ruleKeyword}},
		{"a generic word", with(func(p *Probe) { p.Expected = []string{"Files", "cache"} }), []string{ruleKeyword}},
		{"a short word", with(func(p *Probe) { p.Expected = []string{"x", "cache"} }), []string{ruleKeyword}},
		{"an empty keyword", with(func(p *Probe) { p.Expected = []string{"**", "cache"} }), []string{ruleKeyword}},
		{"a keyword twice", with(func(p *Probe) { p.Expected = []string{"cache", "Caches"} }), []string{ruleDuplicate}},
		{"no question mark", with(func(p *Probe) { p.Question = "Say what was decided." }), []string{ruleQuestion}},
		{"one word", with(func(p *Probe) { p.Question = "What?" }), []string{ruleQuestion}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range Lint([]Probe{tt.probe}) {
				got = append(got, p.Rule)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("rules of %+v (-want +got):\n%s", tt.probe, d)
			}
		})
	}
	got := Lint([]Probe{sound, sound})
	if d := cmp.Diff([]Problem{{1, "1", ruleDuplicate, "the id is that of probe 0"}}, got); d != "" {
		t.Errorf("twice (-want +got):\n%s", d)
	}
}
