package summary

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	old := &Summary{
		Intent: "Build a shop",
		Files:  Files{{"a.go", []Item{{Text: "Added X"}}}, {"b.go", []Item{{Text: "Fixed Y"}}}},
		Decisions: []Decision{
			{Decision: "Use A", Rationale: NotStated},
			{Decision: "Keep B", Rationale: "it is small", Source: "11111111"},
		},
		State:     "X is there",
		Blockers:  []Item{{Text: "Wait for the key"}},
		Next:      []Item{{Text: "Write Z"}},
		Context:   []Item{{Text: None}},
		Errors:    []Error{{Error: "Boom", Status: statusOpen, Note: "seen once"}},
		Artifacts: nil,
		Meta:      Meta{Count: 2, At: "then", Messages: 10, Strategy: "anchored", Model: "m", ProbeScore: 5},
	}
	next := &Summary{
		Intent: "Make it faster",
		Files:  Files{{"./a.go", []Item{{Text: "added x.", Source: "22222222"}, {Text: "Removed W"}}}, {Path: "c.go"}},
		Decisions: []Decision{
			{Decision: "use a", Rationale: "it is known"},
			{Decision: "Keep B", Rationale: "it is red"},
			{Decision: "Drop C", Rationale: NotStated},
		},
		State:    "None",
		Blockers: []Item{{Text: None}},
		Context:  []Item{{Text: "Go 1.26"}},
		Errors:   []Error{{Error: "boom", Status: statusResolved, Note: "a guard"}},
		Meta:     Meta{Messages: 20, Strategy: "extractive"},
	}
	want := &Summary{
		Intent: "Build a shop\nNow: Make it faster",
		Files: Files{
			{"a.go", []Item{{"Added X", "22222222"}, {Text: "Removed W"}}},
			{"b.go", []Item{{Text: "Fixed Y"}}},
			{"c.go", nil},
		},
		Decisions: []Decision{
			{Decision: "Use A", Rationale: "it is known"},
			{Decision: "Keep B", Rationale: "it is small", Source: "11111111"},
			{Decision: "Drop C", Rationale: NotStated},
		},
		State:    "X is there",
		Blockers: []Item{{Text: None}},
		Next:     []Item{{Text: "Write Z"}},
		Context:  []Item{{Text: "Go 1.26"}},
		Errors:   []Error{{Error: "Boom", Status: statusResolved, Note: "seen once; a guard"}},
		Meta:     Meta{Count: 3, At: "then", Messages: 20, Strategy: "extractive"},
	}
	got, edits := old.Merge(next)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantEdits := []Edit{
		{SectionIntent, added, short("Now: Make it faster")},
		{SectionFiles, added, short("a.go: Removed W")},
		{SectionFiles, added, short("c.go")},
		{sectionDecisions, updated, short("Use A: not stated")},
		{sectionDecisions, added, short("Use A: it is known")},
		{sectionDecisions, added, short("Drop C: not stated")},
		{sectionBlockers, removed, short("Wait for the key")},
		{SectionContext, added, short("Go 1.26")},
		{sectionErrors, updated, short("Boom: open – seen once")},
		{sectionErrors, added, short("Boom: resolved – seen once; a guard")},
	}
	if diff := cmp.Diff(wantEdits, edits); diff != "" {
		t.Errorf("edits (-want +got):\n%s", diff)
	}
}

// The intent is the first task; a later one is noted below it, the latest of
// them.
// The fuller rationale of a decision stays, and the one that was there first where they
// differ.
func TestMergeRationales(t *testing.T) {
	for _, tt := range []struct{ old, next, want string }{
		{"fast", "Fast.", "fast"},
		{"fast", "fast and known", "fast and known"},
		{"fast and known", "fast", "fast and known"},
		{"fast", "small", "fast"},
		{"", "small", "small"},
		{NotStated, "small", "small"},
		{"fast", NotStated, "fast"},
		{"", NotStated, NotStated},
	} {
		got := mergeDecisions([]Decision{{Decision: "D", Rationale: tt.old}}, []Decision{{Decision: "d.", Rationale: tt.next}})
		if len(got) != 1 || got[0].Rationale != tt.want {
			t.Errorf("%q and then %q: got %+v, want %q", tt.old, tt.next, got, tt.want)
		}
	}
}

