package cli

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// argumentsOf returns the fewest and most arguments of a usage line: words in capitals are
// arguments, brackets make them optional, and dots mean any number.
func argumentsOf(use string) (least, most int) {
	_, rest, _ := strings.Cut(use, " ")
	for _, part := range regexp.MustCompile(`\[[^]]*\](\.\.\.)?|\S+`).FindAllString(rest, -1) {
		word := strings.TrimPrefix(part, "[")
		switch {
		case part == "|":
			return 0, most // a flag may stand for the arguments
		case part == "--":
			continue // those of another program come
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

// A command that gets a wrong number of arguments names the one that is missing or too many.
func TestWrongNumbersOfArguments(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"summary merge a", "carrel: summary merge: NEW is missing\n"},
		{"recall", "carrel: recall: ID is missing: give the id of a block or an artifact, as carrel messages or carrel ls prints it\nhint: for example: carrel recall "},
		{"config show a b", `carrel: config show: the command takes no arguments: leave out "a"`},
		{"limn run", "carrel: limn run: FILE or - is missing: name a file, or - for standard input\n"},
		{"export a b", `carrel: export: "b" is one argument too many`},
		{"ls a", `carrel: ls: the command takes no arguments: leave out "a"`},
		{"nonsense", `carrel: unknown command "nonsense" for "carrel"` + "\nhint: carrel --help lists its commands\n"},
		{"context --wndow 5", "carrel: unknown flag: --wndow\nhint: did you mean --now or --window? carrel context --help lists the flags\n"},
		{"context --profle 5", "carrel: unknown flag: --profle\nhint: did you mean --profile? carrel context --help lists the flags\n"},
		{"context --sideways 5", "carrel: unknown flag: --sideways\nhint: carrel context --help lists its flags\n"},
	} {
		env, _, stderr := clitest.Env(t)
		if code := Main(t.Context(), env, strings.Fields(tt.args)); code != 2 || !strings.HasPrefix(stderr.String(), tt.want) {
			t.Errorf("carrel %s: exit code %d, %q, want 2, %q", tt.args, code, stderr, tt.want)
		}
	}
}

// A command without an example for one line has no hint, and one that takes any id names no list.
func TestLackingArguments(t *testing.T) {
	for _, tt := range []struct{ name, argument, example, want, hint string }{
		{"x", "ID", "", "x: ID is missing", ""},
		{"x", "ID", "  carrel x 1\n  carrel x 2", "x: ID is missing", "for example: carrel x 1; see x --help"},
		{"x", "ID", "  carrel x \\\n    1", "x: ID is missing", ""},
		{"why", "ID", "", "why: ID is missing: give the id of a block, as carrel messages prints it", ""},
		{"why", "NAME", "", "why: NAME is missing", ""},
	} {
		p := job.NewProblem(lacking(&cobra.Command{Use: tt.name, Example: tt.example}, tt.name, tt.argument))
		if p.Detail != tt.want || p.Hint != tt.hint {
			t.Errorf("%+v: %q, %q", tt, p.Detail, p.Hint)
		}
	}
}

func TestNeededArguments(t *testing.T) {
	for use, want := range map[string]string{"ls": "[]", "diff A|B C... [D] E": "[A or B C]", "x -- A": "[]", "limn run FILE or -": "[]", "x A Z": "[A Z]"} {
		if got := fmt.Sprint(needed(use)); got != want {
			t.Errorf("%s needs %s, want %s", use, got, want)
		}
	}
}

// A hint with commands chooses the store, the scope and the folder that the command line chose.
func TestHintsKeepTheStore(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	dir := t.TempDir()
	env.Stdin = strings.NewReader("It opens at nine.")
	where := []string{"-C", dir, "-s", "my desk.db", "--scope", "a/b"}
	if code := Main(t.Context(), env, slices.Concat(where, []string{"put", "-", "--type", "doc"})); code != 0 {
		t.Fatalf("put: exit code %d: %s", code, stderr)
	}
	stderr.Reset()
	want := "hint: carrel -C " + dir + " -s 'my desk.db' --scope a/b ls lists the artifacts of a scope; --scope names another scope\n"
	if code := Main(t.Context(), env, slices.Concat(where, []string{"get", "ffff"})); code != exitNotFound || !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("exit code %d, %q, want the end %q", code, stderr, want)
	}
}

