package shell

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// python records the files that a program of Python writes, if the line has the program: behind -c,
// in a here-document, or in a file that the line writes before. It may have other effects.
func (w *walker) python(c *Command) {
	c.Unknown = true
	for _, name := range writtenBy(w.program(c)) {
		w.file(c, Edit, name, true)
	}
}

// raised reports whether a printed text has the end of the Python program that c runs by an error.
func (c *Command) raised(printed string) bool {
	name := "<stdin>"
	if at := slices.IndexFunc(c.Args, func(a string) bool { return a == "-c" || !strings.HasPrefix(a, "-") }); at >= 0 {
		name = cmp.Or(strings.TrimPrefix(path.Base(c.Args[at]), "-c"), "<string>")
	}
	return strings.Contains(printed, name+`", line `)
}

// program returns the program that an interpreter gets, or "" if the line does not have it.
func (w *walker) program(c *Command) string {
	for i, a := range c.Args {
		switch {
		case a == "-c" && i+1 < len(c.Args) && c.known[i+1]:
			return c.Args[i+1]
		case a == "-c" || a == "-m":
			return ""
		case a == "-":
			return c.Input
		case !strings.HasPrefix(a, "-"):
			return w.texts[w.here.path(a, c.known[i])]
		}
	}
	return c.Input
}

// wrote keeps the text that cat writes into a file from a here-document.
func (w *walker) wrote(c *Command) {
	if c.Name != "cat" || !c.Fed || len(c.Args) > 0 {
		return
	}
	for _, e := range c.Effects {
		if e.Act == Write && e.Path != "" {
			if w.texts == nil {
				w.texts = make(map[string]string)
			}
			w.texts[e.Path] = c.Input
		}
	}
}

// Parts of programs of Python: names that get paths, and calls that write.
var (
	namesPath  = lazy.Regexp(`\b(\w+)\s*=\s*(?:(?:pathlib\.)?Path\()?(["'][^"'\n]+["'])`)
	namesPaths = lazy.Regexp(`\bfor\s+(\w+)\s+in\s*[\[(]((?:\s*["'][^"'\n]+["']\s*,?)+)\s*[\])]`)
	onePath    = lazy.Regexp(`["']([^"'\n]+)["']`)
	opens      = lazy.Regexp(`\bopen\(\s*(?:["']([^"'\n]+)["']|(\w+))\s*,\s*(?:mode\s*=\s*)?["'][bt]*(?:[wax]|r[bt]*\+)`)
	pathWrites = lazy.Regexp(`(?:\bPath\(\s*(?:["']([^"'\n]+)["']|(\w+))\s*\)|\b(\w+))\.(?:write_text\(|write_bytes\(|open\(\s*(?:mode\s*=\s*)?["'][bt]*(?:[wax]|r[bt]*\+))`)
)

// writtenBy returns the paths of files that a program of Python opens for writing. The program must have each path as a plain text, at the call or in the value that
// its name got last.
func writtenBy(program string) (paths []string) {
	if !strings.Contains(program, "open(") && !strings.Contains(program, ".write_") {
		return nil
	}
	named := make(map[string][][]int) // matches that give a name its paths
	for _, m := range append(namesPath.Get().FindAllStringSubmatchIndex(program, -1), namesPaths.Get().FindAllStringSubmatchIndex(program, -1)...) {
		named[program[m[2]:m[3]]] = append(named[program[m[2]:m[3]]], m)
	}
	for _, m := range append(opens.Get().FindAllStringSubmatchIndex(program, -1), pathWrites.Get().FindAllStringSubmatchIndex(program, -1)...) {
		group := slices.IndexFunc(m[2:], func(at int) bool { return at >= 0 }) + 2
		found := program[m[group]:m[group+1]]
		if group == 2 { // the path itself
			paths = append(paths, found)
			continue
		}
		latest := make([]int, 6)
		for _, n := range named[found] {
			if n[0] < m[0] && n[0] >= latest[0] {
				latest = n
			}
		}
		for _, one := range onePath.Get().FindAllStringSubmatch(program[latest[4]:latest[5]], -1) {
			paths = append(paths, one[1])
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return strings.ContainsAny(p, "{}*%$ \\") })
}
