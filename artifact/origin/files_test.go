package origin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/artifact"
)

// write creates files below a folder, by path.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// symlink creates a symbolic link, or skips the test if the system has none.
func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	top := t.TempDir()
	write(t, top, map[string]string{
		"one/a.md": "first\n", "one/sub/b.md": "sub\n", "one/C# notes.md": "sharp\n", "one/big": strings.Repeat("x", 101),
		"one/full": strings.Repeat("y", 100), "one/empty": "", "one/latin": "\xe9", "one/100%.md": "percent\n",
		"two/a.md": "second\n", "two/only.md": "two\n", "two/sub": "a file\n",
		"secret": "secret\n", "one-more/c.md": "beside\n",
	})
	one, two := filepath.Join(top, "one"), filepath.Join(top, "two")
	symlink(t, "a.md", filepath.Join(one, "inside"))
	symlink(t, "sub", filepath.Join(one, "folder"))
	symlink(t, filepath.Join("..", "secret"), filepath.Join(one, "outside"))
	symlink(t, filepath.Join(top, "secret"), filepath.Join(one, "absolute"))
	symlink(t, filepath.Join("..", "two"), filepath.Join(one, "neighbor"))
	symlink(t, "loop", filepath.Join(one, "loop"))
	symlink(t, "nowhere", filepath.Join(one, "dangling"))
	files := &folders{Options{Files: []string{one, two}, Limit: 100}.complete()}
	abs := filepath.ToSlash(top)
	for _, tt := range []struct {
		name string
		ref  string
		want string
		kind error
		says string
	}{
		{"a file", "file:a.md", "first\n", nil, ""},
		{"a file below", "file:sub/b.md", "sub\n", nil, ""},
		{"a file of the second folder", "file:only.md", "two\n", nil, ""},
		{"an absolute path", "file:" + abs + "/two/a.md", "second\n", nil, ""},
		{"an absolute path as a URL", "file://" + urlPath(abs) + "/one/C%23%20notes.md", "sharp\n", nil, ""},
		{"an absolute path of this host", "file://localhost" + urlPath(abs) + "/one/a.md", "first\n", nil, ""},
		{"a name with a sharp", "file:C# notes.md", "sharp\n", nil, ""},
		{"a name with a percent sign", "file:100%.md", "percent\n", nil, ""},
		{"dots that stay inside", "file:sub/../a.md", "first\n", nil, ""},
		{"a link inside", "file:inside", "first\n", nil, ""},
		{"a link to a folder inside", "file:folder/b.md", "sub\n", nil, ""},
		{"a file as large as the limit", "file:full", strings.Repeat("y", 100), nil, ""},
		{"an empty file", "file:empty", "", nil, ""},
		{"a file above the limit", "file:big", "", artifact.ErrForbidden, SettingLimit},
		{"a file that is not UTF-8", "file:latin", "", artifact.ErrForbidden, "UTF-8"},
		{"no such file", "file:missing", "", artifact.ErrGone, "file:missing"},
		{"no such folder", "file:missing/a.md", "", artifact.ErrGone, ""},
		{"a file as a folder", "file:a.md/x", "", artifact.ErrGone, ""},
		{"a dangling link", "file:dangling", "", artifact.ErrGone, ""},
		{"a folder", "file:sub", "", artifact.ErrForbidden, "folder"},
		{"the root itself", "file:.", "", artifact.ErrForbidden, "folder"},
		{"a link in a loop", "file:loop", "", artifact.ErrUnavailable, ""},
		{"a link out of the folder", "file:outside", "", artifact.ErrForbidden, SettingFiles},
		{"an absolute link", "file:absolute", "", artifact.ErrForbidden, SettingFiles},
		{"a link to another folder that is allowed", "file:neighbor/a.md", "", artifact.ErrForbidden, SettingFiles},
		{"dots", "file:../secret", "", artifact.ErrForbidden, SettingFiles},
		{"dots later", "file:sub/../../secret", "", artifact.ErrForbidden, SettingFiles},
		{"dots in an absolute path", "file:" + abs + "/one/../secret", "", artifact.ErrForbidden, SettingFiles},
		{"dots in a URL", "file://" + urlPath(abs) + "/one/%2e%2e/secret", "", artifact.ErrForbidden, SettingFiles},
		{"an absolute path outside", "file:" + abs + "/secret", "", artifact.ErrForbidden, SettingFiles},
		{"a folder whose name begins like one that is allowed", "file:" + abs + "/one-more/c.md", "", artifact.ErrForbidden, SettingFiles},
		{"another host", "file://host/a.md", "", artifact.ErrForbidden, "another host"},
		{"a URL that does not parse", "file:///a%zz", "", artifact.ErrForbidden, "%zz"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := files.Fetch(t.Context(), artifact.Ref(tt.ref), nil)
			check(t, f, err, tt.want, tt.kind, tt.says)
		})
	}

	t.Run("what the caller has", func(t *testing.T) {
		f, err := files.Fetch(t.Context(), "file:a.md", has("first\n"))
		check(t, f, err, "=", nil, "")
		f, err = files.Fetch(t.Context(), "file:a.md", has("older\n"))
		check(t, f, err, "first\n", nil, "")
	})
	t.Run("what an error says", func(t *testing.T) {
		_, err := files.Fetch(t.Context(), "file:none.md", nil)
		if want := "file:none.md: no longer there: no such file or directory"; runtime.GOOS == "linux" && (err == nil || err.Error() != want) {
			t.Errorf("a file that is not there: %v, want %s", err, want)
		}
	})
	t.Run("no folders", func(t *testing.T) {
		f, err := (&folders{new(Options)}).Fetch(t.Context(), "file:a.md", nil)
		check(t, f, err, "", artifact.ErrForbidden, SettingFiles)
	})
	t.Run("a folder that is not there", func(t *testing.T) {
		f, err := (&folders{Options{Files: []string{filepath.Join(top, "three")}}.complete()}).Fetch(t.Context(), "file:a.md", nil)
		check(t, f, err, "", artifact.ErrUnavailable, SettingFiles)
	})
	t.Run("a folder that is not there, and one that is", func(t *testing.T) {
		both := &folders{Options{Files: []string{filepath.Join(top, "three"), one}}.complete()}
		f, err := both.Fetch(t.Context(), "file:a.md", nil)
		check(t, f, err, "first\n", nil, "")
		f, err = both.Fetch(t.Context(), "file:none.md", nil)
		check(t, f, err, "", artifact.ErrUnavailable, "three")
	})
	t.Run("a call that was canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f, err := files.Fetch(ctx, "file:a.md", nil)
		check(t, f, err, "", artifact.ErrUnavailable, "canceled")
	})
}

