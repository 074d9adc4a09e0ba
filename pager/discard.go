package pager

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A Disposal is the reason for which a block may be discarded. It is stored
// as its text, in the order of discard: "read", output of reading tools;
// "one-off", see [OneOff]; "check", code run to see what it does; "title", a
// name for the conversation; "answered", older user messages; "command", other
// commands; "tool", other calls and overwritten edits; "reply", older replies.
type Disposal string

// The disposals in the order of discard (the order of seed 003, then the
// rest).
const (
	disposeRead     Disposal = "read"     // output of reading tools, such as the text of examined files
	disposeOneOff   Disposal = "one-off"  // commands with a one-time purpose, see [OneOff]
	disposeCheck    Disposal = "check"    // code that was run to see what it does
	disposeTitle    Disposal = "title"    // names for the conversation
	disposeAnswered Disposal = "answered" // older user messages, which were answered
	disposeCommand  Disposal = "command"  // other commands
	disposeTool     Disposal = "tool"     // other tool calls, and edits that later edits overwrote
	disposeReply    Disposal = "reply"    // older replies of the assistant
)

// disposals lists the disposals in the order of discard, each with the reason in words.
var disposals = []struct {
	disposal Disposal
	words    string
}{
	{disposeRead, "output of a reading tool for what was examined"},
	{disposeOneOff, "output of a command with a one-time purpose"},
	{disposeCheck, "output of a quick check"},
	{disposeTitle, "call that names the conversation"},
	{disposeAnswered, "older user message that was answered"},
	{disposeCommand, "output of another command"},
	{disposeTool, "another tool call"},
	{disposeReply, "older reply"},
}

// Priority returns the position of d in the order of discard, from 1; 0 if d
// is empty.
func (d Disposal) Priority() int {
	for i := range disposals {
		if disposals[i].disposal == d {
			return i + 1
		}
	}
	return 0
}

// words returns a phrase that says why a block may be discarded.
func (d Disposal) words() string {
	if p := d.Priority(); p > 0 {
		return disposals[p-1].words
	}
	return ""
}

// A Standing describes a block for [PlanDiscard].
type Standing struct {
	ID       transcript.BlockID
	Turn     int
	Form     Form     // form of the block in the window
	Rule     Rule     // rule that keeps it, or empty
	Disposal Disposal // empty for a block that is never discarded, such as system text
	Stale    bool     // its file was edited or read again later

	Tokens token.Count // in the window

	// Thinking is the part of Tokens that is lost if an earlier block leaves,
	// because signed thinking behind a change is invalid. It is 0 for a block
	// under a hard rule, which stays whole.
	Thinking token.Count
}

// Standings returns the standing of each block, given its rule from [Rules] and
// its form. The caller fills in Tokens and Thinking.
//
// Its Rule is also set, to edit, plan, summary or newest-user, if the block
//   - edits files without an error, unless a later block that is still in the
//     window wrote each of these files as a whole or deleted it. A later edit of
//     only a part of a file does not release an earlier one, because only all
//     edits together show the present file;
//   - is a plan or a conclusion, or a summary of messages that left the window;
//   - is a user message without an answer.
func Standings(msgs []transcript.Message, blocks []transcript.Block, rules []Rule, forms []Form, tools *tool.Table) []Standing {
	all := make([]Standing, len(blocks))
	s := surveyor{msgs: msgs, tools: tools, whole: make(map[string]bool), seen: make(map[string]bool)}
	for i := len(blocks) - 1; i >= 0; i-- {
		b := &blocks[i]
		st := &all[i]
		*st = Standing{ID: b.ID, Turn: b.Turn, Form: forms[i], Rule: rules[i]}
		var rule Rule
		rule, st.Disposal, st.Stale = s.survey(b, forms[i])
		st.Rule = cmp.Or(st.Rule, rule)
	}
	return all
}

// A surveyor looks at blocks from the newest to the oldest.
type surveyor struct {
	msgs  []transcript.Message
	tools *tool.Table

	answered bool            // a later block is a reply
	whole    map[string]bool // files that a later block in the window wrote as a whole or deleted
	seen     map[string]bool // what later blocks in the window read or edited without a failure
}

// survey returns the rule that keeps a block, its disposal, and whether the block is stale.
func (s *surveyor) survey(b *transcript.Block, f Form) (Rule, Disposal, bool) {
	switch b.Kind {
	case transcript.KindSystem:
		return RuleSystem, "", false
	case transcript.KindSummary:
		return ruleSummary, "", false
	case transcript.KindUser:
		if !s.answered {
			return ruleNewestUser, disposeAnswered, false
		}
		return "", disposeAnswered, false
	case transcript.KindAssistant:
		s.answered = true
		return "", disposeReply, false
	case transcript.KindTool:
		s.answered = true
		return s.calls(b, f)
	case transcript.KindOrphan:
	}
	return "", disposeTool, false
}

