package artifact

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/triage"
)

// A line about a figure is printed from 1 on, and not for 0.
func TestLinesAreOfFigures(t *testing.T) {
	a := &job.Access{Scope: "local", Opts: &carrel.Options{Triage: triage.DefaultPolicy()}}
	for _, tt := range []struct {
		line  string
		print func(p *out.Page, n int)
	}{
		{"0 + 1 reserved / 9 tok", func(p *out.Page, n int) {
			printAssembled(p, a, &assembled{AssembleResult: &carrel.AssembleResult{Budget: 9, Reserve: token.Count(n)}}, &assembleFlags{}, &carrel.AssembleRequest{})
		}},
		{"scored closely: 1\n  tag", func(p *out.Page, n int) { printTraced(p, make([]scoredLine, n)) }},
		{"tokens      0 of 1,", func(p *out.Page, n int) {
			s := whole()
			s.Total, s.Budget = 0, token.Count(n)
			printManifest(p, s, false)
		}},
		{"redacted    1 item", func(p *out.Page, n int) {
			s := whole()
			s.redacted = n
			printManifest(p, s, false)
		}},
		{"\n\nleft out  1", func(p *out.Page, n int) {
			p.Line("")
			printLeft(p, &page{left: map[manifest.Reason]int{manifest.ReasonExpired: n}}, false)
		}},
		{"\n+  note", func(p *out.Page, n int) {
			printDelta(p, &manifest.Delta{Added: []manifest.ItemChange{{Ref: "note", After: &manifest.Segment{Kind: manifest.KindArtifact}}}[:n]})
		}},
	} {
		for n := range 2 {
			p := out.NewPage(true, 120)
			if tt.print(p, n); strings.Contains(p.String(), tt.line) != (n == 1) {
				t.Errorf("with %d, want %q for 1:\n%s", n, tt.line, p)
			}
		}
	}
}

