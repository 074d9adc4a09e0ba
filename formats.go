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

// Mendable returns the names of the formats whose requests [Repair] can
// repair.
func Mendable() []string { return hold.Mendable() }

// FormatNamed returns the format with that name. It fails with [ErrFormat] if
// there is none.
func FormatNamed(name string) (transcript.Format, error) { return hold.FormatNamed(name) }

// Detect returns the format of a conversation. It fails with [ErrFormat] if
// no format recognizes data.
func Detect(data []byte) (transcript.Format, error) { return hold.Detect(data) }

// Validate checks a conversation against the rules of the named format, or of
// the detected one if format is empty. It returns the name of the format and
// the violations for which a provider would refuse the conversation. It fails
// with [ErrFormat] or a [*transcript.SyntaxError] if data cannot be read.
func Validate(format string, data []byte) (string, []transcript.Violation, error) {
	return hold.Validate(format, data)
}

// Repair repairs a request that its provider would refuse, by the rules of
// the provider that req names or that it detects. Duplicate call ids get new
// ids; results move behind their calls; a call without a result gets a result
// that says so; a result without a call becomes a quotation; empty texts are
// removed; parts are put into the order that the provider requires. The
// result lists each repair with its rule.
//
// A request that breaks no checkable rule is returned byte for byte. Parts that need no repair
// keep their bytes, with one exception: if the model signs thinking together with everything
// before it, see [Engine.Export], the thinking that follows the first change is removed.
//
// Repair fails with an [*InvalidError] if a violation cannot be repaired, and
// with a [*transcript.SyntaxError] or an [ErrFormat] if the request cannot be
// read.
func Repair(req *RepairRequest) (*RepairResult, error) { return hold.Repair(req) }

// Repair calls the function [Repair], so that the server and the other surfaces
// offer it as a job. It does not use the store.
func (e *Engine) Repair(_ context.Context, _ governance.Scope, req *RepairRequest) (*RepairResult, error) {
	return hold.Repair(req)
}

// Floor returns the figures of err if it is an [ErrBudget] of a window: how
// much is missing, and which blocks cannot leave.
func Floor(err error) (*pager.FloorError, bool) { return api.FloorOf(err) }

// Refused returns the reasons of a refused Discard or Page if err holds them.
func Refused(err error) (*pager.DiscardError, bool) { return api.RefusedOf(err) }
