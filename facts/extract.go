package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// Options adjusts [Extract] and [NewGraph]. Nil and the zero value are the default.
type Options struct {
	// Tools describes tools: which edit, read, plan and run commands. The
	// default is the built-in table.
	Tools *tool.Table

	// First is the index of the first block whose facts are returned. Earlier
	// blocks are read too, because later ones may settle their open facts.
	First int

	// Project is the directory to which paths are made relative, or empty.
	Project string

	// Correction reports whether a user's text corrects something or sets a
	// standing order. Without it there are no facts of kind correction.
	Correction func(text string) bool

	// Quotes requests facts of kind quote: the first occurrence of every
	// quoted string in messages, arguments and results. There may be many. A
	// quoted string stands between backticks, double quotes, single quotes or
	// „these“ and “these”, on one line, and has 3 to 80 characters.
	Quotes bool
}

// Extract returns the facts of a conversation in block order. msgs and blocks
// are all those of the session.
//
// It returns the facts of the blocks from opts.First on, and older facts that
// these blocks changed: a resolved error, an answered question. If it is
// called again with the same First after the session has grown, it returns the
// same facts, perhaps in newer states, and new ones.
//
// Extract takes one pass and depends only on its arguments. Decisions,
// questions and progress are recognized by English words; changes, commands,
// errors, task lists and references do not depend on the language.
func Extract(msgs []transcript.Message, blocks []transcript.Block, opts *Options) []Fact {
	x := extractor{msgs: msgs, blocks: blocks, said: make(map[string]bool), errors: make(map[string]int), edited: make(map[string]int)}
	if opts != nil {
		x.o = *opts
	}
	x.tools.table = x.o.Tools
	x.project = strings.TrimRight(x.o.Project, "/")
	for i := range blocks {
		x.block(i)
	}
	x.newestPlan()
	x.todos.emit(&x)
	x.found = slices.DeleteFunc(x.found, func(f found) bool { return f.touched < x.o.First })
	slices.SortStableFunc(x.found, func(a, b found) int { return cmp.Compare(a.Block, b.Block) })
	facts := make([]Fact, len(x.found))
	for i, f := range x.found {
		f.Names = named([]string{f.Subject, f.Text, f.Why})
		facts[i] = f.Fact
	}
	return facts
}

// A found fact has the index of the last block that added or changed it.
type found struct {
	Fact
	touched int
}

// An extractor is the state of one [Extract].
type extractor struct {
	o       Options
	project string
	tools   toolbox
	msgs    []transcript.Message
	blocks  []transcript.Block
	found   []found

	tasks     int             // number of tasks so far
	said      map[string]bool // keys of the references and sentences added so far
	asked     []int           // indexes in found of the open questions
	errors    map[string]int  // key and text of an error → index of its fact in found
	open      []failure       // unresolved errors
	edited    map[string]int  // path → the number of its last edit
	edits     []string        // paths, one for each edit
	todos     todos
	lastReply int    // index of the last block with text of the assistant, plus one
	callID    string // id of the call that is being read, or empty
}

// A failure is an error that a later call may resolve.
type failure struct {
	fact  int    // index in found
	key   string // a success with this key resolves the error, see covers
	edits int    // number of edits before the error
}

func (x *extractor) add(f Fact) int {
	f.CallID = cmp.Or(f.CallID, x.callID)
	x.found = append(x.found, found{f, f.Block})
	return len(x.found) - 1
}

// addOnce adds a fact unless one of its kind with the same text was added before. A fact
// with another subject, such as the same answer to another question, is added.
func (x *extractor) addOnce(f Fact) {
	key := string(f.Kind) + "\x00" + f.Text
	answer := key + "\x00" + f.Subject
	if f.Text == "" || x.said[key] && f.Subject == "" || x.said[answer] {
		return
	}
	x.said[key], x.said[answer] = true, true
	x.add(f)
}

