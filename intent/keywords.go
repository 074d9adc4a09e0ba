package intent

import (
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// Keywords returns the verb and the words of the filled slots without stop words, in the order
// of the verb's slots, and then those of further requests. Of an intent that was made of
// keywords, it returns the words of these.
//
// A keyword is a run of ASCII letters, digits and underscores in lower case, longer than one
// letter, as the pager divides text into words. Each is listed once.
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

// part adds the verb and the words of its slots.
func (k *keywords) part(v Verb, slots map[Slot][]Phrase) {
	k.add(string(v))
	for _, s := range v.Slots() {
		for _, value := range slots[s] {
			k.add(value.Text)
		}
	}
}

// add adds the words of a text without the stop words.
func (k *keywords) add(said string) {
	for w := range text.Terms(said) {
		if len(w) > 1 && !stops.Get()[w] && !k.seen[w] {
			k.seen[w] = true
			k.list = append(k.list, w)
		}
	}
}

// stops are words that are no evidence of the subject of a text.
var stops = lazy.Words(`about after all also am an and any are as at be because been before being both but by can could did do does doing don each else
	every few for from get got had has have having he her here him his how if in into is it its itself just let like ll make many may me might more
	most much must my need no nor not now of off ok on once one only or other our out over own per please re same she should so some such than that
	the their them then there these they this those through to too under until up upon us use using ve very via want was we were what when where which
	while who whom whose why will with within without would yet you your`)
