package carrel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
)

// Good summaries are accepted, and those are refused that make something up, leave
// something out or say nothing. Whether a summary tells the contrary of its source in the
// words of the source is not judged; how many of such are refused is told. The corpus was
// written by hand, and no sentence of it for a check; the head of each file says to which
// set it belongs and what is broken. With CORPUS set in the environment, the probes that
// failed are told.
func TestSummaryCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/summaries/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	var all tally
	sets := make(map[string]*tally)
	var names []string
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, set, _ := strings.Cut(string(archive.Comment), "\nset: ")
		set, _, _ = strings.Cut(set, "\n")
		if sets[set] == nil {
			sets[set] = &tally{}
			names = append(names, set)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			got := judge(t, archive)
			if set != heldOut {
				all.add(got)
			}
			sets[set].add(got)
		})
	}
	for _, set := range names {
		t.Logf("set %s: %v", set, sets[set])
	}
	t.Logf("all but set %s: %v", heldOut, &all)
	if all.accepted < all.good {
		t.Error("a good summary is refused")
	}
	if unseen := sets[heldOut]; unseen.good-unseen.accepted > 2 { // those that are known; what costs one more is seen
		t.Errorf("set %s: %v: more than two of the good ones are refused", heldOut, unseen)
	}
}

// checkedFor are the kinds of sabotage that the checks are for, by their names in the corpus.
var checkedFor = regexp.MustCompile(`^bad/(missing|dropped|empty|placeholder|template|etc|ellipsis|vague|truncated|refusal|api-error|echo|injection|` +
	`longer|invented|near-path|other-conversation|changed-(number|id|url|port|hash|digit|amount))`)

// heldOut is the set that was written after all rules, and that no rule was
// written for since. It says what to expect of summaries that nobody has seen.
const heldOut = "fourth"

// judge checks the summaries of one conversation.
func judge(t *testing.T, archive *txtar.Archive) (n tally) {
	t.Helper()
	e, err := carrel.New(stores.New(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := e.Import(t.Context(), "corpus", &carrel.ImportRequest{Name: t.Name(), Data: file(t, archive, "conversation.json")})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		kind, _, _ := strings.Cut(f.Name, "/")
		if kind != "good" && kind != "bad" {
			continue
		}
		res, err := e.CheckSummary(t.Context(), "corpus", &carrel.CheckSummaryRequest{Session: in.Session, Data: f.Data})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case kind == "good" && res.Accepted:
			n.good++
			n.accepted++
		case kind == "good":
			n.good++
			t.Logf("%s was refused: %s", f.Name, why(res))
		case res.Accepted:
			n.bad++
			if checkedFor.MatchString(f.Name) {
				n.judged++
				t.Errorf("%s was accepted", f.Name)
			}
		default:
			n.bad++
			n.refused++
			if checkedFor.MatchString(f.Name) {
				n.judged++
			}
		}
	}
	if n.good == 0 || n.bad == 0 {
		t.Error("no good or no sabotaged summaries")
	}
	return n
}

// A tally counts summaries.
type tally struct {
	good, accepted int
	bad, refused   int
	judged         int // of bad, what the checks are for
}

func (n *tally) add(o tally) {
	n.good += o.good
	n.accepted += o.accepted
	n.bad += o.bad
	n.refused += o.refused
	n.judged += o.judged
}

func (n *tally) String() string {
	return fmt.Sprintf("%d of %d good ones accepted, all %d refused that the checks are for, %d of %d others refused",
		n.accepted, n.good, n.judged, n.refused-n.judged, n.bad-n.judged)
}

func why(res *carrel.CheckSummaryResult) string {
	var all []string
	for _, p := range res.Problems {
		all = append(all, fmt.Sprint(p))
	}
	if res.Verdict != nil {
		all = append(all, res.Verdict.Reasons...)
	}
	if res.Probes != nil && os.Getenv("CORPUS") != "" {
		for _, r := range res.Probes.Failed() {
			all = append(all, fmt.Sprintf("\n     %v %s %q: found %q, missing %q", r.Probe.Critical, r.Probe.Type, r.Probe.Question, r.Found, r.Missing))
		}
	}
	return strings.Join(all, "; ")
}