// block reads one block.
func (x *extractor) block(i int) {
	b := &x.blocks[i]
	switch b.Kind {
	case transcript.KindSystem:
		return
	case transcript.KindSummary:
		x.summary(i, x.msgs[b.Messages[0]].Text())
		return
	case transcript.KindUser, transcript.KindAssistant, transcript.KindTool, transcript.KindOrphan:
	}
	results := make(map[string]transcript.ToolResult)
	for _, k := range b.Messages {
		for _, r := range x.msgs[k].Results() {
			results[r.CallID] = r
		}
	}
	for _, k := range b.Messages {
		m := &x.msgs[k]
		if text := m.Text(); text != "" {
			if m.Role == transcript.RoleAssistant {
				x.reply(i, text, b.Kind == transcript.KindAssistant || x.asks(i))
			} else {
				x.person(i, text)
			}
			x.quotes(i, m.Role, text)
		}
		for _, c := range m.Calls() {
			r, ok := results[c.ID]
			x.callID = c.ID
			x.call(i, c, r, ok)
			if x.o.Quotes {
				eachLeaf(gjson.ParseBytes(c.Input), 0, func(text string) { x.quotes(i, transcript.RoleAssistant, text) })
				x.quotes(i, transcript.RoleTool, r.Text())
			}
			x.callID = ""
		}
	}
}

// quotes adds the quoted strings of a text, each once in the session, if
// Options.Quotes is set.
func (x *extractor) quotes(i int, role transcript.Role, s string) {
	if !x.o.Quotes {
		return
	}
	eachQuote(s, func(quote string, _ int) {
		x.addOnce(Fact{Kind: FactQuote, Role: role, Block: i, Text: text.Line(quote, maxQuote)})
	})
}

// maxArgumentDepth is the nesting depth up to which eachLeaf reads JSON.
const maxArgumentDepth = 64

// eachLeaf calls f for the strings and numbers of a value in JSON, in order. A value
// nested deeper than maxArgumentDepth is passed as its JSON.
func eachLeaf(v gjson.Result, depth int, f func(text string)) {
	switch {
	case v.IsObject() || v.IsArray():
		if depth == maxArgumentDepth {
			f(v.Raw)
			return
		}
		v.ForEach(func(_, v gjson.Result) bool {
			eachLeaf(v, depth+1, f)
			return true
		})
	case v.Type == gjson.String:
		f(v.Str)
	case v.Type == gjson.Number:
		f(v.Raw)
	}
}

// asks reports whether the block after block i is a message with a user's words.
func (x *extractor) asks(i int) bool {
	if i+1 >= len(x.blocks) {
		return false
	}
	next := &x.blocks[i+1]
	return next.Kind == transcript.KindUser && transcript.Words(x.msgs[next.Messages[0]].Text()) != ""
}

// call reads call c of block i and its result r. ok reports whether there is a result.
func (x *extractor) call(i int, c transcript.ToolCall, r transcript.ToolResult, ok bool) {
	text := ""
	if ok {
		text = r.Text()
		if x.refused(i, text) || strings.Contains(text[:min(len(text), 60)], "Sibling tool call errored") {
			return
		}
	}
	kit := x.tools.of(c)
	switch name, class := kit.name, kit.class; {
	case !r.Error && x.todos.call(i, name, c, text):
	case name == "askuserquestion":
		x.userQuestion(i, c, r, ok)
	case name == "exitplanmode":
		if ok && !r.Error {
			x.acceptedPlan(i, gjson.GetBytes(c.Input, "plan").String())
		}
	case class == tool.Plan || class == tool.Title:
	case name == "skill": // its result is instructions, not facts
	case name == "think":
		x.reply(i, gjson.GetBytes(c.Input, "thought").String(), false)
	case class == tool.Edit:
		x.edit(i, c, r, ok, text)
	case (class == tool.Command || class == tool.Check) && tool.Line(c) != "":
		x.run(i, c, r, ok)
	case class == tool.Read || class == tool.Command || kit.reads:
		x.read(i, c, r, ok, text)
	default:
		x.unknownTool(i, c, r, ok, text)
	}
}

// edit reads a call that changes files.
func (x *extractor) edit(i int, c transcript.ToolCall, r transcript.ToolResult, ok bool, text string) {
	path := x.relative(tool.Path(c))
	if !ok {
		return
	}
	if r.Error {
		x.fail(i, cmp.Or(path, c.Name), "edit "+path, failureOf(text))
		return
	}
	for _, ch := range edits(c, text) {
		x.change(i, ch)
	}
	x.resolve(i, "edit "+path, "")
}

