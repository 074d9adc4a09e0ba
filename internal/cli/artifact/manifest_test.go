package artifact

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
)

// whole returns a page with an item of each kind.
func whole() *page {
	rows, err := manifest.NewRows(4, 5)
	if err != nil {
		panic(err)
	}
	return &page{
		Manifest: &store.Manifest{
			ID: "m_00000000000000aa", Seal: digest.Of(nil), Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Format: "text", Total: 2000, Budget: 4000, Tier: tier.Core, Session: "s-1",
			Made: []store.ContextOutcome{{
				Version: 1, Time: time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), Actor: "ada",
				Data: json.RawMessage(`{"outcome":"commit","artifact":"a1","evaluator":"rules","confidence":0.9}`),
			}},
		},
		header: &manifest.Header{
			Scope: "local", Actor: "ada", Reserve: 100, Demand: 3000, Encoding: "o200k_base",
			Candidates: 1500, SemanticCalls: 7, Semantic: "lexical/1", Policy: "default/1", Review: true,
		},
		bytes: 1234, redacted: 2,
		segments: []*manifest.Segment{
			{Kind: manifest.KindArtifact, Tokens: 1000, Ref: "note", Class: provenance.Verified, Form: manifest.FormBrief, Score: &manifest.Score{Total: 700_000}, Reason: manifest.ReasonFits, Neutralized: 1, Fetched: true},
			{Kind: manifest.KindQuery, Tokens: 5, Reason: manifest.ReasonQuery, Form: manifest.FormWhole},
		},
		left: map[manifest.Reason]int{manifest.ReasonExpired: 3, manifest.ReasonTier: 1},
		omitted: []*manifest.Omission{
			{Ref: "old", Class: provenance.Tool, Reason: manifest.ReasonExpired},
			{Ref: "low", Class: provenance.Tool, Reason: manifest.ReasonTier, Score: &manifest.Score{Total: 0, First: 250_000}},
			{Ref: "mid", Class: provenance.Tool, Reason: manifest.ReasonTier, Score: &manifest.Score{Total: 300_000, First: 250_000}},
		},
		sets:    []*manifest.Set{{Reason: manifest.ReasonExpired, Count: 2, Rows: rows}},
		fetches: []*manifest.Fetch{{Ref: "note", Outcome: manifest.OutcomeChanged, From: 1, To: 2}},
	}
}

func TestManifestsArePrintedWhole(t *testing.T) {
	const head = "manifest\tm_00000000000000aa\nsealed\te3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\ncreated\t2026-01-02T03:04:05Z\nscope\tlocal\nby\tada\nformat\ttext, 1234 bytes\n" +
		"tokens\t2000 of 4000, 100 reserved, 3000 demanded, counted by o200k_base\ntier\tcore\ncandidates\t1500, 7 scored by lexical/1\npolicy\tdefault/1\n"
	const segments = "artifact\t1000\tnote\tverified\t0.700\tfits\tbrief, refetched, 1 character made visible\nquery\t5\t\t\t\tquery\t\n"
	const left = "\nleft out\t3\texpired\nleft out\t1\tnot in this tier\n"
	const made = "\nsource\tnote\tchanged\noutcome\t2026-01-02T03:05:00Z\tada\tcommitted a1, confidence 0.9 by rules\n"
	bare := whole()
	bare.Session, bare.header.Review, bare.redacted, bare.header.Semantic, bare.left, bare.fetches, bare.Made = "", false, 0, "", nil, nil, nil
	onlyOutcome := whole()
	onlyOutcome.fetches = nil
	for _, tt := range []clitest.Printing{
		{
			Name: "all that a manifest can say", Print: func(p *out.Page) { printManifest(p, whole(), false) },
			Pipe: head + "session\ts-1\nreview\ta person should look\nredacted\t2 items\n\n" + segments + left + made, TTY: "",
		},
		{
			Name: "with each artifact that was left out", Print: func(p *out.Page) { printManifest(p, whole(), true) },
			Pipe: head + "session\ts-1\nreview\ta person should look\nredacted\t2 items\n\n" + segments + left +
				"\nold\ttool\t\texpired\nlow\ttool\t0.250\tnot in this tier\nmid\ttool\t0.300\tnot in this tier\nrows 4-5\t\t\texpired\n" + made, TTY: "",
		},
		{
			Name: "as little as a manifest can say", Print: func(p *out.Page) { printManifest(p, bare, true) },
			Pipe: strings.Replace(head, "lexical/1", "nothing", 1) + "\n" + segments, TTY: "",
		},
		{
			Name: "an outcome and no source", Print: func(p *out.Page) { printManifest(p, onlyOutcome, false) },
			Pipe: head + "session\ts-1\nreview\ta person should look\nredacted\t2 items\n\n" + segments + left + strings.Replace(made, "source\tnote\tchanged\n", "", 1), TTY: "",
		},
	} {
		tt.Test(t)
	}
}

