package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// Claude Code finds nothing wrong with the plug-in and its marketplace.
func TestClaudeCodeFindsThePlugInValid(t *testing.T) {
	a := newAgent(t)
	for _, dir := range []string{".", "plugin"} {
		path, err := filepath.Abs(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		a.claude("plugin", "validate", "--strict", path)
	}
}

// What setup does to the files of Claude Code, its undo takes back. In between, the
// agent is served.
func TestClaudeCodeIsServedBySetupAndLeftAsItWas(t *testing.T) {
	const settings = `{ "model": "opus",
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
	"permissions": {"allow": ["Bash(ls:*)"]}}`
	const servers = `{"mcpServers":{"other":{"type":"stdio","command":"true"}}}` + "\n\n"
	for name, files := range map[string]map[string]string{
		"without settings":    {},
		"with other settings": {"settings.json": settings, ".claude.json": servers},
	} {
		t.Run(name, func(t *testing.T) {
			used := newAgent(t, step("build", bash(command)), load("recall"), step("end", upstream.Text("It is the linker.")))
			other := newAgent(t) // changes nothing in its files by itself
			for _, a := range []*agent{used, other} {
				for path, data := range files {
					a.write(filepath.Join(a.config, path), []byte(data))
				}
			}
			before := tree(t, other.config)
			other.carrel("setup", "claude", "--yes")
			if cmp.Equal(before, tree(t, other.config)) {
				t.Error("setup changed nothing")
			}
			other.carrel("setup", "claude", "--undo", "--yes")
			if diff := cmp.Diff(before, tree(t, other.config)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}

			used.fails()
			used.carrel("setup", "claude", "--yes")
			used.ask("The build fails, run build.sh. Find out why.")
			used.nothingRefused()
			checkShrunk(t, used.fake)
			if end := used.last(upstream.KindMain); end.Step != "end" || !slices.Contains(end.Tools(), "mcp__carrel__recall") {
				t.Errorf("the session ends at step %q, with the tools %v", end.Step, end.Tools())
			}
		})
	}
}

// tree returns the content of the files below a directory, by path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
