package pager

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A View is a block with the inputs of its stubs.
type View struct {
	Block    *transcript.Block
	Messages []transcript.Message // of the session
	Tokens   token.Count          // of the whole block

	// Names returns at most n identifiers that the rest of the conversation
	// may need, best first, of those that first occur in the block's text
	// between the bytes from and to; see [Mentions.Of]. It must be set.
	Names func(from, to, n int) []string
}

// A Stub is the text in the window in place of the cut parts of a block. It
// begins with a line of Carrel's own, its head; quoted lines behind it are
// escaped: see [transcript.Quote].
type Stub struct {
	Text    string            `json:"text,omitempty"`    // in place of the block
	Agent   bool              `json:"agent,omitempty"`   // Text is in an assistant message rather than a user message
	Results map[string]string `json:"results,omitempty"` // texts in place of results, by call id
}

// Sizes of stubs.
const (
	excerptRunes = 100 // of a call's arguments or a message's beginning
	lineNames    = 8   // identifiers in the line of a block
	resultNames  = 6   // identifiers in the line of a result
	headCalls    = 2   // calls that a head names
	headBytes    = 28  // bytes of a head for the subject of each call
	failedBytes  = 64  // bytes of a head for the line that reports a failure
	linesShare   = 4   // a block cut to lines keeps a fourth of its bytes at most
)

// Stub returns the stub of the block in a form. The forms whole, bare and
// gone have the zero Stub. The stub of a block that [Cover] cut is made by the
// caller: its text is [View.Head], or with Plan.Short [View.ShortHead], followed
// by [Passages.Lines] of Plan.Picks, escaped by [transcript.Quote].
func (v *View) Stub(f Form) Stub {
	switch f {
	case Calls:
		return Stub{Results: v.results()}
	case Lines:
		return Stub{Text: v.line() + v.lines()}
	case Line:
		return Stub{Text: v.line()}
	case Whole, Bare, Gone:
	}
	return Stub{}
}

// Entries returns the messages of a block in a form, given its stub, which is the zero Stub for
// the forms that have none. msgs are the messages of the session.
func Entries(msgs []transcript.Message, b *transcript.Block, f Form, stub Stub) []transcript.Entry {
	switch f {
	case Gone:
		return nil
	case Line, Lines:
		return stub.entries(b.ID)
	case Whole, Bare, Calls:
	}
	entries := make([]transcript.Entry, 0, len(b.Messages))
	for _, i := range b.Messages {
		e := transcript.Keep(&msgs[i], b.ID)
		if f != Whole {
			e = e.WithoutThinking()
		}
		for _, r := range msgs[i].Results() {
			if text, ok := stub.Results[r.CallID]; ok {
				e = e.WithResult(r.CallID, text)
			}
		}
		if len(e.Parts) > 0 || f == Whole {
			entries = append(entries, e)
		}
	}
	return entries
}

// entries returns the entry of the window with the stub in place of block id.
func (s *Stub) entries(id transcript.BlockID) []transcript.Entry {
	e := transcript.Stub(id, s.Text)
	if s.Agent {
		e.Role = transcript.RoleAssistant
	}
	return []transcript.Entry{e}
}

// Same reports whether two stubs are equal.
func (s *Stub) Same(o *Stub) bool {
	return s.Text == o.Text && s.Agent == o.Agent && maps.Equal(s.Results, o.Results)
}

// results returns, by call id, the lines in place of results. A result that is no
// longer than its line stays. A line does not repeat identifiers that an earlier
// part of the block names.
func (v *View) results() map[string]string {
	lines := make(map[string]string)
	from := 0
	for p, text := range v.Block.Said(v.Messages) {
		to := from + len(text)
		if r, ok := p.(transcript.ToolResult); ok {
			head := fmt.Sprintf(transcript.Mark+" %s: paged result, %d bytes; recall by id]", v.Block.ID.Short(), size(r))
			if line := join(head, failure(r, text), v.Names(from, to, resultNames)); len(line) < size(r) {
				lines[r.CallID] = line
			}
		}
		from = to + 1
	}
	return lines
}

