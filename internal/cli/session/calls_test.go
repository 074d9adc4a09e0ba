package session

import (
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
)

func TestCallsArePrinted(t *testing.T) {
	at := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	usage := carrel.Usage{Input: 100, CacheRead: 2900, CacheWrite5m: 1000, Output: 20}
	calls := []carrel.Call{
		{
			ID: "call_2", Session: "s", State: store.CallFailed, Begun: at, Ended: at,
			CallIntent: carrel.CallIntent{Model: "m", Bytes: 9000, SentBytes: 4000, Epoch: 1, Managed: true, Reason: "head"}, CallOutcome: carrel.CallOutcome{Status: 429, Error: "overloaded"},
		},
		{
			ID: "call_1", State: store.CallDone, Begun: at.Add(-30 * time.Minute), Ended: at,
			CallIntent: carrel.CallIntent{Model: "m", Bytes: 90, SentBytes: 90, Reason: "holdout"}, CallOutcome: carrel.CallOutcome{Status: 200, Usage: usage, Would: &api.UnmanagedEstimate{Tokens: 2000, Epoch: 1, Reason: "same epoch"}},
		},
	}
	for _, tt := range []clitest.Printing{
		{
			Name: "calls", Print: func(p *out.Page) { p.Width = 120; printCalls(p, calls, at) },
			Pipe: "call_2\t2026-02-03T12:00:00Z\ts\tm\toverloaded 429\t1\t9000\t4000\t0\t0%\t0\t\thead\n" +
				"call_1\t2026-02-03T11:30:00Z\t\tm\tdone\t0\t90\t90\t4000\t73%\t20\t2000\tholdout; would: same epoch\n",
			TTY: "call    begun   session  model  state           epoch   came   sent  prompt  read  output  would  why\n" +
				"call_2  0 min   s        m      overloaded 429      1  9,000  4,000       0  0%         0         head\n" +
				"call_1  30 min           m      done                0     90     90   4,000  73%       20  2,000  holdout; would: same …\n",
		},
		{
			Name: "a report without prices", Print: func(p *out.Page) {
				all := carrel.CallTally{Sessions: 1, Calls: 2, Done: 2, Unpriced: 2, Models: []api.ModelTally{{Model: "m", Calls: 2}}}
				printCallReport(p, &carrel.ReportResult{First: at, Last: at, Total: all})
			},
			Pipe: "managed\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\nheld out\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n" +
				"others\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\nall\t1\t2\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n" +
				"gaps\t0\ncost\t–\t2\n",
		},
		{Name: "no calls", Print: func(p *out.Page) { printCalls(p, nil, at) }, TTY: "no calls are recorded\n"},
		{Name: "a report of none", Print: func(p *out.Page) { printCallReport(p, &carrel.ReportResult{Gaps: 2}) }, TTY: "no calls are recorded\n2 calls passed without a record\n"},
		{
			Name: "a report", Print: func(p *out.Page) {
				managed := carrel.CallTally{Sessions: 1, Calls: 3, Managed: 2, Done: 1, Failed: 2, Refused: 1, Epochs: 1, Bytes: 9090, SentBytes: 4090, Usage: usage}
				held := carrel.CallTally{Sessions: 2, Calls: 2, Done: 1, Open: 1, Usage: carrel.Usage{Input: 9000}}
				all := carrel.CallTally{Sessions: 3, Calls: 5, Managed: 2, Done: 2, Failed: 2, Refused: 1, Open: 1, Epochs: 1, Bytes: 9090, SentBytes: 4090, Usage: usage}
				all.Usage.Input += 9000
				all.Cost, all.Unpriced, all.Models = 12_345_678, 1, []api.ModelTally{{Model: "m", Calls: 1, Cost: 12_345_678}, {Model: "other", Calls: 1}}
				printCallReport(p, &carrel.ReportResult{
					First: at, Last: at.Add(time.Hour), Total: all, Managed: managed, Holdout: held,
					Reasons: []api.ReasonTally{{Reason: "holdout", Calls: 3}, {Managed: true, Reason: "head", Calls: 2}},
					Would: api.UnmanagedTally{
						Sessions: 2, Calls: 1, Missing: 1, Came: 9000, Tokens: 5000, Results: 1, Cost: 30_000_000,
						Managed: &carrel.ManagedCost{Least: 20_000_000, Most: 25_000_000, Epochs: 1},
					},
				})
			},
			Pipe: "managed\t1\t3\t2\t1\t1\t0\t1\t9090\t4090\t4000\t2900\t1000\t100\t20\n" +
				"held out\t2\t2\t0\t0\t0\t1\t0\t0\t0\t9000\t0\t0\t9000\t0\n" +
				"others\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\n" +
				"all\t3\t5\t2\t1\t1\t1\t1\t9090\t4090\t13000\t2900\t1000\t9100\t20\n" +
				"reason\tas it came\t3\tholdout\nreason\tmanaged\t2\thead\ngaps\t0\ncost\t$0.0123\t1\nwould\t2\t1\t1\t9000\t5000\t$0.0300\t$0.0200\t$0.0250\n",
			TTY: "of        managed  held out     all\nsessions        1         2       3\ncalls           3         2       5\nmanaged         2         0       2\n" +
				"refused         1         0       1\nfailed          1         0       1\nunknown         0         1       1\nepochs          1         0       1\n" +
				"came        9,090         0   9,090\nsent        4,090         0   4,090\nprompt      4,000     9,000  13,000\nread        2,900         0   2,900\n" +
				"written     1,000         0   1,000\nuncached      100     9,000   9,100\noutput         20         0      20\n" +
				"\ncalls              why\n    3  as it came  holdout\n    2  managed     head\n\n" +
				"read from caches: 22% of the prompts; tokens of prompts per conversation: 4,000 of 1 managed, 4,500 of 2 held out\n" +
				"$0.0123 at list prices, without 1 call of models that have none\n" +
				"1 call went as they came, with 9,000 tokens in prompts; managed, it might have been 5,000 (no estimate for 1 other call)\n" +
				"2 conversations cost $0.0300; managed, it might have been $0.0200 to $0.0250, with 1 epoch: an estimate and no promise, see carrel cost --help\nfrom 2026-02-03 12:00 to 2026-02-03 13:00\n",
		},
	} {
		tt.Test(t)
	}
	for state, c := range map[string]carrel.Call{
		"failed": {State: store.CallFailed}, "failed 400": {State: store.CallFailed, CallOutcome: carrel.CallOutcome{Status: 400}},
		"cut":     {State: store.CallFailed, CallOutcome: carrel.CallOutcome{Status: 399, Error: "cut"}},
		"unknown": {State: store.CallUnknown, CallOutcome: carrel.CallOutcome{Error: "x"}}, "done": {State: store.CallDone, CallOutcome: carrel.CallOutcome{Status: 400}},
	} {
		p := out.NewPage(false, 80)
		if printCalls(p, []carrel.Call{c}, at); !strings.Contains(p.String(), "\t"+state+"\t") {
			t.Errorf("%+v is printed as %q, want %q", c, p, state)
		}
	}
	one := carrel.CallTally{Sessions: 2, Usage: carrel.Usage{Input: 9}}
	for _, r := range []carrel.ReportResult{{}, {Managed: one}, {Holdout: one}} {
		if got := compared(&r); got != "" {
			t.Errorf("one sort of conversations is compared: %q", got)
		}
	}
	if got := costOf(&carrel.CallTally{Models: []api.ModelTally{{Calls: 1}}}); got != "$0.0000 at list prices" {
		t.Errorf("the cost of calls that have a price: %q", got)
	}
}