// urlPath returns an absolute path in URL notation.
func urlPath(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path // on Windows
}

// A file of /proc looks regular, and holds the environment.
func TestFilesRefusesProc(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has such files")
	}
	for _, ref := range []artifact.Ref{"file:self/environ", "file:/proc/self/environ", "file:version"} {
		f, err := (&folders{Options{Files: []string{"/proc"}}.complete()}).Fetch(t.Context(), ref, nil)
		check(t, f, err, "", artifact.ErrForbidden, "kernel")
	}
	f, err := (&folders{Options{Files: []string{"/dev"}}.complete()}).Fetch(t.Context(), "file:zero", nil)
	check(t, f, err, "", artifact.ErrForbidden, "not a regular file")
}

// FuzzFiles checks that no path leads outside the folder.
func FuzzFiles(f *testing.F) {
	top := f.TempDir()
	root := filepath.Join(top, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		f.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(root, "in"): "inside", filepath.Join(top, "secret"): "secret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	files := &folders{Options{Files: []string{root}}.complete()}
	for _, s := range []string{
		"in", "./in", "../secret", "x/../in", "..//secret", "/secret", "//../secret", "///secret", "..\\secret",
		"%2e%2e/secret", "//localhost/%2e%2e/secret", "in/../../secret", "\x00", "...", "in/",
	} {
		f.Add(s)
		f.Add(filepath.ToSlash(root) + "/" + s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := files.Fetch(t.Context(), artifact.Ref("file:"+s), nil)
		if err == nil && string(got.Content) != "inside" {
			t.Fatalf("file:%s served %q", s, got.Content)
		}
		if err != nil && !errors.Is(err, artifact.ErrGone) && !errors.Is(err, artifact.ErrForbidden) && !errors.Is(err, artifact.ErrUnavailable) {
			t.Fatalf("file:%s: %v, of no kind", s, err)
		}
	})
}