// The notes of an error are joined, but a newer word on an error ends the note that it did not
// come again.
func TestMergeNotes(t *testing.T) {
	for _, tt := range []struct{ old, next, want string }{
		{"seen once", "a guard", "seen once; a guard"},
		{"did not come again", "", ""},
		{"did not come again", "a guard", "a guard"},
		{"did not come again", "Did not come again", "did not come again"},
	} {
		got := mergeErrors([]Error{{Error: "E", Note: tt.old}}, []Error{{Error: "E", Note: tt.next}})
		if len(got) != 1 || got[0].Note != tt.want {
			t.Errorf("%q and then %q: got %+v, want %q", tt.old, tt.next, got, tt.want)
		}
	}
}

func TestMergeIntent(t *testing.T) {
	for _, tt := range []struct{ name, old, next, want string }{
		{"an empty one changes nothing", "Build it", "  ", "Build it"},
		{"None changes nothing", "Build it", "None", "Build it"},
		{"what is there already changes nothing", "Build it, with tests", "build it.", "Build it, with tests"},
		{"another is added", "Build it", "Ship\nit", "Build it\nNow: Ship it"},
		{"a third takes the place of the second", "Build it\nNow: Ship it", "Sell it", "Build it\nNow: Sell it"},
		{"of a merged one, the latest is added", "Build it", "Ship it\nNow: Sell it", "Build it\nNow: Sell it"},
		{"a draft that goes on takes its place", "Build it Now: Ship it", "Build it Now: Ship it Now: Sell it", "Build it Now: Ship it Now: Sell it"},
		{"a draft goes on from a merged one", "Build it\nNow: Ship it", "Build it Now: Ship it Now: Sell it", "Build it Now: Ship it Now: Sell it"},
		{"one that became another from nothing", "\nNow: Ship it", "Sell it", "\nNow: Sell it"},
		{"a draft with nothing new", "Build it\nNow: Ship it", "Build it Now: Ship it", "Build it\nNow: Ship it"},
		{"the first is kept though empty before", "", "Build it", "Build it"},
		{"the first is kept though None before", "None", "Build it", "Build it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mergeIntent(tt.old, tt.next); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The merge as it was published, worked out by hand.
func TestCompat(t *testing.T) {
	old := &Summary{
		Intent:    "Build",
		Files:     Files{{"a", []Item{{Text: "1"}}}, {"b", []Item{{Text: "2"}}}},
		Decisions: []Decision{{Decision: "D", Rationale: "r"}},
		State:     "s", Blockers: []Item{{Text: "x"}}, Next: []Item{{Text: "y"}},
		Errors: []Error{{Error: "e", Status: statusOpen}}, Context: []Item{{Text: "c"}},
		Meta: Meta{Count: 4, At: "then", TokensBefore: 10, TokensAfter: 5},
	}
	for _, tt := range []struct {
		name       string
		next, want *Summary
	}{
		{"nothing new empties what is replaced", &Summary{}, &Summary{
			Intent: "Build", Files: Files{{"a", []Item{{Text: "1"}}}, {"b", []Item{{Text: "2"}}}},
			Decisions: []Decision{{Decision: "D", Rationale: "r"}}, Meta: Meta{Count: 5},
		}},
		{"changes of a path are lost and decisions repeated", &Summary{
			Intent: "Ship", Files: Files{{"a", []Item{{Text: "3"}}}, {"c", nil}},
			Decisions: []Decision{{Decision: "D", Rationale: "r"}}, State: "t", Next: []Item{{Text: "z"}},
			Meta: Meta{Count: 1, At: "now"},
		}, &Summary{
			Intent: "Ship", Files: Files{{"a", []Item{{Text: "3"}}}, {"b", []Item{{Text: "2"}}}, {"c", nil}},
			Decisions: []Decision{{Decision: "D", Rationale: "r"}, {Decision: "D", Rationale: "r"}},
			State:     "t", Next: []Item{{Text: "z"}}, Meta: Meta{Count: 5},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Compat(old, tt.next)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The published form has no sources, nothing for errors, and no entry that says None.
func TestPublished(t *testing.T) {
	got := Published(&Summary{
		Intent: "Build", State: None,
		Files:     Files{{Path: None}, {"a.go", []Item{{"1", "3f2a91bc"}, {Text: None}}}},
		Decisions: []Decision{{Decision: None}, {Decision: "D", Rationale: "r", Source: "3f2a91bc"}},
		Next:      []Item{{"y", "3f2a91bc"}}, Errors: []Error{{Error: "e"}}, Meta: Meta{Count: 4, At: "then"},
	})
	want := &Summary{
		Intent: "Build", Files: Files{{"a.go", []Item{{Text: "1"}}}}, Decisions: []Decision{{Decision: "D", Rationale: "r"}},
		Blockers: []Item{}, Next: []Item{{Text: "y"}}, Meta: Meta{Count: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// small generates summaries over few words, so that entries meet.
func small() *rapid.Generator[*Summary] {
	word := rapid.SampledFrom([]string{"a", "A.", "b", "c", "c d", "None"})
	list := rapid.Custom(func(t *rapid.T) []Item {
		var l []Item
		for _, w := range rapid.SliceOfN(word, 0, 3).Draw(t, "items") {
			l = append(l, Item{w, rapid.SampledFrom([]string{"", "11111111", "22222222"}).Draw(t, "source")})
		}
		return l
	})
	return rapid.Custom(func(t *rapid.T) *Summary {
		s := &Summary{
			Intent: rapid.SampledFrom([]string{"", "a", "b", "c", "a b", "None"}).Draw(t, "intent"), State: word.Draw(t, "state"),
			Blockers: list.Draw(t, "blockers"), Next: list.Draw(t, "next"), Context: list.Draw(t, "context"), Artifacts: list.Draw(t, "artifacts"),
		}
		for _, p := range rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "./x", "None"}), 0, 3).Draw(t, "paths") {
			s.Files = append(s.Files, File{p, list.Draw(t, "changes")})
		}
		for _, w := range rapid.SliceOfN(word, 0, 3).Draw(t, "decisions") {
			s.Decisions = append(s.Decisions, Decision{Decision: w, Rationale: rapid.SampledFrom([]string{"", NotStated, "r", "r s", "t"}).Draw(t, "why")})
		}
		for _, w := range rapid.SliceOfN(word, 0, 3).Draw(t, "errors") {
			s.Errors = append(s.Errors, Error{
				Error: w, Status: rapid.SampledFrom([]string{"", statusOpen, statusResolved}).Draw(t, "status"),
				Note: rapid.SampledFrom([]string{"", "n", "n o", "p"}).Draw(t, "note"),
			})
		}
		return s
	})
}

func copyOf(s *Summary) *Summary {
	c := *s
	c.Files = unite(s.Files)
	c.Decisions, c.Errors = slices.Clone(s.Decisions), slices.Clone(s.Errors)
	c.Blockers, c.Next, c.Context, c.Artifacts = slices.Clone(s.Blockers), slices.Clone(s.Next), slices.Clone(s.Context), slices.Clone(s.Artifacts)
	return &c
}

func TestMergeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := small().Draw(t, "a"), small().Draw(t, "b")
		a.Files, b.Files = unite(a.Files), unite(b.Files)
		a0, b0 := copyOf(a), copyOf(b)
		m, edits := a.Merge(b)
		if diff := cmp.Diff([]*Summary{a0, b0}, []*Summary{a, b}); diff != "" {
			t.Fatalf("the arguments changed (-before +after):\n%s", diff)
		}
		for _, s := range []*Summary{a, b} {
			for _, f := range s.Files {
				for _, c := range f.Changes {
					if !isNone(c.Text) && !m.hasChange(f.Path, c.Text) {
						t.Fatalf("change %q of %s is lost", c.Text, f.Path)
					}
				}
			}
			for _, d := range s.Decisions {
				if !isNone(d.Decision) && !slices.ContainsFunc(m.Decisions, func(o Decision) bool { return norm(o.Decision) == norm(d.Decision) }) {
					t.Fatalf("decision %q is lost", d.Decision)
				}
			}
			for _, e := range s.Errors {
				if !isNone(e.Error) && !slices.ContainsFunc(m.Errors, func(o Error) bool {
					return norm(o.Error) == norm(e.Error) && strings.Contains(o.Note, e.Note)
				}) {
					t.Fatalf("error %q or its note %q is lost", e.Error, e.Note)
				}
			}
		}
		// Every entry of a is in m, or an edit says that it is not.
		for _, e := range a.Entries() {
			there := slices.ContainsFunc(m.Entries(), func(o Statement) bool { return o.Section == e.Section && norm(o.Text) == norm(e.Text) })
			if e.Section == SectionFiles {
				there = there || m.hasEntry(strings.TrimPrefix(e.Text, "./")) || m.hasEntry("./"+e.Text)
			}
			told := slices.ContainsFunc(edits, func(d Edit) bool { return d.Section == e.Section && d.Action != added && d.Digest == e.Digest() })
			if !there && !told {
				t.Fatalf("nothing says what became of %q", e.Text)
			}
		}
	})
}

func (s *Summary) hasEntry(text string) bool {
	return slices.ContainsFunc(s.Entries(), func(o Statement) bool { return norm(o.Text) == norm(text) })
}

func (s *Summary) hasChange(path, text string) bool {
	return slices.ContainsFunc(s.Files, func(f File) bool {
		return strings.TrimPrefix(f.Path, "./") == strings.TrimPrefix(path, "./") &&
			slices.ContainsFunc(f.Changes, func(c Item) bool { return norm(c.Text) == norm(text) })
	})
}

func TestMergeIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _ := small().Draw(t, "a").Merge(small().Draw(t, "b")) // has every entry once
		m, edits := a.Merge(a)
		m.Meta = a.Meta
		if diff := cmp.Diff(a, m); diff != "" || len(edits) > 0 {
			t.Fatalf("(-once +twice):\n%s\nedits: %v", diff, edits)
		}
	})
}

func TestMergeIsAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := []*Summary{small().Draw(t, "a"), small().Draw(t, "b"), small().Draw(t, "c")}
		for _, s := range list {
			for i := range s.Decisions {
				s.Decisions[i].Rationale = NotStated
			}
			for i := range s.Errors {
				s.Errors[i].Note = ""
			}
		}
		ab, _ := list[0].Merge(list[1])
		bc, _ := list[1].Merge(list[2])
		left, _ := ab.Merge(list[2])
		right, _ := list[0].Merge(bc)
		left.Count, right.Count = 0, 0
		if diff := cmp.Diff(left, right); diff != "" {
			t.Fatalf("(-(ab)c +a(bc)):\n%s", diff)
		}
	})
}

