package summary

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
)

// stateFile is a state file in the published form.
const stateFile = `{
  "version": 2,
  "compression_state": {
    "summary": {
      "session_intent": "Build a reading list",
      "files_modified": {"list/store.go": ["Added Save", "Fixed Load"], "list/api.go": ["Added GET /items"]},
      "decisions_made": [{"decision": "Use SQLite over files", "rationale": "Queries"}],
      "current_state": "Save works",
      "next_steps": ["Write tests"]
    },
    "compression_count": 3,
    "last_compressed_at": "2026-01-05T10:30:00Z",
    "probe_score": 0.95
  }
}`

func TestParseStateFile(t *testing.T) {
	want := &Summary{
		Intent: "Build a reading list",
		Files: Files{
			{"list/store.go", []Item{{Text: "Added Save"}, {Text: "Fixed Load"}}},
			{"list/api.go", []Item{{Text: "Added GET /items"}}},
		},
		Decisions: []Decision{{Decision: "Use SQLite over files", Rationale: "Queries"}},
		State:     "Save works",
		Next:      []Item{{Text: "Write tests"}},
		Meta:      Meta{Count: 3, At: "2026-01-05T10:30:00Z", ProbeScore: ratio.Of(95, 100)},
	}
	got, err := Parse([]byte(stateFile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseJSON(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Summary
	}{
		{"texts in place of objects", `{"session_intent":"x","decisions_made":["a"],"errors_encountered":["b"]}`, Summary{
			Intent: "x", Decisions: []Decision{{Decision: "a"}}, Errors: []Error{{Error: "b", Status: statusOpen}},
		}},
		{"one in place of a list", `{"session_intent":"x","blockers":"None","files_modified":"None"}`, Summary{
			Intent: "x", Blockers: []Item{{Text: None}}, Files: Files{{Path: None}},
		}},
		{"files as a list", `{"session_intent":"x","files_modified":[{"path":"a","changes":["1"]},{"file":"a","changes":"2"}]}`, Summary{
			Intent: "x", Files: Files{{"a", []Item{{Text: "1"}, {Text: "2"}}}},
		}},
		{"a path twice", `{"session_intent":"x","files_modified":{"a":["1"],"b":[],"a":["2"]}}`, Summary{
			Intent: "x", Files: Files{{"a", []Item{{Text: "1"}, {Text: "2"}}}, {Path: "b"}},
		}},
		{"items with sources", `{"session_intent":"x","blockers":[{"text":"y","source":"3f2a91bc"}]}`, Summary{
			Intent: "x", Blockers: []Item{{"y", "3f2a91bc"}},
		}},
		{"fields in capitals, and unknown ones", `{"SESSION_INTENT":"x","mood":{"a":1}}`, Summary{Intent: "x"}},
		{"a fence and words around it", "Here it is:\n```json\n{\"session_intent\":\"x\"}\n```\nBye", Summary{Intent: "x"}},
		{"words with braces before it", "Here is {the} summary, {}:\n{\n \"session_intent\":\"x\"}", Summary{Intent: "x"}},
		{"words behind it", "{\"session_intent\":\"x\"}\nI hope that helps", Summary{Intent: "x"}},
		{"a score in percent", `{"session_intent":"x","probe_score":"95%"}`, Summary{Intent: "x", Meta: Meta{ProbeScore: 950_000}}},
		{"a state in capitals", `{"Compression_State":{"Summary":{"session_intent":"x"},"summary":null}}`, Summary{Intent: "x"}},
		{"a summary in a summary", `{"summary":{"session_intent":"x","summary":{"session_intent":"y"},"compression_state":{"session_intent":"z"}}}`, Summary{Intent: "x"}},
		{"a state in a state", `{"compression_state":{"session_intent":"x","compression_state":{"session_intent":"y"}}}`, Summary{Intent: "x"}},
		{"null is nothing", `{"session_intent":"x","blockers":null,"files_modified":null,"summary":null}`, Summary{Intent: "x"}},
		{"null in an entry", `{"decisions_made":[{"decision":"a","rationale":null}],"files_modified":{"b":null}}`, Summary{
			Decisions: []Decision{{Decision: "a"}}, Files: Files{{Path: "b"}},
		}},
		{"unknown fields of an entry", `{"decisions_made":[{"mood":"b","decision":"a"}]}`, Summary{Decisions: []Decision{{Decision: "a"}}}},
		{"an error in words", `{"session_intent":"x","errors_encountered":[{"error":"e","status":"Fixed","note":"n"}]}`, Summary{
			Intent: "x", Errors: []Error{{Error: "e", Status: statusResolved, Note: "n"}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		name, in, field string
		line            int
	}{
		{"intent is a number", `{"session_intent":1}`, "session_intent", 0},
		{"rationale is a list", `{"decisions_made":[{"decision":"a"},{"decision":"b","rationale":[]}]}`, "decisions_made[1].rationale", 0},
		{"a decision without one", `{"decisions_made":[{"rationale":"b"}]}`, "decisions_made[0]", 0},
		{"a change is a number", `{"files_modified":{"a.go":[1]}}`, "files_modified.a.go[0]", 0},
		{"a count is a text", `{"session_intent":"","compression_count":"three"}`, "compression_count", 0},
		{"a score is a list", `{"session_intent":"","probe_score":[]}`, "probe_score", 0},
		{"a summary is a list", `{"compression_state":{"summary":[]}}`, "summary", 0},
		{"a note that is a list", `{"errors_encountered":[{"error":"e","note":[]}]}`, "errors_encountered[0].note", 0},
		{"a change in a number", `{"files_modified":{"a.go":7}}`, "files_modified.a.go", 0},
		{"files in a number", `{"files_modified":7}`, "files_modified", 0},
		{"a path that is a number", `{"files_modified":[{"path":7}]}`, "files_modified[0].path", 0},
		{"a list in a number", `{"blockers":7}`, "blockers", 0},
		{"a file without a path", `{"files_modified":[{"path":"a"},{"changes":["1"]}]}`, "files_modified[1]", 0},
		{"a blocker that is null", `{"blockers":["a",null]}`, "blockers[1]", 0},
		{"a decision that is null", `{"decisions_made":[{"decision":null}]}`, "decisions_made[0]", 0},
		{"metadata alone", "## Metadata\n\n- **Model:** m", "", 1},
		{"JSON that ends", "{\n\"session_intent\":\"x", "", 2},
		{"JSON that is broken", "{\n\"session_intent\"=\"x\"}", "", 2},
		{"other JSON", `{"type":"error","error":{"type":"overloaded_error"}}`, "", 1},
		{"prose", "The work went well.", "", 1},
		{"nothing", "", "", 1},
		{"other headings", "# Title\n\n## Notes\n\nx", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.in))
			e, ok := errors.AsType[*SyntaxError](err)
			if !ok || e.Field != tt.field || e.Line != tt.line {
				t.Errorf("got %#v, want field %q, line %d", err, tt.field, tt.line)
			}
		})
	}
}

// A summary may say that nothing is wanted.
func TestParseAnEmptyIntent(t *testing.T) {
	if _, err := Parse([]byte(`{"session_intent":""}`)); err != nil {
		t.Error(err)
	}
	if _, err := Parse([]byte(`{"intent":""}`)); err == nil {
		t.Error("an object without a section is taken for a summary")
	}
}

// An error says where it is, what is wrong, and what to write.
func TestSyntaxErrorsSayWhere(t *testing.T) {
	for want, e := range map[string]SyntaxError{
		"summary: bad":                   {Text: "bad"},
		"summary line 1: bad":            {Line: 1, Text: "bad"},
		"summary line 3: bad; write x":   {Line: 3, Text: "bad", Hint: "write x"},
		"summary next_steps[1]: no text": {Field: "next_steps[1]", Text: "no text"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for value, want := range map[string]string{" [1]": "a list", "{}": "an object", "true": "a truth value", "false": "a truth value", "7": "a number"} {
		_, err := Parse([]byte(`{"session_intent":` + value + `}`))
		if got := fmt.Sprint(err); got != "summary session_intent: "+want+" where a text is expected" {
			t.Errorf("of %s: %s", value, got)
		}
	}
	fs, it := Files{{Path: "a"}}, Item{}
	if err := errors.Join(json.Unmarshal([]byte("null"), &fs), json.Unmarshal([]byte(`{"text":"b","source":"c"}`), &it)); err != nil || len(fs) != 1 || it != (Item{"b", "c"}) {
		t.Errorf("read are %v and %v: %v", fs, it, err)
	}
	if got, err := json.Marshal(Files(nil)); err != nil || string(got) != "null" {
		t.Errorf("no files are %s: %v", got, err)
	}
}

// Prose that would be read as a heading or a rule is protected, and comes back.
func TestProseThatLooksLikeMarkdown(t *testing.T) {
	for _, line := range []string{"# Next Steps", `\ a`, "---", "  ## Blockers", "plain", `\# b`} {
		want := &Summary{Intent: "Build\n" + line, State: "Done"}
		want.Intent = strings.TrimRight(want.Intent, " ")
		got, err := Parse([]byte(want.Markdown()))
		if err != nil {
			t.Fatal(err)
		}
		if got.State != want.State || strings.Join(strings.Fields(got.Intent), " ") != strings.Join(strings.Fields(want.Intent), " ") {
			t.Errorf("%q comes back as %q", want.Intent, got.Intent)
		}
	}
}

func TestParseMarkdown(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Summary
	}{
		{"the published form", `## Session Intent
Build it

## Files Modified
- ` + "`a/b.go`" + `: Added X, fixed Y (both, really)
- ` + "`c.go`" + `: Removed Z

## Decisions Made
- **Use A**: Because of B

## Current State
Half way

## Blockers
- Wait for C

## Next Steps
1. One
2. Two`, Summary{
			Intent: "Build it",
			Files: Files{
				{"a/b.go", []Item{{Text: "Added X"}, {Text: "fixed Y (both, really)"}}},
				{"c.go", []Item{{Text: "Removed Z"}}},
			},
			Decisions: []Decision{{Decision: "Use A", Rationale: "Because of B"}},
			State:     "Half way",
			Blockers:  []Item{{Text: "Wait for C"}},
			Next:      []Item{{Text: "One"}, {Text: "Two"}},
		}},
		{"reasons of decisions", "## Decisions Made\n- **Use A** because it is known\n- **Use B**: because it is small\n- **Use C** - it is red", Summary{
			Decisions: []Decision{{Decision: "Use A", Rationale: "it is known"}, {Decision: "Use B", Rationale: "because it is small"}, {Decision: "Use C", Rationale: "it is red"}},
		}},
		{"the template's bullets", `### 2. Files Modified:
* path/x.ts: Added function X, modified class Y
- **src/y.ts** — rewrote it
+ Changed ` + "`z.go`" + ` twice

### Decisions
- Decision 1: Chose X over Y because it is fast
- Decision 2: Deferred Z
- **Keep W** since it works
- Use SQLite: no server to run
- **Split it**
  - Rationale: it grew

## Errors Encountered
- TypeError: x is undefined: resolved – added a guard
- **Timeout** — fixed, raised it
- Deadlock (open)
- Disk full`, Summary{
			Files: Files{
				{"path/x.ts", []Item{{Text: "Added function X"}, {Text: "modified class Y"}}},
				{"src/y.ts", []Item{{Text: "rewrote it"}}},
				{"z.go", []Item{{Text: "Changed `z.go` twice"}}},
			},
			Decisions: []Decision{
				{Decision: "Chose X over Y", Rationale: "it is fast"},
				{Decision: "Deferred Z"},
				{Decision: "Keep W", Rationale: "since it works"},
				{Decision: "Use SQLite", Rationale: "no server to run"},
				{Decision: "Split it", Rationale: "it grew"},
			},
			Errors: []Error{
				{Error: "TypeError: x is undefined", Status: statusResolved, Note: "added a guard"},
				{Error: "Timeout", Status: statusResolved, Note: "raised it"},
				{Error: "Deadlock", Status: statusOpen},
				{Error: "Disk full", Status: statusOpen},
			},
		}},
		{"lines that are wrapped, nested bullets, sources and None", `**Compression #:** 4
Timestamp: 2026-01-05T10:30:00Z
Messages Compressed: 1 - 1,200

## Blockers and Open Questions
none.

## Next Steps
- first that
  goes on
  here [3f2a91bc]

  and here
second

## Files Modified
- ` + "`a.go`" + `:
    - one, two [aaaabbbb]
    - three
      goes on

## Technical Context
(None)

---

## Metadata
- **Probe Score:** 0.95 (19/20)
| Tokens Before: 12,400
`, Summary{
			Blockers: []Item{{Text: None}},
			Next:     []Item{{Text: "first that goes on here [3f2a91bc] and here"}, {Text: "second"}},
			Files:    Files{{"a.go", []Item{{"one, two", "aaaabbbb"}, {Text: "three goes on"}}}},
			Context:  []Item{{Text: None}},
			Meta:     Meta{Count: 4, At: "2026-01-05T10:30:00Z", Messages: 1200, ProbeScore: 950_000, TokensBefore: 12400},
		}},
		{"sections that say in other words that they have nothing", `## Files Modified
- none.

## Decisions Made
- (none)

## Errors Encountered
* **None**

## Next Steps
- None yet.`, Summary{
			Files: Files{{Path: None}}, Decisions: []Decision{{Decision: None}}, Errors: []Error{{Error: None}}, Next: []Item{{Text: None}},
		}},
		{"sections of nothing, and a rationale in lines", `## Errors Encountered

## Decisions Made
- **Split it**
  - Rationale: it grew
  - and was slow
- __Keep it__: it works

## Files Modified
- the file a.go: split

## Next Steps
- one
- two`, Summary{
			Errors:    []Error{},
			Decisions: []Decision{{Decision: "Split it", Rationale: "it grew; and was slow"}, {Decision: "Keep it", Rationale: "it works"}},
			Files:     Files{{Path: "the file a.go: split"}},
			Next:      []Item{{Text: "one"}, {Text: "two"}},
		}},
		{"other sections, and headings in a section", `# Session Intent
fix it

# Notes
- foo

# Key Artifacts
## of tests
- a

# Appendix
- bar`, Summary{Intent: "fix it", Artifacts: []Item{{Text: "## of tests"}, {Text: "a"}}}},
		{"other sections at the third level", `### Session Intent
fix it
## Notes
- foo
### Next Steps
- a
### Appendix
- bar`, Summary{Intent: "fix it", Next: []Item{{Text: "a"}}}},
		{"errors with lines of their own, and files in words", `## Errors Encountered
- Timeout
  - Status: resolved
  - Note: raised it
  - and tried again
- **Refused**
  - Status: strange

## Files Modified
- a.go rewrote it
- Makefile was rewritten
- ` + "`` b`c ``" + `: split

## Session Intent
Build it

## Next Steps
- one

## Session Intent
Ship it`, Summary{
			Intent: "Build it\n\nShip it",
			Errors: []Error{{Error: "Timeout", Status: statusResolved, Note: "raised it; and tried again"}, {Error: "Refused", Note: "Status: strange"}},
			Files:  Files{{"a.go", []Item{{Text: "rewrote it"}}}, {Path: "Makefile was rewritten"}, {"b`c", []Item{{Text: "split"}}}},
			Next:   []Item{{Text: "one"}},
		}},
		{"a fence, other sections and an empty one", "```markdown\n## Session Intent\nx\n\n## Mood\ngood\n\n## Blockers\n```", Summary{
			Intent: "x", Blockers: []Item{},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// lines generates texts of one line without white space around them that do
// not say None: words, with whatever Markdown means something by.
func lines() *rapid.Generator[string] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{
			"add", "fix", "`code`", "**bold**", "*", "**", `\`, `\*`, "#", "##", "-", "1.", ":", "open", "resolved", "–", "[3f2a91bc]",
			`\[3f2a91bc]`, "because", "a, b", ";", "None", "---", "```", "Now:", "_x_", "__y__", "Decision", "1:", "(", "Ä", "…",
		}),
		rapid.StringMatching(`[a-zA-Z0-9./_,;:*\\\[\]#–-]{1,8}`),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "words"), rapid.SampledFrom([]string{" ", " ", ""}).Draw(t, "gap"))
	}).Filter(func(s string) bool { return !isNone(s) && !isLabel(s) })
}

func sources() *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[0-9a-f]{8,12}`))
}

func items() *rapid.Generator[[]Item] {
	item := rapid.Custom(func(t *rapid.T) Item { return Item{lines().Draw(t, "text"), sources().Draw(t, "source")} })
	return rapid.OneOf(
		rapid.Just([]Item(nil)), rapid.Just([]Item{}), rapid.Just([]Item{{Text: None}}),
		rapid.SliceOfN(item, 1, 4),
	)
}

// documents generates summaries that have both written forms.
func documents() *rapid.Generator[*Summary] {
	prose := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(lines(), 0, 3).Draw(t, "lines"), "\n")
	})
	return rapid.Custom(func(t *rapid.T) *Summary {
		s := &Summary{
			Intent: prose.Draw(t, "intent"), State: prose.Draw(t, "state"),
			Blockers: items().Draw(t, "blockers"), Next: items().Draw(t, "next"),
			Context: items().Draw(t, "context"), Artifacts: items().Draw(t, "artifacts"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "files") {
			f := File{Path: lines().Draw(t, "path")}
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				f.Changes = append(f.Changes, Item{lines().Draw(t, "change"), sources().Draw(t, "source")})
			}
			s.Files = append(s.Files, f)
		}
		s.Files = unite(s.Files)
		for range rapid.IntRange(0, 3).Draw(t, "decisions") {
			s.Decisions = append(s.Decisions, Decision{
				lines().Draw(t, "decision"), rapid.OneOf(rapid.Just(""), lines()).Draw(t, "rationale"), sources().Draw(t, "source"),
			})
		}
		for range rapid.IntRange(0, 3).Draw(t, "errors") {
			s.Errors = append(s.Errors, Error{
				lines().Draw(t, "error"), rapid.SampledFrom([]string{statusOpen, statusResolved, ""}).Draw(t, "status"),
				rapid.OneOf(rapid.Just(""), lines()).Draw(t, "note"), sources().Draw(t, "source"),
			})
		}
		s.Meta = Meta{
			Count: rapid.IntRange(0, 9).Draw(t, "count"), At: rapid.SampledFrom([]string{"", "2026-01-05T10:30:00Z"}).Draw(t, "at"),
			Messages: rapid.IntRange(0, 5000).Draw(t, "messages"), TokensBefore: rapid.Int64Range(0, 1e9).Draw(t, "before"),
			TokensAfter: rapid.Int64Range(0, 1e9).Draw(t, "after"), Ratio: ratio.Ratio(rapid.IntRange(-2e6, 1e6).Draw(t, "ratio")),
			ProbeScore: ratio.Ratio(rapid.IntRange(0, 1e6).Draw(t, "score")), Strategy: rapid.SampledFrom([]string{"", "anchored"}).Draw(t, "strategy"),
			Model: rapid.SampledFrom([]string{"", "some-model:8b"}).Draw(t, "model"), Depth: rapid.IntRange(0, 5).Draw(t, "depth"),
			Input: rapid.SampledFrom([]string{"", "00ff00ff00ff00ff"}).Draw(t, "input"),
		}
		return s
	})
}

func TestMarkdownComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := documents().Draw(t, "summary")
		if s.blank() {
			t.Skip("it has no section")
		}
		text := s.Markdown()
		got, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, text)
		}
	})
}

func TestJSONComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := documents().Draw(t, "summary")
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text)
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, text)
		}
	})
}

func TestMarshalJSON(t *testing.T) {
	s := &Summary{
		Intent: "x <y>", Files: Files{{"b", nil}, {"a", []Item{{Text: "1"}}}, {"b", []Item{{"2", "3f2a91bc"}}}},
		Decisions: []Decision{{Decision: "d", Rationale: NotStated}}, Blockers: []Item{},
		Meta: Meta{Count: 1, ProbeScore: ratio.Of(95, 100)},
	}
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"session_intent":"x \u003cy\u003e","files_modified":{"b":[{"text":"2","source":"3f2a91bc"}],"a":["1"]},` +
		`"decisions_made":[{"decision":"d","rationale":"not stated"}],"current_state":"","blockers":[],` +
		`"compression_count":1,"probe_score":0.950000}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(stateFile))
	f.Add([]byte("## Session Intent\nx\n## Files Modified\n- `a`: b, c [3f2a91bc]\n- None\n## Decisions Made\n- **a\\*\\*:**: b because c"))
	f.Add([]byte("```json\n{\"session_intent\":\"x\"}\n```"))
	f.Add([]byte("## Errors\n- a: open – b\n  - status: fixed\n- ``` x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok {
				t.Fatalf("%v is a %T", err, err)
			}
			return
		}
		// What was read once is read again, and then nothing changes any more.
		text := s.Markdown()
		again, err := Parse([]byte(text))
		if err != nil {
			if s.blank() {
				return
			}
			t.Fatalf("%v:\n%s", err, text)
		}
		Check(s, &Original{Text: string(data)})
		s.Fit(&FitOptions{Limit: 40})
		if _, edits := s.Merge(again); len(edits) > 2*len(s.Entries())+2*len(again.Entries()) {
			t.Fatalf("%d edits", len(edits))
		}
	})
}

