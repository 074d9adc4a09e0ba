package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// An agentDoctor describes how the doctor checks one client, such as Codex.
type agentDoctor struct {
	agent *agents.Agent
	calls string // the client's word for the things that call Carrel, such as "hooks"

	// homes returns paths; if one of them exists, the client is in use.
	homes func(j *job.Job) ([]string, error)

	// programs returns, by event, the programs that the settings of a scope make the client call,
	// and the path of these settings. byEvent is empty if there are none.
	programs func(j *job.Job, scope string) (byEvent map[string]string, path string, err error)
	events   []string // events that need a program

	event, input string // the call with which a program is tried

	// waits returns a check that explains why the client does not call the programs yet, or nil.
	waits func(j *job.Job, path string) *doctorCheck
}

// check checks a client: the settings that setup writes, the answer of the program that the client
// calls for a.event, and the number of sessions. It returns nil if the client is not on this
// machine, or if its folder is not known.
func (a *agentDoctor) check(ctx context.Context, d *doctor, c *client) *doctorCheck {
	homes, err := a.homes(d.j)
	if err != nil {
		return nil
	}
	if _, err := exec.LookPath(c.name); err != nil && !slices.ContainsFunc(homes, there) {
		return nil
	}
	modes, err := d.installed(c)
	if err != nil {
		return &doctorCheck{c.name, stateFail, err.Error(), "repair the file: the client cannot read it either"}
	}
	sessions, err := a.sessions(d.j)
	switch {
	case err != nil:
		return &doctorCheck{c.name, stateFail, err.Error(), "give this user the right to read the file"}
	case len(modes) == 0:
		return &doctorCheck{c.name, stateWarn, fmt.Sprintf("%s has neither %s nor server of Carrel", c.title, a.calls), "carrel setup " + c.name + " writes them"}
	}
	for _, scope := range c.scopes {
		if wrong := a.checkPrograms(ctx, d.j, c.name, scope); wrong != nil {
			wrong.Name = c.name
			return wrong
		}
	}
	slices.Sort(modes)
	return &doctorCheck{Name: c.name, State: stateOK, Detail: fmt.Sprintf("%s; %s", out.WordList(modes), out.Count(len(sessions), "session"))}
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sessions returns the sessions that the agent stores.
func (a *agentDoctor) sessions(j *job.Job) (all []agents.Source, err error) {
	folders, err := a.agent.Folders(j.Getenv)
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		found, err := a.agent.Sessions(f)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// checkPrograms calls the programs that the settings of a scope name, and returns the first problem, or
// nil.
func (a *agentDoctor) checkPrograms(ctx context.Context, j *job.Job, client, scope string) *doctorCheck {
	programs, path, err := a.programs(j, scope)
	if err != nil {
		return &doctorCheck{State: stateFail, Detail: err.Error(), Advice: "give this user the right to read the file"}
	}
	if len(programs) == 0 {
		return nil
	}
	for _, event := range a.events {
		if programs[event] == "" {
			return &doctorCheck{State: stateWarn, Detail: "no hook for " + event, Advice: setupCommand(client, scope) + " adds it"}
		}
	}
	program := programs[a.event]
	if c := other(program, client, scope); c != nil {
		return c
	}
	if c := checkAnswer(ctx, program, client, scope, a.event, a.input); c != nil {
		return c
	}
	if a.waits == nil {
		return nil
	}
	return a.waits(j, path)
}

// checkAnswer calls a program as the client would for an event. It returns nil if the program
// answers, and otherwise a failed check with the reason.
func checkAnswer(ctx context.Context, program, client, scope, event, input string) *doctorCheck {
	said, err := answer(ctx, &question{line: input, last: true}, program, "hook", client, event)
	if err == nil && json.Valid([]byte(said)) {
		return nil
	}
	reason := "its answer is not JSON"
	if err != nil {
		reason = err.Error()
	}
	return &doctorCheck{State: stateFail, Detail: program + " does not answer: " + reason, Advice: writesProgram(program, client, scope)}
}

// hooksIn returns the programs that a file with hooks names, by event. It ignores errors, because
// another check reports them.
func hooksIn(h *hookTable, path string) (map[string]string, string, error) {
	data, err := readIfThere(path)
	if err != nil || data == nil {
		return nil, path, nil //nolint:nilerr // see above
	}
	programs, err := h.programs(&settingsText{name: path, data: data})
	if err != nil {
		return nil, path, nil //nolint:nilerr // see above
	}
	return programs, path, nil
}

// names returns the names of the events.
func (h *hookTable) names() []string {
	names := make([]string, len(h.events))
	for i := range h.events {
		names[i] = h.events[i].name
	}
	return names
}
