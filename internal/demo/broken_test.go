package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/tier"
)

// rows returns a conversation of one message.
func rows(text string) []byte {
	said, _ := json.Marshal(text)
	return fmt.Appendf(nil, `{"type":"user","uuid":"11111111-1111-4111-8111-111111111111","parentUuid":null,`+
		`"sessionId":"22222222-2222-4222-8222-222222222222","timestamp":"2026-01-01T00:00:00Z","cwd":"/w","version":"2.0.1","message":{"role":"user","content":%s}}`+"\n", said)
}

// newDemo returns a demonstration with a conversation in memory, and where it reports.
func newDemo(t *testing.T, data []byte) (*demo, *bytes.Buffer) {
	t.Helper()
	out := new(bytes.Buffer)
	d := &demo{out: out, dir: t.TempDir(), program: "carrel", data: data, scope: governance.DefaultScope}
	var err error
	if d.engine, err = carrel.New(memory.New(), &carrel.Options{Now: clock}); err != nil {
		t.Fatal(err)
	}
	if err := d.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d, out
}

// failed returns the checks that failed, without their numbers.
func failed(out *bytes.Buffer) string {
	var all []string
	for line := range strings.Lines(out.String()) {
		if check, ok := strings.CutPrefix(line, "  FAILED     "); ok {
			all = append(all, strings.TrimSpace(check))
		}
	}
	out.Reset()
	return strings.Join(all, "; ")
}

