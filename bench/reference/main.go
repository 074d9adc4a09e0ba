// Command reference compares package internal/bpe with other encoders: the npm package
// tiktoken, which is OpenAI's encoder compiled to WebAssembly, and two Go libraries. It is a
// module of its own because of them.
//
//	cd bench/reference
//	go run .                          # tokens and speed
//	go run . -speed=false FILE...     # tokens, those of the files as well
//	go run . -fuzz 0 -cjk FILE        # speed, with a text to count instead of a short one
//	go run . -write ../../internal/bpe # write the tables of that package
//
// The tokens of every text must equal those of the npm package. Counting must be faster than
// other encoders on the same text, by the factors of the goals. The encoders take turns, and
// the ratios of the rounds are printed as median, least and greatest. The times are processor
// times. Our encoder begins each text with an empty cache.
//
// It needs Node with npm, and the network for a package. The exit status is 1 if a goal
// is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/carrel-dev/carrel/internal/bpe"
)

type encoding struct {
	name   string
	number byte // in requests to node
	tokens *bpe.Encoding
}

var encodings = []encoding{{"o200k_base", 0, &bpe.O200k}, {"cl100k_base", 1, &bpe.Cl100k}}

// A reference compares encoders and records whether a goal was missed.
type reference struct {
	out    io.Writer
	node   *node
	missed bool
}

func main() {
	fuzz := flag.Int("fuzz", 100_000, "random texts of each encoding whose tokens are compared; 0: compare no tokens")
	fast := flag.Bool("speed", true, "compare the speed")
	rounds := flag.Int("rounds", 5, "rounds of each comparison of speed")
	tables := flag.String("write", "", "write the tables of internal/bpe to this `directory`, and compare nothing")
	files := make(map[string]string)
	for _, name := range []string{"prose", "code", "json", "cjk"} {
		flag.Func(name, "count this `file` as the text of that name", func(file string) error {
			files[name] = file
			return nil
		})
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r := &reference{out: os.Stdout}
	var err error
	if *tables != "" {
		err = writeTables(ctx, *tables)
	} else {
		err = r.run(ctx, *fuzz, *fast, *rounds, files, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(2)
	}
	if r.missed {
		os.Exit(1)
	}
}

func (r *reference) run(ctx context.Context, fuzz int, fast bool, rounds int, corpora map[string]string, files []string) (err error) {
	if r.node, err = startNode(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.node.close()) }()
	if fuzz > 0 {
		if err := r.identity(fuzz, files); err != nil {
			return err
		}
	}
	if fast {
		return r.speed(ctx, rounds, corpora)
	}
	return nil
}
