package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// Main runs one command line, without the program's name, and returns its exit
// code.
func Main(ctx context.Context, env *Env, args []string) (code int) {
	g := &globals{}
	env = env.screens(&g.raw)
	g.env = env
	defer func() {
		if v := recover(); v != nil {
			code = g.fail(ctx, &panicError{v, debug.Stack()})
		}
	}()
	root := rootFor(env, g, args)
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for os.Args
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	if completes(args) { // into a terminal, by way of a shell
		root.SetOut(&screen{env.Stdout, new(bool)})
	}
	root.SetErr(env.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	usage, wrong := errors.AsType[*usageError](err)
	if err != nil && (!g.started || wrong) {
		if !wrong || usage.hint == "" {
			err = &usageError{err: err, hint: advice(cmd, err)}
		}
		if wantsJSON(args) {
			g.json = allFields
		}
	}
	return g.fail(ctx, err)
}

// completes reports whether a shell asks what could come next.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// wantsJSON reports whether arguments ask for JSON. They may not have been
// parsed up to there.
func wantsJSON(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--json" || strings.HasPrefix(a, "--json=") || a == "--ndjson"
	})
}

// advice returns what to try instead of a command line that makes no sense.
func advice(cmd *cobra.Command, err error) string {
	var name string
	if _, scan := fmt.Sscanf(err.Error(), "unknown command %q", &name); scan == nil {
		if near := cmd.SuggestionsFor(name); len(near) > 0 {
			return "did you mean " + cmd.CommandPath() + " " + strings.Join(near, " or ") + "?"
		}
	}
	return cmd.CommandPath() + " --help"
}

// The groups of commands in the help.
const (
	groupStart        = "start"
	groupConversation = "conversation"
	groupArtifacts    = "artifacts"
	groupContexts     = "contexts"
	groupContract     = "contract"
	groupServe        = "serve"
	groupAdmin        = "admin"
)

// quick are commands that other programs run at every step. Where the first
// argument is one of them, no other is made.
func quick(name string) func(*Env, *globals) *cobra.Command {
	switch name {
	case "hook":
		return newHook
	case "version":
		return newVersion
	}
	return nil
}

// rootFor returns the root command with what a command line may need of the
// others: all of them, or one that is quick.
func rootFor(env *Env, g *globals, args []string) *cobra.Command {
	if len(args) > 0 {
		if newCommand := quick(args[0]); newCommand != nil {
			root, cmd := newTrunk(g), newCommand(env, g)
			cmd.DisableFlagsInUseLine = true
			root.AddCommand(cmd)
			return root
		}
	}
	return newRoot(env, g)
}

// newTrunk returns the root command without the others.
func newTrunk(g *globals) *cobra.Command {
	root := &cobra.Command{
		Use:   "carrel",
		Short: "Keep the context window of a language model in order",
		Long: `Carrel decides what of a conversation stays in the context window, what becomes
a stub that can be recalled, and what leaves. It takes conversations in, cuts
them to a budget, and writes them out in the form that the provider accepts. It
loses no byte and can say why everything is where it is. It needs no model and
no network.

Start with "carrel demo", or with "carrel import --all" and "carrel context".`,
		SilenceErrors:              true,
		DisableSuggestions:         true, // they are hints, see advice
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE:          func(cmd *cobra.Command, _ []string) error { return g.start(cmd) },
		RunE: func(*cobra.Command, []string) error {
			return usagef("no command")
		},
	}
	g.register(root.PersistentFlags())
	_ = root.RegisterFlagCompletionFunc("profile", g.completeProfile) // it fails only for a flag that is not there
	return root
}

