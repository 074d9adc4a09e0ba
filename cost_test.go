package carrel_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/claudecode"
)

// A session of 25 calls, of which two came after an hour: what it cost is what its calls cost
// one by one, and the two are the breaks.
func TestCost(t *testing.T) {
	e := newEngine(t, stores.New(t))
	_, err := e.Cost(t.Context(), scope, &carrel.CostRequest{})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of an empty store: %v, want ErrNotFound", err)
	}
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: fakesession.Metered(1, 25, 20)})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Cost(t.Context(), scope, &carrel.CostRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	// Each prompt is 600 tokens longer than the one before, the first has 9,600. After the
	// 10th and the 20th call nothing was kept.
	want := economy.Spend{Uncached: 25 * 3, Write5m: 9597 + 22*600 + 14_997 + 20_997, Output: 25 * 40}
	for i := range 25 {
		want.Read += 9600 + 600*token.Count(i)
	}
	want.Read -= want.Uncached + want.Write5m
	if res.Total.Spend != want || res.Total.Calls != 25 {
		t.Errorf("25 calls took %+v, want %+v", res.Total.Spend, want)
	}
	row, _ := economy.Published().Find("claude-sonnet-4-5")
	if got := row.Charge(want); res.Total.Charge != got || res.Total.Total != got.Total() {
		t.Errorf("they cost %+v, want %+v", res.Total.Charge, got)
	}
	var at []int
	for _, k := range res.Total.Breaks {
		at = append(at, k.Call)
		if k.Cause != economy.CauseExpired || k.Idle != time.Hour+2*time.Minute {
			t.Errorf("the break is %+v, want one that expired after 62 minutes", k)
		}
	}
	if len(at) != 2 || at[0] != 9 || at[1] != 19 {
		t.Errorf("the breaks are at calls %v, want 9 and 19", at)
	}
	if m := res.Managed; m == nil || m.Epochs != 0 || m.Least != res.Total.Total || m.Most != res.Total.Total {
		t.Errorf("managed: %+v, want the same: no prompt came near the window", m)
	}
}

