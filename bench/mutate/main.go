// Command mutate breaks Carrel on purpose and reports the faults that no test notices:
//
//	go run ./bench/mutate -n 250 -seed 1
//	go run ./bench/mutate -n 40 ./pager ./facts
//	go run ./bench/mutate -faults
//	go run ./bench/mutate -faults -only '^pager/'
//
// Without -faults it draws random mutants: a comparison includes its bound or no longer does, a
// condition is negated, an arm of a joined condition is removed, an operator or a number is
// replaced, a statement is removed. The draw depends only on the seed and the code. A mutant
// that does not build is replaced by the next. A mutant that changes nothing, by its entry in
// equivalent.txt, is not counted.
//
// The source files stay unchanged. The tests of a package are compiled once with all mutants,
// and an environment variable selects the mutant to run. Each test, and each part of a slow
// test, first runs alone without a mutant, to measure its duration and the mutants that it
// reaches. A mutant is tested by the tests that reach it, until one fails or takes much longer
// than before: those of its own package first, then those of packages above it in the tree,
// such as the engine, then those of packages that import it, and finally those of the command
// line. Within a package fast tests come first, and slow tests come after
// the fast tests of all packages. The tests of one mutant stop after the processor time of
// -most; the line of a surviving mutant shows how many tests were left. For a package without
// tests, those of the nearest package above it count as its own.
//
// With -faults it uses the faults of faults.txt instead of random ones. Each of them breaks one
// promise and names the command that must fail: a property, the demonstration, or a benchmark.
//
// Each mutant gets a line, and the last line has the share of noticed ones. The exit status is
// 1 if the share is below 92 percent, or with -faults if one was not noticed.
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
