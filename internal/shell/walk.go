package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/carrel-dev/carrel/internal/text"
)

// A walker visits the commands of a line in the order in which they run. To read a part of the line
// is to append its commands to out, and to follow how it changes variables and the directory.
type walker struct {
	text  string // the line that is being read
	here  location
	vars  map[string]string   // variables with values known from the line
	texts map[string]string   // texts of files that the line wrote from here-documents, by path
	funcs map[string]function // by name
	deep  int                 // number of enclosing lines and function calls
	left  int                 // steps left
	far   bool                // commands run on another machine
	inner int                 // number of enclosing words
	fatal bool                // a failing command ends the line: set -e
	pipes bool                // a failing command in a pipe fails the pipe: set -o pipefail
	loops int                 // number of enclosing loops over words that are not known
	ended bool                // the line may have ended before the present command, with status 0
	back  bool                // the function may have returned before the present command, with status 0
	out   []Command
}

// A function is a function that the line defines.
type function struct {
	text string // the line that contains it
	body *syntax.Stmt
}

// A sink says where commands read from and print to.
type sink struct {
	shown  bool // their output is in the output of the line
	piped  bool // their input is the output of another command
	counts bool // see Command.Counts
	own    bool // see Command.Own
	always bool // see Command.Always
	exits  bool // counts holds only because of set -e, which ignores a failure in a && b
	lax    bool // set -e has no effect, because the status is tested by && or ||
}

// never says that no status tells anything about the commands, which may not run.
func (s *sink) never() { s.counts, s.own, s.always = false, false, false }

// spend takes a number of steps from those that are left, and reports whether there were enough.
// This limits the time that a line can take.
func (w *walker) spend(steps int) bool {
	w.left -= steps
	return w.left >= 0
}

// add appends a command.
func (w *walker) add(c Command) {
	if w.far {
		c.Remote, c.Effects, c.Unknown = true, nil, true
	}
	c.Inner, c.Dir = w.inner > 0, w.here.dir
	sure := !c.Inner && !w.ended && !w.back
	c.Counts, c.Own, c.Always = c.Counts && sure, c.Own && sure, c.Always && sure && !w.fatal
	c.Again = w.loops > 0
	w.out = append(w.out, c)
}

// group appends a command for redirections around a group of commands.
func (w *walker) group(r *redirection) {
	if len(r.effects) > 0 || r.fed {
		w.add(Command{Effects: r.effects, Input: r.input, Fed: r.fed})
	}
}

func (w *walker) statements(list []*syntax.Stmt, to sink) {
	for i, s := range list {
		one := to
		if i < len(list)-1 {
			one.counts, one.exits = to.counts && w.fatal && !to.lax, true
		}
		w.statement(s, one)
	}
}

// statement reads a statement: a command with its redirections.
func (w *walker) statement(s *syntax.Stmt, to sink) {
	if !w.spend(1) {
		return
	}
	r := w.redirections(s.Redirs)
	if r.takes {
		to.shown = false
	}
	if s.Background || s.Negated {
		to.never()
	}
	call, isCall := s.Cmd.(*syntax.CallExpr)
	switch {
	case s.Cmd == nil:
		w.group(&r)
	case isCall && s.Background:
		w.aside(func() { w.call(call, r, to) })
	case isCall:
		w.call(call, r, to)
	default:
		w.group(&r)
		if s.Background {
			w.aside(func() { w.compound(s.Cmd, to) })
		} else {
			w.compound(s.Cmd, to)
		}
	}
}

// aside calls the function f, which reads commands of a subshell. Afterwards it undoes their
// changes of variables, directory and options, and goes on although they may have ended it.
func (w *walker) aside(f func()) {
	here, vars, fatal, pipes, ended, back := w.here, w.vars, w.fatal, w.pipes, w.ended, w.back
	w.vars = maps.Clone(vars)
	f()
	w.here, w.vars, w.fatal, w.pipes, w.ended, w.back = here, vars, fatal, pipes, ended, back
}

