// Command roundtrip takes every conversation of a folder through Carrel and checks Carrel's
// promises:
//
//	go run ./bench/roundtrip FOLDER...
//
// Each conversation is imported, compressed to 50, 25 and 10 percent of its tokens by rule and
// score, exported in its own format, for Anthropic and for both APIs of OpenAI, and validated.
// The store is closed and opened again, and every block that is not whole in the window is
// recalled and compared with the input. The contract is run, unchanged and with faults that
// must be found, and a packet is made, accepted and made again. Each file and share gets a
// line, and the last lines have the sums. The exit status is 1 if a promise was broken.
//
// With -judge each conversation is also compressed by every strategy to 50, 25, 10 and 5
// percent, and every export is judged by rules that share no code with Carrel's validators.
// That takes several times as long.
//
// A budget below the blocks under rules breaks no promise: the line then has the word floor and
// the tokens of those blocks.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/roundtrip [-v] [-judge] FOLDER...")
		flag.PrintDefaults()
	}
	verbose := flag.Bool("v", false, "tell of each broken promise as it is found")
	judge := flag.Bool("judge", false, "also judge the exports of every strategy")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	broken, err := run(context.Background(), flag.Args(), *verbose, *judge)
	if err != nil {
		fmt.Fprintln(os.Stderr, "roundtrip:", err)
		os.Exit(3)
	}
	if broken > 0 {
		os.Exit(1)
	}
}

// shares are the budgets, in percent of a conversation's tokens.
var shares = []int{50, 25, 10}

func run(ctx context.Context, folders []string, verbose, judge bool) (broken int, err error) {
	files, err := retention.Files(folders)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "carrel-roundtrip-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	b := &bench{path: filepath.Join(dir, "carrel.db"), verbose: verbose, judges: judge, start: time.Now()}
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "file\tformat\tblocks\ttokens\tshare\twindow\tlive\tstub\tcold\trecalled\tbroken\t")
	for _, name := range files {
		if err := b.file(ctx, w, name); err != nil {
			return b.broken, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := w.Flush(); err != nil {
		return b.broken, err
	}
	b.sum(os.Stdout)
	return b.broken, nil
}

// A bench has the settings of a run, and counts its results and the promises that were broken.
type bench struct {
	path    string
	verbose bool
	judges  bool
	start   time.Time

	files, skipped, passes, landed, floors int
	exports, recalled                      int
	contracts, faults, packets             int
	judged, unjudged                       int
	bytes                                  int64
	broken                                 int
}

// open opens the store at the bench's path, and an engine over it.
func (b *bench) open(ctx context.Context) (*carrel.Engine, store.Store, error) {
	s, err := sqlite.Open(ctx, b.path, nil)
	if err != nil {
		return nil, nil, err
	}
	e, err := carrel.New(s, &carrel.Options{Strategy: carrel.StrategyAccount})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return e, s, nil
}

func (b *bench) file(ctx context.Context, w *tabwriter.Writer, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if _, err := carrel.Detect(data); err != nil {
		b.skipped++
		fmt.Fprintf(w, "%s\t%v\t\t\t\t\t\t\t\t\t\t\n", filepath.Base(name), err)
		return nil
	}
	b.files++
	b.bytes += int64(len(data))
	for _, share := range shares {
		if err := b.share(ctx, w, name, data, share); err != nil {
			return fmt.Errorf("share %d%%: %w", share, err)
		}
	}
	if b.judges {
		return b.judge(ctx, name, data)
	}
	return nil
}

// A trial is the test of one conversation at one share.
type trial struct {
	*bench
	name   string
	share  int
	broken int
}

func (t *trial) fail(format string, args ...any) {
	t.broken++
	t.bench.broken++
	if t.verbose {
		fmt.Fprintf(os.Stderr, "%s %d%%: %s\n", filepath.Base(t.name), t.share, fmt.Sprintf(format, args...))
	}
}

func (b *bench) share(ctx context.Context, w *tabwriter.Writer, name string, data []byte, share int) error {
	t := &trial{bench: b, name: name, share: share}
	scope := governance.Scope(fmt.Sprintf("share-%d", share))
	e, s, err := b.open(ctx)
	if err != nil {
		return err
	}
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: name, Data: data})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if !bytes.Equal(out.Data, data) {
		t.fail("the untouched export is not the input")
	}
	req := &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(share, 100)}}
	b.passes++
	res, err := e.Compress(ctx, scope, req)
	floor, isFloor := carrel.Floor(err)
	if err := s.Close(); err != nil {
		return err
	}
	switch {
	case isFloor:
		b.floors++
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d%%\tfloor %d\t\t\t\t\t%d\t\n", filepath.Base(name), in.Format, in.Blocks, in.Tokens, share, floor.Need, t.broken)
		return nil
	case err != nil:
		return err
	}
	b.landed++
	recalled, err := t.after(ctx, scope, req, res, data)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d%%\t%d\t%d\t%d\t%d\t%d\t%d\t\n", filepath.Base(name), in.Format, in.Blocks, in.Tokens, share,
		res.After, res.Blocks.Live, res.Blocks.Stub, res.Blocks.Cold, recalled, t.broken)
	return nil
}

