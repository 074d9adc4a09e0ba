package triage

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tableOf returns a table of the rows.
func tableOf(rows ...Row) *Table {
	var t Table
	for _, r := range rows {
		t.Append(r)
	}
	return &t
}

// rowsOf returns the rows of candidates.
func rowsOf(list []Candidate) []int {
	rows := make([]int, len(list))
	for i, c := range list {
		rows[i] = c.Row
	}
	return rows
}

func TestFirstReason(t *testing.T) {
	for _, tt := range []struct {
		name string
		row  Row
		want Reason
	}{
		{"what never expires is admitted", Row{Class: provenance.Tool}, reasonAdmitted},
		{"what expires in a millisecond is admitted", Row{Class: provenance.Tool, Expires: noon.Add(time.Millisecond)}, reasonAdmitted},
		{"what expires now is dead", Row{Class: provenance.Tool, Expires: noon}, ReasonExpired},
		{"what expired in the past is dead", Row{Class: provenance.Verified, Expires: noon.Add(-day)}, ReasonExpired},
		{"times are cut to milliseconds", Row{Class: provenance.Tool, Expires: noon.Add(time.Millisecond - 1)}, ReasonExpired},
		{"a time to live of nothing is dead at once", Row{Class: provenance.Tool, Created: noon, Expires: noon}, ReasonExpired},
		{"what is refuted is dead", Row{Class: provenance.Verified, Flags: Refuted}, ReasonRefuted},
		{"promotion does not revive", Row{Class: provenance.Verified, Flags: Refuted | Promoted}, ReasonRefuted},
		{"what is refuted and expired is refuted", Row{Class: provenance.Tool, Expires: noon, Flags: Refuted}, ReasonRefuted},
		{"what is not there is absent, whatever else it is", Row{Class: provenance.Scratchpad, Expires: noon, Flags: Refuted | Absent | Promoted}, reasonAbsent},
		{"a scratchpad is not trusted", Row{Class: provenance.Scratchpad}, ReasonDistrusted},
		{"a promoted scratchpad is", Row{Class: provenance.Scratchpad, Flags: Promoted}, reasonAdmitted},
		{"a scratchpad that is expired is dead", Row{Class: provenance.Scratchpad, Expires: noon}, ReasonExpired},
		{"an unknown class is not trusted, nor can it be promoted", Row{Class: "gossip", Flags: Promoted}, ReasonDistrusted},
		{"what comes from the future is admitted", Row{Class: provenance.Tool, Created: noon.Add(day)}, reasonAdmitted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := DefaultPolicy().First(tableOf(tt.row), noon, []int{0}, nil)
			if got := f.Reason(0); got != tt.want {
				t.Errorf("reason is %s, want %s", got, tt.want)
			}
			if got := len(f.Admitted) == 1; got != (tt.want == reasonAdmitted) {
				t.Errorf("%s, but admitted is %v", tt.want, f.Admitted)
			}
		})
	}
}

func TestReasonOutsideTheTable(t *testing.T) {
	f := DefaultPolicy().First(tableOf(Row{Class: provenance.Tool}), noon, nil, nil)
	for _, row := range []int{-1, 1} {
		if got := f.Reason(row); got != reasonAbsent {
			t.Errorf("reason of row %d is %s, want %s", row, got, reasonAbsent)
		}
	}
}

