package limn

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestWholeNumbersAreExact compares arithmetic with rational numbers.
func TestWholeNumbersAreExact(t *testing.T) {
	number := rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(-3, 3),
		rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, small, small - 1, -small, 1 - small}),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		x, y := new(big.Rat).SetInt64(a), new(big.Rat).SetInt64(b)
		for op, want := range map[string]*big.Rat{
			opPlus:  new(big.Rat).Add(x, y),
			opMinus: new(big.Rat).Sub(x, y),
			opTimes: new(big.Rat).Mul(x, y),
		} {
			got, err := arithmetic(op, Int(a), Int(b))
			if err != nil || got.String() != want.RatString() {
				t.Fatalf("%d %s %d is %v, %v, want %v", a, op, b, got, err, want)
			}
		}
		if got := compareNumbers(Int(a), Int(b)); got != x.Cmp(y) {
			t.Fatalf("%d compared with %d gives %d", a, b, got)
		}
		if b == 0 {
			return
		}
		got, err := arithmetic(opDivided, Int(a), Int(b))
		want := new(big.Rat).Quo(x, y)
		f, _ := want.Float64()
		if err != nil || want.IsInt() && got.String() != want.RatString() || !want.IsInt() && got.asFloat() != f {
			t.Fatalf("%d divided by %d is %v, %v, want %v", a, b, got, err, want)
		}
	})
}

// Arithmetic of a small number and one that no int64 holds is exact. That of two small numbers takes
// no memory.
func TestArithmeticOfSmallNumbers(t *testing.T) {
	large, err := parseNumber("9223372036854775808")
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[string]string{opPlus: "9223372036854775810", opMinus: "-9223372036854775806", opTimes: "18446744073709551616"} {
		if got, err := arithmetic(op, Int(2), large); err != nil || got.String() != want {
			t.Errorf("2 %s %s is %v, %v, want %s", op, large, got, err, want)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = arithmetic(op, Int(5), Int(2)) }); n > 0 {
			t.Errorf("5 %s 2 allocates %v times", op, n)
		}
	}
}

func TestNumbersAreRead(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"0", "0"},
		{"-0", "0"},
		{"007", "7"},
		{"1.50", "1.5"},
		{"-2.0", "-2"},
		{"9223372036854775808", "9223372036854775808"},
		{"0." + strings.Repeat("0", 400) + "1", "0"},
	} {
		if got, err := parseNumber(tt.text); err != nil || got.String() != tt.want {
			t.Errorf("%q is %v, %v, want %s", tt.text, got, err, tt.want)
		}
	}
}

func TestNumbersHaveAnEnd(t *testing.T) {
	long := strings.Repeat("9", maxDigits)
	n, err := parseNumber(long)
	if err != nil {
		t.Fatalf("%d digits: %v", maxDigits, err)
	}
	for name, compute := range map[string]func() (Value, error){
		"a literal":     func() (Value, error) { return parseNumber(long + "9") },
		"a product":     func() (Value, error) { return arithmetic(opTimes, n, n) },
		"a fraction":    func() (Value, error) { return arithmetic(opTimes, n, float(0.5)) },
		"of a fraction": func() (Value, error) { return arithmetic(opTimes, float(math.MaxFloat64), Int(2)) },
		"a sum":         func() (Value, error) { return arithmetic(opPlus, float(math.MaxFloat64), float(math.MaxFloat64)) },
		"a difference":  func() (Value, error) { return arithmetic(opMinus, float(-math.MaxFloat64), float(math.MaxFloat64)) },
		"none of it":    func() (Value, error) { return arithmetic(opTimes, n, Value{0.0}) },
		"a quotient":    func() (Value, error) { return arithmetic(opDivided, n, Int(7)) },
	} {
		if v, err := compute(); !errors.Is(err, errTooLarge) {
			t.Errorf("%s is %.20v, %v, want an error", name, v, err)
		}
	}
	if v, err := arithmetic(opDivided, Int(1), float(0.5)); err != nil || v.String() != "2" {
		t.Errorf("1 divided by 0.5 is %v, %v", v, err)
	}
}

// A long number is parsed once, and not at each use.
func TestNumbersOfAProgramAreParsedOnce(t *testing.T) {
	digits := strings.Repeat("9", maxDigits-1)
	p := Parse("", "require n is below "+digits, nil)
	var found *number
	walk(p.Lines[0].stmt, func(node any) bool {
		if n, ok := node.(*number); ok {
			found = n
		}
		return true
	})
	if found == nil || found.value.String() != digits {
		t.Fatal("the number of the program has no value")
	}
	if r := last(t, nil, "remember a number called n with "+strings.Repeat("9", maxDigits+1)); r.Message != errTooLarge.Error() {
		t.Errorf("a number that is too long: %s: %s", r.Status, r.Message)
	}
}
