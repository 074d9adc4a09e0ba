package limn

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestBuiltinPacks(t *testing.T) {
	versions := map[string]string{"session": "0.4.0", "research": "0.1.0"}
	words := map[string]string{
		"session":  "claim source decision cite verify measure fit",
		"research": "release window check validate",
	}
	var packs []*Pack
	for _, name := range BuiltinPacks() {
		p, err := BuiltinPack(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || p.Version != versions[name] {
			t.Errorf("pack %q is called %q %s, want %s", name, p.Name, p.Version, versions[name])
		}
		if got := strings.Join(p.words(), " "); got != words[name] {
			t.Errorf("pack %q has the words %q, want %q", name, got, words[name])
		}
		packs = append(packs, p)
	}
	if err := CheckPacks(packs); err != nil {
		t.Error(err)
	}
	if err := CheckPacks(append(packs, packs[0])); !errors.Is(err, ErrPack) {
		t.Errorf("a pack goes with itself: %v", err)
	}
	live := &Pack{Name: "live", Nouns: []string{"level"}, Declarations: []PackName{{"level", "number"}}}
	if err := CheckPacks(append(packs[:2:2], live)); err != nil {
		t.Errorf("a live name that is a noun of its pack: %v", err)
	}
	other := &Pack{Name: "other", Declarations: []PackName{{"level", "number"}}}
	if err := CheckPacks([]*Pack{live, other}); !errors.Is(err, ErrPack) || !strings.Contains(err.Error(), `the packs "live" and "other" both define "level"`) {
		t.Errorf("two packs with a live name: %v", err)
	}
	if _, err := BuiltinPack("sesion"); err == nil {
		t.Errorf("BuiltinPack of an unknown name returns %v", err)
	}
}

func TestLoadPack(t *testing.T) {
	for _, tt := range []struct {
		name, json string
		want       Pack
	}{
		{"a pack may be almost nothing", `{}`, Pack{Name: "test", Type: PackTest}},
		{"a timer has an interval and declares its tick", `{"type": "timer", "interval_ms": 200, "max_ticks": 5}`, Pack{
			Name: "timer", Type: PackTimer, Interval: 200 * time.Millisecond, Limit: 5, Declarations: []PackName{{"tick", "number"}},
		}},
		{"an interval is a second unless it is said", `{"type": "timer", "declarations": [["tick", "number"]]}`, Pack{
			Name: "timer", Type: PackTimer, Interval: time.Second, Declarations: []PackName{{"tick", "number"}},
		}},
		{"a live name may be a noun", `{"vocabulary": [{"word": "level", "category": "noun"}], "declarations": [["level", "number"]]}`, Pack{
			Name: "test", Type: PackTest,
			Nouns: []string{"level"}, Declarations: []PackName{{"level", "number"}},
		}},
		{"the longest interval and the most ticks", `{"type": "timer", "interval_ms": 86400000, "max_ticks": 1000000000}`, Pack{
			Name: "timer", Type: PackTimer, Interval: 24 * time.Hour, Limit: 1_000_000_000, Declarations: []PackName{{"tick", "number"}},
		}},
		{"the shortest interval and one tick", `{"type": "timer", "interval_ms": 1, "max_ticks": 1}`, Pack{
			Name: "timer", Type: PackTimer, Interval: time.Millisecond, Limit: 1, Declarations: []PackName{{"tick", "number"}},
		}},
		{"standard input", `{"name": "echo", "type": "stdin"}`, Pack{
			Name: "echo", Type: PackStdin, Declarations: []PackName{{"line", "string"}},
		}},
		{"a watcher has a path", `{"type": "file-watcher", "path": "./inbox", "poll_interval_ms": 50, "max_events": 1}`, Pack{
			Name: "file-watcher", Type: PackFileWatcher, Path: "./inbox", Limit: 1,
			Declarations: []PackName{{"file-content", "string"}, {"changed-file", "string"}, {"change-type", "string"}},
		}},
		{"a sequence, with names that are declared and others", `{"declarations": [["day", "date"], ["n", "list_of_numbers"]],
			"sequence": [["day", "2026-01-31"], ["n", []], ["other", {"b": 1, "a": "x"}], "[done]"]}`, Pack{
			Name: "test", Type: PackTest,
			Declarations: []PackName{{"day", "date"}, {"n", "list_of_numbers"}},
			Sequence:     []LiveValue{{Name: "day", Value: Value{day(20484)}}, {Name: "n", Value: Value{newList(nil)}}, {Name: "other", Value: abRecord(t)}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := LoadPack([]byte(tt.json))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreUnexported(Pack{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func abRecord(t *testing.T) Value {
	v, err := recordOf(entry{"a", String("x")}, entry{"b", Int(1)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// verb wraps slots and an execution into a pack.
func verb(slots, execution string) string {
	return `{"verbs": [{"word": "prove", "slots": [` + slots + `], "execution": {` + execution + `}}]}`
}

// What is wrong is told with its field.
func TestLoadPackRefuses(t *testing.T) {
	const (
		what  = `{"name": "what", "connective": null, "required": true, "value_type": "value"}`
		where = `{"name": "where", "connective": "from", "required": true}`
		maybe = `{"name": "maybe", "connective": "within", "required": false, "value_type": "value"}`
		check = `"type": "substring_check", "check_slot": "what", "against_slot": "where"`
		slots = "verbs[0].slots"
		exec  = "verbs[0].execution"
	)
	if _, err := LoadPack([]byte(verb(what+","+where+","+maybe, check))); err != nil {
		t.Fatalf("the verb that the cases vary is refused: %v", err)
	}
	for _, tt := range []struct{ name, json, want string }{
		{"nothing", ``, "ends too early"},
		{"no JSON", `{"name": }`, "invalid character"},
		{"half of it", `{"name": "x"`, "EOF"},
		{"something behind it", `{} {}`, "after the end of the JSON"},
		{"a list", `[]`, "is no object"},
		{"a field twice", `{"verbs": [{"word": "a", "word": "b"}]}`, "the field verbs[0].word occurs twice"},
		{"a deep nest", `{"name": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "nests too deep"},
		{"an unknown field", `{"nouns": []}`, "nouns is not a field"},
		{"fields are not spelled as they like", `{"Name": "x"}`, "Name is not a field"},
		{"a name that is no text", `{"name": 5}`, "name is no text"},
		{"an unknown type", `{"type": "radio"}`, "type is \"radio\""},
		{"a setting of another type", `{"type": "stdin", "interval_ms": 5}`, "the field interval_ms is only for packs of type \"timer\""},
		{"a path of a timer", `{"type": "timer", "path": "x"}`, "the field path is only for packs of type \"file-watcher\""},
		{"events of a timer", `{"type": "timer", "max_events": 5}`, "the field max_events is only for packs of type \"file-watcher\""},
		{"polling of nothing", `{"poll_interval_ms": 5}`, "the field poll_interval_ms is only for packs of type \"file-watcher\""},
		{"ticks of a watcher", `{"type": "file-watcher", "path": "x", "max_ticks": 5}`, "the field max_ticks is only for packs of type \"timer\""},
		{"a polling that is too fast", `{"type": "file-watcher", "path": "x", "poll_interval_ms": 0}`, "poll_interval_ms is no whole number"},
		{"a day and a millisecond", `{"type": "timer", "interval_ms": 86400001}`, "interval_ms is no whole number from 1 to 86400000"},
		{"too many ticks", `{"type": "timer", "max_ticks": 1000000001}`, "max_ticks is no whole number from 1 to 1000000000"},
		{"no ticks", `{"type": "timer", "max_ticks": 0}`, "max_ticks is no whole number"},
		{"an interval in quotes", `{"type": "timer", "interval_ms": "5"}`, "interval_ms is no whole number"},
		{"spaces as a name", `{"name": " "}`, "name is empty"},
		{"nouns that are no list", `{"vocabulary": {}}`, "vocabulary is no array"},
		{"a noun that is no object", `{"vocabulary": [5]}`, "vocabulary[0] is no object"},
		{"a required that is no truth value", verb(`{"name": "what", "connective": null, "required": 1}`, check), slots + "[0].required is neither true nor false"},
		{"a step of three", `{"sequence": [["x", 1, 2]]}`, "sequence[0] is neither"},
		{"a declaration of three", `{"declarations": [["x", "number", "y"]]}`, "declarations[0] is not a list of a name and its type"},
		{"an end that is not at the end", `{"sequence": [["x", 1], "[done]", "[done]"]}`, "sequence[1] is the end"},
		{"a noun that is a verb", `{"vocabulary": [{"word": "x", "category": "noun"}], "verbs": [{"word": "x", "slots": [], "execution": {"type": "set_value", "target_name": "y", "literal_value": "z"}}]}`, `"x" has two meanings`},
		{"a live name that is a verb", `{"declarations": [["x", "number"]], "verbs": [{"word": "x", "slots": [], "execution": {"type": "set_value", "target_name": "y", "literal_value": "z"}}]}`, `"x" has two meanings`},
		{"an interval of nothing", `{"type": "timer", "interval_ms": 0}`, "interval_ms is no whole number"},
		{"a fraction of an interval", `{"type": "timer", "interval_ms": 1.5}`, "interval_ms is no whole number"},
		{"a watcher of nothing", `{"type": "file-watcher"}`, "path is missing"},

		{"a noun without a category", `{"vocabulary": [{"word": "claim"}]}`, "vocabulary[0].category"},
		{"a noun of another category", `{"vocabulary": [{"word": "claim", "category": "verb"}]}`, "vocabulary[0].category"},
		{"a noun that is a word of the language", `{"vocabulary": [{"word": "list-of"}, {"word": "the", "category": "noun"}]}`, "vocabulary[0].category"},
		{"a reserved noun", `{"vocabulary": [{"word": "the", "category": "noun"}]}`, "vocabulary[0].word is \"the\", which is a word of the language"},
		{"a noun in capitals", `{"vocabulary": [{"word": "Claim", "category": "noun"}]}`, "vocabulary[0].word"},
		{"a noun of two words", `{"vocabulary": [{"word": "two words", "category": "noun"}]}`, "vocabulary[0].word"},
		{"a number as a noun", `{"vocabulary": [{"word": "12", "category": "noun"}]}`, "vocabulary[0].word"},
		{"a word with two meanings", `{"vocabulary": [{"word": "x", "category": "noun"}, {"word": "x", "category": "noun"}]}`, `"x" has two meanings`},
		{"a live name of two types", `{"vocabulary": [{"word": "x", "category": "noun"}], "declarations": [["x", "number"], ["x", "string"]]}`, `"x" has two meanings`},

		{"a declaration without a type", `{"declarations": [["x"]]}`, "declarations[0] is not a list of a name and its type"},
		{"a declaration of no type", `{"declarations": [["x", "boolean"]]}`, "declarations[0][1]"},
		{"a list of what is not there", `{"declarations": [["x", "list_of_lists"]]}`, "declarations[0][1]"},
		{"a sequence under both names", `{"sequence": [], "script": []}`, "script is the old name"},
		{"a sequence of a timer", `{"type": "timer", "sequence": [["x", 1]]}`, "sequence is only for packs of type \"test\""},
		{"a step that is no pair", `{"sequence": [["x"]]}`, "sequence[0]"},
		{"something after the end", `{"script": ["[done]", ["x", 1]]}`, "script[0]"},
		{"a truth value", `{"sequence": [["x", true]]}`, "sequence[0][1]"},
		{"a value of another type", `{"declarations": [["x", "number"]], "sequence": [["x", "one"]]}`, "sequence[0][1] is a string"},
		{"a day that is none", `{"declarations": [["x", "date"]], "sequence": [["x", "2026-02-30"]]}`, "sequence[0][1]"},

		{"a verb without slots", `{"verbs": [{"word": "prove", "execution": {"type": "set_value"}}]}`, "verbs[0].slots is missing"},
		{"a verb without execution", `{"verbs": [{"word": "prove", "slots": []}]}`, "verbs[0].execution is missing"},
		{"a verb of the language", `{"verbs": [{"word": "assign", "slots": [], "execution": {}}]}`, "verbs[0].word"},
		{"two positional slots", verb(what+`, {"name": "second", "connective": null, "required": true}`, check), slots + "[1].connective is null"},
		{"a positional slot that is not first", verb(where+","+what, check), slots + "[1].connective is null"},
		{"a connective twice", verb(what+","+where+`, {"name": "other", "connective": "from", "required": false}`, check), slots + "[2].connective is \"from\", which is the connective of an earlier slot"},
		{"a slot twice", verb(what+`, {"name": "what", "connective": "from", "required": true}`, check), slots + "[1].name"},
		{"a slot without a connective field", verb(`{"name": "what", "required": true}`, check), slots + "[0].connective is missing"},
		{"a slot that may or may not be required", verb(`{"name": "what", "connective": null}`, check), slots + "[0].required"},
		{"a value type of its own", verb(`{"name": "what", "connective": null, "required": true, "value_type": "number"}`, check), slots + "[0].value_type"},
		{"a constraint on a value", verb(`{"name": "what", "connective": null, "required": true, "value_type": "value", "type_constraint": "claim"}`, check), slots + "[0].type_constraint"},
		{"a connective that ends the operation", verb(what+`, {"name": "where", "connective": "and", "required": true}`, check), slots + "[1].connective"},
		{"a connective of two words", verb(what+`, {"name": "where", "connective": "out from", "required": true}`, check), slots + "[1].connective is \"out from\", which is no word"},
		{"a connective with a quote", verb(what+`, {"name": "where", "connective": "\"", "required": true}`, check), slots + "[1].connective is \"\\\"\", which is no word"},
		{"a connective that is a number", verb(what+`, {"name": "where", "connective": "12", "required": true}`, check), slots + "[1].connective is \"12\", which is no word"},
		{"a connective that is a verb", verb(what+`, {"name": "where", "connective": "show", "required": true}`, check), slots + "[1].connective"},

		{"an unknown execution", verb(what, `"type": "run_program"`), exec + ".type"},
		{"a parameter of another execution", verb(what+","+where, check+`, "field_name": "x"`), exec + ".field_name is not a field"},
		{"a missing parameter", verb(what+","+where, `"type": "substring_check", "check_slot": "what"`), exec + ".against_slot is missing"},
		{"a slot that is not there", verb(what+","+where, `"type": "substring_check", "check_slot": "what", "against_slot": "there"`), exec + ".against_slot is \"there\", which is no slot"},
		{"a slot of values for a name", verb(what+","+where, `"type": "substring_check", "check_slot": "where", "against_slot": "what"`), exec + ".against_slot"},
		{"an optional slot", verb(what+","+where+","+maybe, `"type": "substring_check", "check_slot": "maybe", "against_slot": "where"`), exec + ".check_slot is \"maybe\", an optional slot"},
		{"two targets", verb(where, `"type": "set_value", "target_name": "x", "target_slot": "where", "literal_value": "y"`), exec + ".target_name and target_slot"},
		{"no target", verb(where, `"type": "set_value", "literal_value": "y"`), exec + ".target_name and target_slot"},
		{"two sources", verb(where, `"type": "append_to_list", "target_slot": "where", "source_slot": "where", "literal_value": "y"`), exec + ".source_slot and literal_value"},
		{"no source", verb(where, `"type": "append_to_list", "target_slot": "where"`), exec + ".source_slot and literal_value"},
		{"no field", verb(where, `"type": "set_field", "target_slot": "where", "literal_value": "y"`), exec + ".field_name is missing"},
		{"a target in capitals", verb(where, `"type": "set_value", "target_name": "X", "literal_value": "y"`), exec + ".target_name"},
		{"no way to compare", verb(where, `"type": "compare_values", "left_slot": "where", "right_slot": "where", "status_target": "s"`), exec + ".comparison"},
		{"structure without details", verb(where, `"type": "compare_values", "left_slot": "where", "right_slot": "where", "status_target": "s", "comparison": "structural"`), exec + ".details_target is missing"},
		{"equality with details", verb(where, `"type": "compare_values", "left_slot": "where", "right_slot": "where", "status_target": "s", "comparison": "equality", "details_target": "d"`), exec + ".details_target is only for \"comparison\": \"structural\""},
		{"no way to treat a mismatch", verb(where, `"type": "compare_values", "left_slot": "where", "right_slot": "where", "status_target": "s", "comparison": "equality", "on_mismatch": "shrug"`), exec + ".on_mismatch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := LoadPack([]byte(tt.json))
			if !errors.Is(err, ErrPack) || p != nil {
				t.Fatalf("it is accepted, or the error is not ErrPack: %v", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %q, want one with %q", err, tt.want)
			}
		})
	}
}

// Whatever is read, LoadPack gives a pack or an error, and what programs say with
// the verbs of a pack can be written and read again.
func FuzzLoadPack(f *testing.F) {
	files, err := filepath.Glob("packs/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no packs: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"type": "timer", "interval_ms": 5}`))
	f.Add([]byte(`{"declarations": [["x", "number"]], "script": [["x", 1], ["y", {"a": [1]}], "[done]"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := LoadPack(data)
		if err != nil {
			if !errors.Is(err, ErrPack) || p != nil {
				t.Fatalf("the error is %v, with pack %v", err, p)
			}
			return
		}
		opts := &Options{Packs: []*Pack{p}}
		for _, v := range p.verbs {
			call := sentence(v)
			parsed := Parse("", call, opts)
			if len(parsed.Lines) != 1 || parsed.Lines[0].Err != nil {
				t.Fatalf("%q is not understood: %v", call, parsed.Lines[0].Err)
			}
			m := NewMachine(opts)
			m.Exec(parsed.Lines[0])
		}
	})
}

// sentence is a statement of a verb.
func sentence(v *packVerb) string {
	words := []string{v.Word}
	for _, s := range v.Slots {
		if s.Connective != "" {
			words = append(words, s.Connective)
		}
		if s.IsName {
			words = append(words, "zz-name")
		} else {
			words = append(words, `"text"`)
		}
	}
	return strings.Join(words, " ")
}

// A statement has so many steps, whatever it reads: a long source takes more of them.
func TestReadingALongTextTakesSteps(t *testing.T) {
	pack, err := BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	opts := &Options{Packs: []*Pack{pack}}
	for _, verb := range []string{"measure each from paper within 9999", "cite each from paper"} {
		m := NewMachine(opts)
		m.symbols["paper"] = &symbol{value: String(strings.Repeat("12 patients, 34 weeks ", 10_000)), descriptor: "source"}
		for r := range m.Run(Parse("", "remember a list called xs with 12 and 34\neach the xs "+verb, opts)) {
			if r.Status != StatusSuccess {
				t.Fatalf("%s: %s: %s", verb, r.Status, r.Message)
			}
		}
		if spent := m.limit - m.steps; spent < 2*220_000/256 {
			t.Errorf("%s: %d steps are taken for 2 readings of 220 kB", verb, spent)
		}
	}
}