func (x *extractor) change(i int, ch change) {
	path := x.relative(ch.path)
	if from, ok := strings.CutPrefix(ch.text, "from "); ok && ch.status == statusMoved {
		ch.text = "from " + x.relative(from)
	}
	x.add(Fact{Kind: FactChange, Status: ch.status, Role: transcript.RoleAssistant, Block: i, Subject: path, Text: ch.text})
	x.edits = append(x.edits, path)
}

// relative returns a path relative to the project.
func (x *extractor) relative(path string) string {
	if x.project != "" {
		if rest, ok := strings.CutPrefix(path, x.project+"/"); ok && rest != "" {
			return rest
		}
	}
	return strings.TrimPrefix(path, "./")
}

// read reads a call that only looks something up.
func (x *extractor) read(i int, c transcript.ToolCall, r transcript.ToolResult, ok bool, text string) {
	f := Fact{Kind: FactRead, Role: transcript.RoleAssistant, Block: i, Subject: x.subject(c)}
	if f.Subject == "" {
		return
	}
	switch {
	case r.Error:
		f.Status = StatusFailed
		f.Text = failureOf(text)
	case ok && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")):
		f.Text = fields(text, f.Subject)
	case ok && x.tools.of(c).class == tool.Other:
		x.readReport(i, text)
	}
	x.add(f)
}

// readReport adds the progress in the report of a sub-agent.
func (x *extractor) readReport(i int, said string) {
	n := 0
	for _, s := range sentences(said) {
		if n < maxHeard && !s.title && progresses(s, false) {
			x.addOnce(Fact{Kind: FactProgress, Role: transcript.RoleTool, Block: i, Text: text.Line(s.text, sentenceRunes)})
			n++
		}
	}
}

// subject returns the pattern of a call, or else its path, or else its query, or else its
// arguments.
func (x *extractor) subject(c transcript.ToolCall) string {
	in := gjson.ParseBytes(c.Input)
	switch {
	case in.Get("pattern").Type == gjson.String:
		return text.Line(in.Get("pattern").Str, shortRunes)
	case tool.Path(c) != "":
		return x.relative(tool.Path(c))
	}
	if q := membersOf(in).text("query", "url", "pattern", "description", "expression"); q != "" {
		return text.Line(q, lineRunes)
	}
	return text.Line(c.Name+" "+arguments(in), lineRunes)
}

// unknownTool reads a call of a tool of class tool.Other or without a command line. It adds a command with the
// arguments as its subject and the fields of the result as its text.
func (x *extractor) unknownTool(i int, c transcript.ToolCall, r transcript.ToolResult, ok bool, s string) {
	in := gjson.ParseBytes(c.Input)
	f := Fact{Kind: FactCommand, Status: statusUnknown, Role: transcript.RoleAssistant, Block: i}
	f.Subject = text.Line(strings.TrimSpace(c.Name+" "+arguments(in)), sentenceRunes)
	if ok {
		f.Status = StatusOK
		low := lower(s[:min(len(s), 60)])
		if r.Error || strings.HasPrefix(low, "error") || strings.HasPrefix(low, `{"error"`) {
			f.Status = StatusFailed
			f.Text = failureOf(s)
			x.fail(i, f.Subject, c.Name, f.Text)
		} else {
			f.Text = fields(s, f.Subject)
			x.resolve(i, c.Name, c.Name)
		}
	}
	x.add(f)
	if x.tools.named(c.Name).class == tool.Other { // the arguments of a known tool are not references
		x.argumentReferences(i, in)
	}
}

