package manifest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/tier"
)

// MaxName is the length of the longest name, in characters.
const MaxName = 200

// shownText is the most bytes of a text that an error quotes.
const shownText = 40

// Errors about documents. Test with errors.Is.
var (
	ErrFormat = errors.New("not a canonical manifest")
	ErrSchema = errors.New("manifest of another version")
	ErrSeal   = errors.New("the seal does not match the manifest")
)

// A CheckError describes an invalid part of a manifest.
type CheckError struct {
	Item int // index of the item, or -1 if the error is about several items or the header
	Text string
}

func (e *CheckError) Error() string {
	if e.Item < 0 {
		return "manifest: " + e.Text
	}
	return fmt.Sprintf("manifest: item %d: %s", e.Item, e.Text)
}

// whole returns an error about the header, or about several items together.
func whole(format string, args ...any) *CheckError {
	return &CheckError{Item: -1, Text: fmt.Sprintf(format, args...)}
}

// ValidName reports whether s can stand in a manifest: 1 to [MaxName] letters
// and digits of ASCII and the characters ". _ @ : + * / -", beginning with a
// letter or a digit.
func ValidName(s string) bool {
	if s == "" || len(s) > MaxName || !alnum(s[0]) {
		return false
	}
	for i := range len(s) {
		if !alnum(s[i]) && strings.IndexByte("._@:+*/-", s[i]) < 0 {
			return false
		}
	}
	return true
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// validID reports whether s is the id of a manifest.
func validID(s string) bool {
	digits, ok := strings.CutPrefix(s, "m_")
	return ok && len(digits) >= 8 && len(digits) <= 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// Check returns a [*CheckError] if the manifest breaks an invariant:
//
//   - every field is in its range, and every name is a [ValidName];
//   - items are in the order of [Manifest], and the last item is the only [*Output];
//   - segments tile the output without gap or overlap;
//   - their tokens sum to Total, which is at most Budget minus Reserve;
//   - every reason belongs to the type of its item;
//   - no artifact or block is in two segments or omissions, no row of an
//     artifact occurs twice, no reason has two sets, and no artifact has two
//     fetches;
//   - Candidates is the number of artifacts in segments, omissions and sets;
//   - Review is set if the tier is minimal.
//
// A redacted manifest cannot be checked as a whole, so a [*Redacted] is an error, too.
func (m *Manifest) Check() error {
	if err := m.Header.check(); err != nil {
		return err
	}
	c := checker{
		refs:    make(map[string]int, len(m.Items)),
		fetched: make(map[string]int),
		rows:    make(map[int64]int, len(m.Items)),
		items:   m.Items,
	}
	for i, it := range m.Items {
		if err := checkItem(it); err != "" {
			return &CheckError{i, err}
		}
		if err := c.add(i, it); err != "" {
			return &CheckError{i, err}
		}
	}
	return c.end(&m.Header)
}

// fields returns an error if a field of the header or of an item is out of range. It checks
// only rules that hold for redacted manifests, too.
func (m *Manifest) fields() error {
	if err := m.Header.check(); err != nil {
		return err
	}
	for i, it := range m.Items {
		if _, ok := it.(*Redacted); ok {
			continue
		}
		if err := checkItem(it); err != "" {
			return &CheckError{i, err}
		}
	}
	return nil
}

// check returns an error if a field of the header is not valid.
func (h *Header) check() error {
	switch created := h.Created.UTC(); {
	case !validID(h.ID):
		return whole(`id %q is not "m_" and 8 to 64 hexadecimal digits`, text.Clip(h.ID, shownText))
	case created.Year() < 1970 || created.Year() > 9999:
		return whole("created is in the year %d, want 1970 to 9999", created.Year())
	case created.Nanosecond()%int(time.Millisecond) != 0:
		return whole("created is not in whole milliseconds")
	case !slices.Contains(tier.Known(), h.Tier):
		return whole("there is no tier %q", text.Clip(string(h.Tier), shownText))
	case h.Tier == tier.Minimal && !h.Review:
		return whole("the tier is minimal and no review is asked for")
	case h.Session == "" && h.Revision != 0:
		return whole("there is a revision and no session")
	case h.Semantic == "" && h.SemanticCalls != 0:
		return whole("there are semantic calls and nothing that was called")
	}
	members := h.members()
	for i := range members {
		m := &members[i]
		if v, ok := m.value.(*string); ok && !nameOr(*v, m.optional) {
			return whole("%s %q is not a name", m.key, text.Clip(*v, shownText))
		}
	}
	if wrong := inRange(members[:]); wrong != "" {
		return whole("%s", wrong)
	}
	return nil
}

// nameOr reports whether s is a valid name. If optional is set, s may also be
// empty.
func nameOr(s string, optional bool) bool { return optional && s == "" || ValidName(s) }

// checkItem returns the rule that an item breaks by itself, or "".
func checkItem(it Item) string {
	switch it := it.(type) {
	case *Segment:
		if it != nil {
			return it.check()
		}
	case *Omission:
		if it != nil {
			return it.check()
		}
	case *Set:
		if it != nil {
			return it.check()
		}
	case *Fetch:
		if it != nil {
			return it.check()
		}
	case *Output:
		if it != nil {
			members := it.members()
			return inRange(members[:])
		}
	case *Redacted:
		return "it is redacted, so it cannot be checked"
	}
	return "it is nil"
}

func (s *Segment) check() string {
	switch {
	case !slices.Contains(kinds, s.Kind):
		return fmt.Sprintf("there is no kind %q", text.Clip(string(s.Kind), shownText))
	case !slices.Contains(included, s.Reason):
		return fmt.Sprintf("%q is no reason to be in", text.Clip(string(s.Reason), shownText))
	case !ValidName(s.Cell):
		return fmt.Sprintf("cell %q is not a name", text.Clip(s.Cell, shownText))
	case !nameOr(s.Ref, s.Kind != KindArtifact && s.Kind != KindMessage && s.Kind != KindStub):
		return fmt.Sprintf("ref %q is not a name", text.Clip(s.Ref, shownText))
	case s.Class == "" && s.Kind == KindArtifact:
		return "it is an artifact without a class"
	case s.Class != "" && s.Ref == "":
		return "it has a class and no ref"
	case s.Class == "" && (s.Row != 0 || s.Version != 0):
		return "it has a row or a version and no class"
	case s.Class != "" && s.Class.Rank() < 0:
		return fmt.Sprintf("%v %q", provenance.ErrClass, text.Clip(string(s.Class), shownText))
	case !s.Form.valid():
		return fmt.Sprintf("there is no form %q", text.Clip(string(s.Form), shownText))
	case s.Bytes < 1:
		return fmt.Sprintf("bytes is %d, want 1 to %d", s.Bytes, math.MaxInt32)
	}
	if wrong := s.Score.check(); wrong != "" {
		return wrong
	}
	members := s.members()
	return inRange(members[:])
}

func (o *Omission) check() string {
	switch {
	case !slices.Contains(excluded, o.Reason):
		return fmt.Sprintf("%q is no reason to be left out", text.Clip(string(o.Reason), shownText))
	case !ValidName(o.Ref):
		return fmt.Sprintf("ref %q is not a name", text.Clip(o.Ref, shownText))
	case o.Class == "" && o.Row != 0:
		return "it has a row and no class"
	case o.Class != "" && o.Class.Rank() < 0:
		return fmt.Sprintf("%v %q", provenance.ErrClass, text.Clip(string(o.Class), shownText))
	}
	if wrong := o.Score.check(); wrong != "" {
		return wrong
	}
	members := o.members()
	return inRange(members[:])
}

func (s *Set) check() string {
	switch {
	case !slices.Contains(excluded, s.Reason):
		return fmt.Sprintf("%q is no reason to be left out", text.Clip(string(s.Reason), shownText))
	case s.Count < 1 || int64(s.Count) > math.MaxInt32:
		return fmt.Sprintf("count is %d, want 1 to %d", s.Count, math.MaxInt32)
	case int64(s.Count) != s.Rows.Len():
		return fmt.Sprintf("count is %d, and there are %d rows", s.Count, s.Rows.Len())
	}
	return ""
}

func (f *Fetch) check() string {
	var held bool
	switch f.Outcome {
	case OutcomeUnchanged:
		held = f.To == f.From
	case OutcomeChanged:
		held = f.To != f.From && f.To != 0
	case OutcomeGone, OutcomeForbidden, OutcomeUnavailable:
		held = f.To == 0
	default:
		return fmt.Sprintf("there is no outcome %q", text.Clip(string(f.Outcome), shownText))
	}
	switch {
	case !held:
		return fmt.Sprintf("the outcome is %s, and the version was %d and is %d", f.Outcome, f.From, f.To)
	case !ValidName(f.Ref):
		return fmt.Sprintf("ref %q is not a name", text.Clip(f.Ref, shownText))
	}
	members := f.members()
	return inRange(members[:])
}

// check returns the rule that a score breaks, or "". A nil score is valid.
func (s *Score) check() string {
	if s == nil {
		return ""
	}
	if !s.Tag.valid() {
		return fmt.Sprintf("there is no tag %q", text.Clip(string(s.Tag), shownText))
	}
	members := s.members()
	return inRange(members[:])
}

// A checker collects the values of items that the rules between items compare.
type checker struct {
	rank      int            // rank of the latest item
	refs      map[string]int // item by the ref of its artifact or block
	fetched   map[string]int
	rows      map[int64]int // item by the row of its artifact
	sets      []int         // indexes of the sets
	items     []Item
	size      int64 // sum of the bytes of the segments
	tokens    int64
	artifacts int64 // number of artifacts in segments, omissions and sets
	output    *Output
}

// rank returns the position of an item's type in the order of items.
func rank(it Item) int {
	switch it.(type) {
	case *Segment:
		return 0
	case *Omission:
		return 1
	case *Set:
		return 2
	case *Fetch:
		return 3
	default:
		return 4
	}
}

// add checks item i, which is valid by itself, together with the items before it. It returns
// the rule that is broken, or "".
func (c *checker) add(i int, it Item) string {
	r := rank(it)
	switch {
	case c.output != nil:
		return "it comes after the output, which must be last"
	case r < c.rank:
		return "the order is segments, omissions, sets, fetches, output"
	}
	c.rank = r
	switch it := it.(type) {
	case *Segment:
		if int64(it.Start) != c.size {
			return fmt.Sprintf("it starts at byte %d, want %d", it.Start, c.size)
		}
		c.size += int64(it.Bytes)
		c.tokens += int64(it.Tokens)
		return c.mention(i, it.Ref, it.Class, it.Row)
	case *Omission:
		return c.mention(i, it.Ref, it.Class, it.Row)
	case *Set:
		c.artifacts += int64(it.Count)
		for _, other := range c.sets {
			if c.items[other].(*Set).Reason == it.Reason {
				return fmt.Sprintf("item %d is the set of what is %s, too", other, it.Reason)
			}
		}
		c.sets = append(c.sets, i)
	case *Fetch:
		return twice(c.fetched, it.Ref, i)
	case *Output:
		c.output = it
	}
	return ""
}

// mention records that item i is about the artifact or block ref, which is in the given row. If
// an earlier item has the same ref or the same row, mention returns a text that says so, and
// otherwise "".
func (c *checker) mention(i int, ref string, class provenance.Class, row int64) string {
	if class != "" {
		c.artifacts++
	}
	if row != 0 {
		if other, ok := c.rows[row]; ok {
			return fmt.Sprintf("item %d has row %d, too", other, row)
		}
		c.rows[row] = i
	}
	if ref == "" {
		return ""
	}
	return twice(c.refs, ref, i)
}

// twice records that item i is about the artifact or block ref. If an earlier item is about
// it, too, twice returns a text that says so, and otherwise "".
func twice(seen map[string]int, ref string, i int) string {
	if other, ok := seen[ref]; ok {
		return fmt.Sprintf("item %d is about %s, too", other, ref)
	}
	seen[ref] = i
	return ""
}

// end checks the rules about all items together.
func (c *checker) end(h *Header) error {
	switch {
	case c.output == nil:
		return whole("there is no output")
	case c.size != int64(c.output.Bytes):
		return whole("the segments have %d bytes, and the output has %d", c.size, c.output.Bytes)
	case c.tokens != int64(h.Total):
		return whole("the segments have %d tokens, and the total is %d", c.tokens, h.Total)
	case h.Total > h.Budget-h.Reserve:
		return whole("the total of %d tokens is over the budget of %d less the reserve of %d", h.Total, h.Budget, h.Reserve)
	case c.artifacts != int64(h.Candidates):
		return whole("%d artifacts are mentioned, and there were %d candidates", c.artifacts, h.Candidates)
	}
	for k, i := range c.sets {
		set := c.items[i].(*Set)
		for _, row := range slices.Sorted(maps.Keys(c.rows)) {
			if set.Rows.contains(row) {
				return &CheckError{i, fmt.Sprintf("item %d has row %d, too", c.rows[row], row)}
			}
		}
		for _, other := range c.sets[:k] {
			if row, ok := set.Rows.meets(c.items[other].(*Set).Rows); ok {
				return &CheckError{i, fmt.Sprintf("item %d has row %d, too", other, row)}
			}
		}
	}
	return nil
}
