package proxy

import (
	"context"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
)

// additional is the heading, in a client's prompt for a summary, of the user's own instructions.
const additional = "Additional Instructions:"

// compaction adds a brief of the session to a client's prompt for a summary, or answers the
// prompt with the brief if Answer is set.
func (m *Epochs) compaction(ctx context.Context, t *thread, q *wire.Request, p *Prepared) error {
	last := len(q.Messages) - 1
	if t.book.Has(q.Messages[last].Chain) {
		return nil // the client sends the request again
	}
	node := q.Compaction()
	if node == rawjson.NoNode || last < 1 {
		return nil
	}
	data, err := t.book.WholeUnasked(q)
	if err != nil {
		return err
	}
	in, err := m.Import(ctx, m.o.Scope, &carrel.ImportRequest{Name: t.name, Format: t.format, Data: data, Rewind: true, Compaction: summaryDigest(q, data)})
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
	if message == q.List { // the whole input is one text
		return nil
	}
	var text []byte
	text = append(text, raw[:at.Start-from]...)
	text = rawjson.AppendString(text, withBrief(wire.Text(q.Doc, node), brief.Text))
	text = append(text, raw[at.End-from:]...)
	return m.keep(ctx, t, carrel.Rewrite{Chain: q.Messages[last].Chain, Kind: store.RewriteMessage, Epoch: t.book.Epoch(), Messages: last + 1, Data: text})
}

// withBrief returns the prompt text with the brief below the heading additional, which it adds if
// there is none.
func withBrief(text, brief string) string {
	if at := strings.Index(text, additional); at >= 0 {
		at += len(additional)
		return text[:at] + "\n" + brief + "\n" + strings.TrimPrefix(text[at:], "\n")
	}
	return text + "\n\n" + additional + "\n" + brief
}

// answer returns a brief as the answer to a client's prompt for a summary, in the client's
// dialect. The first line says that no model wrote the summary.
func answer(q *wire.Request, brief string) *Reply {
	text := "[carrel: no model wrote this summary; it is quoted from the conversation]\n" + brief
	if q.Dialect == wire.Anthropic {
		text = "<analysis>\nCarrel answered in place of the model.\n</analysis>\n<summary>\n" + text + "\n</summary>"
	}
	return replyOf(q, text)
}