// maybe calls the function f, which reads commands that may not run. Afterwards the variables that
// they change are unknown, and so is the directory if they change it.
func (w *walker) maybe(f func()) {
	here, vars := w.here, w.vars
	w.vars = maps.Clone(vars)
	f()
	w.agree(vars)
	if w.here != here {
		w.here = location{}
	}
}

// agree forgets the variables whose values are not the same as in before.
func (w *walker) agree(before map[string]string) {
	maps.DeleteFunc(w.vars, func(name, now string) bool {
		value, ok := before[name]
		return !ok || value != now
	})
}

// again calls the function f, which reads the commands in nodes. The commands may run several
// times, so the variables that they change are unknown from the beginning.
func (w *walker) again(nodes []*syntax.Stmt, f func()) {
	w.maybe(func() {
		for _, n := range nodes {
			syntax.Walk(n, func(n syntax.Node) bool {
				switch n := n.(type) {
				case *syntax.Subshell, *syntax.CmdSubst:
					return false
				case *syntax.Stmt:
					return w.spend(1)
				case *syntax.Assign:
					if n.Name != nil {
						delete(w.vars, n.Name.Value)
					}
				case *syntax.WordIter:
					delete(w.vars, n.Name.Value)
				case syntax.ArithmExpr, *syntax.LetClause:
					w.computes(n)
				case *syntax.CallExpr:
					if len(n.Args) == 0 {
						break
					}
					switch n.Args[0].Lit() {
					case "cd", "pushd", "popd", "builtin", "command":
						w.here = location{}
					case "shift", "set":
						w.positional()
					case "read", "eval", "source", ".", "printf", "mapfile", "readarray", "getopts":
						clear(w.vars)
					}
				}
				return true
			})
		}
		w.loops++
		f()
		w.loops--
	})
}

// binary reads a pipe or a list of two statements.
func (w *walker) binary(c *syntax.BinaryCmd, to sink) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		w.aside(func() {
			w.statement(c.X, sink{piped: to.piped, counts: to.counts && w.pipes, own: to.own, always: to.always, lax: to.lax})
		})
		w.aside(func() {
			w.statement(c.Y, sink{shown: to.shown, piped: true, counts: to.counts, own: to.own, always: to.always, lax: to.lax})
		})
	case syntax.OrStmt: // the second command runs if the first failed
		first := to
		only := fails(c.Y)
		first.counts, first.own, first.exits, first.lax = to.counts && only, to.own && only, false, true
		w.statement(c.X, first)
		here := w.here
		to.never()
		w.maybe(func() { w.statement(c.Y, to) })
		w.here = here
	case syntax.AndStmt:
		to.counts = to.counts && !to.exits
		first := to
		first.lax = true
		w.statement(c.X, first)
		to.always = false
		w.statement(c.Y, to)
	}
}

// compound reads a command that contains others. The sink to says where their output goes, and whether
// a status 0 of theirs counts.
func (w *walker) compound(cmd syntax.Command, to sink) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		w.binary(c, to)
	case *syntax.Subshell:
		to.exits = false
		w.aside(func() { w.statements(c.Stmts, to) })
	case *syntax.Block:
		w.statements(c.Stmts, to)
	case *syntax.IfClause:
		to.never()
		for ; c != nil; c = c.Else {
			w.statements(c.Cond, to)
			w.maybe(func() { w.statements(c.Then, to) })
		}
	case *syntax.WhileClause:
		to.never()
		w.again(slices.Concat(c.Cond, c.Do), func() {
			w.statements(c.Cond, to)
			w.statements(c.Do, to)
		})
	case *syntax.ForClause:
		w.loop(c, to)
	case *syntax.CaseClause:
		to.never()
		w.within(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.within(p)
			}
			w.maybe(func() { w.statements(item.Stmts, to) })
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			if w.funcs == nil {
				w.funcs = make(map[string]function)
			}
			w.funcs[c.Name.Value] = function{w.text, c.Body}
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.statement(c.Stmt, to)
		}
	case *syntax.CoprocClause:
		w.aside(func() { w.statement(c.Stmt, sink{}) })
	case *syntax.DeclClause:
		w.declaration(c, to)
	case *syntax.TestClause:
		w.within(c)
		w.add(Command{Name: "[[", Shown: to.shown, Counts: to.counts, Own: to.own, Always: to.always})
	default: // arithmetic
		w.within(c)
	}
}

