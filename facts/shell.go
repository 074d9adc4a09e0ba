package facts

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
)

// A commandLine is a parsed command line with its source text.
type commandLine struct {
	*shell.Line
	whole string
}

// readLine parses a command line. A line with a syntax error has no commands.
func readLine(line string) commandLine {
	l, err := shell.Parse(line)
	if err != nil {
		l = &shell.Line{Text: line}
	}
	return commandLine{l, line}
}

// summary returns the line without leading comments and changes of directory, and without
// the texts of here-documents, shortened to lineRunes.
func (l commandLine) summary() string {
	line := l.Text
	if i := strings.Index(line, "<<"); i >= 0 && !strings.Contains(line[:i], "$(") {
		if end := strings.IndexByte(line[i:], '\n'); end >= 0 {
			line = line[:i+end]
		}
	}
	return text.Line(line, lineRunes)
}

// normalized returns the directory in which a line runs its commands, and the commands on
// one line without 2>&1 at the end. Lines for which both are equal repeat one another.
func (l commandLine) normalized() (dir, rest string) {
	return l.Dir, strings.TrimSuffix(text.Fold(l.Text), " 2>&1")
}

// readOnly reports whether all commands of a line only show something.
func (l commandLine) readOnly() bool {
	for i := range l.Commands {
		if c := &l.Commands[i]; !c.Looks() && !c.Silent() {
			return false
		}
	}
	return len(l.Commands) > 0
}

// begun returns the commands whose effects hold even if the line failed: see [shell.Line.Begun].
func (l commandLine) begun(printed string) commandLine { return commandLine{l.Begun(printed), l.whole} }

// activeCommands returns the number of commands of a line other than cd, echo, head and
// tail. It returns 1 for a line of a single command.
func (l commandLine) activeCommands() int {
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

// keys returns a key for each command of a line that does something: its first words
// without options and, if it is known, the folder in which it ran. Commands with equal keys are
// attempts at the same thing.
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
			key := strings.Join(append([]string{c.Name}, words[:min(len(words), 4)]...), " ")
			if c.Dir != "" {
				key = c.Dir + folderEnd + key
			}
			keys = append(keys, key)
		}
	}
	if len(l.Commands) == 0 && l.Text != "" { // the line has a syntax error
		keys = append(keys, l.summary())
	}
	return keys
}

// folderEnd stands behind the folder in a key.
const folderEnd = "\x01"

// folderOf returns the folder of a key, or "", and the key without it.
func folderOf(key string) (folder, rest string) {
	if folder, rest, ok := strings.Cut(key, folderEnd); ok {
		return folder, rest
	}
	return "", key
}

// changes returns the changes that the commands of a line make to source files. Files that
// programs write on their own, such as logs and binaries, do not count.
func (l commandLine) changes() []change {
	var out []change
	for i := range l.Commands {
		c := &l.Commands[i]
		switch c.Name {
		case "apply_patch", "applypatch", "patch", "git":
			if list := fromPatches(patchesOf(c)); len(list) > 0 {
				n := 0
				for _, e := range c.Effects { // in the same order as list, with paths that include the directory, and those of redirections
					if e.Act != shell.Read && n < len(list) && path.Base(e.Path) == path.Base(list[n].path) {
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

// patchesOf returns the patches that a command gets on standard input or as arguments.
func patchesOf(c *shell.Command) []shell.Patch {
	if !c.Fed && c.Name != "git" && c.Name != "patch" {
		return shell.Patches(strings.Join(c.Args, " "))
	}
	return shell.Patches(c.Input)
}

// changeOf converts an effect of a command to a change. It returns false for an effect
// that becomes no fact.
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
			body = cmp.Or(body, strings.Join(c.Operands(), " "))
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

// isName reports whether a path is plausible as the name of a file.
func isName(name string) bool {
	return name != "" && len(name) < 300 && !strings.ContainsAny(name, "\n\x00") && name != "." && name != ".."
}

// writings returns the files that the commands of a line write.
func (l commandLine) writings() []writing {
	var out []writing
	for i := range l.Commands {
		for _, e := range l.Commands[i].Effects {
			if !isName(e.Path) {
				continue
			}
			switch e.Act {
			case shell.Write:
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
			case shell.Read, shell.Touch: // the content stays
			}
		}
	}
	return out
}

// A shownFile is a file that a command prints, and the part of it that is printed.
type shownFile struct {
	path string
	part extent
}

// readings returns the files that the commands of a line print. The part of a file is
// unknown if the output goes through a pipe.
func (l commandLine) readings() []shownFile {
	var out []shownFile
	for i := range l.Commands {
		c := &l.Commands[i]
		if !c.Looks() {
			continue
		}
		part := extent{}
		switch c.Name {
		case "cat", "nl", "less", "more":
			part = allLines
		case "bat":
			if !slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "-r") || strings.HasPrefix(a, "--line-range") }) {
				part = allLines
			}
		case "head":
			part = headExtent(c.Args)
		case "sed":
			part = sedExtent(c.Script())
		}
		if !c.Shown {
			part = extent{}
		}
		for _, e := range c.Effects {
			if isName(e.Path) && (part != extent{} || isFile(e.Path[strings.LastIndexByte(e.Path, '/')+1:])) {
				out = append(out, shownFile{e.Path, part})
			}
		}
	}
	return out
}

// headExtent returns the part of a file that head prints with these arguments.
func headExtent(args []string) extent {
	lines := 10
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") || a == "-" {
			continue
		}
		switch {
		case (a == "-n" || a == "--lines") && i+1 < len(args):
			i++
			a = args[i]
		case a == "-q", a == "-v", a == "--quiet", a == "--silent", a == "--verbose":
			continue
		case strings.HasPrefix(a, "--lines="):
			a = a[len("--lines="):]
		case strings.HasPrefix(a, "-n"):
			a = a[len("-n"):]
		default:
			a = a[1:]
		}
		n, err := strconv.Atoi(a)
		if err != nil || n < 1 { // bytes, or all lines but the last ones
			return extent{}
		}
		lines = n
	}
	return extent{1, lines}
}

// sedExtent returns the lines that a sed script such as 10,40p prints. Other scripts have
// an unknown part.
func sedExtent(script string) extent {
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
