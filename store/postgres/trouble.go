package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carrel-dev/carrel/store"
)

// The error codes of PostgreSQL (SQLSTATE) that this package distinguishes.
const (
	codeForeignKey     = "23503"
	codeUnique         = "23505"
	codeReadOnly       = "25006"
	codeIdleTooLong    = "25P03"
	codeNoPassword     = "28P01"
	codeNoSuchRole     = "28000"
	codeNoDatabase     = "3D000"
	codeSerialization  = "40001"
	codeDeadlock       = "40P01"
	codeNoPrivilege    = "42501"
	codeNoTable        = "42P01"
	codeTableExists    = "42P07"
	codeDiskFull       = "53100"
	codeManyConns      = "53300"
	codeTooLong        = "54000"
	codeNoLock         = "55P03"
	codeShutdown       = "57P01"
	codeCrash          = "57P02"
	codeStarting       = "57P03"
	codeIO             = "58030"
	codeDamaged        = "XX001"
	codeDamagedIndex   = "XX002"
	classOfConnections = "08"
)

// A troubleError means that a store cannot be read or written for a reason outside of Carrel, such
// as a full disk. It says what to do, and matches an error of package store.
type troubleError struct {
	Address string // without a password
	Kind    error  // such as [store.ErrUnreachable]
	Next    string // what to try

	cause error
}

func (e *troubleError) Error() string {
	return fmt.Sprintf("store %s: %v: %s", e.Address, e.Kind, e.Next)
}

// Unwrap returns the kind, and the error of the server or of the system.
func (e *troubleError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// What to try next.
const (
	nextReach     = "start the server, or correct host and port"
	nextStandby   = "the server is a standby or read-only: name the primary, for instance with target_session_attrs=read-write"
	nextLogin     = "check the role and its password: set PGPASSWORD, or a password file with PGPASSFILE"
	nextDatabase  = "create the database: createdb -O ROLE NAME"
	nextPrivilege = "let the role own the database, or grant it SELECT, INSERT, UPDATE and DELETE on all tables"
	nextFull      = "free some space on the disk of the server, then try again; nothing was changed"
	nextOpened    = "it was opened for reading only"
	nextNoStore   = "there is no store in it: check the address"
	nextUpgrade   = "an earlier version of carrel made it, and its schema must be upgraded: run carrel store migrate"
	nextFailing   = "look into the log of the server"
)

// An addressError means that an address cannot be parsed. Its text has no password.
type addressError struct{ err error }

func (e *addressError) Error() string {
	return "invalid address of the database; want a URL such as postgres://carrel@db.example.org/carrel: " + reason(e.err)
}

// reason returns why an address is invalid, without any part of the address: if it cannot be
// parsed, any part may be the password.
func reason(err error) string {
	var u *url.Error
	parse := (*pgconn.ParseConfigError)(nil)
	if !errors.As(err, &parse) || errors.As(err, &u) || errors.Unwrap(err) == nil {
		return "it cannot be parsed as a URL"
	}
	return errors.Unwrap(err).Error()
}

// withoutPassword returns an address without passwords.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return "postgres"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(name, "password") {
			query.Del(name)
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// codeOf returns the SQLSTATE code of an error of PostgreSQL, or "".
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// A lostError means that the connection to the server was lost.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the connection is lost: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// isLost reports whether an error means that a connection was lost or could not be made.
func isLost(err error) bool {
	_, lost := errors.AsType[*lostError](err)
	return lost || isRefused(err)
}

// isRefused reports whether an error means that the server refused or ended a connection, and may
// accept one later.
func isRefused(err error) bool {
	switch code := codeOf(err); code {
	case codeShutdown, codeCrash, codeStarting, codeIdleTooLong, codeManyConns:
		return true
	case "":
		_, refused := errors.AsType[*pgconn.ConnectError](err)
		return refused
	default:
		return strings.HasPrefix(code, classOfConnections)
	}
}

// isConflict reports whether an error is a conflict with another transaction, so that a repetition
// may succeed.
func isConflict(err error) bool {
	switch codeOf(err) {
	case codeSerialization, codeDeadlock:
		return true
	default:
		return false
	}
}

// isTaken reports whether an error is a violation of a unique key.
func isTaken(err error) bool { return codeOf(err) == codeUnique }

// explainWrite adds the text what, which names the record being written, to err. It turns a
// violated foreign key into an ErrNotFound, and a violated unique key into a takenError.
func explainWrite(err error, what string) error {
	if what == "" {
		return err
	}
	switch codeOf(err) {
	case codeForeignKey:
		return fmt.Errorf("%s: %w", what, store.ErrNotFound)
	case codeUnique:
		return &takenError{what, err}
	case codeTooLong:
		return fmt.Errorf("%s: a name or a word is too long for an index of PostgreSQL, use a shorter one: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// A takenError means that a record already exists. Its text has nothing of the stored record.
type takenError struct {
	what string
	err  error
}

func (e *takenError) Error() string { return e.what + " already exists" }
func (e *takenError) Unwrap() error { return e.err }

// explain turns an error of PostgreSQL or of the connection into an error of package store, if one
// fits.
func (s *database) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*troubleError](err); ok {
		return err
	}
	t := &troubleError{Address: s.address, cause: err}
	switch codeOf(err) {
	case codeNoLock, codeSerialization, codeDeadlock:
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	case codeReadOnly:
		t.Kind, t.Next = store.ErrReadOnly, nextStandby
	case codeNoPassword, codeNoSuchRole:
		t.Kind, t.Next = store.ErrUnreadable, nextLogin
	case codeNoDatabase:
		t.Kind, t.Next = store.ErrUnreadable, nextDatabase
	case codeNoPrivilege:
		t.Kind, t.Next = store.ErrUnreadable, nextPrivilege
	case codeDiskFull:
		t.Kind, t.Next = store.ErrFull, nextFull
	case codeIO:
		t.Kind, t.Next = store.ErrFailing, nextFailing
	case codeDamaged, codeDamagedIndex:
		t.Kind, t.Next = store.ErrCorrupt, nextFailing
	default:
		switch {
		case isClosed(err):
			return fmt.Errorf("store %s: %w", s.address, fs.ErrClosed)
		case !isLost(err):
			return err
		}
		t.Kind, t.Next = store.ErrUnreachable, nextReach
	}
	return t
}

// damaged is the error for a record whose content is inconsistent.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%s is inconsistent: %w", fmt.Sprintf(format, args...), store.ErrCorrupt)
}
