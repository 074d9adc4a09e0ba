package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
)

// shrink replaces results that are large and were never sent by pointers to the stash. It
// returns the number of changed messages. A result that cannot be stashed stays as it came.
func (m *Epochs) shrink(ctx context.Context, t *thread, q *wire.Request) (changed int, err error) {
	from := epoch.Fresh(q, func(chain digest.Digest) bool { return slices.Contains(t.sent, chain) })
	outputs := epoch.Outputs(q, from, m.o.Large)
	var failed []error
	for len(outputs) > 0 {
		n := 1
		for n < len(outputs) && outputs[n].Message == outputs[0].Message {
			n++
		}
		did, err := m.shrinkMessage(ctx, t, q, outputs[:n])
		failed = append(failed, err)
		if did {
			changed++
		}
		outputs = outputs[n:]
	}
	return changed, errors.Join(failed...)
}

// shrinkMessage replaces outputs, all of one message, by pointers. It reports whether it
// changed the message.
func (m *Epochs) shrinkMessage(ctx context.Context, t *thread, q *wire.Request, outputs []epoch.Output) (bool, error) {
	at := outputs[0].Message
	chain := q.Messages[at].Chain
	if t.book.Has(chain) {
		return false, nil
	}
	texts := make([]string, len(outputs))
	var failed []error
	some := false
	for i := range outputs {
		var err error
		texts[i], err = m.pointer(ctx, t, q, &outputs[i])
		failed = append(failed, err)
		some = some || texts[i] != ""
	}
	if some {
		r := carrel.Rewrite{Chain: chain, Kind: store.RewriteMessage, Epoch: t.book.Epoch(), Messages: at + 1, Data: epoch.Replace(q, outputs, texts)}
		err := m.keep(ctx, t, r)
		if err != nil {
			r.Data = slices.Clone(q.Doc.Raw(q.Messages[at].Node))
			t.owed = append(t.owed, r)
		}
		failed = append(failed, err)
		some = err == nil
	}
	return some, errors.Join(failed...)
}

// pointer stashes an output and returns the pointer to it. It returns "" if the pointer is no
// shorter, or if the output is itself something recalled from Carrel.
func (m *Epochs) pointer(ctx context.Context, t *thread, q *wire.Request, o *epoch.Output) (string, error) {
	if tool.Recalls(o.Call) {
		return "", nil
	}
	res, err := m.o.Engine.Stash(ctx, m.o.Scope, &carrel.StashRequest{
		Content: []byte(o.Text), Title: tool.Label(o.Call), Source: o.Call.Name, Tool: o.Call.Name, Input: o.Call.Input,
		History: [][]byte{recent(q, o.Message)}, Format: t.format, Tokens: m.o.Pointer, AllowSecrets: m.o.Secrets,
	})
	switch {
	case err != nil:
		return "", err
	case res.Bytes != int64(len(o.Text)) || res.ID == "":
		return "", fmt.Errorf("the stash has %d bytes, but the result has %d", res.Bytes, len(o.Text))
	case len(res.Pointer) >= len(o.Text):
		return "", nil
	}
	m.count(&m.status.Shrunk)
	return res.Pointer, nil
}

// mostRecent is the number of bytes at which no further message is given to Stash, which selects
// the lines of a pointer by them. The last message may exceed it.
const mostRecent = 512 << 10

// recent returns a request body with the first message of q and with the messages before the
// one at index before. Of these it has only the last ones, about mostRecent bytes.
func recent(q *wire.Request, before int) []byte {
	from, size := before, 0
	for from > 1 && size < mostRecent {
		from--
		size += len(q.Doc.Raw(q.Messages[from].Node))
	}
	var list [][]byte
	for i := range before {
		if i == 0 || i >= from {
			list = append(list, q.Doc.Raw(q.Messages[i].Node))
		}
	}
	return bodyOf(q.Dialect, bytes.Join(list, []byte(",")))
}

func bodyOf(d wire.Dialect, messages []byte) []byte {
	key := "messages"
	if d == wire.Responses {
		key = "input"
	}
	return fmt.Appendf(nil, `{%q:[%s]}`, key, messages)
}

// newEpoch makes a head, and uses it if the resulting request passes the provider's rules. The
// head replaces all messages or, if the request ends in results of the last reply's calls, the
// messages before these results.
func (m *Epochs) newEpoch(ctx context.Context, t *thread, q *wire.Request, z epoch.Size, limits *epoch.Limits) error {
	n := epoch.Covers(q)
	data, err := t.book.Whole(q, n)
	if err != nil {
		return err
	}
	limit := m.o.HeadLimit
	if until, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(until)*9/10) //nolint:forbidigo // deadlines are of that clock
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t.storing.Lock()
	defer t.storing.Unlock()
	req := &carrel.NewEpochRequest{
		Name: t.name, Format: t.format, Data: data, Window: m.o.Window, Chain: q.Messages[n-1].Chain, Epoch: t.book.Epoch() + 1,
		Compaction: summaryDigest(q, data),
		Target:     carrel.Target{Tokens: t.room(limits, z)},
	}
	res, err := m.o.Engine.NewEpoch(ctx, m.o.Scope, req)
	if floor, ok := carrel.Floor(err); ok {
		req.Target.Tokens = floor.Need
		res, err = m.o.Engine.NewEpoch(ctx, m.o.Scope, req)
	}
	head := carrel.Rewrite{Chain: req.Chain, Kind: store.RewriteHead, Epoch: req.Epoch, Messages: n}
	if err == nil {
		head.Data = res.Head
		err = m.valid(t, q, &head)
	}
	if err == nil {
		return t.add(&head)
	}
	if !isDecided(err) { // the head may be in the store
		head.Data = t.book.Plan(q).List(q, n)
		t.owed = append(t.owed, head)
	}
	return err
}

