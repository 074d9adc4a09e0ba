package handoff

import (
	"cmp"
	"slices"
	"strings"
)

// sources fills the section of sources. Each source appears once, with the
// strongest state that its text supports.
func (b *builder) sources() {
	at := make(map[string]int)
	for _, s := range b.in.Sources {
		k := key(s.Source)
		if k == "" {
			continue
		}
		s = Source{clean(s.Source), or(s.Type, "unknown"), s.State, clean(s.What)}
		supported(&s)
		if s.State == Unavailable {
			b.gone = append(b.gone, s.Source)
		}
		if i, ok := at[k]; ok {
			merge(&b.p.Sources[i], s)
			continue
		}
		at[k] = len(b.p.Sources)
		b.p.Sources = append(b.p.Sources, s)
	}
	for i := range b.p.Sources {
		if s := &b.p.Sources[i]; s.State == Verified && b.inferred.has(s.What) {
			s.State, s.What = Scanned, unknown+"what it was read for is only inferred."
		}
	}
	slices.SortFunc(b.p.Sources, func(x, y Source) int {
		return cmp.Or(strength(x.State)-strength(y.State), strings.Compare(key(x.Source), key(y.Source)))
	})
}

// supported weakens the state of s to one that its text s.What supports. If
// s.What is empty, supported fills in a standard sentence for the state.
func supported(s *Source) {
	switch {
	case !slices.Contains(states, string(s.State)):
		s.State = Referenced
	case s.State == Verified && (s.What == "" || isUnknown(s.What)):
		s.State = Scanned
	case strength(s.State) <= strength(Scanned) && unread.Get().MatchString(s.What) && !isUnknown(s.What):
		s.State = Referenced
	}
	if s.What != "" {
		return
	}
	switch s.State {
	case Verified, Scanned:
		s.What = unknown + "what was verified from it is not on record."
	case Referenced:
		s.What = "Nothing: it was only linked or mentioned."
	case Unavailable:
		s.What = "Nothing: it could not be reached."
	}
}

// merge merges s into *to; both are records of the same source. The stronger
// state wins; texts of equal state are joined.
func merge(to *Source, s Source) {
	switch {
	case strength(s.State) < strength(to.State):
		to.State, to.Type, to.What = s.State, s.Type, s.What
	case s.State != to.State || key(s.What) == key(to.What):
	case s.State == Verified || s.State == Scanned && !isUnknown(s.What):
		if isUnknown(to.What) {
			to.What = s.What
		} else {
			to.What = clean(to.What + "; " + s.What)
		}
	}
}

// unreached is the beginning of the boundary for a thing that was unavailable.
const unreached = "Do not count on reaching: "

// boundaries fills the section of claims that must not be made: the boundaries
// of the input, then those that follow from the other sections.
func (b *builder) boundaries() {
	seen := map[string]bool{"": true}
	bound := func(text, reason string) {
		if !seen[plain(text)] {
			seen[plain(text)] = true
			b.p.Boundaries = append(b.p.Boundaries, Boundary{clean(text), reason})
		}
	}
	for _, x := range b.in.Boundaries {
		bound(x.Boundary, or(x.Reason, unknown+"the reason is not on record."))
	}
	if len(b.p.Inferred) > 0 {
		bound("Do not state as verified what section 5 has.", "It is inferred.")
	}
	has := func(state Scrutiny) bool {
		return slices.ContainsFunc(b.p.Sources, func(s Source) bool { return s.State == state })
	}
	if has(Scanned) {
		bound("Do not claim to have verified what section 4 has as scanned.", "It was looked through, and not checked.")
	}
	if has(Referenced) {
		bound("Do not claim to have read what section 4 has as referenced.", "It was only linked or mentioned.")
	}
	for _, s := range append(b.gone, once(b.in.Unavailable)...) {
		bound(unreached+s, "It was unavailable in this session.")
	}
	if len(b.p.Questions) > 0 {
		bound("Do not treat as settled what section 7 asks.", "It is open.")
	}
	if slots := b.p.Intent.Slots; len(slots) > 0 {
		bound("Do not guess what the user left out: "+strings.Join(slots, ", "), "It was not said.")
	}
	if ids := once(texts(b.in.Out, func(o Out) string { return o.ID })); len(ids) > 0 {
		bound("Do not claim what these blocks say without recalling them: "+strings.Join(ids, ", "),
			"They are out of the window.")
	}
	if b.hasUnknown() {
		bound("Do not fill in what is marked as unknown.", "No record says it.")
	}
	if len(b.p.Boundaries) == 0 && doubt.Get().MatchString(b.p.Notes) {
		bound("Do not state as certain what the notes doubt.", "The notes say so.")
	}
}

func (b *builder) hasUnknown() bool {
	for at := range b.p.places() {
		if at.field.words == nil && isUnknown(*at.text) {
			return true
		}
	}
	return false
}
