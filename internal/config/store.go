package config

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/postgres"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// IsAddress reports whether the place of a store is the address of a database on a server,
// and no path.
func IsAddress(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// readStore reads the place of a store: a path, or the address of a database. It is shown, so
// it may hold no password.
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
		return nil, errors.New("has a password in it: settings are shown, so it may not: set PGPASSWORD, or name a password file in PGPASSFILE")
	}
	return text, nil
}

// Exists reports whether there is a store at a place. In a database there always is one: it
// is made when it is opened.
func Exists(place string) bool {
	if IsAddress(place) {
		return true
	}
	_, err := os.Stat(place)
	return !errors.Is(err, fs.ErrNotExist)
}

// Open opens the store at a place, a path or an address. If a file is not there, it is made
// if create is set; if not, an empty store takes its place that leaves nothing behind, so that
// what only reads writes nothing. The caller closes it.
func (s *Settings) Open(ctx context.Context, place string, create bool) (store.Database, error) {
	switch {
	case !Exists(place) && !create:
		return memory.New(), nil
	case !IsAddress(place):
		return sqlite.Open(ctx, place, &sqlite.Options{Readers: get[int](s, "server.readers")})
	case s.Offline():
		return nil, &Error{"store", errors.New("is on a server, and --offline, CARREL_OFFLINE or the settings forbid to connect: name a file with --store")}
	default:
		return postgres.Open(ctx, place, nil)
	}
}

// InFile returns an error if a store is not in a file, of which a backup is a copy.
func InFile(place string) error {
	if IsAddress(place) {
		return &Error{"store", errors.New("is in a database on a server: use what the server has for backups, such as pg_dump and pg_restore")}
	}
	return nil
}

// Compare says what a backup would bring back in the place of the store at path, as
// [sqlite.Compare] does.
func Compare(ctx context.Context, backup, path string) (*sqlite.Comparison, error) {
	if err := InFile(path); err != nil {
		return nil, err
	}
	return sqlite.Compare(ctx, backup, path)
}

// Restore puts a backup in the place of the store at path, as
// [sqlite.Restore] does.
func Restore(ctx context.Context, backup, path string, force bool) error {
	return sqlite.Restore(ctx, backup, path, force)
}
