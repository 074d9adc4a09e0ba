package account

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/outcome"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// Options adjusts [Read]. The zero value is the default.
type Options struct {
	Tools    *tool.Table    // descriptions of tools
	Outcomes *outcome.Table // rules for the outcome of commands
	Project  string         // folder of the project; empty: the folder that most paths share
}

// Read returns the units of a conversation in block order, and the state at
// its end. blocks are the blocks of msgs. Blocks with system text have no
// units. o may be nil.
func Read(msgs []transcript.Message, blocks []transcript.Block, o *Options) ([]Unit, *State) {
	r := newReader(msgs, o)
	t := newTracker(r)
	for i := range blocks {
		if blocks[i].Kind == transcript.KindSystem {
			continue
		}
		clear(r.results)
		clear(r.ended)
		for _, k := range blocks[i].Messages {
			for _, res := range msgs[k].Results() {
				r.results[res.CallID] = res
			}
		}
		r.block(int32(i), &blocks[i])
		t.block(i, &blocks[i])
	}
	r.date()
	r.bind()
	return r.units, t.state()
}

// A reader reads a conversation.
type reader struct {
	Options
	msgs     []transcript.Message
	results  map[string]transcript.ToolResult // results of the calls in the current block, by call
	ended    map[string]outcome.Outcome       // outcomes of results, computed on demand
	root     string                           // path prefix of the project, or empty
	lines    map[string]*shell.Line           // parsed command lines
	versions map[string]*version              // of files, by path from the project's folder
	copies   map[string]map[string]int32      // by file: last unit of each part of it
	words    []string                         // the user's messages
	labels   []label                          // of the command whose output is read
	at       int32                            // index of the current block
	units    []Unit
}

func newReader(msgs []transcript.Message, o *Options) *reader {
	r := &reader{msgs: msgs, results: make(map[string]transcript.ToolResult), ended: make(map[string]outcome.Outcome), versions: make(map[string]*version), copies: make(map[string]map[string]int32), lines: make(map[string]*shell.Line)}
	if o != nil {
		r.Options = *o
	}
	if r.root = strings.TrimSuffix(r.Project, "/"); r.root == "" {
		r.root = rootOf(msgs)
	}
	if r.root != "" {
		r.root += "/"
	}
	return r
}

// date sets the fields Calls and Turns of each unit, and marks the units of
// the user's first message.
func (r *reader) date() {
	task := int32(-1)
	for i := range r.units {
		if u := &r.units[i]; u.Kind == Words && (task < 0 || u.Block == task) {
			u.Task, task = true, u.Block
		}
	}
	talk := !slices.ContainsFunc(r.units, func(u Unit) bool { return u.Kind == Run })
	calls, turns := int32(0), int32(0)
	reply := int32(-1) // index of a block
	spoke := false     // the unit before was a user's
	for i := len(r.units) - 1; i >= 0; i-- {
		u := &r.units[i]
		u.Calls, u.Turns, u.Talk = calls, turns, talk
		switch {
		case u.Kind.call():
			calls++
		case u.Kind == Words && u.First:
			turns++
		}
		switch {
		case u.Kind == Words:
			spoke = true
		case u.Kind == Sentence && (spoke || u.Block == reply):
			u.Reply, reply, spoke = true, u.Block, false
		default:
			spoke = false
		}
	}
}

// asking reports whether a sentence is a question.
func asking(sentence string) bool {
	return strings.HasSuffix(strings.TrimRight(sentence, "*_ "), "?")
}

// add adds a unit of the current block and returns its index.
func (r *reader) add(u Unit) int32 {
	u.Block = r.at
	if len(r.units) == cap(r.units) { // append would grow it by a quarter and copy it four times
		r.units = slices.Grow(r.units, max(len(r.units), 64))
	}
	r.units = append(r.units, u)
	return int32(len(r.units) - 1)
}

