package job

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// An Output is where a command writes what it makes.
type Output struct {
	File  string // "" and "-" are standard output
	Force bool   // a file that is there is replaced

	Begins bool   // a new session, so that it may be where an agent keeps its own
	Folder string // of the file, which is made if it is not there, or ""
}

// TakesOutput gives a command the flags for a file to write.
func TakesOutput(cmd *cobra.Command, o *Output, usage string) {
	cmd.Flags().StringVarP(&o.File, "output", "o", "", usage)
	WritesFiles(cmd, &o.Force, "output")
}

// WritesFiles gives a command the flag without which it replaces none of the files
// that other flags name.
func WritesFiles(cmd *cobra.Command, force *bool, flags ...string) {
	cmd.Flags().BoolVar(force, "force", false, "replace a file that is there")
	for _, name := range flags {
		_ = cmd.Flags().SetAnnotation(name, fileFlag, nil) // it fails only for a flag that is not there
	}
}

// fileFlag is the annotation of a flag that names a file to write.
const fileFlag = "file"

// checkFiles returns why a command may not write the files that its flags name. It is
// asked before the command begins, so that nothing is done in vain.
func (j *Job) checkFiles(cmd *cobra.Command) (err error) {
	force, _ := cmd.Flags().GetBool("force") // false without such a flag
	anew, _ := cmd.Flags().GetBool("as-new-session")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[fileFlag]; ok && err == nil {
			err = j.Free(Output{File: f.Value.String(), Force: force, Begins: anew})
		}
	})
	return err
}

// ToFile reports whether the output is a file.
func (o *Output) ToFile() bool { return o.File != "" && o.File != "-" }

// isThere returns an error about a file that is there, as no flag says to replace it.
func isThere(name string) error {
	return &out.Error{Text: name + ": there is such a file; --force replaces it", Err: fs.ErrExist}
}

// Free returns why a file may not be written. Devices, pipes and folders are not asked
// about here.
func (j *Job) Free(o Output) error {
	if !o.ToFile() {
		return nil
	}
	if !o.Begins {
		if err := j.Foreign(o.File); err != nil {
			return err
		}
	}
	_, err := os.Lstat(j.Path(o.File))
	if fi, leads := os.Stat(j.Path(o.File)); err == nil && !o.Force && (leads != nil || fi.Mode().IsRegular()) {
		return isThere(o.File)
	}
	return nil
}

// Foreign returns an error if a file would be in a folder in which an agent keeps its
// sessions: a change there may be taken for tampering.
func (j *Job) Foreign(name string) error {
	for _, a := range agents.All() {
		folders, err := a.Folders(j.Getenv)
		if err != nil {
			continue
		}
		for _, f := range folders {
			if !Within(resolved(j.Path(name)), resolved(j.Path(f))) {
				continue
			}
			e := &out.Error{Text: name + ": the folder is that of the sessions of " + a.Title + "; carrel only adds new files there", Kind: out.KindRefused}
			if a.NewFile != nil {
				e.Hint = "carrel export --as-new-session --to " + a.Format + " -o " + filepath.Dir(name)
			}
			return e
		}
	}
	return nil
}

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

// Write writes data where a command is told to: to standard output, or into a file
// that is new or that force replaces.
func (j *Job) Write(o Output, data []byte) error {
	if !o.ToFile() {
		_, err := j.Stdout.Write(data)
		return err
	}
	if err := j.Free(o); err != nil {
		return err
	}
	if o.Folder != "" {
		if err := os.MkdirAll(j.Path(o.Folder), 0o700); err != nil {
			return err
		}
	}
	return j.Place(o.File, data, o.Force)
}

// Place puts data into a file as a whole or not at all. A file that is new can be read
// by its owner alone; one that is there is replaced, or stays and is an error.
func (j *Job) Place(name string, data []byte, replace bool) error {
	path, mode := j.Path(name), fs.FileMode(0o600)
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
		err = isThere(name)
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

// Within reports whether path is dir or below it.
func Within(path, dir string) bool {
	if len(dir) > 1 && (dir[len(dir)-1] == '/' || dir[len(dir)-1] == '\\') {
		dir = dir[:len(dir)-1]
	}
	if len(path) < len(dir) || path[:len(dir)] != dir {
		return false
	}
	return len(path) == len(dir) || path[len(dir)] == '/' || path[len(dir)] == '\\'
}
