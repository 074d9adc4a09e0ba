package summary

import (
	"cmp"
	"slices"
)

// Compat merges two summaries as version 1.0.0 of the published skill does:
//
//   - the intent of next, or of old if next has none;
//   - the files of both, but where both have a path, only the changes of next;
//   - the decisions of both, repetitions included;
//   - state, blockers and steps of next, even if they are empty;
//   - the count of old and one more.
//
// The time, the tokens and the rest of the metadata are lost, and so are
// context, errors and artifacts, which that version does not know. Compat is for
// comparisons only; use [Summary.Merge].
func Compat(old, next *Summary) *Summary {
	m := &Summary{
		Intent:    next.Intent,
		Files:     slices.Clone(unite(old.Files)),
		Decisions: slices.Concat(old.Decisions, next.Decisions),
		State:     next.State,
		Blockers:  slices.Clone(next.Blockers),
		Next:      slices.Clone(next.Next),
		Meta:      Meta{Count: old.Count + 1},
	}
	m.Intent = cmp.Or(m.Intent, old.Intent)
	for _, f := range unite(next.Files) {
		if i := slices.IndexFunc(m.Files, func(o File) bool { return o.Path == f.Path }); i >= 0 {
			m.Files[i] = f
			continue
		}
		m.Files = append(m.Files, f)
	}
	return m
}

// Published returns the summary in the form that the skill published in its version
// 1.0.0 and has kept. Its JSON has seven fields: session_intent, files_modified,
// decisions_made, current_state, blockers, next_steps and compression_count. Changes,
// blockers and steps are texts, and a decision has its rationale and nothing else.
// Sources are lost, and so are the rest of the metadata, context, errors and
// artifacts, because that form has no fields for them. Entries that say None are left
// out, because the published program would read None as an entry.
func Published(s *Summary) *Summary {
	p := &Summary{
		Intent: unlessNone(s.Intent), Files: Files{}, Decisions: []Decision{}, State: unlessNone(s.State),
		Blockers: published(s.Blockers), Next: published(s.Next), Meta: Meta{Count: s.Count},
	}
	for _, f := range unite(s.Files) {
		if unlessNone(f.Path) != "" {
			p.Files = append(p.Files, File{f.Path, published(f.Changes)})
		}
	}
	for _, d := range s.Decisions {
		if unlessNone(d.Decision) != "" {
			p.Decisions = append(p.Decisions, Decision{Decision: d.Decision, Rationale: d.Rationale})
		}
	}
	return p
}

// published returns items without their sources. The list is never nil.
func published(items []Item) []Item {
	list := []Item{}
	for _, it := range items {
		if unlessNone(it.Text) != "" {
			list = append(list, Item{Text: it.Text})
		}
	}
	return list
}

// unlessNone returns text, or "" if text is [None] or an equivalent.
func unlessNone(text string) string {
	if isNone(text) {
		return ""
	}
	return text
}
