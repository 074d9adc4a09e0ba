// Package adapter sends values from outside to listening programs: the sequence of a test pack,
// the ticks of a timer, the lines of an input, and the changes of files. Package limn processes
// them.
//
//	m := limn.NewMachine(opts)
//	for r := range m.Run(program) { … }
//	for r := range m.Listen(adapter.Sources(ctx, opts.Packs, nil)) { … }
//
// All sources share one unbuffered queue: while an update is processed, the sources wait, and a
// timer skips ticks. Each source keeps its order. Sources of test packs come in the order of
// the packs, so without other sources every run is the same.
//
// A source that fails sends an update with an error for each of its names, and is complete. The
// queue ends when all sources are complete, when the context ends, or when the reader stops.
// Then no goroutine is left, except one that may still wait for input.
package adapter

import (
	"context"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/limn"
)

// Options adjusts [Sources]. A nil *Options means a timer by the system's clock and an empty
// input.
type Options struct {
	// Input is the input of the first pack of type "stdin". Other such packs get no lines.
	Input io.Reader

	// Ticker returns a channel that receives a value after each interval until stop is called.
	// The default is a [time.Ticker].
	Ticker func(interval time.Duration) (ticks <-chan time.Time, stop func())

	// MaxBytes is the largest size of a line or a file. The default is 1 MiB. A source with a
	// longer line fails; a larger file is reported with an empty text.
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

// Sources returns the updates of packs. It is nil if no pack has live names or a sequence, so
// that there is nothing to wait for. The sources are opened when the iteration begins, before
// the first update.
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

// A source emits updates until it is complete, or until emit returns false.
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

// merge runs sources concurrently and yields their updates one by one.
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

// failed returns a source that only reports an error.
func failed(p *limn.Pack, err error) source {
	return func(_ context.Context, emit func(limn.LiveValue) bool) { fail(p, err, emit) }
}

// fail emits an error for each name of a pack.
func fail(p *limn.Pack, err error, emit func(limn.LiveValue) bool) {
	for _, n := range limn.PackNames(p.Type) {
		if !emit(limn.LiveValue{Name: n.Name, Err: err}) {
			return
		}
	}
}
