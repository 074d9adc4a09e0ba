package weave

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// A Call is a call of the tool that the client does not see.
type Call struct {
	ID     string
	Input  string // as the model wrote it; a JSON object, if it is sound
	Behind string // id of the client's own call before it in the same reply, or empty
}

// A Round is what one answer of the provider says.
type Round struct {
	Calls []Call   // of the tool, in their order
	Own   []string // ids of the calls that the client answers
	Stop  string   // why it ended, in the provider's word

	dialect wire.Dialect
	blocks  [][]byte // of the reply of Messages, or items of Responses, with all calls
	shown   []bool   // which of them the client sees
	message []byte   // the reply of Chat Completions
	text    string   // of it
	unsure  bool     // something in it is not known well enough to be sent back
	usage   []byte
}

// Waits reports whether the reply waits for results of the tool, and for no others.
func (r *Round) Waits() bool {
	if len(r.Calls) == 0 || len(r.Own) > 0 {
		return false
	}
	switch r.Stop {
	case "tool_use", "tool_calls", "completed", "stop":
		return true
	}
	return false
}

// ErrUnknown is that an answer has something in it that cannot be sent back as it was.
var ErrUnknown = errors.New("weave: the answer has something of an unknown kind")

// Messages returns with which messages the conversation goes on behind a reply that waits: the
// reply, as the provider gave it, and the results of its calls, in their order.
func (r *Round) Messages(results []string) ([][]byte, error) {
	if r.unsure {
		return nil, ErrUnknown
	}
	switch r.dialect {
	case wire.Anthropic:
		return [][]byte{r.reply(), fmt.Appendf(nil, `{"role":"user","content":%s}`, list(r.results(results)))}, nil
	case wire.Chat:
		return append([][]byte{r.reply()}, r.results(results)...), nil
	case wire.Responses:
		return r.items(results), nil
	}
	return nil, ErrUnknown
}

// reply returns the reply as a message of Messages or Chat Completions.
func (r *Round) reply() []byte {
	if r.dialect == wire.Chat {
		return r.message
	}
	return fmt.Appendf(nil, `{"role":"assistant","content":%s}`, list(r.blocks))
}

// results returns the results of the calls: blocks of Messages, messages of Chat Completions,
// items of Responses.
func (r *Round) results(texts []string) (out [][]byte) {
	form := `{"type":"function_call_output","call_id":%s,"output":%s}`
	switch r.dialect {
	case wire.Anthropic:
		form = `{"type":"tool_result","tool_use_id":%s,"content":%s}`
	case wire.Chat:
		form = `{"role":"tool","tool_call_id":%s,"content":%s}`
	case wire.Responses:
	}
	for i, c := range r.Calls {
		out = append(out, fmt.Appendf(nil, form, quote(c.ID), quote(texts[i])))
	}
	return out
}

// items returns the items of a reply of Responses, with each result behind its call.
func (r *Round) items(texts []string) (out [][]byte) {
	results := r.results(texts)
	for i, item := range r.blocks {
		out = append(out, item)
		if !r.shown[i] {
			out, results = append(out, results[0]), results[1:]
		}
	}
	return out
}

// A Reply is what the provider said and was told in all rounds of an answer, and how what the
// client has of it is known again: by the ids of its calls, or, if it has none, by its text.
type Reply struct {
	Calls []string
	Text  string

	Messages [][]byte // in place of the client's reply
	Results  []Result // that stand in what the client says next
}

// A Result answers a call of the tool that stands beside calls of the client's. Of Messages it
// is a block, of Chat Completions a message. Of Responses there are none: they stand behind
// their calls.
type Result struct {
	Behind string // id of the call behind whose result it stands; empty is in front of all
	Text   []byte
}

// A form reads the answers of one dialect.
type form interface {
	// event reads an event of a stream and returns what of it the client gets. Over is
	// true of the event that ends the answer, of which the client gets nothing yet.
	event(e *event) (out []byte, over bool)
	// end returns the end of a stream, once the last round is over.
	end() []byte
	// whole reads an answer that is no stream.
	whole(body []byte) error
	// joined returns the answer of all rounds as one that is no stream.
	joined() []byte
}

// A Weaver makes one answer of those of several rounds. Use [New].
type Weaver struct {
	dialect wire.Dialect
	tool    string
	form    form
	split   splitter
	rounds  []*Round
	results [][]string // of the calls of each round
	over    bool
}

// New returns a weaver for answers of a dialect, to requests that have a tool of this name.
func New(d wire.Dialect, tool string) *Weaver {
	w := &Weaver{dialect: d, tool: tool, rounds: []*Round{{dialect: d}}}
	switch d {
	case wire.Anthropic:
		w.form = &messages{w: w}
	case wire.Chat:
		w.form = &chat{w: w}
	case wire.Responses:
		w.form = &responses{w: w}
	}
	return w
}

// Round returns the round that is read.
func (w *Weaver) Round() *Round { return w.rounds[len(w.rounds)-1] }

