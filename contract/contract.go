// Package contract reads, writes and runs session contracts: what became of each
// block of a session, and what the session decided, asked, was told and read, as
// statements of the Liminate language.
//
// # Statements
//
// A contract is a program, one statement a line, to which whoever works on the
// session appends. These are the forms that this package writes:
//
//	remember a list called retained-blocks
//	add "block-0x04" to paged-blocks
//	remove "block-0x04" from paged-blocks
//	remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00"
//	remember a number called window-tokens with 81234
//	remember a source called readme with "what it says"
//
// and the compositions, handlers and requirements of [Contract.Init], [Contract.Guard],
// [Contract.Inherit] and [Contract.Verify]. All but remove run in the first release of
// the language, of 35 words; doc/spec/contract.md says what which release knows.
// Each list is declared once, before its first use, as a second declaration would
// empty it.
//
// A block is in at most one list. One that moves is removed from its old list
// before it is added to the new one, and one that stays needs no statement.
//
// # Reading and writing
//
// [Replay] leads from the statements to a [Contract]. The methods of a Contract that
// write, from [Contract.Pass] to [Contract.Close], return statements to append, after
// they have replayed them. What has no place in a contract is a typed error, and
// then nothing has happened.
//
// A contract may hold statements that others wrote. They are left alone, provided
// that they change nothing of what a Contract holds: Replay refuses those that do.
//
// # Running
//
// [Run] executes a contract in the language and says what of it does not hold: its
// own requirements, which [Contract.Guard] and [Contract.Inherit] add and anybody may, and
// rules that need no statement. Guards are handlers, which are run once everything
// else has been: so they judge what the last statement left, need not be repeated,
// and cost the same however many passes there were.
//
// The statements of the original context pager, which no release of the
// language can run, are written by [Legacy] and not read.
//
// # Determinism
//
// The package does no I/O and reads no clock. Equal arguments give equal bytes.
// A [Contract] must not be used concurrently.
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

// A Bucket is the name of one of the lists that blocks are in.
type Bucket string

// The buckets.
const (
	Retained Bucket = "retained-blocks" // in the window as they are
	Paged    Bucket = "paged-blocks"    // a stub stands in their place
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

// A Move says where a block belongs.
type Move struct {
	Block  string
	Bucket Bucket
}

// An IDError says why a block's id cannot stand in a contract.
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
// statement of the language. Nothing is declared and nothing removed. An id that
// [CheckLegacyID] refuses is an [*IDError], before anything is written.
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

// CheckLegacyID returns the error of [Quote] for an id, or that of the gate of the
// original context pager: each word of an id begins with "block-" or with a date and
// the t of a time, or is one of the gate's 35 words.
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

// Before orders ids: shorter ones first, then byte by byte, which is how counted
// ids come. Where each id is before the next, none occurs twice.
func Before(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
