package facts

import (
	"math"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
)

// A commandLine is a command line that was read once.
type commandLine struct {
	*shell.Line
	whole string
}

// readLine reads a command line. One that is no line of a shell has no commands, and
// its text is all of it.
func readLine(line string) commandLine {
	l, err := shell.Parse(line)
	if err != nil {
		l = &shell.Line{Text: line}
	}
	return commandLine{l, line}
}

// said returns what tells most of a line: without comments and changes of the directory
// before it, and the texts of here-documents.
func (l commandLine) said() string {
	line := l.Text
	if i := strings.Index(line, "<<"); i >= 0 && !strings.Contains(line[:i], "$(") {
		if end := strings.IndexByte(line[i:], '\n'); end >= 0 {
			line = line[:i+end]
		}
	}
	return text.Line(line, lineRunes)
}

// run returns the directory in which a line runs what it runs, and that on one line
// and without 2>&1 at the end.
func (l commandLine) run() (dir, rest string) {
	return l.Dir, strings.TrimSuffix(text.Fold(l.Text), " 2>&1")
}

// shows reports whether a line only shows what is there.
func (l commandLine) shows() bool {
	for i := range l.Commands {
		if c := &l.Commands[i]; !c.Looks() && !c.Silent() {
			return false
		}
	}
	return len(l.Commands) > 0
}

// doers returns how many commands of a line do more than change the directory or
// say something.
func (l commandLine) doers() int {
	n, outer := 0, 0
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Inner {
			continue
		}
		outer++
		switch c.Name {
		case "", "cd", "echo", "head", "tail":
		default:
			n++
		}
	}
	if outer == 1 {
		return 1
	}
	return n
}

// keys returns, for each command of a line that does something, what makes two of them
// attempts at the same thing: its words without options.
func (l commandLine) keys() []string {
	var keys []string
	for i := range l.Commands {
		switch c := &l.Commands[i]; {
		case c.Inner || c.Silent():
		case c.Name == "git":
			verb, _ := c.Verb()
			keys = append(keys, "git "+verb)
		case c.Looks():
		default:
			words := c.Operands()
			keys = append(keys, strings.Join(append([]string{c.Name}, words[:min(len(words), 4)]...), " "))
		}
	}
	if len(l.Commands) == 0 && l.Text != "" { // nothing else is known of it
		keys = append(keys, l.said())
	}
	return keys
}

// changes returns what the commands of a line do to files that somebody works on: not
// what programs leave of their own, such as logs and binaries.
func (l commandLine) changes() []change {
	var out []change
	for i := range l.Commands {
		c := &l.Commands[i]
		switch c.Name {
		case "apply_patch", "applypatch", "patch", "git":
			if list := fromPatches(patchesOf(c)); len(list) > 0 {
				n := 0
				for _, e := range c.Effects { // they have the same order, and the directory
					if e.Act != shell.Read && n < len(list) {
						list[n].path = e.Path
						n++
					}
				}
				out = append(out, list[:n]...)
				continue
			}
		}
		for _, e := range c.Effects {
			if ch, ok := changeOf(c, e); ok && isName(ch.path) {
				out = append(out, ch)
			}
		}
	}
	return out
}

// patchesOf returns what the patch does that a command is given in the line.
func patchesOf(c *shell.Command) []shell.Patch {
	switch {
	case c.Fed:
		return shell.Patches(c.Input)
	case c.Name != "git" && c.Name != "patch":
		return shell.Patches(strings.Join(c.Args, " "))
	}
	return nil
}

// changeOf returns what a command does to a file.
func changeOf(c *shell.Command, e shell.Effect) (change, bool) {
	switch e.Act {
	case shell.Delete:
		return change{e.Path, StatusDeleted, ""}, true
	case shell.Touch:
		return change{e.Path, StatusCreated, ""}, true
	case shell.Rename:
		return change{e.Path, statusMoved, "from " + e.From}, e.From != ""
	case shell.Edit:
		return change{e.Path, StatusModified, text.Line(c.Script(), valueRunes)}, true
	case shell.Write, shell.Append:
		body := c.Input
		switch c.Name {
		case "echo", "printf":
			if body == "" {
				body = strings.Join(c.Operands(), " ")
			}
		case "cp":
			return change{e.Path, StatusCreated, "copy of " + e.From}, e.From != ""
		case "", "cat", "tee":
		default:
			return change{}, false
		}
		if e.Act == shell.Append {
			return change{e.Path, StatusModified, difference(e.Path, "", body)}, true
		}
		return change{e.Path, StatusCreated, contents(e.Path, body)}, true
	case shell.Read:
	}
	return change{}, false
}

// isName reports whether a path may be one of a file that is worth a fact.
func isName(path string) bool {
	return path != "" && len(path) < 300 && !strings.ContainsAny(path, "\n\x00") && path != "." && path != ".."
}

// writings returns what the commands of a line do to files.
func (l commandLine) writings() []writing {
	var out []writing
	for i := range l.Commands {
		for _, e := range l.Commands[i].Effects {
			if !isName(e.Path) {
				continue
			}
			switch e.Act {
			case shell.Write, shell.Touch:
				out = append(out, writing{e.Path, StatusCreated, true})
			case shell.Append, shell.Edit:
				out = append(out, writing{e.Path, StatusModified, false})
			case shell.Delete:
				out = append(out, writing{e.Path, StatusDeleted, true})
			case shell.Rename:
				out = append(out, writing{e.Path, statusMoved, true})
				if e.From != "" {
					out = append(out, writing{e.From, StatusDeleted, true})
				}
			case shell.Read:
			}
		}
	}
	return out
}

// A seen is a file that a command shows, or a part of it.
type seen struct {
	path string
	part extent
}

// readings returns the files that the commands of a line show. What a pipe leaves
// of them is not known.
func (l commandLine) readings() []seen {
	var out []seen
	for i := range l.Commands {
		c := &l.Commands[i]
		if !c.Looks() {
			continue
		}
		part := extent{}
		switch c.Name {
		case "cat", "nl", "bat", "less", "more":
			part = allLines
		case "head":
			part = headed(c.Args)
		case "sed":
			part = printed(c.Script())
		}
		if !c.Shown {
			part = extent{}
		}
		for _, e := range c.Effects {
			if isName(e.Path) && (part != extent{} || isFile(e.Path[strings.LastIndexByte(e.Path, '/')+1:])) {
				out = append(out, seen{e.Path, part})
			}
		}
	}
	return out
}

// headed returns the part of a file that head shows with some arguments.
func headed(args []string) extent {
	lines := 10
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-n" && i+1 < len(args):
			i++
			a = args[i]
		case strings.HasPrefix(a, "-n"):
			a = a[2:]
		case strings.HasPrefix(a, "-c"):
			return extent{}
		default:
			a = strings.TrimPrefix(a, "-")
		}
		switch n, err := strconv.Atoi(a); {
		case err == nil && n < 0: // all but the last
			return extent{}
		case err == nil && n > 0:
			lines = n
		}
	}
	return extent{1, lines}
}

// printed returns the lines that a script of sed prints, such as 10,40p.
func printed(script string) extent {
	lines, ok := strings.CutSuffix(script, "p")
	from, to, two := strings.Cut(lines, ",")
	a, err := strconv.Atoi(from)
	if !ok || err != nil || a < 1 {
		return extent{}
	}
	b := a
	switch {
	case two && to == "$":
		b = math.MaxInt
	case two:
		if b, err = strconv.Atoi(to); err != nil || b < a {
			return extent{}
		}
	}
	return extent{a, b}
}
