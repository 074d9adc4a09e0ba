// Package tool classifies the tools of agents by their names. It also reads from a call the
// file, the command line and the most important argument.
//
// A [Table] maps names to classes. The built-in table knows the tools of common agents; users
// add others with [Table.With]. Package pager decides what a class means for paging.
//
//	t, err := new(tool.Table).With(map[string]tool.Class{"deploy": tool.Command})
//	class := t.Class("mcp__ops__deploy") // Command
//
// The package does no I/O. A Table does not change and may be used concurrently.
package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// A Class is the kind of work that a tool does. It is stored as its text.
type Class string

// The classes, with examples of tools in parentheses.
const (
	Edit    Class = "edit"    // changes files (create_file, overwrite_file, quick_edit, delete_file)
	Plan    Class = "plan"    // records tasks, or concludes (write_todo, final)
	Read    Class = "read"    // reads files, searches or pages (request_context)
	Command Class = "command" // runs a command of a shell (run_command)
	Check   Class = "check"   // runs code to check it (execute_code)
	Title   Class = "title"   // names the conversation (generate_title)
	Other   Class = "other"   // anything else
)

// Classes returns all classes.
func Classes() []Class { return []Class{Edit, Plan, Read, Command, Check, Title, Other} }

// A Table maps folded names of tools to classes. A table that is nil or empty is the built-in
// one. A table never changes, so it may be shared.
type Table struct {
	classes map[string]Class
}

// builtin has the tools of common agents, by their folded names.
var builtin = lazy.Value[map[string]Class]{Make: func() map[string]Class {
	m := make(map[string]Class)
	for class, names := range map[Class]string{
		Edit: `edit write multiedit notebookedit createfile overwritefile quickedit deletefile writefile editfile applypatch
			replace strreplace strreplaceeditor strreplacebasededittool insert searchreplace applydiff writetofile insertcontent
			replaceinfile patch movefile renamefile deletepath searchandreplace replacefilecontent replacestringinfile
			multireplacestringinfile inserteditintofile`,
		Plan: `todowrite writetodo writetodos updateplan exitplanmode final taskcreate taskupdate attemptcompletion
			updatetodolist plan`,
		Read: `requestcontext read readfile readmanyfiles view viewimage grep glob search searchfiles searchfilecontent codesearch
			ripgrep find findfiles ls list listfiles listdir listdirectory readdirectory webfetch websearch fetch
			readnotebook notebookread getmessages listmcpresources readmcpresource codebasesearch listcodedefinitionnames
			todoread tasklist taskget toolsearch grepsearch filesearch semanticsearch googlewebsearch viewfile viewlinerange
			findbyname findfile searchfile searchdir readtextfile readmultiplefiles directorytree geterrors activateskill`,
		Command: `runcommand bash shell localshell execcommand runshellcommand runterminalcmd runinterminal executecommand terminal
			bashoutput killshell killbash writestdin taskoutput executebash readbackgroundoutput listbackgroundprocesses`,
		Check: `executecode python runcode codeinterpreter ipython repl javascript evaluate
			executeipythoncell`,
		Title: `generatetitle settitle updatetopic`,
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = class
		}
	}
	return m
}}

// With returns a table that has the classes in addition to those of t. If t has a class for the
// same name, the new class replaces it. It fails for an unknown class, for a name without letters
// and digits (after its last "__", if it has one), and for two spellings of a name with different
// classes.
func (t *Table) With(classes map[string]Class) (*Table, error) {
	known := make(map[Class]bool)
	for _, c := range Classes() {
		known[c] = true
	}
	n := &Table{classes: maps.Clone(t.all())}
	spelled := make(map[string]string) // by folded name
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		class, folded := classes[name], Fold(name)
		other, twice := spelled[folded]
		switch {
		case !known[class]:
			return nil, fmt.Errorf("tool %q: %q is no class of tools, want edit, plan, read, command, check, title or other", name, class)
		case !strings.ContainsFunc(folded, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
			return nil, fmt.Errorf("tool %q: a name needs a letter or a digit, after its last \"__\" if it has one", name)
		case twice && classes[other] != class:
			return nil, fmt.Errorf("tool %q is the same as tool %q, which has the class %s, not %s", name, other, classes[other], class)
		}
		n.classes[folded], spelled[folded] = class, name
	}
	return n, nil
}

