package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// Backup copies the store at path into a new file, as [store.Admin] describes. Unlike [Open], it
// leaves a store with an older schema as it is, and the copy has that schema, too.
func Backup(ctx context.Context, path, to string) error {
	steps, err := migrations(migrationFiles)
	if err != nil {
		return err
	}
	s, err := open(ctx, path, &Options{ReadOnly: true}, steps)
	for isOlder(err) && len(steps) > 1 { // try it with the schema before
		steps = steps[:len(steps)-1]
		s, err = open(ctx, path, &Options{ReadOnly: true}, steps)
	}
	if err != nil {
		return err
	}
	return errors.Join(s.Backup(ctx, to), s.Close())
}

// isOlder reports whether err means that a store has an older schema.
func isOlder(err error) bool {
	e, ok := errors.AsType[*troubleError](err)
	return ok && e.Next == nextUpgrade
}

// Backup implements [store.Admin]. The copy is one compact file of mode 0600, which is on the
// disk when Backup returns. Backup opens the copy and checks that it is a store with the right
// schema; [Restore] checks its content.
func (s *database) Backup(ctx context.Context, path string) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	// SQLite accepts an existing empty file, and this one has the right mode from the start.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path)) // the incomplete copy
		}
	}()
	err = s.copyTo(ctx, path)
	if err := errors.Join(err, f.Sync(), f.Close(), syncDir(filepath.Dir(path))); err != nil {
		return err
	}
	return s.probe(ctx, path)
}

// copyTo copies the database into the empty file at path. It uses a connection of its own, because
// SQLite does not allow VACUUM INTO on a read-only connection.
func (s *database) copyTo(ctx context.Context, path string) error {
	db, err := connect(s.path, s.busy, s.how)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, vacuumInto, path)
	return errors.Join(s.explain(err), db.Close())
}

// probe returns an error unless the file at path is a store with the schema of s.
func (s *database) probe(ctx context.Context, path string) error {
	db, err := connect(path, 0, nil, "query_only(1)")
	if err != nil {
		return err
	}
	return withConn(ctx, db, func(conn *sql.Conn) error {
		schema, err := identify(ctx, conn, path, len(s.steps))
		if err == nil && schema != len(s.steps) {
			err = fmt.Errorf("%s has schema %d, not %d: %w", path, schema, len(s.steps), store.ErrCorrupt)
		}
		return err
	})
}

// A damageError means that a backup was not restored because Check found problems in it. It
// matches [store.ErrCorrupt].
type damageError struct {
	Path     string
	Problems []string // problems that Check found
}

func (e *damageError) Error() string {
	return fmt.Sprintf("%s: %v: %d problems, first: %s", e.Path, store.ErrCorrupt, len(e.Problems), e.Problems[0])
}

// Is makes errors.Is(e, store.ErrCorrupt) true.
func (e *damageError) Is(target error) bool { return target == store.ErrCorrupt }

// An Inventory has the size of a store and the time of its last change.
type Inventory struct {
	Sessions  int
	Artifacts int
	Newest    time.Time // time of the last change; zero if there is none
}

// A Comparison describes a backup, and what the present store would lose if the backup
// replaced it.
type Comparison struct {
	Backup  Inventory
	Present *Inventory // nil if there is no store, or none that can be read

	LostSessions  int // sessions that the backup does not have
	OlderSessions int // sessions with fewer changes in the backup
	LostVersions  int // updates of artifacts, in all scopes, that the backup does not have
	LostCalls     int // calls to models, in all scopes, that the backup does not have
}

// Compare compares a backup with the store at path. It writes to neither.
func Compare(ctx context.Context, backup, path string) (*Comparison, error) {
	old, err := readCensus(ctx, backup, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return nil, err
	}
	c := &Comparison{Backup: old.Inventory}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	now, err := readCensus(ctx, path, url.Values{"mode": {"ro"}})
	if err != nil {
		return c, ctx.Err() // the store may be damaged, which may be the reason for the restore
	}
	c.Present = &now.Inventory
	for key, revision := range now.revisions {
		switch was, ok := old.revisions[key]; {
		case !ok:
			c.LostSessions++
		case was < revision:
			c.OlderSessions++
		}
	}
	for scope, version := range now.versions {
		c.LostVersions += max(0, version-old.versions[scope])
	}
	for scope, calls := range now.calls {
		c.LostCalls += max(0, calls-old.calls[scope])
	}
	return c, nil
}

// A census has the figures of one store. Compare compares the censuses of two stores.
type census struct {
	Inventory

	revisions map[[2]string]int // by scope and session
	versions  map[string]int    // by scope
	calls     map[string]int    // number of calls, by scope
}

