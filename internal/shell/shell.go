// Package shell reads command lines as agents give them to a shell: which programs
// run, with which words, in which directory, and which files they read, write, delete
// and rename.
//
//	line, err := shell.Parse("cd web && sudo -u bob rm -f old.js")
//	// line.Commands[1].Name is "rm", of line.Commands[1].Effects there is one:
//	// {Act: Delete, Path: "web/old.js"}
//
// The language is that of Bash, and the parser that of mvdan.cc/sh. This package adds four
// tables: the programs that run other programs (sudo, timeout, xargs), the effects of programs
// on the files that their words name, the programs that only read or print, and the git
// commands. It follows cd, variables that are set to plain
// text, loops over plain words, functions, substitutions and lines within lines
// (bash -c "…", eval, here-documents for a shell). It assumes that commands succeed: after
// cd x && … and cd x || exit the directory is x.
//
// It does not guess. A word that only the shell can expand (a variable that the line does
// not set, a pattern, a substitution) names no file: its effect has no path. A program in
// none of the tables, and a program given in the line (python -c), is [Command.Unknown]. Of
// a program of Python, the files that it writes by a plain name are known. A line that is
// not valid Bash is an error and has no commands.
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

// A Line is a parsed command line.
type Line struct {
	// Text is the line without its leading comments and changes to a directory that is known. If the
	// line only hands another line to a shell (bash -lc "…"), Text is that of the other
	// line.
	Text string

	// Dir is the directory after the changes before Text, as in [Effect.Path].
	// It is empty if there are none.
	Dir string

	// Commands are the commands that the line runs, in the order in which they begin;
	// a command in a substitution precedes the command around it. The body of a function
	// occurs at each call, the body of a loop over plain words once per round, and all
	// branches of a condition occur.
	Commands []Command
}

// A Command is a program with its words. Words before the program (variables,
// sudo -u bob, timeout 60) are not part of it.
type Command struct {
	// Name is the program without its folder. It is empty if only the shell can expand
	// it, and for a command that only sets variables or only redirects the output of a
	// group of commands.
	Name string

	// Args are the words after the program, without quotes. A word that only the shell can
	// expand is as written in the line.
	Args []string

	// Input is the text of a here-document or here-string that the command reads. Fed
	// reports whether the line has one.
	Input string
	Fed   bool

	// Shown is whether the output of the command is in the output of the line: no pipe,
	// substitution or file takes it.
	Shown bool

	// Piped is whether the command reads the output of another command, unless its words
	// name files.
	Piped bool

	// Inner is whether the command runs inside a word of another command, $(…) or <(…).
	Inner bool

	// Counts is whether a status 0 of the line implies that the command ran and had status 0.
	// It is false for the command a in "a | b", "a; b", "a || b", "a &" and
	// "if a; then b; fi".
	Counts bool

	// Own is whether a status 0 directly behind the command, as echo $? prints it, implies that
	// the command ran and had status 0. It is false for the command a in "b || a", "! a", "a &"
	// and "if b; then a; fi".
	Own bool

	// Always is whether the command runs whatever status the others have. Again is whether it
	// may run several times, because it is in a loop over words that are not known.
	Always, Again bool

	// Remote is whether the command runs on another machine, whose files do not matter here.
	Remote bool

	// Dir is the directory in which the command runs, as in [Effect.Path]. It is empty for the
	// initial directory, and if only the shell knows the directory.
	Dir string

	// Effects are the effects of the command on files, in the order of its words.
	Effects []Effect

	// Unknown is whether the command may have effects on files that are not in Effects.
	Unknown bool

	known []bool // for each of Args: the shell passes it on exactly as written here
}

// An Act is the kind of an effect on a file.
type Act string

// The acts.
const (
	Read   Act = "read"
	Write  Act = "write"  // the file is created, or its whole content is replaced
	Touch  Act = "touch"  // the file is created if it does not exist
	Append Act = "append" // text is added at the end; the file is created if it does not exist
	Edit   Act = "edit"   // parts of the file change, or its content is replaced by text that is not in the line
	Delete Act = "delete" // the file, or the directory with its content, is removed
	Rename Act = "rename"
)

// An Effect is the effect of a command on one file or directory.
type Effect struct {
	Act Act

	// Path is relative to the directory in which the line begins, or absolute, or
	// begins with ~, and is clean. It is empty if only the shell knows it.
	Path string

	// From is the old path of a renamed file, or the source of a copy.
	From string
}

// ErrLong is returned for lines of more than [MaxLine] bytes, and for lines that expand to
// too many commands by loops, functions or brackets.
var ErrLong = errors.New("the command line is too long")

// MaxLine is the maximum length of a line in bytes. Linux limits an argument of a program to
// this length.
const MaxLine = 128 << 10

