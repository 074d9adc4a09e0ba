package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// An installed describes how Carrel is installed in Claude Code.
type installed struct {
	hooks   []scopedHooks // of the scopes that have some
	missing []string      // events without a hook
	plugin  bool
	server  string // program of the MCP server, or empty
	scope   string // scope of the settings with the server
}

// A scopedHooks has the programs of Carrel's hooks in the settings of one scope.
type scopedHooks struct {
	scope    string
	programs map[string]string // by event
}

// program returns the program of the first event that has one.
func (h *scopedHooks) program() string {
	for _, e := range claudeHooks().events {
		if p := h.programs[e.name]; p != "" {
			return p
		}
	}
	return ""
}

// setupCommand returns the command that sets up a client in a scope.
func setupCommand(client, scope string) string {
	if scope == "user" {
		return "carrel setup " + client
	}
	return "carrel setup " + client + " --scope " + scope
}

// claude reads Claude Code's settings of the user and of the project.
func (d *doctor) claude() (*installed, error) {
	in := &installed{}
	var read claudeFiles
	for _, scope := range []string{"user", "project"} {
		at, err := claudePaths(d.j, scope)
		if err != nil {
			return nil, err
		}
		h := scopedHooks{scope, make(map[string]string)}
		for _, path := range []string{at.settings, at.servers} {
			if path == read.settings {
				continue // this folder is the home folder
			}
			if err := in.read(path, &h); err != nil {
				return nil, err
			}
		}
		if len(h.programs) > 0 {
			in.hooks = append(in.hooks, h)
		}
		read = *at
	}
	for _, e := range claudeHooks().events {
		if !slices.ContainsFunc(in.hooks, func(h scopedHooks) bool { return h.programs[e.name] != "" }) {
			in.missing = append(in.missing, e.name)
		}
	}
	return in, nil
}

// twice reports whether an event has different programs in two scopes. Claude Code runs a command
// that is the same in both only once.
func (in *installed) twice() bool {
	if len(in.hooks) < 2 {
		return false
	}
	for event, program := range in.hooks[0].programs {
		if other := in.hooks[1].programs[event]; other != "" && other != program {
			return true
		}
	}
	return false
}

// read reads a settings file of Claude Code. It adds the programs of the hooks to h, and sets the
// fields of in for the plug-in that the file enables and for the MCP server that it names.
func (in *installed) read(path string, h *scopedHooks) error {
	data, err := readIfThere(path)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return err
	}
	t := &settingsText{name: path, data: data}
	if err := t.isObject(); err != nil {
		return err
	}
	found, err := claudeHooks().programs(t)
	if err != nil {
		return err
	}
	maps.Copy(h.programs, found)
	plain := t.plain()
	if n, _ := t.at("enabledPlugins"); n != nil {
		for _, m := range n.members {
			if strings.HasPrefix(m.Key, "carrel@") && string(m.Value.Of(plain)) == "true" {
				in.plugin = true
			}
		}
	}
	if n, _ := t.at("mcpServers", serverName); n != nil && n.kind == rawjson.Object {
		var s stdioServer
		if json.Unmarshal(n.span.Of(plain), &s) == nil {
			in.server, in.scope = s.Command, h.scope
		}
	}
	return nil
}