// Scores that a reader can check by hand.
func TestFirstScores(t *testing.T) {
	table := tableOf(
		Row{Class: provenance.Tool, Created: noon.Add(-day)},              // (.5·.5 + .25·.4)/.75
		Row{Class: provenance.Verified, Created: noon.Add(-180 * day)},    // (.2·.5 + .5·1)/.7
		Row{Class: provenance.Retrieved, Created: noon},                   // (.4·1 + .2·.7)/.6
		Row{Class: provenance.Retrieved, Created: noon.Add(time.Hour)},    // the same: its age is 0
		Row{Class: provenance.Transcript, Created: noon.Add(-7000 * day)}, // (.4·0 + .2·.4)/.6
	)
	want := []Candidate{
		{Row: 4, Class: provenance.Transcript, Recency: 0, Provenance: 400_000, First: 133_333, Hit: 1, Fused: 15385 + 16393},
		{Row: 2, Class: provenance.Retrieved, Recency: ratio.One, Provenance: 700_000, First: 900_000, Fused: 16393},
		{Row: 3, Class: provenance.Retrieved, Recency: ratio.One, Provenance: 700_000, First: 900_000, Fused: 16129},
		{Row: 1, Class: provenance.Verified, Recency: 500_000, Provenance: ratio.One, First: 857_143, Fused: 15873},
		{Row: 0, Class: provenance.Tool, Recency: 500_000, Provenance: 400_000, First: 466_667, Fused: 15625},
	}
	got := DefaultPolicy().First(table, noon, []int{4}, nil)
	if diff := gocmp.Diff(want, got.Admitted); diff != "" {
		t.Errorf("admitted (-want +got):\n%s", diff)
	}
}

// Rows 0 to 19 have increasing ages; the hits are old rows.
func TestPlaces(t *testing.T) {
	var aging []Row
	for i := range 20 {
		aging = append(aging, Row{Class: provenance.Document, Created: noon.Add(-time.Duration(i) * day)})
	}
	for _, tt := range []struct {
		name  string
		admit int
		rows  []Row
		hits  []int
		want  []int // sorted
	}{
		{"without hits, scores have all places", 5, aging, nil, []int{0, 1, 2, 3, 4}},
		{"hits have two fifths", 5, aging, []int{19, 18, 17}, []int{0, 1, 2, 18, 19}},
		{"scores have what the hits leave", 5, aging, []int{19}, []int{0, 1, 2, 3, 19}},
		{"a hit with a place by its score takes no second", 5, aging, []int{1, 19, 18}, []int{0, 1, 2, 18, 19}},
		{"a hit just below is not admitted twice", 5, aging, []int{3}, []int{0, 1, 2, 3, 4}},
		{"a hit that comes twice counts once", 5, aging, []int{19, 19, 18}, []int{0, 1, 2, 18, 19}},
		{"a hit that does not exist is passed over", 5, aging, []int{-1, 20, 19, 18}, []int{0, 1, 2, 18, 19}},
		{"scores have three fifths, rounded up", 4, aging, []int{19, 18, 17}, []int{0, 1, 2, 19}},
		{"a single place goes to the best score", 1, aging, []int{19}, []int{0}},
		{"more places than rows", 50, aging[:3], []int{2}, []int{0, 1, 2}},
		{"no rows", 5, nil, []int{0}, []int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := DefaultPolicy()
			p.Admit = tt.admit
			got := rowsOf(p.First(tableOf(tt.rows...), noon, tt.hits, nil).Admitted)
			slices.Sort(got)
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("admitted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecond(t *testing.T) {
	p := DefaultPolicy()
	p.Deep = 3
	table := tableOf(
		Row{Class: provenance.Tool, Created: noon.Add(-day)},
		Row{Class: provenance.Verified, Created: noon},
		Row{Class: provenance.Tool, Created: noon.Add(-9 * day)},
		Row{Class: provenance.Tool, Created: noon.Add(-7000 * day)},
	)
	f := p.First(table, noon, nil, nil)
	calls := 0
	got, err := p.Second(f, func(rows []int) ([]ratio.Ratio, error) {
		calls++
		if diff := gocmp.Diff([]int{1, 0, 2}, rows); diff != "" {
			t.Errorf("rows to embed (-want +got):\n%s", diff)
		}
		return []ratio.Ratio{-5, 800_000, 2_000_000}, nil
	})
	if err != nil || calls != 1 {
		t.Fatalf("%d calls of semantic, error %v", calls, err)
	}
	want := []Scored{
		{Candidate{Row: 1}, 0, 700_000, manifest.TagGreen},          // .2·1 + .5·1 + .3·0, but not similar
		{Candidate{Row: 0}, 800_000, 550_000, manifest.TagYellow},   // .5·.5 + .25·.4 + .25·.8
		{Candidate{Row: 2}, ratio.One, 350_977, manifest.TagYellow}, // .5/512 + .25·.4 + .25·1
	}
	if diff := gocmp.Diff(want, got, cmpopts.IgnoreFields(Candidate{}, "Class", "Recency", "Provenance", "First", "Hit", "Fused")); diff != "" {
		t.Errorf("scored (-want +got):\n%s", diff)
	}
	if got := f.Reason(3); got != reasonNotScored {
		t.Errorf("reason of the row without a place is %s, want %s", got, reasonNotScored)
	}
	if diff := gocmp.Diff(Tally{Admitted: 3, NotScored: 1}, f.Tally); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
}

func TestSecondErrors(t *testing.T) {
	p := DefaultPolicy()
	f := p.First(tableOf(Row{Class: provenance.Tool}), noon, nil, nil)
	if _, err := p.Second(f, func([]int) ([]ratio.Ratio, error) { return nil, nil }); !errors.Is(err, errSemantic) {
		t.Errorf("without similarities: %v, want %v", err, errSemantic)
	}
	down := errors.New("model is down")
	if _, err := p.Second(f, func([]int) ([]ratio.Ratio, error) { return nil, down }); !errors.Is(err, down) {
		t.Errorf("got %v, want %v", err, down)
	}
	none := p.First(&Table{}, noon, nil, nil)
	got, err := p.Second(none, func([]int) ([]ratio.Ratio, error) { return nil, down })
	if got != nil || err != nil {
		t.Errorf("without candidates: %v, %v, want no call", got, err)
	}
}

// A score that equals a threshold gets the better tag.
func TestTag(t *testing.T) {
	p := DefaultPolicy()
	for score, want := range map[ratio.Ratio]manifest.Tag{
		ratio.One: manifest.TagRed, 600_000: manifest.TagRed, 599_999: manifest.TagYellow, 350_000: manifest.TagYellow, 349_999: manifest.TagGreen, 0: manifest.TagGreen,
	} {
		if got := p.tag(score); got != want {
			t.Errorf("tag of %v is %s, want %s", score, got, want)
		}
	}
}

func TestTableKeepsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		rows := rapid.SliceOf(anyRow).Draw(t, "rows")
		for i, r := range rows {
			if got := table.Append(Row{}); got != i {
				t.Fatalf("row %d is appended as %d", i, got)
			}
			table.Set(i, r)
		}
		if table.Len() != len(rows) {
			t.Fatalf("%d rows, want %d", table.Len(), len(rows))
		}
		for i, want := range rows {
			if diff := gocmp.Diff(want, table.Row(i)); diff != "" {
				t.Fatalf("row %d (-want +got):\n%s", i, diff)
			}
		}
	})
}

