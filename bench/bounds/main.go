// Command bounds determines how many more tokens Claude's tokenizer, which is not public,
// counts than o200k_base. It uses the tokens charged for sessions of Claude Code:
//
//	go run ./bench/bounds one=DIR/one-*.jsonl other=DIR/other-*.jsonl
//
// Each argument names a project and the files of its sessions. A session records the tokens of
// the request for each reply. The difference between two successive requests is the charge for
// the messages between them, and their o200k_base count is known. Messages with thinking or
// images are left out, because the file does not have their charge. Requests that were charged
// more than twice today's bound are left out, too, because the client must have sent text that
// is not in the file.
//
// The need of a session is the factor that makes its counts, together with the framing of
// [token.FramingOf], equal to its charge. The factor for some projects is the largest need of
// their sessions plus five percent. For each project, the report shows for how many of its
// sessions the factor of all other projects is sufficient.
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
	slack    = 1.05 // above the largest need
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

// A session has the sums over its requests.
type session struct {
	price   float64 // tokens charged
	counted float64 // o200k_base count of the same messages
	framing float64
	asked   int // number of requests
	left    int // requests left out, because the client sent text that it did not record
}

func (s *session) need() float64 { return (s.price - s.framing) / s.counted }

// over returns by how much a bound exceeds the tokens charged, as a share of these tokens. The
// bound is factor times the counted tokens, plus the framing.
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
			return fmt.Errorf("%q: want NAME=FILES with a pattern of files: %w", arg, err)
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

// A row has the used fields of a line of a session file.
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

// blocks returns the blocks of a content, which may be a single text.
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

// A request has the messages added since the previous request.
type request struct {
	id, model        string
	size             int // charged size of the previous request
	counted, framing float64
	unknown          bool // whether a part cannot be counted
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
