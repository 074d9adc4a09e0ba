// Command compress compresses every conversation of a folder five times as it grows, and
// reports which probes can still be answered afterwards:
//
//	go run ./bench/compress FOLDER...
//
// A conversation is cut into fifths of its blocks. After each fifth it is imported again and
// compressed to a share of the imported tokens, without a model: to 30 percent by default or,
// if rules or probes do not allow that, to 40, and so on up to 70. Probes are generated from
// the originals of all blocks that the summary covers, and graded in the window and with one
// recall. The figures of a line are those of the last compression; "least" is the lowest share
// of probes answered by the window after any compression. The exit status is 1 if a promise was
// broken:
//
//   - the window fits the budget and the provider's rules;
//   - no entry of the summary vanishes without an entry in the journal;
//   - the first task and every correction are in the window, word for word;
//   - no probe is lost: one recall answers each that the window does not.
//
// A budget below the blocks under rules breaks no promise: the line then has the word floor. A
// compression that was refused because no attempt answered enough probes breaks none either: it
// changed nothing, and is counted.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/compress [-v] [-share N] [-most N] [-rounds N] [-whatever] [-strategy NAME] FOLDER...")
		flag.PrintDefaults()
	}
	b := &bench{}
	flag.BoolVar(&b.verbose, "v", false, "tell of each compression, refused attempt and broken promise")
	flag.IntVar(&b.share, "share", 30, "`percent` of the imported tokens that the window may have")
	flag.IntVar(&b.most, "most", 70, "`percent` up to which more is tried, by tens, where that is refused")
	flag.IntVar(&b.rounds, "rounds", 5, "`number` of compressions of each conversation")
	flag.BoolVar(&b.whatever, "whatever", false, "grade, and accept whatever comes, to compare strategies")
	strategy := flag.String("strategy", string(carrel.StrategyAnchored), "`name` of the strategy")
	flag.Parse()
	b.strategy = carrel.Strategy(*strategy)
	if flag.NArg() == 0 || b.share < 1 || b.share > 100 || b.rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := b.run(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "compress:", err)
		os.Exit(3)
	}
	if b.broken > 0 {
		os.Exit(1)
	}
}

const scope = governance.Scope("bench")

// A bench has the settings of a run, and counts its results and the promises that were broken.
type bench struct {
	share, most int
	rounds      int
	whatever    bool
	strategy    carrel.Strategy
	verbose     bool

	files, skipped, compressions, again, fits, floors, refused int
	accepted                                                   map[string]int // accepted compressions by their kind
	passed, recalled, lost, probes                             int            // sums over all accepted compressions
	critical, criticalPassed                                   int
	ratios                                                     []ratio.Ratio
	slowest                                                    time.Duration
	spent                                                      time.Duration
	broken                                                     int
}

