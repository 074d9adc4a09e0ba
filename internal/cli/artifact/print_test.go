package artifact

import (
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/triage"
)

func TestMemoriesArePrinted(t *testing.T) {
	a := &job.Access{Opts: &carrel.Options{Confidence: 700_000}}
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, reasons := range map[string][]assembly.Reason{
		"confidence 0.5 < 0.7": {assembly.ReasonBelow},
		"secret shape: it looks as if it held a credential; duplicate: it is remembered already": {assembly.ReasonSecret, assembly.ReasonDuplicate},
		"echo: it repeats the context; loop: it repeats a memory of the context":                 {assembly.ReasonEcho, assembly.ReasonLoop},
		"instruction: it gives orders to an assistant; odd":                                      {assembly.ReasonInstruction, "odd"},
		"": nil,
	} {
		if got := gateWords(reasons, 500_000, 700_000); strings.ReplaceAll(got, ", ", "; ") != want {
			t.Errorf("%q: %q, want %q", reasons, got, want)
		}
	}
	for _, tt := range []clitest.Printing{
		{Name: "as much as is known", Print: func(p *out.Page) {
			printReview(p, &carrel.ReviewEntry{
				Artifact: carrel.Artifact{ID: "a1", Status: store.StatusHeld, Class: provenance.Memory, Created: created, Title: "t"}, Text: "one\ntwo\u202e\n", Reason: "r",
				Evaluator: "rules", Confidence: 500_000, Reasons: []assembly.Reason{assembly.ReasonBelow}, Manifest: "m_1",
				From: []carrel.Artifact{{ID: "a0", Class: provenance.Tool, Status: store.StatusLive, Title: "from"}},
			}, a)
		}, Pipe: "id\ta1\nstatus\theld\nclass\tmemory\ncreated\t2026-01-02T03:04:05Z\nverdict\tconfidence 0.5 by rules\nreasons\tconfidence 0.5 < 0.7\ncontext\tm_1\ntitle\tt\ndecided\tbecause r\nhidden\t1 character made visible\nfrom\ta0\ttool\tlive\tfrom\n\none\ntwo[U+202E]\n", TTY: ""},
		{Name: "as little", Print: func(p *out.Page) {
			printReview(p, &carrel.ReviewEntry{Artifact: carrel.Artifact{ID: "a1", Status: store.StatusHeld, Class: provenance.Memory, Created: created}, Text: "one"}, a)
		}, Pipe: "id\ta1\nstatus\theld\nclass\tmemory\ncreated\t2026-01-02T03:04:05Z\nverdict\tconfidence 0 by nobody\nreasons\t\ncontext\tno context\n\none\n", TTY: ""},
	} {
		tt.Test(t)
	}
}

func TestRemovalsArePrinted(t *testing.T) {
	for _, tt := range []struct {
		r         removal
		pipe, tty string
	}{
		{
			removal{Op: "purge", RemovalResult: &carrel.RemovalResult{Artifacts: []store.ArtifactID{"a", "b"}, Derived: 1, Cells: 3, Manifests: []string{"m_1"}}},
			"purged\ta\npurged too\tb\nused by\tm_1\ncells\t3\n", "purged 2 artifacts, 1 of them made from the others, 3 cells erased\npurged      a\npurged too  b\nused by     m_1\n",
		},
		{removal{Op: "remove", DryRun: true, RemovalResult: &carrel.RemovalResult{Artifacts: []store.ArtifactID{"a"}}}, "removed\ta\n", "removed 1 artifact\nremoved  a\ndry run: nothing was written\n"},
		{removal{Op: "restore", RemovalResult: &carrel.RemovalResult{}}, "", "restored 0 artifacts\n"},
		{removal{Op: "refute", RemovalResult: &carrel.RemovalResult{Artifacts: []store.ArtifactID{"a"}}}, "refuted\ta\n", "refuted 1 artifact\nrefuted  a\n"},
	} {
		for tty, want := range map[bool]string{false: tt.pipe, true: tt.tty} {
			env, stdout, _ := clitest.Env(t)
			env.StdoutTerminal = tty
			r := tt.r
			if err := printRemoval(job.New(env), &r); err != nil || stdout.String() != want {
				t.Errorf("%+v, on a terminal %v: %q, %v, want %q", tt.r, tty, stdout, err, want)
			}
		}
	}
}

