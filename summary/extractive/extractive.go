// Package extractive turns facts into an anchored summary, by program.
//
// [Draft] has all tasks, corrections and decisions, each once, in words of the
// conversation. Of repetitions it keeps the newest: a command that ran thirty
// times is one entry with the number of runs and its last outcome, and of
// sentences that differ only in figures the last one stays. A file is one entry
// with its changes, except those that were taken back. Draft counts completed
// to-dos, names the newest 24 of the files that were only read, and leaves out
// mistakes in tool calls that were corrected or are older than two blocks.
// Package summary makes the summary fit into a window.
//
// Equal facts give equal summaries. The package does no I/O, reads no clock and
// does not depend on the order of maps. Draft may be called concurrently.
package extractive

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/transcript"
)

// Options adjusts [Draft]. The zero value is the default.
type Options struct {
	// Ref returns the short id of the block with an index, for the sources of entries. Without
	// it entries have no sources.
	Ref func(block int) string

	// Intent is the intent of the summary into which the draft will be merged, or empty. The
	// draft's intent continues it: it has the first task and the newest three of the later
	// ones; the other later tasks move to the context.
	Intent string
}

// Draft returns the summary of facts, which must be in the order of their blocks, as
// [facts.Extract] returns them. Every section has an entry, or [summary.None]. There are no
// metadata. o may be nil.
func Draft(list []facts.Fact, o *Options) *summary.Summary {
	d := drafter{byKind: make(map[facts.FactKind][]*facts.Fact)}
	if o != nil {
		d.ref = o.Ref
		if o.Intent != summary.None && o.Intent != "" {
			for text := range strings.SplitSeq(strings.ReplaceAll(o.Intent, "\n"+now[1:], now), now) {
				d.tasks = append(d.tasks, summary.Item{Text: text})
			}
		}
	}
	for i := range list {
		f := &list[i]
		d.byKind[f.Kind] = append(d.byKind[f.Kind], f)
		d.last = max(d.last, f.Block)
	}
	for _, f := range d.byKind[facts.FactTask] {
		d.tasks = append(d.tasks, d.item(f, f.Text))
	}
	s := &summary.Summary{Intent: d.intent()}
	s.Files = d.files()
	s.Decisions = d.decisions()
	s.Errors = d.errors()
	s.State = d.state()
	s.Next = d.next()
	s.Blockers = d.blockers()
	s.Context = d.context()
	s.Artifacts = d.artifacts(s)
	return s
}

// A drafter writes one summary.
type drafter struct {
	byKind map[facts.FactKind][]*facts.Fact
	ref    func(int) string
	last   int            // newest block with a fact
	tasks  []summary.Item // tasks of a person, including those of Options.Intent
}

// now precedes each later task in an intent.
const now = " Now: "

func (d *drafter) source(f *facts.Fact) string {
	if d.ref == nil {
		return ""
	}
	return d.ref(f.Block)
}

func (d *drafter) item(f *facts.Fact, text string) summary.Item {
	return summary.Item{Text: text, Source: d.source(f)}
}

// Limits of the sections that are one text, in runes and entries.
const (
	laterTasks = 3
	taskRunes  = 240
	noteRunes  = 160
)

// intent returns the first task and the newest of the later ones.
func (d *drafter) intent() string {
	if len(d.tasks) == 0 {
		return summary.None
	}
	s := []string{d.tasks[0].Text}
	later := d.tasks[1:]
	for _, t := range later[max(len(later)-laterTasks, 0):] {
		s = append(s, text.Line(t.Text, taskRunes))
	}
	return strings.Join(s, now)
}

// asked returns the tasks that are not in the intent.
func (d *drafter) asked() []summary.Item {
	if len(d.tasks) <= 1+laterTasks {
		return nil
	}
	return d.tasks[1 : len(d.tasks)-laterTasks]
}

