package manifest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// context returns a manifest of segments that lie one behind the other. It is
// not checked.
func context(id string, segments []Segment, rest ...Item) *Manifest {
	m := &Manifest{Header: Header{ID: id, Tier: tier.Full}}
	out := new(Output)
	for _, s := range segments {
		s.Start = out.Bytes
		out.Bytes += s.Bytes
		m.Header.Total += s.Tokens
		m.Items = append(m.Items, &s)
	}
	m.Items = append(m.Items, rest...)
	m.Items = append(m.Items, out)
	return m
}

func TestDiff(t *testing.T) {
	piece := func(kind Kind, ref string, content byte, tokens int) Segment {
		return Segment{Kind: kind, Ref: ref, Commit: digest.Of([]byte{content}), Bytes: 10, Tokens: token.Count(tokens), Reason: ReasonFits}
	}
	system, frame, query := piece(KindSystem, "", 's', 5), piece(KindFrame, "", 'f', 1), piece(KindQuery, "", 'q', 3)
	a, b, c := piece(KindArtifact, "a", 'a', 100), piece(KindArtifact, "b", 'b', 200), piece(KindArtifact, "c", 'c', 300)
	a.Row, b.Row, c.Row = 1, 2, 3
	brief := a
	brief.Form, brief.Tokens, brief.Commit, brief.Reason = FormBrief, 40, digest.Of([]byte("brief")), ReasonBrief
	recounted := a
	recounted.Tokens = 120
	newer := b
	newer.Version = 2
	stub := piece(KindStub, "m", 't', 9)
	message := piece(KindMessage, "m", 'm', 90)
	question := query
	question.Commit, question.Reason = digest.Of([]byte("?")), ReasonQuery
	old := context("m_old", []Segment{system, frame, a, b, query})

	for _, tt := range []struct {
		name  string
		a, b  *Manifest
		delta string
	}{
		{"the same", old, old, "309→309 kept 50 1.000000"},
		{
			"appended", old, context("m_new", []Segment{system, frame, a, b, query, c}),
			"309→609 kept 50 1.000000 +c fits",
		},
		{
			"removed, and the reason is in an omission", old,
			context("m_new", []Segment{system, frame, a, query}, &Omission{Ref: "b", Reason: ReasonOverBudget}),
			"309→109 kept 30 0.600000 -b over_budget",
		},
		{
			"removed, and the reason is in a set", old,
			context("m_new", []Segment{system, frame, a, query}, &Set{Reason: ReasonTier, Rows: rowsOf(9)}, &Set{Reason: ReasonExpired, Rows: rowsOf(2, 3)}),
			"309→109 kept 30 0.600000 -b expired",
		},
		{
			"removed, and nobody says why", old, context("m_new", []Segment{frame, a, query}),
			"309→104 kept 0 0.000000 -system  -b ",
		},
		{
			"cut to its brief form", old, context("m_new", []Segment{system, frame, brief, b, query}),
			"309→249 kept 20 0.400000 ~a 100→40 →brief brief",
		},
		{
			"a new version with the same text", old, context("m_new", []Segment{system, frame, a, newer, query}),
			"309→309 kept 50 1.000000 ~b 200→200 → fits",
		},
		{
			"the same text by another count", old, context("m_new", []Segment{system, frame, recounted, b, query}),
			"309→329 kept 50 1.000000 ~a 100→120 → fits",
		},
		{
			"a message that became a stub", context("m_old", []Segment{message}), context("m_new", []Segment{stub}),
			"90→9 kept 0 0.000000 ~m 90→9 → fits",
		},
		{
			"another question", old, context("m_new", []Segment{system, frame, a, b, question}),
			"309→309 kept 40 0.800000 ~query 3→3 → query",
		},
		{
			"another order is no difference but in the prefix", old, context("m_new", []Segment{system, frame, b, a, query}),
			"309→309 kept 20 0.400000",
		},
		{
			"frames are not compared", old, context("m_new", []Segment{system, a, frame, b, frame, query}),
			"309→310 kept 10 0.200000",
		},
		{"from nothing", context("m_old", nil), context("m_new", []Segment{a}), "0→100 kept 0 0.000000 +a fits"},
		{
			"something was taken out", old,
			context("m_new", []Segment{system, frame}, &Redacted{}),
			"309→6 kept 20 0.400000 partial -a  -b  -query ",
		},
		{
			"something had been taken out before", context("m_old", []Segment{system, frame}, &Redacted{}), context("m_new", []Segment{system, frame}),
			"6→6 kept 20 1.000000 partial",
		},
	} {
		if diff := cmp.Diff(tt.delta, describe(Diff(tt.a, tt.b))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// describe writes a delta on a line.
func describe(d *Delta) string {
	out := fmt.Sprintf("%d→%d kept %d %v", d.FromTotal, d.ToTotal, d.Prefix, d.Kept)
	if d.Partial {
		out += " partial"
	}
	label := func(c ItemChange, s *Segment) string {
		if c.Ref == "" {
			return string(s.Kind)
		}
		return c.Ref
	}
	for _, c := range d.Added {
		out += fmt.Sprintf(" +%s %s", label(c, c.After), c.Reason)
	}
	for _, c := range d.Removed {
		out += fmt.Sprintf(" -%s %s", label(c, c.Before), c.Reason)
	}
	for _, c := range d.Changed {
		out += fmt.Sprintf(" ~%s %d→%d %s→%s %s", label(c, c.After), c.Before.Tokens, c.After.Tokens, c.Before.Form, c.After.Form, c.Reason)
	}
	return out
}

func TestDiffOfHeaders(t *testing.T) {
	a, b := small(), small()
	b.Header.ID, b.Header.Tier, b.Header.Total = "m_40bb1200", tier.Core, 7
	want := &Delta{
		From: "m_3fa91c00", To: "m_40bb1200", FromTier: tier.Full, ToTier: tier.Core, FromTotal: 13, ToTotal: 7,
		Added: []ItemChange{}, Removed: []ItemChange{}, Changed: []ItemChange{},
		Prefix: 38, Kept: ratio.One,
	}
	if diff := cmp.Diff(want, Diff(a, b)); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	m := small()
	for _, tt := range []struct {
		name   string
		ref    string
		row    int64
		item   int // -1 if nothing is known
		reason Reason
	}{
		{"a segment by its ref", "a41c09de", 0, 1, ReasonBrief},
		{"a segment by its row", "", 401, 1, ReasonBrief},
		{"an omission by its ref", "77e0b1c2", 0, 3, ReasonOverBudget},
		{"an omission by its row", "", 402, 3, ReasonOverBudget},
		{"the first of a set", "ffff", 1, 6, ReasonExpired},
		{"one of a set", "ffff", 17, 6, ReasonExpired},
		{"one of the other set", "ffff", 400, 7, ReasonNotScored},
		{"an unknown ref", "ffff", 0, -1, ""},
		{"an unknown row", "", 313, -1, ""},
		{"nothing", "", 0, -1, ""}, // not the segments that have neither
	} {
		item, reason, ok := m.Explain(tt.ref, tt.row)
		if ok != (tt.item >= 0) || reason != tt.reason || ok && item != m.Items[tt.item] {
			t.Errorf("%s: %v, %q, %t, want item %d, %q", tt.name, item, reason, ok, tt.item, tt.reason)
		}
	}
	if ReasonRefuted.Dead() != true || ReasonExpired.Dead() != true || ReasonOverBudget.Dead() || ReasonFits.Dead() {
		t.Error("the dead are what has expired or was refuted")
	}
	m.Items[1] = &Redacted{}
	if _, _, ok := m.Explain("a41c09de", 401); ok {
		t.Error("what was taken out is explained")
	}
}