// A result is printed with what is known of it, on a terminal.
func TestResultsOnATerminal(t *testing.T) {
	day := time.Date(2026, 2, 4, 12, 0, 0, 0, time.UTC)
	verified := func(erased, redacted int) func(j *job.Job) error {
		return func(j *job.Job) error {
			return printVerified(j, &carrel.VerifyResult{Manifest: "m_1", Erased: erased, Redacted: redacted}, true)
		}
	}
	scored := func(problem, warning string) func(j *job.Job) error {
		return func(j *job.Job) error {
			e := carrel.ScoredEntry{Artifact: carrel.Artifact{ID: "a1", Title: "one"}, Problem: problem}
			return printTriage(j, &carrel.TriageResult{Scored: []carrel.ScoredEntry{e}, Warning: warning})
		}
	}
	for _, tt := range []struct {
		name       string
		print      func(j *job.Job) error
		has, lacks []string
	}{
		{"what was erased", verified(1, 0), []string{"erased    1 segment\n"}, []string{"redacted"}},
		{"what was redacted", verified(0, 1), []string{"redacted  1 item\n"}, []string{"erased"}},
		{"neither", verified(0, 0), nil, []string{"erased", "redacted"}},
		{"a candidate with a problem", scored("no text", "no model"), []string{"one (no text)\n", "warning: no model\n"}, nil},
		{"a candidate", scored("", ""), []string{"one\n"}, []string{"(", "warning"}},
		{"a log of none", func(j *job.Job) error { return printLog(j, nil) }, nil, []string{"version"}},
		{"a log of one", func(j *job.Job) error { return printLog(j, []store.Entry{{Revision: 1, Op: "put"}}) }, []string{"version", "put"}, nil},
		{"one cell", func(j *job.Job) error {
			return printRemoval(j, &removal{Op: "purge", RemovalResult: &carrel.RemovalResult{Cells: 1}})
		}, []string{"purged 0 artifacts, 1 cell erased\n"}, nil},
	} {
		env, stdout, stderr := clitest.Env(t)
		env.StdoutTerminal = true
		err := tt.print(job.New(env))
		text := stdout.String() + stderr.String()
		for _, s := range tt.has {
			if !strings.Contains(text, s) {
				t.Errorf("%s: want %q in\n%s", tt.name, s, text)
			}
		}
		for _, s := range tt.lacks {
			if strings.Contains(text, s) {
				t.Errorf("%s: want no %q in\n%s", tt.name, s, text)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	p := out.NewPage(false, 80)
	printArtifact(p, &carrel.GetResult{Artifact: carrel.Artifact{ID: "a1", Expires: day}})
	if !strings.Contains(p.String(), "\t2026-02-04T12:00:00Z\n") {
		t.Errorf("an artifact that expires is printed as\n%s", p)
	}
	env, stdout, _ := clitest.Env(t)
	if err := printRemoval(job.New(env), &removal{Op: "purge", RemovalResult: &carrel.RemovalResult{Cells: 1}}); err != nil || stdout.String() != "cells\t1\n" {
		t.Errorf("one cell is printed as %q, %v", stdout, err)
	}
}

func TestWordsOfArtifacts(t *testing.T) {
	policy := triage.DefaultPolicy()
	policy.Trust = policy.Classes[provenance.Tool].Rank
	for _, c := range provenance.Classes() {
		trusted := policy.Classes[c].Rank >= policy.Trust
		if words := " or " + distrusted(policy) + " or "; strings.Contains(words, " or "+string(c)+" or ") == trusted {
			t.Errorf("%s is trusted %t, and distrusted are %q", c, trusted, words)
		}
	}
	for verdict, want := range map[string]string{"": "name the evaluator with --evaluator", "v.json": "name another evaluator"} {
		fl := &commitFlags{verdict: verdict}
		if got := fl.afterGate(&carrel.CommitResult{Reasons: []assembly.Reason{assembly.ReasonUnnamed}}); !strings.HasPrefix(got, want) {
			t.Errorf("with the verdict %q: %q, want %q", verdict, got, want)
		}
	}
	for name, want := range map[string]bool{"https://a/b": true, "file:/a": true, "mcp:a/b": true, "ftp://a/b": false, "git:a": false, "a.txt": false} {
		if _, got := refOf(name); got != want {
			t.Errorf("%s names a source: %t, want %t", name, got, want)
		}
	}
	for _, tt := range []struct {
		f    putFlags
		args []string
		ok   bool
	}{
		{putFlags{lines: "f", title: "t"}, nil, true},
		{putFlags{class: "doc", title: "t"}, []string{"a"}, true},
		{putFlags{class: "doc", title: "t"}, []string{"a", "b"}, false},
	} {
		if err := tt.f.check(tt.args); (err == nil) != tt.ok {
			t.Errorf("%+v with %q: %v", tt.f, tt.args, err)
		}
	}
}

// A demand is a number of tokens where there is a budget, and else a share of it.
func TestDemandsAreTokensOrShares(t *testing.T) {
	for _, tt := range []struct {
		in         string
		budget     token.Count
		demand, of int64
		ok         bool
	}{
		{"80", 1, 80, 1, true},
		{"1_000", 100, 1000, 100, true},
		{"0.8", 100, 800_000, int64(ratio.One), true},
		{"1", 0, int64(ratio.One), int64(ratio.One), true},
		{"92233720368547758", 5, math.MaxInt64 / 100, 5, true},
		{"92233720368547759", 5, 0, 0, false},
		{"99999999999999999999", 5, 0, 0, false},
		{"_", 5, 0, 0, false},
	} {
		demand, of, err := parseDemand(tt.in, tt.budget)
		if demand != tt.demand || of != tt.of || (err == nil) != tt.ok {
			t.Errorf("parseDemand(%q, %d) = %d, %d, %v, want %d, %d", tt.in, tt.budget, demand, of, err, tt.demand, tt.of)
		}
	}
}

// The size of a page is a whole number from 1 on.
func TestTracedSizes(t *testing.T) {
	for size, ok := range map[string]bool{"1": true, "2": true, "0": false, "-1": false, "x": false} {
		step, err := replayLine(artifact.NewPages[struct{}](2), []string{"get", "a", size})
		if (err == nil) != ok || ok && step.Result != "fault" {
			t.Errorf("a page of %s: %+v, %v", size, step, err)
		}
	}
}