func (r *reader) block(i int32, b *transcript.Block) {
	r.at = i
	for _, k := range b.Messages {
		m := &r.msgs[k]
		selected := int32(-1) // index of the unit with the lines that the user had selected
		for _, p := range m.Parts {
			switch p := p.(type) {
			case transcript.Text:
				switch {
				case m.Role == transcript.RoleAssistant && string(p) == noReply:
				case m.Role == transcript.RoleAssistant:
					r.prose(Sentence, string(p), -1)
				case b.Kind == transcript.KindSummary:
					r.prose(Sentence, transcript.SummaryWords(string(p)), -1)
				default:
					if lines := transcript.Selection(string(p)); lines != "" {
						lines = text.Clip(text.Fold(r.short(lines)), mostSelection)
						selected = r.add(Unit{Kind: Words, Text: "[selected lines " + lines + "]", Head: -1})
					}
					words := transcript.Words(string(p))
					r.words = append(r.words, words)
					r.prose(Words, words, selected)
				}
			case transcript.ToolCall:
				r.call(p)
			case transcript.Media:
				if m.Role == transcript.RoleUser {
					r.add(Unit{Kind: Words, Head: -1, Text: "[" + cmp.Or(p.Kind, "file") + "]", First: true, Last: true})
				}
			case transcript.ToolResult:
				if b.Kind == transcript.KindOrphan {
					r.output(Output, p.Text(), r.add(Unit{Kind: Step, Head: -1, Text: bullet + "a result without its call"}), p.Error, nil)
				}
			case transcript.Thinking, transcript.Opaque:
			}
		}
	}
}

// mostSelection bounds what is told of lines that a user had selected, in bytes.
const mostSelection = 240

// noReply is the reply that Claude Code writes where it called no model.
const noReply = "No response requested."

// Prefixes of the lines of an account.
const (
	bullet = "• "  // a call
	indent = "  "  // arguments and results of a call
	dollar = "$\n" // a command
	arrow  = "→ "  // an outcome
)

// prose adds the sentences of a text. A heading is the head of the sentences
// below it. A short message of the user is one unit, because half of it may
// mean something else.
func (r *reader) prose(kind Kind, prose string, head int32) {
	if bare := strings.TrimSpace(prose); kind == Words && bare != "" && len(bare) <= wholeWords {
		r.add(Unit{Kind: kind, Text: bare, Head: head, First: true, Last: true, Size: size(prose)})
		return
	}
	all := passages(prose)
	above := head // index of the heading
	var lines []opener
	rules := false
	for n, p := range all {
		rules = kind == Words && (rules && !p.title || p.title && obliges.Get().MatchString(p.text))
		if !listed(&p) {
			lines = nil
		}
		for len(lines) > 0 && !p.code && lines[len(lines)-1].depth >= depth(p.text) {
			lines = lines[:len(lines)-1]
		}
		u := Unit{Kind: kind, Text: p.text, Same: p.same, Head: above, First: n == 0, Last: n == len(all)-1, Title: p.title, Code: p.code, Rule: rules, Size: size(prose)}
		if kind == Report || kind == Argument || kind == Span {
			u.Text = indented(p.text)
		}
		if len(lines) > 0 {
			u.Head = lines[len(lines)-1].unit
		}
		if p.title {
			u.Head = head
			above = r.add(u)
			continue
		}
		at := r.add(u)
		if o, opens := opening(all[n:], at); opens {
			lines = append(lines, o)
			r.units[at].Opens = true
		}
	}
}

// An opener is a line with a colon above a list or code.
type opener struct {
	unit  int32
	depth int // indentation of the line if it is an entry of a list itself, or -1; the entries below are deeper
}

// opening returns the first passage as an opener, if it is one; at is its unit.
func opening(all []passage, at int32) (o opener, opens bool) {
	p := &all[0]
	if !strings.HasSuffix(strings.TrimRight(p.text, "*_"), ":") || p.code || len(all) == 1 || !listed(&all[1]) {
		return opener{}, false
	}
	o = opener{at, -1}
	if entry(p.text) {
		o.depth = depth(p.text)
	}
	return o, all[1].code || depth(all[1].text) > o.depth
}

// listed reports whether a passage is an entry of a list, or code.
func listed(p *passage) bool {
	return p.code || entry(p.text)
}

// entry reports whether a line begins an entry of a list.
func entry(line string) bool {
	bare := strings.TrimLeft(line, " ")
	return strings.HasPrefix(bare, "- ") || strings.HasPrefix(bare, "* ") || text.Digits(bare) > 0
}

