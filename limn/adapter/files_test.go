package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"

	"github.com/carrel-dev/carrel/limn"
)

// A file is read up to the limit, and not at all if it is larger, or no file.
func TestReadOfAFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"full": "12345", "large": "123456", "empty": "", "broken": "a\xffb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := &watch{limit: 5}
	for name, want := range map[string]string{"full": "12345", "empty": "", "broken": "a\uFFFDb", "large": "", "none": "", ".": ""} {
		if got := w.read(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestKindsOfChanges(t *testing.T) {
	for op, want := range map[fsnotify.Op]string{
		fsnotify.Create: "created", fsnotify.Write: "modified", fsnotify.Remove: "deleted", fsnotify.Rename: "deleted", fsnotify.Chmod: "",
		fsnotify.Create | fsnotify.Write: "created", fsnotify.Write | fsnotify.Chmod: "modified",
	} {
		if got := kindOf(fsnotify.Event{Op: op}); got != want {
			t.Errorf("%v is %q, want %q", op, got, want)
		}
	}
}

// The text of a file that cannot be read is not that of the file before it.
func TestAFileTooLargeHasNoText(t *testing.T) {
	dir := t.TempDir()
	w := &watch{limit: 5}
	var content limn.Value
	for _, text := range []string{"small", "larger"} {
		path := filepath.Join(dir, text)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.report(path, "created", func(u limn.LiveValue) bool {
			if u.Name == "file-content" {
				content = u.Value
			}
			return true
		})
	}
	if got := content.String(); got != "" {
		t.Errorf("after a file that is too large, file-content is %q, want none", got)
	}
}

// Once nobody takes updates, nothing more of a change is reported.
func TestReportEndsWithWhoListens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for taken, want := range []string{"file-content", "file-content changed-file", "file-content changed-file change-type", "file-content changed-file change-type"} {
		var names []string
		w := &watch{limit: 5}
		on := w.report(path, "modified", func(u limn.LiveValue) bool {
			names = append(names, u.Name)
			return len(names) <= taken
		})
		if got := strings.Join(names, " "); got != want || on != (taken == 3) {
			t.Errorf("%d taken: %s, goes on %t, want %s", taken, got, on, want)
		}
	}
}

// A file that is watched need not be there; others beside it are not reported.
func TestAFileThatIsMade(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{"note.txt", "other.txt"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte("hello"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := collectFiles(t, filepath.Join(dir, "note.txt"), 1, func() {
		for _, name := range []string{"other.txt", "note.txt"} {
			if err := os.Rename(filepath.Join(outside, name), filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	})
	expect(t, got, []string{"begin 1", "file-content hello", "changed-file note.txt", "change-type created"})
}

// What is not said is a MiB, and a line may be as long, and no longer.
func TestDefaultLimit(t *testing.T) {
	if n := (*Options)(nil).orDefault().MaxBytes; n != 1_048_576 {
		t.Errorf("%d bytes are taken by default, want a MiB", n)
	}
	if n := (&Options{MaxBytes: 7}).orDefault().MaxBytes; n != 7 {
		t.Errorf("%d bytes are taken, want 7", n)
	}
}
