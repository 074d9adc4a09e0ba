package contract

import (
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

// ErrClosed is that a contract is closed, so that nothing can be added to it.
var ErrClosed = errors.New("the contract is closed")

// ErrInitialized is that a contract has the statements of its beginning already.
var ErrInitialized = errors.New("the contract is initialized already")

// A TextError says why a text cannot stand in a contract.
type TextError struct {
	What   string // what it was to be, such as "decision"
	Text   string
	Reason string // such as "is empty"
}

func (e *TextError) Error() string { return fmt.Sprintf("%s %q %s", e.What, e.Text, e.Reason) }

// A PinError says that a block cannot be both pinned and evicted.
type PinError struct {
	Block   string
	Evicted bool // whether it is evicted and was to be pinned, rather than the other way round
}

func (e *PinError) Error() string {
	if e.Evicted {
		return fmt.Sprintf("block %q is evicted and cannot be pinned", e.Block)
	}
	return fmt.Sprintf("block %q is pinned and cannot be evicted", e.Block)
}

// A BudgetError says that a window has more tokens than it may have.
type BudgetError struct {
	Tokens, Limit token.Count
}

func (e *BudgetError) Error() string {
	return fmt.Sprintf("a window of %d tokens is over the budget of %d", e.Tokens, e.Limit)
}

// A ConflictError says which decisions a new one contradicts.
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

// A PayloadError says what is wrong with a payload.
type PayloadError struct {
	Field string // such as "sources.0.name", or empty if it is no JSON
	Text  string
}

func (e *PayloadError) Error() string {
	if e.Field == "" {
		return "payload: " + e.Text
	}
	return "payload: " + e.Field + ": " + e.Text
}
