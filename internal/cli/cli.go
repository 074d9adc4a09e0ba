package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/admin"
	"github.com/carrel-dev/carrel/internal/cli/artifact"
	"github.com/carrel-dev/carrel/internal/cli/contract"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/limn"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/cli/server"
	"github.com/carrel-dev/carrel/internal/cli/session"
)

// Main runs one command line, without the program's name, and returns its exit
// code.
func Main(ctx context.Context, env *job.Env, args []string) (code int) {
	j := job.New(env)
	defer func() {
		if v := recover(); v != nil {
			code = fail(ctx, j, &job.PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	root := rootFor(j, args)
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for os.Args
	root.SetIn(j.Stdin)
	root.SetOut(j.Stdout)
	if completes(args) { // into a terminal, by way of a shell
		root.SetOut(out.Guard(j.Stdout))
	}
	root.SetErr(j.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if tolerated, ok := errors.AsType[*job.ToleratedError](err); ok {
		j.JSON = "" // standard output is somebody else's
		fail(ctx, j, tolerated.Err)
		return 0
	}
	wrong := out.KindOf(err) == out.KindUsage
	if err != nil && (!j.Started || wrong) {
		if !wrong || out.HintOf(err) == "" {
			err = &out.Error{Err: err, Kind: out.KindUsage, Hint: advice(cmd, err)}
		}
		if wantsJSON(args) {
			j.JSON = out.AllFields
		}
	}
	return fail(ctx, j, err)
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
func quick(name string) func(*job.Job) *cobra.Command {
	switch name {
	case "hook":
		return server.NewHook
	case "version":
		return admin.NewVersion
	}
	return nil
}

// rootFor returns the root command with what a command line may need of the
// others: all of them, or one that is quick.
func rootFor(j *job.Job, args []string) *cobra.Command {
	if len(args) > 0 {
		if newCommand := quick(args[0]); newCommand != nil {
			root, cmd := newTrunk(j), newCommand(j)
			cmd.DisableFlagsInUseLine = true
			root.AddCommand(cmd)
			return root
		}
	}
	return newRoot(j)
}

// newTrunk returns the root command without the others.
func newTrunk(j *job.Job) *cobra.Command {
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
		PersistentPreRunE:          func(cmd *cobra.Command, _ []string) error { return j.Start(cmd) },
		RunE: func(*cobra.Command, []string) error {
			return out.Usagef("no command")
		},
	}
	j.Register(root.PersistentFlags())
	_ = root.RegisterFlagCompletionFunc("profile", j.CompleteProfile) // it fails only for a flag that is not there
	return root
}

// newRoot returns the root command with all others.
func newRoot(j *job.Job) *cobra.Command {
	root := newTrunk(j)
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
	for id, commands := range map[string][]*cobra.Command{
		groupStart:        admin.Demo(j),
		groupConversation: session.Commands(j),
		groupArtifacts:    artifact.Commands(j),
		groupContexts:     artifact.Contexts(j),
		groupContract:     slices.Concat(contract.Commands(j), session.Handoffs(j), limn.Commands(j), admin.Checks(j)),
		groupServe:        slices.Concat(server.Commands(j), session.Calls(j), admin.Setup(j)),
		groupAdmin:        append(admin.Commands(j), newCompletion(j), newMan(j)),
	} {
		for _, cmd := range commands {
			cmd.GroupID = id
			cmd.DisableFlagsInUseLine = true
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newTopics()...)
	return root
}