// failure returns the line of a result that reports a failure, or "" if there is
// none. It is the first line that begins with one of failureHeads and does not say
// that there were none. If no line does and the tool marked the result as an error,
// it is the first line that contains "error" or "fail", or otherwise the first line.
// The line returned for a marked result has "error: " in front.
func failure(r transcript.ToolResult, text string) string {
	speaks, first := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		for _, head := range failureHeads {
			if strings.HasPrefix(line, head) && !noFailures.Get().MatchString(line) {
				return oneLine(line)
			}
		}
		if !r.Error {
			continue
		}
		first = cmp.Or(first, line)
		if low := strings.ToLower(line); speaks == "" && (strings.Contains(low, "error") || strings.Contains(low, "fail")) {
			speaks = line
		}
	}
	if !r.Error {
		return ""
	}
	return "error: " + oneLine(cmp.Or(speaks, first))
}

// failureHeads are the beginnings of lines by which programs report a failure.
var failureHeads = []string{
	"panic:", "fatal:", "fatal error:", "error:", "Error:", "ERROR:", "error[", "FAIL", "--- FAIL", "Traceback (most recent call last)",
	"AssertionError", "TypeError:", "ValueError:", "ReferenceError:", "SyntaxError:", "E   ", "npm ERR!", "Exit code ",
}

// noFailures matches lines that report a success, such as "Exit code 0" and "FAILED: 0, passed 12".
var noFailures = lazy.Regexp(`(?i)^(?:exit code 0\b|(?:errors?|fail\w*): 0(?:$|[,;]))`)

// size returns the size of the content of a result in bytes.
func size(r transcript.ToolResult) int {
	n := 0
	for _, p := range r.Content {
		switch p := p.(type) {
		case transcript.Text:
			n += len(p)
		case transcript.Media:
			n += len(p.Raw)
		case transcript.Opaque:
			n += len(p.Raw)
		case transcript.Thinking, transcript.ToolCall, transcript.ToolResult:
		}
	}
	return n
}

// Head returns the first line of a stub with passages: the block's id and
// kind, the files or commands of its calls, and failures.
func (v *View) Head() string {
	if v.Block.Kind == transcript.KindTool {
		if failed := v.failed(); failed != "" {
			return fmt.Sprintf(transcript.Mark+" %s %s: %s]", v.Block.ID.Short(), v.calls(), failed)
		}
		return fmt.Sprintf(transcript.Mark+" %s %s]", v.Block.ID.Short(), v.calls())
	}
	what, excerpt := Describe(v.Messages, v.Block)
	if v.Block.Kind == transcript.KindUser && excerpt != "" {
		return fmt.Sprintf(transcript.Mark+" %s user: %s; recall by id]", v.Block.ID.Short(), clip(excerpt))
	}
	return fmt.Sprintf(transcript.Mark+" %s %s]", v.Block.ID.Short(), what)
}

// failed returns the line of the first result that reports a failure, or an empty
// text.
func (v *View) failed() string {
	for _, i := range v.Block.Messages {
		for _, r := range v.Messages[i].Results() {
			if line := failure(r, r.Text()); line != "" {
				return text.Clip(line, failedBytes)
			}
		}
	}
	return ""
}

// ShortHead returns a head with only the id.
func (v *View) ShortHead() string { return fmt.Sprintf(transcript.Mark+" %s]", v.Block.ID.Short()) }

// calls returns the first calls of a block for its head: the names of the tools, the
// subject of each call, and the number of calls that are left out.
func (v *View) calls() string {
	var b strings.Builder
	named, last := 0, ""
	calls := v.Messages[v.Block.Messages[0]].Calls()
	for i, c := range calls {
		if named == headCalls {
			fmt.Fprintf(&b, " +%d", len(calls)-i)
			break
		}
		if c.Name != last {
			b.WriteString(strings.Repeat(" ", min(i, 1)) + oneLine(c.Name))
			last = c.Name
		}
		if a := short(c); a != "" {
			b.WriteString(" " + a)
		}
		named++
	}
	return b.String()
}

// short returns the subject of a call in at most headBytes bytes: the last two
// segments of its path, or the beginning of its most informative argument.
func short(c transcript.ToolCall) string {
	if p := tool.Path(c); p != "" {
		last := strings.LastIndexByte(p, '/')
		return clip(p[strings.LastIndexByte(p[:max(last, 0)], '/')+1:])
	}
	return clip(argument(c))
}

