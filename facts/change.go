package facts

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A change is the effect of a call on one file.
type change struct {
	path   string
	status FactStatus
	text   string
}

// Bounds of the description of a change: the most declarations and names, and the most
// runes of a value.
const (
	maxDeclarations = 8
	maxNames        = 6
	valueRunes      = 60
)

// edits returns the changes that a call of an editing tool makes. result is the text of its
// result.
func edits(c transcript.ToolCall, result string) []change {
	if !gjson.ValidBytes(c.Input) {
		return fromPatches(shell.Patches(string(c.Input)))
	}
	all := gjson.ParseBytes(c.Input)
	if all.Type == gjson.String {
		return fromPatches(shell.Patches(all.Str))
	}
	in := membersOf(all)
	for _, key := range patchKeys {
		if found := shell.Patches(in.get(key).String()); len(found) > 0 {
			return fromPatches(found)
		}
	}
	path := tool.Path(c)
	if path == "" {
		return nil
	}
	name := tool.Fold(c.Name)
	switch {
	case strings.HasPrefix(name, "delete"):
		return []change{{path, StatusDeleted, ""}}
	case strings.HasPrefix(name, "move"), strings.HasPrefix(name, "rename"):
		to := in.text(targetKeys...)
		if to == "" {
			return nil
		}
		return []change{{to, statusMoved, "from " + path}}
	}
	if found := shell.Replacements(in.get("diff").String()); len(found) > 0 {
		var said []string
		for _, p := range found {
			said = append(said, difference(path, p.Old, p.New))
		}
		return []change{{path, StatusModified, join(unique(said), maxNames, "")}}
	}
	if list := in.get("edits"); list.IsArray() {
		var said []string
		for _, e := range list.Array() {
			one := membersOf(e)
			said = append(said, difference(path, one.text(replacedKeys...), one.text(replacementKeys...)))
		}
		return []change{{path, StatusModified, join(unique(said), maxNames, "")}}
	}
	if old := in.text(replacedKeys...); old != "" || in.text("new_string", "new_str", "replace", "new_text") != "" && in.get("old_string").Exists() {
		status := StatusModified
		if old == "" {
			status = StatusCreated
		}
		return []change{{path, status, difference(path, old, in.text(replacementKeys...))}}
	}
	body := in.text("content", "contents", "file_text", "new_source", "text", "insert_text", "new_str", "code")
	cmd := in.get("command").String()
	switch {
	case cmd == "view":
		return nil
	case cmd == "undo_edit":
		return []change{{path, StatusModified, "last edit undone"}}
	case cmd == "insert", strings.HasPrefix(name, "insert"), name == "notebookedit":
		return []change{{path, StatusModified, difference(path, "", body)}}
	}
	status := StatusCreated
	if low := lower(result[:min(len(result), 300)]); strings.Contains(low, "updated") || strings.Contains(low, "overw") {
		status = StatusModified
	}
	return []change{{path, status, contents(path, body)}}
}

// replacedKeys are the names of arguments with the old text of an edit.
var replacedKeys = []string{"old_string", "old_str", "search", "old_text", "oldText", "old_content", "oldString"}

// replacementKeys are the names of arguments with the new text of an edit.
var replacementKeys = []string{"new_string", "new_str", "replace", "new_text", "newText", "new_content", "newString", "replacement"}

// patchKeys are the names of arguments with a patch.
var patchKeys = []string{"input", "patch", "diff", "patchText"}

// targetKeys are the names of arguments with the new path of a moved file.
var targetKeys = []string{"destination", "new_path", "to", "target", "newPath"}

func fromPatches(list []shell.Patch) []change {
	var out []change
	for _, p := range list {
		c := change{p.Path, statusOf(p.Act), difference(p.Path, p.Old, p.New)}
		switch p.Act {
		case shell.Write:
			c.text = contents(p.Path, p.New)
		case shell.Delete:
			c.text = ""
		case shell.Rename:
			c.text = "from " + p.From
		case shell.Edit, shell.Touch, shell.Append, shell.Read:
		}
		out = append(out, c)
	}
	return out
}

// statusOf returns the status of a file after an act of a patch.
func statusOf(a shell.Act) FactStatus {
	switch a {
	case shell.Write:
		return StatusCreated
	case shell.Delete:
		return StatusDeleted
	case shell.Rename:
		return statusMoved
	case shell.Edit, shell.Touch, shell.Append, shell.Read:
	}
	return StatusModified
}

