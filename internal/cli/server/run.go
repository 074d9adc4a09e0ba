package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/server/proxy"
)

func newRun(j *job.Job) *cobra.Command {
	var fl proxyFlags
	var observe, manage bool
	cmd := &cobra.Command{
		Use:   "run [--observe|--manage] -- AGENT [ARGS...]",
		Short: "Start an agent behind a proxy of its own",
		Long: `Run starts a proxy on a free port and an agent that uses it, and ends with the agent
and its exit code. Calls are recorded, see "carrel proxy". At the end a line on standard error
sums them up.

The agent learns the address of the proxy from:

  claude      ANTHROPIC_BASE_URL
  codex       a provider of its own in arguments -c, without websockets; with
              the key or the login that Codex has
  opencode    the base URLs of anthropic and openai in OPENCODE_CONFIG_CONTENT
  any other   ANTHROPIC_BASE_URL and OPENAI_BASE_URL

If a variable already names a gateway, the proxy forwards the agent's calls to it.`,
		Example: `  carrel run -- claude
  carrel run -- codex exec "fix the test"
  carrel run --upstream.openai http://127.0.0.1:4000/v1 -- opencode`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return out.Usagef("run: name an agent, such as carrel run -- claude")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case observe && manage:
				return out.Usagef("--observe and --manage: use only one")
			case j.JSON != "":
				return out.Usagef("--json: standard output belongs to the agent, so leave out --json")
			case observe:
				fl.mode = "observe"
			case manage:
				fl.mode = "manage"
			}
			ctx := cmd.Context()
			// A signal goes to the agent; the store stays open until the agent has ended.
			return j.With(context.WithoutCancel(ctx), true, func(a *job.Access) error { return runAgent(ctx, j, a, &fl, args) })
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.BoolVar(&observe, "observe", false, "send requests unchanged; overrides the settings")
	f.BoolVar(&manage, "manage", false, "manage requests; overrides the settings")
	fl.register(cmd)
	return cmd
}

// runAgent runs an agent behind a proxy.
func runAgent(ctx context.Context, j *job.Job, a *job.Access, fl *proxyFlags, args []string) (err error) {
	set := a.Settings.Proxy()
	set.Listen = "127.0.0.1:0"
	c := childOf(args, j.Getenv)
	c.upstreams(&set.Upstreams)
	if set, err = fl.settle(set); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return out.Hinted(out.Usagef("run: %w", err), "give the command that starts the agent after --, such as carrel run -- claude")
	}
	lasting := context.WithoutCancel(ctx)
	p, err := openProxy(lasting, j, a, set, nil)
	if err != nil {
		return err
	}
	defer func() { _ = p.listener.Close() }() // the proxy has closed it, or it was never used
	record, release, err := p.enlist(lasting, j, a, surfaceProxy, surfaceRun)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	j.Note("%s", p.says())

	serving, stop := context.WithCancel(lasting)
	served := make(chan error, 1)
	go func() { served <- p.serve(serving, j, record, a.Settings.Server().Grace) }()
	err = c.run(ctx, j, path, p.url())
	stop()
	if e := <-served; e != nil && err == nil {
		err = e
	}
	t := p.Traffic()
	j.Note("carrel run: %s", passed(&t))
	if t.Calls == 0 && t.Passed == 0 {
		j.Note("nothing of %s came through the proxy: its own settings may name another address", args[0])
	}
	return err
}

// A child is an agent that this process starts, with the arguments and variables that lead it to
// the proxy.
type child struct {
	kind   string // name of a known agent, or ""
	name   string
	args   []string // without the program
	getenv func(string) string
}

func childOf(args []string, getenv func(string) string) *child {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	return &child{kind: name, name: args[0], args: args[1:], getenv: getenv}
}

// The variables with the base URLs of providers.
const (
	varAnthropic = "ANTHROPIC_BASE_URL"
	varOpenAI    = "OPENAI_BASE_URL"
	varOpenCode  = "OPENCODE_CONFIG_CONTENT"
)

// chatGPT is the base URL that Codex uses if the user logged in with ChatGPT instead of a key.
const chatGPT = "https://chatgpt.com/backend-api/codex"

// upstreams sets the upstreams to the base URLs that the agent would use without the proxy,
// because the agent's key is for these.
func (c *child) upstreams(u *proxy.Upstreams) {
	if v := c.getenv(varAnthropic); v != "" {
		u.Anthropic = v
	}
	switch v := c.getenv(varOpenAI); {
	case v != "":
		u.OpenAI = v
	case c.kind == "codex" && c.login() == loginChatGPT && u.OpenAI == proxy.DefaultOpenAI:
		u.OpenAI = chatGPT
	}
}