// Each command accepts the number of arguments that its usage line shows.
func TestUsageLinesCountArguments(t *testing.T) {
	env, _, _ := clitest.Env(t)
	root := newRoot(job.New(env))
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
	for _, cmd := range root.Commands() { // those that do something, and have commands below them
		if cmd.HasSubCommands() && cmd.Args != nil {
			check(cmd)
		}
	}
	if seen < 85 {
		t.Errorf("%d commands, want the 85 there were, at least", seen)
	}
}

// The completion of a command stops after its last argument.
func TestCompletionEndsWithTheLastArgument(t *testing.T) {
	s := newDesk(t)
	root := newRoot(job.New(s.env))
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

// A flag for sessions, formats or fixed words completes to them.
func TestFlagsCompleteWhatTheyName(t *testing.T) {
	s := newDesk(t)
	root := newRoot(job.New(s.env))
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

// An invalid command line is refused with a reason, and a similar valid one is not. SESSION,
// BLOCK and MANIFEST exist; FILE is a conversation, NEW a file that does not exist, OUT a file to
// write.
func TestCommandLinesThatMakeNoSense(t *testing.T) {
	s := newDesk(t)
	names := strings.NewReplacer(
		"SESSION", strings.TrimSpace(s.run(0, "sessions", "--jq", ".items[0].session")),
		"MANIFEST", strings.TrimSpace(s.run(0, "manifest", "list", "--jq", ".items[0].id")),
		"BLOCK", s.block, "FILE", sample(t, "claude.jsonl"), "NEW", s.env.Dir+"/new.out", "OUT", s.env.Dir+"/old.out", "DIR", s.env.Dir,
	)
	for _, tt := range []struct {
		line   string
		status int
		says   string // on standard error, if it is refused
	}{
		{"get note -o NEW --meta", exitUsage, "-o is for the content, which --meta and --json do not print"},
		{"get note -o NEW --json", exitUsage, "-o is for the content, which --meta and --json do not print"},
		{"get note --meta", exitDone, ""},
		{"get note -o OUT --force", exitDone, ""},
		{"ls --all --status live", exitUsage, "--all and --status: use only one"},
		{"ls --status live", exitDone, ""},
		{"ls --status alive", exitUsage, `--status: "alive" is none of live, held`},
		{"ls --limit -1", exitUsage, "--limit: -1 is below 0"},
		{"ls --limit 0", exitDone, ""},
		{"refute", exitUsage, "refute: name artifacts, or give --source"},
		{"refute --source nowhere -n", exitNotFound, `no artifact from the source "nowhere"`},
		{"assemble --query x -o - --json", exitUsage, "-o - and --json: only one can go to standard output"},
		{"assemble --query x -o - -n", exitDone, ""},
		{"assemble --query x -n --json", exitDone, ""},
		{"assemble --query x -n --trace", exitUsage, "--trace and -n"},
		{"assemble --query x --tiers soft --tier core -n", exitUsage, "--tier and --tiers soft"},
		{"assemble --query x --tiers article --tier core -n", exitDone, ""},
		{"assemble --query x --tier 4 -n", exitDone, ""},
		{"assemble --query x --tier 5 -n", exitUsage, `--tier: "5" is none of full, summarized, core, minimal`},
		{"assemble --query x --tier 0 -n", exitUsage, `--tier: "0" is none of`},
		{"assemble --query x --format yaml -n", exitUsage, `--format: "yaml" is none of text, openai, anthropic`},
		{"assemble --query x --query-file FILE", exitUsage, "--query and --query-file: use only one"},
		{"assemble --query x --system a --system-file FILE", exitUsage, "--system and --system-file: use only one"},
		{"assemble --query x --reserve -1 -n", exitUsage, `--reserve: "-1" is not a number of tokens`},
		{"assemble --query x --reserve 1_000 --budget 50,000 -n", exitDone, ""},
		{"bench pager --blocks 0", exitUsage, "--blocks: 0 is below 1"},
		{"bench retention FILE --max 0", exitUsage, "--max: 0 is below 1"},
		{"bench retention FILE --min 0", exitUsage, "--min: 0 is below 1"},
		{"bench retention FILE --svg - --json", exitUsage, "--svg - and --json: only one can go to standard output"},
		{"bench retention FILE --budgets 10%,much", exitUsage, "--budgets:"},
		{"bench retention FILE --strategy window,best", exitUsage, `"best"`},
		{"bench exam FILE --share 0", exitUsage, "--share: 0 is not from 1 to 100"},
		{"bench exam FILE --share 1", exitInput, "claude.jsonl:2: "},
		{"bench exam FILE --share 100", exitInput, "claude.jsonl:2: "},
		{"bench exam FILE --share 101", exitUsage, "--share: 101 is not from 1 to 100"},
		{"bench exam FILE --methods window,best", exitUsage, `--methods: no method is called "best": there are all, carrel, baselines, account, `},
		{"bench exam FILE --windows NEW", exitInput, "no such file"},
		{"bench exam", exitUsage, "bench exam: name the file of an exam"},
		{"bench exam FILE", exitInput, "claude.jsonl:2: "},
		{"bench exam FILE --out DIR", exitPolicy, "there are files in it"},
		{"bench exam prepare FILE", exitUsage, "bench exam prepare: name a folder with --out"},
		{"bench exam prepare FILE --out DIR", exitPolicy, "there are files in it"},
		{"bench exam ask", exitUsage, " is missing"},
		{"bench exam ask DIR", exitNotFound, "no exam was prepared in this folder: key.json is not there"},
		{"bench exam grade DIR --sheets", exitNotFound, "no exam was prepared in this folder: key.json is not there"},
		{"-C NEW sessions", exitUsage, "-C: there is no folder"},
		{"-C FILE sessions", exitUsage, "-C: there is no folder"},
		{"-C DIR sessions", exitDone, ""},
		{"sessions --jq . --template x", exitUsage, "--jq and --template: use only one"},
		{"sessions --jq .[", exitUsage, "--jq: "},
		{"sessions --jq error", exitUsage, "--jq: "},
		{"sessions --json=tokens", exitDone, ""},
		{"sessions --json=weight", exitUsage, `--json: no field "weight"; there are `},
		{"sessions --timeout -5s", exitUsage, "--timeout: -5s is below 0"},
		{"sessions --timeout 0", exitDone, ""},
		{"brief SESSION -f FILE", exitUsage, "a stored session is named, too"},
		{"brief -1 -f FILE", exitUsage, "a stored session is named, too"},
		{"brief -f FILE", exitDone, ""},
		{"context SESSION -0", exitUsage, "-0 and SESSION name two sessions"},
		{"context -0", exitDone, ""},
		{"context -0 -1", exitUsage, "-0 and -1 name two sessions"},
		{"context -1", exitNotFound, "there is no session"},
		{"commit --confidence 0.9 --evaluator rules", exitUsage, "commit: name a manifest such as @last, or a memory with --text or --file"},
		{"commit --text x --verdict FILE --confidence 1", exitUsage, "--verdict: the file has the evaluator and the confidence"},
		{"commit --text x --verdict FILE --evaluator rules", exitUsage, "--verdict: the file has the evaluator and the confidence"},
		{"commit --text x --evaluator rules", exitUsage, "--evaluator: needs --confidence"},
		{"commit --text x --confidence high --evaluator rules", exitUsage, `--confidence: "high" is not a number`},
		{"commit --text x --confidence 0.9 --evaluator rules --ttl soon", exitUsage, "--ttl: "},
		{"commit --text x --confidence 0.9 --evaluator rules --from absent", exitNotFound, "absent"},
		{"commit --text x --confidence 0.9 --evaluator rules --from note --ttl 90d", exitDone, ""},
		{"compress --window -1 -n", exitUsage, "--window: -1 is below 0"},
		{"compress --window 0 -n", exitDone, ""},
		{"compress --todos-out NEW -n", exitUsage, "--todos-out: needs --todos"},
		{"summary check FILE --blocks 1", exitUsage, "--blocks: needs --session or --source with the conversation"},
		{"contract check session.limn -2", exitUsage, "session.limn: a stored session is named, too: give only one"},
		{"context diff SESSION 99", exitUsage, "neither an operation nor a revision"},
		{"why", exitUsage, "why: ID is missing: give the id of a block, as carrel messages prints it"},
		{"compress --to nosuch -o NEW", exitUsage, `--to: `},
		{"compress --to openai", exitUsage, "--to: needs -o with the file of the export"},
		{"compress -o NEW --state NEW", exitUsage, "-o and --state: the file is the same"},
		{"compress -o DIR/absent/new.json", exitInput, "no such file"},
		{"compress --strategy account --summary", exitUsage, "--summary and --todos: the strategy account makes no summary: give --strategy anchored"},
		{"compress --summary -n", exitUsage, "--summary: a dry run makes no summary to print"},
		{"compress --in - --todos -", exitUsage, "--in - and --todos -: only one of them can be standard input"},
		{"compress --in FILE --todos DIR/todos.json -n", exitDone, ""},
		{"compress -o - --summary", exitUsage, "only one can go to standard output"},
		{"compress -o - --state -", exitUsage, "only one can go to standard output"},
		{"compress --todos DIR/todos.json --todos-out - --state -", exitUsage, "only one can go to standard output"},
		{"compress -o - --json", exitUsage, "only one can go to standard output"},
		{"compress -o - --json -n", exitDone, ""},
		{"compress SESSION --in FILE -n", exitUsage, "a stored session is named, too"},
		{"compress --strategy best -n", exitUsage, `--strategy: "best" is none of account, `},
		{"compress --target 0% -n", exitUsage, `--target: "0%" is not a share of the conversation: give more than 0% and at most 100%`},
		{"compress --target 101% -n", exitUsage, `--target: "101%" is not a share`},
		{"compress --target 100% -n", exitDone, ""},
		{"compress --target 0 -n", exitUsage, `--target: "0" is not a size: give a number of tokens above 0`},
		{"compress --probe-min 1.1 -n", exitUsage, `--probe-min: "1.1" is above 1`},
		{"compress --probe-min 1 --strategy window -n", exitDone, ""},
		{"config shw", exitUsage, `unknown command "shw" for "carrel config"`},
		{"config", exitUsage, "config: name one of show, path"},
		{"context --window -1", exitUsage, "--window: -1 is below 0"},
		{"context --window 0", exitDone, ""},
		{"contract add", exitUsage, "contract add: there is nothing to add: give a flag"},
		{"discard", exitUsage, "discard: name blocks, or let --auto choose them"},
		{"discard BLOCK --to 5", exitUsage, "--to: needs --auto"},
		{"discard --auto SESSION other", exitUsage, "discard: --auto chooses the blocks, and takes one session"},
		{"discard --auto --to 0", exitUsage, "--to: the target must be above 0 tokens"},
		{"discard --auto SESSION --session SESSION -n", exitUsage, "--session SESSION: the session is named twice"},
		{"discard --auto -0 --session SESSION -n", exitUsage, "--session SESSION: the session is named twice"},
		{"discard BLOCK -0 --session SESSION -n", exitUsage, "--session SESSION: the session is named twice"},
		{"discard BLOCK --session SESSION -n", exitPolicy, "may not be discarded"},
		{"discard BLOCK -0 -n", exitPolicy, "may not be discarded"},
		{"discard BLOCK -1 -n", exitNotFound, "there is no session"},
		{"discard BLOCK --session none -n", exitNotFound, "there is no session"},
		{"discard --auto --session SESSION --to 100000 -n", exitDone, ""},
		{"export --json", exitUsage, "--json: needs -o: "},
		{"export --json -n", exitDone, ""},
		{"export -o OUT --force --json", exitDone, ""},
		{"export --as-new-session", exitUsage, "--as-new-session: name a folder with -o"},
		{"export --as-new-session -o DIR --force", exitUsage, "--as-new-session and --force"},
		{"export --as-new-session -o NEW", exitUsage, "give a folder that exists, or a file after a UUID"},
		{"export --as-new-session --json", exitUsage, "--as-new-session: name a folder with -o"},
		{"handoff --strict", exitUsage, "--strict: needs --json"},
		{"handoff -o NEW --json=goal", exitUsage, "-o: the file gets the whole document"},
		{"handoff -o - --jq .goal", exitDone, ""},
		{"handoff -o OUT --force --json", exitDone, ""},
		{"import", exitUsage, "import: name files or folders, or give --all"},
		{"import - --watch", exitUsage, "--watch: standard input cannot be watched"},
		{"import FILE --watch -n", exitUsage, "--watch and --dry-run: use only one"},
		{"import FILE --since tomorrow", exitUsage, `--since: "tomorrow" is not a time`},
		{"import FILE --since -1h", exitUsage, `--since: "-1h" is not a time`},
		{"intent --score FILE more", exitUsage, "--score: the prompts are in the file; give no other arguments"},
		{"intent --score FILE -f FILE", exitUsage, "--score: the prompts are in the file"},
		{"intent --score FILE --keywords", exitUsage, "--score: the prompts are in the file"},
		{"intent --score FILE --compat", exitUsage, "--score: the prompts are in the file"},
		{"intent --score FILE --diff FILE", exitUsage, "--score: the prompts are in the file"},
		{"intent --score FILE --min 101", exitUsage, "--min: 101 is not a percentage"},
		{"intent --score FILE --min -1", exitUsage, "--min: -1 is not a percentage"},
		{"intent x --min 5", exitUsage, "--min: needs --score"},
		{"intent x --keywords --diff FILE", exitUsage, ": use only one"},
		{"intent x --keywords --compat", exitUsage, ": use only one"},
		{"intent x --compat --diff FILE", exitUsage, ": use only one"},
		{"intent x --keywords", exitDone, ""},
		{"intent x --keywords --json=keywords", exitDone, ""},
		{"intent x --keywords --json=words", exitUsage, `--json: no field "words"; there are keywords`},
		{"intent x --compat", exitDone, ""},
		{"intent x -f FILE", exitUsage, "the command line has a prompt, too: give only one"},
		{"intent", exitUsage, "intent: name a prompt, a file with -f, or -"},
		{"level SESSION --used 1 --window 2", exitUsage, "level: give a session or figures, not both"},
		{"level -0 --used 1 --window 2", exitUsage, "level: give a session or figures, not both"},
		{"limn repl --json", exitUsage, "--json: limn repl has no JSON output"},
		{"limn fmt - -w", exitUsage, "-w and -: "},
		{"limn fmt FILE -w -d", exitUsage, "-w and -d: use only one"},
		{"limn check FILE --profile 36", exitUsage, "--profile: "},
		{"log --since -1", exitUsage, "log: --since -1 is below 0"},
		{"log --limit -1", exitUsage, "log: --limit -1 is below 0"},
		{"log --since 0 --limit 0", exitDone, ""},
		{"lru-sim FILE --limit 0", exitUsage, "--limit: 0 is below 1"},
		{"lru-sim FILE", exitUsage, "--limit: the flag is missing"},
		{"manifest shw", exitUsage, `unknown command "shw" for "carrel manifest"`},
		{"manifest", exitUsage, "manifest: name one of list, show, explain, diff, verify, replay, export"},
		{"manifest list --limit -1", exitUsage, "--limit: -1 is below 0"},
		{"manifest list --limit 0", exitDone, ""},
		{"manifest replay MANIFEST -o NEW --json", exitUsage, "-o and --json: give one of them"},
		{"manifest replay MANIFEST -o OUT --force", exitDone, ""},
		{"manifest replay MANIFEST --json", exitDone, ""},
		{"messages --all-ids --tree", exitUsage, "--all-ids and --tree: use only one"},
		{"messages --all-ids --json", exitUsage, "--all-ids and --json: use only one"},
		{"messages --all-ids", exitDone, ""},
		{"messages --tree --json", exitDone, ""},
		{"messages --limit -1", exitUsage, "--limit: -1 is below 0"},
		{"pager --history FILE", exitUsage, "pager: --contract is missing"},
		{"pager --contract FILE", exitUsage, "pager: --history is missing"},
		{"probe gne", exitUsage, `unknown command "gne" for "carrel probe"`},
		{"probe", exitUsage, "probe: name one of gen"},
		{"probe gen --blocks -1", exitUsage, "--blocks: -1 is below 0"},
		{"probe gen --blocks 0", exitDone, ""},
		{"put --lines FILE FILE", exitUsage, "name no other file"},
		{"put FILE", exitUsage, "--type: the flag is missing: give one of "},
		{"put FILE --type poem", exitUsage, `--type: "poem" is none of`},
		{"put FILE FILE --type doc --id a", exitUsage, "--id: needs one artifact"},
		{"put FILE FILE --type doc --title a", exitUsage, "--title: needs one artifact"},
		{"put FILE --type doc --title a --id a -n", exitDone, ""},
		{"put FILE --type doc --live --source a", exitUsage, "--live and --source: use only one"},
		{"put --type doc --live", exitUsage, "--live: needs the name of a file"},
		{"put - --type doc --live", exitUsage, "--live: needs the name of a file"},
		{"put --lines FILE --live", exitUsage, "--live: needs the name of a file"},
		{"put FILE --type doc --ttl soon", exitUsage, "--ttl: "},
		{"put FILE --type doc --created soon", exitUsage, "--created: "},
		{"recall BLOCK -o NEW --json", exitUsage, "-o and --json: give one of them"},
		{"recall BLOCK -o OUT --force", exitDone, ""},
		{"recall BLOCK --json", exitDone, ""},
		{"recency", exitUsage, "recency: name ages with --ages"},
		{"recency --ages -1", exitUsage, `--ages: "-1" is not an age`},
		{"recency --ages NaN", exitUsage, `--ages: "NaN" is not an age`},
		{"recency --ages Inf", exitUsage, `--ages: "Inf" is not an age`},
		{"recency --ages 0", exitDone, ""},
		{"review shw", exitUsage, `unknown command "shw" for "carrel review"`},
		{"search lamp --k 0", exitUsage, "--k: 0 is below 1"},
		{"search beam --k 1", exitDone, ""},
		{"search lamp --kind poem", exitUsage, `--kind: "poem" is none of system, user`},
		{"sessions --limit -1", exitUsage, "--limit: -1 is below 0"},
		{"sessions list --limit -1", exitUsage, "--limit: -1 is below 0"},
		{"sessions mark", exitUsage, "mark: give --critical or --no-critical"},
		{"sessions mark --critical --no-critical", exitUsage, "mark: give --critical or --no-critical"},
		{"sessions mark --no-critical", exitDone, ""},
		{"setup gopher", exitUsage, `"gopher" is not a supported client: the clients are claude, codex, gemini and opencode`},
		{"setup", exitUsage, "setup: name one of claude"},
		{"state -o NEW --jq .compression_state", exitUsage, "-o: the file gets the whole document"},
		{"state -o NEW --template {{.}}", exitUsage, "-o: the file gets the whole document"},
		{"state -o - --jq .compression_state", exitDone, ""},
		{"state -o OUT --force --json", exitDone, ""},
		{"stop 1 --all", exitUsage, "stop: process ids and --all exclude each other"},
		{"stop", exitNotFound, "no server runs"},
		{"stop --all", exitDone, ""},
		{"token create --allow dance", exitUsage, `"dance"`},
		{"token create --expires soon", exitUsage, "--expires: "},
		{"trigger --by feeling", exitUsage, `--by: "feeling" is none of window, pager`},
		{"undo --session none", exitNotFound, "there is no session"},
		{"calls show none", exitNotFound, "hint: carrel calls lists the calls"},
		{"undo op_0", exitNotFound, "hint: without an id, carrel undo takes back the last operation"},
		{"undo op_0 --session none", exitNotFound, "none"},
		{"validate FILE --provider none", exitInput, `"none": want one of`},
		{"version --json", exitDone, ""},
		{"help no-such", exitUsage, `help: there is no command or topic "no-such"`},
		{"help sessions show", exitDone, ""},
		{"hook claude Stop --strict", exitInput, "the input of Stop is empty"},
		{"hook claude Stop --strict < {}", exitInput, "the input of Stop: the event names no file"},
		{"contract init @prev -n", exitNotFound, "there is no session"},
		{"contract init -2 -n", exitNotFound, "there is no session"},
		{"contract add --source =text", exitUsage, `"=text" is not name=text or name=@file`},
		{"summary show --whole", exitNotFound, "has no summary"},
		{"summary show --whole --window", exitUsage, "--whole and --window: use only one"},
		{"summary check FILE --session @last --blocks -1", exitUsage, "--blocks: -1 is below 0"},
		{"summary merge DIR/sum.json DIR/sum.json -o - --json", exitUsage, "-o - and --json: only one"},
		{"trigger --util 0.5 --used 5", exitUsage, "--util and --used: use only one"},
		{"summary merge DIR/sum.json DIR/sum.json -o -", exitDone, ""},
		{"summary merge FILE FILE --count files --format json", exitUsage, "--count prints a number and no summary"},
		{"context stats --task 0", exitUsage, "--task: there is no task 0: give 1 to "},
		{"put --lines FILE --id a", exitUsage, "--id: needs one artifact"},
		{"put FILE --type verified --verified-by ada -n", exitDone, ""},
		{"trigger --messages -1", exitUsage, "none can be below 0"},
		{"trigger --iterations -1", exitUsage, "none can be below 0"},
		{"trigger --cycles -1", exitUsage, "none can be below 0"},
		{"trigger --tokens 5 --by window", exitUsage, "--tokens and --iterations are for the pager"},
		{"trigger --iterations 1 --used 5", exitUsage, "--tokens and --iterations are for the pager"},
		{"trigger SESSION --tokens 5", exitUsage, "trigger: give a session or figures, not both"},
		{"trigger -0 --tokens 5", exitUsage, "trigger: give a session or figures, not both"},
		{"trigger --used 5 --window 9 --by pager", exitNo, "none"},
		{"no-such", exitUsage, `unknown command "no-such" for "carrel"`},
		{"sessions --no-such", exitUsage, "unknown flag: --no-such"},
	} {
		line, in, _ := strings.Cut(names.Replace(tt.line), " < ")
		args := strings.Fields(line)
		s.env.Stdin = strings.NewReader(in)
		var stdout, stderr bytes.Buffer
		env := *s.env
		env.Stdout, env.Stderr = &stdout, &stderr
		got := Main(t.Context(), &env, args)
		if got != tt.status || tt.status != exitDone && !strings.Contains(stderr.String()+stdout.String(), names.Replace(tt.says)) {
			t.Errorf("carrel %s: status %d, want %d and %q: %s%s", tt.line, got, tt.status, tt.says, &stderr, stdout.String()[:min(300, stdout.Len())])
		}
	}
}

// The help of the root is short: at most 42 commands in groups. All commands are in a list of
// their own.
func TestTheHelpOfTheRootIsShort(t *testing.T) {
	env, _, _ := clitest.Env(t)
	root := newRoot(job.New(env))
	shown := 0
	all := commandAt(root, "commands").Long
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			shown++
			if cmd.GroupID == "" {
				t.Errorf("%s is in no group", cmd.Name())
			}
		}
		if cmd.Runnable() && !strings.Contains(all, "\n  "+cmd.Name()+" ") {
			t.Errorf("the list of all commands has no %s", cmd.Name())
		}
	}
	if shown == 0 || shown > 42 {
		t.Errorf("%d commands are shown, want 42 at most", shown)
	}
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.names) {
			if cmd := commandAt(root, name); name != "help" && (cmd == nil || !cmd.IsAvailableCommand()) {
				t.Errorf("group %s has %s, which is no command", g.id, name)
			}
		}
	}
}

// Former spellings of commands work at any position of the command, and other words stay
// unchanged.
func TestFormerSpellings(t *testing.T) {
	env, _, _ := clitest.Env(t)
	root := newRoot(job.New(env))
	for _, tt := range []struct{ args, want string }{
		{"tier --demand 1", "debug tier --demand 1"},
		{"-s store level", "-s store context level"},
		{"-sstore level", "-sstore context level"},
		{"--store level tier", "--store level debug tier"},
		{"--store=level tier", "--store=level debug tier"},
		{"-q level", "-q context level"},
		{"-sx level", "-sx context level"},
		{"__completeNoDesc tokens x", "__completeNoDesc debug tokens x"},
		{"help stats", "help context stats"},
		{"__complete tokens x", "__complete debug tokens x"},
		{"recall level", "recall level"},
		{"--json", "--json"},
		{"-", "-"},
		{"", ""},
	} {
		if got := strings.Join(current(root, strings.Fields(tt.args)), " "); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.args, got, tt.want)
		}
	}
}
