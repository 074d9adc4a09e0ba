package job

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/cli/out"
)

// newTestJob returns a job whose home is a new folder.
func newTestJob(t *testing.T) (*Job, string) {
	t.Helper()
	home := t.TempDir()
	return New(&Env{Terminal: out.Terminal{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}, Dir: home}), home
}

// A file that is replaced keeps its mode, a new one is its owner's alone, and no other file is
// left behind, whether the writing succeeds or not.
func TestFilesArePlaced(t *testing.T) {
	j, home := newTestJob(t)
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	mode := func(name string) fs.FileMode {
		t.Helper()
		fi, err := os.Stat(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		return fi.Mode()
	}
	if err := os.WriteFile(filepath.Join(home, "old"), []byte("1"), 0o644); err != nil { //nolint:gosec // its mode is what is tested
		t.Fatal(err)
	}
	if err := os.Symlink("old", filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	if err := j.Place("new", []byte("2"), false); err != nil || read("new") != "2" || mode("new") != 0o600 {
		t.Errorf("new: %q, %v, %v", read("new"), mode("new"), err)
	}
	if err := j.Place("old", []byte("3"), false); !errors.Is(err, fs.ErrExist) || err.Error() != "old: the file exists; --force replaces it" || read("old") != "1" {
		t.Errorf("old: %q, %v, want that it stays", read("old"), err)
	}
	if err := j.Place("link", []byte("4"), true); err != nil || read("old") != "4" || mode("old") != 0o644 {
		t.Errorf("behind the link: %q, %v, %v", read("old"), mode("old"), err)
	}
	if fi, err := os.Lstat(filepath.Join(home, "link")); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link itself: %v, %v", fi, err)
	}
	for _, replace := range []bool{false, true} {
		if err := j.Place(".", []byte("5"), replace); err == nil || err.Error() != ".: is a folder: name a file in it" {
			t.Errorf("a folder: %v", err)
		}
	}
	if err := j.Place("absent/new", []byte("5"), true); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "open "+j.Path("absent/new")+": ") {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if err := j.Place("/dev/null", []byte("6"), false); err != nil {
		t.Errorf("a device: %v", err)
	}
	entries, err := os.ReadDir(home)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "link new old" || err != nil {
		t.Errorf("files are %s, %v, want link new old", got, err)
	}
}

func TestFilesThatMayBeWritten(t *testing.T) {
	j, home := newTestJob(t)
	claude := filepath.Join(home, ".claude", "projects", "p")
	for _, dir := range []string{claude, filepath.Join(home, "dir")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(home, "old"), filepath.Join(claude, "old.jsonl")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"lost": "nowhere", "away": claude} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	const (
		there   = "the file exists; --force replaces it"
		foreign = "the folder is that of the sessions of Claude Code, where carrel replaces nothing: name a file in another folder"
	)
	for _, tt := range []struct {
		o    Output
		says string // "" if it may be written
	}{
		{Output{}, ""},
		{Output{File: "-"}, ""},
		{Output{File: "new"}, ""},
		{Output{File: "old"}, there},
		{Output{File: filepath.Join(home, "old")}, there},
		{Output{File: "old", Force: true}, ""},
		{Output{File: "dir"}, ""},
		{Output{File: "lost"}, there},
		{Output{File: "lost", Force: true}, ""},
		{Output{File: "/dev/null"}, ""},
		{Output{File: ".claude/projects/p/new.jsonl"}, foreign},
		{Output{File: ".claude/projects/p/old.jsonl", Force: true}, foreign},
		{Output{File: ".claude/projects/p/new.jsonl", Begins: true}, ""},
		{Output{File: ".claude/projects/p/old.jsonl", Begins: true}, there},
		{Output{File: "away/deep/new.jsonl"}, foreign},
		{Output{File: ".claude/new.jsonl"}, ""},
	} {
		err := j.Free(tt.o)
		if got := errText(err); got != "" && tt.says == "" || !strings.HasSuffix(got, tt.says) {
			t.Errorf("%+v: %q, want %q", tt.o, got, tt.says)
		}
		if err != nil && Status(err) != 9 {
			t.Errorf("%+v: status %d, want 9", tt.o, Status(err))
		}
	}
	if got, want := hint(j.Foreign("away/new.jsonl")), "carrel export --as-new-session --to claudecode -o away"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
	if err := j.Write(Output{File: "a/b/new", Folder: "a/b"}, []byte("x")); err != nil {
		t.Errorf("in a folder to make: %v", err)
	}
	if err := j.Write(Output{File: "old"}, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	var stdout strings.Builder
	j.Stdout = &stdout
	for _, name := range []string{"", "-"} {
		if err := j.Write(Output{File: name}, []byte("x")); err != nil {
			t.Error(err)
		}
	}
	if stdout.String() != "xx" {
		t.Errorf("standard output has %q, want xx", &stdout)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
