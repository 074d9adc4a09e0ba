// Package demo runs the main job on embedded data and checks every promise on the way: a
// realistic conversation is imported, a smaller valid one is exported, and nothing is lost.
//
// It needs no network, no model and no configuration, and writes only to the given folder. The
// clock is fixed, so that the output is the same each time, except for durations.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

// ErrFailed means that a check of the demonstration failed. The check was printed.
var ErrFailed = errors.New("a check of the demonstration failed")

// Run runs the demonstration. It writes its store and the exported conversations to the folder
// dir, which must exist, and reports each step on out. The commands that it suggests at the end
// begin with program.
func Run(ctx context.Context, out io.Writer, dir, program string) error {
	return run(ctx, out, dir, program, inFile)
}

// An opener opens the store of a demonstration. It may use the path or open a store in another
// place.
type opener func(ctx context.Context, path string) (store.Database, error)

func inFile(ctx context.Context, path string) (store.Database, error) {
	return sqlite.Open(ctx, path, nil)
}

func run(ctx context.Context, out io.Writer, dir, program string, at opener) error {
	d := &demo{out: out, dir: dir, program: program, at: at, data: Session(), scope: governance.DefaultScope}
	fmt.Fprintf(out, "carrel demo · no network, no model, clock fixed at %s\n\n", clock().Format(time.DateOnly))
	for _, step := range []func(context.Context) error{d.open, d.story, d.begin, d.load, d.untouched, d.compress, d.restart, d.recall, d.search, d.why, d.undo, d.planner, d.verify} {
		if err := step(ctx); err != nil {
			return errors.Join(err, d.close())
		}
	}
	if err := d.close(); err != nil {
		return err
	}
	if err := d.sum("the exports lie", "messages @last", "why "+d.cut, "recall "+d.cut+" --text", "compress @last --target 10%"); err != nil {
		return err
	}
	fmt.Fprintf(out, "and on your own sessions:\n  %[1]s import --all\n  %[1]s sessions\n", program)
	return nil
}

// sum reports the number of checks, the files beside the store, and the next commands.
func (d *demo) sum(beside string, next ...string) error {
	if d.failed > 0 {
		fmt.Fprintf(d.out, "\n%d of %d checks failed\n", d.failed, d.checks)
		return ErrFailed
	}
	fmt.Fprintf(d.out, "\nall %d checks passed\n\nThe store is %s,\n%s beside it. Next, in this folder:\n  export CARREL_STORE=%s\n", d.checks, d.path(), beside, shell.Quote([]string{d.path()}))
	for _, c := range next {
		fmt.Fprintf(d.out, "  %s %s\n", d.program, c)
	}
	return nil
}

func clock() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

type demo struct {
	out     io.Writer
	dir     string
	program string // name of carrel in suggested commands
	at      opener
	data    []byte
	scope   governance.Scope
	store   store.Store
	engine  *carrel.Engine
	session transcript.SessionID
	result  *carrel.CompressResult
	before  []byte // export before the pass
	after   []byte // export after the pass
	cut     string // block with the most kept passages

	checks, failed int
}

func (d *demo) path() string { return filepath.Join(d.dir, "carrel.db") }

// check counts a check, and prints it if it failed.
func (d *demo) check(ok bool, format string, args ...any) {
	d.checks++
	if !ok {
		d.failed++
		fmt.Fprintf(d.out, "  FAILED     %s\n", fmt.Sprintf(format, args...))
	}
}

// report prints a line of the report. If it is wider than a terminal, it is broken between its
// parts.
func (d *demo) report(step, format string, args ...any) {
	const columns = 80 - len("  ") - 10 - len(" ")
	line := ""
	for i, part := range strings.Split(fmt.Sprintf(format, args...), " · ") {
		switch {
		case i == 0:
			line = part
		case utf8.RuneCountInString(line+" · "+part) > columns:
			fmt.Fprintf(d.out, "  %-10s %s\n", step, line)
			step, line = "", part
		default:
			line += " · " + part
		}
	}
	fmt.Fprintf(d.out, "  %-10s %s\n", step, line)
}

