package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Completion offers all entries, not only the newest.
func TestCompletionOffersAll(t *testing.T) {
	s := newDesk(t)
	s.run(0, "import", sample(t, "openai.json"))
	for _, query := range []string{"lantern", "beam"} {
		s.run(0, "assemble", "--query", query, "--budget", "9000")
	}
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"manifest", "show", ""}, 1 + 3},
		{[]string{"sessions", "show", ""}, 2 + 2},
		{[]string{"recall", ""}, 4},
	} {
		out := s.run(0, append([]string{cobra.ShellCompRequestCmd}, tt.args...)...)
		lines := bytes.Count([]byte(out), []byte("\t"))
		if lines < tt.want || tt.args[0] != "recall" && lines != tt.want {
			t.Errorf("carrel %q is offered %d, want %d:\n%s", tt.args, lines, tt.want, out)
		}
		if strings.HasPrefix(tt.args[0], "manifest") && strings.Contains(s.run(0, cobra.ShellCompRequestCmd, "manifest", "show", "@last", ""), "\t") {
			t.Error("a second argument is offered where there is one")
		}
	}
	s.run(0, "put", "note.md", "--type", "doc", "--id", "other")
	offered := func(args ...string) string {
		out := s.run(0, append([]string{cobra.ShellCompRequestCmd, "purge"}, args...)...)
		return fmt.Sprint(strings.Contains(out, "note\t"), strings.Contains(out, "other\t"))
	}
	if got := offered("") + offered("note", "") + offered("other", ""); got != "true truefalse truetrue false" {
		t.Errorf("artifacts to purge are offered as %s", got)
	}
	s.run(0, "purge", "note", "--yes")
	if got := offered(""); got != "false true" {
		t.Errorf("after a purge there are %s", got)
	}
}
