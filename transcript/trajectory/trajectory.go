package trajectory

import (
	"errors"
	"slices"

	"github.com/carrel-dev/carrel/internal/chat"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// The formats of this package.
var (
	SWEAgent  transcript.Format = &format{name: "sweagent", prefix: "swe-", lists: []string{"history", "trajectory"}, knows: isSWE, newReader: newSWE, write: writeSWE}
	OpenHands transcript.Format = &format{name: "openhands", prefix: "oh-", lists: []string{"history"}, knows: isEvent, newReader: newEvents, write: writeEvents}
)

// A format is a file format with a list of elements beside other fields.
type format struct {
	name, prefix string
	lists        []string                        // keys that the list may have, in order of preference
	knows        func(keys map[string]bool) bool // reports whether an element with these keys belongs to the format
	newReader    func(list string) reader
	write        func(message []byte) [][]byte // encodes a message of Chat Completions as elements
}

// A reader converts elements to messages of Chat Completions.
type reader interface {
	// read returns the messages of an element, or none if it is not part of the
	// conversation. goesOn reports whether the first continues the previous message.
	read(raw []byte) (messages [][]byte, goesOn bool)
}

// Name implements [transcript.Format].
func (f *format) Name() string { return f.name }

// errSeen stops Sniff once it has read enough.
var errSeen = errors.New("seen enough")

// Sniff implements [transcript.Format]: the first element of a list decides.
func (f *format) Sniff(data []byte) bool {
	r := rawjson.NewReader(data)
	known := false
	first := func() error {
		if r.Kind() != rawjson.Array {
			_, err := r.Skip()
			return err
		}
		return r.Array(func(int) error {
			if r.Kind() != rawjson.Object {
				return errSeen
			}
			keys := make(map[string]bool)
			err := r.Object(func(key string) error { keys[key] = true; _, err := r.Skip(); return err })
			known = f.knows(keys)
			return errors.Join(errSeen, err)
		})
	}
	if r.Kind() == rawjson.Array {
		return errors.Is(first(), errSeen) && known && f.name == OpenHands.Name()
	}
	if r.Kind() != rawjson.Object {
		return false
	}
	// An error only means that data is cut off.
	_ = r.Object(func(key string) error {
		if slices.Contains(f.lists, key) {
			return first()
		}
		_, err := r.Skip()
		return err
	})
	return known
}

// A file is a parsed file: the frame of its list, and the conversation as a body of Chat
// Completions.
type file struct {
	*chat.Frame
	list  string   // its key
	inner [][]byte // messages of the body
	of    []run    // range of elements of each message
}

// A run is a range of elements: from is the first, to is one past the last.
type run struct{ from, to int }

// parse parses a file. It takes the first list that has elements.
func (f *format) parse(name string, data []byte) (*file, error) {
	var in *file
	var failed error
	for _, list := range f.lists {
		layout := chat.Layout{Key: list, Hint: `expected {"` + f.lists[0] + `": […]}`}
		var raws []rawjson.Span
		frame, err := layout.Read(name, data, skipField,
			func(r *rawjson.Reader, _ int) error { s, err := r.Skip(); raws = append(raws, s); return err })
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		in = &file{Frame: frame, list: list}
		reads := f.newReader(list)
		var reply [][]byte // the parts of the last message
		end := func() {
			if len(reply) > 1 {
				in.inner[len(in.inner)-1] = join(reply)
			}
		}
		for i, s := range raws {
			messages, goesOn := reads.read(s.Of(data))
			for k, m := range messages {
				if n := len(in.inner); k == 0 && goesOn && n > 0 {
					reply, in.of[n-1].to = append(reply, m), i+1
					continue
				}
				end()
				reply = [][]byte{m}
				in.inner, in.of = append(in.inner, m), append(in.of, run{i, i + 1})
			}
		}
		end()
		if len(in.inner) > 0 {
			return in, nil
		}
	}
	if in == nil {
		e, _ := errors.AsType[*transcript.SyntaxError](failed)
		return nil, e
	}
	return in, nil
}

// body returns the conversation as a request.
func (in *file) body() []byte {
	return chat.Listing("messages", in.inner)
}

// Decode implements [transcript.Format].
func (f *format) Decode(name string, data []byte) (*transcript.Session, error) {
	in, err := f.parse(name, data)
	if err != nil {
		return nil, err
	}
	s, err := openai.Format.Decode(name, in.body())
	if err != nil {
		return nil, &transcript.SyntaxError{Name: name, Text: "an element of the list cannot be read as a message: " + err.Error()}
	}
	var spans []rawjson.Span
	for i, r := range in.of {
		if i == 0 || r != in.of[i-1] { // a step gives two messages, a call and its result
			spans = append(spans, rawjson.Span{Start: in.Messages[r.from].Start, End: in.Messages[r.to-1].End})
		}
	}
	items, at := in.Cut(spans)
	s.Format, s.Items = f.name, items
	n := -1
	for i, r := range in.of {
		if i == 0 || r != in.of[i-1] {
			n++
		}
		s.Messages[i].Items = []int{at[n]}
	}
	s.Tools = nil
	chat.Describe(s, f.prefix, name)
	return s, nil
}

// Validate implements [transcript.Format].
func (f *format) Validate(data []byte) ([]transcript.Violation, error) {
	in, err := f.parse("", data)
	if err != nil {
		return nil, err
	}
	return openai.Format.Validate(in.body())
}

// Encode implements [transcript.Format].
func (f *format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.name
	if own && w.Intact() {
		return &transcript.Encoded{Data: w.Session.Bytes()}, nil
	}
	data := []byte(`{"` + f.lists[0] + `": []}`)
	if own {
		data = w.Session.Bytes()
	}
	in, err := f.parse("", data)
	if err != nil {
		return nil, err
	}
	body := in.body()
	if in.list != f.lists[0] { // its elements are steps, so a changed session is written as messages
		if err := in.open(f.lists[0]); err != nil {
			return nil, err
		}
	}
	inner := &transcript.Window{Session: w.Session, Entries: slices.Clone(w.Entries), As: "another"} // a new id, so that openai encodes it again
	if own {
		if inner.Session, err = openai.Format.Decode("", body); err != nil {
			return nil, err
		}
		at := chat.Indexes(w.Session)
		for i := range inner.Entries {
			if k, ok := at[inner.Entries[i].Source]; ok {
				inner.Entries[i].Source = &inner.Session.Messages[k]
			}
		}
	} else if w.Session.Format == openai.Format.Name() {
		inner.Session = other(w.Session)
	}
	out, err := openai.Format.Encode(inner)
	if err != nil {
		return nil, err
	}
	written, _ := in.Join(f.pieces(in, out))
	return &transcript.Encoded{Data: written, Losses: out.Losses, Repairs: out.Repairs}, nil
}

// open makes list the file's list of messages, without any message yet. If the file has no such
// list, it gets an empty one.
func (in *file) open(list string) (err error) {
	layout, data := chat.Layout{Key: list}, in.Data
	if in.Key < 0 { // the file is nothing but its steps
		data = []byte("{}")
	}
	in.inner, in.of = nil, nil
	if in.Frame, err = layout.Read("", data, skipField, skipElement); err != nil {
		in.Frame, err = layout.Read("", chat.Set(data, list, []byte("[]")), skipField, skipElement)
	}
	return err
}

func skipField(r *rawjson.Reader, _ string) error { _, err := r.Skip(); return err }

func skipElement(r *rawjson.Reader, _ int) error { _, err := r.Skip(); return err }

// other returns s as a session of another format, so that none of its other fields
// are written.
func other(s *transcript.Session) *transcript.Session {
	made := *s
	made.Format = ""
	return &made
}

// pieces returns the elements of an encoded request: elements of unchanged messages,
// with the elements between them, and new ones.
func (f *format) pieces(in *file, out *transcript.Encoded) []chat.Piece {
	places := make(map[string][]int, len(in.inner)) // indexes of messages, by their bytes
	speaks := make(map[int]bool)                    // elements of the conversation
	for i, raw := range in.inner {
		places[string(raw)] = append(places[string(raw)], i)
		for k := in.of[i].from; k < in.of[i].to; k++ {
			speaks[k] = true
		}
	}
	var pieces []chat.Piece
	next := 0
	between := func(before int) {
		for ; next < before; next++ {
			if !speaks[next] {
				pieces = append(pieces, chat.Piece{Raw: in.Messages[next].Of(in.Data), Index: next})
			}
		}
	}
	for _, span := range out.Spans {
		raw := out.Data[span.Start:span.End]
		same := places[string(raw)]
		if len(same) == 0 {
			for _, element := range f.write(raw) {
				pieces = append(pieces, chat.Piece{Raw: element, Index: -1})
			}
			continue
		}
		places[string(raw)] = same[1:]
		between(in.of[same[0]].from)
		for k := in.of[same[0]].from; k < in.of[same[0]].to; k++ {
			pieces = append(pieces, chat.Piece{Raw: in.Messages[k].Of(in.Data), Index: k})
			next = max(next, k+1)
		}
	}
	between(len(in.Messages))
	return pieces
}
