package account_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// plain returns a request in which a unit takes its bytes and one more, a block 1,000, and
// what stands in its place 10, and units are worth what their kind is.
func plain(t *testing.T, talk *talk, by map[string]int) *account.Request {
	t.Helper()
	blocks := talk.blocks()
	units, _ := account.Read(talk.msgs, blocks, nil)
	r := &account.Request{
		Units: units, Worth: account.NewWorth(units, nil, facts.Estimate(nil, nil), kindPrior(t, by)), Blocks: make([]account.Block, len(blocks)),
		Count: func(i int) token.Count { return token.Count(len(units[i].Text) + 1) },
	}
	for i := range r.Blocks {
		r.Blocks[i] = account.Block{Tokens: 1000, Frame: 10}
	}
	return r
}

// drawn returns a plan as text: of each block the first letters of what is kept, "whole", or
// "-".
func drawn(r *account.Request, p *account.Plan) string {
	words := make([]string, len(r.Blocks))
	for i := range r.Units {
		if b := r.Units[i].Block; p.Kept[i] {
			words[b] += string([]rune(strings.TrimSpace(r.Units[i].Text))[0])
		}
	}
	for i := range words {
		switch {
		case p.Whole[i]:
			words[i] += "whole"
		case p.Opened[i]:
			words[i] += "."
		case words[i] == "":
			words[i] = "-"
		}
	}
	return strings.Join(words, " ")
}

// letter returns a text of some bytes that begins with a letter.
func letter(c string, n int) string { return c + strings.Repeat("z", n-1) }

