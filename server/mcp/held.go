package mcp

import (
	"fmt"

	"github.com/carrel-dev/carrel/token"
)

// held tells a model what the window of a session is that Carrel holds, and what it is
// not: no tool changes what a client sends. The hooks, the brief and an exported session
// do.
const held = "What Carrel holds is not what your client sends. Your requests become smaller by the hooks, which shorten large results before you see them, by your client's own compaction, which Carrel briefs, or if the person exports this session (carrel export) and resumes the copy. What left can be recalled."

// unchanged is what a tool adds that changed the window that Carrel holds.
const unchanged = "Your requests stay as large as they are. " + held

// sent says how many tokens a client sends with a request, if that is known.
func sent(n token.Count) string {
	if n == 0 {
		return "how much your client sends is not known"
	}
	return fmt.Sprintf("your client sent %d tokens with its newest request", n)
}
