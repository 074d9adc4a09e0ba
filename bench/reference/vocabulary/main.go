// Command vocabulary writes the tables of package internal/bpe, from the files of tokens
// that the module tiktoken-go-loader has in it:
//
//	go run ./vocabulary ../../internal/bpe
//
// A table has the 256 single bytes in the order of their tokens. For every other token it
// has the two that it is merged from, which are before it, as unsigned varints. A test of
// that package compares the tokens with the files of tiktoken by their digests.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./vocabulary DIRECTORY")
		os.Exit(2)
	}
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		table, err := tableOf(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], name+".bin"), table, 0o644)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "vocabulary: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func tableOf(name string) ([]byte, error) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		return nil, err
	}
	tokens := make([]string, len(ranks))
	for text, id := range ranks {
		if id >= len(tokens) {
			return nil, fmt.Errorf("there are %d tokens, and one has the number %d", len(tokens), id)
		}
		tokens[id] = text
	}
	var table []byte
	for id, text := range tokens {
		if id < 256 {
			if len(text) != 1 {
				return nil, fmt.Errorf("token %d is %q, which is not one byte", id, text)
			}
			table = append(table, text[0])
			continue
		}
		parts := merged(ranks, text, id)
		if len(parts) != 2 {
			return nil, fmt.Errorf("token %d, %q, is merged from %q, which are not two", id, text, parts)
		}
		for _, part := range parts {
			table = binary.AppendUvarint(table, uint64(ranks[part]))
		}
	}
	return table, nil
}

// merged returns what the bytes of a text are merged to by the tokens below a limit.
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