// A kind has room for 7 classes: an eighth needs a wider one.
func TestClassesFitAKind(t *testing.T) {
	if len(classes) > noClass {
		t.Errorf("%d classes, want at most %d", len(classes), noClass)
	}
}

// Extreme times do not panic, and do not make dead rows alive.
func TestFarTimes(t *testing.T) {
	past, future := time.Unix(-1<<52, 0), time.Unix(1<<52, 0)
	table := tableOf(
		Row{Class: provenance.Tool, Created: past},
		Row{Class: provenance.Tool, Created: past, Expires: past},
		Row{Class: provenance.Tool, Created: future, Expires: future},
	)
	for _, curve := range []Curve{CurveHalfLife, CurveLog} {
		p := DefaultPolicy()
		p.Curve = curve
		f := p.First(table, noon, nil, nil)
		if diff := gocmp.Diff([]int{2, 0}, rowsOf(f.Admitted)); diff != "" {
			t.Errorf("%s: admitted (-want +got):\n%s", curve, diff)
		}
	}
}

// The rows of the tests: ages near the half-lives, and ties.
var anyRow = rapid.Custom(func(t *rapid.T) Row {
	r := Row{
		Class:   rapid.SampledFrom(classes).Draw(t, "class"),
		Created: noon.Add(time.Duration(rapid.Int64Range(-1000, 40).Draw(t, "created")) * 7 * time.Hour),
		Flags:   rapid.SampledFrom([]Flags{0, 0, 0, 0, Refuted, Absent, Promoted, Promoted | Refuted}).Draw(t, "flags"),
	}
	if rapid.Bool().Draw(t, "expires") {
		r.Expires = noon.Add(time.Duration(rapid.Int64Range(-2, 3).Draw(t, "left")) * time.Millisecond)
	}
	return r
})