func (d *demo) open(ctx context.Context) error {
	var err error
	if d.store, err = d.at(ctx, d.path()); err != nil {
		return err
	}
	d.engine, err = carrel.New(d.store, &carrel.Options{Now: clock})
	return err
}

func (d *demo) close() error {
	if d.store == nil {
		return nil
	}
	s := d.store
	d.store = nil
	return s.Close()
}

// begin prints the heading of the checks.
func (d *demo) begin(context.Context) error {
	fmt.Fprint(d.out, "\nNow all of it on the whole session, with a check of each step:\n\n")
	return nil
}

func (d *demo) load(ctx context.Context) error {
	in, err := d.engine.Import(ctx, d.scope, &carrel.ImportRequest{Name: "demo.jsonl", Data: d.data})
	if err != nil {
		return err
	}
	d.session = in.Session
	forks := 0
	for _, b := range in.Branches {
		if b.Kind == transcript.BranchFork {
			forks++
		}
	}
	d.check(forks == 1, "%d messages and %d forks were read", in.Messages, forks)
	again, err := d.engine.Import(ctx, d.scope, &carrel.ImportRequest{Name: "demo.jsonl", Data: d.data})
	if err != nil {
		return err
	}
	d.check(!again.Changed, "importing the same file again changes nothing")
	d.report("import", "1 session, %d messages in %d blocks, %d fork, %s bytes · %s tok", in.Messages, in.Blocks, forks, group(len(d.data)), group(int(in.Tokens)))
	return nil
}

func (d *demo) untouched(ctx context.Context) error {
	out, err := d.engine.Export(ctx, d.scope, &carrel.ExportRequest{Session: d.session})
	if err != nil {
		return err
	}
	d.before = out.Data
	d.check(bytes.Equal(out.Data, d.data), "the untouched export is the input, byte for byte")
	d.report("export", "untouched: byte for byte what came in")
	return nil
}

// request returns a request for a quarter of the tokens, with a summary that must answer
// probes.
func (d *demo) request() *carrel.CompressRequest {
	return &carrel.CompressRequest{Session: d.session, Target: carrel.Target{Share: ratio.Of(1, 4)}, Strategy: carrel.StrategyAnchored}
}

func (d *demo) compress(ctx context.Context) error {
	req := d.request()
	plan := *req
	plan.DryRun = true
	if _, err := d.engine.Compress(ctx, d.scope, &plan); err != nil {
		return err
	}
	planned, err := d.engine.Export(ctx, d.scope, &carrel.ExportRequest{Session: d.session})
	if err != nil {
		return err
	}
	d.check(bytes.Equal(planned.Data, d.before), "planning a plan changes nothing")
	began := time.Now() //nolint:forbidigo // a stopwatch for the report
	if d.result, err = d.engine.Compress(ctx, d.scope, req); err != nil {
		return err
	}
	took := time.Since(began) //nolint:forbidigo // a stopwatch for the report
	r := d.result
	d.check(r.After <= r.Budget, "a window of %d tokens fits a budget of %d", r.After, r.Budget)
	d.check(r.Tokens.Sum() == int64(r.Imported), "tokens in = live + stub + cold")
	d.report("compress", "%s → %s tok (−%d%%) · %d live, %d stubs, %d cold · %.2f s", group(int(r.Before)), group(int(r.After)),
		100-100*int(r.After)/int(r.Before), r.Blocks.Live, r.Blocks.Stub, r.Blocks.Cold, took.Seconds())
	if err := d.summary(ctx); err != nil {
		return err
	}
	again, err := d.engine.Compress(ctx, d.scope, req)
	if err != nil {
		return err
	}
	d.check(again.Changed == 0, "a second run changes nothing")
	return d.exports(ctx)
}

