package session

import (
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/transcript"
)

func TestCostsArePrinted(t *testing.T) {
	noon := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	bill := economy.Bill{
		Calls: 3, Spend: economy.Spend{Uncached: 100, Read: 700, Write5m: 150, Write1h: 50, Output: 1020},
		Charge: economy.Charge{Uncached: 2_500_000_000, Write: 12_300_000, Read: 100_000, Output: 1_000_000_000}, Total: 3_512_400_000, Uncached: 5_000_000_000,
	}
	const (
		pipe  = "read\t700\t70%\t$0.0001\nwritten\t200\t20%\t$0.0123\nuncached\t100\t10%\t$2.50\noutput\t1020\t\t$1.00\n"
		tty   = "part      tokens  of the prompts  cost\nread         700  70%             $0.0001\nwritten      200  20%             $0.0123\nuncached     100  10%             $2.50\noutput     1,020                  $1.00\n"
		least = "managed, it might have been $1.00 to $2.00, with 1 epoch: an estimate and no promise, see carrel cost --help\n"
	)
	one := func(change func(*carrel.CostResult)) *carrel.CostResult {
		r := &carrel.CostResult{Total: bill, Sessions: []carrel.SessionCost{
			{Session: "s-1", Title: "Fix it", Model: "m-1", Calls: 2, Spend: economy.Spend{Read: 1500, Uncached: 500}, Total: 3_512_400_000, Breaks: 1, Last: noon.Add(-2 * time.Hour)},
		}}
		change(r)
		return r
	}
	for _, tt := range []clitest.Printing{
		{
			Name: "one session", Print: func(p *out.Page) { printCost(p, one(func(*carrel.CostResult) {}), true, noon) },
			Pipe: pipe + "\n3 calls of 1 session: $3.51; without a cache it had been $5.00\n", TTY: tty + "\n3 calls of 1 session: $3.51; without a cache it had been $5.00\n",
		},
		{
			Name: "misses of the cache", Print: func(p *out.Page) {
				printCost(p, one(func(r *carrel.CostResult) {
					r.Total.Breaks = []economy.Break{{Call: 1, Cause: "expired", By: "time", At: noon, Idle: 390_400 * time.Millisecond, Lost: 6000, Gone: 5, Extra: 5_000_000}}
					r.Total.Causes = []economy.CauseSum{{Cause: "expired", By: "time", Breaks: 1, Lost: 6000, Extra: 5_000_000}}
				}), true, noon)
			},
			Pipe: pipe + "\n2\t2026-02-03 12:00:00\texpired\ttime\t6m30s\t6000\t$0.0050\n\nexpired\ttime\t1\t6000\t$0.0050\n\n3 calls of 1 session: $3.51; without a cache it had been $5.00\n",
			TTY: tty + "\ncall  at                   cause    by    idle    lost  extra\n   2  2026-02-03 12:00:00  expired  time  6m30s  6,000  $0.0050\n" +
				"\ncause    by    breaks   lost  extra\nexpired  time       1  6,000  $0.0050\n\n3 calls of 1 session: $3.51; without a cache it had been $5.00\n",
		},
		{
			Name: "sessions, and what is not known", Print: func(p *out.Page) {
				p.Width = 160
				printCost(p, one(func(r *carrel.CostResult) {
					r.Sessions = append(r.Sessions, carrel.SessionCost{Calls: 1, Unpriced: 1, Model: "a-model-with-a-very-long-name", Last: noon, Total: 7})
					r.Managed = &carrel.ManagedCost{Least: 1_000_000_000, Most: 2_000_000_000, Epochs: 1}
					r.Total.Unpriced, r.Total.Missing = 1, []string{"x", "y"}
					r.Unmetered, r.Twice, r.Unseen, r.Compacted = make([]transcript.SessionID, 1), 1, 2, 1
				}), false, noon)
			},
			Pipe: pipe + "\ns-1\t2026-02-03T10:00:00Z\tm-1\t2\t2000\t75%\t1\t$3.51\tFix it\n(beside)\t2026-02-03T12:00:00Z\ta-model-with-a-very-long-name\t1\t0\t0%\t0\t–\t\n" +
				"\n3 calls of 2 sessions: $3.51; without a cache it had been $5.00\n" + least +
				"1 call without a price, of x, y: the tokens are counted, the money is not; the settings take prices.MODEL.input and .output\n" +
				"1 session left out: their formats record no usage, and no call came through the proxy\n" +
				"1 call in a session file came through the proxy, too: they count once, as the proxy saw them\n" +
				"2 sub-agents with calls of their own that are not imported\n" +
				"1 compaction by the client: the call that wrote the summary is not recorded\n",
			TTY: tty + "\nsession   used   model                     calls  prompts  read  breaks  cost   title\n" +
				"s-1       2 h    m-1                           2    2,000  75%        1  $3.51  Fix it\n" +
				"(beside)  0 min  a-model-with-a-very-lon…      1        0  0%         0  –\n" +
				"\n3 calls of 2 sessions: $3.51; without a cache it had been $5.00\n" + least +
				"1 call without a price, of x, y: the tokens are counted, the money is not; the settings take prices.MODEL.input and .output\n" +
				"1 session left out: their formats record no usage, and no call came through the proxy\n" +
				"1 call in a session file came through the proxy, too: they count once, as the proxy saw them\n" +
				"2 sub-agents with calls of their own that are not imported\n" +
				"1 compaction by the client: the call that wrote the summary is not recorded\n",
		},
		{
			Name: "no times", Print: func(p *out.Page) {
				p.Width = 160
				printCost(p, one(func(r *carrel.CostResult) {
					r.Total.Breaks = []economy.Break{{Call: 1, Cause: "expired", By: "time", Lost: 6000, Extra: 5_000_000}}
					r.Sessions[0].Last = time.Time{}
				}), false, noon)
			},
			Pipe: pipe + "\n2\t\texpired\ttime\t0s\t6000\t$0.0050\n\ns-1\t\tm-1\t2\t2000\t75%\t1\t$3.51\tFix it\n\n3 calls of 1 session: $3.51; without a cache it had been $5.00\n",
			TTY: tty + "\ncall  at  cause    by    idle   lost  extra\n   2      expired  time  0s    6,000  $0.0050\n" +
				"\nsession  used  model  calls  prompts  read  breaks  cost   title\ns-1            m-1        2    2,000  75%        1  $3.51  Fix it\n" +
				"\n3 calls of 1 session: $3.51; without a cache it had been $5.00\n",
		},
		{
			Name: "no calls", Print: func(p *out.Page) { printCost(p, &carrel.CostResult{}, false, noon) },
			Pipe: "read\t0\t0%\t–\nwritten\t0\t0%\t–\nuncached\t0\t0%\t–\noutput\t0\t\t–\n\n0 calls of 0 sessions: no calls are recorded\n",
		},
		{
			Name: "no price at all", Print: func(p *out.Page) {
				printCost(p, &carrel.CostResult{Total: economy.Bill{Calls: 1, Unpriced: 1, Missing: []string{"x"}, Spend: economy.Spend{Read: 1}}}, false, noon)
			},
			Pipe: "read\t1\t100%\t–\nwritten\t0\t0%\t–\nuncached\t0\t0%\t–\noutput\t0\t\t–\n\n1 call of 0 sessions: no price is known\n" +
				"1 call without a price, of x: the tokens are counted, the money is not; the settings take prices.MODEL.input and .output\n",
		},
	} {
		tt.Test(t)
	}
}
