// Package postgres is a [store.Database] in a PostgreSQL database that several nodes (servers of
// Carrel) can use at once. The nodes are equal: each sees the writes of the others, and no node
// keeps state on which a result depends.
//
// [Open] brings the schema up to date. It refuses a server or a role that cannot give the
// guarantees of this package: see "The preflight".
//
// # Writing
//
// A write is one READ COMMITTED transaction of two to four round trips. It first locks the row that
// orders its changes: the row of the session, of the version of the scope, of the index of words, or
// of the list of calls. These rows count versions, positions and numbers, so that they have no gaps
// and become visible in order. Otherwise the package needs only unique and foreign keys: no
// sequence, no trigger, no advisory lock, no notification. Other databases that speak the protocol
// of PostgreSQL have these too, but the package was not tested with any of them.
//
// A transaction that fails because of another transaction or a lost connection is repeated, for as
// long as [Options] says. If the connection was lost at the commit, it is unknown whether the
// transaction was committed. The repetition therefore first looks, under the lock, for a journal
// entry with the random mark of this transaction, or for the calls that it would write, and does
// not write them again. An entry of another node has another mark, so the write then fails with a
// conflict. If all repetitions fail, the error is [store.ErrBusy] or [store.ErrUnreachable].
//
// After a write has sent its commit, it waits for the answer even if its context ends.
//
// # Reading
//
// A method reads in one REPEATABLE READ transaction, and in one round trip if it can. An iterator
// reads all values before it yields the first, so an iteration holds no connection. Only cells are
// read a few at a time: a cell that is purged during the iteration may end it with a
// [store.GoneError].
//
// # Two walls
//
// Two independent mechanisms separate scopes: every statement has a condition on the scope, and each
// table has row-level security, which shows a transaction only the rows of the scope that it has
// set.
//
// # The preflight
//
// Open needs an existing database, and a role that may create tables in it or, if the schema is
// current, may read and write all tables. It refuses a role that row-level security does not bind
// (SUPERUSER or BYPASSRLS), a server that may lose acknowledged writes (fsync, full_page_writes or
// synchronous_commit is off), and a release older than 14.19, 15.14, 16.10 or 17.6, which is out of
// support or leaks rows. The [UnsafeError] says what to do. On a standby, Ready and all writes fail
// with [store.ErrReadOnly].
//
// # Limits
//
// The id of a record, its scope, and the id of its session have together at most about 2,000 bytes,
// because an index of PostgreSQL takes no longer keys. A write with longer ones fails.
//
// The stores have the roles [store.Requests] and [store.Blobs]. Backup fails with
// [errors.ErrUnsupported]: make backups with pg_dump, or with the tools of the server.
//
// # Purges
//
// No method returns purged text. The server keeps the text in its files until it has vacuumed the
// table, and in its write-ahead log, replicas and backups for as long as these exist. This package
// cannot erase it there. The key of a blob stays in the same way, but not the blob: see package
// store/offload.
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
	// Conns is the maximal number of connections. The default is the value of pool_max_conns
	// in the address, or else [DefaultConns].
	Conns int

	// Patience is how long a write or a read is repeated, after it first failed because another
	// transaction conflicts with it or the server cannot be reached. An attempt that has begun
	// goes on to its end. If the address has no connect_timeout, an attempt to connect ends after
	// this time, or after 5 seconds if that is longer. The default is 5 seconds.
	Patience time.Duration

	// ReadOnly opens an existing store for reading, without changing it: tables are not created,
	// and a store with an older schema is refused with [store.ErrUnreadable].
	ReadOnly bool
}

// defaultPatience is the default of [Options].Patience, and the shortest time after which an attempt
// to connect is given up, if the address does not say.
const defaultPatience = 5 * time.Second

// DefaultConns is the default of [Options].Conns.
const DefaultConns = 16

func (o *Options) complete() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Patience <= 0 {
		c.Patience = defaultPatience
	}
	return c
}