// contents describes the content of a file by its declarations and its number of lines, or
// by its text if it has two lines at most and declares nothing.
func contents(path, body string) string {
	if body == "" {
		return ""
	}
	lines := strings.Count(strings.TrimRight(body, "\n"), "\n") + 1
	said := declared(path, strings.SplitSeq(body, "\n"), nil)
	if len(said) == 0 && lines <= 2 {
		return text.Line(body, valueRunes)
	}
	return join(said, maxDeclarations, plural(lines, "line"))
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// join joins the first n texts of a list, the number of further ones, and a tail, with
// commas: "a, b, 3 more, 20 lines".
func join(list []string, n int, tail string) string {
	if more := len(list) - n; more > 0 {
		list = append(list[:n:n], fmt.Sprintf("%d more", more))
	}
	if tail != "" {
		list = append(slices.Clip(list), tail)
	}
	return strings.Join(list, ", ")
}

// unique returns the texts of a list without duplicates and empty texts.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// difference describes an edit that replaced the text in old by the text in now. If one line
// changed, it describes the change of the line. Otherwise it lists the added and removed
// declarations, or else an added comment and the added and removed names, or else it quotes the
// first added or removed line. It appends the numbers of added and removed lines.
func difference(path, old, now string) string {
	gone, came := linesBut(old, lineSet(now)), linesBut(now, lineSet(old))
	size := fmt.Sprintf("+%d −%d lines", len(came), len(gone))
	switch {
	case len(gone) == 0 && len(came) == 0:
		return "lines moved or spaced anew"
	case len(gone) == 1 && len(came) == 1:
		return replaced(gone[0], came[0])
	}
	was, is := setOf(declared(path, slices.Values(gone), nil)), setOf(declared(path, slices.Values(came), nil))
	var said []string
	if list := declared(path, slices.Values(came), was); len(list) > 0 {
		said = append(said, "new "+join(list, maxDeclarations, ""))
	}
	if list := declared(path, slices.Values(gone), is); len(list) > 0 {
		said = append(said, "gone "+join(list, maxDeclarations, ""))
	}
	if len(said) == 0 {
		if c := comment(came); c != "" {
			said = append(said, c)
		}
		a, b := named(gone), named(came)
		if list := without(b, a); len(list) > 0 {
			said = append(said, "new "+join(list, maxNames, ""))
		}
		if list := without(a, b); len(list) > 0 {
			said = append(said, "gone "+join(list, maxNames, ""))
		}
	}
	if len(said) == 0 {
		if len(came) > 0 {
			said = append(said, text.Line(came[0], shortRunes))
		} else {
			said = append(said, "gone "+text.Line(gone[0], shortRunes))
		}
	}
	return strings.Join(said, "; ") + " (" + size + ")"
}

// comment returns the first comment in lines that has three words or more, quoted, or "".
func comment(lines []string) string {
	for _, l := range lines {
		l = strings.TrimSpace(l)
		for _, sign := range [...]string{"// ", "# ", "-- ", "* ", "/* "} {
			if rest, ok := strings.CutPrefix(l, sign); ok && len(rest) > 12 && strings.Count(rest, " ") >= 2 {
				return `"` + text.Line(rest, valueRunes+20) + `"`
			}
		}
	}
	return ""
}

// replaced describes the change of one line by its changed words: "name: old words → new
// words". The name is the last identifier before the changed words, or else the last word.
func replaced(old, now string) string {
	a, b := strings.Fields(old), strings.Fields(now)
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	m := 0
	for m < len(a)-n && m < len(b)-n && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	was, is := strings.Join(a[n:len(a)-m], " "), strings.Join(b[n:len(b)-m], " ")
	label := ""
	for _, w := range a[:n] {
		Each(w, func(id Identifier, _ int) { label = id.Text })
	}
	for k := n - 1; k >= 0 && label == ""; k-- {
		if w := strings.Trim(a[k], "=:,;({[\"'"); hasLetter(w) {
			label = w
		}
	}
	if label != "" && len(label) < 60 {
		label += ": "
	} else {
		label = ""
	}
	was, is = text.Line(was, valueRunes), text.Line(is, valueRunes)
	switch {
	case was == "":
		return label + "added " + is
	case is == "":
		return label + "removed " + was
	}
	return label + was + " → " + is
}

// lineSet returns the set of the lines of a text, without surrounding space.
func lineSet(s string) map[string]bool {
	m := make(map[string]bool)
	for line := range strings.SplitSeq(s, "\n") {
		m[strings.TrimSpace(line)] = true
	}
	return m
}

// linesBut returns the nonblank lines of a text that are not in the set skip.
func linesBut(s string, skip map[string]bool) []string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if l := strings.TrimSpace(line); l != "" && !skip[l] {
			lines = append(lines, line)
		}
	}
	return lines
}

