package geminicli

import (
	"bytes"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/gemini"
)

// A content is a message in the form of the Gemini API. A reply that has its tool results in
// the same record becomes two contents.
type content struct {
	raw    []byte
	record int
	second bool // holds the results of its record
	of     int  // record of the reply whose calls it answers, or none
}

// none is in place of the number of a record that is not there.
const none = -1

// contents returns a list of messages as the contents of a request.
func (f *file) contents(list []int) []content {
	w := contentsWriter{f: f, owner: make(map[string]int)}
	w.lookAhead(list)
	for n, i := range list {
		switch r := &f.records[i]; r.kind {
		case "user":
			w.user(i)
		case "gemini":
			w.reply(i, n)
		}
	}
	return w.list
}

// A contentsWriter turns records into contents of a request.
type contentsWriter struct {
	f      *file
	parts  map[int][]part          // parts of records that are read twice
	behind map[int]map[string]bool // ids of the responses between a reply and the next reply, by the reply's index in the list
	owner  map[string]int          // record of each written call by id; none once it is answered
	list   []content
}

// A part is one element of a content, with the call or the response that it holds.
type part struct {
	raw     []byte
	calls   bool
	answers bool
	thinks  bool
	id      string
}

// partsOf returns the parts of a content: an object, a text, or a list of both.
func partsOf(raw []byte) []part {
	if len(raw) == 0 {
		return nil
	}
	r := rawjson.NewReader(raw)
	spans := []rawjson.Span{{Start: 0, End: len(raw)}}
	if r.Kind() == rawjson.Array {
		var err error
		if spans, err = r.Elements(); err != nil {
			return nil
		}
	}
	parts := make([]part, 0, len(spans))
	for _, s := range spans {
		p := part{raw: s.Of(raw)}
		kind := rawjson.Kind(p.raw[0])
		if kind != rawjson.Object && kind != rawjson.String || string(p.raw) == `""` {
			continue // the client ignores such elements
		}
		if kind == rawjson.Object {
			p.look()
		} else {
			p.raw = slices.Concat([]byte(`{"text":`), p.raw, []byte("}"))
		}
		parts = append(parts, p)
	}
	return parts
}

// look reads the kind, id and name of a part.
func (p *part) look() {
	r := rawjson.NewReader(p.raw)
	_ = r.Object(func(key string) error { // package gemini reports errors in the part
		kind := r.Kind()
		p.calls = p.calls || key == "functionCall" && kind == rawjson.Object
		p.answers = p.answers || key == "functionResponse" && kind == rawjson.Object
		p.thinks = p.thinks || key == "thought" && kind == rawjson.True
		if key != "functionCall" && key != "functionResponse" || kind != rawjson.Object {
			_, err := r.Skip()
			return err
		}
		return r.Object(func(key string) (err error) {
			if key == "id" && r.Kind() == rawjson.String {
				p.id, err = r.String()
				return err
			}
			_, err = r.Skip()
			return err
		})
	})
}

// lookAhead records the calls whose results are in messages after their reply.
func (w *contentsWriter) lookAhead(list []int) {
	w.parts, w.behind = make(map[int][]part), make(map[int]map[string]bool)
	behind := make(map[string]bool) // nobody asks for what is before the first reply
	for n, i := range list {
		r := &w.f.records[i]
		switch r.kind {
		case "gemini":
			behind = make(map[string]bool)
			w.behind[n] = behind
		case "user":
			w.parts[i] = partsOf(r.content.Of(r.raw))
			for _, p := range w.parts[i] {
				if p.answers {
					behind[p.id] = true
				}
			}
		}
	}
}

// user writes a user's message, without results that are written already.
func (w *contentsWriter) user(i int) {
	c := content{record: i, of: none}
	var raws [][]byte
	left := false
	for _, p := range w.parts[i] {
		if p.answers {
			owner, called := w.owner[p.id]
			if called && owner == none {
				left = true
				continue
			}
			if called {
				c.of = owner
				w.owner[p.id] = none
			}
		}
		raws = append(raws, p.raw)
	}
	if len(raws) == 0 && left {
		return
	}
	c.raw = contentOf("user", raws)
	w.add(c)
}

// add adds a content. If the API has no such content, it adds a warning about its record.
func (w *contentsWriter) add(c content) {
	if _, err := gemini.Messages([][]byte{c.raw}); err != nil {
		if r := &w.f.records[c.record]; r.kind != "" {
			w.f.warn(w.f.lines[r.item], err)
			r.kind = ""
		}
		return
	}
	w.list = append(w.list, c)
}

