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

// The codes of PostgreSQL's errors that mean something here, by their names there.
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

// A troubleError says why a store cannot be read or written for a reason that is outside
// of it, and what to do. It is one of the errors of package store.
type troubleError struct {
	Address string // without a password
	Kind    error  // such as [store.ErrUnreachable]
	Next    string // what to try

	cause error
}

func (e *troubleError) Error() string {
	return fmt.Sprintf("store %s: %v: %s", e.Address, e.Kind, e.Next)
}

// Unwrap returns the kind, and what the server or the system said.
func (e *troubleError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.cause}
}

// What to try next.
const (
	nextReach     = "start the server, or look at host and port"
	nextStandby   = "it is a standby, or does not take writes: name the primary, for instance with target_session_attrs=read-write"
	nextLogin     = "look at the role and its password: PGPASSWORD, or a password file that PGPASSFILE names"
	nextDatabase  = "make the database: createdb -O ROLE NAME"
	nextPrivilege = "let the role own the database, or grant it SELECT, INSERT, UPDATE and DELETE on all tables"
	nextFull      = "free some space on the disk of the server, then try again; nothing was changed"
	nextFailing   = "look into the log of the server"
)

// An addressError says that an address is none. It shows no password.
type addressError struct{ err error }

func (e *addressError) Error() string {
	return "the address of the database makes no sense; it is a URL such as postgres://carrel@db.example.org/carrel: " + reason(e.err)
}

// reason returns what is wrong with an address, without any of the address: where it cannot be
// taken apart, nobody knows which part is the password.
func reason(err error) string {
	var u *url.Error
	parse := (*pgconn.ParseConfigError)(nil)
	if !errors.As(err, &parse) || errors.As(err, &u) || errors.Unwrap(err) == nil {
		return "it cannot be taken apart"
	}
	return errors.Unwrap(err).Error()
}

// shown returns an address without what is secret in it.
func shown(address string) string {
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

// codeOf returns the code of PostgreSQL's error, or "".
func codeOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// A lostError says that a connection was lost, or was never made.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the connection is lost: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// isLost reports whether an error is about a connection that there is no more, or never was.
func isLost(err error) bool {
	_, lost := errors.AsType[*lostError](err)
	return lost || isRefused(err)
}

// isRefused reports whether an error is about a connection that the server did not let be
// made now, and may later.
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

// isInTheWay reports whether an error is about other transactions: to do the same again may
// succeed.
func isInTheWay(err error) bool {
	switch codeOf(err) {
	case codeSerialization, codeDeadlock:
		return true
	default:
		return false
	}
}

// isTaken reports whether an error is about a key that is taken.
func isTaken(err error) bool { return codeOf(err) == codeUnique }

// during says what was being written, and what a constraint that does not hold means.
func during(err error, what string) error {
	if what == "" {
		return err
	}
	switch codeOf(err) {
	case codeForeignKey:
		return fmt.Errorf("%s: %w", what, store.ErrNotFound)
	case codeUnique:
		return &takenError{what, err}
	case codeTooLong:
		return fmt.Errorf("%s: a name or a word is too long for an index of PostgreSQL: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// A takenError says that something is there already. It shows nothing of it.
type takenError struct {
	what string
	err  error
}

func (e *takenError) Error() string { return e.what + ": it is there already" }
func (e *takenError) Unwrap() error { return e.err }

// explain returns an error in the words of package store.
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

// damaged says that something is not as it was written.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%s is not as it was written: %w", fmt.Sprintf(format, args...), store.ErrCorrupt)
}
