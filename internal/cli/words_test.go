package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/triage"
)

// printing is a case of what is printed of a value: lines for a pipe, in which the cells
// of a table are parted by a tab, or for a terminal of 80 columns.
type printing struct {
	name  string
	print func(p *page)
	pipe  string // "" is not looked at
	tty   string
}

func (tt *printing) test(t *testing.T) {
	t.Helper()
	for kind, want := range map[bool]string{false: tt.pipe, true: tt.tty} {
		if want == "" {
			continue
		}
		p := &page{tty: kind, width: 80}
		tt.print(p)
		if diff := cmp.Diff(want, p.buf.String()); diff != "" {
			t.Errorf("%s, on a terminal %v (-want +got):\n%s", tt.name, kind, diff)
		}
	}
}

// whole has something of each kind that a manifest can say.
func whole() *manifestShown {
	return &manifestShown{
		manifestLine: manifestLine{
			ID: "m_00000000000000aa", Seal: "5ea1", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Format: "text", Tokens: 2000, Budget: 4000, Tier: tier.Core, Session: "s-1",
		},
		Scope: "local", Actor: "ada", Bytes: 1234, Reserve: 100, Demand: 3000, Encoding: "o200k_base",
		Candidates: 1500, SemanticCalls: 7, Semantic: "lexical/1", Policy: "default/1", Review: true, Redacted: 2,
		Segments: []segmentLine{
			{Kind: manifest.KindArtifact, Tokens: 1000, Ref: "note", Class: provenance.Verified, Form: manifest.FormBrief, Score: &scoreParts{Total: 700_000}, Reason: manifest.ReasonFits, Neutralized: 1, Fetched: true},
			{Kind: manifest.KindQuery, Tokens: 5, Reason: manifest.ReasonQuery, Form: manifest.FormWhole},
		},
		Left: map[manifest.Reason]int{manifest.ReasonExpired: 3, manifest.ReasonTier: 1},
		Omitted: []omissionLine{
			{Ref: "old", Class: provenance.Tool, Reason: manifest.ReasonExpired},
			{Ref: "low", Class: provenance.Tool, Reason: manifest.ReasonTier, Score: &scoreParts{Total: 0, First: 250_000}},
			{Ref: "mid", Class: provenance.Tool, Reason: manifest.ReasonTier, Score: &scoreParts{Total: 300_000, First: 250_000}},
		},
		Sets:    []setLine{{manifest.ReasonExpired, 2, "4-5"}},
		Fetches: []fetchLine{{"note", manifest.OutcomeChanged, 1, 2}},
		Outcomes: []outcomeLine{
			{1, time.Date(2026, 1, 2, 3, 5, 0, 0, time.UTC), "ada", json.RawMessage(`{"outcome":"commit","artifact":"a1","evaluator":"rules","confidence":0.9}`)},
		},
	}
}

func TestManifestsArePrintedWhole(t *testing.T) {
	const head = "manifest\tm_00000000000000aa\nsealed\t5ea1\ncreated\t2026-01-02T03:04:05Z\nscope\tlocal\nby\tada\nformat\ttext, 1234 bytes\n" +
		"tokens\t2000 of 4000, 100 reserved, 3000 demanded, counted by o200k_base\ntier\tcore\ncandidates\t1500, 7 scored by lexical/1\npolicy\tdefault/1\n"
	const segments = "artifact\t1000\tnote\tverified\t0.700\tfits\tbrief, refetched, 1 character made visible\nquery\t5\t\t\t\tquery\t\n"
	const left = "\nleft out\t3\texpired\nleft out\t1\tnot in this tier\n"
	const made = "\nsource\tnote\tchanged\noutcome\t2026-01-02T03:05:00Z\tada\tcommitted a1, confidence 0.9 by rules\n"
	bare := whole()
	bare.Session, bare.Review, bare.Redacted, bare.Semantic, bare.Left, bare.Fetches, bare.Outcomes = "", false, 0, "", nil, nil, nil
	onlyOutcome := whole()
	onlyOutcome.Fetches = nil
	for _, tt := range []printing{
		{
			"all that a manifest can say", func(p *page) { printManifest(p, whole(), false) },
			head + "session\ts-1\nreview\ta person should look\nredacted\t2 items\n\n" + segments + left + made, "",
		},
		{
			"with each artifact that was left out", func(p *page) { printManifest(p, whole(), true) },
			head + "session\ts-1\nreview\ta person should look\nredacted\t2 items\n\n" + segments + left +
				"\nold\ttool\t\texpired\nlow\ttool\t0.250\tnot in this tier\nmid\ttool\t0.300\tnot in this tier\nrows 4-5\t\t\texpired\n" + made, "",
		},
		{
			"as little as a manifest can say", func(p *page) { printManifest(p, bare, true) },
			strings.Replace(head, "lexical/1", "nothing", 1) + "\n" + segments, "",
		},
		{
			"an outcome and no source", func(p *page) { printManifest(p, onlyOutcome, false) },
			head + "session\ts-1\nreview\ta person should look\nredacted\t2 items\n\n" + segments + left + strings.Replace(made, "source\tnote\tchanged\n", "", 1), "",
		},
	} {
		tt.test(t)
	}
}