// newRoot returns the root command with all others.
func newRoot(env *Env, g *globals) *cobra.Command {
	root := newTrunk(g)
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start:"},
		&cobra.Group{ID: groupConversation, Title: "Conversations:"},
		&cobra.Group{ID: groupArtifacts, Title: "Artifacts:"},
		&cobra.Group{ID: groupContexts, Title: "Contexts:"},
		&cobra.Group{ID: groupContract, Title: "Contracts and checks:"},
		&cobra.Group{ID: groupServe, Title: "Servers:"},
		&cobra.Group{ID: groupAdmin, Title: "Administration:"},
	)
	root.SetHelpCommandGroupID(groupAdmin)
	for _, group := range []struct {
		id       string
		commands []func(*Env, *globals) *cobra.Command
	}{
		{groupStart, []func(*Env, *globals) *cobra.Command{newDemo}},
		{groupConversation, []func(*Env, *globals) *cobra.Command{
			newImport, newSessions, newMessages, newContext, newLevel, newTrigger, newCompress, newDiscard, newPage, newExport,
			newRecall, newSearch, newWhy, newBrief, newUndo, newPin, newUnpin,
			newSummary, newProbe, newState, newStats,
		}},
		{groupArtifacts, []func(*Env, *globals) *cobra.Command{newPut, newGet, newList, newRemove, newPurge, newRefute, newStash}},
		{groupContexts, []func(*Env, *globals) *cobra.Command{
			newAssemble, newTriage, newManifest, newCommit, newReview, newLog, newTier, newLRUSim,
		}},
		{groupContract, []func(*Env, *globals) *cobra.Command{newContract, newHandoff, newAccept, newLimn, newIntent, newPager, newRecency, newValidate, newSchema, newTokens, newBench}},
		{groupServe, []func(*Env, *globals) *cobra.Command{newServe, newMCP, newHook, newSetup, newDoctor, newToken, newPS, newStop}},
		{groupAdmin, []func(*Env, *globals) *cobra.Command{newStore, newConfig, newCompletion, newMan, newVersion}},
	} {
		for _, newCommand := range group.commands {
			cmd := newCommand(env, g)
			cmd.GroupID = group.id
			cmd.DisableFlagsInUseLine = true
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newTopics()...)
	return root
}

// globals are the settings that all commands share.
type globals struct {
	env *Env

	store, scope, dir string
	config, profile   string
	offline           *pflag.Flag
	json              string // "" for text, allFields, or names of fields
	ndjson            bool
	jq, template      string
	quiet, raw        bool
	verbose           int
	color, progress   string
	now               string
	timeout           time.Duration

	started  bool // the command line was understood
	settings *config.Settings
	reporter *progress
	limited  context.Context // with the timeout, if there is one
	release  context.CancelFunc
}

// allFields is what --json without fields stands for.
const allFields = "all"

func (g *globals) register(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVarP(&g.store, "store", "s", "", "`path` of the store (CARREL_STORE)")
	f.StringVar(&g.scope, "scope", "", "`tenant/project/agent` whose conversations these are (CARREL_SCOPE)")
	f.StringVarP(&g.config, "config", "c", "", "`file` whose settings win over the project's and yours (CARREL_CONFIG)")
	f.StringVar(&g.profile, "profile", "", "take the settings of profile `name` (CARREL_PROFILE)")
	f.Bool("offline", false, "connect to nothing (CARREL_OFFLINE=1)")
	g.offline = f.Lookup("offline")
	f.StringVarP(&g.dir, "directory", "C", "", "run as if started in `dir`")
	f.StringVar(&g.json, "json", "", "print one JSON document, or only these `fields` of it (CARREL_JSON=1)")
	f.Lookup("json").NoOptDefVal = allFields
	f.BoolVar(&g.ndjson, "ndjson", false, "print lists as JSON, one entry a line")
	f.StringVar(&g.jq, "jq", "", "print what a jq `expression` makes of the JSON")
	f.StringVar(&g.template, "template", "", "print what a Go `template` makes of the JSON")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "print results and errors only")
	f.CountVarP(&g.verbose, "verbose", "v", "log to standard error; twice for more (CARREL_LOG=debug)")
	f.StringVar(&g.color, "color", "", "color: `when`, auto, always or never (CARREL_COLOR, NO_COLOR, CLICOLOR_FORCE)")
	f.BoolVar(&g.raw, "raw", false, "print content to a terminal as it is, with what commands the terminal")
	f.StringVar(&g.progress, "progress", "", "`form` of progress: auto, plain, json or none (CARREL_PROGRESS)")
	f.StringVar(&g.now, "now", "", "take `time` for the clock (CARREL_NOW, SOURCE_DATE_EPOCH)")
	f.DurationVar(&g.timeout, "timeout", 0, "give up after a `duration` such as 30s (CARREL_TIMEOUT)")
}