// declaration reads export, local, readonly and the like.
func (w *walker) declaration(c *syntax.DeclClause, to sink) {
	cmd := Command{Name: c.Variant.Value, Shown: to.shown, Counts: to.counts, Own: to.own, Always: to.always}
	for _, a := range c.Args {
		w.assign(a)
		word := w.source(a)
		cmd.Args, cmd.known = append(cmd.Args, word), append(cmd.known, true)
	}
	w.add(cmd)
}

// loop reads a loop; if its words are plain, once per word.
func (w *walker) loop(c *syntax.ForClause, to sink) {
	to.never() // the status is that of the last round
	over, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.within(c.Loop)
		w.again(c.Do, func() { w.statements(c.Do, to) })
		return
	}
	words, known := w.words(over.Items)
	if len(words) == 0 || !all(known) {
		w.again(c.Do, func() {
			delete(w.vars, over.Name.Value)
			w.statements(c.Do, to)
		})
		return
	}
	for _, word := range words {
		if !w.spend(1) {
			return
		}
		w.set(over.Name.Value, word, true)
		w.statements(c.Do, to)
	}
}

// assign reads an assignment.
func (w *walker) assign(a *syntax.Assign) {
	if a.Value == nil || a.Name == nil {
		w.within(a)
		if !a.Naked {
			w.set(a.Name.Value, "", false)
		}
		return
	}
	if a.Index != nil {
		w.within(a.Index)
	}
	value, known := w.expand(a.Value)
	w.set(a.Name.Value, value, known && !a.Append && a.Index == nil)
}

// maxValue is the maximum length of a variable's value in bytes, and maxVars the maximum
// number of variables.
const (
	maxValue = 1 << 10
	maxVars  = 64
)

// set records the value of a variable, or, if known is false, forgets it.
func (w *walker) set(name, value string, known bool) {
	if _, there := w.vars[name]; !known || len(value) > maxValue || !there && len(w.vars) == maxVars {
		delete(w.vars, name)
		return
	}
	if w.vars == nil {
		w.vars = make(map[string]string)
	}
	w.vars[name] = value
}

// positional forgets the arguments of the line or the function: $1 and the others.
func (w *walker) positional() {
	for c := '1'; c <= '9'; c++ {
		delete(w.vars, string(c))
	}
}

// computes forgets the variables that a node sets by arithmetic: x++, x = 1, let.
func (w *walker) computes(n syntax.Node) {
	var to syntax.ArithmExpr
	switch n := n.(type) {
	case *syntax.LetClause:
		clear(w.vars) // its words may be quoted
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			to = n.X
		}
	case *syntax.BinaryArithm:
		if op := n.Op.String(); strings.HasSuffix(op, "=") && !text.HasWord("== != <= >=", op) {
			to = n.X
		}
	}
	if word, ok := to.(*syntax.Word); ok {
		if delete(w.vars, word.Lit()); word.Lit() == "" {
			clear(w.vars)
		}
	}
}

// A redirection is the combined effect of a statement's redirections.
type redirection struct {
	effects []Effect
	input   string
	fed     bool
	takes   bool // the output goes to a file
}

func (w *walker) redirections(list []*syntax.Redirect) redirection {
	var r redirection
	for _, one := range list {
		name, known := w.expand(one.Word)
		act := Act("")
		switch one.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.RdrAllClob:
			act = Write
		case syntax.AppOut, syntax.AppClob, syntax.AppAll, syntax.AppAllClob:
			act = Append
		case syntax.RdrInOut:
			act = Edit
		case syntax.RdrIn:
			act = Read
		case syntax.Hdoc, syntax.DashHdoc:
			r.fed = true
			if one.Hdoc != nil {
				w.within(one.Hdoc)
				r.input = body(w.source(one.Hdoc), name)
			}
		case syntax.WordHdoc:
			r.input, r.fed = name, true
		case syntax.DplOut: // >&2 is another stream, >&name a file
			if known && strings.Trim(name, "0123456789-") == "" {
				continue
			}
			act = Write
		case syntax.DplIn:
		}
		if act == "" {
			continue
		}
		r.takes = r.takes || act != Read && (one.N == nil || one.N.Value == "1")
		device := known && strings.HasPrefix(name, "/dev/")
		if !device && !w.isProcess(one.Word) {
			r.effects = append(r.effects, Effect{Act: act, Path: w.here.path(name, known)})
		}
	}
	return r
}