// anyCase draws a policy, rows and hits.
func anyCase(t *rapid.T) (*Policy, []Row, []int) {
	p := DefaultPolicy()
	p.Curve = rapid.SampledFrom([]Curve{CurveHalfLife, CurveLog}).Draw(t, "curve")
	p.Trust = rapid.SampledFrom([]ratio.Ratio{0, 200_000, 400_000, 500_000, ratio.One}).Draw(t, "trust")
	p.Admit = rapid.IntRange(1, 12).Draw(t, "admit")
	p.Deep = rapid.IntRange(1, p.Admit).Draw(t, "deep")
	rows := rapid.SliceOfN(anyRow, 0, 60).Draw(t, "rows")
	hits := rapid.SliceOfN(rapid.IntRange(-2, len(rows)+2), 0, 20).Draw(t, "hits")
	return p, rows, hits
}

// An outcome has the public results of pass one.
type outcome struct {
	Admitted []Candidate
	Tally    Tally
	Deep     int
	Reasons  []Reason // of each row
}

func outcomeOf(f *First) *outcome {
	o := &outcome{Admitted: f.Admitted, Tally: f.Tally, Deep: len(f.Shortlist())}
	for row := range f.rows {
		o.Reasons = append(o.Reasons, f.Reason(row))
	}
	return o
}

// reference implements pass one as documented, slowly: with exact fractions, and by sorting
// all rows.
func reference(p *Policy, rows []Row, now time.Time, hits []int) *outcome {
	f, codes := &outcome{}, make([]code, len(rows))
	var open []Candidate
	scores := make(map[Candidate]ratio.Ratio) // fractions are slow
	for i, r := range rows {
		rule := p.Classes[r.Class]
		switch {
		case r.Flags&Absent != 0:
			codes[i] = absent
		case r.Flags&Refuted != 0:
			codes[i] = refuted
		case !r.Expires.IsZero() && !now.Before(r.Expires):
			codes[i] = expired
		case rule.Rank < p.Trust && r.Flags&Promoted == 0:
			codes[i] = distrusted
		default:
			codes[i] = crowded
			clock := newClock(p.Curve, rule.HalfLife.Milliseconds())
			c := Candidate{Class: r.Class, Provenance: rule.Rank}
			c.Recency = clock.recency(now.Sub(r.Created).Milliseconds())
			score, ok := scores[c]
			if !ok {
				score = mean(rule, c.Recency)
				scores[c] = score
			}
			c.Row, c.First = i, score
			open = append(open, c)
		}
	}
	byScore := func(a, b Candidate) int { return cmp.Or(cmp.Compare(b.First, a.First), cmp.Compare(a.Row, b.Row)) }
	slices.SortFunc(open, byScore)

	isOpen := func(row int) bool { return row >= 0 && row < len(rows) && codes[row] == crowded }
	var heard []int
	for _, row := range hits {
		if isOpen(row) && !slices.Contains(heard, row) && len(heard) < p.Admit {
			heard = append(heard, row)
		}
	}
	order := rowsOf(open[:min(len(open), p.Admit-p.Admit*2/5)])
	order = slices.Concat(order, heard, rowsOf(open))
	var chosen []int
	for _, row := range order {
		if len(chosen) < p.Admit && !slices.Contains(chosen, row) {
			chosen = append(chosen, row)
		}
	}

	for _, c := range open {
		if slices.Contains(chosen, c.Row) {
			c.Hit = slices.Index(heard, c.Row) + 1
			f.Admitted = append(f.Admitted, c)
		}
	}
	for i := range f.Admitted {
		c := &f.Admitted[i]
		c.Fused = nearest(big.NewRat(1, int64(60+i+1)))
		if c.Hit > 0 {
			c.Fused += nearest(big.NewRat(1, int64(60+c.Hit)))
		}
	}
	slices.SortFunc(f.Admitted, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Fused, a.Fused), byScore(a, b))
	})
	f.Deep = min(p.Deep, len(f.Admitted))
	for i, c := range f.Admitted {
		codes[c.Row] = admitted
		if i >= p.Deep {
			codes[c.Row] = notScored
		}
	}
	var count [numCodes]int
	for _, c := range codes {
		count[c]++
	}
	f.Tally = tallyOf(&count)
	for _, c := range codes {
		f.Reasons = append(f.Reasons, reasons[c])
	}
	return f
}

