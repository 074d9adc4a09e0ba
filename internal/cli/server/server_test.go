package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/store"
)

// A running server is listed until it ends; one that died leaves no record.
func TestServersAreListed(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
	list := func() string {
		t.Helper()
		servers, err := runningServers(j)
		if err != nil {
			t.Fatal(err)
		}
		ids := ""
		for i := range servers {
			ids += fmt.Sprintf("%d@%s ", servers[i].PID, servers[i].URL)
		}
		return ids
	}
	if got := list(); got != "" {
		t.Errorf("servers %q, want none", got)
	}
	release := make(map[int]func() error)
	for pid, hour := range map[int]int{7: 2, 8: 1, 9: 2} {
		end, err := enlist(j, &running{PID: pid, URL: "http://127.0.0.1:1", Started: env.Now().AddDate(0, 0, -hour)})
		if err != nil {
			t.Fatal(err)
		}
		release[pid] = end
	}
	const at = "@http://127.0.0.1:1 "
	if got, want := list(), "7"+at+"9"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q, oldest first", got, want)
	}
	if _, err := enlist(j, &running{PID: 8}); err == nil {
		t.Error("a record that is held was taken")
	}
	if err := release[9](); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), "7"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q", got, want)
	}
	dead := clitest.WriteFile(t, env, ".local/share/carrel/run/99.json", `{"pid":99}`)
	if got, want := list(), "7"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q", got, want)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the record of a server that died is still there")
	}
}

func TestCredentialsHaveWords(t *testing.T) {
	if got, want := joined([]string{"a", "b", "c"}, ", "), "a, b, c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := joined([]string{}, ", "); got != "" {
		t.Errorf("%q", got)
	}
	if got, want := until(&store.Credential{}), "without end"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := until(&store.Credential{Expires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}), "until 2026-01-02T03:04:05Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A server that is to end goes on for the drain time, and ends with the same cause.
func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("a signal")
		asked, ask := context.WithCancelCause(t.Context())
		begun := false
		serving, cancel := drained(asked, 10*time.Second, func() { begun = true })
		defer cancel()
		at := time.Now()
		synctest.Wait()
		if begun || serving.Err() != nil {
			t.Errorf("it drains (%v) or has ended (%v) before it is asked to", begun, serving.Err())
		}
		ask(reason)
		synctest.Wait()
		if !begun || serving.Err() != nil {
			t.Errorf("asked to end, it drains (%v), and has ended (%v)", begun, serving.Err())
		}
		<-serving.Done()
		if got := time.Since(at); got != 10*time.Second || !errors.Is(context.Cause(serving), reason) {
			t.Errorf("it ended after %v for %v", got, context.Cause(serving))
		}
	})
}

// A server that has ended by itself does not wait for the drain time.
func TestDrainedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, ask := context.WithCancel(t.Context())
		serving, cancel := drained(asked, time.Hour, func() {})
		at := time.Now()
		ask()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if serving.Err() == nil || time.Since(at) != 0 {
			t.Errorf("it has ended: %v, after %v", serving.Err(), time.Since(at))
		}
	})
}
