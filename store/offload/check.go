package offload

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// checkScope returns the damage of the blobs of a scope, ordered by cell.
func (s *offloaded) checkScope(ctx context.Context, scope governance.Scope) (problems []string, err error) {
	blobs, err := s.CellBlobs(ctx, scope, nil)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(blobs)) {
		for _, err := range s.Cells(ctx, scope, []store.CellID{id}) {
			switch damage := (*DamageError)(nil); {
			case err == nil, errors.Is(err, store.ErrGone):
			case errors.As(err, &damage):
				problems = append(problems, fmt.Sprintf("scope %s: %v", scope, err))
			case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrNotFound): // the database has reported it
			default:
				return nil, err
			}
		}
	}
	return problems, nil
}

// dropJob is the name of the job that drops blobs of a scope, and dropTime how long a process has it
// at a time.
const (
	dropJob  = "drop blobs"
	dropTime = 2 * time.Minute
)

// dropsAtOnce is the number of blobs that DropLoose drops before it extends the time of its job.
const dropsAtOnce = 50

// DropLoose implements [Dropper].
func (s *offloaded) DropLoose(ctx context.Context, scope governance.Scope) (dropped int, err error) {
	if s.place == nil {
		return 0, nil
	}
	keys, err := s.LooseBlobs(ctx, scope, s.age)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	job := &store.Job{Scope: scope, Name: dropJob, Mark: rand.Text(), Actor: governance.ActorUser}
	if _, err := s.BeginJob(ctx, job, dropTime); err != nil {
		return 0, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTime)
		defer cancel()
		err = errors.Join(err, s.EndJob(ctx, job))
	}()
	for some := range slices.Chunk(keys, dropsAtOnce) {
		if err := s.KeepJob(ctx, job, dropTime); err != nil {
			return dropped, err
		}
		n, err := s.drop(ctx, scope, some)
		dropped += n
		if err != nil {
			return dropped, err
		}
	}
	return dropped, nil
}
