package facts

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// A Source says where a text of a conversation is from.
type Source uint8

// The sources.
const (
	SourceUser        Source = iota // a person
	SourceNewest                    // the newest words of a person
	SourceTask                      // the first words of a person
	SourceReply                     // the assistant
	SourceNewestReply               // the newest words of the assistant
	SourceEdit                      // arguments that change a file
	SourceCommand                   // arguments that run a command
	SourcePlan                      // arguments that say what is to be done
	SourceArguments                 // arguments of another call
	SourceRead                      // a file that was read
	SourceSearch                    // what a search found
	SourceOutput                    // what a command printed
	SourceEdited                    // what a change reported
	SourceResult                    // the result of another call
	sources
)

// arguments reports whether a text is what the assistant calls a tool with.
func (s Source) arguments() bool { return s >= SourceEdit && s <= SourceArguments }

// A Piece is a text of a conversation: what a message says, the arguments of a call
// or its result. Of arguments the text has the leaves, each from a line of its own
// on.
type Piece struct {
	*Scan

	Block   int // index of the block
	Message int // index of the message
	Part    int // index of the part in the message
	Source  Source
	Call    string // id of the call, of arguments and results
	Path    string // the file that the call reads or changes, by its last two segments

	taken stretch // of a change, the text that it takes away
}

// A stretch is from one offset of a text to another.
type stretch struct{ from, to int32 }

// takes reports whether a piece is of a change that takes a line away.
func (p *Piece) takes(l *Line) bool { return p.taken.from <= l.From && l.From < p.taken.to }

// HistoryOptions adjusts [History]. The zero value is the default.
type HistoryOptions struct {
	// Tools says which tools edit, read, plan and run commands. The default is the
	// built-in table.
	Tools *tool.Table

	// Scan returns the scan of a text that a part of a message says. Whoever keeps
	// scans looks them up here. The default is [NewScan].
	Scan func(message, part int, text string) *Scan

	// Person reports whether a user's block has a person's words. The default is
	// that all have.
	Person func(block int) bool
}

// History returns the pieces of a conversation, by block and in order. System text
// is not among them: it stays whatever happens.
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
	source Source // of its result
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
				piece.Source = SourceReply
			} else if h.person && text != "" {
				h.asked = append(h.asked, len(h.pieces))
			}
		case transcript.ToolCall:
			text = argumentText(p.Input)
			piece.Call = p.ID
			var c call
			piece.Source, c = h.call(p)
			piece.Path = c.path
			if piece.Source == SourceEdit {
				piece.taken = takenFrom(text, p.Input)
			}
			h.calls[p.ID] = c
		case transcript.ToolResult:
			text = p.Text()
			c, known := h.calls[p.CallID]
			if !known {
				c.source = SourceResult
			}
			piece.Source, piece.Path, piece.Call = c.source, c.path, p.CallID
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
func (h *history) call(c transcript.ToolCall) (Source, call) {
	kit := h.tools.of(c.Name)
	path := func() string {
		if p := tool.Path(c); strings.Contains(p, "/") {
			return lastSegments(p)
		} else {
			return p
		}
	}
	switch kit.class {
	case tool.Edit:
		return SourceEdit, call{SourceEdited, path()}
	case tool.Plan:
		return SourcePlan, call{SourceResult, ""}
	case tool.Command, tool.Check:
		return SourceCommand, call{SourceOutput, ""}
	case tool.Read:
		if searches(kit.name) {
			return SourceArguments, call{SourceSearch, ""}
		}
		return SourceArguments, call{SourceRead, path()}
	case tool.Title, tool.Other:
	}
	return SourceArguments, call{SourceResult, ""}
}

// takenFrom returns where the arguments of a change have the text that it takes away.
func takenFrom(text string, input []byte) stretch {
	for _, key := range [...]string{"old_string", "old_str", "oldText", "old_text", "old", "search"} {
		old := gjson.GetBytes(input, key).Str
		if at := strings.Index("\n"+text+"\n", "\n"+old+"\n"); old != "" && at >= 0 {
			return stretch{int32(at), int32(at + len(old))}
		}
	}
	return stretch{}
}

// searches reports whether a tool that reads finds places, by its folded name.
func searches(name string) bool {
	for _, word := range [...]string{"grep", "glob", "search", "find", "list", "ls", "tree"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// newest marks the first and the newest words of a person, and the newest of the
// assistant.
func (h *history) newest() {
	if n := len(h.asked); n > 0 {
		mark := func(at int, s Source) {
			for i := range h.pieces {
				if p := &h.pieces[i]; p.Block == h.pieces[at].Block && p.Source == SourceUser {
					p.Source = s
				}
			}
		}
		mark(h.asked[n-1], SourceNewest)
		mark(h.asked[0], SourceTask)
	}
	for i := len(h.pieces) - 1; i >= 0; i-- {
		if h.pieces[i].Source == SourceReply {
			h.pieces[i].Source = SourceNewestReply
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
