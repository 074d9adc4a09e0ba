package facts

import "strings"

// figure reads the figure that begins with the digit at from, in a word that ends at to:
// a date, a time of the day, an IP address, a version, a quantity or a number. It returns
// the offset after the figure, or from if there is none. A quantity with its unit may end
// after the word.
func (s *finder) figure(from, to int, f finding) int {
	text := s.text
	if end := dateEnd(text, from); end > from {
		s.emit(KindKebab, from, from+len("2006-01-02"), f)
		return end
	}
	if end := max(timeEnd(text, from), logDateEnd(text, from), zoneEnd(text, from)); end > from {
		return end
	}
	if stands(text, from-1, '%') || stands(text, from-1, '-') && stands(text, from-2, '%') {
		return to // a format, or an escape of a URL
	}
	switch w := text[from:to]; {
	case isIP(w):
		s.emit(KindID, from, to, f)
		return to
	case isVersion3(w) && !stands(text, from-1, '.'):
		s.emit(KindVersion, from, to, f)
		return to
	}
	return s.amount(from, f)
}

// amount reads the quantity or the number that begins at from. It returns the offset
// after it, or from if there is none.
func (s *finder) amount(from int, f finding) int {
	text := s.text
	n := numberAt(text, from)
	currency := currencyBefore(text, from)
	if end := quantityEnd(text, &n, from); end > 0 {
		s.emit(KindQuantity, from-currency, end, f)
		return end
	}
	if n.comma && !n.thousands || n.thousands && currency == 0 && inList(text, from, n.end) {
		n = numeral{end: n.first, digits: n.first - from, first: n.first}
	}
	switch {
	case n.isRange || !endsFigure(text, n.end):
		return from
	case currency > 1 || currency > 0 && n.digits > 1:
		s.emit(KindQuantity, from-currency, n.end, f)
	case stands(text, from-1, '.'):
	case n.digits > 2 && n.digits <= 18 && strings.Trim(text[from:n.end], "0") != "" && !s.isLineNumber(from, n.end):
		s.emit(KindNumber, from, n.end, f)
	}
	return n.end
}

// A numeral is a number as it is written.
type numeral struct {
	end       int // offset after it
	first     int // offset after its first run of digits
	digits    int
	point     bool // has a decimal point
	comma     bool // has commas
	thousands bool // has separators between thousands
	isRange   bool // is two numbers joined by a dash
}

// numberAt reads the number that begins at i: digits, with separators between
// thousands, a decimal point or comma, and a second number after a dash.
func numberAt(s string, i int) numeral {
	n := numeral{digits: run(s, i, decimal)}
	n.first = i + n.digits
	n.end = n.first
	if n.digits <= 3 {
		n.group(s, ',', 1)
		n.group(s, '.', 2)
		if t := n; !n.thousands {
			t.group(s, '.', 1)
			if t.end > n.end && stands(s, t.end, ',') && run(s, t.end+1, decimal) == 2 {
				n = t // 1.299,00
			}
		}
	}
	if point := stands(s, n.end, '.'); point || stands(s, n.end, ',') {
		d := run(s, n.end+1, decimal)
		if d > 0 && (point || d <= 2) {
			n.point, n.comma = point, n.comma || !point
			n.end += 1 + d
			n.digits += d
		}
	}
	if stands(s, n.end, '-') && is(s, n.end+1, decimal) {
		n.isRange = true
		n.end += 1 + run(s, n.end+1, decimal)
		if stands(s, n.end, '.') && is(s, n.end+1, decimal) {
			n.end += 1 + run(s, n.end+1, decimal)
		}
	}
	return n
}

// maxGroupBytes is the largest number of bytes that the groups of thousands after the first digits
// of a number may have. Longer groups are a list of numbers.
const maxGroupBytes = 20

