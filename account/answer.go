package account

import (
	"slices"
	"strings"
)

// Lengths in bytes.
const (
	mostAnswer = 160 // longest reply of a user that may only answer; of a longer one, longest beginning
	mostReply  = 60  // in a conversation without commands, where most messages answer something
	mostAsked  = 320 // longest text of the agent that is kept with an answer
	enough     = 60  // a question of this length is clear without the sentence before it
)

// earlier is the number of replies before the last one to which an answer may
// refer, too.
const earlier = 3

// A reply is the range of units, from (inclusive) and to (exclusive), with the
// sentences that ended an agent's turn.
type reply struct{ from, to int32 }

// bind connects the user's answers with the text of the agent that they refer
// to: the options that an answer names by letter or number, a question, or a
// proposal that it accepts.
func (r *reader) bind() {
	var replies []reply  // of earlier turns, the newest last
	now := reply{-1, -1} // of this turn: its last sentences that follow each other
	for i := range r.units {
		u := &r.units[i]
		switch {
		case u.Kind == Sentence && now.to == int32(i) && r.units[now.from].Block == u.Block:
			now.to++
		case u.Kind == Sentence:
			now = reply{int32(i), int32(i) + 1}
		case u.Kind != Words || !u.First:
		case now.from >= 0:
			replies = append(replies, now)
			u.Asks, u.Asked = r.asked(u.Text, u.Last, replies[max(0, len(replies)-1-earlier):])
			for k := range u.Asked {
				r.units[u.Asks+k].Answered = true
			}
			now = reply{-1, -1}
		}
	}
}

// asked returns the index of the first sentence that the beginning of a user's
// message refers to, and the number of such sentences. The text in said is the
// message or its beginning, and whole is true if it is the whole message. The
// list replies has the agent's replies before the message, the newest last; it
// must not be empty.
func (r *reader) asked(said string, whole bool, replies []reply) (first, n int32) {
	last := replies[len(replies)-1]
	lead := said
	if !whole || len(said) > mostAnswer {
		lead = said[:leadEnd(said)]
	}
	if len(lead) > mostAnswer {
		return 0, 0
	}
	if marks := picks(lead); len(marks) > 0 {
		for _, of := range slices.Backward(replies) {
			if first, n := r.options(of, marks); n > 0 {
				return first, n
			}
		}
	}
	agreed := agrees(lead)
	if !agreed && (len(lead) < len(said) || r.units[last.from].Talk && len(said) > mostReply) {
		return 0, 0 // more than an answer
	}
	if at := r.find(last, asksIn); at >= 0 {
		if before := at - 1; len(r.units[at].Text) < enough && before >= last.from && r.bytesOf(before, at+1) <= mostAsked {
			return before, 2
		}
		return r.fitting(at)
	}
	if !agreed {
		return 0, 0
	}
	for _, of := range slices.Backward(replies) {
		if at := r.find(of, proposes); at >= 0 {
			return r.fitting(at)
		}
		if !refersBack(lead) {
			break
		}
	}
	if len(lead) < len(said) {
		return 0, 0
	}
	return r.fitting(last.to - 1)
}

// fitting returns the range that has only the unit with the index at. It
// returns 0 and 0 if that unit is longer than mostAsked.
func (r *reader) fitting(at int32) (first, n int32) {
	if len(r.units[at].Text) > mostAsked {
		return 0, 0
	}
	return at, 1
}

// bytesOf returns the length of the text of units[from:to], in bytes.
func (r *reader) bytesOf(from, to int32) (n int) {
	for i := from; i < to; i++ {
		n += len(r.units[i].Text)
	}
	return n
}

// find returns the index of the last sentence of a reply for which the function
// so returns true. It returns -1 if there is none.
func (r *reader) find(in reply, so func(sentence string) bool) int32 {
	for i := in.to - 1; i >= in.from; i-- {
		if so(r.units[i].Text) {
			return i
		}
	}
	return -1
}

