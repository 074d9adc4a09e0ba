// Command goals measures the speed of Carrel, as ratios to other ways of doing the same:
//
//	go run ./bench/goals
//	go run ./bench/goals -only 'triage|hook' -rounds 20
//	go run ./bench/goals -before 89c0756
//	go run ./bench/goals -growth growth.svg
//
// Each goal has two sides: Carrel, and a plain scan, a bare database, or an earlier build of
// Carrel. A round measures both sides in alternating order and gives one ratio. Only the ratios
// count: machines are noisy, and the noise affects both sides of a round. The report has the
// median, the smallest and the largest ratio of each goal, and marks missed goals. The exit
// status is 1 if there is one.
//
// Goals that compare with an earlier build need its commit (-before) and this checkout's
// history; the build is made in a temporary directory. Comparisons with other libraries or npm
// packages are in the module bench/reference.
//
// With -growth it instead measures commands on inputs of three sizes, each ten times the
// previous one, prints the times and draws them. None may grow faster than its input times the
// logarithm of its input.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
)

func main() {
	b := &bench{out: os.Stdout}
	flag.Func("only", "measure the goals whose name matches this `pattern`", func(pattern string) (err error) {
		b.only, err = regexp.Compile(pattern)
		return err
	})
	flag.IntVar(&b.rounds, "rounds", 10, "rounds of each goal")
	flag.StringVar(&b.commit, "before", "", "the `commit` of the earlier build to compare with; none: goals that need one are left out")
	grow, drawing := false, ""
	flag.Func("growth", "measure how times grow with the input, and draw them into this `file`; - draws nothing", func(file string) error {
		grow, drawing = true, strings.TrimPrefix(file, "-")
		return nil
	})
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench/goals [-only PATTERN] [-rounds N] [-before COMMIT] [-growth FILE]")
		flag.PrintDefaults()
	}
	of := flag.Bool("peak", false, "run the command that the arguments are, and print the most memory it had, in bytes: goals call this program so")
	flag.Parse()
	if *of {
		os.Exit(printPeak(flag.Args()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	met, err := b.run(ctx, grow, drawing)
	if err != nil {
		fmt.Fprintln(os.Stderr, "goals:", err)
		os.Exit(2)
	}
	if !met {
		os.Exit(1)
	}
}
