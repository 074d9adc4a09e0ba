package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// checkOpenCode says how Carrel stands with OpenCode: what setup has written, whether the program
// of the plug-in answers, and how many sessions the database has.
func checkOpenCode(ctx context.Context, d *doctor) *doctorCheck {
	const name = "opencode"
	settings, err := openCodePath(d.j, "user")
	if err != nil {
		return nil
	}
	folders, err := agents.OpenCode.Folders(d.j.Getenv)
	if err != nil {
		return nil
	}
	if _, err := exec.LookPath(name); err != nil {
		_, noSettings := os.Stat(filepath.Dir(settings))
		_, noSessions := os.Stat(folders[0])
		if noSettings != nil && noSessions != nil {
			return nil
		}
	}
	modes, err := d.installed(openCodeClient())
	if err != nil {
		return &doctorCheck{name, stateFail, err.Error(), "repair the file: the client cannot read it either"}
	}
	sessions, err := sessionsOf(agents.OpenCode, d.j.Getenv)
	switch {
	case err != nil:
		return &doctorCheck{name, stateFail, err.Error(), "let this user read it"}
	case len(modes) == 0:
		return &doctorCheck{name, stateWarn, "OpenCode has neither plug-in nor server of Carrel", "carrel setup opencode writes them"}
	}
	if c := d.openCodePlugins(ctx); c != nil {
		c.Name = name
		return c
	}
	slices.Sort(modes)
	return &doctorCheck{Name: name, State: stateOK, Detail: fmt.Sprintf("%s; %s", out.Among(modes), out.Count(len(sessions), "session"))}
}

// openCodePlugins says what is wrong with the programs that plug-ins of Carrel call, or nil.
func (d *doctor) openCodePlugins(ctx context.Context) *doctorCheck {
	for _, scope := range openCodeClient().scopes {
		path, err := openCodePath(d.j, scope)
		if err != nil {
			return &doctorCheck{State: stateFail, Detail: err.Error()}
		}
		data, err := readIfThere(openCodePluginPath(path, scope))
		if err != nil {
			return &doctorCheck{State: stateFail, Detail: err.Error(), Advice: "let this user read it"}
		}
		program := pluginProgram(data)
		if program == "" {
			continue
		}
		if c := other(program); c != nil {
			c.Advice = strings.Replace(c.Advice, "setup claude", "setup opencode", 1)
			return c
		}
		said, err := answer(ctx, &question{line: `{}`, last: true}, program, "hook", "opencode", "session.start")
		if err != nil || !json.Valid([]byte(said)) {
			return &doctorCheck{State: stateFail, Detail: fmt.Sprintf("%s does not answer: %v", program, err), Advice: "carrel setup opencode writes where it is now"}
		}
	}
	return nil
}
