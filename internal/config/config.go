// Package config reads settings from flags, the environment and files, and opens the store. It is
// the only package where store drivers and the engine meet.
//
// [Load] reads the settings. A flag overrides the environment, the environment overrides files,
// and a file overrides built-in values. Among files, the one named by a flag overrides the
// project's, which overrides the user's. Functions read the environment only through their first
// argument, so that tests need no process. An error names the source of the value: [Error] names
// the flag or variable, [FileError] the position in a file.
//
// Weights, cuts and shares are [ratio.Ratio], parsed from the digits in the file; windows and
// budgets are in tokens. Equal sources give equal settings.
package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// A Getenv returns the value of a variable, or "" if it is not set.
type Getenv func(name string) string

// An Error says which flag, variable or setting is invalid.
type Error struct {
	Name string // such as "--scope" or "CARREL_NOW"
	Err  error
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ProjectDir is the folder with the store and settings of a project.
const ProjectDir = ".carrel"

// fileName is the file name of a store.
const fileName = "carrel.db"

// projectDir returns the nearest folder named [ProjectDir] in dir or in a folder above it, or "".
func projectDir(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		project := filepath.Join(at, ProjectDir)
		if fi, err := os.Stat(project); err == nil && fi.IsDir() {
			return project
		}
		if filepath.Dir(at) == at {
			return ""
		}
	}
}

// dataDir returns the folder for the data of the user's programs.
func dataDir(env Getenv) (string, error) {
	if d := env("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return d, nil
	}
	if d := env("LOCALAPPDATA"); runtime.GOOS == "windows" && d != "" {
		return d, nil
	}
	h, err := home(env)
	return filepath.Join(h, ".local", "share"), err
}

// RunDir returns the folder with the records of the user's running servers.
func RunDir(env Getenv) (string, error) {
	data, err := dataDir(env)
	return filepath.Join(data, "carrel", "run"), err
}

// ACMEDir returns the folder for certificates that an authority issued, unless the settings name one.
func ACMEDir(env Getenv) (string, error) {
	data, err := dataDir(env)
	return filepath.Join(data, "carrel", "acme"), err
}

// configDir returns the folder for the settings of the user's programs.
func configDir(env Getenv) (string, error) {
	if d := env("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		return d, nil
	}
	if d := env("APPDATA"); runtime.GOOS == "windows" && d != "" {
		return d, nil
	}
	h, err := home(env)
	return filepath.Join(h, ".config"), err
}

func home(env Getenv) (string, error) {
	for _, name := range [...]string{"HOME", "USERPROFILE"} {
		if h := env(name); h != "" {
			return h, nil
		}
	}
	return "", &Error{"HOME", errors.New("is not set")}
}

// Clock returns a clock. If the flag, CARREL_NOW or SOURCE_DATE_EPOCH gives a time, the clock
// always shows that time. Otherwise it is the clock now.
func Clock(env Getenv, flag string, now func() time.Time) (func() time.Time, error) {
	for _, s := range [...]struct{ name, value string }{
		{"--now", flag}, {"CARREL_NOW", env("CARREL_NOW")}, {"SOURCE_DATE_EPOCH", env("SOURCE_DATE_EPOCH")},
	} {
		if s.value == "" {
			continue
		}
		t, err := ParseTime(s.value)
		if err != nil {
			return nil, &Error{s.name, err}
		}
		return func() time.Time { return t }, nil
	}
	return now, nil
}
