package seed

import (
	_ "embed" // for the sample
	"fmt"
	"strconv"
	"time"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

// sample is a history of twelve blocks: four of noise, five about resolved topics and three
// about active topics. It has the ids, turns and keywords of the original's sample.
//
//go:embed sample.json
var sample []byte

// weights returns the pairs of weights that [Matrix] tries, from the highest weight
// of similarity to the highest weight of recency.
func weights() []Options {
	var all []Options
	for _, w := range [...]struct{ alpha, beta float64 }{{0.9, 0.1}, {0.7, 0.3}, {0.5, 0.5}, {0.3, 0.7}} {
		o := Defaults()
		o.Alpha, o.Beta = w.alpha, w.beta
		all = append(all, *o)
	}
	return all
}

// Matrix tests the package: it runs a pass over a built-in sample of 12 blocks, whose kinds are
// "noise", "resolved" and "active", with each of four pairs of weights, from 0.9 and 0.1 to 0.3
// and 0.7. It returns the results and a text for each violation of these invariants:
//
//   - no block is decided twice in a pass;
//   - every block of kind active is retained, whatever the weights;
//   - one of kind noise is evicted if similarity has a higher weight than recency;
//   - all passes, one after the other, make a contract that can be replayed,
//     in which each block is in the one list that the last pass decided on.
func Matrix() (results []*Result, faults []string, err error) {
	h, err := pagerjson.Parse("sample.json", sample)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range weights() {
		r, err := Decide(h, &o)
		if err != nil {
			return nil, nil, err
		}
		results = append(results, r)
	}
	return results, checkInvariants(results), nil
}

// checkInvariants returns the violations of the invariants of [Matrix].
func checkInvariants(results []*Result) []string {
	var faults []string
	report := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var text []byte
	for n, r := range results {
		seen := make(map[string]bool)
		for i := range r.Records {
			rec := &r.Records[i]
			kind := string(rec.Kind)
			if seen[rec.Block] {
				report("%s: %s is decided twice", r.Summary(), rec.Block)
			}
			seen[rec.Block] = true
			if kind == `"active"` && rec.Directive != retain {
				report("%s: %s is active, got %s, want retain", r.Summary(), rec.Block, rec.Directive)
			}
			if kind == `"noise"` && r.Options.Alpha > r.Options.Beta && rec.Directive != evict {
				report("%s: %s is noise, got %s, want evict", r.Summary(), rec.Block, rec.Directive)
			}
		}
		more, err := r.continued(text, time.Unix(int64(n), 0))
		if err != nil {
			report("%s: %v", r.Summary(), err)
			continue
		}
		text = append(text, more...)
		state, err := contract.Replay(contract.Lines(string(text)))
		if err != nil {
			report("%s: %v", r.Summary(), err)
			continue
		}
		for _, d := range r.decisions() {
			if b, _ := state.Bucket(d.Block); b != d.Bucket {
				report("%s: %s is in %q, want %q", r.Summary(), d.Block, b, d.Bucket)
			}
		}
	}
	return faults
}

// synthetic are the words of synthetic histories. Some are keywords.
var synthetic = [...]string{
	"window", "answer", "compile", "branch", "release", "pager", "module", "request", "history", "context",
	"result", "channel", "package", "retention", "message", "decision", "budget", "token", "archive", "score",
	"summary", "lexer", "writer", "intent", "cluster", "pointer", "network", "session", "block", "contract",
	"latency", "scanner", "keyword", "storage", "program", "notes", "review", "handler", "schema", "journal",
}

// Synthetic returns a history of n blocks of 30 words each, about 282 bytes a
// block. Equal n give equal bytes.
func Synthetic(n int) []byte {
	out := make([]byte, 0, 300*n+128)
	out = append(out, `{"intent_ir": ["pager", "retention", "score", "intent", "block", "keyword"], "blocks": [`...)
	state := uint64(1)
	for i := range n {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = strconv.AppendInt(append(out, `{"id": "block-`...), int64(i), 16)
		out = strconv.AppendInt(append(out, `", "turn": `...), int64(i+1), 10)
		out = append(out, `, "role": "user", "text": "`...)
		for w := range 30 {
			if w > 0 {
				out = append(out, ' ')
			}
			state = state*6364136223846793005 + 1442695040888963407
			// The words with the keywords are every third, so that most blocks
			// have some keywords and few have all.
			pick := int(state >> 33)
			if w%3 == 0 {
				out = append(out, synthetic[pick%len(synthetic)]...)
			} else {
				out = append(out, filler[pick%len(filler)]...)
			}
		}
		out = append(out, `"}`...)
	}
	return append(out, "]}\n"...)
}

// filler has the words that make up most of a synthetic block.
var filler = [...]string{"those", "reader", "keeps", "inside", "fewer", "books", "opened", "which", "today", "needed", "shelves", "holding", "everything", "elsewhere", "nearby"}
