package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// The actions of a merge.
const (
	added    = "added"
	replaced = "replaced" // by a newer word on the same matter
	removed  = "removed"  // from a list of what is open
	updated  = "updated"  // more is known of it
)

// An Edit is the change that a merge made to one entry. The entry is of the old
// summary, or of the merged summary if it was added. The Action for an entry of the
// old summary is "replaced" in the intent and the state, "updated" in files,
// decisions and errors, and "removed" elsewhere. An Edit has no text, so that a
// journal may keep it.
type Edit struct {
	Section Section `json:"section"`
	Action  string  `json:"action"` // "added", "replaced", "removed" or "updated"
	Digest  string  `json:"digest"` // as [Statement.Digest]
}

// now begins a line below the original intent, which states what the intent is now.
const now = "Now: "

// Merge returns s merged with the newer summary next, and the edits: one for each
// entry of s that the result does not have in the same words, and one for each
// new entry. Entries are the same if they differ only in case, white space and
// punctuation at the end.
//
//   - The intent of s stays. An intent of next that s does not contain becomes an
//     additional line, "Now: …", which replaces an earlier such line. If the intent of next
//     is the first task of s with later tasks behind it, it replaces that of s; drafts of
//     package extractive are so if they know the intent of s.
//   - Files are united by path, and the changes of a file by text. Decisions,
//     errors, context and artifacts are united too. Duplicates are removed, and
//     the order stays.
//   - The first rationale of a decision stays, except that a stated rationale
//     replaces one that is not stated, and a longer one replaces one that it
//     contains.
//   - The newer status of an error counts. Its notes are joined; the note "did not come
//     again", which a draft gives to an old open error, is removed if next has the error.
//   - State, blockers and steps are those of next if next has them. None counts
//     as a value for blockers and steps, and as missing everywhere else.
//   - Count grows by one. Tokens, ratio and score are those of next. The other
//     metadata are those of next if they are set there.
//
// No change of a file, decision or error of either summary is lost. Merging a
// summary with itself changes none of its sections if it has no duplicates. The
// merge is associative, except for the notes of errors and for rationales that
// differ. A nil s or next counts as an empty summary.
func (s *Summary) Merge(next *Summary) (*Summary, []Edit) {
	if s == nil {
		s = &Summary{}
	}
	if next == nil {
		next = &Summary{}
	}
	m := &Summary{
		Intent:    mergeIntent(s.Intent, next.Intent),
		Files:     mergeFiles(s.Files, next.Files),
		Decisions: mergeDecisions(s.Decisions, next.Decisions),
		State:     s.State,
		Blockers:  newest(s.Blockers, next.Blockers),
		Next:      newest(s.Next, next.Next),
		Context:   mergeItems(s.Context, next.Context),
		Errors:    mergeErrors(s.Errors, next.Errors),
		Artifacts: mergeItems(s.Artifacts, next.Artifacts),
		Meta:      mergeMeta(s.Meta, next.Meta),
	}
	if strings.TrimSpace(next.State) != "" && !isNone(next.State) {
		m.State = next.State
	}
	return m, edits(s, m)
}

func mergeMeta(old, next Meta) Meta {
	out := next
	out.Count = old.Count + 1
	out.At = cmp.Or(next.At, old.At)
	out.Messages = cmp.Or(next.Messages, old.Messages)
	out.Depth = cmp.Or(next.Depth, old.Depth)
	out.Input = cmp.Or(next.Input, old.Input)
	if next.Strategy == "" && next.Model == "" {
		out.Strategy, out.Model = old.Strategy, old.Model
	}
	return out
}

// mergeIntent keeps the old intent and adds the new intent if the old one does not
// contain it.
func mergeIntent(old, next string) string {
	if strings.TrimSpace(next) == "" || isNone(next) {
		return old
	}
	if strings.TrimSpace(old) == "" || isNone(old) {
		return next
	}
	if continues(old, next) && !contains(old, next) {
		return next
	}
	base, _ := cutNow(old)
	nextBase, nextNow := cutNow(next)
	for _, said := range []string{nextNow, text.Fold(nextBase)} {
		if said != "" && !contains(old, said) {
			return base + "\n" + now + said
		}
	}
	return old
}

// continues reports whether next is an intent of a draft that goes on from old: one line that begins
// with the first task of old, before later tasks, each behind "Now: ".
func continues(old, next string) bool {
	was, _, _ := strings.Cut(text.Fold(old), " "+now)
	first, _, _ := strings.Cut(next, " "+now)
	return norm(first) == norm(was)
}

// cutNow splits an intent into its first part and the text of its "Now: " line.
func cutNow(intent string) (base, became string) {
	i := strings.LastIndex(intent, "\n"+now)
	if i < 0 {
		return intent, ""
	}
	return intent[:i], intent[i+1+len(now):]
}

