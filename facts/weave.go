package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A graphBuilder builds the graph of a conversation, block by block.
type graphBuilder struct {
	g       *Graph
	msgs    []transcript.Message
	blocks  []transcript.Block
	tools   toolbox
	results map[string]transcript.ToolResult // results in the current block, by the id of their call

	origins  map[string]Position // identifier → position of its first occurrence
	paths    paths
	files    map[int]*file  // node → state of the file
	lastSame map[string]int // key of a lookup or a command → its last call
	open     []failed       // the newest unresolved failures
	todos    todos
	list     int            // the last call that stated the whole task list, or -1
	updates  map[string]int // id of an entry → the last call that updated it
}

// A file has the calls whose knowledge of a file is current: the reads since the last write,
// and the last write.
type file struct {
	reads  []reading
	writes []int // indexes of calls
}

// A reading is a call that read a part of a file.
type reading struct {
	call int
	part extent
}

// A failed is a call that failed and that no later success has resolved yet.
type failed struct {
	call, node int
	key        string // a success with this key resolves the failure, see covers
}

// maxWatched bounds the reads of a file and the failures that later calls may supersede, so
// that the cost stays linear in the number of calls.
const maxWatched = 64

func newGraphBuilder(msgs []transcript.Message, blocks []transcript.Block, opts *Options) *graphBuilder {
	w := &graphBuilder{
		g:    &Graph{index: make(map[nodeKey]int), byID: make(map[string]int)},
		msgs: msgs, blocks: blocks, results: make(map[string]transcript.ToolResult), origins: make(map[string]Position),
		files: make(map[int]*file), lastSame: make(map[string]int), list: -1, updates: make(map[string]int),
	}
	if opts != nil {
		w.tools.table = opts.Tools
		w.paths.project = strings.TrimRight(opts.Project, "/")
	}
	return w
}

// block reads one block.
func (w *graphBuilder) block(i int) {
	b := &w.blocks[i]
	clear(w.results)
	for _, k := range b.Messages {
		for _, p := range w.msgs[k].Parts {
			if r, ok := p.(transcript.ToolResult); ok {
				w.results[r.CallID] = r
			}
		}
	}
	for _, k := range b.Messages {
		for _, p := range w.msgs[k].Parts {
			switch p := p.(type) {
			case transcript.Text:
				w.noteOrigins(string(p), Position{Block: i})
			case transcript.ToolCall:
				w.call(i, p)
			case transcript.ToolResult:
				w.noteOrigins(p.Text(), Position{i, p.CallID})
			}
		}
	}
}

// noteOrigins records the position of the first occurrence of each identifier in a text.
func (w *graphBuilder) noteOrigins(text string, ref Position) {
	Each(text, func(id Identifier, _ int) {
		if _, known := w.origins[id.Text]; !known {
			w.origins[id.Text] = ref
		}
	})
}

// origin returns the position of the first occurrence of an identifier, or ref if there is
// none.
func (w *graphBuilder) origin(name string, ref Position) Position {
	if from, ok := w.origins[name]; ok {
		return from
	}
	return ref
}

// call reads a call, its arguments first.
func (w *graphBuilder) call(i int, c transcript.ToolCall) {
	ref := Position{i, c.ID}
	k := w.g.addCall(ref)
	w.names(k, ref, c)
	r, ok := w.results[c.ID]
	if !ok {
		return
	}
	text := r.Text()
	if isRefusal(text) {
		return
	}
	fails := r.Error || reportsError(text)
	kit := w.tools.of(c)
	name, class := kit.name, kit.class
	line := ""
	if class == tool.Command || class == tool.Check {
		line = tool.Line(c)
	}
	switch {
	case plans(class, name) && !fails && w.plan(i, k, name, c, text):
	case class == tool.Plan, class == tool.Title:
	case line != "":
		w.command(k, line, r)
	case class == tool.Edit:
		w.edit(k, c, text, fails)
	case class == tool.Read || class == tool.Command || kit.reads:
		w.read(k, kit, c, text, fails)
	case class == tool.Other:
		w.noteOutcome(k, name, c.Name, text, fails)
	}
}

// plans reports whether a tool may keep a task list.
func plans(class tool.Class, name string) bool {
	return class == tool.Plan || strings.Contains(name, "todo") || strings.Contains(name, "plan")
}

// isRefusal reports whether a call did not run: a person refused it, or a parallel call
// failed.
func isRefusal(text string) bool {
	return strings.HasPrefix(text, "The user doesn't want to ") || strings.HasPrefix(text, "The user rejected") ||
		strings.Contains(text[:min(len(text), 60)], "Sibling tool call errored")
}