// calls surveys a reply with calls. If its calls have several disposals, the block
// gets the one that is discarded last.
func (s *surveyor) calls(b *transcript.Block, f Form) (Rule, Disposal, bool) {
	var rule Rule
	disposal, stale := disposeRead, true
	failed := failures(s.msgs, b)
	var whole, seen []string
	for _, k := range b.Messages {
		for _, c := range s.msgs[k].Calls() {
			class, keys, shows, line := s.look(c)
			switch {
			case class == tool.Plan:
				rule = cmp.Or(rule, rulePlan)
			case failed[c.ID]:
			case class == tool.Edit:
				file := clean(tool.Path(c))
				if file == "" || !s.whole[file] {
					rule = RuleEdit
				}
				if overwrites(c) && s.done(b, c) {
					whole = append(whole, file)
				}
			case line != nil && rewrites(tool.Line(c), line):
				rule = RuleEdit
			}
			if d := dispose(class, line); d.Priority() > disposal.Priority() {
				disposal = d
			}
			for _, key := range keys {
				stale = stale && s.seen[key]
			}
			if !failed[c.ID] {
				seen = append(seen, shows...)
			}
		}
	}
	if f.full() || f == Calls { // the calls of the block are in the window
		for _, file := range whole {
			s.whole[file] = true
		}
	}
	if f != Gone {
		for _, key := range seen {
			s.seen[key] = true
		}
	}
	return rule, disposal, stale && disposal == disposeRead
}

// look returns the class of a call, the keys of the things it reads, the keys of the
// things it shows or edits, and its parsed command line. Older reads with a key of the
// latter are stale. A command line that only reads files has the class of a reading
// tool, because some agents have no other reading tool. line is nil if c is no command
// or does not parse.
func (s *surveyor) look(c transcript.ToolCall) (class tool.Class, keys, shows []string, line *shell.Line) {
	class = s.tools.Of(c)
	keys = []string{subject(c)}
	if class != tool.Command {
		return class, keys, keys, nil
	}
	line, err := shell.Parse(tool.Line(c))
	if err != nil {
		return class, keys, keys, nil
	}
	if files := line.Reads(); len(files) > 0 {
		keys = nil
		for _, f := range files {
			keys = append(keys, "file "+f)
		}
		if line.Searches() {
			return tool.Read, keys, nil, line
		}
		return tool.Read, keys, keys, line
	}
	shows = keys
	for i := range line.Commands {
		for _, e := range line.Commands[i].Effects {
			if e.Act != shell.Read {
				shows = append(shows, "file "+e.Path)
			}
		}
	}
	return class, keys, shows, line
}

// dispose returns the disposal of a call.
func dispose(class tool.Class, line *shell.Line) Disposal {
	switch class {
	case tool.Read:
		return disposeRead
	case tool.Command:
		if line != nil && oneOff(line) {
			return disposeOneOff
		}
		return disposeCommand
	case tool.Check:
		return disposeCheck
	case tool.Title:
		return disposeTitle
	case tool.Edit, tool.Plan, tool.Other:
	}
	return disposeTool
}

// subject returns the key of the subject of a call: its file, or its name and arguments.
func subject(c transcript.ToolCall) string {
	asks := gjson.GetManyBytes(c.Input, "pattern", "query", "regex")
	if file := clean(tool.Path(c)); file != "" && !slices.ContainsFunc(asks, gjson.Result.Exists) {
		return "file " + file
	}
	return tool.Fold(c.Name) + " " + string(c.Input)
}

func clean(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(file)
}

// overwrites reports whether a call of an editing tool writes a whole file or
// deletes it, so that nothing of the earlier content remains.
func overwrites(c transcript.ToolCall) bool {
	switch tool.Fold(c.Name) {
	case "write", "createfile", "overwritefile", "writefile", "writetofile", "deletefile", "deletepath":
		return true
	case "strreplaceeditor", "strreplacebasededittool":
		verb, _, _ := strings.Cut(tool.Line(c), " ")
		return verb == "create"
	}
	return false
}

// done reports whether a call has a result that does not report a failure.
func (s *surveyor) done(b *transcript.Block, c transcript.ToolCall) bool {
	for _, k := range b.Messages {
		for _, r := range s.msgs[k].Results() {
			if r.CallID == c.ID {
				return failure(r, r.Text()) == ""
			}
		}
	}
	return false
}

