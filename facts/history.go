package facts

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A source says where a text of a conversation is from.
type source uint8

// The sources.
const (
	sourceUser        source = iota // a person
	sourceNewest                    // the newest words of a person
	sourceTask                      // the first words of a person
	sourceReply                     // the assistant
	sourceNewestReply               // the newest words of the assistant
	sourceEdit                      // arguments that change a file
	sourceCommand                   // arguments that run a command
	sourcePlan                      // arguments that say what is to be done
	sourceArguments                 // arguments of another call
	sourceRead                      // a file that was read
	sourceSearch                    // what a search found
	sourceOutput                    // what a command printed
	sourceEdited                    // what a change reported
	sourceResult                    // the result of another call
	sources
)

// arguments reports whether a text is what the assistant calls a tool with.
func (s source) arguments() bool { return s >= sourceEdit && s <= sourceArguments }

// A Piece is one text of a conversation: the text of a message, the arguments
// of a call, or its result. The text of arguments has their values, each
// starting a line.
type Piece struct {
	*Scan

	Block   int    // index of the block
	Message int    // index of the message
	Part    int    // index of the part in the message
	Call    string // id of the call; empty for messages
	Path    string // last two segments of the file that the call reads or changes

	source source
	taken  []stretch // of a change, the texts that it takes away
}

// A stretch is from one offset of a text to another.
type stretch struct{ from, to int32 }

// takes reports whether a piece is of a change that takes a line away.
func (p *Piece) takes(l *Line) bool {
	for _, s := range p.taken {
		if s.from <= l.From && l.From < s.to {
			return true
		}
	}
	return false
}

// HistoryOptions adjusts [History]. The zero value is the default.
type HistoryOptions struct {
	// Tools describes tools: which edit, read, plan and run commands. The
	// default is the built-in table.
	Tools *tool.Table

	// Scan returns the scan of a part of a message. A caller with a cache
	// looks it up there. The default is [NewScan].
	Scan func(message, part int, text string) *Scan

	// Person reports whether a user's block has a person's words. By default
	// all have.
	Person func(block int) bool
}

// History returns the pieces of a conversation in order, without system text,
// which stays in any case.
func History(msgs []transcript.Message, blocks []transcript.Block, opts *HistoryOptions) []Piece {
	h := history{msgs: msgs, calls: make(map[string]call)}
	if opts != nil {
		h.o = *opts
	}
	if h.o.Scan == nil {
		h.o.Scan = func(_, _ int, text string) *Scan { return NewScan(text) }
	}
	h.tools.table = h.o.Tools
	for i := range blocks {
		if blocks[i].Kind == transcript.KindSystem {
			continue
		}
		h.person = blocks[i].Kind == transcript.KindUser && (h.o.Person == nil || h.o.Person(i))
		for _, k := range blocks[i].Messages {
			h.message(i, k)
		}
	}
	h.newest()
	return h.pieces
}

type history struct {
	o      HistoryOptions
	tools  toolbox
	msgs   []transcript.Message
	calls  map[string]call
	person bool // the block has a person's words
	asked  []int
	pieces []Piece
}

// A call is what is known of one when its result comes.
type call struct {
	source source // of its result
	path   string
}

func (h *history) message(block, k int) {
	for n, p := range h.msgs[k].Parts {
		piece := Piece{Block: block, Message: k, Part: n}
		text := ""
		switch p := p.(type) {
		case transcript.Text:
			text = string(p)
			if h.msgs[k].Role == transcript.RoleAssistant {
				piece.source = sourceReply
			} else if h.person && text != "" {
				h.asked = append(h.asked, len(h.pieces))
			}
		case transcript.ToolCall:
			text = argumentText(p.Input)
			piece.Call = p.ID
			var c call
			piece.source, c = h.call(p)
			piece.Path = c.path
			if piece.source == sourceEdit {
				piece.taken = takenFrom(text, p.Input)
			}
			h.calls[p.ID] = c
		case transcript.ToolResult:
			text = p.Text()
			c, known := h.calls[p.CallID]
			if !known {
				c.source = sourceResult
			}
			piece.source, piece.Path, piece.Call = c.source, c.path, p.CallID
		case transcript.Thinking, transcript.Media, transcript.Opaque:
			continue
		}
		if text != "" {
			piece.Scan = h.o.Scan(k, n, text)
			h.pieces = append(h.pieces, piece)
		}
	}
}

