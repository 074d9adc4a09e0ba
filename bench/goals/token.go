package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

var tokenGoals = []goal{
	{name: "token.load", says: "carrel debug tokens of 130 KiB, which loads the tables, against carrel version and 60 ms", bound: within(1), setup: loadOfTables},
	{name: "token.hostile", says: "counting the slowest of some megabytes against a megabyte of prose", bound: within(40), setup: hostileCounts(hostileAgainstProse)},
	{name: "token.linear", says: "counting megabytes against counting their first 64 KiB", bound: within(20), setup: hostileCounts(largeAgainstSmall)},
}

func loadOfTables(ctx context.Context, b *bench, dir string) (sides, error) {
	ours, err := b.program(ctx)
	if err != nil {
		return sides{}, err
	}
	file := filepath.Join(dir, "words")
	if err := os.WriteFile(file, bytes.Repeat([]byte("word "), 130<<10/5), 0o600); err != nil {
		return sides{}, err
	}
	version := command(ours, nil, "version")
	return sides{
		ours: least(10, command(ours, nil, "tokens", file)),
		other: least(10, func(ctx context.Context) (float64, error) {
			cost, err := version(ctx)
			return cost + 0.060, err
		}),
	}, nil
}

// megabyte is the size of the counted texts.
const megabyte = 1 << 20

// hostileCounts prepares prose, and hostile texts, which make a careless encoder slow. It returns
// the sides that the function compare makes from them.
func hostileCounts(compare func(c token.Counter, prose string, hostile []string) sides) func(context.Context, *bench, string) (sides, error) {
	return func(context.Context, *bench, string) (sides, error) {
		c, err := token.Encoding("o200k_base")
		if err != nil {
			return sides{}, err
		}
		var prose strings.Builder
		for prose.Len() < megabyte {
			err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
				if err != nil || filepath.Ext(path) != ".md" {
					return err
				}
				data, err := os.ReadFile(path)
				prose.Write(data)
				return err
			})
			if err != nil {
				return sides{}, err
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		noise, letters := make([]byte, megabyte), make([]byte, megabyte)
		for i := range noise {
			noise[i] = byte(random.Uint32())
			letters[i] = 'a' + byte(random.IntN(26))
		}
		hostile := []string{string(letters), strings.ToUpper(string(letters)), string(noise), base64.StdEncoding.EncodeToString(noise)[:megabyte]}
		for _, unit := range []string{"a", "-", "=", " ", "\n", "\t", "/", "/\n", " \r\n", "ab", "the", "é", "あ", "中", "😀"} {
			hostile = append(hostile, strings.Repeat(unit, megabyte/len(unit)))
		}
		return compare(c, prose.String()[:megabyte], hostile), nil
	}
}

func counting(c token.Counter, text string) side {
	return timed(func(context.Context) error {
		c.Count(text)
		return nil
	})
}

// hostileAgainstProse compares the slowest of the hostile texts with prose. Prose is counted
// many times, so that both sides take about as long.
func hostileAgainstProse(c token.Counter, prose string, hostile []string) sides {
	var slowest string
	var most float64
	for _, text := range hostile {
		if cost, _ := least(3, counting(c, text))(context.Background()); cost > most {
			slowest, most = text, cost
		}
	}
	const times = 30
	all := repeated(times, counting(c, prose))
	return sides{
		ours: counting(c, slowest),
		other: func(ctx context.Context) (float64, error) {
			cost, err := all(ctx)
			return cost / times, err
		},
	}
}

func largeAgainstSmall(c token.Counter, _ string, hostile []string) sides {
	var s sides
	all := func(size int) side {
		return func(ctx context.Context) (sum float64, err error) {
			for _, text := range hostile {
				cost, err := least(3, counting(c, text[:min(size, len(text))]))(ctx)
				if err != nil {
					return 0, err
				}
				sum += cost
			}
			return sum, nil
		}
	}
	s.ours, s.other = all(megabyte), all(megabyte/16)
	return s
}
