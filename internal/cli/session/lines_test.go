package session

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A line about a figure is printed from 1 on, and not for 0.
func TestLinesAreOfFigures(t *testing.T) {
	for _, tt := range []struct {
		line  string
		print func(p *out.Page, n int)
	}{
		{"from 0001-01-01 00:00 to ", func(p *out.Page, n int) {
			printCallReport(p, &carrel.ReportResult{Total: carrel.CallTally{Calls: n}})
		}},
		{"1 call passed without a record", func(p *out.Page, n int) { printCallReport(p, &carrel.ReportResult{Gaps: n}) }},
		{"as before  1 bytes at the beginning, 100.0%", func(p *out.Page, n int) {
			printCall(p, &carrel.CallResult{Call: carrel.Call{CallIntent: carrel.CallIntent{SentBytes: 1}}, Kept: n, Segments: make([]api.CallPart, n)})
		}},
		{"as before  ", func(p *out.Page, n int) {
			printCall(p, &carrel.CallResult{Call: carrel.Call{CallIntent: carrel.CallIntent{SentBytes: n}}, Segments: make([]api.CallPart, 1)})
		}},
		{"budget  9 = 0.0% of 0 tokens of conversation", func(p *out.Page, n int) {
			(&compressed{CompressResult: &carrel.CompressResult{Budget: 9, Share: ratio.Ratio(n)}}).print(p)
		}},
		{"earlier   1 block of windows before", func(p *out.Page, n int) {
			printContext(p, &carrel.ContextResult{Earlier: carrel.ContextShare{Blocks: n}})
		}},
		{"sent    1 tokens in the agent's newest request", func(p *out.Page, n int) { printContext(p, &carrel.ContextResult{Sent: token.Count(n)}) }},
		{"1 sub-agent with calls of their own", func(p *out.Page, n int) { printCost(p, &carrel.CostResult{Unseen: n}, false, time.Time{}) }},
		{"of that 1 are thinking", func(p *out.Page, n int) { printDiscard(p, &carrel.DiscardResult{Thinking: token.Count(n)}, false) }},
		{"… 1 more: carrel probe run", func(p *out.Page, n int) {
			printMissed(p, &probe.Report{Results: make([]probe.Result, n+1)}, 1)
		}},
		{"passed once and fail now: p1", func(p *out.Page, n int) { printDrift(p, &probe.Drift{Regressed: []string{"p1"}[:n]}) }},
		{"earlier  of window 1,", func(p *out.Page, n int) { printWhy(p, &carrel.WhyResult{Earlier: n}) }},
		{"and 1 line more", func(p *out.Page, n int) {
			printStub(p, &pager.Stub{Text: strings.Repeat("x\n", 7) + strings.Repeat("\nx", n)})
		}},
		{"0 tokens, back at --target 1", func(p *out.Page, n int) { p.Line("%s", unitWords(&carrel.WhyUnit{Target: token.Count(n)})) }},
		{"needed   chance", func(p *out.Page, n int) { printNeed(p, &carrel.WhyNeed{Lines: make([]carrel.WhyLine, n)}) }},
		{"needed   chance", func(p *out.Page, n int) { printNeed(p, &carrel.WhyNeed{Names: make([]carrel.WhyName, n)}) }},
		{"task  block", func(p *out.Page, n int) { printStats(p, &carrel.StatsResult{Tasks: make([]api.TaskStats, n)}) }},
	} {
		for n := range 2 {
			p := out.NewPage(true, 120)
			if tt.print(p, n); strings.Contains(p.String(), tt.line) != (n == 1) {
				t.Errorf("with %d, want %q for 1:\n%s", n, tt.line, p)
			}
		}
	}
}

// What is known of a call beyond its sizes has a line.
func TestCallHasItsLosses(t *testing.T) {
	c := carrel.Call{CallIntent: carrel.CallIntent{Manifest: "m_1"}}
	r := &carrel.CallResult{Call: c, Break: &economy.Break{Cause: "expired", By: "time", Lost: 6000, Extra: 5_000_000}}
	p := out.NewPage(false, 80)
	printCall(p, r)
	if want := "cache missed\texpired, by time: 6000 tokens sent anew, $0.0050 more than reading them\nmanifest\tm_1\n"; !strings.Contains(p.String(), want) {
		t.Errorf("printed\n%s\nwant\n%s", p, want)
	}
}

