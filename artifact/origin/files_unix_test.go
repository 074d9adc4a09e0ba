//go:build unix

package origin

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/carrel-dev/carrel/artifact"
)

// While a link or a folder of the path is swapped between a target inside and one outside,
// Fetch never returns the content outside.
func TestFilesSymlinkRace(t *testing.T) {
	const rounds = 5000
	top := t.TempDir()
	write(t, top, map[string]string{"root/real/f": "inside", "out/f": "secret", "secret": "secret"})
	root := filepath.Join(top, "root")
	symlink(t, filepath.Join("real", "f"), filepath.Join(root, "file"))
	symlink(t, "real", filepath.Join(root, "folder"))

	var stop atomic.Bool
	swapped := make(chan int)
	go func() {
		n := 0
		for ; !stop.Load(); n++ {
			for path, targets := range map[string][2]string{
				filepath.Join(root, "file"):   {filepath.Join("real", "f"), filepath.Join("..", "secret")},
				filepath.Join(root, "folder"): {"real", filepath.Join("..", "out")},
			} {
				next := path + ".next"
				if err := os.Symlink(targets[n%2], next); err != nil {
					t.Error(err)
				}
				if err := os.Rename(next, path); err != nil {
					t.Error(err)
				}
			}
		}
		swapped <- n
	}()

	files := &folders{Options{Files: []string{root}}.complete()}
	var served, refused int
	for i := range rounds {
		ref := []artifact.Ref{"file:file", "file:folder/f"}[i%2]
		switch f, err := files.Fetch(t.Context(), ref, nil); {
		case err == nil && string(f.Content) == "inside":
			served++
		case err == nil:
			t.Errorf("round %d: %s served %q", i, ref, f.Content)
		case errors.Is(err, artifact.ErrForbidden):
			refused++
		default:
			t.Errorf("round %d: %s: %v, want it forbidden", i, ref, err)
		}
	}
	stop.Store(true)
	n := <-swapped
	t.Logf("%d fetches: %d served, %d refused, while links were swapped %d times", rounds, served, refused, n)
	if served == 0 || refused == 0 {
		t.Errorf("%d served and %d refused: want some of each, or there was no race", served, refused)
	}
}

// A pipe is refused without waiting for a writer, also if it replaces the file
// between the check and the opening.
func TestFilesRefusesPipes(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"real": "inside"})
	pipe := filepath.Join(root, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		if os.Getenv("CARREL_CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	files := &folders{Options{Files: []string{root}}.complete()}
	f, err := files.Fetch(t.Context(), "file:pipe", nil)
	check(t, f, err, "", artifact.ErrForbidden, "not a regular file")

	symlink(t, "real", filepath.Join(root, "file"))
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; !stop.Load(); n++ {
			next := filepath.Join(root, "next")
			if err := os.Symlink([]string{"real", "pipe"}[n%2], next); err != nil {
				t.Error(err)
			}
			if err := os.Rename(next, filepath.Join(root, "file")); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 1000 {
		if f, err := files.Fetch(t.Context(), "file:file", nil); err == nil && string(f.Content) != "inside" || err != nil && !errors.Is(err, artifact.ErrForbidden) {
			t.Errorf("got %+v, %v, want the file or a refusal", f, err)
		}
	}
	stop.Store(true)
	<-done
}
