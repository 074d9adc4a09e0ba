package assembly

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/token"
)

// dearer counts words, and so many more for a form with a marker: parts that fit one
// by one do not fit together.
func dearer(more token.Count, calls *int) func(string) token.Count {
	return func(text string) token.Count {
		*calls++
		n := wordCount(text)
		if strings.Contains(text, "left out here") && strings.Count(text, "\n") > 1 {
			n += more
		}
		return n
	}
}

// Where the parts cost more together, a second round takes that off at once: what
// comes out uses the limit, and few rounds are needed.
func TestEndsTakeOffWhatIsOver(t *testing.T) {
	text := strings.Repeat("a line of five words\n", 400)
	for _, more := range []token.Count{0, 20, 60} {
		calls := 0
		got := Brief(Origin{ID: "x", Class: provenance.Document}, text, nil, 200, dearer(more, &calls))
		if n := wordCount(got); n+more > 200 || n+more < 180 {
			t.Errorf("%d words more: %d words, want some %d", more, n, 200-more)
		}
		if calls > 120 {
			t.Errorf("%d words more: counted %d times, want two rounds", more, calls)
		}
	}
}

// Of what an excerpt holds, the passages with the lowest scores go first, and only as
// many as must.
func TestExcerptDropsWhatIsOver(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		b.WriteString("# Part\n\n")
		b.WriteString(strings.Repeat("refund ", 1) + strings.Repeat("lead ", i%2) + strings.Repeat("other words stand here ", 20) + "\n\n")
	}
	text, terms := b.String(), []string{"refund", "lead"}
	calls := 0
	all := Excerpt(Origin{ID: "x"}, text, terms, 700, dearer(0, &calls))
	calls = 0
	less := Excerpt(Origin{ID: "x"}, text, terms, 700, dearer(150, &calls))
	before, after := strings.Count(all, "# Part"), strings.Count(less, "# Part")
	if after >= before || after < before-4 {
		t.Errorf("%d passages became %d, want up to four fewer", before, after)
	}
	if strings.Count(less, "lead ") < strings.Count(all, "lead ") && strings.Count(less, "lead ") < after {
		t.Errorf("a passage with both terms went before one with one:\n%s", less)
	}
	if calls > 20 {
		t.Errorf("counted %d times, want rounds that take ever more", calls)
	}
}

// Where much is over, ever more goes from one round to the next.
func TestExcerptTakesFewRounds(t *testing.T) {
	text := strings.Repeat("# Part\n\nrefund and ten other words stand here in this line\n\n", 60)
	calls := 0
	got := Excerpt(Origin{ID: "x"}, text, []string{"refund"}, 600, dearer(400, &calls))
	if n := wordCount(got); n+400 > 600 || n < 60 {
		t.Errorf("%d words, want up to 200", n)
	}
	if calls > 20 {
		t.Errorf("counted %d times, want two for each of six rounds", calls)
	}
}

// A neighbor that takes up all the room is in, and one that is a byte longer is not.
func TestWidenFillsItsRoom(t *testing.T) {
	all := []unit{{text: "before\n"}, {text: "chosen\n"}}
	room := int64(len("chosen\n") + len(gap) + len("before\n"))
	if full, less := widen(all, []int{1}, room), widen(all, []int{1}, room-1); len(full) != 2 || len(less) != 1 {
		t.Errorf("%v and %v are chosen, want both units and then one", full, less)
	}
}

// Between two passages that follow each other stands no gap, and one between others.
func TestExcerptGaps(t *testing.T) {
	part := func(word string) string {
		return "# Part\n\n" + word + " " + strings.Repeat("and more ", 20) + "\n\n"
	}
	for _, tt := range []struct {
		name  string
		words []string
		want  string
	}{
		{"the first two", []string{"refund", "refund", "x", "x"}, "RR"},
		{"the last two", []string{"x", "x", "refund", "refund"}, "gRR"},
		{"the outer ones", []string{"refund", "x", "x", "refund"}, "RgR"},
		{"the inner ones", []string{"x", "refund", "refund", "x"}, "gRR"},
	} {
		text := ""
		for _, w := range tt.words {
			text += part(w)
		}
		shape := ""
		for line := range strings.Lines(Excerpt(Origin{ID: "x"}, text, []string{"refund"}, 140, wordCount)) {
			switch {
			case line == gap:
				shape += "g"
			case strings.HasPrefix(line, "refund"):
				shape += "R"
			}
		}
		if shape != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, shape, tt.want)
		}
	}
}
