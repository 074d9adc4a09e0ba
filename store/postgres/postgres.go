// Package postgres is a [store.Database] in a database of PostgreSQL, for several nodes at
// once. The nodes are equal: what one has written the others see, and nothing that decides
// anything is kept in a node.
//
// [Open] brings the schema up to date and refuses a server or a role that would not keep
// what this package promises: see "The preflight".
//
// # Writing
//
// A write is one transaction, READ COMMITTED, in two to four round trips. It first locks the
// row that orders what it changes: that of the session, that of the version of the scope,
// that of its index of words, or that of its list of calls. Versions, places and numbers
// are counted in these rows, so that they have no gaps and are seen in their order. Nothing
// else is needed for correctness but unique keys and references: no sequence, no trigger,
// no advisory lock, no notification. Other databases that speak the protocol have these
// means, too; the package was not tried with any of them.
//
// A transaction that another one is in the way of, or whose connection is lost, is done
// again for as long as [Options] say. Where the connection was lost at the end, nobody has
// told whether it was made: done again, it looks first, under the lock, for the entry with
// its own mark or the call that it would write. So what was made once is not made twice, what
// another node has made is not taken for it, and the caller is told what became of it. If all of it fails, the error is [store.ErrBusy] or
// [store.ErrUnreachable].
//
// Once the last of a write was sent it is waited for even if its context ends.
//
// # Reading
//
// A method reads in one transaction, REPEATABLE READ, and in one round trip if it can. What
// it yields was read before the first of it is yielded, so that an iteration holds no
// connection. Only bodies of cells are read a few at a time: a cell that is purged during an
// iteration may be gone in the rest of it.
//
// # Two walls
//
// Every statement names the scope. Besides, each table has row-level security, by which the
// role sees the rows of one scope only: the one that the transaction has set. Each wall holds
// without the other.
//
// # The preflight
//
// Open refuses a role that row-level security does not bind, a server that may lose what it
// has acknowledged (fsync, full_page_writes or synchronous_commit are off), a server that
// cannot be written, and one that is too old or is known to leak rows. The error says what
// to do.
//
// # Limits
//
// A name is at most about 2,000 bytes long, together with its scope and what it belongs to:
// more than that no index of PostgreSQL takes.
//
// # What is purged
//
// What is purged is in no answer from then on. The server has it in its files until it has
// vacuumed the table, and in its write-ahead log, replicas and backups for as long as these
// are kept. This package cannot reach them.
package postgres

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Options adjusts a store. The zero value of every field is a sensible default, so a nil
// *Options is too.
type Options struct {
	// Conns is how many connections there are at most. The default is what the address says
	// in pool_max_conns, or else [DefaultConns].
	Conns int

	// Patience is how long a write or a read is tried again while others are in its way, or
	// while the server cannot be reached. The default is 5 seconds.
	Patience time.Duration
}

// DefaultConns is how many connections a store has at most by default.
const DefaultConns = 16

func (o *Options) complete() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Patience <= 0 {
		c.Patience = 5 * time.Second
	}
	return c
}

// A database is a pool of connections to one.
type database struct {
	pool     *pgxpool.Pool
	address  string // without a password
	patience time.Duration
	version  string // of the server
	byKey    bool   // the server can be told to read by keys
	steps    []migration

	known  sync.Map // scopes whose names are written, of type [governance.Scope]
	closed sync.Once

	// rewrite changes each statement before it is sent, or is nil. Nothing in this package
	// sets it: the tests do, to take a wall away.
	rewrite func(statement string) string

	// forgetful does a transaction again as if nothing could have been made before. Nothing
	// in this package sets it: the tests do, to prove that they would notice.
	forgetful bool
}

// Open opens the store in the database at an address, a URL such as
// "postgres://carrel@db.example.org/carrel". What the URL leaves out is taken from the
// variables that PostgreSQL's own programs read, such as PGPASSWORD and PGPASSFILE. No error
// has a password in it.
func Open(ctx context.Context, address string, opts *Options) (store.Database, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, address, opts, steps)
	if err != nil {
		return nil, err // and no store that is nil
	}
	return s, nil
}