// A DiscardRequest has all inputs of a discard. With Auto, PlanDiscard
// chooses the blocks; otherwise they are those in IDs.
type DiscardRequest struct {
	Blocks []Standing  // by turn
	Fixed  token.Count // size of framing and tools, which are in every window
	Floor  token.Count // least size of the window

	IDs    []transcript.BlockID // not used with Auto
	Auto   bool
	Target token.Count // largest size of the window with Auto; not used without
}

// A Discard is a block that leaves the window, and the reason why it may.
type Discard struct {
	Block    transcript.BlockID `json:"block"`
	Turn     int                `json:"turn"`
	Class    Disposal           `json:"class"`
	Priority int                `json:"priority"` // position in the order of discard, from 1
	Reason   string             `json:"reason"`
	Tokens   token.Count        `json:"tokens"` // tokens that it had in the window
}

// A DiscardPlan is the planned result of a discard. Making it changes
// nothing.
type DiscardPlan struct {
	Before   token.Count // of the window
	After    token.Count // of the window
	Target   token.Count // of an automatic discard
	Floor    token.Count // that of the request
	Discards []Discard   // in the order in which they leave or were named

	// Thinking is the size of the thinking that remaining blocks lose, and Bare
	// lists these blocks: all blocks with thinking after the first discarded block.
	Thinking token.Count
	Bare     []transcript.BlockID
}

// A DiscardError says why a discard, or the paging of named blocks, was
// refused. Nothing was changed.
type DiscardError struct {
	Refused []Refusal   // in the order in which they were named
	Named   int         // number of named blocks
	Paging  bool        // the blocks were to be paged, not discarded
	Before  token.Count // size of the window
	Floor   token.Count // that of the request
	Target  token.Count // of an automatic discard, if it is below the floor
}

// A Refusal says why a block may not be discarded, or paged.
type Refusal struct {
	Block  string `json:"block"` // its id, or the name in the request if no block has it
	Rule   Rule   `json:"rule,omitempty"`
	Reason string `json:"reason"` // a sentence whose subject is the block, such as "is pinned"
}

func (e *DiscardError) Error() string {
	if e.Target > 0 {
		return fmt.Sprintf("target of %d tokens is below the floor of %d", e.Target, e.Floor)
	}
	done := "discarded"
	if e.Paging {
		done = "paged"
	}
	first := e.Refused[0]
	switch {
	case e.Named == 1:
		return fmt.Sprintf("block %s may not be %s: it %s", first.Block, done, first.Reason)
	case len(e.Refused) == 1:
		return fmt.Sprintf("1 of %d blocks may not be %s: %s %s", e.Named, done, first.Block, first.Reason)
	}
	return fmt.Sprintf("%d of %d blocks may not be %s; the first of them, %s, %s", len(e.Refused), e.Named, done, first.Block, first.Reason)
}

// PlanDiscard returns the plan of a discard. Without r.Auto, the plan takes all blocks in r.IDs.
// PlanDiscard fails with a [*DiscardError] if a rule keeps one of them, if one has no disposal, is
// not in the window or is named twice, or if the window without them would be smaller than r.Floor.
// With r.Auto, the plan takes blocks until the window is no larger than r.Target. It skips each
// block without which the window would be smaller than r.Floor. It takes blocks by
// [Disposal.Priority]; of one disposal it takes stale blocks first, then older blocks, then larger
// ones, then those with the lower id. If the target cannot be reached, it takes every block that
// may leave. PlanDiscard fails with a [*DiscardError] if r.Target is below r.Floor.
func PlanDiscard(r *DiscardRequest) (*DiscardPlan, error) {
	d := newDiscarding(r)
	if r.Auto {
		return d.auto()
	}
	return d.named()
}

// A discarding is the state of [PlanDiscard] while it makes a plan.
type discarding struct {
	*DiscardRequest

	index    map[transcript.BlockID]int
	before   token.Count
	thinking []token.Count // thinking[i] is the sum for all blocks from i on

	taken []int        // indexes of the discarded blocks, in the order of discard
	out   map[int]bool // the same indexes as a set
	first int          // index of the first discarded block
	less  token.Count  // tokens of the discarded blocks, without thinking
}

func newDiscarding(r *DiscardRequest) *discarding {
	n := len(r.Blocks)
	d := &discarding{
		DiscardRequest: r, index: make(map[transcript.BlockID]int, n), before: r.Fixed,
		thinking: make([]token.Count, n+1), out: make(map[int]bool), first: n,
	}
	for i := n - 1; i >= 0; i-- {
		b := &r.Blocks[i]
		d.index[b.ID] = i
		d.before += b.Tokens
		d.thinking[i] = d.thinking[i+1] + b.Thinking
	}
	return d
}

