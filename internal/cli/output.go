package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/internal/config"
)

// An output is where a command writes what it makes.
type output struct {
	file  string // "" and "-" are standard output
	force bool   // a file that is there is replaced

	begins bool // a new session, so that it may be where an agent keeps its own
}

// takesOutput gives a command the flags for a file to write.
func takesOutput(cmd *cobra.Command, o *output, usage string) {
	cmd.Flags().StringVarP(&o.file, "output", "o", "", usage)
	writesFiles(cmd, &o.force, "output")
}

// writesFiles gives a command the flag without which it replaces none of the files
// that other flags name.
func writesFiles(cmd *cobra.Command, force *bool, flags ...string) {
	cmd.Flags().BoolVar(force, "force", false, "replace a file that is there")
	for _, name := range flags {
		_ = cmd.Flags().SetAnnotation(name, fileFlag, nil) // it fails only for a flag that is not there
	}
}

// fileFlag is the annotation of a flag that names a file to write.
const fileFlag = "file"

// checkFiles returns why a command may not write the files that its flags name. It is
// asked before the command begins, so that nothing is done in vain.
func (g *globals) checkFiles(cmd *cobra.Command) (err error) {
	force, _ := cmd.Flags().GetBool("force") // false without such a flag
	anew, _ := cmd.Flags().GetBool("as-new-session")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[fileFlag]; ok && err == nil {
			err = g.free(output{f.Value.String(), force, anew})
		}
	})
	return err
}

// toFile reports whether the output is a file.
func (o *output) toFile() bool { return o.file != "" && o.file != "-" }

// A thereError says that a file is there, and that no flag says to replace it.
type thereError struct{ name string }

func (e *thereError) Error() string {
	return e.name + ": there is such a file; --force replaces it"
}
func (e *thereError) Unwrap() error { return fs.ErrExist }

// free returns why a file may not be written. Devices, pipes and folders are not asked
// about here.
func (g *globals) free(o output) error {
	if !o.toFile() {
		return nil
	}
	if !o.begins {
		if err := g.foreign(o.file); err != nil {
			return err
		}
	}
	_, err := os.Lstat(g.path(o.file))
	if fi, leads := os.Stat(g.path(o.file)); err == nil && !o.force && (leads != nil || fi.Mode().IsRegular()) {
		return &thereError{o.file}
	}
	return nil
}

// foreign returns an error if a file would be in the folder in which Claude Code keeps
// its sessions: it takes a change there for tampering.
func (g *globals) foreign(name string) error {
	projects, err := config.ClaudeProjects(g.env.Getenv)
	if err == nil && within(resolved(g.path(name)), resolved(g.path(projects))) {
		return &hintedError{fmt.Errorf("%s: %w", name, errForeign), "carrel export --as-new-session -o " + filepath.Dir(name)}
	}
	return nil
}

// errForeign means that a file would be in an agent's own folder.
var errForeign = errors.New("the folder is that of the sessions of Claude Code, which only a new one may be added to")

// resolved returns a path without links, as far as it is there.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(resolved(dir), filepath.Base(path))
}

// write writes data where a command is told to: to standard output, or into a file
// that is new or that force replaces.
func (g *globals) write(o output, data []byte) error {
	if !o.toFile() {
		_, err := g.env.Stdout.Write(data)
		return err
	}
	if err := g.free(o); err != nil {
		return err
	}
	return g.place(o.file, data, o.force)
}

// place puts data into a file as a whole or not at all. A file that is new can be read
// by its owner alone; one that is there is replaced, or stays and is an error.
func (g *globals) place(name string, data []byte, replace bool) error {
	path, mode := g.path(name), fs.FileMode(0o600)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	switch fi, err := os.Stat(path); {
	case err == nil && !fi.Mode().IsRegular() && !fi.IsDir():
		return os.WriteFile(path, data, mode) // a device or a pipe
	case err == nil:
		mode = fi.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = move(f.Name(), path, replace)
	}
	if errors.Is(err, fs.ErrExist) {
		err = &thereError{name}
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// move gives a file another name, in the place of the file that has it only if replace
// is set.
func move(from, to string, replace bool) error {
	if replace {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := os.Lstat(to); err == nil { // the file system has no links
		return fs.ErrExist
	}
	return os.Rename(from, to)
}