// start checks the settings before a command runs.
func (g *globals) start(cmd *cobra.Command) error {
	if err := g.startJSON(); err != nil {
		return err
	}
	if v := g.env.Getenv("CARREL_TIMEOUT"); v != "" && g.timeout == 0 {
		d, err := time.ParseDuration(v)
		if err != nil {
			return usagef("CARREL_TIMEOUT: %w", err)
		}
		g.timeout = d
	}
	if _, err := config.Clock(g.env.Getenv, g.now, g.env.Now); err != nil {
		return err
	}
	if g.dir != "" {
		if fi, err := os.Stat(g.path("")); err != nil || !fi.IsDir() {
			return usagef("-C %s: is no folder", g.dir)
		}
	}
	if g.timeout > 0 {
		ctx, cancel := context.WithTimeout(cmd.Context(), g.timeout)
		g.limited, g.release = ctx, cancel
		cmd.SetContext(ctx)
	}
	g.started = true
	if err := g.settle(cmd); err != nil {
		return err
	}
	return g.checkFiles(cmd)
}

// startJSON checks how a result is to be printed.
func (g *globals) startJSON() error {
	filtered := g.jq != "" || g.template != ""
	if g.json == "" && (isTrue(g.env.Getenv("CARREL_JSON")) || filtered || g.ndjson) {
		g.json = allFields
	}
	if g.jq != "" && g.template != "" {
		return usagef("--jq and --template: give one of them")
	}
	if g.jq != "" {
		if _, err := parseQuery(g.jq); err != nil {
			return err
		}
	}
	_, err := parseTemplate(g.template)
	return err
}

// settle finds out the settings. A command that completes another is not
// settled, as the other's flags are not known yet.
func (g *globals) settle(cmd *cobra.Command) (err error) {
	if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
		return nil
	}
	src, err := g.sources()
	if err != nil {
		return err
	}
	src.NoFiles = cmd.Annotations[unsettled] != "" || cmd.Name() == "help"
	if g.settings, err = config.Load(src); err != nil {
		return err
	}
	g.color, g.progress = g.settings.Color(), g.settings.Progress()
	return nil
}

// unsettled is the annotation of a command that reads no settings files.
const unsettled = "unsettled"

// withoutFiles are the annotations of a command that reads no settings files,
// so that it does the same everywhere and works where one is broken.
func withoutFiles() map[string]string { return map[string]string{unsettled: "yes"} }

// sources returns where settings come from.
func (g *globals) sources() (*config.Sources, error) {
	dir, err := filepath.Abs(g.path(""))
	offline := ""
	if g.offline != nil && g.offline.Changed {
		offline = g.offline.Value.String()
	}
	return &config.Sources{Getenv: g.env.Getenv, Dir: dir, Flags: map[string]string{
		"--store": g.store, "--scope": g.scope, "--config": g.config, "--profile": g.profile,
		"--color": g.color, "--progress": g.progress, "--offline": offline,
	}}, err
}

// loaded returns the settings.
func (g *globals) loaded() (*config.Settings, error) {
	if g.settings != nil {
		return g.settings, nil
	}
	src, err := g.sources()
	if err != nil {
		return nil, err
	}
	return config.Load(src)
}

func isTrue(s string) bool { return s != "" && s != "0" && s != "false" }

// oneOf returns a usage error if a value is none of the words.
func oneOf(name, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return usagef("%s: %q is none of %s", name, value, strings.Join(words, ", "))
}

// path returns the path of a file that the user named.
func (g *globals) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	dir := g.dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.env.Dir, dir)
	}
	return filepath.Join(dir, name)
}

// storePath returns the path of the store.
func (g *globals) storePath() (string, error) {
	s, err := g.loaded()
	if err != nil {
		return "", err
	}
	return s.Store()
}

// clock returns the time for what is recorded.
func (g *globals) clock() func() time.Time {
	now, err := config.Clock(g.env.Getenv, g.now, g.env.Now)
	if err != nil {
		return g.env.Now // start has refused it
	}
	return now
}

// An access is a store that is open, with an engine over it.
type access struct {
	*carrel.Engine

	store    store.Store
	scope    governance.Scope
	settings *config.Settings
	opts     *carrel.Options // of the engine
}

// with opens the store and calls do. The store is made only if create is set.
func (g *globals) with(ctx context.Context, create bool, do func(a *access) error) (err error) {
	settings, err := g.loaded()
	if err != nil {
		return err
	}
	path, err := settings.Store()
	if err != nil {
		return err
	}
	s, err := settings.Open(ctx, path, create)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return g.over(s, settings, do)
}

