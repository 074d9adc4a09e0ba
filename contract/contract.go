// Package contract reads, writes and runs session contracts. A contract
// records the state of each block of a session, and the session's decisions,
// questions, corrections and sources, as statements of the Liminate language.
//
// # Statements
//
// A contract is a program with one statement on each line. Work on the session appends
// statements. This package writes these forms:
//
//	remember a list called retained-blocks
//	add "block-0x04" to paged-blocks
//	remove "block-0x04" from paged-blocks
//	remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00"
//	remember a number called window-tokens with 81234
//	remember a source called readme with "what it says"
//
// and statements of other forms for [Contract.Init], [Contract.Guard], [Contract.Inherit] and
// [Contract.Verify]. Package limn explains the terms of the language. All but remove run in the
// first release of the language, which has 35 words; doc/spec/contract.md lists the constructs of
// each release. Each list is declared once, before its first use, because a second declaration
// would empty it.
//
// A block is in at most one list. A pass removes a block that changes lists from the old list
// before it adds it to the new one. A block that stays needs no statement.
//
// # Reading and writing
//
// [Replay] computes a [Contract] from statements. The writing methods of a Contract, from
// [Contract.Pass] to [Contract.Close], return statements to append:
//
//	c, err := contract.Replay(contract.Lines(text))
//	lines, err := c.AddDecision("use-database-postgres", contract.Refuse)
//
// For invalid arguments they fail with typed errors and leave the Contract unchanged.
//
// A foreign statement has a form that this package does not write. Replay skips it, or fails if
// it changes a list or value of contracts.
//
// # Running
//
// [Run] executes a contract. It reports unmet requirements, which come from [Contract.Guard],
// [Contract.Inherit] and foreign statements, and violations of rules that need no statement.
// Guards are handlers that run after all other statements. So they check the final state, and
// their cost does not grow with the number of passes.
//
// [Legacy] writes the statements of the original context pager. No release of the language can
// run them, and Replay does not read them.
//
// # Determinism
//
// The package does no I/O and reads no clock. Equal arguments give equal bytes. A [Contract]
// must not be used concurrently.
package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A Bucket is the name of one of the lists of blocks.
type Bucket string

// The buckets.
const (
	Retained Bucket = "retained-blocks" // whole in the window
	Paged    Bucket = "paged-blocks"    // replaced by a stub
	Evicted  Bucket = "evicted-blocks"  // out of the window
)

// lastPass is the name of the string with the time of the last pass.
const lastPass = "last-pager-pass"

// buckets has the buckets in the order in which a contract declares them.
var buckets = [...]Bucket{Retained, Paged, Evicted}

// index returns the place of b in buckets, or -1.
func (b Bucket) index() int { return slices.Index(buckets[:], b) }

// timeLayout is the form of times: UTC, to the second.
const timeLayout = "2006-01-02T15:04:05+00:00"

// A Move assigns a block to a bucket.
type Move struct {
	Block  string
	Bucket Bucket
}

// An IDError says why a block's id is not allowed in a contract.
type IDError struct {
	ID   string
	Text string // such as "is empty"
}

func (e *IDError) Error() string { return fmt.Sprintf("block id %q %s", e.ID, e.Text) }

// checkID returns an [*IDError] for an id that cannot stand between quotation marks in a
// contract. The language has no escapes, so an id must not be empty, hold a quotation mark or a
// control or line-breaking character, or be invalid UTF-8. It must not be "none" either,
// because a list with that one text counts as empty.
func checkID(id string) error {
	for i := range len(id) {
		if c := id[i]; c < ' ' || c == '"' || c >= 0x7f {
			return checkRunes(id)
		}
	}
	switch id {
	case "":
		return &IDError{ID: id, Text: "is empty"}
	case "none":
		return &IDError{ID: id, Text: "is the language's word for an empty list"}
	}
	return nil
}