// files returns the changes by path, the most recently changed path last.
func (d *drafter) files() []summary.File {
	at := make(map[string]int)
	var files []summary.File
	newest := make(map[string]int)
	for i, f := range d.byKind[facts.FactChange] {
		k, ok := at[f.Subject]
		if !ok {
			k = len(files)
			at[f.Subject] = k
			files = append(files, summary.File{Path: f.Subject})
		}
		newest[f.Subject] = i
		text := string(f.Status)
		if f.Text != "" {
			text += ": " + f.Text
		}
		if f.Status == facts.StatusModified && f.Text != "" {
			text = f.Text
		}
		c := slices.DeleteFunc(files[k].Changes, func(old summary.Item) bool { return old.Text == text })
		if f.Status == facts.StatusCreated && len(c) > 0 && strings.HasPrefix(c[len(c)-1].Text, "created") {
			c = c[:len(c)-1] // the file was written again
		}
		if strings.HasPrefix(text, "gone ") {
			n := len(c)
			c = slices.DeleteFunc(c, func(old summary.Item) bool { return names(old.Text, "new ") == names(text, "gone ") })
			if len(c) < n {
				files[k].Changes = c
				continue
			}
		}
		files[k].Changes = append(c, d.item(f, text))
	}
	for i := range files {
		if len(files[i].Changes) == 0 {
			f := d.byKind[facts.FactChange][newest[files[i].Path]]
			files[i].Changes = []summary.Item{d.item(f, "changed, and changed back")}
		}
	}
	slices.SortStableFunc(files, func(a, b summary.File) int { return cmp.Compare(newest[a.Path], newest[b.Path]) })
	if len(files) == 0 {
		return []summary.File{{Path: summary.None}}
	}
	return files
}

// names returns the names in the description of a change, such as "new func a (+2 −0 lines)". They
// stand between the word, here "new ", and the numbers of lines. If the text has another form,
// names returns all of it.
func names(text, word string) string {
	rest, ok := strings.CutPrefix(text, word)
	list, _, counted := strings.Cut(rest, " (+")
	if !ok || !counted || strings.Contains(list, ";") {
		return text
	}
	return list
}

// decisions returns all decisions, each once.
func (d *drafter) decisions() []summary.Decision {
	var out []summary.Decision
	for _, f := range d.byKind[facts.FactDecision] {
		s := f.Text
		if f.Subject != "" {
			s = text.Line(f.Subject, noteRunes) + " " + s
		}
		if f.Role == transcript.RoleUser {
			s = "User: " + s
		}
		out = append(out, summary.Decision{Decision: s, Rationale: cmp.Or(f.Why, summary.NotStated), Source: d.source(f)})
	}
	if len(out) == 0 {
		return []summary.Decision{{Decision: summary.None}}
	}
	return out
}

