package markdown

import (
	"path"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/transcript"
)

// Format is Markdown for people.
var Format transcript.Format = format{}

type format struct{}

// Name implements [transcript.Format].
func (format) Name() string { return "markdown" }

// Sniff implements [transcript.Format].
func (format) Sniff(data []byte) bool {
	return strings.HasPrefix(string(data[:min(len(data), len(first))]), first)
}

// Validate implements [transcript.Format]. It never finds violations.
func (f format) Validate(data []byte) ([]transcript.Violation, error) {
	_, err := f.Decode("", data)
	return nil, err
}

// Encode implements [transcript.Format].
func (f format) Encode(w *transcript.Window) (*transcript.Encoded, error) {
	own := w.Session.Format == f.Name()
	if own && w.Intact() {
		return &transcript.Encoded{Data: w.Session.Bytes(), Session: w.Session.ID}, nil
	}
	entries, fixes := transcript.Repair(w.Entries)
	b := &writer{results: make(map[string]transcript.ToolResult)}
	for i := range entries {
		for _, r := range entries[i].Results() {
			b.results[r.CallID] = r
		}
	}
	if own && len(w.Session.Messages) > 0 {
		for _, it := range w.Session.Items[:w.Session.Messages[0].Items[0]] {
			b.Write(it.Raw)
		}
	} else {
		b.head(w)
	}
	for i := range entries {
		if e := &entries[i]; own && !e.Changed() {
			raw := w.Session.Raw(e.Source)
			b.Write(raw)
			if len(raw) > 0 && raw[len(raw)-1] != '\n' {
				b.WriteByte('\n') // the message was cut off there
			}
		} else {
			b.section(i, e)
		}
	}
	b.dropped(w)
	return &transcript.Encoded{Data: []byte(b.String()), Session: w.Session.ID, Losses: b.losses, Repairs: fixes}, nil
}

// Beginnings of lines outside of fences.
var (
	heading = lazy.Regexp(`^## [0-9]+ · (system|user|assistant|tool|stub|summary)( · [0-9a-f]{8})?$`)
	callOf  = lazy.Regexp("^### Call of `([^`]*)` · `([^`]*)`$")
	result  = lazy.Regexp("^### Result · `([^`]*)`( · failed)?$")
	opening = lazy.Regexp("^(`{3,})(text|json)$")
)

// Decode implements [transcript.Format].
func (f format) Decode(name string, data []byte) (*transcript.Session, error) {
	r := reader{s: &transcript.Session{Format: f.Name()}}
	if !f.Sniff(data) {
		return nil, &transcript.SyntaxError{Name: name, Line: 1, Text: "this is not the Markdown that Carrel writes", Hint: "import the file that it was made of"}
	}
	if line, ok := r.read(data); !ok {
		return nil, &transcript.SyntaxError{Name: name, Line: line, Text: "a fence has no end"}
	}
	if len(r.s.Messages) == 0 {
		return nil, &transcript.SyntaxError{Name: name, Text: "there are no messages"}
	}
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	r.s.ID = transcript.SessionID("md-" + strings.TrimSuffix(base, path.Ext(base)))
	return r.s, nil
}

// A reader reads a document.
type reader struct {
	s     *transcript.Session
	part  transcript.Part // part that the next fence belongs to, or nil
	in    bool            // whether the parts that follow belong to the last tool result
	start int             // start of the current item
}

// read reads the lines of a document. If a fence has no end, it returns the line of its
// beginning.
func (r *reader) read(data []byte) (line int, ok bool) {
	at, begun, end := 0, 0, ""
	var said []string
	for raw := range strings.Lines(string(data)) {
		text := strings.TrimRight(raw, "\r\n")
		line++
		switch marks := opening.Get().FindStringSubmatch(text); {
		case end != "" && text == end:
			r.say(strings.Join(said, "\n"))
			end, said = "", nil
		case end != "":
			said = append(said, text)
		case marks != nil:
			end, begun = marks[1], line
		default:
			r.line(text, data, at)
		}
		at += len(raw)
	}
	r.cut(data, len(data))
	return begun, end == ""
}

// cut ends the current item.
func (r *reader) cut(data []byte, end int) {
	if end > r.start {
		r.s.Items = append(r.s.Items, transcript.Item{Raw: data[r.start:end:end]})
		r.start = end
	}
}

// line reads a line outside of fences. at is its offset.
func (r *reader) line(text string, data []byte, at int) {
	switch {
	case text == leftOut:
		r.cut(data, at)
		r.part, r.in = nil, false
		return
	case !strings.HasPrefix(text, "##"):
		return
	}
	if h := heading.Get().FindStringSubmatch(text); h != nil {
		r.cut(data, at)
		m := transcript.Message{Role: transcript.Role(h[1]), Items: []int{len(r.s.Items)}}
		if h[1] == "stub" || h[1] == "summary" {
			m.Role, m.Summary = transcript.RoleUser, h[1] == "summary"
		}
		r.s.Messages = append(r.s.Messages, m)
		r.part, r.in = nil, false
		return
	}
	if len(r.s.Messages) == 0 {
		return
	}
	m := &r.s.Messages[len(r.s.Messages)-1]
	switch c, res := callOf.Get().FindStringSubmatch(text), result.Get().FindStringSubmatch(text); {
	case c != nil:
		r.part, r.in = transcript.ToolCall{Name: strings.TrimSpace(c[1]), ID: strings.TrimSpace(c[2])}, false
	case res != nil:
		m.Parts = append(m.Parts, transcript.ToolResult{CallID: strings.TrimSpace(res[1]), Error: res[2] != ""})
		r.part, r.in = nil, true
	case text == "### Text":
		r.part, r.in = nil, false
	case text == "### Thinking":
		r.part, r.in = transcript.Thinking{}, false
	}
}

// say adds the text of a fence to its part.
func (r *reader) say(said string) {
	if len(r.s.Messages) == 0 {
		return
	}
	m := &r.s.Messages[len(r.s.Messages)-1]
	switch p := r.part.(type) {
	case transcript.ToolCall:
		p.Input = []byte(said)
		m.Parts = append(m.Parts, p)
	case transcript.Thinking:
		p.Text = said
		m.Parts = append(m.Parts, p)
	default:
		if last := len(m.Parts) - 1; r.in && last >= 0 {
			res := m.Parts[last].(transcript.ToolResult) // in implies this
			res.Content = append(res.Content, transcript.Text(said))
			m.Parts[last] = res
			return
		}
		m.Parts = append(m.Parts, transcript.Text(said))
	}
	r.part = nil
}