// readCensus reads the census of the store at path. It supports schemas from version 2.
func readCensus(ctx context.Context, path string, how url.Values) (_ *census, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	s := &database{path: path}
	defer func() { err = s.explain(err) }()
	if err := empty(path); err != nil {
		return nil, err
	}
	db, err := connect(path, 0, how, "query_only(1)")
	if err != nil {
		return nil, err
	}
	c := &census{revisions: make(map[[2]string]int), versions: make(map[string]int), calls: make(map[string]int)}
	if err := withConn(ctx, db, func(conn *sql.Conn) error { return c.read(ctx, conn) }); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *census) read(ctx context.Context, conn *sql.Conn) error {
	var newest int64
	if err := conn.QueryRowContext(ctx, selectHolding).Scan(&c.Artifacts, &newest); err != nil {
		return err
	}
	if newest > 0 {
		c.Newest = timeOf(newest)
	}
	err := eachOf(ctx, conn, func(rows *sql.Rows) error {
		var key [2]string
		var revision int
		err := rows.Scan(&key[0], &key[1], &revision)
		c.revisions[key] = revision
		return err
	}, selectRevisions)
	if err != nil {
		return err
	}
	c.Sessions = len(c.revisions)
	if err := eachOf(ctx, conn, collectNumbers(c.versions), selectVersions); err != nil {
		return err
	}
	var counted bool // until schema 7 there were no calls
	if err := conn.QueryRowContext(ctx, selectCounted).Scan(&counted); err != nil || !counted {
		return err
	}
	return eachOf(ctx, conn, collectNumbers(c.calls), selectCallNumbers)
}

// collectNumbers returns a function that adds the name and the number in a row to the map into.
func collectNumbers(into map[string]int) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var name string
		var number int
		err := rows.Scan(&name, &number)
		into[name] = number
		return err
	}
}

// Restore replaces or creates the store at path with a copy of a backup. It first checks the copy
// as [store.Admin] describes Check, and fails with a [store.ErrCorrupt] if there are problems. The
// replacement is atomic, and the backup stays unchanged.
//
// If a store exists at path, Restore fails with [fs.ErrExist] unless force is set, and with
// [store.ErrBusy] if another process has it open. The caller must see to it that no process opens
// it during Restore.
func Restore(ctx context.Context, backup, path string, force bool) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil && !force {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	if fi, err := os.Stat(backup + "-wal"); err == nil && fi.Size() > 0 {
		return fmt.Errorf("%s is a store that is open or was not closed, and part of it is in %s: make a backup of it and restore that",
			backup, filepath.Base(backup)+"-wal")
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, ".restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	sound := filepath.Join(temp, "store")
	if err := copyFile(sound, backup); err != nil {
		return err
	}
	if err := verify(ctx, sound, backup); err != nil {
		return err
	}
	if err := retire(ctx, path); err != nil {
		return err
	}
	if err := os.Rename(sound, path); err != nil {
		return err
	}
	return syncDir(dir)
}

// copyFile copies the file from to the new file to, which gets mode 0600, and flushes it to the
// disk.
func copyFile(to, from string) (err error) {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Sync(), dst.Close())
}

// verify checks the copy of a backup and brings its schema up to date.
func verify(ctx context.Context, path, backup string) error {
	if fi, err := os.Stat(path); err != nil {
		return err
	} else if fi.Size() <= 1 { // see empty
		return fmt.Errorf("%s is empty: %w", backup, store.ErrCorrupt)
	}
	s, err := Open(ctx, path, nil)
	if err != nil {
		return fmt.Errorf("backup %s: %w", backup, err)
	}
	problems, err := s.Check(ctx)
	if err := errors.Join(err, s.Close()); err != nil {
		return fmt.Errorf("backup %s: %w", backup, err)
	}
	if len(problems) > 0 {
		return &damageError{backup, problems}
	}
	return nil
}

// retire prepares the store at path, if there is one, for its replacement. It fails with
// [store.ErrBusy] if the store is open elsewhere, unless the store is so damaged that SQLite cannot
// tell. It removes the files -wal and -shm, which SQLite would otherwise apply to the new store.
func retire(ctx context.Context, path string) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return removeLogs(path)
	}
	db, err := connect(path, 0, nil)
	if err != nil {
		return err
	}
	// SQLite leaves WAL mode only if no other connection is open.
	var mode string
	err = (&database{path: path}).explain(db.QueryRowContext(ctx, setDelete).Scan(&mode))
	err = errors.Join(err, db.Close())
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	return removeLogs(path)
}

func removeLogs(path string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
