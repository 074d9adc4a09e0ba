// Command counts prints the size of a Go module and how much of it a reader must know:
//
//	go run ./bench/counts [-v] [DIR]
//
// The test of this command compares the figures of this module with their limits, so that they
// only decrease. [Counts] explains each figure.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "list the places behind the figures")
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	c, err := count(os.DirFS(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, "counts:", err)
		os.Exit(1)
	}
	for _, f := range c.figures() {
		fmt.Fprintf(os.Stdout, "%7d  %s\n", f.n, f.name)
		if *verbose {
			for _, p := range f.places {
				fmt.Fprintf(os.Stdout, "         %s\n", p)
			}
		}
	}
}
