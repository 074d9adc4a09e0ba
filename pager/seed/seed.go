// Package seed reimplements the original context pager, a Python program: it
// computes a retention score for each block of a history and decides by the
// score whether the block is retained, paged or evicted. [Run] makes a whole
// pass.
//
// # The score
//
// The score depends on the share of the intent's keywords in the block and on
// the block's age:
//
//	R = alpha·similarity + beta/(1+ln(1+age))
//
// Similarity is the share of the keywords that occur in the block as words.
// Age counts the turns since the block. At R ≥ the retain cut a block is
// retained, otherwise at R < the evict cut evicted, and otherwise paged. If the
// retain cut is below the evict cut, the retain cut wins. With the default
// weights and cuts a block of the current turn without any keyword is paged, and
// evicted one turn later.
//
// Words are the longest runs of a–z, 0–9 and _ in the lower-cased text. A
// keyword is lower-cased, too, but never cut up: one with a space, a hyphen or
// another letter never occurs, and still counts in the denominator.
//
// # Floating point
//
// Everywhere else in this module, decisions compare integers; see package ratio.
// This package computes with IEEE doubles, in exactly the original's order of
// operations and without fused multiplications, because it must make the
// original's decisions and print its output byte for byte. Millionths would
// decide some ties differently. The scores are the same on every processor. The
// logarithm is correctly rounded. The logarithm of the original's library is
// equal to it for every whole age below nine thousand, and for all but one in
// fifty thousand ages above.
//
// # Differences from the original
//
// The original accepts some input with which it later fails or writes wrong
// output. This package returns an [*InputError] or [*OptionError] for such input
// before it writes anything: blocks newer than the current turn, no blocks,
// duplicate ids, ids that [contract.CheckLegacyID] refuses, and weights and cuts
// that are not numbers. All other input is
// accepted as by the original, even negative weights, inverted cuts and kinds
// that are not strings. Contracts follow the language of package contract;
// [Options.Legacy] writes the original's bytes instead.
//
// The package does no I/O and reads no clock. Its functions are safe for
// concurrent use.
package seed

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

// Options are weights and cuts. A zero field counts as 0 and not as the default;
// [Defaults] returns the defaults.
type Options struct {
	Alpha     float64 // weight of similarity
	Beta      float64 // weight of recency
	RetainCut float64 // least score of a retained block, also if RetainCut is below EvictCut
	EvictCut  float64 // a block with a lower score is evicted, unless it is retained
	Legacy    bool    // write contracts as the original does
}

// Defaults returns the options of the original.
func Defaults() *Options {
	return &Options{Alpha: 0.7, Beta: 0.3, RetainCut: 0.55, EvictCut: 0.20}
}

// The directives for a block.
const (
	retain = "retain" // stays as it is
	page   = "page"   // a stub takes its place
	evict  = "evict"  // leaves the window
)

// buckets has for each directive the list of a contract into which it puts a block.
var buckets = map[string]contract.Bucket{retain: contract.Retained, page: contract.Paged, evict: contract.Evicted}

// A Record is the decision about one block.
type Record struct {
	Block      string
	Kind       json.RawMessage  // any value, as in the history; nil if absent or null
	Similarity float64          // share of the keywords, from 0 to 1
	Age        pagerjson.Number // in turns
	Score      float64
	Directive  string // "retain", "page" or "evict"
}

// A Result has the decisions of a pass.
type Result struct {
	Options                  Options
	Records                  []Record // in the order of the blocks
	Retained, Paged, Evicted int      // numbers of blocks
}

// An InputError says why [Decide] refuses a history.
type InputError struct {
	Block int    // index of the block; -1 if the error is not about a block
	ID    string // id of the block
	Field string // such as "turn"
	Text  string // what is wrong
	Hint  string // what to do
}

func (e *InputError) Error() string {
	if e.Block < 0 {
		return fmt.Sprintf("%s: %s", e.Field, e.Text)
	}
	return fmt.Sprintf("blocks.%d.%s: block %q %s", e.Block, e.Field, e.ID, e.Text)
}

