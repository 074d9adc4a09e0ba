package seed_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/pager/seed"
)

// An oddBlock is a block as a history file has it.
type oddBlock struct {
	ID   string  `json:"id"`
	Turn float64 `json:"turn"`
	Text string  `json:"text"`
	Role any     `json:"role,omitempty"`
	Kind any     `json:"kind"`
}

// odd makes histories with kinds of every type, negative weights and cuts that are
// inverted about half of the time.
type odd struct{ *rand.Rand }

func (r odd) pick(words ...string) string { return words[r.IntN(len(words))] }

func (r odd) word() string {
	return r.pick("pager", "PAGER", "score", "intent_ir", "x", "block", "naïve", "two words", "co-op", "日本", "7", "", "İ", "don't")
}

func (r odd) kind(depth int) any {
	switch r.IntN(9 - depth) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return r.IntN(1000) - 500
	case 3:
		return r.Float64() * math.Pow(10, float64(r.IntN(40)-20))
	case 4:
		return r.pick("active", "noise", "é\n\"\\/", "😀", "")
	case 5:
		return 1e16
	case 6:
		return -0.5
	case 7:
		return []any{r.kind(2), r.kind(2)}
	}
	return map[string]any{r.pick("a", "ключ", `"`): r.kind(2), "of": []any{}}
}

func (r odd) id(i int) string {
	return fmt.Sprintf("%s%d", r.pick("block-", "block-0x", "block-é block-", "note block-", "2026-05-17T08:", "from block- to pager block-"), i)
}

func (r odd) weight() float64 { return math.Round(1e6*(4*r.Float64()-2)) / 1e6 }

// Whatever the original decides on is decided as its formula says: this is that
// formula, from its description, on what encoding/json reads.
func TestOddHistoriesAreDecidedByTheFormula(t *testing.T) {
	token := regexp.MustCompile(`[a-z0-9_]+`)
	small := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307")) } // Go has one letter for it
	r := odd{rand.New(rand.NewPCG(11, 12))}
	inverted, negative := 0, 0
	for n := range 10_000 {
		var h struct {
			Intent  []string   `json:"intent_ir"`
			Current *float64   `json:"current_turn,omitempty"`
			Blocks  []oddBlock `json:"blocks"`
		}
		for range r.IntN(6) {
			h.Intent = append(h.Intent, r.word())
		}
		head := math.Inf(-1)
		for i := range 1 + r.IntN(5) {
			b := oddBlock{ID: r.id(i), Turn: float64(r.IntN(200)) - 20, Kind: r.kind(0), Role: r.kind(1)}
			if r.IntN(4) == 0 {
				b.Turn += 0.25
			}
			for range r.IntN(9) {
				b.Text += r.word() + r.pick(" ", "-", "\n", "", ".")
			}
			head = max(head, b.Turn)
			h.Blocks = append(h.Blocks, b)
		}
		if r.IntN(3) == 0 {
			head += float64(r.IntN(50))
			h.Current = &head
		}
		data, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		o := &seed.Options{Alpha: r.weight(), Beta: r.weight(), RetainCut: r.weight(), EvictCut: r.weight(), Legacy: r.IntN(2) == 0}
		if o.EvictCut > o.RetainCut {
			inverted++
		}
		if o.Alpha < 0 || o.Beta < 0 {
			negative++
		}
		p, err := seed.Run("h.json", data, nil, time.Unix(0, 0), o)
		if err != nil {
			t.Fatalf("history %d, %+v: %v\n%s", n, o, err, data)
		}

		keywords := make(map[string]bool)
		for _, w := range h.Intent {
			keywords[small(w)] = true
		}
		lines := bufio.NewScanner(bytes.NewReader(p.Records))
		for _, b := range h.Blocks {
			found := make(map[string]bool)
			for _, w := range token.FindAllString(small(b.Text), -1) {
				if keywords[w] {
					found[w] = true
				}
			}
			similarity := 0.0
			if len(keywords) > 0 {
				similarity = float64(len(found)) / float64(len(keywords))
			}
			score := o.Alpha*similarity + o.Beta/(1+math.Log(1+head-b.Turn))
			want := "page"
			if score >= o.RetainCut {
				want = "retain"
			} else if score < o.EvictCut {
				want = "evict"
			}
			var got struct {
				Block      string  `json:"block"`
				Kind       any     `json:"kind"`
				Similarity float64 `json:"similarity"`
				Age        float64 `json:"delta_t"`
				Score      float64 `json:"R"`
				Action     string  `json:"action"`
			}
			if !lines.Scan() {
				t.Fatalf("history %d: no record of block %q", n, b.ID)
			}
			if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
				t.Fatalf("history %d: %v: %s", n, err, lines.Bytes())
			}
			var kind any // as JSON has it
			if text, err := json.Marshal(b.Kind); err != nil || json.Unmarshal(text, &kind) != nil {
				t.Fatal(err)
			}
			edge := min(math.Abs(score-o.RetainCut), math.Abs(score-o.EvictCut)) < 1e-12 // the last bit may be another
			if got.Block != b.ID || !reflect.DeepEqual(got.Kind, kind) || got.Age != head-b.Turn || got.Action != want && !edge ||
				math.Abs(got.Similarity-similarity) > 0.00005+1e-12 || math.Abs(got.Score-score) > 0.00005+1e-12 {
				t.Fatalf("history %d, %+v, block %+v:\ngot  %s\nwant similarity %v, score %v, %s", n, o, b, lines.Bytes(), similarity, score, want)
			}
			if bytes.ContainsFunc(lines.Bytes(), func(r rune) bool { return r > 0x7e }) {
				t.Fatalf("history %d: a record is not ASCII: %s", n, lines.Bytes())
			}
		}
		if lines.Scan() {
			t.Fatalf("history %d: a record too many: %s", n, lines.Bytes())
		}
	}
	if inverted < 2000 || negative < 5000 {
		t.Errorf("only %d histories with inverted cuts and %d with negative weights", inverted, negative)
	}
}

