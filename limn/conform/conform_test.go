package conform

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/limn"
)

func load(t *testing.T) []Case {
	t.Helper()
	data, err := os.ReadFile("testdata/conform.json")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestCases(t *testing.T) {
	for _, c := range load(t) {
		t.Run(c.Name, func(t *testing.T) {
			if diff := c.Check(); len(diff) > 0 {
				t.Errorf("%s\n\n%s", c.Program, strings.Join(diff, "\n"))
			}
		})
	}
}

// The cases have every reserved word in a statement that is executed, and every
// status that the language produces.
func TestCasesCoverTheLanguage(t *testing.T) {
	words, statuses := make(map[string]bool), make(map[limn.Status]bool)
	for _, c := range load(t) {
		packs, err := c.packs()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range limn.Parse("", c.Program, &limn.Options{Packs: packs}).Lines {
			if l.Err != nil {
				continue
			}
			for w := range strings.FieldsSeq(strings.NewReplacer(`"`, " ", ":", " ").Replace(strings.ToLower(l.Source))) {
				words[w] = true
			}
		}
		for _, r := range c.Results {
			statuses[r.Status] = true
		}
	}
	newest, err := limn.ReleaseNamed("61")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range newest.Words() {
		if !words[w] {
			t.Errorf("no case has %q", w)
		}
	}
	for _, s := range []limn.Status{
		limn.StatusSuccess, limn.StatusAmber, limn.StatusParseError, limn.StatusSemanticError, limn.StatusRuntimeError,
		limn.StatusNotMet, limn.StatusViolated, limn.StatusPackFailure, limn.StatusListening, limn.StatusFired, limn.StatusShutdown,
	} {
		if !statuses[s] {
			t.Errorf("no case has the status %s", s)
		}
	}
}

// Canonical programs do what the programs do that they are of.
func TestCanonicalProgramsDoTheSame(t *testing.T) {
	for _, c := range load(t) {
		packs, err := c.packs()
		if err != nil {
			t.Fatal(err)
		}
		text, err := limn.Format(c.Program, &limn.Options{Packs: packs})
		if err != nil {
			continue // it is about errors
		}
		c.Program = text
		if diff := c.Check(); len(diff) > 0 {
			t.Errorf("%s\n%s\n\n%s", c.Name, text, strings.Join(diff, "\n"))
		}
	}
}

// Only packs with live names or a sequence have updates.
func TestUpdatesOfPacks(t *testing.T) {
	for text, want := range map[string]bool{`{"name":"a"}`: false, `{"name":"a","declarations":[["x","number"]]}`: true, `{"name":"a","sequence":[["x",1]]}`: true} {
		p, err := limn.LoadPack([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if (updates([]*limn.Pack{p}) != nil) != want || (updates([]*limn.Pack{p, {}}) != nil) != want {
			t.Errorf("%s has updates: %v, want %v", text, !want, want)
		}
	}
	broken := Case{Program: "show \"a\"", Packs: []json.RawMessage{[]byte(`{"nouns":[]}`)}}
	if got := broken.Check(); len(got) != 1 || !strings.HasPrefix(got[0], "+ ") || !strings.Contains(got[0], "nouns is not a field") {
		t.Errorf("a case with a pack that is none: %q", got)
	}
}

func TestCheckTellsDifferences(t *testing.T) {
	const program = "show \"a\"\nshow ghost"
	for _, tt := range []struct {
		name string
		c    Case
		want []string
	}{
		{
			"another output",
			Case{Results: []Result{{1, limn.StatusSuccess, []string{"b"}}, {2, limn.StatusSemanticError, nil}}, Exit: 1},
			[]string{`- line 1 success "b"`, `+ line 1 success "a"`},
		},
		{
			"another status and exit code",
			Case{Results: []Result{{1, limn.StatusSuccess, []string{"a"}}, {2, limn.StatusSuccess, nil}}},
			[]string{"- line 2 success", "+ line 2 error_semantic", "- exit 0", "+ exit 1"},
		},
		{
			"a result that is missing",
			Case{Results: []Result{{1, limn.StatusSuccess, []string{"a"}}}, Exit: 1},
			[]string{"+ line 2 error_semantic"},
		},
		{
			"a result too many",
			Case{Results: []Result{{1, limn.StatusSuccess, []string{"a"}}, {2, limn.StatusSemanticError, nil}, {0, limn.StatusShutdown, nil}}, Exit: 1},
			[]string{"- shutdown"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Program = program
			if diff := cmp.Diff(tt.want, tt.c.Check()); diff != "" {
				t.Errorf("differences (-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"what is no JSON", `{"cases": [`, "not a JSON list of cases: unexpected EOF"},
		{"an unknown field", `[{"name": "a", "prog": ""}]`, `not a JSON list of cases: json: unknown field "prog"`},
		{"two documents", `[{"name": "a"}] []`, "not a JSON list of cases: there is text after the end of the JSON: remove it"},
		{"no case", `{"cases": []}`, "not a JSON list of cases: the list is empty"},
		{"a case without a name", `[{"name": "a"}, {}]`, "not a JSON list of cases: case 2 has no name, or the name of an earlier case"},
		{"two cases of one name", `[{"name": "a"}, {"name": "a"}]`, "not a JSON list of cases: case 2 has no name, or the name of an earlier case"},
		{"a pack that there is not", `[{"name": "a", "packs": ["b"]}]`, `not a JSON list of cases: case "a": no such pack: "b"`},
		{"a pack that is none", `[{"name": "a", "packs": [{"type": "x"}]}]`, `not a JSON list of cases: case "a": not a pack: `},
		{"packs that do not go together", `[{"name": "a", "packs": ["session", "session"]}]`, `not a JSON list of cases: case "a": the packs "session" and "session" both define `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.data))
			if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
