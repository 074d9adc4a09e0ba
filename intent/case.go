package intent

import (
	"fmt"
	"slices"
	"strings"
)

// A Case is a prompt with the intent that a person expects for it.
type Case struct {
	Prompt    string
	Verb      Verb              // empty: the prompt passes through
	Slots     map[Slot][]string // the values by slot; a slot without values only has to be filled
	Gaps      []Slot
	Flags     []string // names of amber and human flags
	Secondary []Verb   // verbs of the further requests
	Notes     string
}

// A Report counts how many of some cases were compiled as expected.
type Report struct {
	Cases     int
	Verbs     int     // cases with the right verb, or that rightly pass through
	Slots     Hits    // over all cases
	Values    int     // filled slots for which the case has values
	Exact     int     // of Values, those with exactly the expected values
	Overlap   float64 // sum of the overlaps of Values; see [Report.OverlapShare]
	Gaps      Hits
	Flags     Hits
	Secondary Hits
	Misses    []Miss
}

// Hits counts expected elements, found elements, and elements that are both.
type Hits struct {
	Right int // found and expected
	Found int
	Want  int
}

// Precision is the share of the found elements that were expected; 1 if none was found.
func (f Hits) Precision() float64 { return share(f.Right, f.Found) }

// Recall is the share of the expected elements that were found; 1 if none was expected.
func (f Hits) Recall() float64 { return share(f.Right, f.Want) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// VerbShare is the share of the cases whose verb is right.
func (r *Report) VerbShare() float64 { return share(r.Verbs, r.Cases) }

// ExactShare is the share of the values found that are exactly as expected.
func (r *Report) ExactShare() float64 { return share(r.Exact, r.Values) }

// OverlapShare is the average overlap of found and expected values: twice their common words,
// divided by the words of both.
func (r *Report) OverlapShare() float64 {
	if r.Values == 0 {
		return 1
	}
	return r.Overlap / float64(r.Values)
}

// A Miss is one field in which the compiled intent differs from the case.
type Miss struct {
	Case  int // index of the case, from 0
	Field string
	Want  string
	Got   string
}

// Score compiles the prompts of the cases and compares the intents with the labels.
func Score(cases []Case) *Report {
	return score(cases, func(prompt string) *Intent { return Compile(prompt, nil) })
}

func score(cases []Case, compile func(prompt string) *Intent) *Report {
	r := &Report{Cases: len(cases)}
	for i := range cases {
		s := scorer{r, i}
		s.compare(&cases[i], compile(cases[i].Prompt))
	}
	return r
}

// String returns the figures in a few lines, without the misses.
func (r *Report) String() string {
	found := func(name string, f Hits) string {
		return fmt.Sprintf("%s precision %.1f recall %.1f (%d of %d found, %d wanted)\n", name, 100*f.Precision(), 100*f.Recall(), f.Right, f.Found, f.Want)
	}
	return fmt.Sprintf("verb %.1f (%d of %d)\n", 100*r.VerbShare(), r.Verbs, r.Cases) +
		found("slots", r.Slots) +
		fmt.Sprintf("values exact %.1f overlap %.1f (%d)\n", 100*r.ExactShare(), 100*r.OverlapShare(), r.Values) +
		found("gaps", r.Gaps) + found("flags", r.Flags) + found("secondary", r.Secondary)
}

// A scorer adds one case to a report.
type scorer struct {
	*Report
	index int
}

func (s scorer) miss(field, want, got string) {
	s.Misses = append(s.Misses, Miss{s.index, field, want, got})
}

func (s scorer) compare(want *Case, got *Intent) {
	if want.Verb == got.Verb {
		s.Verbs++
	} else {
		s.miss("verb", string(want.Verb), string(got.Verb))
	}
	s.sets(&s.Slots, "slots", slotNames(want.Slots), slotNames(got.Slots))
	s.sets(&s.Gaps, "gaps", texts(want.Gaps), texts(got.Gaps))
	s.sets(&s.Flags, "flags", want.Flags, flagNames(slices.Concat(got.Amber, got.Human)))
	s.sets(&s.Secondary, "secondary", texts(want.Secondary), secondaryVerbs(got))
	for _, slot := range want.Verb.Slots() {
		if values, found := want.Slots[slot], got.Slots[slot]; len(values) > 0 && len(found) > 0 {
			s.values(string(slot), values, found)
		}
	}
}

// sets compares two lists without regard to their order.
func (s scorer) sets(f *Hits, field string, want, got []string) {
	f.Want += len(want)
	f.Found += len(got)
	left := slices.Clone(want)
	for _, g := range got {
		if i := slices.Index(left, g); i >= 0 {
			left = slices.Delete(left, i, i+1)
			f.Right++
		}
	}
	if len(left) > 0 || len(got) != len(want) {
		s.miss(field, strings.Join(want, " "), strings.Join(got, " "))
	}
}

// values compares the values of a slot.
func (s scorer) values(slot string, want []string, got []Phrase) {
	s.Values++
	w, g := strings.Join(want, " | "), strings.Join(valueTexts(got), " | ")
	if w == g {
		s.Exact++
	} else {
		s.miss(slot, w, g)
	}
	s.Overlap += common(w, g)
}

// common returns twice the number of words that a and b share, divided by the number of words of
// both.
func common(a, b string) float64 {
	wa, wb := plainWords(a), plainWords(b)
	if len(wa)+len(wb) == 0 {
		return 1
	}
	count := make(map[string]int)
	for _, w := range wa {
		count[w]++
	}
	both := 0
	for _, w := range wb {
		if count[w] > 0 {
			count[w]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(wa)+len(wb))
}

func plainWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !wordRune(r) })
}

func slotNames[V any](slots map[Slot]V) []string {
	names := make([]string, 0, len(slots))
	for s := range slots { // in any order: sorted below
		names = append(names, string(s))
	}
	slices.Sort(names)
	return names
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
