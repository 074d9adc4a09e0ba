package hold

import (
	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// focus is how many terms [IntentOf] takes from the conversation at most.
const focus = 12

// manyRounds is in how many rounds IntentOf searches all texts for the terms of that round. In
// later rounds it uses counts of all terms. The counts are made only once, but that takes longer
// than a few searches. A conversation may need many rounds, because a thousand requests may say
// little.
const manyRounds = 2

// IntentOf returns the terms of the given intents: their keywords, or their words if they do not
// parse as intents. Without given intents, it takes keywords of the user's last message, first
// those that the fewest blocks contain. It skips messages that only say to go on, and while there
// are too few keywords, it adds those of older messages.
func IntentOf(h *Snapshot, given []string) pager.Terms {
	if len(given) > 0 {
		var words []string
		for _, text := range given {
			if in, err := intent.Parse([]byte(text)); err == nil {
				words = append(words, in.Keywords()...)
			} else {
				words = append(words, text)
			}
		}
		return pager.NewIntent(words...)
	}
	all := h.Texts()
	var words []string
	var in pager.Terms
	var spread map[string]int
	rounds := 0
	for i := len(h.Blocks) - 1; i >= 0 && len(in) < focus/4; i-- {
		if h.Blocks[i].Kind != transcript.KindUser {
			continue
		}
		if more := intent.Compile(all[i], nil).Keywords(); len(more) > 0 {
			words = append(words, more...)
			in = pager.NewIntent(words...)
			if rounds++; rounds <= manyRounds {
				in = in.Focus(all, focus)
				continue
			}
			if spread == nil {
				spread = pager.Spread(all)
			}
			in = in.FocusBy(spread, focus)
		}
	}
	return in
}
