package intent

import (
	"fmt"
	"slices"
)

// A Difference is a difference between the intents of two turns. Before is empty if the value is
// new, and After if it is gone.
type Difference struct {
	Field  string // verb, a slot, gap, audience, constraints or posture
	Before string
	After  string
}

// String returns the change as a line for people.
func (c Difference) String() string {
	switch {
	case c.Field == "gap" && c.After != "":
		return fmt.Sprintf("gap resolved: %s is %q", c.Before, c.After)
	case c.Field == "gap":
		return "gap: " + c.Before
	case c.Before == "":
		return fmt.Sprintf("%s: now %q", c.Field, c.After)
	case c.After == "":
		return fmt.Sprintf("%s: no longer %q", c.Field, c.Before)
	default:
		return fmt.Sprintf("%s: %q, before %q", c.Field, c.After, c.Before)
	}
}

// Diff returns the differences between two turns, in this order: the verb, its object, the
// audience, the constraints, gaps that were resolved or are new, and the posture, which is the
// names of the flags. A difference in a gap has the slot in Before, and in After the value if it
// is now known. Either intent may be nil.
func Diff(before, after *Intent) []Difference {
	var none Intent
	if before == nil {
		before = &none
	}
	if after == nil {
		after = &none
	}
	d := differ{}
	d.one("verb", string(before.Verb), string(after.Verb))
	d.objects(before, after)
	d.sets("audience", valueTexts(before.Slots[slotAudience]), valueTexts(after.Slots[slotAudience]))
	d.sets("constraints", valueTexts(before.Slots[slotConstraints]), valueTexts(after.Slots[slotConstraints]))
	d.gaps(before, after)
	d.sets("posture", flagNames(slices.Concat(before.Amber, before.Human)), flagNames(slices.Concat(after.Amber, after.Human)))
	return d.changes
}

type differ struct{ changes []Difference }

func (d *differ) one(field, before, after string) {
	if before != after {
		d.changes = append(d.changes, Difference{field, before, after})
	}
}

// objects adds a difference if the two intents have different objects. The field of the difference
// is the object slot of the later verb, or that of the earlier verb if the later intent has none.
func (d *differ) objects(before, after *Intent) {
	was, is := objectOf(before), objectOf(after)
	switch {
	case after.Verb != "":
		d.one(string(after.Verb.object()), was, is)
	case before.Verb != "":
		d.one(string(before.Verb.object()), was, is)
	}
}

func objectOf(in *Intent) string {
	if in.Verb == "" || len(in.Slots[in.Verb.object()]) == 0 {
		return ""
	}
	return in.Slots[in.Verb.object()][0].Text
}

// sets adds a difference for each element that is only in the list before, and then for each
// element that is only in the list after.
func (d *differ) sets(field string, before, after []string) {
	for _, s := range before {
		if !slices.Contains(after, s) {
			d.one(field, s, "")
		}
	}
	for _, s := range after {
		if !slices.Contains(before, s) {
			d.one(field, "", s)
		}
	}
}

func (d *differ) gaps(before, after *Intent) {
	for _, s := range before.Gaps {
		if v := after.Slots[s]; len(v) > 0 {
			d.one("gap", string(s), v[0].Text)
		}
	}
	for _, s := range after.Gaps {
		if !slices.Contains(before.Gaps, s) {
			d.one("gap", string(s), "")
		}
	}
}

func valueTexts(values []Phrase) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.Text
	}
	return out
}