// mean returns the score of pass one under a scoring.
func mean(r Scoring, recency ratio.Ratio) ratio.Ratio {
	sum := new(big.Rat).Add(product(r.Recency, recency), product(r.Provenance, r.Rank))
	return nearest(sum.Quo(sum, product(r.Recency+r.Provenance, ratio.One)))
}

func product(a, b ratio.Ratio) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(int64(a), int64(ratio.One)), big.NewRat(int64(b), int64(ratio.One)))
}

// nearest returns r, which is not negative, to the nearest millionth.
func nearest(r *big.Rat) ratio.Ratio {
	x := new(big.Rat).Add(new(big.Rat).Mul(r, big.NewRat(int64(ratio.One), 1)), big.NewRat(1, 2))
	return ratio.Ratio(new(big.Int).Quo(x.Num(), x.Denom()).Int64())
}

// diffFirst returns the differences of two results of pass one.
func diffFirst(want *outcome, got *First) string {
	return gocmp.Diff(want, outcomeOf(got), cmpopts.EquateEmpty())
}

// Reusing the memory of a pass over another table by another policy changes no result.
func TestFirstIsTheReference(t *testing.T) {
	used := DefaultPolicy().First(randomTable(2000), noon, someHits(2000), nil)
	rapid.Check(t, func(t *rapid.T) {
		p, rows, hits := anyCase(t)
		want := reference(p, rows, noon, hits)
		if diff := diffFirst(want, p.First(tableOf(rows...), noon, hits, nil)); diff != "" {
			t.Fatalf("pass one (-reference +got):\n%s", diff)
		}
		if diff := diffFirst(want, p.First(tableOf(rows...), noon, hits, used)); diff != "" {
			t.Fatalf("pass one in used memory (-reference +got):\n%s", diff)
		}
	})
}

// Tables large enough that a sample sets the bars, in orders that are easy and
// hard for it, with many ties and none.
func TestLargeFirstIsTheReference(t *testing.T) {
	const n = 3000
	for _, tt := range []struct {
		name  string
		table *Table
	}{
		{"no order", randomTable(n)},
		{"oldest first", sortedTable(randomTable(n))},
		{"newest first", func() *Table {
			sorted, reversed := sortedTable(randomTable(n)), &Table{}
			for i := range n {
				reversed.Append(sorted.Row(n - 1 - i))
			}
			return reversed
		}()},
		{"all the same", func() *Table {
			var table Table
			for range n {
				table.Append(Row{Class: provenance.Document, Created: noon.Add(-day)})
			}
			return &table
		}()},
		{"the same but for few, none of them in the sample", func() *Table {
			var table Table
			for i := range n {
				table.Append(Row{Class: provenance.Document, Created: noon.Add(-day + time.Duration(i%500/499)*time.Hour)})
			}
			return &table
		}()},
		{"all the best in the sample, the last of them as old as its bar", func() *Table {
			var table Table
			for i := range n {
				age := time.Hour
				if i%8 == 7 {
					age = time.Duration(i) * time.Millisecond
				}
				table.Append(Row{Class: provenance.Memory, Created: noon.Add(-age)})
			}
			return &table
		}()},
		{"few may enter", func() *Table {
			var table Table
			for i := range n {
				table.Append(Row{Class: provenance.Tool, Created: noon, Flags: Flags(min(i%900, 1)) * Refuted})
			}
			return &table
		}()},
	} {
		for _, curve := range []Curve{CurveHalfLife, CurveLog} {
			t.Run(tt.name+", "+string(curve), func(t *testing.T) {
				p := DefaultPolicy()
				p.Curve, p.Admit, p.Deep = curve, 10, 4
				set(provenance.Memory, func(r *Scoring) { r.HalfLife = time.Second })(p)
				rows := make([]Row, n)
				for i := range rows {
					rows[i] = tt.table.Row(i)
				}
				for _, hits := range [][]int{nil, someHits(n)} {
					if diff := diffFirst(reference(p, rows, noon, hits), p.First(tt.table, noon, hits, nil)); diff != "" {
						t.Errorf("pass one with %d hits (-reference +got):\n%s", len(hits), diff)
					}
				}
			})
		}
	}
}

