package retrieval

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// stemOfForm returns the stem of a word. An irregular form has the stem of its base word:
// "taught" has the stem of "teach".
func stemOfForm(word string) string {
	if base, irregular := irregularForms.Get()[word]; irregular {
		word = base
	}
	return text.Stem(word)
}

// irregularForms maps irregular forms of English words to their base words. Forms that are
// often other words are omitted ("left", "felt", "ground").
var irregularForms = lazy.Value[map[string]string]{Make: func() map[string]string {
	forms := make(map[string]string)
	for list := range strings.SplitSeq(`arise arose arisen, awake awoke awoken, beat beaten, become became, begin began begun, bend bent, bind bound,
		bite bit bitten, bleed bled, blow blew blown, break broke broken, breed bred, bring brought, build built, burn burnt,
		buy bought, catch caught, choose chose chosen, come came, cling clung, creep crept, deal dealt, dig dug, draw drew drawn,
		dream dreamt, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, fight fought, find found,
		flee fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven,
		freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, hang hung, hear heard,
		hide hid hidden, hold held, keep kept, kneel knelt, know knew known, lay laid, lead led, lean leant, leap leapt,
		learn learnt, lend lent, light lit, lose lost, make made, mean meant, meet met, mistake mistook mistaken,
		overcome overcame, pay paid, ride rode ridden, ring rang rung, rise rose risen, run ran, say said, see saw seen,
		seek sought, sell sold, send sent, sew sewn, shake shook shaken, shine shone, shoot shot, show shown,
		shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid, speak spoke spoken, spend spent,
		spin spun, stand stood, steal stole stolen, stick stuck, sting stung, strike struck, swear swore sworn, sweep swept,
		swim swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told, think thought, throw threw thrown,
		understand understood, wake woke woken, wear wore worn, weave wove woven, weep wept, win won,
		withdraw withdrew withdrawn, write wrote written, child children, foot feet, goose geese, knife knives, leaf leaves,
		life lives, loaf loaves, man men, mouse mice, person people, shelf shelves, thief thieves, tooth teeth, wife wives,
		wolf wolves, woman women`, ",") {
		words := strings.Fields(list)
		for _, form := range words[1:] {
			forms[form] = words[0]
		}
	}
	return forms
}}

// particles are function words in addition to functionWords: parts of words with an
// apostrophe, and pronouns and adverbs that are frequent in dialogs.
var particles = lazy.Words(`s t d m ll ve re don didn doesn isn aren wasn weren hasn haven hadn wouldn couldn shouldn
	him his her hers their theirs ours yours mine myself yourself himself herself itself themselves ourselves
	also just very too only own same other others another such both again once ever never always
	up down out off between during before after through until while because yes`)