// What is shown of a manifest has every item of it.
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
	s := newManifestShown(&store.Manifest{ID: "m_00000001"}, sealed)
	if diff := cmp.Diff(map[manifest.Reason]int{manifest.ReasonSourceGone: 1, manifest.ReasonExpired: 3}, s.Left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if len(s.Segments) != 1 || len(s.Omitted) != 2 || s.Bytes != 5 {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff([]setLine{{manifest.ReasonExpired, 2, "4-5"}}, s.Sets); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]fetchLine{{"0c9e77b1", manifest.OutcomeGone, 5, 0}}, s.Fetches); diff != "" {
		t.Errorf("fetches (-want +got):\n%s", diff)
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
		if got := outcomeWords(&page{}, json.RawMessage(data)); got != want {
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
		env, stdout, _ := newEnv(t)
		if err := (&globals{env: env}).printVerified(&tt.res, tt.offline); err != nil || stdout.String() != tt.want {
			t.Errorf("%+v: %q, %v, want %q", tt.res, stdout, err, tt.want)
		}
	}
}

func TestExplanationsArePrinted(t *testing.T) {
	for _, tt := range []printing{
		{"what is in", func(p *page) {
			printExplanation(p, &explanation{
				Ref: "a", Manifest: "m_1", In: true, Reason: manifest.ReasonBrief, Words: "w", Class: provenance.Tool, Form: manifest.FormBrief, Tokens: 1500,
				Score: &scoreParts{Tag: manifest.TagRed, Total: 679_300, Recency: 250_000, Provenance: ratio.One, Semantics: 431_000}, Fetch: manifest.OutcomeChanged,
			})
		}, "ref\ta\nmanifest\tm_1\nstate\tin\nreason\tbrief\nbecause\tw\nclass\ttool\ntokens\t1500, brief\nscore\t0.679, red: recency 0.250, provenance 1.000, similarity 0.431\nsource\tchanged\n", ""},
		{"what is left out", func(p *page) {
			printExplanation(p, &explanation{Ref: "a", Manifest: "m_1", Reason: manifest.ReasonCrowded, Words: "w", Tokens: 1, Score: &scoreParts{First: 120_000, Recency: 250_000, Provenance: ratio.One}})
		}, "ref\ta\nmanifest\tm_1\nstate\tleft out\nreason\tcrowded\nbecause\tw\ntokens\t1\nscore\t0.120 at first: recency 0.250, provenance 1.000\n", ""},
		{"what is not mentioned", func(p *page) {
			printExplanation(p, &explanation{Ref: "a", Manifest: "m_1", Words: "w"})
		}, "ref\ta\nmanifest\tm_1\nstate\tunknown\nreason\tnone\nbecause\tw\n", ""},
	} {
		tt.test(t)
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
		if got := changeNote(&manifest.Change{Before: tt.before, After: tt.after, Reason: tt.reason}); got != tt.want {
			t.Errorf("%+v, %+v, %s: %q, want %q", tt.before, tt.after, tt.reason, got, tt.want)
		}
	}
}

