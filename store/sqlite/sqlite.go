// Package sqlite is a [store.Database] in one file, on SQLite.
//
// [Open] creates the file, with mode 0600, if it does not exist, and migrates its schema to the
// newest version. A file that cannot be written is opened for reading, as [Options].ReadOnly does:
// writes fail with [store.ErrReadOnly], and an older schema is refused. A backup is one file of
// mode 0600, which [Restore] puts in place of a store.
//
// # Durability
//
// The journal mode is WAL with synchronous = FULL: Apply returns after the write-ahead log has
// reached the disk. Changes that are submitted at the same time share a transaction, with one
// savepoint each, and so share the wait for the disk; each is acknowledged after the COMMIT and
// never before.
//
// # Concurrency
//
// A store is safe for concurrent use. It writes on one connection and reads on others, which it
// opens as iterations need them; each connection keeps the statements that it has prepared.
// Several processes on one machine may have the file open. A process that finds the file locked
// waits for [Options].BusyTimeout, 5 seconds by default, and then gets [store.ErrBusy]. An
// unfinished iteration keeps the write-ahead log from being truncated, so the log file grows
// until the iteration ends.
//
// # Errors
//
// Problems of the disk or of file permissions match [store.ErrFull], ErrReadOnly, ErrUnreadable,
// ErrFailing or ErrMoved; the text names the file and what to do. Besides the errors of package
// store there are [ErrForeign] for a database of another program and [store.SchemaError] for a
// store of a newer Carrel. Damage in the file itself is a [store.ErrCorrupt] that names the file,
// and a [NotStoreError] if it is no database. A call that fails with one of these errors writes
// nothing.
//
// # Detection of damage
//
// Every read checks the text of a cell against its commitment, and each row and each list
// against an imprint, a checksum made when it was written. A row that has changed or is missing
// is a [store.ErrCorrupt]. The one exception is the full-text index of artifacts: a word
// missing there hides a hit, and only Check reports it.
//
// The indexes of words do not hold text that could be read back, but they do hold the words:
// protect the file as you protect the text in it.
//
// # The index of blocks
//
// Each transaction adds a segment with the words of the blocks that it indexes. So the index is
// always up to date, and two processes write to the same index. Each scope has its own segments.
// When eight segments have about the same size they are merged into one, so a search reads one page
// in each of a few segments per word, however many blocks there are. A damaged segment is not
// merged: writes still succeed, and a search reports the damage.
//
// # Purging
//
// Purged text is overwritten in the file, its words are removed from the index, and the
// write-ahead log is emptied, all before Update returns. While a reader still reads the older
// state, the log may hold the text until a later update or until the store is closed. The same
// holds for a change that erases the contract, the rewrites and the index words of a session.
// Removing words takes longer the more artifacts, or blocks, all scopes have: purge many cells
// in one update rather than one by one. Copies that a file system or a disk keeps of
// overwritten data are beyond this package.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	engine "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/carrel-dev/carrel/store"
)

// A NotStoreError means that a file is not a database: it was never a store, or its first bytes were
// overwritten. It is a [store.ErrCorrupt].
type NotStoreError struct {
	Path  string
	Empty bool // the file has no bytes
}

func (e *NotStoreError) Error() string {
	if e.Empty {
		return e.Path + " is an empty file and not a store"
	}
	return e.Path + " is not a database"
}

// Is makes errors.Is(e, store.ErrCorrupt) true.
func (e *NotStoreError) Is(target error) bool { return target == store.ErrCorrupt }

// ErrForeign means that a file is a database of another program.
var ErrForeign = errors.New("database of another program")

// oldestEngine is the oldest accepted release of SQLite. In older releases the log can be reset
// under a reader, which could damage any database with two connections.
var oldestEngine = [3]int{3, 51, 3}