// The ways in which Codex is logged in.
const (
	loginNone    = ""
	loginKey     = "key"
	loginChatGPT = "chatgpt"
)

// login returns how Codex is logged in. It looks only at the names of the fields in the login file,
// not at their values.
func (c *child) login() string {
	home := cmp.Or(c.getenv("CODEX_HOME"), filepath.Join(c.getenv("HOME"), ".codex"))
	data, err := os.ReadFile(filepath.Join(home, "auth.json"))
	if err != nil {
		return loginNone
	}
	var has struct {
		Tokens any `json:"tokens"`
		APIKey any `json:"OPENAI_API_KEY"`
	}
	switch err := json.Unmarshal(data, &has); {
	case err != nil:
		return loginNone
	case has.APIKey != nil && has.APIKey != "":
		return loginKey
	case has.Tokens != nil:
		return loginChatGPT
	}
	return loginNone
}

// proxySettings returns the arguments and variables that make the agent use a proxy.
func (c *child) proxySettings(url string) (args, env []string) {
	anthropic, openAI := url+proxy.PathAnthropic, url+proxy.PathOpenAI+"/v1"
	switch c.kind {
	case "claude":
		return c.args, []string{varAnthropic + "=" + anthropic}
	case "codex":
		return slices.Concat(c.codex(openAI), c.args), nil
	case "opencode":
		return c.args, []string{varOpenCode + "=" + c.openCode(anthropic+"/v1", openAI)}
	}
	return c.args, []string{varAnthropic + "=" + anthropic, varOpenAI + "=" + openAI}
}

// codex returns arguments that give Codex a provider without websockets. The provider has
// OpenAI's name, so that Codex lets it compact.
func (c *child) codex(base string) []string {
	const provider = "model_providers.carrel."
	key := provider + "requires_openai_auth=true"
	if c.login() == loginNone && c.getenv("OPENAI_API_KEY") != "" {
		key = provider + `env_key="OPENAI_API_KEY"`
	}
	var args []string
	for _, set := range []string{
		`model_provider="carrel"`, provider + `name="OpenAI"`, provider + fmt.Sprintf("base_url=%q", base),
		provider + `wire_api="responses"`, provider + "supports_websockets=false", key,
	} {
		args = append(args, "-c", set)
	}
	return args
}

// openCode returns the settings of OpenCode with the base URLs added.
func (c *child) openCode(anthropic, openAI string) string {
	settings := make(map[string]any)
	if json.Unmarshal([]byte(c.getenv(varOpenCode)), &settings) != nil {
		settings = make(map[string]any) // there are none, or OpenCode cannot read them
	}
	below := func(m map[string]any, key string) map[string]any {
		inner, ok := m[key].(map[string]any)
		if !ok {
			inner = make(map[string]any)
			m[key] = inner
		}
		return inner
	}
	providers := below(settings, "provider")
	for name, base := range map[string]string{"anthropic": anthropic, "openai": openAI} {
		below(below(providers, name), "options")["baseURL"] = base
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return "{}" // cannot fail: the value comes from JSON
	}
	return string(data)
}

// command returns the command that starts the agent. The agent gets the streams of this process
// themselves, so that it sees a terminal and can draw on it.
func (c *child) command(j *job.Job, path, url string) *exec.Cmd {
	args, env := c.proxySettings(url)
	cmd := exec.Command(path, args...) //nolint:noctx // the agent ends by itself
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = j.Stdin, out.Unguarded(j.Stdout), out.Unguarded(j.Stderr), j.Path("")
	return cmd
}

// run runs the agent until it ends. It passes signals on to the agent, except interrupts of a
// terminal, which the agent gets itself.
func (c *child) run(ctx context.Context, j *job.Job, path, url string) error {
	cmd := c.command(j, path, url)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return out.Hinted(fmt.Errorf("run %s: %w", c.name, err), "give the command that starts the agent after --, such as carrel run -- claude")
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	over := ctx.Done()
	for {
		select {
		case err := <-ended:
			return c.ended(err)
		case s := <-signals:
			if s != os.Interrupt || !j.StdinTerminal {
				_ = cmd.Process.Signal(s) // fails if the agent has just ended
			}
		case <-over:
			over = nil
			if !job.Is[*job.SignalError](context.Cause(ctx)) { // the timeout has expired
				_ = job.Terminate(cmd.Process)
			}
		}
	}
}

// ended returns the error for the exit of the agent, with its exit code.
func (c *child) ended(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return fmt.Errorf("run %s: %w", c.name, err)
	}
	code := exit.ExitCode()
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return &out.Error{Err: &job.AgentError{Name: c.name, Code: code}, Said: true}
}
