package carrel

import (
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// Formats returns the names of the formats of conversations.
func Formats() []string { return hold.Formats() }

// FormatNamed returns a format by its name. It fails with [ErrFormat].
func FormatNamed(name string) (transcript.Format, error) { return hold.FormatNamed(name) }

// Detect returns the format of a conversation. It fails with [ErrFormat].
func Detect(data []byte) (transcript.Format, error) { return hold.Detect(data) }

// Validate says why a provider would refuse a conversation: by the rules of the format
// that is named, or of the one that is detected, whose name it returns.
func Validate(format string, data []byte) (string, []transcript.Violation, error) {
	return hold.Validate(format, data)
}

// Floor says by how much a budget is too small and what holds it up, if err is
// an [ErrBudget].
func Floor(err error) (*pager.FloorError, bool) { return api.FloorOf(err) }

// Refused says why a discard was refused, if err is such an error.
func Refused(err error) (*pager.DiscardError, bool) { return api.RefusedOf(err) }