// Options configures a store. The zero value of a field selects its default, and so does a nil
// *Options.
type Options struct {
	// BusyTimeout is how long to wait for a lock that another process holds. The default is 5
	// seconds.
	BusyTimeout time.Duration

	// Readers is how many idle connections for reading are kept open; a connection unused for
	// one to two minutes is closed. The default is [DefaultReaders]. It does not limit how many
	// connections are open at once: an iteration holds one until it ends, and its consumer may
	// read meanwhile, so with a limit all could wait for one another.
	Readers int

	// ReadOnly opens an existing store for reading, without changing its file: a missing file is
	// not created, and a store with an older schema is refused with [store.ErrUnreadable].
	ReadOnly bool
}

// DefaultReaders is the default of [Options].Readers.
const DefaultReaders = 64

const (
	idleReader = time.Minute // how often idle connections for reading are closed

	// The size of the page caches, in KiB: of one connection, and of all idle connections for
	// reading together.
	pagesOfOne  = 8 << 10
	pagesOfIdle = 128 << 10
)

func (o *Options) complete() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.BusyTimeout <= 0 {
		c.BusyTimeout = 5 * time.Second
	}
	if c.Readers <= 0 {
		c.Readers = DefaultReaders
	}
	return c
}

// A database is an open file; it implements [store.Database].
type database struct {
	path    string
	file    fs.FileInfo // the file at path when it was opened
	how     url.Values  // parameters of the DSN: nil, or those for reading only
	barred  error       // why it was opened for reading only; nil if it can be written
	version string      // of SQLite
	steps   []migration // all migrations, in order
	busy    time.Duration
	readers *pool
	writers *sql.DB
	writer  *writer

	queue   chan *job
	closing chan struct{} // closed by Close
	written chan struct{} // closed when the writer has returned
	once    sync.Once
	closed  error
}

// Open opens the store at path. If it does not exist, Open creates it and its directory, which
// gets mode 0700. A nil opts selects the defaults.
func Open(ctx context.Context, path string, opts *Options) (store.Database, error) {
	steps, err := migrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, path, opts, steps)
	if err != nil {
		return nil, err // not s: a nil *database in an interface is not nil
	}
	return s, nil
}

func open(ctx context.Context, path string, opts *Options, steps []migration) (_ *database, err error) {
	o := opts.complete()
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		return openReading(ctx, path, &o, steps, &troubleError{Path: path, Kind: store.ErrReadOnly, Next: nextOpened})
	}
	if err := create(ctx, path, o.BusyTimeout, steps); err != nil {
		return nil, err
	}
	s, err := openWriting(ctx, path, &o, steps)
	if err == nil || !cannotWrite(err) {
		return s, err
	}
	return openReading(ctx, path, &o, steps, err)
}

func newStore(path string, o *Options, steps []migration) (*database, error) {
	file, err := os.Stat(path)
	if err == nil {
		err = empty(path)
	}
	return &database{
		path:    path,
		file:    file,
		steps:   steps,
		busy:    o.BusyTimeout,
		queue:   make(chan *job),
		closing: make(chan struct{}),
		written: make(chan struct{}),
	}, err
}

// giveUp closes the connections if *err is not nil, and turns *err into an error of package store.
func (s *database) giveUp(err *error) {
	if *err != nil {
		_ = s.closeFiles() // the error above tells more
		*err = s.explain(*err)
	}
}