func (d *doctor) hooks(ctx context.Context) doctorCheck {
	in, err := d.claude()
	switch {
	case err != nil:
		return doctorCheck{"hooks", stateFail, err.Error(), "repair the file: the client cannot read it either"}
	case len(in.hooks) == 0 && !in.plugin:
		return doctorCheck{"hooks", stateWarn, "Claude Code has no hooks of Carrel", adviceSetup}
	case len(in.hooks) > 0 && in.plugin:
		return doctorCheck{"hooks", stateWarn, "the settings and the plug-in both have them, so each runs twice", setupCommand("claude", in.hooks[0].scope) + " --undo"}
	case in.twice():
		return doctorCheck{"hooks", stateWarn, "your settings and those of this folder both have them, so each runs twice", setupCommand("claude", "project") + " --undo"}
	case len(in.hooks) > 0 && len(in.missing) > 0:
		return doctorCheck{"hooks", stateWarn, "no hook for " + strings.Join(in.missing, ", "), setupCommand("claude", in.hooks[0].scope) + " adds it"}
	}
	from := "in the settings"
	if in.plugin { // and no hooks
		from = "of the plug-in"
		in.hooks = []scopedHooks{{"user", map[string]string{"SessionStart": "carrel"}}}
	}
	for i := range in.hooks {
		program, scope := in.hooks[i].program(), in.hooks[i].scope
		c := other(program, "claude", scope)
		if c == nil {
			c = checkAnswer(ctx, program, "claude", scope, "SessionStart", `{"source":"startup"}`)
		}
		if c != nil {
			c.Name = "hooks"
			return *c
		}
	}
	return doctorCheck{Name: "hooks", State: stateOK, Detail: from + ", and " + in.hooks[0].program() + " answers"}
}

// other returns a failed check if the program that a client's settings of a scope name is missing
// or is not the program that runs now. Otherwise it returns nil. It does not run the program,
// because a project's settings may name anything.
func other(program, client, scope string) *doctorCheck {
	found, err := exec.LookPath(program)
	if err != nil {
		return &doctorCheck{State: stateFail, Detail: program + " does not exist", Advice: writesProgram(program, client, scope)}
	}
	if self, _ := os.Executable(); !sameFile(found, self) { // no file is the same as one that is not known
		return &doctorCheck{State: stateWarn, Detail: found + " is another program than this one, and was not tried", Advice: writesProgram(program, client, scope)}
	}
	return nil
}

// writesProgram returns the advice for settings that name a wrong program. Settings of a project
// name Carrel without a path, so setup would write the same name again.
func writesProgram(program, client, scope string) string {
	if scope == "project" && program == "carrel" {
		return "put the folder of this carrel first on the PATH: the settings of this folder name the program without a path"
	}
	return setupCommand(client, scope) + " writes the present path of carrel"
}

// A question is the input that the doctor writes to a program that it tests.
type question struct {
	line string
	last bool   // close the input after it: a hook reads to the end, a server does not
	env  string // a variable as NAME=value to add to the program's environment, or ""
}

// answer starts a program, writes a question to it, and returns the first line of its answer.
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
		failed = nil // hooks may end without a line end
	}
	_ = in.Close() // a server ends then; ignore its messages about that
	cancel()
	_ = cmd.Wait()
	return said, errors.Join(err, failed)
}

func (d *doctor) server(ctx context.Context) doctorCheck {
	if cmd, _, err := d.root.Find([]string{"mcp"}); err != nil || cmd == d.root {
		return doctorCheck{Name: "server", State: stateWarn, Detail: "this program was built without the command mcp, so agents cannot get its tools"}
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
		if c := other(program, "claude", in.scope); c != nil {
			c.Name = "server"
			return *c
		}
	}
	name, err := mcpServerName(ctx, program, "mcp")
	if err != nil {
		return doctorCheck{"server", stateFail, fmt.Sprintf("%s mcp does not answer: %v", program, err), "run it by hand to see why"}
	}
	if in.server == "" && !in.plugin {
		return doctorCheck{"server", stateWarn, name + " answers, but Claude Code does not know it", adviceSetup}
	}
	return doctorCheck{Name: "server", State: stateOK, Detail: name + " answers"}
}

// mcpServerName starts an MCP session with a server and returns the server's name and version. The
// server uses a temporary store.
func mcpServerName(ctx context.Context, program string, args ...string) (_ string, err error) {
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
		return "", errors.New("the answer to initialize has no serverInfo.name")
	}
	return strings.TrimSpace(reply.Result.Server.Name + " " + reply.Result.Server.Version), nil
}

const adviceSetup = "carrel setup claude writes them; the folder plugin of the repository has a plug-in instead"
