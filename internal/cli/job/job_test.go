package job

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/store"
)

// A dryRunStore refuses the changes that a store refuses.
func TestRehearsalValidates(t *testing.T) {
	dir := t.TempDir()
	env := &Env{Terminal: out.Terminal{
		Now:    func() time.Time { return time.Unix(0, 0) },
		Getenv: func(name string) string { return map[string]string{"HOME": dir}[name] },
	}, Dir: dir}
	err := New(env).With(t.Context(), false, func(a *Access) error {
		_, err := dryRunStore{a.Store}.Update(context.Background(), a.Scope, &store.Update{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "has no id") {
		t.Errorf("an update without an entry: %v", err)
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a/b", true},
		{"/a/b", "/a/b/", true},
		{"/a/b/c", "/a/b", true},
		{"/a/bc", "/a/b", false},
		{"/a", "/a/b", false},
		{"", "/a", false},
		{`C:\a\b`, `C:\a`, true},
	} {
		if got := Within(tt.path, tt.dir); got != tt.want {
			t.Errorf("within(%q, %q) = %v, want %v", tt.path, tt.dir, got, tt.want)
		}
	}
}