// body returns the text of a here-document without its end line.
func body(text, end string) string {
	i := strings.LastIndexByte(text, '\n') + 1
	if strings.TrimLeft(text[i:], "\t") == end {
		return text[:i]
	}
	if text != "" && text[len(text)-1] != '\n' { // it ends with the line, and Bash completes it
		text += "\n"
	}
	return text
}

// isProcess reports whether a word is a process substitution, as
// <(ls).
func (w *walker) isProcess(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	_, ok := word.Parts[0].(*syntax.ProcSubst)
	return ok
}

// call reads a simple command.
func (w *walker) call(c *syntax.CallExpr, r redirection, to sink) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assign(a)
		}
		w.group(&r)
		return
	}
	for _, a := range c.Assigns { // the variables are set for this command only
		w.within(a)
	}
	words, known := w.words(c.Args)
	w.run(words, known, r, to)
}

// run appends the program that is run by the command line in words. Before that it removes programs
// that only run another program, such as timeout 60.
func (w *walker) run(words []string, known []bool, r redirection, to sink) {
	words, known, how := unwrap(words, known)
	if len(how.into) > 0 {
		here := w.here
		defer func() { w.here = here }()
		for _, d := range how.into {
			w.here.enter(d.text, d.known)
		}
	}
	if how.hides {
		to.never()
	}
	if how.line {
		w.group(&r)
		far := w.far
		w.far = far || how.remote
		w.handed(strings.Join(words, " "), Command{Name: how.name}, all(known), to)
		w.far = far
		return
	}
	c := Command{Args: words[1:], known: known[1:], Input: r.input, Fed: r.fed, Shown: to.shown, Piped: to.piped, Counts: to.counts, Own: to.own, Always: to.always}
	c.Name = programName(words[0], known[0])
	if f, ok := w.funcs[c.Name]; ok && known[0] {
		w.function(c, f, r, to)
		return
	}
	c.Effects = r.effects
	here := w.here
	switch {
	case !known[0] && c.Name == "":
		c.Unknown = true
	case isShell(c.Name) || c.Name == "eval":
		if line, plain, ok := w.lineOf(&c); ok {
			w.handed(line, c, plain, to)
			return
		}
		clear(w.vars)
		c.Unknown = true
	case text.HasWord("cd pushd popd", c.Name):
		w.change(&c)
	case c.Name == "find":
		w.found(&c, sink{shown: to.shown, piped: to.piped})
	case c.Name == "trap" && len(c.Args) > 1 && len(c.Args[0]) > 1:
		w.handed(c.Args[0], c, known[1], sink{shown: to.shown, piped: to.piped})
		return
	case text.HasWord("set shift exit return", c.Name):
		w.control(&c)
	case text.HasWord("read unset printf mapfile readarray getopts source .", c.Name):
		clear(w.vars) // the command may set any variable
		w.touch(&c, how.feeds)
	default:
		w.touch(&c, how.feeds)
	}
	w.wrote(&c)
	w.add(c)
	if c.Name == "git" {
		w.here = here
	}
}

// control notes what a command changes in the shell that runs the line: its options, its arguments, or
// that it ends.
func (w *walker) control(c *Command) {
	switch c.Name {
	case "set":
		w.options(c.Args)
		if slices.Contains(c.Args, "--") {
			w.positional()
		}
	case "shift":
		w.positional()
	case "exit":
		w.ended = w.ended || !failing(c.Args)
	case "return":
		w.back = w.back || !failing(c.Args)
	}
}

