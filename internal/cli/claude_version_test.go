package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/doc/topic"
	"github.com/carrel-dev/carrel/internal/cli/admin"
)

// Everybody who decides on a version of Claude Code reads the same: the documents, the
// help, and the list of releases that the end-to-end tests run on.
func TestTheLowestClaudeIsStated(t *testing.T) {
	texts := map[string]string{"the help about hooks": topic.Text("hooks")}
	for _, name := range []string{"../../doc/guide/claude-code.md", "../../plugin/README.md", "../../.ci/run"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(data)
	}
	for name, text := range texts {
		if !strings.Contains(text, admin.LowestClaude) {
			t.Errorf("%s does not name %s, the lowest version", name, admin.LowestClaude)
		}
	}
}
