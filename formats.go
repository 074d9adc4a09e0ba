package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// Formats returns the names of the formats of conversations.
func Formats() []string { return hold.Formats() }

// Mendable returns the names of the formats whose requests [Repair] mends.
func Mendable() []string { return hold.Mendable() }

// FormatNamed returns a format by its name. It fails with [ErrFormat].
func FormatNamed(name string) (transcript.Format, error) { return hold.FormatNamed(name) }

// Detect returns the format of a conversation. It fails with [ErrFormat].
func Detect(data []byte) (transcript.Format, error) { return hold.Detect(data) }

// Validate says why a provider would refuse a conversation: by the rules of the format
// that is named, or of the one that is detected, whose name it returns.
func Validate(format string, data []byte) (string, []transcript.Violation, error) {
	return hold.Validate(format, data)
}

// Repair mends a request that its provider would refuse, by the rules of the provider that
// is named, or of the one whose request it looks like: a call gets an id of its own where
// two have the same, results go behind their calls, a call that nobody answered gets a
// result that says so, a result without a call becomes a quotation, texts without a word go,
// and all is put where the provider wants it. Each repair is in the result, with its rule.
//
// A request that breaks no rule that can be checked is returned byte for byte, and what is
// not mended keeps its bytes, but for thinking: where a model ties it to everything before
// it, what stands behind the first change goes.
//
// It fails with an [*InvalidError] if something is wrong that cannot be mended, with a
// [*transcript.SyntaxError] or an [ErrFormat] if the request cannot be read.
func Repair(req *RepairRequest) (*RepairResult, error) { return hold.Repair(req) }

// Repair does the same as the function [Repair], as a job of every surface. It asks the
// store nothing.
func (e *Engine) Repair(_ context.Context, _ governance.Scope, req *RepairRequest) (*RepairResult, error) {
	return hold.Repair(req)
}

// Floor says by how much a budget is too small and what holds it up, if err is
// an [ErrBudget].
func Floor(err error) (*pager.FloorError, bool) { return api.FloorOf(err) }

// Refused says why a discard was refused, if err is such an error.
func Refused(err error) (*pager.DiscardError, bool) { return api.RefusedOf(err) }