// clip returns s in one line, cut to headBytes bytes.
func clip(s string) string { return text.Clip(oneLine(s), headBytes) }

// line returns the stub of a block in one line: the marker with the id, the kind of
// the block, its tokens, its beginning, and identifiers.
func (v *View) line() string {
	what, excerpt := Describe(v.Messages, v.Block)
	head := fmt.Sprintf(transcript.Mark+" %s: paged %s, %d tokens; recall by id]", v.Block.ID.Short(), what, v.Tokens)
	return join(head, excerpt, v.Names(0, math.MaxInt, lineNames))
}

// join joins head, excerpt and names to a stub of one line. It leaves out names that
// the excerpt contains.
func join(head, excerpt string, names []string) string {
	var b strings.Builder
	b.WriteString(head)
	if excerpt != "" {
		b.WriteString(" " + excerpt)
	}
	sep := " · "
	if excerpt == "" {
		sep = " "
	}
	for _, n := range names {
		if !strings.Contains(excerpt, n) {
			b.WriteString(sep + oneLine(n))
			sep = ", "
		}
	}
	return b.String()
}

// Describe returns the kind of a block and its beginning, each in one line of
// bounded length. For calls, excerpt has their most informative arguments.
func Describe(msgs []transcript.Message, b *transcript.Block) (what, excerpt string) {
	m := &msgs[b.Messages[0]]
	switch b.Kind {
	case transcript.KindTool:
		var names, args []string
		for _, c := range m.Calls() {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
			if a := argument(c); a != "" {
				args = append(args, a)
			}
		}
		if len(names) > 3 {
			names = append(names[:3:3], "…")
		}
		excerpt = strings.Join(args, "; ")
		if excerpt == "" {
			excerpt = m.Text()
		}
		return oneLine(strings.Join(names, "+")), oneLine(excerpt)
	case transcript.KindUser:
		return "user message", oneLine(m.Text())
	case transcript.KindAssistant:
		return "reply", oneLine(m.Text())
	case transcript.KindSummary:
		return "summary", oneLine(m.Text())
	case transcript.KindOrphan:
		return "tool result", ""
	case transcript.KindSystem:
		return "system text", oneLine(m.Text())
	}
	return string(b.Kind), ""
}

// argument returns the argument of a call by which people know the call: the first that it has of a
// list of names, such as command and file_path, or else all arguments.
func argument(c transcript.ToolCall) string {
	for _, key := range [...]string{"command", "file_path", "path", "notebook_path", "pattern", "query", "url", "description", "prompt", "subject"} {
		if a := gjson.GetBytes(c.Input, key); a.Type == gjson.String && a.String() != "" {
			return a.String()
		}
	}
	return oneLine(string(c.Input))
}

// lines returns the lines of the block with the most identifiers that may be
// needed, each after a line feed, together at most a fourth of the block's bytes.
func (v *View) lines() string {
	text := v.Block.Text(v.Messages)
	names := v.Names(0, math.MaxInt, 4*lineNames)
	type line struct {
		at, hits int
		text     string
	}
	var found []line
	for i, l := range strings.Split(text, "\n") {
		l = strings.TrimRightFunc(l, unicode.IsSpace)
		hits := 0
		for _, n := range names {
			if strings.Contains(l, n) {
				hits++
			}
		}
		if hits > 0 && len(l) <= 400 {
			found = append(found, line{i, hits, l})
		}
	}
	slices.SortStableFunc(found, func(a, b line) int { return b.hits - a.hits })
	room, n := len(text)/linesShare, 0
	for n < len(found) && room >= len(found[n].text)+1 {
		room -= len(found[n].text) + 1
		n++
	}
	found = found[:n]
	slices.SortFunc(found, func(a, b line) int { return a.at - b.at })
	var b strings.Builder
	for _, l := range found {
		b.WriteString("\n" + transcript.Quote(l.text))
	}
	return b.String()
}

// oneLine returns the beginning of s in one line, quoted for a stub.
func oneLine(s string) string {
	return transcript.QuoteInline(text.Line(text.Head(s, 8*excerptRunes), excerptRunes))
}