// A step says which of its promises is broken.
func TestBrokenPromises(t *testing.T) {
	ctx, least := t.Context(), probe.DefaultPolicy().Overall
	base, out := newDemo(t, Session())
	base.store = memory.New() // only its soundness is asked for
	if err := errors.Join(base.untouched(ctx), base.compress(ctx)); err != nil {
		t.Fatal(err)
	}
	if got := failed(out); got != "" {
		t.Fatalf("unbroken: %s", got)
	}
	summarized := func(change func(r *carrel.CompressResult, p *probe.Report)) func(*demo) error {
		return func(d *demo) error {
			r, p := *d.result, *d.result.Probes
			r.Probes = &p
			change(&r, &p)
			d.result = &r
			return d.summary(ctx)
		}
	}
	verified := func(live, stub, cold int64) func(*demo) error {
		return func(d *demo) error {
			r := *d.result
			r.Blocks.Live, r.Blocks.Stub, r.Blocks.Cold = r.Blocks.Live+live, r.Blocks.Stub+stub, r.Blocks.Cold+cold
			d.result = &r
			return d.verify(ctx)
		}
	}
	recalled := func(decisions int, data []byte) func(*demo) error {
		return func(d *demo) error {
			r := *d.result
			for i := range r.Decisions {
				if r.Decisions[i].Changed() {
					r.Decisions = r.Decisions[:i+decisions]
					break
				}
			}
			d.result, d.data = &r, data
			return d.recall(ctx)
		}
	}
	found := func(text string) func(*demo) error {
		return func(d *demo) error {
			other, _ := newDemo(t, rows(text))
			d.engine = other.engine
			return d.search(ctx)
		}
	}
	const where = "the contract has the blocks where they are"
	for name, tt := range map[string]struct {
		step func(*demo) error
		want string
	}{
		"no summary":             {summarized(func(r *carrel.CompressResult, _ *probe.Report) { r.Summary = nil }), "a summary that was probed stands for older blocks"},
		"no probes":              {summarized(func(r *carrel.CompressResult, _ *probe.Report) { r.Probes = nil }), "a summary that was probed stands for older blocks"},
		"no critical probe":      {summarized(func(_ *carrel.CompressResult, p *probe.Report) { p.Critical = probe.Tally{} }), "the window answers 0 of 0 critical probes"},
		"one critical probe":     {summarized(func(_ *carrel.CompressResult, p *probe.Report) { p.Critical = probe.Tally{Passed: 1, Total: 1} }), ""},
		"a critical probe fails": {summarized(func(_ *carrel.CompressResult, p *probe.Report) { p.Critical = probe.Tally{Passed: 1, Total: 2} }), "the window answers 1 of 2 critical probes"},
		"just enough probes":     {summarized(func(_ *carrel.CompressResult, p *probe.Report) { p.Score = least }), ""},
		"too few probes":         {summarized(func(_ *carrel.CompressResult, p *probe.Report) { p.Score = least - 1 }), "the window answers 37 of 37 probes in all"},
		"a lost probe":           {summarized(func(_ *carrel.CompressResult, p *probe.Report) { p.Total++ }), "1 probes are not even one recall away"},
		"more live blocks":       {verified(1, 0, 0), where},
		"more stubs":             {verified(0, 1, 0), where},
		"more cold blocks":       {verified(0, 0, 1), where},
		"nothing to recall":      {recalled(0, Session()), "0 of 0 blocks are recalled byte for byte"},
		"one block to recall":    {recalled(1, Session()), ""},
		"other bytes":            {recalled(1, bytes.ReplaceAll(Session(), []byte(`"type":`), []byte(`"type": `))), "0 of 1 blocks are recalled byte for byte"},
		"a panic":                {found("panic: index out of range in the ledger"), ""},
		"no panic":               {found("the ledger is out of range"), `"panic index out of range ledger" finds the panic`},
		"nothing to search":      {found("hello"), `"panic index out of range ledger" finds the panic`},
		"a log":                  {func(d *demo) error { return d.lost(ctx, d.engine, "x\n", "", nil) }, "a line of the log left the window, and a search finds it"},
	} {
		d := *base
		if err := tt.step(&d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := failed(out); got != tt.want {
			t.Errorf("%s: %q failed, want %q", name, got, tt.want)
		}
	}
}

// The worked example says which of its numbers are off.
func TestBrokenNumbers(t *testing.T) {
	const policy = "Refunds of up to $400"
	for name, tt := range map[string]struct {
		change func(r *carrel.AssembleResult)
		want   string
	}{
		"all":               {func(*carrel.AssembleResult) {}, ""},
		"fewest compared":   {func(r *carrel.AssembleResult) { r.SemanticCalls = 15 }, ""},
		"too few compared":  {func(r *carrel.AssembleResult) { r.SemanticCalls = 14 }, "14 were scored by meaning"},
		"too many compared": {func(r *carrel.AssembleResult) { r.SemanticCalls = 21 }, "21 were scored by meaning"},
		"too many tokens":   {func(r *carrel.AssembleResult) { r.TokenCount = 31_201 }, "31201 tokens of 10 artifacts are in"},
		"too few artifacts": {func(r *carrel.AssembleResult) { r.Used = r.Used[1:] }, "31200 tokens of 9 artifacts are in"},
		"an old policy":     {func(r *carrel.AssembleResult) { r.Data = nil }, "the changed policy was fetched again before it was used"},
		"another fetched":   {func(r *carrel.AssembleResult) { r.Used[9].Title = "x" }, "the changed policy was fetched again before it was used"},
		"a stale limit":     {func(r *carrel.AssembleResult) { r.Data = []byte(policy + ", formerly up to $200") }, "no limit of $200 is in the context"},
	} {
		r := &carrel.AssembleResult{
			Candidates: deskArtifact, Left: map[manifest.Reason]int{manifest.ReasonExpired: deskExpired}, SemanticCalls: 20,
			Data: []byte(policy), Used: make([]carrel.UsedEntry, 10), Budget: 40_000, TokenCount: 31_200, Tier: tier.Full,
		}
		r.Used[9].Title, r.Used[9].Fetched = "Refund policy", true
		tt.change(r)
		out := new(bytes.Buffer)
		(&demo{out: out}).used(r)
		if got := failed(out); got != tt.want {
			t.Errorf("%s: %q failed, want %q", name, got, tt.want)
		}
	}
}

// What is known of a block is its last decision and its names.
func TestExplain(t *testing.T) {
	decided := []carrel.WhyEntry{{Decision: &pager.BlockDecision{Lines: 3}}}
	names := &carrel.WhyNeed{Names: []carrel.WhyName{{Name: "pool"}}}
	const journal, chances = "the journal knows why b1 is stub", "b1 has names, each with its chance"
	for name, tt := range map[string]struct {
		why  carrel.WhyResult
		want string
	}{
		"one of each":  {carrel.WhyResult{History: decided, Need: names}, ""},
		"no history":   {carrel.WhyResult{Need: names}, journal + "; " + chances},
		"no decision":  {carrel.WhyResult{History: append(decided[:1:1], carrel.WhyEntry{}), Need: names}, journal + "; " + chances},
		"nothing told": {carrel.WhyResult{History: decided}, chances},
		"no names":     {carrel.WhyResult{History: decided, Need: &carrel.WhyNeed{}}, chances},
	} {
		out := new(bytes.Buffer)
		tt.why.State = "stub"
		(&demo{out: out, cut: "b1"}).explain(&tt.why)
		said := out.String()
		if got := failed(out); got != tt.want {
			t.Errorf("%s: %q failed, want %q", name, got, tt.want)
		}
		if want := "  why        b1 is stub, 3 passages of it kept\n             likeliest to be needed: pool, 0.0%, not in the window\n"; tt.want == "" && said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
}

// The story follows a log wherever it stands, and names a price only if it is known.
func TestStoryOfOtherConversations(t *testing.T) {
	for name, tt := range map[string]struct {
		data   []byte
		failed string
		priced bool
	}{
		"a priced model":  {Session(), "", true},
		"an unpriced one": {bytes.ReplaceAll(Session(), []byte("claude-opus-4-6"), []byte("claude-fable-5-1")), "", false},
		"an unknown one":  {bytes.ReplaceAll(Session(), []byte("claude-opus-4-6"), []byte("unheard-of-1")), "", false},
		"no log":          {bytes.ReplaceAll(Session(), []byte(logOf), []byte("kubectl get pods")), "the log of a worker is in the conversation", false},
	} {
		d, out := newDemo(t, tt.data)
		out.Reset()
		if err := d.story(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Contains(out.String(), "At the list price of "); got != tt.priced {
			t.Errorf("%s: a price is told: %t", name, got)
		}
		if got := failed(out); got != tt.failed {
			t.Errorf("%s: %q failed, want %q", name, got, tt.failed)
		}
	}
}

// Without a summary, at least 50 lines and 200 names stay.
func TestKeptLinesAndNames(t *testing.T) {
	for _, tt := range []struct {
		lines, names int
		want         string
	}{{50, 200, ""}, {49, 200, "49 lines and 200 names are kept"}, {50, 199, "50 lines and 199 names are kept"}} {
		var text strings.Builder
		for i := range tt.names {
			fmt.Fprintf(&text, "name_%03d", i)
			text.WriteString(map[bool]string{true: "\n", false: " "}[i < tt.lines-1])
		}
		out := new(bytes.Buffer)
		(&demo{out: out}).kept(text.String()+"\n\n", text.String())
		if got := failed(out); got != tt.want {
			t.Errorf("%q failed, want %q", got, tt.want)
		}
	}
}
