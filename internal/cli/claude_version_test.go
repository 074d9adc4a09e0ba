package cli

import (
	"os"
	"strings"
	"testing"
)

func TestOlderClaude(t *testing.T) {
	for version, want := range map[string]bool{
		"1.9.999":                  true,
		"2.0.200":                  true,
		"2.1.99":                   true, // below 197 as a number, not as a text
		"2.1.196":                  true,
		lowestClaude:               false,
		"2.1.1000":                 false,
		"2.2.0":                    false,
		"10.0.0":                   false,
		"2.1.9999999999":           false,
		"99999999999999999999.0.0": false,
	} {
		if got := olderClaude(version); got != want {
			t.Errorf("olderClaude(%q) = %v, want %v", version, got, want)
		}
	}
}

// Everybody who decides on a version of Claude Code reads the same: the documents, the
// help, and the list of releases that the end-to-end tests run on.
func TestTheLowestClaudeIsStated(t *testing.T) {
	texts := map[string]string{"the help about hooks": topicHooks}
	for _, name := range []string{"../../README.md", "../../plugin/README.md", "../../.ci/run"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(data)
	}
	for name, text := range texts {
		if !strings.Contains(text, lowestClaude) {
			t.Errorf("%s does not name %s, the lowest version", name, lowestClaude)
		}
	}
}
