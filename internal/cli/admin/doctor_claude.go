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
	"strings"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// An installed describes how Carrel is installed in Claude Code.
type installed struct {
	programs []string // programs of the hooks, one per event
	missing  []string // events without a hook
	plugin   bool
	server   string // program of the MCP server, or empty
}

// claude reads Claude Code's settings of the user and of the project.
func (d *doctor) claude() (*installed, error) {
	in := &installed{}
	hooks := make(map[string]string)
	for _, scope := range []string{"user", "project"} {
		at, err := claudePaths(d.j, scope)
		if err != nil {
			return nil, err
		}
		for _, path := range []string{at.settings, at.servers} {
			if err := in.read(path, hooks); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range claudeHooks().events {
		if p := hooks[e.name]; p != "" {
			in.programs = append(in.programs, p)
		} else {
			in.missing = append(in.missing, e.name)
		}
	}
	return in, nil
}

// read reads a settings file of Claude Code. It adds the programs of the hooks to the map hooks, by
// event, and sets the fields of in for the plug-in that the file enables and for the MCP server
// that it names.
func (in *installed) read(path string, hooks map[string]string) error {
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
	maps.Copy(hooks, found)
	plain := t.plain()
	if n, err := t.at("enabledPlugins"); err == nil && n != nil {
		for _, m := range n.members {
			in.plugin = in.plugin || strings.HasPrefix(m.Key, "carrel@") && string(m.Value.Of(plain)) == "true"
		}
	}
	if n, err := t.at("mcpServers", serverName); err == nil && n != nil && n.kind == rawjson.Object {
		var s stdioServer
		if json.Unmarshal(n.span.Of(plain), &s) == nil {
			in.server = s.Command
		}
	}
	return nil
}

func (d *doctor) hooks(ctx context.Context) doctorCheck {
	in, err := d.claude()
	switch {
	case err != nil:
		return doctorCheck{"hooks", stateFail, err.Error(), "repair the file: the client cannot read it either"}
	case len(in.programs) == 0 && !in.plugin:
		return doctorCheck{"hooks", stateWarn, "Claude Code has no hooks of Carrel", adviceSetup}
	case len(in.programs) > 0 && in.plugin:
		return doctorCheck{"hooks", stateWarn, "the settings and the plug-in both have them, so each runs twice", "carrel setup claude --undo"}
	case len(in.programs) > 0 && len(in.missing) > 0:
		return doctorCheck{"hooks", stateWarn, "no hook for " + strings.Join(in.missing, ", "), adviceSetup}
	}
	program, from := "carrel", "of the plug-in"
	if len(in.programs) > 0 {
		program, from = in.programs[0], "in the settings"
	}
	if c := other(program, "claude"); c != nil {
		c.Name = "hooks"
		return *c
	}
	if c := checkAnswer(ctx, program, "claude", "SessionStart", `{"source":"startup"}`); c != nil {
		c.Name = "hooks"
		return *c
	}
	return doctorCheck{Name: "hooks", State: stateOK, Detail: from + ", and " + program + " answers"}
}

// other returns a failed check if the program that a client's settings name is missing or is not
// the program that runs now. Otherwise it returns nil. It does not run the program, because a
// project's settings may name anything.
func other(program, client string) *doctorCheck {
	found, err := exec.LookPath(program)
	if err != nil {
		return &doctorCheck{State: stateFail, Detail: program + " does not exist", Advice: "carrel setup " + client + " writes the present path of carrel"}
	}
	if self, err := os.Executable(); err != nil || !sameFile(found, self) {
		return &doctorCheck{State: stateWarn, Detail: found + " is another program than this one, and was not tried", Advice: "carrel setup " + client + " puts this program in its place"}
	}
	return nil
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
		if c := other(program, "claude"); c != nil {
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