// long returns a summary of about n entries.
func long(n int) *Summary {
	s := &Summary{Intent: "Build a shop\nNow: Make it faster", State: "Half of it works\nThe rest is to come"}
	for i := range n / 10 {
		f := File{Path: fmt.Sprintf("pkg/part%d/file%d.go", i%7, i)}
		for j := range 4 {
			f.Changes = append(f.Changes, Item{fmt.Sprintf("Changed function number %d of part %d", j, i), "3f2a91bc"})
		}
		s.Files = append(s.Files, f)
		s.Decisions = append(s.Decisions, Decision{fmt.Sprintf("Use way %d for thing %d", i, i+1), fmt.Sprintf("it is %d times faster", i), ""})
		s.Errors = append(s.Errors, Error{fmt.Sprintf("error number %d", i), []string{statusOpen, statusResolved}[i%2], "a guard", ""})
		s.Context = append(s.Context, Item{Text: fmt.Sprintf("Service %d listens on %d", i, 8000+i)})
		s.Blockers = append(s.Blockers, Item{Text: fmt.Sprintf("Question %d is open", i)})
		s.Next = append(s.Next, Item{Text: fmt.Sprintf("Do step %d", i)})
	}
	return s
}

func BenchmarkMerge(b *testing.B) {
	old, next := long(3000), long(300)
	for b.Loop() {
		old.Merge(next)
	}
}

