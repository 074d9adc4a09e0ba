package session

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// A session in a database is imported again once it is newer than what was imported, and is told
// of if it has new content. What cannot be read is told, and the watcher goes on.
func TestSourcesAreImportedAgain(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	j := job.New(env)
	settings, err := j.Settings()
	if err != nil {
		t.Fatal(err)
	}
	err = j.Over(config.Scratch(), settings, func(a *job.Access) error {
		in := &importer{Access: a, j: j, read: make(map[string]time.Time), watches: true}
		message := func(text string) string { return `{"role":"user","content":"` + text + `"}` }
		for _, tt := range []struct {
			name, messages string
			minute         int
			since          int // minute of --since; 0 without
			out, err       string
		}{
			{"new", message("One."), 1, 0, "openai\t", ""},
			{"of the same time", message("One.") + "," + message("Two."), 1, 0, "", ""},
			{"of a time before", message("One.") + "," + message("Two."), 0, 0, "", ""},
			{"later", message("One.") + "," + message("Two."), 2, 0, "openai\t", ""},
			{"later, and as before", message("One.") + "," + message("Two."), 3, 0, "", ""},
			{"before --since", message("One.") + "," + message("Two.") + "," + message("Three."), 4, 5, "", ""},
			{"at --since", message("One.") + "," + message("Two.") + "," + message("Three."), 5, 5, "openai\t", ""},
			{"unreadable", "", 6, 0, "", "carrel: no luck"},
			{"readable again", message("One."), 6, 0, "", "skipped: db#s: "},
		} {
			stdout.Reset()
			stderr.Reset()
			in.since = time.Time{}
			if tt.since > 0 {
				in.since = env.Now().Add(time.Duration(tt.since) * time.Minute)
			}
			f := job.File{Source: agents.Source{Name: "db#s", Changed: env.Now().Add(time.Duration(tt.minute) * time.Minute), Read: func() ([]byte, error) {
				if tt.messages == "" {
					return nil, errors.New("no luck")
				}
				return []byte(`{"model":"gpt-5","messages":[` + tt.messages + `]}`), nil
			}}}
			if err := in.again(t.Context(), f); err != nil || !strings.HasPrefix(stdout.String(), tt.out) || tt.out == "" && stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), tt.err) || tt.err == "" && stderr.Len() > 0 {
				t.Errorf("%s: printed %q, said %q, %v, want %q and %q", tt.name, stdout, stderr, err, tt.out, tt.err)
			}
		}
		stderr.Reset()
		if rep := in.run(t.Context(), []job.File{{Source: agents.Source{Name: "absent.json"}, Named: true}}); rep.Failed != 1 || !strings.Contains(stderr.String(), "absent.json") {
			t.Errorf("the problem of one file that is watched: %+v, said %q", rep, stderr)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Of an agent that keeps its sessions in one folder, this folder is watched, and of any other all
// folders below it.
func TestFoldersOfAgentsAreWatched(t *testing.T) {
	for _, agent := range agents.All() {
		env, _, _ := clitest.Env(t)
		clitest.WriteFile(t, env, "all/project/subagents/a.jsonl", "{}")
		all := filepath.Join(env.Dir, "all")
		in := &importer{j: job.New(env), stores: []folderOf{{all, agent}}}
		w, err := in.watcher(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{all}
		if !agent.Flat {
			want = append(want, filepath.Join(all, "project"), filepath.Join(all, "project", "subagents"))
		}
		got := w.WatchList()
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("of %s are watched %q, want %q", agent.Title, got, want)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		in.stores[0].folder = filepath.Join(env.Dir, "none")
		if w, err := in.watcher(nil); err == nil {
			t.Errorf("a folder of %s that is not there is watched: %v", agent.Title, w.WatchList())
		}
	}
}
