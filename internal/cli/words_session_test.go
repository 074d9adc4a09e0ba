package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

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
	for want, d := range map[string]pager.Decision{
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
		"whole → gone, 1,200 → 0 tokens, step discard":                    {Decision: &pager.Decision{From: pager.Whole, To: pager.Gone, Before: 1200, Step: "discard"}},
		"whole → gone, 1,200 → 0 tokens":                                  {Decision: &pager.Decision{From: pager.Whole, To: pager.Gone, Before: 1200}},
		"stayed whole, pin, retain":                                       {Decision: &pager.Decision{From: pager.Whole, To: pager.Whole, Rule: pager.RulePin, Directive: pager.Retain}},
		"stayed whole, score 0.50, retain":                                {Decision: &pager.Decision{From: pager.Whole, To: pager.Whole, Score: 500_000, Directive: pager.Retain}},
		"whole → line, 90 → 9 tokens, its id kept, step cover":            {Decision: &pager.Decision{From: pager.Whole, To: pager.Line, Before: 90, After: 9, Directive: pager.Retain, Step: pager.StageCover}},
		"whole → line, 90 → 9 tokens, score 0.25, page, budget 5,000":     {Budget: 5000, Decision: &pager.Decision{From: pager.Whole, To: pager.Line, Before: 90, After: 9, Score: 250_000, Directive: pager.Page}},
		"whole → line, 90 → 9 tokens, score 0.25, page, step x, budget 1": {Budget: 1, Decision: &pager.Decision{From: pager.Whole, To: pager.Line, Before: 90, After: 9, Score: 250_000, Directive: pager.Page, Step: "x"}},
	} {
		if got := historyWords(&h); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
	stub := &pager.Stub{Text: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"}
	for _, tt := range []printing{
		{"no stub", func(p *page) { p.stub(nil); p.stub(&pager.Stub{}); p.line("end") }, "end\n", "end\n"},
		{
			"a long stub", func(p *page) { p.stub(stub) }, "stub\t" + strings.ReplaceAll(stub.Text, "\n", `\n`) + "\n",
			"stub     1\n         2\n         3\n         4\n         5\n         6\n         7\n         8\n         and 2 lines more\n",
		},
		{"a stub of one line", func(p *page) { p.stub(&pager.Stub{Text: "1"}) }, "stub\t1\n", "stub     1\n"},
		{
			"what is likely needed", func(p *page) {
				p.likely("name", "a.go", 250_000, true, nil)
				p.likely("line", strings.Repeat("x", 60), 5_000, false, nil)
			}, "name\t0.250000\tkept\ta.go\t\nline\t0.005000\tnot kept\t" + strings.Repeat("x", 60) + "\t\n",
			"name      25.0%  kept      a.go\n" + strings.Repeat(" ", 27) + "\nline       0.5%  not kept  " + strings.Repeat("x", 52) + "…\n" + strings.Repeat(" ", 27) + "\n",
		},
		{
			"units of an account", func(p *page) {
				w := &carrel.WhyAccount{Floor: 1_500_000, Total: 8, Kept: 6}
				for range 6 {
					w.Units = append(w.Units, carrel.WhyUnit{Text: "$\nmake", Kind: "run", Tokens: 3, Worth: 2_000_000, Kept: true})
				}
				w.Units = append(w.Units, carrel.WhyUnit{Text: "go on", Kind: "words", Tokens: 1, In: "1234567890abcdef"}, carrel.WhyUnit{Text: "  ok", Kind: "output", Tokens: 1, Target: 5000})
				p.account(w)
				p.account(&carrel.WhyAccount{})
			}, "units\t6\t8\tfloor\t1.500000\n" + strings.Repeat("run\t2.000000\tkept\t$\\nmake\t3 tokens\t\n", 6) +
				"words\t0.000000\tnot kept\tgo on\t1 token, said in 12345678\t\noutput\t0.000000\tnot kept\t  ok\t1 token, back at --target 5,000\t\nunits\t0\t0\tfloor\t0.000000\n",
			"\naccount  worth    6 of 8 units in the window, floor 1.50×\n" + strings.Repeat("run       2.00×  kept      $ make\n"+strings.Repeat(" ", 27)+"3 tokens: \n", 5) +
				"words     0.00×  not kept  go on\n" + strings.Repeat(" ", 27) + "1 token, said in 12345678: \noutput    0.00×  not kept  ok\n" + strings.Repeat(" ", 27) + "1 token, back at --target 5,000: \n",
		},
		{
			"lines, names and calls", func(p *page) {
				n := &carrel.WhyNeed{Calls: []carrel.WhyCall{{CallID: "c1", State: facts.StateCurrent}}}
				for range 6 {
					n.Lines, n.Names = append(n.Lines, carrel.WhyLine{Text: "l"}), append(n.Names, carrel.WhyName{Name: "n"})
				}
				p.need(n)
			}, strings.Repeat("line\t0.000000\tnot kept\tl\t\n", 6) + strings.Repeat("name\t0.000000\tnot kept\tn\t\n", 6) + "call\tc1\tcurrent\t\tits result is current\n",
			"\nneeded   chance\n" + strings.Repeat("line       0.0%  not kept  l\n"+strings.Repeat(" ", 27)+"\n", 5) + strings.Repeat("name       0.0%  not kept  n\n"+strings.Repeat(" ", 27)+"\n", 5) + "current  its result is current\n",
		},
	} {
		tt.test(t)
	}
}

func TestBlocksArePrinted(t *testing.T) {
	res := &carrel.MessagesResult{
		Floor: 10_000, Target: 50_000, Total: 60_000, Figures: pager.Figures{Window: 200_000, Effective: 100_000, Target: 50_000},
		Messages: []carrel.BlockInfo{
			{ID: "1234567890abcdef", Turn: 1, Kind: transcript.KindUser, State: store.StateLive, Form: pager.Whole, Rule: pager.RulePin, Tokens: 1200, Window: 1200, Preview: "do"},
			{ID: "2234567890abcdef", Turn: 1, Kind: transcript.KindTool, State: store.StateLive, Form: pager.Whole, Tokens: 300, Window: 200, Preview: "done", Discardable: true, Class: "scaffold"},
			{ID: "3234567890abcdef", Turn: 2, Kind: transcript.KindAssistant, State: store.StateLive, Form: pager.Whole, Tokens: 30, Window: 30, Preview: "said", Earlier: 1, Rule: pager.RulePin},
		},
		Branches: []transcript.Branch{{Root: "r", Kind: transcript.BranchFork, Messages: 3, Parent: "p", Leaf: "l"}},
	}
	const pipe = "1234567890abcdef\t1\tuser\tlive\twhole\tpin\t1200\t1200\tdo\t\n2234567890abcdef\t1\ttool\tlive\twhole\t\t300\t200\tdone\tscaffold\n3234567890abcdef\t2\tassistant\tlive\twhole\tpin\t30\t30\tsaid\t\n"
	const measure = "\nwindow  60,000 tokens, 60.0% of the 100,000 of the effective window, which is 50.0% of all; 1 block of 200 tokens may go\n" +
		"target  discard tidies to 50,000 tokens, compress cuts to 50,000, neither by itself below 10,000\n"
	for _, tt := range []printing{
		{
			"a list", func(p *page) { printBlocks(p, res, false) }, pipe,
			"id        turn  kind       state  tokens  window  preview\n12345678     1  user       live    1,200   1,200  [pin] do\n" +
				"22345678     1  tool       live      300     200  (scaffold) done\n32345678     2  assistant  live       30      30  [earlier window 1] said\n" + measure,
		},
		{
			"a tree", func(p *page) { printBlocks(p, res, true) },
			strings.NewReplacer("\tdone", "\t  done", "\tsaid", "\t  said").Replace(pipe) + "r\tfork\t3\tp\tl\n", "",
		},
		{"a tree without branches", func(p *page) {
			printBlocks(p, &carrel.MessagesResult{Messages: res.Messages[:1], Figures: res.Figures, Total: 60_000, Floor: 10_000, Target: 50_000}, true)
		}, strings.SplitAfter(pipe, "\n")[0], "id        turn  kind  state  tokens  window  preview\n12345678     1  user  live    1,200   1,200  [pin] do\n" +
			strings.Replace(measure, "1 block of 200", "0 blocks of 0", 1)},
	} {
		tt.test(t)
	}
}

func TestOperationsArePrinted(t *testing.T) {
	discarded := &carrel.DiscardResult{
		Session: "s-1", Op: "op_1", Before: 2000, After: 1500, Thinking: 30, Target: 50_000, Floor: 10_000, Message: "Go on.",
		Discarded: []carrel.Discarded{{Discard: pager.Discard{Block: "1234567890abcdef", Turn: 2, Priority: 1, Class: "scaffold", Tokens: 470}, Preview: "ls"}},
	}
	paged := &carrel.PageResult{Session: "s-1", Op: "op_1", Before: 2000, After: 1500, Blocks: []carrel.PagedBlock{
		{Block: "1234567890abcdef", Turn: 2, Kind: transcript.KindTool, Changed: true, Before: 600, After: 100}, {Block: "2234567890abcdef", Turn: 3, Kind: transcript.KindTool, Before: 9, After: 9},
	}}
	compression := func(change func(*compressed)) *compressed {
		c := &compressed{CompressResult: &carrel.CompressResult{
			Session: "s-1", Op: "op_1", Strategy: carrel.StrategyWindow, Budget: 1000, Before: 2000, After: 900, Changed: 4, Provider: "anthropic",
			Attempts: []carrel.Attempt{{Strategy: carrel.StrategyWindow, KeepLast: 5, Accepted: true}}, Figures: pager.Figures{Window: 4000, Effective: 2000},
		}, kept: true}
		c.Blocks.Live, c.Blocks.Stub, c.Blocks.Cold = 1200, 2, 3
		change(c)
		return c
	}
	const plan = "plan    window · live 1,200 · stub 2 · cold 3 · 4 change\n"
	const budget = "budget  1,000 tokens, 50.0% of the 2,000 of the effective window, which is 50.0% of all\n"
	const check = "2,000 → 900 tokens (−55.0%)\ncheck   anthropic ok\n"
	const undo = "undo    carrel undo op_1 --session s-1\n"
	for _, tt := range []printing{
		{
			"a discard", func(p *page) { printDiscard(p, discarded, false) },
			"1234567890abcdef\t2\t1\tscaffold\t470\tls\nsession\ts-1\nop\top_1\nbefore\t2000\nafter\t1500\nthinking\t30\ntarget\t50000\nfloor\t10000\ncontinue\tGo on.\n",
			"id        turn  first  class     tokens  preview\n12345678     2      1  scaffold     470  ls\n\napply  2,000 → 1,500 tokens (−25.0%), target 50,000, floor 10,000\n" +
				"       of that 30 are thinking that would not be valid any more\nundo   carrel undo op_1 --session s-1\nGo on.\n",
		},
		{"a discard that would do nothing", func(p *page) {
			printDiscard(p, &carrel.DiscardResult{Session: "s-1", Before: 2000, After: 2000, Message: "Go on."}, true)
		}, "", "would  2,000 → 2,000 tokens (+0.0%), target 0, floor 0\ndry run: nothing was written\n"},
		{
			"pages", func(p *page) { printPaged(p, paged, false) },
			"1234567890abcdef\t2\ttool\tnow\t600\t100\n2234567890abcdef\t3\ttool\talready\t9\t9\nsession\ts-1\nop\top_1\nbefore\t2000\nafter\t1500\n",
			"id        turn  kind           before  after\n12345678     2  tool  now         600    100\n22345678     3  tool  already       9      9\n\nwindow 2,000 → 1,500 tokens\nundo   carrel undo op_1 --session s-1\n",
		},
		{
			"pages that would be", func(p *page) { r := *paged; r.Op, r.Blocks = "", r.Blocks[:1]; printPaged(p, &r, true) }, "",
			"id        turn  kind       before  after\n12345678     2  tool  now     600    100\n\nwindow 2,000 → 1,500 tokens\ndry run: nothing was written\n",
		},
		{"a compression", func(p *page) { compression(func(*compressed) {}).print(p) }, plan + budget + "apply   " + check + undo, ""},
		{"one that would be", func(p *page) { compression(func(c *compressed) { c.dry = true }).print(p) }, plan + budget + "would   " + check + "dry run: nothing was written\n", ""},
		{"one of a file", func(p *page) { compression(func(c *compressed) { c.kept = false }).print(p) }, plan + budget + "apply   " + check, ""},
		{"one with several tries, warnings and things to do", func(p *page) {
			compression(func(c *compressed) {
				c.Attempts = append([]carrel.Attempt{{Strategy: carrel.StrategyWindow, KeepLast: 9}}, c.Attempts...)
				c.Warnings, c.Share, c.Leaves, c.Stays = []string{"w"}, ratio.One/2, 1800, 100
				c.Todos = []carrel.Todo{{Content: "mend the lamp", Status: "completed", Completed: true}, {Content: "sleep", Status: "pending"}}
			}).print(p)
		}, plan + "budget  1,000 = 50.0% of 1,800 tokens of conversation + 100 fixed\ntries   1 window, last 9 as they are, not accepted\n        2 window, last 5 as they are, accepted\nwarning w\napply   " +
			check + "todos   1 of 2 done now\n        [x] mend the lamp\n" + undo, ""},
		{"one that has nothing to do", func(p *page) {
			compression(func(c *compressed) { c.Attempts, c.Todos = nil, []carrel.Todo{{Content: "sleep"}} }).print(p)
		}, "fits    2,000 tokens are within the budget: nothing to do\n" + budget + "todos   0 of 1 done now\n", ""},
		{
			"stats", func(p *page) {
				r := &carrel.StatsResult{Calls: 1, Total: 1200, TokensPerTask: 600, Rounds: 2, Tasks: []carrel.TaskStats{{Task: 1, Block: "1234567890abcdef", Turns: 2, Calls: 1, Read: 5, Written: 6, Total: 11, Preview: " go "}}}
				r.Session = "s-1"
				printStats(p, r)
			}, "1\t1234567890abcdef\t2\t1\t5\t6\t11\tgo\nsession\ts-1\ncalls\t1\ntotal\t1200\ntokens_per_task\t600\ncompressions\t2\n",
			"task  block     turns  calls  read  written  total  asks\n   1  12345678      2      1     5        6     11  go\n\nsession s-1: 1 call, 1,200 tokens in all, 2 compressions\ntokens_per_task 600\n",
		},
		{"stats of no task", func(p *page) { printStats(p, &carrel.StatsResult{}) }, "", "\nsession : 0 calls, 0 tokens in all, 0 compressions\ntokens_per_task 0\n"},
	} {
		tt.test(t)
	}
}

func TestImportsAreAddedUp(t *testing.T) {
	file := func(session transcript.SessionID, change func(*carrel.ImportResult)) importedFile {
		r := &carrel.ImportResult{Format: "claudecode", Messages: 10, Added: 1}
		r.Session, r.Tokens = session, 100
		change(r)
		return importedFile{File: "f", ImportResult: r}
	}
	r := &importReport{Files: []importedFile{
		file("a", func(r *carrel.ImportResult) {
			r.Changed, r.Earlier = true, 4
			r.Branches = []transcript.Branch{{Kind: transcript.BranchFork}, {Kind: transcript.BranchFork}, {Kind: transcript.BranchSidechain}, {Kind: transcript.BranchCompacted}}
		}),
		file("a", func(*carrel.ImportResult) {}),
		file("b", func(r *carrel.ImportResult) { r.Format = "anthropic" }),
		{File: "bad", Error: &api.Problem{}},
		file("c", func(r *carrel.ImportResult) { r.Warnings = make([]transcript.Warning, 3) }),
	}, Failed: 1, Skipped: 2, first: errors.New("first")}
	r.sum()
	want := "anthropic\t1\t1\t10\t100\t0\t0\t0\nclaudecode\t3\t2\t30\t300\t2\t1\t3\nskipped\t2\nfailed\t1\n"
	for _, tt := range []printing{
		{"a report", func(p *page) { r.print(p) }, want, "format      files  sessions  messages  tokens  forks  changed  warnings\nanthropic       1         1        10     100      0        0         0\nclaudecode      3         2        30     300      2        1         3\n2 skipped, 1 failed\n"},
		{"nothing", func(p *page) { (&importReport{DryRun: true}).print(p) }, "skipped\t0\nfailed\t0\n", "0 skipped, 0 failed\ndry run: nothing was written\n"},
	} {
		tt.test(t)
	}
	if c := r.Formats[1]; c.Sidechain != 1 || c.Compacted != 1 || c.Earlier != 4 {
		t.Errorf("%+v", c)
	}
	if _, ok := errors.AsType[*someFailed](r.err()); !ok {
		t.Errorf("one of five: %v", r.err())
	}
	if one := (&importReport{Files: r.Files[3:4], Failed: 1, first: r.first}); !errors.Is(one.err(), r.first) || one.err() != r.first { //nolint:errorlint // it is the error itself
		t.Errorf("one of one: %v", one.err())
	}
	if err := (&importReport{}).err(); err != nil {
		t.Error(err)
	}
}

func TestMemoriesArePrinted(t *testing.T) {
	a := &access{opts: &carrel.Options{Confidence: 700_000}}
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
	for _, tt := range []printing{
		{"as much as is known", func(p *page) {
			printReview(p, &carrel.ReviewEntry{
				Artifact: carrel.Artifact{ID: "a1", Status: store.StatusHeld, Class: provenance.Memory, Created: created, Title: "t"}, Text: "one\ntwo\u202e\n", Reason: "r",
				Evaluator: "rules", Confidence: 500_000, Reasons: []assembly.Reason{assembly.ReasonBelow}, Manifest: "m_1",
				From: []carrel.Artifact{{ID: "a0", Class: provenance.Tool, Status: store.StatusLive, Title: "from"}},
			}, a)
		}, "id\ta1\nstatus\theld\nclass\tmemory\ncreated\t2026-01-02T03:04:05Z\nverdict\tconfidence 0.5 by rules\nreasons\tconfidence 0.5 < 0.7\ncontext\tm_1\ntitle\tt\ndecided\tbecause r\nhidden\t1 character made visible\nfrom\ta0\ttool\tlive\tfrom\n\none\ntwo[U+202E]\n", ""},
		{"as little", func(p *page) {
			printReview(p, &carrel.ReviewEntry{Artifact: carrel.Artifact{ID: "a1", Status: store.StatusHeld, Class: provenance.Memory, Created: created}, Text: "one"}, a)
		}, "id\ta1\nstatus\theld\nclass\tmemory\ncreated\t2026-01-02T03:04:05Z\nverdict\tconfidence 0 by nobody\nreasons\t\ncontext\tno context\n\none\n", ""},
	} {
		tt.test(t)
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
			env, stdout, _ := newEnv(t)
			env.StdoutTerminal = tty
			r := tt.r
			if err := (&globals{env: env, color: "never"}).printRemoval(&r); err != nil || stdout.String() != want {
				t.Errorf("%+v, on a terminal %v: %q, %v, want %q", tt.r, tty, stdout, err, want)
			}
		}
	}
}

