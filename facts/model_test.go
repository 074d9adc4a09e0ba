package facts

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDefaultModel(t *testing.T) {
	m := DefaultModel()
	if m.Copy <= 0 || m.Names.Bias >= 0 || m.Lines.Bias >= 0 {
		t.Errorf("copy %d, biases %d and %d: most of what there is is not needed again, lines are", m.Copy, m.Names.Bias, m.Lines.Bias)
	}
	if len(FeaturesOfNames()) != nameFeatures || len(FeaturesOfLines()) != lineFeatures {
		t.Errorf("%d and %d features, want %d and %d", len(FeaturesOfNames()), len(FeaturesOfLines()), nameFeatures, lineFeatures)
	}
	text, err := ParseModel(m.String())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, text); d != "" {
		t.Error(d)
	}
}

func TestModelIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.IntRange(-100_000, 100_000)
		m := &Model{Names: newCard(FeaturesOfNames()), Lines: newCard(FeaturesOfLines()), Copy: rapid.IntRange(0, 100_000).Draw(t, "copy")}
		for _, c := range []*Card{&m.Names, &m.Lines} {
			c.Bias = weight.Draw(t, "bias")
			for f := range c.Weights {
				for b := range c.Weights[f] {
					c.Weights[f][b] = weight.Draw(t, "weight")
				}
			}
		}
		got, err := ParseModel(m.String())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, got); d != "" {
			t.Fatal(d)
		}
	})
}

func TestParseModelErrors(t *testing.T) {
	whole := DefaultModel().String()
	change := func(old, now string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("no %q in the model", old)
		}
		return strings.Replace(whole, old, now, 1)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", `the model has no line "copy"`},
		{"a feature is missing", change("line sibling ", "# "), `the model has no line "line sibling"`},
		{"a bias is missing", change("name bias ", "# "), `the model has no line "name bias"`},
		{"an unknown feature", change("name kind ", "name color "), `no feature of a name is called "color"`},
		{"neither name nor line", change("name kind ", "word kind "), `want "copy", "name" or "line"`},
		{"another bin", change("name kind url=", "name kind uri="), `want the weight of bin "url"`},
		{"too few weights", "name kind url=1", "name kind: has 1 weights, want 12"},
		{"no number", "line bias x", `weight "x": want an integer`},
		{"too large a number", "line bias 100001", "from -100000 to 100000"},
		{"too small a number", "line bias -100001", "from -100000 to 100000"},
		{"a copy that is no number", "copy x", `copy is "x"`},
		{"two copies on a line", "copy 1 2", `want "copy", "name" or "line"`},
		{"no copy on a line", "copy", `want "name" or "line", a feature, and its weights`},
		{"a copy below zero", "copy -1", "from 0 to 100000"},
		{"the line is named", "# mine\n\nname bias x", "line 3 of a model"},
		{"no weight at all", "name bias", `want "name" or "line", a feature, and its weights`},
	} {
		_, err := ParseModel(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestLogistic(t *testing.T) {
	last := Chance(0)
	for z := -20_000; z <= 20_000; z++ {
		got := logistic(z)
		if got < last || got > certainty {
			t.Fatalf("logistic(%d) is %d behind %d", z, got, last)
		}
		last = got
		if want := 1e9 / (1 + math.Exp(-float64(z)/1000)); z >= -12_000 && math.Abs(float64(got)-want) > want/100 {
			t.Fatalf("logistic(%d) is %d, want %.0f", z, got, want)
		}
	}
}

func TestExplain(t *testing.T) {
	m := &Model{Names: newCard(FeaturesOfNames()), Lines: newCard(FeaturesOfLines())}
	m.Names.Weights[0][5] = -300
	m.Names.Weights[1][7] = 20
	m.Names.Weights[2][0] = 500
	m.Names.Weights[2][1] = 900 // the name is in another bin
	f := NameFeatures{0: 5, 1: 7}
	want := []Contribution{{"count", "1", 500}, {"kind", "symbol", -300}, {"last", "more", 20}}
	if d := cmp.Diff(want, m.ExplainName(f)); d != "" {
		t.Error(d)
	}
	if got := m.ExplainLine(LineFeatures{}); len(got) != 0 {
		t.Errorf("got %v of a model without weights", got)
	}
}
