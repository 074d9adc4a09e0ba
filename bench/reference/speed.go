package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	loader "github.com/pkoukk/tiktoken-go-loader"

	pkoukk "github.com/pkoukk/tiktoken-go"
	"github.com/tiktoken-go/tokenizer"
)

// A corpus is a text of one sort.
type corpus struct {
	name, text string
	wasm, gos  float64 // required factors of speed over the npm package and over the Go libraries
}

// corpora returns the texts: from the Go distribution and a module, or from the file given for
// a name.
func corpora(ctx context.Context, files map[string]string) ([]corpus, error) {
	all := []corpus{{"prose", "", 15, 7}, {"code", "", 15, 7}, {"json", "", 15, 7}, {"cjk", "", 5, 4}}
	for i := range all {
		var data []byte
		var err error
		if file := files[all[i].name]; file != "" {
			data, err = os.ReadFile(file)
		} else {
			data, err = builtIn(ctx, all[i].name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", all[i].name, err)
		}
		all[i].text = strings.ToValidUTF8(string(data), "\ufffd")
	}
	return all, nil
}

func builtIn(ctx context.Context, name string) ([]byte, error) {
	root, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	switch name {
	case "prose":
		return os.ReadFile(filepath.Join(src, "testdata", "Isaac.Newton-Opticks.txt"))
	case "code":
		return concat(filepath.Join(src, "net", "http", "*.go"))
	case "json":
		data, err := output(ctx, "go", "list", "-json", "std")
		return data[:min(len(data), 1<<20)], err
	default:
		dir, err := output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/danielgtaylor/huma/v2")
		if err != nil {
			return nil, err
		}
		data, err := concat(filepath.Join(strings.TrimSpace(string(dir)), "README_*.md"))
		lines := regexp.MustCompile(`(?m)^.*[\p{Han}\p{Hiragana}\p{Katakana}]{4}.*\n`).FindAll(data, -1)
		return slices.Concat(lines...), err
	}
}

func concat(pattern string) (all []byte, err error) {
	paths, err := filepath.Glob(pattern)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, data...)
	}
	return all, err
}

func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Stderr = os.Stderr
	return c.Output()
}

// A counter counts a text and returns the processor time for it.
type counter struct {
	name  string
	count func(text string) (n int, took time.Duration, err error)
}

// timed returns a counter in this process. It counts often enough to be measurable.
func timed(name string, times int, count func(text string) (int, error)) counter {
	return counter{name, func(text string) (n int, took time.Duration, err error) {
		start := processorTime()
		for range times {
			if n, err = count(text); err != nil {
				return 0, 0, err
			}
		}
		return n, (processorTime() - start) / time.Duration(times), nil
	}}
}

// processorTime returns the processor time of this process so far. Unlike wall-clock time,
// other programs do not lengthen it.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// counters returns the npm package and the Go libraries, in this order.
func (r *reference) counters(e *encoding) ([]counter, error) {
	codec, err := tokenizer.Get(tokenizer.Encoding(e.name))
	if err != nil {
		return nil, err
	}
	pkoukk.SetBpeLoader(loader.NewOfflineLoader())
	other, err := pkoukk.GetEncoding(e.name)
	if err != nil {
		return nil, err
	}
	return []counter{
		{"npm tiktoken (wasm)", func(text string) (int, time.Duration, error) {
			_, n, took, err := r.node.ask(askNumber, e.number, text)
			return n, took, err
		}},
		timed("tiktoken-go/tokenizer", 1, codec.Count),
		timed("pkoukk/tiktoken-go", 1, func(text string) (int, error) { return len(other.EncodeOrdinary(text)), nil }),
	}, nil
}

// speed counts each corpus with all counters in turn.
func (r *reference) speed(ctx context.Context, rounds int, files map[string]string) error {
	texts, err := corpora(ctx, files)
	if err != nil {
		return err
	}
	for i := range encodings {
		e := &encodings[i]
		others, err := r.counters(e)
		if err != nil {
			return err
		}
		ours := timed("carrel", 10, func(text string) (int, error) {
			e.tokens.Forget() // begin with an empty cache, like for the first text
			return e.tokens.Count(text), nil
		})
		for _, t := range texts {
			ratios := make([][]float64, len(others)+1) // the last one compares with the fastest Go library
			var best float64
			for round := range rounds + 1 {
				want, took, err := ours.count(t.text)
				if err != nil {
					return err
				}
				var row []float64
				for _, other := range others {
					n, theirs, err := other.count(t.text)
					if err != nil {
						return fmt.Errorf("%s: %w", other.name, err)
					}
					if n != want && round == 0 {
						fmt.Fprintf(r.out, "       %s of %s: %d tokens by %s, %d by us\n", e.name, t.name, n, other.name, want)
					}
					row = append(row, theirs.Seconds()/took.Seconds())
				}
				if round == 0 {
					continue // this round is a warm-up
				}
				best = max(best, float64(len(t.text))/took.Seconds()/1e6)
				for k, ratio := range append(row, min(row[1], row[2])) {
					ratios[k] = append(ratios[k], ratio)
				}
			}
			r.report(t.wasm, ratios[0], fmt.Sprintf("%s of %s (%d kB, %.0f MB/s) against %s", e.name, t.name, len(t.text)/1000, best, others[0].name))
			r.report(t.gos, ratios[3], fmt.Sprintf("%s of %s against the faster of %s and %s", e.name, t.name, others[1].name, others[2].name))
		}
	}
	return nil
}

// report prints the median of ratios with the least and the greatest. If the median is below the
// goal, it records that a goal was missed.
func (r *reference) report(goal float64, ratios []float64, says string) {
	slices.Sort(ratios)
	verdict, median := "met", ratios[len(ratios)/2]
	if median < goal {
		verdict, r.missed = "MISSED", true
	}
	fmt.Fprintf(r.out, "%-6s %6.1f (%.1f–%.1f), goal ≥ %g: %s\n", verdict, median, ratios[0], ratios[len(ratios)-1], goal, says)
}
