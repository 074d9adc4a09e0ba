package token

import (
	"fmt"
	"strconv"
	"strings"
)

// Bound returns a Counter that multiplies the count of c by percent/100 and
// rounds up. Its encoding is that of c with the factor appended: with 135
// percent, "o200k_base" becomes "o200k_base*1.35". A percent below 100 is
// taken as 100.
func Bound(c Counter, percent int) Counter {
	return bound{c, max(percent, 100)}
}

type bound struct {
	base    Counter
	percent int
}

func (b bound) Count(text string) Count { return b.of(b.base.Count(text)) }

// of returns the bound for a count n of the underlying Counter.
func (b bound) of(n Count) Count { return Count((int64(n)*int64(b.percent) + 99) / 100) }

func (b bound) Encoding() string {
	return fmt.Sprintf("%s*%d.%02d", b.base.Encoding(), b.percent/100, b.percent%100)
}

// parseFactor returns the percent of a factor such as "1.35". It reports false for any spelling
// but that of [bound.Encoding].
func parseFactor(s string) (percent int, ok bool) {
	whole, cents, _ := strings.Cut(s, ".")
	if len(cents) != 2 || whole == "" || whole[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+cents, 10, 31)
	return int(n), err == nil
}
