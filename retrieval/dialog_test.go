package retrieval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
)

// talk returns turns from lines, "session|date|speaker|text".
func talk(lines ...string) []retrieval.Turn {
	turns := make([]retrieval.Turn, len(lines))
	for i, l := range lines {
		f := strings.SplitN(l, "|", 4)
		turns[i] = retrieval.Turn{Session: len(f[0]), Date: f[1], Speaker: f[2], Text: f[3]}
	}
	return turns
}

func indexes(hits []retrieval.Hit) []int {
	var list []int
	for _, h := range hits {
		list = append(list, h.Index)
	}
	return list
}

// The sessions are I, II and so on.
func TestDialogRank(t *testing.T) {
	for _, tt := range []struct {
		name  string
		query string
		turns []retrieval.Turn
		want  []int
	}{
		{
			"an answer behind the question with the words",
			"Where did Ann buy the tent?",
			talk("I||Bo|Lovely weather.", "I||Ann|It is.", "I||Bo|Is that the tent?", "I||Ann|Yes, from the market.", "I||Bo|Cheap?", "I||Ann|Very."),
			[]int{1, 3, 2, 5, 0, 4}, // the word is in 2; Ann speaks in 1 and 3, next to it, and in 5; 0 and 4 are two away from it
		},
		{
			"nothing crosses from session to session",
			"tent",
			talk("I||Ann|Bye!", "II||Ann|The tent is up.", "III||Ann|Hello!"),
			[]int{1},
		},
		{
			"the name of a speaker counts where they speak and not where they are called",
			"What does Ann play?",
			talk("I||Bo|Ann, Ann, Ann!", "II||Ann|What?"),
			[]int{1},
		},
		{
			"a name of nobody who speaks counts where it is said",
			"Who is Rex?",
			talk("I||Bo|I had a dog.", "II||Bo|Rex sleeps."),
			[]int{1},
		},
		{
			"the month of a session",
			"What did they see in July?",
			talk("I|3 June, 2024|Ann|A fox.", "II|9 July, 2024|Ann|An owl."),
			[]int{1},
		},
		{
			"forms that no rule of spelling makes",
			"Who taught the children?",
			talk("I||Ann|I teach.", "II||Ann|A child!", "III||Ann|No."),
			[]int{0, 1}, // one word of the query each, and equal lengths
		},
		{
			"a query of function words alone",
			"what is it",
			talk("I||Ann|It is.", "II||Ann|Never."),
			[]int{0},
		},
		{"no word at all", "?!", talk("I||Ann|Yes."), nil},
		{"no turns", "tent", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, indexes(retrieval.NewDialog(tt.turns).Rank(tt.query))); diff != "" {
				t.Errorf("turns for %q (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

// The scores for one word in one of five turns of one word, computed by hand:
// ln(1+(5-1+½)/(1+½)) = ln 4 = 1.386294, 0.45 of that, and 0.2 of that.
func TestDialogScore(t *testing.T) {
	hits := retrieval.NewDialog(talk("I||A|a", "I||A|b", "I||A|owl", "I||A|c", "I||A|d")).Rank("owls")
	var got []string
	for _, h := range hits {
		got = append(got, fmt.Sprintf("%d %v %v", h.Index, h.Score, h.Terms))
	}
	want := []string{"2 1.386294 [owls]", "1 0.623832 []", "3 0.623832 []", "0 0.277259 []", "4 0.277259 []"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

// Hit.Terms has the words of a turn's text, date and speaker in the order of the query. Two
// forms of a word count once.
func TestDialogTerms(t *testing.T) {
	d := retrieval.NewDialog(talk("I|9 July|Ann|The owl and a tent.", "II|3 June|Bo|Owls!", "III|1 May|Cy|Never, and nothing again."))
	for query, want := range map[string][]string{
		"tent owls July":           {"0 [tent owls july]", "1 [owls]"},
		"July owl":                 {"0 [july owl]", "1 [owl]"},
		"owls owl, the OWL tent":   {"0 [owls tent]", "1 [owls]"},
		"June":                     {"1 [june]"},
		"the owl of both himself":  {"1 [owl]", "0 [owl]"},
		"what is the June of that": {"1 [june]"},
		"the tent again":           {"0 [tent]"},
		"never":                    {"2 [never]"},
		"never again":              {"2 [never again]"},
	} {
		var got []string
		for _, h := range d.Rank(query) {
			got = append(got, fmt.Sprintf("%d %v", h.Index, h.Terms))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("terms for %q (-want +got):\n%s", query, diff)
		}
	}
}

func TestTurnString(t *testing.T) {
	for _, tt := range []struct {
		turn retrieval.Turn
		want string
	}{
		{retrieval.Turn{Session: 1, Date: "9 July", Speaker: "Ann", Text: "Hi."}, "[9 July] Ann: Hi."},
		{retrieval.Turn{Speaker: "Ann", Text: "Hi."}, "Ann: Hi."},
		{retrieval.Turn{Date: "9 July", Text: "Hi."}, "[9 July] Hi."},
		{retrieval.Turn{Text: "Hi."}, "Hi."},
	} {
		if got := tt.turn.String(); got != tt.want {
			t.Errorf("%+v is %q, want %q", tt.turn, got, tt.want)
		}
	}
}

var drawnTurns = rapid.Custom(func(t *rapid.T) []retrieval.Turn {
	word := rapid.SampledFrom([]string{"owl", "owls", "teach", "taught", "July", "2024", "Ann", "the", "größe", "?"})
	text := func(label string, most int) string {
		return strings.Join(rapid.SliceOfN(word, 0, most).Draw(t, label), " ")
	}
	turns := make([]retrieval.Turn, rapid.IntRange(0, 12).Draw(t, "turns"))
	session := 0
	for i := range turns {
		session += rapid.IntRange(0, 1).Draw(t, "next")
		turns[i] = retrieval.Turn{Session: session, Date: text("date", 2), Speaker: text("speaker", 1), Text: text("text", 6)}
	}
	return turns
})

var drawnQuery = rapid.StringMatching(`((owl|teaching|taught|July|Ann|who|is|2024) ){0,5}`)

// Hits are ordered by falling score, scores are above 0, ties go to the earlier turn, and
// each turn occurs once.
func TestDialogOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := drawnTurns.Draw(t, "dialog")
		query := drawnQuery.Draw(t, "query")
		hits := retrieval.NewDialog(turns).Rank(query)
		seen := make(map[int]bool)
		for i, h := range hits {
			if h.Score <= 0 || h.Index < 0 || h.Index >= len(turns) || seen[h.Index] {
				t.Fatalf("hit %d is %+v", i, h)
			}
			seen[h.Index] = true
			if i > 0 && (h.Score > hits[i-1].Score || h.Score == hits[i-1].Score && h.Index < hits[i-1].Index) {
				t.Fatalf("%+v comes behind %+v", h, hits[i-1])
			}
		}
		if diff := cmp.Diff(hits, retrieval.NewDialog(turns).Rank(query)); diff != "" {
			t.Fatalf("again (-first +second):\n%s", diff)
		}
	})
}

// Turns that have no neighbors, speakers and dates rank as documents do.
func TestDialogOfStrangersRanksAsDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"pager", "score", "blocks", "token", "budgets", "rule"})
		var turns []retrieval.Turn
		var docs []retrieval.Document
		for i := range rapid.IntRange(1, 12).Draw(t, "turns") {
			text := strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"), " ")
			turns = append(turns, retrieval.Turn{Session: i, Text: text})
			docs = append(docs, retrieval.Document{ID: fmt.Sprintf("%02d", i), Text: text})
		}
		query := word.Draw(t, "query") + " " + word.Draw(t, "query")
		if diff := cmp.Diff(retrieval.Rank(query, docs), retrieval.NewDialog(turns).Rank(query), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("hits for %q (-documents +turns):\n%s", query, diff)
		}
	})
}

