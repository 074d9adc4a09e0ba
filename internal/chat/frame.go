package chat

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// A Layout describes the list of messages in the bodies of a format.
type Layout struct {
	Key  string // of the list
	Text bool   // a string may stand in place of the list
	Hint string // for the error if the body has no list
}

// Messages is the layout in which the list has the key "messages".
var Messages = Layout{Key: "messages", Hint: `expected {"messages": […]} or a list of messages`}

// A Frame holds the positions of the messages in a body.
type Frame struct {
	Data     []byte
	List     rawjson.Span   // the list without its brackets, or the string in its place
	Text     bool           // a string stands in place of the list and is the only message
	Messages []rawjson.Span // in order
	Key      int            // offset of the list's key; -1 if the body is the list
}

// Read parses a body. It calls the function message for each message of the list, and the function
// field for each field of the body other than the list. Both functions must read the next value of
// r. Errors contain name, which is the name of the file.
func (l Layout) Read(name string, data []byte, field func(r *rawjson.Reader, key string) error, message func(r *rawjson.Reader, i int) error) (*Frame, error) {
	r := rawjson.NewReader(data)
	f := &Frame{Data: data, Key: -1}
	err := f.read(r, l, field, message)
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, syntaxError(name, data, err)
	}
	return f, nil
}

func (f *Frame) read(r *rawjson.Reader, l Layout, field func(r *rawjson.Reader, key string) error, message func(r *rawjson.Reader, i int) error) error {
	if r.Kind() == rawjson.Array {
		return f.list(r, message)
	}
	if at := r.Offset(); r.Kind() != rawjson.Object {
		e := r.Fail(at, "no request body: neither an object nor a list of messages")
		e.Hint = l.Hint
		return e
	}
	found := false
	err := r.Object(func(key string) error {
		if key != l.Key {
			return field(r, key)
		}
		found = true
		f.Key = r.KeyOffset()
		if l.Text && r.Kind() == rawjson.String {
			return f.text(r, message)
		}
		return f.list(r, message)
	})
	if err == nil && !found {
		e := r.Fail(0, "no list of messages")
		e.Hint = l.Hint
		return e
	}
	return err
}

func (f *Frame) text(r *rawjson.Reader, message func(r *rawjson.Reader, i int) error) error {
	f.Text, f.List.Start = true, r.Offset()
	err := message(r, 0)
	f.List.End = r.Position()
	f.Messages = []rawjson.Span{f.List}
	return err
}

func (f *Frame) list(r *rawjson.Reader, message func(r *rawjson.Reader, i int) error) error {
	f.List.Start = r.Offset() + 1
	err := r.Array(func(i int) error {
		start := r.Offset()
		if r.Kind() != rawjson.Object {
			e := r.Fail(start, "a message must be an object")
			if r.Kind() == rawjson.None {
				_, err := r.Skip() // its error names the value found instead
				return err
			}
			return e
		}
		err := message(r, i)
		f.Messages = append(f.Messages, rawjson.Span{Start: start, End: r.Position()})
		return err
	})
	f.List.End = r.Position() - 1
	return err
}

// syntaxError converts err to a [transcript.SyntaxError]. It returns an error that a callback made
// as it is.
func syntaxError(name string, data []byte, err error) error {
	e, ok := errors.AsType[*rawjson.Error](err)
	if !ok {
		return err // an error of a callback
	}
	return &transcript.SyntaxError{
		Name:  name,
		Line:  transcript.LineOf(data, e.Offset),
		Field: e.Path,
		Text:  e.Text,
		Hint:  e.Hint,
	}
}