func openWriting(ctx context.Context, path string, o *Options, steps []migration) (_ *database, err error) {
	s, err := newStore(path, o, steps)
	if err != nil {
		return nil, err
	}
	defer s.giveUp(&err)
	if !writable(path) { // SQLite would fail only at the first write
		return nil, &troubleError{Path: path, Kind: store.ErrReadOnly, Next: nextReadOnly}
	}
	if s.writers, err = connect(path, o.BusyTimeout, nil); err != nil {
		return nil, err
	}
	conn, err := s.writers.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s.writer = newWriter(conn, o.BusyTimeout)
	if err := conn.QueryRowContext(ctx, selectVersion).Scan(&s.version); err != nil {
		return nil, err
	}
	if err := checkEngine(s.version); err != nil {
		return nil, err
	}
	if _, err := identify(ctx, conn, path, len(steps)); err != nil {
		return nil, err
	}
	if err := turnToWAL(ctx, conn, o.BusyTimeout); err != nil {
		return nil, err
	}
	if err := migrate(ctx, conn, path, steps); err != nil {
		return nil, err
	}
	pages := min(pagesOfOne, pagesOfIdle/o.Readers)
	readers, err := connect(path, o.BusyTimeout, nil, "query_only(1)", cacheSize(pages))
	if err != nil {
		return nil, err
	}
	s.readers = &pool{db: readers, most: o.Readers}
	go s.write()
	return s, nil
}

// openReading opens a store that cannot be written, for the given reason. If the -wal and -shm
// files cannot be created beside it, openReading opens the file as immutable. Later writes fail
// with reason.
func openReading(ctx context.Context, path string, o *Options, steps []migration, reason error) (s *database, err error) {
	for _, how := range []url.Values{{"mode": {"ro"}}, {"mode": {"ro"}, "immutable": {"1"}}} {
		if how.Has("immutable") && hasLog(path) {
			return nil, &troubleError{Path: path, Kind: store.ErrUnreadable, Next: nextWAL, cause: reason}
		}
		if s, err = openReadingAs(ctx, path, how, o, steps); err == nil {
			s.barred = reason
		}
		if err == nil || !cannotWrite(err) {
			return s, err
		}
	}
	return nil, err
}

func openReadingAs(ctx context.Context, path string, how url.Values, o *Options, steps []migration) (_ *database, err error) {
	s, err := newStore(path, o, steps)
	if err != nil {
		return nil, err
	}
	defer s.giveUp(&err)
	s.how = how
	close(s.written) // there is no writer
	readers, err := connect(path, o.BusyTimeout, how, "query_only(1)")
	if err != nil {
		return nil, err
	}
	s.readers = &pool{db: readers, most: o.Readers}
	conn, err := readers.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.QueryRowContext(ctx, selectVersion).Scan(&s.version); err != nil {
		return nil, err
	}
	schema, err := identify(ctx, conn, path, len(steps))
	if err == nil && schema != len(steps) {
		err = &troubleError{Path: path, Kind: store.ErrUnreadable, Next: nextUpgrade}
	}
	return s, err
}

// create makes a new store and its directory, unless a file exists at path. The store is built
// elsewhere and linked to path when it is complete, so an empty file at path is never a store
// in the making.
func create(ctx context.Context, path string, busy time.Duration, steps []migration) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it reports what is wrong with it
	}
	dir := filepath.Dir(path)
	defer func() {
		if err != nil {
			err = (&database{path: path}).explain(err)
		}
	}()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, ".carrel-new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	made := filepath.Join(temp, "store")
	if err := makeNew(ctx, made, busy, steps); err != nil {
		return err
	}
	if err := os.Link(made, path); err != nil && !errors.Is(err, fs.ErrExist) { // if it exists, another process was first
		return err
	}
	return syncDir(dir)
}

// makeNew makes a store in a new file at path.
func makeNew(ctx context.Context, path string, busy time.Duration, steps []migration) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := connect(path, busy, nil)
	if err != nil {
		return err
	}
	return withConn(ctx, db, func(conn *sql.Conn) error {
		if err := migrate(ctx, conn, path, steps); err != nil {
			return err
		}
		return useWAL(ctx, conn)
	})
}

// withConn calls f with a connection of db, and then closes the connection and db.
func withConn(ctx context.Context, db *sql.DB, f func(conn *sql.Conn) error) (err error) {
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return f(conn)
}

