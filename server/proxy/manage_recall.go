package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/weave"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// ToolRecall is the name of the tool that [Epochs] adds where it is told to.
const ToolRecall = "carrel_recall"

const (
	recallAbout  = "Returns the original of what a note in this conversation stands for, such as [carrel: stashed 31034 bytes, 410 lines as 5c1f09ab] or [carrel 5c1f09ab: paged]. Call it when the original is needed to go on; never show its name to the user."
	recallSchema = `{"type":"object","properties":{"id":{"type":"string","description":"the id in the note"}},"required":["id"],"additionalProperties":false}`
)

// recallTools are the tool in the form of each dialect. They never change: what a provider has
// cached and what reasoning is bound to begins with the tools.
var recallTools = map[wire.Dialect][]byte{
	wire.Anthropic: fmt.Appendf(nil, `{"name":%q,"description":%q,"input_schema":%s}`, ToolRecall, recallAbout, recallSchema),
	wire.Chat:      fmt.Appendf(nil, `{"type":"function","function":{"name":%q,"description":%q,"parameters":%s}}`, ToolRecall, recallAbout, recallSchema),
	wire.Responses: fmt.Appendf(nil, `{"type":"function","name":%q,"description":%q,"parameters":%s,"strict":false}`, ToolRecall, recallAbout, recallSchema),
}

// An offer says whether a conversation has the tool.
type offer uint8

const (
	unknown offer = iota
	offered
	declined
)

func offerOf(yes bool) offer {
	if yes {
		return offered
	}
	return declined
}

// offers reports whether the tool is among those of a request. That is settled once for a
// conversation: tools stand in front of everything, and to change them breaks all of it. A
// conversation that had replies before it was managed never gets the tool.
func (m *Epochs) offers(t *thread, q *wire.Request) bool {
	has := false
	for tool := range q.Doc.Children(q.Tools) {
		if name := string(q.Doc.Raw(tool)); strings.Contains(name, `"`+ToolRecall+`"`) {
			return false // somebody else's
		}
		has = true
	}
	if !has {
		return false
	}
	if t.recall != unknown {
		return t.recall == offered
	}
	if !m.o.Recall || q.Kind != wire.KindCall || forced(q) || !resends(q) {
		return false
	}
	for i := range q.Messages {
		if q.Messages[i].Role == wire.RoleAssistant {
			return false
		}
	}
	return true
}

// forced reports whether a request says which tool is to be called.
func forced(q *wire.Request) bool {
	choice := q.Doc.Member(rawjson.Root, "tool_choice")
	if q.Dialect == wire.Anthropic {
		return strings.Contains(strings.ReplaceAll(string(q.Doc.Raw(choice)), " ", ""), `"type":"tool"`)
	}
	return q.Doc.Kind(choice) == rawjson.Object
}

// resends reports whether a client has to send the whole history again with each call, and
// gets one answer: a provider that keeps the history would have calls in it that the client
// never answers.
func resends(q *wire.Request) bool {
	d := q.Doc
	switch q.Dialect {
	case wire.Responses:
		return d.Kind(d.Member(rawjson.Root, "store")) == rawjson.False
	case wire.Chat:
		n := string(d.Raw(d.Member(rawjson.Root, "n")))
		return n == "" || n == "1" || n == "null"
	case wire.Anthropic:
	}
	return true
}

// maxRecalled is how many bytes one result has at most. What is longer comes in pieces: the
// id with "@" and the first byte of the next one.
const maxRecalled = 96 << 10

// Recall implements [Recaller].
func (m *Epochs) Recall(ctx context.Context, input string) string {
	var in struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil || in.ID == "" {
		return "[carrel: the input has no id]"
	}
	id, after, _ := strings.Cut(in.ID, "@")
	from, err := strconv.Atoi(after)
	if after == "" {
		from, err = 0, nil
	}
	if err != nil || from < 0 {
		return "[carrel: the id is followed by no place in what it stands for]"
	}
	ctx, cancel := context.WithTimeout(ctx, m.o.Limit)
	defer cancel()
	res, err := m.o.Engine.Recall(ctx, m.o.Scope, &carrel.RecallRequest{Block: id, Text: true, From: from})
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, carrel.ErrRequest):
		return "[carrel: nothing is known by that id]"
	case err != nil:
		m.o.Logger.WarnContext(ctx, "a recall failed", "reason", err)
		return "[carrel: it could not be recalled now]"
	case !utf8.Valid(res.Data):
		return fmt.Sprintf("[carrel: %d bytes that are no text]", res.Size)
	}
	text := string(res.Data)
	if len(text) <= maxRecalled {
		return text
	}
	n := maxRecalled
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[carrel: bytes %d to %d of %d; the next are recalled by the id %s@%d]", text[:n], from, from+n, res.Size, id, from+n)
}

// Recalled implements [Recaller].
func (m *Epochs) Recalled(ctx context.Context, q *wire.Request, p *Prepared, r *weave.Reply) error {
	t, ok := p.State.(*thread)
	if !ok {
		return nil
	}
	kept := &epoch.Reply{}
	for _, message := range r.Messages {
		kept.Messages = append(kept.Messages, message)
	}
	for _, result := range r.Results {
		kept.Results = append(kept.Results, epoch.Result{Behind: result.Behind, Text: result.Text})
	}
	data, err := kept.Data()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rewrite := carrel.Rewrite{
		Chain: epoch.ReplyChain(q.Dialect, chainOf(q), r.Calls, r.Text), Kind: store.RewriteMessage,
		Epoch: t.book.Epoch(), Messages: len(q.Messages) + 1, Data: data,
	}
	if err = m.keep(ctx, t, rewrite); err != nil {
		err = errors.Join(err, t.add(&rewrite)) // the provider has it
		t.owed = append(t.owed, rewrite)
		m.failed(ctx, t, "keep what was recalled", err)
	}
	return err
}
