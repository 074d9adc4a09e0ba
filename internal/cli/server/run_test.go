package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/server/proxy"
)

// environ returns a getenv for a list of names and values.
func environ(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// Each agent gets the address of the proxy in its own form.
func TestAgentsAreTold(t *testing.T) {
	const url = "http://127.0.0.1:9"
	for _, tt := range []struct {
		name      string
		args      []string
		getenv    func(string) string
		want, env []string
	}{
		{"Claude Code", []string{"/usr/bin/claude", "-p", "x"}, environ(), []string{"-p", "x"}, []string{"ANTHROPIC_BASE_URL=" + url + "/anthropic"}},
		{"another", []string{"aider", "x"}, environ(), []string{"x"}, []string{"ANTHROPIC_BASE_URL=" + url + "/anthropic", "OPENAI_BASE_URL=" + url + "/openai/v1"}},
		{"Codex with a key", []string{"codex", "exec", "x"}, environ("OPENAI_API_KEY", "k", "HOME", t.TempDir()), []string{
			"-c", `model_provider="carrel"`, "-c", `model_providers.carrel.name="OpenAI"`, "-c", `model_providers.carrel.base_url="` + url + `/openai/v1"`,
			"-c", `model_providers.carrel.wire_api="responses"`, "-c", "model_providers.carrel.supports_websockets=false",
			"-c", `model_providers.carrel.env_key="OPENAI_API_KEY"`, "exec", "x",
		}, nil},
		{"Codex without a key", []string{"codex"}, environ("HOME", t.TempDir()), []string{
			"-c", `model_provider="carrel"`, "-c", `model_providers.carrel.name="OpenAI"`, "-c", `model_providers.carrel.base_url="` + url + `/openai/v1"`,
			"-c", `model_providers.carrel.wire_api="responses"`, "-c", "model_providers.carrel.supports_websockets=false",
			"-c", "model_providers.carrel.requires_openai_auth=true",
		}, nil},
		{"OpenCode", []string{"opencode"}, environ(), []string{}, []string{
			`OPENCODE_CONFIG_CONTENT={"provider":{"anthropic":{"options":{"baseURL":"` + url + `/anthropic/v1"}},"openai":{"options":{"baseURL":"` + url + `/openai/v1"}}}}`,
		}},
		{
			"OpenCode with settings of its own",
			[]string{"opencode"},
			environ("OPENCODE_CONFIG_CONTENT", `{"model":"a/b","provider":{"openai":{"name":"o","options":{"apiKey":"{env:K}","baseURL":"x"}}}}`),
			[]string{},
			[]string{`OPENCODE_CONFIG_CONTENT={"model":"a/b","provider":{"anthropic":{"options":{"baseURL":"` + url + `/anthropic/v1"}},"openai":{"name":"o","options":{"apiKey":"{env:K}","baseURL":"` + url + `/openai/v1"}}}}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, env := childOf(tt.args, tt.getenv).proxySettings(url)
			if diff := cmp.Diff(tt.want, args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.env, env); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
		})
	}
}

// The proxy sends an agent's calls to the provider that the agent would use without it.
func TestAgentsKeepTheirProvider(t *testing.T) {
	own := proxy.Upstreams{Anthropic: proxy.DefaultAnthropic, OpenAI: proxy.DefaultOpenAI}
	for _, tt := range []struct {
		name, kind, auth string
		env              []string
		settings, want   proxy.Upstreams
		login            bool // Codex uses what it is logged in with
	}{
		{name: "no variables", kind: "claude", settings: own, want: own},
		{name: "a gateway", kind: "claude", env: []string{"ANTHROPIC_BASE_URL", "http://g", "OPENAI_BASE_URL", "http://h/v1"}, settings: own, want: proxy.Upstreams{Anthropic: "http://g", OpenAI: "http://h/v1"}},
		{name: "a login", kind: "codex", auth: `{"OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}`, settings: own, want: proxy.Upstreams{Anthropic: proxy.DefaultAnthropic, OpenAI: chatGPT}, login: true},
		{name: "a login and a gateway", kind: "codex", auth: `{"tokens":{}}`, settings: proxy.Upstreams{OpenAI: "http://g/v1"}, want: proxy.Upstreams{OpenAI: "http://g/v1"}, login: true},
		{name: "a key that is kept", kind: "codex", auth: `{"OPENAI_API_KEY":"k","tokens":{}}`, settings: own, want: own, login: true},
		{name: "a login with an empty key", kind: "codex", auth: `{"OPENAI_API_KEY":"","tokens":{}}`, settings: own, want: proxy.Upstreams{Anthropic: proxy.DefaultAnthropic, OpenAI: chatGPT}, login: true},
		{name: "a login of another agent", kind: "aider", auth: `{"tokens":{}}`, settings: own, want: own, login: true},
		{name: "no login", kind: "codex", auth: `{}`, settings: own, want: own},
		{name: "a broken file", kind: "codex", auth: `{`, settings: own, want: own},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			if tt.auth != "" {
				if err := os.WriteFile(filepath.Join(home, "auth.json"), []byte(tt.auth), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := childOf([]string{tt.kind}, environ(append(tt.env, "CODEX_HOME", home, "OPENAI_API_KEY", "k")...))
			got := tt.settings
			if c.upstreams(&got); got != tt.want {
				t.Errorf("upstreams %+v, want %+v", got, tt.want)
			}
			if tt.kind == "codex" && slices.Contains(c.codex("x"), "model_providers.carrel.requires_openai_auth=true") != tt.login {
				t.Errorf("arguments %q", c.codex("x"))
			}
		})
	}
}

// The report of traffic shows only figures that are known.
func TestTrafficIsTold(t *testing.T) {
	for want, in := range map[string]proxy.Traffic{
		"0 calls": {},
		"1 call · overhead p50 0.5 ms p99 1.0 ms":                                                                                             {Calls: 1, Median: 5e5, Slow: 1e6},
		"1 call · 1 of them failed · 10 tokens in, 0% cached, 1 out · overhead p50 0.0 ms p99 0.0 ms":                                         {Calls: 1, Failed: 1, Used: 1, Prompt: 10, Output: 1},
		"3 calls · 1 of them failed · 1,000 tokens in, 96% cached, 7 out (of 2 calls) · overhead p50 0.0 ms p99 0.0 ms · 1 gap in the record": {Calls: 3, Failed: 1, Used: 2, Prompt: 1000, Cached: 960, Output: 7, Gaps: 1},
	} {
		if got := passed(&in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// An agent on a terminal gets the terminal itself, not a pipe to a writer that escapes what the
// agent draws.
func TestAgentsGetTheTerminal(t *testing.T) {
	file := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	for _, tt := range []struct {
		name           string
		stdout, stderr bool // are terminals
		raw            bool
	}{
		{"a terminal", true, true, false},
		{"a terminal with --raw", true, true, true},
		{"a pipe", false, true, false},
		{"a log", true, false, false},
		{"no terminal", false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, _, _ := clitest.Env(t)
			stdout, stderr := file("stdout"), file("stderr")
			env.Stdout, env.Stderr, env.StdoutTerminal, env.StderrTerminal = stdout, stderr, tt.stdout, tt.stderr
			j := job.New(env)
			j.Raw = tt.raw
			cmd := childOf([]string{"agent"}, environ()).command(j, "agent", "http://127.0.0.1:9")
			if cmd.Stdout != stdout || cmd.Stderr != stderr {
				t.Errorf("output to %T and %T, want the files of the terminal", cmd.Stdout, cmd.Stderr)
			}
		})
	}
}