// Of a call that passed as it came, only the size of the body is known, not what the call before
// sent, too.
func TestOneCallIsPrinted(t *testing.T) {
	at := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	c := carrel.Call{ID: "call_2", Seq: 2, Session: "s", State: store.CallDone, Begun: at, Ended: at, CallIntent: carrel.CallIntent{Model: "m", Bytes: 90, SentBytes: 90, Reason: "holdout"}}
	managed := c
	managed.Managed, managed.Reason, managed.Epoch, managed.SentBytes = true, "same epoch", 1, 80
	const begin = "call\tcall_2\nnumber\t2\nsession\ts\nbegun\t2026-02-03T12:00:00Z\nmodel\tm\nstate\tdone\n"
	for _, tt := range []clitest.Printing{
		{
			Name: "as it came", Print: func(p *out.Page) { printCall(p, &carrel.CallResult{Call: c}) },
			Pipe: begin + "managed\tas it came\nwhy\tholdout\nepoch\t0\ncame\t90 bytes\nsent\t90 bytes\n",
		},
		{
			Name: "managed", Print: func(p *out.Page) {
				printCall(p, &carrel.CallResult{Call: managed, Kept: 20, Segments: []api.CallPart{
					{Kind: manifest.KindFrame, Bytes: 20, Origin: api.OriginBefore, Before: "call_1"}, {Kind: manifest.KindMessage, Start: 20, Bytes: 60, Origin: api.OriginClient},
				}})
			},
			Pipe: begin + "managed\tmanaged\nwhy\tsame epoch\nepoch\t1\ncame\t90 bytes\nsent\t80 bytes\nas before\t20 bytes at the beginning, 25.0%\n" +
				"\nframe\t0\t20\tbefore\tcall_1\nmessage\t20\t60\tclient\t\n",
		},
	} {
		tt.Test(t)
	}
}