// after opens the store again and checks the result of a pass.
func (t *trial) after(ctx context.Context, scope governance.Scope, req *carrel.CompressRequest, res *carrel.CompressResult, data []byte) (recalled int, err error) {
	e, s, err := t.open(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if res.After > res.Budget {
		t.fail("window of %d tokens in a budget of %d", res.After, res.Budget)
	}
	if res.Tokens.Sum() != int64(res.Imported) {
		t.fail("%d tokens were imported, but live + stub + cold is %d", res.Imported, res.Tokens.Sum())
	}
	again, err := e.Compress(ctx, scope, req)
	if err != nil {
		return 0, err
	}
	if again.Changed != 0 || again.Op != "" {
		t.fail("a second pass with the same budget changes %d blocks, want 0", again.Changed)
	}
	for _, to := range []string{"", "anthropic", "openai", "responses"} {
		t.exports++
		out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: req.Session, To: to})
		switch {
		case err != nil:
			t.fail("export to %q: %v", to, err)
		case len(out.Violations) > 0:
			t.fail("export to %q: %v", to, out.Violations[0])
		case out.Tokens > res.Budget:
			t.fail("export to %q has %d tokens in a budget of %d", to, out.Tokens, res.Budget)
		}
	}
	if err := t.contract(ctx, e, scope, req.Session); err != nil {
		return 0, err
	}
	if err := t.handoff(ctx, e, scope, req.Session); err != nil {
		return 0, err
	}
	return t.recall(ctx, e, scope, req.Session, data)
}

// recall compares every block that is not whole in the window with the input.
func (t *trial) recall(ctx context.Context, e *carrel.Engine, scope governance.Scope, id transcript.SessionID, data []byte) (int, error) {
	f, err := carrel.Detect(data)
	if err != nil {
		return 0, err
	}
	in, err := f.Decode(t.name, data)
	if err != nil {
		return 0, err
	}
	var originals [][]byte // earlier windows first, as in the list
	now, earlier := in.Blocks()
	for w, blocks := range append(earlier, now) {
		msgs := in.Messages
		if w < len(in.Earlier) {
			msgs = in.Earlier[w]
		}
		for i := range blocks {
			originals = append(originals, (&transcript.Session{Messages: msgs, Items: in.Items}).RawBlock(&blocks[i]))
		}
	}
	list, err := e.Messages(ctx, scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		return 0, err
	}
	n := 0
	for i, info := range list.Messages {
		if info.Form == "whole" {
			continue
		}
		got, err := e.Recall(ctx, scope, &carrel.RecallRequest{Block: string(info.ID)})
		switch {
		case err != nil:
			t.fail("recall %s: %v", info.ShortID, err)
		case !bytes.Equal(got.Data, originals[i]):
			t.fail("recall %s gives other bytes than the input has", info.ShortID)
		}
		n++
		if n%20 != 1 {
			continue // why reads the whole session, so check only every 20th block
		}
		why, err := e.Why(ctx, scope, &carrel.BlockRequest{Block: string(info.ID)})
		if err != nil {
			return n, err
		}
		last := why.History[len(why.History)-1]
		if len(why.History) < 2 || last.Decision == nil && last.Kind != "compacted" {
			t.fail("why %s names no decision", info.ShortID)
		}
	}
	t.recalled += n
	return n, nil
}

func (b *bench) sum(w *os.File) {
	fmt.Fprintf(w, "\n%d conversations (%.1f MB), %d skipped, %d passes in %.1f s\n", b.files, float64(b.bytes)/1e6, b.skipped, b.passes, time.Since(b.start).Seconds())
	fmt.Fprintf(w, "%d landed within budget, %d have a typed floor\n", b.landed, b.floors)
	fmt.Fprintf(w, "%d exports, all validated; %d blocks recalled after a restart\n", b.exports, b.recalled)
	fmt.Fprintf(w, "%d contracts run, %d faults put into them; %d packets handed on\n", b.contracts, b.faults, b.packets)
	if b.judges {
		fmt.Fprintf(w, "%d exports judged; %d passes landed on a floor or were refused by probes\n", b.judged, b.unjudged)
	}
	fmt.Fprintf(w, "%d promises broken\n", b.broken)
}