// Cut returns the body as items: one for each span, and one for each run of bytes before, between
// or after the spans. at[i] is the index of the item of spans[i].
func (f *Frame) Cut(spans []rawjson.Span) (items []transcript.Item, at []int) {
	order := make([]int, len(spans))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(spans[a].Start, spans[b].Start) })
	items = make([]transcript.Item, 0, 2*len(spans)+1)
	at = make([]int, len(spans))
	from := 0
	keep := func(s rawjson.Span) {
		if s.Start < s.End {
			items = append(items, transcript.Item{Raw: s.Of(f.Data)})
		}
	}
	for _, i := range order {
		keep(rawjson.Span{Start: from, End: spans[i].Start})
		at[i] = len(items)
		keep(spans[i])
		from = spans[i].End
	}
	keep(rawjson.Span{Start: from, End: len(f.Data)})
	return items, at
}

// A Piece is a message to be written.
type Piece struct {
	Raw   []byte
	Index int // index of its source message in the frame, or -1
	Block transcript.BlockID
}

// Join returns the body with pieces as its messages, and the positions of these messages in the
// result. It also makes the cuts, which must lie outside the list. The whitespace between messages
// is that of the frame. A string in place of the list becomes a list.
func (f *Frame) Join(pieces []Piece, cuts ...transcript.Cut) ([]byte, []transcript.Span) {
	list := transcript.Cut{From: f.List.Start, To: f.List.End}
	if len(pieces) == 0 {
		if f.Text {
			list.With = []byte("[]")
		}
		return transcript.Splice(f.Data, append(cuts, list)...), nil
	}
	start := f.List.Start
	for _, c := range cuts {
		if c.From < f.List.Start {
			start += len(c.With) - (c.To - c.From)
		}
	}
	before, between, after := f.gaps()
	if f.Text {
		before, after = []byte("["), []byte("]")
	}
	n := len(before) + len(after)
	for _, p := range pieces {
		n += len(p.Raw) + len(between)
	}
	list.With = append(make([]byte, 0, n), before...)
	spans := make([]transcript.Span, len(pieces))
	for i, p := range pieces {
		switch {
		case i == 0:
		case p.Index > 0 && p.Index == pieces[i-1].Index+1:
			list.With = append(list.With, f.Data[f.Messages[p.Index-1].End:f.Messages[p.Index].Start]...)
		default:
			list.With = append(list.With, between...)
		}
		at := start + len(list.With)
		spans[i] = transcript.Span{Block: p.Block, Start: at, End: at + len(p.Raw)}
		list.With = append(list.With, p.Raw...)
	}
	list.With = append(list.With, after...)
	return transcript.Splice(f.Data, append(cuts, list)...), spans
}

// Spans returns the positions of the messages of w in the latest body of its session. The window
// must be intact, that is, have all messages unchanged.
func Spans(w *transcript.Window) []transcript.Span {
	before := 0
	if len(w.Session.Earlier) > 0 {
		_, now := parts(w.Session.Bytes())
		before = now.Start
	}
	starts := make([]int, len(w.Session.Items)+1)
	for i := range w.Session.Items {
		starts[i+1] = starts[i] + len(w.Session.Items[i].Raw)
	}
	spans := make([]transcript.Span, 0, len(w.Entries))
	for i := range w.Entries {
		if items := w.Entries[i].Items; len(items) > 0 {
			spans = append(spans, transcript.Span{
				Block: w.Entries[i].Block, Start: starts[items[0]] - before, End: starts[items[len(items)-1]+1] - before,
			})
		}
	}
	slices.SortFunc(spans, func(a, b transcript.Span) int { return cmp.Compare(a.Start, b.Start) })
	return spans
}

// gaps returns the bytes that Join writes before the first message, between two messages, and after
// the last one.
func (f *Frame) gaps() (before, between, after []byte) {
	n := len(f.Messages)
	if n == 0 {
		return nil, []byte(", "), nil
	}
	before = f.Data[f.List.Start:f.Messages[0].Start]
	after = f.Data[f.Messages[n-1].End:f.List.End]
	switch {
	case n > 1:
		between = f.Data[f.Messages[0].End:f.Messages[1].Start]
	case bytes.ContainsAny(before, "\r\n"):
		between = append([]byte(","), before...)
	default:
		between = []byte(", ")
	}
	return before, between, after
}
