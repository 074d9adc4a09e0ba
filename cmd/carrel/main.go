// Command carrel keeps the context window of a language model in order: it
// takes conversations in, cuts them to a budget, writes them out for a
// provider, and gives back every byte that it took away. See carrel help.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/carrel-dev/carrel/internal/cli"
	"github.com/carrel-dev/carrel/internal/cli/job"
)

// Garbage is first collected when the heap has 16 MB, in place of 4: most commands, and
// nearly all hooks, are over by then. From then on it is collected earlier than by default,
// as a session should not take many times its size. GOGC overrides both.
const (
	firstPercent = 400
	gcPercent    = 30
)

func main() {
	if os.Getenv("GOGC") == "" {
		collectEarlier()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals) // the next one ends the process at once
		cancel(&job.SignalError{Signal: s})
	}()
	os.Exit(cli.Main(ctx, job.OS(), os.Args[1:]))
}

// collectEarlier sets the garbage collector's percentage to firstPercent, and to gcPercent
// after the first collection.
func collectEarlier() {
	debug.SetGCPercent(firstPercent)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, gcPercent)
}