func size(s string) int32 { return int32(min(len(s), 1<<30)) }

// indented indents lines.
func indented(lines string) string { return indent + strings.ReplaceAll(lines, "\n", "\n"+indent) }

// call adds a call with its result.
func (r *reader) call(c transcript.ToolCall) {
	res, in := r.results[c.ID], gjson.ParseBytes(c.Input)
	switch class := r.Tools.Of(c); {
	case asks(c):
		r.question(c, in, res)
	case class == tool.Edit:
		r.edit(c, in, res)
	case class == tool.Command || class == tool.Check:
		r.command(c, res)
	case class == tool.Plan:
		r.plan(c, in, res)
	case class == tool.Read:
		r.look(c, in, res)
	default:
		r.other(c, in, res)
	}
}

// said returns the text of a result without the parts between <system-reminder> tags at its end,
// which an agent's program adds for the model.
func said(res transcript.ToolResult) string {
	s, _ := tool.Printed(res.Text())
	for {
		body, ended := strings.CutSuffix(strings.TrimRight(s, " \t\r\n"), "</system-reminder>")
		if !ended {
			return s // most: a search would be slow
		}
		at := strings.LastIndex(body, "<system-reminder>")
		if at < 0 || at > 0 && body[at-1] != '\n' {
			return s
		}
		s = body[:at]
	}
}

// asks reports whether a call asks the user a question.
func asks(c transcript.ToolCall) bool {
	switch tool.Fold(c.Name) {
	case "ask", "askhuman", "askuser", "askuserquestion", "askquestion", "askfollowupquestion", "requestuserinput":
		return !strings.HasPrefix(c.Name, "mcp__")
	}
	return false
}

// question adds a question to the user and the user's answer.
func (r *reader) question(c transcript.ToolCall, in gjson.Result, res transcript.ToolResult) {
	head := r.add(Unit{Kind: Step, Head: -1, Text: bullet + c.Name, Failed: res.Error})
	list := in.Get("questions").Array()
	if len(list) == 0 {
		list = []gjson.Result{in}
	}
	for _, q := range list {
		if asked := q.Get("question").Str; asked != "" {
			r.prose(Argument, asked, head)
		}
	}
	r.prose(Words, said(res), head)
}

// look adds a call that reads a file or searches.
func (r *reader) look(c transcript.ToolCall, in gjson.Result, res transcript.ToolResult) {
	what := r.short(tool.Path(c))
	if at := in.Get("offset"); at.Exists() && what != "" {
		what = fmt.Sprintf("from line %d of %s", at.Int(), what)
	}
	for _, key := range [...]string{"pattern", "query", "url", "glob"} {
		if v := in.Get(key); v.Type == gjson.String {
			what = text.Clip(text.Fold(v.Str), mostArgument) + " " + what
		}
	}
	head := r.add(Unit{Kind: Look, Head: -1, Text: bullet + c.Name + " " + strings.TrimSpace(what) + r.failure(c, res), Failed: res.Error})
	switch {
	case res.Error:
	case in.Get("url").Exists():
		r.report(said(res), head)
	default:
		if tool.Path(c) != "" && !in.Get("pattern").Exists() {
			r.file(Span, tool.Path(c), said(res), head)
			if !in.Get("offset").Exists() && !in.Get("limit").Exists() && !in.Get("view_range").Exists() {
				r.versions[r.short(tool.Path(c))] = &version{read: said(res)}
			}
		} else {
			r.output(Span, said(res), head, false, nil)
		}
	}
}

// outcome returns how a call of the block ended.
func (r *reader) outcome(c transcript.ToolCall) outcome.Outcome {
	o, known := r.ended[c.ID]
	if !known {
		o = r.Outcomes.Of(c, r.results[c.ID])
		r.ended[c.ID] = o
	}
	return o
}

// failure returns the text for a result that is an error.
func (r *reader) failure(c transcript.ToolCall, res transcript.ToolResult) string {
	if !res.Error {
		return ""
	}
	if o := r.outcome(c); o.Text != "" {
		return "\n" + arrow + "failed: " + o.Text
	}
	return "\n" + arrow + "failed"
}

