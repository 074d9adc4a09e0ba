package account

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/outcome"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A State says how things stand at the end of a conversation. It has what the calls and their
// results show, unless a later call undid it. Order and Said are empty in a conversation of less
// than 60,000 bytes, and until three calls have followed the user's last message.
type State struct {
	Folder  string // folder of the project, to which paths are relative, or empty
	Order   string // the beginning of the user's last message; empty if it is the only one
	Said    string // the last sentence that the agent wrote since the user's last message
	Tasks   []Task
	Places  []Place
	Changed []string          // changed files, the last changed at the end
	Loose   []string          // those of Changed that no later commit has
	Again   []string          // those of Loose that an earlier commit has
	Defined map[string]string // by changed file: the names that it defines, such as " (open, shut)"
	Agents  []string          // descriptions of running sub-agents
	Records []string          // the newest calls that changed something outside of files, the newest last
	More    int               // number of such calls before Records
	Last    Ran               // the last command that failed or did not only show something, or the zero Ran
	Since   bool              // whether files were changed after Last
	Failing []Ran             // recent failed commands other than Last, until a similar one runs or a commit is made; the newest last
	Runs    []Ran             // the newest run of each of the newest commands, the newest last; a failed run stays until a later run of the command has ended
	Blocks  []int             // blocks that the state comes from, ascending

	did bool // whether a call changed something after Said
}

// A Task is an entry of the agent's task list.
type Task struct{ ID, Subject, Status string }

// A Ran is a command with its outcome: the text of an [outcome.Outcome], or its verdict if it has
// no text. Block is the index of its block.
type Ran struct {
	Command, Outcome string
	Block            int
}

// Limits of a state.
const (
	mostFiles   = 25
	mostFailing = 3
	mostPlaces  = 4
	mostCommits = 5
	mostAgo     = 40 // calls after which a failure is left out,
	mostRuns    = 500
	mostSpoken  = 8 // and if the user has spoken since
	mostLine    = 160
	mostOrder   = 500
	mostClosing = 240

	leastCalls = 3      // calls after an order before the state repeats it,
	leastBytes = 60_000 // in a conversation with so many bytes of units
)

// newTracker returns a tracker that reads the conversation with r.
func newTracker(r *reader) *tracker {
	return &tracker{reader: r, tasks: make(map[string]*Task), places: make(map[string]*Place), running: make(map[string]string), from: make(map[int]bool), written: make(map[string]string)}
}

// A tracker collects the state while it passes over a conversation.
type tracker struct {
	*reader
	here    int // current block
	order   []string
	tasks   map[string]*Task
	places  map[string]*Place
	files   []string
	loose   []string
	held    []string          // files that a commit has
	written map[string]string // by file: the commands that have written it since it was read or written whole
	staged  []string          // paths that git was told to commit since the last commit
	running map[string]string // tasks of running sub-agents, by id
	records []record
	newest  string // the user's last message
	said    string // the agent's last message since
	did     bool   // whether a call changed something after that
	calls   int    // calls since then
	orders  int    // user messages
	made    int    // calls in total
	last    Ran
	since   bool // files were changed after last
	failing []failing
	runs    []failing // runs, failed or not
	from    map[int]bool
}

// A failing is a command that ran, with its parsed line. The field failed tells
// whether it failed.
type failing struct {
	ran           Ran
	keys, options []string
	failed        bool
	call          int // number of calls before it
	order         int // number of user messages before it
}

// alike reports whether a command with the keys b may fix a failure of one
// with the keys a, as make lint-fix does for make lint. A path and a path
// below it are different.
func alike(a, b []string) bool {
	begins := func(x, y string) bool {
		rest, found := strings.CutPrefix(x, y)
		return found && !strings.HasPrefix(rest, "/") && (rest == "" || !strings.HasSuffix(y, "."))
	}
	for _, x := range a {
		for _, y := range b {
			if begins(x, y) || begins(y, x) {
				return true
			}
		}
	}
	return false
}

// again reports whether the second run of a command, now, repeats the first
// run, then. It may have fewer options than the first run, but no others.
func again(now, then failing) bool {
	return slices.ContainsFunc(now.keys, func(k string) bool { return slices.Contains(then.keys, k) }) &&
		!slices.ContainsFunc(now.options, func(o string) bool { return !slices.Contains(then.options, o) })
}

