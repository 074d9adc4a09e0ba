package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An Access is an open store with an engine over it.
type Access struct {
	*carrel.Engine

	Store    store.Store
	Scope    governance.Scope
	Settings *config.Settings
	Opts     *carrel.Options // of the engine
}

// With opens the store and calls the function do with it. The store is made only if create is set.
func (j *Job) With(ctx context.Context, create bool, do func(a *Access) error) (err error) {
	settings, err := j.Settings()
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
	snapshots := path + "-columns-"
	if config.IsAddress(path) {
		snapshots = "" // no folder for snapshots
	}
	return j.over(s, snapshots, settings, do)
}

// Over calls the function do with an engine over the store s.
func (j *Job) Over(s store.Store, settings *config.Settings, do func(a *Access) error) error {
	return j.over(s, "", settings, do)
}

// over calls the function do with an engine over the store s. The engine keeps its snapshots in
// files whose paths begin with the argument snapshots; if that is "", it keeps none.
func (j *Job) over(s store.Store, snapshots string, settings *config.Settings, do func(a *Access) error) (err error) {
	j.Reporter = j.NewProgress()
	defer j.Reporter.End()
	opts := &carrel.Options{Now: j.Clock(), Progress: j.Reporter.Step, Logger: j.Logger(), Snapshots: snapshots}
	release, err := settings.Engine(opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	e, err := carrel.New(s, opts)
	if err != nil {
		return err
	}
	return do(&Access{e, s, settings.Scope(), settings, opts})
}

// onFile calls the function do with a store in memory that contains only the conversation of a
// file.
func (j *Job) onFile(ctx context.Context, name string, do func(a *Access, id transcript.SessionID) error) error {
	data, err := j.Read(name)
	if err != nil {
		return err
	}
	settings, err := j.Settings()
	if err != nil {
		return err
	}
	return j.Over(config.Scratch(), settings, func(a *Access) error {
		in, err := a.Import(ctx, a.Scope, &carrel.ImportRequest{Name: name, Data: data})
		if err != nil {
			return err
		}
		return do(a, in.Session)
	})
}

// EngineOptions returns the options of the engine from the settings, for a command that needs no
// store. Their connections are closed, so the sources and models in them cannot be asked.
func (j *Job) EngineOptions() (*carrel.Options, error) {
	settings, err := j.Settings()
	if err != nil {
		return nil, err
	}
	o := &carrel.Options{}
	release, err := settings.Engine(o)
	if err != nil {
		return nil, err
	}
	return o, release()
}

// A dryRunStore is a store that checks writes but stores nothing, for dry runs. It implements all
// methods of a store that write, except Backup.
type dryRunStore struct{ store.Store }

// Update implements [store.Artifacts].
func (s dryRunStore) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if err := u.Validate(); err != nil {
		return 0, err
	}
	v, err := s.Version(ctx, scope)
	return v + 1, err
}

// Apply implements [store.Sessions].
func (s dryRunStore) Apply(_ context.Context, _ governance.Scope, _ transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	return at + 1, c.Validate()
}

// Record implements [store.Calls].
func (s dryRunStore) Record(_ context.Context, _ governance.Scope, calls []store.Call) error {
	return store.ValidateCalls(calls)
}

// BeginJob implements [store.Jobs]. It returns the job that another process has left, or else j.
func (s dryRunStore) BeginJob(ctx context.Context, j *store.Job, _ time.Duration) (*store.Job, error) {
	open, err := s.OpenJobs(ctx, j.Scope)
	if err != nil {
		return nil, err
	}
	begun := *j
	for i := range open {
		if open[i].Name == j.Name {
			begun.Actor, begun.Data = open[i].Actor, open[i].Data
		}
	}
	return &begun, nil
}

// KeepJob implements [store.Jobs].
func (dryRunStore) KeepJob(context.Context, *store.Job, time.Duration) error { return nil }

// EndJob implements [store.Jobs].
func (dryRunStore) EndJob(context.Context, *store.Job) error { return nil }

// DryRun returns an engine with the options of a.Engine, but over a store that writes nothing. If c
// is not nil, the engine counts tokens with c.
func (a *Access) DryRun(c token.Counter) (*carrel.Engine, error) {
	opts := *a.Opts
	if c != nil {
		opts.Counter = c
	}
	return carrel.New(dryRunStore{a.Store}, &opts)
}

// A NoCount counts bytes instead of tokens. It is for jobs whose token counts nobody uses,
// because it is fast.
type NoCount struct{}

// Count implements [token.Counter].
func (NoCount) Count(text string) token.Count { return token.Count(len(text)) }

// Encoding implements [token.Counter].
func (NoCount) Encoding() string { return "bytes" }