// What was done to a file is parted at commas and semicolons, but for those in brackets and
// quotation marks.
func TestSplitChanges(t *testing.T) {
	for text, want := range map[string]string{
		"added Run, removed Stop; renamed Go": "added Run|removed Stop|renamed Go",
		"a (b, c), d":                         "a (b, c)|d",
		"a [b, c], d":                         "a [b, c]|d",
		"a {b, c}, d":                         "a {b, c}|d",
		"a ((b, c), d), e":                    "a ((b, c), d)|e",
		"a) b, c":                             "a) b|c",
		"a `b, c`, d":                         "a `b, c`|d",
		`a "b, c", d`:                         `a "b, c"|d`,
		"a ` b, c":                            "a ` b|c",
		"1,000 lines":                         "1,000 lines",
	} {
		if got := strings.Join(splitChanges(text), "|"); got != want {
			t.Errorf("%q is parted into %q, want %q", text, got, want)
		}
	}
}

// Steps are numbered, and nothing else is.
func TestOnlyStepsAreNumbered(t *testing.T) {
	two := []Item{{Text: "First"}, {Text: "Second"}}
	text := (&Summary{Intent: "Build it", Next: two, Blockers: two, Context: two}).Markdown()
	for section, want := range map[string]string{
		"## Next Steps\n\n": "1. First\n2. Second\n", "## Technical Context\n\n": "- First\n- Second\n", "## Blockers / Open Questions\n\n": "- First\n- Second\n",
	} {
		if !strings.Contains(text, section+want) {
			t.Errorf("the section %q is not %q in\n%s", section, want, text)
		}
	}
}