// summary checks the summary of older blocks, and that probes accepted it.
func (d *demo) summary(ctx context.Context) error {
	r := d.result
	if r.Summary == nil || r.Probes == nil {
		d.check(false, "a summary that was probed stands for older blocks")
		return nil
	}
	got, err := d.engine.Summary(ctx, d.scope, &carrel.SessionRequest{Session: d.session})
	if err != nil {
		return err
	}
	text := got.Summary.Markdown()
	for _, kept := range []string{"internal/pool/pool.go", "internal/ledger/ledger.go", "change the public API of the pool"} {
		d.check(strings.Contains(text, kept), "the summary says %q", kept)
	}
	d.report("summary", "of blocks 1–%d in %s tok · changed files %d, decisions %d, errors %d", got.Covers, group(int(got.Tokens)),
		len(got.Summary.Files), len(got.Summary.Decisions), len(got.Summary.Errors))
	p, least := r.Probes, probe.DefaultPolicy().Overall
	d.check(p.Critical.Passed == p.Critical.Total && p.Critical.Total > 0, "the window answers %d of %d critical probes", p.Critical.Passed, p.Critical.Total)
	d.check(p.Score >= least, "the window answers %d of %d probes in all", p.Passed, p.Total)
	d.check(p.Lost() == 0, "%d probes are not even one recall away", p.Lost())
	d.report("probes", "%d/%d critical · %d/%d all (%s ≥ %s) · accepted", p.Critical.Passed, p.Critical.Total, p.Passed, p.Total, p.Score.Short(), least.Short())
	return nil
}

// exports writes the window in four formats and validates each.
func (d *demo) exports(ctx context.Context) error {
	for to, name := range map[string]string{"claudecode": "demo.claude.jsonl", "anthropic": "demo.anthropic.json", "openai": "demo.openai.json", "responses": "demo.responses.json"} {
		out, err := d.engine.Export(ctx, d.scope, &carrel.ExportRequest{Session: d.session, To: to})
		if err != nil {
			return err
		}
		_, violations, err := carrel.Validate(to, out.Data)
		if err != nil {
			return err
		}
		d.check(len(violations) == 0, "%s: %v", to, violations)
		if to == "claudecode" {
			d.after = out.Data
		}
		if err := os.WriteFile(filepath.Join(d.dir, name), out.Data, 0o600); err != nil {
			return err
		}
	}
	window, err := decode(d.after)
	if err != nil {
		return err
	}
	var said strings.Builder // words of the user, without the summary
	for i := range window.Messages {
		if m := &window.Messages[i]; m.Role == transcript.RoleUser && !strings.HasPrefix(m.Text(), transcript.Mark) {
			said.WriteString(m.Text() + "\n")
		}
	}
	for _, kept := range []string{"don't change the public API of the pool", "never raise shutdownTimeout above 30s", "INC-20417", "The deploy of the billing service hangs"} {
		d.check(strings.Contains(said.String(), kept), "the window still says %q", kept)
	}
	d.report("validate", "claudecode ok · anthropic ok · openai ok · responses ok · the task, the correction and the newest order are in the window")
	return nil
}

func (d *demo) restart(ctx context.Context) error {
	if err := d.close(); err != nil {
		return err
	}
	if err := d.open(ctx); err != nil {
		return err
	}
	out, err := d.engine.Export(ctx, d.scope, &carrel.ExportRequest{Session: d.session})
	if err != nil {
		return err
	}
	d.check(bytes.Equal(out.Data, d.after), "the same window gives the same bytes after a restart")
	d.report("restart", "store closed and opened again · the window is the same, byte for byte")
	return nil
}

func (d *demo) recall(ctx context.Context) error {
	in, err := decode(d.data)
	if err != nil {
		return err
	}
	blocks := transcript.Group(in.ID, 0, in.Messages)
	same, left, most := 0, 0, 0
	for i, dec := range d.result.Decisions {
		if !dec.Changed() {
			continue
		}
		left++
		got, err := d.engine.Recall(ctx, d.scope, &carrel.RecallRequest{Block: string(dec.Block)})
		if err != nil {
			return err
		}
		if bytes.Equal(got.Data, in.RawBlock(&blocks[i])) {
			same++
		}
		if d.cut == "" || dec.Lines > most {
			d.cut, most = dec.Block.Short(), dec.Lines
		}
	}
	d.check(left > 0 && same == left, "%d of %d blocks are recalled byte for byte", same, left)
	d.report("recall", "%d/%d blocks that were cut or left: byte for byte", same, left)
	return nil
}

