package shell

import (
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
	namesPath  = lazy.Regexp(`\b(\w+)\s*=\s*(?:(?:pathlib\.)?Path\()?["']([^"'\n]+)["']`)
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
	type naming struct {
		at    int
		paths []string
	}
	named := make(map[string][]naming)
	for _, m := range namesPath.Get().FindAllStringSubmatchIndex(program, -1) {
		name := program[m[2]:m[3]]
		named[name] = append(named[name], naming{m[0], []string{program[m[4]:m[5]]}})
	}
	for _, m := range namesPaths.Get().FindAllStringSubmatchIndex(program, -1) {
		all := naming{at: m[0]}
		for _, one := range onePath.Get().FindAllStringSubmatch(program[m[4]:m[5]], -1) {
			all.paths = append(all.paths, one[1])
		}
		name := program[m[2]:m[3]]
		named[name] = append(named[name], all)
	}
	for _, m := range append(opens.Get().FindAllStringSubmatchIndex(program, -1), pathWrites.Get().FindAllStringSubmatchIndex(program, -1)...) {
		group := slices.IndexFunc(m[2:], func(at int) bool { return at >= 0 }) + 2
		found := program[m[group]:m[group+1]]
		if group == 2 { // the path itself
			paths = append(paths, found)
			continue
		}
		latest := naming{at: -1}
		for _, n := range named[found] {
			if n.at < m[0] && n.at > latest.at {
				latest = n
			}
		}
		paths = append(paths, latest.paths...)
	}
	return slices.DeleteFunc(paths, func(p string) bool { return strings.ContainsAny(p, "{}*%$ \\") })
}
