package assembly

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/token"
)

// countWords is a counter for tests: a token for each word.
func countWords(text string) token.Count { return token.Count(len(strings.Fields(text))) }

func countBytes(text string) token.Count { return token.Count(len(text)) }

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

const memoryText = `The office has a garden with old trees. Deployments go out on Tuesday at 14:00 UTC. The cat is called Ada.
Never deploy from a branch other than release. Lunch is good there.
The configuration lives in etc/app/config.toml. People like the view.
`

const talkText = `user: Which store shall we use for the ledger of the branch offices?
assistant: There are several. Each one has its own charm and its history, which fills books. We decided to use SQLite for one node.
user: And what does the weather do in the mountains this week, by the way?
assistant: It rains. Nothing else is to be said about it, since rain is rain.
user: How do we back up the ledger?
assistant: Copy it with the backup command every night at 02:00. The rest of this answer goes on for a while about copies and tapes and the people who carried them.
`

func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		name  string
		class provenance.Class
		text  string
		terms []string
		limit token.Count
		want  string
	}{
		{"a text that fits", provenance.Tool, "one two three", nil, 3, "one two three"},
		{"an empty text", provenance.Tool, "", nil, 0, ""},
		{"a marker that does not fit", provenance.Tool, lines(10), nil, 9, ""},
		{"a marker alone", provenance.Tool, lines(10), nil, 10, "[carrel 7f: 20 tokens left out here; recall by id]\n"},
		{
			"beginning and end of a tool's output", provenance.Tool, lines(50), nil, 19,
			"line 0\nline 1\nline 2\n[carrel 7f: 92 tokens left out here; recall by id]\nline 49\n",
		},
		{
			"the sentence of a memory that the query is about", provenance.Memory, memoryText,
			[]string{"DEPLOY"},
			29,
			"Deployments go out on Tuesday at 14:00 UTC. Never deploy from a branch other than release.\n" +
				"[carrel 7f: 26 tokens left out here; recall by id]\n",
		},
		{
			"a memory without a query", provenance.Verified, memoryText, nil, 23,
			"Never deploy from a branch other than release. The configuration lives in etc/app/config.toml.\n" +
				"[carrel 7f: 29 tokens left out here; recall by id]\n",
		},
		{
			"the last request and answer of a transcript, and a decision", provenance.Transcript, talkText, nil, 41,
			"assistant: There are several. We decided to use SQLite for one node.\n" +
				"user: How do we back up the ledger?\n" +
				"assistant: Copy it with the backup command every night at 02:00.\n" +
				"[carrel 7f: 75 tokens left out here; recall by id]\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Brief(Origin{ID: "7f", Class: tt.class}, tt.text, tt.terms, tt.limit, countWords)
			if got != tt.want {
				t.Errorf("got %d tokens:\n%s\nwant:\n%s", countWords(got), got, tt.want)
			}
		})
	}
}

func TestBriefOfATranscriptHasItsOwnLimit(t *testing.T) {
	text := strings.Repeat(talkText, 20)
	got := Brief(Origin{ID: "7f", Class: provenance.Transcript}, text, nil, 2_000, countWords)
	if n := countWords(got); n > transcriptLimit || n < transcriptLimit/2 {
		t.Errorf("the brief form has %d tokens, want up to %d:\n%s", n, transcriptLimit, got)
	}
}

// A text that is said to fit is cut all the same if it does not.
func TestBriefCountsItsText(t *testing.T) {
	if got := Brief(Origin{ID: "7f", Tokens: 30}, lines(60), nil, 30, countWords); countWords(got) > 30 || got == "" {
		t.Errorf("the brief form has %d words, want at most 30:\n%s", countWords(got), got)
	}
}

// Whatever the text and the counter, a brief form is within its limit, the same
// every time, and neutral if the text is.
func TestBriefHoldsItsLimit(t *testing.T) {
	counter, err := token.Encoding("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	counters := []func(string) token.Count{
		countBytes, countWords, counter.Count,
		func(text string) token.Count { return token.Count(len(text)*37%101 + len(text)/7) }, // not monotone
		func(string) token.Count { return 1_000 },
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(hostile(), rapid.SampledFrom([]string{memoryText, talkText, lines(9), strings.Repeat("x", 700)})), 0, 8).Draw(t, "parts")
		text, _ := Neutralize(strings.Join(parts, " "))
		s := Origin{ID: rapid.StringN(0, 12, -1).Draw(t, "id"), Class: rapid.SampledFrom(append(provenance.Classes(), "")).Draw(t, "class")}
		terms := rapid.SliceOfN(rapid.SampledFrom([]string{"", "ledger", "Deploy", "x", "日"}), 0, 3).Draw(t, "terms")
		limit := token.Count(rapid.IntRange(-5, 400).Draw(t, "limit"))
		count := rapid.SampledFrom(counters).Draw(t, "counter")
		got := Brief(s, text, terms, limit, count)
		if got != "" && count(got) > limit {
			t.Fatalf("the brief form has %d tokens, more than %d: %q", count(got), limit, got)
		}
		if _, n := Neutralize(got); n > 0 {
			t.Fatalf("%+q is not neutral", got)
		}
		if again := Brief(s, text, terms, limit, count); again != got {
			t.Fatalf("%q becomes %q and then %q", text, got, again)
		}
		if got != text && got != "" && !strings.Contains(got, "tokens left out here; recall by id]\n") {
			t.Fatalf("%q becomes %q, which does not say that something is missing", text, got)
		}
	})
}

// A cut does not part a pictograph from its skin tone.
func TestBriefKeepsEmojiTogether(t *testing.T) {
	text := strings.Repeat("👩🏽\u200d💻", 100)
	for limit := range token.Count(400) {
		got := Brief(Origin{ID: "7f"}, text, nil, limit, countBytes)
		if _, n := Neutralize(got); n > 0 {
			t.Fatalf("with a limit of %d: %+q is not neutral", limit, got)
		}
	}
}

// With a counter that adds up, little of the limit is wasted.
func TestBriefUsesItsLimit(t *testing.T) {
	for _, limit := range []token.Count{50, 100, 1_000, 4_000} {
		for _, class := range []provenance.Class{provenance.Tool, provenance.Memory} {
			got := countWords(Brief(Origin{ID: "7f", Class: class}, lines(10_000), nil, limit, countWords))
			if got < limit-4 {
				t.Errorf("of %d tokens a brief %s uses %d", limit, class, got)
			}
		}
	}
}

func BenchmarkBrief(b *testing.B) {
	counter, err := token.Encoding("o200k_base")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(memoryText, 1_000)
	for _, class := range []provenance.Class{provenance.Memory, provenance.Tool, provenance.Transcript} {
		b.Run(string(class), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Brief(Origin{ID: "7f", Class: class}, text, []string{"deploy", "config"}, 500, counter.Count)
			}
		})
	}
}

// Many terms are folded in linear time: quadratic time would be many minutes.
func TestManyTerms(t *testing.T) {
	terms := []string{"A", "a", ""}
	for i := range 400_000 {
		terms = append(terms, strconv.Itoa(1_000_000+i))
	}
	if got := len(lower(terms)); got != 400_001 {
		t.Errorf("%d terms", got)
	}
}