func TestDifferencesArePrinted(t *testing.T) {
	d := &manifest.Delta{
		From: "m_a", To: "m_b", FromTier: tier.Full, ToTier: tier.Core, FromTotal: 2000, ToTotal: 1500, Kept: 500_000, Partial: true,
		Added:   []manifest.Change{{Ref: "new", After: &manifest.Segment{Kind: manifest.KindArtifact, Class: provenance.Tool, Tokens: 1100}, Reason: manifest.ReasonFits}},
		Removed: []manifest.Change{{Before: &manifest.Segment{Kind: manifest.KindSystem, Tokens: 30}}},
		Changed: []manifest.Change{
			{Ref: "same", Before: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 5, Version: 1}, After: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 5, Version: 2}},
			{Ref: "less", Before: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 9, Version: 1}, After: &manifest.Segment{Kind: manifest.KindArtifact, Tokens: 5, Version: 2}},
		},
	}
	for _, tt := range []printing{
		{
			"each kind of difference", func(p *page) { printDelta(p, newDeltaShown(d)) },
			"m_a → m_b   +1 −1 ~2   2000 → 1500 tok   tier full → core   prefix kept: 50.0%\n+\tnew\ttool\t1100\t\n-\tsystem\tsystem\t30\tno longer a candidate\n" +
				"~\tsame\tartifact\t5\tversion 2, was 1\n~\tless\tartifact\t9 → 5\tversion 2, was 1\nsomething was taken out of one of them: there may be more\n", "",
		},
		{
			"none", func(p *page) {
				printDelta(p, newDeltaShown(&manifest.Delta{From: "m_a", To: "m_b", FromTier: tier.Full, ToTier: tier.Full, Kept: ratio.One}))
			},
			"m_a → m_b   +0 −0 ~0   0 → 0 tok   tier full → full   prefix kept: 100.0%\n", "m_a → m_b   +0 −0 ~0   0 → 0 tok   tier full → full   prefix kept: 100.0%\n",
		},
	} {
		tt.test(t)
	}
}

