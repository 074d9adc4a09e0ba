// Package shell reads command lines as agents give them to a shell: which programs
// run, with which words, in which directory, and which files they read, write, delete
// and rename.
//
//	line, err := shell.Parse("cd web && sudo -u bob rm -f old.js")
//	// line.Commands[1].Name is "rm", of line.Commands[1].Effects there is one:
//	// {Act: Delete, Path: "web/old.js"}
//
// The language is that of Bash, and the parser that of mvdan.cc/sh. On top of it this
// package knows four things, each in one table: the programs that run other programs
// (sudo, timeout, xargs), what programs do to the files that their words name, which
// programs only look, and what git does. It follows cd, variables that are set to plain
// text, loops over plain words, functions, substitutions and lines within lines
// (bash -c "…", eval, here-documents for a shell). Commands are taken to succeed: behind
// cd x && … and cd x || exit the directory is x.
//
// It does not guess. A word that only the shell can know (a variable that the line does
// not set, a pattern, a substitution) names no file: its effect has no path. A program
// that no table has, and a program that is given in the line (python -c), is
// [Command.Unknown]. A line that is no Bash is an error and has no commands.
//
// Nothing here reads a file or runs anything. Parsing depends on the line alone, takes
// time in proportion to it, and may be done by several goroutines at once.
package shell

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// A Line is a command line that was read.
type Line struct {
	// Text is what tells most of the line: without the comments and the changes of
	// the directory that it begins with. Of a line that does nothing but hand another
	// one to a shell (bash -lc "…") it is that of the other one.
	Text string

	// Dir is the directory that the changes before Text lead to, as in [Effect.Path].
	// It is empty where there are none, and where it is not known.
	Dir string

	// Commands are those that the line runs, as far as it says so, in the order in
	// which they begin: those in a substitution before the command that has it. The
	// body of a function is where the function is called, that of a loop over plain
	// words as often as it runs, and all branches of a condition are there.
	Commands []Command
}

// A Command is a program that runs with some words. What stands before the program
// (variables, sudo -u bob, timeout 60) is no part of it.
type Command struct {
	// Name is the program without its folder. It is empty where only the shell knows
	// it, and of a command that only sets variables or only redirects what a group of
	// commands prints.
	Name string

	// Args are the words behind the program, without quotes. One that only the shell
	// knows is as it stands in the line.
	Args []string

	// Input is the text that stands in the line for the command to read, in a
	// here-document or a here-string, and Fed whether there is one.
	Input string
	Fed   bool

	// Shown is whether what the command prints is in the output of the line: no pipe,
	// substitution or file takes it.
	Shown bool

	// Piped is whether it reads what another command prints, unless its words name
	// files.
	Piped bool

	// Inner is whether it runs in a word of another command, $(…) or <(…).
	Inner bool

	// Counts is whether the line ends with status 0 only if the command ran and ended so,
	// too. It is false of a, in a | b, in a; b, in a || b, in a & and in if a; then b; fi.
	Counts bool

	// Remote is whether it runs on another machine, whose files are no concern here.
	Remote bool

	// Dir is the directory that it runs in, as in [Effect.Path]. It is empty where the line
	// begins, and where only the shell knows it.
	Dir string

	// Effects are what it does to files, in the order of its words.
	Effects []Effect

	// Unknown is whether it may do to files what Effects does not have.
	Unknown bool

	known []bool // of each of Args, whether the shell passes it on as it is here
}

// An Act is what a command does to a file.
type Act string

// The acts.
const (
	Read   Act = "read"
	Write  Act = "write"  // the file is made, or all that was in it is replaced
	Touch  Act = "touch"  // it is made if it is not there
	Append Act = "append" // something is added at its end; it is made if it is not there
	Edit   Act = "edit"   // parts of it change, or all of it to something else than the line has
	Delete Act = "delete" // the file, or the directory with all that is in it
	Rename Act = "rename"
)

// An Effect is what a command does to one file or directory.
type Effect struct {
	Act Act

	// Path is relative to the directory in which the line begins, or absolute, or
	// begins with ~, and has no detours. It is empty where only the shell knows it.
	Path string

	// From is where the file was that is renamed, or what was copied to it.
	From string
}

// ErrLong is returned for lines of more than [MaxLine] bytes, and for those whose loops,
// functions and brackets make very much of them.
var ErrLong = errors.New("the command line is too long")

// MaxLine is how long a line may be, in bytes. Linux gives no program an argument that
// is longer.
const MaxLine = 128 << 10

// maxSteps bounds what loops and functions make of a line: a step is a statement that
// runs, or textStep bytes of a word or of a line within the line.
const (
	maxSteps = 1 << 16
	textStep = 64
)

// maxDeep is how many lines within lines, and functions within functions, are read.
const maxDeep = 8

// maxBrackets is how deep brackets may be in one another: to read them takes time that
// grows with the square of that.
const maxBrackets = 1000

