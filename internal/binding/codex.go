package binding

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/transcript"
	threads "github.com/carrel-dev/carrel/transcript/codex"
)

// The members of _meta by which Codex says which call a call is, and in which thread it is. It
// has a transcript for each thread. A program of Codex may have many of them at once: those of
// sub-agents, too.
const (
	codexCall   = "callId"
	codexThread = "threadId"
	codexTree   = "sessionId" // with the threads of sub-agents
	codexTurn   = "x-codex-turn-metadata"
)

// codex returns what Codex says with a call, as version 0.169.0 says it.
func codex(getenv func(string) string, meta Meta) *Said {
	id, _ := meta[codexThread].(string)
	if _, ok := meta[codexTurn]; !ok || id == "" || strings.ContainsAny(id, `/\*?[`) {
		return nil
	}
	session := transcript.SessionID(id)
	if root, _ := meta[codexTree].(string); root != "" && root != id {
		session = threads.SubAgent(root, id)
	}
	return &Said{Session: session, Format: agents.Codex.Format, OfCall: true, Find: func() string {
		home, err := agents.CodexHome(getenv)
		if err != nil {
			return ""
		}
		return agents.RolloutOf(home, id)
	}}
}