func (b *bench) run(ctx context.Context, folders []string) error {
	files, err := retention.Files(folders)
	if err != nil {
		return err
	}
	b.accepted = make(map[string]int)
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "file\tblocks\ttokens\trounds\twindow\tsummary\tratio\tprobes\twindow\trecall\tleast\tms\tbroken\t")
	for _, name := range files {
		if err := b.file(ctx, w, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	b.sum()
	return nil
}

// A trial is the test of one conversation.
type trial struct {
	*bench
	engine  *carrel.Engine
	name    string
	session transcript.SessionID
	before  *summary.Summary // summary of the previous round
	last    *carrel.CompressResult
	least   ratio.Ratio
	rounds  int
	broken  int
	floor   bool
	spent   time.Duration
}

func (t *trial) fail(format string, args ...any) {
	t.broken++
	t.bench.broken++
	t.tell("BROKEN "+format, args...)
}

func (t *trial) tell(format string, args ...any) {
	if t.verbose {
		fmt.Fprintf(os.Stderr, "%s: %s\n", filepath.Base(t.name), fmt.Sprintf(format, args...))
	}
}

func (b *bench) file(ctx context.Context, w *tabwriter.Writer, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	parts, err := grow(name, data, b.rounds)
	if err != nil {
		b.skipped++
		fmt.Fprintf(w, "%s\t%v\t\t\t\t\t\t\t\t\t\t\t\t\n", filepath.Base(name), err)
		return nil
	}
	e, err := carrel.New(memory.New(), nil)
	if err != nil {
		return err
	}
	b.files++
	t := &trial{bench: b, engine: e, name: name, least: ratio.One}
	var in *carrel.ImportResult
	for _, part := range parts {
		if in, err = e.Import(ctx, scope, &carrel.ImportRequest{Name: name, Data: part}); err != nil {
			return err
		}
		t.session = in.Session
		if err := t.round(ctx); err != nil {
			return err
		}
	}
	if t.last == nil {
		word := "fits"
		if t.floor {
			word = "floor"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t0\t%s\t\t\t\t\t\t\t\t%d\t\n", filepath.Base(name), in.Blocks, in.Tokens, word, t.broken)
		return nil
	}
	r := t.last
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%s\t%d\t%d\t\n", filepath.Base(name), in.Blocks, in.Tokens, t.rounds,
		r.After, summaryTokens(r), (ratio.One - ratio.Of(r.After, r.Imported)).Percent(), r.Probes.Total, r.Probes.Passed,
		r.Probes.Recall, t.least.Percent(), t.spent.Milliseconds(), t.broken)
	return nil
}

func summaryTokens(r *carrel.CompressResult) int64 {
	if r.Summary == nil {
		return 0
	}
	return int64(r.Summary.Tokens)
}

// round compresses the session in its current state and checks the result.
func (t *trial) round(ctx context.Context) error {
	start := time.Now()
	req := &carrel.CompressRequest{Session: t.session, Target: carrel.Target{Share: ratio.Of(t.share, 100)}, Strategy: t.strategy}
	if t.whatever {
		req.ProbeMin = new(ratio.Ratio)
	}
	res, err := t.engine.Compress(ctx, scope, req)
	for share := t.share + 10; share <= t.most && (errors.Is(err, carrel.ErrBudget) || errors.Is(err, carrel.ErrProbes)); share += 10 {
		t.again++
		req.Target = carrel.Target{Share: ratio.Of(share, 100)}
		res, err = t.engine.Compress(ctx, scope, req)
	}
	took := time.Since(start)
	t.spent += took
	t.bench.spent += took
	t.slowest = max(t.slowest, took)
	t.compressions++
	var refused *carrel.ProbesError
	switch {
	case errors.Is(err, carrel.ErrBudget):
		t.floors++
		t.floor = true
		t.tell("floor: %v", err)
		return nil
	case errors.As(err, &refused):
		t.refused++
		for i := range refused.Attempts {
			t.tell("refused %+v", refused.Attempts[i])
		}
		t.failed(refused.Report.Failed())
		return nil
	case err != nil:
		return err
	case res.Op == "":
		t.fits++
		return nil
	case res.Probes == nil:
		return nil
	}
	t.tell("%s %d → %d tokens, summary %d, %d of %d probes, attempts %d", res.Strategy, res.Before, res.After, summaryTokens(res), res.Probes.Passed, res.Probes.Total, len(res.Attempts))
	t.failed(res.Probes.Failed())
	return t.check(ctx, res)
}

func (t *trial) check(ctx context.Context, res *carrel.CompressResult) error {
	t.rounds++
	t.last = res
	last := res.Attempts[len(res.Attempts)-1]
	t.accepted[fmt.Sprintf("%s, summary up to %s of the budget, %d raw", last.Strategy, last.Detail.Percent(), last.KeepLast)]++
	p := res.Probes
	t.probes += p.Total
	t.passed += p.Passed
	t.recalled += p.Recall
	t.lost += p.Lost()
	t.critical += p.Critical.Total
	t.criticalPassed += p.Critical.Passed
	t.least = min(t.least, p.Score)
	t.ratios = append(t.ratios, ratio.One-ratio.Of(res.After, res.Imported))
	if p.Lost() > 0 && !t.whatever {
		t.fail("%d probes are lost", p.Lost())
	}
	if res.After > res.Budget {
		t.fail("window of %d tokens in a budget of %d", res.After, res.Budget)
	}
	if err := t.window(ctx); err != nil {
		return err
	}
	return t.vanished(ctx, res)
}

// window checks that the session can be exported, and that its window has the first task and all
// corrections of the user whole. If a check fails, window calls t.fail and returns nil. It returns
// an error only if it could not check.
func (t *trial) window(ctx context.Context) error {
	out, err := t.engine.Export(ctx, scope, &carrel.ExportRequest{Session: t.session, To: "openai"})
	if err != nil {
		t.fail("export: %v", err)
		return nil
	}
	list, err := t.engine.Messages(ctx, scope, &carrel.MessagesRequest{Session: t.session})
	if err != nil {
		return err
	}
	for i := range list.Messages {
		b := &list.Messages[i]
		if b.Rule != pager.RuleFirstTask && b.Rule != pager.RuleCorrection {
			continue
		}
		said, err := t.engine.Recall(ctx, scope, &carrel.RecallRequest{Block: string(b.ID), Text: true})
		if err != nil {
			return err
		}
		quoted, err := json.Marshal(strings.TrimSpace(string(said.Data)))
		if err != nil {
			return err
		}
		if b.Form != pager.Whole || len(quoted) < 2000 && !bytes.Contains(out.Data, quoted[1:len(quoted)-1]) && !strings.Contains(string(quoted), `\u`) {
			t.fail("block %s, %s, is not in the window word for word", b.ShortID, b.Rule)
		}
	}
	return nil
}

// vanished checks that every entry of the previous summary is in the current one, or in the
// list of changes by the merge.
func (t *trial) vanished(ctx context.Context, res *carrel.CompressResult) error {
	if res.Summary == nil {
		return nil
	}
	now, err := t.engine.Summary(ctx, scope, &carrel.SessionRequest{Session: t.session})
	if err != nil {
		return err
	}
	if t.before != nil && res.Summary.Merged {
		told := make(map[string]bool)
		for _, e := range res.Summary.Edits {
			told[e.Digest] = true
		}
		for _, en := range now.Summary.Entries() {
			told[en.Digest()] = true
		}
		for _, en := range t.before.Entries() {
			if !told[en.Digest()] {
				t.fail("an entry of %s was dropped without a record", en.Section)
			}
		}
	}
	t.before = now.Summary
	return nil
}

func (b *bench) sum() {
	slices.Sort(b.ratios)
	fmt.Printf("\n%d conversations, %d skipped; %d compressions, %d further tries with more: %d fit already, %d have a typed floor, %d refused, %d accepted\n",
		b.files, b.skipped, b.compressions, b.again, b.fits, b.floors, b.refused, len(b.ratios))
	if b.probes == 0 {
		return
	}
	fmt.Printf("%d probes: %s in the window, %s within one recall, %d lost; critical %d of %d in the window\n",
		b.probes, ratio.Of(b.passed, b.probes).Percent(), ratio.Of(b.passed+b.recalled, b.probes).Percent(), b.lost, b.criticalPassed, b.critical)
	n := len(b.ratios)
	fmt.Printf("ratio of imported tokens: least %s, median %s, most %s\n", b.ratios[0].Percent(), b.ratios[n/2].Percent(), b.ratios[n-1].Percent())
	for _, name := range slices.Sorted(maps.Keys(b.accepted)) {
		fmt.Printf("  %4d accepted with %s\n", b.accepted[name], name)
	}
	fmt.Printf("%.1f s in all, the slowest compression %d ms; %d promises broken\n", b.spent.Seconds(), b.slowest.Milliseconds(), b.broken)
}