// group extends the number by groups of a separator and three digits, if there are at least as many
// groups as the parameter least says.
func (n *numeral) group(s string, separator byte, least int) {
	end := n.end
	for end < len(s) && end-n.end <= maxGroupBytes && s[end] == separator && run(s, end+1, decimal) == 3 {
		end += 4
	}
	if groups := (end - n.end) / 4; groups >= least && end-n.end <= maxGroupBytes {
		n.end, n.digits, n.thousands, n.comma = end, n.digits+3*groups, true, separator == ','
	}
}

// inList reports whether the commas in s[from:end] probably separate the entries of a
// list, and not the thousands of a number.
func inList(s string, from, end int) bool {
	before, behind := byte(' '), byte(' ')
	if from > 0 {
		before = s[from-1]
	}
	if end < len(s) {
		behind = s[end]
	}
	return before == '[' || before == ',' || behind == ']' || behind == ',' && end+1 < len(s) && s[end+1] != ' ' || before == '(' && behind == ')'
}

// endsFigure reports whether a figure may end at an offset: no byte of the same word
// follows.
func endsFigure(s string, end int) bool {
	if end >= len(s) {
		return true
	}
	c := classes[s[end]]
	return c&wordBytes == 0 && (c&pathBytes == 0 || !is(s, end+1, wordBytes))
}

// currencyBefore returns the length in bytes of the currency sign before an offset, or 0.
func currencyBefore(s string, i int) int {
	switch {
	case stands(s, i-1, '$'):
		return 1
	case strings.HasSuffix(s[:i], "€"):
		return len("€")
	case strings.HasSuffix(s[:i], "£"):
		return len("£")
	}
	return 0
}

// isLineNumber reports whether the number between two offsets is the line number in a
// listing of a file: at the beginning of a line with a tab, a colon, a dash or a bar
// after it, or anywhere with an arrow after it.
func (s *finder) isLineNumber(from, end int) bool {
	rest := s.text[end:]
	if strings.HasPrefix(rest, "→") {
		return true
	}
	rest = strings.TrimLeft(rest[:min(len(rest), 4)], " ")
	if rest == "" || rest[0] != '\t' && rest[0] != ':' && rest[0] != '-' && rest[0] != '|' && rest[0] != 0xe2 && !strings.HasPrefix(rest, `\t`) {
		return false
	}
	for from > 0 && s.text[from-1] == ' ' {
		from--
	}
	return from == 0 || s.text[from-1] == '\n' || from > 1 && s.text[from-2:from] == `\n`
}

// quantityEnd returns the offset after the unit of the number n, or 0 if it has none. The
// unit follows the number directly, or after a space or a dash.
func quantityEnd(s string, n *numeral, from int) int {
	if end := unitAt(s, n.end, false); end > n.end {
		if end-n.end == 1 && n.digits > 5 && (s[n.end] == 'b' || s[n.end] == 'd') {
			return 0 // a hash
		}
		if end = durationEnd(s, n.end, end); endsFigure(s, end) {
			return end
		}
		return 0
	}
	if end := spacedQuantityEnd(s, n, from); end > 0 {
		return end
	}
	gap := gapAt(s, n.end)
	if gap == 0 || n.isRange && s[n.end] == '-' {
		return 0
	}
	if s[n.end] == '-' && (n.point || n.comma) || n.thousands && n.comma && inList(s, from, n.end) {
		return 0
	}
	end := unitAt(s, n.end+gap, true)
	if end == n.end+gap || !endsFigure(s, end) || end < len(s) && (s[end] == '(' || s[end] == '\'') {
		return 0
	}
	return end
}

// spacedQuantityEnd returns the offset after the unit of a number with spaces between
// thousands, such as 10 000 km, or 0. It ignores numbers in columns.
func spacedQuantityEnd(s string, n *numeral, from int) int {
	if n.digits > 3 || n.point || n.comma || n.isRange || from > 1 && s[from-1] == ' ' && s[from-2] <= ' ' {
		return 0
	}
	end := n.end
	for end < len(s) && end-n.end < maxGroupBytes && s[end] == ' ' && run(s, end+1, decimal) == 3 {
		end += 4
	}
	if end == n.end || end >= len(s) || s[end] != ' ' {
		return 0
	}
	if u := unitAt(s, end+1, true); u > end+1 && endsFigure(s, u) {
		return u
	}
	return 0
}

