package session

import (
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
)

func TestProbesArePrinted(t *testing.T) {
	half := ratio.One / 2
	for _, tt := range []struct {
		tally  probe.Tally
		score  ratio.Ratio
		recall int
		least  *ratio.Ratio
		want   string
	}{
		{probe.Tally{}, 0, 0, nil, "none: the conversation has no facts for probes"},
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
		"which file? (lost; missing: a, b)":                                          {Probe: probe.Probe{Question: "which file?"}, Missing: []string{"a", "b"}},
		"which file? (one recall away, critical; missing: a)":                        {Probe: probe.Probe{Question: "which file?", Critical: true}, Place: probe.Recall, Missing: []string{"a"}},
		"which file? (lost, critical; the words of its answer are not in one place)": {Probe: probe.Probe{Question: "which file?", Critical: true}},
		"which file? (lost; missing: " + strings.Repeat("a", 54) + "…":               {Probe: probe.Probe{Question: "which file?"}, Missing: []string{strings.Repeat("a", 80)}},
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
	const miss = "        q? (one recall away; missing: a)\n"
	for _, tt := range []clitest.Printing{
		{Name: "all that are missed", Print: func(p *out.Page) { printMissed(p, rep, 0) }, Pipe: "missed\tp1\tt\t\trecall\tq?\ta\n", TTY: strings.Repeat(miss, 7)},
		{Name: "as many as are shown", Print: func(p *out.Page) { printMissed(p, rep, 5) }, Pipe: "", TTY: strings.Repeat(miss, 5) + "        … 2 more: carrel probe run\n"},
		{Name: "no more than are shown", Print: func(p *out.Page) { printMissed(p, rep, 7) }, Pipe: "", TTY: strings.Repeat(miss, 7)},
		{
			Name: "what is accepted", Print: func(p *out.Page) { printVerdict(p, &probe.Acceptance{Accepted: true, Warnings: []string{"w"}}) },
			Pipe: "verdict\taccepted\nwarning\tw\n", TTY: "verdict accepted\nwarning w\n",
		},
		{
			Name: "what is not", Print: func(p *out.Page) { printVerdict(p, &probe.Acceptance{Reasons: []string{"r"}, RedFlags: []string{"f"}}) },
			Pipe: "verdict\tnot accepted\nreason\tr\nredflag\tf\n", TTY: "verdict not accepted\nreason  r\nredflag f\n",
		},
	} {
		if tt.Pipe != "" && strings.HasPrefix(tt.Pipe, "missed") {
			line := tt.Pipe
			for i := 1; i < 7; i++ {
				tt.Pipe += strings.Replace(line, "p1", "p"+string(rune('1'+i)), 1)
			}
		}
		tt.Test(t)
	}
}

func TestReportsOfProbesArePrinted(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
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
	for _, tt := range []clitest.Printing{
		{Name: "no round", Print: func(p *out.Page) { printReport(p, j, &carrel.ProbeReport{Session: "s-1"}) }, Pipe: "", TTY: "session s-1 was not compressed with a summary\n"},
		{Name: "rounds without drift", Print: func(p *out.Page) { printReport(p, j, r) }, Pipe: rows, TTY: ""},
		{Name: "rounds with drift", Print: func(p *out.Page) { printReport(p, j, &drift) }, Pipe: rows + "drift\t1.000000\t0.500000\t−0.50\ntype\tfact\t1.000000\t0.500000\t−0.50\nregressed\tp1\nregressed\tp2\nrecovered\tp3\n", TTY: ""},
		{
			Name: "the picture of it", Print: func(p *out.Page) { printDrift(p, drift.Drift) }, Pipe: "",
			TTY: "fact         [##########] 2/2    [#####.....] 1/2     −0.50\nround 1 1.00  round 2 0.50   drift: −0.50 over 2 rounds\npassed once and fail now: p1 p2\nfailed before and pass now: p3\n",
		},
		{
			Name: "a narrow picture", Print: func(p *out.Page) { p.Width = 50; printDrift(p, drift.Drift) }, Pipe: "",
			TTY: "fact         [#####.....] 1/2     −0.50\nround 2 0.50   drift: −0.50 over 2 rounds\npassed once and fail now: p1 p2\nfailed before and pass now: p3\n",
		},
	} {
		tt.Test(t)
	}
}