func (t *tracker) block(i int, b *transcript.Block) {
	t.here = i
	for _, k := range b.Messages {
		t.speaks(&t.msgs[k], b.Kind)
		for _, c := range t.msgs[k].Calls() {
			if r, answered := t.results[c.ID]; answered {
				t.call(c, gjson.ParseBytes(c.Input), r)
			} else if t.Tools.Of(c) == tool.Command {
				t.started(c)
			}
		}
	}
}

// speaks records a message.
func (t *tracker) speaks(m *transcript.Message, kind transcript.Kind) {
	said := m.Text()
	switch {
	case m.Role == transcript.RoleAssistant && strings.TrimSpace(said) != "" && said != noReply:
		t.said, t.did = said, false
	case m.Role == transcript.RoleUser && kind == transcript.KindUser:
		t.notice(said)
		if words := transcript.Words(said); strings.TrimSpace(words) != "" {
			t.newest, t.said, t.calls = words, "", 0
			t.orders++
		}
	}
}

// notice takes the sub-agents that a message reports as ended off the list of
// running ones.
func (t *tracker) notice(said string) {
	for id := range t.running {
		if strings.Contains(said, id) {
			delete(t.running, id)
		}
	}
}

func (t *tracker) call(c transcript.ToolCall, in gjson.Result, r transcript.ToolResult) {
	t.calls++
	t.made++
	class := t.Tools.Of(c)
	switch {
	case r.Error && class != tool.Command:
	case class == tool.Plan:
		t.plan(tool.Fold(c.Name), in, r.Text())
	case class == tool.Edit:
		for _, ch := range changesOf(c, in) {
			switch name := t.short(ch.path); {
			case ch.gone:
				t.forget(name)
			case ch.from != "" && t.rename(t.short(ch.from), name):
			default:
				if t.change(name); ch.whole {
					delete(t.written, name)
				}
			}
		}
		t.since, t.did = true, true
	case class == tool.Read && !in.Get("offset").Exists():
		delete(t.written, t.short(tool.Path(c)))
	case class == tool.Command:
		t.command(c)
	case delegates(c) && in.Get("run_in_background").Bool():
		if id := after(r.Text(), "agentId: "); id != "" {
			t.running[id] = text.Clip(text.Fold(in.Get("description").Str), mostLine)
			t.from[t.here] = true
		}
	case class == tool.Other:
		if rec, ok := t.record(c, r); ok {
			t.recorded(rec)
		}
	}
}

// started records a command whose result the conversation does not have.
func (t *tracker) started(c transcript.ToolCall) {
	whole := tool.Line(c)
	if keys := programs(t.line(whole)); len(keys) > 0 {
		ran := Ran{Command: clip(text.Fold(t.inProject(whole)), mostLine), Block: t.here}
		t.runs = append(t.runs, failing{ran, keys, options(t.line(whole)), false, t.made, t.orders})
	}
}

// after returns the word after mark in s.
func after(s, mark string) string {
	_, rest, _ := strings.Cut(s, mark)
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	word, _, _ = strings.Cut(word, "\n")
	return word
}

func (t *tracker) plan(name string, in gjson.Result, result string) {
	t.from[t.here] = true
	switch name {
	case "taskcreate":
		id := strconv.Itoa(len(t.order) + 1)
		if _, rest, found := strings.Cut(result, "#"); found && text.Digits(rest) > 0 {
			id = rest[:text.Digits(rest)]
		}
		t.task(id, in.Get("subject").Str, "open")
	case "taskupdate":
		t.task(in.Get("taskId").String(), in.Get("subject").Str, in.Get("status").Str)
	default:
		list := in.Get("todos")
		if !list.Exists() {
			list = in.Get("plan")
		}
		all := entries(list)
		if !list.IsArray() && len(all) == 0 {
			return
		}
		t.order = nil
		clear(t.tasks)
		for _, e := range all {
			t.task(strconv.Itoa(len(t.order)+1), e.Subject, e.Status)
		}
	}
}

