package account

import (
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/bins"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A Feature is an observable property of a unit with a few bins as values.
type Feature struct {
	Name string
	Bins []string
}

// features is the number of features.
const features = 17

// Features returns the features of units, in the order of a [Sight].
func Features() []Feature {
	yes := []string{"no", "yes"}
	return []Feature{
		{"kind", []string{"words", "sentence", "report", "look", "run", "edit", "step", "argument", "change", "written", "span", "output", "sign"}},
		{"failed", yes}, // of a call; of its results, twice
		{"binds", []string{"no", "yes", "guide", "rule"}}, // the unit states an obligation: in any text, in a file for people, as an entry of a list of rules
		{"decides", yes}, // the unit gives a reason or a consequence
		{"place", []string{"first", "middle", "last", "only"}},
		{"form", []string{"plain", "heading", "code", "item", "quoted", "removed"}},      // quoted is code in a user's words, removed a line that an edit removed
		{"calls", []string{"<3", "<8", "<20", "<50", "<100", "more", "person", "reply"}}, // number of later calls; users' words and the replies to them do not age
		{"turns", []string{"0", "1", "2-3", "more", "person", "reply"}},
		{"words", []string{"other", "task", "short", "long", "newest", "talk", "pasted"}}, // of a user's words: talk are those of a conversation without commands, pasted is long
		{"size", []string{"<300", "<1500", "<6000", "more", "person"}},                    // of the text that contains the unit; a user's words of 1500 bytes or more have a bin of their own
		{"ends", []string{"no", "badly", "well", "both"}},
		{"number", yes},
		{"length", []string{"<30", "<60", "<100", "<180", "more", "person"}},

		{"need", []string{"none", "<30%", "<100%", "<300%", "<1000%", "more"}},
		{"again", []string{"no", "later", "removed"}},                                      // a later unit has the same text, or the state has the call; or a later edit removed the line
		{"figure", []string{"no", "printed", "listed", "said", "result"}},                  // a number: in few printed lines, in many, in a sentence of the agent, or in a printed line that sums up or ends a short output
		{"says", []string{"other", "next", "found", "reply", "question", "talk", "asked"}}, // of an agent's sentence: its next step, a finding or other, a reply to the user, a question, a reply in a conversation without commands; or what an answer refers to in another one, or a correction of itself
	}
}

// A Sight has for each feature, in the order of [Features], the index of the
// unit's bin in Feature.Bins.
type Sight [features]uint8

// Meanings that words give to a sentence.
const (
	binds uint8 = 1 << iota
	decides
	badly
	well
	slips
)

// cues has for each cue word the meaning that it gives to its sentence, as a bit, and for each first
// letter the lengths of its words, as bits.
type cues struct {
	words   map[string]uint8
	lengths ['z' + 1]uint32
}

// cueWords are words that demand something, give a decision or reason, report something bad or
// good, or perhaps take something back.
var cueWords = lazy.Value[*cues]{Make: func() *cues {
	c := &cues{words: make(map[string]uint8)}
	for what, words := range map[uint8]string{
		binds:   "must never always only don't shall should required require requires instead prefer avoid important note ensure without",
		decides: "because since therefore instead actually means reason why will decided rather now need needs should turns cause so",
		badly: `error errors fail fails failed failure failing wrong broken bug bugs issue issues panic cannot can't missing
			denied problem problems conflict conflicts fatal`,
		well:  "pass passes passed passing works work fixed done complete completed success successful successfully clean green merged pushed committed",
		slips: "correction corrections mistake mistaken slip wrong misread misspoke",
	} {
		for w := range strings.FieldsSeq(words) {
			c.words[w] |= what
			c.lengths[w[0]] |= 1 << len(w)
		}
	}
	return c
}}

// says returns the meanings of the cue words in s, as a set of bits.
func says(s string) uint8 {
	cue := cueWords.Get()
	var r uint8
	var buf [16]byte
	n := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) {
			c := s[i]
			if low := c | 0x20; 'a' <= low && low <= 'z' || c == '\'' {
				if n < len(buf) {
					if c != '\'' {
						c = low
					}
					buf[n] = c
				}
				n++
				continue
			}
		}
		if 0 < n && n <= len(buf) && cue.lengths[buf[0]]>>n&1 != 0 { // of most words no cue has the letter and the length
			r |= cue.words[string(buf[:n])]
		}
		n = 0
	}
	return r
}

// see returns the features of a unit. The number need is its expected need per byte, in percent of
// the mean. The bin again is 1 if a later unit has the same text, or the state has the same call, and 2 if a later edit removed the line.
func see(u *Unit, need int64, again uint8) Sight {
	said := says(u.Text)
	s := Sight{
		uint8(u.Kind), bins.Flag(u.Failed), bindsBin(u, said), bins.Flag(said&decides != 0), placeBin(u), formBin(u),
		age(u, bins.Of(int64(u.Calls), 3, 8, 20, 50, 100), 6), age(u, bins.Of(int64(u.Turns), 1, 2, 4), 4), wordsBin(u), sizeBin(u),
		bins.Flag(said&badly != 0) + 2*bins.Flag(said&well != 0), bins.Flag(strings.ContainsAny(u.Text, "0123456789")),
		lengthBin(u), bins.Of(need, 1, 30, 100, 300, 1000), again, figureBin(u), saysBin(u, said),
	}
	return s
}

