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

// A Call is a call of the tool that the proxy adds to a request. The client does not see the call.
type Call struct {
	ID     string
	Input  string // the arguments as the model wrote them; a JSON object if they are valid
	Behind string // id of the last call in the same reply, before this one, that the client sees; or empty
}

// A Round has the content of one answer of the provider.
type Round struct {
	Calls []Call   // calls of the proxy's tool, in order
	Own   []string // ids of the calls that the client answers
	Stop  string   // the provider's stop reason

	dialect wire.Dialect
	blocks  [][]byte // blocks of Messages or items of Responses, with all calls
	shown   []bool   // whether the client sees each of blocks
	message []byte   // the reply of Chat Completions
	text    string   // the text of the reply
	unsure  bool     // the reply has a part of an unknown kind and cannot be sent back
	usage   []byte
}

// Waits reports whether the reply waits for results of the proxy's tool only, and not for
// results from the client.
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

// ErrUnknown means that an answer has a part of an unknown kind, so that it cannot be sent
// back to the provider unchanged.
var ErrUnknown = errors.New("weave: the answer has a part of an unknown kind")

// Messages returns the messages for the next round, after a reply that waits for the results of its
// calls: the reply and these results, in the order that the API wants (in Responses, each result is
// behind its call). results has one text for each of r.Calls. The reply has all blocks or items of the
// provider's; a reply of Chat Completions that came as a stream has only its text and its calls. If
// the reply has a part that package weave does not know, the error is [ErrUnknown].
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

// results encodes one result for each call in r.Calls: as a block of Messages, a message of
// Chat Completions or an item of Responses. texts[i] is the text of the i-th result.
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

// items returns the items of a reply of Responses. After each call of the proxy's tool it
// inserts the result of the call; texts[i] is the text of the i-th.
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

// A Reply has the messages of all rounds of an answer: the provider's replies and the results
// of the proxy's tool. Later requests contain the client's version of the answer, without the
// proxy's calls. It is recognized by the ids in Calls or, if Calls is empty, by Text.
type Reply struct {
	Calls []string
	Text  string

	Messages [][]byte // replace the client's version of the answer
	Results  []Result // to insert among the results that the client sends next
}

// A Result is the result of a call of the proxy's tool in a reply that also has calls for the
// client. It is a block of Messages or a message of Chat Completions. Responses has none,
// because results follow their calls directly.
type Result struct {
	Behind string // id of the call after whose result it is inserted; empty if it is inserted before all results
	Text   []byte // the encoded block or message
}

// A form reads the answers of one dialect.
type form interface {
	// event reads an event of a stream and returns the bytes for the client. over is true
	// for the event that ends the answer, which the client does not get yet.
	event(e *event) (out []byte, over bool)
	// end returns the end of the stream for the client, after the last round is over.
	end() []byte
	// whole reads an answer that is no stream.
	whole(body []byte) error
	// joined returns the combined answer of all rounds, not as a stream.
	joined() []byte
}

// A Weaver combines the answers of several rounds into one. Use [New].
type Weaver struct {
	dialect wire.Dialect
	tool    string
	form    form
	split   splitter
	rounds  []*Round
	results [][]string // by round, the results of its calls
	over    bool       // the answer of the current round is complete
}

// New returns a weaver for answers in a dialect. tool is the name of the proxy's tool.
func New(d wire.Dialect, tool string) *Weaver {
	w := &Weaver{dialect: d, tool: tool, rounds: []*Round{{dialect: d}}}
	switch d {
	case wire.Anthropic:
		w.form = &messages{w: w, blocks: make(map[int]*block)}
	case wire.Chat:
		w.form = &chat{w: w}
	case wire.Responses:
		w.form = &responses{w: w, number: -1}
	}
	return w
}

// Round returns the current round.
func (w *Weaver) Round() *Round { return w.rounds[len(w.rounds)-1] }

// Next begins another round. The argument has the results of the proxy's calls in the
// current round.
func (w *Weaver) Next(results []string) {
	w.results = append(w.results, results)
	w.rounds = append(w.rounds, &Round{dialect: w.dialect})
	w.split, w.over = splitter{}, false
}

// HidesCalls reports whether a round has calls of the proxy's tool, which the client does not
// see.
func (w *Weaver) HidesCalls() bool {
	return slices.ContainsFunc(w.rounds, func(r *Round) bool { return len(r.Calls) > 0 })
}

// Over reports whether the answer of the current round is complete.
func (w *Weaver) Over() bool { return w.over }

// Feed reads a piece of a stream, and returns the bytes that the client gets at once. It holds
// back the event that ends the answer, and drops everything after it. It fails if an event is
// too large.
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
		return out, fmt.Errorf("weave: an event of the provider's stream has more than %d bytes", maxEvent)
	}
	return out, nil
}

// Rest reads the rest of a stream that has ended: an event without the empty line after it. It
// returns the bytes for the client, as they came. A chat stream that has a finish reason counts as
// complete, also without [DONE].
func (w *Weaver) Rest() (out []byte) {
	if e := parse(w.split.rest()); e.data != nil && !w.over {
		out, w.over = w.form.event(&e)
	}
	if c, ok := w.form.(*chat); ok && !w.over && c.stop != nil { // some servers send no [DONE]
		c.settle()
		w.over = true
	}
	return out
}

// End returns the end of the stream for the client, with the usage of all rounds.
func (w *Weaver) End() []byte { return w.form.end() }

// Whole reads an answer that is no stream. It fails if body is no JSON or no answer of the
// dialect.
func (w *Weaver) Whole(body []byte) error {
	if !rawjson.Valid(body) {
		return errors.New("weave: the provider's answer is not valid JSON")
	}
	w.over = true
	return w.form.whole(body)
}

// Joined returns the combined answer of all rounds that were read with [Weaver.Whole].
func (w *Weaver) Joined() []byte { return w.form.joined() }

// usage returns the sum of the usages of all rounds.
func (w *Weaver) usage() (all []byte) {
	for _, r := range w.rounds {
		all = sum(all, r.usage)
	}
	return all
}

// Reply returns the messages to send in place of the client's version of the answer in later
// requests. If the last round has calls of the proxy's tool and calls for the client, results
// has the results of the proxy's tool. If the answer was cut off, Reply has its complete parts.
// It fails with [ErrUnknown].
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
	if len(last.Calls) != len(results) { // the answer was cut off among its calls
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

// tail appends the results of the last round's calls to out.Results. results[i] is the text
// of the i-th result.
func (out *Reply) tail(r *Round, results []string) {
	for i, text := range r.results(results) {
		out.Results = append(out.Results, Result{Behind: r.Calls[i].Behind, Text: text})
	}
}

// without returns a round without the calls of the proxy's tool and without thinking at its end. Of
// a reply of Chat Completions only the text is left, without the client's calls, too.
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

// called records a call. The argument ours is true for a call of the proxy's
// tool.
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