// contains reports whether text contains part, without regard to case, white space
// and punctuation at the end.
func contains(text, part string) bool { return strings.Contains(norm(text), norm(part)) }

// isNoneItem reports whether the text of an item is [None] or an equivalent.
func isNoneItem(it Item) bool { return isNone(it.Text) }

// newest returns next if it has an entry, and old otherwise.
func newest(old, next []Item) []Item {
	if len(next) == 0 {
		next = old
	}
	if next == nil {
		return nil
	}
	return mergeItems(next, nil)
}

// mergeItems returns the union of both lists without duplicates. An item without a
// source gets the source of its duplicate. Items that say None stay only if there are no others.
func mergeItems(old, next []Item) []Item {
	return union(old, next, isNoneItem,
		func(it Item) string { return norm(it.Text) },
		func(a, b Item) Item { return Item{a.Text, cmp.Or(a.Source, b.Source)} })
}

// union returns the union of both lists. Entries with equal keys are joined at the
// place of the first. Entries that say None stay only if there are no others.
func union[T any](old, next []T, none func(T) bool, key func(T) string, join func(a, b T) T) []T {
	if old == nil && next == nil {
		return nil
	}
	out := make([]T, 0, len(old)+len(next))
	at := make(map[string]int, cap(out))
	var nothing []T
	for _, list := range [][]T{old, next} {
		for _, e := range list {
			if none(e) {
				nothing = append(nothing, e)
				continue
			}
			k := key(e)
			if i, twice := at[k]; twice {
				out[i] = join(out[i], e)
				continue
			}
			at[k] = len(out)
			out = append(out, e)
		}
	}
	if len(out) == 0 && len(nothing) > 0 {
		return nothing[:1]
	}
	return out
}

// mergeFiles unites files by path and their changes by text.
func mergeFiles(old, next []File) Files {
	fs := union(old, next,
		func(f File) bool { return isNone(f.Path) && len(f.Changes) == 0 },
		func(f File) string { return strings.TrimPrefix(f.Path, "./") },
		func(a, b File) File { return File{a.Path, slices.Concat(a.Changes, b.Changes)} })
	for i := range fs {
		fs[i].Changes = mergeItems(fs[i].Changes, nil)
	}
	return fs
}

func mergeDecisions(old, next []Decision) []Decision {
	return union(old, next,
		func(d Decision) bool { return isNone(d.Decision) },
		func(d Decision) string { return norm(d.Decision) },
		func(a, b Decision) Decision {
			a.Source = cmp.Or(a.Source, b.Source)
			switch {
			case stated(b.Rationale) && (!stated(a.Rationale) || contains(b.Rationale, a.Rationale) && norm(b.Rationale) != norm(a.Rationale)):
				a.Rationale = b.Rationale
			case a.Rationale == "":
				a.Rationale = b.Rationale
			}
			return a
		})
}

// notAgain is the note of a draft for an open error that is old. Any newer word on the error
// replaces it.
const notAgain = "did not come again"

func mergeErrors(old, next []Error) []Error {
	return union(old, next,
		func(e Error) bool { return isNone(e.Error) },
		func(e Error) string { return norm(e.Error) },
		func(a, b Error) Error {
			a.Source = cmp.Or(a.Source, b.Source)
			a.Status = cmp.Or(b.Status, a.Status)
			switch {
			case a.Note == notAgain || contains(b.Note, a.Note):
				if norm(a.Note) != norm(b.Note) {
					a.Note = b.Note
				}
			case !contains(a.Note, b.Note):
				a.Note += "; " + b.Note
			}
			return a
		})
}

// edits returns an edit for each changed entry of old and for each new entry of merged.
func edits(old, merged *Summary) []Edit {
	var list []Edit
	for _, sec := range Sections() {
		list = appendEdits(list, old, merged, sec)
	}
	return list
}

func appendEdits(list []Edit, old, merged *Summary, sec Section) []Edit {
	before, after := old.appendEntries(nil, sec), merged.appendEntries(nil, sec)
	had, has := make(map[string]bool, len(before)), make(map[string]bool, len(after))
	for _, e := range before {
		had[norm(e.Text)] = true
	}
	for _, e := range after {
		has[norm(e.Text)] = true
	}
	gone := removed
	switch sec {
	case SectionIntent, SectionState:
		gone = replaced
	case SectionFiles, sectionDecisions, sectionErrors:
		gone = updated
	case sectionBlockers, SectionNext, SectionContext, SectionArtifacts:
	}
	for _, e := range before {
		if !has[norm(e.Text)] {
			list = append(list, Edit{sec, gone, e.Digest()})
		}
	}
	for _, e := range after {
		if !had[norm(e.Text)] {
			list = append(list, Edit{sec, added, e.Digest()})
		}
	}
	return list
}
