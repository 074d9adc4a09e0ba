package e2e

import (
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// status is a step in which the model asks Carrel how its own session stands.
func status() upstream.Step {
	return use("status", func(*upstream.Request) any { return struct{}{} })
}

// said is a step that ends a turn.
func said(text string) upstream.Step { return step(text, upstream.Text(text)) }

// resultsOf returns what the tools answered, each answer once.
func resultsOf(fake *upstream.Server) []string {
	var texts []string
	seen := make(map[string]bool) // calls
	for _, r := range fake.OfKind(upstream.KindMain) {
		for _, result := range r.Results() {
			if !seen[result.CallID] {
				texts = append(texts, result.Text)
			}
			seen[result.CallID] = true
		}
	}
	return texts
}

// ownSessions returns which sessions status was of, in the order of the requests.
func ownSessions(t *testing.T, fake *upstream.Server) []string {
	t.Helper()
	var ids []string
	for _, text := range resultsOf(fake) {
		var s struct{ Session string }
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&s); err != nil {
			t.Errorf("status: %s", text)
		}
		ids = append(ids, s.Session)
	}
	return ids
}

// A talk is one process of the agent, with a prompt after the other.
type talk struct {
	a   *agent
	in  io.WriteCloser
	out *json.Decoder
	cmd *exec.Cmd
}

func (a *agent) talk(args ...string) *talk {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), a.program, append([]string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--allowedTools", "Bash,ToolSearch,mcp__plugin_carrel_carrel,mcp__carrel",
	}, args...)...)
	cmd.Dir, cmd.Env = a.work, a.env
	in, err := cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	return &talk{a, in, json.NewDecoder(out), cmd}
}

// say sends a prompt, waits for the end of the answer, and returns the session that it
// is of.
func (k *talk) say(prompt string) string {
	k.a.t.Helper()
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}})
	if err != nil {
		k.a.t.Fatal(err)
	}
	if _, err := k.in.Write(append(line, '\n')); err != nil {
		k.a.t.Fatal(err)
	}
	for {
		var m struct {
			Type    string
			Session string `json:"session_id"`
		}
		if err := k.out.Decode(&m); err != nil {
			k.a.t.Fatal(err)
		}
		if m.Type == "result" {
			return m.Session
		}
	}
}

func (k *talk) end() {
	k.a.t.Helper()
	if err := k.in.Close(); err != nil {
		k.a.t.Fatal(err)
	}
	for k.out.Decode(new(json.RawMessage)) == nil { // until it ends
	}
	if err := k.cmd.Wait(); err != nil {
		k.a.t.Fatal(err)
	}
}

// Two agents work in one folder at the same time, with one store, and take turns. Each
// sees its own session, although the other's was updated last.
func TestClaudeCodesInOneFolderSeeTheirOwnSessions(t *testing.T) {
	one := newAgent(t, status(), said("1a"), status(), said("1b"))
	two := newAgent(t, status(), said("2a"), status(), said("2b"))
	one.install()
	// The other agent is the same user's, in the same folder; only its model is its own.
	env := slices.DeleteFunc(slices.Clone(one.env), func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") })
	i := slices.IndexFunc(two.env, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") })
	two.home, two.config, two.work, two.env = one.home, one.config, one.work, append(env, two.env[i])

	first, second := one.talk(), two.talk()
	var sessions [2][]string
	for range 2 {
		sessions[0] = append(sessions[0], first.say("How do we stand?"))
		sessions[1] = append(sessions[1], second.say("How do we stand?"))
	}
	var ended sync.WaitGroup
	for _, k := range []*talk{first, second} {
		ended.Go(k.end)
	}
	ended.Wait()
	if sessions[0][0] == sessions[1][0] {
		t.Fatal("the agents have one session")
	}
	for i, a := range []*agent{one, two} {
		a.nothingRefused()
		if got := ownSessions(t, a.fake); !slices.Equal(got, sessions[i]) {
			t.Errorf("agent %d sees sessions %q, and is in %q", i+1, got, sessions[i])
		}
	}
}

// An agent's session changes while it runs, and from one run to the next: what it sees
// is the one that it is in.
func TestClaudeCodeSeesItsOwnSessionWhereverItGoes(t *testing.T) {
	const begun = "0b8a6f0e-93c4-4a53-9f0d-6d1f3a5b7c90"
	var script []upstream.Step
	for _, text := range []string{"begun", "cleared", "again", "resumed", "forked", "continued"} {
		script = append(script, status(), said(text))
	}
	a := newAgent(t, script...)
	a.install()
	k := a.talk("--session-id", begun)
	want := []string{k.say("Begin.")}
	k.say("/clear")
	want = append(want, k.say("How do we stand?"), k.say("And now?"))
	k.end()
	for _, args := range [][]string{{"--resume", begun}, {"--resume", begun, "--fork-session"}, {"--continue"}} {
		k := a.talk(args...)
		want = append(want, k.say("How do we stand?"))
		k.end()
	}
	a.nothingRefused()
	if want[0] != begun || want[1] == begun || want[2] != want[1] || want[3] != begun || want[4] == begun || want[5] != want[4] {
		t.Errorf("the agent was in the sessions %q", want)
	}
	if got := ownSessions(t, a.fake); !slices.Equal(got, want) {
		t.Errorf("the agent sees the sessions\n%q, and is in\n%q", got, want)
	}
}

// An agent that another one's shell starts sees its own session, and so does the one
// that started it.
func TestClaudeCodeInAClaudeCodeSeesItsOwnSession(t *testing.T) {
	const outer, inner = "0b8a6f0e-93c4-4a53-9f0d-6d1f3a5b7c90", "77e0b1c2-93c4-4a53-9f0d-6d1f3a5b7c90"
	start := bash(`"$CARREL_TEST_CLAUDE" -p "How do you stand?" --session-id ` + inner +
		" --allowedTools ToolSearch,mcp__plugin_carrel_carrel </dev/null >answer.txt; echo $?")
	a := newAgent(t, step("start", start), status(), said("inner"), status(), said("outer"))
	a.env = append(a.env, claudeProgram+"="+a.program)
	a.install()
	a.ask("Ask another agent.", "--session-id", outer)
	a.nothingRefused()
	told := resultsOf(a.fake)
	last := func(id string) int {
		return slices.IndexFunc(told, func(text string) bool { return strings.Contains(text, `"session":"`+id+`"`) })
	}
	if i := last(inner); i < 0 || last(outer) <= i {
		t.Errorf("the agents are told %q", told)
	}
}

// Without hooks an agent's session is known by the call, which its transcript has, as
// long as it is the one that the server was started in, and then no more.
func TestClaudeCodeWithoutHooksSeesItsOwnSessionOrNone(t *testing.T) {
	a := newAgent(t, status(), said("begun"), status(), said("cleared"))
	settings := filepath.Join(a.work, "mcp.json")
	a.write(settings, []byte(`{"mcpServers":{"carrel":{"type":"stdio","command":"carrel","args":["mcp"]}}}`))
	k := a.talk("--mcp-config", settings)
	begun := k.say("How do we stand?")
	k.say("/clear")
	k.say("And now?")
	k.end()
	a.nothingRefused()
	told := resultsOf(a.fake)
	if len(told) != 2 || !strings.Contains(told[0], `"session":"`+begun+`"`) ||
		!strings.Contains(told[1], "which session is yours") || !strings.Contains(told[1], begun[:8]) {
		t.Errorf("in session %s the agent is told %q", begun, told)
	}
}
