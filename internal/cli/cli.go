package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/internal/cli/admin"
	"github.com/carrel-dev/carrel/internal/cli/artifact"
	"github.com/carrel-dev/carrel/internal/cli/contract"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/limn"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/cli/server"
	"github.com/carrel-dev/carrel/internal/cli/session"
)

// Main runs one command line, given without the program's name, and returns its exit code.
func Main(ctx context.Context, env *job.Env, args []string) (code int) {
	j := job.New(env)
	defer func() {
		if v := recover(); v != nil {
			code = fail(ctx, j, &job.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	root := rootFor(j, args)
	args = current(root, args)
	root.SetArgs(append([]string{}, args...)) // cobra reads os.Args if args is nil
	root.SetIn(j.Stdin)
	root.SetOut(j.Stdout)
	if completes(args) { // the shell prints completions to a terminal
		root.SetOut(out.Guard(j.Stdout))
	}
	root.SetErr(j.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if tolerated, ok := errors.AsType[*job.ToleratedError](err); ok {
		j.JSON = "" // standard output belongs to the program that was run
		fail(ctx, j, tolerated.Err)
		return 0
	}
	err = counted(cmd, err)
	wrong := out.KindOf(err) == out.KindUsage
	if err != nil && (!j.Started || wrong) {
		if !wrong || out.HintOf(err) == "" {
			err = &out.Error{Err: plainFlag(err), Kind: out.KindUsage, Hint: advice(cmd, err)}
		}
		if wantsJSON(args) {
			j.JSON = out.AllFields
		}
	}
	return fail(ctx, j, err)
}

// counted returns err, or in place of the library's error about the number of arguments one that
// names the argument that is missing or too many.
func counted(cmd *cobra.Command, err error) error {
	if err == nil || cmd.HasSubCommands() || out.KindOf(err) == out.KindUsage {
		return err
	}
	args := cmd.Flags().Args()
	if bad := cmd.ValidateArgs(args); bad == nil || bad.Error() != err.Error() {
		return err
	}
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	for n := range slices.Backward(args) {
		switch {
		case cmd.ValidateArgs(args[:n]) != nil:
		case n == 0:
			return out.Usagef("%s: the command takes no arguments: leave out %q", name, args[0])
		default:
			return out.Usagef("%s: %q is one argument too many", name, args[n])
		}
	}
	if needed := needed(cmd.Use); len(args) < len(needed) {
		return lacking(cmd, name, needed[len(args)])
	}
	return out.Usagef("%s: %d arguments are given, but the command is: %s", name, len(args), cmd.UseLine())
}

// idsOf says whose ids a command takes as its argument ID.
var idsOf = map[string]string{
	"credential revoke": "a credential: carrel credential list",
	"discard":           "a block: carrel messages",
	"get":               "an artifact: carrel ls",
	"manifest explain":  "a manifest: carrel manifest list",
	"manifest export":   "a manifest: carrel manifest list",
	"manifest replay":   "a manifest: carrel manifest list",
	"manifest show":     "a manifest: carrel manifest list",
	"page":              "a block: carrel messages",
	"pin":               "a block or an artifact: carrel messages, carrel ls",
	"purge":             "an artifact: carrel ls",
	"recall":            "a block or an artifact: carrel messages, carrel ls",
	"review show":       "a memory: carrel review",
	"rm":                "an artifact: carrel ls",
	"stash get":         "a stashed text: carrel stash ls",
	"unpin":             "a block or an artifact: carrel messages, carrel ls",
	"why":               "a block: carrel messages",
}

// lacking returns the error that an argument of a command is missing. Its hint is an example of the
// command.
func lacking(cmd *cobra.Command, name, argument string) error {
	text := name + ": " + argument + " is missing"
	switch of := idsOf[name]; {
	case argument == "ID" && of != "":
		kind, list, _ := strings.Cut(of, ": ")
		text += ": give the id of " + kind + ", as " + strings.ReplaceAll(list, ", ", " or ") + " prints it"
	case argument == "FILE or -":
		text += ": name a file, or - for standard input"
	}
	example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	if example == "" || strings.HasSuffix(example, "\\") {
		return out.Usagef("%s", text)
	}
	return out.Hinted(out.Usagef("%s", text), "for example: "+example+"; see "+cmd.CommandPath()+" --help")
}

// needed returns the names of the arguments that a usage line begins with and that may not be left
// out.
func needed(use string) []string {
	var names []string
	for _, word := range strings.Fields(use)[1:] {
		if c := word[0]; c < 'A' || c > 'Z' {
			break
		}
		names = append(names, strings.ReplaceAll(strings.TrimSuffix(word, "..."), "|", " or "))
	}
	return names
}

// completes reports whether the command line comes from a shell that asks for completions.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// wantsJSON reports whether arguments ask for JSON. It scans the arguments itself, because the
// parser may have failed before it came to the flag.
func wantsJSON(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--json" || strings.HasPrefix(a, "--json=") || a == "--ndjson"
	})
}

// advice returns a hint for an invalid command line.
func advice(cmd *cobra.Command, err error) string {
	var name string
	if _, scan := fmt.Sscanf(err.Error(), "unknown command %q", &name); scan == nil {
		near := meant(cmd, name)
		if len(near) == 0 {
			near = cmd.SuggestionsFor(name)
		}
		if len(near) > 0 {
			return "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or ") + "?"
		}
		return cmd.CommandPath() + " --help lists its commands"
	}
	if flag, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		if near := flagsNear(cmd, flag); len(near) > 0 {
			return "did you mean --" + strings.Join(near, " or --") + "? " + cmd.CommandPath() + " --help lists the flags"
		}
		return cmd.CommandPath() + " --help lists its flags"
	}
	return cmd.CommandPath() + " --help"
}

