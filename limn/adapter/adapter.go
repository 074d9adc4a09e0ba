// Package adapter brings values from outside to programs that listen: the sequence
// of a test pack, the ticks of a timer, the lines of an input, and the changes of
// files. What the language does with them is package limn's concern.
//
//	m := limn.NewMachine(opts)
//	for r := range m.Run(program) { … }
//	for r := range m.Listen(adapter.Sources(ctx, opts.Packs, nil)) { … }
//
// All sources go into one queue without room: while an update is worked off, the
// sources wait, and a timer leaves out ticks. Each source keeps its order. Those of
// test packs come in the order of the packs, so without other sources every run is
// the same.
//
// A source that fails gives an update with an error for each of its names, and is
// complete. The queue ends when all sources are complete, when the context ends,
// or when nobody takes updates any more; then no goroutine is left but one that
// waits for input which never comes.
package adapter

import (
	"context"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/limn"
)

// Options adjusts [Sources]. A nil *Options is a timer by the clock of the system,
// and an input that is empty.
type Options struct {
	// Input is what packs of type "stdin" read. Only one of them gets it.
	Input io.Reader

	// Ticker returns a channel that gets a value after each interval until stop is
	// called. If it is nil, the channel is that of a [time.Ticker].
	Ticker func(interval time.Duration) (ticks <-chan time.Time, stop func())

	// MaxBytes is the length of the longest line and the largest file that are
	// taken. If it is 0, that is one MiB.
	MaxBytes int
}

func (o *Options) orDefault() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Ticker == nil {
		d.Ticker = func(interval time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(interval)
			return t.C, t.Stop
		}
	}
	if d.MaxBytes == 0 {
		d.MaxBytes = 1 << 20
	}
	return d
}

// Sources returns the updates of packs. It is nil if none of the packs has live
// names or a sequence, so that there is nothing to wait for. Nothing is opened
// before the iteration begins, and everything is before the first update.
func Sources(ctx context.Context, packs []*limn.Pack, opts *Options) iter.Seq[limn.LiveValue] {
	o := opts.orDefault()
	var live []*limn.Pack
	for _, p := range packs {
		if len(p.Declarations)+len(p.Sequence) > 0 {
			live = append(live, p)
		}
	}
	if len(live) == 0 {
		return nil
	}
	return func(yield func(limn.LiveValue) bool) {
		merge(ctx, open(live, &o), yield)
	}
}

// A source gives updates until it is complete, or until emit returns false.
type source func(ctx context.Context, emit func(limn.LiveValue) bool)

// open opens the sources of packs.
func open(packs []*limn.Pack, o *Options) []source {
	var sources []source
	var scripted []limn.LiveValue
	for _, p := range packs {
		switch p.Type {
		case limn.PackTest:
			scripted = append(scripted, p.Sequence...)
		case limn.PackTimer:
			sources = append(sources, openTimer(p, o))
		case limn.PackStdin:
			sources = append(sources, openLines(p, o))
			o.Input = nil
		case limn.PackFileWatcher:
			sources = append(sources, openFiles(p, o))
		}
	}
	return append(sources, func(_ context.Context, emit func(limn.LiveValue) bool) {
		for _, u := range scripted {
			if !emit(u) {
				return
			}
		}
	})
}

// merge runs sources side by side and yields their updates one by one.
func merge(ctx context.Context, sources []source, yield func(limn.LiveValue) bool) {
	ctx, cancel := context.WithCancel(ctx)
	queue := make(chan limn.LiveValue)
	emit := func(u limn.LiveValue) bool {
		select {
		case queue <- u:
			return true
		case <-ctx.Done():
			return false
		}
	}
	var running sync.WaitGroup
	for _, s := range sources {
		running.Go(func() { s(ctx, emit) })
	}
	go func() {
		running.Wait()
		close(queue)
	}()
	defer func() {
		cancel()
		running.Wait()
	}()
	for u := range queue {
		if ctx.Err() != nil || !yield(u) {
			return
		}
	}
}

// failed returns a source that has failed.
func failed(p *limn.Pack, err error) source {
	return func(_ context.Context, emit func(limn.LiveValue) bool) { fail(p, err, emit) }
}

// fail gives up the names of a pack.
func fail(p *limn.Pack, err error, emit func(limn.LiveValue) bool) {
	for _, n := range limn.PackNames(p.Type) {
		if !emit(limn.LiveValue{Name: n.Name, Err: err}) {
			return
		}
	}
}
