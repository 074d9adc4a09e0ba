package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/internal/rawjson"
)

func newDoctor(env *Env, g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Tell what keeps Carrel from working",
		Long: `Doctor looks at what Carrel needs on this machine and what Claude Code needs of it:
the program, the settings, the store, the version of Claude Code, the hooks and the
MCP server, the transcripts, and whether what it writes would be accepted. It changes nothing but for a file that
it makes and removes beside the store. If something fails, the exit code is 1.`,
		Args:        cobra.NoArgs,
		Annotations: withoutFiles(), // broken ones are to be told of
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{g: g, env: env, root: cmd.Root()}
			res := &doctorResult{Healthy: true, Checks: []doctorCheck{}}
			for _, check := range []func(context.Context) doctorCheck{
				d.program, d.settings, d.store, d.client, d.hooks, d.server, d.transcripts, d.validator,
			} {
				c := check(cmd.Context())
				res.Checks = append(res.Checks, c)
				res.Healthy = res.Healthy && c.State != stateFail
			}
			err := g.result(document{name: "doctor", value: res}, func(p *page) {
				for i := range res.Checks {
					c := &res.Checks[i]
					p.line("%-4s  %-11s  %s", c.State, c.Name, c.Detail)
					if c.Advice != "" {
						p.line("      %-11s  %s", "", c.Advice)
					}
				}
			})
			if err == nil && !res.Healthy {
				return errNo
			}
			return err
		},
	}
}

// A doctorResult says what was found.
type doctorResult struct {
	Healthy bool          `json:"healthy"`
	Checks  []doctorCheck `json:"checks"`
}

type doctorCheck struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, warn or fail
	Detail string `json:"detail"`
	Advice string `json:"advice,omitempty"` // what to do
}

const (
	stateOK   = "ok"
	stateWarn = "warn" // it works without
	stateFail = "fail"
)

// doctorPatience is how long a program may take to answer.
const doctorPatience = 10 * time.Second

// A doctor looks at one thing after the other.
type doctor struct {
	g    *globals
	env  *Env
	root *cobra.Command
}

func (d *doctor) program(context.Context) doctorCheck {
	c := doctorCheck{Name: "program", State: stateOK}
	self, err := os.Executable()
	if err != nil {
		self = "carrel"
	}
	found, err := exec.LookPath("carrel")
	switch {
	case err != nil:
		c.State, c.Detail = stateWarn, "carrel is not on the PATH"
		c.Advice = "put the folder of " + self + " on the PATH: the plug-in and the stubs call it by its name"
	case !sameFile(found, self):
		c.State, c.Detail = stateWarn, fmt.Sprintf("the PATH has %s, and this is %s", found, self)
		c.Advice = "keep one of them"
	default:
		c.Detail = found
	}
	return c
}

func (d *doctor) load() (*config.Settings, error) {
	src, err := d.g.sources()
	if err != nil {
		return nil, err
	}
	return config.Load(src)
}

func (d *doctor) settings(context.Context) doctorCheck {
	s, err := d.load()
	if err != nil {
		return doctorCheck{"settings", stateFail, err.Error(), "hooks print nothing until the file is right: carrel config show"}
	}
	return doctorCheck{Name: "settings", State: stateOK, Detail: "profile " + s.Profile}
}

func (d *doctor) store(ctx context.Context) doctorCheck {
	const elsewhere = "choose another place: --store, CARREL_STORE or the setting store"
	s, err := d.load()
	if err != nil {
		return doctorCheck{"store", stateFail, "its place is not known: the settings cannot be read", "see above"}
	}
	path, err := s.Store()
	if err == nil {
		err = writable(path)
	}
	if err != nil {
		return doctorCheck{"store", stateFail, err.Error(), elsewhere}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return doctorCheck{Name: "store", State: stateOK, Detail: path + ": it will be made when it is needed"}
	}
	st, err := config.Open(ctx, path, false)
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		return doctorCheck{"store", stateFail, fmt.Sprintf("%s: %v", path, err), "carrel store check says more; carrel store restore puts a backup in its place"}
	}
	return doctorCheck{Name: "store", State: stateOK, Detail: path}
}