// nested reports whether brackets are deeper in one another than that.
func nested(line string) bool {
	depth := 0
	for i := 0; i < len(line) && depth <= maxBrackets; i++ {
		switch line[i] {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
	}
	return depth > maxBrackets
}

// Parse reads a command line. The error is [ErrLong], or says where the line is no
// Bash. A carriage return before a line feed is not read, not in quotes either.
func Parse(line string) (*Line, error) {
	if len(line) > MaxLine {
		return nil, fmt.Errorf("%w: it has %d bytes, and %d are read", ErrLong, len(line), MaxLine)
	}
	if nested(line) {
		return nil, fmt.Errorf("%w: it has more than %d brackets in brackets", ErrLong, maxBrackets)
	}
	file, err := parse(line)
	if err != nil {
		return nil, err
	}
	w := &walker{left: maxSteps}
	for w.deep = 0; w.deep < maxDeep; w.deep++ {
		inner, ok := passedLine(file)
		if !ok {
			break
		}
		next, err := parse(inner)
		if err != nil {
			break // it stays a shell that is given something
		}
		line, file = inner, next
	}
	l := new(Line)
	l.Dir, l.Text = lead(line, file)
	w.text = line
	w.here.known = true
	w.statements(file.Stmts, sink{shown: true, counts: true})
	if w.left < 0 {
		return nil, fmt.Errorf("%w: it takes more than %d steps", ErrLong, maxSteps)
	}
	l.Commands = w.out
	return l, nil
}

// parsers has those that are free: to make one is much of the work of reading a line.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// parse reads a line as Bash. A here-document without an end ends with the line, as it
// does in Bash.
func parse(line string) (*syntax.File, error) {
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	file, err := parser.Parse(strings.NewReader(line), "")
	var wrong syntax.ParseError
	if err == nil || !errors.As(err, &wrong) {
		return file, err
	}
	_, rest, ok := strings.Cut(wrong.Text, "unclosed here-document `")
	if end, _, found := strings.Cut(rest, "`"); ok && found && !strings.Contains(end, "\n") {
		if file, err := parser.Parse(strings.NewReader(line+"\n"+end+"\n"), ""); err == nil {
			return file, nil
		}
	}
	return nil, err
}

// Quote joins words to a line that a shell parts into the same words again.
func Quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+./:@%,") != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}

// passedLine returns the line that a line hands to a shell, if it does nothing else.
func passedLine(file *syntax.File) (string, bool) {
	if len(file.Stmts) != 1 {
		return "", false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Background || s.Negated || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) > 4 {
		return "", false
	}
	var w walker
	var words []string
	for _, a := range call.Args {
		text, known := w.word(a)
		if !known {
			return "", false
		}
		words = append(words, text)
	}
	if len(words) == 0 || !isShell(words[0]) {
		return "", false
	}
	line, _, ok := shellLine(words[1:], make([]bool, len(words)-1))
	return line, ok
}

// lead returns the directory that a line changes to before it does anything else, and
// the line from there on.
func lead(line string, file *syntax.File) (dir, rest string) {
	parts := sequence(nil, file.Stmts)
	place := location{known: true}
	for i, p := range parts {
		to, known, ok := changesTo(p.stmt)
		if ok && !p.either && i+1 < len(parts) {
			place.enter(to, known)
			continue
		}
		return place.dir, strings.TrimSpace(line[p.stmt.Pos().Offset():])
	}
	return "", ""
}

// A part is a statement of a line that is parted at && and ||.
type part struct {
	stmt   *syntax.Stmt
	either bool // an || is behind it
}

// sequence adds the parts of statements to a list.
func sequence(list []part, stmts []*syntax.Stmt) []part {
	for _, s := range stmts {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.AndStmt && b.Op != syntax.OrStmt {
			list = append(list, part{stmt: s})
			continue
		}
		list = sequence(list, []*syntax.Stmt{b.X})
		list[len(list)-1].either = b.Op == syntax.OrStmt
		list = sequence(list, []*syntax.Stmt{b.Y})
	}
	return list
}

// changesTo returns the directory that a statement changes to, if it does nothing else.
func changesTo(s *syntax.Stmt) (to string, known, ok bool) {
	call, isCall := s.Cmd.(*syntax.CallExpr)
	if !isCall || s.Background || s.Negated || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) != 2 || call.Args[0].Lit() != "cd" {
		return "", false, false
	}
	var w walker
	to, known = w.word(call.Args[1])
	return to, known, true
}

// A location is the directory that commands run in.
type location struct {
	dir   string // as in [Effect.Path], or empty where the line begins
	known bool
}

// maxDir is how long the path of a directory may be that is followed. It is that of
// Linux.
const maxDir = 4096

// enter changes the directory.
func (l *location) enter(to string, known bool) {
	switch {
	case !known || to == "-" || strings.HasPrefix(to, "+"):
		*l = location{}
	case isRooted(to):
		*l = location{path.Clean(to), true}
	case len(l.dir)+len(to) > maxDir:
		*l = location{}
	case l.known:
		l.dir = path.Join(l.dir, to)
	}
}

// path returns the path of a file that a command names, or an empty string.
func (l *location) path(name string, known bool) string {
	switch {
	case !known || name == "" || name == "-" || strings.HasPrefix(name, "/dev/"):
		return ""
	case isRooted(name):
		return path.Clean(name)
	case !l.known:
		return ""
	}
	return path.Join(l.dir, name)
}

// isRooted reports whether a path does not depend on the directory.
func isRooted(p string) bool { return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") }

func all(list []bool) bool { return !slices.Contains(list, false) }