// options returns the range of the sentences in a reply that state one of the
// options with the given marks (letters or digits): the first index and the
// number. It returns 0 and 0 if there are none.
func (r *reader) options(in reply, marks []byte) (first, n int32) {
	first, last := int32(-1), int32(-1)
	for i := in.from; i < in.to; i++ {
		if offersOne(r.units[i].Text, marks) && (first < 0 || r.bytesOf(first, i+1) <= mostAsked) {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return 0, 0
	}
	return first, last + 1 - first
}

// leadEnd returns where the first sentence of a message ends: at its stop, or
// at the end of its line.
func leadEnd(said string) int {
	for i := range len(said) {
		switch c := said[i]; {
		case c == '\n':
			return i
		case (c == '.' || c == '!' || c == '?' || c == ';') && i > 0 && strings.HasPrefix(said[i+1:], " "):
			return i + 1
		}
	}
	return len(said)
}

// asksIn reports whether a text contains a question.
func asksIn(said string) bool { return asking(said) || strings.Contains(said, "? ") }

// proposes reports whether a sentence proposes something.
func proposes(sentence string) bool {
	low := strings.ToLower(sentence)
	for _, w := range [...]string{"propose", "proposal", "suggest", "recommend", "i would ", "i'd ", "i could ", "we could ", "unless you", "if you agree", "if you like", "if you want", "it could "} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// refersBack reports whether an answer accepts what was said at any time
// before.
func refersBack(answer string) bool {
	low := strings.ToLower(answer)
	return strings.Contains(low, "propos") || strings.Contains(low, "suggest") || strings.Contains(low, "as you said") || strings.Contains(low, "you recommend")
}

// agrees reports whether an answer accepts or refuses something: it begins
// with yes, no or an equivalent, has "yes" anywhere, or has "no" among its
// first three words.
func agrees(answer string) bool {
	for n, word := range strings.Fields(strings.ToLower(answer)) {
		word = strings.Trim(word, ".,!;:")
		if n == 0 && answering(word) || word == "yes" || word == "no" && n < 3 {
			return true
		}
	}
	return false
}

// answering reports whether a word, as the first of a message, shows that the
// message answers a question.
func answering(word string) bool {
	switch word {
	case "yes", "no", "ok", "okay", "fine", "good", "agreed", "do", "right", "correct", "yep", "yeah", "nope", "please", "sure", "exactly", "go", "as",
		"then", "not", "both", "neither", "done":
		return true
	}
	return false
}

// picks returns the letters and digits of the options that an answer names:
// b, (b), option 2.
func picks(answer string) []byte {
	var marks []byte
	low := strings.ToLower(strings.TrimSpace(answer))
	for i := range len(low) {
		if !alphanumeric(low[i]) {
			continue
		}
		open, shut := i > 0 && low[i-1] == '(', i+1 < len(low) && low[i+1] == ')'
		alone := i+1 == len(low) || !alphanumeric(low[i+1]) && low[i+1] != '\''
		begins := i == 0 && alone && (i+1 == len(low) || low[i+1] != ' ' || low[i] != 'a' && low[i] != 'i')
		if open && shut || begins || alone && strings.HasSuffix(low[:i], "option ") {
			marks = append(marks, low[i])
		}
	}
	return marks
}

func alphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// offersOne reports whether a sentence states one of the options whose
// letters or digits are in marks: the sentence begins with one of them, or
// has one in parentheses.
func offersOne(sentence string, marks []byte) bool {
	low := strings.TrimLeft(strings.ToLower(sentence), " *-")
	for _, m := range marks {
		if strings.Contains(low, "("+string(m)+")") || len(low) > 1 && low[0] == m && (low[1] == '.' || low[1] == ')' || low[1] == ':') || strings.HasPrefix(low, "option "+string(m)) {
			return true
		}
	}
	return false
}
