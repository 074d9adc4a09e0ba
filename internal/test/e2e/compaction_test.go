package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// A client compacts its history behind the proxy, by itself, and goes on: what was before is
// in the same session, as an earlier window, whether or not what is sent is managed.
func compacts(t *testing.T, c client, args ...string) {
	for _, flag := range []string{"--observe", "--manage"} {
		t.Run(flag, func(t *testing.T) {
			a := c.agent(t, &upstream.Options{Script: []upstream.Step{
				step("begin", upstream.Thinking("Count."), upstream.Text("I count."), c.run("seq 101 140")),
				{Name: "full", Reply: upstream.Reply{Blocks: []upstream.Block{upstream.Text("I go on."), c.run("seq 201 240")}, InputTokens: 990_000}},
				step("on", c.run("seq 301 340")),
				step("end", upstream.Text("It is done.")),
			}})
			a.env = append(a.env, fmt.Sprintf("CLAUDE_CODE_AUTO_COMPACT_WINDOW=%d", compactWindow))
			config := filepath.Join(a.home, ".config", "opencode", "opencode.json")
			if text, err := os.ReadFile(config); err == nil {
				a.write(config, []byte(strings.Replace(string(text), `"auto": false`, `"auto": true`, 1)))
			}
			run := append([]string{"run", flag, "--", a.program}, args...)
			said := a.call(carrelProgram, append(append(run, c.args...), "Count to nine, heron.")...)
			if !strings.Contains(said, "It is done.") {
				t.Errorf("the agent said:\n%s", said)
			}
			a.nothingRefused()
			if n := len(a.fake.OfKind(upstream.KindCompaction)); n != 1 {
				t.Fatalf("%d compactions, want one", n)
			}
			sessions, earlier := make(map[string]bool), 0
			for line := range strings.Lines(a.call(carrelProgram, "search", "seq", "--ndjson")) {
				var found struct {
					Session, Block string
					Earlier        int
				}
				if err := json.Unmarshal([]byte(line), &found); err != nil {
					t.Fatalf("%v in %s", err, line)
				}
				sessions[found.Session] = true
				if found.Earlier > 0 {
					if text := a.call(carrelProgram, "recall", found.Block, "--text"); strings.Contains(text, "seq 101 140") && strings.Contains(text, "\n139\n") {
						earlier++
					}
				}
			}
			if len(sessions) != 1 || earlier != 1 {
				t.Errorf("what was run is in the sessions %v, what was before the compaction comes back from %d blocks", sessions, earlier)
			}
		})
	}
}

func TestClaudeCodeCompactsBehindTheProxy(t *testing.T) { compacts(t, claudeCode) }
func TestCodexCompactsBehindTheProxy(t *testing.T) {
	compacts(t, codex, "-c", "model_auto_compact_token_limit=800000")
}

func TestOpenCodeCompactsBehindTheProxy(t *testing.T) { compacts(t, openCode) }