// run reads a call that runs a command line.
func (x *extractor) run(i int, c transcript.ToolCall, r transcript.ToolResult, ok bool) {
	line := readLine(tool.Line(c))
	f := Fact{Kind: FactCommand, Status: statusUnknown, Role: transcript.RoleAssistant, Block: i, Subject: line.summary()}
	if f.Subject == "" {
		return
	}
	if line.readOnly() {
		f.Kind, f.Status = FactRead, ""
		if r.Error {
			f.Status, f.Text = StatusFailed, outcomeOf(r, true).failure
		}
		files := line.Reads()
		if len(files) == 0 || line.Searches() {
			x.add(f)
			return
		}
		for _, file := range files { // one fact for each file, like the call of a reading tool
			f.Subject = x.relative(file)
			x.add(f)
		}
		return
	}
	if !ok || strings.HasPrefix(r.Text(), "Command running in background") {
		x.add(f)
		return
	}
	o := outcomeOf(r, strings.Contains(line.whole, "$?"))
	f.Status, f.Text, f.Exit = o.status, o.summary, o.exit
	x.add(f)
	keys := line.keys()
	if o.status == StatusFailed {
		if len(keys) > 0 {
			x.fail(i, f.Subject, keys[len(keys)-1], o.failure)
		}
		line = line.begun(r.Text())
	}
	for _, ch := range line.changes() {
		if !shell.IsTemporary(x.relative(ch.path)) {
			x.change(i, ch)
		}
	}
	if o.status == StatusFailed {
		return
	}
	for _, k := range keys {
		x.resolve(i, k, f.Subject)
	}
	if runsAllTests(line.whole, keys) {
		x.resolve(i, allTestsKey, f.Subject)
	}
}

// allTestsKey is the key of a run of all tests.
const allTestsKey = "\x00suite"

// runsAllTests reports whether a command line runs tests and selects none of them by an
// option or a path. keys are the keys of its commands.
func runsAllTests(line string, keys []string) bool {
	for _, option := range [...]string{" -run", " -k ", "::", " -t ", "--filter", "--grep"} {
		if strings.Contains(line, option) {
			return false
		}
	}
	for _, k := range keys {
		words := strings.Fields(k)
		if len(words) > 1 && slices.ContainsFunc(words[1:min(len(words), 3)], func(w string) bool { return strings.HasPrefix(w, "test") }) &&
			!slices.ContainsFunc(words[2:], func(w string) bool { return w != "./..." && strings.ContainsAny(w, "/.") }) {
			return true
		}
	}
	return false
}

// fail records an error. An equal error that is on record moves to this block instead, and is
// open again if it was resolved.
func (x *extractor) fail(i int, subject, key, text string) {
	x.failAs(transcript.RoleAssistant, i, subject, key, text)
}

func (x *extractor) failAs(role transcript.Role, i int, subject, key, text string) {
	text = cmp.Or(text, subject)
	id := key + "\x00" + text
	if at, ok := x.errors[id]; ok {
		f := &x.found[at]
		f.Block, f.CallID, f.touched = i, x.callID, i
		if f.Status == StatusResolved {
			f.Status, f.Why = StatusOpen, ""
			x.open = append(x.open, failure{at, key, len(x.edits)})
		}
		return
	}
	at := x.add(Fact{Kind: FactError, Status: StatusOpen, Role: role, Block: i, Subject: subject, Text: text})
	x.errors[id] = at
	x.open = append(x.open, failure{at, key, len(x.edits)})
}

// resolve resolves the open errors of commands that would succeed, too, as the command with the key
// did: see covers. The fix is the edits since the error, or else subject, the thing that succeeded.
func (x *extractor) resolve(i int, key, subject string) {
	x.resolveIf(i, subject, func(o failure) bool { return covers(key, o.key) })
}

// resolveIf resolves the open errors for which the function resolved returns true, as resolve does.
func (x *extractor) resolveIf(i int, subject string, resolved func(o failure) bool) {
	x.open = slices.DeleteFunc(x.open, func(o failure) bool {
		if !resolved(o) {
			return false
		}
		f := &x.found[o.fact]
		f.Status, f.touched = StatusResolved, i
		paths := unique(x.edits[o.edits:])
		switch {
		case strings.HasPrefix(o.key, "edit "):
			f.Why = "edited again"
		case len(paths) > 0:
			f.Why = "edited " + join(paths, 4, "")
		case subject != "":
			f.Why = subject + " succeeded"
		}
		return true
	})
}

