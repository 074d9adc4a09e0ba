package carrel_test

import (
	"errors"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
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