// A plan takes what comes first whatever it is worth, and then what is worth most for its
// bytes, up to the first that does not fit.
func TestWhatAPlanTakes(t *testing.T) {
	words := map[string]int{"words": -5000, "sentence": 5000}
	agent := map[string]int{"sentence": 5000}
	kids := map[string]int{"step": -9000, "output": 4000, "sentence": 3100}
	for _, test := range []struct {
		name   string
		talk   *talk
		by     map[string]int
		blocks func(b []account.Block)
		budget token.Count
		want   string
	}{
		{"nothing but what stays", new(talk).user("a").agent("b").user("c"), nil, func(b []account.Block) { b[0].Fixed, b[1].Traced, b[2].Absent = true, true, true }, 1010, "whole . -"},
		{"the newest words first", new(talk).user(letter("a", 89)).user(letter("b", 89)), words, func(b []account.Block) { b[0].Urgent, b[1].Urgent = true, true }, 199, "- b."},
		{"words of all urgent blocks", new(talk).user(letter("a", 89)).user(letter("b", 89)), words, func(b []account.Block) { b[0].Urgent, b[1].Urgent = true, true }, 200, "a. b."},
		{"words before what is worth more", new(talk).user(letter("a", 89)).agent(letter("b", 50)).user("cz"), words, func(b []account.Block) { b[0].Urgent = true }, 160, "a. - -"},
		{"words that are not urgent", new(talk).user(letter("a", 89)).agent(letter("b", 50)), words, nil, 160, "- b."},
		{"only the first words of many", new(talk).user(letter("a", 100) + "\n" + letter("b", 100) + "\n" + letter("c", 100) + "\n" + letter("d", 100) + "\n" + letter("e", 100) + "\n" + letter("f", 94) + "\n" + letter("g", 100) + "\n" + letter("i", 600)).agent(letter("h", 90)), words, func(b []account.Block) { b[0].Urgent = true }, 711, "abcdef. h."},
		{"not more than 600 bytes of words", new(talk).user(letter("a", 100) + "\n" + letter("b", 100) + "\n" + letter("c", 100) + "\n" + letter("d", 100) + "\n" + letter("e", 100) + "\n" + letter("f", 95) + "\n" + letter("g", 100) + "\n" + letter("i", 600)).agent(letter("h", 90)), words, func(b []account.Block) { b[0].Urgent = true }, 711, "abcde. h."},
		{"the newest words however long", new(talk).user(letter("a", 700)).agent(letter("b", 50)).user(letter("c", 700)), words, func(b []account.Block) { b[0].Urgent, b[2].Urgent = true, true }, 771, "- - c."},
		{"older long words by what they are worth", new(talk).user(letter("a", 700)).agent(letter("b", 50)).user(letter("c", 700)), words, func(b []account.Block) { b[0].Urgent, b[2].Urgent = true, true }, 772, "- b. c."},
		{"the agent's last sentences beside a model's text", new(talk).agent(letter("a", 50)).user("bz").agent(letter("c", 50)).user("dz"), agent, func(b []account.Block) { b[0].Told, b[2].Told = true, true }, 1000, "- b. c. d."},
		{"the last reply first beside a model's text", new(talk).agent(letter("a", 50)).user("bz").agent(letter("c", 50)).user(letter("d", 100)), map[string]int{"words": 5000, "sentence": -5000}, func(b []account.Block) { b[0].Told, b[2].Told = true, true }, 80, "- - c. -"},
		{"the last reply by its worth without one", new(talk).agent(letter("a", 50)).user("bz").agent(letter("c", 50)).user(letter("d", 100)), map[string]int{"words": 5000, "sentence": -5000}, nil, 80, "- - - -"},
		{"other blocks after long words", new(talk).user(letter("a", 20)).user(letter("b", 150) + "\n" + letter("c", 150) + "\n" + letter("d", 150) + "\n" + letter("e", 160) + "\n" + letter("i", 600)).agent(letter("f", 39)), words, func(b []account.Block) { b[0].Urgent, b[1].Urgent = true, true }, 544, "a. bcd. f."},
		{"in an urgent block, the words", new(talk).call("AskUserQuestion", `{"question":"why"}`, letter("b", 50)).agent(letter("c", 50)), words, func(b []account.Block) { b[0].Urgent = true }, 84, "•b. -"},
		{"words in a block that is fixed", new(talk).user("a").agent(letter("b", 50)), words, func(b []account.Block) { b[0].Urgent, b[0].Fixed = true, true }, 1061, "whole b."},
		{"the newest of what is worth the same", new(talk).agent(letter("a", 50)).user("bz").agent(letter("c", 50)), agent, nil, 61, "- - c."},
		{"what a block has already, for less", new(talk).agent(letter("a", 80) + "\n" + letter("b", 30)).user("c").agent(letter("d", 30)), agent, nil, 10 + 81 + 31 + 40, "ab. - -"},
		{"what is said once is not said again", new(talk).agent(letter("a", 50)).user("b").agent("  " + letter("a", 50)).user("c").agent(letter("d", 20)), agent, nil, 10 + 53 + 10 + 21, "- - a. - d."},
		{"what stands in a fixed block is not said", new(talk).agent(letter("a", 50)).user("b").agent(letter("a", 50)), map[string]int{"words": -2000}, func(b []account.Block) { b[2].Fixed = true }, 1100, "- b. whole"},
		{"nothing of an absent block", new(talk).agent(letter("a", 20)).user("b").agent(letter("c", 50)), agent, func(b []account.Block) { b[2].Absent = true }, 80, "a. b. -"},
		{"no urgent words of an absent block", new(talk).user(letter("a", 20)).agent(letter("b", 50)), words, func(b []account.Block) { b[0].Urgent, b[0].Absent = true, true }, 100, "- b."},
		{"lines that are cheaper once their call is there", new(talk).call("brew", `{"kind":"`+letter("k", 110)+`"}`, letter("a", 30)+"\n"+letter("b", 80)).user("c").agent(letter("d", 50)), kids, nil, 10 + 120 + 33 + 83 + 40, "•ab. - -"},
		{"a line that needs a long call", new(talk).call("brew", `{"kind":"`+letter("k", 110)+`"}`, letter("a", 30)).user("c").agent(letter("d", 50)), kids, nil, 100, "- - d."},
		{"nothing but what is fixed", new(talk).user("a").agent("b"), nil, func(b []account.Block) { b[0].Fixed, b[1].Fixed = true, true }, 3000, "whole whole"},
		{"a call of which no line is", new(talk).call("brew", `{"kind":"`+letter("k", 110)+`"}`, letter("a", 50)).user("c").agent(letter("d", 50)), map[string]int{"step": 9000, "output": -9000, "words": -9000}, nil, 10 + 120 + 40, "•. - -"},
		{"nothing behind what does not fit", new(talk).agent(letter("a", 20)).user("b").agent(letter("c", 80)), agent, nil, 10 + 80, "- - -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := plain(t, test.talk, test.by)
			if test.blocks != nil {
				test.blocks(r.Blocks)
			}
			r.Budget = test.budget
			p, err := account.Make(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := drawn(r, p); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// Of a file that was read twice the newer copy is there, unless that block is absent.
func TestAPlanTakesTheLaterCopy(t *testing.T) {
	talk := new(talk).user("a").tool("Read", map[string]string{"file_path": "lamp.go"}, "1→the lamp").user("b").tool("Read", map[string]string{"file_path": "lamp.go"}, "2→the lamp")
	for _, test := range []struct {
		name   string
		absent bool
		want   string
	}{
		{"both", false, "a. •. b. •2."},
		{"the later one is absent", true, "a. •1. b. -"},
	} {
		r := plain(t, talk, nil)
		r.Blocks[3].Absent = test.absent
		r.Budget = 200
		p, err := account.Make(r)
		if err != nil {
			t.Fatal(err)
		}
		got := drawn(r, p)
		if test.absent && got != test.want || !test.absent && strings.Contains(strings.Fields(got)[1], "1") {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// Of a long output a few lines are there, before what is worth less for each byte than they
// were alone.
func TestFurtherLinesOfAnOutputAreWorthLess(t *testing.T) {
	lines := make([]string, 40)
	for i := range lines {
		lines[i] = letter(string(rune('a'+i%26)), 50+i)
	}
	talk := new(talk).call("brew", `{}`, strings.Join(lines, "\n")).user("one").agent(letter("S", 60))
	r := plain(t, talk, map[string]int{"step": -9000, "words": -9000, "output": 4000, "sentence": 3000})
	r.Budget = 2000
	p, err := account.Make(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := drawn(r, p); !strings.HasSuffix(got, "S.") || strings.Count(got, "") < 12 {
		t.Errorf("got %s, want lines and the sentence", got)
	}
}

// A name that stands beside the account is not paid for again.
func TestWhatStandsBesideTheAccount(t *testing.T) {
	talk := new(talk).user("Mend it now.").tool("Edit", map[string]string{"file_path": "src/lamp.go", "old_string": "a", "new_string": "b"}, "ok").agent("It is in src/lamp.go there.").user("Go on.")
	r := request(talk)
	at := slices.IndexFunc(r.Units, func(u account.Unit) bool { return u.Kind == account.Sentence })
	rate := func(beside string) int64 {
		r.Beside, r.Budget = beside, 10_000
		p, err := account.Make(r)
		if err != nil {
			t.Fatal(err)
		}
		return p.Rate[at]
	}
	for i := range r.Blocks {
		r.Blocks[i].Tokens = 100_000
	}
	alone, beside := rate(""), rate("src/lamp.go")
	if beside >= alone || beside == 0 {
		t.Errorf("it is worth %d, and %d beside its name", alone, beside)
	}
	r.Blocks[0].Told = true // a block of the user; names are worth less beside a model's text
	if told := rate(""); told >= alone || told <= beside {
		t.Errorf("it is worth %d, %d beside a model's text, and %d beside its name", alone, told, beside)
	}
}

// The newest blocks stand as they are as soon as they take an eighth of what is spent.
func TestTheNewestBlocksStandAsTheyAre(t *testing.T) {
	var all strings.Builder
	for range 8 {
		all.WriteString(letter(string(rune('a'+all.Len()/100)), 99) + "\n")
	}
	for _, test := range []struct {
		name   string
		blocks func(b []account.Block)
		budget token.Count
		want   string
	}{
		{"room for one", func(b []account.Block) { b[3].Tokens = 101; b[2].Tokens = 1000 }, 10000, "abcdefgh. b. c. whole"},
		{"a block that is too large", func(b []account.Block) { b[3].Tokens = 110 }, 10000, "abcdefgh. b. c. d."},
		{"two that fit", func(b []account.Block) { b[3].Tokens, b[2].Tokens, b[1].Tokens = 61, 40, 20 }, 10000, "abcdefgh. b. whole whole"},
		{"one that was cut", func(b []account.Block) { b[3].Tokens, b[3].Cut = 20, true }, 10000, "abcdefgh. b. c. d."},
		{"one that is absent", func(b []account.Block) { b[3].Absent, b[2].Tokens = true, 101 }, 10000, "abcdefgh. b. whole -"},
		{"one that is fixed", func(b []account.Block) { b[3].Fixed, b[2].Tokens = true, 101 }, 10000, "abcdefgh. b. whole whole"},
		{"what does not fit", func(b []account.Block) { b[3].Tokens = 101 }, 810 + 101 - 1, "abcdefgh. - - -"},
		{"what fits, as a part of it is there", func(b []account.Block) { b[3].Tokens, b[3].Urgent = 101, true }, 810 + 101, "abcdefgh. - - whole"},
		{"what fits exactly", func(b []account.Block) { b[3].Tokens = 101 }, 810 + 101, "abcdefgh. - - whole"},
	} {
		t.Run(test.name, func(t *testing.T) {
			talk := new(talk).agent(all.String()).user("b").agent("c").user("d")
			r := plain(t, talk, map[string]int{"words": -2000})
			test.blocks(r.Blocks)
			r.Budget = test.budget
			p, err := account.Make(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := drawn(r, p); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// A budget that what stays takes whole is enough.
func TestWhatStaysMayTakeTheBudget(t *testing.T) {
	r := plain(t, new(talk).user("a").agent("b"), nil)
	r.Blocks[0].Fixed, r.Blocks[1].Traced = true, true
	r.Budget = 1010
	if _, err := account.Make(r); err != nil {
		t.Error(err)
	}
	r.Budget = 1009
	_, err := account.Make(r)
	if small, ok := errors.AsType[*account.TooSmallError](err); !ok || small.Need != 1010 || !strings.Contains(err.Error(), "1010") {
		t.Errorf("got %v, want that 1010 are needed", err)
	}
}

// What stands in place of a block is in the voice of who spoke.
func TestRole(t *testing.T) {
	for kind, want := range map[transcript.Kind]transcript.Role{
		transcript.KindUser: transcript.RoleUser, transcript.KindAssistant: transcript.RoleAssistant, transcript.KindTool: transcript.RoleAssistant, transcript.KindSummary: transcript.RoleUser,
	} {
		if got := account.Role(&transcript.Block{Kind: kind}); got != want {
			t.Errorf("a block of kind %s speaks as %s, want %s", kind, got, want)
		}
	}
}
