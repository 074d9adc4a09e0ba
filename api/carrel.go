package api

import (
	"fmt"

	"github.com/carrel-dev/carrel/transcript"
)

// An InvalidError is an [ErrInvalid] with its reasons: the rules of the
// provider that the result would break.
type InvalidError struct {
	Format     string
	Violations []transcript.Violation
}

func (e *InvalidError) Error() string {
	if len(e.Violations) == 1 {
		return fmt.Sprintf("%v: %s: %v", ErrInvalid, e.Format, e.Violations[0])
	}
	return fmt.Sprintf("%v: %s, %d reasons, the first: %v", ErrInvalid, e.Format, len(e.Violations), e.Violations[0])
}

// Is makes errors.Is(e, ErrInvalid) true.
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }
