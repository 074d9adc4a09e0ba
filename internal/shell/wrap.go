package shell

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A wrapper is a program that runs another program, given after its own options.
type wrapper struct {
	valued   string // options with a value in the next word, separated by spaces
	operands int    // number of its own operands before the program
	verbs    string // words, one of which must come first: uv run
	may      string // words, one of which may come first: rtk test
	sets     bool   // assignments may precede the program
	feeds    bool   // the program gets more arguments than the line shows
	remote   bool   // the program runs on another machine
	line     bool   // the words are joined to a line for a shell
	hides    bool   // the status of the wrapper is not that of the program
	into     string // options whose value is the directory of the program
	marks    string // options whose value is replaced in the words of the program
	asks     string // options with which the wrapper only prints something and runs no program
}

// wrappers is the table of the programs that run others.
var wrappers = lazy.Value[map[string]wrapper]{Make: func() map[string]wrapper {
	runs := wrapper{verbs: "run exec", into: "--directory", valued: "--with --extra --group --python -p --directory --project --package -e --env"}
	fetches := wrapper{valued: "-p --package -c --call", asks: "-c --call --version"}
	m := map[string]wrapper{
		"sudo": {valued: `-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role --type --other-user
			--chdir --chroot --command-timeout`, sets: true, into: "-D --chdir", asks: "-l -v -k -K -e --list --validate --edit"},
		"doas":       {valued: "-u -C", sets: true},
		"env":        {valued: "-u -C --unset --chdir", sets: true, into: "-C --chdir", asks: "-S --split-string"},
		"timeout":    {valued: "-k -s --kill-after --signal", operands: 1},
		"nice":       {valued: "-n --adjustment"},
		"ionice":     {valued: "-c -n -t --class --classdata", asks: "-p --pid"},
		"chrt":       {operands: 1, asks: "-p --pid -m --max"},
		"taskset":    {operands: 1, asks: "-p --pid"},
		"nohup":      {},
		"setsid":     {},
		"stdbuf":     {valued: "-i -o -e --input --output --error"},
		"unbuffer":   {},
		"time":       {valued: "-f -o --format --output"},
		"command":    {asks: "-v -V"},
		"builtin":    {},
		"exec":       {valued: "-a"},
		"caffeinate": {valued: "-t -w"},
		"flock":      {valued: "-w -E --timeout --conflict-exit-code", operands: 1, asks: "-c --command -u"},
		"strace":     {valued: "-e -o -p -s -u -E -P", asks: "-p"},
		"xargs": {valued: `-I -n -P -L -d -a -s -E --max-args --max-procs --max-lines --delimiter --arg-file --max-chars
			--process-slot-var`, feeds: true, marks: "-I --replace"},
		"parallel": {valued: "-j -S -a --jobs --arg-file --colsep --results", feeds: true},
		"watch":    {valued: "-n -q --interval --equexit", line: true, hides: true},
		"ssh":      {valued: "-p -i -l -o -F -J -L -R -D -W -b -c -e -m -B -E -I -O -Q -S -w", operands: 1, remote: true, line: true, asks: "-N -V -Q -O"},
		"npx":      fetches,
		"bunx":     fetches,
		"pnpx":     fetches,
		"rtk":      {hides: true, may: "test err proxy summary"}, // it shortens the output
	}
	m["gtimeout"] = m["timeout"]
	for _, name := range []string{"uv", "poetry", "pipenv", "rye", "hatch", "pdm"} {
		m[name] = runs
	}
	m["bundle"] = wrapper{verbs: "exec"}
	return m
}}

// A how describes how a program is run by the wrappers before it. The last fields mean the same as in
// [wrapper].
type how struct {
	name   string // the wrapper whose words form a line
	into   []word // directories that the program is run in, one after the other
	feeds  bool
	remote bool
	line   bool
	hides  bool
}

// unwrap removes the wrappers at the beginning of the command line in words, up to the program that
// they run. A wrapper that runs no program stays.
func unwrap(words []string, known []bool) ([]string, []bool, how) {
	var h how
	for len(words) > 0 && known[0] {
		name := programName(words[0], true)
		wrap, ok := wrappers.Get()[name]
		if !ok {
			break
		}
		n, ok := wrap.behind(words)
		if !ok {
			break
		}
		h.feeds, h.remote, h.hides = h.feeds || wrap.feeds, wrap.remote, h.hides || wrap.hides
		if into, ok := wrap.value(wrap.into, words[1:n], known[1:n]); ok {
			h.into = append(h.into, into)
		}
		mark, _ := wrap.value(wrap.marks, words[1:n], known[1:n])
		words, known = words[n:], known[n:]
		if wrap.feeds {
			var replaced bool
			if known, replaced = unmarked(words, known, mark.text); replaced {
				h.feeds = false
			}
		}
		if wrap.line {
			h.name, h.line = name, true
			break
		}
	}
	return words, known, h
}