// entries returns the tasks of a list that a call gives whole: objects, texts, or the lines of a
// text with a box before each task.
func entries(list gjson.Result) (all []Task) {
	for _, e := range list.Array() {
		if subject := field(e, "content", "step", "text", "title"); e.IsObject() && subject != "" {
			all = append(all, Task{Subject: subject, Status: field(e, "status")})
		} else if list.IsArray() && e.Str != "" {
			all = append(all, Task{Subject: e.Str, Status: "open"})
		}
	}
	if list.IsArray() {
		return all
	}
	for line := range strings.Lines(list.Str) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-* ")
		for _, box := range [...][2]string{{"[ ]", "open"}, {"[x]", "completed"}, {"[-]", "in_progress"}, {"[~]", "in_progress"}} {
			if subject, ok := strings.CutPrefix(line, box[0]); ok {
				all = append(all, Task{Subject: strings.TrimSpace(subject), Status: box[1]})
			}
		}
	}
	return all
}

func (t *tracker) task(id, subject, status string) {
	e := t.tasks[id]
	if e == nil {
		e = &Task{ID: id}
		t.tasks[id] = e
		t.order = append(t.order, id)
	}
	if subject != "" {
		e.Subject = clip(text.Fold(subject), mostLine)
	}
	if status != "" {
		e.Status = status
	}
}

// change records a changed file.
func (t *tracker) change(path string) {
	if path == "" || path == "." || strings.HasSuffix(path, "/") || len(path) > mostLine {
		return
	}
	t.from[t.here] = true
	latest := func(list []string) []string {
		list = slices.DeleteFunc(list, func(f string) bool { return f == path })
		return append(list, path)
	}
	t.files, t.loose = latest(t.files), latest(t.loose)
}

func (t *tracker) command(c transcript.ToolCall) {
	whole := tool.Line(c)
	if whole == "" {
		return
	}
	o := t.outcome(c)
	if o.Refused {
		return
	}
	t.git(whole, &o, t.results[c.ID].Text())
	t.uncommitted(t.line(whole), t.results[c.ID].Text())
	t.from[t.here] = true
	if shows(t.line(whole)) && o.Verdict != outcome.Failed {
		return
	}
	t.last, t.since = Ran{clip(text.Fold(t.inProject(whole)), mostLine), o.Text, t.here}, false
	if line := t.line(whole); o.Verdict == outcome.Failed {
		t.effects(whole, line.Begun(t.results[c.ID].Text()))
	} else {
		t.effects(whole, line)
	}
	if t.last.Outcome == "" && o.Verdict != outcome.Unknown {
		t.last.Outcome = string(o.Verdict)
	}
	keys := programs(t.line(whole))
	t.failing = slices.DeleteFunc(t.failing, func(f failing) bool {
		if !alike(f.keys, keys) {
			return false
		}
		t.settle(f.ran.Block)
		return true
	})
	if len(keys) == 0 {
		return
	}
	now := failing{t.last, keys, options(t.line(whole)), o.Verdict == outcome.Failed, t.made, t.orders}
	t.runs = slices.DeleteFunc(t.runs, func(then failing) bool {
		return again(now, then) && (o.Verdict != outcome.Unknown || !then.failed)
	})
	t.runs = append(t.runs[max(0, len(t.runs)-mostRuns+1):], now)
	if now.failed {
		t.failing = append(slices.DeleteFunc(t.failing, func(f failing) bool { return t.made-f.call > mostAgo }), now)
	}
}

// settle marks the units of a block that belong to failed commands: they ran again later, so the
// units count as repeated.
func (t *tracker) settle(block int) {
	at, _ := slices.BinarySearchFunc(t.units, int32(block), func(u Unit, b int32) int { return cmp.Compare(u.Block, b) })
	for ; at < len(t.units) && t.units[at].Block == int32(block); at++ {
		t.units[at].Stated = t.units[at].Stated || t.units[at].Failed
	}
}

// options returns the options of the programs of a command line, except those
// that only set how much is printed.
func options(l *shell.Line) []string {
	var all []string
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Inner || c.Silent() || c.Looks() {
			continue
		}
		for _, a := range c.Args {
			if name, _, _ := strings.Cut(a, "="); len(name) > 1 && name[0] == '-' && name != "-v" && name != "-q" {
				all = append(all, name)
			}
		}
	}
	return all
}

// forget removes changed files from the lists: those that name covers.
func (t *tracker) forget(name string) {
	gone := func(f string) bool { return covers(name, f) }
	t.files, t.loose = slices.DeleteFunc(t.files, gone), slices.DeleteFunc(t.loose, gone)
}

// covers reports whether name is the path of a file, of a folder around it, or a pattern that
// matches it. The name "." is the project's folder.
func covers(name, file string) bool {
	if name == "." {
		return !path.IsAbs(file) && !strings.HasPrefix(file, "..")
	}
	fits, err := path.Match(name, file)
	return file == name || strings.HasPrefix(file, name+"/") || err == nil && fits
}

