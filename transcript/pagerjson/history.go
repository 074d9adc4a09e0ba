// Package pagerjson reads and writes the history files of the original context pager, a
// program in Python that package pager/seed reimplements.
//
// # The file
//
//	{
//	  "intent_ir": ["pager", "score"],
//	  "current_turn": 15,
//	  "blocks": [
//	    {"id": "block-0x01", "turn": 15, "role": "user", "kind": "active", "text": "..."}
//	  ]
//	}
//
// It is one JSON object in UTF-8. It must have intent_ir and blocks, and
// each block an id, a turn and a text. Turns are numbers, whole or not; blocks
// may be in any order. A kind is any value and has no effect. A null intent_ir
// means no keywords, and a role that is not a string means no role. Unknown keys are skipped,
// and a session keeps their bytes.
// Reading is stricter than the original's: an intent_ir that is a string, a
// turn that is not a finite number, and a repeated key are errors with
// line and field. Whether a history is consistent, for example whether
// ids differ, is checked by Format.Validate and by the pager.
//
// # Two views
//
// [Parse] returns a [History], the input of the pager. [Format] decodes
// the same file as a session with one message per block. In other
// formats a block may have several messages; they are encoded as one text here,
// and parts that a text cannot carry are listed as losses.
package pagerjson

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// A History is a parsed history file.
type History struct {
	Intent  []string // keywords of what the agent is doing
	Current *Number  // turn from which ages count; nil for the greatest turn of the blocks
	Blocks  []Block
}

// A Block is a piece of a history.
type Block struct {
	ID   string
	Turn Number
	Text []byte
	Role string          // empty if the file has none, or one that is not a string
	Kind json.RawMessage // any value, as it stands in the file; nil if absent or null
}

// A Number is a JSON number that records whether it was written as a whole
// number. Whole numbers lie within ±2⁵², so that a float64 represents them and their
// differences exactly.
type Number struct {
	Value float64
	Whole bool
}

// maxWhole is the greatest number that is read as whole.
const maxWhole = 1 << 52

// Int returns a whole number.
func Int(n int) Number { return Number{Value: float64(n), Whole: true} }

// Sub returns n - m, which is whole if both are.
func (n Number) Sub(m Number) Number {
	return Number{Value: n.Value - m.Value, Whole: n.Whole && m.Whole}
}

// String returns n as [Number.Append] writes it.
func (n Number) String() string { return string(n.Append(nil)) }

// Append appends n as the original pager writes it: a whole number without a point,
// any other with at least one decimal, or with an exponent if its magnitude is
// below 10⁻⁴ or not below 10¹⁶.
func (n Number) Append(dst []byte) []byte {
	if n.Whole {
		return strconv.AppendInt(dst, int64(n.Value), 10)
	}
	return AppendFloat(dst, n.Value)
}

// AppendFloat appends the shortest decimal that reads back as f, in the form
// that the original pager uses for numbers that are not whole.
func AppendFloat(dst []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') >= 0 {
		return dst
	}
	return append(dst, ".0"...)
}