// value returns the value of one of the given options among the words of a wrapper.
func (w *wrapper) value(options string, words []string, known []bool) (word, bool) {
	for i, a := range words {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case text.HasWord(options, a) && text.HasWord(w.valued, a) && i+1 < len(words):
			return word{a, words[i+1], known[i+1]}, true
		case joined && strings.HasPrefix(a, "--") && text.HasWord(options, name):
			return word{name, value, known[i]}, true
		case len(a) > 2 && text.HasWord(options, a[:2]):
			return word{a[:2], a[2:], known[i]}, true
		}
	}
	return word{}, false
}

// unmarked returns known without the words in which xargs or parallel puts its arguments in place
// of a mark, and whether there are any.
func unmarked(words []string, known []bool, mark string) (left []bool, replaced bool) {
	left = slices.Clone(known)
	for i, a := range words {
		for _, m := range [...]string{"{}", "{.}", "{/}", "{//}", "{/.}", mark} {
			if m != "" && strings.Contains(a, m) {
				left[i], replaced = false, true
			}
		}
	}
	return left, replaced
}

// behind returns the index in words of the program that a wrapper runs. ok is false if it runs
// none.
func (w *wrapper) behind(words []string) (at int, ok bool) {
	at = 1
	options := func() bool {
		for at < len(words) && strings.HasPrefix(words[at], "-") {
			o := words[at]
			if o == "--" {
				at++
				return true
			}
			if text.HasWord(w.asks, o) {
				return false
			}
			if at++; text.HasWord(w.valued, o) {
				at++
			}
		}
		return true
	}
	if !options() {
		return 0, false
	}
	if at+1 < len(words) && text.HasWord(w.may, words[at]) {
		at++
	}
	if w.verbs != "" {
		if at >= len(words) || !text.HasWord(w.verbs, words[at]) {
			return 0, false
		}
		at++
		options()
	}
	at += w.operands
	for w.sets && at < len(words) && isAssignment(words[at]) {
		at++
	}
	return at, at < len(words)
}

// isAssignment reports whether a word before a program sets a variable. Unlike a shell, env and sudo
// take any name.
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != ""
}

// isShell reports whether a program is a shell.
func isShell(name string) bool {
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "bash", "sh", "zsh", "dash", "ksh":
		return true
	}
	return false
}

// shellLine returns the line that the arguments of a shell give after -c. ok is false if there is
// none. plain is true if all of the line is known.
func shellLine(args []string, known []bool) (line string, plain, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case len(a) < 2 || a[0] != '-' && a[0] != '+':
			return "", false, false // the arguments name a script file
		case a[0] == '-' && a[1] != '-' && strings.Contains(a, "c"):
			if i += taken(a); i+1 < len(args) {
				return args[i+1], known[i+1], true
			}
		default:
			i += taken(a)
		}
	}
	return "", false, false
}

// taken returns the number of words that an option of a shell takes as its value. Letters may be
// joined: -euo pipefail.
func taken(option string) int {
	long := strings.HasPrefix(option, "--")
	if option == "--rcfile" || option == "--init-file" || !long && (strings.HasSuffix(option, "o") || strings.HasSuffix(option, "O")) {
		return 1
	}
	return 0
}

// lineOf returns the line that command c, a shell or eval, runs: from its arguments or its input.
// ok is false if there is none. plain is true if all of the line is known.
func (w *walker) lineOf(c *Command) (line string, plain, ok bool) {
	if c.Name == "eval" {
		return strings.Join(c.Args, " "), all(c.known), len(c.Args) > 0
	}
	if line, plain, ok = shellLine(c.Args, c.known); ok {
		return line, plain, true
	}
	for i := 0; i < len(c.Args) && c.Args[i] != "-s"; i++ {
		a := c.Args[i]
		if len(a) < 2 || a[0] != '-' && a[0] != '+' { // a script file
			return "", false, false
		}
		i += taken(a)
	}
	return c.Input, true, c.Fed
}
