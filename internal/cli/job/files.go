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
	"github.com/carrel-dev/carrel/internal/config"
)

// An Output is the destination of a command's output.
type Output struct {
	File  string // "" and "-" are standard output
	Force bool   // replace an existing file

	Begins bool   // starts a new session, so the file may be in an agent's session folder
	Folder string // folder of the file, to create if missing, or ""
}

// TakesOutput adds the flags --output and --force to a command.
func TakesOutput(cmd *cobra.Command, o *Output, usage string) {
	cmd.Flags().StringVarP(&o.File, "output", "o", "", usage)
	WritesFiles(cmd, &o.Force, "output")
}

// WritesFiles adds the flag --force to a command. Without --force, the command replaces none of
// the files that flags name.
func WritesFiles(cmd *cobra.Command, force *bool, flags ...string) {
	cmd.Flags().BoolVar(force, "force", false, "replace a file that is there")
	for _, name := range flags {
		_ = cmd.Flags().SetAnnotation(name, fileFlag, nil) // fails only for an unknown flag
	}
}

// fileFlag is the annotation of a flag that names a file to write.
const fileFlag = "file"

// checkFiles returns an error if a file that the flags name must not be written. It runs before
// the command, so that no work is lost.
func (j *Job) checkFiles(cmd *cobra.Command) (err error) {
	force, _ := cmd.Flags().GetBool("force") // false without such a flag
	anew, _ := cmd.Flags().GetBool("as-new-session")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, ok := f.Annotations[fileFlag]; ok && err == nil {
			err = j.Free(Output{File: f.Value.String(), Force: force, Begins: anew})
			if what, _ := pflag.UnquoteUsage(f); what != "folder" && err == nil && !anew { // a folder is made, if it is missing
				err = j.hasFolder(f.Value.String())
			}
		}
	})
	return err
}

// ToFile reports whether the output is a file.
func (o *Output) ToFile() bool { return o.File != "" && o.File != "-" }

// isThere returns the error that a file exists and --force is not given.
func isThere(name string) error {
	return &out.Error{Text: name + ": the file exists; --force replaces it", Err: fs.ErrExist}
}

// hasFolder returns an error if the folder of a file to write does not exist.
func (j *Job) hasFolder(name string) error {
	if _, err := os.Stat(filepath.Dir(j.Path(name))); err != nil {
		return &fs.PathError{Op: "open", Path: j.Path(name), Err: errors.Unwrap(err)}
	}
	return nil
}

// Free returns an error if a file must not be written. It does not check devices, pipes and
// folders.
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

// Foreign returns an error if a file would be in a folder in which an agent stores sessions,
// because agents may treat a change there as tampering.
func (j *Job) Foreign(name string) error {
	for _, a := range agents.All() {
		folders, err := a.Folders(j.Getenv)
		if err != nil {
			continue
		}
		for _, f := range folders {
			if !Within(config.Resolved(j.Path(name)), config.Resolved(j.Path(f))) {
				continue
			}
			e := &out.Error{Text: name + ": the folder is that of the sessions of " + a.Title + ", where carrel replaces nothing: name a file in another folder", Kind: out.KindRefused}
			if a.NewFile != nil {
				e.Hint = "carrel export --as-new-session --to " + a.Format + " -o " + filepath.Dir(name)
			}
			return e
		}
	}
	return nil
}

// Write writes data to standard output or to a file. It replaces an existing file only if o.Force
// is true.
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

// Place writes a file completely or not at all. A new file is readable by its owner only. An
// existing file keeps its mode if replace is true; otherwise Place fails with [fs.ErrExist]. To a
// device or a pipe it writes directly, whatever replace is. It replaces no folder.
func (j *Job) Place(name string, data []byte, replace bool) error {
	path, mode := j.Path(name), fs.FileMode(0o600)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	switch fi, err := os.Stat(path); {
	case err == nil && fi.IsDir():
		return out.Usagef("%s: is a folder: name a file in it", name)
	case err == nil && !fi.Mode().IsRegular():
		return os.WriteFile(path, data, mode) // a device or a pipe
	case err == nil:
		mode = fi.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Path = path // not the name of the temporary file
	}
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

// move renames a file. It replaces an existing file only if replace is true.
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
	if _, err := os.Lstat(to); err == nil { // the file system has no hard links
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// Within reports whether path is dir or below it. It compares the names as they are, and ignores
// only a separator at the end of dir.
func Within(path, dir string) bool {
	if len(dir) > 1 && (dir[len(dir)-1] == '/' || dir[len(dir)-1] == '\\') {
		dir = dir[:len(dir)-1]
	}
	if len(path) < len(dir) || path[:len(dir)] != dir {
		return false
	}
	return len(path) == len(dir) || dir == "/" || path[len(dir)] == '/' || path[len(dir)] == '\\'
}
