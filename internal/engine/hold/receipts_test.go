package hold

import (
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// Sub-agents are counted by the calls that start them, in earlier windows too, and those that
// have receipts by the first receipt of each.
func TestSubAgentsAreCounted(t *testing.T) {
	calls := func(names ...string) []transcript.Message {
		m := transcript.Message{Role: transcript.RoleAssistant}
		for _, name := range names {
			m.Parts = append(m.Parts, transcript.ToolCall{Name: name})
		}
		return []transcript.Message{m}
	}
	if got := subAgents(&transcript.Session{Messages: calls("Task", "Bash", "Agent"), Earlier: [][]transcript.Message{calls("Task")}}); got != 3 {
		t.Errorf("%d sub-agents, want 3", got)
	}
	if got := sideThreads([]transcript.Receipt{{Side: true, After: -1}, {Side: true}, {After: -1}, {Side: true, After: -1}}); got != 2 {
		t.Errorf("%d threads of sub-agents, want 2", got)
	}
}
