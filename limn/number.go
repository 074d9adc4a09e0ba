package limn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// The bounds of whole numbers. They keep a short program from exhausting memory.
const (
	maxDigits = 10_000
	maxBits   = 33_220 // number of bits of maxDigits digits
)

var (
	errTooLarge   = errors.New("the number would be too large")
	errZeroDivide = errors.New("a number cannot be divided by zero")
)

// parseNumber parses a decimal number such as "12", "-3" or "0.5".
func parseNumber(text string) (Value, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Int(n), nil
	}
	if len(text) > maxDigits {
		return Value{}, errTooLarge
	}
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return whole(n)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Value{}, fmt.Errorf("%w: %q is no number", errValue, text)
	}
	return finite(f)
}

// whole returns a whole number as a value, which keeps n. It fails if n has more than
// maxBits bits.
func whole(n *big.Int) (Value, error) {
	if n.IsInt64() {
		return Int(n.Int64()), nil
	}
	if n.BitLen() > maxBits {
		return Value{}, errTooLarge
	}
	return Value{n}, nil
}

// finite returns a number as a value. It fails if the number is infinite or
// NaN.
func finite(f float64) (Value, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return Value{}, errTooLarge
	}
	return float(f), nil
}

// formatNumber formats a number: without a decimal point if it is whole, otherwise with the
// fewest digits that parse to the same number.
func formatNumber(v Value) string {
	switch n := v.v.(type) {
	case int64:
		return strconv.FormatInt(n, 10)
	case *big.Int:
		return n.String()
	}
	f, _ := v.v.(float64)
	switch {
	case f == 0:
		return "0"
	case f == math.Trunc(f):
		return strconv.FormatFloat(f, 'f', 0, 64)
	case math.Abs(f) < 1e-4:
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// asBig returns a whole number as a big.Int, and nil for other values.
func (v Value) asBig() *big.Int {
	switch n := v.v.(type) {
	case int64:
		return big.NewInt(n)
	case *big.Int:
		return n
	}
	return nil
}

// asFloat returns a number as a float64; a number that is too large becomes infinite.
func (v Value) asFloat() float64 {
	switch n := v.v.(type) {
	case int64:
		return float64(n)
	case *big.Int:
		f, _ := new(big.Float).SetInt(n).Float64()
		return f
	}
	f, _ := v.v.(float64)
	return f
}

// isFloat reports whether v is a number that may have a fraction.
func (v Value) isFloat() bool {
	_, ok := v.v.(float64)
	return ok
}

// compareNumbers compares two numbers exactly, whatever Go types hold them.
func compareNumbers(v, w Value) int {
	a, ok := v.v.(int64)
	b, also := w.v.(int64)
	if ok && also {
		return cmp.Compare(a, b)
	}
	if v.isFloat() && w.isFloat() {
		return cmp.Compare(v.asFloat(), w.asFloat())
	}
	return v.exact().Cmp(w.exact())
}

// exact returns a number as a big.Float without rounding.
func (v Value) exact() *big.Float {
	if v.isFloat() {
		return big.NewFloat(v.asFloat())
	}
	return new(big.Float).SetInt(v.asBig())
}

// arithmetic computes the result of an operator, "plus" and so on, on numbers.
func arithmetic(op string, v, w Value) (Value, error) {
	if op == opDivided {
		return divide(v, w)
	}
	if v.isFloat() || w.isFloat() {
		return floatArithmetic(op, v.asFloat(), w.asFloat())
	}
	if a, ok := v.v.(int64); ok {
		if b, ok := w.v.(int64); ok {
			if n, ok := intArithmetic(op, a, b); ok {
				return Int(n), nil
			}
		}
	}
	n, a, b := new(big.Int), v.asBig(), w.asBig()
	switch op {
	case opPlus:
		n.Add(a, b)
	case opMinus:
		n.Sub(a, b)
	default:
		n.Mul(a, b)
	}
	return whole(n)
}

// The arithmetic operators of [binary].
const (
	opPlus    = "plus"
	opMinus   = "minus"
	opTimes   = "multiplied by"
	opDivided = "divided by"
)

// small bounds the operands for which the sum, difference and product fit into an int64.
const small = 1 << 31

// intArithmetic applies op to a and b, and returns false if the result might overflow.
func intArithmetic(op string, a, b int64) (int64, bool) {
	if a <= -small || a >= small || b <= -small || b >= small {
		return 0, false
	}
	switch op {
	case opPlus:
		return a + b, true
	case opMinus:
		return a - b, true
	}
	return a * b, true
}

func floatArithmetic(op string, a, b float64) (Value, error) {
	switch op {
	case opPlus:
		return finite(a + b)
	case opMinus:
		return finite(a - b)
	}
	return finite(a * b)
}

// divide returns v/w. The quotient of two whole numbers is whole if there is no remainder,
// and otherwise a float64.
func divide(v, w Value) (Value, error) {
	if compareNumbers(w, Int(0)) == 0 {
		return Value{}, errZeroDivide
	}
	if v.isFloat() || w.isFloat() {
		return finite(v.asFloat() / w.asFloat())
	}
	quotient, rest := new(big.Int).QuoRem(v.asBig(), w.asBig(), new(big.Int))
	if rest.Sign() == 0 {
		return whole(quotient)
	}
	f, _ := new(big.Rat).SetFrac(v.asBig(), w.asBig()).Float64()
	return finite(f)
}

// isNumberText reports whether a word has the form of a number.
func isNumberText(word string) bool {
	whole, fraction, pointed := strings.Cut(strings.TrimPrefix(word, "-"), ".")
	return text.AreDigits(whole) && (!pointed || text.AreDigits(fraction))
}