func TestContextsHaveWords(t *testing.T) {
	for want, u := range map[string]carrel.UsedEntry{
		"": {},
		"pinned, human-verified, refetched, brief, of 1,200, 2 characters made visible": {
			Artifact: carrel.Artifact{Pinned: true, Class: provenance.Verified, Tokens: 1200}, Fetched: true, Form: manifest.FormBrief, Neutralized: 2,
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
	a := &job.Access{Scope: "local", Opts: &carrel.Options{Triage: triage.DefaultPolicy(), Ladder: tier.DefaultLadder}}
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
	for _, tt := range []clitest.Printing{
		{Name: "nothing in it", Print: func(p *out.Page) {
			printAssembled(p, a, result(func(*carrel.AssembleResult) {}), &assembleFlags{}, req)
		}, Pipe: head + dry, TTY: head + dry},
		{Name: "kept with a reserve", Print: func(p *out.Page) {
			printAssembled(p, a, result(func(r *carrel.AssembleResult) {
				r.Reserve, r.Manifest, r.Seal = 200, "m_00000000000000aa", "0123456789abcdef"
			}), &assembleFlags{}, req)
		}, Pipe: "", TTY: head + "500 + 200 reserved / 1,000 tok (70%)   tier full   manifest m_00000000 sealed 01234567\n"},
		{Name: "artifacts", Print: func(p *out.Page) {
			printAssembled(p, a, result(func(r *carrel.AssembleResult) { r.Used = used }), &assembleFlags{}, req)
		}, Pipe: head + "\tred\t0.700\ttool\t400\ta1\tone\t\n\t\t\ttool\t100\ta2\ttwo\tpinned\n" + dry, TTY: ""},
		{Name: "what was scored", Print: func(p *out.Page) {
			r := result(func(*carrel.AssembleResult) {})
			r.Scored = scored
			printAssembled(p, a, r, &assembleFlags{trace: true}, req)
		}, Pipe: head + "scored closely: 1\n\tred\t0.700\t0.500\t1.000\t0.250\ttool\ta1\tfits\n\tblack\t\t\t\t\ttool\ta3\texpired\n" + dry, TTY: ""},
		{Name: "losses and a warning", Print: func(p *out.Page) {
			printAssembled(p, a, result(func(r *carrel.AssembleResult) {
				r.Losses, r.Warning = []transcript.Loss{{Message: 2, What: "an image", Count: 2}}, "w"
			}), &assembleFlags{}, req)
		}, Pipe: head + dry + "lost: an image of message 2: 2 parts\nwarning: w\n", TTY: ""},
		{Name: "too little of it", Print: func(p *out.Page) {
			printScarce(p, result(func(r *carrel.AssembleResult) { r.Demand, r.Reserve, r.Used = 2000, 10, make([]carrel.UsedEntry, 1) }), &carrel.AssembleRequest{Session: "s"}, tier.DefaultLadder)
		}, Pipe: "", TTY: "warning: too few of the artifacts that were found are in this context. A person should review the answer.\n" +
			"hint: --tiers soft keeps whole artifacts while they fit; everything would take 2,000 tok; --budget 2116 gives tier summarized, --budget 2511 full; or carrel compress the session first\n"},
		{Name: "too little by a soft ladder", Print: func(p *out.Page) {
			printScarce(p, result(func(r *carrel.AssembleResult) { r.Demand, r.Reserve, r.Used = 2000, 10, make([]carrel.UsedEntry, 1) }), &carrel.AssembleRequest{Tiers: carrel.TiersSoft}, tier.DefaultLadder)
		}, Pipe: "", TTY: "warning: too few of the artifacts that were found are in this context. A person should review the answer.\n" +
			"hint: everything would take 2,000 tok, which --budget 2010 holds\n"},
		{Name: "nothing of it, because nothing is verified", Print: func(p *out.Page) {
			printScarce(p, result(func(r *carrel.AssembleResult) { r.Tier, r.Demand = tier.Core, 2000 }), &carrel.AssembleRequest{}, tier.DefaultLadder)
		}, Pipe: "", TTY: "warning: tier core: no artifact that was found is in this context. A person should review the answer.\n" +
			"hint: --tiers soft keeps whole artifacts while they fit; everything would take 2,000 tok; --budget 2106 gives tier summarized, --budget 2501 full\n"},
		{Name: "nothing of it, as was asked for", Print: func(p *out.Page) {
			printScarce(p, result(func(r *carrel.AssembleResult) { r.Tier = tier.Minimal }), &carrel.AssembleRequest{Tier: tier.Minimal}, tier.DefaultLadder)
		}, Pipe: "", TTY: "warning: tier minimal: no artifact that was found is in this context. A person should review the answer.\nhint: leave --tier minimal out\n"},
	} {
		tt.Test(t)
	}
	for width, want := range map[int]int{60: 16, 80: 18, 101: 39, 200: 40} {
		p := out.NewPage(true, width)
		r := result(func(r *carrel.AssembleResult) {
			r.Used = []carrel.UsedEntry{{Artifact: carrel.Artifact{Title: strings.Repeat("z", 60)}}}
		})
		if printAssembled(p, a, r, &assembleFlags{}, req); strings.Count(p.String(), "z") != want-1 {
			t.Errorf("a title in %d columns, want %d of it:\n%s", width, want, p)
		}
	}
}