func open(ctx context.Context, address string, opts *Options, steps []migration) (*database, error) {
	o := opts.complete()
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, &addressError{err}
	}
	s := &database{address: shown(address), patience: o.Patience, steps: steps}
	switch {
	case o.Conns > 0:
		config.MaxConns = int32(min(o.Conns, 1<<20)) //nolint:gosec // it is
	case !strings.Contains(address, "pool_max_conns="):
		config.MaxConns = DefaultConns
	}
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "carrel"
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, s.explain(err)
	}
	if err := s.prepare(ctx); err != nil {
		s.pool.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// prepare looks at the server, brings the schema up to date, and looks at the walls.
func (s *database) prepare(ctx context.Context) error {
	if err := s.preflight(ctx); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	return s.checkWalls(ctx)
}

// Close implements [store.Admin]. What is under way is finished; what comes later fails
// with [fs.ErrClosed].
func (s *database) Close() error {
	s.closed.Do(s.pool.Close)
	return nil
}

// Ready implements [store.Database]. It asks the server whether it can be written.
func (s *database) Ready(ctx context.Context) error {
	return s.transact(ctx, anyScope, reading, func(t *tx) error {
		var standby string
		t.row(`SELECT CASE WHEN pg_is_in_recovery() THEN 'on' ELSE current_setting('default_transaction_read_only') END`, nil, &standby)
		if err := t.flush(); err != nil {
			return err
		}
		if standby == "on" {
			return &troubleError{Address: s.address, Kind: store.ErrReadOnly, Next: nextStandby}
		}
		return nil
	})
}

// Info implements [store.Admin].
func (s *database) Info(ctx context.Context) (*store.Info, error) {
	scopes, err := s.Scopes(ctx)
	if err != nil {
		return nil, err
	}
	info := &store.Info{Driver: "postgres", Version: s.version, Path: s.address, Schema: len(s.steps)}
	for _, scope := range scopes {
		err := s.transact(ctx, in(scope), reading, func(t *tx) error {
			var sessions, blocks, cells, artifacts, manifests int64
			t.row(`
				SELECT (SELECT count(*) FROM session WHERE scope = $1), (SELECT count(*) FROM block WHERE scope = $1),
					(SELECT count(*) FROM cell WHERE scope = $1), (SELECT count(*) FROM artifact WHERE scope = $1),
					(SELECT count(*) FROM manifest WHERE scope = $1)`,
				args(scope), &sessions, &blocks, &cells, &artifacts, &manifests)
			if err := t.flush(); err != nil {
				return err
			}
			info.Sessions += sessions
			info.Blocks += blocks
			info.Cells += cells
			info.Artifacts += artifacts
			info.Manifests += manifests
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	err = s.transact(ctx, anyScope, reading, func(t *tx) error {
		t.row(`SELECT pg_database_size(current_database())`, nil, &info.Bytes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// Scopes implements [store.Admin].
func (s *database) Scopes(ctx context.Context) (scopes []governance.Scope, err error) {
	err = s.transact(ctx, anyScope, reading, func(t *tx) error {
		scopes = nil
		t.rows(func(rows pgx.Rows) error {
			var scope governance.Scope
			err := rows.Scan(to(&scope))
			scopes = append(scopes, scope)
			return err
		}, `SELECT name FROM scope ORDER BY name`)
		return nil
	})
	return scopes, err
}

// Backup implements [store.Admin]. It fails with [errors.ErrUnsupported]: the server has
// programs for it.
func (s *database) Backup(context.Context, string) error {
	return &troubleError{Address: s.address, Kind: errors.ErrUnsupported, Next: "make a backup with pg_dump, or with what the server has for it"}
}

// isClosed reports whether an error is about a store that was closed.
func isClosed(err error) bool {
	return errors.Is(err, puddle.ErrClosedPool) || errors.Is(err, fs.ErrClosed)
}
