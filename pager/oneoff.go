package pager

import (
	"slices"
	"strings"
	"unicode"

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

// checkers are the programs that only run checks, with any arguments but those of changes.
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
	name, args := c.Name, c.Args
	if (name == "python" || name == "python3") && len(args) > 1 && args[0] == "-m" {
		name, args = args[1], args[2:]
	}
	if changes(name, args) {
		return false
	}
	switch name {
	case "unittest", "py_compile":
		return name != c.Name
	case "just", "task":
		return len(args) > 0 && checkScript(args[0])
	case "npm", "yarn", "pnpm", "bun", "mise", "turbo":
		if len(args) > 1 && args[0] == "run" {
			return checkScript(args[1])
		}
	case "make", "mvn", "gradle", "gradlew", "rake":
		return len(args) > 0 && (args[0] == "-n" || onlyTargets(args, checks.Get()[name]))
	}
	return checkers.Get()[name] || len(args) > 0 && text.HasWord(checks.Get()[name], args[0])
}

// changing are the options with which a checker changes files.
var changing = lazy.Words(`--fix --fix-only --autocorrect --autocorrect-all --auto-correct --auto-correct-all --write
	--update -update --update-snapshot --update-snapshots --updateSnapshot --snapshot-update --install-types`)

// changes reports whether arguments let a checker change files or settings.
func changes(name string, args []string) bool {
	for i, a := range args {
		option, _, _ := strings.Cut(a, "=")
		switch {
		case changing.Get()[option]:
			return true
		case a == "-u" && text.HasWord("jest vitest ava npm yarn pnpm bun go", name), a == "-w" && name == "go", (a == "-a" || a == "-A") && name == "rubocop":
			return true
		case name == "ruff" && i == 0 && a == "format":
			return !slices.Contains(args, "--check") && !slices.Contains(args, "--diff")
		case name == "golangci-lint" && i == 0 && text.HasWord("fmt migrate cache", a), name == "npm" && i == 1 && args[0] == "audit" && a == "fix":
			return true
		}
	}
	return false
}

// checkScript reports whether the name of a script, such as test:unit, is one of checks.
func checkScript(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return len(parts) > 0 && text.HasWord("test tests lint check checks type types typecheck build tsc", parts[0]) &&
		!slices.ContainsFunc(parts[1:], func(part string) bool {
			return text.HasWord("fix update write format fmt deploy publish release install push upload", part)
		})
}

// onlyTargets reports whether all targets in the arguments of a build tool are in a list. The
// first argument is a target. Options, their values and variables are none.
func onlyTargets(args []string, list string) bool {
	for i, a := range args {
		option := i > 0 && (strings.HasPrefix(a, "-") || strings.Contains(a, "=") || text.HasWord("-j -C -f -p -P -x -pl --tests --projects", args[i-1]))
		if !option && !text.HasWord(list, a) {
			return false
		}
	}
	return true
}
