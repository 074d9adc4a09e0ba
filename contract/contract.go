// Package contract reads, writes and runs session contracts. A contract
// records the state of each block of a session, and the session's decisions,
// questions, corrections and sources, as statements of the Liminate language.
//
// # Statements
//
// A contract is a program, one statement a line; work on the session appends
// statements. This package writes these forms:
//
//	remember a list called retained-blocks
//	add "block-0x04" to paged-blocks
//	remove "block-0x04" from paged-blocks
//	remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00"
//	remember a number called window-tokens with 81234
//	remember a source called readme with "what it says"
//
// and the compositions, handlers and requirements of [Contract.Init],
// [Contract.Guard], [Contract.Inherit] and [Contract.Verify]. All but remove
// run in the first release of the language, of 35 words; doc/spec/contract.md
// lists the constructs of each release. Each list is declared once, before
// its first use, because a second declaration would empty it.
//
// A block is in at most one list. One that moves is removed from its old list
// before it is added to the new one, and one that stays needs no statement.
//
// # Reading and writing
//
// [Replay] computes a [Contract] from the statements. The methods of a
// Contract that write, from [Contract.Pass] to [Contract.Close], return
// statements to append. Invalid arguments are typed errors, and then the
// Contract is unchanged.
//
// A contract may hold foreign statements, provided that they change nothing
// in a Contract: Replay refuses those that do.
//
// # Running
//
// [Run] executes a contract and reports violations of its requirements, which
// [Contract.Guard], [Contract.Inherit] and foreign statements add, and of
// rules that need no statement. Guards are handlers that run after all other
// statements: they check the final state, and their cost does not grow with
// the number of passes.
//
// The statements of the original context pager, which no release of the
// language can run, are written by [Legacy] and not read.
//
// # Determinism
//
// The package does no I/O and reads no clock. Equal arguments give equal
// bytes. A [Contract] must not be used concurrently.
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

// lastPass is the name of the string that holds the time of the last pass.
const lastPass = "last-pager-pass"

// buckets has the buckets in the order of their declarations.
var buckets = [...]Bucket{Retained, Paged, Evicted}

// index returns the place of b in buckets, or -1.
func (b Bucket) index() int { return slices.Index(buckets[:], b) }

// timeLayout is how times are written: UTC, to the second.
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

// checkID returns an [*IDError] for an id that a contract cannot have between quotation
// marks. The language knows no escapes, so that is one that is empty, holds a quotation mark
// or a control or line-breaking character, or is not UTF-8. So is "none": a list with this
// one text counts as empty.
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

// checkRunes is checkID for ids that are not plain ASCII.
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

// Legacy returns the text that the original context pager appends in a pass:
// an add for each block in the given order, then its marker, which is no
// statement of the language. It declares and removes nothing. It fails with
// an [*IDError] for an id that [CheckLegacyID] refuses.
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

// CheckLegacyID returns an error if [Quote] or the gate of the original
// context pager refuses an id. For the gate, each word of an id must begin
// with "block-" or with a date and the t of a time, or be one of its 35
// words.
func CheckLegacyID(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	for word := range strings.FieldsSeq(id) {
		if !strings.HasPrefix(word, "block-") && !gateWords.Get()[word] && !beginsWithTime(word) {
			return &IDError{ID: id, Text: fmt.Sprintf(`has the word %q, which does not begin with "block-"`, word)}
		}
	}
	return nil
}

// gateWords are the words that the gate of the original lets pass.
var gateWords = lazy.Words(`add set to from retained-blocks paged-blocks evicted-blocks last-pager-pass block session contract
	open close begin end note retain page evict active resolved noise intent keyword score alpha beta delta turn similarity threshold pass pager true false`)

// beginsWithTime reports whether a word begins as 2026-05-17T does, with the digits of
// any script.
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

// writeMove writes an add or remove.
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

// check returns an error if a decision cannot be written or if two are about
// the same block.
func check(decisions []Move) error {
	ascending := true // then none is twice
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

// Before orders ids by length, then by bytes, which is the order of numbered
// ids. In a strictly increasing list no id occurs twice.
func Before(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
