package facts

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A source is the origin of a text in a conversation.
type source uint8

// The sources.
const (
	sourceUser        source = iota // a user message
	sourceNewest                    // the newest user message
	sourceTask                      // the first user message
	sourceReply                     // a reply of the assistant
	sourceNewestReply               // the newest reply
	sourceEdit                      // the arguments of a call that changes a file
	sourceCommand                   // the arguments of a call that runs a command
	sourcePlan                      // the arguments of a call that states a task list
	sourceArguments                 // the arguments of another call
	sourceRead                      // the result of a call that reads a file
	sourceSearch                    // the result of a search
	sourceOutput                    // the output of a command
	sourceEdited                    // the result of a call that changes a file
	sourceResult                    // the result of another call
	sources
)

// arguments reports whether a source is the arguments of a call.
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

	source  source
	removed []span // if source is sourceEdit, the parts of the text that the edit removes from the file
}

// A span is a range of a text, in bytes.
type span struct{ from, to int32 }

// removes reports whether a piece is an edit that removes the line l from its file.
func (p *Piece) removes(l *Line) bool {
	for _, s := range p.removed {
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

	// Person reports whether a person wrote the user message in a block, and
	// not a program: the first and the newest message of a person get weights of
	// their own. The default is true for all.
	Person func(block int) bool
}

// History returns the pieces of a conversation in order. It leaves out system
// messages, because they always stay in the window.
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
	h.markNewest()
	return h.pieces
}

type history struct {
	o      HistoryOptions
	tools  toolbox
	msgs   []transcript.Message
	calls  map[string]call
	person bool // a person wrote the block
	asked  []int
	pieces []Piece
}

// A call has the source and the file of a call's result, recorded when the call is read.
type call struct {
	source source // of the result
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
				piece.removed = removedSpans(text, p.Input)
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

// call returns the source of the arguments of the call c, such as sourceEdit, and the source that its
// result will have. If the call reads or changes one file, the second value also has the file's short
// path.
func (h *history) call(c transcript.ToolCall) (source, call) {
	kit := h.tools.of(c)
	switch kit.class {
	case tool.Edit:
		return sourceEdit, call{sourceEdited, editedPath(c)}
	case tool.Plan:
		return sourcePlan, call{sourceResult, ""}
	case tool.Command, tool.Check:
		return commandSource(tool.Line(c))
	case tool.Read:
		if searches(kit.name) {
			return sourceArguments, call{sourceSearch, ""}
		}
		return sourceArguments, call{sourceRead, shortPath(tool.Path(c))}
	case tool.Title, tool.Other:
	}
	return sourceArguments, call{sourceResult, ""}
}

// editedPath returns the short path of the file that a call changes. It returns "" if the
// arguments name no file or several.
func editedPath(c transcript.ToolCall) string {
	if p := tool.Path(c); p != "" {
		return shortPath(p)
	}
	if list := writings(c); len(list) == 1 {
		return shortPath(list[0].path)
	}
	return ""
}

// commandSource returns the source of a command line, and the source and file of its result.
// A line that only shows one file is a read, and a line with a here-document or a patch that
// changes one file is an edit: agents with a shell as their only tool read and edit this way.
func commandSource(line string) (source, call) {
	shows := slices.ContainsFunc(showCommands, func(name string) bool { return strings.Contains(line, name) })
	changes := strings.Contains(line, "<<") || strings.Contains(line, "*** Begin Patch")
	if !shows && !changes {
		return sourceCommand, call{sourceOutput, ""}
	}
	l := readLine(line)
	if changes {
		if files := l.changes(); len(files) == 1 {
			return sourceEdit, call{sourceEdited, shortPath(files[0].path)}
		}
	}
	if files := l.readings(); shows && len(files) == 1 && files[0].part != (extent{}) && l.activeCommands() == 1 {
		return sourceCommand, call{sourceRead, shortPath(files[0].path)}
	}
	return sourceCommand, call{sourceOutput, ""}
}

// showCommands are the beginnings of commands that print a file or a part of it.
var showCommands = []string{"cat ", "sed -n", "nl ", "head ", "bat "}

// shortPath returns the last two segments of a path. Pieces with equal short paths are taken
// to be of the same file.
func shortPath(path string) string {
	if strings.Contains(path, "/") {
		return lastSegments(path)
	}
	return path
}

// removedSpans returns the spans of text with the old lines that an edit replaces. input has
// the arguments in JSON, and text is their argumentText.
func removedSpans(text string, input []byte) []span {
	var list []span
	lines := "\n" + text + "\n"
	take := func(in gjson.Result) {
		for _, key := range replacedKeys {
			old := in.Get(key).Str
			if old == "" {
				continue
			}
			if at := strings.Index(lines, "\n"+old+"\n"); at >= 0 {
				list = append(list, span{int32(at), int32(at + len(old))})
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

// searches reports whether the folded name of a reading tool is that of a search or a
// listing.
func searches(name string) bool {
	return slices.ContainsFunc(searchWords, func(word string) bool { return strings.Contains(name, word) })
}

var searchWords = []string{"grep", "glob", "search", "find", "list", "ls", "tree"}

// markNewest sets the sources sourceTask, sourceNewest and sourceNewestReply. If there is one
// user message only, it is sourceNewest.
func (h *history) markNewest() {
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

// argumentText returns the strings and numbers in the arguments of a call, in order, each
// starting a new line. Arguments that are neither a JSON object nor an array are returned
// unchanged. A value nested deeper than maxDepth is returned as its JSON.
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

// maxDepth is the nesting depth up to which argumentText reads JSON.
const maxDepth = 32
