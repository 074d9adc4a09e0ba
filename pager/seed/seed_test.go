package seed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/transcript/pagerjson"
)

var noon = time.Date(2026, 5, 17, 3, 8, 12, 999, time.FixedZone("", 0))

// The table of the original's sample: score and directive of each block under
// each pair of weights.
func TestMatrixIsTheOriginals(t *testing.T) {
	want := map[string][4]string{
		"block-0x09": {"0.0270 evict", "0.0809 evict", "0.1348 evict", "0.1888 evict"},
		"block-0x08": {"0.0275 evict", "0.0824 evict", "0.1374 evict", "0.1924 evict"},
		"block-0x06": {"0.1787 evict", "0.2028 page", "0.2268 page", "0.2509 page"},
		"block-0x04": {"0.1825 evict", "0.2141 page", "0.2457 page", "0.2773 page"},
		"block-0x05": {"0.1803 evict", "0.2075 page", "0.2347 page", "0.2620 page"},
		"block-0x0c": {"0.3313 page", "0.3272 page", "0.3231 page", "0.3189 page"},
		"block-0x0a": {"0.0339 evict", "0.1018 evict", "0.1697 evict", "0.2376 page"},
		"block-0x07": {"0.0383 evict", "0.1150 evict", "0.1916 evict", "0.2683 page"},
		"block-0x0b": {"0.3419 page", "0.3591 page", "0.3762 page", "0.3933 page"},
		"block-0x03": {"0.7977 retain", "0.7263 retain", "0.6549 retain", "0.5836 retain"},
		"block-0x02": {"0.6591 retain", "0.6439 retain", "0.6286 retain", "0.6134 retain"},
		"block-0x01": {"1.0000 retain", "1.0000 retain", "1.0000 retain", "1.0000 retain"},
	}
	summaries := []string{
		"alpha=0.9 beta=0.1  retain=3 page=2 evict=7",
		"alpha=0.7 beta=0.3  retain=3 page=5 evict=4",
		"alpha=0.5 beta=0.5  retain=3 page=5 evict=4",
		"alpha=0.3 beta=0.7  retain=3 page=7 evict=2",
	}
	results, faults, err := Matrix()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if got := r.Summary(); got != summaries[i] {
			t.Errorf("Summary() = %q, want %q", got, summaries[i])
		}
		if len(r.Records) != len(want) {
			t.Fatalf("got %d records, want %d", len(r.Records), len(want))
		}
		for _, rec := range r.Records {
			if got := fmt.Sprintf("%.4f %s", rec.Score, rec.Directive); got != want[rec.Block][i] {
				t.Errorf("%s, column %d: got %s, want %s", rec.Block, i, got, want[rec.Block][i])
			}
		}
	}
	if faults != nil {
		t.Errorf("faults are %q, want none", faults)
	}
}

func TestCheckInvariantsBites(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Result)
		want   string
	}{
		{"a block twice", func(r *Result) { r.Records[1].Block = r.Records[0].Block }, "decided twice"},
		{"an active block paged", func(r *Result) { r.Records[11].Directive = page }, "is active, got page"},
		{"noise paged", func(r *Result) { r.Records[0].Directive = page }, "is noise, got page"},
		{"an id that breaks the contract", func(r *Result) { r.Records[0].Block = "block-\"" }, "quotation mark"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			results, _, err := Matrix()
			if err != nil {
				t.Fatal(err)
			}
			tt.change(results[1])
			if got := strings.Join(checkInvariants(results), "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("faults are %q, want one with %q", got, tt.want)
			}
		})
	}
}