// checkRunes checks an id that is not plain ASCII.
func checkRunes(id string) error {
	for i, r := range id {
		var text string
		switch {
		case r == '"':
			text = "has a quotation mark"
		case breaksLine(r):
			text = fmt.Sprintf("has the line-breaking character %U", r)
		case unicode.IsControl(r):
			text = fmt.Sprintf("has the control character %U", r)
		case r == utf8.RuneError && !strings.HasPrefix(id[i:], "\uFFFD"):
			text = "is not UTF-8"
		default:
			continue
		}
		return &IDError{ID: id, Text: fmt.Sprintf("%s at byte %d", text, i)}
	}
	return nil
}

// breaksLine reports whether the language ends a line at r.
func breaksLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// Legacy returns the text that the original context pager appends in a pass: an add for each
// block in the given order, and a marker that is no statement of the language. It neither
// declares lists nor removes blocks. For an id that [CheckLegacyID] refuses, it fails with an
// [*IDError].
func Legacy(decisions []Move, at time.Time) (string, error) {
	if err := check(decisions); err != nil {
		return "", err
	}
	var out strings.Builder
	out.Grow(48*len(decisions) + 64)
	for _, d := range decisions {
		if err := CheckLegacyID(d.Block); err != nil {
			return "", err
		}
		writeMove(&out, "add", d.Block, "to", d.Bucket)
	}
	out.WriteString("set " + lastPass + " to " + at.UTC().Format(timeLayout) + "\n")
	return out.String(), nil
}

// CheckLegacyID returns an error for an id that the original context pager or the language
// refuses. Each word of an id, between spaces, must begin with "block-", begin with a date and a
// t, such as "2026-05-17t03", or be one of the 35 words of the original.
func CheckLegacyID(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	for word := range strings.FieldsSeq(id) {
		if !strings.HasPrefix(word, "block-") && !gateWords.Get()[word] && !beginsWithTime(word) {
			if word == id {
				return &IDError{ID: id, Text: `does not begin with "block-"`}
			}
			return &IDError{ID: id, Text: fmt.Sprintf(`has the word %q, which does not begin with "block-"`, word)}
		}
	}
	return nil
}

// gateWords are the words that the original context pager accepts in ids.
var gateWords = lazy.Words(`add set to from retained-blocks paged-blocks evicted-blocks last-pager-pass block session contract
	open close begin end note retain page evict active resolved noise intent keyword score alpha beta delta turn similarity threshold pass pager true false`)

// beginsWithTime reports whether a word begins like 2026-05-17T. The digits may be of any
// script.
func beginsWithTime(word string) bool {
	const pattern = "0000-00-00T"
	rest := []rune(word)
	if len(rest) < len(pattern) {
		return false
	}
	for i, p := range pattern {
		switch r := rest[i]; {
		case p == '0' && unicode.IsDigit(r), p == '-' && r == '-', p == 'T' && (r == 't' || r == 'T'):
		default:
			return false
		}
	}
	return true
}

// writeMove writes the statement "verb id preposition b", an add or a remove.
func writeMove(out *strings.Builder, verb, id, preposition string, b Bucket) {
	out.WriteString(verb)
	out.WriteString(` "`)
	out.WriteString(id)
	out.WriteString(`" `)
	out.WriteString(preposition)
	out.WriteByte(' ')
	out.WriteString(string(b))
	out.WriteByte('\n')
}

// check returns an [*IDError] if the id of a decision cannot be written, or if two decisions
// are about the same block.
func check(decisions []Move) error {
	ascending := true // in ascending order no block occurs twice
	for i, d := range decisions {
		if err := checkID(d.Block); err != nil {
			return err
		}
		if d.Bucket.index() < 0 {
			return &IDError{ID: d.Block, Text: fmt.Sprintf("belongs into %q, which is no list of a contract", d.Bucket)}
		}
		ascending = ascending && (i == 0 || Before(decisions[i-1].Block, d.Block))
	}
	if ascending {
		return nil
	}
	seen := make(map[string]bool, len(decisions))
	for _, d := range decisions {
		if seen[d.Block] {
			return &IDError{ID: d.Block, Text: "is decided twice in one pass"}
		}
		seen[d.Block] = true
	}
	return nil
}

// Before reports whether id a comes before id b: shorter ids first, then by bytes, as numbered
// ids are ordered. In a strictly increasing list no id occurs twice.
func Before(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
