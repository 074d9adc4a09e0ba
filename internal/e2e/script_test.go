package e2e

import (
	"regexp"
	"strings"

	"github.com/carrel-dev/carrel/internal/fakeupstream"
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
func step(name string, blocks ...fakeupstream.Block) fakeupstream.Step {
	return fakeupstream.Step{Name: name, Reply: fakeupstream.Say(blocks...)}
}

// bash is a call that runs a command.
func bash(command string) fakeupstream.Block {
	return fakeupstream.Call{Name: "Bash", Input: map[string]any{"command": command}}
}

// use is a step in which the model calls a tool of Carrel's.
func use(name string, input func(*fakeupstream.Request) any) fakeupstream.Step {
	return fakeupstream.Step{Name: name, Make: func(r *fakeupstream.Request) fakeupstream.Reply {
		return fakeupstream.Say(fakeupstream.Call{Name: toolName(r, name), Input: input(r)})
	}}
}

// load is a step in which the model has tools of Carrel's shown: the agent hides what
// parameters they have until it is asked.
func load(names ...string) fakeupstream.Step {
	return fakeupstream.Step{Name: "load", Make: func(r *fakeupstream.Request) fakeupstream.Reply {
		full := make([]string, len(names))
		for i, name := range names {
			full[i] = toolName(r, name)
		}
		return fakeupstream.Say(fakeupstream.Thinking("I need a tool."), fakeupstream.Call{
			Name: "ToolSearch", Input: map[string]any{"query": "select:" + strings.Join(full, ",")},
		})
	}}
}

// toolName returns the name that the agent gives a tool of Carrel's.
func toolName(r *fakeupstream.Request, name string) string {
	full := regexp.MustCompile(`\bmcp__\w*carrel__` + name + `\b`)
	for _, text := range append(r.Tools(), r.Texts()...) {
		if found := full.FindString(text); found != "" {
			return found
		}
	}
	return name
}
