package session

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

func TestSessionsAreMarked(t *testing.T) {
	for want, s := range map[string]carrel.SessionInfo{
		"Fix it":            {Title: "Fix it", Project: "/p", File: "f"},
		"/p":                {Project: "/p", File: "f"},
		"f":                 {File: "f"},
		"[critical] Fix it": {Title: "Fix it", Critical: true},
		"[removed] Fix it":  {Title: "Fix it", Status: store.StatusTombstoned, Critical: true},
		"[removed]":         {Status: store.StatusTombstoned},
		"[purged]":          {Title: "Fix it", Status: store.StatusPurged},
	} {
		if got := marked(&s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	for in, want := range map[string]string{"/a/b": "b", "/a/b/": "b", `C:\a\b\`: "b", "b": "b", "/": "", "": ""} {
		if got := baseOf(in); got != want {
			t.Errorf("baseOf(%q) = %q, want %q", in, got, want)
		}
	}
	infos := []carrel.SessionInfo{{Project: "/a"}, {Project: "/a/b"}, {Project: "/ab"}, {Project: `C:\a\b`}, {}}
	for project, want := range map[string]int{
		"": 5, "/a": 2, "/a/b": 1, "/c": 0, "/": 3, "/a/./b/": 1, "/a/b/..": 2, ".": 2, "b": 1, "./b/": 1, "../ab": 1, "..": 3, "c": 0, `C:\a`: 1,
	} {
		env, _, _ := clitest.Env(t)
		env.Dir = "/a"
		got, err := ofProject(job.New(env), infos, project)
		if err != nil || len(got) != want {
			t.Errorf("%d sessions of %q, %v, want %d", len(got), project, err, want)
		}
	}
}

func TestParseSinceAtItsBounds(t *testing.T) {
	now := time.Date(2026, 2, 10, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{"": {}, "0d": now, "0w": now, "0h": now, "1d": now.AddDate(0, 0, -1), "1w": now.AddDate(0, 0, -7), "1s": now.Add(-time.Second)} {
		if got, err := parseSince(in, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"-1w", "-1s", "5", "1.5d", "1y"} {
		if got, err := parseSince(in, now); err == nil || got != (time.Time{}) {
			t.Errorf("%q is %v, want an error", in, got)
		}
	}
}

func TestExcerptsOfBlocks(t *testing.T) {
	blocks := []carrel.BlockInfo{{ID: "a1"}, {ID: "b2"}, {ID: "c3"}}
	for _, tt := range []struct {
		after string
		limit int
		want  string
	}{{"", 0, "a1b2c3"}, {"", 1, "a1"}, {"", 3, "a1b2c3"}, {"", 9, "a1b2c3"}, {"a1", 0, "b2c3"}, {"b", 1, "c3"}, {"c3", 0, ""}} {
		var got strings.Builder
		list, err := excerptOf(blocks, tt.after, tt.limit)
		for _, b := range list {
			got.WriteString(string(b.ID))
		}
		if err != nil || got.String() != tt.want {
			t.Errorf("%+v: %q, %v", tt, &got, err)
		}
	}
	if _, err := excerptOf(blocks, "d", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("behind a block that is not there: %v", err)
	}
}

func TestSectionsAreCounted(t *testing.T) {
	s := &summary.Summary{Files: []summary.File{{Path: "a.go", Changes: make([]summary.Item, 2)}, {Path: "b.go"}}}
	for word, want := range map[string]int{"files": 2, "decisions": 0, string(summary.SectionFiles): 2} {
		if got, err := entriesOf(s, word); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", word, got, err, want)
		}
	}
	for _, word := range sectionWords() {
		if _, err := entriesOf(s, word); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	if _, err := entriesOf(s, "poems"); out.KindOf(err) != out.KindUsage {
		t.Errorf("a section that is not there: %v", err)
	}
}

func TestRunsOfProbesArePrinted(t *testing.T) {
	r := &carrel.RunProbesResult{
		Report: &probe.Report{
			Tally: probe.Tally{Total: 4, Passed: 2, Recall: 1}, Score: ratio.One / 2, Critical: probe.Tally{Total: 1, Passed: 1},
			Types: []probe.TypeTally{{Type: "fact", Tally: probe.Tally{Total: 4, Passed: 2, Recall: 1}}},
		},
		Verdict: &probe.Acceptance{Accepted: true},
	}
	byModel := *r
	byModel.Model, byModel.Calls = "m-1", 1
	byModel.Problems = []summary.Problem{{Section: "files", Rule: "vague", Entry: strings.Repeat("e", 40), Text: "says nothing"}}
	const words = "probes  1/1 critical · 2/4 all (0.50 < 0.90) · 2 missed, 1 of them one recall away\n"
	failed := make([]probe.Result, 12)
	for i := range failed {
		failed[i] = probe.Result{Probe: probe.Probe{Question: "q?"}, Missing: []string{"a"}}
	}
	for _, tt := range []clitest.Printing{
		{
			Name: "a run", Print: func(p *out.Page) { p.Width = 100; printRun(p, r, nil) },
			Pipe: "fact\t2\t4\t1\t1\nprobes\t2\t4\ncritical\t1\t1\nverdict\taccepted\n",
			TTY:  "type  passed  of  recall  lost\nfact       2   4       1     1  [##########..........]\n\n" + words + "verdict accepted\n",
		},
		{
			Name: "a run of a model, with problems", Print: func(p *out.Page) { p.Width = 100; printRun(p, &byModel, nil) },
			Pipe: "fact\t2\t4\t1\t1\nprobes\t2\t4\ncritical\t1\t1\nfiles\tvague\t" + strings.Repeat("e", 40) + "\tsays nothing\nverdict\taccepted\n",
			TTY: "type  passed  of  recall  lost\nfact       2   4       1     1  [##########..........]\n\n" + words + "answers by m-1, 1 call\n" +
				"section  rule   entry                              problem\nfiles    vague  " + strings.Repeat("e", 32) + "…  says nothing\nverdict accepted\n",
		},
		{Name: "no probes", Print: func(p *out.Page) {
			printRun(p, &carrel.RunProbesResult{Report: &probe.Report{}, Verdict: &probe.Acceptance{}}, nil)
		}, Pipe: "probes\t0\t0\ncritical\t0\t0\nverdict\tnot accepted\n", TTY: "probes  none: the conversation has no facts for probes\nverdict not accepted\n"},
		{Name: "a compression that is refused", Print: func(p *out.Page) {
			var b bytes.Buffer
			PrintProbes(&b, []carrel.Attempt{{Strategy: "anchored", KeepLast: 5}}, failed)
			PrintProbes(&b, nil, failed[:10])
			PrintProbes(&b, nil, nil)
			p.Text(b.String())
		}, Pipe: "  try 1: anchored, newest 5 blocks whole, not accepted\nthe best attempt does not answer:\n" + strings.Repeat("  q? (lost; missing: a)\n", 10) + "  … 2 more\n" +
			"the best attempt does not answer:\n" + strings.Repeat("  q? (lost; missing: a)\n", 10)},
	} {
		tt.Test(t)
	}
	accepted := &carrel.CheckSummaryResult{Session: "s-1"}
	accepted.Blocks, accepted.Before, accepted.After, accepted.Verdict = 3, 2000, 500, &probe.Acceptance{Accepted: true}
	probed := *accepted
	probed.Probes, probed.Problems = r.Report, byModel.Problems
	for _, tt := range []clitest.Printing{
		{
			Name: "a summary that is accepted", Print: func(p *out.Page) { printAccept(p, accepted, nil) },
			Pipe: "session\ts-1\nblocks\t3\nbefore\t2000\nafter\t500\nratio\t0.750000\nproblems\t0\nverdict\taccepted\n",
			TTY:  "check   0 problems\nsize    2,000 → 500 tokens of 3 blocks, 75.0% gone\nverdict accepted\n",
		},
		{
			Name: "one with probes and problems", Print: func(p *out.Page) { p.Width = 100; printAccept(p, &probed, nil) },
			Pipe: "files\tvague\t" + strings.Repeat("e", 40) + "\tsays nothing\nsession\ts-1\nblocks\t3\nbefore\t2000\nafter\t500\nratio\t0.750000\nproblems\t1\nprobes\t2\t4\ncritical\t1\t1\nverdict\taccepted\n",
			TTY: "section  rule   entry                              problem\nfiles    vague  " + strings.Repeat("e", 32) + "…  says nothing\n" +
				"check   1 problem\nsize    2,000 → 500 tokens of 3 blocks, 75.0% gone\n" + words + "verdict accepted\n",
		},
	} {
		tt.Test(t)
	}
}

func TestPacketsAreChecked(t *testing.T) {
	findings := []handoff.Finding{
		{Rule: "r1", Error: true, Section: "x", Entry: strings.Repeat("e", 40), Text: "is not read"},
		{Rule: "r2", Section: "x", Entry: "e", Text: "is odd"},
	}
	if anyError(findings[1:]) || !anyError(findings) || anyError(nil) {
		t.Error("a warning counts as an error, or an error does not")
	}
	title := handoff.Section("x").Title()
	checked := func(session transcript.SessionID, findings ...handoff.Finding) *checkedPacket {
		return &checkedPacket{HandoffResult: &carrel.HandoffResult{Session: session, Findings: findings}, OK: !anyError(findings)}
	}
	accepted := newAcceptance(&carrel.AcceptResult{Session: "s-1", File: "f.md", Contract: 4, Packet: &handoff.Packet{
		Session: "s-0", Decisions: make([]handoff.Decision, 1), Corrections: make([]handoff.Correction, 2), Questions: make([]handoff.Question, 3),
		Sources: []handoff.Source{{State: handoff.Verified}, {}, {State: handoff.Verified}},
	}})
	const fields = "session\ts-1\nfile\tf.md\nfrom\ts-0\ndecisions\t1\ncorrections\t2\nquestions\t3\nverified\t2\ncontract\t4\n"
	for _, tt := range []clitest.Printing{
		{
			Name: "an honest packet", Print: func(p *out.Page) { checked("").print(p); checked("s-1").print(p) },
			Pipe: "ok: 8 rules; give --session to compare it with a session\nok: 8 rules, and the record of session s-1\n",
		},
		{
			Name: "one that is not", Print: func(p *out.Page) { checked("", findings...).print(p) },
			Pipe: "error\tr1\t" + title + "\t" + strings.Repeat("e", 40) + "\tis not read\nwarning\tr2\t" + title + "\te\tis odd\n",
		},
		{
			Name: "one with a warning", Print: func(p *out.Page) { checked("", findings[1]).print(p) },
			Pipe: "warning\tr2\t" + title + "\te\tis odd\nok: 8 rules; give --session to compare it with a session\n",
		},
		{
			Name: "a packet that is accepted", Print: func(p *out.Page) { accepted.print(p, false) },
			Pipe: fields + "next\tcarrel export s-1 --to anthropic\nnext\tcarrel export s-1 -o f.md\nnext\tcarrel contract show s-1\nnext\tcarrel context s-1\n",
		},
		{Name: "one that would be", Print: func(p *out.Page) { accepted.print(p, true) }, Pipe: fields},
		{
			Name: "summaries without problems", Print: func(p *out.Page) {
				(&checkedSummary{OK: true}).print(p)
				(&checkedSummary{OK: true, CheckSummaryResult: &carrel.CheckSummaryResult{Session: "s-1"}}).print(p)
			}, Pipe: "ok: form; give --session or --source to compare\nok: form, and the statements of session s-1\n",
		},
	} {
		tt.Test(t)
	}
	p := out.NewPage(true, 80)
	accepted.print(p, true)
	if !strings.HasSuffix(p.String(), "dry run: nothing was written\n") {
		t.Errorf("a dry run on a terminal ends with %q", p.String())
	}
}

func TestRemovalsArePrinted(t *testing.T) {
	env, stdout, _ := clitest.Env(t)
	res := &carrel.SessionRemoval{Session: "s-1", Op: "op_1", Status: store.StatusPurged, Derived: []transcript.SessionID{"s-2"}, Memories: []store.ArtifactID{"m"}, Heirs: []transcript.SessionID{"s-3"}, Cells: 2}
	const pipe = "s-1\tpurged\ns-2\tpurged too\nm\tmemory purged too\ns-3\tkeeps its inheritance\n"
	const tty = "s-1  purged\ns-2  purged too\nm    memory purged too\ns-3  keeps its inheritance\n"
	for _, tt := range []struct {
		tty, dry bool
		cells    int
		want     string
	}{
		{false, false, 2, pipe},
		{false, true, 2, pipe},
		{true, false, 2, tty + "2 cells erased, receipt op_1\n"},
		{true, false, 1, tty + "1 cell erased, receipt op_1\n"},
		{true, false, 0, tty},
		{true, true, 0, tty + "dry run: nothing was written\n"},
	} {
		stdout.Reset()
		env.StdoutTerminal = tt.tty
		res.Cells = tt.cells
		if err := printRetired(job.New(env), res, nil, tt.dry); err != nil || stdout.String() != tt.want {
			t.Errorf("%+v: %q, %v", tt, stdout, err)
		}
	}
	for status, want := range map[store.Status]string{store.StatusTombstoned: "s-1\tremoved\n", store.StatusLive: "s-1\trestored\n"} {
		stdout.Reset()
		env.StdoutTerminal = false
		if err := printRetired(job.New(env), &carrel.SessionRemoval{Session: "s-1", Status: status}, nil, false); err != nil || stdout.String() != want {
			t.Errorf("%s: %q, %v", status, stdout, err)
		}
	}
	if err := printRetired(job.New(env), nil, store.ErrNotFound, false); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an error becomes %v", err)
	}
}

// A change matters in a folder that is watched, also through a link, but beside a file that is
// watched only the file's. The log of a database is a change of its sessions.
func TestChangesThatAreImported(t *testing.T) {
	env, _, _ := clitest.Env(t)
	dir := env.Dir
	for _, name := range []string{
		"f/a.json", "f/b.json", "f/new/c.json", "g/d.json", "g/e.json", "g/sub/x.json", "g/subagents/e.json", "g/x.txt", "deep/one/session-1.jsonl",
		"real/sub/h.json", "far/i.json", "d/opencode.db", "d/opencode.db-wal",
	} {
		clitest.WriteFile(t, env, name, "{}")
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for link, to := range map[string]string{"l": "real", "f/i.json": "far/i.json"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	in := &importer{j: job.New(env)}
	w, err := in.watcher([]string{"f/a.json", "f/gone.json", "f/i.json", "g", "g/e.json", "l", "d/opencode.db#ses_1"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, tt := range []struct {
		path  string
		files string
		watch bool
	}{
		{"f/a.json", "f/a.json", true},
		{"f/b.json", "", true},
		{"f/new", "", false},
		{"far/i.json", "f/i.json", true},
		{"g/d.json", "g/d.json", true},
		{"g/e.json", "g/e.json", true},
		{"g/x.txt", "", true},
		{"g/subagents", "", false},
		{"g/sub", "g/sub/x.json", true},
		{"l/sub/h.json", "l/sub/h.json", true},
		{"d/opencode.db-wal", "d/opencode.db#ses_1", true},
	} {
		fi, err := os.Stat(at(tt.path))
		if err != nil {
			t.Fatal(err)
		}
		files, err := in.touched(w, at(tt.path), fi.IsDir())
		var got []string
		for _, f := range files {
			got = append(got, strings.TrimPrefix(filepath.ToSlash(f.Name), filepath.ToSlash(dir)+"/"))
		}
		folder := at(tt.path)
		if !fi.IsDir() {
			folder = filepath.Dir(folder)
		}
		watch := slices.Contains(w.WatchList(), folder)
		if strings.Join(got, " ") != tt.files || watch != tt.watch || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q, %v", tt.path, got, watch, err, tt.files, tt.watch)
		}
	}
	for _, a := range agents.All() {
		in.stores = append(in.stores, folderOf{at("deep"), a})
		_, err := in.touched(w, at("deep/one"), true)
		if watch := slices.Contains(w.WatchList(), at("deep/one")); watch == a.Flat || err != nil {
			t.Errorf("a new folder of %s is watched: %v, %v, want %v", a.Title, watch, err, !a.Flat)
		} else if watch {
			if err := w.Remove(at("deep/one")); err != nil {
				t.Fatal(err)
			}
		}
		in.stores = nil
	}
	if flat := slices.ContainsFunc(agents.All(), func(a *agents.Agent) bool { return a.Flat }); !flat {
		t.Error("no agent keeps its sessions in one folder")
	}
}

func TestExplanationsOfBlocksArePrinted(t *testing.T) {
	noon := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	whole := &carrel.WhyResult{
		Session: "s-1", Block: "1234567890abcdef", Kind: transcript.KindTool, Tools: []string{"Bash", "Read"}, Turn: 3, Preview: "make", State: store.StateStub, Form: pager.Line,
		Tokens: 1200, Window: 30, Earlier: 2, Off: true, Stub: &pager.Stub{Text: "stub text"},
		History: []carrel.WhyEntry{{Op: "op_1", Kind: "import", Actor: "user", Time: noon, Reason: "came"}},
	}
	const rows = "block\t1234567890abcdef\nsession\ts-1\nkind\ttool Bash Read\nturn\t3\nsays\tmake\nstate\tstub, line: 30 of 1,200 tokens in the window\n" +
		"earlier\tof window 2, before a compaction by the client\noff\tleft the conversation when it was imported again\n"
	for _, tt := range []clitest.Printing{
		{
			Name: "a block with all", Print: func(p *out.Page) { printWhy(p, whole) },
			Pipe: rows + "stub\tstub text\n2026-02-03T12:00:00Z\top_1\timport\tuser\tcame\n",
			TTY: "block    12345678\nsession  s-1\nkind     tool Bash Read\nturn     3\nsays     make\nstate    stub, line: 30 of 1,200 tokens in the window\n" +
				"earlier  of window 2, before a compaction by the client\noff      left the conversation when it was imported again\nstub     stub text\n" +
				"\n2026-02-03 12:00  op_1  import  user  came\n",
		},
		{
			Name: "a block without a history", Print: func(p *out.Page) {
				printWhy(p, &carrel.WhyResult{Block: "1234567890abcdef", Session: "s-1", Kind: transcript.KindUser, Turn: 1, Preview: "go", State: store.StateLive, Form: pager.Whole, Tokens: 3, Window: 3})
			},
			Pipe: "block\t1234567890abcdef\nsession\ts-1\nkind\tuser\nturn\t1\nsays\tgo\nstate\tlive, whole: 3 of 3 tokens in the window\n",
			TTY:  "block    12345678\nsession  s-1\nkind     user\nturn     1\nsays     go\nstate    live, whole: 3 of 3 tokens in the window\n",
		},
		{
			Name: "what was found", Print: func(p *out.Page) {
				found := []carrel.Found{
					{Session: "s-1", Block: "1234567890abcdef", Kind: transcript.KindTool, State: store.StateLive, Score: 1_250_000, Terms: []string{"pump"}, Excerpt: "the pump"},
					{Session: "s-2", Block: "2234567890abcdef", Kind: transcript.KindUser, State: store.StateCold, Score: 500_000, Excerpt: "a lamp"},
				}
				p.Table(foundTable(found, p.TTY))
			},
			Pipe: "1\t1.25\t1234567890abcdef\ttool\tlive\ts-1\tthe pump\n2\t0.50\t2234567890abcdef\tuser\tcold\ts-2\t(beside a match) a lamp\n",
			TTY:  "   score  block     kind  state  excerpt\n1  1.25   12345678  tool  live   the pump\n2  0.50   22345678  user  cold   (beside a match) a lamp\n",
		},
		{
			Name: "a compression as fields", Print: func(p *out.Page) {
				c := &compressed{CompressResult: &carrel.CompressResult{
					Session: "s-1", Op: "op_1", Strategy: carrel.StrategyAnchored, Budget: 1000, Imported: 3000, Before: 2000, After: 900, Ratio: 550_000, Changed: 4, Provider: "anthropic",
					Summary: &carrel.SummaryInfo{ID: "sum_1", Covers: 3, Tokens: 40}, Probes: &probe.Report{Tally: probe.Tally{Total: 1, Passed: 1}}, Warnings: []string{"w"},
					Todos: []carrel.Todo{{Content: "mend", Status: "completed", Completed: true}, {Content: "sleep", Status: "pending"}},
				}}
				c.Blocks.Live, c.Blocks.Stub, c.Blocks.Cold = 1, 2, 3
				c.page(p)
			},
			Pipe: "session\ts-1\nop\top_1\nstrategy\tanchored\nbudget\t1000\nimported\t3000\nbefore\t2000\nafter\t900\nratio\t0.550000\nlive\t1\nstub\t2\ncold\t3\nchanged\t4\nprovider\tanthropic\n" +
				"summary\tsum_1\t3\t40\nprobes\t1\t1\ncritical\t0\t0\nwarning\tw\ntodo\tcompleted\tmend\n",
		},
	} {
		tt.Test(t)
	}
}

// A watcher finds a file by a name that is relative to the current folder or to that of -C.
func TestRelativeNamesAreWatched(t *testing.T) {
	for _, tt := range []struct{ word, flag, changed string }{
		{"a.json", "", "a.json"},
		{".", "", "a.json"},
		{"sub", "", "sub/b.json"},
		{"sub/b.json", "", "sub/b.json"},
		{"b.json", "sub", "sub/b.json"},
		{".", "sub", "sub/b.json"},
	} {
		t.Run(tt.word+" "+tt.flag, func(t *testing.T) {
			env, _, _ := clitest.Env(t)
			clitest.WriteFile(t, env, "a.json", "old")
			clitest.WriteFile(t, env, "sub/b.json", "old")
			t.Chdir(env.Dir)
			env.Dir = "" // as in production
			j := job.New(env)
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			j.Register(flags)
			if err := flags.Set("directory", tt.flag); err != nil {
				t.Fatal(err)
			}
			in := &importer{j: j}
			w, err := in.watcher([]string{tt.word})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if err := os.WriteFile(tt.changed, []byte("new"), 0o600); err != nil {
				t.Fatal(err)
			}
			select {
			case e := <-w.Events:
				files, err := in.touched(w, e.Name, false)
				if len(files) != 1 || err != nil {
					t.Fatalf("a change of %q: files %v, %v, want one", e.Name, files, err)
				}
				if data, err := j.ReadFile(files[0]); string(data) != "new" {
					t.Errorf("%s has %q, %v, want the new content", files[0].Name, data, err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("no change is reported")
			}
		})
	}
}
