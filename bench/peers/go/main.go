// Command go reduces conversations with Go packages, for Carrel's measurement of retention.
// Peer in package internal/retention describes the protocol.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A message is a message of a request.
type message struct {
	Role   string `json:"role"`
	Text   string `json:"text"`
	Calls  []call `json:"calls"`
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
}

type call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// cost returns the tokens that m would have with the given text: 4, and one for every four
// bytes.
func (m *message) cost(text string) int {
	n := len(text)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Args)
	}
	return 4 + (n+3)/4
}

// A kept is a message that stays, by its index, possibly with another text.
type kept struct {
	Source int     `json:"src"`
	Text   *string `json:"text,omitempty"`
}

// A method returns the messages that stay within a budget of tokens, and the duration of the
// package's work.
type method func(msgs []message, budget int) ([]kept, time.Duration, error)

var methods = map[string]method{
	"eino-clear-tail":       einoTail,
	"eino-clear-tail-pairs": einoTailPairs,
	"langchaingo-buffer":    langchaingo,
}

func main() {
	log.SetOutput(io.Discard) // langchaingo warns at each count that it is approximate
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve reads requests from r, one JSON value each, and writes the answers to w, until r
// ends.
func serve(r io.Reader, w io.Writer) error {
	in, buffered := json.NewDecoder(bufio.NewReader(r)), bufio.NewWriter(w)
	out := json.NewEncoder(buffered)
	hello := map[string]any{
		"peer":     "go",
		"packages": versions("github.com/cloudwego/eino", "github.com/tmc/langchaingo"),
		"methods":  slices.Sorted(maps.Keys(methods)),
	}
	if err := errors.Join(out.Encode(hello), buffered.Flush()); err != nil {
		return err
	}
	for {
		var req struct {
			ID       int       `json:"id"`
			Method   string    `json:"method"`
			Budget   int       `json:"budget"`
			Messages []message `json:"messages"`
		}
		if err := in.Decode(&req); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		pack, known := methods[req.Method]
		if !known {
			return fmt.Errorf("no method is called %q: want one of %v", req.Method, slices.Sorted(maps.Keys(methods)))
		}
		answer := map[string]any{"id": req.ID}
		if keep, took, err := pack(req.Messages, req.Budget); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["us"], answer["keep"] = float64(took)/float64(time.Microsecond), keep
		}
		if err := errors.Join(out.Encode(answer), buffered.Flush()); err != nil {
			return err
		}
	}
}

// versions returns the versions of modules that this program was built with.
func versions(modules ...string) map[string]string {
	list := make(map[string]string)
	info, _ := debug.ReadBuildInfo()
	for _, m := range modules {
		for _, d := range info.Deps {
			if d.Path == m {
				list[m] = strings.TrimPrefix(d.Version, "v")
			}
		}
	}
	return list
}
