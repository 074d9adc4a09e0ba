package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// The variables that name the programs of the clients.
const (
	claudeProgram   = "CARREL_TEST_CLAUDE"
	codexProgram    = "CARREL_TEST_CODEX"
	openCodeProgram = "CARREL_TEST_OPENCODE"
)

// A client is a kind of agent, and how it is pointed at a server.
type client struct {
	name     string
	variable string // names its program
	dialect  upstream.Dialect

	// point has an agent send its requests to an address.
	point func(a *agent, base string)

	args []string // before the prompt; they let it run commands without asking

	scripts bool // it calls tools in programs, and has them in the input

	// run is the call that has it run a command.
	run func(command string) upstream.Block
}

var claudeCode = client{
	name: "claude", variable: claudeProgram, dialect: upstream.DialectAnthropic,
	point: func(a *agent, base string) {
		a.env = append(
			a.env, "ANTHROPIC_BASE_URL="+base, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CONFIG_DIR="+a.config,
			"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		)
	},
	args: []string{"--allowedTools", "Bash", "-p"},
	run:  bash,
}

// codex takes providers from its settings only. A shell that it starts as for a login would
// have another PATH. Its model is one that it does not know: such
// a model is given tools as functions. The window is one that it never fills.
var codex = client{
	name: "codex", variable: codexProgram, dialect: upstream.DialectResponses,
	point: func(a *agent, base string) {
		a.codexSettings(base, "gpt-6", fmt.Sprintf(`model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false
`, base))
	},
	args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"},
	run: func(command string) upstream.Block {
		return upstream.Call{Name: "exec_command", Input: map[string]any{"cmd": command, "login": false}}
	},
}

// codexScripts is codex with a model that it knows, which calls tools in programs, from a tool
// that is no function. It asks OpenAI at another address, over a websocket first.
var codexScripts = client{
	name: "codex", variable: codexProgram, dialect: upstream.DialectResponses,
	point: func(a *agent, base string) {
		a.codexSettings(base, "gpt-6-sol", fmt.Sprintf("openai_base_url = %q\n", base+"/v1"))
		a.env = append(a.env, "CODEX_API_KEY=dummy")
	},
	args: codex.args, scripts: true,
	run: func(command string) upstream.Block {
		program := fmt.Sprintf("// @exec: {\"max_output_tokens\": 20000}\nconst r = await tools.exec_command({cmd: %q, login: false, max_output_tokens: 20000}); text(r.output)", command)
		return upstream.Call{Name: "exec", Input: program}
	},
}

// codexSettings writes the settings of Codex. What is in the way of its requests goes by the
// variables, which Codex itself does not read.
func (a *agent) codexSettings(base, model, more string) {
	home := filepath.Join(a.home, ".codex")
	a.write(filepath.Join(home, "config.toml"), fmt.Appendf(nil, `model = %q
model_context_window = 1000000
model_auto_compact_token_limit = 1000000
tool_output_token_limit = 20000
check_for_update_on_startup = false
%s`, model, more))
	a.env = append(a.env, "CODEX_HOME="+home, "OPENAI_API_KEY=dummy", "OPENAI_BASE_URL="+base+"/v1")
}

// openCode takes providers from its settings, too, and speaks Chat Completions to them. It
// would fetch packages for plug-ins that nobody has: there is no registry for it.
var openCode = client{
	name: "opencode", variable: openCodeProgram, dialect: upstream.DialectChat,
	point: func(a *agent, base string) {
		a.write(filepath.Join(a.home, ".config", "opencode", "opencode.json"), fmt.Appendf(nil, `{
  "model": "openai/gpt-5", "small_model": "openai/gpt-5", "share": "disabled", "permission": {"*": "allow"}, "compaction": {"auto": false, "prune": false},
  "provider": {"openai": {
    "npm": "@ai-sdk/openai-compatible", "name": "OpenAI",
    "options": {"baseURL": "%s/v1", "apiKey": "dummy"},
    "models": {"gpt-5": {"name": "gpt-5", "limit": {"context": 1000000, "output": 8000}}}
  }}
}
`, base))
		// It asks for a package of its plug-ins at each start, and a minute long if nobody answers.
		empty := httptest.NewServer(http.NotFoundHandler())
		a.t.Cleanup(empty.Close)
		a.env = append(
			a.env, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"npm_config_registry="+empty.URL+"/", "OPENAI_BASE_URL="+base+"/v1",
		)
	},
	args: []string{"run"},
	run: func(command string) upstream.Block {
		return upstream.Call{Name: "bash", Input: map[string]any{"command": command, "description": "run a command"}}
	},
}

// agent returns an agent of the kind, which asks a server with options. It skips the test
// where there is no such program.
func (c client) agent(t *testing.T, o *upstream.Options) *agent {
	t.Helper()
	program := os.Getenv(c.variable)
	if program == "" {
		t.Skipf("%s is not set: no %s to test with", c.variable, c.name)
	}
	buildCarrel(t)
	o.Key = []byte("e2e")
	fake := upstream.New(o)
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)

	home := realDir(t)
	a := &agent{t: t, program: program, home: home, config: filepath.Join(home, ".claude"), work: realDir(t), fake: fake}
	a.env = []string{
		"PATH=" + strings.Join([]string{filepath.Dir(carrelProgram), filepath.Dir(program), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME=" + home,
	}
	t.Cleanup(func() {
		if t.Failed() {
			logRequests(t, fake)
		}
	})
	if err := os.MkdirAll(a.config, 0o700); err != nil {
		t.Fatal(err)
	}
	c.point(a, server.URL)
	return a
}

// prompt has an agent of the kind answer a prompt.
func (a *agent) prompt(c client, prompt string) string {
	a.t.Helper()
	return a.call(a.program, append(c.args, prompt)...)
}

// A client that is pointed at a server finishes a session of a few calls there: what it sends
// is taken, each request goes on from the one before, and the results are those of its tools.
func finishes(t *testing.T, c client) {
	const order, end = "Count to six, heron.", "It is six."
	var script []upstream.Step
	for _, command := range []string{"seq 1 2", "seq 3 4", "seq 5 6"} {
		script = append(script, step(command, upstream.Thinking("On."), upstream.Text("I run it."), c.run(command)))
	}
	a := c.agent(t, &upstream.Options{Script: append(script, step("end", upstream.Text(end)))})
	if said := a.prompt(c, order); !strings.Contains(said, end) {
		t.Errorf("the agent said:\n%s", said)
	}
	a.nothingRefused()
	requests := a.fake.OfKind(upstream.KindMain)
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	for i, r := range requests {
		if r.Dialect != c.dialect || r.Session == "" || !r.Contains(order) || r.Prefix.Broke != "" {
			t.Errorf("request %d is of session %q, in %s, and breaks %+v", i, r.Session, r.Dialect, r.Prefix)
		}
		if i > 0 && (len(r.Results()) != 1 || !strings.Contains(r.Results()[0].Text, fmt.Sprintf("%d\n%d", 2*i-1, 2*i)) || r.Usage.Read == 0) {
			t.Errorf("request %d has the results %+v and costs %+v", i, r.Results(), r.Usage)
		}
	}
}

func TestClaudeCodeFinishesASession(t *testing.T) { finishes(t, claudeCode) }
func TestCodexFinishesASession(t *testing.T)      { finishes(t, codex) }
func TestCodexScriptsFinishASession(t *testing.T) { finishes(t, codexScripts) }
func TestOpenCodeFinishesASession(t *testing.T)   { finishes(t, openCode) }

// Codex has its history compacted by a provider that is OpenAI's by its name: it asks for an
// item that only the provider can read, and goes on from that.
func TestCodexGoesOnFromWhatItsProviderCompacted(t *testing.T) {
	a := codex.agent(t, &upstream.Options{Script: []upstream.Step{
		{Name: "full", Reply: upstream.Reply{Blocks: []upstream.Block{codex.run("seq 1 400")}, InputTokens: 900_000}},
		step("on", codex.run("seq 7 8")),
		step("end", upstream.Text("It is eight.")),
	}})
	args := append([]string{"-c", `model_providers.fake.name="OpenAI"`, "-c", "model_auto_compact_token_limit=800000"}, codex.args...)
	if said := a.call(a.program, append(args, "Count, heron.")...); !strings.Contains(said, "It is eight.") {
		t.Errorf("the agent said:\n%s", said)
	}
	a.nothingRefused()
	compactions := a.fake.OfKind(upstream.KindCompaction)
	if len(compactions) != 1 || compactions[0].Prefix.Broke != "" {
		t.Errorf("%d compactions, want one that has all that was sent before", len(compactions))
	}
	if end := a.last(upstream.KindMain); end.Step != "end" || !strings.Contains(string(end.Body), `"type":"compaction"`) || !end.Contains("heron") || end.Contains("399") {
		t.Errorf("the last request, of step %q, is:\n%.3000s", end.Step, end.Body)
	}
}