func placeBin(u *Unit) uint8 {
	switch {
	case u.First && u.Last, u.Talk && u.Kind == Sentence: // each sentence of such a reply may have a result of its own
		return 3
	case u.Last:
		return 2
	case u.First:
		return 0
	}
	return 1
}

func formBin(u *Unit) uint8 {
	bare := strings.TrimLeft(u.Text, " ")
	switch {
	case u.Removed:
		return 5
	case u.Title:
		return 1
	case u.Code && u.Kind == Words:
		return 4
	case u.Code:
		return 2
	case u.Kind > Report && u.Kind != Argument:
		return 0
	case strings.HasPrefix(bare, "- "), strings.HasPrefix(bare, "* "):
		return 3
	}
	if n := text.Digits(bare); n > 0 && strings.HasPrefix(bare[n:], ". ") {
		return 3
	}
	return 0
}

func wordsBin(u *Unit) uint8 {
	switch {
	case u.Kind != Words:
		return 0
	case u.Task:
		return 1
	case u.Turns <= 1:
		return 4
	case u.Talk:
		return 5
	case u.Size < shortWords:
		return 2
	case u.Size >= pastedWords:
		return 6
	}
	return 3
}

// shortWords is the longest user message, in bytes, that counts as typed
// rather than pasted.
const shortWords = 600

// pastedWords is the shortest user message, in bytes, that counts as pasted from a log or a file.
const pastedWords = 6000

// wholeWords is the longest user message, in bytes, that is one unit, so that
// an order keeps all of its conditions.
const wholeWords = 1200

// figureBin returns the bin of the feature "figure": how a number stands in the unit, from 0 for no
// number to 4 for the totals of a short output.
func figureBin(u *Unit) uint8 {
	switch {
	case !strings.ContainsAny(u.Text, "0123456789"):
		return 0
	case u.Kind == Output && u.Size < 1500 && (u.Last || sumsUp(u.Text)):
		return 4
	case u.Kind == Output && u.Size < 400:
		return 1
	case u.Kind == Output:
		return 2
	case u.Kind == Sentence:
		return 3
	}
	return 0
}

// sumsUp reports whether a line has a word for a total or another result.
func sumsUp(line string) bool {
	for word := range strings.FieldsFuncSeq(line, func(c rune) bool { return !unicode.IsLetter(c) && c != '_' }) {
		if total(strings.ToLower(word)) {
			return true
		}
	}
	return false
}

// total reports whether a word can introduce the result of several things, such as total, average
// or none.
func total(word string) bool {
	switch word {
	case "total", "totals", "sum", "sums", "all", "count", "counts", "average", "mean", "median", "max", "maximum", "min", "minimum", "longest",
		"shortest", "best", "worst", "result", "results", "differ", "differs", "difference", "equal", "never", "none", "rest", "left", "missing", "status",
		"altogether", "overall":
		return true
	}
	return false
}

// bindsBin returns the bin of the feature "binds", from the meanings of the unit's cue words.
func bindsBin(u *Unit, said uint8) uint8 {
	switch {
	case u.Rule:
		return 3
	case said&binds == 0:
		return 0
	case u.Guide:
		return 2
	}
	return 1
}

// takesBack matches a sentence in which the agent corrects itself. Without it, only the wrong claim
// would be in the window.
var takesBack = lazy.Regexp(`(?i)^\W*correction|\bcorrection (of|to) |\bI was (wrong|mistaken)|\b(mistake|slip) of mine|\bmy mistake|\bI (misread|misspoke)`)

// saysBin returns the bin of the feature "says", from the unit and the meanings of its cue words.
func saysBin(u *Unit, said uint8) uint8 {
	switch {
	case u.Kind != Sentence:
		return 0
	case u.Answered && !u.Talk, said&slips != 0 && takesBack.Get().MatchString(u.Text):
		return 6
	case u.Reply && asking(u.Text):
		return 4
	case u.Reply && u.Talk:
		return 5
	case u.Reply:
		return 3
	}
	s := strings.ToLower(text.Head(strings.TrimLeft(u.Text, " *-"), 12))
	for _, w := range [...]string{"let me", "let's", "now ", "i'll", "i will", "next", "first", "then ", "good", "great", "perfect", "ok", "done", "i'm going", "i need to"} {
		if strings.HasPrefix(s, w) {
			return 1
		}
	}
	return 2
}

// age returns the bin of a feature for the age of a unit. It is person for a user's words, person+1
// for an agent's reply or a rule, and age for any other unit.
func age(u *Unit, age, person uint8) uint8 {
	switch {
	case u.Kind == Words:
		return person
	case u.Reply, u.Rule:
		return person + 1
	}
	return age
}

func sizeBin(u *Unit) uint8 {
	bin := bins.Of(int64(u.Size), 300, 1500, 6000)
	if u.Kind == Words && bin > 1 {
		return 4
	}
	return bin
}

func lengthBin(u *Unit) uint8 {
	if u.Kind == Words {
		return 5
	}
	return bins.Of(int64(len(u.Text)), 30, 60, 100, 180)
}
