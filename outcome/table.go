package outcome

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/tool"
)

// A Program defines the lines in which a program reports its outcome. Pass, Fail, Note and
// Items are regular expressions of package regexp. Each must match a whole line without
// indentation, colors and repeated spaces. An empty one matches nothing.
type Program struct {
	// Name is the program with its subcommand, as on a command line: "go test", "python -m
	// pytest", "eslint". The longest name that fits a command applies.
	Name string

	// Fail matches a line that only a failed run prints. Pass matches a line that shows a
	// successful run, unless there is also a line that Fail matches.
	Pass, Fail string

	// Items match lines about single failures, most informative first. If there is such a line,
	// no line that Pass matches and no known status 0, the run failed.
	Items []string

	// Note matches further informative lines, such as one with counts.
	Note string

	// Shows says that the program only shows something, so that it has no outcome unless it
	// fails.
	Shows bool

	// Quiet says that the program prints nothing on success.
	Quiet bool

	// Alone says that its lines decide only if the command line names it, because other
	// programs print similar lines. Lines of other programs decide also if the result is marked
	// as failed, or if the command line has a program that Runs others or is not in the table.
	Alone bool

	// Runs says that it runs other programs, whose lines decide, too.
	Runs bool
}

// A Table has programs and classes of tools. A nil table is [Builtin].
type Table struct {
	tools *tool.Table
	rules []rule
	names map[string][]int // rules by the first word of their names, longest name first
}

// A rule is a program with its compiled expressions.
type rule struct {
	Program

	words      []string // words of the name
	like       int      // index of the first rule with the same expressions
	pass, fail pattern
	note       pattern
	items      []pattern
}

// A pattern is a regular expression as a list of its alternatives.
type pattern []alternative

// An alternative is one alternative of an expression, with two quick tests: the bytes that a
// matching line can begin with, and a text that it must contain.
type alternative struct {
	re    *lazy.Value[*regexp.Regexp]
	first [256]bool
	needs string
}

// match reports whether an expression matches a whole line.
func (p pattern) match(s string) bool {
	for i := range p {
		if a := &p[i]; s != "" && a.first[s[0]] && strings.Contains(s, a.needs) && a.re.Get().MatchString(s) {
			return true
		}
	}
	return false
}

// Builtin returns the table of common programs and tools.
func Builtin() *Table { return builtin.Get() }

var builtin = lazy.Value[*Table]{Make: func() *Table {
	t, err := new(Table).extend(programs(), nil)
	if err != nil {
		panic(err) // a test makes this table
	}
	return t
}}

// With returns a table like t with further programs and other classes of tools. A program
// replaces the one of t with the same name. If tools is nil, the classes of t stay. With fails
// for a name without words and for an invalid expression, with an error that names the program.
func (t *Table) With(programs []Program, tools *tool.Table) (*Table, error) {
	if t == nil {
		t = Builtin()
	}
	return t.extend(programs, tools)
}

// extend implements With.
func (t *Table) extend(programs []Program, tools *tool.Table) (*Table, error) {
	made := make(map[string]pattern) // compiled expressions by their text, because programs share many
	n := &Table{tools: t.tools, rules: slices.Clone(t.rules), names: make(map[string][]int)}
	if tools != nil {
		n.tools = tools
	}
	for _, p := range programs {
		r := rule{Program: p, words: strings.Fields(p.Name)}
		if len(r.words) == 0 {
			return nil, fmt.Errorf("program %q: the name has no word: want a command such as go test", p.Name)
		}
		var err error
		add := func(field, expression string) pattern {
			one, there := made[expression]
			if there {
				return one
			}
			one, wrong := compile(expression)
			if wrong != nil && err == nil {
				err = fmt.Errorf("program %q: %s: %w", p.Name, field, wrong)
			}
			made[expression] = one
			return one
		}
		r.pass, r.fail, r.note = add("pass", p.Pass), add("fail", p.Fail), add("note", p.Note)
		for _, i := range p.Items {
			r.items = append(r.items, add("items", i))
		}
		if err != nil {
			return nil, err
		}
		n.rules = slices.DeleteFunc(n.rules, func(old rule) bool { return slices.Equal(old.words, r.words) })
		n.rules = append(n.rules, r)
	}
	like := make(map[string]int)
	for i := range n.rules {
		r := &n.rules[i]
		key := strings.Join(slices.Concat([]string{r.Pass, r.Fail, r.Note, fmt.Sprint(r.Shows, r.Quiet, r.Alone, r.Runs, hasGit(r.words[0]))}, r.Items), "\x00")
		if _, there := like[key]; !there {
			like[key] = i
		}
		r.like = like[key]
		n.names[r.words[0]] = append(n.names[r.words[0]], i)
	}
	for _, list := range n.names {
		slices.SortStableFunc(list, func(a, b int) int { return len(n.rules[b].words) - len(n.rules[a].words) })
	}
	return n, nil
}

// hasGit reports whether a program is git or gh. Their lines decide only if the command line
// names them.
func hasGit(name string) bool { return name == "git" || name == "gh" }

