package config

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// withVariables returns the settings of a user with variables.
func withVariables(t *testing.T, variables map[string]string) (*Settings, error) {
	t.Helper()
	w := newWorld(t, "", "", "")
	maps.Copy(w.vars, variables)
	return Load(w.sources(nil))
}

// Addresses of blobs that are wrong, or have a key in them, are refused.
func TestBlobsSetting(t *testing.T) {
	for address, want := range map[string]string{
		"":                                 "",
		"file:///var/lib/carrel/blobs":     "",
		"s3://texts":                       "",
		"s3://texts/carrel/eu?region=eu-1": "",
		"s3://texts?endpoint=http%3A%2F%2F127.0.0.1%3A9000": "",
		"/var/lib/carrel/blobs":                             "wants file:///directory",
		"file://host/blobs":                                 "wants file:///directory",
		"file:///blobs?region=eu-1":                         "wants file:///directory",
		"file://":                                           "wants file:///directory",
		"file:///":                                          "",
		"https://example.org/blobs":                         "wants file:///directory",
		"s3:///texts":                                       "wants file:///directory",
		"s3://key@texts":                                    "has a user or a key in it",
		"s3://texts?access_key=abc":                         "neither endpoint nor region",
		"s3://texts?endpoint=localhost":                     "a URL with a host and no more",
		"s3://texts/a%20b":                                  "the prefix in a bucket",
		"s3://T":                                            "the name of a bucket",
	} {
		_, err := withVariables(t, map[string]string{"CARREL_BLOBS": address})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

// A bucket needs keys, and the network; the keys are in no text of the settings.
func TestBucketNeedsKeysAndTheNetwork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "carrel.db")
	for want, variables := range map[string]map[string]string{
		"set AWS_ACCESS_KEY_ID": {},
		"forbid to connect":     {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "an amber heron", "CARREL_OFFLINE": "1"},
	} {
		variables["CARREL_BLOBS"] = "s3://texts"
		s, err := withVariables(t, variables)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range s.Values {
			if text := v.String(); strings.Contains(text, "heron") || strings.Contains(text, "AKIA") {
				t.Errorf("the settings have %s", text)
			}
		}
		_, err = s.Open(t.Context(), path, true)
		if problem := (*Error)(nil); !errors.As(err, &problem) || problem.Name != "blobs.url" || !strings.Contains(err.Error(), want) {
			t.Errorf("Open: %v, want %q", err, want)
		}
	}
}

// Bodies from blobs.min on are in the directory, and are found although the settings change.
func TestOpenWithBlobs(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "carrel.db")
	const scope governance.Scope = "test"
	write := func(variables map[string]string, id store.CellID) {
		t.Helper()
		settings, err := withVariables(t, variables)
		if err != nil {
			t.Fatal(err)
		}
		s, err := settings.Open(t.Context(), path, true)
		if err != nil {
			t.Fatal(err)
		}
		c := store.Cell{ID: id, Kind: store.CellText, Body: make([]byte, 1<<20)}
		c.Commit = digest.Commit(c.Salt, string(c.Kind), c.Body)
		_, err = s.Update(t.Context(), scope, &store.Update{Entry: store.Entry{ID: string(id), Time: time.UnixMilli(1)}, Cells: []store.Cell{c}})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	blobs := map[string]string{"CARREL_BLOBS": "file://" + filepath.ToSlash(dir)}
	if os.PathSeparator != '/' {
		blobs["CARREL_BLOBS"] = "file:///" + filepath.ToSlash(dir)
	}
	write(nil, "before")
	write(blobs, "during")
	write(nil, "after")
	if files, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(files) != 1 {
		t.Errorf("blobs: %q, %v; want one", files, err)
	}
	for _, tt := range []struct {
		variables map[string]string
		want      error // of the body in the blob
	}{{blobs, nil}, {nil, store.ErrUnreadable}} {
		settings, err := withVariables(t, tt.variables)
		if err != nil {
			t.Fatal(err)
		}
		s, err := settings.OpenReading(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[store.CellID]error{"before": nil, "during": tt.want, "after": nil} {
			for c, err := range s.Cells(t.Context(), scope, []store.CellID{id}) {
				if !errors.Is(err, want) || (err == nil) != (want == nil) || err == nil && len(c.Body) != 1<<20 {
					t.Errorf("cell %s: %v, want %v", id, err, want)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
