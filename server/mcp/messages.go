package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

type messagesArgs struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session or the beginning of one; your own by default"`
	Limit   int    `json:"limit,omitempty" jsonschema:"most messages to return; 100 by default"`
	After   string `json:"after,omitempty" jsonschema:"begin after this id: next of the previous answer"`
}

type messagesResult struct {
	Session  transcript.SessionID `json:"session"`
	Sent     token.Count          `json:"sent,omitempty"`   // tokens of the client's newest request; 0 if unknown
	Total    token.Count          `json:"total_est_tokens"` // in the window that Carrel holds
	Target   token.Count          `json:"target_tokens"`
	Floor    token.Count          `json:"floor_tokens"`
	Figures  pager.Figures        `json:"figures"`
	Count    int                  `json:"count"`             // of all messages in the list
	Earlier  int                  `json:"earlier,omitempty"` // messages before a compaction by the client: not in the list
	Messages []message            `json:"messages"`
	Next     string               `json:"next,omitempty"`
}

// A message is a block of the session in the list.
type message struct {
	ShortID     string          `json:"short_id"`
	Turn        int             `json:"turn"`
	Kind        transcript.Kind `json:"kind"`
	State       store.State     `json:"state"`
	Tokens      token.Count     `json:"est_tokens"` // size of the original
	Window      token.Count     `json:"window"`     // size in the window now
	Discardable bool            `json:"discardable"`
	Class       pager.Disposal  `json:"class,omitempty"`
	Priority    int             `json:"priority,omitempty"` // order of discarding: 1 is first
	Kept        string          `json:"kept,omitempty"`     // why it may not be discarded
	Pinned      bool            `json:"pinned,omitempty"`
	Preview     string          `json:"preview"`
}

func getMessages() registrar {
	return &toolOf[messagesArgs, messagesResult]{
		Tool:  Tool{"get_messages", []*ops.Operation{&ops.Messages.Operation}},
		title: "List messages",
		about: "List the messages of a session: for each its short_id, its tokens in the window that Carrel holds, a preview, and whether it may be discarded.",
		bound: func(p map[string]*jsonschema.Schema) {
			p["limit"].Minimum, p["limit"].Maximum = new(1.0), new(float64(api.MaxLimit))
		},
		run: func(ctx context.Context, c *call, in *messagesArgs) (*reply[messagesResult], error) {
			id, err := c.session(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			all, err := c.Messages(ctx, c.scope, &carrel.MessagesRequest{Session: id})
			if err != nil {
				return nil, err
			}
			return listMessages(all, in)
		},
	}
}

// listMessages returns the part of a list that the arguments ask for.
func listMessages(all *carrel.MessagesResult, in *messagesArgs) (*reply[messagesResult], error) {
	blocks := all.Messages[min(all.Earlier, len(all.Messages)):]
	from := 0
	if in.After != "" {
		is := func(b carrel.BlockInfo) bool { return strings.HasPrefix(string(b.ID), in.After) }
		at := slices.IndexFunc(blocks, is)
		if at < 0 {
			return nil, fmt.Errorf("message %s: %w", in.After, store.ErrNotFound)
		}
		if slices.ContainsFunc(blocks[at+1:], is) {
			return nil, fmt.Errorf("message %s: %w", in.After, carrel.ErrAmbiguous)
		}
		from = at + 1
	}
	limit := in.Limit
	if limit <= 0 {
		limit = api.DefaultLimit
	}
	to := min(from+limit, len(blocks))
	out := &messagesResult{
		Session: all.Session, Sent: all.Sent, Total: all.Total, Target: all.Target, Floor: all.Floor, Figures: all.Figures,
		Count: len(blocks), Earlier: all.Earlier, Messages: []message{},
	}
	var text strings.Builder
	fmt.Fprintf(&text, "session %s: %s; Carrel holds a window of %d tokens, target %d, floor %d; messages %d to %d of %d",
		all.Session, sent(all.Sent), all.Total, all.Target, all.Floor, min(from+1, to), to, len(blocks))
	text.WriteString("; " + measured("the window", all.Total, &all.Figures))
	if all.Earlier > 0 {
		fmt.Fprintf(&text, "; %d more are from windows before a compaction: use search and recall for them", all.Earlier)
	}
	for i := range blocks[from:to] {
		m := newMessage(&blocks[from+i])
		out.Messages = append(out.Messages, m)
		text.WriteString("\n" + m.line())
	}
	if to < len(blocks) {
		out.Next = string(blocks[to-1].ID)
		fmt.Fprintf(&text, "\nnext: after=%s", out.Next)
	}
	return &reply[messagesResult]{text: []string{text.String()}, out: out}, nil
}

func newMessage(b *carrel.BlockInfo) message {
	return message{
		ShortID: b.ShortID, Turn: b.Turn, Kind: b.Kind, State: b.State, Tokens: b.Tokens, Window: b.Window,
		Discardable: b.Discardable, Class: b.Class, Priority: b.Priority, Kept: b.Kept, Pinned: b.Pinned, Preview: b.Preview,
	}
}

// line returns a message as a line that begins with its id.
func (m *message) line() string {
	standing := "kept: " + m.Kept
	if m.Discardable {
		standing = fmt.Sprintf("may go: %s, %d", m.Class, m.Priority)
	}
	return fmt.Sprintf("%s  turn %d  %s  %s  %d tokens  (%s)  %s", m.ShortID, m.Turn, m.Kind, m.State, m.Window, standing, m.Preview)
}