// reply writes a reply, and those of its results that no later message has.
func (w *contentsWriter) reply(i, n int) {
	r := &w.f.records[i]
	parts := partsOf(r.content.Of(r.raw))
	calls := callsOf(r)
	if !slices.ContainsFunc(parts, func(p part) bool { return p.calls || p.thinks }) {
		parts = slices.Concat(thoughtsOf(r), parts)
		for k := range calls {
			parts = append(parts, part{raw: calls[k].asPart(), calls: true, id: calls[k].id})
		}
	}
	if len(parts) == 0 {
		return
	}
	raws := make([][]byte, len(parts))
	for k, p := range parts {
		raws[k] = p.raw
		if p.calls && p.id != "" {
			w.owner[p.id] = i
		}
	}
	w.add(content{raw: contentOf("model", raws), record: i, of: none})
	var results [][]byte
	for k := range calls {
		c := &calls[k]
		if owner, open := w.owner[c.id]; !open || owner != i || w.behind[n][c.id] {
			continue
		}
		if result := c.results(); len(result) > 0 {
			results = append(results, result...)
			w.owner[c.id] = none
		}
	}
	if len(results) > 0 {
		w.add(content{raw: contentOf("user", results), record: i, second: true, of: i})
	}
}

func contentOf(role string, parts [][]byte) []byte {
	return slices.Concat([]byte(`{"role":"`+role+`","parts":[`), bytes.Join(parts, []byte(",")), []byte("]}"))
}

// A call is an element of toolCalls.
type call struct {
	id                string
	rawID, name, args []byte
	result            []byte
}

func callsOf(r *record) []call {
	var list []call
	reader := rawjson.NewReader(r.calls.Of(r.raw))
	_ = reader.Array(func(int) error { // read has checked this value, if there is one; elements that are not objects are no calls
		if reader.Kind() != rawjson.Object {
			_, err := reader.Skip()
			return err
		}
		var c call
		err := reader.Object(func(key string) error {
			start := reader.Offset()
			if key == "id" && reader.Kind() == rawjson.String {
				id, err := reader.String()
				c.id, c.rawID = id, reader.Of(rawjson.Span{Start: start, End: reader.Position()})
				return err
			}
			span, err := reader.Skip()
			switch key {
			case "name":
				c.name = reader.Of(span)
			case "args":
				c.args = reader.Of(span)
			case "result":
				c.result = reader.Of(span)
			}
			return err
		})
		list = append(list, c)
		return err
	})
	return list
}

// asPart returns a call as a functionCall part.
func (c *call) asPart() []byte {
	raw := []byte(`{"functionCall":{`)
	sep := ""
	for _, m := range []struct {
		key   string
		value []byte
	}{{"id", c.rawID}, {"name", c.name}, {"args", c.args}} {
		if len(m.value) > 0 && string(m.value) != "null" {
			raw = append(append(raw, sep+`"`+m.key+`":`...), m.value...)
			sep = ","
		}
	}
	return append(raw, "}}"...)
}

// results returns the parts that answer a call. They are from its result, which may also have parts
// of other calls. If the result is a text, results makes a part of it.
func (c *call) results() (raws [][]byte) {
	if bytes.HasPrefix(c.result, []byte{'"'}) {
		if len(c.name) == 0 {
			c.name = []byte(`""`)
		}
		return [][]byte{slices.Concat([]byte(`{"functionResponse":{"id":`), c.rawID, []byte(`,"name":`), c.name, []byte(`,"response":{"output":`), c.result, []byte("}}}"))}
	}
	answers := 0
	found := false
	parts := partsOf(c.result)
	for _, p := range parts {
		if p.answers {
			answers++
			found = found || p.id == c.id
		}
	}
	for _, p := range parts {
		if p.answers && p.id == c.id || !p.answers && answers == 1 && found {
			raws = append(raws, p.raw)
		}
	}
	return raws
}

// thoughtsOf returns the thoughts of a reply as parts, in the form that the client writes.
func thoughtsOf(r *record) []part {
	var parts []part
	reader := rawjson.NewReader(r.thoughts.Of(r.raw))
	_ = reader.Array(func(int) error { // checked like toolCalls above
		if reader.Kind() != rawjson.Object {
			_, err := reader.Skip()
			return err
		}
		var subject, description string
		err := reader.Object(func(key string) (err error) {
			switch {
			case key == "subject" && reader.Kind() == rawjson.String:
				subject, err = reader.String()
			case key == "description" && reader.Kind() == rawjson.String:
				description, err = reader.String()
			default:
				_, err = reader.Skip()
			}
			return err
		})
		if subject != "" {
			description = "**" + subject + "** " + description
		}
		if description != "" {
			parts = append(parts, part{raw: append(rawjson.AppendString([]byte(`{"text":`), description), `,"thought":true}`...), thinks: true})
		}
		return err
	})
	return parts
}

// messages returns the messages of contents, each with the item of its record.
func (f *file) messages(list []content) ([]transcript.Message, error) {
	msgs, err := gemini.Messages(raws(list))
	for i := range msgs {
		m, r := &msgs[i], &f.records[list[i].record]
		m.ID, m.Items = r.id, []int{r.item}
		if list[i].second {
			m.ID += "_response"
		}
		m.Summary = m.Role == transcript.RoleUser && strings.Contains(m.Text(), "<state_snapshot>")
	}
	return msgs, err
}

// raws returns the bytes of contents.
func raws(list []content) [][]byte {
	all := make([][]byte, len(list))
	for i := range list {
		all[i] = list[i].raw
	}
	return all
}
