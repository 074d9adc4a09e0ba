package intent

import (
	"slices"
	"strings"
	"testing"
)

// told checks what a function tells of texts: yes of those that it must tell it of, and no of
// others, which differ from the former as little as they can.
func told(t *testing.T, what string, is func(string) bool, yes, no []string) {
	t.Helper()
	for i, w := range slices.Concat(yes, no) {
		if got, want := is(w), i < len(yes); got != want {
			t.Errorf("%q is %s: %v, want %v", w, what, got, want)
		}
	}
}

// read divides a prompt.
func read(prompt string) *compiler {
	c := &compiler{text: prompt}
	c.look(defaultLimit)
	return c
}

// whole makes a function of all tokens of a prompt of one that takes their range.
func whole(f func(c *compiler, i, end int) bool) func(string) bool {
	return func(prompt string) bool {
		c := read(prompt)
		return f(c, 0, len(c.tokens))
	}
}

// ofClause makes a function of a prompt of one that takes a clause, which ends before the last
// sign of the prompt.
func ofClause(f func(c *compiler, cl clause) bool) func(string) bool {
	return func(prompt string) bool {
		c := read(prompt)
		to := len(c.tokens)
		if to > 0 && c.tokens[to-1].breaks() {
			to--
		}
		return f(c, clause{to: to})
	}
}

// x is a number of words that mean nothing.
func x(n int) string { return strings.Repeat("x ", n) }

