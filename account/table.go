package account

import "strings"

// cells splits a line of a table at bars, tabs, semicolons or two spaces. It
// returns nil if there are fewer than three cells.
func cells(line string) []string {
	sep := "  "
	for _, s := range [...]string{"|", "\t", ";"} {
		if strings.Contains(line, s) {
			sep = s
			break
		}
	}
	if strings.Count(line, sep) < 2 {
		return nil
	}
	list := strings.Split(strings.Trim(line, sep), sep)
	n := 0
	for _, c := range list {
		if c = strings.TrimSpace(c); c != "" || sep != "  " {
			list[n] = c
			n++
		}
	}
	if n < 3 {
		return nil
	}
	return list[:n]
}

// number reports whether a cell is a number, an amount or a date.
func number(cell string) bool {
	digits := 0
	for i := range len(cell) {
		switch c := cell[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '/':
			return false
		}
	}
	return digits > 0
}

// names reports whether the cells in head are the column names for the cells in
// row: both have equally many cells, head has no number, and row has at least
// one.
func names(head, row []string) bool {
	if len(head) == 0 || len(head) != len(row) {
		return false
	}
	numbers := false
	for i := range head {
		if number(head[i]) {
			return false
		}
		numbers = numbers || number(row[i])
	}
	return numbers
}

// rule reports whether a line is a drawn line, such as ------: it has no
// letters or digits.
func rule(line string) bool {
	return !strings.ContainsFunc(line, func(c rune) bool { return c >= 0x80 || c == '_' || alnum(byte(c)) })
}

func alnum(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }
