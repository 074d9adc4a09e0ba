package summary

import (
	"slices"
	"strings"
	"testing"
)

// A number is the source's as it is, in another spelling, rounded, or as a count that the
// writer made.
func TestNumbersOfTheSource(t *testing.T) {
	for _, tt := range []struct {
		name, source, n, of, behind string
		want                        bool
	}{
		{"a share", "it fell by 83%", "83", "%", "", true},
		{"a share with a blank", "it fell by 83 %", "83", "%", "", true},
		{"a share in a word", "it fell by 83 percent", "83", "%", "", true},
		{"a share in two words", "it fell by 83 per cent", "83", "%", "", true},
		{"a number that is no share", "83 files", "83", "%", "", false},
		{"a number that is no share, with zeros", "83 files", "83.0", "%", "", false},
		{"a number that is a share without a sign", "lamps: 12.5", "12.5", "%", "", true},
		{"a number of too many places to tell", "the talk", "1.23456789", "", "", true},
		{"a part of a number that is a share", "8.59 percent", "8.5", "%", "", false},
		{"a unit in a word", "it took 35s", "35", "", " seconds", true},
		{"a unit in a word, with a blank", "it took 35 s", "35", "", " seconds", true},
		{"a small count", "the talk", "12", "", "", true},
		{"a larger count", "the talk", "13", "", "", false},
		{"a small number with a unit", "the talk", "7", "ms", "", false},
		{"a small number that is not whole", "the talk", "1.5", "", "", false},
		{"a count of what is counted", "the talk", "140", "", " files", true},
		{"a large count of what is counted", "the talk", "1001", "", " files", false},
		{"a count of something else", "the talk", "140", "", " lamps", false},
		{"an ordinal", "the talk", "23", "rd", "", true},
		{"a product", "3 x 14.5 each", "43.5", "", "", true},
		{"a product in hundredths", "3 x 0.335 each", "1.01", "", "", true},
		{"another product", "3 x 14.5 each", "43.6", "", "", false},
		{"a product of too many places", "1.23456789 x 3", "0", "ms", "", false},
		{"a product by too many places", "3 x 1.23456789", "0", "ms", "", false},
		{"a product that is too large", "900000000000 x 900000000000", "0", "ms", "", false},
		{"one of a list without blanks", "rows 1024,2048", "2048", "", "", true},
		{"a longer number", "port 84430", "8443", "", "", false},
		{"one that goes on with a nine", "port 84439", "8443", "", "", false},
		{"one behind a nine", "port 98443", "8443", "", "", false},
		{"more zeros behind the point", "it took 1.50 s", "1.5", "s", "", true},
		{"fewer zeros behind the point", "it took 1.5 s", "1.50", "s", "", true},
		{"a zero behind the point", "it took 35.0 s", "35", "s", "", true},
	} {
		o := newOrigin(&Original{Text: tt.source})
		if got := o.hasNumber(tt.n, tt.of, tt.behind, nil); got != tt.want {
			t.Errorf("%s: %s%s%s of %q: %v, want %v", tt.name, tt.n, tt.of, tt.behind, tt.source, got, tt.want)
		}
	}
}

// A number may be made of others that the entry or a sentence of the source has, if the
// entry says how.
func TestNumbersThatAreMadeOfOthers(t *testing.T) {
	const source = "There were 10 and 5 and 20 and 30. The gateway gave 36 errors of 144 requests."
	for _, tt := range []struct {
		name, n, of, text string
		want              bool
	}{
		{"a sum of what stands beside each other", "35", "", "35: 10, 5 and 20", true},
		{"a sum of others", "30.0", "", "a total of 30.0 with 10, 5 and 20", true},
		{"a sum that nobody speaks of", "40", "", "40 with 10, 5 and 30", false},
		{"no sum", "31", "", "a total of 31 with 10, 5 and 20", false},
		{"twice the same", "60", "", "a total of 60 with 30", false},
		{"a difference", "25", "", "it fell by 25 from 30 to 5", true},
		{"a difference that nobody speaks of", "25", "", "25, 30 and then 5", false},
		{"no difference", "24", "", "it fell by 24 from 30 to 5", false},
		{"a share of the entry", "50", "%", "10 of 20, or 50%", true},
		{"a share of a sentence of the source", "25", "%", "25% of the gateway's requests gave errors", true},
		{"a share of a sentence about something else", "25", "%", "25% of the lamps were dark", false},
		{"another share", "26", "%", "26% of the gateway's requests gave errors", false},
		{"nothing", "0", "", "a total of 0", false},
	} {
		o := newOrigin(&Original{Text: source})
		if got := o.derives(tt.n, tt.of, tt.text); got != tt.want {
			t.Errorf("%s: %q: %v, want %v", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestSamePath(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"a/b", "a/b", true}, {"b", "a/b", true}, {"a/b", "b", true}, {"", "a/", false}, {"a/", "", false}, {"b", "ab", false}} {
		if got := samePath([]string{tt.a})(tt.b); got != tt.want {
			t.Errorf("%q and %q: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// An intent that would fit any session is vague: one word that tells, or none.
// A slash alone is no path, whatever the source is.
func TestBareSlash(t *testing.T) {
	for _, src := range []string{"", "x", "x y", "/"} {
		for _, p := range Check(&Summary{State: "read / write, `/`, `.`, `//`, `./`"}, &Original{Text: src}) {
			if p.Section == SectionState {
				t.Errorf("source %q: %v", src, p)
			}
		}
	}
}

func TestIsVague(t *testing.T) {
	for _, tt := range []struct {
		intent string
		want   bool
	}{
		{"Fix bugs", true},
		{"Gateway", true},
		{"The gateway", false}, // two words may be a title
		{"Make the gateway work for the user", true},
		{"Make the gateway/limits work for the user", false},
		{"Add limits to the gateway", false},
		{strings.Repeat("the ", 18) + "gateway", true},
		{strings.Repeat("the ", 18) + "gateways", false}, // so many words say something
	} {
		if got := isVague(tt.intent); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.intent, got, tt.want)
		}
	}
}

// A text is the prompt if it has little besides, and a summary is if it has most of it.
func TestEchoes(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"Where are we in the task?", true},
		{"Where are we in the task, " + strings.Repeat("x", 21), true},
		{"Where are we in the task, " + strings.Repeat("x", 22), false},
		{"Write it all down here now.", true},
		{"As asked, write it all down here now, and stop.", true},
		{"Leave out the rest.", true},
		{"As asked, leave out the rest.", false},
		{"Be brief.", false},
	} {
		if got := isEcho(tt.text, "Write it all down here now. Leave out the rest. Be brief."); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.text, got, tt.want)
		}
	}
	said := []string{"Say first what the user wants.", "Name all of the files then.", "Write down what was decided here.", "Tell us where the work stands.", "List what is to come next.", "Leave out what nobody needs now."}
	prompt := strings.Join(said, "\n") + "\nBe brief."
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"half of it", strings.Join(said[:3], "\n"), true},
		{"less than half", strings.Join(said[:2], "\n"), false},
		{"half of a longer one", strings.Join(said[:3], "\n"), true},
	} {
		if got := isTemplate(tt.text, prompt); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if isTemplate(strings.Join(said[:3], "\n"), prompt+"\nAnswer in whole sentences of English.") {
		t.Error("three of seven sentences are taken for the prompt")
	}
	if isTemplate("What is the user trying to accomplish? Where are we in the task?", "") {
		t.Error("two questions are taken for the published prompt")
	}
	if !isTemplate("What is the user trying to accomplish? Where are we in the task? What needs to happen next?", "") {
		t.Error("three questions of the published prompt are taken for a summary")
	}
}

// A draft may be twice as long as what it is of.
func TestTwiceAsLongIsNotTooLong(t *testing.T) {
	long := func(all []Problem) bool {
		return slices.ContainsFunc(all, func(p Problem) bool { return p.Rule == ruleLonger })
	}
	for size, want := range map[[2]int]bool{{2002, 1001}: false, {2003, 1001}: true, {2000, 1}: false, {2001, 1}: true, {3000, 0}: false} {
		if got := long(CheckText(strings.Repeat("y", size[0]), &Original{Text: strings.Repeat("x", size[1])})); got != want {
			t.Errorf("%d of %d letters: too long: %v, want %v", size[0], size[1], got, want)
		}
	}
	for size, want := range map[[2]int]bool{{400, 1}: false, {401, 1}: true, {500, 500}: false, {501, 500}: true} {
		if got := long(Check(&Summary{State: strings.Repeat("é", size[0])}, &Original{Text: strings.Repeat("x", size[1])})); got != want {
			t.Errorf("a summary of %d of %d letters: too long: %v, want %v", size[0], size[1], got, want)
		}
	}
}

