package job

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
)

// A File is a file to import. If an agent stores several sessions in one file, it is one of these
// sessions.
type File struct {
	agents.Source      // with the name as the user typed it
	Named         bool // the user named it; it was not found in a folder
}

// Files returns the files that paths name, in order.
func (j *Job) Files(paths []string) ([]File, error) {
	var files []File
	for _, p := range paths {
		if held, ok, err := agents.Held(j.Path(p)); ok {
			files = append(files, j.heldIn(p, held, err)...)
			continue
		}
		fi, err := os.Stat(j.Path(p))
		if p == "-" || err != nil || !fi.IsDir() {
			files = append(files, File{agents.Source{Name: p}, true}) // reading the file reports the error
			continue
		}
		found, err := agents.Files(j.Path(p), IsFile, IsFolder)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			rel, err := filepath.Rel(j.Path(p), s.Name)
			if err != nil {
				return nil, err
			}
			s.Name = filepath.Join(p, rel)
			files = append(files, File{s, false})
		}
	}
	return files, nil
}

// heldIn returns the sessions in held, which an agent stores together in one file. Their names
// begin with the name that the user typed for the file. If err is not nil, heldIn returns one file
// whose Read fails with err.
func (j *Job) heldIn(name string, held []agents.Source, err error) (files []File) {
	if err != nil {
		return []File{{agents.Source{Name: name, Read: func() ([]byte, error) { return nil, err }, Changed: j.Clock()()}, true}}
	}
	for _, s := range held {
		s.Name = name + strings.TrimPrefix(s.Name, j.Path(name))
		files = append(files, File{s, true})
	}
	return files
}

// ReadFile returns the content of a file or session.
func (j *Job) ReadFile(f File) ([]byte, error) {
	if f.Read != nil {
		return f.Read()
	}
	return j.Read(f.Name)
}

// IsFolder reports whether an import reads a subfolder of this name. It skips folders in which
// Claude Code stores parts of a session.
func IsFolder(name string) bool { return name != "subagents" && name != "tool-results" }

// IsFile reports whether a file of this name may contain a conversation.
func IsFile(name string) bool {
	if strings.HasSuffix(name, ".meta.json") {
		return false
	}
	ext := filepath.Ext(name)
	return ext == ".json" || ext == ".jsonl" || strings.HasSuffix(name, ".jsonl.zst")
}