// rename records that a path got another name. If it is a folder with changed
// files, they get their new paths; a changed file with the old name is
// forgotten. rename reports whether it was such a folder.
func (t *tracker) rename(from, to string) (folder bool) {
	for _, list := range [...][]string{t.files, t.loose} {
		for i, f := range list {
			if rest, below := strings.CutPrefix(f, from+"/"); below {
				list[i], folder = to+"/"+rest, true
			}
		}
	}
	t.forget(from)
	return folder
}

// effects records the files of the project that the command whole wrote, renamed
// or deleted, except those that a compiler made, and copies of whole folders. The
// argument l has those of its parts that had effects.
func (t *tracker) effects(whole string, l *shell.Line) {
	var names []string
	for i := range l.Commands {
		c := &l.Commands[i]
		for _, e := range c.Effects {
			switch e.Act {
			case shell.Write, shell.Append, shell.Edit, shell.Rename:
				if compiled(c, e.Path) || copiesFolder(c) {
					continue
				}
				if verb, _ := c.Verb(); c.Name == "git" && (verb == "checkout" || verb == "restore") {
					t.forget(t.short(e.Path)) // as it was before its changes
					continue
				}
				if e.Act == shell.Rename && t.rename(t.short(e.From), t.short(e.Path)) {
					continue
				}
				if name := t.short(e.Path); !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, "..") {
					t.change(name)
					names = append(names, name)
					for _, arg := range c.Args {
						if m := replaces.Get().FindStringSubmatch(arg); m != nil && c.Name == "sed" {
							t.note(&change{path: e.Path, old: m[1], now: m[2]})
						}
					}
				}
			case shell.Delete:
				t.forget(t.short(e.Path))
			case shell.Read, shell.Touch:
			}
		}
		t.removes(c)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(t.files, name) })
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 1 {
		whole = "" // it does not tell what is in which file
	}
	for _, name := range names {
		t.written[name] = text.Tail(t.written[name]+"\n"+whole, mostWriting)
	}
}

// replaces matches a script of sed that replaces a word everywhere.
var replaces = lazy.Regexp(`^s[/|,#](?:\\b|\\<)?(\w+)(?:\\b|\\>)?[/|,#](\w+)[/|,#]g?$`)

// compiled reports whether an argument of a compiler names the file that it writes.
func compiled(c *shell.Command, file string) bool {
	return text.HasWord("go gcc cc clang g++ c++ clang++", c.Name) && slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasSuffix(a, path.Base(file)) })
}

// copiesFolder reports whether a command is a cp that copies folders.
func copiesFolder(c *shell.Command) bool {
	return c.Name == "cp" && slices.ContainsFunc(c.Args, func(a string) bool {
		return a == "--recursive" || a == "--archive" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a, "rRa")
	})
}

// removes takes the files that rm deletes off the lists, and the working tree that git removes.
func (t *tracker) removes(c *shell.Command) {
	switch verb, args := c.Verb(); {
	case c.Name == "git" && verb == "worktree" && len(args) > 1 && args[0] == "remove":
		delete(t.places, t.short(path.Join(c.Dir, args[len(args)-1])))
	case c.Name == "rm":
		for _, w := range c.Operands() { // patterns are not matched against a path
			t.forget(t.short(path.Join(c.Dir, w)))
		}
	}
}

// programs returns the programs of a command line, each with its first
// argument that is no option. Command lines with equal lists count as
// attempts at the same thing.
func programs(l *shell.Line) []string {
	var all []string
	for i := range l.Commands {
		c := &l.Commands[i]
		if c.Inner || c.Silent() || c.Looks() {
			continue
		}
		words := c.Operands()
		all = append(all, strings.Join(append([]string{c.Name}, words[:min(len(words), 2)]...), " "))
	}
	return all
}

// bytes returns the total length of the texts of all units, in bytes.
func (t *tracker) bytes() int {
	n := 0
	for i := range t.units {
		n += len(t.units[i].Text)
	}
	return n
}

// clip returns a text of at most n bytes unchanged, and of a longer text the beginning, which ends
// with a whole word where one ends near the limit.
func clip(s string, n int) string {
	if head := text.Head(s, n); len(s) > n && s[len(head)] != ' ' {
		if at := strings.LastIndexByte(head, ' '); at > n*2/3 {
			n = at
		}
	}
	return text.Clip(s, n)
}

