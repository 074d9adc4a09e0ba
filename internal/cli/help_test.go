package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// The help of every command and topic fits 80 columns, and breaks no word.
func TestHelpFits(t *testing.T) {
	env, _, _ := clitest.Env(t)
	var check func(cmd *cobra.Command)
	seen := 0
	check = func(cmd *cobra.Command) {
		seen++
		text := helpText(cmd)
		for line := range strings.Lines(text) {
			if n := out.Columns(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%s --help: %d columns:\n%s", cmd.CommandPath(), n, line)
			}
		}
		words := make(map[string]bool)
		for word := range strings.FieldsSeq(text) {
			words[word] = true
		}
		for word := range strings.FieldsSeq(cmd.Long + " " + cmd.UseLine() + " " + cmd.Example) {
			if cmd.Runnable() && !words[word] {
				t.Errorf("%s --help has no %q in one piece", cmd.CommandPath(), word)
			}
		}
		for _, c := range cmd.Commands() {
			check(c)
		}
	}
	check(newRoot(job.New(env)))
	if seen < 120 {
		t.Errorf("%d commands and topics, want the 120 there were, at least", seen)
	}
}

func TestFilled(t *testing.T) {
	long := strings.Repeat("word ", 20) + "end"
	for _, tt := range []struct{ name, text, want string }{
		{"what fits stays", "a b\nc", "a b\nc"},
		{"a paragraph that does not is broken anew", "short\n" + long, "short " + strings.TrimSpace(strings.Repeat("word ", 14)) + " word\n" + strings.Repeat("word ", 5) + "end"},
		{"a list stays", "  a\n  " + long, "  a\n  " + long},
		{"paragraphs are apart", "a\n\n" + long, "a\n\n" + strings.TrimSpace(strings.Repeat("word ", 16)) + "\n" + strings.Repeat("word ", 4) + "end"},
	} {
		if got := filled(tt.text); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
