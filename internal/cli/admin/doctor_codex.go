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

	"github.com/pelletier/go-toml/v2"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

// checkCodex says how Carrel stands with Codex: what setup has written, whether the person has
// trusted the hooks, whether they answer, and how many sessions there are.
func checkCodex(ctx context.Context, d *doctor) *doctorCheck {
	const advice = "carrel setup codex writes them"
	fail := func(err error, advice string) *doctorCheck {
		return &doctorCheck{"codex", stateFail, err.Error(), advice}
	}
	home, err := agents.CodexHome(d.j.Getenv)
	if err != nil {
		return nil
	}
	if _, err := exec.LookPath("codex"); err != nil {
		if _, err := os.Stat(home); err != nil {
			return nil
		}
	}
	modes, err := d.installed(codexClient())
	if err != nil {
		return fail(err, "repair the file: the client cannot read it either")
	}
	sessions, err := sessionsOf(agents.Codex, d.j.Getenv)
	switch {
	case err != nil:
		return fail(err, "let this user read it")
	case len(modes) == 0:
		return &doctorCheck{"codex", stateWarn, "Codex has neither hooks nor server of Carrel", advice}
	}
	if slices.Contains(modes, modeHooks) {
		if c := d.codexHooks(ctx); c != nil {
			return c
		}
	}
	slices.Sort(modes)
	return &doctorCheck{Name: "codex", State: stateOK, Detail: fmt.Sprintf("%s; %s", out.Among(modes), out.Count(len(sessions), "session"))}
}

// sessionsOf returns the sessions that an agent keeps.
func sessionsOf(a *agents.Agent, env agents.Getenv) (all []agents.Source, err error) {
	folders, err := a.Folders(env)
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		found, err := a.Sessions(f)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// codexHooks says what is wrong with the hooks of Codex, or nil.
func (d *doctor) codexHooks(ctx context.Context) *doctorCheck {
	for _, scope := range codexClient().scopes {
		dir, err := codexDir(d.j, scope)
		if err != nil {
			return &doctorCheck{Name: "codex", State: stateFail, Detail: err.Error()}
		}
		path := filepath.Join(dir, "hooks.json")
		data, err := readIfThere(path)
		if err != nil || data == nil {
			continue // installed has read it
		}
		programs, err := codexHooks().programs(&settingsText{name: path, data: data})
		if err != nil || len(programs) == 0 {
			continue
		}
		for _, e := range codexHooks().events {
			if programs[e.name] == "" {
				return &doctorCheck{"codex", stateWarn, "no hook for " + e.name, "carrel setup codex writes it"}
			}
		}
		if c := other(programs["SessionStart"]); c != nil {
			c.Name, c.Advice = "codex", strings.Replace(c.Advice, "setup claude", "setup codex", 1)
			return c
		}
		said, err := answer(ctx, &question{line: `{"source":"startup"}`, last: true}, programs["SessionStart"], "hook", "codex", "SessionStart")
		if err != nil || !json.Valid([]byte(said)) {
			return &doctorCheck{"codex", stateFail, fmt.Sprintf("%s does not answer: %v", programs["SessionStart"], err), "carrel setup codex writes where it is now"}
		}
		if !d.codexTrusts(path) {
			return &doctorCheck{"codex", stateWarn, "the hooks wait until you have reviewed them", "start Codex, and say yes, or open /hooks"}
		}
	}
	return nil
}

// codexTrusts reports whether the person has reviewed hooks of a file: then the settings have
// a hash of each, under the path of the file, the event and two numbers.
func (d *doctor) codexTrusts(path string) bool {
	home, err := agents.CodexHome(d.j.Getenv)
	if err != nil {
		return false
	}
	data, err := readIfThere(filepath.Join(home, "config.toml"))
	if err != nil {
		return false
	}
	var settings struct {
		Hooks struct {
			State map[string]struct {
				Trusted string `toml:"trusted_hash"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	if toml.Unmarshal(data, &settings) != nil {
		return false
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		resolved = path
	}
	for key, s := range settings.Hooks.State {
		if s.Trusted != "" && (strings.HasPrefix(key, path+":") || strings.HasPrefix(key, resolved+":")) {
			return true
		}
	}
	return false
}
