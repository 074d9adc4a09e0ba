// Command bounds learns by how much Claude's tokenizer, which is not public, counts more
// than o200k_base, from what was charged for sessions of Claude Code:
//
//	go run ./bench/bounds one=DIR/one-*.jsonl other=DIR/other-*.jsonl
//
// Each argument names a project and the files of its sessions. A reply in a session says
// how many tokens its request had. The difference between two requests that follow one
// another is the price of the messages between them, whose o200k_base count is known.
// Messages with thinking or images are left out, since what is charged for those is not
// in the file; so are requests whose price is more than twice the bound of today, because
// the client has sent something that is not in the file either.
//
// What a session needs is the factor by which its counts, together with the framing of
// [token.FramingOf], come to its price. The factor that is learned from some projects is
// the greatest that a session of them needs and five percent more. The factor that is
// learned from all other projects is tried on each project, and the report says for how many
// of its sessions it holds.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

const (
	today    = 1.35 // the factor of older models in package token
	slack    = 1.05 // above the greatest need
	smallest = 5_000
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/bounds NAME=FILES NAME=FILES...")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bounds:", err)
		os.Exit(1)
	}
}

// A session is the sum of its requests.
type session struct {
	price   float64 // tokens charged
	counted float64 // of these messages by o200k_base
	framing float64
	asked   int // requests
	left    int // requests left out: the client has sent more than it has written
}

func (s *session) need() float64 { return (s.price - s.framing) / s.counted }

// over returns how far a bound with a factor is above the price, as a share of it.
func (s *session) over(factor float64) float64 {
	return (factor*s.counted+s.framing)/s.price - 1
}

func run(out io.Writer, args []string) error {
	projects := make(map[string][]*session)
	var names []string
	for _, arg := range args {
		name, pattern, ok := strings.Cut(arg, "=")
		files, err := filepath.Glob(pattern)
		if err != nil || !ok || len(files) == 0 {
			return fmt.Errorf("%q is no name and files: %w", arg, err)
		}
		names = append(names, name)
		for _, file := range files {
			s, err := read(file)
			if err != nil {
				return err
			}
			if s.counted >= smallest {
				projects[name] = append(projects[name], s)
			}
		}
	}
	for _, name := range names {
		var others []*session
		for _, other := range names {
			if other != name {
				others = append(others, projects[other]...)
			}
		}
		report(out, name, projects[name], learn(others))
	}
	var all []*session
	for _, name := range names {
		all = append(all, projects[name]...)
	}
	report(out, "all, by the factor of all", all, learn(all))
	report(out, "all, by the factor of today", all, today)
	return nil
}

func learn(sessions []*session) (factor float64) {
	for _, s := range sessions {
		factor = max(factor, s.need()*slack)
	}
	return factor
}

func report(out io.Writer, name string, sessions []*session, factor float64) {
	var over, needs []float64
	hold, asked, left := 0, 0, 0
	for _, s := range sessions {
		if s.over(factor) >= 0 {
			hold++
		}
		over, needs = append(over, s.over(factor)), append(needs, s.need())
		asked, left = asked+s.asked, left+s.left
	}
	slices.Sort(over)
	slices.Sort(needs)
	if n := len(sessions); n > 0 {
		fmt.Fprintf(out, "%s: %d sessions need %.2f to %.2f (median %.2f); factor %.2f holds for %d and is %.0f to %.0f %% too high (median %.0f %%); %d of %d requests left out\n",
			name, n, needs[0], needs[n-1], needs[n/2], factor, hold, 100*over[0], 100*over[n-1], 100*over[n/2], left, left+asked)
	}
}

// A row is what is used of a line of a session file.
type row struct {
	Type, Subtype                 string
	IsSidechain, IsCompactSummary bool
	Message                       struct {
		ID, Model string
		Content   json.RawMessage
		Usage     *struct {
			Input   int `json:"input_tokens"`
			Created int `json:"cache_creation_input_tokens"`
			Read    int `json:"cache_read_input_tokens"`
		}
	}
}

type block struct {
	Type, Text, Name string
	Input, Content   json.RawMessage
}

// blocks returns the blocks of a content, which may be a text.
func blocks(content json.RawMessage) (all []block) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	if json.Unmarshal(content, &all) != nil {
		return []block{{Type: "unknown"}}
	}
	return all
}

// A request is what was added to the one before.
type request struct {
	id, model        string
	size             int // of the one before, as it was charged
	counted, framing float64
	unknown          bool // something has no count
}

func read(path string) (*session, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	counter, err := token.Encoding("o200k_base")
	if err != nil {
		return nil, err
	}
	framing := token.FramingOf("anthropic")
	s, r := new(session), new(request)
	for line := range bytes.Lines(data) {
		var in row
		if json.Unmarshal(line, &in) != nil || in.IsSidechain {
			continue
		}
		switch in.Type {
		case "assistant":
			if in.Message.Usage == nil {
				r.unknown = true
				continue
			}
			if u := in.Message.Usage; in.Message.ID != r.id {
				size := u.Input + u.Created + u.Read
				if r.id != "" && !r.unknown && size > r.size && in.Message.Model == r.model {
					s.add(float64(size-r.size), r)
				}
				*r = request{id: in.Message.ID, model: in.Message.Model, size: size, framing: float64(framing.Message)}
			}
			r.blocks(counter, framing, in.Message.Content)
		case "user":
			r.unknown = r.unknown || in.IsCompactSummary
			r.framing += float64(framing.Message)
			r.blocks(counter, framing, in.Message.Content)
		case "system":
			r.unknown = r.unknown || in.Subtype == "compact_boundary"
		}
	}
	return s, nil
}

func (s *session) add(price float64, r *request) {
	if price > 2*(today*r.counted+r.framing) {
		s.left++
		return
	}
	s.asked++
	s.price, s.counted, s.framing = s.price+price, s.counted+r.counted, s.framing+r.framing
}

func (r *request) blocks(counter token.Counter, framing token.Framing, content json.RawMessage) {
	for _, b := range blocks(content) {
		switch b.Type {
		case "text":
			r.counted += float64(counter.Count(b.Text))
		case "tool_use":
			r.framing += float64(framing.Call)
			r.counted += float64(counter.Count(b.Name) + counter.Count(string(b.Input)))
		case "tool_result":
			r.framing += float64(framing.Result)
			r.blocks(counter, token.Framing{}, b.Content)
		default:
			r.unknown = true
		}
	}
}