// maxSteps limits the expansion of a line by loops and functions. A step is a statement that
// runs, or textStep bytes of a word or of a line within the line.
const (
	maxSteps = 1 << 16
	textStep = 64
)

// maxDeep is the maximum depth of lines within lines and of function calls.
const maxDeep = 8

// maxBrackets is the maximum nesting of brackets of one kind. The parser's time grows with the
// square of the nesting.
const maxBrackets = 1000

// nested reports whether brackets are nested more deeply than maxBrackets.
func nested(line string) bool {
	round, curly := 0, 0
	for i := 0; i < len(line) && round <= maxBrackets && curly <= maxBrackets; i++ {
		switch line[i] {
		case '(':
			round++
		case ')':
			round = max(0, round-1)
		case '{':
			curly++
		case '}':
			curly = max(0, curly-1)
		}
	}
	return round > maxBrackets || curly > maxBrackets
}

// Parse parses a command line. The error is [ErrLong], or names the position where the line is
// not valid Bash. A carriage return before a line feed is removed, also inside quotes.
func Parse(line string) (*Line, error) {
	if len(line) > MaxLine {
		return nil, fmt.Errorf("%w: it has %d bytes, more than the limit of %d", ErrLong, len(line), MaxLine)
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
			break // it stays a shell with input
		}
		line, file = inner, next
	}
	l := new(Line)
	l.Dir, l.Text = lead(line, file)
	w.text = line
	w.here.known = true
	w.statements(file.Stmts, sink{shown: true, counts: true, own: true, always: true})
	if w.left < 0 {
		return nil, fmt.Errorf("%w: its loops, functions and brackets expand to more than %d steps", ErrLong, maxSteps)
	}
	l.Commands = w.out
	return l, nil
}

// parsers holds idle parsers, because creating one takes much of the time to parse a line.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// parse parses a line as Bash. As in Bash, a here-document without an end line ends with the
// line.
func parse(line string) (*syntax.File, error) {
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	file, err := parser.Parse(strings.NewReader(line), "")
	if err == nil {
		return file, nil
	}
	wrong, _ := errors.AsType[syntax.ParseError](err)
	_, rest, _ := strings.Cut(wrong.Text, "unclosed here-document `")
	if end, _, found := strings.Cut(rest, "`"); found {
		if file, err := parser.Parse(strings.NewReader(line+"\n"+end+"\n"), ""); err == nil {
			return file, nil
		}
	}
	return nil, err
}

// Quote joins words to a line that a shell splits into the same words.
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

// passedLine returns the line that a line hands to a shell. ok is false if it does more.
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

// lead returns the directory to which a line first changes, and the rest of the line. The rest
// begins with the changes after which the directory is not known.
func lead(line string, file *syntax.File) (dir, rest string) {
	parts := sequence(nil, file.Stmts)
	if len(parts) == 0 {
		return "", ""
	}
	place, begin := location{known: true}, 0
	for i, p := range parts[:len(parts)-1] {
		to, known, ok := changesTo(p.stmt)
		if !ok || p.either {
			break
		}
		if place.enter(to, known); place.known {
			dir, begin = place.dir, i+1
		}
	}
	return dir, strings.TrimSpace(line[parts[begin].stmt.Pos().Offset():])
}

// A part is a statement of a list joined by && and ||.
type part struct {
	stmt   *syntax.Stmt
	either bool // an || follows
}

// sequence appends the parts of statements to list. A list that runs in the background is one part.
func sequence(list []part, stmts []*syntax.Stmt) []part {
	for _, s := range stmts {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok || s.Background || b.Op != syntax.AndStmt && b.Op != syntax.OrStmt {
			list = append(list, part{stmt: s})
			continue
		}
		list = sequence(list, []*syntax.Stmt{b.X})
		list[len(list)-1].either = b.Op == syntax.OrStmt
		list = sequence(list, []*syntax.Stmt{b.Y})
	}
	return list
}

// changesTo returns the directory to which a statement changes. ok is false if it does more.
func changesTo(s *syntax.Stmt) (to string, known, ok bool) {
	call, isCall := s.Cmd.(*syntax.CallExpr)
	if !isCall || s.Background || s.Negated || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) != 2 || call.Args[0].Lit() != "cd" {
		return "", false, false
	}
	var w walker
	to, known = w.word(call.Args[1])
	return to, known, true
}

// A location is the directory in which commands run.
type location struct {
	dir   string // as in [Effect.Path]; empty for the initial directory
	known bool
}

// maxDir is the maximum length of a directory path in bytes, as in Linux.
const maxDir = 4096

// enter follows a command that changes the directory to to. If known is false, the command does
// not tell where it goes, and the location becomes unknown.
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

// path returns the path of a file that a command names, or "" if it is not known.
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
