package demo

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
	driver "github.com/carrel-dev/carrel/store/postgres"
)

// onServer returns an opener of one database.
func onServer(t *testing.T) opener {
	address := postgres.New(t)
	return func(ctx context.Context, _ string) (store.Database, error) { return driver.Open(ctx, address, nil) }
}

// Both demonstrations pass their own checks in a database, too, and the conversations that
// they leave are the same, byte for byte.
func TestDemosOnPostgres(t *testing.T) {
	for name, demo := range map[string]func(ctx context.Context, out io.Writer, dir, program string, at opener) error{
		"the conversation": run, "the 847 artifacts": assemble,
	} {
		t.Run(name, func(t *testing.T) {
			at := onServer(t)
			files := make(map[string]map[string]string)
			for where, at := range map[string]opener{"a file": inFile, "a database": at} {
				dir := t.TempDir()
				var out bytes.Buffer
				if err := demo(t.Context(), &out, dir, "carrel", at); err != nil {
					t.Fatalf("%s: %v\n%s", where, err, out.String())
				}
				files[where] = left(t, dir)
			}
			if diff := cmp.Diff(files["a file"], files["a database"]); diff != "" || len(files["a file"]) == 0 {
				t.Errorf("what is left (-of a file +of a database):\n%s", diff)
			}
		})
	}
}

// left returns the files in a folder, but for those of the store.
func left(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, name := range names {
		if fi, err := os.Stat(name); err != nil || fi.IsDir() || strings.Contains(filepath.Base(name), ".db") {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(data)
	}
	return files
}
