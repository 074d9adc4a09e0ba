package mcp

import (
	"context"
	"fmt"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// held tells a model that the window of a session in Carrel is not the client's request: no tool
// makes requests smaller. Hooks, briefs and exported sessions do.
const held = "What Carrel holds is not what your client sends. Your requests become smaller by the hooks, which shorten large results before you see them, by your client's own compaction, which Carrel briefs, or if the person exports this session (carrel export) and resumes the copy. What left can be recalled."

// unchanged is the note of a tool that changed the window in Carrel.
const unchanged = "Your requests stay as large as they are. " + held

// managed is the note in place of held and unchanged if a proxy sends the window in Carrel.
const managed = "Your requests go through Carrel's proxy, which sends this window in place of the older messages: what you compress, discard or pin counts from the next epoch on, which begins when the budget is reached, or when the provider's cache has gone cold. What left can be recalled."

// note returns the text managed if a proxy sends the session's window, and otherwise the
// text in the argument otherwise.
func (c *call) note(ctx context.Context, id transcript.SessionID, otherwise string) (string, error) {
	list, err := c.Calls(ctx, c.scope, &carrel.CallsRequest{Session: id, Cursor: carrel.Cursor{Limit: 1}})
	if err != nil || len(list.Items) == 0 || !list.Items[0].Managed {
		return otherwise, err
	}
	return managed, nil
}

// sent returns a clause about the tokens of the client's newest request. If n is 0, it says that
// they are not known.
func sent(n token.Count) string {
	if n == 0 {
		return "how much your client sends is not known"
	}
	return fmt.Sprintf("your client sent %d tokens with its newest request", n)
}
