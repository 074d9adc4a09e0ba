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

// ToolRecall is the name of the tool that [Epochs] adds to requests with [EpochOptions.Recall].
const ToolRecall = "carrel_recall"

const (
	recallAbout  = "Returns the original text that a note in this conversation replaces, such as [carrel: stashed 31034 bytes, 410 lines as 5c1f09ab] or [carrel 5c1f09ab: paged]. Call it when you need the original to go on; never show its name to the user."
	recallSchema = `{"type":"object","properties":{"id":{"type":"string","description":"the id in the note"}},"required":["id"],"additionalProperties":false}`
)

// recallTools has the definition of the tool in each dialect. The bytes must never change: the
// tools are the beginning of the prefix that a provider caches and binds reasoning to.
var recallTools = map[wire.Dialect][]byte{
	wire.Anthropic: fmt.Appendf(nil, `{"name":%q,"description":%q,"input_schema":%s}`, ToolRecall, recallAbout, recallSchema),
	wire.Chat:      fmt.Appendf(nil, `{"type":"function","function":{"name":%q,"description":%q,"parameters":%s}}`, ToolRecall, recallAbout, recallSchema),
	wire.Responses: fmt.Appendf(nil, `{"type":"function","name":%q,"description":%q,"parameters":%s,"strict":false}`, ToolRecall, recallAbout, recallSchema),
}

// An offer says whether the requests of a conversation have the tool.
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

// offers reports whether to add the tool to a request. The decision is made once for a
// conversation, because a change of the tools would break the whole cached prefix. A
// conversation that had replies before it was managed never gets the tool.
func (m *Epochs) offers(t *thread, q *wire.Request) bool {
	has := false
	for tool := range q.Doc.Children(q.Tools) {
		if name := string(q.Doc.Raw(tool)); strings.Contains(name, `"`+ToolRecall+`"`) {
			return false // the client has a tool of this name
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

// forced reports whether a request forces the model to call a certain tool.
func forced(q *wire.Request) bool {
	choice := q.Doc.Member(rawjson.Root, "tool_choice")
	if q.Dialect == wire.Anthropic {
		return strings.Contains(strings.ReplaceAll(string(q.Doc.Raw(choice)), " ", ""), `"type":"tool"`)
	}
	return q.Doc.Kind(choice) == rawjson.Object
}

// resends reports whether the client sends the whole history with each call and gets one
// answer. A provider that stores the history would store calls of the tool, which the client
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

// maxRecalled is the most bytes of one result. A longer original comes in pieces: the model asks
// for the next one by the id, "@" and the offset of its first byte.
const maxRecalled = 96 << 10

// Recall implements [Recaller].
func (m *Epochs) Recall(ctx context.Context, input string) string {
	var in struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil || in.ID == "" {
		return "[carrel: the input has no id; give {\"id\": \"...\"} with the id in the note]"
	}
	id, after, _ := strings.Cut(in.ID, "@")
	from, err := strconv.Atoi(after)
	if after == "" {
		from, err = 0, nil
	}
	if err != nil || from < 0 {
		return "[carrel: write an offset in bytes behind the id and @, such as 5c1f09ab@98304]"
	}
	ctx, cancel := context.WithTimeout(ctx, m.o.Limit)
	defer cancel()
	res, err := m.o.Engine.Recall(ctx, m.o.Scope, &carrel.RecallRequest{Block: id, Text: true, From: from})
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, carrel.ErrRequest):
		return "[carrel: no original has that id; copy the id from the note]"
	case err != nil:
		m.o.Logger.WarnContext(ctx, "a recall failed", "reason", err)
		return "[carrel: the original could not be read now; try again later]"
	case !utf8.Valid(res.Data):
		return fmt.Sprintf("[carrel: the original is not text; it has %d bytes]", res.Size)
	}
	text := string(res.Data)
	if len(text) <= maxRecalled {
		return text
	}
	n := maxRecalled
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[carrel: bytes %d to %d of %d; for the next bytes use the id %s@%d]", text[:n], from, from+n, res.Size, id, from+n)
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
		err = errors.Join(err, t.add(&rewrite)) // the provider has the messages already
		t.owed = append(t.owed, rewrite)
		m.failed(ctx, t, "keep what was recalled", err)
	}
	return err
}
