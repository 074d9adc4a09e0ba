package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/doc/topic"
	"github.com/carrel-dev/carrel/internal/cli/admin"
)

// The lowest version of Claude Code is the same in the documents, the help, and the list of
// releases for the end-to-end tests.
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