// rest returns the size of the window without the taken blocks and without the
// block with the index more. If more is -1, no other block is left out. The
// result excludes all thinking from the first of these blocks on.
func (d *discarding) rest(more int) token.Count {
	first, less := d.first, d.less
	if more >= 0 {
		b := &d.Blocks[more]
		first, less = min(first, more), less+b.Tokens-b.Thinking
	}
	return d.before - less - d.thinking[first]
}

func (d *discarding) take(i int) {
	b := &d.Blocks[i]
	d.taken = append(d.taken, i)
	d.out[i] = true
	d.first = min(d.first, i)
	d.less += b.Tokens - b.Thinking
}

// named takes the blocks that the request names, or returns the error that says
// which may not leave.
func (d *discarding) named() (*DiscardPlan, error) {
	e := &DiscardError{Named: len(d.IDs), Before: d.before, Floor: d.Floor}
	for _, id := range d.IDs {
		i, ok := d.index[id]
		refuse := func(rule Rule, reason string) {
			e.Refused = append(e.Refused, Refusal{string(id), rule, reason})
		}
		switch {
		case !ok || d.Blocks[i].Form == Gone:
			refuse("", "is not in the window")
		case d.Blocks[i].Rule != "":
			refuse(d.Blocks[i].Rule, d.Blocks[i].Rule.Keeps())
		case d.Blocks[i].Disposal == "":
			refuse("", "is never discarded")
		case d.out[i]:
			refuse("", "is named twice")
		default:
			d.take(i)
		}
	}
	if rest := d.rest(-1); len(e.Refused) == 0 && len(d.taken) > 0 && rest < d.Floor {
		for _, id := range d.IDs {
			e.Refused = append(e.Refused, Refusal{string(id), "", d.belowFloor(rest)})
		}
	}
	if len(e.Refused) > 0 {
		return nil, e
	}
	return d.plan(), nil
}

// belowFloor is the reason to refuse the named blocks if a window of rest tokens would be left.
func (d *discarding) belowFloor(rest token.Count) string {
	words, may := "would leave a window of", "nothing may go"
	if len(d.IDs) > 1 {
		words = "would, with the others, leave a window of"
	}
	if d.before > d.Floor {
		may = fmt.Sprintf("at most %d may go", d.before-d.Floor)
	}
	return fmt.Sprintf("%s %d tokens, and the floor is %d: %s", words, rest, d.Floor, may)
}

// auto takes blocks in the order of discard until the target is reached.
func (d *discarding) auto() (*DiscardPlan, error) {
	if d.Target < d.Floor {
		return nil, &DiscardError{Before: d.before, Floor: d.Floor, Target: max(d.Target, 1)}
	}
	for _, i := range d.order() {
		if d.rest(-1) <= d.Target {
			break
		}
		if d.rest(i) >= d.Floor {
			d.take(i)
		}
	}
	return d.plan(), nil
}

// order returns the indexes of the blocks that may be discarded, in the order of
// discard.
func (d *discarding) order() []int {
	var order []int
	for i := range d.Blocks {
		if b := &d.Blocks[i]; b.Rule == "" && b.Disposal != "" && b.Form != Gone && b.Tokens > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &d.Blocks[i], &d.Blocks[j]
		return cmp.Or(
			cmp.Compare(a.place(), b.place()), cmp.Compare(a.Turn, b.Turn), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.ID, b.ID),
		)
	})
	return order
}

// place returns the position of a block in the order of discard: by disposal, and
// stale blocks first within a disposal.
func (s *Standing) place() int {
	if s.Stale {
		return 2*s.Disposal.Priority() - 1
	}
	return 2 * s.Disposal.Priority()
}

func (d *discarding) plan() *DiscardPlan {
	p := &DiscardPlan{Before: d.before, After: d.rest(-1), Floor: d.Floor}
	if d.Auto {
		p.Target = d.Target
	}
	for _, i := range d.taken {
		b := &d.Blocks[i]
		reason := b.Disposal.words()
		if b.Stale {
			reason += ", edited or read again since"
		}
		p.Discards = append(p.Discards, Discard{b.ID, b.Turn, b.Disposal, b.Disposal.Priority(), reason, b.Tokens})
	}
	for i := d.first; i < len(d.Blocks); i++ {
		if b := &d.Blocks[i]; b.Thinking > 0 && !d.out[i] {
			p.Thinking += b.Thinking
			p.Bare = append(p.Bare, b.ID)
		}
	}
	return p
}
