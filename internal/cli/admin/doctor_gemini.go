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

// checkGemini says how Carrel stands with Gemini CLI: what setup has written, whether the hooks
// answer, and how many sessions there are.
func checkGemini(ctx context.Context, d *doctor) *doctorCheck {
	const name, advice = "gemini", "carrel setup gemini writes them"
	home, err := agents.GeminiHome(d.j.Getenv)
	if err != nil {
		return nil
	}
	if _, err := exec.LookPath("gemini"); err != nil {
		if _, err := os.Stat(home); err != nil {
			return nil
		}
	}
	modes, err := d.installed(geminiClient())
	if err != nil {
		return &doctorCheck{name, stateFail, err.Error(), "repair the file: the client cannot read it either"}
	}
	sessions, err := agents.Gemini.Sessions(filepath.Join(home, "tmp"))
	switch {
	case err != nil:
		return &doctorCheck{name, stateFail, err.Error(), "let this user read it"}
	case len(modes) == 0:
		return &doctorCheck{name, stateWarn, "Gemini CLI has neither hooks nor server of Carrel", advice}
	}
	if slices.Contains(modes, modeHooks) {
		if c := d.geminiHooks(ctx); c != nil {
			c.Name = name
			return c
		}
	}
	slices.Sort(modes)
	return &doctorCheck{Name: name, State: stateOK, Detail: fmt.Sprintf("%s; %s", out.Among(modes), out.Count(len(sessions), "session"))}
}

// geminiHooks says what is wrong with the hooks of Gemini CLI, or nil.
func (d *doctor) geminiHooks(ctx context.Context) *doctorCheck {
	for _, scope := range geminiClient().scopes {
		dir, err := geminiFolder(d.j, scope)
		if err != nil {
			return &doctorCheck{State: stateFail, Detail: err.Error()}
		}
		path := filepath.Join(dir, "settings.json")
		data, err := readIfThere(path)
		if err != nil || data == nil {
			continue // installed has read it
		}
		programs, err := geminiHooks().programs(&settingsText{name: path, data: data})
		if err != nil || len(programs) == 0 {
			continue
		}
		for _, e := range geminiHooks().events {
			if programs[e.name] == "" {
				return &doctorCheck{State: stateWarn, Detail: "no hook for " + e.name, Advice: "carrel setup gemini writes it"}
			}
		}
		program := programs["BeforeAgent"]
		if c := other(program); c != nil {
			c.Advice = strings.Replace(c.Advice, "setup claude", "setup gemini", 1)
			return c
		}
		said, err := answer(ctx, &question{line: `{"prompt":"x"}`, last: true}, program, "hook", "gemini", "BeforeAgent")
		if err != nil || !json.Valid([]byte(said)) {
			return &doctorCheck{State: stateFail, Detail: fmt.Sprintf("%s does not answer: %v", program, err), Advice: "carrel setup gemini writes where it is now"}
		}
	}
	return nil
}
