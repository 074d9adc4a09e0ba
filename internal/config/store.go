package config

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/postgres"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// IsAddress reports whether the place of a store is the URL of a database, not a path.
func IsAddress(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// readStore parses the place of a store: a path, or the URL of a database. It refuses a password,
// because settings are printed.
func readStore(l literal) (any, error) {
	text, err := readText(l)
	if err != nil || !IsAddress(l.text) {
		return text, err
	}
	u, err := url.Parse(l.text)
	if err != nil {
		return nil, errors.New("wants the address of a database, such as postgres://carrel@db.example.org/carrel")
	}
	_, secret := u.User.Password()
	for name := range u.Query() {
		secret = secret || strings.Contains(strings.ToLower(name), "password")
	}
	if secret {
		return nil, errors.New("has a password in it, which must not be printed: take it out, and set PGPASSWORD, or name a password file in PGPASSFILE")
	}
	return text, nil
}

// Place returns the place of a store that a command line names. An address stays as it is; any
// other name is passed to the function resolve, which returns a path. Place refuses an address with
// a password, as the setting does.
func Place(name string, resolve func(name string) string) (string, error) {
	if !IsAddress(name) {
		return resolve(name), nil
	}
	if _, err := readStore(literal{kind: unstable.String, text: name}); err != nil {
		return "", &Error{"the address of a store", err}
	}
	return name, nil
}

// Exists reports whether there is a store at a place. A database counts as existing, because
// opening it creates the tables.
func Exists(place string) bool {
	if IsAddress(place) {
		return true
	}
	_, err := os.Stat(place)
	return !errors.Is(err, fs.ErrNotExist)
}

// Open opens the store at a place for writing, and brings its schema up to date. If the file does
// not exist, Open creates it if create is true; otherwise it returns an empty store in memory, so
// that commands that only read leave no file. In a database it creates the tables in any case. The
// caller closes the store.
func (s *Settings) Open(ctx context.Context, place string, create bool) (store.Database, error) {
	if !Exists(place) && !create {
		return memory.New(), nil
	}
	return s.open(ctx, place, false)
}

// OpenReading opens the store at a place without changing it. It fails with [fs.ErrNotExist] or
// [store.ErrNotFound] if there is none, and with [store.ErrUnreadable] if its schema is older than
// that of this program. The caller closes the store.
func (s *Settings) OpenReading(ctx context.Context, place string) (store.Database, error) {
	return s.open(ctx, place, true)
}

func (s *Settings) open(ctx context.Context, place string, readOnly bool) (store.Database, error) {
	db, err := s.openDriver(ctx, place, readOnly)
	if err != nil {
		return nil, err
	}
	return s.withBlobs(db)
}

func (s *Settings) openDriver(ctx context.Context, place string, readOnly bool) (store.Database, error) {
	switch {
	case !IsAddress(place):
		return sqlite.Open(ctx, place, &sqlite.Options{Readers: get[int](s, "server.readers"), ReadOnly: readOnly})
	case s.Offline():
		return nil, &Error{"store", errors.New("it is on a server, and --offline, CARREL_OFFLINE or the settings forbid to connect: allow it, or name a file")}
	default:
		return postgres.Open(ctx, place, &postgres.Options{ReadOnly: readOnly})
	}
}

// InFile returns an error if a store is not a file, because a backup is a copy of a file.
func InFile(place string) error {
	if IsAddress(place) {
		return &Error{"store", errors.New("is in a database on a server: use what the server has for backups, such as pg_dump and pg_restore")}
	}
	return nil
}

// Compare returns what a restore of a backup would change in the store at path, as
// [sqlite.Compare] does.
func Compare(ctx context.Context, backup, path string) (*sqlite.Comparison, error) {
	if err := InFile(path); err != nil {
		return nil, err
	}
	return sqlite.Compare(ctx, backup, path)
}
