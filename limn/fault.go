package limn

import (
	"errors"
	"fmt"
)

func newError(fault faultKind, pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, fault: fault, Text: fmt.Sprintf(format, args...)}
}

func semanticError(pos Pos, format string, args ...any) error {
	return newError(faultSemantic, pos, format, args...)
}

func runtimeError(pos Pos, format string, args ...any) error {
	return newError(faultRuntime, pos, format, args...)
}

// at returns err as an [*Error] and sets its position to pos if it has none.
func at(pos Pos, err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return runtimeError(pos, "%v", err)
	case e.Pos == Pos{}:
		e.Pos = pos
	}
	return err
}

// An unknownName is the error about an undefined name.
type unknownName struct{ err *Error }

func (u unknownName) Error() string { return u.err.Error() }
func (u unknownName) Unwrap() error { return u.err }

// isUnknown reports whether err is about an undefined name.
func isUnknown(err error) bool {
	_, ok := errors.AsType[unknownName](err)
	return ok
}

// describe returns the kind of a value with an article, for messages.
func describe(v Value) string {
	switch v.kindOf() {
	case kindNumber:
		return "a number"
	case kindText:
		return "a string"
	case kindDate:
		return "a date"
	case kindRecord:
		return "a record"
	case kindList:
		return describeList(v.category())
	case kindNone:
	}
	return "nothing yet"
}

func describeList(category kind) string {
	switch category {
	case kindNumber:
		return "a list of numbers"
	case kindText:
		return "a list of strings"
	case kindDate:
		return "a list of dates"
	case kindRecord:
		return "a list of records"
	case kindNone, kindList:
	}
	return "an empty list"
}