// gapAt returns the length in bytes of a space or dash at i, or 0.
func gapAt(s string, i int) int {
	switch rest := s[i:]; {
	case rest == "":
		return 0
	case rest[0] == ' ', rest[0] == '-':
		return 1
	case strings.HasPrefix(rest, "\u00a0"):
		return len("\u00a0")
	case strings.HasPrefix(rest, "\u202f"):
		return len("\u202f")
	}
	return 0
}

// unitAt returns the offset after the unit at i, or i if there is none. With separate set,
// a gap is between the number and the unit, and short units such as m or k, which may be
// words, do not count.
func unitAt(s string, i int, separate bool) int {
	if i >= len(s) {
		return i
	}
	switch s[i] {
	case '%':
		if is(s, i+1, wordBytes) || separate && i+2 < len(s) && s[i+1] == ' ' && is(s, i+2, decimal) {
			return i
		}
		return i + 1
	case 0xc2, 0xce, 0xe2:
		for _, u := range [...]string{"µs", "μs", "°C", "°F", "€", "£"} {
			if strings.HasPrefix(s[i:], u) {
				return i + len(u)
			}
		}
		return i
	}
	n := run(s, i, letters)
	if n == 0 || n > 12 {
		return i
	}
	w := s[i : i+n]
	if end := i + n; end < len(s) && s[end] == '/' {
		if per := run(s, end+1, letters); isPer(s[end+1 : end+1+per]) {
			return end + 1 + per
		}
	}
	if isUnit(w) || !separate && isShortUnit(w) {
		return i + n
	}
	return i
}

// durationEnd returns the end of a duration such as 1h30m or 5m2.5s, whose first unit is
// s[from:end].
func durationEnd(s string, from, end int) int {
	if end-from != 1 {
		return end
	}
	last := strings.IndexByte("dhms", s[from])
	for last >= 0 && is(s, end, decimal) {
		n := numberAt(s, end)
		next := -1
		if n.end < len(s) {
			next = strings.IndexByte("dhms", s[n.end])
		}
		if next <= last {
			break
		}
		last, end = next, n.end+1
	}
	return end
}

// isPer reports whether a word may follow the slash in a rate: requests/s, ns/op.
func isPer(w string) bool {
	switch w {
	case "s", "sec", "second", "min", "minute", "h", "hour", "day", "month", "op", "req":
		return true
	}
	return false
}

// isUnit reports whether a word is a unit after any number, with or without a space.
func isUnit(w string) bool {
	switch w {
	case "ns", "us", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours",
		"day", "days", "week", "weeks", "month", "months", "year", "years",
		"Sekunde", "Sekunden", "Minute", "Minuten", "Stunde", "Stunden", "Tag", "Tage", "Tagen", "Woche", "Wochen", "Monat", "Monate", "Monaten",
		"Jahr", "Jahre", "Jahren",
		"B", "kB", "KB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "byte", "bytes", "Byte", "Bytes", "bit", "bits", "Bit",
		"kbps", "Mbps", "Gbps", "token", "tokens", "Token", "Tokens", "percent", "Prozent", "px", "pt", "dpi", "fps", "rps", "qps", "rpm",
		"Hz", "kHz", "MHz", "GHz", "km", "cm", "mm", "kg", "mg", "ml", "kW", "kWh", "mAh", "dB", "miles",
		"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "CAD", "AUD", "dollars", "euros", "cents", "Euro", "Dollar", "vCPU", "vCPUs", "cores":
		return true
	}
	return false
}

// isShortUnit reports whether letters are a unit directly after a number.
func isShortUnit(w string) bool {
	switch w {
	case "m", "d", "k", "K", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "b", "x", "em", "rem", "vh", "vw", "fr", "g", "deg", "kb", "mb", "gb", "tb":
		return true
	}
	return false
}

