package summary

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/token"
)

func characters(s string) token.Count { return token.Count(len(s)) }

func TestFit(t *testing.T) {
	s := &Summary{
		Intent:    "Build it\nNow: Ship it",
		Files:     Files{{"a.go", []Item{{"One thing that was changed long ago", "3f2a91bc"}, {Text: "Two"}, {Text: "Three"}}}},
		Decisions: []Decision{{"Use A", "it is known", "11111111"}},
		State:     "Done",
		Blockers:  []Item{{Text: None}},
		Next:      []Item{{Text: "First"}, {Text: "Second"}},
		Context:   []Item{{Text: "Go, in its newest release, on Linux"}},
		Errors:    []Error{{Error: "Old error that nobody sees", Status: statusResolved, Note: "gone"}, {Error: "New", Status: statusOpen}},
		Artifacts: []Item{{Text: "log of the very first run"}},
		Meta:      Meta{Count: 3},
	}
	for _, tt := range []struct {
		name string
		o    FitOptions
		want string
		left []Elision
		ok   bool
	}{
		{"all of it", FitOptions{Size: characters}, `## Session Intent
Build it
Now: Ship it

## Files Modified
- ` + "`a.go`" + `: One thing that was changed long ago [3f2a91bc]; Two; Three

## Decisions Made
- **Use A**: it is known [11111111]

## Current State
Done

## Blockers / Open Questions
None

## Next Steps
1. First
2. Second

## Technical Context
- Go, in its newest release, on Linux

## Errors Encountered
- **Old error that nobody sees**: resolved – gone
- **New**: open

## Key Artifacts
- log of the very first run
`, nil, true},
		{"what is needed least goes first", FitOptions{Size: characters, Limit: 390, ID: "s1", Newest: 2, Bare: true}, `## Session Intent
Build it
Now: Ship it

## Files Modified
… 1 more: recall s1
- ` + "`a.go`" + `: … Two; Three

## Decisions Made
- **Use A**: it is known

## Current State
Done

## Blockers / Open Questions
None

## Next Steps
1. First
2. Second

## Technical Context
… 1 more: recall s1

## Errors Encountered
… 1 more: recall s1
- **New**: open

## Key Artifacts
… 1 more: recall s1
`, []Elision{
			{SectionFiles, 1, []string{short("a.go: One thing that was changed long ago")}},
			{SectionContext, 1, []string{short("Go, in its newest release, on Linux")}},
			{sectionErrors, 1, []string{short("Old error that nobody sees: resolved – gone")}},
			{SectionArtifacts, 1, []string{short("log of the very first run")}},
		}, true},
		{"the least there can be", FitOptions{Size: characters, Limit: 1}, `## Session Intent
Build it
… 1 more

## Files Modified
… 4 more

## Decisions Made
… 2 more

## Current State
Done

## Blockers / Open Questions
None

## Next Steps
… 2 more

## Technical Context
… 1 more

## Errors Encountered
… 2 more

## Key Artifacts
… 1 more
`, []Elision{
			{SectionIntent, 1, []string{short("Now: Ship it")}},
			{SectionFiles, 4, []string{short("a.go: One thing that was changed long ago"), short("a.go: Two"), short("a.go: Three"), short("a.go")}},
			{sectionDecisions, 2, []string{short("it is known"), short("Use A: it is known")}},
			{SectionNext, 2, []string{short("Second"), short("First")}},
			{SectionContext, 1, []string{short("Go, in its newest release, on Linux")}},
			{sectionErrors, 2, []string{short("Old error that nobody sees: resolved – gone"), short("New: open")}},
			{SectionArtifacts, 1, []string{short("log of the very first run")}},
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, left, ok := s.Fit(&tt.o)
			if diff := cmp.Diff(tt.want, text); diff != "" || ok != tt.ok {
				t.Errorf("ok is %v (-want +got):\n%s", ok, diff)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if tt.ok && tt.o.Limit > 0 && characters(text) > tt.o.Limit {
				t.Errorf("%d characters", len(text))
			}
		})
	}
}

// Where counts add up, the whole text is counted once, and what is shown is also shown with a limit
// of just its size.
func TestFitCountsOnce(t *testing.T) {
	s := &Summary{
		Intent: "Build it\nNow: Ship it", Files: Files{{"a.go", []Item{{"One", "3f2a91bc"}}}, {Path: "b.go"}}, State: "Done\n\nNearly",
		Decisions: []Decision{{"Use A", "it is known", "11111111"}, {Decision: "Use B", Rationale: "it is not"}},
		Errors:    []Error{{Error: None}}, Next: []Item{{Text: "First"}, {Text: "Second"}}, Context: []Item{{Text: "Go"}, {Text: "Linux"}},
	}
	fit := func(limit token.Count) (text string, whole int, ok bool) {
		text, _, ok = s.Fit(&FitOptions{Limit: limit, Size: func(t string) token.Count {
			if strings.Contains(t, "\n\n#") {
				whole++
			}
			return characters(t)
		}})
		return text, whole, ok
	}
	all, _, _ := s.Fit(nil)
	fits := 0
	for limit := token.Count(1); limit <= characters(all); limit++ {
		text, whole, ok := fit(limit)
		if !ok {
			continue
		}
		fits++
		if same, _, _ := fit(characters(text)); whole != 1 || same != text {
			t.Errorf("with a limit of %d, the whole is counted %d times:\n%s\nand with its size\n%s", limit, whole, text, same)
		}
	}
	if fits < 50 {
		t.Errorf("it fits %d times", fits)
	}
	s = &Summary{Files: Files{{"a.go", []Item{{Text: "One"}, {Text: "Two"}, {Text: "Three"}, {Text: "Four"}}}}, Decisions: []Decision{{None, "why", ""}, {"Use A", "it is known", ""}}}
	all, _, _ = s.Fit(nil)
	want := "## Files Modified\n- `a.go`: One; Two; Three; Four\n\n## Decisions Made\nNone\n- **Use A**: it is known\n"
	_, left, _ := s.Fit(&FitOptions{Limit: characters(all) - 1, Size: characters})
	if len(left) == 0 || left[0].Digests[0] != short("a.go: One") || all != want {
		t.Errorf("left out %v of\n%s", left, all)
	}
}

// A blank line of a text is no entry, and goes with the line below it.
func TestFitCountsNoBlankLines(t *testing.T) {
	characters := func(s string) token.Count { return token.Count(len(s)) }
	for _, tt := range []struct {
		state, want string
		left        []Elision
	}{
		{"First line.\n\nSecond.", "First line.\n… 1 more\n", []Elision{{SectionState, 1, []string{short("Second.")}}}},
		{"First line.\n \n", "First line.\n \n\n", nil},
		{" ", " \n", nil},
		{"\nFirst line.\nSecond.\n", "\nFirst line.\n… 1 more\n", []Elision{{SectionState, 1, []string{short("Second.")}}}},
	} {
		got, left, _ := (&Summary{State: tt.state}).Fit(&FitOptions{Size: characters, Limit: 1})
		if got != "## Current State\n"+tt.want {
			t.Errorf("%q becomes %q, want %q", tt.state, got, tt.want)
		}
		if diff := cmp.Diff(tt.left, left); diff != "" {
			t.Errorf("left out of %q (-want +got):\n%s", tt.state, diff)
		}
	}
}

// A larger limit never shows less, what is shown fits, and what is not is
// accounted for: also where counts do not add up.
func TestFitIsMonotone(t *testing.T) {
	sizes := map[string]func(string) token.Count{
		"characters": characters,
		"estimate":   nil,
		"words":      func(s string) token.Count { return token.Count(len(strings.Fields(s))) },
		"lines":      func(s string) token.Count { return token.Count(strings.Count(s, "\n")) },
		"square":     func(s string) token.Count { return token.Count(len(s) * len(s) / 100) },
	}
	rapid.Check(t, func(t *rapid.T) {
		s := documents().Draw(t, "summary")
		size := sizes[rapid.SampledFrom([]string{"characters", "estimate", "words", "lines", "square"}).Draw(t, "size")]
		a := token.Count(rapid.IntRange(1, 400).Draw(t, "limit"))
		b := a + token.Count(rapid.IntRange(0, 400).Draw(t, "more"))
		shown := func(limit token.Count) []string {
			text, left, ok := s.Fit(&FitOptions{Limit: limit, Size: size, ID: "x"})
			if ok && size != nil && size(text) > limit {
				t.Fatalf("%d exceeds %d:\n%s", size(text), limit, text)
			}
			var gone []string
			for _, e := range left {
				if e.Count != len(e.Digests) || !strings.Contains(text, "## "+e.Section.title()+"\n") {
					t.Fatalf("%+v", e)
				}
				gone = append(gone, e.Digests...)
			}
			return gone
		}
		less, more := shown(b), shown(a)
		for _, d := range less {
			if !slices.Contains(more, d) {
				t.Fatalf("%d leaves %s out and %d does not", b, d, a)
			}
		}
		if len(less) > len(more) {
			t.Fatalf("%d leaves out %d, %d leaves out %d", b, len(less), a, len(more))
		}
	})
}

func BenchmarkFit(b *testing.B) {
	s := long(3000)
	for name, size := range map[string]func(string) token.Count{"estimate": nil, "characters": characters} {
		b.Run(name, func(b *testing.B) {
			o := &FitOptions{Limit: 4000, Size: size, ID: "3f2a91bc"}
			for b.Loop() {
				if _, _, ok := s.Fit(o); !ok {
					b.Fatal("it does not fit")
				}
			}
		})
	}
	b.Run("o200k_base", func(b *testing.B) {
		counter, err := token.Encoding("o200k_base")
		if err != nil {
			b.Fatal(err)
		}
		counter.Count("x") // loads the tables
		o := &FitOptions{Limit: 8000, Size: counter.Count, ID: "3f2a91bc"}
		for b.Loop() {
			if _, _, ok := s.Fit(o); !ok {
				b.Fatal("it does not fit")
			}
		}
	})
}

// What is exactly as long as the limit is left as it is; with one less something goes.
func TestFitAtItsLimit(t *testing.T) {
	s := &Summary{Intent: "Build it", Errors: []Error{{Error: "Dark", Status: statusResolved, Source: "11111111"}}, Next: []Item{{Text: "First"}, {Text: "Second"}}}
	whole, _, _ := s.Fit(nil)
	for limit, want := range map[token.Count]bool{characters(whole): true, characters(whole) - 1: false} {
		text, left, ok := s.Fit(&FitOptions{Size: characters, Limit: limit})
		if !ok || (text == whole) != want || (len(left) == 0) != want || characters(text) > limit {
			t.Errorf("with a limit of %d, of %d: %q, %d entries left out, %v", limit, len(whole), text, len(left), ok)
		}
	}
}

// The newest changes of a file, three if nobody says how many, stay longer than a rationale.
func TestFitKeepsTheNewestChanges(t *testing.T) {
	const long = " to all people who ever worked on this lamp or one of its bulbs"
	s := &Summary{Intent: "Build it", Files: Files{{"a.go", []Item{{Text: "One" + long}, {Text: "Two" + long}, {Text: "Three" + long}}}}, Decisions: []Decision{{Decision: "Use A", Rationale: "it is known" + long}}}
	whole, _, _ := s.Fit(nil)
	for newest, want := range map[int]bool{-1: false, 0: false, 1: true, 2: true, 3: false} {
		if text, _, _ := s.Fit(&FitOptions{Size: characters, Limit: characters(whole) - 1, Newest: newest}); strings.Contains(text, "it is known") != want {
			t.Errorf("with %d newest changes the rationale is kept: %v\n%s", newest, !want, text)
		}
	}
}
