package manifest

import (
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// Explain returns the segment, omission or set with an artifact or a block, and its reason. ref
// is the id. row is the artifact's row, or 0; a set can only be found by row. The result is
// false if no item has the artifact or block, or if the item is redacted.
func (m *Manifest) Explain(ref string, row int64) (Item, Reason, bool) {
	about := func(r string, n int64) bool { return ref != "" && r == ref || row != 0 && n == row }
	for _, it := range m.Items {
		switch it := it.(type) {
		case *Segment:
			if about(it.Ref, it.Row) {
				return it, it.Reason, true
			}
		case *Omission:
			if about(it.Ref, it.Row) {
				return it, it.Reason, true
			}
		case *Set:
			if row != 0 && it.Rows.contains(row) {
				return it, it.Reason, true
			}
		}
	}
	return nil, "", false
}

// A Delta lists the differences between two contexts.
type Delta struct {
	From      string      `json:"from"` // id of a manifest
	To        string      `json:"to"`   // id of the other
	FromTier  tier.Tier   `json:"from_tier"`
	ToTier    tier.Tier   `json:"to_tier"`
	FromTotal token.Count `json:"from_tokens"`
	ToTotal   token.Count `json:"to_tokens"`

	Added   []ItemChange `json:"added"`   // in the order of the later context
	Removed []ItemChange `json:"removed"` // in the order of the earlier one
	Changed []ItemChange `json:"changed"` // in the order of the later one

	// Prefix is the number of bytes at the beginning that both outputs share,
	// in whole segments: the part that a provider's cache can still use. Kept
	// is its share of the earlier output. Equal bytes of different cells do
	// not count.
	Prefix int         `json:"prefix"`
	Kept   ratio.Ratio `json:"kept"`

	// Partial means that one of the manifests is redacted, so that there may
	// be more differences, fewer additions and fewer removals.
	Partial bool `json:"partial,omitempty"`
}

// An ItemChange is a difference between two contexts in one artifact or block. A segment with a
// Ref is compared with the segment of the same Ref, and one without a Ref with the one at the
// same position among the segments of its kind. Frames, which are the framing of the format,
// are not compared.
type ItemChange struct {
	Ref    string   `json:"ref,omitempty"`
	Before *Segment `json:"before,omitempty"` // nil if it was added
	After  *Segment `json:"after,omitempty"`  // nil if it was removed

	// Reason is the reason in the later context. It is empty for a removed segment if the later
	// manifest does not mention its artifact or block.
	Reason Reason `json:"reason,omitempty"`
}

// Diff returns the differences from a to b.
func Diff(a, b *Manifest) *Delta {
	d := &Delta{
		From: a.Header.ID, To: b.Header.ID,
		FromTier: a.Header.Tier, ToTier: b.Header.Tier,
		FromTotal: a.Header.Total, ToTotal: b.Header.Total,
		Added: []ItemChange{}, Removed: []ItemChange{}, Changed: []ItemChange{},
	}
	old, now := listSegments(a), listSegments(b)
	d.Partial = old.partial || now.partial
	why := absence(b)
	for _, n := range now.named {
		switch before, ok := old.byName[n.name]; {
		case !ok:
			d.Added = append(d.Added, ItemChange{Ref: n.Ref, After: n.Segment, Reason: n.Reason})
		case differs(before, n.Segment):
			d.Changed = append(d.Changed, ItemChange{n.Ref, before, n.Segment, n.Reason})
		}
	}
	for _, n := range old.named {
		if now.byName[n.name] == nil {
			d.Removed = append(d.Removed, ItemChange{Ref: n.Ref, Before: n.Segment, Reason: why(n.Segment)})
		}
	}
	d.Prefix = prefix(a, b)
	d.Kept = ratio.Of(d.Prefix, old.size)
	return d
}

// A name identifies the artifact, block or other text of a segment in both contexts.
type name struct {
	ref   string
	kind  Kind // kind of a segment without a ref
	place int  // position among the segments of that kind without a ref
}

// A named is a segment together with the name that identifies it in both
// contexts.
type named struct {
	*Segment
	name name
}

// segments has the segments of one manifest.
type segments struct {
	named   []named // without frames
	byName  map[name]*Segment
	size    int // bytes of the output
	partial bool
}

func listSegments(m *Manifest) *segments {
	list := &segments{byName: make(map[name]*Segment, len(m.Items))}
	places := make(map[Kind]int)
	for _, it := range m.Items {
		switch it := it.(type) {
		case *Segment:
			list.size = it.Start + it.Bytes
			n := name{ref: it.Ref}
			if it.Ref == "" {
				if it.Kind == KindFrame {
					continue
				}
				n.kind, n.place = it.Kind, places[it.Kind]
				places[it.Kind]++
			}
			list.named = append(list.named, named{it, n})
			list.byName[n] = it
		case *Output:
			list.size = it.Bytes
		case *Redacted:
			list.partial = true
		}
	}
	return list
}

// absence returns a function that returns the reason why m does not contain the artifact or
// block of a segment.
func absence(m *Manifest) func(*Segment) Reason {
	omitted := make(map[string]Reason)
	var sets []*Set
	for _, it := range m.Items {
		switch it := it.(type) {
		case *Omission:
			omitted[it.Ref] = it.Reason
		case *Set:
			sets = append(sets, it)
		}
	}
	return func(s *Segment) Reason {
		if r, ok := omitted[s.Ref]; ok {
			return r
		}
		for _, set := range sets {
			if set.Rows.contains(s.Row) {
				return set.Reason
			}
		}
		return ""
	}
}

// differs reports whether two segments with the same name differ in kind, form,
// version, tokens or text.
func differs(a, b *Segment) bool {
	return a.Kind != b.Kind || a.Form != b.Form || a.Version != b.Version || a.Tokens != b.Tokens || !a.Commit.Equal(b.Commit)
}

// prefix returns the length in bytes of the common beginning of two outputs, in whole segments.
func prefix(a, b *Manifest) int {
	size := 0
	for i := range min(len(a.Items), len(b.Items)) {
		s, ok := a.Items[i].(*Segment)
		t, same := b.Items[i].(*Segment)
		if !ok || !same || s.Bytes != t.Bytes || !s.Commit.Equal(t.Commit) {
			break
		}
		size += s.Bytes
	}
	return size
}