// connect returns a pool of connections to the database at path, which is absolute. The values in
// how are additional parameters of the DSN. No connection is opened yet.
func connect(path string, busy time.Duration, how url.Values, pragmas ...string) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // path starts with a drive letter
	}
	query := url.Values{
		"_pragma": append([]string{
			"synchronous(FULL)",
			"foreign_keys(ON)",
			"trusted_schema(OFF)",
			"cell_size_check(ON)",
			"mmap_size(0)",
			"temp_store(MEMORY)", // no text in a shared temporary directory
			cacheSize(pagesOfOne),
			"secure_delete(ON)",
			"journal_size_limit(16777216)",
		}, pragmas...),
		"_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
	}
	maps.Copy(query, how)
	dsn := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	connector, err := engine.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// cacheSize returns the pragma that sets the size of the page cache of a connection, in KiB.
func cacheSize(kib int) string { return fmt.Sprintf("cache_size(-%d)", kib) }

// checkEngine returns an error if a version of SQLite is older than oldestEngine.
func checkEngine(version string) error {
	var have [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil {
		return fmt.Errorf("cannot parse version %q of SQLite: %w", version, err)
	}
	for i, want := range oldestEngine {
		switch {
		case have[i] > want:
			return nil
		case have[i] < want:
			return fmt.Errorf("SQLite %s can damage a database that is written and read at once: build with %d.%d.%d or newer",
				version, oldestEngine[0], oldestEngine[1], oldestEngine[2])
		}
	}
	return nil
}

// walPause is how long turnToWAL waits before it tries again.
const walPause = 5 * time.Millisecond

// turnToWAL sets the journal mode to WAL. While another connection reads a file that is not in WAL
// mode yet, or switches to it as well, SQLite refuses at once with SQLITE_BUSY. Then turnToWAL
// tries again, for the duration patience.
func turnToWAL(ctx context.Context, conn *sql.Conn, patience time.Duration) error {
	for waited := time.Duration(0); ; waited += walPause {
		err := useWAL(ctx, conn)
		if e, ok := errors.AsType[*engine.Error](err); !ok || e.Code()&0xff != codes.SQLITE_BUSY || waited >= patience {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(walPause):
		}
	}
}

// useWAL sets the journal mode to WAL, without waiting.
func useWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, setWAL).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the journal mode stays %s, and Carrel needs WAL: put the store on a local disk", mode)
	}
	return nil
}

// Close implements [store.Store]. Changes that still wait fail with [fs.ErrClosed]; a
// transaction that has begun is finished.
func (s *database) Close() error {
	s.once.Do(func() {
		close(s.closing)
		<-s.written
		s.closed = s.explain(s.closeFiles())
	})
	return s.closed
}

// closeFiles closes the connections, those for reading first: the last connection to close
// removes the log.
func (s *database) closeFiles() error {
	var errs []error
	if s.readers != nil {
		errs = append(errs, s.readers.close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close())
	}
	if s.writers != nil {
		errs = append(errs, s.writers.Close())
	}
	return errors.Join(errs...)
}

// explain turns an error of SQLite or of the system into an error of package store, if one fits.
func (s *database) explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &troubleError{Path: s.path, Kind: store.ErrFull, Next: nextFull, cause: err}
	}
	if errors.Is(err, syscall.EROFS) {
		return &troubleError{Path: s.path, Kind: store.ErrReadOnly, Next: nextReadOnly, cause: err}
	}
	e, ok := errors.AsType[*engine.Error](err)
	if _, explained := errors.AsType[*troubleError](err); !ok || explained {
		return err
	}
	if err := s.storeError(e.Code(), e); err != nil {
		return err
	}
	switch e.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	case codes.SQLITE_NOTADB:
		return &NotStoreError{Path: s.path}
	case codes.SQLITE_CORRUPT, codes.SQLITE_FORMAT,
		codes.SQLITE_ERROR: // the statements are right, so the schema is not what the file says
		return fmt.Errorf("%s: %w: %w", s.path, store.ErrCorrupt, err)
	default:
		return fmt.Errorf("%s: %w", s.path, err)
	}
}

// syncDir flushes the names in a directory to the disk.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there, and need not be
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
