package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
)

// settingsOf returns the settings of a user without files, with the given flags.
func settingsOf(t *testing.T, flags map[string]string) *Settings {
	t.Helper()
	s, err := Load(newWorld(t, "", "", "").sources(flags))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A command that only reads creates no file; one that writes creates it.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "carrel.db")
	settings := settingsOf(t, nil)
	s, err := settings.Open(t.Context(), path, false)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := s.Info(t.Context()); err != nil || info.Driver != "memory" {
		t.Errorf("opened %+v, %v, want an empty store in memory", info, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made a file: %v", err)
	}
	for _, create := range []bool{true, false} {
		if s, err = settings.Open(t.Context(), path, create); err != nil {
			t.Fatal(err)
		}
		info, err := s.Info(t.Context())
		if err != nil || info.Driver != "sqlite" || info.Path != path {
			t.Errorf("opened %+v, %v, want the file at %s", info, err, path)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The URL of a database is used unchanged, from any source, and opens that database.
func TestOpenDatabase(t *testing.T) {
	address := postgres.New(t)
	if _, err := settingsOf(t, nil).OpenReading(t.Context(), address); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an empty database was opened for reading: %v, want ErrNotFound", err)
	}
	for name, s := range map[string]*Settings{
		"a flag": settingsOf(t, map[string]string{"--store": address}),
		"a file": func() *Settings {
			s, err := loadUser(t, "store = '"+address+"'")
			if err != nil {
				t.Fatal(err)
			}
			return s
		}(),
	} {
		place, err := s.Store()
		if err != nil || place != address || !Exists(place) {
			t.Fatalf("%s: the store is %q, %v, want %q", name, place, err, address)
		}
		db, err := s.Open(t.Context(), place, false)
		if err != nil {
			t.Fatal(err)
		}
		info, err := db.Info(t.Context())
		if err != nil || info.Driver != "postgres" {
			t.Errorf("%s: opened %+v, %v", name, info, err)
		}
		if err := errors.Join(db.Ready(t.Context()), db.Close()); err != nil {
			t.Error(err)
		}
		if file, err := s.CredentialKey(); err == nil || !strings.Contains(err.Error(), "credential.key_file: is not set") {
			t.Errorf("%s: the key is in %q, %v, want it to be named", name, file, err)
		}
		reading, err := s.OpenReading(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		err = reading.AddCredential(t.Context(), &store.Credential{ID: "x", Hash: make([]byte, store.HashSize), Actor: "a", Created: time.Unix(0, 0)})
		if !errors.Is(err, store.ErrReadOnly) || reading.Close() != nil {
			t.Errorf("%s: a store that is open for reading was written: %v", name, err)
		}
		if _, err := Compare(t.Context(), "backup", place); err == nil || !strings.Contains(err.Error(), "pg_restore") {
			t.Errorf("%s: a backup of a database: %v", name, err)
		}
	}
	offline := settingsOf(t, map[string]string{"--store": address, "--offline": "true"})
	if _, err := offline.Open(t.Context(), address, true); err == nil || !strings.Contains(err.Error(), "forbid to connect") {
		t.Errorf("offline: %v, want it forbidden", err)
	}
}

// A URL is printed, so it must contain no password, and a project's file must not set it.
func TestAddressesThatAreRefused(t *testing.T) {
	const secret = "hunter2"
	for _, tt := range []struct{ name, address, want string }{
		{"a password", "postgres://ada:" + secret + "@db.example.org/carrel", "has a password in it"},
		{"a password as a parameter", "postgresql://ada@db.example.org/carrel?sslmode=require&password=" + secret, "has a password in it"},
		{"the password of a key", "postgres://ada@db.example.org/carrel?sslpassword=" + secret, "has a password in it"},
		{"what cannot be taken apart", "postgres://ada:" + secret + "/x@db.example.org:port/carrel", "wants the address of a database"},
	} {
		_, fromFile := loadUser(t, "store = '"+tt.address+"'")
		_, fromFlag := Load(newWorld(t, "", "", "").sources(map[string]string{"--store": tt.address}))
		for where, err := range map[string]error{"config.toml:1": fromFile, "--store": fromFlag} {
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), where) {
				t.Errorf("%s: %v, want %q at %s", tt.name, err, tt.want, where)
			} else if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error shows the password: %v", tt.name, err)
			}
		}
	}
	_, err := Load(newWorld(t, "", "store = 'postgres://ada@db.example.org/carrel'\n", "").sources(nil))
	if err == nil || !strings.Contains(err.Error(), "the settings of a project cannot choose") {
		t.Errorf("a project's file: %v, want it refused", err)
	}
}
