package job

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
)

// A File is a file to import, or what an agent keeps in one.
type File struct {
	agents.Source      // its name is as the user sees it
	Named         bool // by the user, not found in a folder
}

// Files returns the files that paths stand for, in order.
func (j *Job) Files(paths []string) ([]File, error) {
	var files []File
	for _, p := range paths {
		if held, ok, err := agents.Held(j.Path(p)); ok {
			files = append(files, j.heldIn(p, held, err)...)
			continue
		}
		fi, err := os.Stat(j.Path(p))
		if p == "-" || err != nil || !fi.IsDir() {
			files = append(files, File{agents.Source{Name: p}, true}) // what is wrong is reported when it is read
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

// heldIn returns the sessions of a file in which an agent keeps several, under the name by which
// the user names it. What is wrong is reported when it is read.
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

// ReadFile returns the content of a file, or of what an agent keeps in one.
func (j *Job) ReadFile(f File) ([]byte, error) {
	if f.Read != nil {
		return f.Read()
	}
	return j.Read(f.Name)
}

// IsFolder reports whether a folder of a folder is looked into. What Claude
// Code keeps beside a session is part of it and no session of its own.
func IsFolder(name string) bool { return name != "subagents" && name != "tool-results" }

// IsFile reports whether a file of a folder is one that may hold a conversation.
func IsFile(name string) bool {
	if strings.HasSuffix(name, ".meta.json") {
		return false
	}
	ext := filepath.Ext(name)
	return ext == ".json" || ext == ".jsonl" || strings.HasSuffix(name, ".jsonl.zst")
}