func TestWhatWordsSay(t *testing.T) {
	told(t, "an object", whole((*compiler).hasObject), []string{"the lamp", "it", `"quoted"`, "lamp.go", "src/lamp", "a_b", "émile"}, []string{"", "lamp", ", the", "for it"})
	told(t, "a fault", isFault, []string{"typeerror", "exception"}, []string{"errors", "terrors", "exceptional"})
	told(t, "a number", isNumber, []string{"3", "3rd", "$5", "€9", "two", "0", "9x", "hundred"}, []string{"", "$", "x3", "-3", "thousand"})
	told(t, "compared", whole((*compiler).compared), []string{"best", "x x x better", "the cheaper", "which fastest", "the x worse"}, []string{"", "x x x x better", "cheaper", "the beer", "the", "the cheap", "x cheaper"})
	told(t, "for a person", whole((*compiler).forPerson), []string{"for me", "x x to my boss"}, []string{"for", "for lamps", "my boss", "from me"})
	told(t, "at hand", whole((*compiler).looked), []string{"this", "x x our", "x lamp.go", "x src/lamp", x(23) + "my", "see below"}, []string{"", "lamp.go", "x 1.5", "the lamp", x(24) + "my"})
	told(t, "to end in a repair", whole((*compiler).endsInFix), []string{"x fix it", "mend them", "patch that", "solve it x"}, []string{"fix", "fix the", "x it", "fixed it"})
	told(t, "to ask for a repair", whole((*compiler).asksRepair), []string{"fix", "x x squash", "kill it"}, []string{"", "x x", "fixes"})
	told(t, "of days", whole(func(c *compiler, i, end int) bool { return c.scheduled(i, end) }), []string{"for 5 days", "for two weeks", "for 3 months x"}, []string{"for 5", "for days", "5 days", "for x days", "for 5 hours", "in 5 days"})
	told(t, "styled", whole((*compiler).styled), []string{"formal", "laid back", "shorter", "detailed", "aggressive"}, []string{"lamp", "laid", "for formal"})
	told(t, "a person", whole((*compiler).isPerson), []string{"me", "us", "someone", "my old boss", "a person who sleeps", "kids", "7-year-olds", "a 7-year-old", "x x x x x x boss"}, []string{"", "lamp", "boss lamp", "x x x x x x x boss", "year-old"})
	told(t, "a name", func(s string) bool { return read(s).named(0) }, []string{"Ada", "É"}, []string{"", "ada", "I", "I'm", "7", ", Ada"})
	told(t, "a malfunction", ofClause((*compiler).malfunction), []string{"the lamp is broken", "typeerror", "a nullexception here", "we get \"no bulb\"", "i keep losing it", "getting nothing", "it keeps failing", "it keeps humming", "the lamp does not shine", "the lamp won't shine", "crash"},
		[]string{"", "the lamp", "we get lamps", "i keep lamps", "the lamp is getting red", "it keeps red", "do not", "terrors", "we get", "it keeps"})
	told(t, "a statement", ofClause((*compiler).isStatement), []string{"my lamp is very dark", "the red lamp has no bulb", "the bulb shines all day now", "our lamps were red today", "this lamp looks so red", "the a b c d e f is x", "my lamp got red now"},
		[]string{"", "my lamp is dark", "a lamp is very dark", "my lamp very dark x", "my lamp is very dark?", "the bulb, of, red x", "the glass bulb red now x", "the a b c d e f g is x", "my bus x x x x", "my red glass x x x", "my red lamp's x x x", "my red lamps of x x", `my red lamps "q" x x`})
	told(t, "a greeting of the assistant", func(s string) bool { return read(s).personal(0) > 0 },
		[]string{"you are kind", "u rock", "i love it", "we liked that", "do you sleep", "how old are you", "what are you", "where do you live", "did you sleep", "are u real", "have you eaten", "who are you"},
		[]string{"you should go", "you must go", "i love to go", "i mend it", "do they sleep", "how do you mend it", "why are you so", "do you know it", "are you able", "will you go", "would you go", "have you a lamp", "do you any", "what old lamp", "the you"})
	told(t, "how a sentence begins", func(s string) bool { c := read(s); return c.begins(len(c.tokens) - 1) }, []string{"x", "x, x", "x. x", "x and x", "then x"}, []string{"x x", `"q" x`, "not x"})
	told(t, "a task", func(s string) bool { return read(s).tasked(0) }, []string{`x "q"`, "see lamp.go", "it is broken", "my letter", "x:"}, []string{"", "it is off", "wrong lamp", "a letter", "x, lamp.go"})
	told(t, "a question", func(s string) bool { return read(s).asks() }, []string{"is it", "are they", "was it so", "do they x?", "does it work", "did the lamp x"}, []string{"", "was ada", "do it", "do they x", "will ada", "it is"})
	told(t, "a pick", func(s string) bool { c := read(s); return c.picks(len(c.tokens)) }, []string{"the second one", "that one", "red one", "the very last red one", "red ones", "not now", "not right now", "maybe", "same thing"}, []string{"the very last dark red one", "a red one", "the second", "not right now then", "one red", "some other one"})
	told(t, "a reply", func(s string) bool { return read(s).replies() }, []string{"yes", "oh no", "well hmm sure", "neither"}, []string{"", "oh", "the yes", "maybe"})
	told(t, "thanks", func(s string) bool { return read(s).thanks(0) > 0 }, []string{"thank you for it", "thanks for it", "thx for all"}, []string{"thank you", "thanks", "thanks to", "thank for", "thank them for", "for thanks"})
	told(t, "how work goes on", func(s string) bool { return read(s).goesOn(0) > 0 }, []string{"continue with the tests", "keep working on it", "proceed to it", "carry on with that"}, []string{"continue with a test", "continue with another", "keep going", "keep it"})
	wants := func(want Verb) func(string) bool {
		return func(s string) bool { c := read(s); _, _, v := c.wantedNoun(0, len(c.tokens)); return v == want }
	}
	told(t, "asked to be chosen", wants(Decide), []string{"best lamp", "the cheapest train"}, []string{"", "best", "the best", "lamp", "best of lamps"})
	told(t, "something to make", wants(Create), []string{"letter", x(6) + "letter", "another new letter", "a lamp for x", "something about it", "an x letter, x"}, []string{x(7) + "letter", "a lamp for", "lamp for x", "a lamp x", "we letter", "letter lamp"})
	told(t, "something to mend", wants(Fix), []string{"typo", "valueerror", "a nullexception"}, []string{"typeerror", "errors", "valueerror x"})
	told(t, "one clause", func(s string) bool { c := read(s); c.split(); return len(c.clauses) == 1 }, []string{"x", "please fix it", "fix it and the lamp", "fix it, the lamp", "x:", "fix it:\n# x. x", "fix it:\nx. x"}, []string{"", "fix it, mend the lamp", "fix it and mend it", "fix it please mend it", "x. x", "fix it:\n- x. x", "x:\nx. x", "fix it\nx. x", "fix it:\n* x. x", "fix it:\n1. x. x", "fix it:\n- x. x"})
	told(t, "asked for by its noun", whole(func(c *compiler, i, end int) bool { _, ok := c.asked(i, end); return ok }), []string{"a letter", "a letter, x", "a letter (x", "letter for x", "the summary"}, []string{"", "lamp", "the letter", "the typo", `a letter "x"`})
	told(t, "to ask for nothing", func(s string) bool { return read(s).pass() != "" }, []string{"", "?", "yes", "yes 12", "thanks, 5", "hello, yes", strings.Repeat("yes ", 24)}, []string{"yes 123", `yes "q"`, strings.Repeat("yes ", 25), "is it", "lamp", "yes lamp", "i love lamp.go", "you fix lamp.go"})
	told(t, "a statement that asks for nothing", func(s string) bool { return read(s).statementPass() != "" },
		[]string{"hello " + x(11), "i am x", "yes " + x(23), "x i " + x(18), "x x i x", "please it x", "it " + x(19)}, []string{"hello " + x(12), "i x lamp.go", "i x?", "yes " + x(24), "x i " + x(19), "x x x i", "x i", "the i x", "it " + x(20)})
	told(t, "of a machine", func(s string) bool { return read(s).machine() }, []string{"[tool] x", "<system x", "exit code 3", "[ci] x", "{}", "[1]", "<a b=c>x</a>", "<a>x</a>", "[build] exit code 1", "$ make", "Traceback (most recent"}, []string{"", "{x", "[x", "<a>x</b>", "<a>x</a> y", "<>", "[a b] exit code 1", "x exit code 3", "x] exit code 3", "make"})
	told(t, "talk", func(s string) bool { _, n := read(s).talk(0); return n > 0 }, []string{"gotcha", "noted", "thanks for it", "hello", "yes", "you are kind", "good luck with it"}, []string{"mend", "the lamp", "12", "lamp"})
	told(t, "a choice", ofClause((*compiler).choice), []string{"tea or coffee?", "tea vs coffee", "tea or coffee", "x x x x or x", "the lamp versus the bulb", "do we or not?", "i x x or x", x(4) + "or " + x(8), x(5) + "or " + x(5)}, []string{"", "or tea?", "tea or?", "tea", "vs tea", "tea and coffee", x(5) + "or " + x(6), "i " + x(9) + "or x x x"})
	told(t, "a requirement", ofClause(func(c *compiler, cl clause) bool { _, ok := c.requirement(cl); return ok }), []string{"the form should also x", "our form must x", "x x x x x should x", "my form needs x"}, []string{"", "should x", "we should x", "the form should", "x x x x x x should x", "the form can x", "this should x"})
	told(t, "a change of the form", whole(func(c *compiler, i, end int) bool { _, ok := c.formRequest(i, end); return ok }),
		[]string{"shorter", "a bit shorter", "even more formal", "more formal please", "less red", "do shorter", "bullets please", "bullet points", "in three points", "as a list", "in json", "auf deutsch", "to french please", "in plain x", "the same as a list", "the same text as a list", "same in red", "more personal tone", "shorter " + x(5), "bullets x x", "as a list x x", "in french x x", "the x x same as red", "the same x x x x x as red", "as a list x x"},
		[]string{"", "more tests", "more info", "more", "shorter " + x(6), "bullets x x x", "in lamps", "in french x x x", "as a list x x x x", "auf lamp", "the list as a list", "the same", "the same text", "the x x x same as red", "same as", "more lamp tone", "the same as", "the same x x x x x x as red", "in", "as", "as a list x x x"})
	told(t, "a wished state", ofClause(func(c *compiler, cl clause) bool { _, ok := c.desiredState(cl); return ok }), []string{"the intro needs to be shorter", "my letter should sound friendly", "it has to be valid", "our text must look formal"}, []string{"", "a letter should sound friendly", "the intro is to shorter", "be shorter", "the intro be shorter", "the intro should be lamps", "the intro should be very short x", "should be shorter"})
	told(t, "an unknown command", ofClause(func(c *compiler, cl clause) bool { _, ok := c.unknownCommand(cl); return ok }), []string{"frob the lamp x", "fro the lamp", "frob a lamp", "frob my red lamp"}, []string{"", "frob", "frob the", "the frob the x", "frobs the lamp", "frobing the lamp", "frobed the lamp", "frobly the lamp", "frobtion the lamp", "frobn't the lamp", "fr_ob the lamp", "frob no lamp", "frob one lamp", "frob which lamp", "two the lamp", "during the lamp", "fr the lamp", "frob lamp x", "frob that lamp", "frob what x", "on the lamp", "fr/ob the lamp", "it the lamp", "fifty the lamp", "a.b the lamp", "frob that lamp x", "fr the lamp"})
	told(t, "in the passive", whole(func(c *compiler, i, end int) bool { _, ok := c.passive(i, end); return ok }), []string{"this text must be translated", "it needs to be fixed", "the letter should be rewritten", "it can be fixed", x(11) + "must be fixed"}, []string{"", "it is fixed", "it be fixed", "it must be red", "it must be fix", "it must be", x(14) + "must be fixed", "it must be fix"})
	told(t, "a work that works", whole(func(c *compiler, i, end int) bool { return c.works(i, end) < end }), []string{"green", "x working again", "running, x", "pass for x", x(23) + "green"}, []string{"", "green x", "x", x(24) + "green"})
	told(t, "a fault that stops", whole(func(c *compiler, i, end int) bool { return c.stopped(i, end) < end }), []string{"from crashing", "x stop failing", x(22) + "from crashing"}, []string{"", "from", "from crash", "crashing", "by crashing", x(23) + "from crashing"})
	told(t, "prose", whole((*compiler).prose), []string{"my letter", "the cover letter", "our text for x"}, []string{"", "letter", "a letter", "my", "my lamp", "my letter lamp", "my letter fails"})
	told(t, "a compound", func(s string) bool {
		c := read(s)
		o, _ := openers.Get().at(c.tokens)
		return c.compound(o, 0, len(c.tokens))
	}, []string{"commit message", "merge conflict for x", "plan checklist, x", "thank note to", "study plan"}, []string{"commit", "commit lamp", "commit message lamp", "write note", "commit message. x"})
}

