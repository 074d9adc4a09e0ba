package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/retention"
)

// familyBy returns the function that finds the family of a file. The parameter way is a value of
// the flag -family: name, folder or one.
func familyBy(way string) (func(path string) string, error) {
	switch way {
	case "name":
		return familyOf, nil
	case "folder":
		return folderOf, nil
	case "one":
		return func(string) string { return "all" }, nil
	}
	return nil, fmt.Errorf("-family %s: want name, folder or one", way)
}

func folderOf(path string) string { return filepath.Base(filepath.Dir(path)) }

var uuid = lazy.Regexp(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-`)

// familyOf returns the project of a file by its path: its name up to the first hyphen or, if
// the name has none or is a UUID, its folder. Both editions of the tau benchmark are one
// family.
func familyOf(path string) string {
	base := filepath.Base(path)
	head, _, found := strings.Cut(strings.TrimSuffix(base, filepath.Ext(base)), "-")
	if !found || uuid.Get().MatchString(base) {
		return folderOf(path)
	}
	if head == "tau1" || head == "tau2" {
		return "tau"
	}
	return head
}

// load reads all conversations below folders, .json and .jsonl, in the order of their paths. It
// prints the files that are no conversations.
func load(folders []string, family func(path string) string) ([]*retention.Trajectory, error) {
	files, err := retention.Files(folders)
	if err != nil {
		return nil, err
	}
	read := make([]*retention.Trajectory, len(files))
	errs := make([]error, len(files))
	retention.Each(len(files), func(i int) {
		data, err := os.ReadFile(files[i])
		if err != nil {
			errs[i] = fmt.Errorf("read a conversation: %w", err)
			return
		}
		read[i], _ = retention.Read(files[i], family(files[i]), data)
	})
	var all []*retention.Trajectory
	for i, t := range read {
		switch {
		case errs[i] != nil:
			return nil, errs[i]
		case t == nil || len(t.Messages) == t.Pinned:
			fmt.Fprintf(os.Stderr, "%s: no conversation\n", files[i])
		default:
			all = append(all, t)
		}
	}
	return all, nil
}