func (t *Table) all() map[string]Class {
	if t == nil || t.classes == nil {
		return builtin.Get()
	}
	return t.classes
}

// Class returns the class of a tool, or [Other].
func (t *Table) Class(name string) Class {
	if c, ok := t.all()[Fold(name)]; ok {
		return c
	}
	return Other
}

// Of returns the class of a call. It is the class of the tool, except that a call of an editing
// tool which only shows a file (the command view of Anthropic's text editor tool and of
// OpenHands) is [Read].
func (t *Table) Of(c transcript.ToolCall) Class {
	class := t.Class(c.Name)
	if class == Edit && gjson.GetBytes(c.Input, "command").Str == "view" {
		return Read
	}
	return class
}

// Fold returns the common form of the spellings of a tool's name: "create_file", "CreateFile"
// and "mcp__server__create-file" all give "createfile".
func Fold(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 { // mcp__server__tool
		name = name[i+2:]
	}
	return separators.Replace(strings.ToLower(name))
}

// separators are the characters between the words of names.
var separators = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// Path returns the file that a call works on, or "" if the call names none.
func Path(c transcript.ToolCall) string {
	return first(c, "file_path", "path", "notebook_path", "filename", "target_file", "filePath", "file", "relative_path", "absolute_path")
}

// Line returns the command line that a call runs, or "". If the arguments have a list of words,
// it joins them with quotes where a shell needs them.
func Line(c transcript.ToolCall) string {
	for _, key := range [...]string{"command", "cmd", "script", "code"} {
		switch v := gjson.GetBytes(c.Input, key); {
		case v.Type == gjson.String:
			return v.String()
		case v.IsArray():
			var words []string
			for _, w := range v.Array() {
				words = append(words, w.String())
			}
			return shell.Quote(words)
		}
	}
	return ""
}

// first looks at the fields of a call's arguments that are named in keys, in that order, and
// returns the first one that holds text.
func first(c transcript.ToolCall, keys ...string) string {
	for _, key := range keys {
		if v := gjson.GetBytes(c.Input, key); v.Type == gjson.String && v.String() != "" {
			return v.String()
		}
	}
	return ""
}

// mostLabel is the largest number of characters that a label shows of an argument.
const mostLabel = 80

// Label returns a short text for a call: the tool and its most informative argument.
func Label(c transcript.ToolCall) string {
	for _, key := range [...]string{"command", "file_path", "pattern", "url", "description", "uri"} {
		if line := text.FirstLine(gjson.GetBytes(c.Input, key).Str); line != "" {
			return c.Name + " " + text.Short(line, mostLabel)
		}
	}
	return c.Name
}

// Recalls reports whether a call asks Carrel for removed text: by any tool of its MCP server, under
// the names that clients give it, or by a command line in which an argument follows the word carrel
// or a path that ends in /carrel. Which argument does not matter.
func Recalls(c transcript.ToolCall) bool {
	if server, found := strings.CutPrefix(c.Name, "mcp__"); found {
		server, _, _ = strings.Cut(server, "__")
		return server == "carrel" || strings.HasSuffix(server, "_carrel")
	}
	if strings.HasPrefix(c.Name, "carrel_") || strings.HasPrefix(c.Name, "mcp_carrel_") {
		return true
	}
	line := Line(c)
	if v := gjson.ParseBytes(c.Input); v.Type == gjson.String { // a tool that takes a program
		line = v.String()
	}
	return command.Get().MatchString(line)
}

// command matches Carrel's command with the beginning of its first argument. In a program of
// JavaScript, the argument may be an element of a list.
var command = lazy.Regexp("(?:^|[\\s;|&()$`'\"/])carrel(?:[ \\t'\",\\[]|\\\\\n)+[\\w-]")