// What says nothing stays once, and only where nothing else is said.
func TestMergeOfNothing(t *testing.T) {
	if got, edits := (*Summary)(nil).Merge(nil); got.Count != 1 || !got.blank() || edits != nil {
		t.Errorf("nothing and nothing are %+v, %v", got, edits)
	}
	none, some := []Item{{Text: None}}, []Item{{Text: "a"}}
	m := Meta{Count: 2, At: "then", Messages: 10, TokensBefore: 7, TokensAfter: 5, Ratio: 3, ProbeScore: 5, Strategy: "anchored", Model: "m", Depth: 4, Input: "00ff"}
	for _, tt := range []struct{ next, want Meta }{
		{Meta{}, Meta{Count: 3, At: "then", Messages: 10, Strategy: "anchored", Model: "m", Depth: 4, Input: "00ff"}},
		{Meta{Model: "n", Depth: 1}, Meta{Count: 3, At: "then", Messages: 10, Model: "n", Depth: 1, Input: "00ff"}},
	} {
		got, _ := (&Summary{State: "Done", Meta: m}).Merge(&Summary{State: " ", Meta: tt.next})
		if diff := cmp.Diff(&Summary{State: "Done", Meta: tt.want}, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.next, diff)
		}
	}
	for _, tt := range []struct{ old, next, want []Item }{
		{none, none, none}, {none, some, some}, {some, none, some}, {nil, none, none}, {nil, nil, nil}, {[]Item{}, nil, []Item{}},
	} {
		if diff := cmp.Diff(tt.want, mergeItems(tt.old, tt.next)); diff != "" {
			t.Errorf("%v and %v (-want +got):\n%s", tt.old, tt.next, diff)
		}
	}
}
