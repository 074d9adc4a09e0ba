package artifact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

func newLRUSim(j *job.Job) *cobra.Command {
	var limit int64
	cmd := &cobra.Command{
		Use:   "lru-sim TRACE --limit N",
		Short: "Replay a trace of accesses on the resident set",
		Long: `Lru-sim replays a trace on the set of artifacts that Carrel keeps in memory, and
prints for each line whether it was a hit or a fault, and which items it evicted. TRACE is a file, or -
for standard input, with lines such as

    get a        use a; if it is not in memory, load it with size 1
    get b 512    use b; if it is not in memory, load it with size 512
    pin a        keep a from being evicted; each pin needs an unpin
    unpin a

Empty lines and lines that begin with # are ignored. The last line of the output lists the pages
in memory, the most recently used first.`,
		Example: `  carrel debug lru-sim trace.txt --limit 4`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("limit") {
				return out.Usagef("--limit: the flag is missing: give the size of the memory, such as 4")
			}
			if limit < 1 {
				return out.Usagef("--limit: %d is below 1", limit)
			}
			data, err := j.Read(args[0])
			if err != nil {
				return err
			}
			res, err := replayTrace(args[0], string(data), limit)
			if err != nil {
				return err
			}
			return j.List("lru-sim", res, "steps", func(p *out.Page) {
				t := &out.Table{}
				for _, s := range res.Steps {
					gone := ""
					if len(s.Evicted) > 0 {
						gone = "evicted " + strings.Join(s.Evicted, " ")
					}
					t.Add(s.Op, s.ID, s.Result, gone)
				}
				p.Table(t)
				p.Line("resident: %s", out.Visible(strings.Join(res.Resident, " ")))
			})
		},
	}
	cmd.Flags().Int64Var(&limit, "limit", 0, "`size` that all resident pages together may have")
	return cmd
}

// A traceResult is the result of replaying a trace.
type traceResult struct {
	Limit     int64       `json:"limit"`
	Hits      int64       `json:"hits"`
	Faults    int64       `json:"faults"`
	Evictions int64       `json:"evictions"`
	Steps     []traceStep `json:"steps"`
	Resident  []string    `json:"resident"` // most recently used first
}

// A traceStep is the result of one line of a trace.
type traceStep struct {
	Op      string   `json:"op"`
	ID      string   `json:"id"`
	Result  string   `json:"result"`            // hit, fault, or "fault, not kept"; pinned or unpinned
	Evicted []string `json:"evicted,omitempty"` // least recently used first
}

// replayTrace replays a trace.
func replayTrace(name, text string, limit int64) (*traceResult, error) {
	res := &traceResult{Limit: limit, Steps: []traceStep{}, Resident: []string{}}
	pages := artifact.NewPages[struct{}](limit)
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		before := resident(pages)
		step, err := replayLine(pages, words)
		if err != nil {
			return nil, &transcript.SyntaxError{Name: name, Line: number, Text: err.Error(), Hint: "carrel debug lru-sim --help"}
		}
		after := resident(pages)
		for _, id := range slices.Backward(before) {
			if !slices.Contains(after, id) {
				step.Evicted = append(step.Evicted, id)
			}
		}
		res.Steps = append(res.Steps, *step)
	}
	s := pages.Stats()
	res.Hits, res.Faults, res.Evictions = s.Hits, s.Faults, s.Evictions
	res.Resident = append(res.Resident, resident(pages)...)
	return res, nil
}

// replayLine replays one line.
func replayLine(pages *artifact.Pages[struct{}], words []string) (*traceStep, error) {
	if len(words) < 2 || len(words) > 3 || len(words) == 3 && words[0] != "get" {
		return nil, fmt.Errorf("%q is no valid line: want get ID, get ID SIZE, pin ID or unpin ID", strings.Join(words, " "))
	}
	key := artifact.Key{ID: words[1]}
	step := &traceStep{Op: words[0], ID: words[1]}
	switch words[0] {
	case "get":
		size := int64(1)
		if len(words) == 3 {
			n, err := strconv.ParseInt(words[2], 10, 64)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%q is no size: want a whole number, 1 or more", words[2])
			}
			size = n
		}
		if _, ok := pages.Get(key, 1); ok {
			step.Result = "hit"
			return step, nil
		}
		pages.Put(key, artifact.Page[struct{}]{Version: 1, Size: size})
		step.Result = "fault"
		if !slices.Contains(resident(pages), words[1]) {
			step.Result = "fault, not kept"
		}
	case "pin":
		pages.Pin(key)
		step.Result = "pinned"
	case "unpin":
		pages.Unpin(key)
		step.Result = "unpinned"
	default:
		return nil, fmt.Errorf("%q is none of get, pin, unpin", words[0])
	}
	return step, nil
}

// resident returns the ids of a set, most recently used first.
func resident(pages *artifact.Pages[struct{}]) []string {
	var ids []string
	for _, k := range pages.Keys() {
		ids = append(ids, k.ID)
	}
	return ids
}
