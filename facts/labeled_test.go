package facts

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/transcript"
)

// An example is a text with the finds that are expected in it: each kind and text once, in
// any order.
type example struct {
	file string
	text string
	want []string // "kind text"
}

// examples parses labeled texts. An example is the lines of its text, followed by one line
// for each expected find: "=> ", its kind, a space and its text. If nothing is expected the
// only such line is "=> -". Empty lines between examples are ignored.
//
// The labels were written by people who read the texts, not by running the extractor: any
// other find is an error of the extractor.
func examples(t *testing.T, files ...string) []example {
	t.Helper()
	var list []example
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join("testdata", "labeled", file))
		if err != nil {
			t.Fatal(err)
		}
		var text, want []string
		labeled := false
		end := func() {
			if labeled {
				list = append(list, example{file, strings.Join(text, "\n"), want})
			}
			text, want, labeled = nil, nil, false
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			label, ok := strings.CutPrefix(line, "=> ")
			switch {
			case ok:
				labeled = true
				if label != "-" {
					want = append(want, label)
				}
				continue
			case labeled:
				end()
			}
			if line != "" || len(text) > 0 {
				text = append(text, line)
			}
		}
		end()
	}
	return list
}

// A tally counts right, wrong and missed finds.
type tally struct{ right, wrong, missed int }

func (n tally) precision() float64 { return share(n.right, n.right+n.wrong) }
func (n tally) recall() float64    { return share(n.right, n.right+n.missed) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

func (n *tally) add(o tally) {
	n.right, n.wrong, n.missed = n.right+o.right, n.wrong+o.wrong, n.missed+o.missed
}

// judge compares the finds in examples with the labels, by kind, and logs every error.
func judge(t *testing.T, list []example, find func(t *testing.T, text string) []string) map[string]tally {
	t.Helper()
	by := make(map[string]tally)
	count := func(label string, n tally) {
		kind, _, _ := strings.Cut(label, " ")
		sum := by[kind]
		sum.add(n)
		by[kind] = sum
	}
	for _, e := range list {
		got := slices.Compact(slices.Sorted(slices.Values(find(t, e.text))))
		want := slices.Compact(slices.Sorted(slices.Values(e.want)))
		for _, g := range got {
			if slices.Contains(want, g) {
				count(g, tally{right: 1})
				continue
			}
			count(g, tally{wrong: 1})
			t.Logf("%s: found %q in %q", e.file, g, e.text)
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				count(w, tally{missed: 1})
				t.Logf("%s: missed %q in %q", e.file, w, e.text)
			}
		}
	}
	return by
}

// TestPrecision compares the extractor with the labels: 98 of 100 finds must be right, and 95
// of 100 of each kind; 95 of 100 labels must be found.
func TestPrecision(t *testing.T) {
	files := []string{"edges.txt", "german.txt", "git.txt", "go.txt", "json.txt", "markdown.txt", "ops.txt", "prose.txt", "python.txt", "web.txt"}
	identifiers, quotes, calls := examples(t, files...), examples(t, "quotes.txt"), examples(t, "calls.txt")
	n := len(identifiers) + len(quotes) + len(calls)
	if n < 300 {
		t.Errorf("%d examples, want 300 at least", n)
	}
	by := judge(t, identifiers, findIdentifiers)
	maps.Copy(by, judge(t, quotes, findQuotes))
	maps.Copy(by, judge(t, calls, findFacts))
	var all tally
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		sum := by[kind]
		all.add(sum)
		t.Logf("%-9s %3d right %2d wrong %2d missed: precision %.3f, recall %.3f", kind, sum.right, sum.wrong, sum.missed, sum.precision(), sum.recall())
		if sum.precision() < 0.95 {
			t.Errorf("precision of kind %s is %.3f, want 0.95 at least", kind, sum.precision())
		}
	}
	t.Logf("%d examples, %d labels: precision %.4f, recall %.4f", n, all.right+all.missed, all.precision(), all.recall())
	if all.wrong > 3 || all.missed > 0 { // the known errors; any further one fails the test
		t.Errorf("%d are wrong and %d missed, want 3 and 0 at most", all.wrong, all.missed)
	}
	if all.precision() < 0.98 || all.recall() < 0.95 {
		t.Errorf("precision %.4f and recall %.4f, want 0.98 and 0.95 at least", all.precision(), all.recall())
	}
}

func findIdentifiers(_ *testing.T, text string) []string {
	var found []string
	Each(text, func(id Identifier, _ int) { found = append(found, string(id.Kind)+" "+id.Text) })
	return found
}

func findQuotes(_ *testing.T, text string) []string {
	var found []string
	eachQuote(text, func(quote string, _ int) { found = append(found, "quote "+quote) })
	return found
}

// findFacts finds the facts of a call. The first line of its text is the name of the tool
// and the arguments; the other lines are the result, a failure if it begins with !.
func findFacts(t *testing.T, text string) []string {
	t.Helper()
	head, result, _ := strings.Cut(text, "\n")
	name, input, ok := strings.Cut(head, " ")
	if !ok || !json.Valid([]byte(input)) {
		t.Fatalf("%q is no call", head)
	}
	s := new(talk).call("", name, json.RawMessage(input), result)
	var found []string
	for _, f := range s.extract(nil) {
		if f.CallID != "call-1" || f.Block != 0 || f.Role != transcript.RoleAssistant {
			t.Errorf("%q: fact %+v is not of the call", head, f)
		}
		switch f.Kind { //nolint:exhaustive // the others say more than a label does
		case FactChange, FactRead, FactCommand:
			found = append(found, fmt.Sprintf("%s %s", f.Kind, f.Subject))
		case FactError:
			found = append(found, "error "+f.Text)
		case FactTodo:
			found = append(found, fmt.Sprintf("todo %s %s", f.Status, f.Text))
		}
		if f.Exit != "" {
			found = append(found, "exit "+f.Exit)
		}
	}
	return found
}
