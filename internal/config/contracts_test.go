package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/transcript"
)

func TestContractsDir(t *testing.T) {
	at := t.TempDir()
	for _, tt := range []struct {
		name string
		vars map[string]string
		want string
	}{
		{"what is named", map[string]string{"LIMINATE_CONTRACTS_DIR": filepath.Join(at, "named"), "XDG_DATA_HOME": at, "HOME": at}, "named"},
		{"a relative name", map[string]string{"LIMINATE_CONTRACTS_DIR": "here", "HOME": at}, "here"},
		{"data of programs", map[string]string{"XDG_DATA_HOME": filepath.Join(at, "data"), "HOME": at}, "data/liminate/contracts"},
		{"a relative folder for data counts for nothing", map[string]string{"XDG_DATA_HOME": "data", "HOME": at}, ".liminate/contracts"},
		{"home", map[string]string{"HOME": at}, ".liminate/contracts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := ContractsDir(func(n string) string { return tt.vars[n] }, at)
			if err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(at, filepath.FromSlash(tt.want))
			if c.dir != want {
				t.Errorf("the folder is %s, want %s", c.dir, want)
			}
			fi, err := os.Stat(want)
			if err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v, want a folder with mode 0700", fi, err)
			}
		})
	}
	_, err := ContractsDir(func(string) string { return "" }, at)
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("without a home: %v, want an Error", err)
	}
}

func TestContractsDirRefuses(t *testing.T) {
	at := t.TempDir()
	tree := filepath.Join(at, "tree")
	file := filepath.Join(at, "linked")
	open := filepath.Join(at, "open")
	link := filepath.Join(at, "link")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(tree, ".git"), 0o700),
		os.MkdirAll(file, 0o700),
		os.WriteFile(filepath.Join(file, ".git"), []byte("gitdir: elsewhere\n"), 0o600),
		os.Mkdir(open, 0o700), os.Chmod(open, 0o750), //nolint:gosec // that it is open is the test
	); err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{
		"a work tree": tree, "a folder in one": filepath.Join(tree, "a", "b"), "a worktree with a file": filepath.Join(file, "a"),
	}
	if runtime.GOOS != "windows" {
		dirs["a folder that others can look into"] = open
		if err := os.Symlink(tree, link); err != nil {
			t.Fatal(err)
		}
		dirs["a link to a work tree"] = filepath.Join(link, "a")
		deep := filepath.Join(at, "deep")
		if err := errors.Join(os.Mkdir(filepath.Join(tree, "b"), 0o700), os.Symlink(filepath.Join(tree, "b"), deep)); err != nil {
			t.Fatal(err)
		}
		dirs["a link into a work tree"] = filepath.Join(deep, "a")
	}
	for name, dir := range dirs {
		_, err := ContractsDir(func(n string) string { return map[string]string{"LIMINATE_CONTRACTS_DIR": dir}[n] }, at)
		bad, ok := errors.AsType[*ContractsError](err)
		if !ok || bad.Hint == "" || bad.Dir != dir {
			t.Errorf("%s: %v, want a ContractsError with a hint", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(tree, "a")); err == nil {
		t.Error("a folder was made in the work tree")
	}
}

func TestContractsWrite(t *testing.T) {
	c := &Contracts{t.TempDir()}
	for _, text := range []string{"", "first\n", "first\nand longer\n"} {
		if err := c.Write(governance.DefaultScope, "s", []byte(text)); err != nil {
			t.Fatal(err)
		}
		path := c.Path(governance.DefaultScope, "s")
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("the file has %q, %v, want %q", got, err, text)
		}
		if fi, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v, want mode 0600", fi, err)
		}
	}
	for _, text := range []string{"", "first\n", "first\nanother\n"} {
		err := c.Write(governance.DefaultScope, "s", []byte(text))
		if _, ok := errors.AsType[*ContractsError](err); !ok {
			t.Errorf("a file with other statements was replaced by %q: %v", text, err)
		}
	}
	if err := os.Mkdir(c.Path(governance.DefaultScope, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(governance.DefaultScope, "taken", nil); err == nil {
		t.Error("a folder was replaced")
	}
	left, err := filepath.Glob(filepath.Join(c.dir, ".contract.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
}

func TestContractName(t *testing.T) {
	for _, tt := range []struct {
		scope governance.Scope
		id    transcript.SessionID
		want  string
	}{
		{governance.DefaultScope, "5f0c2a7e-91d4-4b36-8a51-0d6f3e9b1c20", "5f0c2a7e-91d4-4b36-8a51-0d6f3e9b1c20"},
		{governance.DefaultScope, "ses_Ab", "ses_%41b"},
		{governance.DefaultScope, "../../etc/x", "%2e.%2f..%2fetc%2fx"},
		{governance.DefaultScope, "-n", "%2dn"},
		{governance.DefaultScope, "nul", "%6eul"},
		{governance.DefaultScope, "con.a", "%63on.a"},
		{governance.DefaultScope, "console", "console"},
		{governance.DefaultScope, "ä", "%c3%a4"},
		{governance.DefaultScope, "az{09", "az%7b09"},
		{governance.DefaultScope, transcript.SessionID(strings.Repeat("a", longest)), strings.Repeat("a", longest)},
		{"acme/web", "s", "acme%2fweb@s"},
	} {
		if got := contractName(tt.scope, tt.id); got != tt.want {
			t.Errorf("contractName(%q, %q) = %q, want %q", tt.scope, tt.id, got, tt.want)
		}
	}
}

// Two sessions never share a file, whatever their ids, and every name is valid on all file
// systems.
func TestContractNamesAreTheirOwn(t *testing.T) {
	scopes := rapid.SampledFrom([]governance.Scope{governance.DefaultScope, "acme", "acme/web"})
	ids := rapid.OneOf(rapid.StringMatching(`[-aA.%@/con0-9]{1,6}`), rapid.StringN(1, 4, -1), rapid.StringMatching(`[aA]{118,123}`))
	rapid.Check(t, func(t *rapid.T) {
		scope, other := scopes.Draw(t, "scope"), scopes.Draw(t, "other scope")
		id, with := ids.Draw(t, "id"), ids.Draw(t, "other id")
		a, b := contractName(scope, transcript.SessionID(id)), contractName(other, transcript.SessionID(with))
		if strings.EqualFold(a, b) != (scope == other && id == with) {
			t.Errorf("%s %q and %s %q are %q and %q", scope, id, other, with, a, b)
		}
		if len(a)+len(".limn") > 255 || strings.ContainsAny(a, `/\:*?"<>|`+"\x00") || a[0] == '.' {
			t.Errorf("%q is no name for a file", a)
		}
	})
}
