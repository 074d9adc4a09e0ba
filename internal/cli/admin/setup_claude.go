package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/server/proxy"
)

// A claudeHook is an event of Claude Code that Carrel answers.
type claudeHook struct {
	event   string
	matcher string // of tools, or empty
	async   bool   // the agent does not wait for it
}

// claudeHooks are the events that the plug-in answers, too.
func claudeHooks() []claudeHook {
	return []claudeHook{
		{event: "SessionStart"},
		{event: "PostToolUse", matcher: "Bash|PowerShell|Read|Grep|WebFetch|Agent|Task|ReadMcpResource|ReadMcpResourceTool|mcp__.*"},
		{event: "PreCompact"},
		{event: "PostCompact", async: true},
		{event: "UserPromptSubmit", async: true},
		{event: "Stop"},
		{event: "SessionEnd"},
	}
}

// hookSeconds is how long the client waits for a hook: longer than a hook takes, so
// that the client never has to end one.
const hookSeconds = 10

// The form of hooks in the settings of Claude Code.
type (
	claudeGroup struct {
		Matcher string          `json:"matcher,omitempty"`
		Hooks   []claudeCommand `json:"hooks"`
	}
	claudeCommand struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
		Async   bool   `json:"async,omitempty"`
	}
	claudeServer struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
)

// claudeFiles returns the files of Claude Code that a setup changes. To undo all is to take
// out the address of the proxy, too.
func claudeFiles(j *job.Job, s *setup) ([]setupFile, error) {
	program := programName(s.scope)
	paths, err := claudePaths(j, s.scope)
	if err != nil {
		return nil, err
	}
	url, err := proxyURL(j)
	if err != nil {
		return nil, err
	}
	hooks := jsonPart(func(t *settingsText) error { return addHooks(t, program) }, dropHooks)
	settings := newSetupFile(paths[0], hooks, claudeURL(url))
	servers := newSetupFile(paths[1], jsonPart(func(t *settingsText) error { return addServer(t, program) }, dropServer))
	switch {
	case s.mode == "mcp":
		return []setupFile{*servers}, nil
	case s.mode == "proxy":
		settings.parts = settings.all[1:]
	case !s.undo || s.mode == "hooks":
		settings.parts = settings.all[:1]
	}
	if s.mode == "all" {
		return []setupFile{*settings, *servers}, nil
	}
	return []setupFile{*settings}, nil
}

// claudeURL returns the part of the settings of Claude Code that says where its calls go.
func claudeURL(url string) setupPart {
	return urlPart(url+proxy.PathAnthropic, "anthropic", "env", "ANTHROPIC_BASE_URL")
}

// claudePaths returns the paths of the settings of Claude Code, and of the file that has
// its MCP servers.
func claudePaths(j *job.Job, scope string) ([2]string, error) {
	here, err := filepath.Abs(j.Path(""))
	if err != nil {
		return [2]string{}, err
	}
	if scope != "user" {
		return [2]string{filepath.Join(here, ".claude", "settings.json"), filepath.Join(here, ".mcp.json")}, nil
	}
	if dir := j.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return [2]string{filepath.Join(dir, "settings.json"), filepath.Join(dir, ".claude.json")}, nil
	}
	home, err := homeOf(j, "CLAUDE_CONFIG_DIR")
	return [2]string{filepath.Join(home, ".claude", "settings.json"), filepath.Join(home, ".claude.json")}, err
}

// homeOf returns the home of the user. Instead of it, there is a variable that names where
// a client keeps its settings.
func homeOf(j *job.Job, instead string) (string, error) {
	for _, name := range [...]string{"HOME", "USERPROFILE"} {
		if home := j.Getenv(name); home != "" {
			return home, nil
		}
	}
	return "", out.Usagef("setup: neither %s nor HOME is set", instead)
}

