package server

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/binding"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// desk is the process of a client that started this process through a shell.
var desk = binding.Process{PID: 8, Started: "monday"}

// atDesk returns a job that the client at the desk started, with further variables.
func atDesk(t *testing.T, pairs ...string) *job.Job {
	t.Helper()
	env, _, _ := clitest.Env(t)
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		if v := environ(pairs...)(name); v != "" {
			return v
		}
		return getenv(name)
	}
	env.PID = 10
	env.Processes = func(pid int) (binding.Entry, bool) {
		e, ok := map[int]binding.Entry{
			10: {Parent: 9, Started: "tuesday", Name: "carrel"}, 9: {Parent: 8, Started: "tuesday", Name: "sh"}, 8: {Parent: 1, Started: "monday", Name: "claude"},
		}[pid]
		return e, ok
	}
	return job.New(env)
}

// A hook records the session of the client that started it, except that of a fork, whose id is
// wrong, and nothing where the client is not known.
func TestClientsAreBound(t *testing.T) {
	fork := []string{"CLAUDE_ENV_FILE", "/h/session-env/another/hook.sh"}
	for _, tt := range []struct {
		name, format string
		env          []string
		alone        bool // there is no table of processes
		bound        bool
	}{
		{"a session", "claudecode", nil, false, true},
		{"a fork", "claudecode", fork, false, false},
		{"another client below a fork", "codex", fork, false, true},
		{"the session of the file", "claudecode", []string{"CLAUDE_ENV_FILE", "/h/session-env/s/hook.sh"}, false, true},
		{"no table of processes", "claudecode", nil, true, false},
	} {
		j := atDesk(t, tt.env...)
		if tt.alone {
			j.Processes = nil
		}
		settings, err := j.Settings()
		if err != nil {
			t.Fatal(err)
		}
		if err := bindClient(j, &hook.Event{Session: "s", Transcript: "/t/s.jsonl", Format: tt.format}, settings); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		folder, err := bindingsOf(j)
		if err != nil {
			t.Fatal(err)
		}
		if files, _ := os.ReadDir(folder.Path); len(files) != 0 && !tt.bound {
			t.Errorf("%s: there is a record %v", tt.name, files)
		}
		if b, err := folder.Of(desk); err != nil || (b != nil) != tt.bound || b != nil && (b.Session != "s" || b.Transcript != "/t/s.jsonl" || b.Format != tt.format) {
			t.Errorf("%s: bound to %+v, %v", tt.name, b, err)
		}
	}
}

// call returns the metadata of a call by Claude Code.
func call(id string) map[string]any { return map[string]any{"claudecode/toolUseId": id} }

// A server takes the session that the last hook named, or else the one that Claude Code named at
// the start, once the transcript has the call.
func TestOwnSessionIsFound(t *testing.T) {
	for _, tt := range []struct {
		name    string
		session string               // in the variable of Claude Code
		hooked  transcript.SessionID // by a hook
		meta    map[string]any       // of the call
		want    transcript.SessionID // "" if there is none
		breaks  func(f, path string) // before the call
		failed  bool                 // for another reason than that there is none
	}{
		{name: "nothing is known", meta: call("c1")},
		{name: "a hook", hooked: "s", want: "s"},
		{name: "a hook and the start", session: "x", hooked: "s", meta: call("c1"), want: "s"},
		{name: "the start", session: "x", meta: call("c1"), want: "x"},
		{name: "the start without a call", session: "x"},
		{name: "a record that cannot be read", breaks: func(f, _ string) { _ = os.MkdirAll(filepath.Join(f, "8.json"), 0o700) }, failed: true},
		{name: "a transcript that cannot be read", session: "x", meta: call("c1"), breaks: func(_, path string) {
			_ = os.Remove(path)
			_ = os.MkdirAll(path, 0o700)
		}, failed: true},
	} {
		j := atDesk(t, "CLAUDE_CODE_SESSION_ID", tt.session)
		path := clitest.WriteFile(t, j.Env, ".claude/projects/p/x.jsonl", "{\"id\":\"c1\"}\n")
		folder, err := bindingsOf(j)
		if err != nil {
			t.Fatal(err)
		}
		if tt.hooked != "" {
			if err := folder.Record(&binding.Binding{Client: desk, Session: tt.hooked, Scope: governance.DefaultScope}); err != nil {
				t.Fatal(err)
			}
		}
		if tt.breaks != nil {
			tt.breaks(folder.Path, path)
		}
		o, err := newOwner(j, &job.Access{Scope: governance.DefaultScope}, false)
		if err != nil {
			t.Fatal(err)
		}
		b, err := o.bound(t.Context(), tt.meta)
		switch {
		case tt.want != "":
			if err != nil || b.Session != tt.want {
				t.Errorf("%s: %+v, %v, want %s", tt.name, b, err, tt.want)
			}
		case err == nil || errors.Is(err, mcp.ErrUnbound) == tt.failed:
			t.Errorf("%s: %+v, %v, want that it failed %t", tt.name, b, err, tt.failed)
		}
	}
}