// room returns the size of the window to make a head for, including system text and tools (the
// frame). It is the target less the new messages, which follow the head. But it is at least the
// frame plus a tenth of the budget, and at least the frame plus a quarter of the budget that
// the frame and the new messages leave, because a head needs room for the user's messages.
func (t *thread) room(limits *epoch.Limits, z epoch.Size) token.Count {
	budget := t.gauge.Bound(limits.Budget)
	return max(t.gauge.Bound(limits.Target)-z.Fresh, z.Frame+(budget-z.Frame-z.Fresh)/4, z.Frame+budget/10)
}

// isDecided reports whether err means for certain that the store has no new head.
func isDecided(err error) bool {
	return errors.Is(err, carrel.ErrBudget) || errors.Is(err, carrel.ErrPolicy) || errors.Is(err, carrel.ErrRequest)
}

// valid returns an error if the provider would refuse the request with the head in place. It
// ignores rules that the client's own request violates, too.
func (m *Epochs) valid(t *thread, q *wire.Request, head *carrel.Rewrite) error {
	book := epoch.NewBook(q.Dialect)
	err := book.Add(&epoch.Rewrite{Chain: head.Chain, Kind: epoch.Head, Epoch: head.Epoch, Messages: head.Messages, Data: head.Data})
	if err != nil {
		return err
	}
	own := *q
	own.Doc = new(rawjson.Document)
	if err := own.Doc.Read(q.Doc.Raw(rawjson.Root)); err != nil {
		return err
	}
	book.Plan(&own).Edit(&own)
	goes := bytes.Join(own.Doc.Segments(), nil)
	_, bad, err := carrel.Validate(t.format, goes)
	if err != nil {
		return err
	}
	if err := m.checkEnd(q, head, goes); err != nil || len(bad) == 0 {
		return err
	}
	_, before, err := carrel.Validate(t.format, q.Doc.Raw(rawjson.Root))
	if err != nil {
		return err
	}
	for _, v := range bad {
		if !slices.ContainsFunc(before, func(b transcript.Violation) bool { return b.Rule == v.Rule }) {
			return fmt.Errorf("%w: %s at %s: %s", carrel.ErrInvalid, v.Rule, v.Field, v.Text)
		}
	}
	return nil
}

// checkEnd returns an error unless the last message of the head has the same role as the last
// message that the head replaces. If it has not, the head lacks the newest message.
func (m *Epochs) checkEnd(q *wire.Request, head *carrel.Rewrite, goes []byte) error {
	var doc rawjson.Document
	var sent wire.Request
	if err := doc.Read(goes); err != nil {
		return err
	}
	if err := sent.Read(q.Dialect, q.Kind, nil, &doc); err != nil {
		return err
	}
	last := len(sent.Messages) - len(q.Messages) + head.Messages - 1
	if last < 0 || sent.Messages[last].Role != q.Messages[head.Messages-1].Role {
		return errors.New("the head lacks the newest message of those that it replaces")
	}
	return nil
}

// refusals are parts, in lower case, of the error texts of providers that refuse a body for a
// reason that managing can cause.
var refusals = []string{
	"in `thinking` block", "in thinking block", "in `redacted_thinking` block", "bound to a different conversation", "thinking blocks in the latest", "`thinking`",
	"tool_use", "tool_result", "server_tool", "text content blocks must be non-empty", "must have non-empty content", "cache_control", "first message must use",
	"role 'system'", "prefill", "roles must alternate", "too long", "too large", "exceed", "context_length", "context length", "context window",
	"no tool output found", "no tool call found", "'reasoning' item", "tool_call_id", "tool_calls", "encrypted",
	ToolRecall, "tools.", "'tools",
}

// Refused implements [Manager].
func (m *Epochs) Refused(ctx context.Context, q *wire.Request, p *Prepared, status int, body []byte) (*Prepared, error) {
	t, ok := p.State.(*thread)
	if !ok || p.Body == nil || !caused(status, body) {
		return nil, nil //nolint:nilnil // the refusal passes
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.stopped {
		m.count(&m.status.Stopped)
	}
	t.stopped = true
	m.o.Logger.ErrorContext(ctx, "the provider refused a managed call: the conversation is no longer managed", "session", t.session, "status", status)
	if err := q.Doc.Read(q.Doc.Raw(rawjson.Root)); err != nil { // reading again drops the edits
		return nil, err
	}
	next := &Prepared{Reason: "stopped", State: t, Sent: chainOf(q)}
	data := messageList(q)
	if q.Dialect == wire.Anthropic && anthropic.BindsThinking(q.Model) {
		data = epoch.Bare(q, t.book, p.Recall)
	}
	err := m.keep(ctx, t, carrel.Rewrite{Chain: next.Sent, Kind: store.RewriteHead, Epoch: epoch.Ended, Messages: len(q.Messages), Data: data})
	if err != nil {
		m.failed(ctx, t, "keep what goes out after a refusal", err)
		return next, nil // the request goes as it came
	}
	m.send(q, next, t.book.Plan(q))
	return next, nil
}

// messageList returns the messages of a request as a JSON list.
func messageList(q *wire.Request) []byte {
	if q.Doc.Kind(q.List) == rawjson.Array {
		return q.Doc.Raw(q.List)
	}
	return fmt.Appendf(nil, `[{"role":"user","content":%s}]`, q.Doc.Raw(q.List))
}

// caused reports whether managing could have caused a refusal with this status and body.
func caused(status int, body []byte) bool {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		text := strings.ToLower(string(body))
		return slices.ContainsFunc(refusals, func(s string) bool { return strings.Contains(text, s) })
	}
	return false
}
