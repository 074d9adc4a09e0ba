package proxy

import (
	"context"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// additional is the part of a client's request for a summary that has the user's own words
// for it.
const additional = "Additional Instructions:"

// compaction adds to a client's request for a summary what must survive, or answers it.
func (m *Epochs) compaction(ctx context.Context, t *thread, q *wire.Request, p *Prepared) error {
	last := len(q.Messages) - 1
	if t.book.Has(q.Messages[last].Chain) {
		return nil // it is sent again
	}
	node := q.Compaction()
	if node == rawjson.NoNode || last < 1 {
		return nil
	}
	data, err := t.book.WholeUnasked(q)
	if err != nil {
		return err
	}
	in, err := m.Import(ctx, m.o.Scope, &carrel.ImportRequest{Name: t.name, Format: t.format, Data: data, Rewind: true, Compaction: left(q, data)})
	if err != nil {
		return err
	}
	brief, err := m.o.Engine.Brief(ctx, m.o.Scope, &carrel.BriefRequest{Session: in.Session, Tokens: m.o.Brief, For: carrel.PurposeCompaction})
	if err != nil || brief.Text == "" {
		return err
	}
	if m.o.Answer {
		p.Reply, p.Reason = answer(q, brief.Text), "answered"
		m.count(&m.status.Answered)
		return nil
	}
	message := q.Messages[last].Node
	at, from := q.Doc.Span(node), q.Doc.Span(message).Start
	raw := q.Doc.Raw(message)
	if message == q.List { // one text is all of the input
		return nil
	}
	var text []byte
	text = append(text, raw[:at.Start-from]...)
	text = rawjson.AppendString(text, withBrief(wire.Text(q.Doc, node), brief.Text))
	text = append(text, raw[at.End-from:]...)
	return m.keep(ctx, t, carrel.Rewrite{Chain: q.Messages[last].Chain, Kind: store.RewriteMessage, Epoch: t.book.Epoch(), Messages: last + 1, Data: text})
}

// withBrief returns a request for a summary with a brief among its additional instructions.
func withBrief(text, brief string) string {
	if at := strings.Index(text, additional); at >= 0 {
		at += len(additional)
		return text[:at] + "\n" + brief + "\n" + strings.TrimPrefix(text[at:], "\n")
	}
	return text + "\n\n" + additional + "\n" + brief
}

// answer answers a request for a summary, in the dialect of the client. The text says in its
// first line who wrote it.
func answer(q *wire.Request, brief string) *Reply {
	text := "[carrel: no model wrote this summary; it is quoted from the conversation]\n" + brief
	if q.Dialect == wire.Anthropic {
		text = "<analysis>\nCarrel answered in place of the model.\n</analysis>\n<summary>\n" + text + "\n</summary>"
	}
	return replyOf(q, text)
}
