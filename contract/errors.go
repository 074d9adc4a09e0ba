package contract

import (
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

// ErrClosed means that a contract is closed and nothing can be added to it. All writing
// methods fail with it.
var ErrClosed = errors.New("the contract is closed")

// ErrInitialized means that [Contract.Init] was called before.
var ErrInitialized = errors.New("the contract is initialized already")

// A TextError says why a text is not allowed in a contract.
type TextError struct {
	What   string // role of the text, such as "decision"
	Text   string
	Reason string // such as "is empty"
}

func (e *TextError) Error() string { return fmt.Sprintf("%s %q %s", e.What, e.Text, e.Reason) }

// A PinError means that a block would be both pinned and evicted.
type PinError struct {
	Block   string
	Evicted bool // true if an evicted block was to be pinned, false if a pinned one was to be evicted
}

func (e *PinError) Error() string {
	if e.Evicted {
		return fmt.Sprintf("block %q is evicted and cannot be pinned", e.Block)
	}
	return fmt.Sprintf("block %q is pinned and cannot be evicted", e.Block)
}

// A BudgetError means that a window exceeds its budget.
type BudgetError struct {
	Tokens, Limit token.Count
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("a window of %d tokens is over the budget of %d", e.Tokens, e.Limit)
}

// A ConflictError lists the decisions that a new one contradicts.
type ConflictError struct {
	Decision  string
	Conflicts []Conflict // at least one
}

func (e *ConflictError) Error() string {
	old := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		old[i] = fmt.Sprintf("%q of %s", c.Decision, c.List)
	}
	return fmt.Sprintf("decision %q conflicts with %s", e.Decision, strings.Join(old, " and "))
}

// A PayloadError describes an invalid payload.
type PayloadError struct {
	Field string // such as "sources.0.name"; empty if the payload is not JSON
	Text  string
}

func (e *PayloadError) Error() string {
	if e.Field == "" {
		return "payload: " + e.Text
	}
	return "payload: " + e.Field + ": " + e.Text
}
