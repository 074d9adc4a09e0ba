package intent

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "make weights.txt anew")

// A lesson is the features of a prompt with its expected outcome.
type lesson struct {
	features []string
	want     int
}

// newLesson reads the features of a prompt.
func newLesson(prompt string, verb Verb) lesson {
	l := lesson{want: slices.Index(outcomes, verb)}
	c := &compiler{text: prompt}
	c.look(defaultLimit)
	f := c.find()
	if f.parts == nil {
		return l
	}
	seen := make(map[string]bool)
	c.features(f, func(name []byte, _ int) {
		if s := string(name); !seen[s] {
			seen[s] = true
			l.features = append(l.features, s)
		}
	})
	return l
}

// authors are the training sets by the author of their prompts. floor is the least share of
// right verbs of a table that was learned without that author.
var authors = []struct {
	name  string
	sets  []string
	floor float64
}{
	{"first", []string{"tune", "everyday-tune"}, 0.98},
	{"second", []string{"second-tune"}, 0.91},
	{"third", []string{"third-tune"}, 0.89},
	{"fourth", []string{"fourth-tune"}, 0.87},
}

// lessons returns the lessons of all authors but one, and those of
// testdata/prompts.txt.
func lessons(t *testing.T, without string) (list []lesson) {
	t.Helper()
	for _, a := range authors {
		if a.name == without {
			continue
		}
		for _, set := range a.sets {
			for _, c := range readCases(t, set) {
				list = append(list, newLesson(c.Prompt, c.Verb))
			}
		}
	}
	return append(list, examples(t)...)
}

// examples reads testdata/prompts.txt. A row has a verb, or "none", a tab, and a
// prompt, in which "\n" is a line break.
func examples(t *testing.T) (list []lesson) {
	t.Helper()
	data, err := os.ReadFile("testdata/prompts.txt")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(data)) {
		verb, prompt, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if verb == "none" {
			verb = ""
		}
		prompt = strings.NewReplacer(`\n`, "\n", `\\`, `\`).Replace(prompt)
		if !slices.Contains(outcomes, Verb(verb)) || prompt == "" {
			t.Fatalf("row %q", row)
		}
		list = append(list, newLesson(prompt, Verb(verb)))
	}
	return list
}

// The parameters of learning.
const (
	rounds = 15   // passes over all lessons
	pace   = 0.05 // learning rate of the first round
	shrink = 0.06 // weight decay, as a share of the learning rate
	rare   = 3    // least number of lessons with a feature
	scale  = 64   // of weights in the table: one in log-odds
	slight = 4    // a feature whose weights are all at most this is left out
)

// learn makes a table by multinomial logistic regression, one lesson at a time, with weight
// decay. To give equal results on every processor, it fuses no product with a sum and computes
// exponentials from products.
func learn(list []lesson) table {
	count := make(map[string]int)
	for _, l := range list {
		for _, f := range l.features {
			count[f]++
		}
	}
	type row [8]float64
	rows := make(map[string]*row)
	known := make([][]*row, len(list))
	for i, l := range list {
		for _, f := range l.features {
			if count[f] < rare {
				continue
			}
			if rows[f] == nil {
				rows[f] = new(row)
			}
			known[i] = append(known[i], rows[f])
		}
	}
	order := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it only orders lessons
	for round := range rounds {
		step := pace / (1 + float64(0.3*float64(round)))
		for _, i := range order.Perm(len(list)) {
			var sum row
			for _, r := range known[i] {
				for k, w := range r {
					sum[k] += w
				}
			}
			wrong := sum
			largest, all := slices.Max(sum[:]), 0.0
			for k := range wrong {
				wrong[k] = exp(sum[k] - largest)
				all += wrong[k]
			}
			for k := range wrong {
				wrong[k] /= all
			}
			wrong[list[i].want]--
			for _, r := range known[i] {
				for k := range r {
					r[k] -= float64(step * (wrong[k] + float64(shrink*r[k])))
				}
			}
		}
	}
	t := make(table)
	for f, r := range rows {
		mean := 0.0
		for _, w := range r {
			mean += w / float64(len(r))
		}
		w, largest := new(weights), int32(0)
		for k := range w {
			w[k] = int32(math.Round(scale * (r[k] - mean)))
			largest = max(largest, w[k], -w[k])
		}
		if largest > slight {
			t[f] = w
		}
	}
	return t
}

// exp returns e to the power of x, which is at most 0, with an error of about a percent.
func exp(x float64) float64 {
	y := 1 + x/1024
	if y < 0 {
		return 0
	}
	for range 10 {
		y *= y
	}
	return y
}

// write returns the table in the form of weights.txt.
func (t table) write() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "%s\t%s\n", name, strings.Trim(fmt.Sprint(*t[name]), "[]"))
	}
	return b.Bytes()
}

// weights.txt has the weights that learn computes from the lessons. To compute them again:
//
//	go test ./intent -run TestWeights -update
func TestWeights(t *testing.T) {
	got := learn(lessons(t, "")).write()
	if *update {
		if err := os.WriteFile("weights.txt", got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(got) != weightList {
		t.Error("weights.txt is not what the lessons give: run go test ./intent -run TestWeights -update")
	}
}

// A table that was learned without an author is tested on the prompts of that author. The
// prompts of the first two authors score higher, because the rules were written with them and
// still find where a request begins.
func TestOtherAuthors(t *testing.T) {
	for _, a := range authors {
		without := learn(lessons(t, a.name))
		right, all := 0, 0
		for _, set := range a.sets {
			for _, c := range readCases(t, set) {
				all++
				if compile(c.Prompt, defaultLimit, without).Verb == c.Verb {
					right++
				}
			}
		}
		t.Logf("%s: %d of %d, %.1f %%", a.name, right, all, 100*share(right, all))
		if share(right, all) < a.floor {
			t.Errorf("%s: %.3f of the verbs are right, want at least %.3f", a.name, share(right, all), a.floor)
		}
	}
}
