// Package sqlite is a [store.Database] in one file, on SQLite.
//
// [Open] makes the file, mode 0600, if it is not there, and brings its schema
// up to date. A file that cannot be written is opened for reading. A backup is one file
// of mode 0600, which [Restore] brings back.
//
// # Durability
//
// The journal mode is WAL with synchronous = FULL: Apply returns after the
// log has reached the disk. Changes that come at the same time share a
// transaction, a savepoint each, and so share the wait for the disk; each is
// acknowledged after the COMMIT and never before.
//
// # Concurrency
//
// A store is safe for concurrent use. It writes on one connection and reads
// on others, which it opens as iterations need them, and each of which keeps the
// statements that it has prepared. Several processes may
// have the file open, on one machine; who finds it locked waits, 5 seconds
// unless [Options] say otherwise, and then gets [store.ErrBusy]. An iteration
// that is not finished keeps the log from being cut short, so that the file
// beside the database grows until it ends.
//
// # Errors
//
// What is wrong with the disk, or with who may do what with the file, is a
// troubleError that names the file and what to do. Besides those of package store:
// [ErrForeign] for another program's database,
// and [store.SchemaError] for one of a newer Carrel. What is wrong with the file
// itself is a [store.ErrCorrupt] that names it. None of them writes anything.
//
// # What may be found where
//
// The text of a cell is checked against its commitment whenever it is read, and each row
// and each list against an imprint that was made when it was written: what is not as it
// was written, or is missing, is a [store.ErrCorrupt]. The one exception are the indexes of
// words: what is missing in them hides a hit, and only Check tells.
//
// The index of words holds no text that could be read back, but it does hold
// the words: treat the file as you treat what is in it.
//
// # The index of blocks
//
// Each transaction adds a segment of postings, see package internal/postings, of what its
// changes make findable: nothing is to be brought up to date, and what two processes write is
// in one index. A scope has segments of its own. Of eight of about one size, one is made, so
// that a search reads a page of each of a few segments for each word, however many blocks
// there are. Segments that turn out to be damaged then stay as they are: that bars no change,
// and a search tells of it.
//
// # What is purged
//
// What is purged is overwritten in the file, its words are written out of the
// index, and the log is emptied, all before Update returns. While somebody reads what
// was there before, the log may hold it until a later update, or until the store is
// closed. So it is with a change that erases what a session
// has besides cells. Merging takes the longer the more artifacts, or blocks, all
// scopes have: purge many cells at once rather than one by one. What a file system
// or a disk keeps of what was overwritten is beyond this package.
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

// ErrForeign means that a file is a database of some other program.
var ErrForeign = errors.New("database of another program")

// oldestEngine is the first release in which the log cannot be reset under a
// reader, which could damage any database with two connections.
var oldestEngine = [3]int{3, 51, 3}

// Options adjusts a store. The zero value of every field is a sensible
// default, so a nil *Options is too.
type Options struct {
	// BusyTimeout is how long to wait for a lock of another process.
	// The default is 5 seconds.
	BusyTimeout time.Duration

	// Readers is how many connections for reading are kept open between uses, until
	// nobody has used them for a minute or two. The default is [DefaultReaders]. It is no limit on how many there are
	// at once: an iteration has one for as long as it lasts, and whoever iterates may
	// read meanwhile, so that with a limit all could wait for one another.
	Readers int
}

// DefaultReaders is how many connections for reading are kept open by default: as many
// as there are jobs that a server does at once.
const DefaultReaders = 64

