package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/pager"
)

// Each bin of each feature has words, and different bins have different words.
func TestReasonsHaveWords(t *testing.T) {
	for _, f := range append(slices.Concat(facts.FeaturesOfNames(), facts.FeaturesOfLines()), unitFeatures()...) {
		said := make(map[string]string)
		for _, bin := range f.Bins {
			words := sayReason(facts.Contribution{Feature: f.Name, Bin: bin, Weight: -1})
			if words == "− "+f.Name+" "+bin || strings.Contains(words, "%s") {
				t.Errorf("%s %s: %q", f.Name, bin, words)
			}
			if other, twice := said[words]; twice {
				t.Errorf("%s: bins %s and %s are both %q", f.Name, other, bin, words)
			}
			said[words] = bin
		}
	}
}

// unitFeatures returns the features of units of an account.
func unitFeatures() []facts.Feature {
	var all []facts.Feature
	for _, f := range account.Features() {
		all = append(all, facts.Feature{Name: f.Name, Bins: f.Bins})
	}
	return all
}

func TestBecause(t *testing.T) {
	got := becauseWords([]facts.Contribution{
		{Feature: "last", Bin: "<1k", Weight: 900},
		{Feature: "file", Bin: "no-file", Weight: -300},
		{Feature: "file-rank", Bin: "no-file", Weight: -200},
		{Feature: "kind", Bin: "path", Weight: 100},
		{Feature: "count", Bin: "1", Weight: 50},
	})
	if want := "+ last seen <1k tokens ago, − in no file, + a path"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhyHasWords(t *testing.T) {
	for want, c := range map[string]carrel.WhyCall{
		"its result is current":                                       {State: facts.StateCurrent},
		"what it says of a.go is stale: written in 12345678":          {State: facts.StateStale, About: "a.go", By: "1234567890abcdef"},
		"its result is in part there again: in 12345678":              {State: facts.StateRedundant, Part: true, By: "1234567890abcdef"},
		"its result is resolved: it succeeded in 12345678":            {State: facts.StateResolved, By: "1234567890abcdef"},
		"what it says of a.go is superseded: stated anew in 12345678": {State: facts.StateSuperseded, About: "a.go", By: "1234567890abcdef"},
	} {
		if got := callWords(&c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	for r, want := range map[pager.Rule]string{
		"": "none: the strategy decides", pager.RulePin: "pin: stays as it is",
		pager.RuleCorrection: "correction: never leaves, and is whole first", pager.RuleRecent: "recent: never leaves",
	} {
		if got := ruleWords(r); got != want {
			t.Errorf("%q: %q, want %q", r, got, want)
		}
	}
	for want, d := range map[string]pager.BlockDecision{
		"nothing of it kept":          {To: pager.Gone},
		"all of it kept":              {To: pager.Whole},
		"edit, all of it kept":        {To: pager.Bare, Rule: pager.RuleEdit},
		"its id kept":                 {To: pager.Line},
		"1 passage kept":              {To: pager.Lines, Lines: 1},
		"correction, 2 passages kept": {To: pager.Whole, Lines: 2, Rule: pager.RuleCorrection},
	} {
		if got := coverWords(&d); got != want {
			t.Errorf("%+v: %q, want %q", d, got, want)
		}
	}
	for want, h := range map[string]carrel.WhyEntry{
		"pinned":   {Pinned: new(true)},
		"unpinned": {Pinned: new(false)},
		"because":  {Reason: "because"},
		"whole → gone, 1,200 → 0 tokens, step discard":                    {Decision: &pager.BlockDecision{From: pager.Whole, To: pager.Gone, Before: 1200, Step: "discard"}},
		"whole → gone, 1,200 → 0 tokens":                                  {Decision: &pager.BlockDecision{From: pager.Whole, To: pager.Gone, Before: 1200}},
		"stayed whole, pin, retain":                                       {Decision: &pager.BlockDecision{From: pager.Whole, To: pager.Whole, Rule: pager.RulePin, Directive: pager.Retain}},
		"stayed whole, score 0.50, retain":                                {Decision: &pager.BlockDecision{From: pager.Whole, To: pager.Whole, Score: 500_000, Directive: pager.Retain}},
		"whole → line, 90 → 9 tokens, its id kept, step cover":            {Decision: &pager.BlockDecision{From: pager.Whole, To: pager.Line, Before: 90, After: 9, Directive: pager.Retain, Step: pager.StageCover}},
		"whole → line, 90 → 9 tokens, score 0.25, page, budget 5,000":     {Budget: 5000, Decision: &pager.BlockDecision{From: pager.Whole, To: pager.Line, Before: 90, After: 9, Score: 250_000, Directive: pager.Page}},
		"whole → line, 90 → 9 tokens, score 0.25, page, step x, budget 1": {Budget: 1, Decision: &pager.BlockDecision{From: pager.Whole, To: pager.Line, Before: 90, After: 9, Score: 250_000, Directive: pager.Page, Step: "x"}},
	} {
		if got := historyWords(&h); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
	stub := &pager.Stub{Text: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}
	for _, tt := range []clitest.Printing{
		{Name: "no stub", Print: func(p *out.Page) { printStub(p, nil); printStub(p, &pager.Stub{}); p.Line("end") }, Pipe: "end\n", TTY: "end\n"},
		{
			Name: "a long stub", Print: func(p *out.Page) { printStub(p, stub) }, Pipe: "stub\t" + strings.ReplaceAll(stub.Text, "\n", `\n`) + "\n",
			TTY: "stub     1\n         2\n         3\n         4\n         5\n         6\n         7\n         8\n         and 2 lines more\n",
		},
		{Name: "a stub of one line", Print: func(p *out.Page) { printStub(p, &pager.Stub{Text: "1"}) }, Pipe: "stub\t1\n", TTY: "stub     1\n"},
		{
			Name: "what is likely needed", Print: func(p *out.Page) {
				printLikely(p, "name", "a.go", 250_000, true, nil)
				printLikely(p, "line", strings.Repeat("x", 60), 5_000, false, nil)
			}, Pipe: "name\t0.250000\tkept\ta.go\t\nline\t0.005000\tnot kept\t" + strings.Repeat("x", 60) + "\t\n",
			TTY: "name      25.0%  kept      a.go\n" + strings.Repeat(" ", 27) + "\nline       0.5%  not kept  " + strings.Repeat("x", 52) + "…\n" + strings.Repeat(" ", 27) + "\n",
		},
		{
			Name: "units of an account", Print: func(p *out.Page) {
				w := &carrel.WhyAccount{Floor: 1_500_000, Total: 8, Kept: 6}
				for range 6 {
					w.Units = append(w.Units, carrel.WhyUnit{Text: "$\nmake", Kind: "run", Tokens: 3, Worth: 2_000_000, Kept: true})
				}
				w.Units = append(w.Units, carrel.WhyUnit{Text: "go on", Kind: "words", Tokens: 1, In: "1234567890abcdef"}, carrel.WhyUnit{Text: "  ok", Kind: "output", Tokens: 1, Target: 5000})
				printAccount(p, w)
				printAccount(p, &carrel.WhyAccount{})
			}, Pipe: "units\t6\t8\tfloor\t1.500000\n" + strings.Repeat("run\t2.000000\tkept\t$\\nmake\t3 tokens\t\n", 6) +
				"words\t0.000000\tnot kept\tgo on\t1 token, said in 12345678\t\noutput\t0.000000\tnot kept\t  ok\t1 token, back at --target 5,000\t\nunits\t0\t0\tfloor\t0.000000\n",
			TTY: "\naccount  worth    6 of 8 units in the window, floor 1.50×\n" + strings.Repeat("run       2.00×  kept      $ make\n"+strings.Repeat(" ", 27)+"3 tokens: \n", 5) +
				"words     0.00×  not kept  go on\n" + strings.Repeat(" ", 27) + "1 token, said in 12345678: \noutput    0.00×  not kept  ok\n" + strings.Repeat(" ", 27) + "1 token, back at --target 5,000: \n",
		},
		{
			Name: "lines, names and calls", Print: func(p *out.Page) {
				n := &carrel.WhyNeed{Calls: []carrel.WhyCall{{CallID: "c1", State: facts.StateCurrent}}}
				for range 6 {
					n.Lines, n.Names = append(n.Lines, carrel.WhyLine{Text: "l"}), append(n.Names, carrel.WhyName{Name: "n"})
				}
				printNeed(p, n)
			}, Pipe: strings.Repeat("line\t0.000000\tnot kept\tl\t\n", 6) + strings.Repeat("name\t0.000000\tnot kept\tn\t\n", 6) + "call\tc1\tcurrent\t\tits result is current\n",
			TTY: "\nneeded   chance\n" + strings.Repeat("line       0.0%  not kept  l\n"+strings.Repeat(" ", 27)+"\n", 5) + strings.Repeat("name       0.0%  not kept  n\n"+strings.Repeat(" ", 27)+"\n", 5) + "current  its result is current\n",
		},
	} {
		tt.Test(t)
	}
}
