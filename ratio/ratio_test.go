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
	} {
		got, err := Parse(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("Parse(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "%", "NaN", "Inf", "1/2", "0x1", "1_0", "1e99", "half", "12.5 %"} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, got)
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