// Before a tool is answered, what is new in the transcript is imported, unless the server only
// reads or a hook keeps the session in another scope.
func TestOwnSessionIsImported(t *testing.T) {
	const scope = governance.DefaultScope
	line := func(id, text string) string {
		return `{"type":"user","uuid":"` + id + `","sessionId":"s","timestamp":"2026-02-03T09:00:01.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	for _, tt := range []struct {
		name     string
		scope    governance.Scope
		readOnly bool
		texts    []string // of the transcript, one after the other
		want     string   // last message that is stored; "" for no session
		failed   bool
	}{
		{"a session", scope, false, []string{line("u1", "one")}, "one", false},
		{"a session that grows", scope, false, []string{line("u1", "one"), line("u1", "one") + line("u2", "two")}, "two", false},
		{"in another scope", "other/scope", false, []string{line("u1", "one")}, "", false},
		{"by a reader", scope, true, []string{line("u1", "one")}, "", false},
		{"a line that is not whole", scope, false, []string{`{"uuid":"one","type":"us`}, "", false},
		{"one that is no transcript any more", scope, false, []string{line("u1", "one"), "{" + strings.Repeat(" ", 400)}, "one", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := atDesk(t)
			err := j.With(t.Context(), true, func(a *job.Access) error {
				o, err := newOwner(j, a, tt.readOnly)
				if err != nil {
					return err
				}
				path := filepath.Join(j.Dir, "s.jsonl")
				if err := o.folder.Record(&binding.Binding{Client: desk, Session: "s", Transcript: path, Format: "claudecode", Scope: tt.scope}); err != nil {
					return err
				}
				for i, text := range tt.texts {
					clitest.WriteFile(t, j.Env, "s.jsonl", text)
					id, err := o.own(t.Context(), call("one"))
					if last := i+1 == len(tt.texts); (err != nil) != (last && tt.failed) || err == nil && id != "s" {
						t.Errorf("own session %q, %v", id, err)
					}
				}
				stored := ""
				res, err := a.Messages(t.Context(), a.Scope, &carrel.MessagesRequest{Session: "s"})
				if err == nil && len(res.Messages) > 0 {
					stored = res.Messages[len(res.Messages)-1].Preview
				}
				if stored != tt.want || err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the last message is %q, %v, want %q", stored, err, tt.want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Where a proxy manages the calls of a client, its window is that of the session with the last
// managed call.
func TestOwnSessionIsTheManagedOne(t *testing.T) {
	j := atDesk(t)
	err := j.With(t.Context(), true, func(a *job.Access) error {
		o := &owner{Access: a}
		for i, tt := range []struct {
			session transcript.SessionID
			managed bool
			want    transcript.SessionID
		}{
			{"plain", false, "c"},
			{"", true, "c"},
			{"managed", true, "managed"},
			{"", true, "managed"},
			{"plain", false, "managed"},
		} {
			intent, err := json.Marshal(map[string]any{"client": "c", "managed": tt.managed})
			if err != nil {
				return err
			}
			id := "call_" + strings.Repeat("0", 15) + string(rune('a'+i))
			if err := a.Store.Record(t.Context(), a.Scope, []store.Call{{ID: id, Session: tt.session, State: store.CallIntent, Begun: j.Now(), Intent: intent}}); err != nil {
				return err
			}
			if got, err := o.sending(t.Context(), "c"); err != nil || got != tt.want {
				t.Errorf("behind call %d: %q, %v, want %q", i, got, err, tt.want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
