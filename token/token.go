// Package token counts the tokens of texts and knows the context windows of
// models.
//
// The unit of every number is the token of the model in question, as [Count].
// A [Counter] turns text into a Count, and names its encoding, so that a
// recorded figure can be checked later: [Encoding] accepts every name that
// [Counter.Encoding] returns.
//
//	c := token.ForModel("claude-sonnet-4-5")
//	n := c.Count(text) // an upper bound; c.Encoding() is "o200k_base*1.35"
//
// # Three kinds of count
//
// Exact: the encodings o200k_base and cl100k_base of OpenAI models are
// public. Counts equal those of tiktoken for ordinary text. Special tokens
// such as <|endoftext|> have no special meaning in the text of a message, so
// they count as the characters that they are. cl100k_base ends with the rule
// of its first release, as the npm package tiktoken has it; the newest
// release in Python counts one token less if a text ends in a line break and
// spaces. Letters and numbers are those of Unicode 16, as in that package.
//
// Bounds: where a tokenizer is not public, [ForModel] gives an o200k_base
// count times a factor, as "o200k_base*1.35". The factor is a calibration,
// not a proof: ordinary prose, code and JSON stay below it. A caller who
// knows the provider's charges can make a better one with [Bound].
//
// Estimates: [Estimate] divides the number of characters by a constant. It
// loads no tables and is the cheapest.
//
// # Seams
//
// Exact counts add up where the left text ends in a line feed and the right
// one begins with neither white space nor a slash, as [Seam] says: no piece
// of either encoding reaches across it. At any other seam the sum of the
// parts may differ from the count of the whole. Bounds round up, so their sum
// may be larger.
//
// # Cost
//
// The tables of an encoding are loaded by the first count that needs them,
// within tens of milliseconds; making a Counter costs nothing. The time is
// linear in the length of every text, so untrusted text may be counted. A
// count allocates no memory. In a text that is not UTF-8, each invalid byte
// counts as the replacement character U+FFFD, as it does at the provider.
//
// # Determinism and concurrency
//
// Equal texts give equal counts on every machine. A [Counter] and all
// functions may be used concurrently; a [Tally] must not.
package token

import (
	"errors"
	"fmt"
	"strings"
)

// A Count is a number of tokens.
type Count int

// A Counter counts the tokens of texts. It is safe for concurrent use.
type Counter interface {
	// Count returns the number of tokens of text, 0 for the empty text.
	Count(text string) Count

	// Encoding returns the name of the encoding, such as "o200k_base". The
	// function [Encoding] turns the name into an equal Counter.
	Encoding() string
}

// ErrEncoding means that there is no encoding with a name.
var ErrEncoding = errors.New("unknown encoding")

// Encoding returns the Counter with a name:
//
//	o200k_base, o200k      exact, for OpenAI models since GPT-4o
//	cl100k_base, cl100k    exact, for GPT-4 and GPT-3.5
//	estimate               a quarter of the number of characters, rounded up
//	o200k_base*1.35        any of these times a factor, as [Bound]
//
// It loads no tables; the first count does. For any other name it fails with
// [ErrEncoding].
func Encoding(name string) (Counter, error) {
	switch name {
	case "o200k_base", "o200k":
		return o200k, nil
	case "cl100k_base", "cl100k":
		return cl100k, nil
	case "estimate":
		return estimate{}, nil
	}
	if i := strings.LastIndexByte(name, '*'); i >= 0 {
		c, err := Encoding(name[:i])
		percent, ok := parseFactor(name[i+1:])
		if err == nil && ok {
			return Bound(c, percent), nil
		}
	}
	return nil, fmt.Errorf("%w %q: want o200k_base, cl100k_base or estimate", ErrEncoding, name)
}
