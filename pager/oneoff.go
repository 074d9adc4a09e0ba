package pager

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
)

// OneOff reports whether a command line only looks at something or runs
// checks: find, rg, git status, go test. Its output is useless once it was
// read. Every command of a list or pipe must be of this kind; changes of
// directory and variables are ignored. A line that writes a file or cannot be
// parsed is not one-off.
func OneOff(line string) bool {
	l, err := shell.Parse(line)
	return err == nil && oneOff(l)
}

func oneOff(l *shell.Line) bool {
	some := false
	for i := range l.Commands {
		switch c := &l.Commands[i]; {
		case c.Silent():
		case !harmless(c):
			return false
		default:
			some = true
		}
	}
	return some
}

// rewrites reports whether a command line contains the edit that it makes. It does if
// it has a patch, a text that is written to a file, an edit in place such as that of
// sed -i, or the source of a program that writes files.
func rewrites(line string, l *shell.Line) bool {
	fed := false
	for i := range l.Commands {
		c := &l.Commands[i]
		if fed = fed || c.Fed; fed && does(c, shell.Write, shell.Append) {
			return true
		}
		switch c.Name {
		case "apply_patch", "applypatch", "patch":
			return true
		case "git":
			if verb, _ := c.Verb(); verb == "apply" || verb == "am" {
				return true
			}
		case "sed", "gsed", "perl":
			if does(c, shell.Edit) {
				return true
			}
		case "python", "python3", "node", "ruby":
			if slices.ContainsFunc(writers, func(w string) bool { return strings.Contains(line, w) }) {
				return true
			}
		}
	}
	return false
}

// does reports whether a command performs one of the given acts on a file.
func does(c *shell.Command, acts ...shell.Act) bool {
	return slices.ContainsFunc(c.Effects, func(e shell.Effect) bool { return slices.Contains(acts, e.Act) })
}

// writers are names of functions that write files. If a command line contains a program that
// calls one of them, [rewrites] takes the program for one that writes files.
var writers = []string{".write(", "write_text(", ".writelines(", "writeFile", "File.write"}

// checkers are the programs that only run checks, with any arguments.
var checkers = lazy.Words(`pytest py.test jest vitest mocha ava tox nox eslint tsc ruff flake8 pylint mypy pyright golangci-lint staticcheck
	shellcheck ctest phpunit rspec rubocop hadolint yamllint markdownlint`)

// checks lists for each program the first arguments with which it only inspects
// something or runs checks.
var checks = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"go":     "test vet build list doc version env",
		"cargo":  "test check clippy build bench tree metadata nextest",
		"npm":    "test t ls list view outdated audit --version",
		"yarn":   "test lint why list build typecheck",
		"pnpm":   "test lint why list build typecheck",
		"bun":    "test",
		"deno":   "test check lint",
		"make":   "test tests check lint vet -n",
		"dotnet": "test build",
		"mvn":    "test verify",
		"gradle": "test check", "gradlew": "test check",
		"swift": "test build", "mix": "test", "bazel": "test query", "rake": "test spec",
		"pip": "list show freeze check", "pip3": "list show freeze check",
		"docker": "ps images logs inspect version info", "kubectl": "get describe logs top version",
		"python": "--version -V", "python3": "--version -V", "node": "--version -v",
	}
}}

// harmless reports whether a command only inspects something or runs checks.
func harmless(c *shell.Command) bool {
	if c.Looks() {
		return true
	}
	if c.Remote || does(c, shell.Write, shell.Touch, shell.Append, shell.Edit, shell.Delete, shell.Rename) {
		return false
	}
	args := c.Args
	switch c.Name {
	case "python", "python3":
		if len(args) > 1 && args[0] == "-m" {
			return checkers.Get()[args[1]] || args[1] == "unittest" || args[1] == "py_compile"
		}
	case "npm", "yarn", "pnpm", "bun", "mise", "turbo", "just", "task":
		if c.Name == "just" || c.Name == "task" {
			args = append([]string{"run"}, args...)
		}
		if len(args) > 1 && args[0] == "run" {
			return slices.ContainsFunc([]string{"test", "lint", "check", "type", "build", "tsc"}, func(head string) bool {
				return strings.HasPrefix(args[1], head)
			})
		}
	}
	return checkers.Get()[c.Name] || len(args) > 0 && text.HasWord(checks.Get()[c.Name], args[0])
}
