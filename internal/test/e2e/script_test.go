package e2e

import (
	"regexp"
	"strings"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// A window of compactWindow tokens is the smallest that the agent can be told to keep
// to, and tooMany is a length of a request at which it then compacts the conversation
// by itself. It must be little above the agent's threshold, which is 67,000: if more
// than the threshold is said to be there before the conversation begins, the agent
// finds that no compaction helps.
const (
	compactWindow = 100_000
	tooMany       = 67_200
)

// step is a step of the conversation.
func step(name string, blocks ...upstream.Block) upstream.Step {
	return upstream.Step{Name: name, Reply: upstream.Say(blocks...)}
}

// bash is a call that runs a command.
func bash(command string) upstream.Block {
	return upstream.Call{Name: "Bash", Input: map[string]any{"command": command}}
}

// use is a step in which the model calls a tool of Carrel's.
func use(name string, input func(*upstream.Request) any) upstream.Step {
	return upstream.Step{Name: name, Make: func(r *upstream.Request) upstream.Reply {
		return upstream.Say(upstream.Call{Name: toolName(r, name), Input: input(r)})
	}}
}

// load is a step in which the model has tools of Carrel's shown: the agent hides what
// parameters they have until it is asked.
func load(names ...string) upstream.Step {
	return upstream.Step{Name: "load", Make: func(r *upstream.Request) upstream.Reply {
		full := make([]string, len(names))
		for i, name := range names {
			full[i] = toolName(r, name)
		}
		return upstream.Say(upstream.Thinking("I need a tool."), upstream.Call{
			Name: "ToolSearch", Input: map[string]any{"query": "select:" + strings.Join(full, ",")},
		})
	}}
}

// toolName returns the name that the agent gives a tool of Carrel's.
func toolName(r *upstream.Request, name string) string {
	full := regexp.MustCompile(`\bmcp__\w*carrel__` + name + `\b`)
	for _, text := range append(r.Tools(), r.Texts()...) {
		if found := full.FindString(text); found != "" {
			return found
		}
	}
	return name
}
