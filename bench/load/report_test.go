package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFiguresAreOfTheNearestRank(t *testing.T) {
	took := make([]time.Duration, 200)
	for i := range took {
		took[len(took)-1-i] = time.Duration(i+1) * time.Millisecond
	}
	r := &report{Seconds: 4}
	want := figures{Op: "append", Count: 200, Rate: 50, P50: 100, P90: 180, P99: 198, Max: 200}
	if diff := cmp.Diff(want, r.figures("append", took)); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
	one := r.figures("put", took[:1])
	if one.P50 != 1 || one.P99 != 1 || one.Max != 1 {
		t.Errorf("of one operation: %+v", one)
	}
	if none := r.figures("list", nil); none.Count != 0 || none.Max != 0 {
		t.Errorf("of none: %+v", none)
	}
}

func TestWhatFailsIsOnRecord(t *testing.T) {
	a := newTally()
	a.time("put", func() error { return nil })
	a.time("put", func() error { return errors.New("it is full") })
	a.check("artifacts", errors.New("it is gone"))
	r := &report{Seconds: 1, Checked: make(map[string]int)}
	took := make(map[string][]time.Duration)
	r.add(a, took)
	r.sum(took)
	var out strings.Builder
	if err := r.write(&out, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PROBLEM put: it is full", "PROBLEM read back: it is gone", "2 errors or lost writes", "1 artifacts"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, out.String())
		}
	}
}