// writable returns why a file cannot be written, or made with the folders that it
// lacks.
func writable(path string) error {
	if fi, err := os.Stat(path); err == nil {
		if fi.IsDir() {
			return fmt.Errorf("%s is a folder", path)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	dir := filepath.Dir(path)
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".carrel-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// installed says how Claude Code came to know Carrel.
type installed struct {
	programs []string // of the hooks, one for each event
	missing  []string // events without a hook
	plugin   bool
	server   string // program of the MCP server, or empty
}

// claude reads the settings of Claude Code, the user's and the project's.
func (d *doctor) claude() (*installed, error) {
	in := &installed{}
	hooks := make(map[string]string)
	for _, scope := range []string{"user", "project"} {
		files, err := d.g.claudeFiles(scope, "all")
		if err != nil {
			return nil, err
		}
		for i := range files {
			if err := in.read(files[i].path, hooks); err != nil {
				return nil, err
			}
		}
	}
	for _, h := range claudeHooks() {
		if p := hooks[h.event]; p != "" {
			in.programs = append(in.programs, p)
		} else {
			in.missing = append(in.missing, h.event)
		}
	}
	return in, nil
}

// read reads a file of settings.
func (in *installed) read(path string, hooks map[string]string) error {
	data, err := readIfThere(path)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return err
	}
	t := &settingsText{name: path, data: data}
	if _, err := t.root(); err != nil {
		return err
	}
	plain := t.plain()
	for _, h := range claudeHooks() {
		list, err := t.at("hooks", h.event)
		if err != nil {
			return err
		}
		if list == nil {
			continue
		}
		for _, s := range list.items {
			if p, ours := groupProgram(s.Of(plain), h.event); ours {
				hooks[h.event] = p
			}
		}
	}
	if n, err := t.at("enabledPlugins"); err == nil && n != nil {
		for _, m := range n.members {
			in.plugin = in.plugin || strings.HasPrefix(m.Key, "carrel@") && string(m.Value.Of(plain)) == "true"
		}
	}
	if n, err := t.at("mcpServers", "carrel"); err == nil && n != nil && n.kind == rawjson.Object {
		var s claudeServer
		if json.Unmarshal(n.span.Of(plain), &s) == nil {
			in.server = s.Command
		}
	}
	return nil
}

const adviceSetup = "carrel setup claude writes them; the folder plugin of the repository has a plug-in instead"

func (d *doctor) hooks(ctx context.Context) doctorCheck {
	in, err := d.claude()
	switch {
	case err != nil:
		return doctorCheck{"hooks", stateFail, err.Error(), "repair the file: the client cannot read it either"}
	case len(in.programs) == 0 && !in.plugin:
		return doctorCheck{"hooks", stateWarn, "Claude Code has none of Carrel", adviceSetup}
	case len(in.programs) > 0 && in.plugin:
		return doctorCheck{"hooks", stateWarn, "the settings and the plug-in both have them, so each runs twice", "carrel setup claude --undo"}
	case len(in.programs) > 0 && len(in.missing) > 0:
		return doctorCheck{"hooks", stateWarn, "none for " + strings.Join(in.missing, ", "), adviceSetup}
	}
	program, from := "carrel", "of the plug-in"
	if len(in.programs) > 0 {
		program, from = in.programs[0], "in the settings"
	}
	if c := other(program); c != nil {
		c.Name = "hooks"
		return *c
	}
	out, err := answer(ctx, &question{line: `{"source":"startup"}`, last: true}, program, "hook", "claude", "SessionStart")
	if err != nil || !json.Valid([]byte(out)) {
		return doctorCheck{"hooks", stateFail, fmt.Sprintf("%s does not answer: %v", program, err), "carrel setup claude writes where it is now"}
	}
	return doctorCheck{Name: "hooks", State: stateOK, Detail: from + ", and " + program + " answers"}
}

// other returns what there is to say of a program that settings name if it is not
// this one. It is not run: a project's settings may name anything.
func other(program string) *doctorCheck {
	found, err := exec.LookPath(program)
	if err != nil {
		return &doctorCheck{State: stateFail, Detail: program + " is not there", Advice: "carrel setup claude writes where it is now"}
	}
	if self, err := os.Executable(); err != nil || !sameFile(found, self) {
		return &doctorCheck{State: stateWarn, Detail: found + " is another program than this, and was not tried", Advice: "carrel setup claude writes this one"}
	}
	return nil
}

// A question is what is said to a program.
type question struct {
	line string
	last bool   // the input ends with it: a hook reads to the end, a server does not
	env  string // a variable of the environment, or empty
}

// answer starts a program, asks it, and returns the first line that it answers.
func answer(ctx context.Context, q *question, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	if q.env != "" {
		cmd.Env = append(os.Environ(), q.env)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	_, err = io.WriteString(in, q.line+"\n")
	if q.last {
		err = errors.Join(err, in.Close())
	}
	said, failed := bufio.NewReader(out).ReadString('\n')
	if errors.Is(failed, io.EOF) && said != "" {
		failed = nil // hooks end without a line end
	}
	_ = in.Close() // a server ends then; what it says about that does not matter
	cancel()
	_ = cmd.Wait()
	return said, errors.Join(err, failed)
}

func (d *doctor) server(ctx context.Context) doctorCheck {
	if cmd, _, err := d.root.Find([]string{"mcp"}); err != nil || cmd == d.root {
		return doctorCheck{Name: "server", State: stateWarn, Detail: "this build has no carrel mcp"}
	}
	in, err := d.claude()
	if err != nil {
		return doctorCheck{"server", stateWarn, "the settings of Claude Code cannot be read", "see above"}
	}
	program, err := os.Executable()
	if err != nil {
		program = "carrel"
	}
	if in.server != "" {
		program = in.server
		if c := other(program); c != nil {
			c.Name = "server"
			return *c
		}
	}
	name, err := shakeHands(ctx, program, "mcp")
	if err != nil {
		return doctorCheck{"server", stateFail, fmt.Sprintf("%s mcp does not answer: %v", program, err), "run it by hand to see why"}
	}
	if in.server == "" && !in.plugin {
		return doctorCheck{"server", stateWarn, name + " answers, but Claude Code does not know it", adviceSetup}
	}
	return doctorCheck{Name: "server", State: stateOK, Detail: name + " answers"}
}

// shakeHands begins a conversation with an MCP server and returns its name and
// version. The server has a store of its own meanwhile.
func shakeHands(ctx context.Context, program string, args ...string) (_ string, err error) {
	dir, err := os.MkdirTemp("", "carrel-doctor-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"carrel doctor","version":"1"}}}`
	said, err := answer(ctx, &question{line: hello, env: "CARREL_STORE=" + filepath.Join(dir, "carrel.db")}, program, args...)
	if err != nil {
		return "", err
	}
	var reply struct {
		Result struct {
			Server struct{ Name, Version string } `json:"serverInfo"`
		}
	}
	if err := json.Unmarshal([]byte(said), &reply); err != nil {
		return "", err
	}
	if reply.Result.Server.Name == "" {
		return "", errors.New("it does not say who it is")
	}
	return strings.TrimSpace(reply.Result.Server.Name + " " + reply.Result.Server.Version), nil
}

func (d *doctor) transcripts(context.Context) doctorCheck {
	dir, err := config.ClaudeProjects(d.env.Getenv)
	if err != nil {
		return doctorCheck{Name: "transcripts", State: stateWarn, Detail: err.Error()}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err == nil {
		_, err = os.ReadDir(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return doctorCheck{"transcripts", stateWarn, dir + " is not there", "it will be once Claude Code has run"}
	case err != nil:
		return doctorCheck{"transcripts", stateFail, err.Error(), "let this user read it"}
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return doctorCheck{"transcripts", stateFail, err.Error(), "let this user read it"}
		}
		if err := f.Close(); err != nil {
			return doctorCheck{Name: "transcripts", State: stateFail, Detail: err.Error()}
		}
	}
	return doctorCheck{Name: "transcripts", State: stateOK, Detail: fmt.Sprintf("%s in %s", count(len(files), "session"), dir)}
}

// refused is a request that every provider refuses: a result without a call.
const refused = `{"model":"claude-opus-4-6","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"?"}]}]}`

func (d *doctor) validator(ctx context.Context) doctorCheck {
	c := doctorCheck{Name: "validator", State: stateFail, Advice: "this is an error in Carrel: please report it"}
	_, violations, err := carrel.Validate("anthropic", []byte(refused))
	switch {
	case err != nil:
		c.Detail = err.Error()
		return c
	case len(violations) == 0:
		c.Detail = "it accepts what every provider refuses"
		return c
	}
	if err := d.roundTrip(ctx); err != nil {
		c.Detail = err.Error()
		return c
	}
	return doctorCheck{Name: "validator", State: stateOK, Detail: "a conversation was compressed, and would be accepted"}
}

// roundTrip takes the conversation of the demonstration in, cuts it, and validates
// what comes out.
func (d *doctor) roundTrip(ctx context.Context) error {
	e, err := carrel.New(config.Scratch(), &carrel.Options{Now: d.g.clock()})
	if err != nil {
		return err
	}
	const scope = "doctor"
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: "demo.jsonl", Data: demo.Session()})
	if err != nil {
		return err
	}
	if _, err := e.Compress(ctx, scope, &carrel.CompressRequest{Session: in.Session, Target: in.Tokens / 2}); err != nil {
		return err
	}
	out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session})
	if err != nil {
		return err
	}
	_, violations, err := carrel.Validate(in.Format, out.Data)
	if err == nil && len(violations) > 0 {
		err = fmt.Errorf("what was compressed would be refused: %v", violations[0])
	}
	return err
}
