package cli

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// argumentsOf returns how many arguments a usage line allows: capital words are
// arguments, in brackets they may be left out, and dots say that there may be more.
func argumentsOf(use string) (least, most int) {
	_, rest, _ := strings.Cut(use, " ")
	for _, part := range regexp.MustCompile(`\[[^]]*\](\.\.\.)?|\S+`).FindAllString(rest, -1) {
		word := strings.TrimPrefix(part, "[")
		switch {
		case part == "|":
			return 0, most // a flag may stand for the arguments
		case strings.HasPrefix(part, "-"), strings.HasPrefix(part, "(-"):
			return least, most
		}
		if word[0] < 'A' || word[0] > 'Z' {
			continue
		}
		if part == word {
			least++
		}
		most++
		if strings.Contains(part, "...") {
			most = math.MaxInt
		}
	}
	return least, most
}

// Each command takes as many arguments as its usage line says.
func TestUsageLinesCountArguments(t *testing.T) {
	env, _, _ := newEnv(t)
	root := newRoot(env, &globals{env: env})
	// Several words are one query; a hook answers whatever it is called with; there are
	// flags in place of a text.
	words := []string{"carrel search", "carrel triage", "carrel hook", "carrel intent", "carrel summary accept"}
	seen := 0
	check := func(cmd *cobra.Command) {
		if slices.Contains(words, cmd.CommandPath()) {
			return
		}
		seen++
		least, most := argumentsOf(cmd.Use)
		for n := range 4 {
			args := []string{"bash", "bash", "bash"}[:n] // which completion takes, too
			err := cmd.ValidateArgs(args)
			if want := n >= least && n <= most; (err == nil) != want {
				t.Errorf("%s (%s) with %d arguments: %v, want that it takes them: %v", cmd.CommandPath(), cmd.Use, n, err, want)
			}
		}
	}
	for cmd := range leaves(root) {
		check(cmd)
	}
	if seen < 80 {
		t.Errorf("%d commands, want the 80 there were, at least", seen)
	}
}

// What completes one argument completes no second one.
func TestCompletionEndsWithTheLastArgument(t *testing.T) {
	env, _, stderr := newEnv(t)
	if got := Main(t.Context(), env, []string{"demo", "--keep", env.Dir + "/demo"}); got != exitDone {
		t.Fatalf("demo: status %d: %s", got, stderr)
	}
	g := &globals{env: env}
	root := newRoot(env, g)
	for cmd := range leaves(root) {
		if cmd.ValidArgsFunction == nil {
			continue
		}
		_, most := argumentsOf(cmd.Use)
		if most > 3 {
			continue
		}
		cmd.SetContext(t.Context())
		if list, _ := cmd.ValidArgsFunction(cmd, make([]string, most), ""); len(list) > 0 {
			t.Errorf("%s (%s) completes argument %d: %q", cmd.CommandPath(), cmd.Use, most+1, list)
		}
	}
}
