package job

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files returns the files that paths stand for, in order.
func (j *Job) Files(paths []string) ([]File, error) {
	var files []File
	for _, p := range paths {
		if p == "-" {
			files = append(files, File{p, true})
			continue
		}
		fi, err := os.Stat(j.Path(p))
		if err != nil || !fi.IsDir() {
			files = append(files, File{p, true}) // what is wrong is reported when it is read
			continue
		}
		root, err := filepath.EvalSymlinks(j.Path(p)) // a link to a folder is one, too
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && !IsFolder(d.Name()):
				return filepath.SkipDir
			case d.IsDir() || !IsFile(d.Name()):
				return nil
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files = append(files, File{filepath.Join(p, rel), false})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// A File is a file to import.
type File struct {
	Name  string // as the user sees it
	Named bool   // by the user, not found in a folder
}

// IsFolder reports whether a folder of a folder is looked into. What Claude
// Code keeps beside a session is part of it and no session of its own.
func IsFolder(name string) bool { return name != "subagents" && name != "tool-results" }

// IsFile reports whether a file of a folder is one that may hold a conversation.
func IsFile(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".json" || ext == ".jsonl") && !strings.HasSuffix(name, ".meta.json")
}