// No dead, absent or distrusted row is admitted, no row twice, and no more rows than there
// are places; no place stays empty while rows may enter; the tally counts all rows.
func TestFirstLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, rows, hits := anyCase(t)
		f := p.First(tableOf(rows...), noon, hits, nil)
		seen := make(map[int]bool)
		for _, c := range f.Admitted {
			r := rows[c.Row]
			switch {
			case seen[c.Row]:
				t.Fatalf("row %d is admitted twice", c.Row)
			case r.Flags&(Refuted|Absent) != 0:
				t.Fatalf("row %d is admitted with flags %b", c.Row, r.Flags)
			case !r.Expires.IsZero() && !r.Expires.After(noon):
				t.Fatalf("row %d is admitted and expired at %v", c.Row, r.Expires)
			case p.Classes[r.Class].Rank < p.Trust && r.Flags&Promoted == 0:
				t.Fatalf("row %d is admitted and a %s", c.Row, r.Class)
			}
			seen[c.Row] = true
		}
		n := f.Tally
		open := n.Admitted + n.NotScored + n.Crowded
		if got, want := len(f.Admitted), min(p.Admit, open); got != want {
			t.Fatalf("%d of %d are admitted, want %d", got, open, want)
		}
		if got := open + n.Distrusted + n.Expired + n.Refuted + n.Absent; got != len(rows) {
			t.Fatalf("tally is of %d rows, want %d: %+v", got, len(rows), n)
		}
		if got, want := len(f.Shortlist()), min(p.Deep, len(f.Admitted)); got != want {
			t.Fatalf("shortlist has %d rows, want %d", got, want)
		}
	})
}

// A dead row changes nothing but the tally, even as the best hit.
func TestTheDeadDoNotCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, rows, hits := anyCase(t)
		for i, row := range hits {
			hits[i] = min(row, len(rows)-1) // the new row is not in this table
		}
		before := p.First(tableOf(rows...), noon, hits, nil)
		dead := Row{Class: provenance.Verified, Created: noon, Expires: noon, Flags: Promoted}
		after := p.First(tableOf(append(rows, dead)...), noon, append([]int{len(rows)}, hits...), nil)
		if got := after.Reason(len(rows)); got != ReasonExpired {
			t.Fatalf("the dead row is %s", got)
		}
		if after.Tally.Expired--; after.Tally != before.Tally {
			t.Fatalf("tally is %+v, want %+v and one expired", after.Tally, before.Tally)
		}
		if diff := gocmp.Diff(before.Admitted, after.Admitted); diff != "" {
			t.Fatalf("admitted (-without +with the dead row):\n%s", diff)
		}
	})
}