// programName returns how the client calls this program: by its name if that is on the
// PATH, and in a project, whose files others read; otherwise by its path.
func programName(scope string) string {
	self, err := os.Executable()
	if err != nil || scope == "project" {
		return "carrel"
	}
	if found, err := exec.LookPath("carrel"); err == nil && sameFile(found, self) {
		return "carrel"
	}
	return self
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// command returns the command line of a hook.
func (h *claudeHook) command(program string) string {
	if strings.ContainsAny(program, " \t'\"\\$`&;|()<>*?") {
		program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	}
	return program + " hook claude " + h.event
}

// group returns the entry of a hook.
func (h *claudeHook) group(program string) claudeGroup {
	return claudeGroup{h.matcher, []claudeCommand{{"command", h.command(program), hookSeconds, h.async}}}
}

// ourGroup reports whether an entry is one that setup wrote.
func ourGroup(raw []byte, event string) bool {
	_, ours := groupProgram(raw, event)
	return ours
}

// groupProgram returns the program that an entry runs, if setup wrote it.
func groupProgram(raw []byte, event string) (program string, ours bool) {
	var g claudeGroup
	if json.Unmarshal(raw, &g) != nil || len(g.Hooks) != 1 {
		return "", false
	}
	program, found := strings.CutSuffix(g.Hooks[0].Command, " hook claude "+event)
	if strings.HasPrefix(program, "'") {
		program = strings.ReplaceAll(strings.Trim(program, "'"), `'\''`, "'")
	}
	return program, found && ourProgram(program)
}

// ourProgram reports whether a program is Carrel by its name.
func ourProgram(program string) bool {
	base := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	return base == "carrel" || base == "carrel.exe"
}

// addHooks puts the hooks into settings. Those that are as they should be stay.
func addHooks(t *settingsText, program string) error {
	for _, h := range claudeHooks() { // before anything is changed
		list, err := t.at("hooks", h.event)
		if err != nil {
			return err
		}
		if list != nil && list.kind != rawjson.Array {
			return t.fail(list.span.Start, "hooks.%s is no array", h.event)
		}
	}
	for _, h := range slices.Backward(claudeHooks()) { // each goes before what is there
		there, err := hasHook(t, &h, program)
		if err == nil && !there {
			err = errors.Join(dropHook(t, h.event), addHook(t, &h, program))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasHook reports whether a hook is there as it should be.
func hasHook(t *settingsText, h *claudeHook, program string) (bool, error) {
	want, err := json.Marshal(h.group(program))
	if err != nil {
		return false, err
	}
	list, err := t.at("hooks", h.event)
	if err != nil || list == nil {
		return false, err
	}
	plain := t.plain()
	return slices.ContainsFunc(list.items, func(s rawjson.Span) bool { return sameJSON(s.Of(plain), want) }), nil
}

func addHook(t *settingsText, h *claudeHook, program string) error {
	group := h.group(program)
	list, err := t.at("hooks", h.event)
	if err != nil {
		return err
	}
	if list != nil {
		return t.insert(list, 2, "", group)
	}
	hooks, err := t.at("hooks")
	if err != nil {
		return err
	}
	if hooks != nil {
		return t.insert(hooks, 1, h.event, []claudeGroup{group})
	}
	root, err := t.root()
	if err != nil {
		return err
	}
	return t.insert(root, 0, "hooks", map[string][]claudeGroup{h.event: {group}})
}

// root returns the object that the text is.
func (t *settingsText) root() (*node, error) {
	root, err := t.at()
	if err == nil && root.kind != rawjson.Object {
		return nil, t.fail(root.span.Start, "the settings are no object")
	}
	return root, err
}

// dropHooks takes the hooks out of settings, and the lists that are empty then.
func dropHooks(t *settingsText) error {
	for _, h := range claudeHooks() {
		if err := dropHook(t, h.event); err != nil {
			return err
		}
	}
	return nil
}

func dropHook(t *settingsText, event string) error {
	list, err := t.at("hooks", event)
	if err != nil || list == nil || list.kind != rawjson.Array {
		return err
	}
	plain := t.plain()
	ours := func(i int) bool { return ourGroup(list.items[i].Of(plain), event) }
	if !slices.ContainsFunc(list.items, func(s rawjson.Span) bool { return ourGroup(s.Of(plain), event) }) {
		return nil
	}
	if !t.cut(list, ours) {
		return nil
	}
	return t.cutMember([]string{"hooks"}, event)
}

// cutMember takes a member out of an object, and the object out of that above it if
// nothing is left.
func (t *settingsText) cutMember(path []string, key string) error {
	n, err := t.at(path...)
	if err != nil {
		return err
	}
	empty := t.cut(n, func(i int) bool { return n.members[i].Key == key })
	if !empty || len(path) == 0 {
		return nil
	}
	return t.cutMember(path[:len(path)-1], path[len(path)-1])
}

// addServer puts the MCP server into settings.
func addServer(t *settingsText, program string) error {
	server := claudeServer{"stdio", program, []string{"mcp"}}
	want, err := json.Marshal(server)
	if err != nil {
		return err
	}
	there, err := t.at("mcpServers", "carrel")
	if err != nil {
		return err
	}
	if there != nil {
		raw := there.span.Of(t.plain())
		switch {
		case covers(raw, want):
			return nil
		case !ourServer(raw):
			return t.fail(there.span.Start, "mcpServers.carrel is there already, and is not this program")
		}
		if err := t.cutMember([]string{"mcpServers"}, "carrel"); err != nil {
			return err
		}
	}
	servers, err := t.at("mcpServers")
	if err != nil {
		return err
	}
	if servers != nil {
		if servers.kind != rawjson.Object {
			return t.fail(servers.span.Start, "mcpServers is no object")
		}
		return t.insert(servers, 1, "carrel", server)
	}
	root, err := t.root()
	if err != nil {
		return err
	}
	return t.insert(root, 0, "mcpServers", map[string]claudeServer{"carrel": server})
}

// dropServer takes the MCP server out of settings.
func dropServer(t *settingsText) error {
	there, err := t.at("mcpServers", "carrel")
	if err != nil || there == nil || !ourServer(there.span.Of(t.plain())) {
		return err
	}
	return t.cutMember([]string{"mcpServers"}, "carrel")
}

// ourServer reports whether a server is this program.
func ourServer(raw []byte) bool {
	var s claudeServer
	return json.Unmarshal(raw, &s) == nil && ourProgram(s.Command) && slices.Equal(s.Args, []string{"mcp"})
}

// sameJSON reports whether two values mean the same.
func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// covers reports whether an object has all that another one has. A client that wrote
// it itself may have added more.
func covers(a, b []byte) bool {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	for k, v := range y {
		if fmt.Sprint(x[k]) != fmt.Sprint(v) {
			return false
		}
	}
	return true
}