func TestCompressionsArePrinted(t *testing.T) {
	attempt := func(change func(*carrel.Attempt)) carrel.Attempt {
		a := carrel.Attempt{Strategy: carrel.StrategyAnchored, KeepLast: 5, Accepted: true}
		change(&a)
		return a
	}
	for want, a := range map[string]carrel.Attempt{
		"anchored, last 5 as they are, accepted": attempt(func(*carrel.Attempt) {}),
		"anchored by m-1, summary up to 12.5% of the budget, last 5 as they are: 3/4, accepted": attempt(func(a *carrel.Attempt) {
			a.Model, a.Detail, a.Passed, a.Probes = "m-1", 125_000, 3, 4
		}),
		"anchored, summary up to 12% of the budget, last 5 as they are: 0/1, not accepted": attempt(func(a *carrel.Attempt) {
			a.Detail, a.Probes, a.Accepted = 120_000, 1, false
		}),
		"anchored, last 5 as they are, not accepted: one was lost; another": attempt(func(a *carrel.Attempt) {
			a.Accepted, a.Reasons, a.RedFlags = false, []string{"one was lost", "another"}, []string{"odd"}
		}),
		"anchored, last 5 as they are, not accepted: odd": attempt(func(a *carrel.Attempt) { a.Accepted, a.RedFlags = false, []string{"odd"} }),
	} {
		if got := attemptWords(&a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
	for want, s := range map[string]carrel.SummaryInfo{
		"of 1 block, 1,200 tokens, nothing new · s_1":               {ID: "s_1", Covers: 1, Tokens: 1200},
		"of blocks 1–2, 12 tokens · s_1":                            {ID: "s_1", Covers: 2, Tokens: 12, Fresh: 1},
		"of blocks 1–7, 12 tokens, merged, 1,234 new, by m-1 · s_1": {ID: "s_1", Covers: 7, Tokens: 12, Fresh: 1234, Merged: true, Model: "m-1"},
		"of blocks 1–7, 12 tokens, 3 entries only by recall · s_1":  {ID: "s_1", Covers: 7, Tokens: 12, Fresh: 1, Left: []summary.Elision{{Count: 1}, {Count: 2}}},
		"of blocks 1–7, 12 tokens, 1 entry only by recall · s_1":    {ID: "s_1", Covers: 7, Tokens: 12, Fresh: 1, Left: []summary.Elision{{Count: 1}}},
	} {
		if got := summaryWords(&s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	for _, tt := range []struct {
		before, after token.Count
		want          string
	}{{100, 50, "−50.0%"}, {100, 100, "+0.0%"}, {100, 101, "+1.0%"}} {
		if got := change(tt.before, tt.after); got != tt.want {
			t.Errorf("from %d to %d: %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}

func TestProbesArePrinted(t *testing.T) {
	half := ratio.One / 2
	for _, tt := range []struct {
		tally  probe.Tally
		score  ratio.Ratio
		recall int
		least  *ratio.Ratio
		want   string
	}{
		{probe.Tally{}, 0, 0, nil, "none: nothing that could be asked"},
		{probe.Tally{Total: 4, Passed: 4}, ratio.One, 0, nil, "1/2 critical · 4/4 all (1.00 ≥ 0.90)"},
		{probe.Tally{Total: 4, Passed: 2}, half, 0, &half, "1/2 critical · 2/4 all (0.50 ≥ 0.50) · 2 missed"},
		{probe.Tally{Total: 4, Passed: 2}, half - 1, 1, &half, "1/2 critical · 2/4 all (0.50 < 0.50) · 2 missed, 1 of them one recall away"},
		{probe.Tally{Total: 4, Passed: 2}, half, 2, nil, "1/2 critical · 2/4 all (0.50 < 0.90) · 2 missed, one recall away"},
		{probe.Tally{Total: 4, Passed: 3}, half, 1, nil, "1/2 critical · 3/4 all (0.50 < 0.90) · 1 missed, one recall away"},
	} {
		r := &probe.Report{Tally: tt.tally, Score: tt.score}
		r.Recall, r.Critical = tt.recall, probe.Tally{Passed: 1, Total: 2}
		if got := probeWords(r, tt.least); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.tally, got, tt.want)
		}
	}
	for want, f := range map[string]probe.Result{
		"which file? (lost: no a, b)":                                   {Probe: probe.Probe{Question: "which file?"}, Missing: []string{"a", "b"}},
		"which file? (recall, critical: no a)":                          {Probe: probe.Probe{Question: "which file?", Critical: true}, Place: probe.Recall, Missing: []string{"a"}},
		"which file? (lost, critical: its words do not stand together)": {Probe: probe.Probe{Question: "which file?", Critical: true}},
	} {
		if got := missWords(&f); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
	for r, want := range map[ratio.Ratio]string{-250_000: "−0.25", 0: "+0.00", 250_000: "+0.25"} {
		if got := signed(r); got != want {
			t.Errorf("signed(%v) = %q, want %q", r, got, want)
		}
	}
	missing := make([]probe.Result, 7)
	for i := range missing {
		missing[i] = probe.Result{Probe: probe.Probe{ID: "p" + string(rune('1'+i)), Type: "t", Question: "q?"}, Missing: []string{"a"}, Place: probe.Recall}
	}
	rep := &probe.Report{Tally: probe.Tally{Total: 7}, Results: missing}
	const miss = "        q? (recall: no a)\n"
	for _, tt := range []printing{
		{"all that are missed", func(p *page) { p.missed(rep, 0) }, "missed\tp1\tt\t\trecall\tq?\ta\n", strings.Repeat(miss, 7)},
		{"as many as are shown", func(p *page) { p.missed(rep, 5) }, "", strings.Repeat(miss, 5) + "        … 2 more: carrel probe run\n"},
		{"no more than are shown", func(p *page) { p.missed(rep, 7) }, "", strings.Repeat(miss, 7)},
		{
			"what is accepted", func(p *page) { p.verdict(&probe.Verdict{Accepted: true, Warnings: []string{"w"}}) },
			"verdict\taccepted\nwarning\tw\n", "verdict accepted\nwarning w\n",
		},
		{
			"what is not", func(p *page) { p.verdict(&probe.Verdict{Reasons: []string{"r"}, RedFlags: []string{"f"}}) },
			"verdict\tnot accepted\nreason\tr\nredflag\tf\n", "verdict not accepted\nreason  r\nredflag f\n",
		},
	} {
		if tt.pipe != "" && strings.HasPrefix(tt.pipe, "missed") {
			line := tt.pipe
			for i := 1; i < 7; i++ {
				tt.pipe += strings.Replace(line, "p1", "p"+string(rune('1'+i)), 1)
			}
		}
		tt.test(t)
	}
}

func TestReportsOfProbesArePrinted(t *testing.T) {
	env, _, _ := newEnv(t)
	g := &globals{env: env}
	noon := env.Now()
	first := new(carrel.ProbeRound)
	first.Passed, first.Total = 3, 4
	first.Critical = probe.Tally{Passed: 1, Total: 1}
	r := &carrel.ProbeReport{Session: "s-1", Rounds: []carrel.RoundEntry{
		{Op: "op_1", Time: noon.Add(-time.Hour), Round: carrel.Round{Count: 1, Strategy: carrel.StrategyAnchored, Covers: 3, Tokens: 40, Before: 1000, After: 500, Probes: first}},
		{Op: "op_2", Time: noon.Add(-time.Minute), Undone: true, Round: carrel.Round{Count: 2, Strategy: carrel.StrategyAnchored, Covers: 5, Tokens: 50, Before: 900, After: 400}},
	}}
	const rows = "1\top_1\t2026-02-03T11:00:00Z\tanchored\t3\t40\t1000\t500\t1/1\t3/4\t\n2\top_2\t2026-02-03T11:59:00Z\tanchored\t5\t50\t900\t400\t\t\tundone\n"
	drift := *r
	drift.Drift = &probe.Drift{
		First: ratio.One, Last: ratio.One / 2, Change: -ratio.One / 2, Rounds: []probe.RoundScore{
			{Number: 1, Score: ratio.One, Types: []probe.TypeTally{{Type: "fact", Tally: probe.Tally{Passed: 2, Total: 2}}}},
			{Number: 2, Score: ratio.One / 2, Types: []probe.TypeTally{{Type: "fact", Tally: probe.Tally{Passed: 1, Total: 2}}}},
		},
		Types:     []probe.TypeDrift{{Type: "fact", First: ratio.One, Last: ratio.One / 2, Change: -ratio.One / 2}},
		Regressed: []string{"p1", "p2"}, Recovered: []string{"p3"},
	}
	for _, tt := range []printing{
		{"no round", func(p *page) { printReport(p, g, &carrel.ProbeReport{Session: "s-1"}) }, "", "session s-1 was not compressed with a summary\n"},
		{"rounds without drift", func(p *page) { printReport(p, g, r) }, rows, ""},
		{"rounds with drift", func(p *page) { printReport(p, g, &drift) }, rows + "drift\t1.000000\t0.500000\t−0.50\ntype\tfact\t1.000000\t0.500000\t−0.50\nregressed\tp1\nregressed\tp2\nrecovered\tp3\n", ""},
		{
			"the picture of it", func(p *page) { p.picture(drift.Drift) }, "",
			"fact         [##########] 2/2    [#####.....] 1/2     −0.50\nround 1 1.00  round 2 0.50   drift: −0.50 over 2 rounds\npassed once and fail now: p1 p2\nfailed before and pass now: p3\n",
		},
		{
			"a narrow picture", func(p *page) { p.width = 50; p.picture(drift.Drift) }, "",
			"fact         [#####.....] 1/2     −0.50\nround 2 0.50   drift: −0.50 over 2 rounds\npassed once and fail now: p1 p2\nfailed before and pass now: p3\n",
		},
	} {
		tt.test(t)
	}
}

func TestContextsHaveWords(t *testing.T) {
	for want, u := range map[string]carrel.UsedEntry{
		"": {},
		"pinned, human-verified, refetched, brief, of 1,200, 2 characters made visible": {
			Artifact: carrel.Artifact{Pinned: true, Class: provenance.Verified, Tokens: 1200}, Fetched: true, Form: assembly.Shorter, Neutralized: 2,
		},
		"1 character made visible": {Neutralized: 1},
	} {
		if got := usedWords(&u); got != want {
			t.Errorf("%+v: %q, want %q", u, got, want)
		}
	}
	policy := triage.DefaultPolicy()
	if got, want := leftWords(map[manifest.Reason]int{manifest.ReasonExpired: 1200, manifest.ReasonTier: 1, manifest.ReasonHeld: 0}, policy), " · −1,200 expired · −1 not in this tier"; got != want {
		t.Errorf("left out: %q, want %q", got, want)
	}
	for _, tt := range []struct {
		err  error
		req  carrel.AssembleRequest
		want string
	}{
		{&assembly.FloorError{Need: 500}, carrel.AssembleRequest{Reserve: 100}, "--budget 600 would hold it"},
		{&assembly.FloorError{Need: 500, Pins: 1}, carrel.AssembleRequest{Session: "s"}, "--budget 500 would hold it, or leave --session out, or fewer pinned artifacts"},
		{&pager.FloorError{Need: 70}, carrel.AssembleRequest{}, "--budget 70 would hold it"},
	} {
		if got := budgetHint(tt.err, &tt.req); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestAssembledContextsAreReported(t *testing.T) {
	a := &access{scope: "local", opts: &carrel.Options{Triage: triage.DefaultPolicy(), Ladder: tier.DefaultLadder}}
	result := func(change func(*carrel.AssembleResult)) *assembled {
		r := &carrel.AssembleResult{Candidates: 1, TokenCount: 500, Budget: 1000, Tier: tier.Full}
		change(r)
		return &assembled{AssembleResult: r}
	}
	const head = "scope local   1 candidate\ntags  0 red · 0 yellow · 0 green · 0 black\n"
	const dry = "500 / 1,000 tok (50%)   tier full   dry run: nothing was written\n"
	used := []carrel.UsedEntry{
		{Artifact: carrel.Artifact{ID: "a1", Class: provenance.Tool, Title: "one"}, Tag: manifest.TagRed, Score: 700_000, InContext: 400},
		{Artifact: carrel.Artifact{ID: "a2", Class: provenance.Tool, Title: "two", Pinned: true}, InContext: 100},
	}
	scored := []scoredLine{
		{ID: "a1", Class: provenance.Tool, Tag: manifest.TagRed, Score: 700_000, Recency: 500_000, Provenance: ratio.One, Semantic: 250_000, Reason: manifest.ReasonFits},
		{ID: "a3", Class: provenance.Tool, Tag: manifest.TagBlack, Reason: manifest.ReasonExpired},
	}
	req := &carrel.AssembleRequest{}
	for _, tt := range []printing{
		{"nothing in it", func(p *page) { printAssembled(p, a, result(func(*carrel.AssembleResult) {}), &assembleFlags{}, req) }, head + dry, head + dry},
		{"kept with a reserve", func(p *page) {
			printAssembled(p, a, result(func(r *carrel.AssembleResult) {
				r.Reserve, r.Manifest, r.Seal = 200, "m_00000000000000aa", "0123456789abcdef"
			}), &assembleFlags{}, req)
		}, "", head + "500 + 200 reserved / 1,000 tok (70%)   tier full   manifest m_00000000 sealed 01234567\n"},
		{"artifacts", func(p *page) {
			printAssembled(p, a, result(func(r *carrel.AssembleResult) { r.Used = used }), &assembleFlags{}, req)
		}, head + "\tred\t0.700\ttool\t400\ta1\tone\t\n\t\t\ttool\t100\ta2\ttwo\tpinned\n" + dry, ""},
		{"what was scored", func(p *page) {
			r := result(func(*carrel.AssembleResult) {})
			r.Scored = scored
			printAssembled(p, a, r, &assembleFlags{trace: true}, req)
		}, head + "scored closely: 1\n\tred\t0.700\t0.500\t1.000\t0.250\ttool\ta1\tfits\n\tblack\t\t\t\t\ttool\ta3\texpired\n" + dry, ""},
		{"losses and a warning", func(p *page) {
			printAssembled(p, a, result(func(r *carrel.AssembleResult) {
				r.Losses, r.Warning = []transcript.Loss{{Message: 2, What: "an image", Count: 2}}, "w"
			}), &assembleFlags{}, req)
		}, head + dry + "lost: an image of message 3: 2 parts\nwarning: w\n", ""},
		{"too little of it", func(p *page) {
			printScarce(p, result(func(r *carrel.AssembleResult) { r.Demand, r.Reserve = 2000, 10 }), &carrel.AssembleRequest{Session: "s"}, tier.DefaultLadder)
		}, "", "warning: too little of what was found is in this context. A person should look at what comes of it.\n" +
			"hint: everything would take 2,000 tok; --budget 2116 gives tier summarized, --budget 2511 full; or carrel compress the session first\n"},
		{"too little by a soft ladder", func(p *page) {
			printScarce(p, result(func(r *carrel.AssembleResult) { r.Demand, r.Reserve = 2000, 10 }), &carrel.AssembleRequest{Tiers: carrel.TiersSoft}, tier.DefaultLadder)
		}, "", "warning: too little of what was found is in this context. A person should look at what comes of it.\n" +
			"hint: everything would take 2,000 tok, which --budget 2010 holds\n"},
		{"nothing of it, as was asked for", func(p *page) {
			printScarce(p, result(func(r *carrel.AssembleResult) { r.Tier = tier.Minimal }), &carrel.AssembleRequest{Tier: tier.Minimal}, tier.DefaultLadder)
		}, "", "warning: tier minimal: nothing that was found is in this context. A person should look at what comes of it.\nhint: leave --tier minimal out\n"},
	} {
		tt.test(t)
	}
}

func TestRetentionIsPrinted(t *testing.T) {
	r := &retentionResult{Sessions: 1, Cases: 2, Tokens: 1500, Needs: 2.25}
	if got, want := r.counts(), "1 session, 2 cases, on average of 1,500 tokens and 2.2 names that were needed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Short, r.Min, r.Idle, r.Skipped, r.Left = 1, 1000, 2, 1, 2
	if got, want := r.counts(), "1 session, 2 cases, on average of 1,500 tokens and 2.2 names that were needed · 1 too short (--min 1000) · 2 with too little that is used again · 1 file without a conversation · 2 files left (--max)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	scores := map[retention.Score]retention.Estimate{
		retention.ScoreGround: {Mean: 0.5, Low: 0.25, High: 0.75}, retention.ScoreOver: {Mean: 0.001},
	}
	r.Rows = []retentionRow{{Budget: "10%", Method: "window", Scores: scores}, {Budget: "20%", Method: "window"}}
	(&printing{
		"rows", func(p *page) { r.print(p) },
		"sessions\t1\ncases\t2\nshort\t1\nidle\t2\nskipped\t1\nleft\t2\n10%\twindow\t0.500\t0.250\t0.750\t\t\t\t\t\t\t\t0.001\n20%\twindow\t\t\t\t\t\t\t\t\t\t\t\n",
		r.counts() + "\n\nat 10%  ground               line    stub  complete  valid  used  over\nwindow  0.50    [0.25–0.75]  –       –     –         –      –     0.00\n" +
			"\nat 20%  ground    line    stub  complete  valid  used  over\nwindow  –         –       –     –         –      –     –\n\n" +
			"ground, line: of the names used and the lines copied later, those in the window [95%];\nstub: or one recall away; complete: steps with all their names; used: of the budget\n" +
			"over: of the windows, those above the budget, as rules held more; compress refuses such\n",
	}).test(t)
}