// A draft that is a refusal is that, and not besides a document that cannot be read; and
// what says None of one section says nothing of others.
func TestOneProblemIsOne(t *testing.T) {
	if got := CheckText("I'm sorry, but I can't help with that request.", nil); len(got) != 1 || got[0].Rule != RuleRefusal {
		t.Errorf("got %v, want that it is a refusal", got)
	}
	s := sound()
	s.Intent = None
	if got := Check(s, nil); len(got) != 1 || got[0].Rule != ruleEmpty || got[0].Section != SectionIntent {
		t.Errorf("got %v, want that the intent is empty", got)
	}
	s.Intent = "TBD"
	if got := Check(s, nil); len(got) != 1 || got[0].Rule != rulePlaceholder {
		t.Errorf("got %v, want that the intent is a placeholder", got)
	}
	s.Intent = "Please fix the bugs"
	if got := Check(s, nil); len(got) != 1 || got[0].Rule != ruleVague {
		t.Errorf("got %v, want that the intent is vague", got)
	}
	src := talkSource()
	src.Text += "\nuser: please fix the bugs"
	if got := Check(s, src); len(got) > 0 {
		t.Errorf("got %v of an intent that the source has", got)
	}
	if s, got := Examine([]byte("The work went well."), nil); s != nil || len(got) != 2 || got[1].Rule != ruleSyntax {
		t.Errorf("got %v, %v, want that it is no summary", s, got)
	}
	if s, got := Examine([]byte(sound().Markdown()), nil); s == nil || len(got) > 0 {
		t.Errorf("got %v, %v, want a sound summary", s, got)
	}
	got := slices.Concat(CheckText("I'm sorry, but I can't help. "+strings.Repeat("x", 700), nil), CheckText(strings.Repeat("x", 90), nil))
	if len(got) != 2 || len([]rune(got[0].Entry)) != 600 || len([]rune(got[1].Entry)) != 80 {
		t.Errorf("got %v, want the first 600 letters of a refusal and the first 80 of a text that is none", got)
	}
}

// No files are files where none was changed.
func TestNoFiles(t *testing.T) {
	for _, tt := range []struct {
		name string
		src  *Original
		want bool
	}{
		{"none was changed", &Original{Text: talk}, false},
		{"one was changed", &Original{Text: talk, Changed: []string{"a.go"}}, true},
		{"nobody knows", nil, true},
	} {
		s := sound()
		s.Files = Files{}
		empty := false
		for _, p := range Check(s, tt.src) {
			empty = empty || p.Rule == ruleEmpty && p.Section == SectionFiles
		}
		if empty != tt.want {
			t.Errorf("%s: empty: %v, want %v", tt.name, empty, tt.want)
		}
	}
}

// Errors, what is known and what is open may quote an error of a provider; no other entry
// does.
func TestErrorsMayBeQuoted(t *testing.T) {
	const failure = "Error code: 429 - rate limit reached"
	for _, tt := range []struct {
		name string
		edit func(s *Summary)
		want bool
	}{
		{"as an error", func(s *Summary) { s.Errors[0].Error = failure }, false},
		{"as what is known", func(s *Summary) { s.Context[0].Text = failure }, false},
		{"as what is open", func(s *Summary) { s.Blockers[0].Text = failure }, false},
		{"as a step", func(s *Summary) { s.Next[0].Text = failure }, true},
	} {
		s := sound()
		tt.edit(s)
		failed := false
		for _, p := range Check(s, nil) {
			failed = failed || p.Rule == RuleFailure
		}
		if failed != tt.want {
			t.Errorf("%s: refused: %v, want %v", tt.name, failed, tt.want)
		}
	}
}

// A word stands for its other forms.
func TestSubjects(t *testing.T) {
	for text, in := range map[string]string{"the queries": "one query", "a dependency": "dependencies", "is it": ""} {
		for _, w := range subjects(text) {
			if !strings.Contains(in, w) {
				t.Errorf("%q is about %q, which %q has not", text, w, in)
			}
		}
	}
}

func TestCodeSpan(t *testing.T) {
	for text, want := range map[string]string{"a.go": "`a.go`", "a`b": "``a`b``", "`a": "`` `a ``", "a``": "``` a`` ```", " a": "` a`", " a`b": "``  a`b ``"} {
		if got := codeSpan(text); got != want {
			t.Errorf("codeSpan(%q) = %q, want %q", text, got, want)
		}
	}
}