func (d *demo) search(ctx context.Context) error {
	const query = "panic index out of range ledger"
	found, err := carrel.Items(d.engine.Search(ctx, d.scope, &carrel.SearchRequest{Query: query, Limit: 3}))
	if err != nil {
		return err
	}
	d.check(len(found) > 0 && strings.Contains(found[0].Excerpt, "panic"), "%q finds the panic", query)
	if len(found) > 0 {
		d.report("search", "%q → %s %s, %s", query, found[0].Block.Short(), found[0].Kind, found[0].State)
	}
	return nil
}

func (d *demo) why(ctx context.Context) error {
	why, err := d.engine.Why(ctx, d.scope, &carrel.BlockRequest{Block: d.cut})
	if err != nil {
		return err
	}
	d.explain(why)
	return nil
}

// explain reports why a block is in its state, and checks that this is known.
func (d *demo) explain(why *carrel.WhyResult) {
	var last *carrel.WhyEntry
	if n := len(why.History); n > 0 {
		last = &why.History[n-1]
	}
	d.check(last != nil && last.Decision != nil, "the journal knows why %s is %s", d.cut, why.State)
	if last == nil || last.Decision == nil || why.Need == nil || len(why.Need.Names) == 0 {
		d.check(false, "%s has names, each with its chance", d.cut)
		return
	}
	n := why.Need.Names[0]
	state := "not in the window"
	if n.Kept {
		state = "in the window"
	}
	d.report("why", "%s is %s, %d passages of it kept · likeliest to be needed: %s, %s, %s", d.cut, why.State, last.Decision.Lines, n.Name, n.Chance.Percent(), state)
}

func (d *demo) undo(ctx context.Context) error {
	if _, err := d.engine.Undo(ctx, d.scope, &carrel.UndoRequest{Session: d.session}); err != nil {
		return err
	}
	out, err := d.engine.Export(ctx, d.scope, &carrel.ExportRequest{Session: d.session})
	if err != nil {
		return err
	}
	d.check(bytes.Equal(out.Data, d.before), "undo restores the window exactly")
	if _, err := d.engine.Compress(ctx, d.scope, d.request()); err != nil {
		return err
	}
	out, err = d.engine.Export(ctx, d.scope, &carrel.ExportRequest{Session: d.session})
	if err != nil {
		return err
	}
	d.check(bytes.Equal(out.Data, d.after), "the same pass again gives the same bytes")
	d.report("undo", "the window as it was before · the same pass again: the same bytes")
	return nil
}

func (d *demo) verify(ctx context.Context) error {
	lines, err := d.engine.Contract(ctx, d.scope, &carrel.SessionRequest{Session: d.session})
	if err != nil {
		return err
	}
	report, err := d.engine.CheckContract(ctx, d.scope, &carrel.SessionRequest{Session: d.session})
	if err != nil {
		return err
	}
	d.check(report.Err() == nil, "the contract holds: %v", report.Err())
	state := report.State
	r := d.result
	d.check(int64(state.Count(contract.Retained)) == r.Blocks.Live && int64(state.Count(contract.Paged)) == r.Blocks.Stub &&
		int64(state.Count(contract.Evicted)) == r.Blocks.Cold, "the contract has the blocks where they are")
	problems, err := d.store.Check(ctx)
	if err != nil {
		return err
	}
	d.check(len(problems) == 0, "the store is sound: %v", problems)
	packet, err := d.engine.Handoff(ctx, d.scope, &carrel.HandoffRequest{Session: d.session})
	if err != nil {
		return err
	}
	again, err := handoff.Parse("", []byte(packet.Packet.Markdown()))
	if err != nil {
		return err
	}
	d.check(again.Markdown() == packet.Packet.Markdown(), "a packet comes back as it was")
	d.report("verify", "contract of %d statements runs and holds · store checked: every commitment holds", len(lines.Statements))
	d.report("handoff", "sources %d, claims apart from them %d · corrections in the user's words %d, boundaries %d · honest by 8 rules",
		len(packet.Packet.Sources), len(packet.Packet.Inferred), len(packet.Packet.Corrections), len(packet.Packet.Boundaries))
	return nil
}

// group formats n with commas between thousands.
func group(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