// A printed manifest shows every item.
func TestAManifestIsShownWhole(t *testing.T) {
	commit := digest.Of([]byte("x"))
	rows, err := manifest.NewRows(4, 5)
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{
		Header: manifest.Header{
			ID: "m_00000001", Scope: "local", Actor: "ada", Policy: "default/1", Format: "text", Encoding: "o200k_base",
			Semantic: "lexical/1", Tier: tier.Full, Budget: 100, Total: 7, Demand: 7, Candidates: 4, Created: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		},
		Items: []manifest.Item{
			&manifest.Segment{Kind: manifest.KindQuery, Cell: "c_01", Commit: commit, Bytes: 5, Tokens: 7, Reason: manifest.ReasonQuery},
			&manifest.Omission{Ref: "0c9e77b1", Class: provenance.Retrieved, Reason: manifest.ReasonSourceGone},
			&manifest.Omission{Ref: "0c9e77b2", Class: provenance.Retrieved, Reason: manifest.ReasonExpired},
			&manifest.Set{Reason: manifest.ReasonExpired, Count: 2, Rows: rows},
			&manifest.Fetch{Ref: "0c9e77b1", Outcome: manifest.OutcomeGone, From: 5},
			&manifest.Output{Bytes: 5, Commit: commit},
		},
	}
	sealed, err := manifest.Seal(m, strings.NewReader(strings.Repeat("s", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	s := newPage(&store.Manifest{ID: "m_00000001"}, sealed)
	if diff := cmp.Diff(map[manifest.Reason]int{manifest.ReasonSourceGone: 1, manifest.ReasonExpired: 3}, s.left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if len(s.segments) != 1 || len(s.omitted) != 2 || s.bytes != 5 {
		t.Errorf("%+v", s)
	}
	if len(s.sets) != 1 || s.sets[0] != m.Items[3] {
		t.Errorf("sets %+v, want %+v", s.sets, m.Items[3])
	}
	if len(s.fetches) != 1 || s.fetches[0] != m.Items[4] {
		t.Errorf("fetches %+v, want %+v", s.fetches, m.Items[4])
	}

	for ref, want := range map[string]explanation{
		"0c9e77b1": {Ref: "0c9e77b1", Class: provenance.Retrieved, Reason: manifest.ReasonSourceGone, Fetch: manifest.OutcomeGone, Words: "its source no longer had it"},
		"0c9e77b2": {Ref: "0c9e77b2", Class: provenance.Retrieved, Reason: manifest.ReasonExpired, Words: "its time to live had passed"},
		"another":  {Ref: "another", Words: "not mentioned: it was no candidate, because it came later, or was removed, held or in another scope"},
	} {
		if diff := cmp.Diff(&want, explain(m, ref, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", ref, diff)
		}
	}
}

func TestOutcomesHaveWords(t *testing.T) {
	for data, want := range map[string]string{
		`{"outcome":"commit"}`: "committed",
		`{"outcome":"hold","artifact":"a1","reasons":["low_confidence","loop"]}`:                       "held a1, low_confidence, loop",
		`{"outcome":"hold","decided":"approved","artifact":"a1","evaluator":"rules","confidence":0.5}`: "approved a1",
		`{"outcome":"hold","evaluator":"rules","confidence":0.5}`:                                      "held, confidence 0.5 by rules",
		`{"other":1}`: `{"other":1}`,
		`{`:           `{`,
	} {
		if got := outcomeWords(out.NewPage(false, 80), json.RawMessage(data)); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

func TestVerificationsArePrinted(t *testing.T) {
	for _, tt := range []struct {
		res     carrel.VerifyResult
		offline bool
		want    string
	}{
		{carrel.VerifyResult{Manifest: "m_1", Seal: "5ea1", Segments: 2, Output: true}, false, "ok\t2 segments, the whole context\nmanifest\tm_1\nsealed\t5ea1\n"},
		{carrel.VerifyResult{Manifest: "m_1", Seal: "5ea1", Segments: 1, Erased: 1, Redacted: 3}, false, "ok\t1 segment, not the whole context\nmanifest\tm_1\nsealed\t5ea1\nerased\t1 segment\nredacted\t3 items\n"},
		{carrel.VerifyResult{Manifest: "m_1", Seal: "5ea1", Segments: 1}, true, "ok\tform and seal\nmanifest\tm_1\nsealed\t5ea1\n"},
	} {
		env, stdout, _ := clitest.Env(t)
		if err := printVerified(job.New(env), &tt.res, tt.offline); err != nil || stdout.String() != tt.want {
			t.Errorf("%+v: %q, %v, want %q", tt.res, stdout, err, tt.want)
		}
	}
}

func TestExplanationsArePrinted(t *testing.T) {
	for _, tt := range []clitest.Printing{
		{Name: "what is in", Print: func(p *out.Page) {
			printExplanation(p, &explanation{
				Ref: "a", Manifest: "m_1", In: true, Reason: manifest.ReasonBrief, Words: "w", Class: provenance.Tool, Form: manifest.FormBrief, Tokens: 1500,
				Score: &manifest.Score{Tag: manifest.TagRed, Total: 679_300, Recency: 250_000, Provenance: ratio.One, Semantic: 431_000}, Fetch: manifest.OutcomeChanged,
			})
		}, Pipe: "ref\ta\nmanifest\tm_1\nstate\tin\nreason\tbrief\nbecause\tw\nclass\ttool\ntokens\t1500, brief\nscore\t0.679, red: recency 0.250, provenance 1.000, similarity 0.431\nsource\tchanged\n", TTY: ""},
		{Name: "what is left out", Print: func(p *out.Page) {
			printExplanation(p, &explanation{Ref: "a", Manifest: "m_1", Reason: manifest.ReasonCrowded, Words: "w", Tokens: 1, Score: &manifest.Score{First: 120_000, Recency: 250_000, Provenance: ratio.One}})
		}, Pipe: "ref\ta\nmanifest\tm_1\nstate\tleft out\nreason\tcrowded\nbecause\tw\ntokens\t1\nscore\t0.120 at first: recency 0.250, provenance 1.000\n", TTY: ""},
		{Name: "what is not mentioned", Print: func(p *out.Page) {
			printExplanation(p, &explanation{Ref: "a", Manifest: "m_1", Words: "w"})
		}, Pipe: "ref\ta\nmanifest\tm_1\nstate\tunknown\nreason\tnone\nbecause\tw\n", TTY: ""},
	} {
		tt.Test(t)
	}
}

func TestChangesHaveNotes(t *testing.T) {
	segment := func(change func(*manifest.Segment)) *manifest.Segment {
		s := &manifest.Segment{Kind: manifest.KindArtifact, Form: manifest.FormWhole, Version: 2, Bytes: 10}
		change(s)
		return s
	}
	same := func(*manifest.Segment) {}
	for _, tt := range []struct {
		before, after *manifest.Segment
		reason        manifest.Reason
		want          string
	}{
		{segment(same), nil, "", "no longer a candidate"},
		{segment(same), nil, manifest.ReasonTier, "not in this tier"},
		{segment(same), segment(func(s *manifest.Segment) { s.Fetched = true }), manifest.ReasonFits, "refetched: the source has changed"},
		{nil, segment(func(s *manifest.Segment) { s.Fetched = true }), manifest.ReasonFits, "refetched: the source has changed"},
		{nil, segment(same), manifest.ReasonFits, ""},
		{nil, segment(same), manifest.ReasonPinned, "pinned"},
		{segment(same), segment(func(s *manifest.Segment) { s.Form = manifest.FormBrief }), manifest.ReasonBrief, "brief, was whole"},
		{segment(same), segment(func(s *manifest.Segment) { s.Version = 3 }), manifest.ReasonFits, "version 3, was 2"},
		{segment(same), segment(func(s *manifest.Segment) { s.Kind = manifest.KindQuery }), manifest.ReasonFits, "query, was artifact"},
		{segment(same), segment(same), manifest.ReasonFits, "the same, sealed anew"},
		{segment(same), segment(func(s *manifest.Segment) { s.Bytes = 11 }), manifest.ReasonFits, "other text"},
		{segment(func(s *manifest.Segment) { s.Version = 0 }), segment(func(s *manifest.Segment) { s.Version = 0 }), manifest.ReasonFits, "other text"},
		{segment(func(s *manifest.Segment) { s.Version = 1 }), segment(func(s *manifest.Segment) { s.Version = 1 }), manifest.ReasonFits, "the same, sealed anew"},
		{segment(func(s *manifest.Segment) { s.Form = manifest.FormBrief }), segment(func(s *manifest.Segment) { s.Form = manifest.FormBrief }), manifest.ReasonBrief, "other text"},
		{
			segment(func(s *manifest.Segment) { s.Kind, s.Version, s.Form = manifest.KindNotice, 0, "" }),
			segment(func(s *manifest.Segment) { s.Kind, s.Version, s.Form = manifest.KindNotice, 0, "" }), manifest.ReasonNotice, "the same, sealed anew",
		},
	} {
		if got := changeNote(&manifest.ItemChange{Before: tt.before, After: tt.after, Reason: tt.reason}); got != tt.want {
			t.Errorf("%+v, %+v, %s: %q, want %q", tt.before, tt.after, tt.reason, got, tt.want)
		}
	}
}

func TestDifferencesArePrinted(t *testing.T) {
	d := &manifest.Delta{
		From: "m_a", To: "m_b", FromTier: tier.Full, ToTier: tier.Core, FromTotal: 2000, ToTotal: 1500, Kept: 500_000, Partial: true,
		Added:   []manifest.ItemChange{{Ref: "new", After: &manifest.Segment{Kind: manifest.KindArtifact, Class: provenance.Tool, Tokens: 1100}, Reason: manifest.ReasonFits}},
		Removed: []manifest.ItemChange{{Before: &manifest.Segment{Kind: manifest.KindSystem, Tokens: 30}}},
		Changed: []manifest.ItemChange{
			{Ref: "same", Before: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 5, Version: 1}, After: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 5, Version: 2}},
			{Ref: "less", Before: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 9, Version: 1}, After: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 5, Version: 2}},
		},
	}
	for _, tt := range []clitest.Printing{
		{
			Name: "each kind of difference", Print: func(p *out.Page) { printDelta(p, d) },
			Pipe: "m_a → m_b   +1 −1 ~2   2000 → 1500 tok   tier full → core   prefix kept: 50.0%\n+\tnew\ttool\t1100\t\n-\tsystem\tsystem\t30\tno longer a candidate\n" +
				"~\tsame\tartifact\t5\tversion 2, was 1\n~\tless\tartifact\t9 → 5\tversion 2, was 1\nparts of one document were redacted: there may be more differences\n", TTY: "",
		},
		{
			Name: "none", Print: func(p *out.Page) {
				printDelta(p, &manifest.Delta{From: "m_a", To: "m_b", FromTier: tier.Full, ToTier: tier.Full, Kept: ratio.One})
			},
			Pipe: "m_a → m_b   +0 −0 ~0   0 → 0 tok   tier full → full   prefix kept: 100.0%\n", TTY: "m_a → m_b   +0 −0 ~0   0 → 0 tok   tier full → full   prefix kept: 100.0%\n",
		},
	} {
		tt.Test(t)
	}
}