// Words are alike if one of them has one typing error.
func TestTypingErrors(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"wrte", "write", true},
		{"wriite", "write", true},
		{"wrtie", "write", true},
		{"wrote", "write", true},
		{"wroxe", "write", false},
		{"explaim", "explain", true},
		{"explxyz", "explain", false},
		{"expla", "explain", false},
		{"fixx", "fix", true},
		{"fxi", "fix", false},
		{"fox", "fix", false},
		{"fixy", "fix", false},
		{"writed", "write", false},
		{"writes", "write", false},
		{"writer", "write", false},
		{"writ", "write", true},
		{"wri", "write", false},
		{"writeed", "write", false},
		{"xwrite", "write", true},
		{"wrtie", "write", true},
		{"planx", "plan", false},
		{"plann", "plan", true},
		{"summaxyze", "summarize", true},
		{"drfat", "draft", true},
		{"foxx", "fix", false},
		{"plxnn", "plan", false},
		{"wrixt", "write", false},
		{"rdaft", "draft", true},
		{"wrtix", "write", false},
		{"wrtxe", "write", false},
	} {
		if got := oneTypoApart(tt.a, tt.b); got != tt.want {
			t.Errorf("%s is one typing error away from %s: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
	for w, want := range map[string]string{"wrte": "write", "trwite": "", "wirte": "write", "fixx": "fix", "lamp": "", "crete": "create", "genrate": "generate", "chek": "check"} {
		if got := nearest(w); got != want {
			t.Errorf("%s is read as %q, want %q", w, got, want)
		}
	}
}

// The kinds of the tokens of a prompt, with their text.
func TestTokens(t *testing.T) {
	names := map[kind]string{word: "w", literal: "l", comma: ",", stop: ".", ask: "?", semi: ";", colon: ":", line: "/", gap: "…", mark: "m"}
	for prompt, want := range map[string]string{
		"Mend it.": "w|Mend w|it .|.", "a, b": "w|a ,|, w|b", "why? so!": "w|why ?|? w|so .|!", "a; b": "w|a ;|; w|b", "a: b": "w|a :|: w|b", "a - b": "w|a ;|- w|b", " - b": ";|- w|b", "- b": "m|- w|b", "a -- b": "w|a ;|-- w|b", "a -b": "w|a w|-b", "a- b": "w|a- w|b", "ab- b": "w|ab m|- w|b", "a-b": "w|a-b", "a — b": "w|a ;|— w|b",
		"`x y`": "l|`x y`", `"x y"`: `l|"x y"`, "“x y”": "l|“x y”", "`x": "m|` w|x", `""`: `m|" m|"`, "```\nx\n```": "l|```\nx\n```", "```x": "l|```x", "'x y'": "l|'x y'", "it's 'x'": "w|it's l|'x'", "('x')": "m|( l|'x' m|)", "''": "m|' m|'", "'x y": "m|' w|x w|y", "a'x'": "w|a'x m|'", "'x'y": "m|' w|x'y", "'x 'y'": "l|'x 'y'",
		"a\nb": "w|a /|\n w|b", "a \n \n b": "w|a /|\n \n  w|b", "mr. x": "w|mr w|x", "mr . x": "w|mr .|. w|x", "lamp. x": "w|lamp .|. w|x", "./a.go": "w|./a.go", "see ../../a-b.go.": "w|see w|../../a-b.go .|.", "../": ".|. .|. m|/", "./ a": ".|. m|/ w|a", "...a": ".|. .|. .|. w|a", "so. ../a": "w|so .|. w|../a", "see .env": "w|see w|.env", "$5": "w|$5", "a$5": "w|a m|$ w|5", "-x": "w|-x", "--dry-run": "w|--dry-run", "@ada": "w|@ada", "a@b.co": "w|a@b.co", "c++": "w|c++", "5%": "w|5%",
		"http://a.io": "w|http://a.io", "a://b": "w|a :|: m|/ m|/ w|b", "ab://c": "w|ab://c", "ab://(c": "w|ab:// m|( w|c", "(a)": "m|( w|a m|)", "a=b&c": "w|a=b&c", "a’s": "w|a’s", "a\xffb": "w|a w|b", "": "", " \t": "",
	} {
		c := &compiler{text: prompt}
		var got []string
		for _, tok := range scan(nil, prompt, 0, len(prompt)) {
			got = append(got, names[tok.kind]+"|"+prompt[tok.start:tok.end])
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q has the tokens %q, want %q", c.text, got, want)
		}
	}
}

// Which words must stand behind a marker.
func TestConditionsOfMarkers(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cond    condition
		yes, no []string
	}{
		{"a person", person, []string{"my boss"}, []string{"lamps", ""}},
		{"a thing", thing, []string{"lamps", "it lamps", "x, y", `"q"`}, []string{"", "my boss", "it", "this, x"}},
		{"a date", date, []string{"monday", "5 x", "the end"}, []string{"", "lamps", "the x", ", monday"}},
		{"a place", place, []string{"Rome", "linux", "x x python"}, []string{"", "rome", "x x x python", "x of python"}},
		{"a manner", manner, []string{"a tone", "x x x tone", "bullets"}, []string{"", "x x x x tone", "lamps", "x of tone", "x, tone"}},
		{"a number", number, []string{"5", "two x"}, []string{"", "x", ", 5"}},
		{"an occasion", some, []string{"work", "my x school"}, []string{"", "lamps"}},
		{"anything", always, []string{"", "x"}, nil},
	} {
		told(t, tt.name, whole(func(c *compiler, i, end int) bool { return c.follows(tt.cond, i, end, "") }), tt.yes, tt.no)
	}
	c := read("x")
	for object, want := range map[string][2]bool{"email": {true, true}, "report": {false, true}, "lamp": {false, false}, "": {false, false}} {
		if got := [2]bool{c.follows(mail, 0, 1, object), c.follows(written, 0, 1, object)}; got != want {
			t.Errorf("behind %q stand a receiver and a topic: %v, want %v", object, got, want)
		}
	}
}

// Of several phrases the longest one is found, and each choice of words.
func TestPhrases(t *testing.T) {
	p := make(phrases[int])
	p.add(1, "go, go on, how do/can i, in # days")
	p.sorted()
	for text, want := range map[string]int{"go": 1, "go on": 2, "go off": 1, "how do i": 3, "how can i": 3, "how do": 0, "in 5 days": 3, "in two days x": 3, "in x days": 0, "": 0, ", go": 0, "go, on": 1} {
		if _, n := p.at(read(text).tokens); n != want {
			t.Errorf("%q begins with a phrase of %d words, want %d", text, n, want)
		}
	}
	if got := spellings([]string{"a/b", "c"}); len(got) != 2 || !slices.Equal(got[0], []string{"a", "c"}) || !slices.Equal(got[1], []string{"b", "c"}) {
		t.Errorf("the spellings are %q", got)
	}
}

// Values have no polite words and link words at their ends.
func TestEndsOfValues(t *testing.T) {
	for text, want := range map[string]string{
		"please the lamp": "the lamp", "and the lamp, ": "the lamp", "the lamp please": "the lamp", "the lamp and": "the lamp", "me": "me", "of it": "it", "(the lamp)": "(the lamp)", "- the lamp": "the lamp", "the lamp -": "the lamp", "the lamp is": "the lamp", `"q".`: `"q"`, ", .": "", "please": "", "the lamp again": "the lamp",
		"# lamp": "lamp", "the lamp first": "the lamp", "so that": "that",
	} {
		c := read(text)
		f := &filling{compiler: c}
		got := ""
		if from, to := f.trim(0, len(c.tokens)+3); from < to {
			got = text[c.tokens[from].start:c.tokens[to-1].end]
		}
		if got != want {
			t.Errorf("%q has the value %q, want %q", text, got, want)
		}
	}
	fill := func(f func(f *filling, i, end int) bool) func(string) bool {
		return whole(func(c *compiler, i, end int) bool { return f(&filling{compiler: c}, i, end) })
	}
	told(t, "vague", fill((*filling).vague), []string{"", "it", "the following", "this thing here"}, []string{"lamp", "it lamp", `"q"`, ", it"})
	told(t, "only better", fill((*filling).improves), []string{"", "better", "a bit better", "sound great"}, []string{"shorter", "better text"})
	told(t, "a plain run", fill((*filling).plainRun), []string{"the lamp", "my red lamp"}, []string{"lamp", "the lamp of x", "the lamp, red", `the "q"`})
	told(t, "a list", fill((*filling).list), []string{", a, b and c", ", a or b", ", a b c d, e and f", `, "q" and b`}, []string{", a, b", ", and b", ", a b c d e and f", ", a. and b", ", a: and b", ""})
	told(t, "nominal", fill((*filling).nominal), []string{"the lamp", "lamp", "thanks lamp"}, []string{"", "i x", "yes", "hello", "there is", "if so", "let's go"})
	told(t, "mentioned", fill(func(f *filling, i, end int) bool { return f.mentions(i, end, "following") }), []string{"following", "the following x"}, []string{"", "x", "follow"})
	told(t, "vague as a body", fill((*filling).vagueBody), []string{"it", "start", "begin"}, []string{"start it now", "lamp", "start begin"})
	told(t, "of a style", fill((*filling).hasStyle), []string{"formal", "laid back x"}, []string{"", "x formal"})
	for text, want := range map[string]int{"shorter": 0, "x more formal": 1, "x formal": 1, "formal x": 0, "x better, y": 1, "x, better": 3, "sound x": 0, "louder": 0, "louder x": 2, "beer": 1, "x. better": 3, "funnier for x": 0, "formal and x": 0} {
		c := read(text)
		if got := c.formAt(0, len(c.tokens)); got != want {
			t.Errorf("the form in %q begins at word %d, want %d", text, got, want)
		}
	}
}

// The rules give a request its verb and the word at which its object begins, whatever the table
// of weights says of the prompt.
func TestVerbsOfRequests(t *testing.T) {
	for prompt, want := range map[string]string{
		"Which tests fail?":                 "analyze tests",
		"Which of these is the best?":       "decide of",
		"Which city is the capital?":        "explain Which",
		"Which lamp should I buy?":          "decide lamp",
		"Which lamp for the desk":           "decide lamp",
		"Which lamp":                        "decide lamp",
		"Which of these are red?":           "analyze of",
		"Which of these glow":               "decide of",
		"Who signed this?":                  "explain this",
		"Who wrote the text below?":         "analyze the",
		"When did this end?":                "analyze this",
		"Who is better, Ann or Bob?":        "decide better",
		"How many of these tests are slow?": "analyze of",
		"How many stars are there?":         "explain How",
		"How far is the moon?":              "explain How",
		"How did the launch go?":            "analyze the",
		"How did the Romans cook?":          "explain the",
		"How does my letter sound?":         "analyze my",
		"How do my letters arrive?":         "explain my",
		"Write this as a poem":              "transform this",
		"Write this letter":                 "create this",
		"Write it in red":                   "transform it",
		"Prepare for the exam":              "plan Prepare",
		"Prepare a cup":                     "create a",
		"Put a poem there":                  "create a",
		"Put the cup there":                 "create the",
		"Put the cup in a box":              "transform the",
		"Set the table":                     "create the",
		"Set the table to red":              "transform the",
		"Go over the report with me":        "explain the",
		"Go over the report with Ann":       "analyze the",
		"Find the bug and fix it":           "fix the",
		"Find the lamp and fix it":          "fix the",
		"Find the bug":                      "analyze the",
		"Check if the door is open":         "analyze the",
		"Check the door":                    "analyze the",
		"Get me started with Go":            "plan started",
		"Give my essay a read":              "analyze my",
		"Give this letter a tone":           "transform this",
		"Give this man a cup":               "transform this",
		"Give me a list of cups":            "create a",
		"Give me a plan of it":              "plan it",
		"Give me the cons of tea":           "analyze the",
		"Break it down for me":              "plan it",
		"Break down how it works":           "explain how",
		"Break it down":                     "plan it",
		"Break it into steps":               "plan it",
		"Break it":                          "none",
		"Tell Ann about the delay":          "explain Ann",
		"Tell my boss to go":                "create my",
		"Tell me how to cook":               "explain how",
		"Tell me a joke":                    "create a",
		"Tell me a bit more":                "explain a",
		"Tell me if I should quit":          "decide quit",
		"Tell me whether we should go":      "decide go",
		"Tell me which to buy":              "decide which",
		"Tell me which lamp to buy":         "decide which",
		"Tell me which is red":              "decide which",
		"Tell me which one":                 "decide which",
		"Tell me how many there are":        "analyze how",
		"Tell me what's wrong":              "analyze what's",
		"Tell me if it glows":               "analyze it",
		"Tell me what you think":            "analyze ",
		"Remind Ann of it":                  "create Ann",
		"Remind my lamp of it":              "create my",
		"Make a list of them":               "transform a",
		"Make a list of cups":               "create a",
		"Make the script run again":         "fix the",
		"Make the tests pass":               "fix the",
		"Make it stop crashing":             "fix it",
		"Make it red":                       "transform it",
		"Make it":                           "create it",
		"Make the button show a menu":       "create the",
		"Make the intro shorter":            "transform the",
		"Make a cup shorter":                "create a",
		"Get the build green":               "fix the",
		"Get me from Rome to Paris":         "plan from",
		"Get us ready":                      "plan us",
		"Get the cup":                       "none",
		"Help me write a letter":            "create a",
		"Help me with the taxes":            "plan the",
		"Help me understand it":             "explain it",
		"Help":                              "none",
		"I want a cup":                      "create a",
		"I want to write a letter":          "create a",
		"I want to move":                    "plan move",
		"I want to know it":                 "explain it",
		"I want help with my essay":         "plan my",
		"I want this in red":                "transform this",
		"I want my text to sound red":       "transform my",
		"I want five names":                 "create five",
		"I want review of it":               "analyze it",
		"I want it":                         "none",
		"Handle the wedding":                "plan the",
		"Handle the cup":                    "fix the",
		"Fix my letter":                     "transform my",
		"Fix my cup":                        "fix my",
		"Stop the server from crashing":     "fix the",
		"Stop the server":                   "none",
		"Let the server run":                "create the",
		"Let me go":                         "none",
		"Invent a word":                     "create a",
		"Why is my build red?":              "fix my",
		"Why isn't this red?":               "fix this",
		"Why is the sky red?":               "explain the",
		"Why is the build failing?":         "fix the",
		"Why do my cats purr?":              "explain my",
		"Is it red?":                        "analyze it",
		"Is it red":                         "none",
		"Do plants sleep?":                  "explain plants",
		"Should I go or stay?":              "decide go",
		"What is the average of 3?":         "analyze average",
		"What is 20% of it?":                "analyze 20%",
		"What is better?":                   "decide ",
		"What is entropy?":                  "explain entropy",
		"What do these logs show?":          "analyze these",
		"What do you see?":                  "explain you",
		"What lamp should I get?":           "decide lamp",
		"What bugs do you see?":             "analyze bugs",
		"What would this look like?":        "transform this",
		"What would a lamp look like?":      "create a",
		"Plan a trip for my boss":           "plan a",
		"How do I track down lamps?":        "fix lamps",

		"Help me write letters": "create letters", "I want to write letters": "create letters", "Help me design letters": "plan design", "I want to design letters": "plan design", "I want help writing letters": "create letters",
		"Would you mind running it?": "analyze it", "Would you mind making it?": "create it",
		"Give the very old red lamp a shine": "transform the", "Give the very very old red lamp a shine": "create the",

		"Write letters in red": "create letters", "Draft this in red": "create this", "Write it": "create it", "Write this, as a poem": "create this", "Put lamps in a box": "transform lamps", "Put an old cup in a box": "create an",
		"Set the lamp on the desk": "create the", "Go over the report with us": "explain the", "Go over the report near me": "analyze the", "Locate the error and repair it": "fix the", "Check that the door is open": "analyze the",
		"Get me into shape": "plan into", "Give my text one more review": "analyze my", "Give our report a formal tone": "transform our", "Give me lamps": "create lamps",
		"Give me weaknesses of it": "analyze weaknesses", "Why are my lamps red?": "fix my", "Why do my lamps glow?": "explain my", "Why did our lamps glow?": "explain our", "Why can't I log in?": "fix log",
		"Why is this red?": "explain this", "Why doesn't that glow?": "fix that", "Why does that glow?": "explain that", "Why is the lamp so slow?": "fix the", "Why is the lamp by the door in the hall red and broken?": "fix the",
		"Bring me from Rome to Oslo": "plan me", "Take us off": "plan us", "Break lamps down": "plan lamps", "Break the lamp into steps": "plan the", "Tell my boss to go and ask him why": "create my",
		"Remind me about the exam": "explain about", "Email Ann": "create Ann", "Email the lamps": "create the", "Invite all of them": "create all", "Ask Rome to go": "create Rome", "Message my boss": "create my",
		"What would it look like?": "transform it", "What should these look like?": "transform these", "What bugs would you find?": "analyze bugs", "What lamp now should I get?": "decide lamp", "Which lamp is red?": "explain Which",
		"Which lamps were red?": "explain Which", "Which of them are red?": "analyze of", "Which of them is red?": "decide of", "Which of them fail?": "analyze of", "Which lamp do you like?": "decide lamp",
		"Which lamp fits?": "decide lamp", "Tell me whether I should go": "decide go", "Tell me which we should get": "decide get", "Tell me if you should go": "analyze you",
		"Tell me where to go": "decide where", "Tell me what to do": "decide ", "Tell me which are red": "decide which", "Tell me which option glows": "decide which", "Tell me a little more": "explain a",
		"Tell me another joke": "create another", "Tell me how often it glows": "analyze how", "Tell me how old it is": "explain how", "Tell me what's red": "explain what's", "Tell me whats missing": "analyze whats",
		"Tell me what you say": "explain what", "Tell me whether it glows": "analyze it", "How do I stop it from crashing?": "fix it", "How do I fix my lamp?": "fix my", "How do I sort this?": "plan sort",
		"How do I handle the crash?": "plan handle", "How do I patch the lamp?": "plan patch", "How do I repair?": "fix ", "How do I debug?": "fix ", "What is 20% of 30?": "analyze 20%", "What is the total in this log?": "analyze total",
		"What is the total in Rome?": "explain the", "What is the total of 3 and 4?": "analyze total", "What is the old red total of 3 and 4?": "analyze old", "What is the capital of my land?": "explain the",
		"What is safer, tea or beer?": "decide safer", "What is tea or the best beer?": "decide tea", "What does my log say?": "analyze my", "What do you say?": "explain you", "What does a log say?": "explain a",
		"What do these logs tell me?": "analyze these", "What are the main risks of it?": "analyze the", "What are biggest flaws of my plan?": "analyze biggest", "What are pros and cons of it?": "analyze pros",
		"How many of these glow?": "analyze of", "How many lamps in main.go glow?": "analyze lamps", "How long is this?": "analyze this", "How much is it?": "explain How", "How deep is the sea?": "explain How",
		"How is the sea?": "explain the", "How did it go?": "analyze it", "How does it go?": "explain it", "How do I compare them?": "plan compare", "How does this read?": "analyze this", "How does a letter sound?": "explain a",
		"In which city is it?": "explain In", "When was my lamp made?": "explain my", "When was it signed above?": "analyze it", "Who made this?": "explain this", "Who made Rome?": "explain Rome", "Help me fix it": "fix it",
		"Help me fix the lamp": "fix the", "Help us with it": "plan it", "Help with the taxes": "plan the", "Help me grasp it": "explain it", "Help me design": "plan design", "Help me design it": "create it", "I want help": "plan ",
		"I want help to fix it": "fix it", "I want help with fixing it": "fix it", "I want to fix it": "fix it", "I want to study it": "plan study", "I want to run it": "plan run", "I want to design": "plan design",
		"I want to understand it": "explain it", "I have to go": "plan go", "I must go": "plan go", "I want it as a list": "transform it", "I want this longer": "transform this", "I want my text to be red": "transform my",
		"I want an old lamp": "create an", "I want 5 lamps": "create 5", "I'd like some lamps": "create some", "Is there a bug?": "analyze a", "Is gold red?": "explain gold", "Is gold a good choice?": "decide gold",
		"Is gold good?": "explain gold", "Is this a bad time?": "decide this", "Is it worth it?": "decide it", "Is it overkill?": "decide it", "Was it worthwhile?": "decide it", "Should I go or not?": "decide go",
		"Should I go?": "decide go", "Should we go or stay?": "decide go", "Did I go or stay?": "analyze I", "Should he go or stay?": "decide he", "Is tea or milk better?": "decide tea", "Is tea or milk red?": "explain tea",
		"Is it safe?": "explain it", "Is it possible?": "explain it", "Is it a lamp?": "analyze it", "Is a lamp red?": "explain a", "Is something red?": "analyze something", "Are you red?": "analyze you",
		"Is gold in my lamp?": "analyze gold", "Are lamps attached?": "analyze lamps", "Is lamp.go red?": "analyze lamp.go", "Do lamps in this log glow?": "analyze lamps", "Do we have a lamp?": "analyze we",
		"Could it be red?": "analyze it", "How do I fixx my lamp?": "plan fixx", "Help me fixx it": "plan fixx", "I want to fixx it": "plan fixx", "What do these and you say?": "explain these",
		"Is?": "none", "Do I glow or not?": "analyze I", `Is "lamp" red?`: `analyze "lamp"`, "Lay the trip out again": "none", "Lay the trip out for me": "plan the", "Please all the lamps": "none", "Please them my lamp": "none",
		"Give my boss a card": "create my", "Help me what is entropy": "plan what", "I want help what is entropy": "plan what",
	} {
		c := read(prompt)
		end := len(c.tokens)
		if c.tokens[end-1].breaks() {
			end--
		}
		got := "none"
		if a, ok := c.recognize(0, end, true); ok {
			got = string(a.verb) + " "
			if a.body < end {
				got += prompt[c.tokens[a.body].start:c.tokens[a.body].end]
			}
		}
		if got != want {
			t.Errorf("%q is %s, want %s", prompt, got, want)
		}
	}
}

// The rules put each part of a request into its slot, independently of the table of weights.
func TestSlotsOfRequests(t *testing.T) {
	for prompt, want := range map[string]string{
		"I want to move. I want a list of lamps.":         `plan goal="move" + create`,
		"Write a blurb and write it in red":               `create artifact="a blurb"`,
		"Write a blurb and make it two pages":             `create artifact="a blurb"`,
		"Write a blurb. Make it formal.":                  `create artifact="a blurb" style="formal"`,
		"Review these essays and rank the best of them":   `analyze target="these essays" format="rank the best of them"`,
		"Review these essays and score the best of them":  `analyze target="these essays" format="score the best of them"`,
		"Review the log and list the flaws":               `analyze target="the log" format="the flaws"`,
		"translation of my letter":                        `transform source="my letter" gap=target-form`,
		"Is tea or milk better for the stomach?":          `decide options="tea or milk" context="the stomach"`,
		"Break the migration down by team":                `plan goal="the migration"`,
		"Break the lamp. Steps follow.":                   `transform source="the lamp" target-form="Break"`,
		"Rewrite the letter in red":                       `transform source="the letter in red" gap=target-form`,
		"Rewrite the letter in French":                    `transform source="the letter" target-form="French"`,
		"Make it a circle":                                `transform target-form="a circle" gap=source`,
		"Why are my lamps red?":                           `fix target="my lamps" symptoms="red"`,
		"Why are my lamps failing again?":                 `fix target="my lamps" symptoms="failing"`,
		"Why are my lamps in the hall red?":               `fix target="my lamps in the hall red"`,
		"Which is much better, tea or coffee?":            `decide options="tea or coffee"`,
		"Which is so much better, tea or coffee?":         `decide options="is so much better, tea or coffee"`,
		"Which is much better, " + x(14) + "or coffee?":   `decide options="` + x(14) + `or coffee"`,
		"Which is much better, " + x(15) + "or coffee?":   `decide options="is much better, ` + x(15) + `or coffee"`,
		"Which should I choose?":                          `decide gap=options`,
		"Tell me why they crash":                          `explain gap=target`,
		"Check if there are bugs":                         `analyze target="there are bugs"`,
		"Is my lamp only red?":                            `analyze target="my lamp only" criteria="red"`,
		"Is my lamp barely red?":                          `analyze target="my lamp" criteria="barely red"`,
		"Is my lamp too red?":                             `analyze target="my lamp" criteria="too red"`,
		"Is this too red?":                                `analyze target="this too" criteria="red"`,
		"Does the lamp glow?":                             `analyze target="the lamp" criteria="glow"`,
		"Does the lamp of Ann glow?":                      `analyze target="the lamp of Ann glow"`,
		"Write us an overview of DNS":                     `explain target="DNS"`,
		"Write us a quick overview of DNS":                `explain target="DNS" depth="a quick overview"`,
		"Draft quick":                                     `create artifact="quick"`,
		"Draft us":                                        `create gap=artifact`,
		"Draft us a formal letter":                        `create artifact="letter" style="formal"`,
		"Explain this:\n# Lamp":                           `explain target="Lamp"`,
		"Explain it in detail without jargon":             `explain depth="in detail" gap=target`,
		"Write a note without names, without dates":       `create artifact="a note" constraints="without names" constraints="without dates"`,
		"Write a note without names and about the outage": `create artifact="a note" constraints="without names and about the outage"`,
		"Write a note that must be short, must be formal": `create artifact="a note that" constraints="must be short" constraints="must be formal"`,
		"recommendations for lamps":                       `decide options="lamps"`,
		"!\nfix it":                                       `fix gap=target`,
		"The tap drips. Fix it: now":                      `fix target="now"`,
		"Fix the tap. it glows a bit":                     `fix target="the tap" symptoms="glows a bit"`,
	} {
		c := read(prompt)
		f := c.find()
		in := new(Intent)
		if c.compile(in, f.parts); show(in) != want || f.pass != "" {
			t.Errorf("%q is %s and passes as %q, want %s", prompt, show(in), f.pass, want)
		}
	}
	for prompt, want := range map[string]int{"<a-b>x</a-b>y": 12, "<a_b c>x</a_b c>y": 0, "<a-b/>x": 0, "<ab>x</ab>y": 0, "a-b>x</a-b>y": 0} {
		if got := read(prompt).wrapped(); got != want {
			t.Errorf("%q begins at byte %d, want %d", prompt, got, want)
		}
	}
	if got := read("thanks for "+x(30)).rest(0, 2); got != passLength {
		t.Errorf("%d words of long thanks ask for nothing, want %d", got, passLength)
	}
}
