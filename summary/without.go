package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// Without returns a copy of s without the texts that problems name, and the number of entries that
// are gone. A decision that loses its rationale has [NotStated], and a list without entries has
// [None]. Problems of a whole section or of the whole summary change nothing.
func (s *Summary) Without(problems []Problem) (rest *Summary, gone int) {
	named := make(map[Problem]bool, len(problems)) // with Section and Entry only
	for _, p := range problems {
		named[Problem{Section: p.Section, Entry: p.Entry}] = p.Entry != ""
	}
	r := *s
	for _, sec := range Sections() {
		is := func(said string) bool { return named[Problem{Section: sec, Entry: text.Fold(said)}] }
		switch sec {
		case SectionIntent:
			r.Intent = withoutLines(r.Intent, is)
		case SectionState:
			r.State = withoutLines(r.State, is)
		case SectionFiles:
			r.Files = slices.DeleteFunc(slices.Clone(r.Files), func(f File) bool { return is(f.Path) })
			for i := range r.Files {
				r.Files[i].Changes = slices.DeleteFunc(slices.Clone(r.Files[i].Changes), func(c Item) bool { return is(c.Text) })
			}
		case sectionDecisions:
			r.Decisions = slices.DeleteFunc(slices.Clone(r.Decisions), func(d Decision) bool { return is(d.Decision) })
			for i := range r.Decisions {
				if is(r.Decisions[i].Rationale) {
					r.Decisions[i].Rationale = NotStated
				}
			}
		case sectionErrors:
			r.Errors = slices.DeleteFunc(slices.Clone(r.Errors), func(e Error) bool { return is(e.Error) })
			for i := range r.Errors {
				if is(r.Errors[i].Note) {
					r.Errors[i].Note = ""
				}
			}
		case sectionBlockers, SectionNext, SectionContext, SectionArtifacts:
			list := r.items(sec)
			*list = slices.DeleteFunc(slices.Clone(*list), func(it Item) bool { return is(it.Text) })
		}
	}
	r.fillEmpty()
	return &r, len(s.Entries()) - len(r.Entries())
}

// fillEmpty writes None into sections without content.
func (s *Summary) fillEmpty() {
	s.Intent, s.State = cmp.Or(s.Intent, None), cmp.Or(s.State, None)
	if len(s.Files) == 0 {
		s.Files = Files{{Path: None}}
	}
	if len(s.Decisions) == 0 {
		s.Decisions = []Decision{{Decision: None}}
	}
	if len(s.Errors) == 0 {
		s.Errors = []Error{{Error: None}}
	}
	for _, items := range [...]*[]Item{&s.Blockers, &s.Next, &s.Context} {
		if len(*items) == 0 {
			*items = []Item{{Text: None}}
		}
	}
}

// withoutLines returns the lines of a text for which is returns false.
func withoutLines(prose string, is func(line string) bool) string {
	var b strings.Builder
	for line := range strings.Lines(prose) {
		if !is(line) {
			b.WriteString(line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