// options notes which of the options -e (errexit) and pipefail the arguments of the command set
// turn on or off.
func (w *walker) options(args []string) {
	for i, a := range args {
		switch {
		case a == "pipefail" && i > 0 && strings.HasSuffix(args[i-1], "o"):
			w.pipes = args[i-1][0] == '-'
		case a == "errexit" && i > 0 && strings.HasSuffix(args[i-1], "o"):
			w.fatal = args[i-1][0] == '-'
		case len(a) > 1 && a[1] != '-' && strings.Contains(a, "e"):
			w.fatal = a[0] == '-' || w.fatal && a[0] != '+'
		}
	}
}

// failing reports whether args, the arguments of the command exit, are a status other than 0.
func failing(args []string) bool {
	return len(args) == 1 && strings.Trim(args[0], "0123456789") == "" && strings.Trim(args[0], "0") != ""
}

// fails reports whether a statement only fails: exit 1, false.
func fails(s *syntax.Stmt) bool {
	for {
		b, ok := s.Cmd.(*syntax.BinaryCmd)
		if block, is := s.Cmd.(*syntax.Block); is && len(block.Stmts) > 0 {
			s = block.Stmts[len(block.Stmts)-1]
			continue
		}
		if !ok || b.Op != syntax.AndStmt {
			break
		}
		s = b.Y
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || s.Negated {
		return false
	}
	switch call.Args[0].Lit() {
	case "false":
		return len(call.Args) == 1
	case "exit", "return":
		return len(call.Args) == 2 && failing([]string{call.Args[1].Lit()})
	}
	return false
}

// change reads a change of the directory.
func (w *walker) change(c *Command) {
	at, known := "~", c.Name == "cd"
	for i, a := range c.Args {
		if c.Name == "cd" && (a == "--" || a == "-P" || a == "-L") {
			continue
		}
		at, known = a, c.known[i]
	}
	w.here.enter(at, known)
}

// function reads the body of a function at a call.
func (w *walker) function(c Command, f function, r redirection, to sink) {
	if w.deep >= maxDeep {
		c.Unknown = true
		w.add(c)
		return
	}
	w.group(&r)
	w.deep++
	outer, text, back := w.vars, w.text, w.back
	w.vars, w.text = maps.Clone(outer), f.text
	w.positional()
	for i, a := range c.Args {
		w.set(string(rune('1'+i)), a, c.known[i] && i < 9)
	}
	w.statement(f.body, to)
	w.agree(outer)
	w.deep--
	w.text, w.back = text, back
}

// handed reads a line that command c hands to a shell, such as the argument of bash -c. If the line
// cannot be read, handed appends c itself, as a command with unknown effects. plain says that the
// text of the line is known.
func (w *walker) handed(line string, c Command, plain bool, to sink) {
	c.Shown, c.Counts, c.Own, c.Always = to.shown, to.counts, to.own, to.always
	file, err := (*syntax.File)(nil), ErrLong
	if plain && w.deep < maxDeep && w.spend(len(line)/textStep) {
		file, err = parse(line)
	}
	if err != nil {
		clear(w.vars)
		c.Unknown = true
		w.add(c)
		return
	}
	if len(c.Effects) > 0 {
		w.add(Command{Effects: c.Effects})
	}
	w.deep++
	outer := w.text
	w.text = line
	ended := false
	switch c.Name {
	case "eval":
		w.statements(file.Stmts, to)
	case "trap":
		w.aside(func() {
			w.statements(file.Stmts, to)
			ended = w.ended && slices.ContainsFunc(c.Args, func(a string) bool { return text.HasWord("EXIT 0 ERR DEBUG RETURN", a) })
		})
	default: // a shell of its own
		to.exits, to.lax = false, false
		w.aside(func() {
			w.fatal, w.pipes = false, false
			w.statements(file.Stmts, to)
		})
	}
	w.ended = w.ended || ended
	w.text = outer
	w.deep--
}

// within reads the substitutions in a node.
func (w *walker) within(n syntax.Node) {
	w.inner++
	defer func() { w.inner-- }()
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.aside(func() { w.statements(n.Stmts, sink{}) })
			return false
		case *syntax.ProcSubst:
			w.aside(func() { w.statements(n.Stmts, sink{}) })
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil { // perhaps ${x:=y}
				delete(w.vars, n.Param.Value)
			}
		case syntax.ArithmExpr, *syntax.LetClause:
			w.computes(n)
		}
		return true
	})
}