// A database is a pool of connections to a PostgreSQL database; it implements [store.Database].
type database struct {
	pool     *pgxpool.Pool
	address  string // without a password
	patience time.Duration
	version  string // of the server
	byKey    bool   // whether the server has the settings of setByKey
	steps    []migration
	barred   error // why the store cannot be written, or nil

	known  sync.Map // keys: the scopes whose names are in the table scope
	closed sync.Once

	// rewrite changes each statement before it is sent, or is nil. Only tests set it, to remove
	// the condition on the scope.
	rewrite func(statement string) string

	// forgetful repeats a transaction without looking for writes of an earlier attempt. Only
	// tests set it, to prove that they detect such a fault.
	forgetful bool
}

// Open opens the store in the database at an address, a URL such as
// "postgres://carrel@db.example.org/carrel". Parameters that the URL lacks are taken from the
// environment variables of PostgreSQL, such as PGPASSWORD and PGPASSFILE. Errors do not contain
// passwords.
func Open(ctx context.Context, address string, opts *Options) (store.Database, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, address, opts, steps)
	if err != nil {
		return nil, err // not s: a nil *database in an interface is not nil
	}
	return s, nil
}

func open(ctx context.Context, address string, opts *Options, steps []migration) (*database, error) {
	o := opts.complete()
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, &addressError{err}
	}
	s := &database{address: withoutPassword(address), patience: o.Patience, steps: steps}
	switch {
	case o.Conns > 0:
		config.MaxConns = int32(min(o.Conns, 1<<20)) //nolint:gosec // min bounds it
	case !strings.Contains(address, "pool_max_conns="):
		config.MaxConns = DefaultConns
	}
	if o.ReadOnly {
		s.barred = &troubleError{Address: s.address, Kind: store.ErrReadOnly, Next: nextOpened}
	}
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "carrel"
	}
	if config.ConnConfig.ConnectTimeout <= 0 {
		config.ConnConfig.ConnectTimeout = max(o.Patience, defaultPatience)
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

// prepare checks the server and the role, migrates the schema, and checks row-level security.
func (s *database) prepare(ctx context.Context) error {
	if err := s.preflight(ctx); err != nil {
		return err
	}
	if s.barred != nil {
		return s.current(ctx)
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	return s.checkWalls(ctx)
}

// Close implements [store.Admin]. It waits for running transactions; later calls fail with
// [fs.ErrClosed].
func (s *database) Close() error {
	s.closed.Do(s.pool.Close)
	return nil
}

// Ready implements [store.Database]. It asks the server whether it can be written.
func (s *database) Ready(ctx context.Context) error {
	if s.barred != nil {
		return s.barred
	}
	return s.transact(ctx, noScope, reading, func(t *tx) error {
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
		var sessions, blocks, cells, artifacts, manifests int64
		err := s.transact(ctx, in(scope), reading, func(t *tx) error {
			t.row(`
				SELECT (SELECT count(*) FROM session WHERE scope = $1), (SELECT count(*) FROM block WHERE scope = $1),
					(SELECT count(*) FROM cell WHERE scope = $1), (SELECT count(*) FROM artifact WHERE scope = $1),
					(SELECT count(*) FROM manifest WHERE scope = $1)`,
				args(scope), &sessions, &blocks, &cells, &artifacts, &manifests)
			return nil
		})
		if err != nil {
			return nil, err
		}
		info.Sessions += sessions
		info.Blocks += blocks
		info.Cells += cells
		info.Artifacts += artifacts
		info.Manifests += manifests
	}
	err = s.transact(ctx, noScope, reading, func(t *tx) error {
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
	err = s.transact(ctx, noScope, reading, func(t *tx) error {
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

// Backup implements [store.Admin]. It fails with [errors.ErrUnsupported], because PostgreSQL has its
// own programs for backups.
func (s *database) Backup(context.Context, string) error {
	return &troubleError{Address: s.address, Kind: errors.ErrUnsupported, Next: "make a backup with pg_dump, or with the tools of the server"}
}

// isClosed reports whether an error means that the store was closed.
func isClosed(err error) bool {
	return errors.Is(err, puddle.ErrClosedPool) || errors.Is(err, fs.ErrClosed)
}