// over calls do with an engine over a store.
func (g *globals) over(s store.Store, settings *config.Settings, do func(a *access) error) (err error) {
	g.reporter = newProgress(g)
	defer g.reporter.end()
	opts := &carrel.Options{Now: g.clock(), Progress: g.reporter.step, Logger: g.logger()}
	release, err := settings.Engine(opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	e, err := carrel.New(s, opts)
	if err != nil {
		return err
	}
	return do(&access{e, s, settings.Scope(), settings, opts})
}

// onFile calls do with a store that has the conversation of a file and nothing
// else, and is gone afterwards.
func (g *globals) onFile(ctx context.Context, name string, do func(a *access, id transcript.SessionID) error) error {
	data, err := g.read(name)
	if err != nil {
		return err
	}
	settings, err := g.loaded()
	if err != nil {
		return err
	}
	return g.over(config.Scratch(), settings, func(a *access) error {
		in, err := a.Import(ctx, a.scope, &carrel.ImportRequest{Name: name, Data: data})
		if err != nil {
			return err
		}
		return do(a, in.Session)
	})
}

// on calls do with the session that the arguments name, or with that of a file
// if one is given.
func (s *sessionArg) on(ctx context.Context, g *globals, file string, args []string, do func(a *access, id transcript.SessionID) error) error {
	if file == "" {
		return g.with(ctx, false, func(a *access) error {
			id, err := s.find(ctx, a, args)
			if err != nil {
				return err
			}
			return do(a, id)
		})
	}
	if len(args) > 0 || s.word != "" {
		return usagef("%s: a stored session is named, too", file)
	}
	return g.onFile(ctx, file, do)
}

// logger returns a logger to standard error, if one is wanted.
func (g *globals) logger() *slog.Logger {
	level := slog.LevelInfo
	switch {
	case g.verbose > 1, g.env.Getenv("CARREL_LOG") == "debug":
		level = slog.LevelDebug
	case g.verbose == 0 && g.env.Getenv("CARREL_LOG") == "":
		return nil
	}
	opts := &slog.HandlerOptions{Level: level}
	if g.env.Getenv("CARREL_LOG_FORMAT") == "json" {
		return slog.New(slog.NewJSONHandler(g.env.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(g.env.Stderr, opts))
}

// note writes a line to standard error, unless quiet.
func (g *globals) note(format string, args ...any) {
	if !g.quiet {
		fmt.Fprintln(g.env.Stderr, visible(fmt.Sprintf(format, args...)))
	}
}

// read returns the content of a file, or of standard input for "-".
func (g *globals) read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(g.env.Stdin)
	}
	return os.ReadFile(g.path(name))
}

// back lets a command take "-2" for an argument: each digit is a hidden flag.
type back struct {
	word *string
	nth  string
}

func (b back) String() string { return "" }
func (b back) Type() string   { return "bool" }

func (b back) Set(string) error {
	if *b.word != "" {
		return fmt.Errorf("%s and %s name two sessions", *b.word, b.nth)
	}
	*b.word = b.nth
	return nil
}

// A sessionArg is the word that names a session.
type sessionArg struct{ word string }

// takesSession gives a command an optional argument for a session at the given
// place among its arguments.
func takesSession(cmd *cobra.Command) *sessionArg {
	s := &sessionArg{}
	for i := range 10 {
		nth := fmt.Sprintf("%d", i)
		f := cmd.Flags().VarPF(back{&s.word, "-" + nth}, "back-"+nth, nth, "session before last")
		f.NoOptDefVal = "true"
		f.Hidden = true
	}
	return s
}

// find returns the session that the arguments name: the last by default.
func (s *sessionArg) find(ctx context.Context, a *access, args []string) (transcript.SessionID, error) {
	word := s.word
	if len(args) > 0 {
		if word != "" {
			return "", usagef("%s and %s name two sessions", word, args[0])
		}
		word = args[0]
	}
	return a.sessionID(ctx, cmp.Or(word, "@last"))
}

// sessionID returns the id of the session that a word names.
func (a *access) sessionID(ctx context.Context, word string) (transcript.SessionID, error) {
	found, err := a.FindSession(ctx, a.scope, &carrel.WordRequest{Word: word})
	if err != nil {
		return "", err
	}
	return found.Session, nil
}

// writes gives a command the flag of all that write.
func writes(cmd *cobra.Command, dryRun *bool) {
	cmd.Flags().BoolVarP(dryRun, "dry-run", "n", false, "say what would happen and write nothing")
	cmd.Flags().BoolP("yes", "y", false, "answer yes to every question")
}