// compile makes a pattern of an expression. Each regular expression of the pattern is
// compiled when it is needed for the first time.
func compile(expression string) (pattern, error) {
	if expression == "" {
		return nil, nil
	}
	if _, err := syntax.Parse(`\A(?:`+expression+`)\z`, syntax.Perl); err != nil {
		return nil, err
	}
	var p pattern
	for _, part := range alternatives(expression) {
		parsed, err := syntax.Parse(part, syntax.Perl)
		if err != nil {
			return nil, err
		}
		a := alternative{re: &lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + part + `)\z`) }}}
		parsed = parsed.Simplify()
		a.needs = needs(parsed)
		if begins(parsed, &a.first) {
			for i := range a.first {
				a.first[i] = true
			}
		}
		p = append(p, a)
	}
	return p, nil
}

// alternatives splits an expression at each | outside brackets. An expression with flags for
// its whole rest is not split.
func alternatives(expression string) []string {
	var parts []string
	var depth, from int
	var class bool
	for i := 0; i < len(expression); i++ {
		switch c := expression[i]; {
		case c == '\\':
			if i++; expression[i] == 'Q' {
				return []string{expression}
			}
		case class && strings.HasPrefix(expression[i:], "[:"): // [[:alpha:]]
			return []string{expression}
		case class:
			class = c != ']'
		case c == '[':
			class = true
			for _, sign := range [...]string{"^", "]"} { // a bracket at the beginning is an ordinary character
				if strings.HasPrefix(expression[i+1:], sign) {
					i++
				}
			}
		case c == '(':
			if end := strings.IndexAny(expression[i:], ":)"); strings.HasPrefix(expression[i:], "(?") && end > 0 && expression[i+end] == ')' {
				return []string{expression}
			}
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			parts, from = append(parts, expression[from:i]), i+1
		}
	}
	return append(parts, expression[from:])
}

// needs returns a text that every match of an expression contains. If there are several, it
// returns the longest of those that are easy to find.
func needs(re *syntax.Regexp) string {
	switch op := re.Op; {
	case op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0:
		return string(re.Rune)
	case op == syntax.OpCapture, op == syntax.OpPlus:
		return needs(re.Sub[0])
	case op == syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if n := needs(sub); len(n) > len(longest) {
				longest = n
			}
		}
		return longest
	}
	return ""
}

// begins marks the bytes that matches of an expression can begin with, and reports whether it
// may match the empty text.
func begins(re *syntax.Regexp, first *[256]bool) bool {
	switch op := re.Op; {
	case op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0:
		add(first, re.Rune[0], re.Rune[0])
		return false
	case op == syntax.OpLiteral, op == syntax.OpAnyChar, op == syntax.OpAnyCharNotNL:
		for i := range first {
			first[i] = true
		}
		return false
	case op == syntax.OpCharClass:
		for r := range slices.Chunk(re.Rune, 2) {
			add(first, r[0], r[1])
		}
		return false
	case op == syntax.OpCapture, op == syntax.OpPlus:
		return begins(re.Sub[0], first)
	case op == syntax.OpStar, op == syntax.OpQuest, op == syntax.OpRepeat:
		begins(re.Sub[0], first)
		return true
	case op == syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !begins(sub, first) })
	case op == syntax.OpAlternate:
		empty := false
		for _, sub := range re.Sub {
			empty = begins(sub, first) || empty
		}
		return empty
	}
	return true // it matches a position, or nothing
}

// add marks the first bytes of a range of characters.
func add(first *[256]bool, from, to rune) {
	for r := from; r <= to && r < 0x80; r++ {
		first[r] = true
	}
	if to >= 0x80 {
		for i := 0x80; i < len(first); i++ {
			first[i] = true
		}
	}
}

// valued are options of runners that take a value and may stand before the subcommand.
const valued = "-C --prefix --cwd --dir -F --filter -w --workspace --directory --project --manifest-path -f --file -R --repo"

// find returns the index of the rule for a command, or -1.
func (t *Table) find(c *shell.Command) int {
	name := c.Name
	list := t.names[name]
	if list == nil {
		if name = unversioned(name); name == c.Name {
			return -1
		}
		list = t.names[name]
	}
	verb, args := c.Verb()
	words := args
	if verb != "" {
		words = append([]string{verb}, args...)
	}
	for _, i := range list {
		want, rest := t.rules[i].words[1:], words
		for !begin(rest, want) && len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			n := 1
			if text.HasWord(valued, rest[0]) {
				n = 2
			}
			rest = rest[min(n, len(rest)):]
		}
		if begin(rest, want) {
			return t.rules[i].like
		}
	}
	return -1
}

// begin reports whether the list words begins with the words in want.
func begin(words, want []string) bool {
	return len(words) >= len(want) && slices.Equal(words[:len(want)], want)
}

// unversioned returns the name of a program without its version and without an extension of
// Windows: python3.12, node20, npm.cmd.
func unversioned(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
	if short := strings.TrimRight(name, "0123456789."); short != "" {
		return short
	}
	return name
}
