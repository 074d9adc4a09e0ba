package binding

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/transcript"
	threads "github.com/carrel-dev/carrel/transcript/codex"
)

// Keys in _meta under which Codex sends the ids of a call and of its thread. Each thread has a
// transcript. One process of Codex may have many threads at once, including those of sub-agents.
const (
	codexCall   = "callId"
	codexThread = "threadId"
	codexTree   = "sessionId" // shared by the threads of sub-agents
	codexTurn   = "x-codex-turn-metadata"
)

// codex returns the session that Codex sends with a call, in the form of version 0.169.0.
func codex(getenv func(string) string, meta Meta) *ClientSession {
	id, _ := meta[codexThread].(string)
	if _, ok := meta[codexTurn]; !ok || id == "" || strings.ContainsAny(id, `/\*?[`) {
		return nil
	}
	session := transcript.SessionID(id)
	if root, _ := meta[codexTree].(string); root != "" && root != id {
		session = threads.SubAgent(root, id)
	}
	return &ClientSession{Session: session, Format: agents.Codex.Format, OfCall: true, Find: func() string {
		home, err := agents.CodexHome(getenv)
		if err != nil {
			return ""
		}
		return agents.RolloutOf(home, id)
	}}
}
