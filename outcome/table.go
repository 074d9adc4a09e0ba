package outcome

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/tool"
)

// A Program says by which lines of its output one sees how a program ended. Pass, Fail,
// Note and Items are regular expressions as of package regexp. Each has to match the whole
// of a line, from which indentation, colors and repeated spaces are taken. An empty one
// matches nothing.
type Program struct {
	// Name is the program as a command line names it, and what it is to do: "go test",
	// "python -m pytest", "eslint". The longest name that fits a command counts.
	Name string

	// Pass is of a line that stands only in the output of a run that passed, unless
	// there is also one of Fail, and Fail of one that only a run prints that failed.
	Pass, Fail string

	// Items are of lines that report one thing that failed, those that say most first.
	// They decide where no line of Pass is and the status is not known to be 0.
	Items []string

	// Note is of a line that is worth saying besides, such as one that counts.
	Note string

	// Quiet is whether the program prints nothing when all is well.
	Quiet bool

	// Alone is whether its lines decide only where the command line names it, since
	// other programs print the like.
	Alone bool

	// Runs is whether it runs other programs, whose lines decide, too.
	Runs bool
}

// A Table knows programs and tools. A nil table is that of [Builtin].
type Table struct {
	tools *tool.Table
	rules []rule
	names map[string][]int // rules by the first word of their names, the longest name first
}

// A rule is a program with its expressions.
type rule struct {
	Program

	words      []string // of the name
	pass, fail *pattern
	note       *pattern
	items      []*pattern
}

// A pattern is an expression, and the bytes with which a line may begin that it matches.
type pattern struct {
	re    *regexp.Regexp
	first [256]bool
}

// match reports whether an expression matches the whole of a line.
func (p *pattern) match(s string) bool {
	return p != nil && s != "" && p.first[s[0]] && p.re.MatchString(s)
}

// Builtin returns the table of common programs and tools.
func Builtin() *Table { return builtin() }

var builtin = lazy.Value(func() *Table {
	t, err := new(Table).extend(programs(), nil)
	if err != nil {
		panic(err) // a test makes this table
	}
	return t
})

// With returns a table with further programs, which win over those of the same name that
// t knows, and with the classes of tools; nil leaves those of t. The error names the
// program and what is wrong with it: a name without words, or an expression that is none.
func (t *Table) With(programs []Program, tools *tool.Table) (*Table, error) {
	if t == nil {
		t = Builtin()
	}
	return t.extend(programs, tools)
}

// extend does what With does.
func (t *Table) extend(programs []Program, tools *tool.Table) (*Table, error) {
	n := &Table{tools: t.tools, rules: slices.Clone(t.rules), names: make(map[string][]int)}
	if tools != nil {
		n.tools = tools
	}
	for _, p := range programs {
		r := rule{Program: p, words: strings.Fields(p.Name)}
		if len(r.words) == 0 {
			return nil, fmt.Errorf("program %q: a name needs a word", p.Name)
		}
		var err error
		add := func(field, expression string) *pattern {
			made, wrong := compile(expression)
			if wrong != nil && err == nil {
				err = fmt.Errorf("program %q: %s: %w", p.Name, field, wrong)
			}
			return made
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
	for i, r := range n.rules {
		n.names[r.words[0]] = append(n.names[r.words[0]], i)
	}
	for _, list := range n.names {
		slices.SortStableFunc(list, func(a, b int) int { return len(n.rules[b].words) - len(n.rules[a].words) })
	}
	return n, nil
}

// compile makes a pattern of an expression.
func compile(expression string) (*pattern, error) {
	if expression == "" {
		return nil, nil
	}
	re, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		return nil, err
	}
	p := &pattern{re: re}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if begins(parsed.Simplify(), &p.first) {
		for i := range p.first {
			p.first[i] = true
		}
	}
	return p, nil
}

// begins adds the bytes with which texts begin that an expression matches, and reports
// whether it may match the empty text.
func begins(re *syntax.Regexp, first *[256]bool) bool {
	switch re.Op {
	case syntax.OpLiteral:
		r := re.Rune[0]
		add(first, r, r)
		if re.Flags&syntax.FoldCase != 0 {
			for i := range first {
				first[i] = true
			}
		}
		return false
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			add(first, re.Rune[i], re.Rune[i+1])
		}
		return false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for i := range first {
			first[i] = true
		}
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return begins(re.Sub[0], first)
	case syntax.OpStar, syntax.OpQuest, syntax.OpRepeat:
		begins(re.Sub[0], first)
		return true
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !begins(sub, first) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		empty := false
		for _, sub := range re.Sub {
			empty = begins(sub, first) || empty
		}
		return empty
	default: // what matches a place, or nothing
		return true
	}
}

// add notes the first bytes of a range of characters.
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

// valued are the options of runners that stand before what they are to do and take a word.
const valued = "-C --prefix --cwd --dir -F --filter -w --workspace --directory --project --manifest-path -f --file -R --repo"

// find returns the number of the rule for a command, or -1.
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
	plain := words
	for len(plain) > 0 && strings.HasPrefix(plain[0], "-") {
		n := 1
		if word(valued, plain[0]) {
			n = 2
		}
		plain = plain[min(n, len(plain)):]
	}
	for _, i := range list {
		want := t.rules[i].words[1:]
		if begin(words, want) || begin(plain, want) {
			return i
		}
	}
	return -1
}

// begin reports whether words begin with others.
func begin(words, want []string) bool {
	return len(words) >= len(want) && slices.Equal(words[:len(want)], want)
}

// unversioned returns the name of a program without a version or what Windows puts
// behind it: python3.12, node20, npm.cmd.
func unversioned(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
	if short := strings.TrimRight(name, "0123456789."); short != "" {
		return short
	}
	return name
}
