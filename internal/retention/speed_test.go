package retention

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
)

// A ticking clock goes on by so much whenever it is read. It is for one goroutine.
func ticking(step time.Duration) func() time.Time {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func TestSpeed(t *testing.T) {
	ownTime := func(c *Case, _ int, _ func() time.Time) ([]Message, time.Duration) {
		return c.Prefix, 500 * time.Microsecond
	}
	opts := small()
	opts.Now = ticking(2 * time.Millisecond) // between the two readings of a packing
	opts.Methods = append(Baselines(), Method{Name: "own time", packCase: ownTime}, Strategies(nil, carrel.StrategyImportance)[0])
	r := Measure(trajectories(), opts)
	mean := make(map[string]float64) // tokens of a prefix
	cases := 0
	for _, f := range r.Families {
		mean[f.Name] = f.Tokens
		mean[""] += f.Tokens * float64(f.Cases)
		cases += f.Cases
	}
	mean[""] /= float64(cases)
	for i := range r.Rows {
		row := &r.Rows[i]
		micros := 2000.0
		if row.Method == "own time" {
			micros = 500
		}
		switch s := row.Speed; {
		case row.Oracle:
			if s != nil {
				t.Errorf("oracle %s has a speed: %+v", row.Method, s)
			}
		case s == nil || s.Micros != micros:
			t.Errorf("%s %q: speed %+v, want %v µs", row.Method, row.Family, s, micros)
		case s.Tokens < mean[row.Family]/micros*.999 || s.Tokens > mean[row.Family]/micros*1.001:
			t.Errorf("%s %q: %v Mtok/s for %v tokens in %v µs", row.Method, row.Family, s.Tokens, mean[row.Family], micros)
		}
	}
	if text := written(t, r); !strings.Contains(text, "µs") || !strings.Contains(text, `"mtok_s"`) {
		t.Errorf("no speed in\n%s", text)
	}
}

// Without a clock nothing of it is seen, not even of a method that has its own time.
func TestNoSpeedWithoutAClock(t *testing.T) {
	opts := small()
	for i := range opts.Methods {
		m := opts.Methods[i]
		opts.Methods[i].packCase = func(c *Case, budget int, _ func() time.Time) ([]Message, time.Duration) {
			out, _ := m.run(c, budget, nil)
			return out, time.Second
		}
	}
	got, want := written(t, Measure(trajectories(), opts)), written(t, Measure(trajectories(), small()))
	if got != want || strings.Contains(got, "µs") || strings.Contains(got, "speed") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// written returns a report in all of its forms.
func written(t *testing.T, r *Report) string {
	t.Helper()
	data, err := json.Marshal(r)
	b := bytes.NewBuffer(data)
	if err := errors.Join(err, r.Head(b), r.Table(b, ""), r.Table(b, "red"), r.SVG(b)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