// A relevant neighbor never lowers the score of a turn.
func TestDialogNeighborsLend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "turns")
		at := rapid.IntRange(0, n-1).Draw(t, "with the word")
		turns := make([]retrieval.Turn, n)
		for i := range turns {
			turns[i] = retrieval.Turn{Session: 1, Text: "filler"}
		}
		turns[at].Text = "owl"
		scores := make([]ratio.Ratio, n)
		for _, h := range retrieval.NewDialog(turns).Rank("owl") {
			scores[h.Index] = h.Score
		}
		for i, s := range scores {
			away := max(i-at, at-i)
			if want := []ratio.Ratio{ratio.One, 450_000, 200_000, 0}[min(away, 3)].Mul(scores[at]); s != want {
				t.Fatalf("%d away from the word a turn scores %v, want %v", away, s, want)
			}
		}
	})
}

var hitSink []retrieval.Hit

func benchTurns() []retrieval.Turn {
	words := strings.Fields("we went to the lake with a tent and saw an owl that sat on a fence near the old mill where my brother taught music")
	turns := make([]retrieval.Turn, 600)
	for i := range turns {
		text := slices.Clone(words[i%7 : i%7+12])
		turns[i] = retrieval.Turn{
			Session: i / 25, Date: "9 July, 2024", Speaker: []string{"Ann", "Bo"}[i%2],
			Text: strings.Join(text, " ") + fmt.Sprintf(" word%d name%d", i%90, i%41),
		}
	}
	return turns
}

func BenchmarkNewDialog(b *testing.B) {
	turns := benchTurns()
	b.ReportAllocs()
	for b.Loop() {
		retrieval.NewDialog(turns)
	}
}

func BenchmarkDialogRank(b *testing.B) {
	d := retrieval.NewDialog(benchTurns())
	b.ReportAllocs()
	for b.Loop() {
		hitSink = d.Rank("Where did Ann see the owl in July, and what was word7?")
	}
}
