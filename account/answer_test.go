package account_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/token"
)

// What a person says shortly stands with what it answers: the options that it names, or the
// question before it, with the sentence before that if the question says little.
func TestAShortAnswerStandsWithWhatItAnswers(t *testing.T) {
	long := strings.Repeat("Mend it in red. ", 11)
	for _, test := range []struct {
		name        string
		said, reply string
		want        string
	}{
		{"yes to a question", "The bulb is broken, and there is one in the drawer for the lamp.\nShall I put a new bulb in place of the old one before it is dark?", "Yes.", "Shall I put a new bulb in place of the old one before it is dark?"},
		{"yes to a short question", "The bulb is broken.\nA new one costs 7 euros.\nShall I?", "Yes.", "A new one costs 7 euros. / Shall I?"},
		{"an answer without yes", "The bulb is broken.\nWhich color?", "Red.", "The bulb is broken. / Which color?"},
		{"yes to what is no question", "The bulb is broken.\nI would put a new one there.", "As you propose.", "I would put a new one there."},
		{"a letter", "Two ways:\n(a) mend it\n(b) sell it\nWhich?", "(b)", "(b) sell it"},
		{"a letter without parentheses", "Two ways:\n- a: mend it\n- b: sell it\nWhich?", "b, please", "- b: sell it"},
		{"two letters", "Three:\n(a) mend it\n(b) sell it\n(c) look\nWhich?", "(a) and (b) yes", "(a) mend it / (b) sell it"},
		{"an option by its number", "Two ways:\n1. mend it\n2. sell it\nWhich?", "I take option 2", "2. sell it"},
		{"a letter that nothing has", "The bulb is broken.\nWhich way?", "(x)", "The bulb is broken. / Which way?"},
		{"an order after a report", "The bulb is broken.", "Paint the lamp.", ""},
		{"a long message without yes", "Which color?", long, ""},
		{"an option, and more words", "Two ways:\n(a) mend it\n(b) sell it\nWhich?", "(b). " + long, "(b) sell it"},
		{"yes, and more words", "The bulb is broken.\nShall I put a new bulb in place of the old one before it is dark?", "Yes, before it is dark. " + long, "Shall I put a new bulb in place of the old one before it is dark?"},
		{"praise before an order", "The bulb is new.", "Good. " + long, ""},
		{"a question before other sentences", "First: does the red lamp stay where it is, or does it go to the attic with the rest?\nThe attic is dark.", "The attic.", "First: does the red lamp stay where it is, or does it go to the attic with the rest?"},
		{"yes to a proposal before other sentences", "I propose a new bulb.\nThe drawer has one.", "Yes.", "I propose a new bulb."},
		{"a part of a proposal", "I propose a new bulb.\nThe drawer has one.", "new bulb yes, drawer no", "I propose a new bulb."},
		{"a letter before more words", "Two ways:\n- a: mend it\n- b: sell it\nWhich?", "b please", "- b: sell it"},
		{"an article before more words", "Two ways:\n- a: mend it\n- b: sell it\nWhich?", "a lamp", "- b: sell it / Which?"},
		{"an article", "(a) mend it\n(b) sell it", "A lamp is dark.", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			talk := new(talk).user("First.").agent(test.said).user(test.reply)
			units, _ := account.Read(talk.msgs, talk.blocks(), nil)
			var got []string
			last := units[len(units)-1]
			for i := range last.Asked {
				got = append(got, units[last.Asks+i].Text)
			}
			if got := strings.Join(got, " / "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// An answer may point to what the agent said several replies ago, and a question stands at the end
// of what the agent said in a turn even if a call follows it.
func TestAnAnswerPointsFurtherBack(t *testing.T) {
	options := "Two ways:\n(a) mend it\n(b) sell it"
	for _, test := range []struct {
		name string
		talk *talk
		want string
	}{
		{"an option of an earlier reply", new(talk).user("First.").agent(options).user("Let me look.").agent("The lamp is red.").user("(b)"), "(b) sell it"},
		{"an option of a reply too far back", new(talk).user("First.").agent(options).user("Look.").agent("It is red.").user("Look.").agent("It is blue.").user("Look.").agent("It is old.").user("Look.").agent("It is new.").user("(b)"), ""},
		{"a proposal of an earlier reply", new(talk).user("First.").agent("I propose a new bulb.").user("Let me look.").agent("The lamp is red.").user("Then as you proposed."), "I propose a new bulb."},
		{"yes to the last reply alone", new(talk).user("First.").agent("I propose a new bulb.").user("Let me look.").agent("The lamp is red.").user("Yes."), "The lamp is red."},
		{"a question before a call", new(talk).user("First.").agent("Does the red lamp stay where it is, or does it go to the attic with the rest?").bash("ls", "lamp").user("The attic."), "Does the red lamp stay where it is, or does it go to the attic with the rest?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			units, _ := account.Read(test.talk.msgs, test.talk.blocks(), nil)
			last := units[len(units)-1]
			got := ""
			for i := range last.Asked {
				got += units[last.Asks+i].Text
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A plan that has a short answer has what it answers, whatever that is worth.
func TestAPlanHasWhatAnAnswerAnswers(t *testing.T) {
	talk := new(talk).user("First.").agent("The bulb is broken.\nShall I mend it?").user("Yes.").agent(letter("z", 90))
	r := plain(t, talk, map[string]int{"words": 5000, "sentence": -5000})
	for budget := range 260 {
		r.Budget = token.Count(budget)
		p, err := account.Make(r)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.Units, func(u account.Unit) bool { return u.Text == "Yes." })
		if p.Kept[at] && (!p.Kept[at-1] || !p.Kept[at-2]) {
			t.Errorf("with %d tokens it has %s", budget, drawn(r, p))
		}
		if budget == 259 && !p.Kept[at] {
			t.Error("it never has the answer")
		}
	}
}
