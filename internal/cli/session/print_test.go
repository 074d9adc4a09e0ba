package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

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
	for _, tt := range []clitest.Printing{
		{
			Name: "a list", Print: func(p *out.Page) { printBlocks(p, res, res.Messages, false) }, Pipe: pipe,
			TTY: "id        turn  kind       state  tokens  window  preview\n12345678     1  user       live    1,200   1,200  [pin] do\n" +
				"22345678     1  tool       live      300     200  (scaffold) done\n32345678     2  assistant  live       30      30  [earlier window 1] said\n" + measure,
		},
		{
			Name: "a tree", Print: func(p *out.Page) { printBlocks(p, res, res.Messages, true) },
			Pipe: strings.NewReplacer("\tdone", "\t  done", "\tsaid", "\t  said").Replace(pipe) + "r\tfork\t3\tp\tl\n",
			TTY: "id        turn  kind       state  tokens  window  preview\n12345678     1  user       live    1,200   1,200  [pin] do\n" +
				"22345678     1  tool       live      300     200  (scaffold)   done\n32345678     2  assistant  live       30      30  [earlier window 1]   said\n" + measure +
				"\nbranch  kind  messages  from  to\nr       fork         3  p     l\n",
		},
		{Name: "a tree without branches", Print: func(p *out.Page) {
			printBlocks(p, &carrel.MessagesResult{Messages: res.Messages[:1], Figures: res.Figures, Total: 60_000, Floor: 10_000, Target: 50_000}, res.Messages[:1], true)
		}, Pipe: strings.SplitAfter(pipe, "\n")[0], TTY: "id        turn  kind  state  tokens  window  preview\n12345678     1  user  live    1,200   1,200  [pin] do\n" +
			strings.Replace(measure, "1 block of 200", "0 blocks of 0", 1)},
		{Name: "an excerpt has the figures of the window", Print: func(p *out.Page) {
			printBlocks(p, &carrel.MessagesResult{Messages: res.Messages[:1], Figures: res.Figures, Total: 60_000, Floor: 10_000, Target: 50_000}, res.Messages, false)
		}, Pipe: strings.SplitAfter(pipe, "\n")[0], TTY: "id        turn  kind  state  tokens  window  preview\n12345678     1  user  live    1,200   1,200  [pin] do\n" + measure},
	} {
		tt.Test(t)
	}
	kept := []carrel.BlockInfo{{Discardable: true, Window: 3}, {Discardable: true, Rule: pager.RulePin, Window: 5}, {Window: 7}, {Discardable: true, Window: 4}}
	if may, free := mayGo(kept); may != 2 || free != 7 {
		t.Errorf("%d blocks of %d tokens may go, want 2 of 7", may, free)
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
	for _, tt := range []clitest.Printing{
		{
			Name: "a discard", Print: func(p *out.Page) { printDiscard(p, discarded, false) },
			Pipe: "1234567890abcdef\t2\t1\tscaffold\t470\tls\nsession\ts-1\nop\top_1\nbefore\t2000\nafter\t1500\nthinking\t30\ntarget\t50000\nfloor\t10000\ncontinue\tGo on.\n",
			TTY: "id        turn  first  class     tokens  preview\n12345678     2      1  scaffold     470  ls\n\napply  2,000 → 1,500 tokens (−25.0%), target 50,000, floor 10,000\n" +
				"       of that 30 are thinking that would not be valid any more\nundo   carrel undo op_1 --session s-1\nGo on.\n",
		},
		{Name: "a discard that would do nothing", Print: func(p *out.Page) {
			printDiscard(p, &carrel.DiscardResult{Session: "s-1", Before: 2000, After: 2000, Message: "Go on."}, true)
		}, Pipe: "", TTY: "would  2,000 → 2,000 tokens (+0.0%), target 0, floor 0\ndry run: nothing was written\n"},
		{
			Name: "pages", Print: func(p *out.Page) { printPaged(p, paged, false) },
			Pipe: "1234567890abcdef\t2\ttool\tnow\t600\t100\n2234567890abcdef\t3\ttool\talready\t9\t9\nsession\ts-1\nop\top_1\nbefore\t2000\nafter\t1500\n",
			TTY:  "id        turn  kind           before  after\n12345678     2  tool  now         600    100\n22345678     3  tool  already       9      9\n\nwindow 2,000 → 1,500 tokens\nundo   carrel undo op_1 --session s-1\n",
		},
		{
			Name: "pages that would be", Print: func(p *out.Page) { r := *paged; r.Op, r.Blocks = "", r.Blocks[:1]; printPaged(p, &r, true) }, Pipe: "",
			TTY: "id        turn  kind       before  after\n12345678     2  tool  now     600    100\n\nwindow 2,000 → 1,500 tokens\ndry run: nothing was written\n",
		},
		{Name: "a compression", Print: func(p *out.Page) { compression(func(*compressed) {}).print(p) }, Pipe: plan + budget + "apply   " + check + undo, TTY: ""},
		{Name: "one that would be", Print: func(p *out.Page) { compression(func(c *compressed) { c.dry = true }).print(p) }, Pipe: plan + budget + "would   " + check + "dry run: nothing was written\n", TTY: ""},
		{Name: "one of a file", Print: func(p *out.Page) { compression(func(c *compressed) { c.kept = false }).print(p) }, Pipe: plan + budget + "apply   " + check, TTY: ""},
		{Name: "one with several tries, warnings and things to do", Print: func(p *out.Page) {
			compression(func(c *compressed) {
				c.Attempts = append([]carrel.Attempt{{Strategy: carrel.StrategyWindow, KeepLast: 9}}, c.Attempts...)
				c.Warnings, c.Share, c.Leaves, c.Stays = []string{"w"}, ratio.One/2, 1800, 100
				c.Todos = []carrel.Todo{{Content: "mend the lamp", Status: "completed", Completed: true}, {Content: "sleep", Status: "pending"}}
			}).print(p)
		}, Pipe: plan + "budget  1,000 = 50.0% of 1,800 tokens of conversation + 100 fixed\ntries   1 window, newest 9 blocks whole, not accepted\n        2 window, newest 5 blocks whole, accepted\nwarning w\napply   " +
			check + "todos   1 of 2 done now\n        [x] mend the lamp\n" + undo, TTY: ""},
		{Name: "one that has nothing to do", Print: func(p *out.Page) {
			compression(func(c *compressed) { c.Attempts, c.Todos = nil, []carrel.Todo{{Content: "sleep"}} }).print(p)
		}, Pipe: "fits    2,000 tokens are within the budget: nothing to do\n" + budget + "todos   0 of 1 done now\n", TTY: ""},
		{
			Name: "stats", Print: func(p *out.Page) {
				r := &carrel.StatsResult{Calls: 1, Total: 1200, TokensPerTask: 600, Rounds: 2, Tasks: []carrel.TaskStats{{Task: 1, Block: "1234567890abcdef", Turns: 2, Calls: 1, Read: 5, Written: 6, Total: 11, Preview: " go "}}}
				r.Session = "s-1"
				printStats(p, r)
			}, Pipe: "1\t1234567890abcdef\t2\t1\t5\t6\t11\tgo\nsession\ts-1\ncalls\t1\ntotal\t1200\ntokens_per_task\t600\ncompressions\t2\n",
			TTY: "task  block     turns  calls  read  written  total  asks\n   1  12345678      2      1     5        6     11  go\n\nsession s-1: 1 call, 1,200 tokens in all, 2 compressions\ntokens_per_task 600\n",
		},
		{Name: "stats of no task", Print: func(p *out.Page) { printStats(p, &carrel.StatsResult{}) }, Pipe: "", TTY: "\nsession : 0 calls, 0 tokens in all, 0 compressions\ntokens_per_task 0\n"},
	} {
		tt.Test(t)
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
	for _, tt := range []clitest.Printing{
		{Name: "a report", Print: func(p *out.Page) { r.print(p) }, Pipe: want, TTY: "format      files  sessions  messages  tokens  forks  changed  warnings\nanthropic       1         1        10     100      0        0         0\nclaudecode      3         2        30     300      2        1         3\n2 skipped, 1 failed\n"},
		{Name: "nothing", Print: func(p *out.Page) { (&importReport{DryRun: true}).print(p) }, Pipe: "skipped\t0\nfailed\t0\n", TTY: "0 skipped, 0 failed\ndry run: nothing was written\n"},
	} {
		tt.Test(t)
	}
	if c := r.Formats[1]; c.Sidechain != 1 || c.Compacted != 1 || c.Earlier != 4 {
		t.Errorf("%+v", c)
	}
	if out.KindOf(r.err()) != out.KindSomeFiles {
		t.Errorf("one of five: %v", r.err())
	}
	if one := (&importReport{Files: r.Files[3:4], Failed: 1, first: r.first}); !errors.Is(one.err(), r.first) || one.err() != r.first { //nolint:errorlint // it is the error itself
		t.Errorf("one of one: %v", one.err())
	}
	if err := (&importReport{}).err(); err != nil {
		t.Error(err)
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
	const bar = "[####sssssPPPPPPPPPAAAAMMMMMMMMMooooo.............................................bbbbbbbbb]"
	const rows = "  fixed     framing and tools                   500    5.0%\n  system    1 block system text                 500    5.0%\n  pinned    1 block under hard rules          1,000   10.0%\n" +
		"  summary   1 item in place of others           500    5.0%   stands for 6,000\n  live      2 blocks as they came in          1,000   10.0%\n  stubs     in place of 3 blocks                500    5.0%   of 5,000, all recallable\n" +
		"  cold      1 block out of the window             0    0.0%   of 700, all recallable\n"
	const rest = "  free                                        5,000   50.0%\n  reserved  for the reply                     1,000   10.0%\n\n"
	later := *r
	later.Model, later.Level, later.Sent, later.Earlier = "m-1", "critical", 4321, carrel.ContextShare{Blocks: 2, Stands: 90}
	for _, tt := range []clitest.Printing{
		{
			Name: "a window", Print: func(p *out.Page) { printContext(p, r) },
			Pipe: "session\ts-1\ncapacity\t10000\nused\t4000\nlevel\tok\nfixed\t500\t5.0%\t0\t0\nsystem\t500\t5.0%\t1\t500\npinned\t1000\t10.0%\t1\t1000\nsummary\t500\t5.0%\t4\t6000\nlive\t1000\t10.0%\t2\t1000\n" +
				"stubs\t500\t5.0%\t3\t5000\ncold\t0\t0.0%\t1\t700\nfree\t5000\t50.0%\t0\t0\nreserved\t1000\t10.0%\t0\t0\n",
			TTY: "session s-1 · unknown model · 3 messages, 1 operation\n4,000 / 10,000 tokens (40.0%)\n" + bar + "\n\n" + rows + rest + measures,
		},
		{
			Name: "a window that is almost full", Print: func(p *out.Page) { printContext(p, &later) },
			Pipe: "session\ts-1\ncapacity\t10000\nused\t4000\nlevel\tcritical\nsent\t4321\nfixed\t500\t5.0%\t0\t0\nsystem\t500\t5.0%\t1\t500\npinned\t1000\t10.0%\t1\t1000\nsummary\t500\t5.0%\t4\t6000\nlive\t1000\t10.0%\t2\t1000\n" +
				"stubs\t500\t5.0%\t3\t5000\ncold\t0\t0.0%\t1\t700\nearlier\t0\t0.0%\t2\t90\nfree\t5000\t50.0%\t0\t0\nreserved\t1000\t10.0%\t0\t0\n",
			TTY: "session s-1 · m-1 · 3 messages, 1 operation\n4,000 / 10,000 tokens (40.0%)\n" + bar + "\n\n" + rows + "  earlier   2 blocks of windows before            0    0.0%   of 90, all recallable\n" + rest +
				"sent    4,321 tokens in the agent's newest request\n" + strings.Replace(measures, "level   ok", "level   critical", 1) + "next    carrel compress s-1\n",
		},
	} {
		tt.Test(t)
	}
	narrow := out.NewPage(true, 1)
	if printContext(narrow, r); !strings.Contains(narrow.String(), "[]") {
		t.Errorf("in one column:\n%s", narrow)
	}
}

func TestCompressionsArePrinted(t *testing.T) {
	attempt := func(change func(*carrel.Attempt)) carrel.Attempt {
		a := carrel.Attempt{Strategy: carrel.StrategyAnchored, KeepLast: 5, Accepted: true}
		change(&a)
		return a
	}
	for want, a := range map[string]carrel.Attempt{
		"anchored, newest 5 blocks whole, accepted": attempt(func(*carrel.Attempt) {}),
		"anchored by m-1, summary up to 12.5% of the budget, newest 5 blocks whole: 3 of 4 probes, accepted": attempt(func(a *carrel.Attempt) {
			a.Model, a.Detail, a.Passed, a.Probes = "m-1", 125_000, 3, 4
		}),
		"anchored, summary up to 12% of the budget, newest 5 blocks whole: 0 of 1 probes, not accepted": attempt(func(a *carrel.Attempt) {
			a.Detail, a.Probes, a.Accepted = 120_000, 1, false
		}),
		"anchored, newest 5 blocks whole: one was lost; another": attempt(func(a *carrel.Attempt) {
			a.Accepted, a.Reasons, a.RedFlags = false, []string{"one was lost", "another"}, []string{"odd"}
		}),
		"anchored, newest 5 blocks whole: odd": attempt(func(a *carrel.Attempt) { a.Accepted, a.RedFlags = false, []string{"odd"} }),
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

// A long text is cut at the end of the line or at a third of it, but on a narrow terminal not below
// twenty columns.
func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("z", 200)
	todo := &compressed{CompressResult: &carrel.CompressResult{Todos: []carrel.Todo{{Content: long, Completed: true}}}}
	for _, tt := range []struct {
		want  int // columns of the cut text in 60 columns
		print func(p *out.Page)
	}{
		{51, func(p *out.Page) { printStub(p, &pager.Stub{Text: long}) }},
		{33, func(p *out.Page) { printAccount(p, &carrel.WhyAccount{Units: []carrel.WhyUnit{{Text: long}}}) }},
		{33, func(p *out.Page) { printLikely(p, "line", long, 0, true, nil) }},
		{48, todo.printTodos},
		{20, func(p *out.Page) { printProblems(p, []summary.Problem{{Entry: long}}) }},
		{20, func(p *out.Page) { printFindings(p, []handoff.Finding{{Entry: long}}) }},
	} {
		for width, want := range map[int]int{60: tt.want, 25: 20} {
			p := out.NewPage(true, width)
			if tt.print(p); strings.Count(p.String(), "z") != want-1 || !strings.Contains(p.String(), "z…") {
				t.Errorf("in %d columns, want a text of %d:\n%s", width, want, p)
			}
		}
	}
}
