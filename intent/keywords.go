package intent

import (
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// Keywords returns the words that the work is about: those of the filled slots
// without stop words, in the order of the verb's slots, and the verb; then the
// same of what is asked for besides. Without a prompt they are those of the
// words that were given.
//
// They are what the pager takes for words: runs of ASCII letters, digits and
// underscores in lower case, each once, longer than one letter.
func (in *Intent) Keywords() []string {
	k := keywords{seen: make(map[string]bool)}
	for _, w := range in.Words {
		k.add(w)
	}
	k.part(in.Verb, in.Slots)
	for _, p := range in.Secondary {
		k.part(p.Verb, p.Slots)
	}
	return k.list
}

type keywords struct {
	list []string
	seen map[string]bool
}

// part adds the verb and what fills its slots.
func (k *keywords) part(v Verb, slots map[Slot][]Phrase) {
	k.add(string(v))
	for _, s := range v.Slots() {
		for _, value := range slots[s] {
			k.add(value.Text)
		}
	}
}

// add adds the words of a text.
func (k *keywords) add(said string) {
	for w := range text.Terms(said) {
		if len(w) > 1 && !stops.Get()[w] && !k.seen[w] {
			k.seen[w] = true
			k.list = append(k.list, w)
		}
	}
}

// stops are words that say nothing of what a text is about.
var stops = lazy.Words(`about after all also am an and any are as at be because been before being both but by can could did do does doing don each else
	every few for from get got had has have having he her here him his how if in into is it its itself just let like ll make many may me might more
	most much must my need no nor not now of off ok on once one only or other our out over own per please re same she should so some such than that
	the their them then there these they this those through to too under until up upon us use using ve very via want was we were what when where which
	while who whom whose why will with within without would yet you your`)
