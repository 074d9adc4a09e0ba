package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/client"
)

// drive runs the clients for the duration, and then reads back everything
// that they wrote.
func (o *options) drive(ctx context.Context, urls []string) (*report, error) {
	clients := make([]*client.Client, len(urls))
	for i, url := range urls {
		var err error
		if clients[i], err = client.New(url, &client.Options{Credential: o.credential, Retries: client.NoRetries, UserAgent: "carrel-load"}); err != nil {
			return nil, err
		}
	}
	workers := make([]*worker, o.clients)
	for i := range workers {
		workers[i] = newWorker(o, i, clients[i%len(clients)])
	}
	r := &report{Clients: o.clients, Servers: len(urls), Checked: make(map[string]int), Problems: []string{}}
	begun := time.Now()
	watching, stop := context.WithCancel(ctx)
	var watched sync.WaitGroup
	watched.Go(func() {
		var err error
		if r.Memory, err = o.watch(watching, urls, begun); err != nil {
			r.Problems = append(r.Problems, err.Error())
		}
	})
	each(workers, func(w *worker) { w.work(ctx, begun.Add(o.duration)) })
	r.Seconds = time.Since(begun).Seconds()
	stop()
	watched.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i, w := range workers {
		w.client = clients[(i+1)%len(clients)]
	}
	each(workers, func(w *worker) { w.verify(ctx) })
	for team := range slices.Chunk(workers, 4) {
		team[0].tally.check("sessions", verifyShared(ctx, team))
	}
	took := make(map[string][]time.Duration)
	for _, w := range workers {
		r.add(w.tally, took)
	}
	r.sum(took)
	return r, nil
}

// each calls the function do for all workers at the same time, and waits for
// all of them.
func each(workers []*worker, do func(*worker)) {
	var all sync.WaitGroup
	for _, w := range workers {
		all.Go(func() { do(w) })
	}
	all.Wait()
}
