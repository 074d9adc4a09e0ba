package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/triage"
)

// assembleGoals are the goals for assembling a context. Creating their stores takes minutes for
// a million artifacts.
var assembleGoals = []goal{
	{name: "catalog-file-1M", says: "a process that starts has the columns of a million artifacts, against reading their file", bound: within(3), setup: startAgainstFile(1_000_000)},
	{name: "catalog-store-1M", says: "the same against reading their records", bound: faster(20), setup: startAgainstStore(1_000_000)},
	{name: "catalog-store-100k", says: "the same for 100,000 artifacts", bound: faster(20), setup: startAgainstStore(100_000)},
	{name: "assemble-1k", says: "carrel assemble from 1,000 artifacts against the earlier build", bound: faster(2), before: true, setup: assembleCommand(1000)},
	{name: "assemble-100k", says: "carrel assemble from 100,000 artifacts against the earlier build", bound: faster(2), before: true, setup: assembleCommand(100_000)},
	{name: "assemble-1M", says: "carrel assemble from a million artifacts against the earlier build", bound: faster(4), before: true, setup: assembleCommand(1_000_000)},
}

const benchScope = governance.Scope("local")

// fillStore creates a store with n artifacts of the same text, and returns it open.
func fillStore(ctx context.Context, path string, n int) (store.Database, error) {
	db, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	salt, body := digest.Salt{1}, []byte("one text")
	u := &store.Update{Cells: []store.Cell{{ID: "text", Kind: store.CellText, Salt: salt, Commit: digest.Commit(salt, string(store.CellText), body), Body: body}}}
	rows := invented(n)
	for i, r := range rows {
		u.Artifacts = append(u.Artifacts, store.Write{Artifact: store.Artifact{
			ID: store.ArtifactID(fmt.Sprintf("%016x", i)), Class: r.Class, Status: store.StatusLive, Content: "text", About: "text",
			Bytes: int64(len(body)), Tokens: 2, Encoding: "o200k_base", Created: r.Created, Updated: r.Created, Expires: r.Expires,
		}})
		if len(u.Artifacts) == 10_000 || i == n-1 {
			u.Entry = store.Entry{ID: fmt.Sprintf("op_%d", i), Op: "put", Actor: governance.ActorUser, Time: atNoon}
			if _, err := db.Update(ctx, benchScope, u); err != nil {
				return nil, errors.Join(err, db.Close())
			}
			u = &store.Update{}
		}
	}
	return db, nil
}

// catalogOf returns a side that loads the columns of the bench's scope as a new process does: from
// the snapshots in a folder, or from the records of db if snapshots is empty. It also returns the
// Stacks that hold the loaded columns.
func catalogOf(db store.Store, snapshots string) (side, *stacks.Stacks, error) {
	o, err := base.Options{Snapshots: snapshots, Now: func() time.Time { return atNoon }}.Complete()
	if err != nil {
		return nil, nil, err
	}
	start := func() (*stacks.Stacks, error) {
		shared, err := stacks.NewShared(&o)
		return &stacks.Stacks{Base: &base.Base{Store: db, Opts: o}, Shared: shared}, err
	}
	e, err := start()
	return timed(func(ctx context.Context) error {
		e, err := start()
		if err != nil {
			return err
		}
		k, err := e.Catalog(ctx, benchScope)
		if err == nil {
			k.Mu.RUnlock()
		}
		return err
	}), e, err
}

// startAgainstFile compares loading a scope of n artifacts from a snapshot with only reading
// the file of the snapshot.
func startAgainstFile(n int) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, _ *bench, dir string) (sides, error) {
		path := filepath.Join(dir, "carrel.db")
		db, err := fillStore(ctx, path, n)
		if err != nil {
			return sides{}, err
		}
		ours, e, err := catalogOf(db, path+"-columns-")
		if err == nil {
			_, err = ours(ctx) // makes the snapshot
		}
		file := e.SnapshotPath(benchScope)
		return sides{ours: ours, close: db.Close, other: timed(func(context.Context) error {
			_, err := os.ReadFile(file) //nolint:gosec // our own file
			return err
		})}, err
	}
}

// startAgainstStore compares loading a scope of n artifacts from a snapshot with loading it
// from the records of the store.
func startAgainstStore(n int) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, _ *bench, dir string) (sides, error) {
		path := filepath.Join(dir, "carrel.db")
		db, err := fillStore(ctx, path, n)
		if err != nil {
			return sides{}, err
		}
		ours, _, err := catalogOf(db, path+"-columns-")
		if err != nil {
			return sides{}, errors.Join(err, db.Close())
		}
		other, _, err := catalogOf(db, "")
		return sides{ours: ours, other: other, close: db.Close}, err
	}
}

// classOf returns the class of a row. For a verified row it returns the class of documents, because
// a verified artifact needs a person who verified it.
func classOf(r triage.Row) provenance.Class {
	if r.Class == provenance.Verified {
		return provenance.Document
	}
	return r.Class
}

// assembleCommand compares commands that assemble a context, each over a store that its own
// build has filled with the same artifacts.
func assembleCommand(n int) func(context.Context, *bench, string) (sides, error) {
	return func(ctx context.Context, b *bench, dir string) (sides, error) {
		var file bytes.Buffer
		for i, r := range invented(n) {
			fmt.Fprintf(&file, `{"text":"case %d of service %d: the limit of the refund is w%d","class":%q,"created":%q}`+"\n",
				i, i%97, i*7919%50_000, classOf(r), r.Created.Format(time.RFC3339))
		}
		lines := filepath.Join(dir, "artifacts.ndjson")
		if err := os.WriteFile(lines, file.Bytes(), 0o600); err != nil {
			return sides{}, err
		}
		ours, other, err := b.both(ctx)
		if err != nil {
			return sides{}, err
		}
		over := func(program, name string) (side, error) {
			env := []string{"CARREL_STORE=" + filepath.Join(dir, name+".db"), "CARREL_NOW=" + atNoon.Format(time.RFC3339)}
			if _, err := command(program, env, "put", "--lines", lines)(ctx); err != nil {
				return nil, err
			}
			return command(program, env, "assemble", "--query", "the refund limit of service 12", "--budget", "8000"), nil
		}
		var s sides
		if s.ours, err = over(ours, "ours"); err == nil {
			s.other, err = over(other, "other")
		}
		return s, err
	}
}