// call returns what the arguments of a call are, and what its result will be.
func (h *history) call(c transcript.ToolCall) (source, call) {
	kit := h.tools.of(c)
	switch kit.class {
	case tool.Edit:
		return sourceEdit, call{sourceEdited, edited(c)}
	case tool.Plan:
		return sourcePlan, call{sourceResult, ""}
	case tool.Command, tool.Check:
		return commanded(tool.Line(c))
	case tool.Read:
		if searches(kit.name) {
			return sourceArguments, call{sourceSearch, ""}
		}
		return sourceArguments, call{sourceRead, short(tool.Path(c))}
	case tool.Title, tool.Other:
	}
	return sourceArguments, call{sourceResult, ""}
}

// edited returns the file that a call changes, or an empty text if it does not say or
// changes several.
func edited(c transcript.ToolCall) string {
	if p := tool.Path(c); p != "" {
		return short(p)
	}
	if list := writings(c); len(list) == 1 {
		return short(list[0].path)
	}
	return ""
}

// commanded returns what a command line is, and what its result will be. One that does
// no more than show a file reads it, and one that has the new text of a file in it, or a
// patch, changes it: agents that have no other tool work so.
func commanded(line string) (source, call) {
	shows := slices.ContainsFunc(showing, func(name string) bool { return strings.Contains(line, name) })
	changes := strings.Contains(line, "<<") || strings.Contains(line, "*** Begin Patch")
	if !shows && !changes {
		return sourceCommand, call{sourceOutput, ""}
	}
	l := readLine(line)
	if changes {
		if files := l.changes(); len(files) == 1 {
			return sourceEdit, call{sourceEdited, short(files[0].path)}
		}
	}
	if files := l.readings(); shows && len(files) == 1 && files[0].part != (extent{}) && l.doers() == 1 {
		return sourceCommand, call{sourceRead, short(files[0].path)}
	}
	return sourceCommand, call{sourceOutput, ""}
}

// showing are the commands that show a file or a part of it.
var showing = []string{"cat ", "sed -n", "nl ", "head ", "bat "}

// short returns the last two segments of a path, by which files are compared.
func short(path string) string {
	if strings.Contains(path, "/") {
		return lastSegments(path)
	}
	return path
}

// takenFrom returns where the arguments of a change have the texts that it takes away.
func takenFrom(text string, input []byte) []stretch {
	var list []stretch
	lines := "\n" + text + "\n"
	take := func(in gjson.Result) {
		for _, key := range replacedKeys {
			old := in.Get(key).Str
			if old == "" {
				continue
			}
			if at := strings.Index(lines, "\n"+old+"\n"); at >= 0 {
				list = append(list, stretch{int32(at), int32(at + len(old))})
			}
			return
		}
	}
	in := gjson.ParseBytes(input)
	take(in)
	for _, edit := range in.Get("edits").Array() {
		take(edit)
	}
	return list
}

// searches reports whether a tool that reads finds places, by its folded name.
func searches(name string) bool {
	return slices.ContainsFunc(searching, func(word string) bool { return strings.Contains(name, word) })
}

var searching = []string{"grep", "glob", "search", "find", "list", "ls", "tree"}

// newest marks the first and the newest words of a person, and the newest of the
// assistant.
func (h *history) newest() {
	if n := len(h.asked); n > 0 {
		mark := func(at int, s source) {
			for i := range h.pieces {
				if p := &h.pieces[i]; p.Block == h.pieces[at].Block && p.source == sourceUser {
					p.source = s
				}
			}
		}
		mark(h.asked[n-1], sourceNewest)
		mark(h.asked[0], sourceTask)
	}
	for i := len(h.pieces) - 1; i >= 0; i-- {
		if h.pieces[i].source == sourceReply {
			h.pieces[i].source = sourceNewestReply
			return
		}
	}
}

// argumentText returns the texts and numbers of arguments, each from a line of its own on,
// in the order in which they stand there. Arguments that are no JSON object or array
// are returned as they are.
func argumentText(input []byte) string {
	v := gjson.ParseBytes(input)
	if !v.IsObject() && !v.IsArray() {
		return string(input)
	}
	var b strings.Builder
	var walk func(v gjson.Result, depth int)
	walk = func(v gjson.Result, depth int) {
		switch {
		case depth > maxDepth:
			b.WriteString(v.Raw + "\n")
		case v.IsObject() || v.IsArray():
			v.ForEach(func(_, v gjson.Result) bool {
				walk(v, depth+1)
				return true
			})
		case v.Type == gjson.String:
			b.WriteString(v.Str + "\n")
		case v.Type == gjson.Number:
			b.WriteString(v.Raw + "\n")
		}
	}
	walk(v, 0)
	return strings.TrimSuffix(b.String(), "\n")
}

// maxDepth is how deep arguments are looked into.
const maxDepth = 32
