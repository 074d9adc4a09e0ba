package cli

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

func TestMainReportsABug(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	env.Now = func() time.Time { panic("no clock") }
	if got := Main(t.Context(), env, []string{"bench", "pager", "--json"}); got != exitBug {
		t.Errorf("status %d, want %d", got, exitBug)
	}
	if got := stderr.String(); got != "carrel: this is a bug in carrel: no clock\n" {
		t.Errorf("standard error is %q", got)
	}
	if got := stdout.String(); !strings.Contains(got, `"type":"carrel:problem/bug"`) {
		t.Errorf("standard output is %q", got)
	}
}

// A signal is the reported cause of an error, and the store is unchanged.
func TestMainIsInterrupted(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&job.SignalError{Signal: os.Interrupt})
	if got := Main(ctx, env, []string{"import", sample(t, "claude.jsonl")}); got != exitInterrupted {
		t.Errorf("status %d, want %d: %s", got, exitInterrupted, stderr)
	}
	if got := stderr.String(); got != "carrel: interrupt\n" {
		t.Errorf("standard error is %q", got)
	}
	env, stdout, _ := clitest.Env(t)
	if got := Main(t.Context(), env, []string{"sessions"}); got != 0 || stdout.Len() > 0 {
		t.Errorf("status %d, sessions %q, want none", got, stdout)
	}
}