// output adds the meaningful lines of a result, except the lines whose numbers
// are in the ascending list but. A table's header line is the head of its rows. A
// figure that a short output repeats stands there once, with how often.
func (r *reader) output(kind Kind, result string, head int32, failed bool, but []int) {
	last, n, said := -1, 0, r.units[head].Text
	if strings.HasPrefix(said, "$") { // words of the command that it printed say which part of it ran
		_, said, _ = strings.Cut(said, "\n"+arrow)
	}
	u := Unit{Kind: kind, Head: head, First: true, Failed: failed, Size: size(result)}
	var before []string // cells of the line before, or of the header
	table := false
	lined := kind == Span && numbers(result)
	above := head                     // the label that the command printed last, or head
	times := make(map[string]*[2]int) // of lines below it that may repeat: their unit, and how often they stand there
	for line := range strings.SplitSeq(result, "\n") {
		n++
		if end := strings.LastIndexByte(strings.TrimRight(line, "\r"), '\r'); end >= 0 {
			line = line[end+1:] // keep the text that a terminal shows
		}
		_, line = numbered(line, lined)
		line = strings.TrimSpace(line)
		for len(but) > 0 && but[0] < n-1 {
			but = but[1:]
		}
		switch {
		case len(line) < leastOutput && !figure(line), rule(line), len(but) > 0 && but[0] == n-1, wrapper(line):
			continue
		case len(line) >= leastOutput && strings.Contains(said, line):
			continue
		case noise(line):
			r.units[head].Gap = true
			continue
		}
		if len(line) >= leastJSON && (line[0] == '{' || line[0] == '[') && gjson.Valid(line) {
			u.Head, table, before = above, false, nil
			last = r.fields(u, gjson.Parse(line), "", last, 0)
			u.First = last < 0
			continue
		}
		if labels(r.labels, line) {
			if last >= 0 {
				r.units[last].Last = true
			}
			u.Head, u.Text, table, before = head, indent+text.Clip(line, mostUnit), false, nil
			last = int(r.add(u))
			r.units[last].Opens, u.First, above = true, true, int32(last)
			r.repeated(times)
			continue
		}
		if at := times[line]; at != nil {
			at[1]++
			last = at[0]
			continue
		}
		row := cells(line)
		switch {
		case table && len(row) == len(before):
		case names(before, row):
			table, u.Head = true, int32(last)
			r.units[last].Opens = true
		default:
			table, u.Head, before = false, above, row
		}
		u.Text = indent + text.Clip(line, mostUnit)
		last = int(r.add(u))
		u.First = false
		if repeats(kind, result, line) {
			times[line] = &[2]int{last, 1}
		}
	}
	r.repeated(times)
	if last >= 0 {
		r.units[last].Last = true
	}
}

// mostRepeated is the size, in bytes, below which an output has a figure once that it repeats.
const mostRepeated = 1500

// repeats reports whether an output has a line once if it repeats it: a figure in a short output.
func repeats(kind Kind, result, line string) bool {
	return kind == Output && len(result) < mostRepeated && strings.ContainsAny(line, "0123456789")
}

// repeated adds to lines that an output has several times how often, and forgets them.
func (r *reader) repeated(times map[string]*[2]int) {
	for _, at := range times {
		if at[1] > 1 {
			r.units[at[0]].Text += fmt.Sprintf(" (×%d)", at[1])
		}
	}
	clear(times)
}