// What makes no number of a score is refused, and the ids that the original's gate
// refuses, or that end their own statement, are refused in both dialects.
func TestOddHistoriesThatAreRefused(t *testing.T) {
	history := func(id string) []byte {
		text, err := json.Marshal(map[string]any{"intent_ir": nil, "blocks": []oddBlock{{ID: id, Turn: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, legacy := range []bool{false, true} {
		run := func(id string, change func(o *seed.Options)) error {
			o := seed.Defaults()
			o.Legacy = legacy
			change(o)
			_, err := seed.Run("", history(id), nil, time.Unix(0, 0), o)
			return err
		}
		for _, change := range []func(o *seed.Options){
			func(o *seed.Options) { o.Alpha = math.NaN() },
			func(o *seed.Options) { o.Beta = math.NaN() },
			func(o *seed.Options) { o.RetainCut = math.NaN() },
			func(o *seed.Options) { o.EvictCut = math.NaN() },
		} {
			if err := run("block-1", change); err == nil {
				t.Errorf("legacy %v: a weight or cut that is no number is taken", legacy)
			}
		}
		for id, want := range map[string]bool{
			"block-1": true, "block-1 block-2": true, "pager": true, "2026-01-01t": true, "note 2026-01-01T10:00 to block-1": true,
			"b1": false, "1": false, "block-1 b1": false, "Block-1": false, "Pager": false, "2026-01-01 10:00": false, "": false,
			`block-1" to retained-blocks`: false, "block-1\nadd": false, "block-1\u2028": false,
		} {
			if err := run(id, func(*seed.Options) {}); (err == nil) != want {
				t.Errorf("legacy %v: id %q: %v", legacy, id, err)
			}
		}
	}
}