// flagsNear returns the flags of a command that a misspelled name may mean.
func flagsNear(cmd *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: 2} // the library compares only commands
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
	})
	return flags.SuggestionsFor(name)
}

// synonyms are words that people may try instead of a command.
var synonyms = map[string][]string{
	"compress": {"compact", "shrink", "trim", "prune"},
	"config":   {"settings", "set"},
	"context":  {"show", "status", "window", "usage"},
	"messages": {"show", "list", "blocks", "conversation"},
	"ls":       {"list", "artifacts"},
	"purge":    {"delete", "erase", "forget"},
	"recall":   {"cat", "show", "restore", "expand", "original"},
	"rm":       {"delete", "remove", "del"},
	"search":   {"find", "grep"},
	"sessions": {"list", "conversations", "history"},
	"setup":    {"install", "init", "connect"},
	"ui":       {"console", "web", "browse", "open", "dashboard"},
	"undo":     {"revert", "rollback", "reset"},
	"why":      {"explain", "log"},
}

// meant returns the commands for which a word is a synonym.
func meant(cmd *cobra.Command, word string) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, word) {
			names = append(names, c.Name())
		}
	}
	return names
}

// groups lists the commands that the help of the root command shows, by group. The commands of a
// group are sorted by name. "carrel help commands" lists all commands.
var groups = []struct{ id, title, names string }{
	{"start", "Start here:", "demo import context compress setup"},
	{"conversations", "Conversations:", "sessions messages search recall why undo export discard pin summary probe handoff"},
	{"agents", "Agents and their calls:", "run proxy report cost doctor"},
	{"contexts", "Artifacts and contexts:", "put ls rm refute purge stash assemble manifest commit review"},
	{"contracts", "Contracts and prompts:", "contract intent"},
	{"services", "Services and settings:", "ui serve credential store config bench debug help"},
}

// former maps old spellings of commands to the present ones. No help shows the old spellings, but
// they work.
var former = map[string][]string{
	"level":   {"context", "level"},
	"trigger": {"context", "trigger"},
	"stats":   {"context", "stats"},
	"diff":    {"context", "diff"},
	"tier":    {"debug", "tier"},
	"lru-sim": {"debug", "lru-sim"},
	"recency": {"debug", "recency"},
	"tokens":  {"debug", "tokens"},
	"schema":  {"debug", "schema"},
	"man":     {"debug", "man"},
}

// current returns args with the present spelling in place of a former one. Words before the
// command can only be flags of the root with their values, or "help" and the completion requests.
func current(root *cobra.Command, args []string) []string {
	flags := root.PersistentFlags()
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "-")
		switch {
		case isFlag && name != "":
			f := flags.Lookup(strings.TrimPrefix(name, "-"))
			if !strings.HasPrefix(name, "-") {
				f = flags.ShorthandLookup(name[:1])
				if len(name) > 1 { // the value is in the same word, or it is a group of short flags
					continue
				}
			}
			if f != nil && f.NoOptDefVal == "" {
				i++
			}
		case args[i] == "help" || args[i] == cobra.ShellCompRequestCmd || args[i] == cobra.ShellCompNoDescRequestCmd:
		default:
			if now := former[args[i]]; now != nil {
				return slices.Concat(args[:i], now, args[i+1:])
			}
			return args
		}
	}
	return args
}

// quick returns the constructor of the command with a name, if other programs run that command
// often; otherwise it returns nil. If the first argument names such a command, no other command is
// constructed, to save time.
func quick(name string) func(*job.Job) *cobra.Command {
	switch name {
	case "hook":
		return server.NewHook
	case "version":
		return admin.NewVersion
	}
	return nil
}

