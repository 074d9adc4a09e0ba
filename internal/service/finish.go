package service

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/offload"
)

// finishEvery is the interval at which a server looks for jobs that others have left.
const finishEvery = 5 * time.Minute

// finishing starts a goroutine that finishes jobs which other processes have left, now and at every
// interval, until ctx is done or stop is called. stop waits until the goroutine has ended.
func (s *Service) finishing(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(finishEvery)
		defer tick.Stop()
		for {
			s.finish(ctx)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// finish finishes jobs that other processes have left, in all scopes, and deletes blobs that no
// cell refers to. It goes on after an error. It logs what it did, and the last error; the next
// interval tries again.
func (s *Service) finish(ctx context.Context) {
	log := s.opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	scopes, err := s.opts.Store.Scopes(ctx)
	for _, scope := range scopes {
		if ctx.Err() != nil {
			return
		}
		finished, e := s.opts.Engine.FinishJobs(ctx, scope)
		for range finished {
			log.Info("finished a job that another process had left", slog.String("scope", string(scope)))
		}
		if e != nil {
			err = e
		}
		if d, is := s.opts.Store.(offload.Dropper); is {
			dropped, e := d.DropLoose(ctx, scope)
			if dropped > 0 {
				log.Info("deleted blobs that no text refers to", slog.String("scope", string(scope)), slog.Int("blobs", dropped))
			}
			if e != nil && !errors.Is(e, store.ErrTaken) {
				err = e
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		log.Warn("jobs and blobs that others left are not finished", slog.String("error", err.Error()))
	}
}
