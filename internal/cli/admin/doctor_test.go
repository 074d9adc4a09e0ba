package admin

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
)

// fakeProgram writes a shell script and returns its path.
func fakeProgram(t *testing.T, script string) string {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no shell")
	}
	path := filepath.Join(t.TempDir(), "carrel")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShakeHands(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string // want is empty for an error
	}{
		{
			"a server that waits for more", "read line\ncase $line in *initialize*) echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{\"name\":\"carrel\",\"version\":\"0.1\"}}}';; esac\nread rest\n",
			"carrel 0.1",
		},
		{"one that says nothing", "read line\n", ""},
		{"one that says something else", "echo hello\n", ""},
		{"one that refuses", "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}'\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mcpServerName(t.Context(), fakeProgram(t, tt.script), "mcp")
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// A project's settings may name any program, so the doctor never runs a foreign one.
func TestDoctorRunsNoOtherProgram(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	program := fakeProgram(t, "touch "+ran+"\n")
	c := other(program, "claude", "user")
	if c == nil || c.State != stateWarn || !strings.Contains(c.Detail, "was not tried") {
		t.Errorf("check %+v", c)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it was run")
	}
	if c := other(program+"-gone", "claude", "user"); c == nil || c.State != stateFail {
		t.Errorf("what is not there: %+v", c)
	}
}

// examine returns a doctor, and a function that writes a file below HOME.
func examine(t *testing.T) (d *doctor, write func(name, text string) string) {
	t.Helper()
	env, _, _ := clitest.Env(t)
	root := &cobra.Command{}
	root.AddCommand(&cobra.Command{Use: "mcp"})
	return &doctor{j: job.New(env), root: root}, func(name, text string) string { return clitest.WriteFile(t, env, name, text) }
}

// The doctor checks that the program on the PATH is this one.
func TestDoctorFindsTheProgram(t *testing.T) {
	d, _ := examine(t)
	t.Setenv("PATH", t.TempDir())
	if c := d.program(t.Context()); c.State != stateWarn || c.Detail != "carrel is not on the PATH" || !strings.Contains(c.Advice, "put the folder of ") {
		t.Errorf("no program: %+v", c)
	}
	other := fakeProgram(t, "exit 1\n")
	t.Setenv("PATH", filepath.Dir(other))
	if c := d.program(t.Context()); c.State != stateWarn || !strings.HasPrefix(c.Detail, "the PATH has "+other+", and this is ") || c.Advice != "keep one of them" {
		t.Errorf("another program: %+v", c)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "carrel")); err != nil {
		t.Skip("there are no links")
	}
	t.Setenv("PATH", dir)
	if c := d.program(t.Context()); c.State != stateOK || c.Detail != filepath.Join(dir, "carrel") {
		t.Errorf("this program: %+v", c)
	}
}

func TestDoctorOpensTheStore(t *testing.T) {
	d, write := examine(t)
	var path string
	d.j.Getenv = func(name string) string {
		return map[string]string{"CARREL_STORE": path, "HOME": d.j.Dir}[name]
	}
	path = filepath.Join(d.j.Dir, "new", "deep", "a.db")
	if c := d.store(t.Context()); c.State != stateOK || !strings.Contains(c.Detail, "it will be made when it is needed") {
		t.Errorf("no store yet: %+v", c)
	}
	if entries, err := os.ReadDir(d.j.Dir); err != nil || len(entries) > 0 {
		t.Errorf("something is left beside the store: %v, %v", entries, err)
	}
	path = write("letter.db", strings.Repeat("This is a letter and no database. ", 20))
	if c := d.store(t.Context()); c.State != stateFail || !strings.HasPrefix(c.Detail, path+": ") || !strings.Contains(c.Advice, "carrel store check") {
		t.Errorf("no store at all: %+v", c)
	}
	path = filepath.Join(d.j.Dir, "real.db")
	if err := d.j.With(t.Context(), true, func(*job.Access) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if c := d.store(t.Context()); c.State != stateOK || c.Detail != path {
		t.Errorf("a store: %+v", c)
	}
	path = d.j.Dir
	if c := d.store(t.Context()); c.State != stateFail || !strings.Contains(c.Detail, "is a folder") || !strings.HasPrefix(c.Advice, "choose another place") {
		t.Errorf("a folder: %+v", c)
	}
}

// The doctor leaves a store as it is: it migrates none of an earlier Carrel, and makes no tables.
func TestDoctorKeepsTheStore(t *testing.T) {
	d, _ := examine(t)
	path := filepath.Join(d.j.Dir, "old.db")
	d.j.Getenv = func(name string) string {
		return map[string]string{"CARREL_STORE": path, "HOME": d.j.Dir}[name]
	}
	if err := d.j.With(t.Context(), true, func(*job.Access) error { return nil }); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`DELETE FROM migration WHERE version >= 12; DROP TABLE cell_blob; DROP TABLE loose_blob`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.store(t.Context()); c.State != stateFail || !strings.Contains(c.Detail, "an earlier version of carrel made it") || !strings.Contains(c.Detail, "carrel store migrate") {
		t.Errorf("an old store: %+v", c)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
	for _, step := range []struct{ flag, want string }{{"-n", "carrel store migrate"}, {"-n=false", "brought to schema "}, {"-n", " is up to date"}} {
		said := new(bytes.Buffer)
		d.j.Stdout = said
		migrate := newStoreMigrate(d.j)
		migrate.SetArgs([]string{step.flag})
		if err := migrate.ExecuteContext(t.Context()); err != nil || !strings.Contains(said.String(), step.want) {
			t.Errorf("migrate %s: %s, %v, want %q", step.flag, said, err, step.want)
		}
	}

	path = postgres.New(t)
	if c := d.store(t.Context()); c.State != stateOK || !strings.Contains(c.Detail, "it will be made when it is needed") {
		t.Errorf("an empty database: %+v", c)
	}
	settings, err := d.load()
	if err != nil {
		t.Fatal(err)
	}
	if s, err := settings.OpenReading(t.Context(), path); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the database has a store: %v, %v", s, err)
	}
	if err := d.j.With(t.Context(), true, func(*job.Access) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if c := d.store(t.Context()); c.State != stateOK || c.Detail != path {
		t.Errorf("a database with a store: %+v", c)
	}
}

// The doctor reports how Carrel is installed in Claude Code: by settings, by the plug-in, by both
// or not at all.
func TestDoctorReadsTheSettings(t *testing.T) {
	all := ""
	for i, e := range claudeHooks().events {
		if i > 0 {
			all += ","
		}
		all += `"` + e.name + `":[{"hooks":[{"type":"command","command":"/nowhere/carrel hook claude ` + e.name + `"}]}]`
	}
	const plugin = `"enabledPlugins":{"other@x":true,"carrel@y":true}`
	for _, tt := range []struct {
		name, settings, detail string
		state                  string
	}{
		{"no settings", "", "Claude Code has no hooks of Carrel", stateWarn},
		{"nothing of ours", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`, "Claude Code has no hooks of Carrel", stateWarn},
		{"hooks", `{"hooks":{` + all + `}}`, "/nowhere/carrel does not exist", stateFail},
		{"a plug-in that is off", `{"enabledPlugins":{"carrel@y":false}}`, "Claude Code has no hooks of Carrel", stateWarn},
		{"another plug-in", `{"enabledPlugins":{"carrels@y":true}}`, "Claude Code has no hooks of Carrel", stateWarn},
		{"both", `{"hooks":{` + all + `},` + plugin + `}`, "the settings and the plug-in both have them, so each runs twice", stateWarn},
		{"one hook", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"carrel hook claude Stop"}]}]}}`, "no hook for ", stateWarn},
		{"all but one hook", `{"hooks":{` + strings.Replace(all, "claude SessionStart", "other SessionStart", 1) + `}}`, "no hook for SessionStart", stateWarn},
		{"no JSON", `{"hooks":`, "settings.json:1", stateFail},
	} {
		d, write := examine(t)
		if tt.settings != "" {
			write(".claude/settings.json", tt.settings)
		}
		c := d.hooks(t.Context())
		if c.Name != "hooks" || c.State != tt.state || !strings.Contains(c.Detail, tt.detail) || c.Advice == "" {
			t.Errorf("%s: %+v, want %s that says %q", tt.name, c, tt.state, tt.detail)
		}
	}

	d, write := examine(t)
	write(".claude/settings.json", `{`+plugin+`}`)
	t.Setenv("PATH", t.TempDir())
	if c := d.hooks(t.Context()); c.Name != "hooks" || c.State != stateFail || c.Detail != "carrel does not exist" {
		t.Errorf("the plug-in without a program: %+v", c)
	}
	in, err := d.claude()
	if err != nil || !in.plugin || in.server != "" || len(in.hooks) > 0 || len(in.missing) != len(claudeHooks().events) {
		t.Errorf("%+v, %v", in, err)
	}
	write(".claude.json", `{"mcpServers":{"carrel":{"type":"stdio","command":"no-such-carrel","args":["mcp"]}}}`)
	if c := d.server(t.Context()); c.Name != "server" || c.State != stateFail || c.Detail != "no-such-carrel does not exist" {
		t.Errorf("a server that is not there: %+v", c)
	}
	write(".claude.json", `{"mcpServers":{"carrel":"odd"}}`)
	if in, err := d.claude(); err != nil || in.server != "" {
		t.Errorf("a server that is no object: %+v, %v", in, err)
	}
	write(".claude/settings.json", `{`)
	if c := d.server(t.Context()); c.State != stateWarn || c.Detail != "the settings of Claude Code cannot be read" {
		t.Errorf("settings that cannot be read: %+v", c)
	}
}

// Hooks may be in the settings of the user and in those of a project. The advice is about the right
// ones.
func TestDoctorReadsTheProject(t *testing.T) {
	hooks := func(program string) string {
		all := make(map[string]any)
		table := claudeHooks()
		for i := range table.events {
			all[table.events[i].name] = []hookGroup{table.group(&table.events[i], program)}
		}
		data, err := json.Marshal(map[string]any{"hooks": all})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const path = "put the folder of this carrel first on the PATH"
	for _, tt := range []struct {
		name, user, project, detail, advice string
	}{
		{"the user's", "/nowhere/carrel", "", "/nowhere/carrel does not exist", "carrel setup claude writes"},
		{"the project's", "", "carrel", "carrel does not exist", path},
		{"the project's, with a path", "", "/nowhere/carrel", "/nowhere/carrel does not exist", "carrel setup claude --scope project writes"},
		{"both", "/nowhere/carrel", "carrel", "your settings and those of this folder both have them, so each runs twice", "carrel setup claude --scope project --undo"},
		{"both, the same", "carrel", "carrel", "carrel does not exist", "carrel setup claude writes"},
	} {
		d, write := examine(t)
		t.Setenv("PATH", t.TempDir())
		home := d.j.Dir
		if tt.user != "" {
			write(".claude/settings.json", hooks(tt.user))
		}
		if tt.project != "" {
			write("project/.claude/settings.json", hooks(tt.project))
		}
		d.j.Dir = filepath.Join(home, "project")
		if c := d.hooks(t.Context()); c.Detail != tt.detail || !strings.HasPrefix(c.Advice, tt.advice) {
			t.Errorf("%s: %+v, want %q and %q", tt.name, c, tt.detail, tt.advice)
		}
	}
}

func TestDoctorCountsTranscripts(t *testing.T) {
	d, write := examine(t)
	if c := d.transcripts(t.Context()); c.State != stateWarn || !strings.HasSuffix(c.Detail, "projects is not there") || c.Advice == "" {
		t.Errorf("no folder: %+v", c)
	}
	write(".claude/projects/p/1.jsonl", "{}\n")
	write(".claude/projects/q/2.jsonl", "{}\n")
	write(".claude/projects/q/notes.txt", "")
	if c := d.transcripts(t.Context()); c.State != stateOK || !strings.HasPrefix(c.Detail, "2 sessions in ") {
		t.Errorf("two sessions: %+v", c)
	}
	d.j.Dir = filepath.Join(d.j.Dir, "c[1]") // no pattern
	d.j.Getenv = func(name string) string { return map[string]string{"HOME": d.j.Dir}[name] }
	if err := os.CopyFS(filepath.Join(d.j.Dir, ".claude"), os.DirFS(filepath.Join(filepath.Dir(d.j.Dir), ".claude"))); err != nil {
		t.Fatal(err)
	}
	if c := d.transcripts(t.Context()); c.State != stateOK || !strings.HasPrefix(c.Detail, "2 sessions in ") {
		t.Errorf("two sessions below a folder whose name is a pattern: %+v", c)
	}
	if err := os.Symlink("nowhere", filepath.Join(d.j.Dir, ".claude/projects/q/3.jsonl")); err != nil {
		t.Skip("there are no links")
	}
	if c := d.transcripts(t.Context()); c.State != stateFail || !strings.Contains(c.Detail, "3.jsonl") || c.Advice != "give this user the right to read the file" {
		t.Errorf("one that cannot be read: %+v", c)
	}
}

func TestDoctorCompressesAConversation(t *testing.T) {
	d, _ := examine(t)
	if c := d.validator(t.Context()); c.State != stateOK || c.Advice != "" {
		t.Errorf("%+v", c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c := d.validator(ctx); c.State != stateFail || !strings.Contains(c.Detail, context.Canceled.Error()) {
		t.Errorf("what cannot be compressed: %+v", c)
	}
}
