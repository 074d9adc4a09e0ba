package account

import "strings"

// Lengths in bytes.
const (
	mostAnswer = 160 // longest reply of a user that may only answer
	mostAsked  = 420 // longest text of the agent that is kept with an answer
	enough     = 60  // a question of this length is clear without the sentence before it
)

// bind connects short answers of the user with the agent's text before them:
// the options that an answer names by letter or number, or the agent's final
// question.
func (r *reader) bind() {
	from, to := int32(-1), int32(-1) // sentences of the agent's last reply
	for i := range r.units {
		u := &r.units[i]
		switch {
		case u.Kind == Sentence && u.Reply:
			if from < 0 || r.units[from].Block != u.Block {
				from = int32(i)
			}
			to = int32(i) + 1
		case u.Kind != Words:
		case from >= 0 && u.First && u.Last && len(u.Text) <= mostAnswer:
			u.Asks, u.Asked = r.asked(u.Text, from, to)
			from = -1
		default:
			from = -1
		}
	}
}

// asked returns the index of the first sentence of a reply that answer refers
// to, and the number of such sentences.
func (r *reader) asked(answer string, from, to int32) (first, n int32) {
	size := func(from, to int32) (n int) {
		for i := from; i < to; i++ {
			n += len(r.units[i].Text)
		}
		return n
	}
	if marks := picks(answer); len(marks) > 0 {
		first, last := int32(-1), int32(-1)
		for i := from; i < to; i++ {
			if offersOne(r.units[i].Text, marks) && (first < 0 || size(first, i+1) <= mostAsked) {
				if last = i; first < 0 {
					first = i
				}
			}
		}
		if first >= 0 {
			return first, last + 1 - first
		}
	}
	last := to - 1
	question := asking(r.units[last].Text)
	if !question && !agrees(answer) || len(r.units[last].Text) > mostAsked {
		return 0, 0
	}
	if question && len(r.units[last].Text) < enough && last > from && size(last-1, to) <= mostAsked {
		return last - 1, 2
	}
	return last, 1
}

// agrees reports whether answer begins with yes, no or an equivalent.
func agrees(answer string) bool {
	word, _, _ := strings.Cut(strings.ToLower(answer), " ")
	return answers[strings.Trim(word, ".,!;:")]
}

// answers are the words for which agrees returns true.
var answers = map[string]bool{
	"yes": true, "no": true, "ok": true, "okay": true, "fine": true, "good": true, "agreed": true, "do": true, "right": true, "correct": true, "yep": true, "yeah": true,
	"nope": true, "please": true, "sure": true, "exactly": true, "go": true, "as": true, "then": true, "not": true, "both": true, "neither": true, "done": true,
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

// offersOne reports whether a sentence states one of the options: it begins
// with its letter or digit, or has it in parentheses.
func offersOne(sentence string, marks []byte) bool {
	low := strings.TrimLeft(strings.ToLower(sentence), " *-")
	for _, m := range marks {
		if strings.Contains(low, "("+string(m)+")") || len(low) > 1 && low[0] == m && (low[1] == '.' || low[1] == ')' || low[1] == ':') || strings.HasPrefix(low, "option "+string(m)) {
			return true
		}
	}
	return false
}