// dateEnd returns the offset after a date such as 2024-05-15 at i, with the time of the
// day after a T if there is one. It returns i if there is no date.
func dateEnd(s string, i int) int {
	if i+10 > len(s) || s[i+4] != '-' || s[i+7] != '-' || !consists(s[i:i+4], decimal) || !consists(s[i+5:i+7], decimal) || !consists(s[i+8:i+10], decimal) {
		return i
	}
	end := i + 10
	if stands(s, end, 'T') {
		if t := timeEnd(s, end+1); t > end+1 {
			return t
		}
	}
	if !endsFigure(s, end) {
		return i
	}
	return end
}

// timeEnd returns the offset after a time of the day such as 10:30, 10:30:00.123Z or 10:30:00+02:00
// that begins at i. It returns i if there is none.
func timeEnd(s string, i int) int {
	if !twoDigits(s, i) || !stands(s, i+2, ':') || !twoDigits(s, i+3) {
		return i
	}
	end := i + 5
	if stands(s, end, ':') && twoDigits(s, end+1) {
		end += 3
		if n := run(s, end+1, decimal); n > 2 && (stands(s, end, '.') || stands(s, end, ',')) {
			end += 1 + n
		}
	}
	signed := stands(s, end, '+') || stands(s, end, '-')
	switch {
	case stands(s, end, 'Z'):
		end++
	case signed && run(s, end+1, decimal) == 4:
		end += 5
	case signed && twoDigits(s, end+1):
		end += 3
		if stands(s, end, ':') && twoDigits(s, end+1) {
			end += 3
		}
	}
	if is(s, end, wordBytes) {
		return i
	}
	return end
}

// logDateEnd returns the offset after a date such as 05/Mar/2024 that begins at i. It returns i if
// there is none.
func logDateEnd(s string, i int) int {
	if i+11 <= len(s) && s[i+2] == '/' && s[i+6] == '/' && twoDigits(s, i) && consists(s[i+3:i+6], letters) && run(s, i+7, decimal) == 4 {
		return i + 11
	}
	return i
}

// zoneEnd returns the offset after a time zone such as +0100, whose digits begin at i. It returns i
// if there is none. The sign must follow a digit and a space.
func zoneEnd(s string, i int) int {
	if i > 2 && (s[i-1] == '+' || s[i-1] == '-') && s[i-2] == ' ' && is(s, i-3, decimal) && s[i] < '2' && run(s, i, decimal) == 4 {
		return i + 4
	}
	return i
}

// twoDigits reports whether exactly two digits are at i.
func twoDigits(s string, i int) bool { return run(s, i, decimal) == 2 }

// isIP reports whether a word is four numbers up to 255 with dots.
func isIP(w string) bool {
	parts := 0
	for i := 0; i < len(w); parts++ {
		n := run(w, i, decimal)
		if n == 0 || n > 3 || n == 3 && w[i:i+n] > "255" || i+n < len(w) && w[i+n] != '.' {
			return false
		}
		i += n + 1
	}
	return parts == 4 && w[len(w)-1] != '.'
}

// isVersion3 reports whether a word is a version of three numbers with dots, with an
// optional v before them and an optional suffix after a dash, such as v1.2.3-rc.1. A
// number with dots between its thousands is not.
func isVersion3(w string) bool {
	w = strings.TrimPrefix(w, "v")
	thousands := true
	for part := range 3 {
		n := run(w, 0, decimal)
		if n == 0 || n > 5 || n > 1 && w[0] == '0' {
			return false
		}
		thousands = thousands && n <= 3 && (part == 0 || n == 3)
		if w = w[n:]; part < 2 {
			if w == "" || w[0] != '.' {
				return false
			}
			w = w[1:]
		}
	}
	if w == "" {
		return !thousands
	}
	return w[0] == '-' && consists(w, pathBytes&^(slash|at)) && (is(w, 1, letters) || strings.IndexByte(w[1:], '-') > 0)
}