// reportsError reports whether the text of a result begins like that of an error. Some
// tools do not mark their errors.
func reportsError(text string) bool {
	head := text[:min(len(text), 24)]
	return strings.HasPrefix(head, "Error: ") || strings.HasPrefix(head, "error: ") || strings.HasPrefix(head, `{"error"`) ||
		strings.HasPrefix(head, "<tool_use_error>")
}

// names records the identifiers in the arguments of call k.
func (w *graphBuilder) names(k int, ref Position, c transcript.ToolCall) {
	take := func(text string) {
		Each(text, func(id Identifier, _ int) {
			n := w.g.node(nodeName, id.Text, w.origin(id.Text, ref))
			w.g.nodes[n].Form = id.Kind
			w.g.use(n, k, actName)
			if _, known := w.origins[id.Text]; !known {
				w.origins[id.Text] = ref
			}
		})
	}
	if !isJSON(c.Input) {
		take(string(c.Input))
		return
	}
	eachLeaf(gjson.ParseBytes(c.Input), 0, take)
}

// noteOutcome records the success or failure of call k under a key.
func (w *graphBuilder) noteOutcome(k int, key, about, text string, fails bool) {
	if fails {
		w.fail(k, key, failureOf(text))
	} else {
		w.resolve(k, key, about)
	}
}

// fail records that call k failed. said is the line that reports the failure.
func (w *graphBuilder) fail(k int, key, said string) {
	ref := w.g.calls[k].ref
	node := w.g.node(nodeError, cmp.Or(said, key), ref)
	w.g.nodes[node].Status = StatusOpen
	w.g.use(node, k, ActFail)
	w.open = latest(append(w.open, failed{k, node, key}))
}

// resolve resolves open failures because call k succeeded: those with a key that the key of the
// call covers, see covers.
func (w *graphBuilder) resolve(k int, key, about string) {
	w.open = slices.DeleteFunc(w.open, func(f failed) bool {
		if !covers(key, f.key) {
			return false
		}
		w.g.supersede(f.call, k, StateResolved, about, false)
		w.g.nodes[f.node].Status = StatusResolved
		w.g.use(f.node, k, actResolve)
		return true
	})
}

// latest cuts a list of more than 2*maxWatched elements to its last maxWatched.
func latest[T any](list []T) []T {
	if len(list) > 2*maxWatched {
		list = append(list[:0], list[len(list)-maxWatched:]...)
	}
	return list
}

// edit reads a call that writes files.
func (w *graphBuilder) edit(k int, c transcript.ToolCall, text string, fails bool) {
	list := writings(c)
	if fails {
		path := cmp.Or(tool.Path(c), c.Name)
		w.fail(k, "edit "+w.paths.clean(path), failureOf(text))
		return
	}
	w.g.calls[k].several = len(list) > 1
	for _, ch := range list {
		w.write(k, ch)
		w.resolve(k, "edit "+w.paths.clean(ch.path), w.paths.clean(ch.path))
	}
}

// write records that call k wrote a file, and marks earlier reads and writes as stale.
func (w *graphBuilder) write(k int, ch writing) {
	f, node := w.file(k, ch.path)
	n := &w.g.nodes[node]
	n.Status = ch.status
	w.g.use(node, k, ActWrite)
	for _, r := range f.reads {
		w.g.supersede(r.call, k, StateStale, n.Name, !ch.whole || w.g.calls[r.call].several)
	}
	for _, call := range f.writes {
		w.g.supersede(call, k, StateStale, n.Name, !ch.whole || w.g.calls[call].several)
	}
	f.reads, f.writes = nil, append(f.writes[:0], k)
}

// file returns the state and the node of the file at a path.
func (w *graphBuilder) file(k int, path string) (*file, int) {
	name := w.paths.of(path)
	node := w.g.node(NodeFile, name, w.origin(name, w.origin(path, w.g.calls[k].ref)))
	f := w.files[node]
	if f == nil {
		f = new(file)
		w.files[node] = f
	}
	return f, node
}

// noteRead records that call k read a part of a file, and marks earlier reads of the same
// lines as redundant.
func (w *graphBuilder) noteRead(k int, path string, part extent) {
	f, node := w.file(k, path)
	w.g.use(node, k, ActRead)
	f.reads = slices.DeleteFunc(f.reads, func(r reading) bool {
		if !part.covers(r.part) {
			return false
		}
		w.g.supersede(r.call, k, StateRedundant, w.g.nodes[node].Name, w.g.calls[r.call].several)
		return true
	})
	f.reads = latest(append(f.reads, reading{k, part}))
}