// naive is the formula in the plainest way.
func naive(h *pagerjson.History, o *Options) []string {
	head := math.Inf(-1)
	for _, b := range h.Blocks {
		head = math.Max(head, b.Turn.Value)
	}
	if h.Current != nil {
		head = h.Current.Value
	}
	small := func(s string) string {
		return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
	}
	keywords := map[string]bool{}
	for _, w := range h.Intent {
		keywords[small(w)] = true
	}
	word := regexp.MustCompile(`[a-z0-9_]+`)
	var out []string
	for _, b := range h.Blocks {
		found := map[string]bool{}
		for _, w := range word.FindAllString(small(string(b.Text)), -1) {
			if keywords[w] {
				found[w] = true
			}
		}
		similarity := 0.0
		if len(keywords) > 0 {
			similarity = float64(len(found)) / float64(len(keywords))
		}
		left := o.Alpha * similarity
		right := o.Beta * (1 / (1 + log(1+(head-b.Turn.Value))))
		score := left + right
		action := "page"
		if score >= o.RetainCut {
			action = "retain"
		} else if score < o.EvictCut {
			action = "evict"
		}
		out = append(out, fmt.Sprintf("%s %v %v %s", b.ID, similarity, score, action))
	}
	return out
}

// The logarithm is that of two hundred bits, rounded.
func TestLog(t *testing.T) {
	const precision = 200
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(f) }
	// 2·(s + s³/3 + s⁵/5 + …) with s = (x-1)/(x+1)
	series := func(x *big.Float) *big.Float {
		s := number(0).Quo(number(0).Sub(x, number(1)), number(0).Add(x, number(1)))
		square, power, total := number(0).Mul(s, s), number(0).Set(s), number(0)
		for n := 1; n < 180; n += 2 {
			total.Add(total, number(0).Quo(power, number(float64(n))))
			power.Mul(power, square)
		}
		return total.Mul(total, number(2))
	}
	ln2 := series(number(2))
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 1000 {
		x := float64(1 + n)
		if n >= 500 {
			x = 1 + r.Float64()*math.Pow(10, float64(r.IntN(20)-4))
		}
		m, k := math.Frexp(x)
		exact := number(0).Add(series(number(m)), number(0).Mul(ln2, number(float64(k))))
		want, _ := exact.Float64()
		if got := log(x); got != want {
			t.Errorf("log(%v) = %v, want %v", x, got, want)
		}
	}
}

// The scores of a hundred thousand ages are the same on every processor.
func TestScoreIsPortable(t *testing.T) {
	var scores []byte
	o := Defaults()
	for age := range 100_000 {
		score := o.score(float64(age%7)/7, float64(age)/4)
		scores = binary.LittleEndian.AppendUint64(scores, math.Float64bits(score))
	}
	sum := sha256.Sum256(scores)
	const want = "c8f12168ff1cfd95f3ce543024f9f6d661da04374857a115a2bd1b6c2b08fb24"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("digest of the scores is %s, want %s", got, want)
	}
}

// randomHistory makes histories in which keywords of all sorts meet texts of
// all sorts.
func randomHistory(r *rand.Rand) *pagerjson.History {
	words := []string{
		"pager", "PAGER", "Pager", "score", "intent_ir", "x", "7", "block", "bloc\u212A", "\u0130ntent", "i", "k", "K",
		"naïve", "größe", "日本", "two words", "co-op", "_", "", "ΟΔΟΔ", "οδοδ", "a\u2014b", "don\u2019t", "don", "\u212A", "\u0130", "\x00",
		strings.Repeat("long", 20), strings.Repeat("Long", 20), strings.Repeat("q", 63), strings.Repeat("q", 64), "\xc4", "\xe2\x84",
	}
	pick := func() string { return words[r.IntN(len(words))] }
	h := &pagerjson.History{}
	for range r.IntN(7) {
		h.Intent = append(h.Intent, pick())
	}
	for i := range 1 + r.IntN(6) {
		var text strings.Builder
		for range r.IntN(12) {
			text.WriteString(pick())
			text.WriteString([]string{" ", " ", "-", "", "\n", "\u2014", "é", ".", "\u0307"}[r.IntN(9)])
		}
		turn := pagerjson.Int(r.IntN(200))
		if r.IntN(4) == 0 {
			turn = pagerjson.Number{Value: float64(r.IntN(400)) / 4}
		}
		h.Blocks = append(h.Blocks, pagerjson.Block{ID: "block-" + strconv.Itoa(i), Turn: turn, Text: []byte(text.String())})
	}
	if r.IntN(2) == 0 {
		n := pagerjson.Int(200)
		h.Current = &n
	}
	return h
}

func TestDecideIsTheFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 12_000 {
		h := randomHistory(r)
		o := &Options{Alpha: r.Float64(), Beta: r.Float64(), RetainCut: 0.4 + r.Float64()/2, EvictCut: r.Float64() * 0.4}
		if r.IntN(3) == 0 {
			o = Defaults()
		}
		res, err := Decide(h, o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, rec := range res.Records {
			got = append(got, fmt.Sprintf("%s %v %v %s", rec.Block, rec.Similarity, rec.Score, rec.Directive))
		}
		if diff := cmp.Diff(naive(h, o), got); diff != "" {
			t.Fatalf("%+v (-want +got):\n%s", h, diff)
		}
	}
}

// A cut belongs to the gentler side, to the last bit.
func TestDirectiveAtTheCuts(t *testing.T) {
	for age := range 300 {
		o := Defaults()
		score := o.score(0.5, float64(age))
		for _, tt := range []struct {
			retain, evict float64
			want          string
		}{
			{score, 0, retain},
			{math.Nextafter(score, 2), 0, page},
			{2, score, page},
			{2, math.Nextafter(score, 2), evict},
			{score, score, retain},
			{score, math.Nextafter(score, 2), retain}, // the cuts are inverted
			{math.Nextafter(score, 2), 2, evict},
		} {
			o.RetainCut, o.EvictCut = tt.retain, tt.evict
			if got := o.directive(score); got != tt.want {
				t.Errorf("age %d, score %v, cuts %v and %v: got %s, want %s", age, score, tt.retain, tt.evict, got, tt.want)
			}
		}
	}
}