func setOf(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, l := range list {
		m[l] = true
	}
	return m
}

// named returns the identifiers in lines, each once, without those of more than 80 bytes.
func named(lines []string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, l := range lines {
		Each(l, func(id Identifier, _ int) {
			if !seen[id.Text] && len(id.Text) <= 80 {
				seen[id.Text] = true
				out = append(out, id.Text)
			}
		})
	}
	return out
}

func without(list, other []string) []string {
	skip := setOf(other)
	var out []string
	for _, l := range list {
		if !skip[l] {
			out = append(out, l)
		}
	}
	return out
}

// declared returns the functions, types, classes and headings that lines of a file declare,
// each once, without those in skip.
func declared(path string, lines iter.Seq[string], skip map[string]bool) []string {
	var out []string
	seen := make(map[string]bool)
	prose := strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".mdx") || strings.HasSuffix(path, ".rst")
	for line := range lines {
		d := ""
		if prose {
			if h := strings.TrimLeft(line, "#"); h != line && strings.HasPrefix(h, " ") && len(line)-len(h) <= 4 {
				d = `"` + text.Line(h, valueRunes) + `"`
			}
		} else {
			d = declaration(line)
		}
		if d != "" && !seen[d] && !skip[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}

// declaration returns the keyword and the name of the declaration in a line of code, such
// as "func Pool.Get", or an empty string.
func declaration(line string) string {
	rest := strings.TrimLeft(line, " \t")
	indented := len(rest) < len(line)
	for again := true; again; {
		again = false
		n := wordEnd(rest)
		if modifier.Get()[rest[:n]] && strings.HasPrefix(rest[n:], " ") {
			rest = strings.TrimLeft(rest[n:], " ")
			again = true
		}
	}
	n := wordEnd(rest)
	word := rest[:n]
	indent, ok := keyword.Get()[word]
	if !ok || indented && !indent {
		return testCase(rest, word)
	}
	rest = strings.TrimLeft(rest[n:], " *")
	receiver := ""
	if word == "func" && strings.HasPrefix(rest, "(") {
		end := strings.IndexByte(rest, ')')
		if end < 0 {
			return ""
		}
		of, _, _ := strings.Cut(rest[1:end], "[")
		if f := strings.Fields(of); len(f) > 0 {
			receiver = strings.TrimLeft(f[len(f)-1], "*") + "."
		}
		rest = strings.TrimSpace(rest[end+1:])
	}
	name := rest[:wordEnd(rest)]
	if name == "" || strings.Contains(name, "'") || notName.Get()[name] {
		return ""
	}
	return word + " " + receiver + name
}

// testCase returns the keyword and the name of a test in JavaScript, such as: it "adds two
// numbers". For any other line it returns an empty string. The parameter word is the first word of
// rest.
func testCase(rest, word string) string {
	if word != "describe" && word != "it" && word != "test" {
		return ""
	}
	rest = rest[len(word):]
	if len(rest) < 4 || rest[0] != '(' || strings.IndexByte("\"'`", rest[1]) < 0 {
		return ""
	}
	if end := strings.IndexByte(rest[2:], rest[1]); end > 0 {
		return word + ` "` + text.Line(rest[2:2+end], valueRunes) + `"`
	}
	return ""
}

// keyword has the words that begin a declaration, and whether an indented declaration
// counts.
var keyword = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{
		"func": false, "type": false, "class": true, "def": true, "function": true, "fn": true, "interface": true, "struct": true,
		"enum": true, "trait": true, "impl": false, "mod": false, "module": false, "const": false, "let": false, "var": false, "protocol": true,
		"object": false, "resource": false,
	}
}}

var modifier = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{
		"export": true, "default": true, "async": true, "pub": true, "public": true, "private": true, "protected": true, "static": true,
		"abstract": true, "final": true, "data": true, "sealed": true, "declare": true, "override": true, "open": true,
	}
}}

// notName has words that follow a keyword in prose, and so are no declared names.
var notName = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{"is": true, "of": true, "the": true, "to": true, "that": true, "and": true, "for": true, "in": true}
}}
