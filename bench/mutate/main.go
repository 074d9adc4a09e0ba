// Command mutate breaks Carrel on purpose and tells which faults no test notices:
//
//	go run ./bench/mutate -n 250 -seed 1
//	go run ./bench/mutate -n 40 ./pager ./facts
//	go run ./bench/mutate -faults
//	go run ./bench/mutate -faults -only '^pager/'
//
// Without -faults it draws mutants at random: a comparison that includes its bound or no
// longer does, a condition that is turned round, an arm of a joined condition that is gone,
// an operator or a number that is another one, a statement that is left out. The draw
// depends on the seed and on the code alone. A mutant that does not build is drawn again. A
// mutant that is known to change nothing, by its entry in equivalent.txt, counts as neither.
//
// The code is not touched. The tests of a package are compiled once, with all mutants: an
// environment variable tells the binary which of them to run with. Each test is run once
// alone, without a mutant, to know how long it takes and which mutants it comes to; so is
// each part of a test that takes seconds. A mutant is tested by the tests that come to it,
// until one fails or takes much longer than it did: those of its own package first, then
// those of one above it in the tree, such as the engine, then those of others that import it,
// but for benches, and of the command line at last. Of a package the fastest are first, and
// slow tests are behind those of all packages. The tests of one mutant end when they have
// taken as much of the processor as -most says; a line of one that lived tells how many were
// left. A package without tests has those of the nearest above it for its own.
//
// With -faults it takes the faults of faults.txt in place of random ones. Each of them breaks
// one promise, and names the command that must fail: a property, the demonstration, or a
// bench.
//
// A line tells of each mutant, and the last line is the rate of those that were noticed. The
// exit status is 1 if the rate is below 92 percent, or with -faults if one was not noticed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"
)

func main() {
	o := options{out: os.Stdout}
	flag.IntVar(&o.n, "n", 250, "mutants to draw")
	flag.Uint64Var(&o.seed, "seed", 1, "what the draw begins with")
	flag.BoolVar(&o.faults, "faults", false, "take the faults of bench/mutate/faults.txt, and all of them")
	flag.Func("only", "take the faults or mutants whose line matches this `pattern`", func(pattern string) (err error) {
		o.only, err = regexp.Compile(pattern)
		return err
	})
	flag.BoolVar(&o.near, "near", false, "test a mutant by its own package alone: faster, and fewer are noticed")
	flag.IntVar(&o.workers, "p", 2, "mutants to test at the same time")
	flag.DurationVar(&o.most, "most", 3*time.Minute, "most processor time for the tests of one mutant, as they take without it")
	flag.DurationVar(&o.limit, "timeout", 30*time.Minute, "most time for one test, or for the command of a fault: then the mutant or the fault is noticed")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/mutate [-n N] [-seed N] [-p N] [-near] [-most TIME] [-faults] [-only PATTERN] [PACKAGE...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := o.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}