// An OptionError says why [Decide] refuses an option.
type OptionError struct {
	Option string // such as "alpha"
	Value  float64
	Text   string // such as "is not a number"
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s %v %s", e.Option, e.Value, e.Text) }

// check returns an [*OptionError] if a weight or cut is not a number, or a weight is
// so large that a score could overflow.
func (o *Options) check() error {
	for _, w := range [...]struct {
		name  string
		value float64
	}{{"alpha", o.Alpha}, {"beta", o.Beta}} {
		switch {
		case math.IsNaN(w.value) || math.IsInf(w.value, 0):
			return &OptionError{w.name, w.value, "is not a finite number"}
		case math.Abs(w.value) > math.MaxFloat64/4:
			return &OptionError{w.name, w.value, "is too large"}
		}
	}
	switch {
	case math.IsNaN(o.RetainCut):
		return &OptionError{"retain-cut", o.RetainCut, "is not a number"}
	case math.IsNaN(o.EvictCut):
		return &OptionError{"evict-cut", o.EvictCut, "is not a number"}
	}
	return nil
}

// Decide scores the blocks of a history. Options that are nil are [Defaults].
// The error is an [*InputError] or an [*OptionError].
func Decide(h *pagerjson.History, o *Options) (*Result, error) {
	if o == nil {
		o = Defaults()
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	head, err := examine(h)
	if err != nil {
		return nil, err
	}
	words := newMatcher(h.Intent)
	res := &Result{Options: *o, Records: make([]Record, len(h.Blocks))}
	for i := range h.Blocks {
		b, r := &h.Blocks[i], &res.Records[i]
		r.Block, r.Kind = b.ID, b.Kind
		r.Similarity = words.share(b.Text)
		r.Age = head.Sub(b.Turn)
		r.Score = o.score(r.Similarity, r.Age.Value)
		r.Directive = o.directive(r.Score)
		switch r.Directive {
		case retain:
			res.Retained++
		case page:
			res.Paged++
		case evict:
			res.Evicted++
		}
	}
	return res, nil
}

// Recency returns 1/(1+ln(1+age)) for a finite age ≥ 0 in turns: 1 at age 0, falling
// with age.
func Recency(age float64) float64 { return 1 / (1 + log(1+age)) }

// score returns the retention score. The conversions forbid the compiler to
// fuse a multiplication with the addition.
func (o *Options) score(similarity, age float64) float64 {
	return float64(o.Alpha*similarity) + float64(o.Beta*Recency(age))
}

// directive classifies a score.
func (o *Options) directive(score float64) string {
	switch {
	case score >= o.RetainCut:
		return retain
	case score < o.EvictCut:
		return evict
	default:
		return page
	}
}

// examine returns the turn from which ages count, or an [*InputError] for a history
// that Decide refuses.
func examine(h *pagerjson.History) (head pagerjson.Number, err error) {
	if len(h.Blocks) == 0 {
		return head, &InputError{Block: -1, Field: "blocks", Text: "there are no blocks", Hint: "give the history at least one block"}
	}
	head = h.Blocks[0].Turn
	for i := range h.Blocks {
		if turn := h.Blocks[i].Turn; turn.Value > head.Value {
			head = turn
		}
	}
	if h.Current != nil {
		head = *h.Current
	}
	ascending := true // then no id is twice
	for i := range h.Blocks {
		b := &h.Blocks[i]
		if err := examineBlock(b, head); err != nil {
			err.Block, err.ID = i, b.ID
			return head, err
		}
		ascending = ascending && (i == 0 || contract.Before(h.Blocks[i-1].ID, b.ID))
	}
	if ascending {
		return head, nil
	}
	return head, unique(h.Blocks)
}

// examineBlock returns why one block cannot be decided on.
func examineBlock(b *pagerjson.Block, head pagerjson.Number) *InputError {
	if err := contract.CheckLegacyID(b.ID); err != nil {
		text := err.Error()
		if e, ok := err.(*contract.IDError); ok { //nolint:errorlint // never wrapped
			text = e.Text
		}
		return &InputError{Field: "id", Text: text, Hint: `give it an id such as "block-0x04"`}
	}
	switch age := head.Sub(b.Turn).Value; {
	case age < 0:
		return &InputError{
			Field: "turn", Text: fmt.Sprintf("is of turn %v, after the current turn %v", b.Turn, head),
			Hint: "raise current_turn, or leave it out to take the greatest turn",
		}
	case math.IsInf(age, 0) || math.IsNaN(age):
		return &InputError{Field: "turn", Text: fmt.Sprintf("is of turn %v, too far from the current turn %v", b.Turn, head), Hint: "count turns from 1"}
	}
	return nil
}

// unique returns an error if two blocks have the same id.
func unique(blocks []pagerjson.Block) error {
	first := make(map[string]int, len(blocks))
	for i := range blocks {
		id := blocks[i].ID
		if j, ok := first[id]; ok {
			return &InputError{
				Block: i, ID: id, Field: "id", Text: fmt.Sprintf("has the id of block %d", j),
				Hint: "give each block an id of its own",
			}
		}
		first[id] = i
	}
	return nil
}
