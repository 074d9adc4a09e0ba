package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// carrelProgram is the program that the plug-in calls and that serves, once buildCarrel has
// built it.
var carrelProgram string

func TestMain(m *testing.M) {
	status := m.Run()
	if carrelProgram != "" {
		if err := os.RemoveAll(filepath.Dir(carrelProgram)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(status)
}

var built sync.Once

// buildCarrel builds the program, once.
func buildCarrel(t *testing.T) {
	t.Helper()
	built.Do(func() {
		dir, err := os.MkdirTemp("", "carrel-e2e-") //nolint:usetesting // it is for all tests
		if err != nil {
			t.Fatal(err)
		}
		carrelProgram = filepath.Join(dir, "carrel")
		build := exec.Command("go", "build", "-o", carrelProgram, root+"/cmd/carrel")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build carrel: %v\n%s", err, out)
		}
	})
}

// root is the root of the repository, which is the plug-in's marketplace.
const root = "../../.."

// The tests that need the root skip where there is no Claude Code. That it is the root is
// seen everywhere.
func TestRootIsTheMarketplace(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, ".claude-plugin", "marketplace.json")); err != nil {
		t.Error(err)
	}
}

// An agent is a client with a home and a working directory of its own, whose model is a
// script.
type agent struct {
	t       *testing.T
	program string
	home    string // of the user
	config  string // of Claude Code
	work    string
	fake    *upstream.Server
	env     []string
}

// newAgent returns a Claude Code whose model follows a script. It skips the test where
// there is none.
func newAgent(t *testing.T, script ...upstream.Step) *agent {
	t.Helper()
	a := claudeCode.agent(t, &upstream.Options{Script: script})
	// Without a window that is set, older releases wait for the provider's refusal.
	a.env = append(a.env, fmt.Sprintf("CLAUDE_CODE_AUTO_COMPACT_WINDOW=%d", compactWindow))
	return a
}

// logRequests shows what was asked and how it was answered.
func logRequests(t *testing.T, fake *upstream.Server) {
	for i, r := range fake.Requests() {
		t.Logf("%d: %s %s: %s, step %q, %d bytes: %d, %v", i, r.Method, r.URL, r.Kind, r.Step, len(r.Body), r.Status, r.Refusal)
	}
}

// install has the agent install the plug-in, as its user would.
func (a *agent) install() {
	a.t.Helper()
	dir, err := filepath.Abs(root)
	if err != nil {
		a.t.Fatal(err)
	}
	a.claude("plugin", "marketplace", "add", dir)
	a.claude("plugin", "install", "carrel@carrel")
}

// ask has the agent answer a prompt with the tools of the tests allowed.
func (a *agent) ask(prompt string, args ...string) {
	a.t.Helper()
	a.claude(append([]string{"-p", prompt, "--allowedTools", "Bash,ToolSearch,mcp__plugin_carrel_carrel"}, args...)...)
}

// realDir returns a new directory by the path that a program sees it at.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// claude runs the agent and returns what it said. The test fails if the agent does.
func (a *agent) claude(args ...string) string {
	a.t.Helper()
	return a.call(a.program, args...)
}

// carrel runs carrel as the agent would.
func (a *agent) carrel(args ...string) {
	a.t.Helper()
	a.call(carrelProgram, args...)
}

func (a *agent) call(program string, args ...string) string {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), program, args...)
	cmd.Dir, cmd.Env = a.work, a.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		a.t.Fatalf("%s %s: %v\n%s\n%s", filepath.Base(program), strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// sessions returns the directory in which the agent keeps the sessions of its
// working directory.
func (a *agent) sessions() string {
	return filepath.Join(a.config, "projects", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(a.work, "-"))
}

// session returns the path and the content of the agent's only session.
func (a *agent) session() (file string, data []byte) {
	a.t.Helper()
	files, err := filepath.Glob(filepath.Join(a.sessions(), "*.jsonl"))
	if err != nil || len(files) != 1 {
		a.t.Fatalf("sessions %q, %v, want one", files, err)
	}
	if data, err = os.ReadFile(files[0]); err != nil {
		a.t.Fatal(err)
	}
	return files[0], data
}

// write writes a file, with the directories above it.
func (a *agent) write(path string, data []byte) {
	a.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// nothingRefused checks that the upstream took every request, and was asked at all. Codex
// asks for a websocket first, and goes on without.
func (a *agent) nothingRefused() {
	a.t.Helper()
	for _, r := range a.fake.Refused() {
		if r.Status != http.StatusUpgradeRequired {
			a.t.Errorf("refused: %s %s: %v", r.Method, r.URL, r.Refusal)
		}
	}
	if len(a.fake.OfKind(upstream.KindMain)) == 0 {
		a.t.Error("the model was not asked")
	}
}

// last returns the newest request of a kind.
func (a *agent) last(kind upstream.Kind) *upstream.Request {
	a.t.Helper()
	requests := a.fake.OfKind(kind)
	if len(requests) == 0 {
		a.t.Fatalf("no request of kind %s", kind)
	}
	return requests[len(requests)-1]
}