func TestCostOfSeveral(t *testing.T) {
	e, err := carrel.New(stores.New(t), &carrel.Options{Now: func() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{fakesession.Metered(1, 12, 5), fakesession.Metered(2, 30, 5), fakesession.Chat(3, 2)} {
		if _, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	res, err := e.Cost(t.Context(), scope, &carrel.CostRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Sessions) != 2 || res.Sessions[0].Calls != 30 || res.Total.Calls != 42 || len(res.Unmetered) != 1 {
		t.Fatalf("the result is %+v, want two sessions, the dearer first, and one that is not metered", res)
	}
	if sum := res.Sessions[0].Total + res.Sessions[1].Total; sum != res.Total.Total {
		t.Errorf("the sessions cost %v together, and the bill is %v", sum, res.Total.Total)
	}
	if len(res.Total.Breaks) != 0 || len(res.Total.Causes) != 1 || res.Total.Causes[0].Breaks != 4 {
		t.Errorf("the causes are %+v, want 4 breaks that are not listed", res.Total.Causes)
	}
	if _, err := e.Cost(t.Context(), scope, &carrel.CostRequest{Session: res.Unmetered[0]}); !errors.Is(err, api.ErrRequest) {
		t.Errorf("of a session that is not metered: %v, want ErrRequest", err)
	}

	half := time.Date(2026, 4, 1, 10, 10, 0, 0, time.UTC) // 10 calls of each are from before
	later, err := e.Cost(t.Context(), scope, &carrel.CostRequest{Since: half})
	if err != nil {
		t.Fatal(err)
	}
	if later.Total.Calls != 42-2*9 {
		t.Errorf("since %v there are %d calls, want %d", half, later.Total.Calls, 42-2*9)
	}
}

// If all calls were managed, there is no estimate of what managing might have cost.
func TestManagedCallsHaveNoEstimate(t *testing.T) {
	b := newBookkeeper(t)
	outcome := carrel.CallOutcome{Usage: carrel.Usage{Input: 9000, Output: 100}}
	b.proxied("m", carrel.CallIntent{Messages: 1, Epoch: 1, Managed: true}, outcome)
	for _, want := range []bool{false, true} {
		res, err := b.Cost(t.Context(), scope, &carrel.CostRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Managed != nil; got != want {
			t.Errorf("with %d calls there is an estimate: %v, want %v", res.Total.Calls, got, want)
		}
		b.proxied("o", carrel.CallIntent{Messages: 1}, outcome)
	}
}

// proxied records a call that came through the proxy and took a minute.
func (b *bookkeeper) proxied(id transcript.SessionID, intent carrel.CallIntent, outcome carrel.CallOutcome) {
	b.t.Helper()
	intent.Model = cmp.Or(intent.Model, "claude-sonnet-4-5")
	outcome.Status = 200
	b.end(&carrel.EndRequest{Call: b.begin(&carrel.BeginRequest{Session: id, CallIntent: intent}), State: store.CallDone, CallOutcome: outcome})
}

// Calls that came through the proxy are billed by what the provider said of each, and what
// broke its cache is told with who did it.
func TestCostOfProxiedCalls(t *testing.T) {
	b := newBookkeeper(t)
	one, other := digest.Of([]byte("tools")), digest.Of([]byte("other tools"))
	usage := func(read, written token.Count) carrel.CallOutcome {
		return carrel.CallOutcome{Usage: carrel.Usage{Input: 3, CacheRead: read, CacheWrite5m: written, Output: 100}}
	}
	b.proxied("p", carrel.CallIntent{Messages: 1, Frame: one}, usage(0, 20_000))
	b.proxied("p", carrel.CallIntent{Messages: 3, Frame: one}, usage(20_000, 5000))
	b.proxied("p", carrel.CallIntent{Messages: 5, Frame: one, Epoch: 1, Managed: true}, usage(10_000, 5000))
	b.proxied("p", carrel.CallIntent{Messages: 7, Frame: other, Epoch: 1, Managed: true}, usage(0, 17_000))
	b.proxied("p", carrel.CallIntent{Messages: 2, Frame: other}, usage(0, 12_000))
	b.proxied("p", carrel.CallIntent{Messages: 4, Frame: other, Model: "claude-opus-4-5"}, usage(0, 14_000))
	b.turn(func() { b.now = b.now.Add(time.Hour) })
	b.proxied("p", carrel.CallIntent{Messages: 6, Frame: other, Model: "claude-opus-4-5"}, usage(0, 16_000))
	b.proxied("", carrel.CallIntent{Messages: 1}, usage(0, 500))
	res, err := b.Cost(t.Context(), scope, &carrel.CostRequest{Session: "p"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range res.Total.Breaks {
		got = append(got, fmt.Sprintf("%d %s by %s", k.Call, k.Cause, k.By))
	}
	want := []string{"2 epoch by carrel", "3 frame by client", "4 edited by client", "5 model by client", "6 expired by time"}
	if diff := gocmp.Diff(want, got); diff != "" || res.Total.Calls != 7 || res.Sessions[0].Proxied != 7 {
		t.Errorf("breaks (-want +got):\n%s\nof %d calls, %+v", diff, res.Total.Calls, res.Sessions)
	}
	all, err := b.Cost(t.Context(), scope, &carrel.CostRequest{})
	if err != nil || all.Total.Calls != 8 || len(all.Sessions) != 2 || all.Total.Total <= res.Total.Total {
		t.Errorf("all sessions: %+v, %v", all, err)
	}
}

// A call that is in a session file and came through the proxy counts once.
func TestCostCountsOnce(t *testing.T) {
	b := newBookkeeper(t)
	data := fakesession.Metered(1, 12, 5)
	in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	s, err := claudecode.Format.Decode("mill.jsonl", data)
	if err != nil {
		t.Fatal(err)
	}
	receipts := claudecode.Format.(transcript.Metered).Receipts(s)
	for _, r := range receipts[9:] {
		b.proxied("p", carrel.CallIntent{}, carrel.CallOutcome{Reply: r.ID, Usage: carrel.Usage{
			Input: token.Count(r.Uncached), CacheRead: token.Count(r.Read), CacheWrite5m: token.Count(r.Write5m), Output: token.Count(r.Output),
		}})
	}
	alone, err := b.Cost(t.Context(), scope, &carrel.CostRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.Cost(t.Context(), scope, &carrel.CostRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if alone.Total.Calls != 12 || all.Total.Calls != 12 || all.Twice != 3 || all.Total.Total != alone.Total.Total || len(all.Sessions) != 2 {
		t.Errorf("12 calls, of which the proxy saw 3: alone %d for %v, in all %d for %v, %d twice", alone.Total.Calls, alone.Total.Total, all.Total.Calls, all.Total.Total, all.Twice)
	}
}

// Of calls with an estimate, what managing might have cost goes by that: here half of each
// prompt but the first, behind one new window.
func TestReportSaysWhatManagingWould(t *testing.T) {
	b := newBookkeeper(t)
	would := func(tokens token.Count, epoch int, reason string) *api.UnmanagedEstimate {
		return &api.UnmanagedEstimate{Tokens: tokens, Frame: 5000, Epoch: epoch, Reason: reason}
	}
	b.proxied("o", carrel.CallIntent{}, carrel.CallOutcome{Usage: carrel.Usage{CacheWrite5m: 40_000}, Would: would(40_000, 0, "nothing to change")})
	b.proxied("o", carrel.CallIntent{}, carrel.CallOutcome{Usage: carrel.Usage{CacheRead: 40_000}, Would: would(20_000, 1, "new epoch: budget")})
	for range 10 {
		b.proxied("o", carrel.CallIntent{}, carrel.CallOutcome{Usage: carrel.Usage{CacheRead: 40_000}, Would: would(20_000, 1, "same epoch")})
	}
	b.proxied("o", carrel.CallIntent{}, carrel.CallOutcome{Usage: carrel.Usage{CacheRead: 40_000}})
	b.proxied("m", carrel.CallIntent{Managed: true}, carrel.CallOutcome{Usage: carrel.Usage{CacheRead: 40_000}})
	res, err := b.Report(t.Context(), scope, &carrel.ReportRequest{})
	if err != nil {
		t.Fatal(err)
	}
	w := res.Would
	if w.Sessions != 1 || w.Calls != 12 || w.Missing != 1 || w.Came != 480_000 || w.Tokens != 260_000 {
		t.Errorf("got %+v", w)
	}
	// In dollars for a million tokens: 3.75 to write, .3 to read. All 40,000 are written once, and
	// read by the 12 calls that follow; or 15,000 behind a frame of 5,000 are written anew, and
	// all of it is read by 11.
	came := economy.Money(40_000*3750 + 12*40_000*300)
	least := economy.Money(40_000*3750 + 15_000*3750 + 5000*300 + 11*20_000*300)
	if w.Cost != came || w.Managed == nil || w.Managed.Least != least || w.Managed.Most <= least || w.Managed.Epochs != 1 {
		t.Errorf("as they came %d, managed %+v, want %d and at least %d", w.Cost, w.Managed, came, least)
	}
}