func TestWordsOfSessions(t *testing.T) {
	attempt := carrel.Attempt{Strategy: "account", KeepLast: 1, Account: true, Accepted: true}
	summed, least := attempt, attempt
	summed.Detail, least.Detail, least.Account = 125_000, 1, false
	for want, a := range map[string]carrel.Attempt{
		"account, account, newest 1 block whole, accepted":                                                   attempt,
		"account, account with a summary, summary up to 12.5% of the budget, newest 1 block whole, accepted": summed,
		"account, summary up to 0% of the budget, newest 1 block whole, accepted":                            least,
	} {
		if got := attemptWords(&a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, b := range map[string]api.BlockDelta{
		"pinned": {Pinned: new(true)}, "unpinned": {Pinned: new(false)}, " → whole": {To: pager.Whole}, "line → whole": {From: pager.Line, To: pager.Whole, Pinned: new(true)},
	} {
		if got := becameWords(&b); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
	for want, r := range map[string]facts.Contribution{"+ odd bin": {Feature: "odd", Bin: "bin"}, "− odd bin": {Feature: "odd", Bin: "bin", Weight: -1}} {
		if got := sayReason(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
	var b bytes.Buffer
	for n := range 3 {
		b.Reset()
		PrintProbes(&b, nil, make([]probe.Result, shownRefusals+n-1))
		more := map[int]string{2: "  … 1 more\n"}[n]
		if text := b.String(); strings.Contains(text, "more\n") != (more != "") || !strings.HasSuffix(text, more) {
			t.Errorf("%d above the limit:\n%s", n-1, text)
		}
	}
	for level, want := range map[string]bool{"ok": false, "warn": false, "compress": true, "critical": true} {
		p := out.NewPage(true, 80)
		if printContext(p, &carrel.ContextResult{Level: level}); strings.Contains(p.String(), "next    carrel compress") != want {
			t.Errorf("at level %s, want the next step %t:\n%s", level, want, p)
		}
	}
	p := out.NewPage(true, 80)
	if got := drawBar(p, []part{{letter: 'M', share: carrel.ContextShare{Tokens: 1}}, {share: carrel.ContextShare{Tokens: 9}}}, 5); got != "MMMMM" {
		t.Errorf("a window of one token is drawn as %q", got)
	}
	r := &carrel.ContextResult{Used: 40, Capacity: 100, Level: "ok"}
	r.Revision = 7
	at := time.Date(2026, 2, 3, 12, 0, 0, 0, time.Local)
	if printWatched(p, r, at); !strings.HasPrefix(p.String(), clearScreen+"12:00:00  revision 7  interrupt to stop\n") || !strings.Contains(p.String(), "\n40 / 100 tokens (40.0%)\n") {
		t.Errorf("a watched window is %q", p)
	}
	printReport(p, nil, &carrel.ProbeReport{Session: "s-1"})
	pipe := out.NewPage(false, 80)
	if printReport(pipe, nil, &carrel.ProbeReport{Session: "s-1", Drift: &probe.Drift{}}); pipe.String() != "" {
		t.Errorf("the report without rounds is %q", pipe)
	}
}

// The level is a word, and on a terminal has the figures, where the size of the window is known.
func TestLevelsArePrinted(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tty   bool
		level pager.Level
		f     pager.Figures
		want  string
	}{
		{"a pipe", false, "ok", pager.Figures{Window: 4, Effective: 2, Target: 1}, "ok\n"},
		{"a terminal", true, "ok", pager.Figures{Window: 4, Effective: 1, Target: 1}, "ok\n0 tokens, 0.0% of the 1 of the effective window, which is 25.0% of all; compress\ncuts to 1\n"},
		{"a terminal, no size", true, "ok", pager.Figures{}, "ok\n"},
		{"no time to lose", false, pager.LevelCompress, pager.Figures{}, "compress\n"},
	} {
		env, stdout, _ := clitest.Env(t)
		env.StdoutTerminal = tt.tty
		err := printLevel(job.New(env), &carrel.TriggerResult{Advice: pager.Advice{Level: tt.level}, Figures: tt.f})
		if (err != nil) != (tt.level == pager.LevelCompress) || stdout.String() != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, stdout, err, tt.want)
		}
	}
}

// What an export changed or left wrong is noted beside it.
func TestExportsAreNoted(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	res := &carrel.ExportResult{
		Data: []byte("data\n"), Repairs: []transcript.Fix{{Message: 2, What: "a result was missing"}}, Violations: []transcript.Violation{{Rule: "A2", Message: 1, Text: "is odd"}},
	}
	if err := saveExport(job.New(env), res, job.Output{File: "-"}); err != nil || stdout.String() != "data\n" {
		t.Errorf("wrote %q, %v", stdout, err)
	}
	if want := "repaired: message 2: a result was missing\nwarning: as imported: " + res.Violations[0].String() + "\n"; stderr.String() != want {
		t.Errorf("noted %q, want %q", stderr, want)
	}
}

// A watched window is printed at once, and again only when the session has changed.
func TestWindowIsWatched(t *testing.T) {
	env, stdout, _ := clitest.Env(t)
	j := job.New(env)
	settings, err := j.Settings()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		err := j.Over(config.Scratch(), settings, func(a *job.Access) error {
			ctx := t.Context()
			in, err := a.Import(ctx, a.Scope, &carrel.ImportRequest{Name: "a.json", Data: []byte(`{"messages":[{"role":"user","content":"Go."}]}`)})
			if err != nil {
				return err
			}
			watched := make(chan error, 1)
			go func() {
				watched <- watchContext(ctx, j, a, &carrel.ContextRequest{Session: in.Session})
			}()
			lines := func(want int) {
				t.Helper()
				time.Sleep(2 * watchEvery)
				synctest.Wait()
				if got := strings.Count(stdout.String(), "context\t"); got != want {
					t.Errorf("printed %d lines, want %d:\n%s", got, want, stdout)
				}
			}
			lines(1)
			if _, err := a.Mark(ctx, a.Scope, &carrel.MarkRequest{Session: in.Session, Critical: true}); err != nil {
				return err
			}
			lines(2)
			if _, err := a.RemoveSession(ctx, a.Scope, &carrel.SessionRequest{Session: in.Session}); err != nil {
				return err
			}
			if _, err := a.PurgeSession(ctx, a.Scope, &carrel.SessionRequest{Session: in.Session}); err != nil {
				return err
			}
			if err := <-watched; err == nil {
				t.Error("a session that is gone is watched on")
			}
			lines(2)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
