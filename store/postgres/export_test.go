package postgres

import "regexp"

// filter is what every statement that reads or changes rows says of its scope.
var filter = regexp.MustCompile(`(\w+\.)?scope = \$1`)

// withoutFilter takes the scope out of what a statement asks for: then row-level security is
// the one wall.
func withoutFilter(statement string) string {
	return filter.ReplaceAllLiteralString(statement, "$1::bytea IS NOT NULL")
}

// unfiltered takes the filter of a store away.
func (s *database) unfiltered() { s.rewrite = withoutFilter }