// The order of rows decides only ties.
func TestOrderOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, rows, hits := anyCase(t)
		scores := make(map[string]bool)
		rows = slices.DeleteFunc(rows, func(r Row) bool { // ties
			r.Flags |= Promoted
			r.Expires = time.Time{}
			alone := reference(p, []Row{r}, noon, nil)
			if len(alone.Admitted) == 0 {
				return false
			}
			key := fmt.Sprint(alone.Admitted[0].First)
			tie := scores[key]
			scores[key] = true
			return tie
		})
		numbers := make([]int, len(rows))
		for i := range numbers {
			numbers[i] = i
		}
		old := rapid.Permutation(numbers).Draw(t, "old") // numbers of the rows before
		moved := make([]Row, len(rows))
		now := make(map[int]int)
		for i, o := range old {
			moved[i], now[o] = rows[o], i
		}
		var movedHits []int
		hits = slices.DeleteFunc(hits, func(row int) bool { return row < 0 || row >= len(rows) })
		for _, row := range hits {
			movedHits = append(movedHits, now[row])
		}
		want := p.First(tableOf(rows...), noon, hits, nil)
		got := p.First(tableOf(moved...), noon, movedHits, nil)
		for i := range got.Admitted {
			got.Admitted[i].Row = old[got.Admitted[i].Row]
		}
		// Rows with different scores can tie when ranks are fused, but then the
		// score decides.
		if diff := gocmp.Diff(want.Admitted, got.Admitted); diff != "" {
			t.Fatalf("admitted (-want +moved):\n%s", diff)
		}
	})
}

// In a class, an older row never scores higher.
func TestOlderIsNeverBetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := DefaultPolicy().Classes[rapid.SampledFrom(classes).Draw(t, "class")]
		curve := rapid.SampledFrom([]Curve{CurveHalfLife, CurveLog}).Draw(t, "curve")
		s := newScorer(curve, rule)
		young := rapid.Int64Range(-10, 1<<45).Draw(t, "young")
		old := young + rapid.Int64Range(0, 1<<rapid.IntRange(0, 45).Draw(t, "order")).Draw(t, "older by")
		if y, o := s.first(young), s.first(old); o > y || y > ratio.One || o < 0 {
			t.Fatalf("score is %v at %d ms and %v at %d ms", y, young, o, old)
		}
	})
}

// reach is the last age at which the score is above the bar.
func TestReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := DefaultPolicy().Classes[rapid.SampledFrom(classes).Draw(t, "class")]
		s := newScorer(rapid.SampledFrom([]Curve{CurveHalfLife, CurveLog}).Draw(t, "curve"), rule)
		bar := rapid.OneOf(
			rapid.Map(rapid.Int64Range(-1, int64(ratio.One)), func(n int64) ratio.Ratio { return ratio.Ratio(n) }),
			rapid.Map(rapid.SampledFrom([]int64{0, s.clock.half, 2 * s.clock.half}), s.first), // the score at an age itself
		).Draw(t, "bar")
		age := s.reach(bar)
		if age >= 0 && s.first(age) <= bar {
			t.Fatalf("score at %d ms is %v, want above %v", age, s.first(age), bar)
		}
		if age < 2*horizon && s.first(age+1) > bar {
			t.Fatalf("score at %d ms is %v, want at most %v", age+1, s.first(age+1), bar)
		}
	})
}

func TestFirstAllocatesNothingAgain(t *testing.T) {
	p := DefaultPolicy()
	for _, rows := range []int{0, 1, 1000, 100_000} {
		table, hits := randomTable(rows), someHits(rows)
		used := p.First(table, noon, hits, nil)
		if n := testing.AllocsPerRun(10, func() { used = p.First(table, noon, hits, used) }); n != 0 {
			t.Errorf("%d rows: %v allocations, want none", rows, n)
		}
	}
}

// Bits and Reason agree on every row.
func TestBits(t *testing.T) {
	var table Table
	for i := range 203 {
		r := Row{Class: provenance.Classes()[i%7], Created: noon.Add(-time.Duration(i) * day)}
		if i%5 == 0 {
			r.Expires = noon
		}
		if i%11 == 0 {
			r.Flags = Refuted
		}
		table.Append(r)
	}
	f := DefaultPolicy().First(&table, noon, nil, nil)
	for _, reason := range reasons[:absent] {
		bits := f.Bits(reason)
		if len(bits) != 26 {
			t.Fatalf("%d bytes of bits for 203 rows that are %s", len(bits), reason)
		}
		for row := range 8 * len(bits) {
			got, want := bits[row/8]>>(row%8)&1 == 1, row < table.Len() && f.Reason(row) == reason
			if got != want {
				t.Fatalf("row %d is %s, and its bit for %s is %t", row, f.Reason(row), reason, got)
			}
		}
	}
}
