package cli

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/server/mcp"
)

// A spelling is the name of an engine method on the command line and as a tool, if it does not
// follow from the method's name. A reason why there is none begins with "–".
type spelling struct{ command, tool string }

const (
	noTool   = "– eight tools are what a model keeps in mind; this is for people and services"
	internal = "– no job: it changes and reads nothing of a store"
	inPath   = "– who passes a call on does it, on the way"
)

// spellings has a row for every method of the engine. The test fails for a method without a row.
var spellings = map[string]spelling{
	"Accept":          {"accept", noTool},
	"AmendContract":   {"contract add", noTool},
	"Append":          {"– a file is imported again as it grows; services append", noTool},
	"Artifacts":       {"ls", noTool},
	"Assemble":        {"assemble", "assemble"},
	"Brief":           {"brief", "– the prompt compress, and hooks"},
	"Call":            {"calls show", noTool},
	"Calls":           {"calls", noTool},
	"CheckContract":   {"contract check", noTool},
	"CheckHandoff":    {"handoff check", noTool},
	"CheckSummary":    {"summary check", noTool},
	"CollectStash":    {"stash gc", noTool},
	"Commit":          {"commit", noTool},
	"Compress":        {"compress", "compress"},
	"Context":         {"context", "status"},
	"Contract":        {"contract show", noTool},
	"Decide":          {"review approve", noTool},
	"DiffManifests":   {"manifest diff", noTool},
	"DiffSession":     {"context diff", noTool},
	"Discard":         {"discard", "discard_messages"},
	"Export":          {"export", noTool},
	"FindSession":     {"– every command that takes a session does it", "– every tool that takes a session does it"},
	"Get":             {"get", "– recall returns artifacts, too"},
	"Handoff":         {"handoff", "– the prompt handoff"},
	"Import":          {"import", "– hooks and services import"},
	"Journal":         {"log", noTool},
	"Log":             {"log", noTool},
	"Manifest":        {"manifest show", "– the resource carrel://manifest/{id}"},
	"Manifests":       {"manifest list", noTool},
	"Mark":            {"sessions mark", noTool},
	"Messages":        {"messages", "get_messages"},
	"Page":            {"page", "– an agent tidies with discard_messages"},
	"Pin":             {"pin", "pin"},
	"PinArtifact":     {"pin", "pin"},
	"ProbeReport":     {"probe report", noTool},
	"Probes":          {"probe gen", noTool},
	"Purge":           {"purge", "– no tool erases"},
	"Put":             {"put", noTool},
	"Recall":          {"recall", "recall"},
	"Refute":          {"refute", "– no tool takes back what others rely on"},
	"Remove":          {"rm", "– no tool takes back what others rely on"},
	"Repair":          {"repair", noTool},
	"Replay":          {"manifest replay", noTool},
	"Report":          {"report", noTool},
	"Restore":         {"rm", noTool},
	"Review":          {"review show", noTool},
	"Reviews":         {"review list", noTool},
	"RunProbes":       {"probe run", noTool},
	"Search":          {"search", "search"},
	"RemovedSessions": {"sessions", noTool},
	"RemoveSession":   {"sessions rm", "– no tool takes back what others rely on"},
	"RestoreSession":  {"sessions rm", noTool},
	"PurgeSession":    {"sessions purge", "– no tool erases"},
	"Session":         {"sessions show", noTool},
	"Sessions":        {"sessions", "– the resources are the sessions"},
	"Stash":           {"stash put", "– hooks do it, before the model sees the output"},
	"State":           {"state", noTool},
	"Stats":           {"context stats", noTool},
	"Cost":            {"cost", noTool},
	"Summary":         {"summary show", noTool},
	"Triage":          {"triage", noTool},
	"Trigger":         {"context trigger", "status"},
	"Undo":            {"undo", noTool},
	"VerifyManifest":  {"manifest verify", noTool},
	"Why":             {"why", noTool},

	"Begin":       {inPath, inPath},
	"End":         {inPath, inPath},
	"CloseCalls":  {inPath, inPath},
	"Rewrites":    {inPath, inPath},
	"KeepRewrite": {inPath, inPath},
	"NewEpoch":    {inPath, inPath},

	"As":         {internal, internal},
	"FinishJobs": {internal, internal},
	"Bind":       {internal, internal},
	"Check":      {internal, internal}, // it is of all scopes: "store check"
	"Follow":     {internal, internal}, // it is an import of a file of this machine, which hooks make
	"Policy":     {internal, internal},
}

// kebab returns the name of an operation for a method: "check-summary" for CheckSummary.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// commandAt returns the command with a path, or nil.
func commandAt(root *cobra.Command, path string) *cobra.Command {
	cmd, rest, err := root.Find(strings.Fields(path))
	if err != nil || len(rest) > 0 || cmd == root {
		return nil
	}
	return cmd
}

// A job has four names: a method, a command, a route and a tool. If one is missing, the table has
// a reason; a reason for one that exists fails the test.
func TestParity(t *testing.T) {
	env, _, _ := clitest.Env(t)
	root := newRoot(job.New(env))
	operations := make(map[string]bool)
	for _, o := range ops.Operations() {
		operations[o.Name] = true
	}
	tools := toolNames(t)
	engine := reflect.TypeFor[*carrel.Engine]()
	used := make(map[string]bool)
	for m := range engine.Methods() {
		s, ok := spellings[m.Name]
		if !ok {
			t.Errorf("Engine.%s has no row in the table of spellings", m.Name)
			continue
		}
		if s.command == internal || s.command == inPath {
			continue
		}
		if !strings.HasPrefix(s.command, "–") && commandAt(root, s.command) == nil {
			t.Errorf("Engine.%s: there is no command %q", m.Name, s.command)
		}
		if !operations[kebab(m.Name)] {
			t.Errorf("Engine.%s: there is no operation %q", m.Name, kebab(m.Name))
		}
		delete(operations, kebab(m.Name))
		if !strings.HasPrefix(s.tool, "–") {
			used[s.tool] = true
			if !slices.Contains(tools, s.tool) {
				t.Errorf("Engine.%s: there is no tool %q, there are %v", m.Name, s.tool, tools)
			}
		}
	}
	for name := range operations {
		t.Errorf("the operation %s is no job of the engine", name)
	}
	for _, name := range tools {
		if !used[name] {
			t.Errorf("the tool %s is no job of the engine", name)
		}
	}
	for name := range spellings {
		if _, ok := engine.MethodByName(name); !ok {
			t.Errorf("the table of spellings has %s, which the engine has not", name)
		}
	}
}

func toolNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, tool := range mcp.Tools() {
		names = append(names, tool.Name)
	}
	if len(names) > 8 {
		t.Errorf("there are %d tools: a model keeps eight in mind", len(names))
	}
	return names
}