func TestContradictionsArePrinted(t *testing.T) {
	env, _, stderr := newEnv(t)
	(&globals{env: env}).printContract(&api.Problem{
		Conflict: &api.Contradiction{Decision: "tabs", Others: []api.Contradicting{{Decision: "spaces", List: contract.TrackedDecisions, About: "indent", Value: "4"}}},
		Failures: []contract.Failure{{Line: 3, Kind: contract.FailedPin, Text: "out"}},
	})
	want := "  new     tabs    \n  stands  spaces  in " + string(contract.TrackedDecisions) + ": indent is 4\nways on:\n" +
		"  --on-conflict override  the new one takes the place of the other, which is recorded\n" +
		"  --on-conflict defer     the new one becomes an open question\n" +
		"  --on-conflict comply    the new one is dropped\n  line 3: " + string(contract.FailedPin) + ": out\n"
	if got := stderr.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestWindowsArePrinted(t *testing.T) {
	r := &carrel.ContextResult{
		Capacity: 10_000, Used: 4000, Free: 5000, Reserved: 1000, Level: "ok", Ops: 1,
		Fixed: carrel.ContextShare{Tokens: 500}, System: carrel.ContextShare{Blocks: 1, Tokens: 500, Stands: 500}, Pinned: carrel.ContextShare{Blocks: 1, Tokens: 1000, Stands: 1000},
		Live: carrel.ContextShare{Blocks: 2, Tokens: 1000, Stands: 1000}, Stubs: carrel.ContextShare{Blocks: 3, Tokens: 500, Stands: 5000}, Summary: carrel.ContextShare{Blocks: 4, Tokens: 500, Stands: 6000},
		Cold:    carrel.ContextShare{Blocks: 1, Stands: 700},
		Figures: pager.Figures{Window: 10_000, Effective: 8000, Warn: 4800, Compress: 5600, Critical: 6800, Target: 4000, Tidy: 4000, Floor: 2000},
	}
	r.Session, r.Messages = "s-1", 3
	const measures = "level   ok: 50.0% of the 8,000 tokens of the effective window, which is 80.0% of all\n        of it: warn from 4,800 tokens (60.0%), compress from 5,600 tokens (70.0%), critical from 6,800 tokens (85.0%)\n" +
		"target  compress cuts to 4,000 tokens (50.0%) of it, discard tidies to 4,000 tokens (50.0%), neither by itself below 2,000 tokens (25.0%)\n"
	const bar = "[###ssssPPPPPPPPAAAAMMMMMMMMoooo.......................................bbbbbbbb]"
	const rows = "  fixed     framing and tools                   500    5.0%\n  system    1 block system text                 500    5.0%\n  pinned    1 block under hard rules          1,000   10.0%\n" +
		"  summary   1 item in place of others           500    5.0%   stands for 6,000\n  live      2 blocks as they came in          1,000   10.0%\n  stubs     in place of 3 blocks                500    5.0%   of 5,000, all recallable\n" +
		"  cold      1 block out of the window             0    0.0%   of 700, all recallable\n"
	const rest = "  free                                        5,000   50.0%\n  reserved  for the reply                     1,000   10.0%\n\n"
	later := *r
	later.Model, later.Level, later.Sent, later.Earlier = "m-1", "critical", 4321, carrel.ContextShare{Blocks: 2, Stands: 90}
	for _, tt := range []printing{
		{
			"a window", func(p *page) { printContext(p, r) },
			"session\ts-1\ncapacity\t10000\nused\t4000\nlevel\tok\nfixed\t500\t5.0%\t0\t0\nsystem\t500\t5.0%\t1\t500\npinned\t1000\t10.0%\t1\t1000\nsummary\t500\t5.0%\t4\t6000\nlive\t1000\t10.0%\t2\t1000\n" +
				"stubs\t500\t5.0%\t3\t5000\ncold\t0\t0.0%\t1\t700\nfree\t5000\t50.0%\t0\t0\nreserved\t1000\t10.0%\t0\t0\n",
			"session s-1 · unknown model · 3 messages, 1 operation\n4,000 / 10,000 tokens (40.0%)\n" + bar + "\n\n" + rows + rest + measures,
		},
		{
			"a window that is almost full", func(p *page) { printContext(p, &later) },
			"session\ts-1\ncapacity\t10000\nused\t4000\nlevel\tcritical\nsent\t4321\nfixed\t500\t5.0%\t0\t0\nsystem\t500\t5.0%\t1\t500\npinned\t1000\t10.0%\t1\t1000\nsummary\t500\t5.0%\t4\t6000\nlive\t1000\t10.0%\t2\t1000\n" +
				"stubs\t500\t5.0%\t3\t5000\ncold\t0\t0.0%\t1\t700\nearlier\t0\t0.0%\t2\t90\nfree\t5000\t50.0%\t0\t0\nreserved\t1000\t10.0%\t0\t0\n",
			"session s-1 · m-1 · 3 messages, 1 operation\n4,000 / 10,000 tokens (40.0%)\n" + bar + "\n\n" + rows + "  earlier   2 blocks of windows before            0    0.0%   of 90, all recallable\n" + rest +
				"sent    4,321 tokens in the agent's newest request\n" + strings.Replace(measures, "level   ok", "level   critical", 1) + "next    carrel compress s-1\n",
		},
	} {
		tt.test(t)
	}
}

func TestTimesAreAges(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]any{
		0: "0 min", time.Hour - 1: "59 min", time.Hour: "1 h", 48*time.Hour - 1: "47 h", 48 * time.Hour: "2 d", 71 * time.Hour: "2 d", 72 * time.Hour: "3 d",
		-1: now.Add(1),
	} {
		if got := (&page{tty: true}).when(now.Add(-age), now); got != want {
			t.Errorf("%v ago: %v, want %v", age, got, want)
		}
	}
	if got := (&page{}).when(now.Add(-time.Hour), now); got != now.Add(-time.Hour) {
		t.Errorf("for a pipe: %v", got)
	}
}