// figure reports whether a short line is a number or a word, such as 42 or ok.
func figure(line string) bool {
	return strings.ContainsFunc(line, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

// wrapper reports whether a line is a tag that agents put around outputs.
func wrapper(line string) bool {
	for _, head := range [...]string{
		"Chunk ID: ", "Wall time: ", "Original token count: ", "Process exited with code 0", "Exit code ", "Shell cwd was reset", "Output:", "<system-reminder>", "</system-reminder>",
	} {
		if strings.HasPrefix(line, head) {
			return true
		}
	}
	return false
}

// plan adds a call that records the agent's tasks. The tasks are in the
// state.
func (r *reader) plan(c transcript.ToolCall, in gjson.Result, res transcript.ToolResult) {
	words := []string{bullet + c.Name}
	for _, key := range [...]string{"taskId", "status", "subject", "explanation"} {
		if v := in.Get(key).String(); v != "" {
			words = append(words, text.Clip(text.Fold(v), mostArgument))
		}
	}
	head := r.add(Unit{Kind: Step, Head: -1, Text: strings.Join(words, " "), Failed: res.Error})
	if v := in.Get("plan"); v.Type == gjson.String {
		r.prose(Sentence, v.Str, head)
		r.prose(Words, said(res), head) // the user's comment
	}
	if v := in.Get("description"); v.Type == gjson.String {
		r.prose(Argument, v.Str, head)
	}
}

// other adds a call of an unknown tool.
func (r *reader) other(c transcript.ToolCall, in gjson.Result, res transcript.ToolResult) {
	line := bullet + c.Name
	var long []string
	add := func(s string) {
		switch s = strings.TrimSpace(s); {
		case s == "":
		case len(s) <= mostArgument && !strings.Contains(s, "\n"):
			line += " " + r.short(s)
		default:
			long = append(long, s)
		}
	}
	if in.IsObject() || in.IsArray() {
		in.ForEach(func(_, v gjson.Result) bool {
			add(v.String())
			return true
		})
	} else {
		add(in.String())
	}
	if line == bullet+c.Name && len(long) > 0 {
		line += " " + text.Clip(text.Fold(r.short(long[0])), mostArgument/2)
	}
	_, stated := r.record(c, res)
	head := r.add(Unit{Kind: Step, Head: -1, Text: text.Clip(line, mostUnit) + r.failure(c, res), Failed: res.Error, Stated: stated})
	for _, s := range long {
		r.prose(Argument, s, head)
	}
	switch {
	case res.Error:
	case delegates(c):
		r.report(said(res), head)
	default:
		from := len(r.units)
		r.output(Output, said(res), head, false, nil)
		for i := from; i < len(r.units); i++ {
			r.units[i].Stated = stated
		}
	}
}

// report adds the report of a sub-agent or the text of a web page. A line
// "reported:" separates it from the arguments of the call.
func (r *reader) report(said string, head int32) {
	if strings.TrimSpace(said) != "" {
		r.prose(Report, said, r.add(Unit{Kind: Sign, Head: head, Text: arrow + "reported:"}))
	}
}

// delegates reports whether a call starts another agent.
func delegates(c transcript.ToolCall) bool {
	name := tool.Fold(c.Name)
	return strings.Contains(name, "agent") || strings.HasPrefix(name, "task") || name == "delegate"
}

// rootOf returns the deepest folder of three to five segments that contains
// at least four fifths of the absolute paths in calls, or "".
func rootOf(msgs []transcript.Message) string {
	count := make(map[string]int)
	all := 0
	for i := range msgs {
		for _, c := range msgs[i].Calls() {
			p := tool.Path(c)
			if !strings.HasPrefix(p, "/") {
				continue
			}
			all++
			depth := 0
			for at := 1; at < len(p) && depth < 5; at++ {
				if p[at] != '/' {
					continue
				}
				if depth++; depth >= 3 {
					count[p[:at]]++
				}
			}
		}
	}
	best := ""
	for p, n := range count {
		if 5*n >= 4*all && len(p) > len(best) { // of two such folders one contains the other
			best = p
		}
	}
	return best
}

// short returns a text with the project's paths relative to its folder. The folder's name inside of
// another path stays: src/app/x with the folder /app.
func (r *reader) short(s string) string {
	if r.root == "" || !strings.Contains(s, r.root) {
		return s
	}
	var b strings.Builder
	for from := 0; ; {
		n := strings.Index(s[from:], r.root)
		if n < 0 {
			b.WriteString(s[from:])
			return b.String()
		}
		at := from + n
		b.WriteString(s[from:at])
		from = at + len(r.root)
		if at > 0 && !strings.ContainsRune(" \t\r\n\"'`=([{<>,;|&", rune(s[at-1])) {
			b.WriteString(r.root)
		}
	}
}