func (t *tracker) state() *State {
	s := &State{Folder: strings.TrimSuffix(t.root, "/"), Changed: t.files, Loose: t.loose, Last: t.last, Since: t.since}
	s.Again = slices.DeleteFunc(slices.Clone(t.loose), func(f string) bool { return !slices.Contains(t.held, f) })
	s.Defined = t.defined(t.files)
	s.Records, s.More = t.newestRecords()
	if bytes := t.bytes(); t.calls >= leastCalls && bytes >= leastBytes {
		if all := passages(t.said); len(all) > 0 {
			s.Said, s.did = clip(text.Fold(all[len(all)-1].text), mostClosing), t.did
		}
		if t.orders > 1 { // the first one stands at the beginning of the window
			s.Order = clip(text.Fold(t.newest), mostOrder)
		}
	}
	for _, id := range t.order {
		s.Tasks = append(s.Tasks, *t.tasks[id])
	}
	for _, p := range t.places {
		s.Places = append(s.Places, *p)
	}
	slices.SortFunc(s.Places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.touched, a.touched), strings.Compare(a.Dir, b.Dir))
	})
	for id, what := range t.running {
		s.Agents = append(s.Agents, strings.TrimSpace(what+" ("+id+")"))
	}
	slices.Sort(s.Agents)
	for _, f := range t.failing {
		if ago := t.made - f.call; f.ran != t.last && ago <= mostAgo && (f.order == t.orders || ago <= mostSpoken) {
			s.Failing = append(s.Failing, f.ran)
		}
	}
	for _, f := range t.runs {
		s.Runs = append(s.Runs, f.ran)
	}
	s.Blocks = slices.Sorted(maps.Keys(t.from))
	return s
}

// Text returns the state in lines, or "" if it is empty. Changed files have
// lines of their own, the last changed at the end. It leaves out the committed files that the text
// beside names, another text of the window, and what other files define that it names.
func (s *State) Text(beside string) string {
	var b strings.Builder
	say := func(title, what string) {
		if what != "" {
			b.WriteString(title + ": " + what + "\n")
		}
	}
	say("folder", s.Folder)
	say("newest order", s.Order)
	if s.did {
		say("the agent last said, before its last change", s.Said)
	} else {
		say("the agent last said", s.Said)
	}
	for i, t := range s.Tasks {
		if i == 0 {
			b.WriteString("tasks:\n")
		}
		fmt.Fprintf(&b, "%s#%s %s: %s\n", indent, t.ID, t.Status, t.Subject)
	}
	for _, p := range s.Places[:min(len(s.Places), mostPlaces)] {
		b.WriteString(p.String() + "\n")
		for _, c := range slices.Backward(p.Before) {
			b.WriteString(indent + "before: " + c + "\n")
		}
	}
	list := func(title string, more int, entries []string) {
		if len(entries) == 0 {
			return
		}
		b.WriteString(title)
		if more > 0 {
			fmt.Fprintf(&b, " (%d more before)", more)
		}
		b.WriteString(":\n")
		for _, e := range entries {
			b.WriteString(indent + e + "\n")
		}
	}
	files := func(title string, all, but []string) {
		all = slices.DeleteFunc(slices.Clone(all), func(f string) bool { return slices.Contains(but, f) })
		more := max(0, len(all)-mostFiles)
		all = all[more:]
		for i, f := range all {
			if !strings.Contains(beside, f) {
				all[i] += s.Defined[f]
			}
		}
		list(title, more, all)
	}
	files("changed and committed", slices.DeleteFunc(slices.Clone(s.Changed), func(f string) bool { return strings.Contains(beside, f) }), s.Loose)
	files("committed, then changed again", s.Again, nil)
	files("changed, not committed", s.Loose, s.Again)
	list("done by calls", s.More, s.Records)
	list("sub-agents that run", 0, s.Agents)
	for _, f := range s.Failing[max(0, len(s.Failing)-mostFailing):] {
		b.WriteString("failed, not run again since: " + f.Command + "\n" + indent + arrow + f.Outcome + "\n")
	}
	if s.Last.Command != "" {
		title := "last command"
		if s.Since {
			title += ", before the last change of a file"
		}
		say(title, s.Last.Command)
		if s.Last.Outcome != "" {
			b.WriteString(indent + arrow + s.Last.Outcome + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