// read reads a call that looks something up.
func (w *graphBuilder) read(k int, kit toolInfo, c transcript.ToolCall, text string, fails bool) {
	path := tool.Path(c)
	searches := gjson.GetBytes(c.Input, "pattern").Exists() || gjson.GetBytes(c.Input, "query").Exists()
	key := "read " + cmp.Or(w.paths.clean(path), c.Name)
	switch {
	case fails:
		w.fail(k, key, failureOf(text))
	case unchanged(text):
	case path != "" && !searches && kit.class != tool.Other && !lists(kit.name):
		w.resolve(k, key, path)
		w.noteRead(k, path, extentOf(c))
	default:
		w.resolve(k, key, c.Name)
		if path != "" && isFile(path[strings.LastIndexByte(path, '/')+1:]) {
			w.noteRead(k, path, extent{})
		}
		w.noteRepeat(k, kit.name+"\x00"+string(c.Input), c.Name)
	}
}

// lists reports whether the folded name of a tool is that of a tool that lists files.
func lists(name string) bool {
	return name == "ls" || strings.HasPrefix(name, "list") || strings.HasPrefix(name, "readdir") || strings.HasPrefix(name, "glob")
}

// unchanged reports whether a result has no content of its own: it is empty, refers to an
// earlier read of the unchanged file, or was cleared.
func unchanged(text string) bool {
	head := text[:min(len(text), 120)]
	return text == "" || strings.Contains(head, "unchanged since last read") || strings.HasPrefix(head, "[Old tool result")
}

// noteRepeat records that call k looks up or runs the thing with a key, and marks the last
// call with the same key as redundant.
func (w *graphBuilder) noteRepeat(k int, key, about string) {
	if last, ok := w.lastSame[key]; ok {
		w.g.supersede(last, k, StateRedundant, about, false)
	}
	w.lastSame[key] = k
}

// command reads a call that runs a command line.
func (w *graphBuilder) command(k int, line string, r transcript.ToolResult) {
	l := readLine(line)
	said := l.summary()
	if said == "" {
		return
	}
	node := w.g.node(NodeCommand, said, w.g.calls[k].ref)
	w.g.use(node, k, ActRun)
	only := l.readOnly()
	o := outcome{status: StatusOK}
	switch {
	case only && r.Error:
		o = outcome{status: StatusFailed, failure: failureOf(r.Text())}
	case strings.HasPrefix(r.Text(), "Command running in background"):
		o.status = statusUnknown
	case !only:
		o = outcomeOf(r, strings.Contains(line, "$?"))
	}
	w.g.nodes[node].Status = o.status
	keys := l.keys()
	if only {
		keys = []string{"show " + said}
	}
	w.g.calls[k].several = l.activeCommands() > 1
	switch o.status { //nolint:exhaustive // commands have no other statuses
	case StatusFailed:
		if len(keys) > 0 {
			w.fail(k, keys[len(keys)-1], o.failure)
		}
		for _, ch := range l.begun(r.Text()).writings() {
			w.write(k, ch)
		}
		return
	case statusUnknown:
		return
	}
	for _, key := range keys {
		w.resolve(k, key, said)
	}
	if runsAllTests(line, keys) {
		w.resolve(k, allTestsKey, said)
	}
	if !o.commit && !unchanged(r.Text()) {
		dir, rest := l.normalized()
		w.noteRepeat(k, "run\x00"+w.paths.clean(dir)+"\x00"+rest, said)
	}
	for _, seen := range l.readings() {
		w.noteRead(k, seen.path, seen.part)
	}
	if only {
		return
	}
	for _, ch := range l.writings() {
		w.write(k, ch)
	}
}

// plan reads a call that may change a task list, and reports whether it does.
func (w *graphBuilder) plan(i, k int, name string, c transcript.ToolCall, text string) bool {
	if !w.todos.call(i, name, c, text) {
		return false
	}
	switch name {
	case "taskcreate":
	case "taskupdate":
		id := gjson.GetBytes(c.Input, "taskId").String()
		if last, ok := w.updates[id]; ok {
			w.g.supersede(last, k, StateSuperseded, "task "+id, false)
		}
		w.updates[id] = k
	default:
		if w.list >= 0 {
			w.g.supersede(w.list, k, StateSuperseded, "list", false)
		}
		w.list = k
	}
	for _, e := range w.todos.list {
		node := w.g.node(nodeTodo, e.text, w.g.calls[k].ref)
		n := &w.g.nodes[node]
		if fresh := len(n.Uses) == 0; fresh || n.Status != e.status || name != "taskcreate" && name != "taskupdate" {
			n.Status = e.status
			w.g.use(node, k, actState)
		}
	}
	return true
}
