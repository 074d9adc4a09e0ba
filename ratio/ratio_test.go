package ratio

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		n, d int
		want Ratio
	}{
		{1, 2, 500_000},
		{1, 3, 333_333},
		{2, 3, 666_667},
		{-1, 2, -500_000},
		{1, 0, 0}, // a share of nothing
		{1, 2_000_000, 1},
		{-1, 2_000_000, -1},
		{1, 2_000_001, 0},
		{1, 1_000_000, 1},
		{2, -3, -666_667},
		{-2, -3, 666_667},
		{1, -2_000_000, -1},
		{0, -3, 0},
	} {
		if got := Of(tt.n, tt.d); got != tt.want {
			t.Errorf("Of(%d, %d) = %d, want %d", tt.n, tt.d, got, tt.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Ratio
	}{
		{"0.55", 550_000},
		{".5", 500_000},
		{"1", One},
		{"50%", 500_000},
		{"0.0000006", 1},
		{"-1e-3", -1000},
		{"-0.0000006", -1},
		{"0.0000004", 0},
		{"100000000", 100_000_000 * One},
		{"-100000000%", -1_000_000 * One},
	} {
		got, err := Parse(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("Parse(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "%", "NaN", "Inf", "1/2", "0x1", "1_0", "1e99", "100000001", "-100000001", "half", "12.5 %"} {
		if got, err := Parse(bad); err == nil || got != 0 {
			t.Errorf("Parse(%q) = %v, %v, want 0 and an error", bad, got, err)
		}
	}
}

// What is written is read back as it was.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Ratio(rapid.Int64Range(-1e12, 1e12).Draw(t, "r"))
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var got Ratio
		if err := json.Unmarshal(b, &got); err != nil || got != r {
			t.Fatalf("%d is written %s and read %d, %v", r, b, got, err)
		}
	})
}

// A product is rounded as a share is, and a share of a budget is rounded down.
func TestMulAndScale(t *testing.T) {
	for _, tt := range []struct {
		r, s, want Ratio
	}{
		{500_000, 500_000, 250_000},
		{2 * One, 3 * One, 6 * One},
		{1, 500_000, 1},
		{1, 499_999, 0},
		{-1, 500_000, -1},
		{-1, 499_999, 0},
		{-3, -500_000, 2},
		{0, -One, 0},
	} {
		if got := tt.r.Mul(tt.s); got != tt.want {
			t.Errorf("%v·%v = %v, want %v", tt.r, tt.s, got, tt.want)
		}
	}
	if got := Ratio(333_333).Scale(10_000); got != 3333 {
		t.Errorf("0.333333 of 10000 is %d, want 3333", got)
	}
	if got := Ratio(999_999).Scale(1); got != 0 {
		t.Errorf("0.999999 of 1 is %d, want 0", got)
	}
}

// People read fewer decimals.
func TestForPeople(t *testing.T) {
	for _, tt := range []struct {
		r              Ratio
		short, percent string
	}{
		{0, "0.00", "0.0%"},
		{123_456, "0.12", "12.3%"},
		{126_560, "0.13", "12.7%"},
		{-One, "-1.00", "-100.0%"},
		{12 * One, "12.00", "1200.0%"},
	} {
		if short, percent := tt.r.Short(), tt.r.Percent(); short != tt.short || percent != tt.percent {
			t.Errorf("%v is %s and %s for people, want %s and %s", tt.r, short, percent, tt.short, tt.percent)
		}
	}
}

// Multiplying by a share never makes a share larger.
func TestMulShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Ratio(rapid.Int64Range(0, int64(One)).Draw(t, "r"))
		s := Ratio(rapid.Int64Range(0, int64(One)).Draw(t, "s"))
		if p := r.Mul(s); p > r || p > s || p < 0 {
			t.Fatalf("%v·%v = %v", r, s, p)
		}
	})
}

// A null in JSON leaves a ratio as it is.
func TestNull(t *testing.T) {
	v := struct {
		Share Ratio
		Limit *Ratio
	}{Share: One, Limit: new(One)}
	if err := json.Unmarshal([]byte(`{"Share":null,"Limit":null}`), &v); err != nil || v.Share != One || v.Limit != nil {
		t.Errorf("%+v, %v", v, err)
	}
	if err := json.Unmarshal([]byte(`{"Share":"null"}`), &v); err == nil {
		t.Error("a string is a ratio")
	}
}
