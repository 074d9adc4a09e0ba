package admin

import (
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
)

func codexDoctor() *agentDoctor {
	return &agentDoctor{
		agent: agents.Codex, calls: "hooks",
		homes: func(j *job.Job) ([]string, error) {
			home, err := agents.CodexHome(j.Getenv)
			return []string{home}, err
		},
		programs: func(j *job.Job, scope string) (map[string]string, string, error) {
			dir, err := codexDir(j, scope)
			if err != nil {
				return nil, "", err
			}
			return hooksIn(codexHooks(), filepath.Join(dir, "hooks.json"))
		},
		events: codexHooks().names(), event: "SessionStart", input: `{"source":"startup"}`,
		waits: func(j *job.Job, path string) *doctorCheck {
			if codexTrusts(j, path) {
				return nil
			}
			return &doctorCheck{State: stateWarn, Detail: "the hooks wait until you have reviewed them", Advice: "start Codex, and say yes, or open /hooks"}
		},
	}
}

// codexTrusts reports whether the user has reviewed at least one of the hooks in a file. Codex's
// settings contain a hash for each reviewed hook. The key of a hash is made of the path of the
// file, the event and two numbers.
func codexTrusts(j *job.Job, path string) bool {
	home, err := agents.CodexHome(j.Getenv)
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