// Next begins another round, after the calls of the one before were answered.
func (w *Weaver) Next(results []string) {
	w.results = append(w.results, results)
	w.rounds = append(w.rounds, &Round{dialect: w.dialect})
	w.split, w.over = splitter{}, false
}

// Hides reports whether the client sees less than the provider said.
func (w *Weaver) Hides() bool {
	return slices.ContainsFunc(w.rounds, func(r *Round) bool { return len(r.Calls) > 0 })
}

// Over reports whether the answer of the round has come to its end.
func (w *Weaver) Over() bool { return w.over }

// Feed reads a piece of a stream, and returns what the client gets at once. What ends the
// answer it does not get, and what comes behind that is dropped.
func (w *Weaver) Feed(p []byte) (out []byte, err error) {
	for _, e := range w.split.feed(p) {
		if w.over {
			break
		}
		var now []byte
		now, w.over = w.form.event(&e)
		out = append(out, now...)
	}
	if len(w.split.rest()) > maxEvent {
		return out, fmt.Errorf("weave: an event has more than %d bytes", maxEvent)
	}
	return out, nil
}

// Rest reads what is left of a stream that has ended, if it is an event that lacks its end.
func (w *Weaver) Rest() (out []byte) {
	if rest := w.split.rest(); len(rest) > 0 && !w.over {
		e := parse(rest)
		if len(e.data) > 0 {
			out, w.over = w.form.event(&e)
		}
	}
	if c, ok := w.form.(*chat); ok && !w.over && c.stop != nil { // some servers send no [DONE]
		c.settle()
		w.over = true
	}
	return out
}

// End returns the end of the stream: that of the last round, for all of them.
func (w *Weaver) End() []byte { return w.form.end() }

// Whole reads an answer that is no stream.
func (w *Weaver) Whole(body []byte) error {
	if !rawjson.Valid(body) {
		return errors.New("weave: the answer is no JSON")
	}
	w.over = true
	return w.form.whole(body)
}

// Joined returns the answer of all rounds as one that is no stream.
func (w *Weaver) Joined() []byte { return w.form.joined() }

// usage returns what all rounds took.
func (w *Weaver) usage() (all []byte) {
	for _, r := range w.rounds {
		all = sum(all, r.usage)
	}
	return all
}

// Reply returns what is to be sent in place of the reply when the client comes back with it.
// Results are those of the last round, if it has calls of the tool beside others. Of an answer
// that was left in the middle it is what is whole.
func (w *Weaver) Reply(results []string) (*Reply, error) {
	out := &Reply{}
	var texts []string
	last := w.Round()
	for i, r := range w.rounds {
		if r.unsure {
			return nil, ErrUnknown
		}
		out.Calls = append(out.Calls, r.Own...)
		if r.text != "" {
			texts = append(texts, r.text)
		}
		if r != last {
			goes, err := r.Messages(w.results[i])
			if err != nil {
				return nil, err
			}
			out.Messages = append(out.Messages, goes...)
		}
	}
	out.Text = strings.Join(texts, "\n\n")
	if len(last.Calls) != len(results) { // it ended in the middle of its calls
		last, results = last.without(), nil
	}
	switch {
	case w.dialect == wire.Responses:
		out.Messages = append(out.Messages, last.items(results)...)
	case len(last.blocks) > 0 || last.message != nil:
		out.Messages = append(out.Messages, last.reply())
		out.tail(last, results)
	}
	return out, nil
}

// tail puts the results of a round where the results of the client's calls are.
func (out *Reply) tail(r *Round, results []string) {
	for i, text := range r.results(results) {
		out.Results = append(out.Results, Result{Behind: r.Calls[i].Behind, Text: text})
	}
}

// without returns a round without the calls of the tool, and without thinking at its end.
func (r *Round) without() *Round {
	c := &Round{dialect: r.dialect, Own: r.Own, text: r.text}
	for i, b := range r.blocks {
		if r.shown[i] {
			c.blocks, c.shown = append(c.blocks, b), append(c.shown, true)
		}
	}
	for len(c.blocks) > 0 && thinks(c.blocks[len(c.blocks)-1]) {
		c.blocks, c.shown = c.blocks[:len(c.blocks)-1], c.shown[:len(c.shown)-1]
	}
	if r.text != "" && r.message != nil {
		c.message = fmt.Appendf(nil, `{"role":"assistant","content":%s}`, quote(r.text))
	}
	return c
}

func thinks(block []byte) bool {
	kind := said(get(block, "type"))
	return kind == "thinking" || kind == "redacted_thinking" || kind == "reasoning"
}

// add adds a block or an item to a round.
func (r *Round) add(block []byte, shown bool) {
	r.blocks, r.shown = append(r.blocks, bytes.Clone(block)), append(r.shown, shown)
}

// called notes a call.
func (r *Round) called(id, input string, ours bool) {
	if !ours {
		r.Own = append(r.Own, id)
		return
	}
	c := Call{ID: id, Input: input}
	if n := len(r.Own); n > 0 {
		c.Behind = r.Own[n-1]
	}
	r.Calls = append(r.Calls, c)
}