// What is known of the defaults: without overlap a block is paged at age 0 and
// evicted from age 1 on.
func TestDefaultsWithoutOverlap(t *testing.T) {
	h := &pagerjson.History{Intent: []string{"pager"}}
	for i := range 3 {
		h.Blocks = append(h.Blocks, pagerjson.Block{ID: fmt.Sprint("block-", i), Turn: pagerjson.Int(3 - i), Text: []byte("nothing")})
	}
	res, err := Decide(h, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range res.Records {
		got = append(got, r.Directive)
	}
	if diff := cmp.Diff([]string{page, evict, evict}, got); diff != "" {
		t.Errorf("directives (-want +got):\n%s", diff)
	}
	if d := *Defaults(); res.Options != d {
		t.Errorf("nil options are %+v, want %+v", res.Options, d)
	}
}

func TestRecordLines(t *testing.T) {
	kind := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tt := range []struct {
		name string
		rec  Record
		want string
	}{
		{
			"a whole age",
			Record{"block-1", kind(`"noise"`), 1.0 / 6, pagerjson.Int(14), 0.08088, evict},
			`{"block": "block-1", "kind": "noise", "similarity": 0.1667, "delta_t": 14, "R": 0.0809, "action": "evict"}`,
		},
		{
			"an age with decimals and no kind",
			Record{"block-2", nil, 0, pagerjson.Number{Value: 2}, 1, retain},
			`{"block": "block-2", "kind": null, "similarity": 0.0, "delta_t": 2.0, "R": 1.0, "action": "retain"}`,
		},
		{
			"letters beyond ASCII",
			Record{"block-é\u2028😀", kind(`"\"\\\n\t\u0001` + "\x7f" + `\b\f\r"`), 1, pagerjson.Number{Value: 1e16}, 0.115, page},
			`{"block": "block-\u00e9\u2028\ud83d\ude00", "kind": "\"\\\n\t\u0001\u007f\b\f\r", "similarity": 1.0, "delta_t": 1e+16, "R": 0.115, "action": "page"}`,
		},
		{
			"halves go to the even digit",
			Record{"", kind(`""`), 0.03125, pagerjson.Number{Value: 0.00001}, 0.09375, page},
			`{"block": "", "kind": "", "similarity": 0.0312, "delta_t": 1e-05, "R": 0.0938, "action": "page"}`,
		},
		{
			"large scores",
			Record{"b", nil, 0.99996, pagerjson.Number{Value: 1 << 52, Whole: true}, 1e15 + 0.3, page},
			`{"block": "b", "kind": null, "similarity": 1.0, "delta_t": 4503599627370496, "R": 1000000000000000.2, "action": "page"}`,
		},
		{
			"a score below zero, and one that rounds to zero from below",
			Record{"b", nil, math.Copysign(0, -1), pagerjson.Int(0), -0.12345, evict},
			`{"block": "b", "kind": null, "similarity": -0.0, "delta_t": 0, "R": -0.1235, "action": "evict"}`,
		},
		{
			"a kind that is an object",
			Record{"b", kind("{ \"a\\/b\" :[1.50,-0,1E2,\t{}, [ ],true],\"é\":\"\\ud83d\\ude00\\ud800\\u0041\"}"), 0, pagerjson.Int(0), 1, retain},
			`{"block": "b", "kind": {"a/b": [1.5, 0, 100.0, {}, [], true], "\u00e9": "\ud83d\ude00\ud800A"}, "similarity": 0.0, "delta_t": 0, "R": 1.0, "action": "retain"}`,
		},
		{
			"kinds that are no JSON do no harm",
			Record{"b", kind(`"\u12"\`), 0, pagerjson.Int(0), 1, retain},
			`{"block": "b", "kind": "\u12"\, "similarity": 0.0, "delta_t": 0, "R": 1.0, "action": "retain"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.rec.appendJSON(nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The short way to four decimals gives what the long one does.
func TestRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 100_000 {
		f := (r.Float64() - 0.25) * math.Pow(10, float64(r.IntN(12)-5))
		if n%3 == 0 { // about halfway
			f = (float64(r.IntN(20_000_000)) + 0.5) / 10_000
		}
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', 4, 64), 64)
		if err != nil {
			t.Fatal(err)
		}
		want := string(pagerjson.AppendFloat(nil, rounded))
		if rounded != 0 && math.Abs(rounded) < 1e-4 {
			t.Fatalf("%v has fewer than five decimals", rounded)
		}
		if got := string(appendRounded(nil, f)); got != want {
			t.Fatalf("%v: got %s, want %s", f, got, want)
		}
	}
}

func TestLower(t *testing.T) {
	for in, want := range map[string]string{
		"PAGER": "pager", "\u0130X": "i\u0307x", "\u212AELVIN": "kelvin",
		"Α''Σ": "α''ς", "''Σ": "''σ", "ΑΣ''": "ας''", "ΑΣ''Α": "ασ''α", "ΣΑ": "σα", "ǅΣ": "ǆς", "ªΣ": "ªς", "ⅠΣ": "ⅰς", "中Σ": "中σ", "ΑΣ中": "ας中",
		"ΟΔΟΣ": "οδος", "ΣΟΦΟΣ": "σοφος", "Σ": "σ", "ΑΣ.": "ας.", "ΑΣ'Α": "ασ'α", "Α.Σ": "α.ς", "1Σ": "1σ", "ΑΣΣ": "ασς",
	} {
		if got := lower(in); got != want {
			t.Errorf("lower(%q) = %q, want %q", in, got, want)
		}
	}
	// Case_Ignorable of Unicode's DerivedCoreProperties, what is of the categories of marks,
	// formats, modifiers apart.
	for _, r := range "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a" + "^`¨\u00ad\u0301\u02b0\u200b" {
		if got, want := lower("ΑΣ"+string(r)+"Α"), "ασ"+string(r)+"α"; got != want {
			t.Errorf("with %q between: %q, want %q", r, got, want)
		}
	}
	for _, r := range "\"-,;!\u00b6\u00b8a\u2010\u201a\u2020\u2028\uff08\uff0d\uff1b1" {
		want := "ας" + string(r) + "α"
		if r == 'a' {
			want = "ασaα"
		}
		if r == '\u00b8' {
			want = "ασ\u00b8α" // a modifier
		}
		if got := lower("ΑΣ" + string(r) + "Α"); got != want {
			t.Errorf("with %q between: %q, want %q", r, got, want)
		}
	}
}

// Strings are in ASCII, as the original writes them.
func TestStrings(t *testing.T) {
	for in, want := range map[string]string{
		"": `""`, " ~": `" ~"`, `"`: `"\""`, `\`: `"\\"`, "\x00\x1f": `"\u0000\u001f"`, "\x7f\u0080": `"\u007f\u0080"`, "\b\t\n\f\r": `"\b\t\n\f\r"`, "\v": `"\u000b"`,
		"\uffff": `"\uffff"`, "\U00010000": `"\ud800\udc00"`, "\U0010ffff": `"\udbff\udfff"`, "é": `"\u00e9"`, "a/b": `"a/b"`, "!#[]": `"!#[]"`,
	} {
		if got := string(appendString(nil, in)); got != want {
			t.Errorf("%q is written as %s, want %s", in, got, want)
		}
		if got := string(appendValue(nil, []byte(want))); got != want {
			t.Errorf("%s is written again as %s", want, got)
		}
	}
	for in, want := range map[string]string{
		"[1 ,\n2,\r\t3 ]": "[1, 2, 3]", `{"a" :{ } }`: `{"a": {}}`, `"\/\u0041é😀"`: `"/A\u00e9\ud83d\ude00"`, `"\uD83D"`: `"\ud83d"`, `[-0,-0.0,1e5,1E400,-12,0.10]`: `[0, -0.0, 100000.0, 1E400, -12, 0.1]`,
		` "a, b: c" `: `"a, b: c"`, `null`: `null`, `"\u12`: `"\u12"`, `"\u123`: `"\u123"`, `"\u00g1"`: `"\u00g1"`,
	} {
		if got := string(appendValue(nil, []byte(in))); got != want {
			t.Errorf("%s is written as %s, want %s", in, got, want)
		}
	}
}

// All that is wrong with results is told.
func TestCheckInvariantsTellsAll(t *testing.T) {
	results, faults, err := Matrix()
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) > 0 {
		t.Fatalf("faults %q", faults)
	}
	r := results[1]
	r.Records[1].Block, r.Records[2].Block = r.Records[0].Block, r.Records[0].Block
	results[2].Records[0].Block = "none"
	count := make(map[string]int)
	for _, fault := range checkInvariants(results) {
		switch {
		case strings.HasSuffix(fault, r.Records[0].Block+" is decided twice"):
			count["twice"]++
		case strings.Contains(fault, "decided twice in one pass"), strings.Contains(fault, "empty list"):
			count["refused"]++
		default:
			count[fault]++
		}
	}
	if want := map[string]int{"twice": 2, "refused": 2}; !maps.Equal(count, want) {
		t.Errorf("faults %v, want %v", count, want)
	}
}

func TestInputErrors(t *testing.T) {
	block := func(id string, turn float64) pagerjson.Block {
		return pagerjson.Block{ID: id, Turn: pagerjson.Number{Value: turn}}
	}
	current := pagerjson.Int(5)
	for _, tt := range []struct {
		name   string
		h      pagerjson.History
		legacy bool
		want   string
	}{
		{"no blocks", pagerjson.History{}, false, "blocks: there are no blocks"},
		{"no blocks but a turn", pagerjson.History{Current: &current}, false, "blocks: there are no blocks"},
		{
			"a newer block",
			pagerjson.History{Current: &current, Blocks: []pagerjson.Block{block("block-1", 4), block("block-2", 5.5)}},
			false,
			`blocks.1.turn: block "block-2" is of turn 5.5, after the current turn 5`,
		},
		{
			"turns too far apart",
			pagerjson.History{Blocks: []pagerjson.Block{block("block-1", 1e308), block("block-2", -1e308)}},
			false,
			`blocks.1.turn: block "block-2" is of turn -1e+308, too far from the current turn 1e+308`,
		},
		{
			"a turn without end",
			pagerjson.History{Blocks: []pagerjson.Block{block("block-1", math.Inf(1))}},
			false,
			`blocks.0.turn: block "block-1" is of turn +Inf, too far from the current turn +Inf`,
		},
		{
			"an id twice",
			pagerjson.History{Blocks: []pagerjson.Block{block("block-2", 1), block("block-1", 2), block("block-2", 3)}},
			false,
			`blocks.2.id: block "block-2" has the id of block 0`,
		},
		{
			"an id that adds statements",
			pagerjson.History{Blocks: []pagerjson.Block{block("block-1\" to retained-blocks\nadd \"block-9", 1)}},
			false,
			`blocks.0.id: block "block-1\" to retained-blocks\nadd \"block-9" has a quotation mark at byte 7`,
		},
		{"an id of another kind", pagerjson.History{Blocks: []pagerjson.Block{block("b1", 1)}}, true, `blocks.0.id: block "b1" does not begin with "block-"`},
		{"an id of another kind in the current dialect", pagerjson.History{Blocks: []pagerjson.Block{block("block-1 b2", 1)}}, false, `blocks.0.id: block "block-1 b2" has the word "b2", which does not begin with "block-"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Defaults()
			o.Legacy = tt.legacy
			_, err := Decide(&tt.h, o)
			var e *InputError
			if !errors.As(err, &e) || err.Error() != tt.want || e.Hint == "" {
				t.Errorf("got  %v\nwant %s, with a hint", err, tt.want)
			}
		})
	}
}

func TestOptionErrors(t *testing.T) {
	h := &pagerjson.History{Blocks: []pagerjson.Block{{ID: "block-1"}}}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Alpha: math.NaN()}, "alpha NaN is not a finite number"},
		{Options{Beta: math.Inf(1)}, "beta +Inf is not a finite number"},
		{Options{Beta: math.Inf(-1)}, "beta -Inf is not a finite number"},
		{Options{Alpha: -math.MaxFloat64}, "alpha -1.7976931348623157e+308 is too large"},
		{Options{Alpha: math.MaxFloat64}, "alpha 1.7976931348623157e+308 is too large"},
		{Options{RetainCut: math.NaN()}, "retain-cut NaN is not a number"},
		{Options{EvictCut: math.NaN()}, "evict-cut NaN is not a number"},
	} {
		_, err := Decide(h, &tt.o)
		var e *OptionError
		if !errors.As(err, &e) || err.Error() != tt.want {
			t.Errorf("%+v: got %v, want %s", tt.o, err, tt.want)
		}
	}
	for _, o := range []Options{{}, {RetainCut: math.Inf(1), EvictCut: math.Inf(-1)}, {RetainCut: 0.2, EvictCut: 0.55}, {Alpha: -1, Beta: -0.1}, {Alpha: math.MaxFloat64 / 4, Beta: -math.MaxFloat64 / 4}} {
		if _, err := Decide(h, &o); err != nil {
			t.Errorf("%+v: got %v, want no error", o, err)
		}
	}
}

func TestRun(t *testing.T) {
	history := []byte(`{"intent_ir": ["pager"], "blocks": [
		{"id": "block-a", "turn": 1, "text": "old"}, {"id": "block-b", "turn": 2, "text": "the Pager"}]}`)
	p, err := Run("h.json", history, nil, noon, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := `remember a list called retained-blocks
remember a list called paged-blocks
remember a list called evicted-blocks
add "block-a" to evicted-blocks
add "block-b" to retained-blocks
remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00"
`
	if got := string(p.Append); got != first {
		t.Errorf("first pass: got\n%s\nwant\n%s", got, first)
	}
	records := `{"block": "block-a", "kind": null, "similarity": 0.0, "delta_t": 1, "R": 0.1772, "action": "evict"}
{"block": "block-b", "kind": null, "similarity": 1.0, "delta_t": 0, "R": 1.0, "action": "retain"}
`
	if got := string(p.Records); got != records {
		t.Errorf("records: got\n%s\nwant\n%s", got, records)
	}

	// Another intent moves both blocks; the last line of the contract lost its end.
	history = bytes.Replace(history, []byte(`"pager"`), []byte(`"old"`), 1)
	p, err = Run("h.json", history, bytes.TrimSpace([]byte(first)), noon.Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	second := `
remove "block-a" from evicted-blocks
add "block-a" to retained-blocks
remove "block-b" from retained-blocks
add "block-b" to paged-blocks
remember a string called last-pager-pass with "2026-05-17T04:08:12+00:00"
`
	if got := string(p.Append); got != second {
		t.Errorf("second pass: got\n%s\nwant\n%s", got, second)
	}

	o := Defaults()
	o.Legacy = true
	p, err = Run("h.json", history, []byte("anything\n"), noon, o)
	if err != nil {
		t.Fatal(err)
	}
	legacy := "add \"block-a\" to retained-blocks\nadd \"block-b\" to paged-blocks\nset last-pager-pass to 2026-05-17T03:08:12+00:00\n"
	if got := string(p.Append); got != legacy {
		t.Errorf("legacy pass: got\n%s\nwant\n%s", got, legacy)
	}

	// A contract of the original cannot be continued.
	var syntax *contract.SyntaxError
	if _, err = Run("h.json", history, []byte(legacy), noon, nil); !errors.As(err, &syntax) || syntax.Line != 1 {
		t.Errorf("continuing a legacy contract: got %v, want a syntax error in line 1", err)
	}
}

// Passes with any histories, one after the other, leave each block in the list
// that the last pass with it decided on.
// The statements of a pass begin on a line of their own.
func TestPassesBeginALine(t *testing.T) {
	r, err := Decide(&pagerjson.History{Blocks: []pagerjson.Block{{ID: "block-1"}}}, &Options{Legacy: true})
	if err != nil {
		t.Fatal(err)
	}
	for existing, want := range map[string]bool{"": false, "#": true, "# a note": true, "\n": false} {
		if more, err := r.continued([]byte(existing), noon); err != nil || (more[0] == '\n') != want {
			t.Errorf("behind %q: %.20q, %v, want a line feed first: %v", existing, more, err, want)
		}
	}
}

func TestPassesReplay(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var text []byte
		want := make(map[string]contract.Bucket)
		for n := range 4 {
			res, err := Decide(randomHistory(r), nil)
			if err != nil {
				t.Fatal(err)
			}
			more, err := res.continued(text, noon.AddDate(0, 0, n))
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, more...)
			for _, d := range res.decisions() {
				want[d.Block] = d.Bucket
			}
		}
		state, err := contract.Replay(contract.Lines(string(text)))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for id, bucket := range want {
			if got, _ := state.Bucket(id); got != bucket {
				t.Fatalf("%s is in %q, want %q", id, got, bucket)
			}
		}
	}
}

func TestSynthetic(t *testing.T) {
	data := Synthetic(1000)
	if !bytes.Equal(data, Synthetic(1000)) || !json.Valid(data) {
		t.Fatal("a synthetic history is not valid or not always the same")
	}
	if size := len(data) / 1000; size < 275 || size > 290 {
		t.Errorf("a block has %d bytes, want about 282", size)
	}
	p, err := Run("", data, nil, noon, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Result; r.Retained == 0 || r.Paged == 0 || r.Evicted == 0 {
		t.Errorf("%s: want some of each", r.Summary())
	}
}

func BenchmarkPass100k(b *testing.B) {
	data := Synthetic(100_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Run("", data, nil, noon, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
}

func BenchmarkDecide100k(b *testing.B) {
	h, err := pagerjson.Parse("", Synthetic(100_000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Decide(h, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse100k(b *testing.B) {
	data := Synthetic(100_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := pagerjson.Parse("", data); err != nil {
			b.Fatal(err)
		}
	}
}

func decided100k(b *testing.B) *Result {
	b.Helper()
	h, err := pagerjson.Parse("", Synthetic(100_000))
	if err != nil {
		b.Fatal(err)
	}
	res, err := Decide(h, nil)
	if err != nil {
		b.Fatal(err)
	}
	return res
}

func BenchmarkContinue100k(b *testing.B) {
	res := decided100k(b)
	for b.Loop() {
		if _, err := res.continued(nil, noon); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecords100k(b *testing.B) {
	res := decided100k(b)
	buf := make([]byte, 0, 16<<20)
	for b.Loop() {
		buf = res.AppendRecords(buf[:0])
	}
}

// A keyword occurs in texts if it is of letters and digits, and small.
func TestKeywordsThatOccur(t *testing.T) {
	for word, want := range map[string]bool{"lamp": true, "lamp2": true, "": false, "Lamp": false, "la mp": false, "lamp!": false, "la\x00mp": false} {
		if got := isWord(word); got != want {
			t.Errorf("%q can occur: %v, want %v", word, got, want)
		}
	}
}