// errors returns the errors, each once. It leaves out mistakes in calls that were corrected or
// are older than two blocks.
func (d *drafter) errors() []summary.Error {
	var out []summary.Error
	for _, f := range d.byKind[facts.FactError] {
		if slip(f.Text) && (f.Status == facts.StatusResolved || f.Block < d.last-2) {
			continue
		}
		s := f.Text
		if f.Subject != "" && !strings.Contains(s, f.Subject) {
			s = text.Line(f.Subject, 80) + ": " + s
		}
		e := summary.Error{Error: s, Status: string(f.Status), Note: f.Why, Source: d.source(f)}
		if e.Status == "open" && e.Note == "" && f.Block < d.last-20 {
			e.Note = "did not come again"
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return []summary.Error{{Error: summary.None}}
	}
	return out
}

// slip reports whether an error is a mistake in a tool call.
func slip(text string) bool {
	for _, s := range [...]string{"String to replace not found", "has not been read yet", "has been modified since read", "matches of the string to replace", "No changes to make", "Unknown skill", "File does not exist"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// state returns the last progress, the state of the task list, and the outcome of the last
// command.
func (d *drafter) state() string {
	var parts []string
	if p := newest(d.byKind[facts.FactProgress]); p != nil {
		for _, f := range d.byKind[facts.FactProgress] {
			if f.Block == p.Block && len(parts) < 3 {
				parts = append(parts, text.Line(f.Text, taskRunes))
			}
		}
	}
	done, active, all := 0, "", 0
	for _, t := range d.byKind[facts.FactTodo] {
		all++
		if t.Status == facts.StatusCompleted {
			done++
		}
		if t.Status == facts.StatusActive {
			active = t.Text
		}
	}
	if all > 0 {
		text := "To-dos: " + strconv.Itoa(done) + " of " + strconv.Itoa(all) + " completed"
		if active != "" {
			text += ", in progress: " + active
		}
		parts = append(parts, text)
	}
	if c := newest(d.byKind[facts.FactCommand]); c != nil {
		parts = append(parts, "Last command: "+outcome(c))
	}
	for _, q := range d.byKind[facts.FactQuestion] {
		if q.Status == facts.StatusOpen && q.Block == d.last {
			parts = append(parts, "Waiting for an answer: "+text.Line(q.Text, noteRunes))
		}
	}
	if len(parts) == 0 {
		if c := newest(d.byKind[facts.FactChange]); c != nil {
			return "Last change: " + c.Subject + ": " + c.Text
		}
		if r := newest(d.byKind[facts.FactRead]); r != nil {
			return "Last read: " + r.Subject
		}
		return summary.None
	}
	for i, p := range parts {
		if !strings.ContainsAny(p[len(p)-1:], ".!?") {
			parts[i] = p + "."
		}
	}
	return strings.Join(parts, " ")
}

// outcome returns a command with its outcome.
func outcome(f *facts.Fact) string {
	if committed(f) {
		return "committed " + f.Text
	}
	s := text.Line(f.Subject, noteRunes)
	if f.Status != "" {
		s += ": " + string(f.Status)
	}
	if f.Text != "" {
		s += " (" + text.Line(f.Text, noteRunes) + ")"
	}
	return s
}

// committed reports whether a command made a commit. Git prints the branch and the commit in
// brackets.
func committed(f *facts.Fact) bool {
	return strings.HasPrefix(f.Text, "[") && strings.Contains(f.Subject, "git commit")
}

func newest(list []*facts.Fact) *facts.Fact {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// next returns the open entries of the task list and the last announced steps or, without any,
// the user's last request.
func (d *drafter) next() []summary.Item {
	var out []summary.Item
	for _, f := range d.byKind[facts.FactTodo] {
		if f.Status != facts.StatusCompleted {
			out = append(out, d.item(f, f.Text))
		}
	}
	plans := d.byKind[facts.FactPlan]
	tasks := d.byKind[facts.FactTask]
	from := -1
	for _, f := range plans {
		if f.Role == transcript.RoleAssistant {
			from = f.Block
		}
	}
	for _, f := range plans {
		if f.Block == from && f.Role == transcript.RoleAssistant && (len(tasks) == 0 || f.Block > tasks[len(tasks)-1].Block) {
			out = append(out, d.item(f, f.Text))
		}
	}
	if t := newest(tasks); t != nil && len(out) == 0 && !d.answered(t.Block) {
		out = append(out, d.item(t, "Do what was asked last: "+text.Line(t.Text, taskRunes)))
	}
	return none(out)
}

// answered reports whether progress or a question follows a block.
func (d *drafter) answered(block int) bool {
	for _, k := range [...]facts.FactKind{facts.FactProgress, facts.FactQuestion} {
		if f := newest(d.byKind[k]); f != nil && f.Block > block {
			return true
		}
	}
	return false
}

// none returns items, or one entry None if there are no items.
func none(items []summary.Item) []summary.Item {
	if len(items) == 0 {
		return []summary.Item{{Text: summary.None}}
	}
	return items
}

// blockers returns the open questions, and the last errors that are open.
func (d *drafter) blockers() []summary.Item {
	var out []summary.Item
	for _, f := range d.byKind[facts.FactQuestion] {
		if f.Status == facts.StatusOpen {
			out = append(out, d.item(f, f.Text))
		}
	}
	for _, f := range d.byKind[facts.FactError] {
		if f.Status == facts.StatusOpen && f.Block >= d.last-10 && !slip(f.Text) {
			out = append(out, d.item(f, "Open error: "+f.Text))
		}
	}
	return none(out)
}

// context returns standing orders, earlier requests, the plan, progress, commands with their
// last outcomes, and findings.
func (d *drafter) context() []summary.Item {
	var out []summary.Item
	intent := d.intent()
	for _, f := range d.byKind[facts.FactCorrection] {
		if !strings.Contains(intent, strings.TrimSuffix(f.Text, "…")) {
			out = append(out, d.item(f, "User: "+f.Text))
		}
	}
	for _, t := range d.asked() {
		if !slices.ContainsFunc(d.byKind[facts.FactCorrection], func(c *facts.Fact) bool { return strings.Contains(c.Text, t.Text) }) {
			out = append(out, summary.Item{Text: "User asked: " + text.Line(t.Text, noteRunes), Source: t.Source})
		}
	}
	out = append(out, d.planned()...)
	out = append(out, d.progress()...)
	out = append(out, d.commands()...)
	out = append(out, d.reads()...)
	seen := make(map[string]bool, len(out)) // texts that were cut may be equal
	out = slices.DeleteFunc(out, func(it summary.Item) bool {
		again := seen[it.Text]
		seen[it.Text] = true
		return again
	})
	return none(out)
}

// progress returns statements about progress and findings. Of sentences that differ only in
// their figures, it returns the newest.
func (d *drafter) progress() []summary.Item {
	list := d.byKind[facts.FactProgress]
	newest := make(map[string]int)
	for i, f := range list {
		newest[withoutDigits(f.Text)] = i
	}
	var out []summary.Item
	for i, f := range list {
		if newest[withoutDigits(f.Text)] == i {
			out = append(out, d.item(f, f.Text))
		}
	}
	return out
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// planned returns the steps of a person's plan, in one entry.
func (d *drafter) planned() []summary.Item {
	var steps []string
	var last *facts.Fact
	for _, f := range d.byKind[facts.FactPlan] {
		if f.Role == transcript.RoleUser {
			steps = append(steps, f.Text)
			last = f
		}
	}
	if last == nil {
		return nil
	}
	return []summary.Item{d.item(last, "User's plan: "+strings.Join(steps, "; "))}
}

// commands returns the commands, each once with the number of runs and the last outcome, and every
// commit.
func (d *drafter) commands() []summary.Item {
	type group struct {
		n    int
		last *facts.Fact
	}
	at := make(map[string]int)
	var groups []group
	for _, f := range d.byKind[facts.FactCommand] {
		k, ok := at[key(f.Subject)]
		if !ok || committed(groups[k].last) {
			k = len(groups)
			at[key(f.Subject)] = k
			groups = append(groups, group{})
		}
		groups[k].n++
		groups[k].last = f
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(a.last.Block, b.last.Block) })
	out := make([]summary.Item, 0, len(groups))
	for _, g := range groups {
		s := key(g.last.Subject)
		if committed(g.last) {
			out = append(out, d.item(g.last, "Committed "+g.last.Text))
			continue
		}
		if g.n > 1 {
			s += " ×" + strconv.Itoa(g.n)
		}
		s = text.Line(s, noteRunes) + ": " + string(g.last.Status)
		if g.last.Text != "" {
			s += " (" + text.Line(g.last.Text, noteRunes) + ")"
		}
		out = append(out, d.item(g.last, s))
	}
	return out
}

// key returns a command line without parts that only shorten its output.
func key(line string) string {
	for {
		i := strings.LastIndexByte(line, '|')
		if i < 0 {
			break
		}
		if tail := strings.TrimSpace(line[i+1:]); !strings.HasPrefix(tail, "head") && !strings.HasPrefix(tail, "tail") {
			break
		}
		line = strings.TrimSpace(line[:i])
	}
	return strings.TrimSpace(strings.TrimSuffix(line, " 2>&1"))
}

// reads returns the findings from files, and the newest files that were read and not changed.
func (d *drafter) reads() []summary.Item {
	var out []summary.Item
	var paths []*facts.Fact
	seen, changed := make(map[string]bool), make(map[string]bool)
	for _, f := range d.byKind[facts.FactChange] {
		changed[f.Subject] = true
	}
	for _, f := range d.byKind[facts.FactRead] {
		if seen[f.Subject+f.Text] || f.Status == facts.StatusFailed {
			continue
		}
		seen[f.Subject+f.Text] = true
		if f.Text != "" {
			out = append(out, d.item(f, text.Line(f.Subject, noteRunes)+": "+f.Text))
			continue
		}
		if strings.ContainsAny(f.Subject, "/.") && !strings.ContainsAny(f.Subject, " *|\\(") && !changed[f.Subject] {
			paths = append(paths, f)
		}
	}
	paths = paths[max(len(paths)-maxRead, 0):]
	for chunk := range slices.Chunk(paths, readChunk) {
		names := make([]string, len(chunk))
		for i, f := range chunk {
			names[i] = f.Subject
		}
		out = append(out, d.item(newest(chunk), "Read: "+strings.Join(names, ", ")))
	}
	return out
}

// Limits for the names of files that were read.
const (
	maxRead   = 24
	readChunk = 8
)

// artifacts returns the references that no other section has.
func (d *drafter) artifacts(s *summary.Summary) []summary.Item {
	var all strings.Builder
	all.WriteString(s.Intent + "\n" + s.State)
	for _, x := range s.Decisions {
		all.WriteString("\n" + x.Decision + " " + x.Rationale)
	}
	for _, list := range [...][]summary.Item{s.Blockers, s.Next, s.Context} {
		for _, x := range list {
			all.WriteString("\n" + x.Text)
		}
	}
	text := all.String()
	var out []summary.Item
	for _, f := range d.byKind[facts.FactReference] {
		if refers(text, f.Subject) {
			continue
		}
		out = append(out, d.item(f, f.Text))
		text += "\n" + f.Text
	}
	return none(out)
}

// refers reports whether a text has a reference, and not only as the beginning of a longer one: the
// page https://a.org/b is not in a text that has https://a.org/b/c.
func refers(text, reference string) bool {
	for {
		_, rest, ok := strings.Cut(text, reference)
		if !ok {
			return false
		}
		behind := strings.TrimLeft(rest, "/-.:#?=&%~@_")
		next, _ := utf8.DecodeRuneInString(behind)
		if !unicode.IsLetter(next) && !unicode.IsDigit(next) || reference == "" {
			return true
		}
		text = rest
	}
}
