package cli

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel"
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

// A flag that names sessions, formats or words to choose from completes to them.
func TestFlagsCompleteWhatTheyName(t *testing.T) {
	s := newDesk(t)
	root := newRoot(s.env, &globals{env: s.env})
	seen := 0
	for cmd := range leaves(root) {
		cmd.SetContext(t.Context())
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			arg, usage := pflag.UnquoteUsage(f)
			want := map[string][]string{"session": {"@last", "@prev"}, "format": carrel.Formats()}[arg]
			if name := cmd.Name() + " --" + f.Name; name == "add --block" {
				want = []string{s.block[:8]}
			} else if name == "put --from" {
				want = []string{"note"}
			}
			if _, list, ok := strings.Cut(usage, ": "); ok && want == nil && f.Value.Type() != "bool" && !strings.Contains(usage, "such as") {
				list, _, _ = strings.Cut(list, ";")
				for _, word := range strings.FieldsFunc(strings.ReplaceAll(list, " or ", ", "), func(r rune) bool { return r == ',' }) {
					if word = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(word), "or ")); regexp.MustCompile(`^[a-z0-9]+$`).MatchString(word) {
						want = append(want, word)
					}
				}
				if len(want) < 2 {
					want = nil
				}
			}
			if want == nil {
				return
			}
			seen++
			complete, ok := cmd.GetFlagCompletionFunc(f.Name)
			if !ok {
				t.Errorf("%s --%s (%s) completes nothing, want %q", cmd.CommandPath(), f.Name, usage, want)
				return
			}
			list, directive := complete(cmd, nil, "")
			var got []string
			for _, c := range list {
				word, _, _ := strings.Cut(c, "\t")
				got = append(got, word)
			}
			for _, word := range want {
				if !slices.Contains(got, word) {
					t.Errorf("%s --%s (%s) completes to %q, want %q among them", cmd.CommandPath(), f.Name, usage, got, word)
				}
			}
			if directive&cobra.ShellCompDirectiveNoFileComp == 0 && f.Name != "pack" { // which may be a file
				t.Errorf("%s --%s completes to files", cmd.CommandPath(), f.Name)
			}
		})
	}
	if seen < 35 {
		t.Errorf("%d flags, want the 35 there were, at least", seen)
	}
}
