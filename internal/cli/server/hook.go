package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/server/hook"
)

// NewHook returns the command that answers the hooks of agents.
func NewHook(j *job.Job) *cobra.Command {
	var strict bool
	var started error
	cmd := &cobra.Command{
		Use:   "hook CLIENT EVENT [--strict]",
		Short: "Answer a hook of an agent",
		Long: `Hook reads an event of an agent from standard input and writes what the agent is to
be told in the agent's own form. Agents run it; "carrel setup CLIENT" arranges that. Of clients,` + hooked() + `.

A large result of a tool goes into the stash before the model sees it, and a pointer
replaces it; before and after a compaction the agent gets the text that must survive;
and the conversation is imported as it grows. More: "carrel help hooks".

It never stands in an agent's way: if anything is wrong, or takes longer than the
setting hook.limit, it prints nothing, says why on standard error and exits with 0.
With --strict, errors have their exit codes.`,
		Example:     `  carrel hook claude PostToolUse < event.json`,
		Annotations: job.WithoutFiles(), // a broken settings file must not block an agent
		FParseErrWhitelist: cobra.FParseErrWhitelist{
			UnknownFlags: true,
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			started = j.Start(cmd)
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			defer func() {
				if v := recover(); v != nil {
					err = &job.PanicError{Value: v, Stack: debug.Stack()}
				}
				if err != nil && !strict {
					err = &job.ToleratedError{Err: err}
				}
			}()
			if started != nil {
				return started
			}
			return answerHook(cmd.Context(), j, args)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with the code of an error")
	return cmd
}

// answerHook reads an event and writes the answer.
func answerHook(ctx context.Context, j *job.Job, args []string) error {
	if len(args) != 2 {
		return out.Hinted(out.Usagef("hook: name a client and an event, such as carrel hook claude Stop"), hooked())
	}
	d := hook.Dialects(j.Getenv)[args[0]]
	if d == nil {
		return out.Hinted(out.Usagef("hook: %q is not a client with hooks", args[0]), hooked())
	}
	src, err := j.Sources()
	if err != nil {
		return err
	}
	settings, err := config.Load(src)
	if err != nil {
		return err
	}
	o := &hook.Options{Note: func(err error) { j.Note("carrel: hook: %v", err) }}
	settings.Hook(o)
	if o.Memory > 0 {
		if o.Dir, err = os.Getwd(); err != nil {
			j.Note("carrel: hook: %v", err)
		}
	}
	o.Named = func(e *hook.Event) error { return bindClient(j, e, settings) }
	o.Open = func(ctx context.Context) (hook.Engine, func() error, error) { return openEngine(ctx, j, settings) }
	return hook.Run(ctx, d, args[1], j.Stdin, j.Stdout, o)
}

// hooked lists the clients whose hooks are supported.
func hooked() string {
	return "choose one of " + out.WordList(slices.Sorted(maps.Keys(hook.Dialects(nil))))
}

// openEngine opens the store, and creates it if needed. It returns an engine over it, and a
// function that closes both.
func openEngine(ctx context.Context, j *job.Job, settings *config.Settings) (hook.Engine, func() error, error) {
	path, err := settings.Store()
	if err != nil {
		return nil, nil, err
	}
	s, err := settings.Open(ctx, path, true)
	if err != nil {
		return nil, nil, fmt.Errorf("open store: %w", err)
	}
	opts := &carrel.Options{Now: j.Clock(), Logger: j.Logger()}
	release, err := settings.Engine(opts)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	e, err := carrel.New(s, opts)
	if err != nil {
		return nil, nil, errors.Join(err, release(), s.Close())
	}
	return e, func() error { return errors.Join(release(), s.Close()) }, nil
}