// rootFor returns the root command with the subcommands that a command line may need. If [quick]
// has a constructor for the first argument, that is the only subcommand; otherwise the root has all
// subcommands.
func rootFor(j *job.Job, args []string) *cobra.Command {
	if len(args) > 0 {
		if newCommand := quick(args[0]); newCommand != nil {
			root, cmd := newTrunk(j), newCommand(j)
			cmd.DisableFlagsInUseLine = true
			root.AddCommand(cmd)
			return root
		}
	}
	root := newRoot(j)
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // the line above adds it
	help.Args = func(_ *cobra.Command, args []string) error {
		if _, _, err := root.Find(args); err != nil {
			return out.Hinted(out.Usagef("help: there is no command or topic %q", args[0]), "carrel help commands")
		}
		return nil
	}
	return root
}

// newTrunk returns the root command without subcommands.
func newTrunk(j *job.Job) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "carrel",
		Short: "Keep the context window of a language model in order",
		Long: `Carrel decides which parts of a conversation stay in the context window, which
become stubs that can be recalled, and which leave. It imports conversations, cuts them to a
budget, and writes them in a form that the provider accepts. It keeps every byte and can explain
every decision. It needs no model and no network.

Start with "carrel demo", or with "carrel import --all" and "carrel context". All commands:
"carrel help commands".`,
		SilenceErrors:              true,
		DisableSuggestions:         true, // advice makes suggestions instead
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE:          func(cmd *cobra.Command, _ []string) error { return j.Start(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return admin.NewVersion(j).RunE(cmd, nil)
			}
			return cmd.Help()
		},
	}
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprint(cmd.OutOrStdout(), helpText(cmd)) })
	j.Register(root.PersistentFlags())
	root.Flags().BoolVar(&version, "version", false, "say which version of carrel this is")
	_ = root.RegisterFlagCompletionFunc("profile", j.CompleteProfile) // fails only for an unknown flag
	return root
}

// newRoot returns the root command with all subcommands.
func newRoot(j *job.Job) *cobra.Command {
	root := newTrunk(j)
	for _, cmd := range slices.Concat(
		admin.Commands(j), session.Commands(j), artifact.Commands(j), contract.Commands(j), limn.Commands(j), server.Commands(j),
		[]*cobra.Command{newCompletion(j), newDebug(j)},
	) {
		cmd.DisableFlagsInUseLine, cmd.Hidden, cmd.SuggestFor = true, true, synonyms[cmd.Name()]
		root.AddCommand(cmd)
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for name := range strings.FieldsSeq(g.names) {
			for _, cmd := range root.Commands() {
				if cmd.Name() == name {
					cmd.GroupID, cmd.Hidden = g.id, false
				}
			}
		}
	}
	root.SetHelpCommandGroupID(groups[len(groups)-1].id)
	root.AddCommand(newTopics()...)
	root.AddCommand(newCommandList(root))
	return root
}

// newDebug returns the command for calculations that use no store.
func newDebug(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "debug lru-sim|man|recency|schema|tier|tokens",
		Short: "Count tokens, and try out rules",
		Long: `Debug has commands that calculate and describe: tokens of a text, tiers, the age of
blocks, a trace on the resident set, JSON Schemas, manual pages. They change nothing.`,
	}
	cmd.RunE = job.Group("debug", "lru-sim, man, recency, schema, tier, tokens")
	cmd.AddCommand(slices.Concat(artifact.Calculators(j), contract.Calculators(j), admin.Descriptions(j), []*cobra.Command{newMan(j)})...)
	for _, c := range cmd.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return cmd
}

// newCommandList returns the topic that lists all commands.
func newCommandList(root *cobra.Command) *cobra.Command {
	var b strings.Builder
	for _, cmd := range root.Commands() {
		if !cmd.Runnable() { // a topic
			continue
		}
		fmt.Fprintf(&b, "  %-11s %s\n", cmd.Name(), cmd.Short)
		if cmd.Name() == "context" || cmd.Name() == "debug" {
			for _, c := range cmd.Commands() {
				fmt.Fprintf(&b, "    %-9s %s\n", c.Name(), c.Short)
			}
		}
	}
	return &cobra.Command{Use: "commands", Short: "All commands", Long: "All commands. Each has \"carrel COMMAND --help\".\n\n" + strings.TrimSuffix(b.String(), "\n")}
}

// plainFlag returns an error about the value of a flag in words about what the user typed.
func plainFlag(err error) error {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	f := e.GetFlag()
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("--%s %q is out of range", f.Name, e.GetValue())
	}
	switch f.Value.Type() {
	case "bool":
		if e.GetValue() == f.NoOptDefVal {
			return errors.Unwrap(e) // the user typed no value
		}
	case "int", "int64", "count":
		return fmt.Errorf("--%s %q is not a whole number", f.Name, e.GetValue())
	case "float64":
		return fmt.Errorf("--%s %q is not a number", f.Name, e.GetValue())
	case "duration":
		return fmt.Errorf("--%s %q is not a duration such as 30s or 5m", f.Name, e.GetValue())
	}
	return fmt.Errorf("--%s: %w", f.Name, errors.Unwrap(e))
}
