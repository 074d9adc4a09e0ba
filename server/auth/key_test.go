package auth_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store/memory"
)

// Of many who need a key at once, all get the one that is made, whole.
func TestKeyIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	path := auth.KeyFile(filepath.Join(dir, "carrel.db"))
	s := memory.New()
	const many = 16
	keys := make([]*auth.Key, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			var err error
			if keys[i], err = auth.LoadKey(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	text, _ := mint(t, auth.NewAuthority(s, keys[0], nil), request())
	for _, key := range keys {
		if _, err := auth.NewAuthority(s, key, nil).Verify(t.Context(), text); err != nil {
			t.Errorf("with another's key: %v", err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "carrel.db.token-key" {
		t.Errorf("there are %v, %v; want the key alone", files, err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("the mode of the key is %v, %v", info.Mode(), err)
	}
}

func TestKeyFilesThatAreRefused(t *testing.T) {
	good := strings.Repeat("c0ffee11", 8)
	for _, tt := range []struct {
		name, text, want string
		mode             os.FileMode
	}{
		{"an empty file", "", "it must have 64 hexadecimal digits", 0o600},
		{"one digit less", good[1:], "it must have 64 hexadecimal digits", 0o600},
		{"one digit more", good + "1", "it must have 64 hexadecimal digits", 0o600},
		{"very long", strings.Repeat(good, 1000), "it must have 64 hexadecimal digits", 0o600},
		{"another letter", good[1:] + "g", "characters that are not hexadecimal digits", 0o600},
		{"readable by the group", good, "other users may read or write it, as its mode is 0640: set its mode to 600", 0o640},
		{"readable by all", good, "other users may read or write it, as its mode is 0604", 0o604},
		{"writable by all", good, "other users may read or write it, as its mode is 0602", 0o602},
	} {
		if tt.mode != 0o600 && runtime.GOOS == "windows" {
			continue
		}
		path := filepath.Join(t.TempDir(), "key")
		if err := errors.Join(os.WriteFile(path, []byte(tt.text), 0o600), os.Chmod(path, tt.mode)); err != nil {
			t.Fatal(err)
		}
		_, err := auth.LoadKey(path)
		refused, ok := errors.AsType[*auth.KeyError](err)
		if !ok || refused.Path != path || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		} else if strings.Contains(err.Error(), "c0ffee") {
			t.Errorf("%s: the error shows the key", tt.name)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != tt.text {
			t.Errorf("%s: the file was changed", tt.name)
		}
	}
	if _, err := auth.LoadKey(t.TempDir()); !is[*auth.KeyError](err) {
		t.Errorf("a directory: %v", err)
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A key that somebody made is read in the forms in which tools write it.
func TestKeyFromElsewhere(t *testing.T) {
	s := memory.New()
	var text string
	for _, form := range []string{strings.Repeat("c0ffee11", 8), strings.Repeat("C0FFEE11", 8) + "\n", " " + strings.Repeat("c0FFee11", 8) + "\r\n"} {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(form), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := auth.LoadKey(path)
		if err != nil {
			t.Fatal(err)
		}
		a := auth.NewAuthority(s, key, nil)
		if text == "" {
			text, _ = mint(t, a, request())
		}
		if _, err := a.Verify(t.Context(), text); err != nil {
			t.Errorf("%q: %v", form, err)
		}
	}
}