// covers reports whether the success of a command means that another command would succeed too. The
// keys of the two are in key and other. It does if the keys are equal, if other is the same command
// behind a wrapper, or if key runs the same program on less specific operands. It does not if they
// ran in different folders. allTestsKey covers all keys of tests.
func covers(key, other string) bool {
	in, key := folderOf(key)
	there, other := folderOf(other)
	if !sameFolder(in, there) {
		return false
	}
	if key == other || key == allTestsKey && strings.Contains(strings.ReplaceAll(other, "latest", ""), "test") && !strings.HasPrefix(other, "edit ") {
		return true
	}
	if at := len(other) - len(key) - 1; at >= 0 && other[at] == ' ' && strings.HasSuffix(other, key) && strings.IndexByte(key, ' ') > 0 {
		return true // other is key behind a wrapper, such as "sudo make test"
	}
	a, b := strings.Fields(key), strings.Fields(other)
	return len(a) > 1 && len(b) > 1 && a[0] == b[0] && !text.HasWord("git edit read show", a[0]) && includes(a, b)
}

// sameFolder reports whether two folders, one perhaps by its absolute path, may be the same. An
// empty one is not known.
func sameFolder(a, b string) bool {
	return a == b || a == "" || b == "" || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// includes reports whether a command with the words a does all that one of the same program with
// the words b does.
func includes(a, b []string) bool {
	if a[1] == b[1] && slices.ContainsFunc(a[2:], func(w string) bool { return strings.HasSuffix(w, "/...") }) {
		return !slices.ContainsFunc(b[2:], func(w string) bool { return !slices.ContainsFunc(a[2:], func(v string) bool { return holds(v, w) }) })
	}
	if len(a) >= len(b) || !slices.Equal(a, b[:len(a)]) || len(a) == 2 && a[0] == "go" { // go test of one package, which may be another one
		return false
	}
	// A command that names a file or a package says nothing of others.
	return !strings.ContainsAny(a[len(a)-1], "./") || !slices.ContainsFunc(b[len(a):], func(w string) bool { return w[0] != '-' })
}

// holds reports whether an operand of go, such as ./store/..., includes another one.
func holds(operand, other string) bool {
	root, all := strings.CutSuffix(operand, "...")
	return operand == other || all && (root == "./" && !strings.HasPrefix(other, "../") || strings.HasPrefix(other+"/", root))
}

// refused reports whether a result says that the user refused a call. It reads the user's
// reason as a message.
func (x *extractor) refused(i int, text string) bool {
	if !strings.HasPrefix(text, "The user doesn't want to ") && !strings.HasPrefix(text, "The user rejected") {
		return false
	}
	for _, mark := range [...]string{"the user said:", "the user provided the following reason for the rejection:"} {
		if _, said, ok := strings.Cut(text, mark); ok {
			said, _, _ = strings.Cut(said, "\n\nNote: ")
			x.person(i, said)
		}
	}
	return true
}

// userQuestion reads a question that a tool put to the user.
func (x *extractor) userQuestion(i int, c transcript.ToolCall, r transcript.ToolResult, ok bool) {
	questions := gjson.GetBytes(c.Input, "questions.#.question").Array()
	if len(questions) == 0 {
		if q := gjson.GetBytes(c.Input, "question"); q.String() != "" {
			questions = []gjson.Result{q}
		}
	}
	answer := r.Text()
	for _, q := range questions {
		f := Fact{Kind: FactQuestion, Status: StatusOpen, Role: transcript.RoleAssistant, Block: i, Text: text.Line(q.String(), sentenceRunes)}
		if ok && !r.Error {
			f.Status = StatusResolved
			f.Why = text.Line(answer, sentenceRunes)
			if _, rest, found := strings.Cut(answer, `"`+q.String()+`"=`); found {
				reply := strings.TrimPrefix(rest, `"`)
				if end := strings.Index(reply, `"`); end >= 0 {
					reply = reply[:end]
				}
				f.Why = text.Line(reply, sentenceRunes)
			}
			x.add(Fact{Kind: FactDecision, Role: transcript.RoleUser, Block: i, Subject: f.Text, Text: f.Why})
		}
		x.add(f)
	}
}

// acceptedPlan reads a plan that the user agreed to.
func (x *extractor) acceptedPlan(i int, plan string) {
	if plan == "" {
		return
	}
	x.add(Fact{Kind: FactDecision, Role: transcript.RoleUser, Block: i, Subject: "accepted plan", Text: cutAtSentence(plan, sentenceRunes)})
	x.steps(i, sentences(plan), transcript.RoleAssistant)
	for _, s := range sentences(plan) {
		x.decision(i, transcript.RoleAssistant, s, sentence{})
	}
}

// failureOf returns the line of a tool's result that describes the failure.
func failureOf(said string) string {
	said = strings.TrimSpace(said)
	if rest, ok := strings.CutPrefix(said, "<tool_use_error>"); ok {
		said, _, _ = strings.Cut(rest, "</tool_use_error>")
		return text.Line(text.FirstLine(said), lineRunes)
	}
	s := scanOutput(said)
	return text.Line(cmp.Or(s.failure, s.mention, s.first), lineRunes)
}

// readOnlyName reports whether the folded name of a tool begins with a verb for reading.
func readOnlyName(name string) bool {
	return slices.ContainsFunc(lookVerbs, func(verb string) bool { return strings.HasPrefix(name, verb) })
}

var lookVerbs = []string{"get", "search", "list", "find", "lookup", "read", "fetch", "query", "show", "describe", "task", "agent", "lsp"}

// arguments returns the arguments of a call as text: "key value, key value".
func arguments(in gjson.Result) string {
	var b strings.Builder
	eachValue("", in, func(key, value string) {
		if value == "" || b.Len() > 4*sentenceRunes {
			return
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if key != "" {
			b.WriteString(key + " ")
		}
		b.WriteString(value)
	})
	return b.String()
}

// eachValue calls f for the values in JSON that are neither objects nor arrays, each with
// its key. The key of an element of an array is that of the array.
func eachValue(key string, v gjson.Result, f func(key, value string)) {
	switch {
	case v.IsObject():
		v.ForEach(func(k, v gjson.Result) bool {
			eachValue(k.Str, v, f)
			return true
		})
	case v.IsArray():
		for _, e := range v.Array() {
			eachValue(key, e, f)
		}
	default:
		f(key, v.String())
	}
}

// fields returns the fields of a result in JSON as text. Of an array it has only the fields
// that identify the elements. It omits values that are in known. If s is not JSON, fields
// returns its first line.
func fields(s, known string) string {
	in := gjson.Parse(s)
	if !gjson.Valid(s) || !in.IsObject() && !in.IsArray() {
		return text.Line(text.FirstLine(s), lineRunes)
	}
	if in.IsArray() {
		if len(in.Array()) == 0 {
			return "[]"
		}
		return text.Line(entries(in), 2*lineRunes)
	}
	var list []string
	in.ForEach(func(k, v gjson.Result) bool {
		switch {
		case v.IsArray():
			if said := entries(v); said != "" {
				list = append(list, k.Str+" "+said)
			}
		case v.IsObject():
			if said := arguments(v); len(said) <= shortRunes {
				list = append(list, said)
			}
		case v.String() != "" && !strings.Contains(known, v.String()):
			list = append(list, k.Str+" "+v.String())
		}
		return true
	})
	return text.Line(strings.Join(list, ", "), 2*lineRunes)
}

// entries returns the elements of a list as text; of an object, the fields that identify it.
func entries(list gjson.Result) string {
	var out []string
	for _, e := range list.Array() {
		if !e.IsObject() {
			said := e.String()
			if e.IsArray() {
				said = entries(e)
			}
			out = append(out, said)
			continue
		}
		var said []string
		e.ForEach(func(k, v gjson.Result) bool {
			if !v.IsObject() && !v.IsArray() && identifies(k.Str) {
				said = append(said, v.String())
			}
			return true
		})
		if text := strings.Join(said, " "); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// identifies reports whether a field identifies its object: a name, an id, a title.
func identifies(key string) bool {
	return slices.ContainsFunc(namingEnds, func(end string) bool { return strings.HasSuffix(key, end) })
}

var namingEnds = []string{"number", "id", "name", "title", "date", "amount", "key"}