const (
	idleReader = time.Minute // how long a connection for reading is kept that nobody uses

	// The pages that connections keep in memory, in KiB: of one, and of all for reading
	// that are kept.
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

// A database is a file that is open.
type database struct {
	path    string
	file    fs.FileInfo // which the path named when it was opened
	how     url.Values  // to open it: nil, or for reading only
	barred  error       // why it was opened for reading only, or nil
	version string      // of the engine
	steps   []migration // that made the schema
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

// Open opens the store at path and makes it, and the directory, if they are
// not there. A directory that it makes has mode 0700.
func Open(ctx context.Context, path string, opts *Options) (store.Database, error) {
	steps, err := migrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, path, opts, steps)
	if err != nil {
		return nil, err // and no store that is nil
	}
	return s, nil
}

func open(ctx context.Context, path string, opts *Options, steps []migration) (_ *database, err error) {
	o := opts.complete()
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
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

// giveUp closes the connections of a store that could not be opened, and explains why.
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
	if !writable(path) { // the engine would find out when it writes
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

// openReading opens a store that cannot be written. Where the files beside it cannot be
// made, it reads the file alone, as it is. What is to be written fails with the reason.
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
	close(s.written) // nothing ever is
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

// create makes a new store, if there is none, and its directory. It is whole when the
// path names it, so that an empty file is never a store that is about to be one.
func create(ctx context.Context, path string, busy time.Duration, steps []migration) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it, who opens it finds out
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
	if err := os.Link(made, path); err != nil && !errors.Is(err, fs.ErrExist) { // else another was first
		return err
	}
	return syncDir(dir)
}

// makeNew makes a store in a file that is not there.
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

// withConn calls f with a connection of a pool, and closes both.
func withConn(ctx context.Context, db *sql.DB, f func(conn *sql.Conn) error) (err error) {
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return f(conn)
}

// connect returns a pool of connections to the database at path, an absolute
// one, to be opened in a way. Nothing is opened yet.
func connect(path string, busy time.Duration, how url.Values, pragmas ...string) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // of a drive
	}
	query := url.Values{
		"_pragma": append([]string{
			"synchronous(FULL)",
			"foreign_keys(ON)",
			"trusted_schema(OFF)",
			"cell_size_check(ON)",
			"mmap_size(0)",
			"temp_store(MEMORY)", // and no text in a directory that others use
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

// cacheSize returns the pragma that says how many KiB of pages a connection keeps.
func cacheSize(kib int) string { return fmt.Sprintf("cache_size(-%d)", kib) }

// checkEngine reports whether the version of SQLite is one to trust.
func checkEngine(version string) error {
	var have [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &have[0], &have[1], &have[2]); err != nil {
		return fmt.Errorf("version %q of SQLite: %w", version, err)
	}
	for i, want := range oldestEngine {
		switch {
		case have[i] > want:
			return nil
		case have[i] < want:
			return fmt.Errorf("SQLite %s can damage a database that is written and read at once: %d.%d.%d or newer is needed",
				version, oldestEngine[0], oldestEngine[1], oldestEngine[2])
		}
	}
	return nil
}

// walPause is how long to wait before turning to write-ahead logging is tried again.
const walPause = 5 * time.Millisecond

// turnToWAL turns to write-ahead logging. While somebody else reads a file that has no
// log yet, or turns to one as well, the engine refuses that without waiting; then it is
// tried again, until it has taken about as long as a lock is waited for.
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

// useWAL turns to write-ahead logging, at once or not at all.
func useWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, setWAL).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the journal mode is %s, and no write-ahead log can be had here", mode)
	}
	return nil
}

// Close implements [store.Store]. Changes that wait are refused with
// [fs.ErrClosed]; what is being written is finished.
func (s *database) Close() error {
	s.once.Do(func() {
		close(s.closing)
		<-s.written
		s.closed = s.explain(s.closeFiles())
	})
	return s.closed
}

// closeFiles closes the connections, those that read first: the last to go
// clears the log away.
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

// explain turns an error of the engine into one of package store, if there is
// one that says what happened.
func (s *database) explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &troubleError{Path: s.path, Kind: store.ErrFull, Next: nextFull, cause: err}
	}
	if errors.Is(err, syscall.EROFS) {
		return &troubleError{Path: s.path, Kind: store.ErrReadOnly, Next: nextReadOnly, cause: err}
	}
	e, ok := errors.AsType[*engine.Error](err)
	if _, told := errors.AsType[*troubleError](err); !ok || told {
		return err
	}
	if err := s.storeError(e); err != nil {
		return err
	}
	switch e.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", store.ErrBusy, err)
	case codes.SQLITE_NOTADB:
		return fmt.Errorf("%s is no database: %w: %w", s.path, store.ErrCorrupt, err)
	case codes.SQLITE_CORRUPT, codes.SQLITE_FORMAT,
		codes.SQLITE_ERROR: // of a statement that is right for the schema that the file says it has
		return fmt.Errorf("%s: %w: %w", s.path, store.ErrCorrupt, err)
	default:
		return fmt.Errorf("%s: %w", s.path, err)
	}
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // it keeps them by itself, and cannot be asked to
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
