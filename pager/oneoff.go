package pager

import (
	"path"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// OneOff reports whether a command line only looks at something, or only runs
// checks: find, rg, git status, go test. Its output served its purpose once it
// was read. Each command of a list or a pipe must be of this kind, whatever
// folder it changes to and whatever variables it sets; a line that writes a
// file, and one that cannot be read, is not.
func OneOff(line string) bool {
	some := false
	for _, c := range shell(line, 0) {
		words := bare(c.words)
		switch {
		case c.writes || c.deep:
			return false
		case len(words) == 0 || builtins[words[0]]:
			continue
		case !harmless(words):
			return false
		}
		some = true
	}
	return some
}

// rewrites reports whether a command line edits files by its own words: a patch
// in it, a text in it that goes to a file, an edit in place, a program in it that
// writes.
func rewrites(line string) bool {
	here := false
	for _, c := range shell(line, 0) {
		words := bare(c.words)
		here = here || c.here
		if here && c.writes {
			return true
		}
		if len(words) == 0 {
			continue
		}
		args := words[1:]
		switch words[0] {
		case "apply_patch", "applypatch", "patch":
			return true
		case "tee":
			if here {
				return true
			}
		case "git":
			if sub := git(args); len(sub) > 0 && (sub[0] == "apply" || sub[0] == "am") {
				return true
			}
		case "sed", "gsed", "perl":
			if inPlace(args) {
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

// writers are what programs that stand in a command line write files with.
var writers = []string{".write(", "write_text(", ".writelines(", "writeFile", "File.write"}

// inPlace reports whether sed or perl is told to change its files.
func inPlace(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--in-place" || strings.HasPrefix(a, "--in-place=") || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "i")
	})
}

// builtins change only the shell.
var builtins = set("cd pushd popd export set unset source . : true alias wait")

// wrappers run what stands behind them and behind their flags.
var wrappers = set("sudo time timeout env nice nohup command exec stdbuf npx bunx pnpx xargs builtin rtk")

// looks are the programs that only look, whatever their arguments.
var looks = lazy.Value(func() map[string]bool {
	return set(`find fd fdfind rg grep egrep fgrep zgrep ag ack ls ll tree exa eza cat bat head tail less more wc file stat du df which
	whereis type command pwd date whoami id uname hostname printenv ps pgrep free uptime lsof netstat ss sort uniq cut tr awk gawk sed
	gsed diff cmp comm jq yq column nl od xxd hexdump strings md5sum sha1sum sha256sum shasum cksum basename dirname realpath
	readlink echo printf test [ sleep seq man nproc lscpu ldd nm tac rev paste fold cloc tokei
	pytest py.test jest vitest mocha ava tox nox eslint tsc ruff flake8 pylint mypy pyright golangci-lint staticcheck
	gofmt shellcheck ctest phpunit rspec rubocop hadolint yamllint markdownlint`)
})

// checks are the first words of the arguments with which a program only looks
// or checks.
var checks = lazy.Value(func() map[string]map[string]bool {
	return map[string]map[string]bool{
		"git": set(`status log diff show blame grep branch ls-files ls-tree rev-parse rev-list remote describe shortlog reflog
		cat-file merge-base name-rev whatchanged config tag worktree check-ignore count-objects`),
		"go":     set("test vet build list doc version env"),
		"cargo":  set("test check clippy build bench tree metadata nextest"),
		"npm":    set("test t ls list view outdated audit --version"),
		"yarn":   set("test lint why list build typecheck"),
		"pnpm":   set("test lint why list build typecheck"),
		"bun":    set("test"),
		"deno":   set("test check lint"),
		"make":   set("test tests check lint vet -n"),
		"dotnet": set("test build"),
		"mvn":    set("test verify"),
		"gradle": set("test check"), "gradlew": set("test check"),
		"swift": set("test build"), "mix": set("test"), "bazel": set("test query"), "rake": set("test spec"),
		"pip": set("list show freeze check"), "pip3": set("list show freeze check"),
		"docker": set("ps images logs inspect version info"), "kubectl": set("get describe logs top version"),
		"gh": set("pr issue run repo"), "python": set("--version -V"), "python3": set("--version -V"), "node": set("--version -v"),
	}
})

// set returns the words of a text as a set.
func set(text string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		m[w] = true
	}
	return m
}

// harmless reports whether a command only looks or checks.
func harmless(words []string) bool {
	name, args := words[0], words[1:]
	switch name {
	case "find", "fd", "fdfind":
		return !slices.ContainsFunc(args, func(a string) bool {
			return a == "-delete" || strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") || strings.HasPrefix(a, "-fprint") || a == "-x" || a == "--exec"
		})
	case "sed", "gsed":
		return !inPlace(args)
	case "gofmt":
		return !slices.Contains(args, "-w")
	case "git":
		sub := git(args)
		return len(sub) > 0 && checks()[name][sub[0]] && !changesGit(sub)
	case "gh":
		return len(args) > 1 && checks()[name][args[0]] && set("view list status diff checks watch")[args[1]]
	case "python", "python3":
		if len(args) > 1 && args[0] == "-m" {
			return looks()[args[1]] || args[1] == "unittest" || args[1] == "py_compile"
		}
	case "npm", "yarn", "pnpm", "bun", "mise", "turbo", "just", "task":
		if name == "just" || name == "task" {
			args = append([]string{"run"}, args...)
		}
		if len(args) > 1 && args[0] == "run" {
			return slices.ContainsFunc([]string{"test", "lint", "check", "type", "build", "tsc"}, func(head string) bool {
				return strings.HasPrefix(args[1], head)
			})
		}
	case "uv", "poetry", "bundle", "pipenv", "rye", "hatch":
		if len(args) > 1 && (args[0] == "run" || args[0] == "exec") {
			return harmless(args[1:])
		}
	}
	return looks()[name] || len(args) > 0 && checks()[name][args[0]]
}

// git returns what git is told to do, without the flags before it.
func git(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if args[0] == "-C" || args[0] == "-c" {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// changesGit reports whether a command of git that mostly looks changes
// something by its arguments: "git branch -D x", "git tag v1".
func changesGit(sub []string) bool {
	args := sub[1:]
	named := slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	switch sub[0] {
	case "branch", "tag":
		lists := slices.ContainsFunc(args, func(a string) bool {
			return set("-l --list -a --all -r --contains --merged --no-merged --points-at --show-current")[a]
		})
		return named && !lists
	case "remote":
		return named && args[0] != "show" && args[0] != "get-url"
	case "worktree", "config", "reflog":
		return named && !set("list show --get get --list -l")[args[0]]
	}
	return false
}

// bare returns a command without what stands before the program: variables,
// wrappers with their flags and figures, the folder of the program.
func bare(words []string) []string {
	for len(words) > 0 {
		switch w := words[0]; {
		case assigns(w):
			words = words[1:]
		case wrappers[w]:
			words = words[1:]
			for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Trim(words[0], "0123456789smh.") == "") {
				words = words[1:]
			}
		default:
			words = slices.Clone(words)
			words[0] = path.Base(w)
			return words
		}
	}
	return nil
}

// assigns reports whether a word sets a variable.
func assigns(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// A command is one of a line, as a shell reads it.
type command struct {
	words  []string
	writes bool // its output goes to a file
	here   bool // its input stands in the line
	deep   bool // it has a line in it that is not read
}

// depth is how many lines within lines are read.
const depth = 3

// shell returns the commands of a line: those of lists, pipes, groups and
// substitutions, and those of a line that a shell is told to run.
func shell(line string, at int) []command {
	l := &lexer{text: withoutDocuments(line)}
	var all []command
	for _, c := range l.commands() {
		words := bare(c.words)
		if len(words) < 2 || !set("bash sh zsh dash")[words[0]] || !strings.HasPrefix(words[1], "-") || !strings.Contains(words[1], "c") {
			all = append(all, c)
			continue
		}
		rest := words[2:]
		switch {
		case at == depth:
			c.deep = true
			all = append(all, c)
		case len(rest) == 1: // one word that is a line
			inner := shell(rest[0], at+1)
			for i := range inner {
				inner[i].writes, inner[i].here = inner[i].writes || c.writes, inner[i].here || c.here
			}
			all = append(all, inner...)
		default: // a list of words that was joined
			c.words = rest
			all = append(all, c)
		}
	}
	return all
}

// withoutDocuments returns a line without the texts that stand in it as the
// input of commands, behind "<<".
func withoutDocuments(line string) string {
	if !strings.Contains(line, "<<") {
		return line
	}
	var kept []string
	end := ""
	for text := range strings.SplitSeq(line, "\n") {
		if end != "" {
			if strings.TrimSpace(text) == end {
				end = ""
			}
			continue
		}
		kept = append(kept, text)
		if _, behind, ok := strings.Cut(text, "<<"); ok && !strings.HasPrefix(behind, "<") {
			if words := strings.Fields(strings.TrimPrefix(behind, "-")); len(words) > 0 {
				end = strings.Trim(words[0], `'"\;)`)
			}
		}
	}
	return strings.Join(kept, "\n")
}

// A lexer parts a line into commands.
type lexer struct {
	text string
	at   int

	all  []command
	now  command
	word strings.Builder
	open bool // a word has begun
}

// commands returns the commands of the text. Whatever it is, reading it ends.
func (l *lexer) commands() []command {
	for l.at < len(l.text) {
		c := l.text[l.at]
		l.at++
		switch c {
		case '\\':
			if l.at < len(l.text) && l.text[l.at] != '\n' {
				l.put(l.text[l.at])
			}
			l.at++
		case '\'', '"', '`':
			l.quoted(c)
		case ' ', '\t', '\r':
			l.endWord()
		case '#':
			if l.open {
				l.put(c)
			} else {
				l.until('\n')
			}
		case '>':
			l.output()
		case '<':
			l.input()
		case '&':
			if l.at < len(l.text) && l.text[l.at] == '>' {
				continue
			}
			l.endCommand()
		case ';', '|', '\n', '(', ')':
			l.endCommand()
		default:
			l.put(c)
		}
	}
	l.endCommand()
	return l.all
}

func (l *lexer) put(c byte) {
	l.word.WriteByte(c)
	l.open = true
}

func (l *lexer) endWord() {
	if l.open {
		l.now.words = append(l.now.words, l.word.String())
	}
	l.word.Reset()
	l.open = false
}

func (l *lexer) endCommand() {
	l.endWord()
	if len(l.now.words) > 0 || l.now.writes || l.now.here {
		l.all = append(l.all, l.now)
	}
	l.now = command{}
}

// until reads up to a byte, and leaves it to be read next.
func (l *lexer) until(c byte) {
	for l.at < len(l.text) && l.text[l.at] != c {
		l.at++
	}
}

// quoted reads what stands in quotes. What stands in backquotes is a command of
// its own.
func (l *lexer) quoted(quote byte) {
	l.open = true
	from := l.at
	for l.at < len(l.text) && l.text[l.at] != quote {
		if l.text[l.at] == '\\' && quote != '\'' {
			l.at++
			if l.at >= len(l.text) {
				break
			}
		}
		if quote != '`' {
			l.word.WriteByte(l.text[l.at])
		}
		l.at++
	}
	if quote == '`' {
		inner := lexer{text: l.text[from:min(l.at, len(l.text))]}
		l.all = append(l.all, inner.commands()...)
	}
	l.at++
}

// output reads where output goes, behind ">".
func (l *lexer) output() {
	if l.open && strings.Trim(l.word.String(), "0123456789") == "" {
		l.word.Reset() // the number of what is redirected
		l.open = false
	}
	l.endWord()
	for l.at < len(l.text) && (l.text[l.at] == '>' || l.text[l.at] == '|') {
		l.at++
	}
	if l.at < len(l.text) && l.text[l.at] == '&' {
		l.at++
		l.target()
		return
	}
	if to := l.target(); !strings.HasPrefix(to, "/dev/") {
		l.now.writes = true
	}
}

// input reads where input comes from, behind "<".
func (l *lexer) input() {
	l.endWord()
	n := 1
	for l.at < len(l.text) && l.text[l.at] == '<' {
		n++
		l.at++
	}
	if n > 1 {
		l.now.here = true
	}
	if l.at < len(l.text) && l.text[l.at] == '(' {
		return // the output of a command, which is read next
	}
	l.target()
}

// target reads the word behind a redirection.
func (l *lexer) target() string {
	for l.at < len(l.text) && (l.text[l.at] == ' ' || l.text[l.at] == '\t') {
		l.at++
	}
	from := l.at
	for l.at < len(l.text) && !strings.ContainsRune(" \t\r\n;|&<>()", rune(l.text[l.at])) {
		if q := l.text[l.at]; q == '\'' || q == '"' {
			l.at++
			l.until(q)
		}
		l.at++
	}
	l.at = min(l.at, len(l.text))
	return strings.Trim(l.text[from:l.at], `'"`)
}
