package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/transcript"
)

// A ContractsError says why a folder cannot be used for contracts.
type ContractsError struct {
	Dir  string
	Text string // such as "is open to others"
	Hint string // the next step
}

func (e *ContractsError) Error() string { return "folder for contracts " + e.Dir + ": " + e.Text }

// Contracts is the folder in which contracts are stored as files, for other programs. Only the user
// has access to it.
type Contracts struct{ dir string }

// ContractsDir returns the folder for contracts, and creates it if it does not exist:
// LIMINATE_CONTRACTS_DIR, or liminate/contracts in XDG_DATA_HOME, or else .liminate/contracts in
// the user's home. A relative path is relative to dir. It fails with a [*ContractsError] if the
// folder is in a git work tree, where a contract could be committed by accident, or if others can
// read it.
func ContractsDir(env Getenv, dir string) (*Contracts, error) {
	at, err := contractsDir(env, dir)
	if err != nil {
		return nil, err
	}
	if tree := workTree(at); tree != "" {
		return nil, &ContractsError{at, "is in the git work tree " + tree, "name another with LIMINATE_CONTRACTS_DIR"}
	}
	if err := os.MkdirAll(at, 0o700); err != nil {
		return nil, err
	}
	fi, err := os.Stat(at)
	if err != nil {
		return nil, err
	}
	if fi.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, &ContractsError{at, "others can look into it", "chmod 700 " + at + ", or name another with LIMINATE_CONTRACTS_DIR"}
	}
	return &Contracts{at}, nil
}

func contractsDir(env Getenv, dir string) (string, error) {
	if d := env("LIMINATE_CONTRACTS_DIR"); d != "" {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		return filepath.Clean(d), nil
	}
	if d := env("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "liminate", "contracts"), nil
	}
	h, err := home(env)
	return filepath.Join(h, ".liminate", "contracts"), err
}

// workTree returns the git work tree that contains a folder, which may not exist yet, or "".
func workTree(dir string) string {
	for at := Resolved(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return ""
		}
	}
}

// Path returns the path of the file for the contract of a session.
func (c *Contracts) Path(scope governance.Scope, id transcript.SessionID) string {
	return filepath.Join(c.dir, contractName(scope, id)+".limn")
}

// Write writes the file of a contract completely or not at all, readable by its owner only. A
// contract only grows, so the file must be the beginning of text. Any other file has statements of
// another program, and Write fails with a [*ContractsError] and leaves it as it is.
func (c *Contracts) Write(scope governance.Scope, id transcript.SessionID, text []byte) (err error) {
	is, err := os.ReadFile(c.Path(scope, id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.HasPrefix(text, is) {
		return &ContractsError{
			c.dir, filepath.Base(c.Path(scope, id)) + " has statements that are not in the contract",
			"add them with carrel contract add --statement, move the file away, and run carrel contract save",
		}
	}
	f, err := os.CreateTemp(c.dir, ".contract.*") // CreateTemp uses mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), c.Path(scope, id))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// longest is the most bytes of an id in a file name.
const longest = 120

// reserved matches names that Windows reserves for devices.
var reserved = lazy.Regexp(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// contractName returns the file name for a contract, without extension. It is the session id. If
// the scope is not the default, the scope and "@" precede the id. Scope and id have only lower-case
// letters, digits, dots, hyphens and underscores, and begin with no dot or hyphen; other characters
// are escaped with percent signs. So two ids never have the same name, not even on a file system
// that ignores case. A long name is cut, and ends with a hash.
func contractName(scope governance.Scope, id transcript.SessionID) string {
	name := portable(string(id))
	if scope != governance.DefaultScope {
		name = portable(string(scope)) + "@" + name
	}
	if len(name) > longest {
		sum := sha256.Sum256([]byte(name))
		name = name[:longest] + "%-" + hex.EncodeToString(sum[:16])
	}
	return name
}

// portable escapes each character of a text that some file system does not allow in a name. It also
// escapes the first character of a name that Windows reserves for a device.
func portable(text string) string {
	var b strings.Builder
	device := reserved.Get().MatchString(text)
	for i := range len(text) {
		c := text[i]
		ok := 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || i > 0 && (c == '.' || c == '-')
		if !ok || i == 0 && device {
			b.WriteString("%" + hex.EncodeToString([]byte{c}))
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
